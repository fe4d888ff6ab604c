//! All output of the program: results on standard output, all else on standard error.
//!
//! If standard output is full or closed, a command ends with an error: no result is lost silently.
//! A reader that has gone (`| head`) is no error: a command that only prints ends at once, with the
//! status of a death by SIGPIPE; one that does work besides goes on, and its status tells of that
//! work. A message that cannot be written to standard error is dropped, unless the trace or the
//! counts go there.

use crate::{complain, status};
use nix::errno::Errno;
use perf_live::sys::standard;
use perf_records::perfdata::Feature;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};

/// Prints a line on standard error.
macro_rules! note {
    ($($word:tt)*) => {
        $crate::out::say(format_args!("{}\n", format_args!($($word)*)))
    };
}

/// Prints a text in place of the one before, without the end of the line; only for what
/// [`has_sequences`].
macro_rules! note_for_now {
    ($($word:tt)*) => {
        $crate::out::say_over(format_args!($($word)*))
    };
}

pub(crate) use {note, note_for_now};

pub(crate) fn say(text: std::fmt::Arguments<'_>) {
    // If standard error cannot be written, no message can be.
    let _lost = anstream::stderr().lock().write_fmt(text);
}

/// Says what a pipe's stream of perf.data lacks, and the file would have.
pub(crate) fn say_left_out(features: &[(Feature, usize)]) {
    for (feature, length) in features {
        let number = feature.0.to_string();
        let name = feature.name().unwrap_or(&number);
        note!("  feature {name} is left out: a pipe's record has no room for its {length} bytes");
    }
}

/// Returns to the start of the line, and erases it. `NO_COLOR` is about colours, and leaves it.
const ERASED: &str = "\r\u{1b}[K";

pub(crate) fn say_over(text: std::fmt::Arguments<'_>) {
    // If standard error cannot be written, no message can be.
    let _lost = write!(io::stderr().lock(), "{ERASED}{text}");
}

/// Whether text for this stream has colours: a terminal gets them, unless its user wants none
/// (`NO_COLOR`, `TERM=dumb`).
pub(crate) fn has_colors(stream: &impl IsTerminal) -> bool {
    let none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !none && has_sequences(stream)
}

/// Whether a stream is a terminal that knows sequences, by which a line is written anew.
pub(crate) fn has_sequences(stream: &impl IsTerminal) -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    stream.is_terminal() && !is_dumb
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

/// Returns standard error, if a result goes there.
pub(crate) fn stderr() -> io::Result<io::Stderr> {
    open(ERROR)?;
    Ok(io::stderr())
}

/// Returns the status of a command that only prints: `of` if all was printed, `trouble` if not.
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

/// Whether a working command has reported its result: a reader that has gone needs no more.
pub(crate) fn told(printed: io::Result<()>) -> bool {
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            unprinted(error);
            false
        }
        _ => true,
    }
}

/// Prints a report piece by piece, from several threads. The first loss is reported, and after it
/// no more is printed.
#[derive(Default)]
pub(crate) struct Told(Mutex<Option<bool>>);

impl Told {
    /// Prints a piece.
    pub(crate) fn print(&self, text: &str) {
        self.write(text.as_bytes());
    }

    /// Prints a piece that may be no text.
    pub(crate) fn write(&self, bytes: &[u8]) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.is_some() {
            return;
        }
        if let Err(error) = write(bytes) {
            *all = Some(told(Err(error)));
        }
    }

    /// Whether all was printed, as far as there was a reader.
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
