//! One run: from the corked workload to the account of its events.

use crate::events::{EventSet, Origin};
use crate::merge::Merge;
use crate::plan::{EventsPlan, Meaning};
use crate::record::{self, LayoutTable, Record, RecordError, Sample};
use crate::ring::Corrupt;
use crate::sandbox::Running;
use crate::sys;
use crate::syscall::names::Abi;
use crate::syscall::{Actor, Observation, Tracker};
use crate::units::{Cpu, Nanos, Pid};
use crate::verdict::Ended;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// What becomes of what a run shows, as it shows it.
pub trait Observer {
    /// Tasks and calls.
    fn observe(&mut self, observation: &Observation);
    /// A tracepoint: the place in [`EventsPlan::tracepoints`], and its raw record.
    fn event(&mut self, actor: &Actor, time: Nanos, cpu: Cpu, tracepoint: usize, payload: &[u8]);
    /// Everything that is there has been delivered for now.
    fn pause(&mut self) {}
}

/// What may interrupt a run from outside.
pub trait Control {
    /// Readable when [`ready`](Self::ready) should be called.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;
    /// Something happened; says whether the workload is to be ended.
    ///
    /// # Errors
    /// Those of the signals that it passes on.
    fn ready(&mut self, running: &Running) -> io::Result<bool>;
}

/// Why a run came to no proper end.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The ring.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// A record in it.
    #[error("cannot understand a record of CPU {}", cpu.0)]
    Record {
        /// Whose.
        cpu: Cpu,
        /// Why.
        source: RecordError,
    },
    /// A record of an event that was never opened.
    #[error("a record of CPU {} belongs to no event of this run", cpu.0)]
    Stranger {
        /// Whose.
        cpu: Cpu,
    },
    /// A sample without the fields that were asked for.
    #[error("a sample of `{event}` lacks its {field}")]
    Lacks {
        /// The event.
        event: String,
        /// What is missing.
        field: &'static str,
    },
    /// A system call of ours.
    #[error("cannot {doing}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// Why.
        source: io::Error,
    },
    /// Killed, and still there.
    #[error("the workload was killed and still lives a second later")]
    Unkillable,
}

/// How long to wait, and for what.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// The workload is ended after that; `None` for never.
    pub timeout: Option<Duration>,
    /// How often records are fetched though no ring has filled: what a person watches must not lag.
    pub tick: Duration,
}

/// A planted defect, to see that the account catches it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fault {
    /// Drops the sample of this number (from 0) after it was read.
    pub drop_sample: Option<u64>,
}

// Where every tracepoint's record has `common_pid` (`struct trace_entry`, include/linux/trace_events.h).
const COMMON_PID: usize = 4;

// How long after its time stamp a record may become visible: stamps are taken before the record is written, a microsecond at most, or
// the length of a pause of a virtual CPU.
const SETTLING: u64 = 50_000;

/// Follows a run from its uncorking to its end.
///
/// The end is the hang-up of every ring: no task of the workload is left. Then what remains is drained, and then the counters are read.
///
/// # Errors
/// [`SessionError`]; the workload is dead then.
pub fn follow(
    mut running: Running,
    events: &mut EventSet,
    plan: &EventsPlan,
    patience: Patience,
    control: &mut dyn Control,
    observer: &mut dyn Observer,
    (init, fault): (Option<Pid>, Fault),
) -> Result<Ended, SessionError> {
    let mut reader = Reader {
        plan,
        observer,
        tracker: Tracker::default(),
        out: Vec::new(),
        out_of_sight: 0,
        delivered: vec![0; events.n_requests()],
        lost_records: 0,
        n_samples: 0,
        started: false,
        init,
        fault,
        error: None,
    };
    let mut merge = Merge::default();
    let mut deadline = patience.timeout.map(|timeout| Instant::now() + timeout);
    let mut hung_up = vec![false; events.descriptors().len()];
    let (mut timed_out, mut interrupted, mut killed) = (false, false, false);
    // Not the rings alone: those of a workload whose events the kernel has ended hang up while it lives.
    while hung_up.contains(&false) || !running.is_gone() {
        let wait = deadline.map_or(patience.tick, |deadline| {
            deadline
                .saturating_duration_since(Instant::now())
                .min(patience.tick)
        });
        if wait_for(events, &running, control, wait, &mut hung_up)? && !killed {
            interrupted = control
                .ready(&running)
                .map_err(system("pass a signal on"))?;
        }
        running
            .collect()
            .map_err(system("read the workload's output"))?;
        reader.drain(
            &mut merge,
            events,
            Some(Nanos(sys::monotonic_now().0.saturating_sub(SETTLING))),
        )?;
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_late && killed {
            return Err(SessionError::Unkillable);
        }
        if (is_late || interrupted) && !killed {
            (killed, timed_out) = (true, is_late);
            running
                .signal(libc::SIGKILL)
                .map_err(system("end the workload"))?;
            deadline = Some(Instant::now() + Duration::from_secs(1));
        }
    }
    reader.drain(&mut merge, events, None)?;
    reader.finish();
    let account = events
        .account(&reader.delivered, reader.lost_records, reader.out_of_sight)
        .map_err(system("read the counters"))?;
    let exited = running.finish().map_err(system("reap the workload"))?;
    Ok(Ended {
        exited,
        timed_out,
        interrupted,
        account,
    })
}

