//! Messages with descriptors, between the harness and its starter.

use crate::sys::check;
use libc::c_int;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Standard input, output and error, the ends of three pipes, and a control group.
pub(super) const MOST: usize = 7;

/// Room for the descriptors of a message.
#[repr(C, align(8))]
pub(super) struct Control([u8; 64]);

// SAFETY: takes a number.
const _: () = assert!(unsafe { libc::CMSG_SPACE((MOST * size_of::<c_int>()) as u32) } <= 64);

impl Control {
    pub(super) fn new() -> Self {
        Self([0; 64])
    }

    pub(super) fn message(&mut self, part: &mut libc::iovec) -> libc::msghdr {
        // SAFETY: plain numbers and pointers, for which all zeroes is valid.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = part;
        message.msg_iovlen = 1;
        message.msg_control = self.0.as_mut_ptr().cast();
        message.msg_controllen = self.0.len() as _;
        message
    }
}

pub(super) fn pair() -> io::Result<[OwnedFd; 2]> {
    use std::os::fd::FromRawFd;
    let mut numbers = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: two numbers.
    let made = unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, numbers.as_mut_ptr()) };
    check(made.into())?;
    // SAFETY: the kernel has just stored two new descriptors there.
    Ok(numbers.map(|number| unsafe { OwnedFd::from_raw_fd(number) }))
}

/// Bounds what a wait for a message takes.
pub(super) fn wait_no_longer(socket: &OwnedFd, seconds: i64, micros: i64) -> io::Result<()> {
    let time = libc::timeval {
        tv_sec: seconds,
        tv_usec: micros,
    };
    let (level, name) = (libc::SOL_SOCKET, libc::SO_RCVTIMEO);
    let size = size_of_val(&time) as libc::socklen_t;
    // SAFETY: a whole time.
    let set = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const time).cast(),
            size,
        )
    };
    check(set.into()).map(drop)
}

/// Writes descriptors into a message.
///
/// # Safety
/// The message has room for them.
#[expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "one header and what is behind it"
)]
pub(super) unsafe fn put(message: &libc::msghdr, numbers: &[c_int]) {
    // SAFETY: the caller's promise.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of_val(numbers) as u32) as _;
        let to = libc::CMSG_DATA(header).cast::<c_int>();
        to.copy_from_nonoverlapping(numbers.as_ptr(), numbers.len());
    }
}

/// Takes the descriptors of a message; how many there were.
pub(super) unsafe fn take(message: &libc::msghdr, to: &mut [c_int; MOST]) -> usize {
    // SAFETY: the kernel's own control data.
    let header = unsafe { libc::CMSG_FIRSTHDR(message) };
    if header.is_null() {
        return 0;
    }
    // SAFETY: not null.
    let length = unsafe { (*header).cmsg_len } as usize;
    // SAFETY: takes a number.
    let count = length.saturating_sub(unsafe { libc::CMSG_LEN(0) } as usize) / size_of::<c_int>();
    // SAFETY: as above.
    let data = unsafe { libc::CMSG_DATA(header) }.cast::<c_int>();
    for (place, to) in to.iter_mut().enumerate().take(count) {
        // SAFETY: as many numbers as the header says.
        *to = unsafe { data.add(place).read_unaligned() };
    }
    count
}
