//! Finds the sites of a run: calls that nothing tells apart are one.

use super::errors::{Errors, errors_of, is_sync, signal_with};
use super::kind::Kind;
use super::meant::{Matching, numbers_of};
use crate::trace::{Deed, Normalised, Part, Value};
use perf_records::units::Nanos;
use std::collections::{BTreeSet, HashMap};
use syscall_model::{ThreadId, is_told_address};

/// What no two calls of a run share.
pub type Place = (ThreadId, Nanos);

/// What a call is about, as the trace shows it: files, addresses, flags and constants.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape(Vec<String>);

impl Shape {
    /// That of a call.
    #[must_use]
    pub fn of(deed: &Deed) -> Self {
        let is_shape = |value: &Value| {
            matches!(
                value,
                Value::Path { .. }
                    | Value::File { .. }
                    | Value::UnknownFile { .. }
                    | Value::Names(..)
            )
        };
        let fields = deed.fields.iter().filter(|part| is_shape(&part.value));
        // What the kernel tells of another's address it does not where the call fails.
        let behind = deed.behind.iter();
        let behind = behind.filter(|_| !is_told_address(&deed.name));
        Self::of_parts(fields.chain(behind))
    }

    /// The same without files, whose names may be others in each run.
    fn without_files(deed: &Deed) -> Self {
        let is_shape = |value: &Value| matches!(value, Value::Names(..));
        Self::of_parts(deed.fields.iter().filter(|part| is_shape(&part.value)))
    }

    /// The same without numbers of what has no name: pipes and sockets of several processes are
    /// numbered in the order in which these come to make them.
    fn without_numbers(deed: &Deed) -> Self {
        let mut shape = Self::of(deed);
        for part in &deed.fields {
            let Value::File { name, .. } = &part.value else {
                continue;
            };
            if let Some(Kind::Pipe | Kind::Socket | Kind::Object) = Kind::of_name(name) {
                let numbered = written(part);
                for text in shape.0.iter_mut().filter(|text| **text == numbered) {
                    *text = format!("{}=<{}>", part.name, String::from_utf8_lossy(name));
                }
            }
        }
        shape
    }

    fn of_parts<'a>(parts: impl Iterator<Item = &'a Part>) -> Self {
        Self(parts.map(written).collect())
    }
}

fn written(part: &Part) -> String {
    format!("{}={}", part.name, part.text)
}

/// What led to a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Context {
    /// The functions above it, the innermost first.
    Stack(Vec<String>),
    /// The call or event in front of it in its thread, where no functions are known.
    Behind(Option<(String, Shape)>),
}

/// A site, and the first of its calls.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The calls that a fault for it is meant for.
    pub matching: Matching,
    /// The first call.
    pub place: Place,
    /// What it is about.
    pub shape: Shape,
    /// The same without numbers of pipes, sockets and the like.
    pub(super) without_numbers: Shape,
    /// The same without files.
    without_files: Shape,
    /// The task that made it: `P1`, `P2.T2`.
    pub task: String,
    /// The program that its process ran.
    pub program: String,
    /// Its line in the trace.
    pub line: String,
    /// The functions that led to it, the innermost first; empty where they are not known.
    pub stack: Vec<String>,
    /// How many calls of the run are of this site.
    pub times: u64,
    /// How many calls of the run are of the same program, name and shape.
    pub alike: u64,
    /// The errors to try, each with the signal that the kernel sends with it.
    pub errors: Vec<(i32, Option<i32>)>,
    /// Whether other processes may make such calls at the same time, in any order.
    is_shared: bool,
    /// The numbers among its arguments.
    numbers: Vec<(String, i128)>,
    /// What led to it.
    context: Context,
}

/// A site that no fault was done to, and why.
#[derive(Clone, Debug)]
pub struct Lost {
    /// What it is.
    pub spot: Spot,
    /// Why not.
    pub why: &'static str,
}

