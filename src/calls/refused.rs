//! Calls that a seccomp filter took away before they were entered: answered they have a result,
//! refused by a signal they have none.

use super::call::{Observation, Outcome};
use super::sources::Sources;
use super::track::Tracker;
use perf_records::units::{Nanos, Pid, Tid};

impl Tracker {
    /// A seccomp filter sends the thread `SIGSYS` in place of a call, which it leaves next
    /// (`force_sig_seccomp()`). Where the thread is in a call that it was seen to enter, it sends
    /// that signal to itself.
    pub fn refused(&mut self, (pid, tid): (Pid, Tid), out: &mut Vec<Observation>) {
        let place = self.place(pid, tid, out);
        let thread = &mut self.threads[place];
        thread.refused = thread.pending.is_none();
    }
}

/// What became of a call that was left with this value and not seen to enter.
pub(super) fn unseen_outcome(
    sources: Sources,
    refused: bool,
    (time, number, value): (Nanos, i32, i64),
    outcome: Outcome,
) -> Outcome {
    if refused {
        return Outcome::Refused { time };
    }
    match sources.refusals || !may_be_refused(number, value) {
        true => outcome,
        false => Outcome::Untold { time },
    }
}

/// Whether the result may be none: a filter that refuses a call by `SIGSYS` leaves in the result's
/// register what was there before (`syscall_rollback()`), which on x86 is the call's number, and on
/// aarch64 its first argument.
fn may_be_refused(number: i32, value: i64) -> bool {
    cfg!(target_arch = "aarch64") || value == i64::from(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Abi;

    const WHO: (Pid, Tid) = (Pid(10), Tid(10));
    const SOCKET: i64 = libc::SYS_socket;

    fn tracker(refusals: bool) -> Tracker {
        let mut tracker = Tracker::new(Sources {
            refusals,
            ..Sources::default()
        });
        // Its first call is of no interest: it may be the workload's own execve.
        leave(&mut tracker, libc::SYS_getpid, 1);
        tracker
    }

    fn leave(tracker: &mut Tracker, number: i64, value: i64) -> Outcome {
        let mut out = Vec::new();
        let call = (Abi::native(), number as i32);
        tracker.leave(WHO, Nanos(2), call, value, &mut out);
        match out.pop() {
            Some(Observation::Call(call)) => call.outcome,
            other => panic!("{other:?}"),
        }
    }

    fn returned(value: i64) -> Outcome {
        Outcome::Returned {
            time: Nanos(2),
            value,
        }
    }

    #[test]
    fn a_call_that_a_filter_refused_by_a_signal_has_no_result() {
        let mut tracker = tracker(true);
        tracker.refused(WHO, &mut Vec::new());
        let refused = Outcome::Refused { time: Nanos(2) };
        assert_eq!(leave(&mut tracker, SOCKET, SOCKET), refused);
        // A supervisor may answer with that number.
        assert_eq!(leave(&mut tracker, SOCKET, SOCKET), returned(SOCKET));
    }

    #[test]
    fn a_program_that_sends_itself_the_signal_is_refused_nothing() {
        let mut tracker = tracker(true);
        let mut out = Vec::new();
        let sends = libc::SYS_rt_tgsigqueueinfo;
        tracker.enter(WHO, Nanos(1), Abi::native(), sends as i32, [0; 6], &mut out);
        tracker.refused(WHO, &mut out);
        assert_eq!(leave(&mut tracker, sends, 0), returned(0));
        assert_eq!(leave(&mut tracker, SOCKET, 7), returned(7));
    }

    #[test]
    fn a_call_that_was_never_entered_and_returned_no_error_was_answered_and_not_made() {
        let mut tracker = tracker(true);
        let mut out = Vec::new();
        let number = libc::SYS_fsync as i32;
        let call = (Abi::native(), number);
        for (is_entered, value, is_answered) in
            [(false, 0, true), (false, -1, false), (true, 0, false)]
        {
            if is_entered {
                tracker.enter(WHO, Nanos(1), call.0, number, [0; 6], &mut out);
            }
            tracker.leave(WHO, Nanos(2), call, value, &mut out);
            let Some(Observation::Call(call)) = out.pop() else {
                panic!("{out:?}");
            };
            assert_eq!(call.is_answered(), is_answered, "{call:?}");
        }
    }

    #[test]
    fn where_nothing_tells_of_refusals_the_number_of_a_call_is_no_certain_result() {
        let mut tracker = tracker(false);
        let untold = Outcome::Untold { time: Nanos(2) };
        assert_eq!(leave(&mut tracker, SOCKET, SOCKET), untold);
        if cfg!(target_arch = "x86_64") {
            assert_eq!(leave(&mut tracker, SOCKET, -1), returned(-1));
        }
    }
}
