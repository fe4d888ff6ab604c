//! Takes what calls pointed to, as BPF programs or the kernel's own tracepoints read it.

use super::Reader;
use crate::plan::Meaning;
use crate::run::copies;
use crate::run::halves::is_exec;
use crate::run::session::SessionError;
use perf_live::capture;
use perf_records::record::Sample;
use perf_records::units::{Pid, Tid};
use syscall_model::memory::{Captured, Part};
use syscall_model::names::Abi;

fn lacks(field: &'static str) -> SessionError {
    SessionError::Lacks {
        event: "bpf-output".to_owned(),
        field,
    }
}

impl Reader<'_> {
    /// Whether the records of a request are of interest before the workload's program runs.
    pub(super) fn starts(&self, place: usize) -> bool {
        let Some(Meaning::Copies(copies)) = self.plan.meanings.get(place) else {
            return false;
        };
        let copies = self.plan.copies.get(*copies);
        copies.is_some_and(|copies| is_exec(copies.number as i32))
    }

    /// Takes a record of a BPF program.
    pub(super) fn memory(&mut self, sample: &Sample<'_>) -> Result<(), SessionError> {
        let who = sample.task.ok_or_else(|| lacks("thread"))?;
        let raw = sample.raw.ok_or_else(|| lacks("payload"))?;
        let captured = capture::parse(raw).ok_or_else(|| lacks("meaning"))?;
        if let Some(delivered) = self.delivered.last_mut() {
            *delivered += 1;
        }
        if Some(who.0) != self.init && self.follows(who.1) && !self.forgot_calls_of(who.1) {
            self.captured(who, captured);
        }
        self.flush();
        Ok(())
    }

    /// Takes what a program that records calls has read for one: it stands behind the fields of the
    /// call's record, where perf's own would end.
    pub(super) fn with_call(
        &mut self,
        who: (Pid, Tid),
        place: usize,
        raw: &[u8],
        fields: usize,
    ) -> Result<(), SessionError> {
        // The raw data and their length, four bytes, have a multiple of eight bytes together.
        let end = (fields + 4).next_multiple_of(8) - 4;
        let contents = match raw.get(end..) {
            Some(contents @ [_, ..]) if self.is_raw_call(place) => contents,
            _ => return Ok(()),
        };
        let captured = capture::parse(contents).ok_or_else(|| lacks("meaning"))?;
        self.captured(who, captured);
        Ok(())
    }

    fn is_raw_call(&self, place: usize) -> bool {
        let request = self.plan.requests.get(place);
        request.is_some_and(|request| request.name.starts_with("raw_syscalls:"))
    }

    fn captured(&mut self, who: (Pid, Tid), captured: Captured) {
        match captured {
            Captured::Contents { call, part, memory }
                if self.started || call.0 == Abi::native() && is_exec(call.1) =>
            {
                self.tracker
                    .contents(who, call, part, memory, &mut self.out);
            }
            Captured::Signal { handled } if self.started => {
                self.tracker.signal(who, handled, &mut self.out);
            }
            Captured::Signal { .. } | Captured::Contents { .. } => {}
        }
    }

    /// Takes what the kernel copied for a call; `None` if the copy does not lie in the record.
    pub(super) fn copied(&mut self, who: (Pid, Tid), place: usize, raw: &[u8]) -> Option<()> {
        let copies = self.plan.copies.get(place)?;
        let memory = copies::read(copies, raw).ok()?;
        let call = (Abi::native(), copies.number as i32);
        let part = Part::Entry { more: false };
        self.tracker
            .contents(who, call, part, memory, &mut self.out);
        Some(())
    }
}
