//! The names of system call numbers, per calling convention.
//!
//! A name is the one of the kernel's user-space headers (`__NR_fstat` is `fstat`), which is also
//! what strace prints. The table was generated from the headers `asm/unistd*.h` of Linux 7.2
//! (Debian's `linux-libc-dev` 7.2.13-1) by `cpp -dM` for each convention, and compared with what
//! strace 6.1 prints for every number of x86_64, i386 and x32: no difference up to the last call
//! strace 6.1 knows. Generated rather than taken from a crate because none at hand was right for
//! all of them: `syscalls` 0.8.1 ends at 468 and names 64-bit-time calls that aarch64 does not
//! have, `syscall-numbers` 4.0.3 lacks or renames eighteen calls of i386.

use super::many;
use std::sync::OnceLock;

/// A calling convention: which table the number of a system call is looked up in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Abi {
    /// The `syscall` instruction on x86_64.
    X86_64,
    /// `int 0x80` and `sysenter` on an x86 kernel, from a 32-bit or a 64-bit program.
    I386,
    /// The `syscall` instruction on x86_64 with bit 30 of the number set.
    X32,
    /// `svc` from 64-bit code on aarch64.
    Aarch64,
    /// `svc` from 32-bit code (EABI), on an aarch64 kernel.
    Arm,
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the system call tables cover x86_64 and aarch64 only");

impl Abi {
    /// The convention of programs built for the same target as this one.
    pub const fn native() -> Self {
        if cfg!(target_arch = "aarch64") {
            Self::Aarch64
        } else {
            Self::X86_64
        }
    }

    /// The 32-bit convention that a kernel of this convention may serve beside its own.
    pub const fn compat(self) -> Option<Self> {
        match self {
            Self::X86_64 => Some(Self::I386),
            Self::Aarch64 => Some(Self::Arm),
            Self::I386 | Self::X32 | Self::Arm => None,
        }
    }

    /// The name by which a report mentions the convention: `x86_64`, `i386`, `x32`, `aarch64` or
    /// `arm`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::I386 => "i386",
            Self::X32 => "x32",
            Self::Aarch64 => "aarch64",
            Self::Arm => "arm",
        }
    }

    /// Whether a kernel of this convention can see calls of `other`.
    pub(super) fn serves(self, other: Self) -> bool {
        self == other
            || self.compat() == Some(other)
            || (self == Self::X86_64 && other == Self::X32)
    }

    const fn column(self) -> usize {
        match self {
            Self::X86_64 => 0,
            Self::I386 => 1,
            Self::X32 => 2,
            Self::Aarch64 => 3,
            Self::Arm => 4,
        }
    }
}

/// What is worked out once for each convention.
pub(super) struct OfEach<T>([OnceLock<T>; 5]);

impl<T> OfEach<T> {
    pub(super) const fn new() -> Self {
        Self([const { OnceLock::new() }; 5])
    }

    /// That of a convention.
    pub(super) fn get(&self, abi: Abi, make: impl FnOnce() -> T) -> &T {
        self.0[abi.column()].get_or_init(make)
    }
}

/// The bit that tells an x32 call from one of x86_64 (`__X32_SYSCALL_BIT`).
pub(super) const X32_BIT: u32 = 1 << 30;
/// The first number of the calls that only ARM has (`__ARM_NR_BASE`).
pub(super) const ARM_PRIVATE: u32 = 0xf_0000;
/// How many numbers the private range of ARM may hold here.
pub(super) const ARM_PRIVATE_LEN: u32 = 16;
/// Every ordinary number is below this one.
pub(super) const PLAIN_LEN: u32 = 560;

/// The name of call `nr`, or nothing where the table has none.
///
/// A number of `X86_64` with bit 30 set is an x32 call and is named as one.
#[inline]
pub fn name(abi: Abi, nr: u32) -> Option<&'static str> {
    row(abi, nr).map(row_name)
}

/// The same for a number as records have it, where -1 is that of a call which the kernel no longer
/// knew.
#[inline]
pub fn name_of(abi: Abi, number: i32) -> Option<&'static str> {
    name(abi, u32::try_from(number).ok()?)
}

/// Returns whether a call makes tasks. A thread that the kernel makes by itself comes during
/// another call, or during none.
#[must_use]
pub fn makes_tasks(abi: Abi, number: i32) -> bool {
    matches!(
        name_of(abi, number),
        Some("clone" | "clone3" | "fork" | "vfork")
    )
}

/// The number of the call `name`, with bit 30 set for `X32`.
pub fn number(abi: Abi, name: &str) -> Option<u32> {
    row_number(abi, row_of(name)?)
}

/// Every call of `abi`, in order of number.
pub fn all(abi: Abi) -> impl Iterator<Item = (u32, &'static str)> {
    all_rows(abi).map(|(nr, row)| (nr, row_name(row)))
}

/// The names under which tracefs may have the call: its tracepoint is
/// `syscalls:sys_enter_<one of these>`.
///
/// The first that exists is the right one. Tracepoints are named for the kernel's function, which
/// for a few calls is not the name in the headers. Compared with the events of Linux 5.10, 6.1,
/// 6.12, 6.18 and 7.2 on x86_64 (the list is the same in all); those of aarch64 are from the
/// kernel's sources. A call of a 32-bit convention has no such tracepoint at all.
pub fn tracefs_names(abi_name: &str) -> impl Iterator<Item = &str> {
    TRACEFS_NAMES
        .iter()
        .filter(move |(name, _)| *name == abi_name)
        .map(|(_, kernel)| *kernel)
        .chain(std::iter::once(abi_name))
}

/// Returns the call whose tracepoint has this name behind `sys_enter_`.
#[must_use]
pub fn of_tracefs(kernel_name: &str) -> Option<&'static str> {
    let renamed = renamed_by_tracefs(kernel_name).next();
    renamed.or_else(|| row_of(kernel_name).map(row_name))
}

