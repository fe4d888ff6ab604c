//! What a descriptor of a waiting call refers to, by the name that expectations have for it.
//!
//! Names of links in procfs are those of `fs/pipe.c`, `net/socket.c`, `fs/anon_inodes.c` and its
//! callers, `mm/memfd.c` and `d_path()`, of Linux 5.10 to 7.2.

use crate::host::Host;
use crate::sys::inode::Inode;
use crate::sys::{pidfd, socket};
use perf_records::units::{Pid, Tid};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use syscall_model::files::{End, FileKind, Object, Socket};

/// The inodes of what a workload was started with: standard input, output and error.
pub type Streams = [Inode; 3];

const STREAMS: [&[u8]; 3] = [b"stdin", b"stdout", b"stderr"];

pub(super) const DELETED: &[u8] = b" (deleted)";

/// `__O_TMPFILE`, include/uapi/asm-generic/fcntl.h: also on x86-64 and arm64.
const UNNAMED: i32 = 0o20_000_000;

/// The words of `anon_inode_getfile()` and its like, without brackets, for what has a word of ours.
const OBJECTS: [(&[u8], Object); 15] = [
    (b"eventfd", Object::Eventfd),
    (b"eventpoll", Object::Epoll),
    (b"signalfd", Object::Signalfd),
    (b"timerfd", Object::Timerfd),
    (b"inotify", Object::Inotify),
    (b"fanotify", Object::Fanotify),
    (b"secretmem", Object::SecretMemory),
    (b"pidfd", Object::Pidfd),
    (b"io_uring", Object::IoUring),
    (b"userfaultfd", Object::Userfaultfd),
    (b"btf", Object::Bpf),
    (b"perf_event", Object::PerfEvent),
    (b"landlock-ruleset", Object::Landlock),
    (b"seccomp notify", Object::Seccomp),
    (b"fscontext", Object::FsContext),
];

/// The name of what a thread's descriptor refers to: a path, `pipe`, `tcp`, `memfd:cache`, and
/// `stdin` and the like for what the workload was started with. `None` where it is not open.
///
/// # Errors
/// Those of reading procfs and of `pidfd_getfd(2)`.
pub fn name_of(
    host: &Host,
    (thread, number): (u32, i32),
    given: Option<&Streams>,
) -> io::Result<Option<Vec<u8>>> {
    let link = match host.descriptor_link(thread, number) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        link => link?,
    };
    let stream = || -> io::Result<Option<Vec<u8>>> {
        let inode = host.descriptor_inode(thread, number)?;
        let mut given = given.into_iter().flatten();
        let place = given.position(|it| it.is(&inode));
        Ok(place
            .and_then(|place| STREAMS.get(place))
            .map(|name| name.to_vec()))
    };
    if link.starts_with(b"pipe:[") {
        let pipe = || FileKind::Pipe(End::Read).word();
        return Ok(Some(stream()?.unwrap_or_else(pipe)));
    }
    if link.starts_with(b"socket:[") {
        return socket_of(host, thread, number).map(Some);
    }
    if let Some(object) = object(&link) {
        return Ok(Some(FileKind::Object(object).word()));
    }
    if number == 0 && given.is_some() && link == b"/dev/null" {
        return Ok(Some(STREAMS[0].to_vec()));
    }
    match link.strip_suffix(DELETED) {
        Some(path) => match stream()? {
            Some(name) => Ok(Some(name)),
            None => nameless(host, (thread, number), (path, &link)).map(Some),
        },
        None => Ok(Some(link)),
    }
}

/// The name of a file whose link says that it is deleted; a file may be called so, too.
fn nameless(
    host: &Host,
    (thread, number): (u32, i32),
    (path, link): (&[u8], &[u8]),
) -> io::Result<Vec<u8>> {
    if let Some(memory) = path
        .strip_prefix(b"/")
        .filter(|it| it.starts_with(b"memfd:"))
    {
        return Ok(memory.to_vec());
    }
    if path == b"/secretmem" {
        return Ok(FileKind::Object(Object::SecretMemory).word());
    }
    let flags = host.descriptor_flags(thread, number);
    let gone = || io::Error::from_raw_os_error(libc::ESRCH);
    if flags.ok_or_else(gone)? & UNNAMED != 0 {
        let folder = path.iter().rposition(|byte| *byte == b'/');
        let folder = path.get(..folder.unwrap_or_default());
        return Ok(FileKind::Unnamed(folder.unwrap_or_default().into()).word());
    }
    let has_names = host.descriptor_inode(thread, number)?.links > 0;
    Ok(if has_names { link } else { path }.to_vec())
}

