//! Which file a waiting call reaches by a path, by the names that a trace has for it.

use super::aliases::Aliases;
use super::opened::Streams;
use super::present::{Land, Tasks};
use super::resolving::{Start, below_folder, cut, from_root, link};
use crate::host::is_of_procfs;
use crate::sys::gate::{Within, open_place, open_place_itself};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use syscall_model::files::Way;
use syscall_model::{Begins, Reached, Sought, seek};

/// A path of a waiting call, of which it is to be told which file it reaches.
#[derive(Debug)]
pub struct Wanted {
    /// The thread that makes the call.
    pub thread: u32,
    /// Where the path begins.
    pub start: Start,
    /// The path.
    pub path: Vec<u8>,
    /// How the call takes it.
    pub way: Way,
    /// What the workload was started with as standard input, output and error.
    pub streams: Option<Streams>,
    /// The files that have other names.
    pub aliases: Arc<Aliases>,
}

impl Wanted {
    /// Goes the path as the kernel does. What it does for the thread alone, in procfs, and what it
    /// says nothing of, as nothing is there, is gone part by part.
    pub(super) fn reach(&self, is_cached: bool) -> io::Result<Reached> {
        match self.at_once(is_cached) {
            Ok(Some(reached)) => Ok(reached),
            // A file system may have to be asked.
            _ if is_cached => Err(io::Error::from_raw_os_error(libc::EAGAIN)),
            _ => self.walked(),
        }
    }

    /// The same part by part.
    fn walked(&self) -> io::Result<Reached> {
        let (root, from) = (&self.start.root, self.start.folder.as_ref());
        let root_name = link(root.as_fd())?;
        let mut folders = vec![(root_name.clone(), root.try_clone()?)];
        let from_name = from.map(|from| link(from.as_fd())).transpose()?;
        if let (Some(name), Some(from)) = (&from_name, from) {
            folders.push((name.clone(), from.try_clone()?));
        }
        let begins = Begins {
            root: &root_name,
            folder: from_name.as_deref(),
        };
        let (thread, streams) = (self.thread, self.streams);
        let tasks = Tasks {
            thread,
            root,
            streams,
        };
        let land = Box::new(Land(folders));
        let Sought { reached, identity } = seek(land, &tasks, begins, &self.path, self.way);
        Ok(match reached {
            Reached::Known { names, is_led, .. } => {
                let mut names = names.iter().map(|name| name.to_vec()).collect();
                self.aliases.add_of(&mut names, identity);
                known(names, is_led)
            }
            other => other,
        })
    }

    /// The same at one go, where the kernel can tell; `None` where it cannot.
    fn at_once(&self, is_cached: bool) -> io::Result<Option<Reached>> {
        let Way {
            follows,
            is_name,
            no_links,
            ..
        } = self.way;
        let (folder, last) = cut(&self.path);
        if no_links || !is_plain(last) && is_name {
            return Ok(None);
        }
        let open = |path: &[u8], follows| opened(&self.start, path, (follows, is_cached));
        let file = match is_name {
            true => None,
            false => match open(&self.path, follows) {
                Ok(file) => Some(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            },
        };
        if let Some(file) = file {
            let name = link(file.as_fd())?;
            let mut names = vec![name];
            self.aliases.add_of_file(&mut names, file.as_fd());
            return Ok(told_at_once(names));
        }
        if !is_plain(last) {
            return Ok(None);
        }
        if !is_name {
            // A link that leads nowhere leads to what is missing.
            match open(&self.path, false) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                link => return link.map(|_| None),
            }
        }
        let folder = link(open(folder, true)?.as_fd())?;
        let mut names = vec![below_folder(folder, last)];
        self.aliases.add_of(&mut names, None);
        Ok(told_at_once(names))
    }
}

/// Whether a last part is a name in its folder.
pub(super) fn is_plain(last: &[u8]) -> bool {
    !matches!(last, b"" | b"." | b"..")
}

/// What the kernel tells of procfs it tells for whoever asks.
fn told_at_once(names: Vec<Vec<u8>>) -> Option<Reached> {
    let is_one = names.first().is_some_and(|name| is_of_procfs(name));
    (!is_one).then(|| known(names, false))
}

fn known(names: Vec<Vec<u8>>, is_led: bool) -> Reached {
    let names: Vec<Box<[u8]>> = names.into_iter().map(Vec::into_boxed_slice).collect();
    Reached::Known {
        names: names.into(),
        is_led,
        shown: None,
        doubt: None,
    }
}