/// Returns the calls that tracefs calls `kernel_name`, though their own name differs.
pub(super) fn renamed_by_tracefs(kernel_name: &str) -> impl Iterator<Item = &'static str> {
    TRACEFS_NAMES
        .iter()
        .filter(move |(_, kernel)| *kernel == kernel_name)
        .map(|(name, _)| *name)
}

/// How many different names there are; a row of the table stands for a name in all conventions.
pub(super) const ROW_COUNT: usize = ROWS.len();

/// The row of call `nr`.
#[inline]
pub(super) fn row(abi: Abi, nr: u32) -> Option<usize> {
    let abi = match abi {
        Abi::X86_64 if nr & X32_BIT != 0 => Abi::X32,
        Abi::I386 if many::is_told(nr) => return many::row_told(nr),
        other => other,
    };
    let row = *SLOT_ROWS[abi.column()].get(slot(abi, nr)?)?;
    (row != EMPTY).then_some(usize::from(row))
}

/// The row of a name.
pub(super) fn row_of(name: &str) -> Option<usize> {
    ROWS.binary_search_by(|(known, _)| (*known).cmp(name)).ok()
}

/// The name of a row, the empty string past the last.
#[inline]
pub(super) fn row_name(row: usize) -> &'static str {
    ROWS.get(row).map_or("", |(name, _)| name)
}

/// The number in `abi` of the call in `row`.
pub(super) fn row_number(abi: Abi, row: usize) -> Option<u32> {
    let nr = u32::try_from(ROWS.get(row)?.1[abi.column()]).ok()?;
    Some(if abi == Abi::X32 { nr | X32_BIT } else { nr })
}

/// The number and row of every call of `abi`, in order of number.
pub(super) fn all_rows(abi: Abi) -> impl Iterator<Item = (u32, usize)> {
    SLOT_ROWS[abi.column()]
        .iter()
        .filter(|row| **row != EMPTY)
        .filter_map(move |row| {
            let row = usize::from(*row);
            Some((row_number(abi, row)?, row))
        })
}

/// Where the number stands in the dense table: the private range of ARM follows the ordinary
/// numbers.
#[inline]
fn slot(abi: Abi, nr: u32) -> Option<usize> {
    let plain = match abi {
        Abi::X32 => nr.checked_sub(X32_BIT)?,
        Abi::Arm if (ARM_PRIVATE..ARM_PRIVATE + ARM_PRIVATE_LEN).contains(&nr) => {
            return usize::try_from(nr - ARM_PRIVATE + PLAIN_LEN).ok();
        }
        _ => nr,
    };
    (plain < PLAIN_LEN).then_some(plain as usize)
}

const SLOTS: usize = (PLAIN_LEN + ARM_PRIVATE_LEN) as usize;
const EMPTY: u16 = u16::MAX;

/// For each convention, the row of each number.
static SLOT_ROWS: [[u16; SLOTS]; 5] = [
    rows_by_slot(0),
    rows_by_slot(1),
    rows_by_slot(2),
    rows_by_slot(3),
    rows_by_slot(4),
];

const fn rows_by_slot(column: usize) -> [u16; SLOTS] {
    let mut slots = [EMPTY; SLOTS];
    let mut row = 0;
    while row < ROWS.len() {
        let nr = ROWS[row].1[column];
        if nr >= ARM_PRIVATE as i32 {
            slots[(nr as u32 - ARM_PRIVATE + PLAIN_LEN) as usize] = row as u16;
        } else if nr != NO {
            slots[nr as usize] = row as u16;
        }
        row += 1;
    }
    slots
}

/// The name in the headers, and the name of the tracepoint if it differs.
const TRACEFS_NAMES: &[(&str, &str)] = &[
    ("fadvise64", "fadvise64_64"),
    ("fstat", "newfstat"),
    ("lstat", "newlstat"),
    ("personality", "arm64_personality"),
    ("sendfile", "sendfile64"),
    ("stat", "newstat"),
    ("umount2", "umount"),
    ("uname", "newuname"),
];

/// The convention does not have the call.
const NO: i32 = -1;

