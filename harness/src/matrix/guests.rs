//! The guests of `harness matrix`: what runs in each, first for all scenarios and then again for
//! those in doubt.

use crate::formats;
use crate::kernels::Kernels;
use crate::out::{self, note, note_for_now};
use crate::suite::Chosen;
use crate::vm::{Size, job};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use trace_harness::matrix::{Column, Machine, Matrix, Place, Trouble};

/// How often a scenario is run again if its answers differ: with three more runs, an answer that
/// comes up in every second run is missed on both of two kernels only once in 128 times.
const ROUNDS: u32 = 3;

/// Why a kernel has no result for what had not ended when a signal came.
pub(super) const INTERRUPTED: &str = "interrupted";

/// The same scenarios on several kernels, and what is known of them so far.
pub(super) struct Suite<'a> {
    pub(super) kernels: &'a Kernels,
    pub(super) chosen: &'a Chosen,
    pub(super) size: &'a Size,
    /// How many guests run side by side.
    pub(super) guests: usize,
    /// The names of the scenarios.
    pub(super) scenarios: Vec<String>,
    /// What each guest has; it ends them all when the harness is asked to end.
    pub(super) machine: Machine,
    pub(super) is_terminal: bool,
    /// Where the records of each kernel are kept, if they are.
    pub(super) folders: BTreeMap<String, PathBuf>,
    /// Whether architectures are compared.
    pub(super) is_across: bool,
    /// The kernels so far, those that are under way too.
    pub(super) columns: Mutex<Vec<Column>>,
}

