//! What Landlock has rights for (include/uapi/linux/landlock.h).

use std::fmt;

/// The newest ABI whose rights are known here: Linux 6.12. Those of ABI 7 and 8 add none.
pub const ABI: u32 = 6;

/// A right to a file, or to what is beneath a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// To execute it.
    Execute,
    /// To open it for writing.
    WriteFile,
    /// To open it for reading.
    ReadFile,
    /// To open a folder.
    ReadDir,
    /// To remove an empty folder, or to move one away.
    RemoveDir,
    /// To remove a file, or to move one away.
    RemoveFile,
    /// To make a character device, and so on: or to move one there.
    MakeChar,
    /// A folder.
    MakeDir,
    /// A file.
    MakeReg,
    /// A socket.
    MakeSock,
    /// A named pipe.
    MakeFifo,
    /// A block device.
    MakeBlock,
    /// A symbolic link.
    MakeSym,
    /// To link or move files to other folders.
    Refer,
    /// To cut a file.
    Truncate,
    /// To make requests of a device (`ioctl(2)`).
    IoctlDev,
}

impl Right {
    /// Each of them with its word, and the ABI that has it first; in the order of the kernel's
    /// bits.
    pub const ALL: [(Self, &'static str, u32); 16] = [
        (Self::Execute, "execute", 1),
        (Self::WriteFile, "write_file", 1),
        (Self::ReadFile, "read_file", 1),
        (Self::ReadDir, "read_dir", 1),
        (Self::RemoveDir, "remove_dir", 1),
        (Self::RemoveFile, "remove_file", 1),
        (Self::MakeChar, "make_char", 1),
        (Self::MakeDir, "make_dir", 1),
        (Self::MakeReg, "make_reg", 1),
        (Self::MakeSock, "make_sock", 1),
        (Self::MakeFifo, "make_fifo", 1),
        (Self::MakeBlock, "make_block", 1),
        (Self::MakeSym, "make_sym", 1),
        (Self::Refer, "refer", 2),
        (Self::Truncate, "truncate", 3),
        (Self::IoctlDev, "ioctl_dev", 5),
    ];

    /// Whether it may be given to a file that is no folder (`ACCESS_FILE`, security/landlock/fs.c).
    #[must_use]
    pub fn is_of_files(self) -> bool {
        use Right::{Execute, IoctlDev, ReadFile, Truncate, WriteFile};
        matches!(self, Execute | WriteFile | ReadFile | Truncate | IoctlDev)
    }

    /// Its bit.
    #[must_use]
    pub fn bit(self) -> u64 {
        1 << self as u64
    }

    /// Whether an ABI has it.
    #[must_use]
    pub fn is_of(self, abi: u32) -> bool {
        let mut all = Self::ALL.iter();
        all.any(|(right, _, first)| *right == self && *first <= abi)
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Self::ALL.iter().find(|(right, ..)| right == self);
        f.write_str(word.map_or("?", |(_, word, _)| word))
    }
}

/// A right to a port of TCP, since ABI 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Port {
    /// To bind a socket to it.
    Bind,
    /// To connect a socket to it.
    Connect,
}

impl Port {
    /// Both with their words, in the order of the kernel's bits.
    pub const ALL: [(Self, &'static str); 2] =
        [(Self::Bind, "bind_tcp"), (Self::Connect, "connect_tcp")];
    /// The first ABI that has them.
    pub const FIRST: u32 = 4;

    /// Its bit.
    #[must_use]
    pub fn bit(self) -> u64 {
        1 << self as u64
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL[*self as usize].1)
    }
}

/// What may be kept within the program and what it starts, since ABI 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Connections to sockets with a name that is no file's.
    Abstract,
    /// Signals.
    Signal,
}

impl Scope {
    /// Both with their words, in the order of the kernel's bits.
    pub const ALL: [(Self, &'static str); 2] = [
        (Self::Abstract, "abstract_unix_socket"),
        (Self::Signal, "signal"),
    ];
    /// The first ABI that has them.
    pub const FIRST: u32 = 6;

    /// Its bit.
    #[must_use]
    pub fn bit(self) -> u64 {
        1 << self as u64
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL[*self as usize].1)
    }
}
