//! Opening events: for each CPU one ring, and everything that writes into it.

use super::draining::Draining;
use super::request::SIDE_BAND;
use super::rings::{self, RingChoice, Rings};
use super::written::{self, Written};
use super::{EventRequest, EventSet, MEMORY, OpenError, OpenEvent, Origin};
use crate::capture::{Half, Slot};
use crate::ring::Flight;
use crate::sys::perf;
use crate::sys::ring::Overwritable;
use perf_records::attr::{Attr, ReadFormat};
use perf_records::record::LayoutTable;
use perf_records::units::Cpu;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// An event that is to be opened for each of its targets.
pub(super) struct Wanted<'a> {
    pub(super) request: &'a EventRequest,
    /// What is asked of the kernel for these targets.
    pub(super) attr: Attr,
    pub(super) targets: &'a [perf::Target<'a>],
}

pub(super) fn open_all(
    mut side_band: Attr,
    followed: &[perf::Target<'_>],
    wanted: &[Wanted<'_>],
    rings: RingChoice<'_>,
) -> Result<EventSet, OpenError> {
    let (cpus, pages, mut rings) = match rings {
        RingChoice::Kept(rings) => (rings.cpus(), rings.pages().of_perf, Some(rings)),
        RingChoice::New { cpus, pages } => (cpus.to_vec(), pages, None),
    };
    side_band.wakeup_bytes = rings::wakeup_bytes(pages);
    let written = Written::of(wanted, rings.as_ref());
    let mut events: Vec<OpenEvent> = Vec::new();
    let mut leaders = Vec::new();
    let mut drains = Vec::new();
    let mut overwritten: Vec<(Overwritable, Cpu, OwnedFd)> = Vec::new();
    for (place, &cpu) in cpus.iter().enumerate() {
        let of_cpu = open_each(SIDE_BAND, Origin::SideBand, &side_band, followed, cpu)?;
        let owner = rings.as_ref().and_then(|rings| rings.owner(place));
        let output = match (owner, of_cpu.first()) {
            (Some(owner), _) => owner,
            (None, Some(first)) => {
                drains.push(rings::map(first.fd.as_fd(), cpu, pages)?);
                first.fd.as_fd()
            }
            (None, None) => continue,
        };
        let is_owner = |event: &OpenEvent| event.fd.as_raw_fd() == output.as_raw_fd();
        for event in of_cpu.iter().filter(|event| !is_owner(event)) {
            redirect(event, output)?;
        }
        let programs = rings.as_ref().and_then(Rings::programs);
        if let Some(slot) = programs.filter(|slot| slot.overwrites())
            && let Some(event) = slot.event(cpu)
        {
            let chosen = wanted.iter().find_map(|wanted| wanted.request.overwrites);
            let chosen = chosen.unwrap_or(pages);
            overwritten.push(rings::map_overwritable(event, cpu, chosen)?);
        }
        for (place, wanted) in wanted.iter().enumerate() {
            let origin = Origin::Request(place);
            let Wanted {
                request,
                attr,
                targets,
            } = wanted;
            if let Some(half) = written.as_ref().and_then(|written| written.half(place)) {
                events.extend(open_counted(place, wanted, half, cpu)?);
                continue;
            }
            for event in open_each(&request.name, origin, attr, targets, cpu)? {
                // A ring is written in one direction: those that are overwritten have another.
                let backward = overwritten.last().filter(|(_, of, _)| *of == cpu);
                match backward {
                    _ if !attr.write_backward => redirect(&event, output)?,
                    Some((_, _, owner)) => redirect(&event, owner.as_fd())?,
                    None => {
                        let pages = request.overwrites.unwrap_or(pages);
                        overwritten.push(rings::map_overwritable(event.fd.as_fd(), cpu, pages)?);
                    }
                }
                set_filter(&event, request.filter.as_deref())?;
                let shown = request.shown.clone();
                events.push(OpenEvent { shown, ..event });
            }
        }
        leaders.extend(events.len()..events.len() + of_cpu.len());
        events.extend(of_cpu);
    }
    let rings = rings
        .take()
        .unwrap_or_else(|| Rings::of_one_run(drains, pages));
    let mut layouts: Vec<_> = events
        .iter()
        .map(|event| (event.id, event.attr.layout(), event.origin))
        .collect();
    let slot = rings.programs();
    let memory = named(slot.into_iter().flat_map(Slot::events))?;
    let layout = |(id, _, attr): &(u64, Cpu, Attr)| (*id, attr.layout(), Origin::Memory);
    layouts.extend(memory.iter().map(layout));
    let table = LayoutTable::new(layouts)?;
    Ok(EventSet {
        draining: Draining::of(leaders.len()),
        rings,
        flight: (!overwritten.is_empty()).then(|| Flight::new(overwritten)),
        leaders,
        calls: written.map(|written| written.events(&events)),
        events,
        memory,
        table,
        at_most: wanted.iter().map(|it| it.request.at_most).collect(),
        has_lost: side_band.read_format.has(ReadFormat::LOST),
        reads_memory: false,
    })
}

/// Opens an event whose records a program writes, which the kernel only counts.
fn open_counted(
    place: usize,
    wanted: &Wanted<'_>,
    half: Half,
    cpu: Cpu,
) -> Result<Vec<OpenEvent>, OpenError> {
    let (request, attr) = (wanted.request, written::counted(&wanted.attr));
    let origin = Origin::Request(place);
    let mut events = open_each(&request.name, origin, &attr, wanted.targets, cpu)?;
    for event in &mut events {
        set_filter(event, request.filter.as_deref())?;
        event.attr = wanted.attr;
        event.shown.clone_from(&request.shown);
        event.written = Some(half);
    }
    Ok(events)
}

/// The events that programs write to, with their ids.
fn named<'a>(
    events: impl Iterator<Item = (BorrowedFd<'a>, Cpu, Attr)>,
) -> Result<Vec<(u64, Cpu, Attr)>, OpenError> {
    let name = |(event, cpu, attr)| {
        let id = perf::id(event).map_err(|source| OpenError::Connect {
            event: MEMORY.to_owned(),
            source,
        })?;
        Ok((id, cpu, attr))
    };
    events.map(name).collect()
}

/// One event for each target. A task of several that is gone is left out, but not the last of them.
fn open_each(
    name: &str,
    origin: Origin,
    attr: &Attr,
    targets: &[perf::Target<'_>],
    cpu: Cpu,
) -> Result<Vec<OpenEvent>, OpenError> {
    let open = |target: &perf::Target<'_>| open_one(name, origin, attr, *target, cpu);
    all_but_gone(targets.iter().map(open))
}

/// Ignores tasks that have exited; fails if every task has.
pub(super) fn all_but_gone<T>(
    opened: impl Iterator<Item = Result<T, OpenError>>,
) -> Result<Vec<T>, OpenError> {
    let (mut all, mut gone) = (Vec::new(), None);
    for one in opened {
        match one {
            Err(error) if error.is_gone() => gone = Some(error),
            one => all.push(one?),
        }
    }
    match gone {
        Some(error) if all.is_empty() => Err(error),
        _ => Ok(all),
    }
}

fn open_one(
    name: &str,
    origin: Origin,
    attr: &Attr,
    target: perf::Target<'_>,
    cpu: Cpu,
) -> Result<OpenEvent, OpenError> {
    let fd = perf::open(&attr.raw(), target, Some(cpu)).map_err(|source| OpenError::Open {
        event: name.to_owned(),
        source,
    })?;
    let id = perf::id(fd.as_fd()).map_err(|source| OpenError::Connect {
        event: name.to_owned(),
        source,
    })?;
    Ok(OpenEvent {
        origin,
        name: name.to_owned(),
        id,
        attr: *attr,
        cpu,
        of_group: matches!(target, perf::Target::Cgroup(_)),
        of_everybody: matches!(target, perf::Target::Everybody),
        shown: None,
        written: None,
        settled: None,
        fd: Arc::new(fd),
    })
}

fn redirect(event: &OpenEvent, output: BorrowedFd<'_>) -> Result<(), OpenError> {
    perf::set_output(event.fd.as_fd(), output).map_err(|source| OpenError::Connect {
        event: event.name.clone(),
        source,
    })
}

fn set_filter(event: &OpenEvent, filter: Option<&str>) -> Result<(), OpenError> {
    let Some(filter) = filter else {
        return Ok(());
    };
    let refused = |source| OpenError::Filter {
        event: event.name.clone(),
        filter: filter.to_owned(),
        source,
    };
    let text = CString::new(filter).map_err(|_| refused(io::ErrorKind::InvalidInput.into()))?;
    perf::set_filter(event.fd.as_fd(), &text).map_err(refused)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn who_is_gone_is_left_out_unless_all_are() {
        let gone = || -> Result<u8, OpenError> {
            Err(OpenError::Open {
                event: "x".to_owned(),
                source: io::Error::from_raw_os_error(libc::ESRCH),
            })
        };
        assert_eq!(
            all_but_gone([gone(), Ok(1), gone()].into_iter()).unwrap(),
            [1]
        );
        let none = all_but_gone([gone(), gone()].into_iter()).unwrap_err();
        assert!(none.is_gone());
        let refused = Err(OpenError::Open {
            event: "x".to_owned(),
            source: io::Error::from_raw_os_error(libc::EACCES),
        });
        assert!(
            !all_but_gone([Ok(1), refused].into_iter())
                .unwrap_err()
                .is_gone()
        );
    }
}
