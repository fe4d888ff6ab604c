//! What a socket is, and where it is.

use super::check;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The address that a socket is bound to, as the kernel writes it: a family, and what it has.
///
/// # Errors
/// Those of `getsockname(2)`.
pub fn address_of(socket: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
    let mut room = [0_u8; size_of::<libc::sockaddr_storage>()];
    let mut length = libc::socklen_t::try_from(room.len()).unwrap_or(0);
    let address = room.as_mut_ptr().cast();
    // SAFETY: room of that length, and the place of the length.
    let told = unsafe { libc::getsockname(socket.as_raw_fd(), address, &raw mut length) };
    check(libc::c_long::from(told))?;
    let told = room.get(..length as usize).unwrap_or(&room);
    Ok(told.to_vec())
}

/// The value of a socket's option that is a number: of those that all sockets have (`SO_DOMAIN`,
/// `SO_TYPE`, `SO_PROTOCOL`).
///
/// # Errors
/// Those of `getsockopt(2)`.
///
/// # References
/// `socket(7)`.
pub fn option_of(socket: BorrowedFd<'_>, option: i32) -> io::Result<i32> {
    let mut value = 0_i32;
    let mut length = size_of::<i32>() as libc::socklen_t;
    let (fd, level) = (socket.as_raw_fd(), libc::SOL_SOCKET);
    let place = (&raw mut value).cast();
    // SAFETY: room for a number, and the place of its length.
    let told = unsafe { libc::getsockopt(fd, level, option, place, &raw mut length) };
    check(libc::c_long::from(told))?;
    Ok(value)
}

/// Whether a receiving call on it ends after a time (`SO_RCVTIMEO`).
pub fn has_time_to_receive(socket: BorrowedFd<'_>) -> bool {
    let mut time = libc::timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    let mut length = size_of::<libc::timeval>() as libc::socklen_t;
    let (fd, level) = (socket.as_raw_fd(), libc::SOL_SOCKET);
    let place = (&raw mut time).cast();
    // SAFETY: room for a time, and the place of its length.
    let told = unsafe { libc::getsockopt(fd, level, libc::SO_RCVTIMEO, place, &raw mut length) };
    told == 0 && (time.tv_sec != 0 || time.tv_usec != 0)
}

/// Sends bytes to the peer of a socket; says how many.
///
/// # Errors
/// Those of `send(2)`.
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8], flags: i32) -> io::Result<usize> {
    let (fd, place) = (socket.as_raw_fd(), bytes.as_ptr().cast());
    // SAFETY: it reads so many bytes of ours.
    let sent = unsafe { libc::send(fd, place, bytes.len(), flags) };
    Ok(check(sent as libc::c_long)? as usize)
}

/// Receives bytes; says how many.
///
/// # Errors
/// Those of `recv(2)`.
pub fn receive(socket: BorrowedFd<'_>, bytes: &mut [u8], flags: i32) -> io::Result<usize> {
    let (fd, place) = (socket.as_raw_fd(), bytes.as_mut_ptr().cast());
    // SAFETY: it writes at most so many bytes of ours.
    let got = unsafe { libc::recv(fd, place, bytes.len(), flags) };
    Ok(check(got as libc::c_long)? as usize)
}