/// Opens what a path leads to, or the link itself at its end.
pub(super) fn opened(
    start: &Start,
    path: &[u8],
    (follows, is_cached): (bool, bool),
) -> io::Result<OwnedFd> {
    let open = |place: BorrowedFd<'_>, path: &[u8], within| match follows {
        true => open_place(place, path, within, is_cached),
        false => open_place_itself(place, path, within, is_cached),
    };
    let Some(folder) = &start.folder else {
        return open(start.root.as_fd(), path, Within::Root);
    };
    match open(folder.as_fd(), path, Within::Folder) {
        Err(error) if error.raw_os_error() == Some(libc::EXDEV) => {}
        known => return known,
    }
    let whole = from_root(start.root.as_fd(), folder.as_fd(), path, is_cached)?;
    open(start.root.as_fd(), &whole, Within::Root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::fcntl::{OFlag, open};
    use nix::sys::stat::Mode;
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;
    use std::path::Path;

    fn wanted(root: &Path, path: &str, way: Way) -> Wanted {
        let place = || File::from(open(root, OFlag::O_PATH, Mode::empty()).expect("a folder"));
        let start = Start {
            root: place(),
            folder: (!path.starts_with('/')).then(place),
        };
        Wanted {
            thread: nix::unistd::gettid().as_raw() as u32,
            start,
            path: path.into(),
            way,
            streams: None,
            aliases: Arc::default(),
        }
    }

    /// The first name of what a path reaches, below a folder.
    fn first(root: &Path, reached: &Reached) -> String {
        let Some(Ok(names)) = reached.names() else {
            return format!("{reached:?}");
        };
        let first = String::from_utf8_lossy(names.first().map_or(&[], |it| it)).into_owned();
        first.replace(&*root.to_string_lossy(), "")
    }

    #[test]
    fn what_the_kernel_says_of_a_path_is_what_a_walk_says() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("it");
        for folder in ["usr/bin", "etc"] {
            fs::create_dir_all(root.join(folder)).expect("a folder");
        }
        fs::write(root.join("usr/bin/mawk"), "").expect("a file");
        for (link, to) in [
            ("bin", "usr/bin"),
            ("usr/bin/awk", "/etc/awk"),
            ("etc/awk", "/bin/mawk"),
            ("dangling", "bin/none"),
            ("round", "round"),
            ("up", "usr/bin/.."),
        ] {
            symlink(to, root.join(link)).expect("a link");
        }
        let follows = Way {
            follows: true,
            ..Way::default()
        };
        let looks = Way::default();
        let is_name = Way {
            is_name: true,
            ..Way::default()
        };
        for (path, way, name) in [
            ("/bin/awk", follows, "/usr/bin/mawk"),
            ("/bin/awk", looks, "/usr/bin/awk"),
            ("/bin/awk", is_name, "/usr/bin/awk"),
            ("/bin", looks, "/bin"),
            ("/bin/", looks, "/usr/bin"),
            ("/bin/.", looks, "/usr/bin"),
            ("/bin/none", follows, "/usr/bin/none"),
            ("/bin/none", looks, "/usr/bin/none"),
            ("/bin/none/x/", follows, "/usr/bin/none/x"),
            ("/bin/mawk/x", follows, "/usr/bin/mawk/x"),
            ("/bin/mawk/", follows, "/usr/bin/mawk"),
            ("/dangling", follows, "/usr/bin/none"),
            ("/dangling", looks, "/dangling"),
            ("/dangling", is_name, "/dangling"),
            ("/round", follows, "/round"),
            ("/round/x", follows, "/round/x"),
            ("/bin/../none", follows, "/usr/none"),
            ("/up/../none", follows, "/none"),
            ("/up/bin/awk", follows, "/usr/bin/mawk"),
            ("/../../bin/mawk", follows, "/usr/bin/mawk"),
            ("/usr/bin/..", is_name, "/usr"),
            ("bin/awk", looks, "/usr/bin/awk"),
            ("bin/none", is_name, "/usr/bin/none"),
            ("./bin//none", follows, "/usr/bin/none"),
        ] {
            let wanted = wanted(&root, path, way);
            let case = format!("{path} {way:?}");
            if let Ok(Some(at_once)) = wanted.at_once(false) {
                assert_eq!(first(&root, &at_once), name, "at once: {case}");
            }
            let walked = wanted.walked().expect("it is known");
            assert_eq!(first(&root, &walked), name, "part by part: {case}");
        }
    }
}
