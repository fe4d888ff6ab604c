//! Structures and arrays at the end of a page, behind which there is nothing; some of them go on
//! there. And lengths whose upper half the kernel does not look at.

use std::ptr;

use nix::errno::Errno;
use nix::libc::{self, c_int, c_long};

const PAGE: usize = 4096;
/// What the kernel drops of a length that is an `int`.
const HIGH: usize = 1 << 32;

/// The end of a page, as an address; the page is all zeros.
struct End(usize);

impl End {
    fn new() -> Self {
        // SAFETY: the kernel chooses the place, and nothing refers to the second page.
        let start = unsafe {
            let start = libc::mmap(
                ptr::null_mut(),
                2 * PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(start, libc::MAP_FAILED, "{}", Errno::last());
            assert_eq!(libc::munmap(start.byte_add(PAGE), PAGE), 0);
            start
        };
        Self(start.addr() + PAGE)
    }

    /// The address so many bytes before it, where these bytes now are.
    fn with(&self, before: usize, bytes: &[u8]) -> usize {
        assert!(bytes.len() <= before && before <= PAGE);
        let address = self.0 - before;
        // SAFETY: so many bytes are before the end of the page.
        unsafe {
            ptr::copy(
                bytes.as_ptr(),
                ptr::with_exposed_provenance_mut(address),
                bytes.len(),
            )
        }
        address
    }
}

fn call(number: c_long, words: &[usize]) -> c_long {
    let mut all = [0; 6];
    all[..words.len()].copy_from_slice(words);
    let [a, b, c, d, e, f] = all;
    // SAFETY: what the kernel may write to is memory of this module's own, or not there.
    unsafe { libc::syscall(number, a, b, c, d, e, f) }
}

fn descriptor(result: c_long) -> usize {
    usize::try_from(result).expect("a descriptor")
}

fn poll_fd(fd: i32, events: i16) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&fd.to_ne_bytes());
    bytes[4..6].copy_from_slice(&events.to_ne_bytes());
    bytes
}

pub(crate) fn page_ends() -> i32 {
    waiting();
    arrays();
    addresses();
    options();
    times();
    0
}

fn waiting() {
    let end = End::new();
    let one = end.with(8, &poll_fd(1, libc::POLLOUT));
    call(libc::SYS_poll, &[one, 1, 0]);
    call(libc::SYS_poll, &[one, 2, 0]);
    call(libc::SYS_poll, &[one, HIGH | 1, 0]);
    call(libc::SYS_poll, &[end.0 - 4, 1, 0]);
    let three = [poll_fd(1, libc::POLLOUT), poll_fd(-1, libc::POLLIN)].concat();
    call(libc::SYS_poll, &[end.with(20, &three), 3, 0]);

    let now = [0_i64; 2];
    let now = now.as_ptr().addr();
    let set = end.with(8, &2_u64.to_ne_bytes());
    call(libc::SYS_select, &[2, set, 0, 0, now]);
    call(libc::SYS_select, &[2, 0, set, 0, now]);
    call(libc::SYS_select, &[2, set + 4, 0, 0, now]);
    call(libc::SYS_select, &[65, set, 0, 0, now]);
    call(libc::SYS_pselect6, &[2, 0, set, 0, now, 0]);

    let epoll = descriptor(call(libc::SYS_epoll_create1, &[0]));
    let mut ends = [0; 2];
    call(libc::SYS_pipe2, &[ends.as_mut_ptr().addr(), 0]);
    let event = libc::epoll_event {
        events: libc::EPOLLOUT as u32,
        u64: 5,
    };
    let add = libc::EPOLL_CTL_ADD as usize;
    let event = ptr::from_ref(&event).addr();
    let writer = usize::try_from(ends[1]).expect("a descriptor");
    call(libc::SYS_epoll_ctl, &[epoll, add, writer, event]);
    let room = end.with(size_of::<libc::epoll_event>(), &[]);
    call(libc::SYS_epoll_wait, &[epoll, room, 1, 0]);
    call(libc::SYS_epoll_wait, &[epoll, room, 2, 0]);
}

fn arrays() {
    let end = End::new();
    let vector = end.with(16, &[0; 16]);
    for count in [1, 2, HIGH | 1] {
        call(libc::SYS_writev, &[1, vector, count]);
        call(libc::SYS_readv, &[usize::MAX, vector, count]);
    }
    call(libc::SYS_writev, &[1, vector + 8, 1]);

    // All of these fail: the groups of the process stay what they are.
    let none = usize::MAX;
    let operation = end.with(6, &[0; 6]);
    call(libc::SYS_semop, &[none, operation, 2]);
    call(libc::SYS_semop, &[none, operation, HIGH | 1]);
    call(libc::SYS_semop, &[none, operation + 2, 1]);
    let group = end.with(4, &7_u32.to_ne_bytes());
    call(libc::SYS_setgroups, &[2, group]);
    call(libc::SYS_setgroups, &[1, group + 2]);
    let waiter = end.with(24, &[0; 24]);
    call(libc::SYS_futex_waitv, &[waiter, 2, 0, 0, 0]);

    let how = end.with(24, &[0; 24]);
    let name = c"nothing".as_ptr().addr();
    call(libc::SYS_openat2, &[none, name, how, 24]);
    call(libc::SYS_openat2, &[none, name, how, 32]);
    call(libc::SYS_clone3, &[end.with(64, &[0; 64]), 88]);
    call(
        libc::SYS_sched_setaffinity,
        &[none, 8, end.with(8, &1_u64.to_ne_bytes())],
    );
    call(libc::SYS_sched_setaffinity, &[none, 16, end.0 - 8]);
    call(libc::SYS_sched_setaffinity, &[none, HIGH | 8, end.0 - 8]);
}

