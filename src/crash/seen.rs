//! What is seen of the calls that change folders, each held for a moment before it is made.

use super::content::Content;
use super::kept;
use super::looked::Page;
use perf_records::units::Nanos;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The name of a call that is held.
pub(super) type CallName = &'static str;

/// A call, and what it referred to while it was held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Its thread, as the harness numbers it.
    pub thread: u32,
    /// Its name in its convention.
    #[serde(with = "kept::call")]
    pub call: CallName,
    /// When it was let go on, by the clock of the records.
    #[serde(with = "kept::nanoseconds")]
    pub time: Nanos,
    /// What it is about to do.
    pub act: Act,
    /// The permissions, `07777` of the mode, that its file had when the call was over; of a call
    /// that may take some away by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<u32>,
}

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spot {
    /// The folder, from the watched one, without links on the way: `a/b`, or nothing.
    #[serde(with = "kept::text")]
    pub folder: Vec<u8>,
    /// The last part of the path.
    #[serde(with = "kept::text")]
    pub name: Vec<u8>,
}

/// What tells a file from the others of its file system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    /// The number of its inode, which may come again.
    pub inode: u64,
    /// Its handle, which no other file ever has; `None` where the file system has none.
    pub handle: Option<Vec<u8>>,
}

/// An open file, as its descriptor has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// Its present path from the watched folder, which is empty for that folder; `None` where its
    /// name was removed.
    #[serde(with = "kept::maybe")]
    pub path: Option<Vec<u8>>,
    /// Its inode's number.
    pub inode: u64,
    /// Its handle.
    #[serde(default, with = "kept::maybe")]
    pub handle: Option<Vec<u8>>,
    /// Of a file that has names: the path that procfs shows, where that reads as if its name was
    /// removed. Either it was, or it is this.
    #[serde(default, with = "kept::maybe")]
    pub shown: Option<Vec<u8>>,
}

impl Opened {
    /// What tells it from others.
    #[must_use]
    pub fn id(&self) -> FileId {
        FileId {
            inode: self.inode,
            handle: self.handle.clone(),
        }
    }
}

/// What a call names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// An open file.
    Opened(Opened),
    /// What is found under a name.
    Named(Spot),
    /// A watched folder itself, whose name is in a folder that is not watched: its path.
    Watched(#[serde(with = "kept::text")] Vec<u8>),
}

/// Which names exclude each other in a rename.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Replacing {
    /// What was there before goes.
    Replaces,
    /// Both change places.
    Exchanges,
    /// A whiteout stays behind.
    LeavesWhiteout,
}

/// The user and the mask by which new files are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Maker {
    /// Its user and group for files.
    pub owner: (u32, u32),
    /// Permission bits that new files do not get.
    pub umask: u32,
}

/// Where a write begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Begin {
    /// At this offset.
    At(u64),
    /// At the end of the file (`O_APPEND`).
    End,
}

/// What a write makes durable by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Synced {
    /// Nothing.
    #[default]
    No,
    /// Data, and the size (`O_DSYNC`).
    Data,
    /// Attributes as well (`O_SYNC`).
    All,
}

