//! Who comes onto a CPU, who ends, and who starts a program.

use super::Reader;
use crate::run::setting::Turn;
use perf_records::units::{Nanos, Pid, Tid};
use syscall_model::Observation;
use syscall_model::names::Abi;

impl Reader<'_> {
    /// Tells of a thread's turn; of init's nothing.
    pub(super) fn turn(&mut self, who: Option<(Pid, Tid)>, time: Option<Nanos>, is_end: bool) {
        if let (Some((pid, tid)), Some(time)) = (who, time)
            && Some(pid) != self.init
        {
            self.observer.turn(Turn { tid, time, is_end });
        }
    }

    /// Tells what a dynamic loader does to start a program, by the instruction behind the one that
    /// made a call.
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
