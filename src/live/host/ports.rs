//! Channels between a virtual machine and its host.

use super::Host;
use std::path::PathBuf;

impl Host {
    /// The device of the virtio serial port of this name.
    ///
    /// # References
    /// `drivers/char/virtio_console.c`: `show_port_name()`.
    #[must_use]
    pub fn virtio_port(&self, name: &str) -> Option<PathBuf> {
        let ports = std::fs::read_dir(self.root.join("sys/class/virtio-ports")).ok()?;
        let named = |entry: &std::fs::DirEntry| {
            let told = std::fs::read_to_string(entry.path().join("name"));
            told.is_ok_and(|told| told.trim_end() == name)
        };
        let port = ports.filter_map(Result::ok).find(named)?;
        Some(self.root.join("dev").join(port.file_name()))
    }

    /// A text that another boot of this machine does not have.
    #[must_use]
    pub fn boot_id(&self) -> Option<String> {
        self.read("proc/sys/kernel/random/boot_id").ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_port_is_found_by_its_name() {
        let root = tempfile::tempdir().unwrap();
        for (port, name) in [("vport0p1", "other\n"), ("vport0p2", "wanted\n")] {
            let folder = root.path().join("sys/class/virtio-ports").join(port);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("name"), name).unwrap();
        }
        let host = Host::at(root.path());
        let found = host.virtio_port("wanted").unwrap();
        assert_eq!(
            found.strip_prefix(root.path()).unwrap(),
            Path::new("dev/vport0p2")
        );
        assert_eq!(host.virtio_port("want"), None);
        assert_eq!(Host::at(Path::new("/none")).virtio_port("wanted"), None);
    }
}