impl Suite<'_> {
    /// Runs all scenarios on each of these kernels. Scenarios whose answers differ from a kernel to
    /// the next are run again there: what varies on one kernel is no difference between two.
    pub(super) fn on_each(&self, kernels: &[String]) {
        let all = self.once_on(kernels);
        let in_doubt = self.so_far().in_doubt();
        let scenarios_of = |index: usize| in_doubt.get(&self.name(index));
        let again: Vec<usize> = all.filter(|index| scenarios_of(*index).is_some()).collect();
        self.side_by_side(&again, &|index| {
            if let Some(scenarios) = scenarios_of(index) {
                self.again(index, scenarios, true);
            }
        });
    }

    /// Runs all scenarios once on each of these kernels; returns their places among all.
    pub(super) fn once_on(&self, kernels: &[String]) -> Range<usize> {
        let places = self.add(kernels);
        let indices: Vec<usize> = places.clone().collect();
        self.side_by_side(&indices, &|index| self.first(index, None));
        places
    }

    /// Runs some scenarios several times on one more kernel; returns its place among all.
    pub(super) fn some_on(&self, kernel: &str, scenarios: &BTreeSet<String>) -> usize {
        let place = self.add(&[kernel.to_owned()]).start;
        self.side_by_side(&[place], &|index| self.first(index, Some(scenarios)));
        place
    }

    /// Runs some scenarios again, several times, on kernels that are known by their places.
    pub(super) fn again_on(&self, places: Range<usize>, scenarios: &BTreeSet<String>) {
        let indices: Vec<usize> = places.collect();
        self.side_by_side(&indices, &|index| self.again(index, scenarios, false));
    }

    fn add(&self, kernels: &[String]) -> Range<usize> {
        self.with(|columns| {
            let from = columns.len();
            columns.extend(kernels.iter().map(|name| Column::of(name)));
            from..columns.len()
        })
    }

    /// What is known so far, of kernels that are under way too.
    pub(super) fn so_far(&self) -> Matrix {
        let mut columns = self.with(|columns| columns.clone());
        if self.machine.stop.is_asked() {
            let in_doubt = self.matrix(columns.clone()).in_doubt();
            for column in &mut columns {
                let mut scenarios = in_doubt.get(&column.kernel).into_iter().flatten();
                // Whether they vary is not known.
                let is_in_doubt = scenarios.any(|name| column.answers(name).len() < 2);
                if column.took == Duration::ZERO || is_in_doubt {
                    column.interrupt();
                }
            }
        }
        self.matrix(columns)
    }

    fn matrix(&self, columns: Vec<Column>) -> Matrix {
        let matrix = Matrix::new(columns, self.scenarios.iter().cloned());
        match self.is_across {
            true => matrix.across_architectures(),
            false => matrix,
        }
    }

    /// Returns the command for a kernel, which keeps its records in a folder.
    fn command(
        &self,
        only: Option<&BTreeSet<String>>,
        place: &Place,
        folder: Option<&Path>,
    ) -> Vec<OsString> {
        let own = std::env::current_exe().unwrap_or_else(|_| "harness".into());
        let mut words: Vec<OsString> = vec![own.into(), "run".into()];
        words.extend(["--format", "json", "--traces"].map(OsString::from));
        let Chosen {
            paths,
            jobs,
            filter,
            exact,
            patience,
            backlog,
        } = self.chosen;
        let jobs = jobs.map_or_else(|| self.size.cpus_of(place), u32::from);
        words.extend(["--jobs".into(), jobs.to_string().into()]);
        if let Some(times) = patience {
            words.extend(["--patience".into(), times.to_string().into()]);
        }
        if let Some(bytes) = backlog {
            words.extend(["--backlog".into(), bytes.to_string().into()]);
        }
        if let Some(folder) = folder {
            words.extend(["--every-call".into(), "--save".into(), folder.into()]);
        }
        let exact: Vec<&String> = match only {
            None => exact.iter().collect(),
            Some(only) => {
                words.extend(["--rounds".into(), ROUNDS.to_string().into()]);
                only.iter().collect()
            }
        };
        for name in exact {
            words.extend(["--exact".into(), name.into()]);
        }
        if let (None, Some(filter)) = (only, filter) {
            words.extend(["--filter".into(), filter.text.clone().into()]);
        }
        words.push("--".into());
        words.extend(paths.iter().map(|path| path.clone().into_os_string()));
        words
    }

    fn side_by_side(&self, indices: &[usize], work: &(dyn Fn(usize) + Sync)) {
        let waiting: Mutex<VecDeque<usize>> = Mutex::new(indices.iter().copied().collect());
        let next = || {
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if self.machine.stop.is_asked() {
                None
            } else {
                waiting.pop_front()
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.guests.min(indices.len()) {
                scope.spawn(|| {
                    while let Some(index) = next() {
                        work(index);
                    }
                });
            }
        });
        if self.is_terminal {
            note_for_now!("");
        }
    }

    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Vec<Column>) -> T) -> T {
        work(&mut self.columns.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes a column.
    pub(super) fn edit<T: Default>(&self, index: usize, work: impl FnOnce(&mut Column) -> T) -> T {
        self.with(|columns| columns.get_mut(index).map(work).unwrap_or_default())
    }

    /// How many lines of a harness have come from a kernel.
    pub(super) fn heard(&self, index: usize) -> usize {
        self.edit(index, |column| column.heard)
    }

    fn name(&self, index: usize) -> String {
        self.edit(index, |column| column.kernel.clone())
    }

    /// Runs scenarios on one kernel: all of them once, or some of them several times.
    fn first(&self, index: usize, only: Option<&BTreeSet<String>>) {
        let begun = Instant::now();
        let name = self.name(index);
        let place = self.place(&name);
        let ended = place.and_then(|place| self.run(index, &place, only));
        let is_asked = self.machine.stop.is_asked();
        let how = match &ended {
            Err(_) if is_asked => INTERRUPTED,
            Err(_) => "broken",
            Ok(()) => "done",
        };
        self.edit(index, |column| {
            column.took = begun.elapsed();
            match (ended, only) {
                (Err(_), _) if is_asked => column.interrupt(),
                (Err(trouble), Some(only)) => column.fail(trouble, only.iter()),
                (Err(trouble), None) => column.fail(trouble, self.scenarios.iter()),
                (Ok(()), _) => column.trouble = None,
            }
        });
        let seconds = begun.elapsed().as_secs_f64();
        self.say(&format!("{name}: {how} after {seconds:.1} s"));
    }

    /// Runs scenarios again; on request reads the formats of the kernel's events.
    fn again(&self, index: usize, scenarios: &BTreeSet<String>, reads_formats: bool) {
        let begun = Instant::now();
        let name = self.name(index);
        let again = || {
            let place = self.place(&name)?;
            self.further(index, &place, scenarios)?;
            let has_events = self.edit(index, |column| column.has_events(scenarios));
            if reads_formats && has_events {
                let formats = formats::of(&place, &self.machine).map_err(Trouble::from)?;
                self.edit(index, |column| column.facts.events = formats.lines());
            }
            Ok::<_, Trouble>(())
        };
        let n = scenarios.len();
        let ended = again();
        let seconds = begun.elapsed().as_secs_f64();
        match ended {
            Ok(()) => {
                let differing = match n {
                    1 => "1 scenario that differs".to_owned(),
                    _ => format!("{n} scenarios that differ"),
                };
                self.say(&format!("{name}: {differing}, again after {seconds:.1} s"));
            }
            // Whether it varies is not known, so nothing is compared.
            Err(_) if self.machine.stop.is_asked() => {
                self.edit(index, Column::interrupt);
            }
            // The answers so far are explained as if they did not vary.
            Err(trouble) => self.say(&format!(
                "{name}: what differs could not be looked into there: {trouble}"
            )),
        }
    }

    /// Runs scenarios that have run there; those that have not ended each time are no pass.
    fn further(
        &self,
        index: usize,
        place: &Place,
        scenarios: &BTreeSet<String>,
    ) -> Result<(), Trouble> {
        let rounds = |column: &Column, name: &str| column.answers(name).len();
        let before: Vec<(&String, usize)> = self.edit(index, |column| {
            let all = scenarios.iter();
            all.map(|name| (name, rounds(column, name))).collect()
        });
        let ended = self.run(index, place, Some(scenarios));
        if self.machine.stop.is_asked() {
            return ended;
        }
        let why = match &ended {
            Err(trouble) => &trouble.said,
            Ok(()) => "the harness there told nothing of a further run",
        };
        self.edit(index, |column| {
            for (name, before) in before {
                let wanted = before.saturating_add(ROUNDS as usize);
                if rounds(column, name) < wanted {
                    column.did_not_end(name, why);
                }
            }
        });
        ended
    }

    fn place(&self, name: &str) -> Result<Place, Trouble> {
        self.kernels.find(name, &mut |text| self.say(&text))
    }

    fn run(
        &self,
        index: usize,
        place: &Place,
        only: Option<&BTreeSet<String>>,
    ) -> Result<(), Trouble> {
        // Of what is run again, the first run is kept.
        let folder = self.folders.get(&self.name(index));
        let folder = folder.filter(|_| only.is_none());
        let command = self.command(only, place, folder.map(PathBuf::as_path));
        match place {
            Place::Guest(kernel) => {
                let folder = folder.map(std::slice::from_ref).unwrap_or_default();
                self.in_guest(index, kernel, job(command, folder))
            }
            Place::Host(under) => {
                self.edit(index, |column| column.facts.on_host = true);
                self.on_host(index, under, &[under.as_slice(), &command].concat())
            }
        }
    }

    pub(super) fn line(&self, index: usize, line: &str) {
        let is_asked = self.machine.stop.is_asked();
        if self.edit(index, |column| column.line(line)) && !is_asked {
            self.show_progress();
        }
    }

    pub(super) fn say(&self, text: &str) {
        if self.is_terminal {
            note_for_now!("");
        }
        note!("harness: {text}");
        self.show_progress();
    }

    fn show_progress(&self) {
        if !self.is_terminal {
            return;
        }
        let total = self.scenarios.len();
        let done = self.with(|columns| {
            let under_way = columns.iter().filter(|column| column.done() < total);
            let shown =
                under_way.map(|column| format!("{}: {}/{total}", column.kernel, column.done()));
            shown.collect::<Vec<_>>().join("  ")
        });
        note_for_now!("{done}");
    }
}

/// Whether this terminal shows how far it is.
pub(super) fn is_terminal() -> bool {
    out::has_sequences(&std::io::stderr())
}
