//! Which structures of which calls, with which bytes.

use std::collections::BTreeSet;

/// A structure that a call is given.
pub(super) struct Case {
    pub(super) call: &'static str,
    /// The argument that points to it.
    pub(super) place: usize,
    /// The other words.
    pub(super) words: [u64; 6],
    pub(super) size: usize,
    /// The argument that tells its size, or the number of its elements, each of so many bytes.
    pub(super) length_at: Option<usize>,
    pub(super) unit: usize,
    /// What it begins with, which its other fields depend on.
    starts: &'static [&'static [u8]],
}

impl Case {
    const fn new(call: &'static str, place: usize, words: [u64; 6], size: usize) -> Self {
        Self {
            call,
            place,
            words,
            size,
            length_at: None,
            unit: 1,
            starts: &[],
        }
    }

    const fn sized(self, length_at: usize, unit: usize) -> Self {
        Self {
            length_at: Some(length_at),
            unit,
            ..self
        }
    }

    const fn starting(self, starts: &'static [&'static [u8]]) -> Self {
        Self { starts, ..self }
    }

    /// How many bytes are there, and what the argument says of it: all; one element less; of a
    /// length in bytes also what the kernel drops of it.
    pub(super) fn lengths(&self, all: usize) -> Vec<(usize, Option<u64>)> {
        let Some(_) = self.length_at else {
            return vec![(all, None)];
        };
        let count = (all / self.unit) as u64;
        let mut lengths = vec![(all, Some(count)), (all, Some(count + 1))];
        if all > self.unit {
            lengths.push((all, Some(count - 1)));
        }
        lengths
    }
}

const NONE: [u64; 6] = [0; 6];

