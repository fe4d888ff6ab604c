//! Opens the events of a plan, into rings that are kept from run to run.

use super::{Bench, RunError};
use crate::plan::{CallSource, EventsPlan, Grouping, Plan, StringSource};
use perf_live::capture::{CaptureError, ReadOf};
use perf_live::events::{
    self, EventSet, Follow, OpenError, RingChoice, RingPages, Rings, Sleepers,
};
use perf_live::sandbox::{Cgroup, Corked};
use perf_records::units::Cpu;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;

impl Bench<'_> {
    /// Opens the events of a plan on a corked workload; for its control group, if the plan wants
    /// that and the workload was born in one.
    ///
    /// # Errors
    /// [`OpenError`], [`CgroupError`](perf_live::sandbox::CgroupError).
    pub fn open(
        &self,
        plan: &EventsPlan,
        corked: &Corked,
        group: Option<&Cgroup>,
        ring_pages: usize,
    ) -> Result<EventSet, RunError> {
        let counted = self.counted(plan, group)?;
        let follow = match counted {
            Some(group) if plan.grouping == Grouping::Members => Follow::Members(group.as_fd()),
            Some(group) => Follow::Group(corked.pid(), group.as_fd()),
            None => Follow::Tasks(corked.pid()),
        };
        let mut set = self.open_for(plan, follow, ring_pages)?;
        let claimant = ReadOf::Claimant(corked.token());
        let reads = !matches!(self.strings, StringSource::Kernel | StringSource::None);
        set.read_memory(reads.then_some(&plan.fetches), claimant)?;
        if counted.is_some() {
            set.enable_group()?;
        }
        if set.records_by_programs() {
            // A ring may be full before the reader has its first look on a busy machine. Where no
            // thread can be had it goes on alone.
            let _alone = set.drain_apart();
        }
        Ok(set)
    }

    /// Opens what tells the registers of threads that are held, where a fault asks for the
    /// functions that led to a call.
    ///
    /// # Errors
    /// [`OpenError`].
    pub(super) fn sleepers(
        &self,
        plan: &Plan,
        corked: &Corked,
    ) -> Result<Option<Sleepers>, OpenError> {
        let open = || Sleepers::open(corked.pid(), &self.cpus);
        plan.asks_callers().then(open).transpose()
    }

    /// Opens the events of a plan on tasks; no memory of theirs is read yet.
    pub(super) fn open_for(
        &self,
        plan: &EventsPlan,
        follow: Follow<'_>,
        ring_pages: usize,
    ) -> Result<EventSet, RunError> {
        for request in &plan.requests {
            self.pin(request.attr.source);
        }
        let overwrites = plan.overwrites_calls();
        let for_keeping = self.keeps_records.load(Ordering::Relaxed);
        let records_calls = self.records_calls() && !overwrites;
        let is_little = records_calls && plan.leaves_perf_little();
        let pages = match is_little && matches!(follow, Follow::Tasks(_)) {
            true => self.likely_pages(ring_pages),
            false => RingPages::all(ring_pages),
        };
        let mut rings = self.rings(pages);
        let programs = match (records_calls, plan.fetches.is_empty()) {
            (true, _) => self.programs().ok(),
            (false, false) => self.capture().ok().flatten(),
            (false, true) => None,
        };
        if let (RingChoice::Kept(rings), Some(capture)) = (&mut rings, programs) {
            match rings.capture(capture, for_keeping, overwrites) {
                // Kept rings that no run uses also take a place.
                Err(CaptureError::Full) => {
                    self.kept.lock().map(|mut kept| kept.clear()).ok();
                    rings.capture(capture, for_keeping, overwrites)?;
                }
                captured => captured?,
            }
            if records_calls {
                rings.record_calls()?;
            }
        }
        let maps = match (
            plan.has_chains() || plan.probes_files(),
            plan.starts || plan.programs.is_some(),
        ) {
            _ if plan.has_faults() => perf_records::attr::Maps::All,
            (true, _) => perf_records::attr::Maps::Files,
            (false, true) => perf_records::attr::Maps::Names,
            (false, false) => perf_records::attr::Maps::No,
        };
        let mut set = events::open(
            &plan.requests,
            follow,
            rings,
            self.has_lost_counts(),
            maps,
            plan.turns,
        )?;
        if let Some(bounds) = self.backlog {
            set.bound_backlog(bounds);
        }
        Ok(set)
    }

    /// The sizes of rings of a run whose calls programs are likely to record, and perf little else.
    /// Who has root's rights may have larger ones later; to others those may be refused, and it is
    /// to be known from the start.
    pub(super) fn likely_pages(&self, pages: usize) -> RingPages {
        let is_likely = self.source != CallSource::Perf && self.may_record_calls();
        match is_likely && self.host.has_rights_of_root() {
            true => RingPages::of_programs(pages),
            false => RingPages::all(pages),
        }
    }

    /// Returns kept rings of these sizes, or how to make new ones, kept if the user may have such.
    fn rings(&self, pages: RingPages) -> RingChoice<'_> {
        let kept = self.kept.lock().ok().and_then(|mut kept| {
            let place = kept.iter().position(|rings| rings.pages() == pages)?;
            Some(kept.swap_remove(place))
        });
        match kept.map_or_else(|| Rings::lasting(&self.cpus, pages), Ok) {
            Ok(rings) => RingChoice::Kept(rings),
            Err(_) => RingChoice::New {
                cpus: &self.cpus,
                pages: pages.of_calls,
            },
        }
    }

    /// Returns the group to count events for, if there are many events or one that tasks do not
    /// deliver. Without a group many events are inherited: slower, but just as complete.
    pub(super) fn counted<'g>(
        &self,
        plan: &EventsPlan,
        group: Option<&'g Cgroup>,
    ) -> Result<Option<&'g Cgroup>, OpenError> {
        let cpu = self.cpus.first().copied().unwrap_or(Cpu(0));
        let can_count = |group: &&Cgroup| {
            self.host.cgroup2_has_perf_events() && events::can_count_for(group.as_fd(), cpu)
        };
        let wanted = group.filter(|_| plan.grouping != Grouping::No);
        let counted = wanted.filter(can_count);
        if counted.is_none() && plan.grouping == Grouping::Needed {
            let event = plan.of_group_alone().unwrap_or_default().to_owned();
            return Err(OpenError::NeedsGroup { event });
        }
        Ok(counted)
    }
}
