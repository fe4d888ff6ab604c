//! What the pointers among a call's arguments point to, and what of it is to be read.
//!
//! One row a call. The layouts are those of 64-bit programs; what a 32-bit call points to on x86 is
//! read in its own and widened ([`widen`]).

use super::kinds::ArgKind;
use super::layout::native_place;
use super::names::{self, Abi};
use super::structs::{StructKind, device, ipc, ring};
use crate::memory::{Behind, Extent, Fetch, Memory, Moment};

mod narrow;
mod shapes;
mod table;

pub(crate) use shapes::{LONGER_HEAD, Step, elements};

/// What an argument points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// A path that the kernel looks up.
    Path,
    /// A string that it does not: a name, or the target of a symbolic link that is being made.
    Text,
    /// A vector of strings.
    Strings,
    /// A structure that the program gives.
    In(StructKind, Length),
    /// A structure that the kernel fills in.
    Out(StructKind, Length),
    /// A structure that the kernel changes.
    InOut(StructKind, Length),
    /// What the structure points to that this argument points to, which the program gives.
    Further(Behind),
    /// What the kernel has written there.
    Filled(Behind),
    /// Contents to which such a structure points and that the program gives.
    FurtherWritten(Behind),
    /// Contents that the kernel fills in there.
    FurtherRead(Behind),
    /// The vectors that say where contents are, once more when these have been filled in.
    VectorsRead(Length),
    /// A structure with contents behind it, which the program gives.
    InFront(StructKind),
    /// The same, which the kernel fills in.
    OutFront(StructKind),
    /// Contents that the program gives.
    Written(Length),
    /// Contents that the kernel fills in.
    Read(Length),
    /// A string for some of the call's commands only: [`by_command`] tells for which.
    MaybeText,
    /// A structure that the program gives, likewise.
    MaybeIn(StructKind),
    /// A structure that the kernel fills in, likewise.
    MaybeOut(StructKind),
    /// A structure that the kernel changes, likewise.
    MaybeInOut(StructKind),
}

/// How many there are of what a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    /// A single one.
    One,
    /// As many as this argument says; of contents and of structures that grow from kernel to
    /// kernel, so many bytes.
    By(u8),
    /// As many bytes as stands where this argument points to.
    At(u8),
    /// As many as the result says.
    Result,
}

/// The longest path (`PATH_MAX`), its zero byte included; longer strings are cut.
const LONGEST_STRING: u16 = 4096;

/// The longest address of a socket (`struct sockaddr_storage`).
pub(crate) const LONGEST_ADDRESS: u16 = 128;

/// Of structures in a row no more is read.
const LONGEST_STRUCT: u16 = 1024;

/// What of a call's pointers is to be read, with no more than `contents` bytes of what it reads or
/// writes; 0 for none. Nothing for a convention other than the native one and that of 32-bit
/// calls, whose arguments are told by their registers.
///
/// At most five are read at the entry and four at the exit, and each argument once at each.
#[must_use]
pub fn fetches(abi: Abi, number: u32, contents: u16) -> Vec<Fetch> {
    if is_narrow(abi) {
        return narrow::fetches(number, contents);
    }
    let name = names::name(abi, number).filter(|_| abi == Abi::native());
    let mut fetches = Vec::new();
    for (argument, target) in name.map_or(&[][..], table::targets) {
        let size = |kind: StructKind| Some(kind.size());
        each(*target, contents, size, |moment, extent, limit| {
            fetches.push(Fetch {
                argument: *argument,
                moment,
                extent,
                limit,
            });
            Some(())
        });
    }
    fetches
}

/// Whether calls of a convention are read in other layouts than the native ones.
fn is_narrow(abi: Abi) -> bool {
    Abi::native().compat() == Some(abi)
}

/// The same for a native call by its name.
#[must_use]
pub fn fetches_of(call: &str, contents: u16) -> Vec<Fetch> {
    let native = Abi::native();
    let number = names::number(native, call);
    number.map_or_else(Vec::new, |number| fetches(native, number, contents))
}

