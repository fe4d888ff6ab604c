//! Removing the events that probes are in tracefs.

use super::until_gone;
use nix::errno::Errno;
use nix::sys::uio::pread;
use nix::unistd::write;
use std::ffi::CStr;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// The longest name that the kernel gives a group or an event, with its NUL (`MAX_EVENT_NAME_LEN`).
const LONGEST: usize = 64;

/// Removes every event of a group. `events` is `dynamic_events`, open for reading and appending:
/// opening it without `O_APPEND` would remove the events of all users. Waits as long as `patience`
/// for the kernel to let go of events that are still open somewhere.
///
/// # Errors
/// `EBUSY` where an event is still open.
///
/// # References
/// `Documentation/trace/uprobetracer.rst`, `-:[GRP/][EVENT]`.
pub fn remove_probes(events: BorrowedFd<'_>, group: &CStr, patience: Duration) -> io::Result<()> {
    until_gone(patience, || {
        let mut n_removed = 0_u64;
        let mut last = Ok(());
        let scanned = each_of_group(events, group.to_bytes(), &mut |name| match remove(
            events,
            group.to_bytes(),
            name,
        ) {
            Ok(()) => n_removed += 1,
            Err(error) => last = Err(error),
        });
        // The list moves while it shrinks: the next try, which follows any removal, finds what was
        // passed over.
        let all = match scanned.and(last) {
            Ok(()) if n_removed > 0 => Err(Errno::EAGAIN),
            other => other,
        };
        (all, n_removed > 0)
    })
}

/// Removes one event.
///
/// # Errors
/// `EBUSY` where it is still open, after so much patience.
pub fn remove_probe(
    events: BorrowedFd<'_>,
    group: &CStr,
    name: &CStr,
    patience: Duration,
) -> io::Result<()> {
    until_gone(patience, || {
        let removed = remove(events, group.to_bytes(), name.to_bytes());
        (removed, false)
    })
}

fn remove(events: BorrowedFd<'_>, group: &[u8], name: &[u8]) -> nix::Result<()> {
    let mut command = [0; 2 * LONGEST + 4];
    let mut length = 0;
    for part in [b"-:", group, b"/", name, b"\n"] {
        let Some(room) = command.get_mut(length..length + part.len()) else {
            return Err(Errno::ENAMETOOLONG);
        };
        room.copy_from_slice(part);
        length += part.len();
    }
    match write(events, command.get(..length).unwrap_or_default()) {
        // Another process has removed it first.
        Err(Errno::ENOENT) => Ok(()),
        other => other.map(drop),
    }
}

/// Calls with the name of each event of the group: of each line `p:GROUP/EVENT ..` the part behind
/// the slash.
fn each_of_group(
    events: BorrowedFd<'_>,
    group: &[u8],
    act: &mut dyn FnMut(&[u8]),
) -> nix::Result<()> {
    let mut buffer = [0; 4096];
    // The first word of the line that is being read, and how much of it there is; it is over where
    // that is `None`.
    let mut word = [0; 3 * LONGEST];
    let mut length = Some(0);
    let mut at = 0;
    loop {
        let got = pread(events, &mut buffer, at)?;
        if got == 0 {
            return Ok(());
        }
        at += got as i64;
        for byte in buffer.get(..got).unwrap_or_default() {
            match (byte, length) {
                (b' ' | b'\n', Some(end)) => {
                    if let Some(name) = event_of(word.get(..end).unwrap_or_default(), group) {
                        act(name);
                    }
                    length = (*byte == b'\n').then_some(0);
                }
                (b'\n', None) => length = Some(0),
                (_, Some(end)) => {
                    length = word.get_mut(end).map(|place| {
                        *place = *byte;
                        end + 1
                    });
                }
                (_, None) => {}
            }
        }
    }
}

/// `EVENT` of `p:GROUP/EVENT` or `r32:GROUP/EVENT`.
fn event_of<'a>(word: &'a [u8], group: &[u8]) -> Option<&'a [u8]> {
    let colon = word.iter().position(|byte| *byte == b':')?;
    let name = word.get(colon + 1..)?;
    name.strip_prefix(group)?.strip_prefix(b"/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsFd;

    #[test]
    fn the_events_of_one_group_are_found_whatever_else_there_is() {
        let long = "x".repeat(9000);
        let mut file = tempfile::tempfile().unwrap();
        let lines = [
            "p:mine/p0 /bin/a:0x10 path=+0(%di):ustring",
            "p:mine_not/p1 /bin/a:0x10",
            "r4096:mine/p2 vfs_open",
            &format!("p:other/p3 /bin/a:0x10 a={long} p:mine/no"),
            &format!("p:other/{long}"),
            "s:synthetic/event u64 x",
            "p:mine/p4",
        ];
        file.write_all((lines.join("\n") + "\n").as_bytes())
            .unwrap();
        let mut found = Vec::new();
        let mut note = |name: &[u8]| found.push(String::from_utf8_lossy(name).into_owned());
        each_of_group(file.as_fd(), b"mine", &mut note).unwrap();
        assert_eq!(found, ["p0", "p2", "p4"]);
    }
}
