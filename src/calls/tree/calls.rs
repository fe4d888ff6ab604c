//! Which calls look at links instead of following them, and which change names: by name, once.

use std::sync::LazyLock;

/// Whether a call follows a link at the end of a path of its own, and what an empty path means to
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Looks {
    pub(crate) follows: bool,
    /// An empty path is the file of the descriptor.
    pub(crate) takes_empty: bool,
}

/// What a call does to names, if it succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Makes a file where there is none, if these flags of it say so.
    Opens,
    MakesFolder,
    MakesNode,
    /// The path of the link is this argument; what it says is the first one.
    MakesLink(u8),
    /// From this path to that.
    Links(u8, u8),
    Renames(u8, u8),
    Removes(u8),
    /// `mount(2)`.
    Mounts,
    /// `move_mount(2)`.
    MovesMount,
    Unmounts,
    /// `open_tree(2)`, which may make a mount that is attached nowhere.
    OpensTree,
    /// Gives mounts attributes, which are the fourth argument.
    SetsMounts,
    /// `bind(2)` of a socket with a path.
    Binds,
}

impl Change {
    /// Whether the path of this argument need not be there before.
    pub(crate) fn makes(self, path: u8) -> bool {
        match self {
            Self::MakesFolder | Self::MakesNode => true,
            Self::MakesLink(to) | Self::Links(_, to) | Self::Renames(_, to) => to == path,
            _ => false,
        }
    }

    /// Whether it is about the name in its folder, and not about the file: what else that file is
    /// called is as it was.
    pub(crate) fn is_of_name(self, path: u8) -> bool {
        match self {
            Self::MakesFolder | Self::MakesNode | Self::MakesLink(_) | Self::Renames(..) => true,
            Self::Removes(_) => true,
            Self::Links(_, to) => to == path,
            _ => false,
        }
    }

    /// Whether it may take a name away from a file, or give it to another.
    pub(crate) const fn is_of_others(self) -> bool {
        matches!(
            self,
            Self::Renames(..) | Self::Removes(_) | Self::Mounts | Self::MovesMount | Self::Unmounts
        )
    }
}

/// What a call does to names.
pub(crate) fn change(name: &str) -> Option<Change> {
    Some(match name {
        "open" | "openat" | "openat2" | "creat" => Change::Opens,
        "mkdir" | "mkdirat" => Change::MakesFolder,
        "mknod" | "mknodat" => Change::MakesNode,
        "symlink" => Change::MakesLink(1),
        "symlinkat" => Change::MakesLink(2),
        "link" => Change::Links(0, 1),
        "linkat" => Change::Links(1, 3),
        "rename" => Change::Renames(0, 1),
        "renameat" | "renameat2" => Change::Renames(1, 3),
        "unlink" | "rmdir" => Change::Removes(0),
        "unlinkat" => Change::Removes(1),
        "mount" => Change::Mounts,
        "move_mount" => Change::MovesMount,
        "umount" | "umount2" => Change::Unmounts,
        "open_tree" | "open_tree_attr" => Change::OpensTree,
        "mount_setattr" => Change::SetsMounts,
        "bind" => Change::Binds,
        _ => return None,
    })
}

/// The calls besides those that follow descriptors that must be recorded for names to be right.
#[must_use]
pub fn needed() -> &'static [&'static str] {
    static NEEDED: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        vec![
            "link",
            "linkat",
            "mkdir",
            "mkdirat",
            "mknod",
            "mknodat",
            "mount",
            "mount_setattr",
            "move_mount",
            "open_tree_attr",
            "rename",
            "renameat",
            "renameat2",
            "rmdir",
            "symlink",
            "symlinkat",
            "umount",
            "umount2",
            "unlink",
            "unlinkat",
        ]
    });
    &NEEDED
}

/// How a call takes its path in this argument, by its flags.
pub(crate) fn looks(name: &str, path: u8, args: &[u64; 6], flags: u64) -> Looks {
    const NO_FOLLOW: u64 = 0x100;
    const FOLLOW: u64 = 0x400;
    const EMPTY: u64 = 0x1000;
    let word = |place: usize| args.get(place).copied().unwrap_or_default();
    let follows = |follows| Looks {
        follows,
        takes_empty: false,
    };
    // AT_SYMLINK_NOFOLLOW and AT_EMPTY_PATH in this argument.
    let by = |place: usize| Looks {
        follows: word(place) & NO_FOLLOW == 0,
        takes_empty: word(place) & EMPTY != 0,
    };
    match (name, path) {
        (
            "lstat" | "lstat64" | "oldlstat" | "lchown" | "lchown32" | "readlink" | "lgetxattr"
            | "llistxattr" | "lremovexattr" | "lsetxattr" | "unlink" | "unlinkat" | "rmdir"
            | "rename" | "renameat" | "renameat2" | "link" | "symlink" | "symlinkat" | "mkdir"
            | "mkdirat" | "mknod" | "mknodat",
            _,
        ) => follows(false),
        ("readlinkat", _) => Looks {
            follows: false,
            takes_empty: true,
        },
        ("open" | "openat" | "openat2" | "creat", _) => {
            const CREATE: u64 = 0o100;
            const EXCLUSIVE: u64 = 0o200;
            let is_new = flags & CREATE != 0 && flags & EXCLUSIVE != 0;
            follows(flags & libc::O_NOFOLLOW as u64 == 0 && !is_new)
        }
        ("linkat", 1) => Looks {
            follows: word(4) & FOLLOW != 0,
            takes_empty: word(4) & EMPTY != 0,
        },
        ("linkat", _) => follows(false),
        ("name_to_handle_at", _) => Looks {
            follows: word(4) & FOLLOW != 0,
            takes_empty: word(4) & EMPTY != 0,
        },
        ("move_mount", 1) => Looks {
            follows: word(4) & 1 != 0,
            takes_empty: word(4) & 4 != 0,
        },
        ("move_mount", _) => Looks {
            follows: word(4) & 0x10 != 0,
            takes_empty: word(4) & 0x40 != 0,
        },
        ("umount" | "umount2", _) => follows(name == "umount" || word(1) & 8 == 0),
        ("inotify_add_watch", _) => follows(word(2) & 0x0200_0000 == 0),
        ("fanotify_mark", _) => follows(word(1) & 4 == 0),
        ("newfstatat" | "fstatat64" | "fchmodat2" | "utimensat" | "utimensat_time64", _) => by(3),
        ("faccessat2", _) => by(3),
        ("fchownat" | "execveat" | "file_getattr" | "file_setattr", _) => by(4),
        ("statx" | "open_tree" | "open_tree_attr" | "mount_setattr", _) => by(2),
        ("getxattrat" | "setxattrat" | "listxattrat" | "removexattrat", _) => by(2),
        // FSPICK_SYMLINK_NOFOLLOW, FSPICK_EMPTY_PATH.
        ("fspick", _) => Looks {
            follows: word(2) & 2 == 0,
            takes_empty: word(2) & 8 != 0,
        },
        _ => follows(true),
    }
}