/// What a call does to watched folders if it succeeds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// Opens a file, which is made or emptied.
    Open {
        /// Where.
        at: Spot,
        /// Whether it is made where it is missing (`O_CREAT`).
        creates: bool,
        /// Whether it is emptied where it is there (`O_TRUNC`).
        empties: bool,
        /// The mode of a new file.
        mode: u32,
        /// Who makes it.
        by: Maker,
    },
    /// Makes a file without a name (`O_TMPFILE`).
    Nameless {
        /// The folder, as that of a [`Spot`]; `None` where it is not known.
        #[serde(default, with = "kept::maybe")]
        folder: Option<Vec<u8>>,
        /// Its mode.
        mode: u32,
        /// Who makes it.
        by: Maker,
    },
    /// Makes a folder.
    MakeFolder {
        /// Where.
        at: Spot,
        /// Its mode.
        mode: u32,
        /// Who makes it.
        by: Maker,
    },
    /// Makes a symbolic link.
    MakeLink {
        /// Where.
        at: Spot,
        /// What it says.
        #[serde(with = "kept::text")]
        to: Vec<u8>,
        /// Who makes it.
        by: Maker,
    },
    /// Makes a pipe, a socket or a device.
    MakeOther {
        /// Where.
        at: Spot,
        /// Its type and mode.
        mode: u32,
        /// The device's number.
        device: u64,
        /// Who makes it.
        by: Maker,
    },
    /// Gives a file one name more.
    Link {
        /// The file.
        of: Target,
        /// The name.
        to: Spot,
    },
    /// Removes a name.
    Remove(Spot),
    /// Gives a file another name.
    Rename {
        /// The old one.
        from: Spot,
        /// The new one.
        to: Spot,
        /// What becomes of what was there.
        replacing: Replacing,
    },
    /// Writes; of the bytes as many as the call returns.
    Write {
        /// The file.
        file: Opened,
        /// Where.
        begin: Begin,
        /// What.
        #[serde(with = "kept::text")]
        bytes: Vec<u8>,
        /// Whether it is a sync as well.
        synced: Synced,
    },
    /// Lets a file share what another one holds (`FICLONE`).
    Cloned {
        /// The file.
        file: Opened,
        /// From this offset on.
        at: u64,
        /// What it holds there then.
        #[serde(with = "kept::text")]
        bytes: Vec<u8>,
    },
    /// Sets a size.
    Truncate {
        /// The file.
        file: Target,
        /// The size.
        size: u64,
    },
    /// Changes which bytes a file has room for (`fallocate(2)`).
    Allocate {
        /// The file.
        file: Opened,
        /// `FALLOC_FL_*`.
        mode: u32,
        /// From here.
        at: u64,
        /// For so many bytes.
        length: u64,
    },
    /// Sets permission bits.
    Mode {
        /// The file.
        file: Target,
        /// The bits.
        mode: u32,
    },
    /// Sets the nine permission bits alone, by a list of access that says no more.
    Permissions {
        /// The file.
        file: Target,
        /// The bits.
        mode: u32,
    },
    /// Sets the owner; a number of all ones leaves it.
    Owner {
        /// The file.
        file: Target,
        /// The user.
        user: u32,
        /// The group.
        group: u32,
    },
    /// Sets an extended attribute, or removes it.
    Xattr {
        /// The file.
        file: Target,
        /// The attribute's name.
        #[serde(with = "kept::text")]
        name: Vec<u8>,
        /// Its value; `None` where it is removed.
        #[serde(with = "kept::maybe")]
        value: Option<Vec<u8>>,
    },
    /// Makes a file or folder durable.
    Sync {
        /// It.
        file: Opened,
        /// Whether only what reading its data needs is (`fdatasync(2)`).
        only_data: bool,
    },
    /// Makes a part of a file durable, with the size that reading it needs (`msync(2)`).
    SyncRange {
        /// The file.
        file: Opened,
        /// From an offset to another.
        range: Range<u64>,
    },
    /// Makes everything durable.
    SyncAll,
    /// Maps a file to be written, shared with others.
    Maps(Opened),
    /// The content of a file that is mapped for writing, shared with others, at the first look.
    Mapped {
        /// The file.
        file: Opened,
        /// All of it.
        #[serde(with = "kept::content")]
        content: Content,
    },
    /// The same at a later look at that file.
    Stored {
        /// The file.
        file: Opened,
        /// Its size in bytes.
        size: u64,
        /// What differs from the look before.
        pages: Vec<Page>,
    },
    /// The same at a look at some pages of that file alone.
    StoredIn {
        /// The file.
        file: Opened,
        /// Its size in bytes.
        size: u64,
        /// What was looked at: whole pages, up to the end of the file.
        range: Range<u64>,
        /// What of it differs from the look before.
        pages: Vec<Page>,
    },
    /// Writes to the stream that promises are made on.
    Said(#[serde(with = "kept::text")] Vec<u8>),
    /// Does what is not known, to a watched folder.
    Unknown(String),
    /// Does nothing to a watched folder.
    Nothing,
}
