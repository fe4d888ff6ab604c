//! A perf ring: the mapping, its two counters, and copies out of it.

use super::rights::{self, Right};
use perf_event_open_sys::bindings::perf_event_mmap_page;
use std::io;
use std::mem::offset_of;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

// The kernel's layout of the control page: include/uapi/linux/perf_event.h.
const _: () = assert!(offset_of!(perf_event_mmap_page, data_head) == 1024);
const _: () = assert!(offset_of!(perf_event_mmap_page, data_tail) == 1032);

/// The control page and the records behind it.
#[derive(Debug)]
struct Pages {
    base: NonNull<u8>,
    mapped: usize,
    data_offset: usize,
    mask: u64,
}

// SAFETY: the mapping is shared memory that stays where it is; all access goes through the atomics
// and copies below.
unsafe impl Send for Pages {}

impl Pages {
    fn new(event: BorrowedFd<'_>, data_pages: usize, protection: libc::c_int) -> io::Result<Self> {
        let page = super::page_size();
        if !data_pages.is_power_of_two() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let data_size = data_pages
            .checked_mul(page)
            .ok_or(io::ErrorKind::InvalidInput)?;
        let mapped = data_size
            .checked_add(page)
            .ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
        let mapped_at = rights::with(&[Right::IpcLock], || unsafe {
            let base = libc::mmap(
                std::ptr::null_mut(),
                mapped,
                protection,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            );
            match base {
                libc::MAP_FAILED => Err(io::Error::last_os_error()),
                base => Ok(base),
            }
        });
        let base = mapped_at?;
        let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self {
            base,
            mapped,
            data_offset: page,
            mask: data_size as u64 - 1,
        })
    }

    fn capacity(&self) -> u64 {
        self.mask + 1
    }

    fn counter(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the control page is mapped for as long as self lives, the counter is 8-aligned
        // (asserted above), and the kernel and we both treat it as one 64-bit word.
        unsafe { AtomicU64::from_ptr(self.base.as_ptr().add(offset).cast()) }
    }

    fn head(&self) -> u64 {
        // ORDERING: pairs with the smp_wmb() before the store of data_head in
        // perf_output_put_handle(), kernel/events/ring_buffer.c: what has been written up to there
        // is whole.
        self.counter(offset_of!(perf_event_mmap_page, data_head))
            .load(Ordering::Acquire)
    }

    fn append(&self, at: u64, length: u64, out: &mut Vec<u8>) {
        let capacity = self.capacity() as usize;
        let start = (at & self.mask) as usize;
        let length = length.min(self.capacity()) as usize;
        let first = length.min(capacity - start);
        out.reserve(length);
        // SAFETY: both pieces lie within the data pages; `out` is our own memory with room for
        // `length` bytes more, and cannot overlap a mapping that only we hold privately. The kernel
        // does not write where the callers read (see there), so the bytes do not change under the
        // copy. All bytes up to the new length have been written.
        unsafe {
            let data = self.base.as_ptr().add(self.data_offset);
            let to = out.as_mut_ptr().add(out.len());
            std::ptr::copy_nonoverlapping(data.add(start), to, first);
            std::ptr::copy_nonoverlapping(data, to.add(first), length - first);
            out.set_len(out.len() + length);
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: exactly what new() mapped; no reference into it is left, as none leaves this
        // type.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.mapped) };
    }
}

/// A forward-written ring, mapped for reading and consuming.
///
/// Head and tail are free-running byte counters; the place in the ring is the counter modulo its
/// size. The kernel never overwrites what lies between tail and head: where there is no room it
/// drops the new record and counts it as lost.
#[derive(Debug)]
pub struct Ring(Pages);

impl Ring {
    /// Maps the ring of an event: one control page and `data_pages` (a power of two) of records.
    ///
    /// # Errors
    /// `EPERM` beyond `perf_event_mlock_kb` and `RLIMIT_MEMLOCK`, `EINVAL` for a size that is no
    /// power of two or for an inherited event that is not bound to a CPU, `ENOMEM`.
    ///
    /// # References
    /// `perf_mmap()`, `kernel/events/core.c`.
    pub fn map(event: BorrowedFd<'_>, data_pages: usize) -> io::Result<Self> {
        Pages::new(event, data_pages, libc::PROT_READ | libc::PROT_WRITE).map(Self)
    }

    /// The number of bytes for records.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.0.capacity()
    }

    /// How far the kernel has written: what lies below is whole.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.0.head()
    }

    /// How far we have consumed.
    #[must_use]
    pub fn tail(&self) -> u64 {
        // ORDERING: only we write it.
        self.0
            .counter(offset_of!(perf_event_mmap_page, data_tail))
            .load(Ordering::Relaxed)
    }

    /// Gives the room below `tail` back to the kernel.
    pub fn release(&self, tail: u64) {
        // ORDERING: our copies out of the ring happen before this store; pairs with the control
        // dependency on data_tail in __perf_output_begin(), kernel/events/ring_buffer.c.
        self.0
            .counter(offset_of!(perf_event_mmap_page, data_tail))
            .store(tail, Ordering::Release);
    }

    /// Appends `length` bytes from counter `at` on to `out`, around the end of the ring where it
    /// has to; at most as many as the ring has.
    ///
    /// The caller keeps to what lies between [`tail`](Self::tail) and [`head`](Self::head), where
    /// the kernel does not write; elsewhere the bytes are whatever is there.
    pub fn append(&self, at: u64, length: u64, out: &mut Vec<u8>) {
        self.0.append(at, length, out);
    }
}

/// A backward-written ring, mapped for reading alone: the kernel overwrites the oldest records.
///
/// Head is a free-running byte counter that starts at 0 and goes *down*: it is where the newest
/// record starts, the one before lies behind it. The event must have been opened with
/// `write_backward`.
#[derive(Debug)]
pub struct Overwritable(Pages);

// SAFETY: it is mapped for reading alone, and no method writes to what it owns.
unsafe impl Sync for Overwritable {}

impl Overwritable {
    /// Maps the ring of an event: one control page and `data_pages` (a power of two) of records.
    ///
    /// # Errors
    /// As those of [`Ring::map`].
    ///
    /// # References
    /// `rb->overwrite` in `rb_alloc()`, `kernel/events/ring_buffer.c`: what is not mapped for
    /// writing is overwritten.
    pub fn map(event: BorrowedFd<'_>, data_pages: usize) -> io::Result<Self> {
        Pages::new(event, data_pages, libc::PROT_READ).map(Self)
    }

    /// The number of bytes for records.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.0.capacity()
    }

    /// Where the newest whole record starts.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.0.head()
    }

    /// Appends `length` bytes from counter `at` on to `out`, around the end of the ring where it
    /// has to; at most as many as the ring has.
    ///
    /// The caller has [paused](super::perf::pause_output) the ring and
    /// [waited](super::wait_for_all_cpus) for tasks that were writing, so that the kernel does not
    /// write; otherwise the bytes may be parts of different records.
    pub fn append(&self, at: u64, length: u64, out: &mut Vec<u8>) {
        self.0.append(at, length, out);
    }
}
