//! `-e signal=SET`: shows signals that are delivered, as strace does.

use nix::libc;
use perf_records::units::Nanos;
use std::collections::HashMap;
use syscall_model::Actor;
use syscall_model::signals::{counted_signal, signal_by};
use trace_harness::plan::{Wanted, WantedEvent};
use trace_harness::report::Delivered;
use trace_harness::trace::{FieldValue, TracedEvent};

const DELIVER: &str = "signal:signal_deliver";
const GENERATE: &str = "signal:signal_generate";

/// Returns the words of `-e` without those that name signals, and the wants of these; none if no
/// word names a signal.
pub(super) fn split(sets: &[String]) -> Result<(Vec<String>, Vec<Wanted>), String> {
    let (mut rest, mut wanted) = (Vec::new(), Vec::new());
    for set in sets {
        match of_signals(set) {
            None => rest.push(set.clone()),
            Some("none" | "!all") => {}
            Some(names) => {
                let filter = filter(names)?;
                for name in [GENERATE, DELIVER] {
                    wanted.push(Wanted::Event(WantedEvent {
                        name: name.to_owned(),
                        filter: filter.clone(),
                        ..WantedEvent::default()
                    }));
                }
            }
        }
    }
    Ok((rest, wanted))
}

/// Whether a set of `-e` names signals.
pub(super) fn is_of_signals(set: &str) -> bool {
    of_signals(set).is_some()
}

fn of_signals(set: &str) -> Option<&str> {
    let (word, names) = set.split_once('=')?;
    ["signal", "signals", "s"].contains(&word).then_some(names)
}

/// The kernel's filter for `SIGTERM,int` or `!SIGCHLD`; `None` for all.
fn filter(names: &str) -> Result<Option<String>, String> {
    if names == "all" || names == "!none" {
        return Ok(None);
    }
    let (is_negated, names) = match names.strip_prefix('!') {
        Some(names) => (true, names),
        None => (false, names),
    };
    let mut tests = Vec::new();
    for name in names.split(',') {
        let number = signal_by(name).ok_or_else(|| format!("-e signal=: {}", no_signal(name)))?;
        tests.push(match is_negated {
            true => format!("sig != {number}"),
            false => format!("sig == {number}"),
        });
    }
    if !is_negated {
        // A process that dies of one of them gets this signal (see below).
        tests.push(format!("sig == {}", libc::SIGKILL));
    }
    let between = if is_negated { " && " } else { " || " };
    Ok(Some(tests.join(between)))
}

/// That a word names no signal, and which is meant.
pub(super) fn no_signal(word: &str) -> String {
    let meant = counted_signal(word).map(|name| format!(", and that of C is `{name}` here"));
    format!("there is no signal `{word}`{}", meant.unwrap_or_default())
}

/// Signals on their way.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// The last one sent with this number to this thread or process.
    sent: HashMap<(i32, i32), Sent>,
    n_sent: u64,
}

/// A signal on its way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    sender: u32,
    code: i32,
    number: u64,
}

/// What an event says of a signal.
pub(super) enum Step {
    /// Nothing.
    Other,
    /// It was sent, and is not shown yet.
    Sent,
    /// It was delivered.
    Delivered(Delivered),
}

impl Signals {
    /// Takes an event.
    pub(super) fn event(&mut self, actor: &Actor, time: Nanos, event: &TracedEvent) -> Step {
        let number = |name: &str| {
            let mut fields = event.fields.iter();
            let value = fields.find(|(known, _)| **known == *name);
            match value.map(|(_, value)| value) {
                Some(FieldValue::Named(_, number) | FieldValue::Number(number)) => {
                    i32::try_from(*number).unwrap_or(-1)
                }
                Some(FieldValue::Task(id)) => *id,
                _ => 0,
            }
        };
        let signal = number("sig");
        match &*event.name {
            GENERATE => {
                self.n_sent += 1;
                let sent = Sent {
                    sender: actor.pid.0,
                    code: number("code"),
                    number: self.n_sent,
                };
                // An ignored signal never arrives (TRACE_SIGNAL_IGNORED), and a second one is
                // dropped while one is pending.
                if number("result") == 0 {
                    self.sent.insert((number("pid"), signal), sent);
                }
                Step::Sent
            }
            DELIVER => {
                let ids = [actor.tid.0 as i32, actor.pid.0 as i32];
                // For a signal that ends a process, the kernel makes SIGKILL for all of its threads
                // (complete_signal(), kernel/signal.c). If none was sent, the threads end for
                // another reason: one of them called exit_group(2) or execve(2).
                let signal = match signal {
                    libc::SIGKILL => match self.last_sent(ids) {
                        Some(signal) => signal,
                        None => return Step::Sent,
                    },
                    signal => signal,
                };
                let mut sent = None;
                for id in ids {
                    sent = sent.or(self.sent.remove(&(id, signal)));
                }
                let sender = sent.map(|sent| sent.sender);
                let code = sent.map_or_else(|| number("code"), |sent| sent.code);
                let handler = event
                    .fields
                    .iter()
                    .find(|(name, _)| **name == *"sa_handler");
                let is_default = handler.is_some_and(|(_, value)| {
                    matches!(value, FieldValue::Number(0) | FieldValue::Address(0))
                });
                Step::Delivered(Delivered {
                    actor: *actor,
                    time,
                    signal,
                    code,
                    errno: number("errno"),
                    // A signal that the kernel sends by itself has no sender, whichever task was
                    // running then.
                    sender: sender.filter(|_| is_somebodys(signal, code)),
                    is_default,
                })
            }
            _ => Step::Other,
        }
    }
}

impl Signals {
    /// Returns the signal that was last sent to any of these and has not arrived.
    fn last_sent(&self, ids: [i32; 2]) -> Option<i32> {
        let sent = self.sent.iter();
        let theirs = sent.filter(|((id, _), _)| ids.contains(id));
        let last = theirs.max_by_key(|(_, sent)| sent.number);
        last.map(|((_, signal), _)| *signal)
    }
}

/// Whether a signal with such a code has a sender: a process that sent it, or a child that changed
/// its state.
fn is_somebodys(signal: i32, code: i32) -> bool {
    let of_child = signal == libc::SIGCHLD && code > 0 && code < 0x80;
    matches!(code, 0 | -1 | -6) || of_child
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_named_with_and_without_their_prefix() {
        for (names, expected) in [
            ("all", None),
            ("SIGTERM", Some("sig == 15 || sig == 9")),
            ("int,TERM", Some("sig == 2 || sig == 15 || sig == 9")),
            ("!chld,34", Some("sig != 17 && sig != 34")),
        ] {
            assert_eq!(filter(names), Ok(expected.map(str::to_owned)), "{names}");
        }
        for wrong in ["SIGFOO", "", "0", "65", "TERM,"] {
            assert!(filter(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_names_signals_is_taken_from_the_rest() {
        let sets = ["openat", "signal=none", "s=term"].map(str::to_owned);
        let (rest, wanted) = split(&sets).expect("sets");
        assert_eq!(rest, ["openat"]);
        assert_eq!(wanted.len(), 2);
    }
}
