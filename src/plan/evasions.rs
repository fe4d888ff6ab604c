//! What is recorded so that no task gets out of sight, and no call is made where none is looked for.

use super::calls::Reach;
use super::error::EventsError;
use super::events::{EventsPlan, Grouping, Meaning};
use crate::host::{Catalogue, HostError};
use crate::syscall::names::{self, Abi};
use crate::units::TracepointName;

const ATTACH: &str = "cgroup:cgroup_attach_task";

/// The calls of the vsyscall page of x86-64, by their numbers there. Measured on Linux 6.18 with `CONFIG_LEGACY_VSYSCALL_XONLY`: a call of one
/// faults, the kernel makes it in the fault (`emulate_vsyscall()`), and no tracepoint of calls fires. Without the emulation such a program dies.
/// The page of today (vDSO) makes them without the kernel: there is nothing to be seen, and where it gives way to the kernel it makes a call.
pub const LEGACY_CALLS: [&str; 3] = ["gettimeofday", "time", "getcpu"];

const LEGACY: &str = "vsyscall:emulate_vsyscall";

impl EventsPlan {
    /// Has everything counted for a control group that the workload cannot leave.
    ///
    /// # Errors
    /// [`EventsError::Host`].
    pub(super) fn follow_members(&mut self, catalogue: &dyn Catalogue) -> Result<(), EventsError> {
        if self.reach == Reach::Everything {
            self.watch_group(catalogue)?;
            self.watch_machine(catalogue)?;
            self.grouping = Grouping::Members;
        }
        Ok(())
    }

    /// Sees to it that nobody comes back unseen, where a task that left the group is not seen to do so: the tracepoint of moves fires when it is
    /// gone already. That it did not come back is known from its end, which is not seen.
    fn watch_machine(&mut self, catalogue: &dyn Catalogue) -> Result<(), EventsError> {
        let found = self.meanings.iter_mut().zip(&mut self.requests);
        let mut found = found.filter(|(meaning, _)| **meaning == Meaning::LeavesGroup);
        let name = TracepointName::parse(ATTACH);
        if let Some(((meaning, request), name)) = found.next().zip(name)
            && let Some(field) = catalogue.format(&name)?.field("dst_path")
        {
            *meaning = Meaning::JoinsGroup { path: field.offset };
            request.of_everybody = true;
        }
        Ok(())
    }

    /// Sees to it that no wanted call is made by the page for the oldest programs without the run saying so.
    pub(super) fn watch_legacy(&mut self, catalogue: &dyn Catalogue) -> Result<(), EventsError> {
        let native = Abi::native();
        let is_wanted = self.selection.as_ref().is_some_and(|selection| {
            let mut numbers = LEGACY_CALLS
                .iter()
                .filter_map(|name| names::number(native, name));
            numbers.any(|number| selection.contains(native, number))
        });
        let name = TracepointName::parse(LEGACY).filter(|_| is_wanted);
        let Some(name) = name.filter(|_| self.reach == Reach::Everything) else {
            return Ok(());
        };
        let format = match catalogue.format(&name) {
            // Without the emulation there is no such call.
            Err(HostError::NoTracepoint { .. }) => return Ok(()),
            format => format?,
        };
        if let Some(field) = format.field("nr") {
            let number = field.offset;
            self.add(LEGACY, format.id, None, 0, Meaning::LegacyCall { number });
        }
        Ok(())
    }

    /// Sees to it that nobody leaves the group unseen.
    pub(super) fn watch_group(&mut self, catalogue: &dyn Catalogue) -> Result<(), EventsError> {
        if self.meanings.contains(&Meaning::LeavesGroup) {
            return Ok(());
        }
        if let Some(name) = TracepointName::parse(ATTACH) {
            match catalogue.format(&name) {
                // Linux before 4.18 has none; the oldest that is supported is 5.10.
                Err(HostError::NoTracepoint { .. }) => {}
                format => self.add(ATTACH, format?.id, None, 0, Meaning::LeavesGroup),
            }
        }
        Ok(())
    }
}
