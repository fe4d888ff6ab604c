//! Bytes of an input, a window of them at a time, with their place.

use super::ReadError;
use std::io::{self, Read};

/// How much is read at once, in bytes.
const CHUNK: usize = 256 * 1024;

/// A window on an input: it holds at least what was asked for last, and little more.
#[derive(Debug)]
pub(super) struct Input<R> {
    inner: R,
    window: Vec<u8>,
    /// Where in the window the next byte is.
    start: usize,
    /// Where in the input it is.
    at: u64,
    /// Where the input ends, if that is known; whatever is behind it is not read.
    end: Option<u64>,
    is_over: bool,
}

impl<R> Input<R> {
    pub(super) fn new(inner: R, at: u64, end: Option<u64>) -> Self {
        Self {
            inner,
            window: Vec::new(),
            start: 0,
            at,
            end,
            is_over: false,
        }
    }

    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// What is in the window.
    pub(super) fn bytes(&self) -> &[u8] {
        self.window.get(self.start..).unwrap_or_default()
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.window.get_mut(self.start..).unwrap_or_default()
    }

    /// Steps over bytes of the window.
    pub(super) fn consume(&mut self, length: usize) {
        self.start = self.start.saturating_add(length).min(self.window.len());
        self.at = self.at.saturating_add(length as u64);
    }
}

impl<R: Read> Input<R> {
    /// Reads until the window has this many bytes or the input is over; says whether it has them.
    /// What is allocated is at most twice what came.
    pub(super) fn fill(&mut self, length: usize, what: &'static str) -> Result<bool, ReadError> {
        while self.bytes().len() < length && !self.is_over {
            self.read(what)?;
        }
        Ok(self.bytes().len() >= length)
    }

    fn read(&mut self, what: &'static str) -> Result<(), ReadError> {
        self.window.drain(..self.start.min(self.window.len()));
        self.start = 0;
        let held = self.window.len();
        let behind = self.at.saturating_add(held as u64);
        let left = self.end.map_or(u64::MAX, |end| end.saturating_sub(behind));
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(CHUNK);
        self.window.resize(held.saturating_add(wanted), 0);
        let room = self.window.get_mut(held..).unwrap_or_default();
        let result = read_some(&mut self.inner, room);
        let came = *result.as_ref().unwrap_or(&0);
        self.window.truncate(held.saturating_add(came));
        self.is_over = came == 0;
        result.map(drop).map_err(|source| ReadError::Io {
            at: behind,
            what,
            source,
        })
    }

    /// The first bytes of the window, all of which must be there.
    #[inline]
    pub(super) fn need(&mut self, length: u64, what: &'static str) -> Result<(), ReadError> {
        // What lies behind the end never comes into the window.
        if self.bytes().len() as u64 >= length {
            return Ok(());
        }
        self.come(length, what)
    }

    fn come(&mut self, length: u64, what: &'static str) -> Result<(), ReadError> {
        let at = self.at;
        let wanted = usize::try_from(length).unwrap_or(usize::MAX);
        let is_within = self.end.is_none_or(|end| length <= end.saturating_sub(at));
        if is_within && self.fill(wanted, what)? {
            return Ok(());
        }
        let there = match self.end {
            Some(end) if !is_within => end.saturating_sub(at),
            _ => self.bytes().len() as u64,
        };
        Err(ReadError::Ends {
            at,
            what,
            needs: length,
            there,
        })
    }

    /// Whether what is to be there has come, once nothing more does.
    pub(super) fn check_end(&self, what: &'static str) -> Result<(), ReadError> {
        match self.end {
            Some(end) if self.at < end => Err(ReadError::Ends {
                at: self.at,
                what,
                needs: end.saturating_sub(self.at),
                there: 0,
            }),
            _ => Ok(()),
        }
    }
}

/// Reads once, again after a signal.
fn read_some(input: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(room) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