/// The conventions whose calls are read.
pub fn conventions() -> impl Iterator<Item = Abi> {
    let compat = Abi::native().compat();
    std::iter::once(Abi::native()).chain(compat.filter(|abi| is_narrow(*abi)))
}

/// Puts what was read for a call where the native call has it, in the native layouts.
pub fn widen(abi: Abi, number: i32, memory: &mut Memory) {
    if is_narrow(abi) {
        narrow::widen(number, memory);
    }
}

/// Whether what an argument of a call points to is read, where contents are: the place is that of
/// the native call.
#[must_use]
pub fn is_read(abi: Abi, number: i32, place: usize) -> bool {
    let number = u32::try_from(number).ok();
    let fetches = number.map_or_else(Vec::new, |number| fetches(abi, number, 1));
    let mut places = fetches.iter().map(|fetch| {
        let argument = fetch.argument;
        if is_narrow(abi) {
            number.and_then(|number| native_place(abi, number as i32, argument))
        } else {
            Some(argument)
        }
    });
    places.any(|it| it.is_some_and(|it| usize::from(it) == place))
}

/// Tells `add` what is to be read of a target, given the size of structures; those without one are
/// not.
fn each(
    target: Target,
    contents: u16,
    size: impl Fn(StructKind) -> Option<u16>,
    mut add: impl FnMut(Moment, Extent, u16) -> Option<()>,
) -> Option<()> {
    use Moment::{Enter, Exit};
    let extent = |kind, length| Some(extent(size(kind)?, length));
    match target {
        Target::Path | Target::Text | Target::MaybeText => {
            add(Enter, Extent::String, LONGEST_STRING)
        }
        Target::Strings => add(Enter, Extent::Strings, LONGEST_STRING),
        Target::In(kind, length) => add(Enter, extent(kind, length)?, limit(kind)),
        Target::MaybeIn(kind) => add(Enter, extent(kind, Length::One)?, limit(kind)),
        Target::Out(kind, length) => add(Exit, extent(kind, length)?, limit(kind)),
        Target::InOut(kind, length) => {
            add(Enter, extent(kind, length)?, limit(kind));
            add(Exit, extent(kind, length)?, limit(kind))
        }
        Target::MaybeOut(kind) => add(Exit, extent(kind, Length::One)?, limit(kind)),
        Target::MaybeInOut(kind) => {
            add(Enter, extent(kind, Length::One)?, limit(kind));
            add(Exit, extent(kind, Length::One)?, limit(kind))
        }
        Target::Further(what) => add(Enter, Extent::Behind(what), further(what)),
        Target::Filled(what) => add(Exit, Extent::Behind(what), further(what)),
        Target::InFront(kind) => {
            let length = size(kind)?.saturating_add(contents).min(LONGEST_STRING);
            add(Enter, Extent::Fixed(length), length)
        }
        Target::OutFront(kind) => {
            let length = size(kind)?.saturating_add(contents).min(LONGEST_STRING);
            add(Exit, Extent::Fixed(length), length)
        }
        Target::Written(_) | Target::Read(_) if contents == 0 => None,
        Target::FurtherWritten(_) | Target::FurtherRead(_) | Target::VectorsRead(_)
            if contents == 0 =>
        {
            None
        }
        Target::FurtherWritten(what) => add(Enter, Extent::Behind(what), contents),
        Target::FurtherRead(what) => add(Exit, Extent::Behind(what), contents),
        Target::VectorsRead(length) => {
            let kind = StructKind::Iovecs;
            add(Exit, extent(kind, length)?, limit(kind))
        }
        Target::Written(length) => add(Enter, bytes(length), contents),
        Target::Read(length) => add(Exit, bytes(length), contents),
    }
}

