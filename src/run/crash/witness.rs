//! Looks at each call that may change the watched folder, while it is held.

use super::mapped::{Mapped, is_moment};
use super::of_bits::Settling;
use super::of_call::OfCall;
use super::of_sockets::Stream;
use super::rings::{self, Ring};
use super::sight::{Sight, TOO_MUCH};
use crate::crash::{Act, Begin, Opened, Seen, Watched, is_held};
use crate::plan::watched as watched_calls;
use crate::run::gate::TRACER;
use crate::scenario::Rings;
use perf_live::events::{Counted, Counter, EventRequest};
use perf_live::gate::{Decision, End, Held, HeldCalls, Judge, Look, Paths, asks_tracer};
use perf_live::host::Host;
use perf_live::sys::monotonic_now;
use perf_records::units::Pid;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};
use syscall_model::memory::Fetches;
use syscall_model::names::{self, Abi};

/// How long the call that was let go on before may take: it may wait for one that is held.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often it is looked, at first without a pause, whether that call is over.
const QUICK_LOOKS: u32 = 50;
const TICK: Duration = Duration::from_micros(50);

/// What was seen of a run, in the order in which its calls were let go on.
pub(in crate::run) struct Witness<'a> {
    host: &'a Host,
    /// The watched folder, as the workload sees it.
    folder: Vec<u8>,
    watched: &'a Watched,
    /// The devices that its files are on.
    devices: BTreeSet<u64>,
    /// Where promises are made.
    stream: Stream,
    /// What becomes of rings of operations, and what is read for calls.
    rings: (Rings, &'a Fetches),
    paths: Paths,
    /// All calls that are held.
    held: HeldCalls,
    seen: Sight,
    /// The files of the folder that are mapped for writing.
    mapped: Mapped,
    /// Whether the model has an order between pages of a file.
    orders_pages: bool,
    /// The last call that was let go on and may change something.
    last: Option<Last>,
    /// The file of the call that is held, if the call may take permissions away.
    settling: Option<Settling>,
    /// Whether the call that is held opens what is no regular file.
    opens_other: bool,
    /// The same of the last call that was let go on, by its place in `seen`.
    settles: Option<(usize, Settling)>,
    /// What counts the ends of threads' calls.
    ends: Option<&'a EventRequest>,
    /// What counts the ends of a thread's calls.
    threads: HashMap<u32, Option<Counter>>,
    remarks: BTreeSet<&'static str>,
    unknown: BTreeSet<String>,
}

/// A call that was let go on.
#[derive(Clone, Copy, Debug)]
struct Last {
    thread: u32,
    number: i32,
    /// How many calls of its thread had ended by then; `None` where nothing counts them.
    ended: Option<u64>,
}

/// What a run's calls were seen to do.
#[derive(Debug, Default)]
pub(in crate::run) struct Witnessed {
    pub(in crate::run) seen: Vec<Seen>,
    pub(in crate::run) remarks: Vec<String>,
    /// What could not be seen.
    pub(in crate::run) unknown: Vec<String>,
    /// Where it was looked for promises.
    pub(in crate::run) promises: String,
    /// The extended attributes of the files that the run left, by their paths.
    pub(in crate::run) labels: BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Vec<u8>>>,
    /// The users and groups of all files that the run left; `None` where that is not known.
    pub(in crate::run) owners: Option<BTreeMap<Vec<u8>, (u32, u32)>>,
}

impl Witnessed {
    /// Reads the owners and the extended attributes of the folder, which nothing changes any more.
    pub(in crate::run) fn look_at_labels(&mut self, root: &Path, watched: &Watched) {
        match super::labels::left(root, watched) {
            Ok(left) => {
                self.labels = left.labels;
                self.owners = Some(left.owners);
            }
            Err(error) => {
                let why = format!("the owners and extended attributes that the run left: {error}");
                self.unknown.push(why);
            }
        }
    }
}

