//! Reading what people name.

use crate::errors::chain;
use std::fmt;
use std::fs::{self, File, FileType, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

const MIB: u64 = 1 << 20;

/// How much of a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What the file is, for messages.
    pub what: &'static str,
    /// So many mebibytes at most.
    pub mebibytes: u64,
}

/// The bound of a scenario.
pub const SCENARIO: Bound = Bound::new("a scenario", 1);
/// Of a policy for seccomp; those of large suites have some 100 KiB.
pub const POLICY: Bound = Bound::new("a policy", 16);
/// Of a list of kernels.
pub const KERNELS: Bound = Bound::new("a list of kernels", 1);
/// The bound of a snapshot.
pub const SNAPSHOT: Bound = Bound::new("a snapshot", 64);
/// Of a file that is laid into a sandbox.
pub const LAID: Bound = Bound::new("a file for the sandbox", 1024);
/// Of a trace as text.
pub const TRACE: Bound = Bound::new("a trace", 1024);
/// Of a program or library that a probe is put into.
pub const PROGRAM: Bound = Bound::new("a program", 4096);
/// Of what a runtime says of the functions that it has compiled.
pub const FUNCTIONS: Bound = Bound::new("a list of functions", 256);
/// Of the formats of a kernel's events.
pub const EVENTS: Bound = Bound::new("a list of events", 256);

impl Bound {
    const fn new(what: &'static str, mebibytes: u64) -> Self {
        Self { what, mebibytes }
    }

    const fn bytes(self) -> u64 {
        self.mebibytes * MIB
    }
}

/// What a file is that is no regular one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A folder.
    Folder,
    /// A FIFO or a pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character device.
    Character,
    /// A block device.
    Block,
    /// What this version does not know.
    Unknown,
}

impl Kind {
    fn of(kind: FileType) -> Option<Self> {
        Some(match kind {
            _ if kind.is_file() => return None,
            _ if kind.is_dir() => Self::Folder,
            _ if kind.is_fifo() => Self::Fifo,
            _ if kind.is_socket() => Self::Socket,
            _ if kind.is_char_device() => Self::Character,
            _ if kind.is_block_device() => Self::Block,
            _ => Self::Unknown,
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Folder => "a folder",
            Self::Fifo => "a pipe",
            Self::Socket => "a socket",
            Self::Character => "a character device",
            Self::Block => "a block device",
            Self::Unknown => "of a kind that is not known",
        })
    }
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// It is no regular file, and is not waited for.
    #[error("it is {0}, not a regular file")]
    Kind(Kind),
    /// It is longer than the bound.
    #[error("it is too long: {} has at most {} MiB", .0.what, .0.mebibytes)]
    Long(Bound),
    /// It is no text.
    #[error("it is not UTF-8 text")]
    NotText(#[source] std::string::FromUtf8Error),
    /// What the system says.
    #[error("{}", chain(.0))]
    System(io::Error),
}

impl From<io::Error> for InputError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl From<InputError> for io::Error {
    fn from(error: InputError) -> Self {
        match error {
            InputError::System(error) => error,
            InputError::NotText(_) => Self::new(io::ErrorKind::InvalidData, error),
            InputError::Kind(_) | InputError::Long(_) => {
                Self::new(io::ErrorKind::InvalidInput, error)
            }
        }
    }
}

/// Opens a regular file, and nothing else: the mere opening of a FIFO would wake its writer, and
/// that of a tape would rewind it.
///
/// # Errors
/// [`InputError::Kind`], [`InputError::System`].
pub fn open(path: &Path) -> Result<File, InputError> {
    regular(&fs::metadata(path)?)?;
    // What was looked at may be another by now; it is not waited for either.
    let mut options = File::options();
    options.read(true);
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = options.open(path)?;
    regular(&file.metadata()?)?;
    Ok(file)
}

/// Opens a regular file, or a pipe, which is waited for: for those that may be streams by design.
///
/// # Errors
/// [`InputError::Kind`] for all else, [`InputError::System`].
pub fn open_stream(path: &Path) -> Result<File, InputError> {
    match Kind::of(fs::metadata(path)?.file_type()) {
        Some(Kind::Fifo) => Ok(File::open(path)?),
        _ => open(path),
    }
}

/// Looks whether a file is a regular one of a length within the bound, without opening it.
///
/// # Errors
/// [`InputError`].
pub fn look(path: &Path, bound: Bound) -> Result<(), InputError> {
    let metadata = fs::metadata(path)?;
    regular(&metadata)?;
    match metadata.len() > bound.bytes() {
        true => Err(InputError::Long(bound)),
        false => Ok(()),
    }
}

/// Reads a regular file.
///
/// # Errors
/// [`InputError`].
pub fn read(path: &Path, bound: Bound) -> Result<Vec<u8>, InputError> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    bounded(file, length, bound)
}