fn system(doing: &'static str) -> impl Fn(io::Error) -> SessionError {
    move |source| SessionError::System { doing, source }
}

/// Waits until something is there; marks the rings that hung up, and says whether `control` is ready.
fn wait_for(
    events: &EventSet,
    running: &Running,
    control: &dyn Control,
    wait: Duration,
    hung_up: &mut [bool],
) -> Result<bool, SessionError> {
    let rings = events.descriptors();
    let open: Vec<usize> = (0..rings.len())
        .filter(|place| hung_up.get(*place) == Some(&false))
        .collect();
    let of_rings = open.iter().filter_map(|place| rings.get(*place)).copied();
    let mut fds: Vec<PollFd<'_>> = of_rings
        .chain(running.descriptors())
        .chain(control.descriptor())
        .map(|fd| PollFd::new(fd, PollFlags::POLLIN))
        .collect();
    // Rounded up: a timeout of zero would spin for the last fraction of a millisecond.
    let milliseconds = u16::try_from(wait.as_millis().saturating_add(1)).unwrap_or(u16::MAX);
    match poll(&mut fds, PollTimeout::from(milliseconds)) {
        Ok(_) | Err(nix::Error::EINTR) => {}
        Err(error) => return Err(system("wait for events")(error.into())),
    }
    let is =
        |fd: &PollFd<'_>, wanted: PollFlags| fd.revents().is_some_and(|got| got.intersects(wanted));
    for (place, fd) in open.iter().zip(&fds) {
        if is(fd, PollFlags::POLLHUP | PollFlags::POLLERR)
            && let Some(ring) = hung_up.get_mut(*place)
        {
            *ring = true;
        }
    }
    Ok(control.descriptor().is_some() && fds.last().is_some_and(|fd| is(fd, PollFlags::POLLIN)))
}

struct Reader<'a> {
    plan: &'a EventsPlan,
    observer: &'a mut dyn Observer,
    tracker: Tracker,
    out: Vec<Observation>,
    out_of_sight: u64,
    delivered: Vec<u64>,
    lost_records: u64,
    n_samples: u64,
    /// Whether the workload's program runs yet. Events of a control group see what the cork does before it; those of tasks do not.
    started: bool,
    init: Option<Pid>,
    fault: Fault,
    error: Option<SessionError>,
}