/// Returns the sites of a run that another run has not: neither as they are, nor with something
/// else in front of them, nor with other names of their files.
#[must_use]
pub fn gone(mut of_one: Vec<Spot>, of_other: &[Spot]) -> Vec<Spot> {
    let is_alike = |a: &Spot, b: &Spot| {
        a.program == b.program
            && a.matching.call == b.matching.call
            && a.without_files == b.without_files
    };
    let is_of_files = |a: &Spot, b: &Spot| is_alike(a, b) && a.shape == b.shape;
    let is_same = |a: &Spot, b: &Spot| is_of_files(a, b) && a.context == b.context;
    let mut others: Vec<&Spot> = of_other.iter().collect();
    let mut leave_out = |is_it: &dyn Fn(&Spot, &Spot) -> bool| {
        of_one.retain(|spot| {
            let found = others.iter().position(|other| is_it(spot, other));
            found.map(|place| others.swap_remove(place)).is_none()
        });
    };
    leave_out(&is_same);
    leave_out(&is_of_files);
    leave_out(&is_alike);
    of_one
}

/// A site that can be failed.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its number in the report, from 1, in the order of the run.
    pub number: usize,
    /// What it is.
    pub spot: Spot,
    /// The calls that its faults are meant for.
    pub matching: Matching,
    /// Which of these it is, from 1.
    pub when: u64,
    /// Whether its files had other names in the run before.
    pub has_new_names: bool,
}

impl Site {
    /// Whether a call of another run is like those of this site. Where the files' names are others
    /// in each run, they are not compared, and all else is.
    #[must_use]
    pub fn is(&self, deed: &Deed) -> bool {
        *deed.name == *self.spot.matching.call
            && *deed.program == *self.spot.program
            && match self.has_new_names {
                true => Shape::without_files(deed) == self.spot.without_files,
                false => Shape::without_numbers(deed) == self.spot.without_numbers,
            }
    }
}

/// Which calls are failed, and with what.
#[derive(Clone, Debug)]
pub struct Choice<'a> {
    /// With these.
    pub errors: &'a Errors,
    /// The calls; `None` for all.
    pub calls: Option<BTreeSet<&'a str>>,
    /// What is recorded and the author did not ask for.
    pub hidden: &'a BTreeSet<String>,
    /// The devices, named pipes and sockets that there were, as far as that is known.
    pub special: &'a BTreeSet<String>,
}

impl Choice<'_> {
    /// Whether a call is one that the author asked for.
    fn is_shown(&self, deed: &Deed) -> bool {
        !self.hidden.contains(&*deed.name)
    }

    /// Whether a call is one that the author asked for and the user chose.
    #[must_use]
    pub fn has(&self, deed: &Deed) -> bool {
        let mut calls = self.calls.iter();
        calls.all(|names| names.contains(&*deed.name)) && self.is_shown(deed)
    }
}