/// What an argument is, where it is a pointer and what it points to is known.
#[must_use]
pub fn kind(call: &str, index: usize) -> Option<ArgKind> {
    let (_, target) = table::targets(call)
        .iter()
        .find(|(argument, _)| usize::from(*argument) == index)?;
    match *target {
        Target::Path => Some(ArgKind::Path),
        Target::Text => Some(ArgKind::Text),
        Target::Strings => Some(ArgKind::Strings),
        Target::In(kind, _) | Target::Out(kind, _) | Target::InOut(kind, _) => {
            Some(ArgKind::Struct(kind))
        }
        Target::InFront(kind) | Target::OutFront(kind) => Some(ArgKind::Struct(kind)),
        Target::Written(_) | Target::Read(_) => Some(ArgKind::Buffer),
        Target::MaybeText | Target::MaybeIn(_) => None,
        Target::MaybeOut(_) | Target::MaybeInOut(_) => None,
        Target::Further(_)
        | Target::Filled(_)
        | Target::FurtherWritten(_)
        | Target::FurtherRead(_)
        | Target::VectorsRead(_) => None,
    }
}

/// The arguments of a call that [`by_command`] may say something of.
pub(super) fn places_by_command(call: &str) -> impl Iterator<Item = usize> {
    let is_open = |target: &Target| {
        matches!(
            target,
            Target::MaybeText | Target::MaybeIn(_) | Target::MaybeOut(_) | Target::MaybeInOut(_)
        )
    };
    let open = table::targets(call)
        .iter()
        .filter(move |(_, target)| is_open(target));
    open.map(|(argument, _)| usize::from(*argument))
}

/// What an argument is that points to something for some commands of its call only, by the words of
/// the call.
#[must_use]
pub fn by_command(call: &str, index: usize, words: &[u64; 6]) -> Option<ArgKind> {
    // Commands are numbers of 32 bits, whatever stands in the upper half of the register.
    let command = |index: usize| words.get(index).map(|word| *word as u32);
    let kind = match (call, index) {
        ("clone", 2) => {
            const ANSWERED: i32 = libc::CLONE_PARENT_SETTID | libc::CLONE_PIDFD;
            (command(0)? as i32 & ANSWERED != 0).then_some(StructKind::CloneAnswer)?
        }
        ("fcntl", 2) => match command(1)? as i32 {
            libc::F_GETLK | libc::F_OFD_GETLK | F_GETLK64 => StructKind::FileLockOut,
            libc::F_SETLK | libc::F_SETLKW | F_SETLK64 | F_SETLKW64 => StructKind::FileLock,
            libc::F_OFD_SETLK | libc::F_OFD_SETLKW => StructKind::FileLock,
            F_SETOWN_EX | F_GETOWN_EX => StructKind::FileOwner,
            _ => return None,
        },
        ("futex", 3) => match command(1)? as i32 & libc::FUTEX_CMD_MASK {
            libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => StructKind::Timespec,
            libc::FUTEX_LOCK_PI | FUTEX_LOCK_PI2 | libc::FUTEX_WAIT_REQUEUE_PI => {
                StructKind::Timespec
            }
            _ => return None,
        },
        ("msgctl" | "shmctl", 2) if ipc::is_told(call, command(1)?) => StructKind::IpcControl,
        ("semctl", 3) if ipc::is_told(call, command(2)?) => StructKind::IpcControl,
        ("io_uring_register", 2) if ring::is_told(command(1)?) => StructKind::Registration,
        ("ioctl", 2) => request(command(1)?.into())?,
        ("prctl", 1) => match command(0)? as i32 {
            libc::PR_SET_NAME => return Some(ArgKind::Text),
            libc::PR_GET_NAME => StructKind::ThreadName,
            libc::PR_GET_PDEATHSIG => StructKind::SignalOut,
            libc::PR_GET_CHILD_SUBREAPER => StructKind::IntOut,
            _ => return None,
        },
        // FSCONFIG_SET_STRING, FSCONFIG_SET_PATH and FSCONFIG_SET_PATH_EMPTY of linux/mount.h.
        ("fsconfig", 3) => match command(1)? {
            1 => return Some(ArgKind::Text),
            3 | 4 => return Some(ArgKind::Path),
            _ => return None,
        },
        // KEYCTL_JOIN_SESSION_KEYRING, and the type and description of KEYCTL_SEARCH, of
        // linux/keyctl.h.
        ("keyctl", 1) if command(0)? == 1 => return Some(ArgKind::Text),
        ("keyctl", 2 | 3) if command(0)? == 10 => return Some(ArgKind::Text),
        _ => return None,
    };
    Some(ArgKind::Struct(kind))
}

