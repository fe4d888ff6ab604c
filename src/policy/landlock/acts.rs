//! What a call asks Landlock for, by the hooks of security/landlock.

use super::named::made;
use super::opened::{CREATE, TRUNCATE};
use super::rights::{Port, Right, Scope};
use syscall_model::{Anchored, Call, Outcome, Reached, flags_behind};

/// What a call needs, as far as it is known when it is over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Act {
    /// A right to a file, or to what is beneath a folder.
    Path(Vec<u8>, Right),
    /// A right to a port of TCP.
    Port(Port, u16),
    /// To move a file to another folder, or to link it there.
    Move(Move),
    /// A move that failed with `EXDEV`, which is what Landlock says as well.
    Crossing(Move),
    /// To execute this, and what the kernel executes beside it.
    Execute(Vec<u8>),
    /// To write to what has this name, or to put another file there.
    Change(Vec<u8>),
    /// A call that failed as rules for files let it, or those of a scope: it is not known whether
    /// what it was about is allowed, or it never is.
    Refused(&'static str, Option<Scope>),
    /// It cannot be told, or no rule can allow it.
    Untold(String),
}

/// A file that goes to another folder. The kernel refuses that where the file would have rights
/// there that it has not where it is (`no_more_access()`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Move {
    /// The file, if it was there before the run.
    pub(super) own: Option<Vec<u8>>,
    /// The folder that it is in, and the one that it goes to.
    pub(super) from: Vec<u8>,
    pub(super) to: Vec<u8>,
    pub(super) is_folder: bool,
}

/// A call of a run, whose native name is `name`.
pub(super) struct Asking<'c> {
    pub(super) call: &'c Call,
    pub(super) name: &'static str,
    /// Its words; `None` of the workload's own first `execve`.
    args: Option<&'c [u64; 6]>,
    pub(super) error: Option<i32>,
}

const FAST_OPEN: u64 = 0x2000_0000;

/// Errors of descriptors and pointers, which come before all else.
const OF_WORDS: [i32; 4] = [libc::EBADF, libc::EFAULT, libc::ENOSYS, libc::ENOTSOCK];

/// Errors of paths, which come before Landlock is asked of most calls.
const OF_PATHS: [i32; 11] = [
    libc::EEXIST,
    libc::EINVAL,
    libc::EISDIR,
    libc::ELOOP,
    libc::EMFILE,
    libc::ENAMETOOLONG,
    libc::ENFILE,
    libc::ENOENT,
    libc::ENOTDIR,
    libc::EROFS,
    libc::EXDEV,
];

impl<'c> Asking<'c> {
    pub(super) fn of(call: &'c Call, name: &'static str) -> Self {
        Self {
            call,
            name,
            args: call.entry.args(),
            error: call.error(),
        }
    }

    pub(super) fn word(&self, place: usize) -> u64 {
        self.args
            .and_then(|args| args.get(place))
            .copied()
            .unwrap_or_default()
    }

    pub(super) fn has_succeeded(&self) -> bool {
        matches!(self.call.outcome, Outcome::Returned { value, .. } if !(-4095..0).contains(&value))
    }

    /// Whether it was refused by an error that Landlock has, and may have been by it.
    pub(super) fn is_refused(&self) -> bool {
        self.error == Some(libc::EACCES)
    }

    /// Whether Landlock was not asked, as its path or its descriptor failed before.
    pub(super) fn is_over_before(&self) -> bool {
        self.has_failed_by_words() || self.error.is_some_and(|it| OF_PATHS.contains(&it))
    }

    /// The same of a call that looks at nothing else before.
    pub(super) fn has_failed_by_words(&self) -> bool {
        let is_made = !matches!(
            self.call.outcome,
            Outcome::Refused { .. } | Outcome::Untold { .. } | Outcome::Missing
        );
        !is_made || self.error.is_some_and(|it| OF_WORDS.contains(&it))
    }

