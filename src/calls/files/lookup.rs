//! What one call's descriptors referred to.

use super::super::tree::{Anchored, Reached};
use super::code::Code;
use super::file::OpenFile;
use std::sync::Arc;

/// What is known of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup<'a> {
    /// Nothing was looked up: no table was kept, or the argument is no descriptor.
    Untracked,
    /// It refers to this.
    Open(&'a Arc<OpenFile>),
    /// It is not open; the call is to fail with `EBADF`.
    Closed,
    /// It may be open, and its file is not known.
    Unknown,
}

/// The same, to be kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Untracked,
    Open(Arc<OpenFile>),
    Closed,
    Unknown,
}

impl State {
    fn lookup(&self) -> Lookup<'_> {
        match self {
            Self::Untracked => Lookup::Untracked,
            Self::Open(file) => Lookup::Open(file),
            Self::Closed => Lookup::Closed,
            Self::Unknown => Lookup::Unknown,
        }
    }
}

/// What the descriptors of one call referred to: those of its arguments when it was entered, and
/// that of its result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    known: Option<Box<Known>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    states: [State; RESULT + 1],
    in_memory: Vec<(i32, State)>,
    paths: Vec<(u8, Box<[u8]>)>,
    reached: Vec<(u8, Reached)>,
    anchored: Vec<(u8, Anchored)>,
    code: Vec<Code>,
}

pub(super) const RESULT: usize = 6;

impl Files {
    /// Looks up an argument's descriptor.
    #[must_use]
    pub fn argument(&self, place: usize) -> Lookup<'_> {
        let known = self.known.as_ref();
        let state = known.and_then(|known| known.states.get(place));
        state.map_or(Lookup::Untracked, State::lookup)
    }

    /// Looks up the result's descriptor.
    #[must_use]
    pub fn result(&self) -> Lookup<'_> {
        self.argument(RESULT)
    }

    /// Of a number that stands in memory: what the call waits for, or was given in a structure; or
    /// what it opened (the ends of a pipe, a pair of sockets).
    #[must_use]
    pub fn in_memory(&self, number: i32) -> Lookup<'_> {
        let numbers = self.known.iter().flat_map(|known| &known.in_memory);
        let mut found = numbers.filter(|(at, _)| *at == number);
        found
            .next()
            .map_or(Lookup::Untracked, |(_, state)| state.lookup())
    }

    /// The absolute path that an argument names, where paths were asked for and this one and its
    /// directory are known.
    #[must_use]
    pub fn path(&self, place: usize) -> Option<&[u8]> {
        let paths = &self.known.as_ref()?.paths;
        let found = paths.iter().find(|(at, _)| usize::from(*at) == place);
        found.map(|(_, path)| &**path)
    }

    /// Which file an argument led to: a path, or a descriptor.
    #[must_use]
    pub fn reached(&self, place: usize) -> &Reached {
        let reached = self.known.iter().flat_map(|known| &known.reached);
        let mut found = reached.filter(|(at, _)| usize::from(*at) == place);
        found
            .next()
            .map_or(&Reached::Untold, |(_, reached)| reached)
    }

    /// What of that was there before the run; `None` where names are not followed, where it is not
    /// known, and of what is in no folder.
    #[must_use]
    pub fn anchored(&self, place: usize) -> Option<&Anchored> {
        let anchored = self.known.iter().flat_map(|known| &known.anchored);
        let mut found = anchored.filter(|(at, _)| usize::from(*at) == place);
        found.next().map(|(_, anchored)| anchored)
    }

    /// The same of a returned descriptor.
    #[must_use]
    pub fn reached_by_result(&self) -> &Reached {
        self.reached(RESULT)
    }

    /// The files that the kernel mapped as code of the program that the call executed, in that
    /// order: the program or its interpreter first, then their loader. None where it executed none,
    /// where mappings are not recorded, and where names are not followed.
    #[must_use]
    pub fn code(&self) -> &[Code] {
        self.known.as_ref().map_or(&[], |known| &known.code)
    }

    /// Every file that the call was given or gave.
    pub fn open(&self) -> impl Iterator<Item = &Arc<OpenFile>> {
        let states = self.known.iter().flat_map(|known| &known.states);
        states.filter_map(|state| match state {
            State::Open(file) => Some(file),
            _ => None,
        })
    }

    /// Every absolute path of [`Files::path`], in the order of the arguments.
    pub fn paths(&self) -> impl Iterator<Item = &[u8]> {
        let paths = self.known.iter().flat_map(|known| &known.paths);
        paths.map(|(_, path)| &**path)
    }

    pub(super) fn set_argument(&mut self, place: usize, state: State) {
        let known = self.known.get_or_insert_default();
        if let Some(to) = known.states.get_mut(place) {
            *to = state;
        }
    }

    pub(super) fn set_result(&mut self, state: State) {
        self.set_argument(RESULT, state);
    }

    pub(super) fn add_in_memory(&mut self, number: i32, state: State) {
        let known = self.known.get_or_insert_default();
        known.in_memory.push((number, state));
    }

    pub(super) fn add_reached(&mut self, place: u8, reached: Reached) {
        if reached != Reached::Untold {
            let known = self.known.get_or_insert_default();
            known.reached.push((place, reached));
        }
    }

    pub(super) fn add_anchored(&mut self, place: u8, anchored: Option<Anchored>) {
        if let Some(anchored) = anchored {
            let known = self.known.get_or_insert_default();
            known.anchored.push((place, anchored));
        }
    }

    pub(super) fn set_code(&mut self, code: Vec<Code>) {
        self.known.get_or_insert_default().code = code;
    }

    pub(super) fn add_path(&mut self, place: u8, path: Vec<u8>) {
        let known = self.known.get_or_insert_default();
        known.paths.push((place, path.into()));
    }
}
