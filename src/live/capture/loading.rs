//! Loading programs, several at a time.

use super::CaptureError;
use crate::sys::bpf::{self, ProgramKind};
use std::os::fd::OwnedFd;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A program that is to be loaded.
pub(super) struct Wanted {
    pub(super) name: &'static str,
    pub(super) kind: ProgramKind,
    pub(super) program: Option<Vec<u64>>,
}

impl Wanted {
    pub(super) fn raw(name: &'static str, program: Option<Vec<u64>>) -> Self {
        Self {
            name,
            kind: ProgramKind::RawTracepoint,
            program,
        }
    }
}

/// Loads the programs, on two CPUs where there are two: the kernel verifies each for the better
/// part of a millisecond, and no program waits for another. They come in the order of `wanted`.
pub(super) fn load_all(wanted: &[Wanted]) -> Result<Vec<OwnedFd>, CaptureError> {
    let next = AtomicUsize::new(0);
    let take = || {
        let place = next.fetch_add(1, Ordering::Relaxed);
        wanted.get(place).map(|wanted| (place, load(wanted)))
    };
    let work = || std::iter::from_fn(take).collect::<Vec<_>>();
    let mut loaded = std::thread::scope(|scope| {
        let beside = std::thread::Builder::new().name("programs".to_owned());
        // Where no thread can be had all is loaded here.
        let beside = beside.spawn_scoped(scope, work).ok();
        let mut all = work();
        match beside.map(std::thread::ScopedJoinHandle::join) {
            Some(Ok(others)) => all.extend(others),
            Some(Err(panicked)) => resume_unwind(panicked),
            None => {}
        }
        all
    });
    loaded.sort_by_key(|(place, _)| *place);
    loaded.into_iter().map(|(_, program)| program).collect()
}

/// Loads one.
pub(super) fn load(wanted: &Wanted) -> Result<OwnedFd, CaptureError> {
    let program = wanted.program.as_ref().ok_or(CaptureError::Shape {
        what: "a program has a jump that leads nowhere",
    })?;
    bpf::load(wanted.kind, program).map_err(|refused| CaptureError::Refused {
        name: wanted.name,
        log: refused.log,
        source: refused.error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_cannot_be_loaded_is_named_whoever_tried_it() {
        let broken = ["first", "second", "third"].map(|name| Wanted::raw(name, None));
        assert!(matches!(load_all(&broken), Err(CaptureError::Shape { .. })));
        assert!(load_all(&[]).unwrap().is_empty());
        // No instruction at all, which the kernel refuses with or without the right to load.
        let names = ["first", "second", "third", "fourth"];
        let empty: Vec<_> = names.map(|name| Wanted::raw(name, Some(Vec::new()))).into();
        let refused = load_all(&empty).unwrap_err();
        assert!(matches!(
            refused,
            CaptureError::Refused { name: "first", .. }
        ));
    }
}
