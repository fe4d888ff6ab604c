//! `harness run --status bisect`: the exit status as `git bisect run` takes it.
//!
//! git takes 0 for good, 125 for "cannot tell", all others up to 127 for bad, and stops at a higher
//! one. So whatever is not a result of scenarios must be a higher one.

use crate::signals::asked_of;
use crate::status;
use clap::ValueEnum;
use nix::sys::signalfd::SignalFd;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use trace_harness::run::ScenarioReport;
use trace_harness::verdict::Sign;

/// What the exit status is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusFor {
    /// Scripts and CI, as below
    Verdict,
    /// `git bisect run`: 0 all passed, 1 some scenario failed, 125 it cannot be told, 255 stop
    Bisect,
}

/// It cannot be told whether the revision is good.
pub(super) const CANNOT_TELL: u8 = 125;

/// Nothing is known of any revision: the bisect is to stop.
pub(crate) const STOP: u8 = 255;

/// Returns the status by what the scenarios came to, or that of the signal that interrupted them.
pub(super) fn of(reports: &[ScenarioReport], signals: &SignalFd) -> u8 {
    if let Some(signal) = asked_of(signals) {
        return signal;
    }
    let signs = reports
        .iter()
        .map(|report| Sign::of(report.verdict, &report.findings));
    match Sign::of_all(signs) {
        Sign::Good => status::PASSED,
        Sign::Bad => status::FAILED,
        Sign::Unclear => CANNOT_TELL,
    }
}

/// Runs, and lets no status through that would steer a bisect and is none of [`of`]: `told` says
/// whether it is one.
pub(super) fn guard(run: impl FnOnce() -> (u8, bool)) -> u8 {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok((status, true)) => status,
        Ok((status, false)) if status > 127 => status,
        _ => STOP,
    }
}

/// Whether a command line, which may be wrong, asks for it.
pub(crate) fn is_asked_for(words: impl Iterator<Item = OsString>) -> bool {
    let mut words = words.skip(1);
    if words.next().is_none_or(|command| command != "run") {
        return false;
    }
    let mut before = OsString::new();
    for word in words {
        if word == "--" {
            break;
        }
        if word == "--status=bisect" || (before == "--status" && word == "bisect") {
            return true;
        }
        before = word;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_result_of_scenarios_stops_a_bisect() {
        assert_eq!(guard(|| (1, true)), 1);
        assert_eq!(guard(|| (125, true)), 125);
        for status in [0, 1, 2, 77, 99, 125, 126, 127] {
            assert_eq!(guard(|| (status, false)), STOP, "{status}");
        }
        assert_eq!(guard(|| (130, false)), 130);
        assert_eq!(guard(|| panic!("as planned")), STOP);
    }

    #[test]
    fn a_command_line_that_is_wrong_still_says_what_its_status_is_for() {
        let asks = |line: &str| is_asked_for(line.split(' ').map(OsString::from));
        assert!(asks("harness run --status bisect --fliter x scenarios"));
        assert!(asks("harness run --frob --status=bisect"));
        assert!(!asks("harness run --status verdict bisect"));
        assert!(!asks("harness run -- --status bisect"));
        assert!(!asks("harness trace --status bisect"));
        assert!(!asks("harness"));
    }
}
