//! Follows one run, from the corked workload to the account of its events.

use super::reader::Reader;
use super::setting::{Observer, Setting};
use super::survivors::Survivors;
use super::watch::Watch;
use crate::plan::EventsPlan;
use crate::verdict::{Known, Run};
use perf_live::events::EventSet;
use perf_live::ring::Corrupt;
use perf_live::sandbox::Running;
use perf_live::sys::poll::poll;
use perf_live::units::Usage;
use perf_records::merge::Merge;
use perf_records::record::RecordError;
use perf_records::units::Cpu;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};
use syscall_model::Remembered;

/// A caller that may interrupt a run.
pub trait Control {
    /// Readable when [`ready`](Self::ready) should be called.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;
    /// Called when the descriptor is readable; says how the run goes on.
    ///
    /// # Errors
    /// Those of passing on signals.
    fn ready(&mut self, running: &mut Running) -> io::Result<Next>;
    /// Called in its place where no command is run, and only what lives already is watched: that
    /// ends then. Takes what made the descriptor readable.
    ///
    /// # Errors
    /// Those of reading it.
    fn ends(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Interrupts nothing.
#[derive(Clone, Copy, Debug)]
pub struct Undisturbed;

impl Control for Undisturbed {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
    fn ready(&mut self, _: &mut Running) -> io::Result<Next> {
        Ok(Next::Follow)
    }
}

/// What to do with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Goes on.
    Follow,
    /// Kills the workload.
    Kill,
    /// Leaves the other processes running and stops watching: the main process has ended.
    Leave,
}

/// Why a run could not be followed to its end.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A ring holds what is no record.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// A record could not be parsed.
    #[error("cannot understand a record of CPU {}", cpu.0)]
    Record {
        /// The CPU of its ring.
        cpu: Cpu,
        /// The error of parsing it.
        source: RecordError,
    },
    /// A record of an event that was never opened.
    #[error("a record of CPU {} belongs to no event of this run", cpu.0)]
    Stranger {
        /// The CPU of its ring.
        cpu: Cpu,
    },
    /// A sample without the fields that were asked for.
    #[error("a sample of `{event}` lacks its {field}")]
    Lacks {
        /// The event.
        event: String,
        /// The missing field's name.
        field: &'static str,
    },
    /// A system call of the harness failed.
    #[error("cannot {doing}")]
    System {
        /// What the harness was doing.
        doing: &'static str,
        /// The error of the call.
        source: io::Error,
    },
    /// The workload was killed, and some of its tasks are still there.
    #[error("the workload was killed and still lives {} seconds later", ENDING.as_secs())]
    Unkillable,
    /// The harness did nothing when the workload's time was over.
    #[error(
        "the harness was stopped, or got no CPU, when the workload's time was over: what it did \
         then is not judged"
    )]
    Stopped,
}

/// How long a run may take, and what ends it.
#[derive(Debug)]
pub struct Patience {
    /// The workload is killed after this time; `None` for never.
    pub timeout: Option<Duration>,
    /// How often records are read if no ring has filled: what a person watches must not lag.
    pub tick: Duration,
    /// Kills the workload when it passes one of its limits.
    pub watch: Option<Watch>,
}

// The most time between the kill of a workload and its end: thousands of tasks on a busy machine
// take more than a second to die. A task left after this hangs in the kernel.
const ENDING: Duration = Duration::from_secs(10);

/// How much longer than asked for the harness may wait and still tell when a run's time was over.
const LONGEST_STANDSTILL: Duration = Duration::from_secs(2);

