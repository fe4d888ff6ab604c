//! What the program says: what was asked for on standard output, all else on standard error.
//!
//! Where standard output is full or closed, a command ends with an error: nothing that was asked
//! for is lost without a word. A reader that has gone away (`| head`) wants no more, and that is no
//! error: a command that only prints ends at once, with the status of a death by SIGPIPE; one that
//! does work besides goes on, and its status tells of that. What cannot be said on standard error
//! is not said, unless it is the trace or the counts that were asked for.

use crate::{complain, status};
use nix::errno::Errno;
use perf_live::sys::standard;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};

/// Says something on standard error, in a line of its own.
macro_rules! note {
    ($($word:tt)*) => {
        $crate::out::say(format_args!("{}\n", format_args!($($word)*)))
    };
}

/// The same without the end of the line, for what is to be said in its place a moment later.
macro_rules! note_for_now {
    ($($word:tt)*) => {
        $crate::out::say(format_args!($($word)*))
    };
}

pub(crate) use {note, note_for_now};

pub(crate) fn say(text: std::fmt::Arguments<'_>) {
    // Where this cannot be said, nothing can.
    let _lost = anstream::stderr().lock().write_fmt(text);
}

const OUTPUT: u8 = 1;
const ERROR: u8 = 2;

fn open(number: u8) -> io::Result<()> {
    match standard::was_closed(number) {
        true => Err(Errno::EBADF.into()),
        false => Ok(()),
    }
}

/// Writes text to standard output.
pub(crate) fn print(text: &str) -> io::Result<()> {
    write(text.as_bytes())
}

fn write(bytes: &[u8]) -> io::Result<()> {
    open(OUTPUT)?;
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Writes text with colours, which only a terminal gets.
pub(crate) fn print_styled(text: &str) -> io::Result<()> {
    open(OUTPUT)?;
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Standard output without the buffer of [`io::stdout`], which looks for line feeds.
pub(crate) fn stdout() -> io::Result<File> {
    open(OUTPUT)?;
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Standard error, where what was asked for goes there.
pub(crate) fn stderr() -> io::Result<io::Stderr> {
    open(ERROR)?;
    Ok(io::stderr())
}

/// The status of a command that does nothing but print: `of` where all was printed, `trouble` where
/// it could not be.
pub(crate) fn ended(printed: io::Result<()>, of: u8, trouble: u8) -> u8 {
    match printed {
        Ok(()) => of,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => status::READER_GONE,
        Err(error) => {
            unprinted(error);
            trouble
        }
    }
}

/// Whether a command that works has told what it did: a reader that has gone away knows enough.
pub(crate) fn told(printed: io::Result<()>) -> bool {
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            unprinted(error);
            false
        }
        _ => true,
    }
}

/// What a command tells piece by piece, from several threads; the first loss is complained of, and
/// no more is told.
#[derive(Default)]
pub(crate) struct Told(Mutex<Option<bool>>);

impl Told {
    /// Tells a piece.
    pub(crate) fn print(&self, text: &str) {
        self.write(text.as_bytes());
    }

    /// Tells a piece that may be no text.
    pub(crate) fn write(&self, bytes: &[u8]) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.is_some() {
            return;
        }
        if let Err(error) = write(bytes) {
            *all = Some(told(Err(error)));
        }
    }

    /// Whether all was told that there was a reader for.
    pub(crate) fn all(&self) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.unwrap_or(true)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output")]
struct Unprinted(#[source] io::Error);

fn unprinted(error: io::Error) {
    complain(&Unprinted(error), None);
}
