//! What the arguments of a call are that depend on other arguments of it: on its command, on its
//! flags.
//!
//! Which call depends on what is found when its signature is made, so that all others pay nothing.
//! What the kernel does not look at is not shown, as strace does.

mod commands;
mod ioctl;
mod prctl;
mod sockets;

use super::constants::Constants;
use super::kinds::{ArgKind, ReturnKind};
use super::signature::{Argument, Meanings};

/// What the meanings of a call's arguments depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depends {
    /// On a command among its arguments.
    Command(&'static Commands),
    /// `open` and similar calls, by their flags: the mode is looked at only if a file may be made.
    OpenFlags {
        /// The place of the flags; the mode follows.
        flags: usize,
        /// The flags that make the rest mean something.
        creating: u64,
    },
    /// `mremap`, on its flags.
    MoveFlags,
    /// `clone`, on its flags; the order of its arguments is not the same everywhere.
    CloneFlags {
        /// The place of the child's TLS.
        tls: usize,
        /// The place of the pointer to the child's id.
        child: usize,
    },
    /// `mknod`, on the file's type.
    FileType {
        /// The place of the mode; the device follows.
        mode: usize,
    },
    /// `preadv` and similar calls: on machines of 64 bits the upper half of the offset is not
    /// looked at.
    SplitOffset,
    /// `membarrier`, on its flags.
    BarrierFlags,
}

/// A call whose arguments depend on a command.
#[derive(Debug, PartialEq, Eq)]
pub struct Commands {
    /// The place of the command.
    at: usize,
    /// How far the command is from the lower end of its word.
    shift: u32,
    /// Its bits.
    mask: u64,
    /// The place of the first argument that depends on it.
    first: usize,
    cases: &'static [Case],
    /// Whether arguments behind those of a case are not looked at.
    is_whole: bool,
    /// For all other commands; `None` where the arguments are then what they are without one.
    otherwise: Option<&'static [ArgKind]>,
}

/// What the arguments are with a command.
#[derive(Debug, PartialEq, Eq)]
struct Case {
    command: u64,
    /// The kinds from the first dependent argument on.
    arguments: &'static [ArgKind],
    returns: Option<ReturnKind>,
    /// The command has a command of its own.
    then: Option<&'static Commands>,
}

const WORD: u64 = 0xffff_ffff;

/// The command of a case that this architecture does not have.
const NO_VALUE: u64 = u64::MAX;

impl Depends {
    /// Whether what the argument at this place is, if it is looked at, depends on a command.
    #[must_use]
    pub fn may_change(&self, place: usize) -> bool {
        matches!(self, Self::Command(commands) if commands.may_change(place))
    }

    /// Whether what the call returns depends on a command.
    #[must_use]
    pub fn may_change_result(&self) -> bool {
        matches!(self, Self::Command(commands) if commands.may_change_result())
    }
}

impl Commands {
    /// Those of a call by which some argument may be a descriptor.
    pub(super) fn with_descriptors(call: &str) -> Option<&'static Self> {
        let is_one = |case: &Case| case.arguments.contains(&ArgKind::Fd);
        of_command(call).filter(|commands| commands.cases.iter().any(is_one))
    }

    /// Which arguments are descriptors by the command, a bit for each.
    pub(super) fn descriptors(&self, words: &[u64; 6]) -> u8 {
        let mut meanings = Meanings {
            arguments: [ArgKind::Unused; 6],
            shown: 6,
            implied: 0,
            returns: ReturnKind::Number,
        };
        self.resolve(words, &mut meanings);
        let shown = meanings.shown();
        let places = shown.filter(|(_, kind)| *kind == ArgKind::Fd);
        places.fold(0, |bits, (place, _)| bits | 1 << place)
    }

    fn may_change(&self, place: usize) -> bool {
        let mut then = self.cases.iter().filter_map(|case| case.then);
        place >= self.first || then.any(|commands| commands.may_change(place))
    }

    fn may_change_result(&self) -> bool {
        let changes = |case: &Case| {
            case.returns.is_some() || case.then.is_some_and(Commands::may_change_result)
        };
        self.cases.iter().any(changes)
    }

    /// A command at this place, on which everything behind it depends.
    const fn at(at: usize, cases: &'static [Case], otherwise: Option<&'static [ArgKind]>) -> Self {
        Self {
            at,
            shift: 0,
            mask: WORD,
            first: at + 1,
            cases,
            is_whole: true,
            otherwise,
        }
    }

    /// A command on which only some of the arguments depend, from this one on.
    const fn of_some(
        at: usize,
        first: usize,
        cases: &'static [Case],
        otherwise: Option<&'static [ArgKind]>,
    ) -> Self {
        Self {
            first,
            is_whole: false,
            ..Self::at(at, cases, otherwise)
        }
    }

    /// The same for a command of which the kernel takes the whole register.
    const fn wide(self) -> Self {
        Self {
            mask: u64::MAX,
            ..self
        }
    }

    fn resolve(&self, words: &[u64; 6], meanings: &mut Meanings) {
        let word = words.get(self.at).copied().unwrap_or_default();
        let command = (word >> self.shift) & self.mask;
        let case = self
            .cases
            .iter()
            .find(|case| case.command != NO_VALUE && case.command & self.mask == command);
        let Some(arguments) = case.map(|case| case.arguments).or(self.otherwise) else {
            return;
        };
        let kinds = meanings.arguments.iter_mut().skip(self.first);
        for (kind, known) in kinds.zip(arguments) {
            *kind = combined(*kind, *known);
        }
        if self.is_whole {
            meanings.shown = meanings.shown.min(self.first + arguments.len());
        }
        if let Some(returns) = case.and_then(|case| case.returns) {
            meanings.returns = returns;
        }
        if let Some(then) = case.and_then(|case| case.then) {
            then.resolve(words, meanings);
        }
    }
}