/// Follows a run from its uncorking to its end.
///
/// The run ends when every ring has hung up: no task of the workload is left. Then the rest of the
/// records is drained, and then the counters are read.
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
    setting: Setting,
) -> Result<Run<()>, SessionError> {
    let setting = opened(setting, events, plan);
    let mut survivors = Survivors::new(&setting);
    let mut reader = Reader::new(plan, events.n_requests(), observer, setting);
    let mut merge = Merge::default();
    let mut deadline = patience.timeout.map(|timeout| Instant::now() + timeout);
    let (mut timed_out, mut leaked, mut struck) = (false, false, None);
    let mut next = Next::Follow;
    let watch = patience.watch;
    let is_watched = watch.is_some();
    // The hang-up alone is not the end: a workload whose events the kernel has ended hangs up while
    // it lives.
    let hang_up = events.hang_up();
    while (hang_up && !events.have_hung_up()) || !running.is_gone() {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let wait = left.map_or(patience.tick, |left| left.min(patience.tick));
        let wait = survivors.wait(wait, &running);
        let (asked, called) = (Instant::now(), running.descriptors().into_iter());
        let is_called = wait_for(events, called, control, wait)?;
        let stood_still = asked.elapsed().saturating_sub(wait);
        running
            .collect()
            .map_err(system("look after the workload's output and its end"))?;
        let is_ending = next == Next::Kill;
        let look = reader.drain(&mut merge, events, &mut || {
            Ok(has_passed(deadline) || (!is_ending && calls(control)?))
        })?;
        if let Some(id) = running.main_pid() {
            reader.lineage().name_main(id);
        }
        if next == Next::Kill {
            // A workload that died in time counts as such, however long its records took to read.
            look_again(&mut running, events)?;
            let is_over = running.is_gone() && (!hang_up || events.have_hung_up());
            deadline = deadline.map(|deadline| deadline + standstill(asked.elapsed(), wait));
            if has_passed(deadline) && !is_over {
                return Err(SessionError::Unkillable);
            }
            survivors.end_again(&running, reader.lineage());
            continue;
        }
        let is_late = has_passed(deadline);
        if running.is_lost() {
            survivors.end_all();
            next = Next::Kill;
        } else if is_called {
            let called = control.ready(&mut running);
            next = called.map_err(system("pass a signal on"))?;
        }
        if next == Next::Leave && leaves_nothing(&mut running, events)? {
            next = Next::Follow;
            break;
        }
        // Asked to end a workload that is over, it does not wait for what is left to be read.
        if next == Next::Leave || (next == Next::Kill && is_called && running.is_gone()) {
            break;
        }
        could_see(is_late && next == Next::Follow, stood_still)?;
        timed_out = is_late && next != Next::Kill;
        if timed_out {
            survivors.note(reader.lineage());
        } else if next != Next::Kill {
            struck = watch.as_ref().and_then(|watch| watch.passed(&running));
        }
        let is_over = timed_out || struck.is_some() || next == Next::Kill;
        leaked = !is_over && survivors.outlive(&running, reader.lineage(), look);
        if is_over || leaked {
            next = Next::Kill;
            let killed = running.signal(libc::SIGKILL);
            killed.map_err(system("end the workload"))?;
            survivors.end(reader.lineage());
            // The time begins here: to note which processes live may have taken a while.
            deadline = Some(Instant::now() + ENDING);
        }
    }
    stop(events, next)?;
    // The run is over: what comes now is about reading the rest.
    take_call(control, &mut running)?;
    reader.drain_rest(&mut merge, events, &mut || take_call(control, &mut running))?;
    reader.finish();
    if next != Next::Leave {
        reader.expect_ends();
    }
    let account = reader.account(events);
    let account = account.map_err(system("read the counters"))?;
    let exited = running.finish().map_err(system("reap the workload"))?;
    could_see(exited.is_overdue, Duration::MAX)?;
    let (seen, passed) = watch.map_or_else(Default::default, Watch::finish);
    let struck = struck.or(passed);
    let usage = exited.usage.and(seen).and(Usage {
        processes_peak: Some(reader.threads.1),
        ..Usage::default()
    });
    Ok(Run {
        timed_out: match patience.timeout {
            Some(_) => Known::Yes(timed_out),
            None => Known::No("the workload was given any time".to_owned()),
        },
        interrupted: next == Next::Kill && !timed_out && !leaked && struck.is_none(),
        left_alone: next == Next::Leave,
        struck: match is_watched {
            true => Known::Yes(struck.into_iter().collect()),
            false => Known::No("no limits of the workload were watched".to_owned()),
        },
        survivors: survivors.into_found(),
        ..Run::of(exited, usage, account)
    })
}

