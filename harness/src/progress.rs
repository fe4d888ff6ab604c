//! How far a command is with many runs, and how long those that are left may take: told on a
//! terminal alone, in a line that is written over.

use crate::out::{self, note_for_now};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Runs that are made, and a line that tells of them.
pub(crate) struct Progress {
    /// What they are: `runs`.
    what: &'static str,
    of: usize,
    began: Instant,
    done: Mutex<usize>,
    is_shown: bool,
}

impl Progress {
    /// Begins with so many.
    pub(crate) fn begin(of: usize, what: &'static str) -> Self {
        Self {
            what,
            of,
            began: Instant::now(),
            done: Mutex::new(0),
            is_shown: out::has_sequences(&std::io::stderr()),
        }
    }

    /// Tells that one more is done.
    pub(crate) fn one_more(&self) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += 1;
        if self.is_shown {
            note_for_now!("{}", self.line(*done, self.began.elapsed()));
        }
    }

    /// Takes the line away.
    pub(crate) fn end(&self) {
        if self.is_shown {
            note_for_now!("");
        }
    }

    fn line(&self, done: usize, took: Duration) -> String {
        match self.of.saturating_sub(done) {
            0 => String::new(),
            left => {
                let seconds = left_of(took, done, left).as_secs();
                format!(
                    "{done} of {} {}, about {seconds} s left",
                    self.of, self.what
                )
            }
        }
    }
}

/// How long the runs that are left will take if they are as the others.
fn left_of(took: Duration, done: usize, left: usize) -> Duration {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let each = took.checked_div(count(done)).unwrap_or_default();
    each.saturating_mul(count(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_many_are_done_and_how_long_the_others_take() {
        let progress = Progress::begin(300, "states");
        let line = |done| progress.line(done, Duration::from_secs(10));
        assert_eq!(line(100), "100 of 300 states, about 20 s left");
        assert_eq!(line(299), "299 of 300 states, about 0 s left");
        assert_eq!(line(300), "");
        // More than were said: nothing is left of them.
        assert_eq!(line(301), "");
    }
}
