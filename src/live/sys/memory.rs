//! The memory of other tasks.

use super::check;
use std::io;

/// What is said of a kernel that answers [`read_memory`] and [`write_memory`] with `ENOSYS`.
pub const NO_CALLS: &str = "this kernel has no calls for the memory of other processes \
                            (CONFIG_CROSS_MEMORY_ATTACH)";

/// Reads the memory of a task into `bytes`; says how many bytes there are before a page that is not
/// there.
///
/// # Errors
/// `EFAULT` where the first byte is in no such page, `ESRCH`, `EPERM`; [`NO_CALLS`] where the kernel
/// was built without.
///
/// # References
/// `process_vm_readv(2)`.
pub fn read_memory(thread: u32, address: u64, bytes: &mut [u8]) -> io::Result<usize> {
    let here = vector(bytes.as_mut_ptr(), bytes.len());
    let there = vector(
        std::ptr::with_exposed_provenance_mut(address as usize),
        bytes.len(),
    );
    let (pid, flags) = (thread as libc::pid_t, 0);
    // SAFETY: it writes at most so many bytes of ours; the other vector is of that task.
    let read =
        unsafe { libc::process_vm_readv(pid, &raw const here, 1, &raw const there, 1, flags) };
    moved(read)
}

/// Writes into the memory of a task; says how many bytes.
///
/// # Errors
/// As [`read_memory`].
///
/// # References
/// `process_vm_writev(2)`.
pub fn write_memory(thread: u32, address: u64, bytes: &[u8]) -> io::Result<usize> {
    let here = vector(bytes.as_ptr().cast_mut(), bytes.len());
    let there = vector(
        std::ptr::with_exposed_provenance_mut(address as usize),
        bytes.len(),
    );
    let (pid, flags) = (thread as libc::pid_t, 0);
    // SAFETY: it reads so many bytes of ours; the other vector is of that task.
    let written =
        unsafe { libc::process_vm_writev(pid, &raw const here, 1, &raw const there, 1, flags) };
    moved(written)
}

/// So many bytes, from `start` on.
fn vector(start: *mut u8, length: usize) -> libc::iovec {
    libc::iovec {
        iov_base: start.cast(),
        iov_len: length,
    }
}

/// Says that this kernel has no calls for the memory of other processes, unless it has them.
#[must_use]
pub fn lack() -> Option<&'static str> {
    let (own, mut read) = (0_u8, [1]);
    let address = (&raw const own).expose_provenance() as u64;
    let error = read_memory(std::process::id(), address, &mut read).err()?;
    is_lack(&error).then_some(NO_CALLS)
}

/// Whether an error of these calls is that the kernel has none.
#[must_use]
pub fn is_lack(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

fn moved(bytes: libc::ssize_t) -> io::Result<usize> {
    match check(bytes as libc::c_long) {
        Ok(bytes) => Ok(bytes as usize),
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            Err(io::Error::new(io::ErrorKind::Unsupported, NO_CALLS))
        }
        Err(error) => Err(error),
    }
}
