//! The key `trace`.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use std::num::NonZeroU64;

use super::chain::{CallChain, WrittenChain};
use super::counted::CountedSpec;
use super::flexible::{Entries, Flexible, Text, deserialize_flexible};
use super::model::Mark;
use super::probe::{Argument, KernelPlace, ProbeName, UserPlace, WrittenProbe};
use super::ring::{RingMode, RingSpec, WrittenRing};
use super::schema::{either, of, text_like};
use super::spans::{SpanSpec, WrittenSpan};
use perf_live::units::{Probe, SoftwareEvent, SoftwareKind};
use perf_records::attr::Sampling;

/// The events to record, and into how large a ring.
#[derive(Clone, Debug, Default)]
pub struct TraceSpec {
    /// What the author named, in order; empty where nothing was named, which means all syscalls.
    pub events: Vec<EventSpec>,
    /// Which of them are spans two by two, by their names; in the order of the file.
    pub spans: Vec<SpanSpec>,
    /// Where the trace starts.
    pub since: Since,
    /// The ring of each CPU.
    pub ring: RingSpec,
}

/// Where a trace starts: what comes before is neither shown nor judged.
#[derive(Clone, Debug, Default)]
pub enum Since {
    /// With the workload's own `execve`.
    #[default]
    Exec,
    /// In each process, behind the calls that the dynamic loader makes to start each program.
    Main,
    /// Behind a mark.
    Mark(Mark),
}

/// One element of `trace.events`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventSpec {
    /// Syscalls: names, globs (`rename*`), strace's classes (`%file`), `/regex`, and any of them
    /// taken away (`!futex`).
    Syscalls(Vec<String>),
    /// The same, and how the functions are found that led to them.
    Chained(Vec<String>, CallChain),
    /// Other events.
    Event(EventWish),
    /// Events that are counted, without records.
    Counted(CountedSpec),
}

