//! Arrays whose memory is shared, and arrays of such arrays.

use super::{Map, MapAttr, MapKind};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The memory of an array may be mapped (`BPF_F_MMAPABLE`, Linux 5.5).
const MAPPABLE: u32 = 1 << 10;
/// Arrays that differ in their length alone may stand in one array of maps (`BPF_F_INNER_MAP`,
/// Linux 5.10).
const INNER: u32 = 1 << 12;

impl Map {
    /// Creates an array whose memory may be [mapped](crate::sys::shared::Shared::of).
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn mappable(value_size: usize, max_entries: u32) -> io::Result<Self> {
        Self::shared(value_size, max_entries, MAPPABLE)
    }

    /// The same for an array that is to stand in an array of maps, beside longer and shorter ones.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn inner(value_size: usize, max_entries: u32) -> io::Result<Self> {
        Self::shared(value_size, max_entries, MAPPABLE | INNER)
    }

    /// Creates an array of maps that are like this one.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn of_maps(like: &Self, max_entries: u32) -> io::Result<Self> {
        Self::make(&MapAttr {
            kind: MapKind::ArrayOfMaps as u32,
            key_size: 4,
            value_size: 4,
            max_entries,
            inner: like.fd.as_raw_fd() as u32,
            ..MapAttr::default()
        })
    }

    fn shared(value_size: usize, max_entries: u32, flags: u32) -> io::Result<Self> {
        Self::make(&MapAttr {
            kind: MapKind::Array as u32,
            key_size: 4,
            value_size: value_size as u32,
            max_entries,
            flags,
            ..MapAttr::default()
        })
    }

    /// The same for many places, which stand one behind the other: one wait does for all, where the
    /// kernel can do that.
    ///
    /// # Errors
    /// Those of `bpf(2)`; some may be put then.
    pub fn put_all(&self, places: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let numbers = descriptors.iter().map(|it| it.as_raw_fd().to_ne_bytes());
        let values: Vec<u8> = numbers.flatten().collect();
        match self.set_all(places, &values) {
            // ENOTSUPP, which has no name outside the kernel.
            Err(error) if matches!(error.raw_os_error(), Some(524 | libc::EOPNOTSUPP)) => {
                let places = places.chunks_exact(self.key_size);
                let mut each = places.zip(values.chunks_exact(self.value_size));
                each.try_for_each(|(place, value)| self.set(place, value))
            }
            put => put,
        }
    }
}