fn addresses() {
    let end = End::new();
    let stream = libc::SOCK_STREAM as usize;
    let of_four = |port: u16| {
        let mut bytes = [2, 0, 0, 0, 127, 0, 0, 1].to_vec();
        bytes[2..4].copy_from_slice(&port.to_be_bytes());
        bytes.resize(16, 0);
        bytes
    };
    let listener = descriptor(call(libc::SYS_socket, &[2, stream, 0]));
    let address = end.with(16, &of_four(0));
    for length in [16, 17, 128, HIGH | 16] {
        call(libc::SYS_bind, &[listener, address, length]);
    }
    let mut length: c_int = 16;
    let at = ptr::from_mut(&mut length).addr();
    call(libc::SYS_getsockname, &[listener, address, at]);
    let set = |to: c_int| end.with(4, &to.to_ne_bytes());
    call(libc::SYS_listen, &[listener, 1]);
    let client = descriptor(call(libc::SYS_socket, &[2, stream, 0]));
    call(libc::SYS_connect, &[client, address, 16]);
    let apart = End::new();
    call(libc::SYS_accept, &[listener, apart.0 - 16, set(16)]);

    // More than there is room for: the kernel tells the whole length.
    let local = descriptor(call(libc::SYS_socket, &[1, stream, 0]));
    let mut name = vec![1, 0, 0];
    let own = format!(
        "page-ends-{}-and-more-than-there-is-room-for",
        std::process::id()
    );
    name.extend(own.bytes());
    call(libc::SYS_bind, &[local, name.as_ptr().addr(), name.len()]);
    call(libc::SYS_getsockname, &[local, apart.0 - 16, set(16)]);
    name.resize(120, b'x');
    call(libc::SYS_bind, &[local, name.as_ptr().addr(), name.len()]);
}

fn options() {
    let end = End::new();
    let netlink = descriptor(call(libc::SYS_socket, &[16, libc::SOCK_RAW as usize, 0]));
    let address = [16_u32, 0, 5];
    call(libc::SYS_bind, &[netlink, address.as_ptr().addr(), 12]);
    let level = libc::SOL_NETLINK as usize;
    let groups = libc::NETLINK_LIST_MEMBERSHIPS as usize;
    for (room, before) in [
        (4_i32, 4),
        (8, 8),
        (64, 64),
        (64, 4),
        (64, 0),
        (0, 4),
        (2, 4),
    ] {
        let at = ptr::from_ref(&room).addr();
        call(
            libc::SYS_getsockopt,
            &[netlink, level, groups, end.0 - before, at],
        );
    }
    let information = libc::NETLINK_PKTINFO as usize;
    for length in [4, 2, HIGH | 4] {
        call(
            libc::SYS_setsockopt,
            &[netlink, level, information, end.0 - 4, length],
        );
    }
    let (level, reuse) = (libc::SOL_SOCKET as usize, libc::SO_REUSEADDR as usize);
    for length in [4, HIGH | 4] {
        call(
            libc::SYS_setsockopt,
            &[netlink, level, reuse, end.0 - 4, length],
        );
    }
}

fn times() {
    let end = End::new();
    let negative = [-1_i64, -1].map(i64::to_ne_bytes).concat();
    let time = end.with(16, &negative);
    call(libc::SYS_nanosleep, &[time, 0]);
    call(libc::SYS_nanosleep, &[time + 8, 0]);
    let name = c"nothing".as_ptr().addr();
    let both = [-1_i64, -2, 1, 1_000_000_000];
    call(
        libc::SYS_utimensat,
        &[usize::MAX, name, both.as_ptr().addr(), 0],
    );
    call(libc::SYS_utimensat, &[usize::MAX, name, time, 0]);
    call(libc::SYS_utimes, &[name, both.as_ptr().addr()]);
    call(libc::SYS_setitimer, &[9, both.as_ptr().addr(), 0]);
    call(libc::SYS_select, &[0, 0, 0, 0, both.as_ptr().addr()]);
    // The thread that is to have the parent's id there has no room for it.
    let child = [
        libc::CLONE_PARENT_SETTID as u64,
        0,
        0,
        0,
        libc::SIGCHLD as u64,
        0,
        0,
        0,
    ];
    if call(libc::SYS_clone3, &[child.as_ptr().addr(), 64]) == 0 {
        // SAFETY: the child does nothing else.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    call(
        libc::SYS_wait4,
        &[usize::MAX, ptr::from_mut(&mut status).addr(), 0, 0],
    );
}