/// An event that is no call, or several of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventWish {
    /// `system:event`; either half may be a glob.
    pub name: String,
    /// A filter in the kernel's language, as `events/*/filter` of tracefs takes it; never blank.
    pub filter: Option<String>,
    /// Which ring its records go to; `None` for that of [`RingSpec::mode`].
    pub ring: Option<RingMode>,
    /// The probe, if the event exists only after the harness has registered it; the event has the
    /// name that the author wrote.
    pub probe: Option<Probe>,
    /// How the functions that led to it are found; `None` if they are not wanted.
    pub callchain: Option<CallChain>,
    /// How often it is sampled, where not each occurrence has a record.
    pub sampling: Option<Sampling>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenTrace {
    /// What is recorded.
    pub(super) events: Option<Vec<EventSpec>>,
    /// Pairs of events, by the names that they have as one: `span:name`.
    pub(super) spans: Option<Entries<WrittenSpan>>,
    /// Where the trace starts.
    #[serde(default)]
    pub(super) since: Since,
    /// The ring of each CPU.
    #[serde(default)]
    pub(super) ring: WrittenRing,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenEvent {
    /// Names, globs, strace's classes, regular expressions, and any of them taken away.
    syscalls: Option<Vec<Selector>>,
    /// A tracepoint, an operation of io_uring, or a glob.
    event: Option<Tracepoint>,
    /// What is counted without records; those of a list at the same times.
    count: Option<CountedSpec>,
    /// A filter in the kernel's language.
    filter: Option<Filter>,
    /// Whether the newest records of this event overwrite the oldest, whatever `trace.ring.mode`
    /// says.
    ring: Option<RingMode>,
    /// A place in a program or library, `./bin/save:commit`: a path in the working directory, an
    /// absolute one, or a name that is looked for in the search path; a function, bytes behind it,
    /// or an offset in the file.
    uprobe: Option<UserPlace>,
    /// A function of a program or library: when it returns.
    uretprobe: Option<UserPlace>,
    /// A function of the kernel, `vfs_open`, or bytes behind it.
    kprobe: Option<KernelPlace>,
    /// A function of the kernel: when it returns.
    kretprobe: Option<KernelPlace>,
    /// What a probe reads: names of parameters, or the kernel's language: `path=+0(%di):ustring`,
    /// `$retval`.
    args: Option<Vec<Argument>>,
    /// What the events of a probe are called behind the colon, if not as the function.
    name: Option<ProbeName>,
    /// Whether the functions that led to it are recorded: `fp`, as frame pointers tell (also
    /// `true`); `dwarf`, in a copy of the stack.
    callchain: Option<WrittenChain>,
    /// Of a software event: a sample each time that there were so many; of a clock, nanoseconds.
    period: Option<NonZeroU64>,
    /// Of a software event: so many samples a second.
    freq: Option<NonZeroU64>,
}

/// One element of `syscalls`.
#[derive(Debug)]
struct Selector(String);

/// A tracepoint's name or a glob of names.
#[derive(Debug)]
struct Tracepoint(String);

/// A filter that filters.
#[derive(Debug)]
struct Filter(String);

impl Flexible for EventSpec {
    const EXPECTED: &'static str =
        "a string such as `sched:sched_switch`, or a mapping with `syscalls`, `event` or `count`";
    type Mapping = WrittenEvent;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([of::<Tracepoint>(generator), of::<WrittenEvent>(generator)])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        let name = Tracepoint::from_text(text)?;
        let wish = |Tracepoint(name)| EventWish {
            name,
            ..EventWish::default()
        };
        Some(name.map(|name| Self::Event(wish(name))))
    }

    fn from_mapping(written: WrittenEvent) -> Option<Result<Self, String>> {
        let filter = written.filter.map(|Filter(text)| text);
        let callchain = written.callchain.and_then(|WrittenChain(chain)| chain);
        let sampling = match (written.period, written.freq) {
            (Some(_), Some(_)) => {
                return Some(Err("`period` and `freq` exclude each other".to_owned()));
            }
            (Some(period), None) => Some(Sampling::Period(period.get())),
            (None, frequency) => frequency.map(|it| Sampling::Frequency(it.get())),
        };
        let is_software = |name: &Tracepoint| SoftwareEvent::parse(&name.0).is_some();
        if sampling.is_some() && !written.event.as_ref().is_some_and(is_software) {
            return Some(Err(
                "`period` and `freq` belong to an `event` of software, such as `cpu-clock`"
                    .to_owned(),
            ));
        }
        if sampling.is_some() && written.ring == Some(RingMode::Flight) {
            return Some(Err(
                "what is sampled goes where nothing is overwritten".to_owned()
            ));
        }
        if let Some(counted) = written.count {
            let is_alone = written.syscalls.is_none() && written.event.is_none();
            let is_bare = filter.is_none() && written.ring.is_none() && callchain.is_none();
            return Some(match (is_alone, is_bare) {
                (true, true) => Ok(Self::Counted(counted)),
                (false, _) => Err("what is counted is neither recorded nor shown\nwrite `count` as an element of its own".to_owned()),
                (true, false) => Err("`count` stands alone: what is counted has no records".to_owned()),
            });
        }
        let probe = WrittenProbe {
            uprobe: written.uprobe,
            uretprobe: written.uretprobe,
            kprobe: written.kprobe,
            kretprobe: written.kretprobe,
            args: written.args,
            name: written.name,
        };
        if let Some(probe) = probe.probe() {
            return Some(match (&written.syscalls, &written.event) {
                (None, None) => probe.map(|probe| {
                    Self::Event(EventWish {
                        name: probe.name.clone(),
                        filter,
                        ring: written.ring,
                        probe: Some(probe),
                        callchain,
                        sampling: None,
                    })
                }),
                _ => Err("a probe and `syscalls` or `event` exclude each other".to_owned()),
            });
        }
        Some(match (written.syscalls, written.event, filter) {
            (Some(_), Some(_), _) => Err("`syscalls` and `event` exclude each other".to_owned()),
            (Some(_), None, Some(_)) => Err("a `filter` belongs to an `event`".to_owned()),
            (Some(_), None, None) if written.ring.is_some() => Err(
                "a `ring` belongs to an `event`\nall system calls share one: `trace: { ring: { mode: flight } }`"
                    .to_owned(),
            ),
            (None, None, _) => Err(
                "one of `syscalls`, `event`, `count`, `uprobe`, `uretprobe`, `kprobe` and `kretprobe` is needed"
                    .to_owned(),
            ),
            (None, Some(Tracepoint(name)), filter) => Ok(Self::Event(EventWish {
                name,
                filter,
                ring: written.ring,
                probe: None,
                callchain,
                sampling,
            })),
            (Some(selectors), None, None) if selectors.is_empty() => {
                Err("the list of `syscalls` is empty".to_owned())
            }
            (Some(selectors), None, None) => {
                let names = selectors.into_iter().map(|Selector(name)| name).collect();
                Ok(match callchain {
                    Some(chain) => Self::Chained(names, chain),
                    None => Self::Syscalls(names),
                })
            }
        })
    }
}