/// Returns the sites of a run that have an error to try, in the order of their first calls.
#[must_use]
pub fn sites(trace: &Normalised, choice: &Choice<'_>) -> Vec<Spot> {
    let mut spots: Vec<(u64, Spot)> = Vec::new();
    let mut known: HashMap<_, usize> = HashMap::new();
    let mut alone: HashMap<_, usize> = HashMap::new();
    let mut alike: HashMap<(String, String, Shape), u64> = HashMap::new();
    let mut order: Vec<(&Deed, Context)> = Vec::new();
    let mut programs: HashMap<Matching, BTreeSet<String>> = HashMap::new();
    for block in &trace.blocks {
        let mut before: Option<(String, Shape)> = None;
        for deed in block.deeds.iter().filter(|deed| choice.is_shown(deed)) {
            let behind = (deed.name.as_ref().to_owned(), Shape::of(deed));
            let context = match deed.functions() {
                stack if stack.is_empty() => Context::Behind(before.replace(behind)),
                stack => Context::Stack(stack),
            };
            order.push((deed, context));
        }
    }
    order.sort_by_key(|(deed, _)| deed.entered);
    for (deed, context) in order {
        if !can_be_held(deed) || !choice.has(deed) {
            continue;
        }
        let (program, name) = (
            deed.program.as_ref().to_owned(),
            deed.name.as_ref().to_owned(),
        );
        let shape = Shape::of(deed);
        let of_shape = (program.clone(), name.clone(), shape.clone());
        *alike.entry(of_shape).or_default() += 1;
        let of_files = programs.entry(Matching::of(deed)).or_default();
        of_files.insert(program.clone());
        let errors: Vec<(i32, Option<i32>)> = errors_of(deed, choice.errors, choice.special)
            .into_iter()
            .map(|error| (error, signal_with(deed, error)))
            .collect();
        if errors.is_empty() {
            continue;
        }
        let key = (
            program.clone(),
            name,
            shape.clone(),
            context.clone(),
            errors.clone(),
        );
        let alone = alone.entry(key.clone()).or_insert(0);
        *alone += usize::from(is_alone(&key.1) && *alone < MOST_ALONE);
        let key = (key, *alone);
        let spot = *known.entry(key).or_insert_with(|| {
            let spot = Spot {
                matching: Matching::of(deed),
                place: place(deed),
                shape,
                without_numbers: Shape::without_numbers(deed),
                without_files: Shape::without_files(deed),
                task: deed.task.to_string(),
                program,
                line: deed.line(),
                stack: deed.functions(),
                times: 0,
                alike: 0,
                is_shared: false,
                numbers: numbers_of(deed),
                errors,
                context,
            };
            spots.push((deed.entered, spot));
            spots.len() - 1
        });
        if let Some((_, spot)) = spots.get_mut(spot) {
            spot.times += 1;
        }
    }
    let processes = trace.blocks.iter().flat_map(|block| &block.deeds);
    let processes: BTreeSet<u32> = processes.map(|deed| deed.task.process).collect();
    let mut spots: Vec<Spot> = spots.into_iter().map(|(_, spot)| spot).collect();
    for spot in &mut spots {
        let of_shape = (
            spot.program.clone(),
            spot.matching.call.clone(),
            spot.shape.clone(),
        );
        spot.alike = alike.get(&of_shape).copied().unwrap_or_default();
        let n_programs = programs.get(&spot.matching).map_or(0, BTreeSet::len);
        // Without a name those of loaders count as well, which are no sites.
        spot.is_shared = n_programs > 1 || spot.matching.is_of_kinds() && processes.len() > 1;
    }
    spots
}

impl Spot {
    /// What a fault for it may be meant for, the narrowest first: its files, by its program where
    /// other processes may make such calls at the same time, and by its numbers where it is about
    /// no files; and where these have other names in each run, all such calls of its program, or of
    /// all programs.
    #[must_use]
    pub fn matchings(&self) -> Vec<Matching> {
        let call = &self.matching.call;
        let narrow = self.is_shared.then(|| {
            let by_number = self.matching.with(&self.numbers);
            let all = by_number.into_iter().chain([self.matching.clone()]);
            all.map(|matching| matching.by(&self.program))
        });
        let all = narrow.into_iter().flatten().chain([
            self.matching.clone(),
            Matching::of_program(call, &self.program),
            Matching::of_name(call),
        ]);
        all.collect()
    }
}

/// The most calls of one kind that are sites of their own; those behind them are one with the last.
const MOST_ALONE: usize = 16;

/// Whether each call of this name is a site of its own: of a sync and of a close no result tells
/// whether the program saw that it failed, so that one stands for no other.
fn is_alone(call: &str) -> bool {
    is_sync(call) || call == "close"
}

/// Whether a deed is a call that a fault can be done to: seen at its entry, by the native
/// convention, and nothing was done to it.
fn can_be_held(deed: &Deed) -> bool {
    deed.returns.is_some()
        && !deed.name.contains([':', '.'])
        && deed.convention.is_none()
        && deed.injected.is_nothing()
        && deed.unseen.is_none()
        && deed.clock.0 != Nanos(0)
}

/// What tells a call from all others of its run.
#[must_use]
pub(super) fn place(deed: &Deed) -> Place {
    (deed.thread, deed.clock.0)
}