/// What the argument of a request of ioctl(2) points to.
fn request(request: u64) -> Option<StructKind> {
    Some(match request {
        libc::FIONBIO | libc::TIOCSPTLCK => StructKind::Int,
        libc::FIONREAD | libc::TIOCOUTQ | libc::TIOCGPTN | libc::BLKSSZGET => StructKind::IntOut,
        libc::TIOCGWINSZ => StructKind::WindowSizeOut,
        libc::TIOCSWINSZ => StructKind::WindowSize,
        libc::TIOCGPGRP | libc::TIOCGSID => StructKind::GroupOut,
        libc::TIOCSPGRP => StructKind::Group,
        libc::FIOASYNC | libc::TIOCPKT | TIOCSETD => StructKind::Int,
        TIOCGETD | TIOCGEXCL | TIOCGSOFTCAR => StructKind::IntOut,
        libc::TCGETS | libc::TCGETS2 | libc::TCGETA => StructKind::Terminal,
        libc::TCSETS..=libc::TCSETSF | libc::TCSETS2..=libc::TCSETSF2 => StructKind::Terminal,
        libc::TCSETA..=libc::TCSETAF => StructKind::Terminal,
        FICLONERANGE => StructKind::CloneRange,
        FS_IOC_FIEMAP => StructKind::ExtentMap,
        SIOCGIFCONF => StructKind::Devices,
        FS_IOC_GETFLAGS | FS_IOC_SETFLAGS | FS_IOC32_GETFLAGS | FS_IOC32_SETFLAGS => {
            StructKind::InodeFlags
        }
        FS_IOC_FSGETXATTR | FS_IOC_FSSETXATTR => StructKind::InodeAttributes,
        _ if device::is_one(request as u32) => StructKind::Device,
        _ => return None,
    })
}

/// The locks of 32-bit programs with places of 64 bits, of asm-generic/fcntl.h.
const F_GETLK64: i32 = 12;
const F_SETLK64: i32 = 13;
const F_SETLKW64: i32 = 14;

/// `F_SETOWN_EX` and `F_GETOWN_EX` of asm-generic/fcntl.h.
const F_SETOWN_EX: i32 = 15;
const F_GETOWN_EX: i32 = 16;

/// Of asm-generic/ioctls.h, which the C library's names leave out on some architectures.
const TIOCSETD: u64 = 0x5423;
const TIOCGETD: u64 = 0x5424;
const TIOCGEXCL: u64 = 0x8004_5440;
const TIOCGSOFTCAR: u64 = 0x5419;

/// Of linux/fs.h: the attributes of a file, as 64-bit and as 32-bit programs number the requests.
const FS_IOC_GETFLAGS: u64 = 0x8008_6601;
const FS_IOC_SETFLAGS: u64 = 0x4008_6602;
const FS_IOC32_GETFLAGS: u64 = 0x8004_6601;
const FS_IOC32_SETFLAGS: u64 = 0x4004_6602;
const FS_IOC_FSGETXATTR: u64 = 0x801c_581f;
pub(crate) const FS_IOC_FSSETXATTR: u64 = 0x401c_5820;

/// `FS_IOC_FIEMAP` of linux/fs.h, and `SIOCGIFCONF` of linux/sockios.h.
const FS_IOC_FIEMAP: u64 = 0xc020_660b;
const SIOCGIFCONF: u64 = 0x8912;

