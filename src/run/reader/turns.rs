//! Reports the threads that come onto a CPU, those that end, and the starts of programs.

use super::Reader;
use crate::run::setting::Turn;
use perf_records::units::{Cpu, Nanos, Pid, Tid};
use syscall_model::Observation;
use syscall_model::names::Abi;

impl Reader<'_> {
    /// Reports a thread's turn; none of init.
    pub(super) fn turn(
        &mut self,
        cpu: Cpu,
        who: Option<(Pid, Tid)>,
        time: Option<Nanos>,
        is_end: bool,
    ) {
        if let (Some((pid, tid)), Some(time)) = (who, time)
            && Some(pid) != self.init
        {
            self.observer.turn(Turn {
                tid,
                time,
                cpu,
                is_end,
            });
        }
    }

    /// Reports what a dynamic loader does to start a program, found by the instruction behind that
    /// of the call.
    pub(super) fn starting(
        &mut self,
        (pid, tid): (Pid, Tid),
        instruction: Option<u64>,
        call: (Abi, i32),
        words: &[u64; 6],
    ) {
        let starts = self.starts.as_mut().zip(instruction);
        let role = starts.and_then(|(starts, at)| {
            let thread = self.tracker.actor(pid, tid, &mut self.out).thread;
            let role = starts.entered(pid, at, call, words)?;
            Some(Observation::Starting(thread, role))
        });
        self.out.extend(role);
    }
}
