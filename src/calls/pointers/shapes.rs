//! The layouts of structures in the memory of a 32-bit program.
//!
//! Structures of which the layout is the native one are read as they are; of others a list of steps
//! says how each field is widened; those without one are not read.
//!
//! The layouts are those of `include/linux/compat.h`, and of the architecture's
//! `include/asm/compat.h` and `stat.h`: `arch/x86/include/uapi/asm/stat.h`,
//! `arch/arm64/include/asm/stat.h` (Linux 5.10 to 7.2).

mod stat;

use super::super::structs::StructKind as S;

/// How a part of a structure becomes one of the native structure; each follows the last.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// So many bytes that are the same.
    Keep(usize),
    /// So many addresses or unsigned numbers of 32 bits, each as one of 64.
    Words(usize),
    /// A number of this many bytes, as an unsigned one of so many.
    Grow(usize, usize),
    /// A signed number of 32 bits, as one of 64.
    Long,
    /// An id of 16 bits, all ones for none (`low2highuid()`), as one of 32.
    Id,
    /// A limit of 32 bits, of which the highest is none (`COMPAT_RLIM_INFINITY`).
    Limit,
    /// 64 bits, of which the kernel looks at the lower half alone (`get_timespec64()`).
    Half,
    /// So many bytes that only the native structure has.
    Zero(usize),
    /// What follows begins at this offset.
    At(usize),
}

use Step::{At, Grow, Half, Id, Keep, Limit, Long, Words, Zero};

/// The layout of a structure, or of each element of an array.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// The native one.
    Same,
    /// Another one: its size in bytes, and what becomes of it.
    Steps(usize, &'static [Step]),
    /// Another one of this size, with contents behind it.
    Front(usize, &'static [Step]),
    /// `struct compat_siginfo`, whose union is told by the signal and its code.
    Signal,
}

/// What is read for a structure, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// How many bytes are read, of an array for each element.
    pub(super) size: u16,
    pub(super) shape: Shape,
}

/// `struct compat_mmsghdr`.
const ONE_OF_MESSAGES: &[Step] = &[
    Words(1),
    Keep(4),
    Zero(4),
    Words(4),
    Keep(4),
    Zero(4),
    Keep(4),
    Zero(4),
];
/// `struct compat_msghdr`, with which that begins.
const MESSAGE: &[Step] = ONE_OF_MESSAGES.split_at(6).0;
/// `struct compat_statfs64`, which is packed.
const STATFS64: &[Step] = &[Words(2), Keep(48), Words(7)];
/// `struct compat_statfs`.
const STATFS: &[Step] = &[Words(7), Keep(8), Words(7)];
/// `struct compat_sysinfo`, but for what fills its end.
const SYSINFO: &[Step] = &[Long, Words(9), Keep(4), Zero(4), Words(2), Keep(4), Zero(4)];
/// `struct compat_sigaction`, and `struct compat_old_sigaction`.
const ACTION: &[Step] = &[Words(3), Keep(8)];
const OLD_ACTION: &[Step] = &[Words(1), At(8), Words(2), At(4), Words(1)];

const fn same(kind: S) -> Option<Form> {
    Some(Form {
        size: kind.size(),
        shape: Shape::Same,
    })
}

/// Half as many bytes, each four of which become eight.
const fn halved(kind: S, step: &'static [Step]) -> Option<Form> {
    Some(Form {
        size: kind.size() / 2,
        shape: Shape::Steps(4, step),
    })
}

const fn of(size: u16, steps: &'static [Step]) -> Option<Form> {
    Some(Form {
        size,
        shape: Shape::Steps(size as usize, steps),
    })
}