/// Adds what the events that were opened say.
fn opened(setting: Setting, events: &EventSet, plan: &EventsPlan) -> Setting {
    Setting {
        reads_memory: events.reads_memory(),
        of_group: !events.hang_up(),
        // Overwritten calls are read only when the run is over.
        calls: match plan.overwrites_calls() {
            true => Remembered::None,
            false => Remembered::All,
        },
        ..setting
    }
}

/// How long it may take until the end of a task is told of its events.
const A_MOMENT: Duration = Duration::from_millis(100);

/// Refuses to say that a run took too long if the harness stood still meanwhile.
fn could_see(is_over: bool, stood_still: Duration) -> Result<(), SessionError> {
    match is_over && stood_still > LONGEST_STANDSTILL {
        true => Err(SessionError::Stopped),
        false => Ok(()),
    }
}

/// The part of what one look took in which the harness stood still, and perhaps the machine with
/// it: a workload that was killed has had no time to end then.
fn standstill(took: Duration, asked_for: Duration) -> Duration {
    took.saturating_sub(asked_for + LONGEST_STANDSTILL)
}

/// Looks whether the workload has ended while records were read.
fn look_again(running: &mut Running, events: &mut EventSet) -> Result<(), SessionError> {
    let collected = running.collect();
    collected.map_err(system("look after the workload's output and its end"))?;
    let waited = events.wait(&[], Duration::ZERO);
    waited.map(drop).map_err(system("wait for events"))
}

/// Whether the signal that asks to leave a workload alone has ended it as well, and all that it
/// started.
fn leaves_nothing(running: &mut Running, events: &mut EventSet) -> Result<bool, SessionError> {
    look_again(running, events)?;
    Ok(running.exit().is_some() && have_ended(events)?)
}

/// Whether all tasks have ended that are followed, of a command that has: what is told of that may
/// come a moment later.
pub(super) fn have_ended(events: &mut EventSet) -> Result<bool, SessionError> {
    let deadline = Instant::now() + A_MOMENT;
    while events.hang_up() && !events.have_hung_up() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let waited = events.wait(&[], left);
        waited.map_err(system("wait for events"))?;
    }
    Ok(events.hang_up() && events.have_hung_up())
}

/// Stops the events of a run that is over: those of a control group still fire for dead tasks, and
/// a workload that is left running fires its own.
fn stop(events: &mut EventSet, next: Next) -> Result<(), SessionError> {
    let stopped = match next {
        Next::Leave => events.disable_for_living(),
        _ => events.disable(),
    };
    stopped.map_err(system("stop the events"))
}

fn has_passed(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// Takes what `control` has to say when a run is over; says whether that was an end.
fn take_call(control: &mut dyn Control, running: &mut Running) -> Result<bool, SessionError> {
    if !calls(control)? {
        return Ok(false);
    }
    let next = control.ready(running).map_err(system("take a signal"))?;
    Ok(next != Next::Follow)
}

/// Whether `control` has something to say.
pub(super) fn calls(control: &dyn Control) -> Result<bool, SessionError> {
    let ready = poll(control.descriptor().into_iter(), Duration::ZERO);
    let ready = ready.map_err(system("wait for events"))?;
    Ok(ready.iter().any(|it| it.is_readable))
}

pub(super) fn system(doing: &'static str) -> impl Fn(io::Error) -> SessionError {
    move |source| SessionError::System { doing, source }
}

/// Waits until a descriptor is readable; says whether `control` is.
pub(super) fn wait_for<'a>(
    events: &mut EventSet,
    others: impl Iterator<Item = BorrowedFd<'a>>,
    control: &'a dyn Control,
    wait: Duration,
) -> Result<bool, SessionError> {
    let others: Vec<_> = others.chain(control.descriptor()).collect();
    let ready = events
        .wait(&others, wait)
        .map_err(system("wait for events"))?;
    Ok(control.descriptor().is_some() && ready.last().is_some_and(|last| last.is_readable))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_that_was_killed_has_its_time_again_after_a_standstill() {
        let (tick, second) = (Duration::from_millis(100), Duration::from_secs(1));
        assert_eq!(standstill(second, tick), Duration::ZERO);
        let gone = standstill(12 * second, tick);
        assert!(gone > 9 * second && gone < 12 * second, "{gone:?}");
    }
}
