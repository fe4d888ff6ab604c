//! Notices where the kernel may have forgotten a probe.
//!
//! Which memory a probe's breakpoints are in the kernel knows by the tasks that its events were
//! made for. Two tasks of one family swap their events where a CPU switches from the one to the
//! other (perf_event_context_sched_out()); when one of them ends, the events go that it has by then
//! (perf_event_exit_task()), and with them the other's breakpoints (uprobe_perf_close()). So the
//! calls of any process may be untold after a task has ended beside it, but for those of processes
//! that an event was opened for by name: such an event stays.

use super::Reader;
use crate::plan::EventsPlan;
use crate::run::setting::{ProbedFile, Setting};
use perf_live::events::Forgotten;
use perf_records::record::Task;
use perf_records::units::Pid;
use std::collections::HashSet;

/// The probes that the kernel may forget.
#[derive(Debug)]
pub(super) struct Forgets {
    /// Each event with the path of its file.
    probes: Vec<(String, Vec<u8>)>,
    /// Whether the main process had its events opened by name, and did not inherit them.
    has_main: bool,
    /// Those that lived when their events were opened.
    named: HashSet<Pid>,
    /// The first task that ended, and the process beside it.
    first: Option<(Task, Pid)>,
}

impl Forgets {
    /// Returns `None` if no probe of the plan can be forgotten: it has none, they are in all
    /// processes, or their events are counted for a control group, and not for tasks.
    pub(super) fn of(plan: &EventsPlan, setting: &Setting) -> Option<Self> {
        if setting.of_group {
            return None;
        }
        let is_planned = |file: &&ProbedFile| plan.named.iter().any(|it| *it.name == *file.event);
        let probed = setting.probed.iter().flatten().filter(is_planned);
        let loose = probed.filter(|file| !file.is_held);
        let probes: Vec<_> = loose
            .map(|file| (file.event.clone(), file.path.clone()))
            .collect();
        (!probes.is_empty()).then(|| Self {
            probes,
            has_main: setting.init.is_none(),
            named: HashSet::new(),
            first: None,
        })
    }

    /// A process that had its events opened by name.
    pub(super) fn name(&mut self, pid: Pid) {
        self.named.insert(pid);
    }

    /// What may have been forgotten.
    pub(super) fn found(&self) -> Vec<Forgotten> {
        let Some((ended, beside)) = &self.first else {
            return Vec::new();
        };
        let probes = self.probes.iter();
        probes
            .map(|(name, path)| Forgotten {
                name: name.clone(),
                path: String::from_utf8_lossy(path).into_owned(),
                thread: ended.tid.0,
                process: ended.pid.0,
                beside: beside.0,
            })
            .collect()
    }
}

impl Reader<'_> {
    /// Follows the end of a task, which does not live any more.
    pub(super) fn may_forget(&mut self, task: &Task) {
        let Some(forgets) = &mut self.forgets else {
            return;
        };
        if forgets.first.is_some() {
            return;
        }
        let living = self.lineage.living();
        let mut living = living.iter();
        let beside = living.find(|it| {
            let is_named = forgets.named.contains(&it.pid);
            !(it.is_main && forgets.has_main || is_named)
        });
        forgets.first = beside.map(|it| (*task, it.pid));
    }
}