/// What is read of a structure for a 32-bit call; `None` where it is not.
pub(super) fn form(call: &str, kind: S) -> Option<Form> {
    match kind {
        S::SystemName if call == "uname" => same(kind),
        S::CloneAnswer | S::EventAttributes => same(kind),
        S::Id if matches!(call, "getresuid" | "getresgid") => of(2, &[Id]),
        S::Ids if !call.ends_with("32") => of(2, &[Id]),
        S::Offset if call == "sendfile" => of(4, &[Long]),
        S::SignalSet if matches!(call, "sigprocmask" | "sigpending") => of(4, &[Words(1)]),
        S::Clock | S::Itimerspec | S::Remaining | S::Timespec | S::Timespecs => {
            match is_of_64_bits(call) {
                true => Some(Form {
                    size: kind.size(),
                    shape: Shape::Steps(16, &[Keep(8), Half]),
                }),
                false => halved(kind, &[Long]),
            }
        }
        S::FileTimes | S::Itimerval | S::ProcessTimes | S::QueueAttributes => halved(kind, &[Long]),
        S::TimeOfDay | S::Timeval | S::Timevals | S::Usage => halved(kind, &[Long]),
        S::Iovecs | S::SignalSetArgument => halved(kind, &[Words(1)]),
        S::Limits if call == "prlimit64" => same(kind),
        S::Limits if call == "getrlimit" => halved(kind, &[Words(1)]),
        S::Limits => halved(kind, &[Limit]),
        S::Message => of(28, MESSAGE),
        S::Messages => of(32, ONE_OF_MESSAGES),
        S::SignalAction if call == "sigaction" => of(16, OLD_ACTION),
        S::SignalAction => of(20, ACTION),
        S::SignalStack => of(12, &[Words(1), Keep(4), Zero(4), Words(1)]),
        S::Stat if matches!(call, "stat" | "lstat" | "fstat") => of(64, stat::STAT),
        S::Stat if call.ends_with("64") => of(stat::STAT64.0, stat::STAT64.1),
        S::Statfs if call.ends_with("64") => of(84, STATFS64),
        S::Statfs => of(64, STATFS),
        S::Sysinfo => of(56, SYSINFO),
        S::Stat | S::SystemName => None,
        // By the call and the command one of several, of which this is the longest
        // (`struct compat_msqid64_ds`): it is widened where it is written.
        S::IpcControl => Some(Form {
            size: 88,
            shape: Shape::Same,
        }),
        // Of the union a pointer and a number stand in the same place.
        S::SignalEvent => of(64, &[Words(1), Keep(8), Words(2), Zero(32)]),
        // By the command one of two, of which this is the longer (`struct compat_flock64`): how
        // long the fields are is known where they are written.
        S::FileLock | S::FileLockOut => Some(Form {
            size: if cfg!(target_arch = "x86_64") { 24 } else { 32 },
            shape: Shape::Same,
        }),
        S::QueueMessage => Some(Form {
            size: 4,
            shape: Shape::Front(4, &[Long]),
        }),
        S::SignalInfo => Some(Form {
            size: kind.size(),
            shape: Shape::Signal,
        }),
        S::BpfAttributes
        | S::Capabilities
        | S::CapabilityHeader
        | S::CloneArguments
        | S::CloneRange
        | S::Cpus
        | S::Descriptors
        | S::Device
        | S::Devices
        | S::Directory
        | S::EpollEvent
        | S::EpollEvents
        | S::ExtentMap
        | S::FdSet
        | S::FileOwner
        | S::FutexWaiters
        | S::Group
        | S::GroupOut
        | S::Id
        | S::Ids
        | S::InodeAttributes
        | S::InodeFlags
        | S::Int
        | S::IntOut
        | S::MountAttributes
        | S::Offset
        | S::OpenHow
        | S::PollFds
        | S::Registration
        | S::Request
        | S::RingParameters
        | S::ScheduleAttributes
        | S::SemaphoreOperations
        | S::SignalOut
        | S::SignalSet
        | S::SocketAddress
        | S::SocketLength
        | S::SocketOption
        | S::Statx
        | S::Terminal
        | S::Text
        | S::ThreadAnswer
        | S::ThreadName
        | S::WaitStatus
        | S::WindowSize
        | S::WindowSizeOut => same(kind),
    }
}

/// Whether the times of a call are `struct __kernel_timespec`.
fn is_of_64_bits(call: &str) -> bool {
    let is_new = matches!(call, "epoll_pwait2" | "futex_wait" | "futex_waitv");
    is_new || call.ends_with("64")
}

/// All elements that are whole.
pub(crate) fn elements(bytes: &[u8], size: usize, steps: &[Step]) -> Vec<u8> {
    let mut wide = Vec::new();
    for element in bytes.chunks_exact(size) {
        let mut place = 0;
        for step in steps {
            one_step(&mut wide, element, &mut place, *step);
        }
    }
    wide
}

