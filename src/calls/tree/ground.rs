//! What lay under a name before the run, as far as anyone can tell.

use super::mounts::Sharing;
use std::fmt;
use std::sync::Arc;

/// Which file it is, whatever its name: device and inode.
pub type Identity = (u64, u64);

/// What is found under a path whose folders are no symbolic links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The name does not exist.
    Missing,
    /// A folder.
    Folder(Option<Identity>),
    /// A symbolic link, and what it says.
    Link(Option<Identity>, Box<[u8]>),
    /// Anything else.
    File(Option<Identity>),
    /// The folder that tells of processes, whose links lead to what they have.
    Processes,
    /// It is not known.
    Unknown,
}

/// The files as the workload's first process saw them before it did anything.
pub trait Ground: fmt::Debug + Send {
    /// What lay under an absolute path.
    fn look(&mut self, path: &[u8]) -> Found;

    /// Whether something that is no folder and no link lies under a path that was not known before,
    /// now that the run is over.
    fn is_file(&mut self, path: &[u8]) -> bool {
        let _ = path;
        false
    }

    /// Whether under an absolute path lay a program that the kernel loads by itself, from before
    /// the run on and until now; `false` where that is not known.
    fn is_program(&mut self, path: &[u8]) -> bool {
        let _ = path;
        false
    }

    /// How mounts were shared.
    fn sharing(&self) -> Sharing;

    /// The paths whose files may have other names too: those below a folder that the scenario laid
    /// out, and those that are known elsewhere to have some.
    fn to_survey(&mut self, folder: &[u8]) -> Vec<Vec<u8>> {
        let _ = folder;
        Vec::new()
    }
}

/// Why it is not known which file a call reached; what a person is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its path was not read.
    Unread,
    /// The folder that it starts from is not known.
    Start,
    /// The folder or link of this path could not be looked at.
    Unseen(Arc<[u8]>),
    /// Another thread changed names on its way at the same time.
    Raced,
    /// It has more names than are followed.
    Names,
    /// It succeeded where nothing is known to be.
    Contradiction,
    /// Of a descriptor it is not known what it refers to, or it came by a way that tells no path.
    Descriptor,
    /// What happened to names is not known since this call.
    Lost(&'static str),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unread => f.write_str("its path was not read"),
            Self::Start => f.write_str("the folder that its path starts from is not known"),
            Self::Unseen(path) => {
                write!(f, "what `{}` was is not known", path.escape_ascii())
            }
            Self::Raced => f.write_str("another thread changed names on its way meanwhile"),
            Self::Names => f.write_str("its file has more names than are followed"),
            Self::Contradiction => f.write_str("it reached something where nothing is known to be"),
            Self::Descriptor => f.write_str("which file its descriptor refers to is not known"),
            Self::Lost(call) => write!(f, "`{call}` changed names in a way that was not seen"),
        }
    }
}
