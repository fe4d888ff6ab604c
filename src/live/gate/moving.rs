//! Makes one call on the workload's own descriptor, with memory of the harness.

use super::buffer::Buffer;
use super::copying::copy;
use super::depending::{is_of_kernel, of_parts, of_socket};
use super::making::{Made, Order};
use super::parts::{Parts, is_vectored};
use crate::sys::gate::{self, Listener};
use crate::sys::{poll, socket};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::stat::{SFlag, fstat};
use nix::sys::uio::{pread, pwrite};
use nix::unistd::{Whence, fdatasync, fsync, lseek, read, write};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;
use syscall_model::names::{self, Abi};

/// How often it is looked whether the workload still waits, while its descriptor is not ready or
/// its return is held.
pub(super) const TICK: Duration = Duration::from_millis(50);

// More is moved by no shorter call that a test is about.
pub(super) const MOST: u64 = 1 << 20;

// More is not moved by a call that is made as it is: it lies in the memory of the harness.
const MOST_WHOLE: u64 = 16 << 20;

pub(super) const OF_KERNEL: &str = "files of procfs and sysfs look at who reads and writes";

/// What is moved, and by which call.
struct Moving {
    /// The call's id, and its thread and process.
    id: u64,
    thread: u32,
    process: u32,
    name: &'static str,
    descriptor: OwnedFd,
    parts: Parts,
    bytes: Buffer,
    /// Where in the file, by a call that says it.
    at: Option<u64>,
    /// Those of a call on sockets.
    flags: i32,
    /// Whether fewer bytes are asked for than the workload did.
    is_less: bool,
}

pub(super) fn make(listener: &Listener, order: Order) -> Made {
    let Some(process) = order.process else {
        return Made::Gone;
    };
    if let Some(why) = order.refused {
        return Made::NoMeans(io::Error::other(why));
    }
    let call = order.call;
    let descriptor = match order.descriptor {
        Err(error) if error.raw_os_error() == Some(libc::EBADF) => {
            return Made::Returned(Err(error));
        }
        Err(error) => return Made::NoMeans(error),
        Ok(descriptor) => descriptor,
    };
    if let Some((copied, from)) = order.source {
        return match (is_of_kernel(&descriptor), from) {
            (_, Err(error)) if error.raw_os_error() == Some(libc::EBADF) => {
                Made::Returned(Err(error))
            }
            (Err(error), _) | (_, Err(error)) => Made::NoMeans(error),
            (Ok(true), _) => Made::NoMeans(io::Error::other(OF_KERNEL)),
            (Ok(false), Ok(from)) => {
                let most = order.most.unwrap_or(MOST);
                copy(
                    listener,
                    (&call, process),
                    (copied, most),
                    (&from, &descriptor),
                )
            }
        };
    }
    let name = names::name_of(call.abi, call.number).unwrap_or_default();
    let words = call.native_words();
    let refused = || -> io::Result<Option<&str>> {
        if is_of_kernel(&descriptor)? {
            return Ok(Some(OF_KERNEL));
        }
        match is_vectored(name) {
            true => of_parts(&descriptor, (name, call.abi, words)),
            false => Ok(of_socket(name, words)),
        }
    };
    match refused() {
        Ok(None) => {}
        Ok(Some(why)) => return Made::NoMeans(io::Error::other(why)),
        Err(error) => return Made::NoMeans(error),
    }
    let is_sync = matches!(name, "fsync" | "fdatasync");
    let parts = match is_sync {
        true => Ok(None),
        false => Parts::of(&call).map(Some),
    };
    if let Some(gone) = gone(listener, call.id()) {
        return gone;
    }
    let parts = match parts {
        Ok(Some(parts)) => parts,
        Ok(None) => return sync(name, &descriptor),
        Err(error) => return Made::NoMeans(error),
    };
    let length = match order.most {
        Some(most) => parts.length().min(most).min(MOST),
        None if parts.length() > MOST_WHOLE => {
            return Made::NoMeans(io::Error::other("it moves more than 16 MiB"));
        }
        None => parts.length(),
    };
    let moving = Moving {
        id: call.id(),
        thread: call.thread,
        process,
        name,
        descriptor,
        bytes: Buffer::like(parts.address(), length as usize),
        parts,
        at: position(call.abi, name, words),
        flags: match name {
            "sendto" | "recvfrom" => words[3] as i32,
            _ => 0,
        },
        is_less: order.most.is_some(),
    };
    match matches!(
        name,
        "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" | "sendto"
    ) {
        true => store(listener, moving),
        false => fetch(listener, moving),
    }
}

