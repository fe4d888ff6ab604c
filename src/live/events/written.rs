//! Events of calls whose records a BPF program writes. The kernel counts them and leaves no record:
//! its count is the witness that no record of the program's is missing.

use super::open::Wanted;
use super::{OpenEvent, Rings};
use crate::capture::{CallEvents, Half, OfCalls, Slot};
use crate::sys::perf::{self, Counts};
use perf_records::attr::{Attr, SAMPLE_TYPE, SampleType, Sampling, Source};
use std::io;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

/// The registers that a program writes: `cx` and `ip`, which tell the convention of a call, and
/// `si`, which a 32-bit one takes its fourth argument from.
fn registers(half: Half) -> u64 {
    match half {
        Half::Enter => 1 << 2 | 1 << 4 | 1 << 8,
        Half::Leave => 1 << 2 | 1 << 8,
    }
}

/// How the kernel is asked for an event that it only counts.
pub(super) fn counted(attr: &Attr) -> Attr {
    Attr {
        sampling: Sampling::Never,
        sample_type: SampleType::default(),
        user_registers: 0,
        ..*attr
    }
}

/// The requests whose records a program writes, and what it must know of them: both halves of calls
/// or none, followed from task to task, with the fields that the program writes and no others.
pub(super) struct Written<'a> {
    halves: [(usize, &'a OfCalls, u16); 2],
}

impl<'a> Written<'a> {
    pub(super) fn of(wanted: &[Wanted<'a>], rings: Option<&Rings>) -> Option<Self> {
        rings
            .and_then(Rings::programs)
            .filter(|slot| slot.has_call_rings())?;
        let half = |half: Half| {
            let mut all = wanted.iter().enumerate().filter_map(|(place, wanted)| {
                let calls = wanted.request.calls.as_ref().filter(|it| it.half == half)?;
                let Source::Tracepoint(tracepoint) = wanted.attr.source else {
                    return None;
                };
                is_as_written(wanted, half).then_some((place, calls, tracepoint))
            });
            let only = all.next()?;
            all.next().is_none().then_some(only)
        };
        Some(Self {
            halves: [half(Half::Enter)?, half(Half::Leave)?],
        })
    }

    /// The half that the request at this place is of.
    pub(super) fn half(&self, place: usize) -> Option<Half> {
        let mut halves = self.halves.iter();
        let found = halves.find(|(of, ..)| *of == place);
        found.map(|(_, calls, _)| calls.half)
    }

    pub(super) fn events(&self, opened: &[OpenEvent]) -> CallEvents {
        let id = |cpu, half| {
            let is_it = |event: &&OpenEvent| event.cpu == cpu && event.written == Some(half);
            opened.iter().find(is_it).map(|event| event.id)
        };
        let enters = opened
            .iter()
            .filter(|event| event.written == Some(Half::Enter));
        let ids = enters.filter_map(|event| {
            let leave = id(event.cpu, Half::Leave)?;
            Some((event.cpu, [event.id, leave]))
        });
        let [(_, enter, of_enter), (_, leave, of_leave)] = self.halves;
        CallEvents {
            ids: ids.collect(),
            tracepoints: [of_enter, of_leave],
            admitted: [enter.admitted.clone(), leave.admitted.clone()],
        }
    }
}

/// Whether an event's records are such as a program writes, and its tasks those that it follows.
fn is_as_written(wanted: &Wanted<'_>, half: Half) -> bool {
    let attr = wanted.attr;
    let expected = Attr {
        sample_type: SAMPLE_TYPE.and(SampleType::REGS_USER),
        user_registers: registers(half),
        read_format: attr.read_format,
        ..Attr::recording(attr.source)
    };
    let is_of_task = matches!(wanted.targets, [perf::Target::Task(_)]);
    attr == expected && is_of_task && wanted.request.at_most.is_none()
}

/// What an event counted, and, where a program writes its records, how many that had no room for.
/// Behind the moment at which it was [settled](settle) the program alone counts.
pub(super) fn counts(event: &OpenEvent, slot: Option<&Slot>) -> io::Result<Counts> {
    let mut counts = perf::read_counts(event.fd.as_fd(), event.attr.read_format.0)?;
    if let Some((half, slot)) = event.written.zip(slot) {
        let written = slot.written(event.cpu, half);
        counts.lost = Some(written.lost);
        if let Some((counted, recorded)) = event.settled {
            counts.value = counted + written.all().saturating_sub(recorded);
        }
    }
    Ok(counts)
}

/// How often in a row a moment is looked for at which nothing happens.
const TRIES: usize = 1000;
/// How long to let others go on before it is looked for again.
const A_NAP: Duration = Duration::from_millis(1);
/// For how long it is looked for, for all events together.
pub(super) const LONGEST: Duration = Duration::from_secs(2);

/// Proves that all calls have a record that have been made so far, where tasks live on: events and
/// programs cannot be stopped at one moment. Between two looks at the kernel's count that find the
/// same no call was made, and if the program has written as many by then, none is missing. Calls
/// that are made from then on until it is stopped are those of which no more is wanted to be known.
/// Where no such moment is found the account does not add up, and says so.
///
/// A task may lose its CPU between the two: since Linux 6.13 what is attached to the tracepoints of
/// calls can be preempted from one to the next. Then no moment comes before it has its CPU again.
pub(super) fn settle(
    event: &OpenEvent,
    slot: &Slot,
    deadline: Instant,
) -> io::Result<Option<(u64, u64)>> {
    let Some(half) = event.written else {
        return Ok(None);
    };
    let count = || perf::read_counts(event.fd.as_fd(), event.attr.read_format.0);
    loop {
        let mut counted = count()?.value;
        for _ in 0..TRIES {
            let written = slot.written(event.cpu, half);
            let now = count()?.value;
            if (counted, counted) == (written.all(), now) {
                return Ok(Some((counted, written.all())));
            }
            counted = now;
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        thread::sleep(A_NAP);
    }
}
