//! What programs that record calls need besides: the selections and rings of all slots.

use super::programs::Recording;
use super::wire::selection;
use super::{CaptureError, system};
use crate::ring::Drain;
use crate::ring::calls::{CHUNK, Calls, control, n_chunks};
use crate::sys::bpf::{Map, MapKind};
use crate::sys::shared::Shared;
use perf_records::units::Cpu;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;

/// The maps of programs that record calls.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) selections: Map,
    controls: Map,
    rings: Map,
    pub(super) bells: Map,
    control: Arc<Shared>,
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
            rings: Map::of_maps(&like, n_rings).map_err(&made)?,
            bells: Map::create(MapKind::PerfEventArray, 4, 4, n_rings).map_err(&made)?,
            control: Arc::new(control),
        })
    }

    pub(super) fn recording(&self) -> Recording {
        let fd = |map: &Map| map.as_fd().as_raw_fd();
        Recording {
            selections: fd(&self.selections),
            controls: fd(&self.controls),
            rings: fd(&self.rings),
            bells: fd(&self.bells),
        }
    }

    /// Makes a ring with room for so many bytes at each of these places, for a slot of which no
    /// call is recorded now.
    pub(super) fn rings(
        &self,
        places: &[(u32, Cpu)],
        capacity: u64,
    ) -> Result<Vec<Drain>, CaptureError> {
        let mut drains = Vec::new();
        let n_chunks = n_chunks(capacity);
        let mut maps = Vec::new();
        for (place, cpu) in places {
            let map = Map::inner(CHUNK as usize, n_chunks as u32);
            let map = map.map_err(system("create a ring for calls"))?;
            let chunks = Shared::of(&map, (n_chunks * CHUNK) as usize);
            let chunks = chunks.map_err(system("map a ring for calls"))?;
            let at = control::SIZE * *place as usize;
            let ring = Calls::new(Arc::clone(&self.control), at, chunks, capacity);
            drains.push(Drain::of_calls(ring, *cpu));
            maps.push((*place, map));
        }
        let places: Vec<u8> = maps
            .iter()
            .flat_map(|(place, _)| place.to_ne_bytes())
            .collect();
        let maps: Vec<_> = maps.iter().map(|(_, map)| map.as_fd()).collect();
        let put = self.rings.put_all(&places, &maps);
        put.map_err(system("fill a map"))?;
        Ok(drains)
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

fn at(place: u32, field: u16) -> usize {
    control::SIZE * place as usize + usize::from(field)
}
