//! Where a path of a waiting call leads, in the world of its task.

use super::reaching::{Wanted, is_plain, opened};
use super::walking::walk;
use crate::host::{Host, is_of_procfs};
use crate::sys::gate::{Within, open_place};
use crate::sys::{inode, poll, thread};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
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

/// A path of a waiting call that is to be gone to its end.
#[derive(Debug)]
pub(super) struct Going {
    /// The thread that makes the call.
    pub(super) thread: u32,
    /// Where the path begins.
    pub(super) start: Start,
    /// The path.
    pub(super) path: Vec<u8>,
    /// Whether a link at its end is followed.
    pub(super) follows: bool,
}

/// Where a path leads.
#[derive(Debug)]
pub struct Led {
    /// The name of its file, as its mount namespace has it, or the one that it would have.
    pub name: Vec<u8>,
    /// The file, opened as a place; `None` where its last part is missing.
    pub file: Option<OwnedFd>,
    /// Whether the end of the path was a link of procfs to the very file, which need not be found
    /// under its name any more.
    pub is_itself: bool,
}

/// What is to be looked up.
#[derive(Debug)]
enum Job {
    /// What a path leads to.
    Go(Going),
    /// The names of the file that a call reaches.
    Reach(Wanted),
}

#[derive(Debug)]
enum Told {
    Led(Led),
    Reached(Reached),
}