/// What becomes of a call whose thread does not wait for it any more: what was read until now may
/// have been another task's.
pub(super) fn gone(listener: &Listener, id: u64) -> Option<Made> {
    match listener.is_waiting(id) {
        Ok(true) => None,
        Ok(false) => Some(Made::Gone),
        Err(error) => Some(Made::NoMeans(error)),
    }
}

fn sync(name: &str, file: &OwnedFd) -> Made {
    let returned = match name {
        "fsync" => fsync(file),
        _ => fdatasync(file),
    };
    Made::Returned(returned.map(|()| 0).map_err(io::Error::from))
}

/// Where in its file a call moves bytes, if it says so.
fn position(abi: Abi, name: &str, words: [u64; 6]) -> Option<u64> {
    let [_, _, _, low, high, _] = words;
    match name {
        "pread64" | "pwrite64" => Some(low),
        // `pos_from_hilo()`
        "preadv" | "pwritev" | "preadv2" | "pwritev2" => {
            let position = match abi {
                Abi::I386 | Abi::Arm => high << 32 | low,
                _ => low,
            };
            // The newer ones take it for the file's own offset.
            let is_own = name.ends_with('2') && position == u64::MAX;
            (!is_own).then_some(position)
        }
        _ => None,
    }
}

/// Makes a call that writes.
fn store(listener: &Listener, mut moving: Moving) -> Made {
    match moving.parts.gather(moving.thread, moving.bytes.all()) {
        Ok(there) => moving.bytes.truncate(there),
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => {
            return Made::Returned(Err(error));
        }
        Err(error) => return Made::NoMeans(error),
    }
    if let Some(unfit) = unfit(
        &moving.descriptor,
        moving.process,
        moving.at,
        moving.bytes.length as u64,
    ) {
        return unfit;
    }
    if let Some(gone) = gone(listener, moving.id) {
        return gone;
    }
    let (file, bytes) = (&moving.descriptor, moving.bytes.all());
    let returned = match (moving.name, moving.at) {
        ("sendto", _) => socket::send(file.as_fd(), bytes, moving.flags),
        (_, Some(at)) => pwrite(file, bytes, at as i64).map_err(io::Error::from),
        (_, None) => write(file, bytes).map_err(io::Error::from),
    };
    match returned {
        Err(error) if is_unsignalled(&error, file.as_fd(), moving.flags) => {
            Made::Unsignalled(error)
        }
        returned => returned_by(returned, file, moving.is_less),
    }
}

/// Whether no `SIGPIPE` comes with an error: on a socket only one of a stream has it.
pub(super) fn is_unsignalled(error: &io::Error, file: BorrowedFd<'_>, flags: i32) -> bool {
    let kind = || socket::option_of(file, libc::SO_TYPE);
    error.raw_os_error() == Some(libc::EPIPE)
        && (flags & libc::MSG_NOSIGNAL != 0 || kind().is_ok_and(|kind| kind != libc::SOCK_STREAM))
}

/// What becomes of a write of so many bytes that would go beyond the workload's limit for files,
/// which is not that of the harness.
pub(super) fn unfit(file: &OwnedFd, process: u32, at: Option<u64>, length: u64) -> Option<Made> {
    match fits(file, process, at, length) {
        Ok(true) => None,
        Ok(false) => {
            let why = "it would go beyond the workload's limit for files";
            Some(Made::NoMeans(io::Error::other(why)))
        }
        Err(error) => Some(Made::NoMeans(error)),
    }
}

