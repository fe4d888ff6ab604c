//! Where a path of a waiting call leads, in the world of its task.

use super::reaching::Wanted;
use crate::host::Host;
use crate::sys::gate::{Within, open_place};
use crate::sys::{inode, poll, thread};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use syscall_model::Reached;

// How often it is looked whether the run has ended, while a file system lets it wait.
const TICK: Duration = Duration::from_millis(20);

/// Looks paths up. A file system may let a look-up wait, for ever where the workload itself serves
/// it and is held: such a look-up is waited for as long as the run goes on, and no longer.
#[derive(Debug)]
pub struct Paths {
    /// Hung up when the run has ended.
    stop: UnixStream,
    /// The thread that asks file systems, while there is one.
    asker: Option<Asker>,
}

/// Where the paths of a task begin.
#[derive(Debug)]
pub struct Start {
    /// Its root.
    pub(super) root: File,
    /// The folder of a path that does not begin with `/`; `None` for one that does.
    pub(super) folder: Option<File>,
}

impl Start {
    /// The name of its root, in its mount namespace.
    ///
    /// # Errors
    /// Those of `readlink(2)`.
    pub fn root_name(&self) -> io::Result<Vec<u8>> {
        link(self.root.as_fd())
    }

    /// Where a path of a thread begins: in a folder of it, by number or `AT_FDCWD`, or in its root.
    ///
    /// # Errors
    /// Those of `open(2)`: the folder is not open, or the thread is gone.
    pub fn of(host: &Host, thread: u32, folder: i32, path: &[u8]) -> io::Result<Self> {
        Ok(Self {
            root: host.root_of(thread)?,
            folder: match path.starts_with(b"/") {
                true => None,
                false => Some(host.folder_of(thread, folder)?),
            },
        })
    }

    /// Where every path of a thread begins for which its folder is the root (`RESOLVE_IN_ROOT`).
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn in_folder(host: &Host, thread: u32, folder: i32) -> io::Result<Self> {
        Ok(Self {
            root: host.folder_of(thread, folder)?,
            folder: None,
        })
    }
}

/// What is to be looked up.
#[derive(Debug)]
enum Job {
    /// The name of what a path leads to.
    Name(Start, Vec<u8>),
    /// The names of the file that a call reaches.
    Reach(Wanted),
}

#[derive(Debug)]
enum Told {
    Name(Vec<u8>),
    Reached(Reached),
}

impl Job {
    fn tell(&self, is_cached: bool) -> io::Result<Told> {
        match self {
            Self::Name(start, path) => look_up(start, path, is_cached).map(Told::Name),
            Self::Reach(wanted) => wanted.reach(is_cached).map(Told::Reached),
        }
    }
}

/// A thread that looks up what it is sent.
#[derive(Debug)]
struct Asker {
    jobs: Sender<Job>,
    answers: Receiver<io::Result<Told>>,
}

impl Paths {
    /// Looks paths up until the other end of `stop` is closed.
    #[must_use]
    pub fn new(stop: UnixStream) -> Self {
        Self { stop, asker: None }
    }

    /// The name of the file that a path leads to, as its mount namespace has it; its last part may
    /// be missing, and then its folder must be there.
    ///
    /// # Errors
    /// `NotFound` where the folder is missing; `TimedOut` where the run ended before it was known;
    /// those of `openat2(2)`, and of making a thread; an error where the path begins outside of the
    /// task's root, and leaves the folder that it begins in.
    pub fn resolve(&mut self, start: Start, path: &[u8]) -> io::Result<Vec<u8>> {
        match self.told(Job::Name(start, path.to_owned()))? {
            Told::Name(name) => Ok(name),
            Told::Reached(_) => Err(io::ErrorKind::Other.into()),
        }
    }

    /// Which file a call reaches by a path: by the names that a trace has for it.
    ///
    /// # Errors
    /// `TimedOut` where the run ended before it was known; those of making a thread.
    pub fn reach(&mut self, wanted: Wanted) -> io::Result<Reached> {
        match self.told(Job::Reach(wanted))? {
            Told::Reached(reached) => Ok(reached),
            Told::Name(_) => Err(io::ErrorKind::Other.into()),
        }
    }

    fn told(&mut self, job: Job) -> io::Result<Told> {
        match job.tell(true) {
            // To know it a file system has to be asked; before Linux 5.12 it always is.
            Err(error) if is_unknown(&error) => self.ask(job),
            known => known,
        }
    }