/// Takes a descriptor of a thread: the very open file that the thread has at that number.
///
/// # Errors
/// `EBADF` where it is not open; those of `pidfd_getfd(2)`. Before Linux 6.9 that asks the table of
/// the process' first thread: an error where the thread's own has something else there, and where
/// the kernel cannot compare them (`kcmp(2)`).
pub(super) fn take(host: &Host, thread: u32, number: i32) -> io::Result<OwnedFd> {
    let gone = || io::Error::from_raw_os_error(libc::ESRCH);
    match pidfd::open_thread(Tid(thread)) {
        Ok(thread) => return pidfd::descriptor_of(thread.ok_or_else(gone)?.as_fd(), number),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
        Err(error) => return Err(error),
    }
    let process = host.process_of(thread).ok_or_else(gone)?;
    match host.descriptor_inode(thread, number) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(io::Error::from_raw_os_error(libc::EBADF));
        }
        own => own?,
    };
    taken((process, thread), number)
}

/// The same by the table of the process' first thread, for a descriptor that is open.
fn taken((process, thread): (u32, u32), number: i32) -> io::Result<OwnedFd> {
    let gone = || io::Error::from_raw_os_error(libc::ESRCH);
    let others = || io::Error::other("its thread has descriptors of its own");
    let first = pidfd::open(Pid(process))?.ok_or_else(gone)?;
    let file = match pidfd::descriptor_of(first.as_fd(), number) {
        // Also where the first thread has ended: then it has no table.
        Err(error) if error.raw_os_error() == Some(libc::EBADF) => return Err(others()),
        file => file?,
    };
    if process == thread {
        return Ok(file);
    }
    match pidfd::is_same_file((Tid(thread), number), file.as_fd()) {
        Ok(true) => Ok(file),
        Ok(false) => Err(others()),
        Err(error) => Err(io::Error::other(format!(
            "whether its thread has descriptors of its own is not known: {error}"
        ))),
    }
}

fn socket_of(host: &Host, thread: u32, number: i32) -> io::Result<Vec<u8>> {
    let file = take(host, thread, number)?;
    let option = |option| socket::option_of(file.as_fd(), option).map(Some);
    let socket = Socket {
        family: option(libc::SO_DOMAIN)?,
        kind: option(libc::SO_TYPE)?,
        protocol: option(libc::SO_PROTOCOL)?,
        ..Socket::default()
    };
    Ok(FileKind::Socket(socket).word())
}

/// What the kernel made that has no name.
fn object(link: &[u8]) -> Option<Object> {
    if link.starts_with(b"pidfd:[") {
        // Linux 6.9; before, it is as the others.
        return Some(Object::Pidfd);
    }
    let word = link.strip_prefix(b"anon_inode:")?;
    let inner = word
        .strip_prefix(b"[")
        .and_then(|word| word.strip_suffix(b"]"));
    let word = inner.unwrap_or(word);
    if word.starts_with(b"bpf") {
        // `bpf-map`, `bpf-prog`, `bpf_link`, `bpf_iter`, `bpf-token`.
        return Some(Object::Bpf);
    }
    let mut objects = OBJECTS.into_iter();
    objects
        .find(|(name, _)| *name == word)
        .map(|(_, object)| object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_descriptor_of_another_thread_is_taken_where_it_is_the_same_open_file() {
        let (ids, id) = std::sync::mpsc::channel();
        let (end, ends) = std::sync::mpsc::channel::<()>();
        let path = std::env::current_exe().expect("a file");
        let (one, other) = (
            File::open(&path).expect("it"),
            File::open(&path).expect("it"),
        );
        let work = move || {
            ids.send(nix::unistd::gettid()).expect("sent");
            let _end = ends.recv();
        };
        let thread = std::thread::spawn(work);
        let id = id.recv().expect("an id").as_raw() as u32;
        let at = (std::process::id(), id);
        let (one, other) = (one.as_raw_fd(), other.as_raw_fd());
        // Not each kernel is built with kcmp(2): then it is not known.
        if let Ok(same) = taken(at, one) {
            let is_same = |number| pidfd::is_same_file((Tid(id), number), same.as_fd());
            assert!(is_same(one).expect("it"));
            assert!(
                !is_same(other).expect("it"),
                "another open file of the same inode"
            );
        }
        drop(end);
        thread.join().expect("the thread ends");
    }

    #[test]
    fn what_the_kernel_made_is_told_by_its_link() {
        for (link, object_of_it) in [
            ("anon_inode:[eventfd]", Some(Object::Eventfd)),
            ("anon_inode:[eventpoll]", Some(Object::Epoll)),
            ("anon_inode:inotify", Some(Object::Inotify)),
            ("anon_inode:bpf-map", Some(Object::Bpf)),
            ("anon_inode:[pidfd]", Some(Object::Pidfd)),
            ("pidfd:[4242]", Some(Object::Pidfd)),
            ("anon_inode:seccomp notify", Some(Object::Seccomp)),
            ("anon_inode:kvm-vm", None),
            ("/anon_inode:[eventfd]", None),
        ] {
            assert_eq!(object(link.as_bytes()), object_of_it, "{link}");
        }
    }
}
