//! Makes one call on the workload's own descriptor, with memory of the harness.

use super::buffer::Buffer;
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
const MOST: u64 = 1 << 20;

// More is not moved by a call that is made as it is: it lies in the memory of the harness.
const MOST_WHOLE: u64 = 16 << 20;

/// What is moved, and by which call.
struct Moving {
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
    let name = names::name_of(call.abi, call.number).unwrap_or_default();
    let words = call.native_words();
    let refused = || -> io::Result<Option<&str>> {
        if is_of_kernel(&descriptor)? {
            return Ok(Some(
                "files of procfs and sysfs look at who reads and writes",
            ));
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
    // What was read until here may have been another task's.
    match listener.is_waiting(call.id()) {
        Ok(true) => {}
        Ok(false) => return Made::Gone,
        Err(error) => return Made::NoMeans(error),
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
    let who = (call.id(), call.thread, process);
    match matches!(
        name,
        "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" | "sendto"
    ) {
        true => store(listener, who, moving),
        false => fetch(listener, who, moving),
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
fn store(listener: &Listener, (id, thread, process): (u64, u32, u32), moving: Moving) -> Made {
    let Moving {
        name,
        descriptor,
        parts,
        mut bytes,
        at,
        flags,
        is_less,
    } = moving;
    match parts.gather(thread, bytes.all()) {
        Ok(there) => bytes.truncate(there),
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => {
            return Made::Returned(Err(error));
        }
        Err(error) => return Made::NoMeans(error),
    }
    match fits(&descriptor, process, at, bytes.length as u64) {
        Ok(true) => {}
        Ok(false) => {
            let why = "it would go beyond the workload's limit for files";
            return Made::NoMeans(io::Error::other(why));
        }
        Err(error) => return Made::NoMeans(error),
    }
    // What was read until here may have been another task's.
    match listener.is_waiting(id) {
        Ok(true) => {}
        Ok(false) => return Made::Gone,
        Err(error) => return Made::NoMeans(error),
    }
    let returned = match (name, at) {
        ("sendto", _) => socket::send(descriptor.as_fd(), bytes.all(), flags),
        (_, Some(at)) => pwrite(&descriptor, bytes.all(), at as i64).map_err(io::Error::from),
        (_, None) => write(&descriptor, bytes.all()).map_err(io::Error::from),
    };
    match returned {
        Err(error) if is_unsignalled(&error, descriptor.as_fd(), flags) => Made::Unsignalled(error),
        returned => returned_by(returned, &descriptor, is_less),
    }
}

/// Whether no `SIGPIPE` comes with an error: on a socket only one of a stream has it.
fn is_unsignalled(error: &io::Error, file: BorrowedFd<'_>, flags: i32) -> bool {
    let kind = || socket::option_of(file, libc::SO_TYPE);
    error.raw_os_error() == Some(libc::EPIPE)
        && (flags & libc::MSG_NOSIGNAL != 0 || kind().is_ok_and(|kind| kind != libc::SOCK_STREAM))
}

/// Whether a write of so many bytes stays below the workload's limit for files, which is not that
/// of the harness.
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
fn returned_by(returned: io::Result<usize>, file: &OwnedFd, is_less: bool) -> Made {
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

/// Makes a call that reads.
fn fetch(listener: &Listener, (id, thread, _): (u64, u32, u32), moving: Moving) -> Made {
    let Moving {
        name,
        descriptor,
        parts,
        mut bytes,
        at,
        flags,
        is_less,
    } = moving;
    // The call itself says what there is, where it does not wait or has a time for that.
    let may_wait = fcntl(&descriptor, FcntlArg::F_GETFL).map(|status| {
        bytes.length > 0
            && !OFlag::from_bits_retain(status).contains(OFlag::O_NONBLOCK)
            && flags & libc::MSG_DONTWAIT == 0
            && !socket::has_time_to_receive(descriptor.as_fd())
    });
    let mut waits = match may_wait {
        Ok(waits) => waits,
        Err(error) => return Made::NoMeans(error.into()),
    };
    while waits {
        let ready = poll::poll(std::iter::once(descriptor.as_fd()), TICK);
        match (ready, listener.is_waiting(id)) {
            (Err(error), _) | (_, Err(error)) => return Made::NoMeans(error),
            (_, Ok(false)) => return Made::Gone,
            (Ok(ready), _) => {
                waits = !ready.iter().any(|it| it.is_readable || it.has_hung_up);
            }
        }
    }
    let got = match (name, at) {
        ("recvfrom", _) => socket::receive(descriptor.as_fd(), bytes.all(), flags),
        (_, Some(at)) => pread(&descriptor, bytes.all(), at as i64).map_err(io::Error::from),
        (_, None) => read(descriptor.as_fd(), bytes.all()).map_err(io::Error::from),
    };
    let got = match got {
        Ok(got) if got > 0 => got,
        other => return returned_by(other, &descriptor, is_less),
    };
    bytes.truncate(got);
    match parts.scatter(thread, bytes.all()) {
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
