//! Finds the sites of a run: calls that nothing tells apart are one.

use super::errors::{Errors, errors_of, signal_with};
use super::kind::Kind;
use crate::matching::{Matcher, is_meant};
use crate::scenario::{Literal, StepSpec, Test, event};
use crate::trace::{Deed, Normalised, Part, Reached, Value};
use perf_records::units::Nanos;
use std::collections::HashMap;
use syscall_model::ThreadId;

/// What no two calls of a run share.
pub type Place = (ThreadId, Nanos);

/// The calls that a fault is meant for, apart from their number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Matching {
    /// The call's name.
    pub call: String,
    /// The files that it is about: each field, and what it must be.
    pub fields: Vec<(String, String)>,
}

impl Matching {
    /// All calls of this name.
    #[must_use]
    pub fn of_name(call: &str) -> Self {
        Self {
            call: call.to_owned(),
            fields: Vec::new(),
        }
    }

    /// All calls of this name that a program makes.
    #[must_use]
    pub fn of_program(call: &str, program: &str) -> Self {
        Self {
            call: call.to_owned(),
            fields: vec![("program".to_owned(), program.to_owned())],
        }
    }

    /// The calls of this name that are about the same files, as far as a scenario can name these.
    #[must_use]
    pub fn of(deed: &Deed) -> Self {
        let is_path =
            |value: &Value| matches!(value, Value::Path { given, .. } if !given.is_empty());
        let has_path = deed.fields.iter().any(|part| is_path(&part.value));
        let mut fields = Vec::new();
        for part in &deed.fields {
            let file = match &part.value {
                // The folder of a path is in the path.
                Value::File { .. } if has_path => continue,
                value => file_of(value),
            };
            if let Some(file) = file {
                fields.push((part.alias.unwrap_or(&part.name).to_owned(), file));
            }
        }
        Self {
            call: deed.name.as_ref().to_owned(),
            fields,
        }
    }

    /// The same as a scenario says it.
    #[must_use]
    pub fn step(&self) -> StepSpec {
        let test = |text: &String| Test::Is(Literal::Text(text.clone()));
        let fields = self.fields.iter();
        let fields = fields.map(|(word, text)| (word.clone(), test(text)));
        event(&self.call, fields.collect())
    }

    /// The number of each call that it is meant for, from 1, in the order in which faults count
    /// them; `None` where the trace does not tell of a call whether it is one.
    #[must_use]
    pub fn numbers(&self, matcher: &Matcher, held: &[&Deed]) -> Option<HashMap<Place, u64>> {
        let mut numbers = HashMap::new();
        let own = held.iter().filter(|deed| *deed.name == *self.call);
        // The workload's own start is made by the harness.
        for deed in own.filter(|deed| deed.clock.0 != Nanos(0)) {
            if is_meant(deed, matcher)? {
                let next = numbers.len() as u64 + 1;
                numbers.insert(place(deed), next);
            }
        }
        Some(numbers)
    }
}

/// The file of a value as a scenario names it; `None` where it has no name there.
fn file_of(value: &Value) -> Option<String> {
    let path = match value {
        Value::Path {
            given,
            absolute,
            reached,
        } => match (absolute, reached) {
            _ if given.is_empty() => return None,
            (Some(absolute), _) => absolute,
            _ if given.starts_with(b"/") || given.starts_with(b"$DIR") => given,
            (_, Reached::Known { names, .. }) if !names.is_empty() => names.first()?,
            _ => given,
        },
        Value::File { name, reached, .. } => match reached {
            Reached::Known { names, .. } => names.first()?,
            _ if Kind::of_name(name).is_some() => name,
            _ => return None,
        },
        _ => return None,
    };
    let path = String::from_utf8(path.clone()).ok()?;
    let inner = path.strip_prefix("$DIR/").filter(|inner| !inner.is_empty());
    Some(inner.map_or_else(|| path.clone(), str::to_owned))
}

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
        Self::of_parts(fields.chain(&deed.behind))
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

/// Returns the sites of a run that have an error to try, in the order of their first calls.
#[must_use]
pub fn sites(trace: &Normalised, wanted: &Errors, is_chosen: &dyn Fn(&Deed) -> bool) -> Vec<Spot> {
    let mut spots: Vec<(u64, Spot)> = Vec::new();
    let mut known: HashMap<_, usize> = HashMap::new();
    let mut alike: HashMap<(String, String, Shape), u64> = HashMap::new();
    let mut order: Vec<(&Deed, Context)> = Vec::new();
    for block in &trace.blocks {
        let mut before: Option<(String, Shape)> = None;
        for deed in &block.deeds {
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
        if !can_be_held(deed) || !is_chosen(deed) {
            continue;
        }
        let (program, name) = (
            deed.program.as_ref().to_owned(),
            deed.name.as_ref().to_owned(),
        );
        let shape = Shape::of(deed);
        let of_shape = (program.clone(), name.clone(), shape.clone());
        *alike.entry(of_shape).or_default() += 1;
        let errors: Vec<(i32, Option<i32>)> = errors_of(deed, wanted)
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
    let mut spots: Vec<Spot> = spots.into_iter().map(|(_, spot)| spot).collect();
    for spot in &mut spots {
        let of_shape = (
            spot.program.clone(),
            spot.matching.call.clone(),
            spot.shape.clone(),
        );
        spot.alike = alike.get(&of_shape).copied().unwrap_or_default();
    }
    spots
}

impl Spot {
    /// What a fault for it may be meant for, the narrowest first: its files; and where these have
    /// other names in each run, all such calls of its program, or of all programs.
    #[must_use]
    pub fn matchings(&self) -> [Matching; 3] {
        let call = &self.matching.call;
        [
            self.matching.clone(),
            Matching::of_program(call, &self.program),
            Matching::of_name(call),
        ]
    }
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
fn place(deed: &Deed) -> Place {
    (deed.thread, deed.clock.0)
}