/// `FICLONERANGE` of linux/fs.h.
pub(crate) const FICLONERANGE: u64 = 0x4020_940d;

/// `FUTEX_LOCK_PI2` of linux/futex.h, from Linux 5.14 on.
const FUTEX_LOCK_PI2: i32 = 13;

fn extent(unit: u16, length: Length) -> Extent {
    match length {
        Length::One => Extent::Fixed(unit),
        Length::By(count) => Extent::Counted { count, unit },
        Length::At(at) => Extent::Sized { at },
        Length::Result => Extent::Returned { unit },
    }
}

fn bytes(length: Length) -> Extent {
    extent(1, length)
}

/// No more is read of what a structure points to.
fn further(what: Behind) -> u16 {
    match what {
        Behind::NAME => LONGEST_ADDRESS,
        _ => LONGEST_STRUCT,
    }
}

fn limit(kind: StructKind) -> u16 {
    match kind {
        // What readlink(2) and getcwd(2) give is a path.
        StructKind::Text | StructKind::Directory => LONGEST_STRING,
        // The kernel takes no longer address (`struct sockaddr_storage`).
        StructKind::SocketAddress => 128,
        _ => LONGEST_STRUCT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names;

    /// The declarations of every call's arguments by five kernels: `index kind type name`, parted
    /// by ` | `.
    const DECLARED: &str = include_str!("../../harness/fixtures/syscall-argument-kinds.txt");

    /// Each argument of each call: the call, the place, the C type and the name.
    fn declared() -> impl Iterator<Item = (&'static str, u8, &'static str, &'static str)> {
        let lines = DECLARED.lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(|line| {
            let (call, arguments) = line.split_once(": ").expect("a call and its arguments");
            arguments.split(" | ").map(move |argument| {
                let (index, rest) = argument.split_once(' ').expect("an index");
                let (_, declaration) = rest.split_once(' ').expect("a kind");
                let (c_type, name) = declaration.rsplit_once(' ').expect("a type and a name");
                (call, index.parse().expect("an index"), c_type, name)
            })
        })
    }

    fn of(abi: Abi, name: &str, contents: u16) -> Vec<Fetch> {
        let number = names::number(abi, name);
        number.map_or_else(Vec::new, |number| fetches(abi, number, contents))
    }

    #[test]
    fn rows_are_in_order_and_their_calls_exist() {
        assert!(table::TABLE.is_sorted_by(|(a, _), (b, _)| a < b));
        for (call, _) in table::TABLE {
            assert!(names::number(Abi::X86_64, call).is_some(), "{call}");
        }
    }

    #[test]
    fn every_target_is_an_argument_that_the_kernel_declares_as_a_pointer() {
        for (call, targets) in table::TABLE.iter().filter(|(call, _)| *call != "uselib") {
            for (place, target) in *targets {
                let declared = declared().find(|(name, at, ..)| (name, at) == (call, place));
                let (_, _, c_type, name) = declared.expect("the kernel declares the argument");
                let is_by_command = matches!(
                    target,
                    Target::MaybeText
                        | Target::MaybeIn(_)
                        | Target::MaybeOut(_)
                        | Target::MaybeInOut(_)
                );
                assert!(
                    c_type.contains('*') || c_type.contains("cap_user") || is_by_command,
                    "{call} {place}: {c_type} {name}"
                );
            }
        }
    }

    #[test]
    fn every_length_is_an_argument_that_the_kernel_declares_as_one() {
        for (call, _) in table::TABLE {
            for fetch in fetches_of(call, 64) {
                let (at, is_pointer) = match fetch.extent {
                    Extent::Counted { count, .. } => (count, false),
                    Extent::Sized { at } => (at, true),
                    _ => continue,
                };
                let (_, _, c_type, name) = declared()
                    .find(|(name, place, ..)| (name, *place) == (call, at))
                    .expect("the kernel declares the argument");
                assert_eq!(c_type.contains('*'), is_pointer, "{call}: {c_type} {name}");
            }
        }
    }

    /// What is declared as a string and is none: bytes, addresses, and the environment, which
    /// strace does not show either.
    const NO_STRINGS: &[(&str, u8)] = &[
        ("execve", 2),
        ("execveat", 3),
        ("lookup_dcookie", 1),
        ("mincore", 2),
        ("shmat", 1),
        ("shmdt", 0),
        ("syslog", 1),
    ];

    #[test]
    fn no_string_of_a_call_is_forgotten() {
        let mut n_strings = 0;
        for (call, place, c_type, name) in declared() {
            if !c_type.contains("char *") || NO_STRINGS.contains(&(call, place)) {
                continue;
            }
            let found = kind(call, usize::from(place));
            assert!(found.is_some(), "{call} {place}: {c_type} {name}");
            n_strings += 1;
        }
        assert!(n_strings > 100, "{n_strings}");
    }

    #[test]
    fn no_call_needs_more_fetches_than_programs_make_or_two_for_an_argument() {
        for (call, _) in table::TABLE {
            let fetches = fetches_of(call, 64);
            for (moment, most) in [(Moment::Enter, 5), (Moment::Exit, 4)] {
                let at: Vec<_> = fetches.iter().filter(|one| one.moment == moment).collect();
                assert!(at.len() <= most, "{call}");
                let is_alone = |one: &&Fetch| {
                    let element = |it: &Fetch| match it.extent {
                        Extent::Behind(what) => what.element(),
                        _ => 0,
                    };
                    let same = at.iter().filter(|other| other.argument == one.argument);
                    same.filter(|other| element(other) == element(one)).count() == 1
                };
                assert!(at.iter().all(is_alone), "{call}");
            }
            let is_result = |extent| matches!(extent, Extent::Returned { .. });
            assert!(
                fetches
                    .iter()
                    .all(|one| one.moment == Moment::Exit || !is_result(one.extent)),
                "{call}"
            );
        }
    }

    #[test]
    fn contents_are_read_only_where_they_are_asked_for() {
        assert_eq!(fetches_of("read", 0), []);
        let fetch = |argument, moment, extent, limit| Fetch {
            argument,
            moment,
            extent,
            limit,
        };
        assert_eq!(
            fetches_of("read", 32),
            [fetch(1, Moment::Exit, Extent::Returned { unit: 1 }, 32)]
        );
        let given = Extent::Counted { count: 2, unit: 1 };
        assert_eq!(
            fetches_of("write", 32),
            [fetch(1, Moment::Enter, given, 32)]
        );
    }

    #[test]
    fn calls_of_conventions_that_no_program_knows_are_not_read() {
        for abi in [Abi::Arm, Abi::X32] {
            assert_eq!(of(abi, "openat", 0), []);
        }
        assert_eq!(fetches_of("openat", 0).len(), 1);
    }

    #[test]
    fn a_command_tells_what_its_pointer_is() {
        let words = |command: u64| [0, command, 0, 0, 0, 0];
        let lock = |command: i32| by_command("fcntl", 2, &words(command as u64));
        assert_eq!(
            lock(libc::F_SETLK),
            Some(ArgKind::Struct(StructKind::FileLock))
        );
        assert_eq!(
            lock(libc::F_GETLK),
            Some(ArgKind::Struct(StructKind::FileLockOut))
        );
        assert_eq!(lock(libc::F_GETFD), None);
        let private = 128 | libc::FUTEX_WAIT as u64 | 0xffff_0000_0000_0000;
        let timeout = Some(ArgKind::Struct(StructKind::Timespec));
        assert_eq!(by_command("futex", 3, &words(private)), timeout);
        assert_eq!(
            by_command("futex", 3, &words(libc::FUTEX_WAKE as u64)),
            None
        );
    }
}