impl Reader<'_> {
    fn drain(
        &mut self,
        merge: &mut Merge,
        events: &mut EventSet,
        horizon: Option<Nanos>,
    ) -> Result<(), SessionError> {
        let (drains, table) = events.parts();
        let cpus: Vec<Cpu> = drains.iter().map(crate::ring::Drain::cpu).collect();
        let n = merge.pass(drains, table, horizon, |place, bytes| {
            let cpu = cpus.get(place).copied().unwrap_or(Cpu(0));
            if let Err(error) = self.record(cpu, table, bytes) {
                self.error.get_or_insert(error);
            }
        })?;
        if n > 0 {
            self.observer.pause();
        }
        self.error.take().map_or(Ok(()), Err)
    }

    fn record(
        &mut self,
        cpu: Cpu,
        table: &LayoutTable<Origin>,
        bytes: &[u8],
    ) -> Result<(), SessionError> {
        let (layout, origin) = table.resolve(bytes).ok_or(SessionError::Stranger { cpu })?;
        let record =
            record::parse(bytes, layout).map_err(|source| SessionError::Record { cpu, source })?;
        match record {
            Record::Sample(sample) => {
                let Origin::Request(place) = origin else {
                    return Err(SessionError::Stranger { cpu });
                };
                let number = self.n_samples;
                self.n_samples += 1;
                if self.fault.drop_sample != Some(number) {
                    if let Some(delivered) = self.delivered.get_mut(place) {
                        *delivered += sample.period.unwrap_or(1);
                    }
                    self.sample(cpu, place, &sample)?;
                }
            }
            Record::Comm(comm, _) => {
                self.started |= comm.exec;
                self.tracker.comm(&comm, &mut self.out);
            }
            Record::Fork(task, _) => self.tracker.fork(&task, &mut self.out),
            Record::Exit(task, _) => self.tracker.exit(&task, &mut self.out),
            Record::Lost(lost, _) => self.lost_records += lost.count,
            Record::LostSamples(count, _) => self.lost_records += count,
            Record::Unknown { .. } => {}
        }
        self.flush();
        Ok(())
    }

    fn flush(&mut self) {
        for observation in self.out.drain(..) {
            self.out_of_sight += u64::from(matches!(observation, Observation::OutOfSight(_)));
            self.observer.observe(&observation);
        }
    }

    fn finish(&mut self) {
        self.tracker.finish(&mut self.out);
        self.flush();
        self.observer.pause();
    }

    fn sample(&mut self, cpu: Cpu, place: usize, sample: &Sample<'_>) -> Result<(), SessionError> {
        let lacks = |field| {
            let event = self
                .plan
                .requests
                .get(place)
                .map(|request| request.name.clone())
                .unwrap_or_default();
            SessionError::Lacks { event, field }
        };
        let (pid, tid) = sample.task.ok_or_else(|| lacks("thread"))?;
        let time = sample.time.ok_or_else(|| lacks("time"))?;
        let raw = sample.raw.ok_or_else(|| lacks("payload"))?;
        if !self.started || Some(pid) == self.init {
            return Ok(());
        }
        if let Some(id) = raw.get(COMMON_PID..).and_then(|rest| rest.first_chunk()) {
            let id = i32::from_ne_bytes(*id);
            self.tracker.global((pid, tid), id, &mut self.out);
        }
        let word = |at: usize| word(raw, at).ok_or_else(|| lacks("number or arguments"));
        match self
            .plan
            .meanings
            .get(place)
            .copied()
            .ok_or_else(|| lacks("meaning"))?
        {
            Meaning::Enter { id, args } => {
                let number = word(id)? as i32;
                let mut words = [0; 6];
                for (at, to) in (args..).step_by(8).zip(&mut words) {
                    *to = word(at)?;
                }
                self.tracker.enter(
                    (pid, tid),
                    time,
                    convention(number, sample),
                    number,
                    words,
                    &mut self.out,
                );
            }
            Meaning::Leave { id, ret } => {
                let (number, value) = (word(id)? as i32, word(ret)? as i64);
                self.tracker
                    .leave((pid, tid), time, number, value, &mut self.out);
            }
            Meaning::Tracepoint(tracepoint) => {
                let actor = self.tracker.actor(pid, tid, &mut self.out);
                self.flush();
                self.observer.event(&actor, time, cpu, tracepoint, raw);
            }
        }
        Ok(())
    }
}

fn word(raw: &[u8], at: usize) -> Option<u64> {
    raw.get(at..)?
        .first_chunk()
        .map(|bytes| u64::from_ne_bytes(*bytes))
}

/// By which convention a call was made, as its number alone does not say.
///
/// On x86 the `syscall` instruction leaves its return address in `cx`, so that it equals `ip` when the call is entered; `int 0x80` from
/// 64-bit code leaves the program's own value there, and 32-bit code is told by the registers' own mark.
fn convention(number: i32, sample: &Sample<'_>) -> Abi {
    const ABI_32: u64 = 1;
    const X32_BIT: i32 = 1 << 30;
    let native = Abi::native();
    let Some(registers) = sample.user_registers else {
        return native;
    };
    let by_syscall = native != Abi::X86_64 || registers.get(0) == registers.get(1);
    match native.compat() {
        Some(compat) if registers.abi == ABI_32 || !by_syscall => compat,
        _ if native == Abi::X86_64 && number & X32_BIT != 0 => Abi::X32,
        _ => native,
    }
}
