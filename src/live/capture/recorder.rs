//! What programs that record calls need besides: the selections and rings of all slots.

use super::programs::{Preemption, Recording};
use super::wire::selection;
use super::{CaptureError, system};
use crate::ring::Drain;
use crate::ring::calls::{CHUNK, Calls, control, n_chunks};
use crate::sys::bpf::{Map, MapKind};
use crate::sys::shared::Shared;
use crate::sys::thread;
use perf_records::units::Cpu;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The maps of programs that record calls.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) selections: Map,
    controls: Map,
    rings: Arc<Map>,
    pub(super) bells: Map,
    control: Arc<Shared>,
    prepared: Mutex<Option<Prepared>>,
}

/// Rings that were made while programs were loaded, for the first run at these places.
#[derive(Debug)]
struct Prepared {
    places: Vec<(u32, Cpu)>,
    capacity: u64,
    rings: (Vec<Drain>, Placing),
}

impl Recorder {
    pub(super) fn new(n_slots: u32, n_cpus: u32) -> Result<Self, CaptureError> {
        let made = system("create a map");
        let n_rings = n_slots * n_cpus;
        let array = |value, n| Map::create(MapKind::Array, 4, value, n).map_err(&made);
        let controls = Map::mappable(control::SIZE, n_rings).map_err(&made)?;
        let like = Map::inner(CHUNK as usize, 1).map_err(&made)?;
        let control = Shared::of(&controls, control::SIZE * n_rings as usize);
        let control = control.map_err(system("map the memory of a map"))?;
        Ok(Self {
            selections: array(selection::SIZE, n_slots)?,
            controls,
            rings: Arc::new(Map::of_maps(&like, n_rings).map_err(&made)?),
            bells: Map::create(MapKind::PerfEventArray, 4, 4, n_rings).map_err(&made)?,
            control: Arc::new(control),
            prepared: Mutex::default(),
        })
    }

    pub(super) fn recording(&self, preemption: Option<Preemption>) -> Recording {
        let fd = |map: &Map| map.as_fd().as_raw_fd();
        Recording {
            selections: fd(&self.selections),
            controls: fd(&self.controls),
            rings: fd(&self.rings),
            bells: fd(&self.bells),
            preemption,
        }
    }

    /// Makes the rings that are most likely to be asked for first.
    pub(super) fn prepare(&self, places: Vec<(u32, Cpu)>, capacity: u64) {
        // What cannot be made now is reported when it is asked for.
        if let (Ok(rings), Ok(mut prepared)) =
            (self.new_rings(&places, capacity), self.prepared.lock())
        {
            *prepared = Some(Prepared {
                places,
                capacity,
                rings,
            });
        }
    }

    /// Returns a ring with room for so many bytes at each of these places, for a slot of which no
    /// call is recorded now.
    pub(super) fn rings(
        &self,
        places: &[(u32, Cpu)],
        capacity: u64,
    ) -> Result<(Vec<Drain>, Placing), CaptureError> {
        // Others are dropped, which waits until they are in their places: no new one is followed by
        // an old one there.
        let prepared = self.prepared.lock().ok();
        let prepared = prepared.and_then(|mut prepared| prepared.take());
        match prepared.filter(|it| it.places == places && it.capacity == capacity) {
            Some(prepared) => Ok(prepared.rings),
            None => self.new_rings(places, capacity),
        }
    }

    fn new_rings(
        &self,
        places: &[(u32, Cpu)],
        capacity: u64,
    ) -> Result<(Vec<Drain>, Placing), CaptureError> {
        let mut drains = Vec::new();
        let n_chunks = n_chunks(capacity);
        let mut maps = Vec::new();
        for (place, cpu) in places {
            let map = Map::inner(CHUNK as usize, n_chunks as u32);
            let map = map.map_err(system("create a ring for calls"))?;
            let array = map.as_fd().try_clone_to_owned();
            let array = array.map_err(system("map a ring for calls"))?;
            let at = control::SIZE * *place as usize;
            let ring = Calls::new(Arc::clone(&self.control), at, array, capacity);
            drains.push(Drain::of_calls(ring, *cpu));
            maps.push((*place, map));
        }
        let placing = Placing::start(Arc::clone(&self.rings), maps)?;
        Ok((drains, placing))
    }

    /// Writes a field of a ring's control block.
    pub(super) fn put(&self, place: u32, field: u16, value: u64) {
        self.control.store(at(place, field), value);
    }

    /// Reads one.
    pub(super) fn get(&self, place: u32, field: u16) -> u64 {
        self.control.load(at(place, field))
    }
}

/// Rings on their way into the map that programs find them in. The kernel waits for a grace period
/// there, so that a thread does it while the events of the run are opened.
#[derive(Debug)]
pub(super) struct Placing(Option<JoinHandle<io::Result<()>>>);

impl Placing {
    fn start(rings: Arc<Map>, maps: Vec<(u32, Map)>) -> Result<Self, CaptureError> {
        let put = move || {
            let places = maps.iter().flat_map(|(place, _)| place.to_ne_bytes());
            let maps: Vec<_> = maps.iter().map(|(_, map)| map.as_fd()).collect();
            rings.put_all(&places.collect::<Vec<_>>(), &maps)
        };
        let started = thread::start("rings", put).map_err(system("start a thread"))?;
        Ok(Self(Some(started)))
    }

    /// Waits until the rings are there.
    pub(super) fn end(&mut self) -> Result<(), CaptureError> {
        let put = match self.0.take().map(JoinHandle::join) {
            Some(Ok(put)) => put,
            Some(Err(panicked)) => resume_unwind(panicked),
            None => Ok(()),
        };
        put.map_err(system("fill a map"))
    }
}

impl Drop for Placing {
    /// The next slot with these places puts others there.
    fn drop(&mut self) {
        let _no_more_wanted = self.0.take().map(JoinHandle::join);
    }
}

fn at(place: u32, field: u16) -> usize {
    control::SIZE * place as usize + usize::from(field)
}
