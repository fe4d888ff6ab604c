//! What a harness that runs on another kernel says: lines of JSON, messages, a status.

use crate::status;
use perf_records::units::{shown, shown_lines};
use std::ffi::OsString;
use trace_harness::matrix::{Printed, Trouble};

/// How a command ended that was to be `harness run`.
pub(super) struct Ended<'a> {
    pub(super) status: i32,
    /// The program that it was to run under, with its arguments; may be empty.
    pub(super) under: &'a [OsString],
    /// What it wrote to standard error.
    pub(super) said: &'a [u8],
    /// Whether a line of a harness came.
    pub(super) has_told: bool,
}

impl Ended<'_> {
    /// Whether `harness run` did its work, by its status; if not, what it printed. Of a program
    /// that it was to run under and that did not run it, the status says nothing.
    pub(super) fn tell(&self) -> Result<(), Trouble> {
        let Self {
            status, has_told, ..
        } = *self;
        let is_verdict = [status::PASSED, status::FAILED, status::ALL_SKIPPED]
            .into_iter()
            .any(|known| i32::from(known) == status);
        let said = String::from_utf8_lossy(self.said);
        let lines: Vec<_> = shown_lines(said.trim()).collect();
        // Or a scenario was broken, which its cell shows.
        let is_told = is_verdict || lines.is_empty() && status == i32::from(status::TROUBLE);
        if is_told && has_told {
            return Ok(());
        }
        let said = match (has_told, self.under.first()) {
            (true, _) => format!("`harness run` ended with status {status} there"),
            (false, None) => {
                format!("`harness run` ended with status {status} there, and told of no scenario")
            }
            (false, Some(under)) => format!(
                "`{}`, under which the harness was to run (`under`), ended with status {status}, \
                 and no word of the harness came",
                shown(&under.to_string_lossy())
            ),
        };
        Err(Trouble {
            printed: Printed::of("it said", &lines.join("\n")),
            ..Trouble::from(said)
        })
    }
}

/// Collects pieces into whole lines.
#[derive(Default)]
pub(super) struct Lines(Vec<u8>);

impl Lines {
    pub(super) fn take(&mut self, bytes: &[u8], hear: &mut dyn FnMut(&str)) {
        for byte in bytes {
            if *byte == b'\n' {
                hear(&String::from_utf8_lossy(&std::mem::take(&mut self.0)));
            } else {
                self.0.push(*byte);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_pieces_are_whole() {
        let (mut lines, mut heard) = (Lines::default(), Vec::new());
        for piece in ["a", "b\nc\n", "\n", "d"] {
            lines.take(piece.as_bytes(), &mut |line| heard.push(line.to_owned()));
        }
        assert_eq!(heard, ["ab", "c", ""]);
    }

    fn tell(status: i32, said: &[u8], under: &[&str], has_told: bool) -> Option<String> {
        let under: Vec<OsString> = under.iter().map(OsString::from).collect();
        let ended = Ended {
            status,
            under: &under,
            said,
            has_told,
        };
        ended.tell().err().map(|trouble| trouble.to_string())
    }

    #[test]
    fn a_status_that_is_no_verdict_is_trouble() {
        assert_eq!(tell(1, b"warning", &[], true), None);
        assert_eq!(tell(99, b"", &[], true), None);
        assert_eq!(
            tell(2, b"error: a\nb\n", &[], true).unwrap(),
            "`harness run` ended with status 2 there; it said:\n    error: a\n    b"
        );
    }

    #[test]
    fn a_program_that_did_not_run_the_harness_under_it_is_named_with_its_status() {
        assert_eq!(
            tell(1, b"", &["/bin/false", "-x"], false).unwrap(),
            "`/bin/false`, under which the harness was to run (`under`), ended with status 1, and \
             no word of the harness came"
        );
        assert_eq!(tell(1, b"", &["setpriv"], true), None);
        let alone = tell(0, b"", &[], false).unwrap();
        assert!(
            alone.ends_with("ended with status 0 there, and told of no scenario"),
            "{alone}"
        );
    }
}
