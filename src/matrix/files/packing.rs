//! Unpacks what an archive is compressed by, and knows files by their digests.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A part of a file, which has a place of its own in it.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Piece {
    pub(super) fn whole(file: File) -> io::Result<Self> {
        let end = file.metadata()?.len();
        let file = Arc::new(file);
        Ok(Self { file, at: 0, end })
    }

    /// A part of it; `None` if it has no such part.
    pub(super) fn part(&self, at: u64, length: u64) -> Option<Self> {
        let at = self.at.checked_add(at)?;
        let end = at.checked_add(length)?;
        (end <= self.end).then(|| Self {
            file: Arc::clone(&self.file),
            at,
            end,
        })
    }

    pub(super) const fn length(&self) -> u64 {
        self.end.saturating_sub(self.at)
    }

    /// Returns the bytes at a place, fewer at the end.
    pub(super) fn peek(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut piece = self.clone();
        piece.at = piece.at.saturating_add(at).min(piece.end);
        piece.take(length as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Read for Piece {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.length()).unwrap_or(usize::MAX);
        let most = most.min(into.len());
        let n = self
            .file
            .read_at(into.get_mut(..most).unwrap_or_default(), self.at)?;
        self.at = self.at.saturating_add(n as u64);
        Ok(n)
    }
}

/// How something is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    None,
    Gzip,
    Zstd,
    Xz,
}

impl Packing {
    /// What these bytes begin.
    pub(super) fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', ..] => Self::Xz,
            _ => Self::None,
        }
    }
}

/// Unpacks a file, compressed or not.
pub(super) fn plain(piece: &Piece) -> io::Result<Box<dyn Read>> {
    let packing = Packing::of(&piece.peek(0, 6)?);
    let from = io::BufReader::with_capacity(256 << 10, piece.clone());
    Ok(match packing {
        Packing::None => Box::new(from),
        Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(from)),
        Packing::Zstd => Box::new(zstd::stream::Decoder::with_buffer(from)?),
        Packing::Xz => Box::new(lzma_rust2::XzReader::new(from, true)),
    })
}

/// Returns the SHA-256 of what is read, in hexadecimal.
pub(super) fn sha256(mut from: impl Read) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut bytes = vec![0; 256 << 10];
    loop {
        match from.read(&mut bytes) {
            Ok(0) => break,
            Ok(n) => digest.update(bytes.get(..n).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let sum = digest.finalize();
    Ok(sum.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_digest_is_that_of_fips_180() {
        // The examples "abc" and the empty message.
        let of = |text: &str| sha256(text.as_bytes()).unwrap();
        assert_eq!(
            of("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            of(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn a_part_of_a_file_has_its_own_place_and_its_own_end() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let whole = Piece::whole(file).unwrap();
        let mut part = whole.part(2, 5).unwrap();
        let mut text = String::new();
        part.clone().read_to_string(&mut text).unwrap();
        assert_eq!(text, "23456");
        assert_eq!(part.peek(3, 9).unwrap(), b"56");
        assert_eq!(part.read(&mut [0; 2]).unwrap(), 2);
        assert_eq!(part.length(), 3);
        assert!(whole.part(2, 9).is_none());
        assert!(whole.part(u64::MAX, 2).is_none());
    }

    #[test]
    fn what_is_compressed_in_each_way_is_unpacked() {
        let text = b"text".repeat(1000);
        let gzip = crate::matrix::packed::tests::gzip(&text);
        let zstd = zstd::stream::encode_all(text.as_slice(), 0).unwrap();
        for packed in [&text, &gzip, &zstd] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(packed).unwrap();
            let mut read = Vec::new();
            let piece = Piece::whole(file).unwrap();
            plain(&piece).unwrap().read_to_end(&mut read).unwrap();
            assert_eq!(read, text);
        }
    }
}
