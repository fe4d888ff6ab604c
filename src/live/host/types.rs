//! The kernel's description of its types.

use super::Host;
use crate::sys::constant::Constant;
use std::fs::File;
use std::ops::Deref;

/// The description (BTF, `Documentation/bpf/btf.rst`), some megabytes.
#[derive(Debug)]
pub enum KernelTypes {
    /// In the kernel's own memory.
    Mapped(Constant),
    /// A copy.
    Read(Vec<u8>),
}

impl Deref for KernelTypes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(types) => types,
            Self::Read(types) => types,
        }
    }
}

impl Host {
    /// The kernel's description of its types; `None` where it has none.
    #[must_use]
    pub fn kernel_types(&self) -> Option<KernelTypes> {
        let path = self.root.join("sys/kernel/btf/vmlinux");
        let mapped = File::open(&path).and_then(|file| Constant::map(&file));
        let read = || std::fs::read(path).map(KernelTypes::Read).ok();
        mapped.map(KernelTypes::Mapped).ok().or_else(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_is_what_can_be_read() {
        let types = Host::running().kernel_types();
        let read = std::fs::read("/sys/kernel/btf/vmlinux").ok();
        assert!(types.as_deref() == read.as_deref());
    }

    #[test]
    fn the_description_of_a_captured_machine_is_read() {
        let tree = tempfile::tempdir().unwrap();
        let folder = tree.path().join("sys/kernel/btf");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("vmlinux"), "types").unwrap();
        let types = Host::at(tree.path()).kernel_types().unwrap();
        assert!(matches!(&types, KernelTypes::Read(_)));
        assert_eq!(*types, *b"types");
    }
}