/// Every name, in order, and its number in x86_64, i386, x32 (without bit 30), aarch64 and arm.
const ROWS: &[(&str, [i32; 5])] = &[
    ("_llseek", [NO, 140, NO, NO, 140]),
    ("_newselect", [NO, 142, NO, NO, 142]),
    ("_sysctl", [156, 149, NO, NO, 149]),
    ("accept", [43, NO, 43, 202, 285]),
    ("accept4", [288, 364, 288, 242, 366]),
    ("access", [21, 33, 21, NO, 33]),
    ("acct", [163, 51, 163, 89, 51]),
    ("add_key", [248, 286, 248, 217, 309]),
    ("adjtimex", [159, 124, 159, 171, 124]),
    ("afs_syscall", [183, 137, 183, NO, NO]),
    ("alarm", [37, 27, 37, NO, NO]),
    ("arch_prctl", [158, 384, 158, NO, NO]),
    ("arm_fadvise64_64", [NO, NO, NO, NO, 270]),
    ("bdflush", [NO, 134, NO, NO, 134]),
    ("bind", [49, 361, 49, 200, 282]),
    ("bpf", [321, 357, 321, 280, 386]),
    ("break", [NO, 17, NO, NO, NO]),
    ("breakpoint", [NO, NO, NO, NO, 0xf_0001]),
    ("brk", [12, 45, 12, 214, 45]),
    ("cacheflush", [NO, NO, NO, NO, 0xf_0002]),
    ("cachestat", [451, 451, 451, 451, 451]),
    ("capget", [125, 184, 125, 90, 184]),
    ("capset", [126, 185, 126, 91, 185]),
    ("chdir", [80, 12, 80, 49, 12]),
    ("chmod", [90, 15, 90, NO, 15]),
    ("chown", [92, 182, 92, NO, 182]),
    ("chown32", [NO, 212, NO, NO, 212]),
    ("chroot", [161, 61, 161, 51, 61]),
    ("clock_adjtime", [305, 343, 305, 266, 372]),
    ("clock_adjtime64", [NO, 405, NO, NO, 405]),
    ("clock_getres", [229, 266, 229, 114, 264]),
    ("clock_getres_time64", [NO, 406, NO, NO, 406]),
    ("clock_gettime", [228, 265, 228, 113, 263]),
    ("clock_gettime64", [NO, 403, NO, NO, 403]),
    ("clock_nanosleep", [230, 267, 230, 115, 265]),
    ("clock_nanosleep_time64", [NO, 407, NO, NO, 407]),
    ("clock_settime", [227, 264, 227, 112, 262]),
    ("clock_settime64", [NO, 404, NO, NO, 404]),
    ("clone", [56, 120, 56, 220, 120]),
    ("clone3", [435, 435, 435, 435, 435]),
    ("close", [3, 6, 3, 57, 6]),
    ("close_range", [436, 436, 436, 436, 436]),
    ("connect", [42, 362, 42, 203, 283]),
    ("copy_file_range", [326, 377, 326, 285, 391]),
    ("creat", [85, 8, 85, NO, 8]),
    ("create_module", [174, 127, NO, NO, NO]),
    ("delete_module", [176, 129, 176, 106, 129]),
    ("dup", [32, 41, 32, 23, 41]),
    ("dup2", [33, 63, 33, NO, 63]),
    ("dup3", [292, 330, 292, 24, 358]),
    ("epoll_create", [213, 254, 213, NO, 250]),
    ("epoll_create1", [291, 329, 291, 20, 357]),
    ("epoll_ctl", [233, 255, 233, 21, 251]),
    ("epoll_ctl_old", [214, NO, NO, NO, NO]),
    ("epoll_pwait", [281, 319, 281, 22, 346]),
    ("epoll_pwait2", [441, 441, 441, 441, 441]),
    ("epoll_wait", [232, 256, 232, NO, 252]),
    ("epoll_wait_old", [215, NO, NO, NO, NO]),
    ("eventfd", [284, 323, 284, NO, 351]),
    ("eventfd2", [290, 328, 290, 19, 356]),
    ("execve", [59, 11, 520, 221, 11]),
    ("execveat", [322, 358, 545, 281, 387]),
    ("exit", [60, 1, 60, 93, 1]),
    ("exit_group", [231, 252, 231, 94, 248]),
    ("faccessat", [269, 307, 269, 48, 334]),
    ("faccessat2", [439, 439, 439, 439, 439]),
    ("fadvise64", [221, 250, 221, 223, NO]),
    ("fadvise64_64", [NO, 272, NO, NO, NO]),
    ("fallocate", [285, 324, 285, 47, 352]),
    ("fanotify_init", [300, 338, 300, 262, 367]),
    ("fanotify_mark", [301, 339, 301, 263, 368]),
    ("fchdir", [81, 133, 81, 50, 133]),
    ("fchmod", [91, 94, 91, 52, 94]),
    ("fchmodat", [268, 306, 268, 53, 333]),
    ("fchmodat2", [452, 452, 452, 452, 452]),
    ("fchown", [93, 95, 93, 55, 95]),
    ("fchown32", [NO, 207, NO, NO, 207]),
    ("fchownat", [260, 298, 260, 54, 325]),
    ("fcntl", [72, 55, 72, 25, 55]),
    ("fcntl64", [NO, 221, NO, NO, 221]),
    ("fdatasync", [75, 148, 75, 83, 148]),
    ("fgetxattr", [193, 231, 193, 10, 231]),
    ("file_getattr", [468, 468, 468, 468, 468]),
    ("file_setattr", [469, 469, 469, 469, 469]),
    ("finit_module", [313, 350, 313, 273, 379]),
    ("flistxattr", [196, 234, 196, 13, 234]),
    ("flock", [73, 143, 73, 32, 143]),
    ("fork", [57, 2, 57, NO, 2]),
    ("fremovexattr", [199, 237, 199, 16, 237]),
    ("fsconfig", [431, 431, 431, 431, 431]),
    ("fsetxattr", [190, 228, 190, 7, 228]),
    ("fsmount", [432, 432, 432, 432, 432]),
    ("fsopen", [430, 430, 430, 430, 430]),
    ("fspick", [433, 433, 433, 433, 433]),
    ("fstat", [5, 108, 5, 80, 108]),
    ("fstat64", [NO, 197, NO, NO, 197]),
    ("fstatat64", [NO, 300, NO, NO, 327]),
    ("fstatfs", [138, 100, 138, 44, 100]),
    ("fstatfs64", [NO, 269, NO, NO, 267]),
    ("fsync", [74, 118, 74, 82, 118]),
    ("ftime", [NO, 35, NO, NO, NO]),
    ("ftruncate", [77, 93, 77, 46, 93]),
    ("ftruncate64", [NO, 194, NO, NO, 194]),
    ("futex", [202, 240, 202, 98, 240]),
    ("futex_requeue", [456, 456, 456, 456, 456]),
    ("futex_time64", [NO, 422, NO, NO, 422]),
    ("futex_wait", [455, 455, 455, 455, 455]),
    ("futex_waitv", [449, 449, 449, 449, 449]),
    ("futex_wake", [454, 454, 454, 454, 454]),
    ("futimesat", [261, 299, 261, NO, 326]),
    ("get_kernel_syms", [177, 130, NO, NO, NO]),
    ("get_mempolicy", [239, 275, 239, 236, 320]),
    ("get_robust_list", [274, 312, 531, 100, 339]),
    ("get_thread_area", [211, 244, NO, NO, NO]),
    ("get_tls", [NO, NO, NO, NO, 0xf_0006]),
    ("getcpu", [309, 318, 309, 168, 345]),
    ("getcwd", [79, 183, 79, 17, 183]),
    ("getdents", [78, 141, 78, NO, 141]),
    ("getdents64", [217, 220, 217, 61, 217]),
    ("getegid", [108, 50, 108, 177, 50]),
    ("getegid32", [NO, 202, NO, NO, 202]),
    ("geteuid", [107, 49, 107, 175, 49]),
    ("geteuid32", [NO, 201, NO, NO, 201]),
    ("getgid", [104, 47, 104, 176, 47]),
    ("getgid32", [NO, 200, NO, NO, 200]),
    ("getgroups", [115, 80, 115, 158, 80]),
    ("getgroups32", [NO, 205, NO, NO, 205]),
    ("getitimer", [36, 105, 36, 102, 105]),
    ("getpeername", [52, 368, 52, 205, 287]),
    ("getpgid", [121, 132, 121, 155, 132]),
    ("getpgrp", [111, 65, 111, NO, 65]),
    ("getpid", [39, 20, 39, 172, 20]),
    ("getpmsg", [181, 188, 181, NO, NO]),
    ("getppid", [110, 64, 110, 173, 64]),
    ("getpriority", [140, 96, 140, 141, 96]),
    ("getrandom", [318, 355, 318, 278, 384]),
    ("getresgid", [120, 171, 120, 150, 171]),
    ("getresgid32", [NO, 211, NO, NO, 211]),
    ("getresuid", [118, 165, 118, 148, 165]),
    ("getresuid32", [NO, 209, NO, NO, 209]),
    ("getrlimit", [97, 76, 97, 163, NO]),
    ("getrusage", [98, 77, 98, 165, 77]),
    ("getsid", [124, 147, 124, 156, 147]),
    ("getsockname", [51, 367, 51, 204, 286]),
    ("getsockopt", [55, 365, 542, 209, 295]),
    ("gettid", [186, 224, 186, 178, 224]),
    ("gettimeofday", [96, 78, 96, 169, 78]),
    ("getuid", [102, 24, 102, 174, 24]),
    ("getuid32", [NO, 199, NO, NO, 199]),
    ("getxattr", [191, 229, 191, 8, 229]),
    ("getxattrat", [464, 464, 464, 464, 464]),
    ("gtty", [NO, 32, NO, NO, NO]),
    ("idle", [NO, 112, NO, NO, NO]),
    ("init_module", [175, 128, 175, 105, 128]),
    ("inotify_add_watch", [254, 292, 254, 27, 317]),
    ("inotify_init", [253, 291, 253, NO, 316]),
    ("inotify_init1", [294, 332, 294, 26, 360]),
    ("inotify_rm_watch", [255, 293, 255, 28, 318]),
    ("io_cancel", [210, 249, 210, 3, 247]),
    ("io_destroy", [207, 246, 207, 1, 244]),
    ("io_getevents", [208, 247, 208, 4, 245]),
    ("io_pgetevents", [333, 385, 333, 292, 399]),
    ("io_pgetevents_time64", [NO, 416, NO, NO, 416]),
    ("io_setup", [206, 245, 543, 0, 243]),
    ("io_submit", [209, 248, 544, 2, 246]),
    ("io_uring_enter", [426, 426, 426, 426, 426]),
    ("io_uring_register", [427, 427, 427, 427, 427]),
    ("io_uring_setup", [425, 425, 425, 425, 425]),
    ("ioctl", [16, 54, 514, 29, 54]),
    ("ioperm", [173, 101, 173, NO, NO]),
    ("iopl", [172, 110, 172, NO, NO]),
    ("ioprio_get", [252, 290, 252, 31, 315]),
    ("ioprio_set", [251, 289, 251, 30, 314]),
    ("ipc", [NO, 117, NO, NO, NO]),
    ("kcmp", [312, 349, 312, 272, 378]),
    ("kexec_file_load", [320, NO, 320, 294, 401]),
    ("kexec_load", [246, 283, 528, 104, 347]),
    ("keyctl", [250, 288, 250, 219, 311]),
    ("kill", [62, 37, 62, 129, 37]),
    ("landlock_add_rule", [445, 445, 445, 445, 445]),
    ("landlock_create_ruleset", [444, 444, 444, 444, 444]),
    ("landlock_restrict_self", [446, 446, 446, 446, 446]),
    ("lchown", [94, 16, 94, NO, 16]),
    ("lchown32", [NO, 198, NO, NO, 198]),
    ("lgetxattr", [192, 230, 192, 9, 230]),
    ("link", [86, 9, 86, NO, 9]),
    ("linkat", [265, 303, 265, 37, 330]),
    ("listen", [50, 363, 50, 201, 284]),
    ("listmount", [458, 458, 458, 458, 458]),
    ("listns", [470, 470, 470, 470, 470]),
    ("listxattr", [194, 232, 194, 11, 232]),
    ("listxattrat", [465, 465, 465, 465, 465]),
    ("llistxattr", [195, 233, 195, 12, 233]),
    ("lock", [NO, 53, NO, NO, NO]),
    ("lookup_dcookie", [212, 253, 212, 18, 249]),
    ("lremovexattr", [198, 236, 198, 15, 236]),
    ("lseek", [8, 19, 8, 62, 19]),
    ("lsetxattr", [189, 227, 189, 6, 227]),
    ("lsm_get_self_attr", [459, 459, 459, 459, 459]),
    ("lsm_list_modules", [461, 461, 461, 461, 461]),
    ("lsm_set_self_attr", [460, 460, 460, 460, 460]),
    ("lstat", [6, 107, 6, NO, 107]),
    ("lstat64", [NO, 196, NO, NO, 196]),
    ("madvise", [28, 219, 28, 233, 220]),
    ("map_shadow_stack", [453, 453, 453, 453, 453]),
    ("mbind", [237, 274, 237, 235, 319]),
    ("membarrier", [324, 375, 324, 283, 389]),
    ("memfd_create", [319, 356, 319, 279, 385]),
    ("memfd_secret", [447, 447, 447, 447, NO]),
    ("migrate_pages", [256, 294, 256, 238, 400]),
    ("mincore", [27, 218, 27, 232, 219]),
    ("mkdir", [83, 39, 83, NO, 39]),
    ("mkdirat", [258, 296, 258, 34, 323]),
    ("mknod", [133, 14, 133, NO, 14]),
    ("mknodat", [259, 297, 259, 33, 324]),
    ("mlock", [149, 150, 149, 228, 150]),
    ("mlock2", [325, 376, 325, 284, 390]),
    ("mlockall", [151, 152, 151, 230, 152]),
    ("mmap", [9, 90, 9, 222, NO]),
    ("mmap2", [NO, 192, NO, NO, 192]),
    ("modify_ldt", [154, 123, 154, NO, NO]),
    ("mount", [165, 21, 165, 40, 21]),
    ("mount_setattr", [442, 442, 442, 442, 442]),
    ("move_mount", [429, 429, 429, 429, 429]),
    ("move_pages", [279, 317, 533, 239, 344]),
    ("mprotect", [10, 125, 10, 226, 125]),
    ("mpx", [NO, 56, NO, NO, NO]),
    ("mq_getsetattr", [245, 282, 245, 185, 279]),
    ("mq_notify", [244, 281, 527, 184, 278]),
    ("mq_open", [240, 277, 240, 180, 274]),
    ("mq_timedreceive", [243, 280, 243, 183, 277]),
    ("mq_timedreceive_time64", [NO, 419, NO, NO, 419]),
    ("mq_timedsend", [242, 279, 242, 182, 276]),
    ("mq_timedsend_time64", [NO, 418, NO, NO, 418]),
    ("mq_unlink", [241, 278, 241, 181, 275]),
    ("mremap", [25, 163, 25, 216, 163]),
    ("mseal", [462, 462, 462, 462, 462]),
    ("msgctl", [71, 402, 71, 187, 304]),
    ("msgget", [68, 399, 68, 186, 303]),
    ("msgrcv", [70, 401, 70, 188, 302]),
    ("msgsnd", [69, 400, 69, 189, 301]),
    ("msync", [26, 144, 26, 227, 144]),
    ("munlock", [150, 151, 150, 229, 151]),
    ("munlockall", [152, 153, 152, 231, 153]),
    ("munmap", [11, 91, 11, 215, 91]),
    ("name_to_handle_at", [303, 341, 303, 264, 370]),
    ("nanosleep", [35, 162, 35, 101, 162]),
    ("newfstatat", [262, NO, 262, 79, NO]),
    ("nfsservctl", [180, 169, NO, 42, 169]),
    ("nice", [NO, 34, NO, NO, 34]),
    ("oldfstat", [NO, 28, NO, NO, NO]),
    ("oldlstat", [NO, 84, NO, NO, NO]),
    ("oldolduname", [NO, 59, NO, NO, NO]),
    ("oldstat", [NO, 18, NO, NO, NO]),
    ("olduname", [NO, 109, NO, NO, NO]),
    ("open", [2, 5, 2, NO, 5]),
    ("open_by_handle_at", [304, 342, 304, 265, 371]),
    ("open_tree", [428, 428, 428, 428, 428]),
    ("open_tree_attr", [467, 467, 467, 467, 467]),
    ("openat", [257, 295, 257, 56, 322]),
    ("openat2", [437, 437, 437, 437, 437]),
    ("pause", [34, 29, 34, NO, 29]),
    ("pciconfig_iobase", [NO, NO, NO, NO, 271]),
    ("pciconfig_read", [NO, NO, NO, NO, 272]),
    ("pciconfig_write", [NO, NO, NO, NO, 273]),
    ("perf_event_open", [298, 336, 298, 241, 364]),
    ("personality", [135, 136, 135, 92, 136]),
    ("pidfd_getfd", [438, 438, 438, 438, 438]),
    ("pidfd_open", [434, 434, 434, 434, 434]),
    ("pidfd_send_signal", [424, 424, 424, 424, 424]),
    ("pipe", [22, 42, 22, NO, 42]),
    ("pipe2", [293, 331, 293, 59, 359]),
    ("pivot_root", [155, 217, 155, 41, 218]),
    ("pkey_alloc", [330, 381, 330, 289, 395]),
    ("pkey_free", [331, 382, 331, 290, 396]),
    ("pkey_mprotect", [329, 380, 329, 288, 394]),
    ("poll", [7, 168, 7, NO, 168]),
    ("ppoll", [271, 309, 271, 73, 336]),
    ("ppoll_time64", [NO, 414, NO, NO, 414]),
    ("prctl", [157, 172, 157, 167, 172]),
    ("pread64", [17, 180, 17, 67, 180]),
    ("preadv", [295, 333, 534, 69, 361]),
    ("preadv2", [327, 378, 546, 286, 392]),
    ("prlimit64", [302, 340, 302, 261, 369]),
    ("process_madvise", [440, 440, 440, 440, 440]),
    ("process_mrelease", [448, 448, 448, 448, 448]),
    ("process_vm_readv", [310, 347, 539, 270, 376]),
    ("process_vm_writev", [311, 348, 540, 271, 377]),
    ("prof", [NO, 44, NO, NO, NO]),
    ("profil", [NO, 98, NO, NO, NO]),
    ("pselect6", [270, 308, 270, 72, 335]),
    ("pselect6_time64", [NO, 413, NO, NO, 413]),
    ("ptrace", [101, 26, 521, 117, 26]),
    ("putpmsg", [182, 189, 182, NO, NO]),
    ("pwrite64", [18, 181, 18, 68, 181]),
    ("pwritev", [296, 334, 535, 70, 362]),
    ("pwritev2", [328, 379, 547, 287, 393]),
    ("query_module", [178, 167, NO, NO, NO]),
    ("quotactl", [179, 131, 179, 60, 131]),
    ("quotactl_fd", [443, 443, 443, 443, 443]),
    ("read", [0, 3, 0, 63, 3]),
    ("readahead", [187, 225, 187, 213, 225]),
    ("readdir", [NO, 89, NO, NO, NO]),
    ("readlink", [89, 85, 89, NO, 85]),
    ("readlinkat", [267, 305, 267, 78, 332]),
    ("readv", [19, 145, 515, 65, 145]),
    ("reboot", [169, 88, 169, 142, 88]),
    ("recv", [NO, NO, NO, NO, 291]),
    ("recvfrom", [45, 371, 517, 207, 292]),
    ("recvmmsg", [299, 337, 537, 243, 365]),
    ("recvmmsg_time64", [NO, 417, NO, NO, 417]),
    ("recvmsg", [47, 372, 519, 212, 297]),
    ("remap_file_pages", [216, 257, 216, 234, 253]),
    ("removexattr", [197, 235, 197, 14, 235]),
    ("removexattrat", [466, 466, 466, 466, 466]),
    ("rename", [82, 38, 82, NO, 38]),
    ("renameat", [264, 302, 264, 38, 329]),
    ("renameat2", [316, 353, 316, 276, 382]),
    ("request_key", [249, 287, 249, 218, 310]),
    ("restart_syscall", [219, 0, 219, 128, 0]),
    ("rmdir", [84, 40, 84, NO, 40]),
    ("rseq", [334, 386, 334, 293, 398]),
    ("rseq_slice_yield", [471, 471, 471, 471, 471]),
    ("rt_sigaction", [13, 174, 512, 134, 174]),
    ("rt_sigpending", [127, 176, 522, 136, 176]),
    ("rt_sigprocmask", [14, 175, 14, 135, 175]),
    ("rt_sigqueueinfo", [129, 178, 524, 138, 178]),
    ("rt_sigreturn", [15, 173, 513, 139, 173]),
    ("rt_sigsuspend", [130, 179, 130, 133, 179]),
    ("rt_sigtimedwait", [128, 177, 523, 137, 177]),
    ("rt_sigtimedwait_time64", [NO, 421, NO, NO, 421]),
    ("rt_tgsigqueueinfo", [297, 335, 536, 240, 363]),
    ("sched_get_priority_max", [146, 159, 146, 125, 159]),
    ("sched_get_priority_min", [147, 160, 147, 126, 160]),
    ("sched_getaffinity", [204, 242, 204, 123, 242]),
    ("sched_getattr", [315, 352, 315, 275, 381]),
    ("sched_getparam", [143, 155, 143, 121, 155]),
    ("sched_getscheduler", [145, 157, 145, 120, 157]),
    ("sched_rr_get_interval", [148, 161, 148, 127, 161]),
    ("sched_rr_get_interval_time64", [NO, 423, NO, NO, 423]),
    ("sched_setaffinity", [203, 241, 203, 122, 241]),
    ("sched_setattr", [314, 351, 314, 274, 380]),
    ("sched_setparam", [142, 154, 142, 118, 154]),
    ("sched_setscheduler", [144, 156, 144, 119, 156]),
    ("sched_yield", [24, 158, 24, 124, 158]),
    ("seccomp", [317, 354, 317, 277, 383]),
    ("security", [185, NO, 185, NO, NO]),
    ("select", [23, 82, 23, NO, NO]),
    ("semctl", [66, 394, 66, 191, 300]),
    ("semget", [64, 393, 64, 190, 299]),
    ("semop", [65, NO, 65, 193, 298]),
    ("semtimedop", [220, NO, 220, 192, 312]),
    ("semtimedop_time64", [NO, 420, NO, NO, 420]),
    ("send", [NO, NO, NO, NO, 289]),
    ("sendfile", [40, 187, 40, 71, 187]),
    ("sendfile64", [NO, 239, NO, NO, 239]),
    ("sendmmsg", [307, 345, 538, 269, 374]),
    ("sendmsg", [46, 370, 518, 211, 296]),
    ("sendto", [44, 369, 44, 206, 290]),
    ("set_mempolicy", [238, 276, 238, 237, 321]),
    ("set_mempolicy_home_node", [450, 450, 450, 450, 450]),
    ("set_robust_list", [273, 311, 530, 99, 338]),
    ("set_thread_area", [205, 243, NO, NO, NO]),
    ("set_tid_address", [218, 258, 218, 96, 256]),
    ("set_tls", [NO, NO, NO, NO, 0xf_0005]),
    ("setdomainname", [171, 121, 171, 162, 121]),
    ("setfsgid", [123, 139, 123, 152, 139]),
    ("setfsgid32", [NO, 216, NO, NO, 216]),
    ("setfsuid", [122, 138, 122, 151, 138]),
    ("setfsuid32", [NO, 215, NO, NO, 215]),
    ("setgid", [106, 46, 106, 144, 46]),
    ("setgid32", [NO, 214, NO, NO, 214]),
    ("setgroups", [116, 81, 116, 159, 81]),
    ("setgroups32", [NO, 206, NO, NO, 206]),
    ("sethostname", [170, 74, 170, 161, 74]),
    ("setitimer", [38, 104, 38, 103, 104]),
    ("setns", [308, 346, 308, 268, 375]),
    ("setpgid", [109, 57, 109, 154, 57]),
    ("setpriority", [141, 97, 141, 140, 97]),
    ("setregid", [114, 71, 114, 143, 71]),
    ("setregid32", [NO, 204, NO, NO, 204]),
    ("setresgid", [119, 170, 119, 149, 170]),
    ("setresgid32", [NO, 210, NO, NO, 210]),
    ("setresuid", [117, 164, 117, 147, 164]),
    ("setresuid32", [NO, 208, NO, NO, 208]),
    ("setreuid", [113, 70, 113, 145, 70]),
    ("setreuid32", [NO, 203, NO, NO, 203]),
    ("setrlimit", [160, 75, 160, 164, 75]),
    ("setsid", [112, 66, 112, 157, 66]),
    ("setsockopt", [54, 366, 541, 208, 294]),
    ("settimeofday", [164, 79, 164, 170, 79]),
    ("setuid", [105, 23, 105, 146, 23]),
    ("setuid32", [NO, 213, NO, NO, 213]),
    ("setxattr", [188, 226, 188, 5, 226]),
    ("setxattrat", [463, 463, 463, 463, 463]),
    ("sgetmask", [NO, 68, NO, NO, NO]),
    ("shmat", [30, 397, 30, 196, 305]),
    ("shmctl", [31, 396, 31, 195, 308]),
    ("shmdt", [67, 398, 67, 197, 306]),
    ("shmget", [29, 395, 29, 194, 307]),
    ("shutdown", [48, 373, 48, 210, 293]),
    ("sigaction", [NO, 67, NO, NO, 67]),
    ("sigaltstack", [131, 186, 525, 132, 186]),
    ("signal", [NO, 48, NO, NO, NO]),
    ("signalfd", [282, 321, 282, NO, 349]),
    ("signalfd4", [289, 327, 289, 74, 355]),
    ("sigpending", [NO, 73, NO, NO, 73]),
    ("sigprocmask", [NO, 126, NO, NO, 126]),
    ("sigreturn", [NO, 119, NO, NO, 119]),
    ("sigsuspend", [NO, 72, NO, NO, 72]),
    ("socket", [41, 359, 41, 198, 281]),
    ("socketcall", [NO, 102, NO, NO, NO]),
    ("socketpair", [53, 360, 53, 199, 288]),
    ("splice", [275, 313, 275, 76, 340]),
    ("ssetmask", [NO, 69, NO, NO, NO]),
    ("stat", [4, 106, 4, NO, 106]),
    ("stat64", [NO, 195, NO, NO, 195]),
    ("statfs", [137, 99, 137, 43, 99]),
    ("statfs64", [NO, 268, NO, NO, 266]),
    ("statmount", [457, 457, 457, 457, 457]),
    ("statx", [332, 383, 332, 291, 397]),
    ("stime", [NO, 25, NO, NO, NO]),
    ("stty", [NO, 31, NO, NO, NO]),
    ("swapoff", [168, 115, 168, 225, 115]),
    ("swapon", [167, 87, 167, 224, 87]),
    ("symlink", [88, 83, 88, NO, 83]),
    ("symlinkat", [266, 304, 266, 36, 331]),
    ("sync", [162, 36, 162, 81, 36]),
    ("sync_file_range", [277, 314, 277, 84, NO]),
    ("sync_file_range2", [NO, NO, NO, NO, 341]),
    ("syncfs", [306, 344, 306, 267, 373]),
    ("sysfs", [139, 135, 139, NO, 135]),
    ("sysinfo", [99, 116, 99, 179, 116]),
    ("syslog", [103, 103, 103, 116, 103]),
    ("tee", [276, 315, 276, 77, 342]),
    ("tgkill", [234, 270, 234, 131, 268]),
    ("time", [201, 13, 201, NO, NO]),
    ("timer_create", [222, 259, 526, 107, 257]),
    ("timer_delete", [226, 263, 226, 111, 261]),
    ("timer_getoverrun", [225, 262, 225, 109, 260]),
    ("timer_gettime", [224, 261, 224, 108, 259]),
    ("timer_gettime64", [NO, 408, NO, NO, 408]),
    ("timer_settime", [223, 260, 223, 110, 258]),
    ("timer_settime64", [NO, 409, NO, NO, 409]),
    ("timerfd_create", [283, 322, 283, 85, 350]),
    ("timerfd_gettime", [287, 326, 287, 87, 354]),
    ("timerfd_gettime64", [NO, 410, NO, NO, 410]),
    ("timerfd_settime", [286, 325, 286, 86, 353]),
    ("timerfd_settime64", [NO, 411, NO, NO, 411]),
    ("times", [100, 43, 100, 153, 43]),
    ("tkill", [200, 238, 200, 130, 238]),
    ("truncate", [76, 92, 76, 45, 92]),
    ("truncate64", [NO, 193, NO, NO, 193]),
    ("tuxcall", [184, NO, 184, NO, NO]),
    ("ugetrlimit", [NO, 191, NO, NO, 191]),
    ("ulimit", [NO, 58, NO, NO, NO]),
    ("umask", [95, 60, 95, 166, 60]),
    ("umount", [NO, 22, NO, NO, NO]),
    ("umount2", [166, 52, 166, 39, 52]),
    ("uname", [63, 122, 63, 160, 122]),
    ("unlink", [87, 10, 87, NO, 10]),
    ("unlinkat", [263, 301, 263, 35, 328]),
    ("unshare", [272, 310, 272, 97, 337]),
    ("uprobe", [336, NO, 336, NO, NO]),
    ("uretprobe", [335, NO, 335, NO, NO]),
    ("uselib", [134, 86, NO, NO, 86]),
    ("userfaultfd", [323, 374, 323, 282, 388]),
    ("usr26", [NO, NO, NO, NO, 0xf_0003]),
    ("usr32", [NO, NO, NO, NO, 0xf_0004]),
    ("ustat", [136, 62, 136, NO, 62]),
    ("utime", [132, 30, 132, NO, NO]),
    ("utimensat", [280, 320, 280, 88, 348]),
    ("utimensat_time64", [NO, 412, NO, NO, 412]),
    ("utimes", [235, 271, 235, NO, 269]),
    ("vfork", [58, 190, 58, NO, 190]),
    ("vhangup", [153, 111, 153, 58, 111]),
    ("vm86", [NO, 166, NO, NO, NO]),
    ("vm86old", [NO, 113, NO, NO, NO]),
    ("vmsplice", [278, 316, 532, 75, 343]),
    ("vserver", [236, 273, NO, NO, 313]),
    ("wait4", [61, 114, 61, 260, 114]),
    ("waitid", [247, 284, 529, 95, 280]),
    ("waitpid", [NO, 7, NO, NO, NO]),
    ("write", [1, 4, 1, 64, 4]),
    ("writev", [20, 146, 516, 66, 146]),
];