impl Job {
    fn tell(&self, is_cached: bool) -> io::Result<Told> {
        match self {
            Self::Go(going) => look_up(going, is_cached).map(Told::Led),
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

    /// What a path leads to, whose last part may be missing; then its folder must be there.
    ///
    /// # Errors
    /// `NotFound` where the folder is missing; `TimedOut` where the run ended before it was known;
    /// those of `openat2(2)`, and of making a thread.
    pub(super) fn go(&mut self, going: Going) -> io::Result<Led> {
        match self.told(Job::Go(going))? {
            Told::Led(led) => Ok(led),
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
            Told::Led(_) => Err(io::ErrorKind::Other.into()),
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

/// Goes a path as the kernel does. What it does for the thread alone, in procfs, and what it says
/// nothing of is gone part by part.
fn look_up(going: &Going, is_cached: bool) -> io::Result<Led> {
    match at_once(going, is_cached) {
        Ok(Some(led)) => Ok(led),
        // A file system may have to be asked.
        _ if is_cached => Err(io::Error::from_raw_os_error(libc::EAGAIN)),
        _ => walk(going),
    }
}

/// The same at one go, where the kernel can tell; `None` where it cannot.
fn at_once(going: &Going, is_cached: bool) -> io::Result<Option<Led>> {
    let open = |path: &[u8], follows| opened(&going.start, path, (follows, is_cached));
    let (path, follows) = (going.path.as_slice(), going.follows);
    match open(path, follows) {
        Ok(file) => {
            let name = link(file.as_fd())?;
            return Ok(told(name, Some(file)));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let (folder, last) = cut(path);
    if !is_plain(last) {
        return Ok(None);
    }
    if follows {
        // A link that leads nowhere leads to what is missing.
        match open(path, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            link => return link.map(|_| None),
        }
    }
    let folder = link(open(folder, true)?.as_fd())?;
    Ok(told(below_folder(folder, last), None))
}

/// What the kernel tells of procfs it tells for whoever asks.
fn told(name: Vec<u8>, file: Option<OwnedFd>) -> Option<Led> {
    let is_itself = false;
    (!is_of_procfs(&name)).then_some(Led {
        name,
        file,
        is_itself,
    })
}

/// The name of what lies in a folder.
pub(super) fn below_folder(mut folder: Vec<u8>, last: &[u8]) -> Vec<u8> {
    if folder != b"/" {
        folder.push(b'/');
    }
    folder.extend_from_slice(last);
    folder
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

    /// Where a path of this thread leads.
    fn looked_up(root: &Path, folder: &Path, path: &str, follows: bool) -> io::Result<Led> {
        let going = Going {
            thread: nix::unistd::gettid().as_raw() as u32,
            start: Start {
                root: place(root),
                folder: (!path.starts_with('/')).then(|| place(folder)),
            },
            path: path.into(),
            follows,
        };
        look_up(&going, false)
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
            (&jail, &dir, "../new", dir.parent().map(|it| it.join("new"))),
            (&jail, &dir, "jail/in/root", Some(folder.clone())),
            (&jail, &dir, "none/new", None),
            (&jail, &folder, "root/root/new/..", None),
            (&jail, &folder, "../new", Some(jail.join("new"))),
            (&jail, &folder, "../../../in/new", Some(folder.join("new"))),
            (&jail, &folder, "root/new", Some(folder.join("new"))),
            (&jail, &jail, "in/root/new", Some(folder.join("new"))),
            (&jail, &dir, "/in/new", Some(folder.join("new"))),
            (&dir, &folder, "../../it", Some(dir.join("it"))),
        ] {
            let found = looked_up(root, start, path, true).map(|led| led.name);
            assert_eq!(found.ok(), expected.as_deref().map(name), "{path}");
        }
    }

    #[test]
    fn a_link_of_procfs_leads_to_the_very_file_and_what_is_behind_it_is_in_its_folder() {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path().canonicalize().expect("it");
        fs::create_dir(dir.join("in")).expect("a folder");
        fs::write(dir.join("gone"), "").expect("a file");
        symlink("in", dir.join("link")).expect("a link");
        let (folder, gone) = (place(&dir.join("in")), place(&dir.join("gone")));
        let mut options = File::options();
        options.read(true);
        options.custom_flags(libc::O_PATH | libc::O_NOFOLLOW);
        let to_link = options.open(dir.join("link")).expect("the link itself");
        let (folder, to_link) = (folder.as_raw_fd(), to_link.as_raw_fd());
        let number = gone.as_raw_fd();
        let (root, process) = (Path::new("/"), std::process::id());
        symlink(format!("/proc/self/fd/{number}"), dir.join("by")).expect("a link");
        symlink(format!("/proc/self/fd/{folder}/new"), dir.join("to")).expect("a link");
        // A path from a folder, of which the link itself is in no procfs.
        let up = "../".repeat(dir.components().count());
        let relative = format!("{up}proc/thread-self/fd/{folder}");
        symlink(relative, dir.join("relative")).expect("a link");
        fs::remove_file(dir.join("gone")).expect("it goes");
        let below = |path: &str| dir.join(path).to_string_lossy().into_owned();
        let removed = format!("{} (deleted)", below("gone"));
        let own = |word: &str| format!("/proc/{process}/{word}");
        for (path, follows, name, is_itself, is_there) in [
            (
                format!("/proc/self/fd/{number}"),
                true,
                &removed,
                true,
                true,
            ),
            (format!("/dev/fd/{number}"), true, &removed, true, true),
            ("by".to_owned(), true, &removed, true, true),
            ("relative".to_owned(), true, &below("in"), true, true),
            ("by".to_owned(), false, &below("by"), false, true),
            (own(&format!("fd/{folder}")), true, &below("in"), true, true),
            (
                own(&format!("fd/{to_link}")),
                true,
                &below("link"),
                true,
                true,
            ),
            (
                format!("/proc/thread-self/fd/{folder}/new"),
                false,
                &below("in/new"),
                false,
                false,
            ),
            (
                format!("/proc/self/fd/{folder}/../in"),
                true,
                &below("in"),
                false,
                true,
            ),
            (
                format!("/proc/self/task/../fd/{folder}/."),
                true,
                &below("in"),
                false,
                true,
            ),
            (
                format!("/proc/self/root{}", below("link")),
                true,
                &below("in"),
                false,
                true,
            ),
            ("to".to_owned(), true, &below("in/new"), false, false),
        ] {
            let led = looked_up(root, &dir, &path, follows).expect(&path);
            assert_eq!(String::from_utf8_lossy(&led.name), **name, "{path}");
            assert_eq!(
                (led.is_itself, led.file.is_some()),
                (is_itself, is_there),
                "{path}"
            );
        }
        for (path, error) in [
            ("/proc/self/fd/none".to_owned(), None),
            (own("fd/9999/new"), Some(libc::ENOENT)),
            (format!("/proc/self/fd/{to_link}/new"), Some(libc::ENOTDIR)),
        ] {
            let led = looked_up(root, &dir, &path, true);
            let found = led.map(|led| led.file.is_some());
            let expected = error.map_or(Ok(false), Err);
            assert_eq!(
                found.map_err(|it| it.raw_os_error().unwrap_or(0)),
                expected,
                "{path}"
            );
        }
    }
}