/// All of them.
#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    Case::new("bind", 1, NONE, 16).sized(2, 1).starting(&[b"\x01\0", b"\x02\0", b"\x10\0", b"\x05\0"]),
    Case::new("bind", 1, NONE, 28).sized(2, 1).starting(&[b"\x0a\0", b"\x0a\0\0\0\0\0\0\0\xfe\x80"]),
    Case::new("bind", 1, NONE, 112).sized(2, 1).starting(&[b"\x01\0a", b"\x01\0\0"]),
    Case::new("bind", 1, NONE, 130).sized(2, 1).starting(&[b"\x01\0\0"]),
    Case::new("bind", 1, NONE, 12).sized(2, 1).starting(&[b"\x10\0"]),
    Case::new("bind", 1, NONE, 16).sized(2, 1).starting(&[b"\x28\0"]),
    Case::new("bpf", 1, [0, 0, 0, 0, 0, 0], 60).sized(2, 1),
    Case::new("bpf", 1, [1, 0, 0, 0, 0, 0], 32).sized(2, 1),
    Case::new("bpf", 1, [2, 0, 0, 0, 0, 0], 32).sized(2, 1),
    Case::new("bpf", 1, [3, 0, 0, 0, 0, 0], 16).sized(2, 1),
    Case::new("bpf", 1, [4, 0, 0, 0, 0, 0], 24).sized(2, 1),
    Case::new("bpf", 1, [5, 0, 0, 0, 0, 0], 128).sized(2, 1),
    Case::new("bpf", 1, [6, 0, 0, 0, 0, 0], 16).sized(2, 1),
    Case::new("bpf", 1, [8, 0, 0, 0, 0, 0], 20).sized(2, 1),
    Case::new("bpf", 1, [9, 0, 0, 0, 0, 0], 12).sized(2, 1),
    Case::new("bpf", 1, [10, 0, 0, 0, 0, 0], 76).sized(2, 1),
    Case::new("bpf", 1, [11, 0, 0, 0, 0, 0], 12).sized(2, 1),
    Case::new("bpf", 1, [14, 0, 0, 0, 0, 0], 12).sized(2, 1),
    Case::new("bpf", 1, [15, 0, 0, 0, 0, 0], 16).sized(2, 1),
    Case::new("bpf", 1, [16, 0, 0, 0, 0, 0], 28).sized(2, 1),
    Case::new("bpf", 1, [17, 0, 0, 0, 0, 0], 12).sized(2, 1),
    Case::new("bpf", 1, [20, 0, 0, 0, 0, 0], 48).sized(2, 1),
    Case::new("bpf", 1, [24, 0, 0, 0, 0, 0], 56).sized(2, 1),
    Case::new("bpf", 1, [26, 0, 0, 0, 0, 0], 56).sized(2, 1),
    Case::new("bpf", 1, [27, 0, 0, 0, 0, 0], 56).sized(2, 1),
    Case::new("bpf", 1, [28, 0, 0, 0, 0, 0], 16).sized(2, 1),
    Case::new("bpf", 1, [29, 0, 0, 0, 0, 0], 16).sized(2, 1),
    Case::new("bpf", 1, [30, 0, 0, 0, 0, 0], 4).sized(2, 1),
    Case::new("capset", 0, NONE, 8),
    Case::new("clock_nanosleep", 2, NONE, 16),
    Case::new("clock_nanosleep", 2, [0, 1, 0, 0, 0, 0], 16),
    Case::new("clock_settime", 1, NONE, 16),
    Case::new("clone3", 0, NONE, 88).sized(1, 1).starting(&[b"", b"\0\xff\xff\xff\xff\xff\xff\xff"]),
    Case::new("copy_file_range", 1, NONE, 8),
    Case::new("epoll_ctl", 3, [0, 1, 0, 0, 0, 0], 12),
    Case::new("epoll_pwait", 4, [0, 0, 0, 0, 0, 8], 8),
    Case::new("fcntl", 2, [0, 6, 0, 0, 0, 0], 32),
    Case::new("fcntl", 2, [0, 38, 0, 0, 0, 0], 32),
    Case::new("futex", 3, NONE, 16),
    Case::new("futex", 3, [0, 9, 0, 0, 0, 0], 16),
    Case::new("futex_waitv", 0, NONE, 48).sized(1, 24),
    Case::new("io_uring_register", 2, [0, 0, 0, 0, 0, 0], 32).sized(3, 16),
    Case::new("io_uring_register", 2, [0, 2, 0, 0, 0, 0], 8).sized(3, 4),
    Case::new("io_uring_setup", 1, NONE, 120),
    Case::new("ioctl", 2, [0, 0xc020660b, 0, 0, 0, 0], 32),
    Case::new("ioctl", 2, [0, 0x5421, 0, 0, 0, 0], 4),
    Case::new("mount_setattr", 3, NONE, 32).sized(4, 1),
    Case::new("mq_open", 3, [0, 0x40, 0, 0, 0, 0], 64),
    Case::new("mq_getsetattr", 1, NONE, 64),
    Case::new("msgctl", 2, [0, 1, 0, 0, 0, 0], 120),
    Case::new("mq_notify", 1, NONE, 64),
    Case::new("nanosleep", 0, NONE, 16),
    Case::new("openat2", 2, NONE, 24).sized(3, 1),
    Case::new("poll", 0, NONE, 16).sized(1, 8),
    Case::new("ppoll", 2, NONE, 16),
    Case::new("prlimit64", 2, NONE, 16),
    Case::new("pselect6", 5, NONE, 16),
    Case::new("readv", 1, NONE, 32).sized(2, 16),
    Case::new("rt_sigaction", 1, [1, 0, 0, 8, 0, 0], 88),
    Case::new("rt_sigprocmask", 1, [0, 0, 0, 8, 0, 0], 8),
    Case::new("rt_sigqueueinfo", 2, [0, 1, 0, 0, 0, 0], 128).starting(&[
        b"\x01", b"\x11\0\0\0\0\0\0\0\x01", b"\x01\0\0\0\0\0\0\0\xfe\xff\xff\xff", b"\x0b\0\0\0\0\0\0\0\x01",
        b"\x01\0\0\0\0\0\0\0\xff\xff\xff\xff", b"\x1d\0\0\0\0\0\0\0\x01", b"\x11\0\0\0\0\0\0\0\x02",
    ]),
    Case::new("sched_setaffinity", 2, NONE, 16).sized(1, 1),
    Case::new("sched_setparam", 1, NONE, 4),
    Case::new("select", 1, [64, 0, 0, 0, 0, 0], 8),
    Case::new("select", 4, NONE, 16),
    Case::new("semop", 1, NONE, 12).sized(2, 6),
    Case::new("sendfile", 2, NONE, 8),
    Case::new("setgroups", 1, NONE, 8).sized(0, 4),
    Case::new("sethostname", 0, NONE, 16).sized(1, 1),
    Case::new("setitimer", 1, NONE, 32),
    Case::new("setrlimit", 1, NONE, 16),
    Case::new("setsockopt", 3, [0, 1, 2, 0, 4, 0], 4).sized(4, 1),
    Case::new("setsockopt", 3, [0, 6, 1, 0, 4, 0], 4).sized(4, 1),
    Case::new("setsockopt", 3, [0, 41, 26, 0, 4, 0], 4).sized(4, 1),
    Case::new("setsockopt", 3, [0, 1, 13, 0, 8, 0], 8),
    Case::new("setsockopt", 3, [0, 270, 3, 0, 4, 0], 4).sized(4, 1),
    Case::new("setsockopt", 3, [0, 0, 35, 0, 8, 0], 8),
    Case::new("setsockopt", 3, [0, 1, 26, 0, 16, 0], 16),
    Case::new("setsockopt", 3, [0, 0, 42, 0, 136, 0], 136).starting(&[b"\0\0\0\0\0\0\0\0\x02\0"]),
    Case::new("setsockopt", 3, [0, 41, 20, 0, 20, 0], 20),
    Case::new("setsockopt", 3, [0, 263, 5, 0, 16, 0], 16),
    Case::new("settimeofday", 0, NONE, 16),
    Case::new("semctl", 3, [0, 0, 1, 0, 0, 0], 104),
    Case::new("shmctl", 2, [0, 1, 0, 0, 0, 0], 112),
    Case::new("sigaltstack", 0, NONE, 24),
    Case::new("timer_create", 1, NONE, 64).starting(&[b"", b"\0\0\0\0\0\0\0\0\x01\0\0\0\x04", b"\0\0\0\0\0\0\0\0\x01\0\0\0\x02"]),
    Case::new("timer_settime", 2, NONE, 32),
    Case::new("utime", 1, NONE, 16),
    Case::new("utimensat", 2, NONE, 32),
    Case::new("utimes", 1, NONE, 32),
];

/// Nothing but zeros, all bits, each bit alone, and beside all others: behind each of the starts.
pub(super) fn contents(case: &Case) -> BTreeSet<Vec<u8>> {
    let mut all = BTreeSet::new();
    let starts: &[&[u8]] = if case.starts.is_empty() {
        &[b""]
    } else {
        case.starts
    };
    for start in starts {
        let with_start = |mut bytes: Vec<u8>| {
            bytes[..start.len()].copy_from_slice(start);
            bytes
        };
        all.insert(with_start(vec![0; case.size]));
        all.insert(with_start(vec![0xff; case.size]));
        for bit in 0..8 * case.size {
            let mut bytes = vec![0; case.size];
            bytes[bit / 8] |= 1 << (bit % 8);
            all.insert(with_start(bytes));
        }
    }
    all
}