/// Reads a regular file of text.
///
/// # Errors
/// [`InputError`].
pub fn text(path: &Path, bound: Bound) -> Result<String, InputError> {
    String::from_utf8(read(path, bound)?).map_err(InputError::NotText)
}

impl Bound {
    /// Reads to the end of what may be a stream.
    ///
    /// # Errors
    /// [`InputError::Long`], [`InputError::System`].
    pub fn read(self, from: impl Read) -> Result<Vec<u8>, InputError> {
        bounded(from, 0, self)
    }
}

fn bounded(from: impl Read, length: u64, bound: Bound) -> Result<Vec<u8>, InputError> {
    if length > bound.bytes() {
        return Err(InputError::Long(bound));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    from.take(bound.bytes() + 1).read_to_end(&mut bytes)?;
    // A file of procfs, or one that grows, has more than its length says.
    match bytes.len() as u64 > bound.bytes() {
        true => Err(InputError::Long(bound)),
        false => Ok(bytes),
    }
}

fn regular(metadata: &Metadata) -> Result<(), InputError> {
    Kind::of(metadata.file_type()).map_or(Ok(()), |kind| Err(InputError::Kind(kind)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::stat::Mode;
    use std::os::unix::net::UnixListener;

    fn refused(path: &Path) -> String {
        let error = read(path, SCENARIO).unwrap_err();
        assert!(look(path, SCENARIO).is_err());
        chain(&io::Error::from(error))
    }

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        nix::unistd::mkfifo(&at("fifo"), Mode::S_IRWXU).unwrap();
        let _listener = UnixListener::bind(at("socket")).unwrap();
        std::os::unix::fs::symlink("fifo", at("link")).unwrap();
        assert_eq!(refused(&at("fifo")), "it is a pipe, not a regular file");
        assert_eq!(refused(&at("link")), "it is a pipe, not a regular file");
        assert_eq!(refused(&at("socket")), "it is a socket, not a regular file");
        assert_eq!(refused(folder.path()), "it is a folder, not a regular file");
        for device in ["/dev/zero", "/dev/null"] {
            assert_eq!(
                refused(Path::new(device)),
                "it is a character device, not a regular file"
            );
        }
        assert_eq!(refused(&at("none")), "no such file or directory");
        assert!(open_stream(Path::new("/dev/zero")).is_err());
    }

    #[test]
    fn a_bound_says_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("long");
        let file = File::create(&long).unwrap();
        file.set_len(SCENARIO.bytes()).unwrap();
        assert_eq!(read(&long, SCENARIO).unwrap().len(), 1 << 20);
        file.set_len(SCENARIO.bytes() + 1).unwrap();
        assert_eq!(
            refused(&long),
            "it is too long: a scenario has at most 1 MiB"
        );
        // One whose length does not say how long it is.
        let endless = SCENARIO.read(io::repeat(0)).unwrap_err();
        assert!(matches!(endless, InputError::Long(SCENARIO)));
        std::fs::write(&long, [0xff]).unwrap();
        assert!(matches!(text(&long, SCENARIO), Err(InputError::NotText(_))));
    }
}
