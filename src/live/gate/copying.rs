//! Makes one call that copies bytes from an open file of the workload to another of its own.

use super::depending::is_of_kernel;
use super::making::Made;
use super::moving::{MOST, OF_KERNEL, gone, is_unsignalled, returned_by, unfit, until_readable};
use super::supervisor::Held;
use crate::sys::gate::Listener;
use crate::sys::memory;
use nix::fcntl::{FcntlArg, OFlag, SpliceFFlags, copy_file_range, fcntl, splice};
use nix::sys::sendfile::sendfile;
use nix::sys::stat::{SFlag, fstat};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use syscall_model::names::{self, Abi};

/// A call that takes its bytes from another open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Copied {
    pub(super) from: Side,
    pub(super) to: Side,
    /// How many bytes it asks for.
    pub(super) length: u64,
    flags: u64,
    /// The bytes of a position in the workload's memory.
    width: usize,
    how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// `copy_file_range`
    Range,
    /// `sendfile`
    Send,
    /// `splice`, of which one side is a pipe.
    Splice,
}

/// One of both files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) number: i32,
    /// Where its position stands in the workload's memory; 0 for the file's own.
    position: u64,
}

impl Copied {
    /// `None` for a call that does something else.
    pub(super) fn of(call: &Held) -> Option<Self> {
        let name = names::name_of(call.abi, call.number)?;
        Self::with(name, call.abi, call.native_words())
    }

    fn with(name: &str, abi: Abi, words: [u64; 6]) -> Option<Self> {
        let [first, second, third, fourth, fifth, sixth] = words;
        let side = |number: u64, position| Side {
            number: number as i32,
            position,
        };
        match name {
            "copy_file_range" | "splice" => Some(Self {
                from: side(first, second),
                to: side(third, fourth),
                length: fifth,
                flags: sixth,
                width: 8,
                how: match name {
                    "splice" => How::Splice,
                    _ => How::Range,
                },
            }),
            "sendfile" | "sendfile64" => Some(Self {
                from: side(second, third),
                to: side(first, 0),
                length: fourth,
                flags: 0,
                // `compat_off_t`
                width: match (name, abi) {
                    ("sendfile", Abi::I386 | Abi::Arm) => 4,
                    _ => 8,
                },
                how: How::Send,
            }),
            _ => None,
        }
    }

    /// The flags of one that is a `splice`; `None` where those of this call ask for more.
    fn flags(&self) -> Option<SpliceFFlags> {
        let bits = u32::try_from(self.flags).ok()?;
        match self.how {
            How::Splice => SpliceFFlags::from_bits(bits),
            _ => (bits == 0).then(SpliceFFlags::empty),
        }
    }

    /// Whether the call may wait for what it copies from.
    ///
    /// # Errors
    /// Why it must be made by its own thread.
    fn waits(&self, from: &OwnedFd, to: &OwnedFd) -> io::Result<bool> {
        let refused = |why| Err(io::Error::other(why));
        let Some(flags) = self.flags() else {
            return refused("its flags ask for more than its bytes");
        };
        if is_of_kernel(from)? {
            return refused(OF_KERNEL);
        }
        let kind = |file| -> io::Result<SFlag> {
            Ok(SFlag::from_bits_truncate(fstat(file)?.st_mode) & SFlag::S_IFMT)
        };
        let status = OFlag::from_bits_retain(fcntl(from, FcntlArg::F_GETFL)?);
        let may_wait =
            !status.contains(OFlag::O_NONBLOCK) && !flags.contains(SpliceFFlags::SPLICE_F_NONBLOCK);
        // Others fail at once.
        let is_right = self.from.position == 0 && self.length > 0;
        match (kind(from)?, self.how) {
            (SFlag::S_IFREG, _) => Ok(false),
            (SFlag::S_IFIFO, How::Splice) => Ok(may_wait && is_right),
            (SFlag::S_IFSOCK, How::Splice) => {
                Ok(may_wait && is_right && kind(to)? == SFlag::S_IFIFO)
            }
            _ => refused("what is no file of a disk may let it wait"),
        }
    }

    /// The position of a side, if its call says one.
    fn position(&self, side: Side, thread: u32) -> io::Result<Option<i64>> {
        if side.position == 0 {
            return Ok(None);
        }
        let mut bytes = [0; 8];
        let read = bytes.get_mut(..self.width).unwrap_or_default();
        if memory::read_memory(thread, side.position, read)? < self.width {
            return Err(io::Error::from_raw_os_error(libc::EFAULT));
        }
        let [low @ .., _, _, _, _] = bytes;
        Ok(Some(match self.width {
            4 => i32::from_ne_bytes(low).into(),
            _ => i64::from_ne_bytes(bytes),
        }))
    }

