//! What does not come with a call's halves, and belongs to it: what was read from memory, and the
//! signals that interrupt it.

use super::call::{Observation, Outcome};
use super::many::made_as;
use super::pointers;
use super::thread::{Early, is_one_of, settle, signalled};
use super::track::Tracker;
use crate::memory::{Handled, Memory, Part};
use crate::names::Abi;
use perf_records::units::{Pid, Tid};

/// Calls that write where what they are given lies or says, with nothing that is read at their exit
/// to tell where (a [`Memory`] compares the places for all others). What is read behind their entry
/// may not be what they were given.
const WRITES_WHERE: &[&str] = &[
    "clone3",
    "copy_file_range",
    "file_getattr",
    "getxattrat",
    "keyctl",
    "name_to_handle_at",
    "quotactl",
    "recvmmsg",
    "recvmmsg_time64",
    "splice",
];

impl Tracker {
    /// What was read from memory for a call; it may come before or behind the half that it belongs
    /// to.
    pub fn contents(
        &mut self,
        (pid, tid): (Pid, Tid),
        (abi, number): (Abi, i32),
        part: Part,
        mut memory: Memory,
        out: &mut Vec<Observation>,
    ) {
        if !matches!(part, Part::Entry { .. }) && is_one_of(abi, number, WRITES_WHERE) {
            memory.forget_what_was_given();
        }
        pointers::widen(abi, number, &mut memory);
        let place = self.place(pid, tid, out);
        let thread = &mut self.threads[place];
        let pending = thread.pending.as_mut();
        let pending = pending.filter(|pending| pending.is_read_as(abi, number));
        let returned = thread.returned.as_mut();
        match (part, pending, returned, &mut thread.early) {
            (Part::Exit, _, Some(call), _) if (call.abi, call.number) == made_as(abi, number) => {
                call.memory.extend(memory);
                if !matches!(call.outcome, Outcome::Interrupted { .. }) {
                    settle(thread, out);
                }
            }
            (Part::Exit, Some(pending), ..) => {
                pending.memory.extend(memory);
                pending.more = false;
            }
            (Part::Within, Some(pending), ..) => pending.add_within(memory),
            // The workload's own execve, which is not seen to enter.
            (Part::Within | Part::Exit, None, _, Some(early)) if early.call == (abi, number) => {
                early.memory.extend(memory);
                early.more &= part != Part::Exit;
            }
            (Part::Entry { more }, Some(pending), ..) if !pending.has_contents() => {
                (pending.memory, pending.more) = (memory, more);
            }
            (Part::Entry { more }, ..) => {
                thread.early = Some(Early {
                    call: (abi, number),
                    memory,
                    more,
                });
            }
            // Of a call whose halves are not in the records.
            (Part::Within | Part::Exit, ..) => {}
        }
    }