impl<'a> Witness<'a> {
    pub(in crate::run) fn new(
        host: &'a Host,
        (folder, watched, devices): (&[u8], &'a Watched, BTreeSet<u64>),
        (stream, rings, orders_pages): (Stream, (Rings, &'a Fetches), bool),
        ends: Option<&'a EventRequest>,
        paths: Paths,
    ) -> Self {
        Self {
            host,
            folder: folder.to_owned(),
            watched,
            devices,
            held: watched_calls(matches!(stream, Stream::Socket(_))),
            stream,
            rings,
            paths,
            seen: Sight::default(),
            mapped: Mapped::default(),
            orders_pages,
            last: None,
            settling: None,
            opens_other: false,
            settles: None,
            ends,
            threads: HashMap::new(),
            remarks: BTreeSet::new(),
            unknown: BTreeSet::new(),
        }
    }

    /// What was seen, now that no task is left that could change more.
    pub(in crate::run) fn finish(mut self) -> Witnessed {
        let looks = self.mapped.look();
        self.note_looks(0, "exit", looks);
        self.look_at_permissions();
        if self.seen.is_full() {
            self.unknown.insert(TOO_MUCH.to_owned());
        }
        Witnessed {
            seen: self.seen.all,
            remarks: self.remarks.into_iter().map(str::to_owned).collect(),
            unknown: self.unknown.into_iter().collect(),
            promises: String::new(),
            labels: BTreeMap::new(),
            owners: None,
        }
    }

    /// Lets the call that was let go on before come to its end. What the records say of its time is
    /// what counts.
    fn let_end(&self, thread: u32) {
        let Some(last) = self.last.filter(|last| last.thread != thread) else {
            return;
        };
        let begun = Instant::now();
        let mut looks = 0_u32;
        while begun.elapsed() < PATIENCE && !self.has_ended(last) {
            looks += 1;
            match looks < QUICK_LOOKS {
                true => std::thread::yield_now(),
                false => std::thread::sleep(TICK),
            }
        }
    }

    /// Whether a thread is out of the call that it was let go on with.
    fn has_ended(&self, last: Last) -> bool {
        let thread = last.thread;
        match last.ended {
            Some(before) => {
                let ended = self.ended(thread);
                ended.is_some_and(|ended| ended > before) || self.host.process_of(thread).is_none()
            }
            None => self.host.waits_in(thread) != Some(last.number),
        }
    }

    /// How many calls of a thread have ended since they are counted.
    fn ended(&self, thread: u32) -> Option<u64> {
        let counter = self.threads.get(&thread)?.as_ref()?;
        Some(counter.read().ok()?.value)
    }

    /// Notes that a call which may change something is let go on. Calls of its thread that ended
    /// before, and were not let go on, count as well: one that a signal took back is such an end.
    fn release(&mut self, call: &Held) {
        let thread = call.thread;
        let open = || {
            let counter = Counter::open(self.ends?, Counted::Task(Pid(thread))).ok()?;
            counter.enable().ok()?;
            Some(counter)
        };
        self.threads.entry(thread).or_insert_with(open);
        self.last = Some(Last {
            thread,
            number: call.number,
            ended: self.ended(thread),
        });
    }

    /// What the last call left of its file's permissions, now that it is over.
    fn look_at_permissions(&mut self) {
        if let Some((place, settling)) = self.settles.take()
            && let Some(seen) = self.seen.all.get_mut(place)
        {
            seen.left = settling.permissions();
        }
    }

    /// Looks at mapped files in front of a call, if it matters to the states which stores came
    /// before it. Returns whether it has looked.
    fn look_before(&mut self, call: &Held, name: &'static str, act: &Act) -> bool {
        let looks = if is_moment(act) {
            self.mapped.look()
        } else {
            match self.touched(call, act) {
                Some((file, _, _)) if self.orders_pages && self.mapped.has(&file.id()) => {
                    self.mapped.look()
                }
                Some((file, begin, length)) => {
                    let look = self.mapped.look_in(&file.id(), begin, length);
                    look.into_iter().collect()
                }
                None => Vec::new(),
            }
        };
        let has_looked = !looks.is_empty();
        self.note_looks(call.thread, name, looks);
        has_looked
    }

    fn note_looks(&mut self, thread: u32, name: &'static str, looks: Vec<Result<Act, String>>) {
        for look in looks {
            match look {
                Ok(act) => self.seen.push(Seen {
                    thread,
                    call: name,
                    time: monotonic_now(),
                    act,
                    left: None,
                }),
                Err(why) => {
                    self.unknown.insert(why);
                }
            }
        }
    }

    /// What a call writes to a file that its process may have stored into before: the disk may have
    /// got a page in between.
    fn touched<'c>(&self, call: &Held, act: &'c Act) -> Option<(&'c Opened, Begin, usize)> {
        let Act::Write {
            file, begin, bytes, ..
        } = act
        else {
            return None;
        };
        if bytes.is_empty() || !self.mapped.has(&file.id()) {
            return None;
        }
        let mappings = self.host.mapped_files(call.thread);
        let may_store = mappings.map_or(true, |mappings| {
            let mut mappings = mappings.into_iter();
            mappings.any(|it| it.is_shared && it.is_writable && it.inode == file.inode)
        });
        may_store.then_some((file, *begin, bytes.len()))
    }

    fn act_of(&mut self, call: &Held, name: &str) -> Act {
        (self.settling, self.opens_other) = (None, false);
        self.act(call, name).unwrap_or_else(|error| {
            Act::Unknown(format!("what `{name}` is about could not be read: {error}"))
        })
    }

    fn act(&mut self, call: &Held, name: &str) -> io::Result<Act> {
        let mut of_call = OfCall {
            stream: &self.stream,
            folder: &self.folder,
            watched: self.watched,
            devices: &self.devices,
            words: call.native_words(),
            about: None,
            opens_other: false,
            look: Look {
                host: self.host,
                held: call,
                paths: &mut self.paths,
                is_rooted: false,
            },
        };
        if call.abi != Abi::native() {
            return Ok(Act::Unknown(format!("`{name}` was made as a 32-bit call")));
        }
        let act = match name {
            "mmap" => match of_call.mapping()? {
                None => Act::Nothing,
                Some((opened, file)) => {
                    self.mapped.add(opened.clone(), file);
                    Act::Maps(opened)
                }
            },
            "msync" => of_call.msync()?,
            "prctl" | "seccomp" => match asks_tracer(call, &self.held)? {
                true => Act::Unknown(TRACER.to_owned()),
                false => Act::Nothing,
            },
            _ => of_call.act(name)?,
        };
        self.opens_other = of_call.opens_other;
        self.settling = Settling::of(&act, of_call.about)?;
        Ok(act)
    }
}

impl Judge for Witness<'_> {
    fn decide(&mut self, call: &Held, _: &dyn Fn() -> bool) -> Decision {
        let Some(name) = names::name_of(call.abi, call.number) else {
            return Decision::default();
        };
        if let Some(ring) = Ring::made_by(name) {
            return match self.rings {
                (Rings::Refuse, fetches) => {
                    self.remarks.insert(ring.refused);
                    rings::refused(call, fetches)
                }
                (Rings::Incomplete, _) => {
                    self.unknown.insert(ring.made.to_owned());
                    Decision::default()
                }
            };
        }
        if !is_held(name, matches!(self.stream, Stream::Socket(_))) {
            return Decision::default();
        }
        let mut act = self.act_of(call, name);
        // What changes nothing waits for nobody: a pipe may let it wait for the other.
        if act != Act::Nothing && self.last.is_some_and(|last| last.thread != call.thread) {
            self.let_end(call.thread);
            act = self.act_of(call, name);
        }
        // Nobody waits for it either, now that no call gives its name to another file.
        if self.opens_other {
            act = Act::Nothing;
        }
        // That takes its time, in which another thread may change what a number or a path is.
        if self.look_before(call, name, &act) && self.act_of(call, name) != act {
            let why = format!("what `{name}` is about was changed while it was held");
            act = Act::Unknown(why);
        }
        if act != Act::Nothing {
            self.look_at_permissions();
            self.settles = self.settling.take().map(|it| (self.seen.all.len(), it));
            self.release(call);
        }
        self.seen.push(Seen {
            thread: call.thread,
            call: name,
            time: monotonic_now(),
            act,
            left: None,
        });
        Decision::default()
    }

    fn go(&mut self, _: &Held) -> Vec<u64> {
        // No call waits for another.
        Vec::new()
    }

    fn settle(&mut self, call: &Held, end: End) {
        let name = names::name_of(call.abi, call.number).unwrap_or("?");
        match end {
            End::Answered => {}
            // It may come again, and then its first coming was none.
            End::TakenBack | End::Unmade => {
                let of_it = |seen: &Seen| seen.thread == call.thread && seen.call == name;
                if let Some(place) = self.seen.all.iter().rposition(of_it) {
                    self.seen.all.remove(place);
                    self.settles = self.settles.take().and_then(|(of, settling)| {
                        let of = if of > place { of - 1 } else { of };
                        (of != place).then_some((of, settling))
                    });
                }
            }
            End::Failed(why) => {
                self.unknown.insert(why);
            }
        }
    }
}
