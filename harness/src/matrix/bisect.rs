//! `harness matrix --bisect`: the first bad kernel of a list, between a good one and a bad one.

use super::guests::Suite;
use crate::kernels::Kernels;
use crate::out::note;
use crate::reports::Reports;
use crate::suite::exit_status;
use crate::{signals, status};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use trace_harness::matrix::{Bisected, Bisection, Column, Found, Matrix, Tried};
use trace_harness::upgrade;
use trace_harness::verdict::{Sign, Verdict, joined};

/// The kernels of a list from the good one to the bad one, by their names, at least two.
pub(super) struct History(Vec<String>);

/// Finds the kernels that `GOOD..BAD` means. Names may have dots in them, two side by side as well.
pub(super) fn history(kernels: &Kernels, ends: &str) -> Result<History, u8> {
    let names: Vec<&str> = kernels
        .specs
        .iter()
        .map(|spec| spec.name.as_str())
        .collect();
    let place = |name: &str| names.iter().position(|known| *known == name);
    let cuts = ends.match_indices("..").map(|(at, dots)| {
        let (good, bad) = ends.split_at(at);
        (good, bad.get(dots.len()..).unwrap_or_default())
    });
    let cuts: Vec<(&str, &str)> = cuts.collect();
    let known = cuts.iter().copied();
    let known: Vec<(usize, usize)> = known
        .filter_map(|(good, bad)| Some((place(good)?, place(bad)?)))
        .collect();
    let complaint = match (known.as_slice(), cuts.as_slice()) {
        ([(good, bad)], _) if good < bad => {
            let names = names.get(*good..=*bad).unwrap_or_default();
            return Ok(History(names.iter().map(ToString::to_string).collect()));
        }
        ([_], _) => format!(
            "in `--bisect {ends}` the first kernel must stand before the second in the list, which is the history that is searched"
        ),
        ([], []) => format!("`--bisect {ends}` is not GOOD..BAD, two kernels of the list"),
        ([], [(good, bad), ..]) => {
            for name in [good, bad] {
                kernels.choose(Some(name))?;
            }
            format!("`--bisect {ends}` is not GOOD..BAD")
        }
        _ => format!("`--bisect {ends}` can be read in several ways: rename a kernel of the list"),
    };
    note!("harness: {complaint}");
    Err(status::USAGE)
}

/// What is known while the search goes on.
#[derive(Default)]
struct Known {
    /// The scenarios by which kernels are told apart.
    scenarios: BTreeSet<String>,
    /// What was tried behind the ends: the kernel's place in the history, and among the columns.
    tried: Vec<(usize, usize)>,
    bisection: Option<Bisection>,
    /// What is wrong with the ends, and the status of that.
    ends: Option<(String, u8)>,
}

struct Search<'a> {
    suite: &'a Suite<'a>,
    history: &'a History,
    known: Mutex<Known>,
}

/// Searches, and reports what it has come to; returns the exit status.
pub(super) fn run(suite: &Suite<'_>, history: &History, reports: &Reports) -> u8 {
    let search = Search {
        suite,
        history,
        known: Mutex::default(),
    };
    let tell = || search.tell(reports);
    signals::work(&suite.machine.stop, || search.search(), tell);
    tell()
}

/// The places of the ends among the columns.
const GOOD: usize = 0;
const BAD: usize = 1;