impl Text for Selector {
    const EXPECTED: &'static str = "a string such as `openat`, `rename*`, `%file` or `!futex`";

    fn read(text: &str) -> Option<Result<Self, String>> {
        let name = text.strip_prefix('!').unwrap_or(text);
        if name.len() > 1 && name.starts_with('/') {
            return Some(Ok(Self(text.to_owned())));
        }
        // The class of all stat calls is written `%%stat`.
        let name = name
            .strip_prefix("%%")
            .or(name.strip_prefix('%'))
            .unwrap_or(name);
        Some(if name.contains(':') {
            Err("this is no syscall\na tracepoint is an element of `events` itself".to_owned())
        } else if matches!(name, "" | "/") || name.contains([' ', ',', '!', '%', '\t', '\n', '\0'])
        {
            Err(
                "this is no syscall\nname one, as in `openat`, `rename*`, `%file` or `!futex`"
                    .to_owned(),
            )
        } else {
            Ok(Self(text.to_owned()))
        })
    }
}

impl Text for Tracepoint {
    const EXPECTED: &'static str = "a string such as `sched:sched_switch`";

    fn schema() -> Schema {
        let software = SoftwareKind::TRACED.map(SoftwareKind::word);
        text_like(&format!(
            "^([^:, /]+:[^:, /]+|(software:)?({}|faults|cs|migrations)(:[ukh]+)?)$",
            software.join("|")
        ))
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        let is_word =
            |word: &str| !word.is_empty() && !word.contains([':', ' ', ',', '/', '\n', '\0']);
        if let Some(event) = SoftwareEvent::parse(text) {
            return Some(Ok(Self(event.name())));
        }
        let (name, letters) = SoftwareEvent::split(text);
        if let (Some(_), true) = (letters, SoftwareEvent::parse(name).is_some()) {
            return Some(Err(
                "the modes of a software event are `:u`, of programs, and `:k`, of the kernel"
                    .to_owned(),
            ));
        }
        Some(match text.split_once(':') {
            Some((system, event)) if is_word(system) && is_word(event) => Ok(Self(text.to_owned())),
            None if is_word(text) => Err(format!(
                "a tracepoint is named `system:event`\nfor syscalls write {{ syscalls: [{text:?}] }}"
            )),
            Some((system, rest)) if is_word(system) && rest.split(':').all(is_word) => Err(
                "a tracepoint is named `system:event`\nit fires in the kernel, whatever the mode, and takes no letters of modes".to_owned(),
            ),
            _ => Err("a tracepoint is named `system:event`, as in `sched:sched_switch`".to_owned()),
        })
    }
}

impl Text for Filter {
    const EXPECTED: &'static str = "a string such as \"prev_prio < 120\"";

    fn read(text: &str) -> Option<Result<Self, String>> {
        Some(if text.trim().is_empty() || text.contains('\0') {
            Err("this filters nothing".to_owned())
        } else {
            Ok(Self(text.to_owned()))
        })
    }
}

deserialize_flexible!(EventSpec, Selector, Tracepoint, Filter);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_names_globs_classes_and_their_negations() {
        for good in [
            "openat",
            "rename*",
            "%file",
            "!futex",
            "!%net",
            "[fl]stat",
            "?stat",
            "%%stat",
            "/^(open|close)$",
            "!/[[:digit:]]",
            "all",
        ] {
            assert!(matches!(Selector::from_text(good), Some(Ok(_))), "{good}");
        }
        for bad in [
            "",
            "!",
            "%",
            "!%",
            "%%%file",
            "/",
            "a b",
            "a,b",
            "!!a",
            "sched:sched_switch",
        ] {
            assert!(matches!(Selector::from_text(bad), Some(Err(_))), "{bad}");
        }
    }

    #[test]
    fn tracepoints_have_two_halves() {
        for good in ["sched:sched_switch", "sched:*", "*:*exec*"] {
            assert!(matches!(Tracepoint::from_text(good), Some(Ok(_))), "{good}");
        }
        for bad in [
            "", "openat", "sched:", ":x", "a:b:c", "a b:c", "a:b,c:d", "../x:y",
        ] {
            assert!(matches!(Tracepoint::from_text(bad), Some(Err(_))), "{bad}");
        }
    }
}