fn one_step(wide: &mut Vec<u8>, element: &[u8], place: &mut usize, step: Step) {
    let mut take = |n: usize| {
        let bytes = element.get(*place..*place + n).unwrap_or_default();
        *place += n;
        bytes
    };
    let word = |bytes: &[u8]| {
        bytes
            .first_chunk()
            .map_or(0, |bytes| u32::from_le_bytes(*bytes))
    };
    match step {
        Keep(n) => wide.extend(take(n)),
        Words(n) => {
            for _ in 0..n {
                wide.extend(u64::from(word(take(4))).to_le_bytes());
            }
        }
        Grow(from, to) => {
            let length = wide.len();
            wide.extend(take(from));
            wide.resize(length + to, 0);
        }
        Id => {
            let id = take(2)
                .first_chunk()
                .map_or(0, |it| u16::from_le_bytes(*it));
            let id = if id == u16::MAX { u32::MAX } else { id.into() };
            wide.extend(id.to_le_bytes());
        }
        Long => wide.extend(i64::from(word(take(4)) as i32).to_le_bytes()),
        Limit => {
            let limit = match word(take(4)) {
                u32::MAX => u64::MAX,
                limit => limit.into(),
            };
            wide.extend(limit.to_le_bytes());
        }
        Half => wide.extend(u64::from(word(take(8))).to_le_bytes()),
        Zero(n) => wide.resize(wide.len() + n, 0),
        At(offset) => *place = offset,
    }
}

/// What every `siginfo_t` begins with, and room in front of the union, which has pointers.
const HEAD_OF_SIGNAL: [Step; 2] = [Keep(12), Zero(4)];

/// `struct compat_siginfo` as `siginfo_t`; of the union as much as the code has
/// (`copy_siginfo_to_external32()`).
pub(super) fn signal(bytes: &[u8]) -> Vec<u8> {
    const SI_SIGIO: i32 = -5;
    let number = |offset: usize| {
        let bytes = bytes.get(offset..).and_then(|it| it.first_chunk());
        bytes.map_or(0, |it| i32::from_le_bytes(*it))
    };
    let union: &[Step] = match (number(0), number(8)) {
        (_, SI_SIGIO) | (libc::SIGPOLL, 1..=6) => &[Long, Keep(4)],
        (libc::SIGCHLD, 1..) => &[Keep(12), Zero(4), Words(2)],
        (libc::SIGILL | libc::SIGFPE | libc::SIGSEGV | libc::SIGBUS | libc::SIGTRAP, 1..) => {
            &[Words(1), Keep(2), Zero(6), At(20), Words(2)]
        }
        _ => &[Keep(8), Words(1)],
    };
    let length = usize::from(S::SignalInfo.size());
    let Some(element) = bytes.get(..length) else {
        return Vec::new();
    };
    let (mut wide, mut place) = (Vec::new(), 0);
    for step in HEAD_OF_SIGNAL.iter().chain(union) {
        one_step(&mut wide, element, &mut place, *step);
    }
    wide.resize(length, 0);
    wide
}

/// How much longer the head of a control message is than that of a 32-bit program.
pub(crate) const LONGER_HEAD: usize = 4;

/// `struct compat_cmsghdr[]` as `struct cmsghdr[]`.
pub(super) fn control(bytes: &[u8]) -> Vec<u8> {
    const HEAD: usize = 12;
    let mut wide = Vec::new();
    let mut rest = bytes;
    while let Some((head, _)) = rest.split_at_checked(HEAD) {
        let length = head.first_chunk().map_or(0, |it| u32::from_le_bytes(*it));
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        wide.extend((length.saturating_add(LONGER_HEAD) as u64).to_le_bytes());
        wide.extend(head.get(4..).unwrap_or_default());
        let data = rest.get(HEAD..length.min(rest.len()));
        wide.extend(data.unwrap_or_default());
        if length < HEAD {
            break;
        }
        let next = length.checked_next_multiple_of(4).unwrap_or(usize::MAX);
        rest = rest.get(next..).unwrap_or_default();
        if !rest.is_empty() {
            wide.resize(wide.len().next_multiple_of(8), 0);
        }
    }
    wide
}