/// That something is a pointer says less than what it points to.
fn combined(of_call: ArgKind, of_command: ArgKind) -> ArgKind {
    match (of_call, of_command) {
        (
            ArgKind::Path | ArgKind::Text | ArgKind::Strings | ArgKind::Struct(_) | ArgKind::Buffer,
            ArgKind::Pointer,
        ) => of_call,
        _ => of_command,
    }
}

/// A case whose command is a constant of this name.
const fn case(names: &Constants, name: &str, arguments: &'static [ArgKind]) -> Case {
    Case {
        command: names.value(name),
        arguments,
        returns: None,
        then: None,
    }
}

impl Case {
    const fn then(self, commands: &'static Commands) -> Self {
        Self {
            then: Some(commands),
            ..self
        }
    }

    const fn returning(self, returns: ReturnKind) -> Self {
        Self {
            returns: Some(returns),
            ..self
        }
    }
}

/// What a call depends on; its arguments are those of the running kernel.
pub(super) fn depends(call: &str, arguments: &[Argument]) -> Option<Depends> {
    const CREATING: u64 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)) as u64;
    let place = |name: &str| {
        arguments
            .iter()
            .position(|argument| *argument.name == *name)
    };
    Some(match call {
        "open" => Depends::OpenFlags {
            flags: 1,
            creating: CREATING,
        },
        "openat" => Depends::OpenFlags {
            flags: 2,
            creating: CREATING,
        },
        "mq_open" => Depends::OpenFlags {
            flags: 1,
            creating: libc::O_CREAT as u64,
        },
        "mremap" => Depends::MoveFlags,
        "clone" => Depends::CloneFlags {
            tls: place("tls")?,
            child: place("child_tidptr")?,
        },
        "mknod" => Depends::FileType { mode: 1 },
        "mknodat" => Depends::FileType { mode: 2 },
        "preadv" | "pwritev" | "preadv2" | "pwritev2" => Depends::SplitOffset,
        "membarrier" => Depends::BarrierFlags,
        _ => Depends::Command(of_command(call)?),
    })
}

fn of_command(call: &str) -> Option<&'static Commands> {
    Some(match call {
        "arch_prctl" => &commands::ARCH_PRCTL,
        "bpf" => &commands::BPF,
        "fcntl" => &commands::FCNTL,
        "fsconfig" => &commands::FSCONFIG,
        "futex" => &commands::FUTEX,
        "getpriority" | "setpriority" => &commands::PRIORITY,
        "ioctl" => &ioctl::IOCTL,
        "ioprio_get" | "ioprio_set" => &commands::IO_PRIORITY,
        "kcmp" => &commands::KCMP,
        "keyctl" => &commands::KEYCTL,
        "prctl" => &prctl::PRCTL,
        "ptrace" => &commands::PTRACE,
        "quotactl" => &commands::QUOTACTL,
        "quotactl_fd" => &commands::QUOTACTL_FD,
        "reboot" => &commands::REBOOT,
        "seccomp" => &commands::SECCOMP,
        "semctl" => &commands::SEMCTL,
        "socket" => &sockets::PROTOCOL,
        "getsockopt" => &sockets::OPTION_GOT,
        "setsockopt" => &sockets::OPTION_SET,
        "syslog" => &commands::SYSLOG,
        "sysfs" => &commands::SYSFS,
        "waitid" => &commands::WAITID,
        _ => return None,
    })
}

impl Depends {
    /// Changes what the arguments are to what they are in this call.
    pub(super) fn resolve(self, words: &[u64; 6], meanings: &mut Meanings) {
        let word = |place: usize| words.get(place).copied().unwrap_or_default();
        let shown = match self {
            Self::Command(commands) => return commands.resolve(words, meanings),
            Self::OpenFlags { flags, creating } if word(flags) & creating == 0 => flags + 1,
            Self::MoveFlags => {
                const MOVING: u64 = (libc::MREMAP_FIXED | libc::MREMAP_DONTUNMAP) as u64;
                if word(3) & MOVING == 0 { 4 } else { 5 }
            }
            Self::CloneFlags { tls, child } => clone_arguments(word(0), tls, child),
            Self::FileType { mode } => {
                let kind = word(mode) as u32 & libc::S_IFMT;
                let is_device = kind == libc::S_IFCHR || kind == libc::S_IFBLK;
                if is_device { mode + 2 } else { mode + 1 }
            }
            Self::SplitOffset => {
                if let Some(upper) = meanings.arguments.get_mut(4) {
                    *upper = ArgKind::Unused;
                }
                return;
            }
            Self::BarrierFlags => {
                const ON_ONE_CPU: u64 = 1;
                if word(1) & ON_ONE_CPU == 0 { 2 } else { 3 }
            }
            Self::OpenFlags { .. } => return,
        };
        meanings.shown = meanings.shown.min(shown);
    }
}

/// The first two, and up to the last one that a flag makes mean something.
fn clone_arguments(flags: u64, tls: usize, child: usize) -> usize {
    const PARENT: usize = 2;
    let bits = |flags: libc::c_int| u64::from(flags as u32);
    let uses = [
        (libc::CLONE_PARENT_SETTID | libc::CLONE_PIDFD, PARENT),
        (libc::CLONE_SETTLS, tls),
        (libc::CLONE_CHILD_SETTID | libc::CLONE_CHILD_CLEARTID, child),
    ];
    let used = uses
        .into_iter()
        .filter(|(wanted, _)| flags & bits(*wanted) != 0);
    used.map(|(_, place)| place + 1).max().unwrap_or(PARENT)
}

#[cfg(test)]
mod tests;
