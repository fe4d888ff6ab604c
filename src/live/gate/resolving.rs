//! Where a path of a waiting call leads, in the world of its task.

use crate::host::Host;
use crate::sys::gate::open_below;
use crate::sys::poll;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

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

/// A path, and the root that it starts from.
type Job = (File, Vec<u8>);

/// A thread that looks up what it is sent.
#[derive(Debug)]
struct Asker {
    jobs: Sender<Job>,
    answers: Receiver<io::Result<Vec<u8>>>,
}

impl Paths {
    /// Looks paths up until the other end of `stop` is closed.
    #[must_use]
    pub fn new(stop: UnixStream) -> Self {
        Self { stop, asker: None }
    }

    /// The name of the file that a path leads to, from the root of the task; its last part may be
    /// missing, and then its folder must be there.
    ///
    /// # Errors
    /// `NotFound` where the folder is missing; `TimedOut` where the run ended before it was known;
    /// those of `openat2(2)`, and of making a thread.
    pub fn resolve(&mut self, root: File, directory: &[u8], path: &[u8]) -> io::Result<Vec<u8>> {
        let whole = match path.starts_with(b"/") {
            true => path.to_vec(),
            false => [directory, b"/", path].concat(),
        };
        match look_up(&root, &whole, true) {
            // To know it a file system has to be asked; before Linux 5.12 it always is.
            Err(error) if is_unknown(&error) => self.ask((root, whole)),
            known => known,
        }
    }

    fn ask(&mut self, job: Job) -> io::Result<Vec<u8>> {
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
            while let Ok((root, path)) = to_do.recv() {
                if tell.send(look_up(&root, &path, false)).is_err() {
                    break;
                }
            }
        };
        let thread = std::thread::Builder::new().name("paths".to_owned());
        thread.spawn(work)?;
        Ok(Self { jobs, answers })
    }
}

fn is_unknown(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EAGAIN | libc::EINVAL | libc::E2BIG)
    )
}

fn look_up(root: &File, whole: &[u8], is_cached: bool) -> io::Result<Vec<u8>> {
    let host = Host::running();
    let name_of = |path: &[u8]| -> io::Result<Vec<u8>> {
        let file = open_below(root.as_fd(), path, is_cached)?;
        let name = host.own_descriptor(file.as_raw_fd());
        let name = name.ok_or(io::ErrorKind::Other)?;
        Ok(name.into_os_string().into_vec())
    };
    match name_of(whole) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    let end = whole.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    let (folder, last) = whole.split_at(end);
    let mut name = name_of(if folder.is_empty() { b"/" } else { folder })?;
    if name == b"/" {
        name.clear();
    }
    name.extend_from_slice(last);
    Ok(name)
}
