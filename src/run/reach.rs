//! Finds how far the right to trace goes on this machine, and which rings it has room for.

use super::Bench;
use crate::plan::{self, EventsPlan, Meaning, Reach};
use perf_live::events::{self, Counted, Counter, EventRequest, OpenError, Rings};
use perf_live::host::{Catalogue, HostError};
use perf_live::sys::page_size;
use perf_live::sys::rights::{self, Right};
use perf_records::attr::{Attr, Source};
use perf_records::units::TracepointName;
use std::sync::atomic::Ordering;
use std::thread;

const ALL_CALLS: &str = "raw_syscalls:sys_enter";
const OWN_CALLS: &str = "syscalls:sys_exit_execve";

/// What is to be known of tracing with the rights of an ordinary user.
pub const LIMITS_OF_OWN_CALLS: &str = "descriptors and mappings are not followed, and calls of 32-bit programs and through int 0x80 are not seen";

impl Bench<'_> {
    /// Drops the rights that the program's file lent for the opening of events, for good: the
    /// command has not started yet. What BPF programs count is read after its end, and formats of
    /// calls are read before this drop.
    pub fn has_opened(&self) {
        if !rights::are_lent() {
            return;
        }
        let calls = self.host.events("syscalls").unwrap_or_default();
        for call in calls {
            let name = TracepointName::parse(&format!("syscalls:{call}"));
            // A format that cannot be read now cannot be read later.
            let _kept = name.map(|name| self.host.format(&name));
        }
        rights::forget_all_but(&[Right::Bpf]);
    }

    /// Finds how far this user's right to trace goes, by opening an event and closing it. Called
    /// before a suite, so that a missing right is reported once.
    ///
    /// # Errors
    /// [`AccessError`], with a hint, if the user cannot trace even own programs.
    pub fn reach(&self) -> Result<Reach, AccessError> {
        if let Some(reach) = self.reach.get() {
            return Ok(*reach);
        }
        let reach = match self.probe(ALL_CALLS, false) {
            Ok(()) => Reach::Everything,
            Err(AccessError::Open(error)) if error.is_permission() => {
                let paranoid = self.host.perf_event_paranoid();
                // A user without any right must not be told of the error of the smaller request.
                let refused = |_| AccessError::Nothing {
                    source: error,
                    paranoid,
                };
                self.probe(OWN_CALLS, true).map_err(refused)?;
                Reach::OwnCalls
            }
            Err(error) => return Err(error),
        };
        Ok(*self.reach.get_or_init(|| reach))
    }

    /// Whether this user may see what happens in the kernel. A user who may not read tracefs may
    /// still see events that need none.
    #[must_use]
    pub fn sees_kernel(&self) -> bool {
        match self.reach() {
            Ok(reach) => reach == Reach::Everything,
            Err(_) => {
                let nothing = EventRequest::new("dummy", Attr::counting(Source::DUMMY));
                Counter::open(&nothing, Counted::Myself).is_ok()
            }
        }
    }

    fn probe(&self, name: &str, exclude_kernel: bool) -> Result<(), AccessError> {
        if let Some(name) = TracepointName::parse(name) {
            let format = self.host.format(&name)?;
            self.pins.hold(format.id);
            events::probe(name.as_str(), format.id, exclude_kernel)?;
        }
        Ok(())
    }

    /// Returns the first tracepoint of a plan that this user may not trace.
    #[must_use]
    pub fn out_of_reach<'p>(&self, plan: &'p EventsPlan) -> Option<&'p str> {
        let mut events = plan.requests.iter().zip(&plan.meanings);
        let refused = events.find(|(request, meaning)| {
            plan.reach == Reach::OwnCalls
                && matches!(meaning, Meaning::Event(_))
                && self
                    .probe(&request.name, request.attr.exclude_kernel)
                    .is_err()
        });
        refused.map(|(request, _)| request.name.as_str())
    }

    /// Makes side by side what all runs share and what takes the kernel some time: the rings, the
    /// programs that read memory, and the machine's first event of a task. A failure is reported
    /// where a run needs what failed.
    pub fn warm_up(&self) {
        // Mapping is one at a time in a process, and that of a ring takes milliseconds.
        let _mapped = self.kernel_types();
        let pages = plan::ring_pages(plan::default_ring(self.cpus.len()), page_size());
        let likely = pages.saturating_mul(page_size()) as u64;
        self.likely_ring.store(likely, Ordering::Relaxed);
        thread::scope(|scope| {
            let beside = |name: &str| thread::Builder::new().name(name.to_owned());
            let _first = beside("first").spawn_scoped(scope, || self.has_lost_counts());
            let _rings = beside("rings").spawn_scoped(scope, || self.default_ring());
            let _known = self.capture();
        });
    }

    /// Returns the default size of each CPU's ring in bytes: the best size, or what a user without
    /// the right to lock memory may map on all CPUs.
    #[must_use]
    pub fn default_ring(&self) -> u64 {
        let best = plan::default_ring(self.cpus.len());
        let pages = self.likely_pages(plan::ring_pages(best, page_size()));
        let is_kept = self.kept.lock().is_ok_and(|mut kept| {
            let has_one = kept.iter().any(|rings| rings.pages() == pages);
            has_one
                || Rings::lasting(&self.cpus, pages)
                    .map(|rings| kept.push(rings))
                    .is_ok()
        });
        let allowed = self.host.perf_event_mlock_kb();
        match allowed.and_then(|kib| u64::try_from(kib).ok()) {
            Some(kib) if !is_kept => best.min(plan::allowed_ring(kib, page_size())),
            _ => best,
        }
    }
}

/// The user lacks a right.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// To read tracefs.
    #[error(transparent)]
    Host(#[from] HostError),
    /// To open events.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// To open any event at all, even of the user's own programs.
    #[error("not even the calls of one's own programs can be traced")]
    Nothing {
        /// What was refused.
        source: OpenError,
        /// The value of `kernel.perf_event_paranoid`, if known.
        paranoid: Option<i64>,
    },
}

impl AccessError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = self.remedy();
        let in_guest =
            "in a virtual machine it takes no right: harness run --vm, harness vm -- COMMAND";
        match (hint, self.is_of_rights()) {
            (Some(hint), true) => Some(format!("{hint}; {in_guest}")),
            (hint, _) => hint,
        }
    }

    /// Whether it is a right that is missing: scenarios are skipped for that.
    #[must_use]
    pub fn is_of_rights(&self) -> bool {
        match self {
            Self::Nothing { .. } => true,
            Self::Open(error) => error.is_permission(),
            Self::Host(error) => error.is_permission(),
        }
    }

    fn remedy(&self) -> Option<String> {
        match self {
            Self::Host(error) => error.hint(),
            Self::Open(error) => error.hint(),
            // 3 and more are not in the kernel's own sources; some distributions add them, and then
            // an ordinary user may open nothing.
            Self::Nothing {
                source,
                paranoid: Some(3..),
            } => source.hint().map(|hint| {
                hint + "; or, to trace the calls of your own programs and nothing else: sysctl kernel.perf_event_paranoid=2"
            }),
            Self::Nothing { source, .. } => source.hint(),
        }
    }
}
