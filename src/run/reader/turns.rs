//! Who comes onto a CPU, and who ends.

use super::Reader;
use crate::run::setting::Turn;
use crate::units::{Nanos, Pid, Tid};

impl Reader<'_> {
    /// Tells of a thread's turn; of init's nothing.
    pub(super) fn turn(&mut self, who: Option<(Pid, Tid)>, time: Option<Nanos>, is_end: bool) {
        if let (Some((pid, tid)), Some(time)) = (who, time)
            && Some(pid) != self.init
        {
            self.observer.turn(Turn { tid, time, is_end });
        }
    }
}
