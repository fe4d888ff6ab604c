//! Makes one call that copies bytes from an open file of the workload to another of its own.

use super::depending::is_of_kernel;
use super::making::Made;
use super::moving::{MOST, OF_KERNEL, fits, gone, is_unsignalled, returned_by};
use super::supervisor::Held;
use crate::sys::gate::{self, Listener};
use nix::fcntl::copy_file_range;
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
    /// `copy_file_range`, and not `sendfile`.
    is_range: bool,
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
            "copy_file_range" => Some(Self {
                from: side(first, second),
                to: side(third, fourth),
                length: fifth,
                flags: sixth,
                width: 8,
                is_range: true,
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
                is_range: false,
            }),
            _ => None,
        }
    }

    /// Why it must be made by its own thread, if it must.
    fn refused(&self, from: &OwnedFd) -> io::Result<Option<&'static str>> {
        if self.flags != 0 {
            return Ok(Some("its flags ask for more than its bytes"));
        }
        if is_of_kernel(from)? {
            return Ok(Some(OF_KERNEL));
        }
        let kind = SFlag::from_bits_truncate(fstat(from)?.st_mode) & SFlag::S_IFMT;
        Ok((kind != SFlag::S_IFREG).then_some("what is no file of a disk may let it wait"))
    }

    /// The position of a side, if its call says one.
    fn position(&self, side: Side, thread: u32) -> io::Result<Option<i64>> {
        if side.position == 0 {
            return Ok(None);
        }
        let mut bytes = [0; 8];
        let read = bytes.get_mut(..self.width).unwrap_or_default();
        if gate::read_memory(thread, side.position, read)? < self.width {
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
        match gate::write_memory(thread, side.position, &bytes)? == bytes.len() {
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
    match copied.refused(from) {
        Ok(None) => {}
        Ok(Some(why)) => return Made::NoMeans(io::Error::other(why)),
        Err(error) => return Made::NoMeans(error),
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
    match fits(to, process, to_at.map(i64::cast_unsigned), length) {
        Ok(true) => {}
        Ok(false) => {
            let why = "it would go beyond the workload's limit for files";
            return Made::NoMeans(io::Error::other(why));
        }
        Err(error) => return Made::NoMeans(error),
    }
    if let Some(gone) = gone(listener, call.id()) {
        return gone;
    }
    let length = length as usize;
    let returned = match copied.is_range {
        true => copy_file_range(from, from_at.as_mut(), to, to_at.as_mut(), length),
        false => sendfile(to, from, from_at.as_mut(), length),
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
}
