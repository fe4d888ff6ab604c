//! Finds the modules that a guest needs before it can see the host's files.

use perf_live::elf;
use perf_records::units::shown_path;
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The modules that a guest loads: for its devices, the host's files, and writes that stay in the
/// guest. A driver that is built in has no file.
pub(super) const NEEDED: &[&str] = &[
    "virtio_pci",
    "virtio_console",
    "9pnet_virtio",
    "9p",
    "overlay",
];

/// Those for files that are on a disk. The checksums of an ext4 are asked for by name once it is
/// mounted, and no `modprobe(8)` is there to answer.
pub(super) const NEEDED_FOR_DISK: &[&str] = &["virtio_blk", "crc32c_generic", "ext4"];

/// A module could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the kernel module `{}`", shown_path(path))]
pub struct ModuleError {
    path: PathBuf,
    source: io::Error,
}

/// One module, ready to be loaded.
#[derive(Debug)]
pub(super) struct Module {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// Returns the modules of these names and all that they need, each after those that it needs. The
/// folder is `lib/modules/RELEASE` of the kernel. `depmod(8)` need not have run: a module says by
/// itself which others it needs (`.modinfo`).
pub(super) fn in_order(folder: &Path, names: &[&str]) -> Result<Vec<Module>, ModuleError> {
    let mut search = Search {
        files: HashMap::new(),
        found: Vec::new(),
    };
    search.list(&folder.join("kernel"))?;
    for name in names {
        search.add(name)?;
    }
    Ok(search.found)
}

struct Search {
    files: HashMap<String, PathBuf>,
    found: Vec<Module>,
}

impl Search {
    fn list(&mut self, folder: &Path) -> Result<(), ModuleError> {
        let failed = |source| ModuleError {
            path: folder.to_owned(),
            source,
        };
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            if entry.file_type().map_err(failed)?.is_dir() {
                self.list(&path)?;
            } else if let Some((name, _)) = entry.file_name().to_string_lossy().split_once(".ko") {
                self.files.insert(canonical(name), path);
            }
        }
        Ok(())
    }

    fn add(&mut self, name: &str) -> Result<(), ModuleError> {
        let name = canonical(name);
        // Removed, so that a cycle ends.
        let Some(path) = self.files.remove(&name) else {
            return Ok(());
        };
        let bytes = read(&path).map_err(|source| ModuleError { path, source })?;
        for needed in needs(&bytes) {
            self.add(&needed)?;
        }
        self.found.push(Module { name, bytes });
        Ok(())
    }
}

/// In names of modules `-` and `_` are the same.
fn canonical(name: &str) -> String {
    name.replace('-', "_")
}

fn needs(module: &[u8]) -> Vec<String> {
    let info = elf::section(module, ".modinfo");
    let facts = info.unwrap_or_default().split(|byte| *byte == 0);
    let needed = facts.filter_map(|fact| fact.strip_prefix(b"depends="));
    let text: Vec<String> = needed
        .map(|names| String::from_utf8_lossy(names).into_owned())
        .collect();
    let names = text.iter().flat_map(|names| names.split(','));
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Reads a module, uncompressed, as the oldest kernels need it.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = std::fs::read(path)?;
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("xz") => {
            let mut plain = Vec::new();
            lzma_rust2::XzReader::new(bytes.as_slice(), true).read_to_end(&mut plain)?;
            Ok(plain)
        }
        Some("zst") => zstd::stream::decode_all(bytes.as_slice()),
        Some("ko") => Ok(bytes),
        _ => Err(io::Error::other(
            "its compression is not known here: unpack it beside, as a file that ends in .ko",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A relocatable file with nothing but the section that says what the module needs.
    fn module(needs: &str) -> Vec<u8> {
        let info = format!("license=GPL\0depends={needs}\0name=x\0");
        let names = b"\0.modinfo\0.shstrtab\0";
        let mut bytes = vec![0; 64];
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        let (at_info, at_names) = (64, 64 + info.len());
        let table = (at_names + names.len()).next_multiple_of(8);
        bytes.extend(info.as_bytes());
        bytes.extend(names);
        bytes.resize(table, 0);
        // `SHT_NULL`, `SHT_PROGBITS`, `SHT_STRTAB`.
        for (name, kind, offset, length) in [
            (0, 0_u8, 0, 0),
            (1, 1, at_info, info.len()),
            (10, 3, at_names, names.len()),
        ] {
            let mut header = [0; 64];
            header[..4].copy_from_slice(&(name as u32).to_le_bytes());
            header[4] = kind;
            header[24..32].copy_from_slice(&(offset as u64).to_le_bytes());
            header[32..40].copy_from_slice(&(length as u64).to_le_bytes());
            bytes.extend(header);
        }
        bytes[40..48].copy_from_slice(&(table as u64).to_le_bytes());
        bytes[58..60].copy_from_slice(&64_u16.to_le_bytes());
        bytes[60..62].copy_from_slice(&3_u16.to_le_bytes());
        bytes[62..64].copy_from_slice(&2_u16.to_le_bytes());
        bytes
    }

    fn names(found: &[Module]) -> Vec<&str> {
        found.iter().map(|module| module.name.as_str()).collect()
    }

    #[test]
    fn each_comes_behind_what_it_needs_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = folder.path().join("kernel/drivers");
        std::fs::create_dir_all(&kernel).unwrap();
        for (file, needs) in [
            ("virtio-pci.ko", "virtio_ring,virtio"),
            ("virtio_ring.ko", "virtio"),
            ("virtio.ko", ""),
            ("alone.ko", ""),
        ] {
            std::fs::write(kernel.join(file), module(needs)).unwrap();
        }
        let found = in_order(folder.path(), &["virtio_pci", "virtio_ring", "builtin"]).unwrap();
        assert_eq!(names(&found), ["virtio", "virtio_ring", "virtio_pci"]);
    }

    #[test]
    fn a_circle_ends() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = folder.path().join("kernel");
        std::fs::create_dir_all(&kernel).unwrap();
        std::fs::write(kernel.join("a.ko"), module("b")).unwrap();
        std::fs::write(kernel.join("b.ko"), module("a")).unwrap();
        assert_eq!(names(&in_order(folder.path(), &["a"]).unwrap()), ["b", "a"]);
    }

    #[test]
    fn compressed_modules_are_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = folder.path().join("kernel");
        std::fs::create_dir_all(&kernel).unwrap();
        let packed = zstd::stream::encode_all(module("").as_slice(), 0).unwrap();
        std::fs::write(kernel.join("a.ko.zst"), packed).unwrap();
        std::fs::write(kernel.join("b.ko.lz4"), b"?").unwrap();
        let found = in_order(folder.path(), &["a"]).unwrap();
        assert_eq!(found[0].bytes, module(""));
        let error = in_order(folder.path(), &["b"]).unwrap_err();
        assert!(error.to_string().contains("b.ko.lz4"), "{error}");
    }
}
