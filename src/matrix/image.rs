//! What a file begins with that QEMU boots as a kernel.

use crate::scenario::Architecture;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// How much of a file is looked at: `HdrS` of a bzImage stands last.
const LOOKED_AT: u64 = 0x206;

/// The architectures that a file is a kernel of, by what it begins with.
///
/// # Errors
/// It cannot be read.
pub(super) fn archs(path: &Path) -> io::Result<Vec<Architecture>> {
    let mut head = Vec::new();
    let file = File::open(path)?;
    file.take(LOOKED_AT).read_to_end(&mut head)?;
    let all = [Architecture::Amd64, Architecture::Arm64].into_iter();
    Ok(all.filter(|arch| begins(*arch, &head)).collect())
}

/// What an image of an architecture has, in words.
pub(super) const fn form(arch: Architecture) -> &'static str {
    match arch {
        Architecture::Amd64 => "a bzImage, with `HdrS` at 0x202, or an ELF file of x86",
        Architecture::Arm64 => "an Image, with `ARM\\x64` at 0x38, or one that is compressed",
    }
}

/// Debian's kernels are bzImages and Images; builds of one's own are the other forms as well, which
/// QEMU takes if it is new enough.
fn begins(arch: Architecture, head: &[u8]) -> bool {
    let has = |at: usize, bytes: &[u8]| {
        let there = head.get(at..).unwrap_or_default();
        there.starts_with(bytes)
    };
    let is_elf_of = |machines: &[u16]| {
        let machine = head.get(18..20).unwrap_or_default();
        has(0, b"\x7fELF") && machines.iter().any(|it| machine == it.to_le_bytes())
    };
    match arch {
        // Documentation/arch/x86/boot.rst; an ELF file with a note of PVH: load_elfboot(),
        // hw/i386/x86.c, QEMU 7.2. `EM_386`, `EM_X86_64`.
        Architecture::Amd64 => {
            has(0x1fe, b"\x55\xaa") && has(0x202, b"HdrS") || is_elf_of(&[3, 62])
        }
        // Documentation/arch/arm64/booting.rst; arm_load_kernel(), hw/arm/boot.c: compressed by
        // gzip, with the header of an EFI program around it (drivers/firmware/efi/libstub/
        // zboot-header.S), or of U-Boot. `EM_AARCH64`.
        Architecture::Arm64 => {
            has(0x38, b"ARM\x64")
                || has(0, b"\x1f\x8b")
                || has(0, b"MZ") && has(4, b"zimg")
                || has(0, b"\x27\x05\x19\x56")
                || is_elf_of(&[183])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pieces: &[(usize, &[u8])]) -> Vec<Architecture> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image");
        let mut bytes = vec![0; 0x300];
        for (at, piece) in pieces {
            bytes[*at..at + piece.len()].copy_from_slice(piece);
        }
        std::fs::write(&path, bytes).unwrap();
        archs(&path).unwrap()
    }

    #[test]
    fn an_image_is_of_the_architecture_that_its_header_says() {
        use Architecture::{Amd64, Arm64};
        assert_eq!(
            with(&[(0, b"MZ"), (0x1fe, b"\x55\xaa"), (0x202, b"HdrS")]),
            [Amd64]
        );
        assert_eq!(with(&[(0, b"\x7fELF"), (18, &[62, 0])]), [Amd64]);
        assert_eq!(with(&[(0, b"MZ@\xfa"), (0x38, b"ARMd")]), [Arm64]);
        assert_eq!(with(&[(0, b"MZ\0\0zimg")]), [Arm64]);
        assert_eq!(with(&[(0, b"\x1f\x8b\x08")]), [Arm64]);
        // A sector that boots something else, a program for Windows, one of another machine.
        assert_eq!(with(&[(0x1fe, b"\x55\xaa")]), []);
        assert_eq!(with(&[(0, b"MZ")]), []);
        assert_eq!(with(&[(0, b"\x7fELF"), (18, &[243, 0])]), []);
        let folder = tempfile::tempdir().unwrap();
        let short = folder.path().join("short");
        std::fs::write(&short, "x").unwrap();
        assert_eq!(archs(&short).unwrap(), []);
    }
}
