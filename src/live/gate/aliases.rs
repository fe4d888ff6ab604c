//! The other names of files that a scenario writes out: those that were there before the run.

use crate::sys::gate::{Within, open_place_itself};
use crate::sys::inode::{self, Inode};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use syscall_model::{Alias, Identity};

/// Files that have more names than the one at which they lie.
#[derive(Debug, Default)]
pub struct Aliases {
    all: Vec<Known>,
    /// That of the run's first process.
    root: Option<File>,
}

#[derive(Debug)]
struct Known {
    alias: Alias,
    mark: Mark,
}

/// What tells a file from a later one with the number of its inode.
#[derive(Debug, PartialEq, Eq)]
enum Mark {
    /// Its handle, which no later file of its file system has.
    Handle(Vec<u8>),
    /// Nothing: its file system has no handles, or would have to be asked where it lies.
    Number,
    /// It did not lie at its place any more when that was looked at.
    Gone,
}

impl Aliases {
    /// Those that were there before a run, whose first process has this root.
    #[must_use]
    pub fn of(aliases: Vec<Alias>, root: Option<File>) -> Self {
        let known = |alias: Alias| Known {
            mark: mark(root.as_ref(), &alias),
            alias,
        };
        let all = aliases.into_iter().map(known).collect();
        Self { all, root }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds to the names of a file the others that it has: `place` are the names at which it lies,
    /// and `is_own` says whether an alias is of the file itself.
    fn add(&self, names: &mut Vec<Vec<u8>>, is_own: &dyn Fn(&Known) -> bool) {
        let mut more = Vec::new();
        for known in &self.all {
            let Alias { name, place, .. } = &known.alias;
            if is_own(known) {
                more.push(name.to_vec());
            }
            if !known.alias.is_folder || name == place {
                continue;
            }
            for own in names.iter() {
                let inner = own.strip_prefix(place.strip_suffix(b"/").unwrap_or(place));
                if let Some(inner) = inner.filter(|inner| inner.starts_with(b"/")) {
                    let name = name.strip_suffix(b"/").unwrap_or(name);
                    more.push([name, inner].concat());
                }
            }
        }
        for name in more {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }

    /// Adds to the names of an open file the others that it has.
    pub fn add_of_file(&self, names: &mut Vec<Vec<u8>>, file: BorrowedFd<'_>) {
        if self.is_empty() {
            return;
        }
        let inode = inode::of(file).ok();
        let is_own = |known: &Known| {
            let is_it = inode.is_some_and(|it| Some(identity(&it)) == known.alias.identity);
            // An inode's number may be another file's by now.
            is_it
                && match (&known.mark, inode::handle_of(file)) {
                    (Mark::Handle(handle), Ok(Some(now))) => *handle == now,
                    (Mark::Number, _) => true,
                    _ => false,
                }
        };
        self.add(names, &is_own);
    }

    /// The same of a file that is told by its inode, and of one that is not told.
    pub(super) fn add_of(&self, names: &mut Vec<Vec<u8>>, file: Option<Identity>) {
        self.add(names, &|known| {
            let is_it = file.is_some() && file == known.alias.identity;
            // The number is this file's for as long as it lies there.
            is_it
                && known.mark != Mark::Gone
                && known.mark == mark(self.root.as_ref(), &known.alias)
        });
    }
}

/// An inode as the model has it: `st_dev` and `st_ino`.
pub(super) fn identity(inode: &Inode) -> Identity {
    let (major, minor) = inode.device;
    (libc::makedev(major, minor), inode.number)
}

/// The mark of an alias' file. Without a root no file is looked at.
fn mark(root: Option<&File>, alias: &Alias) -> Mark {
    let Some(root) = root else {
        return Mark::Number;
    };
    // No file system is asked, which the workload itself may serve by now; before Linux 5.12 it
    // cannot be left out.
    let open = |is_cached| open_place_itself(root.as_fd(), &alias.place, Within::Root, is_cached);
    let file = match open(true) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => open(false),
        file => file,
    };
    let found = file.and_then(|file| Ok((inode::of(file.as_fd())?, file)));
    let (inode, file) = match found {
        Ok(found) => found,
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => return Mark::Number,
        Err(_) => return Mark::Gone,
    };
    match inode::handle_of(file.as_fd()) {
        _ if Some(identity(&inode)) != alias.identity => Mark::Gone,
        Ok(Some(handle)) => Mark::Handle(handle),
        Ok(None) => Mark::Number,
        Err(_) => Mark::Gone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alias(name: &str, place: &str, number: u64, is_folder: bool) -> Alias {
        Alias {
            name: name.as_bytes().into(),
            place: place.as_bytes().into(),
            identity: Some((1, number)),
            is_folder,
        }
    }

    #[test]
    fn a_file_has_the_names_that_lead_to_it_and_those_of_the_folders_above_it() {
        let aliases = Aliases::of(
            vec![
                alias("/usr/bin/awk", "/usr/bin/mawk", 7, false),
                alias("/bin", "/usr/bin", 3, true),
                alias("/here", "/", 2, true),
                alias("/usr/bin", "/usr/bin", 3, true),
            ],
            None,
        );
        let names = |place: &str, number: Option<u64>| {
            let mut names = vec![place.as_bytes().to_vec()];
            aliases.add_of(&mut names, number.map(|number| (1, number)));
            let text = names.into_iter().map(|it| String::from_utf8(it).unwrap());
            text.collect::<Vec<String>>()
        };
        let all = [
            "/usr/bin/mawk",
            "/usr/bin/awk",
            "/bin/mawk",
            "/here/usr/bin/mawk",
        ];
        assert_eq!(names("/usr/bin/mawk", Some(7)), all);
        let others = ["/usr/bin/new", "/bin/new", "/here/usr/bin/new"];
        assert_eq!(names("/usr/bin/new", None), others);
        assert_eq!(
            names("/usr/binary", None),
            ["/usr/binary", "/here/usr/binary"]
        );
        // Under another name it is the same file.
        assert_eq!(
            names("/moved", Some(7)),
            ["/moved", "/usr/bin/awk", "/here/moved"]
        );
    }
}