    /// Says in the workload's memory how far the call came.
    fn tell(&self, side: Side, thread: u32, position: Option<i64>) -> io::Result<()> {
        let Some(position) = position else {
            return Ok(());
        };
        let bytes = match self.width {
            4 => (position as i32).to_ne_bytes().to_vec(),
            _ => position.to_ne_bytes().to_vec(),
        };
        match memory::write_memory(thread, side.position, &bytes)? == bytes.len() {
            true => Ok(()),
            false => Err(io::Error::from_raw_os_error(libc::EFAULT)),
        }
    }
}

/// Makes a call that copies, with so many bytes at most.
pub(super) fn copy(
    listener: &Listener,
    (call, process): (&Held, u32),
    (copied, most): (Copied, u64),
    (from, to): (&OwnedFd, &OwnedFd),
) -> Made {
    let waits = match copied.waits(from, to) {
        Ok(waits) => waits,
        Err(why) => return Made::NoMeans(why),
    };
    if waits && let Some(ended) = until_readable(listener, call.id(), from) {
        return ended;
    }
    let thread = call.thread;
    let positions = [copied.from, copied.to].map(|side| copied.position(side, thread));
    let [mut from_at, mut to_at] = match positions {
        [Ok(from), Ok(to)] => [from, to],
        [Err(error), _] | [_, Err(error)] if error.raw_os_error() == Some(libc::EFAULT) => {
            return Made::Returned(Err(error));
        }
        [Err(error), _] | [_, Err(error)] => return Made::NoMeans(error),
    };
    let length = copied.length.min(most).min(MOST);
    if let Some(unfit) = unfit(to, process, to_at.map(i64::cast_unsigned), length) {
        return unfit;
    }
    if let Some(gone) = gone(listener, call.id()) {
        return gone;
    }
    let length = length as usize;
    let (from_place, to_place) = (from_at.as_mut(), to_at.as_mut());
    let returned = match copied.how {
        How::Range => copy_file_range(from, from_place, to, to_place, length),
        How::Send => sendfile(to, from, from_place, length),
        How::Splice => {
            let flags = copied.flags().unwrap_or(SpliceFFlags::empty());
            splice(from, from_place, to, to_place, length, flags)
        }
    };
    match returned.map_err(io::Error::from) {
        Err(error) if is_unsignalled(&error, to.as_fd(), 0) => Made::Unsignalled(error),
        Ok(moved) if moved > 0 => {
            let told = copied.tell(copied.from, thread, from_at);
            match told.and_then(|()| copied.tell(copied.to, thread, to_at)) {
                Ok(()) => Made::Returned(Ok(moved)),
                Err(error) => Made::Torn(error),
            }
        }
        returned => returned_by(returned, to, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_copies_has_its_files_positions_and_length_where_the_kernel_looks_for_them() {
        let copied = |abi, name| Copied::with(name, abi, [3, 4, 5, 6, 7, 0]);
        let side = |number, position| Side { number, position };
        let range = copied(Abi::X86_64, "copy_file_range").expect("a copy");
        assert_eq!((range.from, range.to), (side(3, 4), side(5, 6)));
        assert_eq!((range.length, range.width), (7, 8));
        for (abi, name, width) in [
            (Abi::X86_64, "sendfile", 8),
            (Abi::I386, "sendfile", 4),
            (Abi::I386, "sendfile64", 8),
        ] {
            let sent = copied(abi, name).expect("a copy");
            assert_eq!((sent.from, sent.to), (side(4, 5), side(3, 0)), "{name}");
            assert_eq!((sent.length, sent.width), (6, width), "{name}");
        }
        assert_eq!(copied(Abi::X86_64, "write"), None);
    }

    #[test]
    fn flags_that_ask_for_more_than_the_bytes_are_of_no_shorter_call() {
        let flags = |name, flags| {
            let copied = Copied::with(name, Abi::X86_64, [3, 0, 5, 0, 7, flags]);
            copied.expect("a copy").flags()
        };
        let no_wait = SpliceFFlags::SPLICE_F_NONBLOCK;
        assert_eq!(flags("splice", no_wait.bits().into()), Some(no_wait));
        assert_eq!(flags("splice", 1 << 20), None);
        assert_eq!(flags("copy_file_range", 0), Some(SpliceFFlags::empty()));
        assert_eq!(flags("copy_file_range", 1), None);
    }
}
