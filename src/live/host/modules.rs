//! The kernel's modules: where they lie in its memory and in the file system.

use super::Host;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A loaded module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Where it begins in memory.
    pub address: u64,
    /// How much of it is there, in bytes.
    pub length: u64,
    /// Its file as depmod(8) knows it; its name in brackets where it is in no folder of modules.
    pub name: String,
}

impl Host {
    /// The loaded modules by their addresses. There are none where the kernel has no modules, and
    /// where this user may not know addresses (`kptr_restrict` in proc_sys_kernel(5)): then all of
    /// them are 0.
    #[must_use]
    pub fn modules(&self) -> Vec<Module> {
        let loaded = self.read("proc/modules").unwrap_or_default();
        let files = self.module_files();
        let mut modules: Vec<_> = (loaded.lines())
            .filter_map(|line| module(line, &files))
            .filter(|module| module.address != 0)
            .collect();
        modules.sort_by_key(|module| module.address);
        modules
    }

    /// The files of all modules by the modules' names: what depmod(8) has written down, or where it
    /// has not been run, what lies there.
    fn module_files(&self) -> HashMap<String, String> {
        let Ok(release) = self.kernel_release() else {
            return HashMap::new();
        };
        let folder = Path::new("/lib/modules").join(&release);
        let inner = format!("lib/modules/{release}");
        let mut files = Vec::new();
        match self.read(&format!("{inner}/modules.dep")) {
            Ok(list) => files.extend(
                list.lines()
                    .filter_map(|line| Some(folder.join(line.split_once(':')?.0))),
            ),
            Err(_) => self.files_below(&inner, &mut files),
        }
        let named = files.iter().filter_map(|file| {
            let (stem, ending) = file.file_name()?.to_str()?.split_once('.')?;
            let is_module = ending == "ko" || ending.starts_with("ko.");
            let path = file.to_str()?.to_owned();
            is_module.then(|| (stem.replace('-', "_"), path))
        });
        named.collect()
    }

    /// All files below a folder of this host, by their paths there. Links (`build`, `source`) are
    /// not followed.
    fn files_below(&self, folder: &str, files: &mut Vec<PathBuf>) {
        let entries = std::fs::read_dir(self.root.join(folder));
        for entry in entries.into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if kind.is_dir() {
                self.files_below(&name, files);
            } else if kind.is_file() {
                files.push(Path::new("/").join(name));
            }
        }
    }
}

/// Of a line as `virtio_pci 24576 0 - Live 0xffffffffc05f4000`.
fn module(line: &str, files: &HashMap<String, String>) -> Option<Module> {
    let mut columns = line.split_whitespace();
    let name = columns.next()?;
    let length = columns.next()?.parse().ok()?;
    let address = columns.nth(3)?.strip_prefix("0x")?;
    let file = files.get(name).cloned();
    Some(Module {
        address: u64::from_str_radix(address, 16).ok()?,
        length,
        name: file.unwrap_or_else(|| format!("[{name}]")),
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    /// Of Linux 6.1, with a module that was loaded from elsewhere.
    const LOADED: &str = "\
nls_ascii 16384 0 - Live 0xffffffffc03c9000
virtiofs 32768 1 - Live 0xffffffffc0408000
fuse 176128 1 virtiofs, Live 0xffffffffc03cf000
of_nobody 16384 0 - Live 0xffffffffc03b9000 (OE)
";
    const FILES: &str = "\
kernel/fs/nls/nls-ascii.ko.xz:
kernel/fs/fuse/fuse.ko:
kernel/fs/fuse/virtiofs.ko: kernel/drivers/virtio/virtio.ko kernel/fs/fuse/fuse.ko
";

    fn tree(loaded: &str) -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("proc/modules", loaded),
            ("proc/sys/kernel/osrelease", "6.1.0-50-amd64\n"),
            ("lib/modules/6.1.0-50-amd64/modules.dep", FILES),
        ] {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        tree
    }

    #[test]
    fn modules_come_by_address_with_their_files() {
        let tree = tree(LOADED);
        let modules = Host::at(tree.path()).modules();
        let all: Vec<_> = (modules.iter())
            .map(|module| (module.address, module.length, module.name.as_str()))
            .collect();
        let folder = "/lib/modules/6.1.0-50-amd64/kernel/fs";
        let expected = [
            (0xffff_ffff_c03b_9000, 16384, "[of_nobody]".to_owned()),
            (
                0xffff_ffff_c03c_9000,
                16384,
                format!("{folder}/nls/nls-ascii.ko.xz"),
            ),
            (
                0xffff_ffff_c03c_f000,
                176_128,
                format!("{folder}/fuse/fuse.ko"),
            ),
            (
                0xffff_ffff_c040_8000,
                32768,
                format!("{folder}/fuse/virtiofs.ko"),
            ),
        ];
        assert!(
            all.iter()
                .copied()
                .eq(expected.iter().map(|(address, length, name)| (
                    *address,
                    *length,
                    name.as_str()
                ))),
            "{all:?}"
        );
    }

    #[test]
    fn modules_have_their_files_where_depmod_was_not_run() {
        let tree = tree(LOADED);
        let folder = tree.path().join("lib/modules/6.1.0-50-amd64");
        std::fs::remove_file(folder.join("modules.dep")).unwrap();
        std::fs::create_dir_all(folder.join("kernel/fs/nls")).unwrap();
        std::fs::write(folder.join("kernel/fs/nls/nls-ascii.ko.xz"), "").unwrap();
        std::os::unix::fs::symlink("/", folder.join("build")).unwrap();
        let modules = Host::at(tree.path()).modules();
        let names: Vec<_> = modules.iter().map(|module| module.name.as_str()).collect();
        let file = "/lib/modules/6.1.0-50-amd64/kernel/fs/nls/nls-ascii.ko.xz";
        assert_eq!(names, ["[of_nobody]", file, "[fuse]", "[virtiofs]"]);
    }

    #[test]
    fn what_may_not_be_known_is_not_told() {
        let hidden = tree("fuse 176128 1 - Live 0x0000000000000000\n");
        assert_eq!(Host::at(hidden.path()).modules(), []);
        let without = tempfile::tempdir().unwrap();
        assert_eq!(Host::at(without.path()).modules(), []);
    }
}
