//! What does not come with a call's halves, and belongs to it: what was read from memory, and the signals that interrupt it.

use super::call::{Observation, Outcome};
use super::thread::{Early, settle, signalled};
use super::track::Tracker;
use crate::memory::{Handled, Memory, Part};
use crate::units::{Pid, Tid};

impl Tracker {
    /// What was read from memory for a call; it may come before or behind the half that it belongs to.
    pub fn contents(
        &mut self,
        (pid, tid): (Pid, Tid),
        number: i32,
        part: Part,
        memory: Memory,
        out: &mut Vec<Observation>,
    ) {
        let place = self.place(pid, tid, out);
        let thread = &mut self.threads[place];
        let pending = thread.pending.as_mut();
        let pending = pending.filter(|pending| pending.is_read_as(number));
        let returned = thread.returned.as_mut();
        match (part, pending, returned, &mut thread.early) {
            (Part::Exit, _, Some(call), _) if call.number == number => {
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
            (Part::Within | Part::Exit, None, _, Some(early)) if early.number == number => {
                early.memory.extend(memory);
                early.more &= part != Part::Exit;
            }
            (Part::Entry { more }, Some(pending), ..) if !pending.has_contents() => {
                (pending.memory, pending.more) = (memory, more);
            }
            (Part::Entry { more }, ..) => {
                thread.early = Some(Early {
                    number,
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
