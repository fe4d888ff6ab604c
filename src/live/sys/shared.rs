//! The memory of a BPF array, shared with the programs that write into it.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// The memory of an array, mapped for as long as this lives. Words and copies of it leave this
/// type, and no reference into it.
#[derive(Debug)]
pub struct Shared {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping is shared memory that stays where it is; all access goes through the atomics
// and copies below.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Maps the first `length` bytes of an array that was made to be mapped, or of a file.
    ///
    /// # Errors
    /// `EINVAL` beyond the array's end, `ENOMEM`.
    ///
    /// # References
    /// `array_map_mmap()`, `kernel/bpf/arraymap.c`.
    pub fn of(array: &impl AsFd, length: usize) -> io::Result<Self> {
        Self::part(array, 0, length)
    }

    /// The same of those from `at` on, a multiple of the size of a page.
    ///
    /// # Errors
    /// As above.
    pub fn part(array: &impl AsFd, at: u64, length: usize) -> io::Result<Self> {
        let at = libc::off_t::try_from(at).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                array.as_fd().as_raw_fd(),
                at,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::InvalidInput)?;
        let shared = Self { base, length };
        // Every process that a run is started in would get a copy of the table of pages, which
        // takes as long as all of a small run's events.
        // SAFETY: it changes nothing for this process, and the range is a mapping of ours.
        match unsafe { libc::madvise(base.as_ptr().cast(), length, libc::MADV_DONTFORK) } {
            0 => Ok(shared),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn word(&self, at: usize) -> Option<&AtomicU64> {
        let is_inside = at.is_multiple_of(8) && at.checked_add(8)? <= self.length;
        // SAFETY: the word lies within the mapping, which lives as long as self, and is 8-aligned,
        // as the mapping is page-aligned.
        is_inside.then(|| unsafe { AtomicU64::from_ptr(self.base.as_ptr().add(at).cast()) })
    }

    /// The word at this offset, a multiple of 8; 0 beyond the end.
    #[must_use]
    pub fn load(&self, at: usize) -> u64 {
        // ORDERING: what a program wrote before it stored the word is seen by who reads the word.
        self.word(at).map_or(0, |word| word.load(Ordering::Acquire))
    }

    /// Writes the word at this offset, a multiple of 8; nothing beyond the end.
    pub fn store(&self, at: usize, value: u64) {
        if let Some(word) = self.word(at) {
            // ORDERING: our copies happen before the program may write there again.
            word.store(value, Ordering::Release);
        }
    }

    /// Appends a copy of `length` bytes from offset `at` on, as far as there are any. The caller
    /// keeps to what no program writes to meanwhile.
    pub fn append(&self, at: usize, length: usize, out: &mut Vec<u8>) {
        let length = length.min(self.length.saturating_sub(at));
        out.reserve(length);
        // SAFETY: the bytes lie within the mapping, `out` is our own memory with room for `length`
        // bytes more, and all bytes up to the new length have been written.
        unsafe {
            let to = out.as_mut_ptr().add(out.len());
            std::ptr::copy_nonoverlapping(self.base.as_ptr().add(at.min(self.length)), to, length);
            out.set_len(out.len() + length);
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: exactly what `of` mapped; no reference into it is left.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.length) };
    }
}