impl Search<'_> {
    fn with<T>(&self, work: impl FnOnce(&mut Known) -> T) -> T {
        work(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn name(&self, place: usize) -> &str {
        self.history.0.get(place).map_or("", String::as_str)
    }

    fn is_asked(&self) -> bool {
        self.suite.machine.stop.is_asked()
    }

    fn search(&self) {
        let count = self.history.0.len();
        let ends = [0, count.saturating_sub(1)].map(|place| self.name(place).to_owned());
        self.suite.once_on(&ends);
        if self.is_asked() {
            return;
        }
        let mut scenarios = match self.by_the_ends() {
            Ok(scenarios) => scenarios,
            Err(ends) => return self.with(|known| known.ends = Some(ends)),
        };
        self.suite.again_on(GOOD..BAD + 1, &scenarios);
        if self.is_asked() {
            return;
        }
        let is_same = |name: &String| {
            let signs = self.suite.with(|columns| {
                let sign = |place| {
                    let column: &Column = columns.get(place)?;
                    // The first run, and at least one more.
                    (column.answers(name).len() > 1).then(|| sign_of(column, name))
                };
                [GOOD, BAD].map(sign)
            });
            signs == [Some(Sign::Good), Some(Sign::Bad)]
        };
        scenarios.retain(is_same);
        if scenarios.is_empty() {
            let [good, bad] = &ends;
            let why = format!(
                "what passed on {good} and failed on {bad} at first did not do so in every further run"
            );
            return self.with(|known| known.ends = Some((why, status::FAILED)));
        }
        let mut bisection = Bisection::of(count);
        self.with(|known| {
            known.scenarios.clone_from(&scenarios);
            known.bisection = Some(bisection.clone());
        });
        while let Some(place) = bisection.next() {
            let kernel = self.name(place);
            let column = self.suite.some_on(kernel, &scenarios);
            if self.is_asked() {
                return;
            }
            let sign = self.suite.with(|columns| {
                let column = columns.get(column);
                column.map_or(Sign::Unclear, |column| sign(column, &scenarios))
            });
            self.suite.say(&format!("{kernel}: {}", sign.word()));
            bisection.tell(place, sign);
            self.with(|known| {
                known.tried.push((place, column));
                known.bisection = Some(bisection.clone());
            });
        }
    }

    /// Returns the scenarios that pass on the good kernel and fail on the bad one, or what is wrong
    /// with the ends, with the exit status of that.
    fn by_the_ends(&self) -> Result<BTreeSet<String>, (String, u8)> {
        let matrix = self.suite.so_far();
        let [good, bad, ..] = matrix.columns.as_slice() else {
            return Err(("no kernel was tried".to_owned(), status::TROUBLE));
        };
        let of = |column: &Column, wanted: Sign| -> BTreeSet<String> {
            let names = matrix.scenarios.iter();
            let found = names.filter(|name| sign_of(column, name) == wanted);
            found.cloned().collect()
        };
        let list = |names: &BTreeSet<String>| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            names.join(", ")
        };
        let untold = |column: &Column, what: &str, names: &BTreeSet<String>| {
            let verdicts: Vec<Verdict> = names.iter().map(|name| column.verdict(name)).collect();
            let why = match &column.trouble {
                Some(trouble) => trouble.said.clone(),
                None => format!("nothing follows from {}", list(names)),
            };
            let text = format!(
                "it cannot be told whether {} is {what}: {why}",
                column.kernel
            );
            (text, exit_status(&verdicts))
        };
        let failing = of(good, Sign::Bad);
        if !failing.is_empty() {
            let text = format!("{} is not good: {} there", good.kernel, fails(&failing));
            return Err((text, status::FAILED));
        }
        let bad_ones = of(bad, Sign::Bad);
        let found: BTreeSet<String> = of(good, Sign::Good)
            .intersection(&bad_ones)
            .cloned()
            .collect();
        let unclear = of(bad, Sign::Unclear);
        let by_none: BTreeSet<String> = bad_ones.difference(&found).cloned().collect();
        if !found.is_empty() && !by_none.is_empty() {
            let (good, list) = (&good.kernel, list(&by_none));
            let text = format!("not searched by {list}, of which {good} cannot tell");
            self.suite.say(&text);
        }
        match (found.is_empty(), bad_ones.is_empty(), unclear.is_empty()) {
            (false, ..) => Ok(found),
            (true, false, _) => Err(untold(good, "good", &bad_ones)),
            (true, true, false) => Err(untold(bad, "bad", &unclear)),
            (true, true, true) => {
                let text = format!("{} is not bad: all scenarios pass there", bad.kernel);
                Err((text, status::FAILED))
            }
        }
    }

    /// What is known, as a result; and the kernels that were tried, in the order of the list.
    fn result(&self) -> (Bisected, Matrix, u8) {
        let matrix = self.suite.so_far();
        self.with(|known| {
            let all: BTreeSet<String> = matrix.scenarios.iter().cloned().collect();
            let by = match known.scenarios.is_empty() {
                true => &all,
                false => &known.scenarios,
            };
            let columns = &matrix.columns;
            let tried = |column: &Column| tried(column, by);
            let steps = known
                .tried
                .iter()
                .filter_map(|(_, column)| columns.get(*column));
            let ended = columns.iter().take(BAD + 1).filter(|it| !it.interrupted);
            let shown: Vec<Tried> = ended.chain(steps).map(tried).collect();
            let asked = signals::asked();
            let (found, status) = match (&known.bisection, &known.ends) {
                (_, Some((why, status))) => (Found::Ends(why.clone()), *status),
                (None, None) => (
                    Found::Ends("its ends were not known yet".to_owned()),
                    status::TROUBLE,
                ),
                (Some(bisection), None) => self.found(bisection),
            };
            let between = known.tried.iter().filter_map(|(place, column)| {
                let mut column = columns.get(*column)?.clone();
                column.only(
                    by,
                    "not run: its verdicts on the two ends are no pass and fail",
                );
                Some((*place, column))
            });
            let mut places: Vec<(usize, Column)> = between.collect();
            places.extend(columns.first().map(|column| (0, column.clone())));
            places.extend(columns.get(BAD).map(|column| (usize::MAX, column.clone())));
            places.sort_by_key(|(place, _)| *place);
            let in_order = places.into_iter().map(|(_, column)| column);
            let bisected = Bisected {
                ends: (
                    self.name(0).to_owned(),
                    self.history.0.last().cloned().unwrap_or_default(),
                ),
                kernels: self.history.0.len(),
                scenarios: known.scenarios.iter().cloned().collect(),
                tried: shown,
                otherwise: self.otherwise(known, columns),
                found,
                interrupted: asked.is_some(),
            };
            let in_order = Matrix::new(in_order.collect(), by.iter().cloned());
            (bisected, in_order, asked.unwrap_or(status))
        })
    }

    /// The first kernel that is known to be bad, with the scenarios that fail there otherwise than
    /// on the bad end.
    fn otherwise(&self, known: &Known, columns: &[Column]) -> Option<(String, Vec<String>)> {
        let bisection = known.bisection.as_ref()?;
        let first_bad = *bisection.left().end();
        let (_, column) = known.tried.iter().find(|(place, _)| *place == first_bad)?;
        let (first, end) = (columns.get(*column)?, columns.get(BAD)?);
        let differs =
            |name: &&String| upgrade::fail_otherwise(first.answers(name), end.answers(name));
        let names: Vec<String> = known.scenarios.iter().filter(differs).cloned().collect();
        (!names.is_empty()).then(|| (first.kernel.clone(), names))
    }

    fn found(&self, bisection: &Bisection) -> (Found, u8) {
        let good = self.name(bisection.good()).to_owned();
        let left: Vec<String> = bisection
            .left()
            .map(|at| self.name(at).to_owned())
            .collect();
        match left.as_slice() {
            [bad] => {
                let bad = bad.clone();
                (Found::First { bad, good }, status::PASSED)
            }
            _ => {
                let kernels = left;
                (Found::Left { good, kernels }, status::FAILED)
            }
        }
    }

    /// Reports, and returns the exit status.
    fn tell(&self, reports: &Reports) -> u8 {
        let (bisected, matrix, status) = self.result();
        match reports.tell_bisected(&bisected, &matrix) {
            true => status,
            false => status::TROUBLE,
        }
    }
}