    fn ask(&mut self, job: Job) -> io::Result<Told> {
        // It is kept only where it has answered.
        let asker = match self.asker.take() {
            Some(asker) => asker,
            None => Asker::start()?,
        };
        asker.jobs.send(job).map_err(io::Error::other)?;
        loop {
            match asker.answers.recv_timeout(TICK) {
                Ok(answer) => {
                    self.asker = Some(asker);
                    return answer;
                }
                Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::Other.into()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let ready = poll::poll(std::iter::once(self.stop.as_fd()), Duration::ZERO)?;
            if ready
                .iter()
                .any(|stop| stop.has_hung_up || stop.is_readable)
            {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

impl Asker {
    fn start() -> io::Result<Self> {
        let (jobs, to_do) = channel::<Job>();
        let (tell, answers) = channel();
        let work = move || {
            while let Ok(job) = to_do.recv() {
                if tell.send(job.tell(false)).is_err() {
                    break;
                }
            }
        };
        thread::start("paths", work)?;
        Ok(Self { jobs, answers })
    }
}

fn is_unknown(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EAGAIN | libc::EINVAL | libc::E2BIG)
    )
}

/// A path that begins in a folder, from a root that the folder is below.
pub(super) fn from_root(
    root: BorrowedFd<'_>,
    folder: BorrowedFd<'_>,
    path: &[u8],
    is_cached: bool,
) -> io::Result<Vec<u8>> {
    let inside = below(&link(root)?, &link(folder)?)?;
    let again = open_place(root, &inside, Within::Root, is_cached)?;
    if !inode::of(again.as_fd())?.is(&inode::of(folder)?) {
        return Err(io::Error::other("the folder that it begins in has no path"));
    }
    Ok([inside.as_slice(), b"/", path].concat())
}

fn look_up(start: &Start, path: &[u8], is_cached: bool) -> io::Result<Vec<u8>> {
    let Some(folder) = &start.folder else {
        return from(start.root.as_fd(), path, (Within::Root, is_cached));
    };
    // A path that stays below its folder needs no root, which may be elsewhere (`chroot(2)`).
    match from(folder.as_fd(), path, (Within::Folder, is_cached)) {
        Err(error) if error.raw_os_error() == Some(libc::EXDEV) => {}
        known => return known,
    }
    let root = start.root.as_fd();
    let whole = from_root(root, folder.as_fd(), path, is_cached)?;
    from(root, &whole, (Within::Root, is_cached))
}

/// The path of a folder from a root.
fn below(root: &[u8], folder: &[u8]) -> io::Result<Vec<u8>> {
    let rest = match root {
        b"/" => Some(folder),
        root => folder.strip_prefix(root),
    };
    match rest {
        Some([]) => Ok(b"/".to_vec()),
        Some(rest @ [b'/', ..]) => Ok(rest.to_vec()),
        _ => {
            let why = "it begins outside of its task's root (`chroot`)";
            Err(io::Error::other(why))
        }
    }
}

pub(super) fn link(file: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
    let name = Host::running().own_descriptor(file.as_raw_fd());
    let name = name.ok_or(io::ErrorKind::Other)?;
    Ok(name.into_os_string().into_vec())
}

/// A path, and its last part, which is empty where it ends in a slash.
pub(super) fn cut(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        None => (b".".as_slice(), path),
        Some(0) => (b"/".as_slice(), path.get(1..).unwrap_or_default()),
        Some(end) => {
            let (folder, last) = path.split_at(end);
            (folder, last.get(1..).unwrap_or_default())
        }
    }
}

/// The name of the file that a path leads to from a place, or of its folder with its last part.
fn from(
    place: BorrowedFd<'_>,
    path: &[u8],
    (within, is_cached): (Within, bool),
) -> io::Result<Vec<u8>> {
    let name_of = |path: &[u8]| link(open_place(place, path, within, is_cached)?.as_fd());
    match name_of(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    let (folder, last) = cut(path);
    let mut name = name_of(folder)?;
    if name != b"/" {
        name.push(b'/');
    }
    name.extend_from_slice(last);
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{OpenOptionsExt, symlink};
    use std::path::Path;

    fn place(path: &Path) -> File {
        let mut options = File::options();
        options.read(true).custom_flags(libc::O_PATH);
        options.open(path).expect("a folder")
    }

    fn looked_up(root: &Path, folder: &Path, path: &str) -> io::Result<Vec<u8>> {
        let start = Start {
            root: place(root),
            folder: (!path.starts_with('/')).then(|| place(folder)),
        };
        look_up(&start, path.as_bytes(), false)
    }

    #[test]
    fn a_path_begins_in_its_folder_also_where_the_root_is_another() {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path().canonicalize().expect("it");
        let (jail, folder) = (dir.join("jail"), dir.join("jail/in"));
        // The same names below the root.
        let double = dir.strip_prefix("/").expect("from the root");
        fs::create_dir_all(jail.join(double)).expect("folders");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(jail.join(double).join("it"), "").expect("a file");
        symlink("/in", folder.join("root")).expect("a link");
        let name = |from: &Path| from.as_os_str().as_bytes().to_vec();
        for (root, start, path, expected) in [
            (&jail, &dir, "it", Some(dir.join("it"))),
            (&jail, &dir, "jail/in/new", Some(folder.join("new"))),
            (&jail, &dir, "jail/../new", Some(dir.join("new"))),
            (&jail, &dir, "../new", None),
            (&jail, &dir, "jail/in/root", None),
            (&jail, &folder, "../new", Some(jail.join("new"))),
            (&jail, &folder, "../../../in/new", Some(folder.join("new"))),
            (&jail, &folder, "root/new", Some(folder.join("new"))),
            (&jail, &jail, "in/root/new", Some(folder.join("new"))),
            (&jail, &dir, "/in/new", Some(folder.join("new"))),
            (&dir, &folder, "../../it", Some(dir.join("it"))),
        ] {
            let found = looked_up(root, start, path);
            assert_eq!(found.ok(), expected.as_deref().map(name), "{path}");
        }
    }
}
