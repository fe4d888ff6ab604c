//! What a run left in its working directory.
//!
//! The tree is the workload's work and may be meant to harm: so nothing in it is followed, and
//! nothing is opened but folders and regular files. Each is opened by its path below the directory
//! with `openat2(2)`, which passes through no link and crosses no mount (what is mounted there may
//! never answer). How much is looked at has bounds; what lies beyond them is said to be unseen.

use super::holes::{Parts, held};
use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, open, openat2, readlinkat};
use nix::sys::stat::{Mode, SFlag, fstat};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// What a name in a directory may lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

impl FileType {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::File,
        Self::Directory,
        Self::Symlink,
        Self::Fifo,
        Self::Socket,
        Self::Device,
    ];

    /// The field's word for it, as `find -type` is documented with.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Symlink => "symlink",
            Self::Fifo => "fifo",
            Self::Socket => "socket",
            Self::Device => "device",
        }
    }
}

/// So many names are looked at.
const MOST_NAMES: usize = 100_000;
/// So much of a file is read, in bytes.
const MOST_OF_A_FILE: u64 = 16 << 20;
/// So much of all files together.
const MOST_OF_ALL: u64 = 64 << 20;

/// How many bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Of each file.
    pub of_a_file: u64,
    /// Of all files together.
    pub of_all: u64,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            of_a_file: MOST_OF_A_FILE,
            of_all: MOST_OF_ALL,
        }
    }
}

impl Room {
    /// Room for files of these sizes at least.
    #[must_use]
    pub fn for_files(sizes: impl IntoIterator<Item = u64>) -> Self {
        let mut room = Self::default();
        let mut all: u64 = 0;
        for size in sizes {
            room.of_a_file = room.of_a_file.max(size);
            all = all.saturating_add(size);
        }
        room.of_all = room.of_all.max(all);
        room
    }
}

/// What there is below the working directory. Paths are relative to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// What was found.
    pub files: BTreeMap<Vec<u8>, LeftFile>,
    /// What was not looked into and why: the path of a folder, which is empty for the working
    /// directory itself, or of what may be one.
    pub unseen: BTreeMap<Vec<u8>, String>,
}

/// What a name leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftFile {
    /// What it is.
    pub kind: FileType,
    /// Its permission bits.
    pub mode: u32,
    /// Its size in bytes.
    pub size: u64,
    /// Of a symbolic link what it says.
    pub target: Vec<u8>,
    /// Of a regular file what it holds, where that was asked for.
    pub content: LeftContent,
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LeftContent {
    /// It was not read, as the plan did not ask for it.
    #[default]
    NotAskedFor,
    /// All of it.
    Whole(Vec<u8>),
    /// What lies in no hole of a file that is too long to be read with its holes.
    Parts(Parts),
    /// Its first bytes, as it is too long to be read.
    Start(Vec<u8>),
    /// It could not be read; why.
    Unread(String),
}

impl LeftContent {
    /// The bytes of the file that were read, run by run.
    #[must_use]
    pub fn runs(&self) -> Vec<&[u8]> {
        match self {
            Self::NotAskedFor | Self::Unread(_) => Vec::new(),
            Self::Whole(bytes) | Self::Start(bytes) => vec![bytes],
            Self::Parts(parts) => parts.iter().map(|(_, bytes)| bytes.as_slice()).collect(),
        }
    }
}

impl Left {
    /// Looks at what is below a directory, and reads the regular files that `is_read` says of their
    /// paths. The directory may be gone: then there is nothing in it.
    #[must_use]
    pub fn below(directory: &Path, is_read: &dyn Fn(&[u8]) -> bool) -> Self {
        Self::below_with(directory, is_read, Room::default())
    }

    /// The same with room of a caller's own.
    #[must_use]
    pub fn below_with(directory: &Path, is_read: &dyn Fn(&[u8]) -> bool, room: Room) -> Self {
        Self::within(directory, is_read, (MOST_NAMES, room))
    }

    fn within(
        directory: &Path,
        is_read: &dyn Fn(&[u8]) -> bool,
        (most_names, room): (usize, Room),
    ) -> Self {
        let mut left = Self::default();
        let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let root = match open(directory, flags, Mode::empty()) {
            Ok(root) => root,
            Err(Errno::ENOENT) => return left,
            Err(error) => {
                left.unseen.insert(Vec::new(), said(error));
                return left;
            }
        };
        let mut looker = Looker {
            root: root.as_fd(),
            is_read,
            budget: room.of_all,
            of_a_file: room.of_a_file,
            names: most_names,
            left,
        };
        looker.look();
        looker.left
    }