    /// A signal that came while an interrupted call returned.
    pub fn signal(
        &mut self,
        (pid, tid): (Pid, Tid),
        handled: Option<Handled>,
        out: &mut Vec<Observation>,
    ) {
        let place = self.place(pid, tid, out);
        if let Some(handled) = handled {
            signalled(&mut self.threads[place], handled, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sources;
    use crate::memory::{Moment, Piece, State};
    use crate::names;
    use perf_records::units::Nanos;

    const WHO: (Pid, Tid) = (Pid(10), Tid(10));

    fn native(name: &str) -> (Abi, i32) {
        (Abi::native(), number(name))
    }

    fn number(name: &str) -> i32 {
        names::number(Abi::native(), name).unwrap() as i32
    }

    fn read(path: &str, argument: u8) -> Memory {
        Memory::new(vec![Piece {
            argument,
            element: 0,
            moment: Moment::Enter,
            address: 1,
            state: State::Whole,
            bytes: path.as_bytes().into(),
        }])
    }

    fn enter(tracker: &mut Tracker, name: &str, out: &mut Vec<Observation>) {
        tracker.enter(WHO, Nanos(1), Abi::native(), number(name), [7; 6], out);
    }

    fn leave(tracker: &mut Tracker, name: &str, value: i64, out: &mut Vec<Observation>) {
        let call = (Abi::native(), number(name));
        tracker.leave(WHO, Nanos(2), call, value, out);
    }

    /// The outcomes of the calls so far, and the paths that were read for them.
    fn calls(out: &mut Vec<Observation>) -> Vec<(Outcome, String)> {
        let call = |observation: Observation| match observation {
            Observation::Call(call) => {
                let pieces = call.memory.strings(1);
                let paths = pieces.map(|piece| String::from_utf8_lossy(&piece.bytes).into_owned());
                Some((call.outcome, paths.collect()))
            }
            _ => None,
        };
        out.drain(..).filter_map(call).collect()
    }

    fn returned(value: i64) -> Outcome {
        Outcome::Returned {
            time: Nanos(2),
            value,
        }
    }

    #[test]
    fn what_a_call_was_given_that_writes_there_itself_is_known_at_its_entry_alone() {
        let read_by = |name: &str, is_late: bool| {
            let (mut tracker, mut out) = (Tracker::default(), Vec::new());
            let entry = Part::Entry { more: is_late };
            enter(&mut tracker, name, &mut out);
            let first = if is_late {
                Memory::default()
            } else {
                read("given", 1)
            };
            tracker.contents(WHO, native(name), entry, first, &mut out);
            if is_late {
                let (within, exit) = (Part::Within, Part::Exit);
                tracker.contents(WHO, native(name), within, read("late", 1), &mut out);
                tracker.contents(WHO, native(name), exit, Memory::default(), &mut out);
            }
            leave(&mut tracker, name, 3, &mut out);
            calls(&mut out).remove(0).1
        };
        assert_eq!(
            (read_by("clone3", true), read_by("clone3", false)),
            ("".into(), "given".into())
        );
        assert_eq!(
            (read_by("openat", true), read_by("openat", false)),
            ("late".into(), "given".into())
        );
    }

    #[test]
    fn what_was_read_is_the_calls_own_whichever_comes_first() {
        let open = number("openat");
        let entry = Part::Entry { more: true };
        for is_first in [true, false] {
            let (mut tracker, mut out) = (Tracker::default(), Vec::new());
            if is_first {
                tracker.contents(WHO, (Abi::native(), open), entry, read("", 1), &mut out);
            }
            enter(&mut tracker, "openat", &mut out);
            if !is_first {
                tracker.contents(WHO, (Abi::native(), open), entry, read("", 1), &mut out);
                tracker.contents(
                    WHO,
                    (Abi::native(), open),
                    Part::Exit,
                    read("/a", 1),
                    &mut out,
                );
            }
            leave(&mut tracker, "openat", 3, &mut out);
            if is_first {
                assert_eq!(calls(&mut out), [], "its exit's memory has not come");
                tracker.contents(
                    WHO,
                    (Abi::native(), open),
                    Part::Exit,
                    read("/a", 1),
                    &mut out,
                );
            }
            assert_eq!(calls(&mut out), [(returned(3), "/a".to_owned())]);
            enter(&mut tracker, "openat", &mut out);
            leave(&mut tracker, "openat", 4, &mut out);
            assert_eq!(calls(&mut out), [(returned(4), String::new())]);
        }
    }

    fn told_of_signals() -> Tracker {
        Tracker::new(Sources {
            signals: true,
            ..Sources::default()
        })
    }

    /// What becomes of a `read` that leaves with this error, after a signal that is handled so.
    fn interrupted(error: i64, handled: Option<Handled>) -> Vec<Outcome> {
        let (mut tracker, mut out) = (told_of_signals(), Vec::new());
        enter(&mut tracker, "read", &mut out);
        leave(&mut tracker, "read", error, &mut out);
        assert_eq!(calls(&mut out), [], "not known yet");
        tracker.signal(WHO, handled, &mut out);
        let next = if handled.is_some() { "write" } else { "read" };
        enter(&mut tracker, next, &mut out);
        calls(&mut out)
            .into_iter()
            .map(|(outcome, _)| outcome)
            .collect()
    }

    #[test]
    fn an_interrupted_call_is_what_the_program_sees_of_it() {
        let again = |errno| Outcome::Restarted {
            time: Nanos(2),
            errno,
        };
        let with = |restarts| Some(Handled { restarts });
        let eintr = returned(-i64::from(libc::EINTR));
        assert_eq!(interrupted(-512, with(true)), [again(512)]);
        assert_eq!(interrupted(-512, with(false)), [eintr]);
        assert_eq!(interrupted(-513, with(false)), [again(513)]);
        assert_eq!(interrupted(-514, with(true)), [eintr]);
        assert_eq!(interrupted(-516, with(true)), [eintr]);
        assert_eq!(interrupted(-512, None), [again(512)]);
    }

    #[test]
    fn a_thread_that_dies_in_an_interrupted_call_never_sees_it_return() {
        let (mut tracker, mut out) = (told_of_signals(), Vec::new());
        enter(&mut tracker, "read", &mut out);
        leave(&mut tracker, "read", -512, &mut out);
        tracker.finish(&mut out);
        assert_eq!(calls(&mut out), [(Outcome::NeverReturned, String::new())]);
    }
}