    /// What it asks for.
    pub(super) fn acts(&self) -> Vec<Act> {
        match self.name {
            "open" => self.opens(0, Some(self.word(1))),
            "openat" => self.opens(1, Some(self.word(2))),
            "openat2" => {
                let flags = flags_behind(self.call, self.name);
                self.opens(1, flags.and_then(Result::ok))
            }
            "creat" => self.opens(0, Some(CREATE | TRUNCATE | 1)),
            "execve" => self.executes(0),
            "execveat" => self.executes(1),
            "mkdir" => self.makes(0, Right::MakeDir),
            "mkdirat" => self.makes(1, Right::MakeDir),
            "mknod" => self.makes(0, made(self.word(1))),
            "mknodat" => self.makes(1, made(self.word(2))),
            "symlink" => self.makes(1, Right::MakeSym),
            "symlinkat" => self.makes(2, Right::MakeSym),
            "unlink" => self.removes(0, Right::RemoveFile),
            "rmdir" => self.removes(0, Right::RemoveDir),
            "unlinkat" => {
                const REMOVE_DIR: u64 = 0x200;
                let is_folder = self.word(2) & REMOVE_DIR != 0;
                let right = match is_folder {
                    true => Right::RemoveDir,
                    false => Right::RemoveFile,
                };
                self.removes(1, right)
            }
            "link" => self.links(0, 1),
            "linkat" => self.links(1, 3),
            "rename" => self.renames(0, 1, 0),
            "renameat" => self.renames(1, 3, 0),
            "renameat2" => self.renames(1, 3, self.word(4)),
            "truncate" => self.cuts(0),
            // It is none for writing, or none that can be cut.
            "ftruncate" if self.error == Some(libc::EINVAL) => Vec::new(),
            "ftruncate" => self.of_open(Right::Truncate),
            "ioctl" => self.requests(),
            "bind" => self.binds(),
            "connect" => self.of_port(Port::Connect),
            "sendto" if self.word(3) & FAST_OPEN != 0 => self.of_port(Port::Connect),
            "sendmsg" if self.word(2) & FAST_OPEN != 0 => vec![self.untold("it may connect")],
            "sendmmsg" if self.word(3) & FAST_OPEN != 0 => vec![self.untold("it may connect")],
            name => self.of_others(name),
        }
    }

    /// What has no rule.
    pub(super) fn of_others(&self, name: &str) -> Vec<Act> {
        let why = match name {
            "mount" | "umount" | "umount2" | "move_mount" | "pivot_root" => {
                if self.error == Some(libc::EPERM) {
                    return vec![Act::Refused(self.name, None)];
                }
                "under rules for files the kernel refuses it"
            }
            "open_by_handle_at" | "mq_open" | "acct" | "swapon" | "uselib" | "fanotify_init"
            | "fsconfig" => "which file it opens is not known",
            "io_uring_setup" => "what is opened through an io_uring is in no call",
            "landlock_restrict_self" => "what its own rules refuse is not known",
            // BPF_OBJ_PIN
            "bpf" if self.word(0) as u32 == 6 => "it makes a file",
            "socketcall" | "ipc" => "which operation it is, is not known",
            _ => return Vec::new(),
        };
        match self.has_succeeded() {
            true => vec![self.untold(why)],
            false => Vec::new(),
        }
    }

    pub(super) fn untold(&self, why: &str) -> Act {
        Act::Untold(format!("`{}`: {why}", self.name))
    }

    /// What was there before of where an argument led; an act that says why that is not known.
    pub(super) fn anchored(&self, place: usize) -> Result<&'c Anchored, Act> {
        let reached = match self.call.files.reached(place).names() {
            // It may be known in the end.
            Some(Ok(_)) | None => Ok(()),
            Some(Err(why)) => match self.call.files.reached(place) {
                Reached::Known { .. } => Ok(()),
                _ => Err(why.to_string()),
            },
        };
        let found = reached.and_then(|()| {
            let found = self.call.files.anchored(place);
            found.ok_or_else(|| "which file it reached is not known".to_owned())
        });
        found.map_err(|why| self.untold(&why))
    }

    /// Whether an argument led to what is in no folder: to a pipe, to memory.
    pub(super) fn is_nowhere(&self, place: usize) -> bool {
        *self.call.files.reached(place) == Reached::Nowhere
    }
}
