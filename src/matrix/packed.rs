//! Unpacks the kernel that a bzImage holds, so that a guest need not.
//!
//! # References
//! Documentation/arch/x86/boot.rst (the header of a bzImage); `load_elfboot()`, hw/i386/x86.c,
//! QEMU 4.0 (which kernels it boots unpacked).

use perf_live::elf;
use perf_live::files;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The most bytes that are unpacked of an image.
pub(super) const MOST: u64 = 512 << 20;

/// The name of the unpacked kernel in the folder of a fetched one.
const PLAIN: &str = "vmlinux";

/// What was unpacked.
pub(super) struct Unpacked {
    pub(super) bytes: Vec<u8>,
    /// Whether that is all of it, without an error.
    is_whole: bool,
}

/// Returns the file to boot a fetched kernel from: the kernel unpacked, which is kept in its
/// folder, or its image where QEMU would not boot that, or it cannot be kept.
pub(super) fn plain(fetched: &Path, image: PathBuf) -> PathBuf {
    let plain = fetched.join(PLAIN);
    if plain.is_file() {
        return plain;
    }
    let kept = std::fs::read(&image).ok().and_then(|image| {
        let kernel = bootable(&image)?;
        files::write(&plain, &kernel).ok()
    });
    kept.map_or(image, |()| plain)
}

/// Returns the kernel of a bzImage, whole, if QEMU boots it as it is.
fn bootable(image: &[u8]) -> Option<Vec<u8>> {
    /// `XEN_ELFNOTE_PHYS32_ENTRY`, the entry of a guest that knows of its host (PVH).
    const ENTRY: u32 = 18;
    let kernel = unpacked(payload(image)?)?;
    let boots = kernel.is_whole && elf::has_note(&kernel.bytes, b"Xen", ENTRY);
    boots.then_some(kernel.bytes)
}

/// Returns the packed kernel of a bzImage.
pub(super) fn payload(image: &[u8]) -> Option<&[u8]> {
    let word = |at: usize| {
        let bytes = image.get(at..at.checked_add(4)?)?;
        let word = u32::from_le_bytes(bytes.try_into().ok()?);
        usize::try_from(word).ok()
    };
    if image.get(0x202..0x206)? != b"HdrS" {
        return None;
    }
    // `setup_sects`, where 0 means 4; `payload_offset` and `payload_length`.
    let sectors = match *image.get(0x1f1)? {
        0 => 4,
        sectors => usize::from(sectors),
    };
    let setup = sectors.checked_add(1)?.checked_mul(512)?;
    let start = setup.checked_add(word(0x248)?)?;
    image.get(start..start.checked_add(word(0x24c)?)?)
}

/// Unpacks it; the size of the unpacked kernel stands behind it. `None` for another packing.
pub(super) fn unpacked(payload: &[u8]) -> Option<Unpacked> {
    let mut bytes = Vec::new();
    let ended = match payload {
        [0x1f, 0x8b, ..] => flate2::read::GzDecoder::new(payload)
            .take(MOST)
            .read_to_end(&mut bytes),
        [0xfd, b'7', b'z', b'X', ..] => lzma_rust2::XzReader::new(payload, false)
            .take(MOST)
            .read_to_end(&mut bytes),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => zstd::stream::Decoder::new(payload)
            .ok()?
            .single_frame()
            .take(MOST)
            .read_to_end(&mut bytes),
        _ => return None,
    };
    let size = payload.last_chunk().map(|size| u32::from_le_bytes(*size));
    let is_whole = ended.is_ok() && size.is_some_and(|size| bytes.len() == size as usize);
    (!bytes.is_empty()).then_some(Unpacked { bytes, is_whole })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::io::Write;

    pub(in crate::matrix) fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    /// A bzImage of two sectors of set-up, with this behind the packed kernel.
    fn image_with(packed: &[u8], behind: [u8; 4]) -> Vec<u8> {
        let mut image = vec![0; 3 * 512 + 16];
        image[0x1f1] = 2;
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x248..0x24c].copy_from_slice(&16_u32.to_le_bytes());
        let length = u32::try_from(packed.len() + 4).unwrap();
        image[0x24c..0x250].copy_from_slice(&length.to_le_bytes());
        image.extend(packed);
        image.extend(behind);
        image
    }

    pub(in crate::matrix) fn image(packed: &[u8]) -> Vec<u8> {
        image_with(packed, [1, 2, 3, 4])
    }

    /// An ELF file of nothing but a note.
    fn kernel(owner: &[u8; 4], kind: u32) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
        bytes.resize(16, 0);
        for half in [2_u16, 62] {
            bytes.extend(half.to_le_bytes());
        }
        bytes.extend(1_u32.to_le_bytes());
        // The entry, where the segments and where the sections are described.
        for word in [0_u64, 64, 0] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(0_u32.to_le_bytes());
        for half in [64_u16, 56, 1, 0, 0, 0] {
            bytes.extend(half.to_le_bytes());
        }
        // PT_NOTE, which may be read.
        for word in [4_u32, 4] {
            bytes.extend(word.to_le_bytes());
        }
        for word in [120_u64, 0, 0, 24, 24, 4] {
            bytes.extend(word.to_le_bytes());
        }
        for word in [4, 8, kind] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(owner);
        bytes.extend(0x100_0000_u64.to_le_bytes());
        bytes
    }

    fn packed(kernel: &[u8]) -> Vec<u8> {
        let size = u32::try_from(kernel.len()).unwrap();
        image_with(&gzip(kernel), size.to_le_bytes())
    }

    #[test]
    fn a_kernel_that_qemu_boots_unpacked_is_unpacked_once_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("vmlinuz");
        std::fs::write(&image, packed(&kernel(b"Xen\0", 18))).unwrap();
        let plain = plain(folder.path(), image.clone());
        assert_eq!(plain, folder.path().join(PLAIN));
        assert_eq!(std::fs::read(&plain).unwrap(), kernel(b"Xen\0", 18));
        std::fs::write(&image, "").unwrap();
        assert_eq!(super::plain(folder.path(), image), plain);
    }

    #[test]
    fn a_kernel_without_an_entry_for_qemu_and_one_that_is_cut_or_packed_otherwise_stay_packed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vmlinuz");
        let whole = packed(&kernel(b"Xen\0", 18));
        let mut longer = whole.clone();
        let size = longer.len() - 4;
        longer[size] += 1;
        let cut = &whole[..whole.len() - 8];
        for image in [
            &packed(&kernel(b"Xen\0", 17)),
            &packed(&kernel(b"GNU\0", 18)),
            &packed(b"code"),
            &longer,
            cut,
            &image_with(b"lzo?", [0; 4]),
            b"\x7fELF",
        ] {
            std::fs::write(&path, image).unwrap();
            assert_eq!(plain(folder.path(), path.clone()), path);
            assert!(!folder.path().join(PLAIN).exists());
        }
    }

    #[test]
    fn a_kernel_that_cannot_be_kept_is_booted_packed() {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("vmlinuz");
        std::fs::write(&image, packed(&kernel(b"Xen\0", 18))).unwrap();
        let nowhere = folder.path().join("nowhere");
        assert_eq!(plain(&nowhere, image.clone()), image);
    }
}
