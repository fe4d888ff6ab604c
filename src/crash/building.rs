//! From the calls that were seen to the log of what they changed.

use super::calls::is_held;
use super::looked::Looked;
use super::making::Builder;
use super::seen::{Act, FileId, Seen};
use super::{Log, LogError, NodeId, Step, Tree};
use perf_records::space::Stack;
use perf_records::units::Nanos;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use syscall_model::{Call, Entry, Outcome};

/// How a call ended, by its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its thread, as the harness numbers it.
    pub thread: u32,
    /// Its name in its convention.
    pub call: &'static str,
    /// What it returned, and when; `None` where it did not return.
    pub returned: Option<(Nanos, i64)>,
    /// Whether it never came to the kernel: a seccomp filter of the workload's own answered or
    /// refused it, and nothing could hold it.
    pub unentered: bool,
    /// The functions that led to it, if they were recorded.
    pub stack: Option<Arc<Stack>>,
}

/// How the calls of a run ended, those that are looked at.
#[derive(Debug, Default)]
pub struct Ends {
    /// In the order of their ends.
    pub all: Vec<Ended>,
    stack: Option<Arc<Stack>>,
}

impl Ends {
    /// Sets the functions that led to the next call.
    pub fn led_by(&mut self, stack: Arc<Stack>) {
        self.stack = Some(stack);
    }

    /// Takes a call, where promises are made by sockets (`sends`) or are not.
    pub fn take(&mut self, call: &Call, sends: bool) {
        let stack = self.stack.take();
        self.all.extend(Ended::of(call, sends, stack));
    }
}

impl Ended {
    fn of(call: &Call, sends: bool, stack: Option<Arc<Stack>>) -> Option<Self> {
        let name = call.name().filter(|name| is_held(name, sends))?;
        Some(Self {
            thread: call.actor.tid.0,
            call: name,
            unentered: matches!(call.entry, Entry::Missing),
            stack,
            returned: match call.outcome {
                Outcome::Returned { time, value } => Some((time, value)),
                Outcome::Restarted { time, errno } | Outcome::Interrupted { time, errno } => {
                    Some((time, -i64::from(errno)))
                }
                // It was not made.
                Outcome::Refused { time } => Some((time, -i64::from(libc::ENOSYS))),
                Outcome::Untold { .. } | Outcome::NeverReturned | Outcome::Missing => None,
            },
        })
    }
}

/// The log of a run, and what each of its steps was.
#[derive(Clone, Debug)]
pub struct Built {
    /// The log.
    pub log: Log,
    /// The folder behind its last step.
    pub last: Tree,
    /// The call of each step, for people.
    pub calls: Vec<String>,
    /// The functions that led to the call of each step, where they were recorded.
    pub from: Vec<Option<String>>,
    /// The bytes of each promise; behind them all is one more, the end of the run.
    pub promises: Vec<Vec<u8>>,
    /// Whether stores into some pages of a file were looked for alone, in front of a write to them:
    /// those into other pages may be behind the write in the log, and have come before it.
    pub in_parts: bool,
    /// Why the log may not be what happened; each makes it worth nothing.
    pub unknown: Vec<String>,
}

/// Pairs what was seen of calls with their ends, in each thread's order, and makes the log.
///
/// # Errors
/// [`LogError`]: what is built does not fit together.
pub fn build(
    start: Tree,
    inodes: HashMap<FileId, NodeId>,
    seen: Vec<Seen>,
    ended: Vec<Ended>,
) -> Result<Built, LogError> {
    let mut builder = Builder {
        now: start.clone(),
        next: start.nodes.keys().next_back().map_or(0, |last| last.0) + 1,
        inodes,
        nameless: VecDeque::new(),
        made: Vec::new(),
        steps: Vec::new(),
        calls: Vec::new(),
        from: Vec::new(),
        promises: Vec::new(),
        unknown: Vec::new(),
    };
    let mut ends: HashMap<u32, VecDeque<Ended>> = HashMap::new();
    for end in ended {
        ends.entry(end.thread).or_default().push_back(end);
    }
    let in_parts = seen.iter().any(|it| matches!(it.act, Act::StoredIn { .. }));
    let mut looked = Looked::default();
    // The last return of calls that changed something, and its thread.
    let mut busy: Option<(Nanos, u32)> = None;
    for it in &seen {
        if let Act::Mapped { .. } | Act::Stored { .. } | Act::StoredIn { .. } = &it.act {
            match looked.again(&it.act) {
                Some(shown) => builder.mapped(&shown),
                None => builder.doubt("what a mapped file held first was not seen".to_owned()),
            }
            continue;
        }
        let end = ends.get_mut(&it.thread).and_then(VecDeque::pop_front);
        if let Some(end) = end.as_ref().filter(|end| end.unentered) {
            builder.doubt(unentered(end.call));
            break;
        }
        let matters = !matches!(it.act, Act::Nothing);
        let Some(end) = end.filter(|end| end.call == it.call) else {
            builder.doubt(format!(
                "what became of a `{}` is not in the records",
                it.call
            ));
            break;
        };
        let (returned, stack) = (end.returned, end.stack);
        let Some((time, value)) = returned else {
            if matters {
                builder.doubt(format!("a `{}` did not return", it.call));
            }
            continue;
        };
        if !matters {
            continue;
        }
        if busy.is_some_and(|(until, thread)| thread != it.thread && it.time < until) {
            let call = it.call;
            builder.doubt(format!(
                "a `{call}` was made while another thread changed the folder: which came first is not known"
            ));
        }
        let later = busy.is_none_or(|(until, _)| until < time);
        busy = if later { Some((time, it.thread)) } else { busy };
        let since = builder.steps.len();
        builder.take(it, value);
        builder.led_by(since, stack.as_deref());
    }
    builder.step(Step::Acknowledged, "exit");
    let left: usize = ends.values().map(VecDeque::len).sum();
    let mut unmade = ends.values().flatten().filter(|end| end.unentered);
    if let (Some(end), true) = (unmade.next(), builder.unknown.is_empty()) {
        builder.doubt(unentered(end.call));
    }
    if left > 0 && builder.unknown.is_empty() {
        let left = match left {
            1 => "1 call was".to_owned(),
            n => format!("{n} calls were"),
        };
        builder.doubt(format!("{left} not seen while held"));
    }
    Ok(Built {
        log: Log::new(start, builder.made, builder.steps)?,
        last: builder.now,
        calls: builder.calls,
        from: builder.from,
        promises: builder.promises,
        in_parts,
        unknown: builder.unknown,
    })
}

impl Built {
    /// The number of promises until a text was written whole, the first time; `None` if it never
    /// was.
    #[must_use]
    pub fn promised(&self, text: &[u8]) -> Option<usize> {
        let mut said: Vec<u8> = Vec::new();
        self.promises
            .iter()
            .enumerate()
            .find_map(|(index, promise)| {
                // What was there before ends in the start of the text, at most.
                let rest = said.len().saturating_sub(text.len().saturating_sub(1));
                said.drain(..rest);
                said.extend(promise);
                let is_there = said.windows(text.len().max(1)).any(|it| it == text);
                is_there.then_some(index + 1)
            })
    }
}

fn unentered(call: &str) -> String {
    format!(
        "a seccomp filter, of the workload's own or of a policy, answered or refused a \
         `{call}`: the kernel did not make it, and nothing could hold it"
    )
}

#[cfg(test)]
mod tests;