#[cfg(test)]
mod tests {
    use super::*;

    const ABIS: [Abi; 5] = [Abi::X86_64, Abi::I386, Abi::X32, Abi::Aarch64, Abi::Arm];

    #[test]
    fn the_rows_are_in_order_so_that_a_name_can_be_searched() {
        assert!(ROWS.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn no_number_of_a_convention_has_two_names() {
        for abi in ABIS {
            let named = (0..ROW_COUNT).filter(|row| row_number(abi, *row).is_some());
            assert_eq!(all(abi).count(), named.count(), "{abi:?}");
        }
    }

    #[test]
    fn name_and_number_are_inverse() {
        for abi in ABIS {
            for (nr, known) in all(abi) {
                assert_eq!(name(abi, nr), Some(known), "{abi:?} {nr}");
                assert_eq!(number(abi, known), Some(nr), "{abi:?} {known}");
            }
        }
    }

    #[test]
    fn names_are_those_of_the_headers_that_this_program_is_built_with() {
        let native = [
            (libc::SYS_openat, "openat"),
            (libc::SYS_fstat, "fstat"),
            (libc::SYS_newfstatat, "newfstatat"),
            (libc::SYS_umount2, "umount2"),
            (libc::SYS_pread64, "pread64"),
            (libc::SYS_sendfile, "sendfile"),
            (libc::SYS_uname, "uname"),
            (libc::SYS_exit_group, "exit_group"),
            (libc::SYS_mount_setattr, "mount_setattr"),
        ];
        for (nr, expected) in native {
            let nr = u32::try_from(nr).expect("a system call number fits");
            assert_eq!(name(Abi::native(), nr), Some(expected));
        }
    }

    #[test]
    fn the_same_number_is_another_call_in_another_convention() {
        let named = |nr| [Abi::X86_64, Abi::I386, Abi::Aarch64, Abi::Arm].map(|abi| name(abi, nr));
        assert_eq!(
            named(20),
            [
                Some("writev"),
                Some("getpid"),
                Some("epoll_create1"),
                Some("getpid")
            ]
        );
        assert_eq!(named(470), [Some("listns"); 4]);
        assert_eq!(
            named(335),
            [
                Some("uretprobe"),
                Some("rt_tgsigqueueinfo"),
                None,
                Some("pselect6")
            ]
        );
    }

    #[test]
    fn a_number_with_bit_30_is_an_x32_call() {
        assert_eq!(name(Abi::X86_64, X32_BIT | 39), Some("getpid"));
        assert_eq!(name(Abi::X32, X32_BIT | 39), Some("getpid"));
        assert_eq!(name(Abi::X86_64, X32_BIT | 512), Some("rt_sigaction"));
        assert_eq!(name(Abi::X86_64, 512), None);
        assert_eq!(name(Abi::X86_64, X32_BIT | 13), None);
        assert_eq!(name(Abi::X32, 39), None);
        assert_eq!(name(Abi::I386, X32_BIT | 20), None);
    }

    #[test]
    fn the_private_calls_of_arm_are_named() {
        assert_eq!(name(Abi::Arm, 0xf_0005), Some("set_tls"));
        assert_eq!(number(Abi::Arm, "cacheflush"), Some(0xf_0002));
        assert_eq!(name(Abi::Aarch64, 0xf_0005), None);
    }

    #[test]
    fn an_unknown_number_has_no_name() {
        for nr in [
            PLAIN_LEN - 1,
            PLAIN_LEN,
            1000,
            ARM_PRIVATE,
            ARM_PRIVATE + 16,
            i32::MAX as u32,
        ] {
            assert_eq!(ABIS.map(|abi| name(abi, nr)), [None; 5], "{nr:#x}");
        }
        assert_eq!(ABIS.map(|abi| name(abi, u32::MAX)), [None; 5]);
        assert_eq!(number(Abi::X86_64, "no_such_call"), None);
        assert_eq!(number(Abi::Aarch64, "open"), None);
    }

    #[test]
    fn the_tracepoint_of_a_renamed_call_is_the_first_candidate() {
        let candidates = |name| tracefs_names(name).collect::<Vec<_>>();
        assert_eq!(candidates("fstat"), ["newfstat", "fstat"]);
        assert_eq!(candidates("umount2"), ["umount", "umount2"]);
        assert_eq!(candidates("newfstatat"), ["newfstatat"]);
        assert_eq!(
            renamed_by_tracefs("newuname").collect::<Vec<_>>(),
            ["uname"]
        );
    }
}
