//! Writes a series of files: each gets its name when it is whole, and never replaces another.

use nix::fcntl::{RenameFlags, renameat2};
use perf_live::sys;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How many names may be taken before giving up.
const MOST_TAKEN: u32 = 1000;

/// The files of one session: `PATH.YYYYmmddHHMMSSnnnnnnnnn`, in local time.
#[derive(Debug)]
pub struct Dumps {
    path: PathBuf,
    /// How many files are kept; `None` for all.
    most: Option<usize>,
    kept: VecDeque<PathBuf>,
}

/// A file that is being written, in its final folder. Dropping it removes the file unless it was
/// [kept](Dumps::keep).
#[derive(Debug)]
pub struct Unnamed {
    path: PathBuf,
    is_kept: bool,
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        if !self.is_kept {
            // The writer reports its own error; a second complaint would not help.
            let _gone = fs::remove_file(&self.path);
        }
    }
}

impl Dumps {
    /// Files beside this path, whose names begin with its own.
    #[must_use]
    pub fn new(path: &Path, most: Option<usize>) -> Self {
        Self {
            path: path.to_owned(),
            most,
            kept: VecDeque::new(),
        }
    }

    /// Opens the next file, under a name that no reader takes for a recording's.
    ///
    /// # Errors
    /// Those of `open(2)`.
    pub fn begin(&self) -> io::Result<(Unnamed, File)> {
        let path = self.beside(&format!("part.{}", std::process::id()));
        // A killed process of the same id may have left one. A link's target is never removed.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // As perf does: other users may not read what was recorded.
        let mut options = File::options();
        options.write(true).create_new(true).mode(0o600);
        let file = options.open(&path)?;
        let is_kept = false;
        Ok((Unnamed { path, is_kept }, file))
    }

    /// Names a whole file by this moment, or by the next nanosecond whose name is free.
    ///
    /// # Errors
    /// Those of `rename(2)`; the file is gone then.
    pub fn keep(&mut self, mut part: Unnamed, moment: SystemTime) -> io::Result<&Path> {
        let mut since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
        for _ in 0..MOST_TAKEN {
            let path = self.beside(&stamp(since)?);
            match rename_to_new(&part.path, &path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    since = since.saturating_add(Duration::from_nanos(1));
                }
                Err(error) => return Err(error),
                Ok(()) => {
                    part.is_kept = true;
                    self.kept.push_back(path);
                    break;
                }
            }
        }
        match self.kept.back() {
            Some(path) if part.is_kept => Ok(path),
            _ => Err(io::ErrorKind::AlreadyExists.into()),
        }
    }

    /// Removes the oldest files of the session while there are more than are kept.
    ///
    /// # Errors
    /// The first error of `unlink(2)`; that file stays.
    pub fn trim(&mut self) -> io::Result<()> {
        let mut first = Ok(());
        while self.most.is_some_and(|most| self.kept.len() > most) {
            let removed = self.kept.pop_front().map_or(Ok(()), fs::remove_file);
            match removed {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => first = first.and(removed),
            }
        }
        first
    }

    fn beside(&self, end: &str) -> PathBuf {
        let mut name = OsString::from(self.path.file_name().unwrap_or(OsStr::new("perf.data")));
        name.push(".");
        name.push(end);
        self.path.with_file_name(name)
    }
}

fn stamp(since: Duration) -> io::Result<String> {
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    let sys::LocalTime {
        year,
        month,
        day,
        hour,
        minute,
        second,
    } = sys::local_time(seconds)?;
    let nanoseconds = since.subsec_nanos();
    Ok(format!(
        "{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}{nanoseconds:09}"
    ))
}

/// Renames without replacing; uses a link where the file system has no such rename (`EINVAL`).
fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    let here = nix::fcntl::AT_FDCWD;
    match renameat2(here, from, here, to, RenameFlags::RENAME_NOREPLACE) {
        Err(nix::Error::EINVAL | nix::Error::ENOSYS) => {
            fs::hard_link(from, to)?;
            fs::remove_file(from)
        }
        renamed => Ok(renamed?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn write(dumps: &mut Dumps, text: &str, moment: SystemTime) -> PathBuf {
        let (part, mut file) = dumps.begin().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        dumps.keep(part, moment).unwrap().to_owned()
    }

    #[test]
    fn two_of_one_moment_are_two_files_and_no_other_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let mut dumps = Dumps::new(&folder.path().join("x.data"), None);
        let moment = UNIX_EPOCH + Duration::new(1_468_485_456, 999_999_999);
        let first = write(&mut dumps, "first", moment);
        // The files of another recorder with the same path.
        let mut others = Dumps::new(&folder.path().join("x.data"), None);
        let second = write(&mut others, "second", moment);
        let third = write(&mut dumps, "third", moment);
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        assert_eq!(
            [read(&first), read(&second), read(&third)],
            ["first", "second", "third"]
        );
        let all = names(folder.path());
        assert_eq!(all.len(), 3, "{all:?}");
        // Zones are off by whole minutes.
        assert!(all[0].ends_with("36999999999"), "{all:?}");
        assert!(all[1].ends_with("37000000000"), "{all:?}");
        assert!(all[0].starts_with("x.data.2016071"), "{all:?}");
        assert_eq!(all[0].len(), "x.data.".len() + 14 + 9);
    }

    #[test]
    fn what_is_not_kept_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let dumps = Dumps::new(&folder.path().join("x"), None);
        let (part, mut file) = dumps.begin().unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(names(folder.path()).len(), 1);
        drop(part);
        assert_eq!(names(folder.path()).len(), 0);
    }

    #[test]
    fn a_link_that_lies_in_the_way_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let dumps = Dumps::new(&folder.path().join("x"), None);
        let (part, _) = dumps.begin().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        fs::remove_file(&part.path).unwrap();
        std::os::unix::fs::symlink(&victim, &part.path).unwrap();
        let (_part, mut file) = dumps.begin().unwrap();
        file.write_all(b"dump").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    }

    #[test]
    fn the_oldest_of_the_session_go_and_those_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let mut earlier = Dumps::new(&path, None);
        let old = write(
            &mut earlier,
            "old",
            UNIX_EPOCH + Duration::from_secs(86_400),
        );
        let mut dumps = Dumps::new(&path, Some(2));
        let mut made = Vec::new();
        for second in 1..=4 {
            let moment = UNIX_EPOCH + Duration::from_secs(200_000 + second);
            made.push(write(&mut dumps, "new", moment));
            dumps.trim().unwrap();
        }
        let there: Vec<_> = made.iter().map(|path| path.exists()).collect();
        assert_eq!(there, [false, false, true, true]);
        assert!(old.exists());
    }
}
