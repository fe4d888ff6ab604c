//! The calls of a run, recorded by programs.

use super::recorder::{Placing, Recorder};
use super::wire::{selected, selection};
use super::{CaptureError, Slot, system, with_locked_memory};
use crate::ring::calls::control;
use crate::ring::{Bell, Drain};
use perf_records::units::Cpu;
use std::os::fd::AsFd;
use std::sync::Arc;
use syscall_model::select::Admitted;

/// Which half of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Its entry: `raw_syscalls:sys_enter`.
    Enter,
    /// Its exit: `raw_syscalls:sys_exit`.
    Leave,
}

/// What a program must know to write an event's records of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfCalls {
    /// Which half of calls.
    pub half: Half,
    /// Which numbers, as the event's filter has them.
    pub admitted: Admitted,
}

/// The events that records of calls belong to: one for each half and CPU.
#[derive(Clone, Debug)]
pub struct CallEvents {
    /// The ids on each CPU: of entries, of exits.
    pub ids: Vec<(Cpu, [u64; 2])>,
    /// The numbers of their tracepoints.
    pub tracepoints: [u16; 2],
    /// Which calls are recorded.
    pub admitted: [Admitted; 2],
}

/// A slot's part of the recorder.
#[derive(Debug)]
pub(super) struct Calls {
    placing: Placing,
    /// One for each CPU.
    bells: Vec<(Cpu, Arc<Bell>)>,
    is_on: bool,
    /// What became of calls on each CPU before the run.
    before: Vec<(Cpu, [Written; 2])>,
}

/// What became of a half of calls on a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// How many records were written.
    pub records: u64,
    /// How many found no room.
    pub lost: u64,
}

impl Written {
    /// How many halves came by.
    #[must_use]
    pub fn all(self) -> u64 {
        self.records + self.lost
    }

    fn since(self, before: Self) -> Self {
        Self {
            records: self.records.saturating_sub(before.records),
            lost: self.lost.saturating_sub(before.lost),
        }
    }
}

impl Slot {
    /// Makes rings for calls, one for each of these CPUs, each with room for so many bytes. A
    /// program rings a bell when a quarter of such a ring has been filled. `None` where programs
    /// record no calls.
    ///
    /// # Errors
    /// [`CaptureError::System`].
    pub fn make_call_rings(
        &mut self,
        cpus: &[Cpu],
        capacity: u64,
    ) -> Result<Option<Vec<Drain>>, CaptureError> {
        let Some(recorder) = &self.capture.recorder else {
            return Ok(None);
        };
        let mut bells = Vec::new();
        let mut places = Vec::new();
        for cpu in cpus {
            let place = self.place(*cpu);
            let bell = Bell::new(self.attr, *cpu)
                .and_then(|bell| {
                    recorder.bells.put(place, bell.as_fd())?;
                    Ok(bell)
                })
                .map_err(system("open an event to be woken by"))?;
            bells.push((*cpu, Arc::new(bell)));
            places.push((place, *cpu));
        }
        let (drains, placing) = with_locked_memory(|| recorder.rings(&places, capacity))?;
        self.calls = Some(Calls {
            placing,
            bells,
            is_on: false,
            before: Vec::new(),
        });
        Ok(Some(drains))
    }

    /// Whether it has rings for calls.
    #[must_use]
    pub fn has_call_rings(&self) -> bool {
        self.calls.is_some()
    }

    /// What the programs wake readers by.
    pub(crate) fn bells(&self) -> impl Iterator<Item = &Arc<Bell>> {
        let calls = self.calls.iter();
        calls.flat_map(|calls| calls.bells.iter().map(|(_, bell)| bell))
    }

    /// Lets go of the bells. The rings stay until another slot of this number has its own: to take
    /// them out waits for a grace period.
    pub(super) fn forget_bells(&self) {
        let Some((calls, recorder)) = self.calls.as_ref().zip(self.recorder()) else {
            return;
        };
        for (cpu, _) in &calls.bells {
            // The map holds the event as well; what cannot be taken out goes with the map.
            let _gone_later = recorder.bells.remove(&self.place(*cpu).to_ne_bytes());
        }
    }

    fn place(&self, cpu: Cpu) -> u32 {
        self.number * self.capture.n_cpus + cpu.0
    }

    fn recorder(&self) -> Option<&Recorder> {
        self.capture.recorder.as_ref()
    }

    /// Has calls of the slot's tasks recorded from now on.
    pub(super) fn record(&mut self, events: &CallEvents) -> Result<(), CaptureError> {
        self.calls
            .as_mut()
            .map_or(Ok(()), |calls| calls.placing.end())?;
        let written = |cpu| [Half::Enter, Half::Leave].map(|half| self.written_so_far(cpu, half));
        let before: Vec<_> = events
            .ids
            .iter()
            .map(|(cpu, _)| (*cpu, written(*cpu)))
            .collect();
        let Some(recorder) = self.recorder() else {
            return Ok(());
        };
        for (cpu, [enter, leave]) in &events.ids {
            let place = self.place(*cpu);
            recorder.put(place, control::ENTER_ID, *enter);
            recorder.put(place, control::LEAVE_ID, *leave);
            let [enter, leave] = events.tracepoints.map(u64::from);
            recorder.put(place, control::ENTER_TYPE, enter);
            recorder.put(place, control::LEAVE_TYPE, leave);
        }
        let [enter, leave] = &events.admitted;
        let told = recorder
            .selections
            .set(&self.number.to_ne_bytes(), &selected(enter, leave));
        told.map_err(system("fill a map"))?;
        if let Some(calls) = &mut self.calls {
            (calls.is_on, calls.before) = (true, before);
        }
        Ok(())
    }

    /// Has no more calls recorded. What programs are writing just now may still come.
    ///
    /// # Errors
    /// [`CaptureError::System`].
    pub fn stop_recording(&mut self) -> Result<(), CaptureError> {
        if !self.calls.as_ref().is_some_and(|calls| calls.is_on) {
            return Ok(());
        }
        if let Some(recorder) = self.recorder() {
            let nothing = [0; selection::SIZE];
            let told = recorder
                .selections
                .set(&self.number.to_ne_bytes(), &nothing);
            told.map_err(system("fill a map"))?;
        }
        if let Some(calls) = &mut self.calls {
            calls.is_on = false;
        }
        Ok(())
    }

    /// What became of a half of the run's calls on this CPU.
    #[must_use]
    pub fn written(&self, cpu: Cpu, half: Half) -> Written {
        let mut before = self.calls.iter().flat_map(|calls| &calls.before);
        let before = before.find(|(of, _)| *of == cpu);
        let before = before.and_then(|(_, written)| written.get(half as usize));
        let before = before.copied().unwrap_or_default();
        self.written_so_far(cpu, half).since(before)
    }

    fn written_so_far(&self, cpu: Cpu, half: Half) -> Written {
        let place = self.place(cpu);
        let get = |field| {
            self.recorder()
                .map_or(0, |recorder| recorder.get(place, field))
        };
        let (records, lost) = match half {
            Half::Enter => (control::WRITTEN_ENTER, control::LOST_ENTER),
            Half::Leave => (control::WRITTEN_LEAVE, control::LOST_LEAVE),
        };
        Written {
            records: get(records),
            lost: get(lost),
        }
    }
}