fn fails(names: &BTreeSet<String>) -> String {
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let verb = if all.len() == 1 { "fails" } else { "fail" };
    format!("{} {verb}", all.join(", "))
}

/// What a kernel says by these scenarios.
fn sign(column: &Column, scenarios: &BTreeSet<String>) -> Sign {
    Sign::of_all(scenarios.iter().map(|name| sign_of(column, name)))
}

/// What a kernel says by a scenario. Where the harness did not come to its end there, nothing.
fn sign_of(column: &Column, scenario: &str) -> Sign {
    match column.trouble {
        Some(_) => Sign::Unclear,
        None => column.sign(scenario),
    }
}

/// A kernel that was tried, with what its sign follows from.
fn tried(column: &Column, scenarios: &BTreeSet<String>) -> Tried {
    let trouble = column.trouble.iter().map(ToString::to_string);
    let why = scenarios.iter().filter_map(|name| {
        let answers = column.answers(name);
        let of_sign = column.sign(name);
        if of_sign == Sign::Good {
            return None;
        }
        let verdicts = column.verdicts(name);
        let verdicts: Vec<&str> = verdicts.iter().map(|it| it.word()).collect();
        let first = answers.iter().find(|it| !it.findings.is_empty());
        let first = first.map(|it| joined(&it.findings, "\n"));
        let text = match (verdicts.as_slice(), first) {
            _ if answers.is_empty() => return None,
            ([verdict], Some(first)) => format!("{name}: {verdict}: {first}"),
            ([verdict], None) => format!("{name}: {verdict}"),
            (several, _) => format!("{name}: not the same in all runs: {}", several.join(", ")),
        };
        Some(text)
    });
    Tried {
        kernel: column.kernel.clone(),
        release: column.release.clone(),
        sign: sign(column, scenarios),
        why: trouble.chain(why).collect(),
    }
}
