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

    /// Returns the option of its configuration without which this kernel, with the modules that it
    /// has loaded, has no virtio serial port; `None` if it may have one.
    ///
    /// # References
    /// `drivers/virtio/virtio.c`: `virtio_bus`; `drivers/char/virtio_console.c`: `init()`.
    #[must_use]
    pub fn lacks_of_virtio_ports(&self) -> Option<&'static str> {
        let bus = self.root.join("sys/bus/virtio");
        let devices = std::fs::read_dir(bus.join("devices"));
        if devices.is_ok_and(|mut devices| devices.next().is_some()) {
            let driver = bus.join("drivers/virtio_console");
            return (!driver.exists()).then_some("CONFIG_VIRTIO_CONSOLE");
        }
        Some("CONFIG_VIRTIO_PCI")
    }

    /// Finds the device file of the disk with this serial number.
    ///
    /// # References
    /// `drivers/block/virtio_blk.c`: `serial_show()`.
    #[must_use]
    pub fn disk(&self, serial: &str) -> Option<PathBuf> {
        let disks = std::fs::read_dir(self.root.join("sys/block")).ok()?;
        let named = |entry: &std::fs::DirEntry| {
            let told = std::fs::read_to_string(entry.path().join("serial"));
            told.is_ok_and(|told| told.trim_end() == serial)
        };
        let disk = disks.filter_map(Result::ok).find(named)?;
        Some(self.root.join("dev").join(disk.file_name()))
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
    fn what_a_kernel_lacks_for_ports_is_known_by_its_bus() {
        let root = tempfile::tempdir().unwrap();
        let host = Host::at(root.path());
        for (folder, lacking) in [
            ("sys", Some("CONFIG_VIRTIO_PCI")),
            ("sys/bus/virtio/devices", Some("CONFIG_VIRTIO_PCI")),
            (
                "sys/bus/virtio/devices/virtio0",
                Some("CONFIG_VIRTIO_CONSOLE"),
            ),
            ("sys/bus/virtio/drivers/virtio_console", None),
        ] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
            assert_eq!(host.lacks_of_virtio_ports(), lacking, "{folder}");
        }
    }

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
        let folder = root.path().join("sys/block/vdb");
        std::fs::create_dir_all(&folder).unwrap();
        assert_eq!(host.disk("mine"), None);
        std::fs::write(folder.join("serial"), "mine").unwrap();
        assert_eq!(host.disk("mine"), Some(root.path().join("dev/vdb")));
        assert_eq!(Host::at(Path::new("/none")).virtio_port("wanted"), None);
    }
}
