//! Does the work of `perf record`: passes records to a [`Recorder`] as they come.

use super::session::{self, Control, Next, SessionError, have_ended, system};
use super::{Bench, Recorder, RunError, StoreError};
use crate::plan::RecordWish;
use perf_live::events::{self, EventRequest, EventSet, RingChoice, Subject};
use perf_live::sandbox::{Exited, Running};
use perf_records::units::Cpu;
use std::time::Duration;

/// How often the rings are drained if none has filled.
pub(super) const TICK: Duration = Duration::from_millis(100);

impl Bench<'_> {
    /// Opens the events to record without starting them; a command's events start at its
    /// `execve(2)`.
    ///
    /// # Errors
    /// [`RunError::Plan`], [`RunError::Open`].
    pub fn open_recorded(
        &self,
        wish: &RecordWish,
        subject: &Subject,
        cpus: &[Cpu],
        ring_pages: usize,
    ) -> Result<EventSet, RunError> {
        let recorded: Vec<EventRequest> = wish.events(self).map_err(RunError::Plan)?;
        for event in &recorded {
            self.pin(event.attr.source);
        }
        let rings = RingChoice::New {
            cpus,
            pages: ring_pages,
        };
        let mut set = events::record(&recorded, subject, wish.side_band(), rings)?;
        if let Some(bounds) = self.backlog {
            set.bound_backlog(bounds);
        }
        Ok(set)
    }
}

/// Which tasks are recorded, which decides when the recording ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// The command and all that it starts: ends with the last of them.
    Command,
    /// Other tasks: ends with the last of them, or with the command.
    Tasks,
    /// All tasks of the machine: ends with the command.
    Machine,
}

impl Recording {
    /// Whether the recording is over, by the command's state and by whether the rings have hung up.
    pub(super) fn is_over(self, running: Option<&Running>, have_hung_up: bool) -> bool {
        match running {
            Some(running) => running.is_gone() && (self != Self::Command || have_hung_up),
            None => self != Self::Machine && have_hung_up,
        }
    }
}

/// How a recording ended.
#[derive(Debug)]
pub struct RecordEnd {
    /// How the command ended; `None` if there was none or it was left running.
    pub exited: Option<Exited>,
    /// Whether some of the command's processes go on, unrecorded.
    pub left: bool,
}

/// Why a recording failed.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The run could not be followed.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The recording could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Records until the command has ended, with all that it started if those are followed. Without a
/// command it records until the followed tasks have ended, or until a signal arrives.
///
/// # Errors
/// [`RecordingError`]; the command is dead then.
pub fn record(
    mut running: Option<Running>,
    events: &mut EventSet,
    recorder: &mut Recorder<'_>,
    whose: Recording,
    control: &mut dyn Control,
) -> Result<RecordEnd, RecordingError> {
    let mut next = Next::Follow;
    loop {
        if whose.is_over(running.as_ref(), events.have_hung_up()) || next == Next::Leave {
            break;
        }
        let others = running.iter().flat_map(Running::descriptors);
        let others = others.chain(recorder.descriptors());
        let patience = recorder.patience();
        let is_called = session::wait_for(events, others, control, patience)?;
        recorder.round(events)?;
        match &mut running {
            Some(running) => next = look_after(running, is_called, control, next)?,
            None if is_called => {
                control.ends().map_err(system("take a signal"))?;
                break;
            }
            None => {}
        }
    }
    let left = has_left(next, whose, running.as_ref(), events)?;
    events.disable().map_err(system("stop the events"))?;
    events.drain_by_looks().map_err(system("drain the rings"))?;
    while !recorder.round(events)? {}
    let exited = running.map(Running::finish).transpose();
    Ok(RecordEnd {
        exited: exited.map_err(system("reap the command"))?,
        left,
    })
}

/// Whether what is to be left still lives: the signal that asks for it may have ended the command
/// and all that it started as well.
pub(super) fn has_left(
    next: Next,
    whose: Recording,
    running: Option<&Running>,
    events: &mut EventSet,
) -> Result<bool, SessionError> {
    if next != Next::Leave {
        return Ok(false);
    }
    if whose == Recording::Command && events.hang_up() {
        let has_ended = running.is_some_and(|it| it.exit().is_some());
        return Ok(!(has_ended && have_ended(events)?));
    }
    let looked = events.wait(&[], Duration::ZERO);
    looked.map_err(system("wait for events"))?;
    Ok(!whose.is_over(running, events.have_hung_up()))
}

/// Takes the command's output and exit status, and passes signals on to it.
pub(super) fn look_after(
    running: &mut Running,
    is_called: bool,
    control: &mut dyn Control,
    mut next: Next,
) -> Result<Next, SessionError> {
    running
        .collect()
        .map_err(system("look after the command's end"))?;
    if is_called {
        next = control.ready(running).map_err(system("pass a signal on"))?;
    }
    if next == Next::Kill {
        running
            .signal(libc::SIGKILL)
            .map_err(system("end the command"))?;
    }
    Ok(next)
}