    /// Why it is not known whether there is something of this path.
    #[must_use]
    pub fn hides(&self, path: &[u8]) -> Option<&str> {
        let is_below = |folder: &[u8]| {
            let rest = path.strip_prefix(folder);
            rest.is_some_and(|rest| folder.is_empty() || matches!(rest.first(), None | Some(b'/')))
        };
        let mut unseen = self.unseen.iter();
        unseen.find_map(|(folder, why)| is_below(folder).then_some(why.as_str()))
    }
}

struct Looker<'a> {
    root: BorrowedFd<'a>,
    is_read: &'a dyn Fn(&[u8]) -> bool,
    /// How many bytes may still be read.
    budget: u64,
    /// How many bytes of one file are.
    of_a_file: u64,
    /// How many names may still be looked at.
    names: usize,
    left: Left,
}

impl Looker<'_> {
    /// The folders above before those below, so that what is deep goes unseen first.
    fn look(&mut self) {
        let mut folders = VecDeque::from([Vec::new()]);
        while let Some(folder) = folders.pop_front() {
            if let Err(why) = self.list(&folder, &mut folders) {
                self.left.unseen.insert(folder, why);
            }
        }
    }

    fn list(&mut self, folder: &[u8], folders: &mut VecDeque<Vec<u8>>) -> Result<(), String> {
        let path = if folder.is_empty() { b"." } else { folder };
        let opened = self.open(path, OFlag::O_RDONLY | OFlag::O_DIRECTORY);
        let mut entries = opened.and_then(Dir::from_fd).map_err(said)?;
        for entry in entries.iter() {
            let entry = entry.map_err(said)?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            self.names = self
                .names
                .checked_sub(1)
                .ok_or("there are too many names")?;
            let path = match folder {
                [] => name.to_owned(),
                _ => [folder, b"/", name].concat(),
            };
            match self.file(&path) {
                Ok(file) => {
                    if file.kind == FileType::Directory {
                        folders.push_back(path.clone());
                    }
                    self.left.files.insert(path, file);
                }
                // Another process of the bare host has removed it.
                Err(Errno::ENOENT) => {}
                Err(error) => {
                    self.left.unseen.insert(path, said(error));
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &[u8]) -> nix::Result<LeftFile> {
        let opened = self.open(path, OFlag::O_PATH)?;
        let status = fstat(&opened)?;
        let kind = match SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT {
            SFlag::S_IFREG => FileType::File,
            SFlag::S_IFDIR => FileType::Directory,
            SFlag::S_IFLNK => FileType::Symlink,
            SFlag::S_IFIFO => FileType::Fifo,
            SFlag::S_IFSOCK => FileType::Socket,
            _ => FileType::Device,
        };
        let target = match kind {
            FileType::Symlink => readlinkat(&opened, "")?.into_vec(),
            _ => Vec::new(),
        };
        let content = match kind {
            FileType::File if (self.is_read)(path) => self.content(path),
            _ => LeftContent::NotAskedFor,
        };
        Ok(LeftFile {
            kind,
            mode: status.st_mode & 0o7777,
            size: u64::try_from(status.st_size).unwrap_or(0),
            target,
            content,
        })
    }

    fn content(&mut self, path: &[u8]) -> LeftContent {
        let most = self.budget.min(self.of_a_file);
        let mut bytes = Vec::new();
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        let read = self.open(path, flags).map_err(io::Error::from);
        let read = read.map(File::from).and_then(|mut file| {
            if file.metadata()?.len() > most
                && let Some(parts) = held(&file, most)?
            {
                return Ok(LeftContent::Parts(parts));
            }
            file.rewind()?;
            // One more than there is room for tells that there is more.
            let length = file.take(most + 1).read_to_end(&mut bytes)?;
            if length as u64 > most {
                bytes.truncate(most as usize);
                return Ok(LeftContent::Start(bytes));
            }
            Ok(LeftContent::Whole(bytes))
        });
        let content = read.unwrap_or_else(|error| {
            LeftContent::Unread(said(Errno::from_raw(error.raw_os_error().unwrap_or(0))))
        });
        let read: usize = content.runs().iter().map(|bytes| bytes.len()).sum();
        self.budget -= read as u64;
        content
    }

    fn open(&self, path: &[u8], flags: OFlag) -> nix::Result<OwnedFd> {
        let resolve = ResolveFlag::RESOLVE_BENEATH
            | ResolveFlag::RESOLVE_NO_SYMLINKS
            | ResolveFlag::RESOLVE_NO_XDEV;
        let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let how = OpenHow::new().flags(flags).resolve(resolve);
        openat2(self.root, path, how)
    }
}

fn said(error: Errno) -> String {
    match error {
        Errno::EXDEV => "another file system is mounted there".to_owned(),
        Errno::ENAMETOOLONG => "its path is too long".to_owned(),
        _ => error.desc().to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::stat::{makedev, mknod};
    use nix::unistd::mkfifo;
    use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    fn look(directory: &Path) -> Left {
        Left::below(directory, &|_| true)
    }

    fn whole(left: &Left, path: &str) -> Vec<u8> {
        match &left.files[path.as_bytes()].content {
            LeftContent::Whole(bytes) => bytes.clone(),
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn each_kind_of_file_is_told_and_none_is_followed_or_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("a/b")).unwrap();
        std::fs::write(at("a/b/file"), "text").unwrap();
        std::fs::set_permissions(at("a/b/file"), PermissionsExt::from_mode(0o4751)).unwrap();
        symlink("/etc", at("out")).unwrap();
        symlink("loop", at("loop")).unwrap();
        mkfifo(&at("pipe"), Mode::S_IRUSR).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        if nix::unistd::geteuid().is_root() {
            mknod(&at("null"), SFlag::S_IFCHR, Mode::S_IRUSR, makedev(1, 3)).unwrap();
            assert_eq!(
                look(dir.path()).files[b"null".as_slice()].kind,
                FileType::Device
            );
            std::fs::remove_file(at("null")).unwrap();
        }
        let left = look(dir.path());
        let kinds: Vec<(String, FileType)> = left
            .files
            .iter()
            .map(|(path, file)| (String::from_utf8(path.clone()).unwrap(), file.kind))
            .collect();
        let expected = [
            ("a", FileType::Directory),
            ("a/b", FileType::Directory),
            ("a/b/file", FileType::File),
            ("loop", FileType::Symlink),
            ("out", FileType::Symlink),
            ("pipe", FileType::Fifo),
            ("socket", FileType::Socket),
        ];
        assert_eq!(kinds, expected.map(|(path, kind)| (path.to_owned(), kind)));
        let file = &left.files[b"a/b/file".as_slice()];
        assert_eq!((file.mode, file.size), (0o4751, 4));
        assert_eq!(whole(&left, "a/b/file"), b"text");
        assert_eq!(left.files[b"out".as_slice()].target, b"/etc");
        assert!(left.unseen.is_empty(), "{:?}", left.unseen);
    }

    #[test]
    fn a_link_in_place_of_the_directory_is_not_followed_and_one_that_is_gone_is_empty() {
        let dir = tempfile::tempdir().unwrap();
        symlink("/", dir.path().join("link")).unwrap();
        let left = look(&dir.path().join("link"));
        assert!(left.files.is_empty());
        assert!(left.hides(b"etc").is_some());
        assert_eq!(look(&dir.path().join("gone")), Left::default());
    }

    #[test]
    fn a_tree_deeper_than_any_path_has_an_end_that_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let mut place = open(dir.path(), OFlag::O_DIRECTORY, Mode::empty()).unwrap();
        let name = "d".repeat(200);
        for _ in 0..30 {
            nix::sys::stat::mkdirat(&place, name.as_str(), Mode::S_IRWXU).unwrap();
            let flags = OFlag::O_DIRECTORY;
            place = nix::fcntl::openat(&place, name.as_str(), flags, Mode::empty()).unwrap();
        }
        let left = look(dir.path());
        assert_eq!(left.files.len(), 20);
        let (deep, why) = left.unseen.first_key_value().unwrap();
        assert_eq!(
            (deep.len(), why.as_str()),
            (21 * 201 - 1, "its path is too long")
        );
        assert!(left.hides(&[deep, b"/x".as_slice()].concat()).is_some());
        assert_eq!(left.hides(b"other"), None);
        crate::sandbox::base::remove_tree(dir.path()).unwrap();
    }

    #[test]
    fn what_is_too_long_or_too_many_is_said_to_be() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        let sparse = File::create(dir.path().join("sparse")).unwrap();
        sparse.set_len(1 << 40).unwrap();
        sparse.write_all_at(b"far", 1 << 39).unwrap();
        let left = look(dir.path());
        let file = &left.files[b"sparse".as_slice()];
        assert_eq!(file.size, 1 << 40);
        let LeftContent::Parts(parts) = &file.content else {
            panic!("{:?}", left.files);
        };
        let mut bytes = parts.iter().flat_map(|(at, bytes)| (*at..).zip(bytes));
        assert_eq!(bytes.find(|(_, byte)| **byte != 0), Some((1 << 39, &b'f')));
        let room = Room {
            of_a_file: 2,
            of_all: 9,
        };
        let little = Left::within(dir.path(), &|_| true, (9, room));
        let content = &little.files[b"sparse".as_slice()].content;
        assert_eq!(*content, LeftContent::Start(vec![0; 2]));
        let few = Left::within(dir.path(), &|_| false, (2, Room::default()));
        assert_eq!(few.files.len(), 2);
        assert_eq!(few.hides(b"anything"), Some("there are too many names"));
    }
}
