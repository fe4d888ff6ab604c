//! What is asked for to open files, to execute and to cut them, and by requests to devices.

use super::acts::{Act, Asking};
use super::rights::Right;
use syscall_model::files::{FileKind, Lookup};
use syscall_model::{Led, Reached};

pub(super) const CREATE: u64 = 0o100;
pub(super) const TRUNCATE: u64 = 0o1000;
const DIRECTORY: u64 = libc::O_DIRECTORY as u64;
const ONLY_NAMES: u64 = 0o10_000_000;
const UNNAMED: u64 = 0o20_000_000;

/// Requests that any file takes (`is_masked_device_ioctl()`, security/landlock/fs.c).
const OF_ANY_FILE: [u64; 14] = [
    0x5450,
    0x5451,
    0x5421,
    0x5452,
    0x5460,
    0xc004_5877,
    0xc004_5878,
    0xc020_660b,
    2,
    0x4004_9409,
    0x4020_940d,
    0xc018_9436,
    0x8011_1500,
    0x8081_1501,
];

impl Asking<'_> {
    pub(super) fn opens(&self, place: usize, flags: Option<u64>) -> Vec<Act> {
        let Some(flags) = flags else {
            return vec![self.untold("its flags were not read")];
        };
        // Looked at before Landlock is: the owner (`O_NOATIME`), and who executes it.
        let is_before = matches!(self.error, Some(libc::EPERM | libc::ETXTBSY));
        if flags & ONLY_NAMES != 0 || self.is_over_before() || is_before || self.is_nowhere(place) {
            return Vec::new();
        }
        let anchored = match self.anchored(place) {
            Ok(anchored) => anchored,
            Err(untold) => return vec![untold],
        };
        let mut acts = Vec::new();
        let is_new = anchored.kind.is_none();
        if is_new && flags & CREATE == 0 {
            // Refused, and nothing was there.
            return acts;
        }
        let mut add = |right| acts.push(Act::Path(anchored.nearest().to_vec(), right));
        if is_new {
            add(Right::MakeReg);
        }
        let access = flags & 3;
        let is_unnamed = flags & UNNAMED == UNNAMED;
        let is_folder = anchored.kind == Some(Led::Folder) || flags & DIRECTORY != 0;
        let is_folder = is_folder && !is_unnamed;
        if access == 0 || access == 2 {
            add(match is_folder {
                true => Right::ReadDir,
                false => Right::ReadFile,
            });
        }
        if access == 1 || access == 2 {
            add(Right::WriteFile);
        }
        // Of a device it means nothing.
        if flags & TRUNCATE != 0 && !is_new && !is_device(anchored.nearest()) {
            add(Right::Truncate);
        }
        if access != 0 || flags & TRUNCATE != 0 {
            acts.extend(self.changes(place));
        }
        acts
    }

    /// The name of what an argument led to.
    pub(super) fn name(&self, place: usize) -> Option<Vec<u8>> {
        match self.call.files.reached(place) {
            Reached::Known { names, .. } => Some(names.first()?.to_vec()),
            _ => None,
        }
    }

    pub(super) fn changes(&self, place: usize) -> Option<Act> {
        self.name(place).map(Act::Change)
    }

    pub(super) fn executes(&self, place: usize) -> Vec<Act> {
        if self.has_failed_by_words() || self.is_nowhere(place) {
            return Vec::new();
        }
        // `ENOENT` may be that of an interpreter, when the file is open.
        let anchored = match self.anchored(place) {
            Ok(anchored) => anchored,
            Err(_) if self.is_over_before() => return Vec::new(),
            Err(untold) => return vec![untold],
        };
        if anchored.kind.is_none() {
            return Vec::new();
        }
        let mut acts = executed(anchored.nearest());
        let name = self.name(place).map(Act::Execute);
        if self.has_succeeded() {
            acts.push(name.unwrap_or_else(|| self.untold("its path is not known")));
        } else if self.is_refused() && anchored.kind != Some(Led::Folder) {
            // What it may execute, the rules may refuse beside it.
            acts.push(name.unwrap_or(Act::Refused(self.name, None)));
        }
        acts
    }

    pub(super) fn cuts(&self, place: usize) -> Vec<Act> {
        let is_before = matches!(self.error, Some(libc::EPERM | libc::ETXTBSY));
        match self.is_over_before() || is_before {
            true => Vec::new(),
            false => self.of_file(place, Right::Truncate),
        }
    }

    pub(super) fn of_file(&self, place: usize, right: Right) -> Vec<Act> {
        if self.has_failed_by_words() || self.is_nowhere(place) {
            return Vec::new();
        }
        match self.anchored(place) {
            Ok(anchored) if anchored.kind.is_some() => {
                vec![Act::Path(anchored.nearest().to_vec(), right)]
            }
            Ok(_) => Vec::new(),
            Err(untold) => vec![untold],
        }
    }

    /// Of the file of the first argument. What the program was handed open has all rights.
    pub(super) fn of_open(&self, right: Right) -> Vec<Act> {
        match self.call.files.argument(0) {
            Lookup::Open(file) if matches!(file.kind, FileKind::Path(_) | FileKind::Unnamed(_)) => {
                self.of_file(0, right)
            }
            Lookup::Open(file) if file.kind == FileKind::Unread => self.of_file(0, right),
            Lookup::Open(_) | Lookup::Closed => Vec::new(),
            Lookup::Untracked | Lookup::Unknown if self.has_failed_by_words() => Vec::new(),
            Lookup::Untracked | Lookup::Unknown => {
                vec![self.untold("which file its descriptor refers to is not known")]
            }
        }
    }

    pub(super) fn requests(&self) -> Vec<Act> {
        let request = self.word(1) & 0xffff_ffff;
        if OF_ANY_FILE.contains(&request) {
            return Vec::new();
        }
        let acts = self.of_open(Right::IoctlDev);
        let is_of_device = |act: &Act| match act {
            Act::Path(path, _) => is_device(path),
            _ => true,
        };
        acts.into_iter().filter(is_of_device).collect()
    }
}

/// To execute a file takes its reading as well.
pub(super) fn executed(path: &[u8]) -> Vec<Act> {
    [Right::Execute, Right::ReadFile]
        .map(|right| Act::Path(path.to_vec(), right))
        .into()
}

/// Whether a path is one of a device: those that a run makes elsewhere are found by no request.
fn is_device(path: &[u8]) -> bool {
    path.starts_with(b"/dev/") && !path.starts_with(b"/dev/shm/")
}