fn fits(file: &OwnedFd, process: u32, at: Option<u64>, length: u64) -> io::Result<bool> {
    let limit = gate::file_size_limit(process)?;
    let status = fstat(file)?;
    let is_regular = SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT == SFlag::S_IFREG;
    if limit == u64::MAX || !is_regular {
        return Ok(true);
    }
    let flags = OFlag::from_bits_retain(fcntl(file, FcntlArg::F_GETFL)?);
    let at = match at {
        _ if flags.contains(OFlag::O_APPEND) => status.st_size as u64,
        Some(at) => at,
        None => lseek(file, 0, Whence::SeekCur)? as u64,
    };
    Ok(at.saturating_add(length) <= limit)
}

/// What a call returned that moved no bytes into the workload's memory. With `O_DIRECT` bytes are
/// moved in blocks: less than one is another call, which fails.
pub(super) fn returned_by(returned: io::Result<usize>, file: &OwnedFd, is_less: bool) -> Made {
    let is_direct = || {
        let flags = fcntl(file, FcntlArg::F_GETFL);
        flags.is_ok_and(|flags| OFlag::from_bits_retain(flags).contains(OFlag::O_DIRECT))
    };
    let error = returned.as_ref().err().and_then(io::Error::raw_os_error);
    if error == Some(libc::EINVAL) && is_less && is_direct() {
        let why = "fewer bytes of a file that is open with O_DIRECT are whole blocks";
        return Made::NoMeans(io::Error::other(why));
    }
    Made::Returned(returned)
}

/// Waits until there is something to read, or nothing any more; returns what became of a call that
/// ended before.
pub(super) fn until_readable(listener: &Listener, id: u64, file: &OwnedFd) -> Option<Made> {
    loop {
        let ready = poll::poll(std::iter::once(file.as_fd()), TICK);
        match (ready, listener.is_waiting(id)) {
            (Err(error), _) | (_, Err(error)) => return Some(Made::NoMeans(error)),
            (_, Ok(false)) => return Some(Made::Gone),
            (Ok(ready), _) if ready.iter().any(|it| it.is_readable || it.has_hung_up) => {
                return None;
            }
            _ => {}
        }
    }
}

/// Makes a call that reads.
fn fetch(listener: &Listener, mut moving: Moving) -> Made {
    // The call itself says what there is, where it does not wait or has a time for that.
    let (file, flags) = (&moving.descriptor, moving.flags);
    let may_wait = fcntl(file, FcntlArg::F_GETFL).map(|status| {
        moving.bytes.length > 0
            && !OFlag::from_bits_retain(status).contains(OFlag::O_NONBLOCK)
            && flags & libc::MSG_DONTWAIT == 0
            && !socket::has_time_to_receive(file.as_fd())
    });
    let waits = match may_wait {
        Ok(waits) => waits,
        Err(error) => return Made::NoMeans(error.into()),
    };
    if waits && let Some(ended) = until_readable(listener, moving.id, file) {
        return ended;
    }
    let got = match (moving.name, moving.at) {
        ("recvfrom", _) => socket::receive(file.as_fd(), moving.bytes.all(), flags),
        (_, Some(at)) => pread(file, moving.bytes.all(), at as i64).map_err(io::Error::from),
        (_, None) => read(file, moving.bytes.all()).map_err(io::Error::from),
    };
    let got = match got {
        Ok(got) if got > 0 => got,
        other => return returned_by(other, file, moving.is_less),
    };
    moving.bytes.truncate(got);
    match moving.parts.scatter(moving.thread, moving.bytes.all()) {
        Ok(there) if there == got => Made::Returned(Ok(got)),
        Ok(_) => Made::Torn(io::Error::from_raw_os_error(libc::EFAULT)),
        Err(error) => Made::Torn(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_position_of_a_vector_has_two_words_in_32_bit_calls_and_may_be_the_file_s_own() {
        let words = [3, 0x1000, 1, 10, 1, 0];
        assert_eq!(position(Abi::X86_64, "preadv", words), Some(10));
        assert_eq!(position(Abi::I386, "pwritev", words), Some(1 << 32 | 10));
        let own = [3, 0x1000, 1, u64::MAX, 0, 0];
        assert_eq!(position(Abi::X86_64, "preadv2", own), None);
        assert_eq!(position(Abi::X86_64, "preadv", own), Some(u64::MAX));
        assert_eq!(position(Abi::X86_64, "readv", words), None);
    }
}
