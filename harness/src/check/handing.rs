//! What a command starts with: files and sockets that it is handed open, and its ids.

use nix::unistd::{getresgid, getresuid};
use perf_live::host::Host;
use perf_live::sys::standard::duplicate;
use std::fs::File;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::{Path, PathBuf};
use trace_harness::matching::{Handed, HandedTo};
use trace_harness::scenario::StartedAs;

/// The files and sockets among descriptors that a command inherits, the standard ones included. Of
/// the standard ones a pipe, a device and a socket of this machine are as usual.
pub(super) fn handed(host: &Host, inherited: &[i32]) -> Vec<Handed> {
    let here = std::env::current_dir().unwrap_or_default();
    let handed = |number: &i32| {
        let path = host.own_descriptor(*number)?;
        let is_standard = *number <= 2;
        let to = if path.as_os_str().as_bytes().starts_with(b"socket:") {
            let to = socket(duplicate(*number).ok()?)?;
            let is_usual = is_standard && !matches!(to, HandedTo::Internet(_));
            Some(to).filter(|_| !is_usual)
        } else if path.is_absolute() && !path.is_dir() {
            let (reads, writes) = host.access(*number);
            let path = named(&path, &here).as_os_str().as_bytes().to_vec();
            let is_used = reads || writes;
            is_used.then_some(HandedTo::File {
                path,
                reads,
                writes,
            })
        } else {
            None
        };
        let is_device = is_standard && is_device(*number);
        to.filter(|_| !is_device).map(|to| Handed {
            number: *number,
            to,
        })
    };
    [0, 1, 2]
        .iter()
        .chain(inherited)
        .filter_map(handed)
        .collect()
}

/// Whether it is a terminal, or a device such as `/dev/null`.
fn is_device(number: i32) -> bool {
    let file = duplicate(number).map(File::from);
    let metadata = file.and_then(|file| file.metadata());
    metadata.is_ok_and(|it| it.file_type().is_char_device())
}

/// A path as a trace names it.
pub(super) fn named(path: &Path, here: &Path) -> PathBuf {
    match path.strip_prefix(here) {
        Ok(below) => PathBuf::from("$DIR").join(below),
        Err(_) => path.to_owned(),
    }
}

/// What a socket leads to; `None` for one that leads nowhere yet: a call says later where to.
fn socket(socket: OwnedFd) -> Option<HandedTo> {
    let internet = TcpStream::from(socket);
    match (internet.peer_addr(), internet.local_addr()) {
        (Ok(address), _) => return Some(HandedTo::Internet(address)),
        // What a socket that waits for others serves.
        (Err(_), Ok(own)) => return (own.port() != 0).then_some(HandedTo::Internet(own)),
        (Err(_), Err(_)) => {}
    }
    let local = UnixStream::from(OwnedFd::from(internet));
    match (local.peer_addr(), local.local_addr()) {
        (Ok(peer), Ok(own)) => Some(
            unix(&peer)
                .or_else(|| unix(&own))
                .unwrap_or(HandedTo::Nameless),
        ),
        (Err(_), Ok(own)) => unix(&own),
        // Of a family whose addresses are not known here.
        _ => Some(HandedTo::Nameless),
    }
}

fn unix(address: &SocketAddr) -> Option<HandedTo> {
    let path = address
        .as_pathname()
        .map(|path| path.as_os_str().as_bytes().to_vec());
    let name = address.as_abstract_name().map(|name| [b"@", name].concat());
    path.or(name).map(HandedTo::Unix)
}

/// The ids that the command is started with, which are those of this process.
pub(super) fn started_as() -> StartedAs {
    let users = getresuid()
        .ok()
        .filter(|it| it.real == it.effective && it.real == it.saved);
    let groups = getresgid()
        .ok()
        .filter(|it| it.real == it.effective && it.real == it.saved);
    StartedAs {
        user: users.map(|it| it.real.as_raw()),
        group: groups.map(|it| it.real.as_raw()),
    }
}

/// The paths of the folder that the command runs in: where it lies, and how the shell came there.
pub(super) fn directories() -> Vec<String> {
    let lies = std::env::current_dir().ok();
    let came = std::env::var_os("PWD").map(PathBuf::from);
    let came = came.filter(|it| it.is_absolute());
    let came = came.filter(|it| it.canonicalize().ok() == lies && Some(it) != lies.as_ref());
    let paths = [lies, came].into_iter().flatten();
    // Below the root all is as it was.
    let paths = paths.filter(|path| path.parent().is_some());
    let texts = paths.filter_map(|path| path.into_os_string().into_string().ok());
    texts.collect()
}
