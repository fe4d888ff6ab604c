//! Classifies why the answers of two runs differ.

use super::abi::{self, Across, Forms};
use super::align::{Change, Laid, alike, changes, laid_out};
use super::ends;
use super::lines::{Line, TraceText};
use super::pseudo::told_otherwise;
use super::settings::{Differing, Ends};
use super::verdicts::unmet;
use super::{Answer, Class, Difference, Facts, What, Within};
use std::collections::BTreeSet;

/// Two kernels, and their differing settings.
pub(super) struct Told<'a> {
    base: &'a Facts,
    other: &'a Facts,
    settings: Vec<Differing<'a>>,
    /// Where the two are of different architectures.
    across: Option<Across>,
}

impl<'a> Told<'a> {
    pub(super) fn between(base: &'a Facts, other: &'a Facts) -> Self {
        Self {
            base,
            other,
            settings: Differing::between(base, other),
            across: Across::of(&base.arch, &other.arch),
        }
    }

    /// What the two are called: by their releases, unless a list has one release twice.
    pub(super) fn releases(&self) -> [&'a str; 2] {
        match [&*self.base.release, &*self.other.release] {
            [one, other] if one == other => ["the first", "the second"],
            releases => releases,
        }
    }

    /// Returns the settings that explain how a call ends on one of them, in words.
    pub(super) fn blamed(&self, ends: Ends<'_>) -> Vec<String> {
        let deciding = self.settings.iter().filter(|it| it.decides(ends));
        deciding.map(|it| format!("  {}", it.said())).collect()
    }
}

/// Returns the differences between two runs, each once, apart from their verdicts. What runs of
/// one verdict failed by comes last.
pub(super) fn compare(base: (&Facts, &Answer), other: (&Facts, &Answer)) -> Vec<Difference> {
    let (before, after) = (base.1, other.1);
    if let Some(said) = unmet(before, after) {
        return vec![said];
    }
    let told = Told::between(base.0, other.0);
    let mut all = of_traces(&told, before, after);
    if before.verdict == after.verdict {
        all.extend(ends::compare(&told, before, after));
    }
    all
}

/// Whether two runs ended alike, and whatever their traces differ in is a matter of the
/// architectures' ABI.
#[must_use]
pub fn differ_by_abi_alone(base: (&Facts, &Answer), other: (&Facts, &Answer)) -> bool {
    let is_of_abi = |found: &Difference| found.class == Class::Architecture;
    base.1.verdict == other.1.verdict && compare(base, other).iter().all(is_of_abi)
}

fn of_traces(told: &Told<'_>, before: &Answer, after: &Answer) -> Vec<Difference> {
    // A run that did not come to its end has no trace to compare.
    if before.trace == after.trace || before.trace.is_empty() || after.trace.is_empty() {
        return Vec::new();
    }
    let traces = [before, after].map(|answer| TraceText::read(&answer.trace));
    let forms = told.across.map(|_| [&traces[0], &traces[1]].map(Forms::of));
    let [mut first, mut second] = traces;
    if let Some([before, after]) = &forms {
        before.put(&mut first);
        after.put(&mut second);
    }
    let laid = laid_out(&first, &second);
    let changes = changes(&laid);
    let has_root = changes.iter().any(is_refused);
    let mut all: Vec<Difference> = match told.across {
        Some(_) => of_abi(&laid),
        None => Vec::new(),
    };
    // For each task, the difference that the later ones in it follow from.
    let mut root: Option<(&str, usize)> = None;
    let mut last_root = None;
    let mut waiting = Vec::new();
    for change in &changes {
        let task = task_of(change);
        let is_alone = !matches!(change, Change::Other(..));
        let follows = root.filter(|(of, _)| *of == task && is_alone);
        if is_refused(change) {
            let place = add(&mut all, told.of_change(change));
            root = Some((task, place));
            last_root = last_root.or(Some(place));
        } else if let Some((_, place)) = follows {
            if let Some(root) = all.get_mut(place) {
                root.evidence.extend(told.of_change(change).evidence);
            }
        } else if has_root && is_consequence(change) {
            waiting.push(told.of_change(change));
        } else {
            add(&mut all, told.of_change(change));
        }
    }
    if let Some(root) = last_root.and_then(|place| all.get_mut(place)) {
        for follows in waiting {
            root.evidence.extend(follows.evidence);
        }
    }
    all
}

/// Returns what only the ABI makes of lines that say the same.
fn of_abi(laid: &[Laid<'_, '_>]) -> Vec<Difference> {
    let mut all = Vec::new();
    for (task, before, after) in alike(laid) {
        if let Some(what) = abi::said(before, after) {
            let evidence = [('-', before), ('+', after)];
            let found = Difference {
                class: Class::Architecture,
                within: Within::Traces,
                what: what.into(),
                evidence: evidence
                    .map(|(sign, line)| format!("{sign} {task} {}", line.shown()))
                    .into(),
            };
            add(&mut all, found);
        }
    }
    all
}

/// Adds a difference unless it is there already, and returns its place.
fn add(all: &mut Vec<Difference>, found: Difference) -> usize {
    let is_same = |it: &Difference| it.class == found.class && it.what == found.what;
    let place = all.iter().position(is_same);
    match place.and_then(|place| all.get_mut(place)) {
        Some(known) => {
            for line in found.evidence {
                // A setting to blame is named once.
                if !line.starts_with("  ") || !known.evidence.contains(&line) {
                    known.evidence.push(line);
                }
            }
        }
        None => all.push(found),
    }
    place.unwrap_or(all.len().saturating_sub(1))
}

fn task_of<'a>(change: &Change<'a>) -> &'a str {
    match change {
        Change::Gone(task, ..)
        | Change::Came(task, ..)
        | Change::Only(task, _)
        | Change::New(task, _)
        | Change::Other(task, ..) => task,
    }
}

/// Whether only one kernel refuses a call, or each with another error: what the task does after it
/// differs for that reason.
fn is_refused(change: &Change<'_>) -> bool {
    let Change::Other(_, before, after) = change else {
        return false;
    };
    let error = |line: &Line<'_>| {
        line.result()
            .filter(|result| result.starts_with("-1 E"))
            .map(str::to_owned)
    };
    error(before) != error(after)
}

/// Whether it follows, in any task, from a call that one kernel refused.
fn is_consequence(change: &Change<'_>) -> bool {
    match change {
        Change::Gone(..) | Change::Came(..) => true,
        Change::Only(_, line) | Change::New(_, line) | Change::Other(_, line, _) => {
            matches!(line.name, "wait4" | "waitid" | "exit" | "exit_group")
        }
    }
}

/// A task with its kind, which the name of a program's has in it.
fn named(task: &str, kind: &str) -> String {
    match task.strip_prefix("program ") {
        Some(_) => task.to_owned(),
        None => format!("{task} {kind}"),
    }
}

fn program(kind: &str) -> &str {
    kind.split(", ").next().unwrap_or(kind)
}

impl Told<'_> {
    fn of_change(&self, change: &Change<'_>) -> Difference {
        match change {
            Change::Gone(task, kind, lines) => Difference {
                class: Class::Path,
                within: Within::Traces,
                what: What::Less(format!("process `{}`", program(kind))),
                evidence: vec![format!("- {}: {lines} lines", named(task, kind))],
            },
            Change::Came(task, kind, lines) => Difference {
                class: Class::Path,
                within: Within::Traces,
                what: What::More(format!("process `{}`", program(kind))),
                evidence: vec![format!("+ {}: {lines} lines", named(task, kind))],
            },
            Change::Only(task, line) => self.of_one_side('-', task, line),
            Change::New(task, line) => self.of_one_side('+', task, line),
            Change::Other(task, before, after) => self.of_both(task, before, after),
        }
    }

    /// Makes the difference of a line that only one has.
    fn of_one_side(&self, sign: char, task: &str, line: &Line<'_>) -> Difference {
        let name = line.name;
        let (without, lines) = if sign == '-' {
            (self.other, (Some(line), None))
        } else {
            (self.base, (None, Some(line)))
        };
        let is_absent =
            line.is_event() && !without.events.is_empty() && !without.events.contains_key(name);
        let blamed = self.blamed(Ends::of(name, lines));
        let is_of_abi = self.across.is_some_and(|across| match sign {
            '-' => abi::is_alone(name, across.base, across.other),
            _ => abi::is_alone(name, across.other, across.base),
        });
        let class = match (line.is_event(), is_absent) {
            (_, true) => Class::Absent,
            _ if is_of_abi => Class::Architecture,
            _ if !blamed.is_empty() => Class::Environment,
            (true, false) => Class::Behaviour,
            (false, _) => Class::Path,
        };
        let what = match (is_absent, sign) {
            (true, _) => format!("the kernel {} has no event `{name}`", without.release).into(),
            _ if is_of_abi => format!("{} has no call `{name}`", without.arch).into(),
            (false, '-') => What::Less(format!("`{name}`")),
            (false, _) => What::More(format!("`{name}`")),
        };
        let mut evidence = vec![format!("{sign} {task} {}", line.shown())];
        if class == Class::Environment {
            evidence.extend(blamed);
        }
        Difference {
            class,
            within: Within::Traces,
            what,
            evidence,
        }
    }

    /// Makes the difference of the same call or event with other values.
    fn of_both(&self, task: &str, before: &Line<'_>, after: &Line<'_>) -> Difference {
        let name = before.name;
        let mut evidence = vec![
            format!("- {task} {}", before.shown()),
            format!("+ {task} {}", after.shown()),
        ];
        if is_count(before) && is_count(after) {
            let class = match before.is_event() {
                true => Class::Behaviour,
                false => Class::Path,
            };
            let what = format!("`{name}` another number of times").into();
            return Difference {
                class,
                within: Within::Traces,
                what,
                evidence,
            };
        }
        if let Some(fields) = self.moved(before, after) {
            evidence.extend(fields);
            return Difference {
                class: Class::Layout,
                within: Within::Traces,
                what: format!("`{name}` has other fields").into(),
                evidence,
            };
        }
        let blamed = self.blamed(Ends::of(name, (Some(before), Some(after))));
        let is_environment = !blamed.is_empty();
        evidence.extend(blamed);
        if let (false, Some((path, class))) = (is_environment, told_otherwise(before, after)) {
            let what = format!("`{path}` reads otherwise").into();
            return Difference {
                class,
                within: Within::Traces,
                what,
                evidence,
            };
        }
        let results = (before.result(), after.result());
        let (class, what) = match results {
            (Some(old), Some(new)) if old != new => {
                if !is_environment && [old, new].contains(&NOT_THERE) {
                    let without = if new == NOT_THERE {
                        self.other
                    } else {
                        self.base
                    };
                    let what = format!("the kernel {} has no `{name}`", without.release);
                    (Class::Absent, what)
                } else {
                    let what = match (brief(old), brief(new)) {
                        (old, new) if old == new => format!("`{name}` returns another descriptor"),
                        (old, new) => format!("`{name}` returns {new} instead of {old}"),
                    };
                    (Class::Behaviour, what)
                }
            }
            _ if before.is_event() => (Class::Behaviour, format!("`{name}` has other values")),
            _ if is_undescribed(before) != is_undescribed(after) => {
                let without = match is_undescribed(before) {
                    true => self.base,
                    false => self.other,
                };
                let what = format!("the kernel {} has no `{name}`", without.release);
                (Class::Absent, what)
            }
            _ => (Class::Behaviour, format!("`{name}` has other arguments")),
        };
        Difference {
            within: Within::Traces,
            class: if is_environment {
                Class::Environment
            } else {
                class
            },
            what: what.into(),
            evidence,
        }
    }

    /// Returns what the formats say about the fields in which two lines of an event differ, if the
    /// formats differ.
    fn moved(&self, before: &Line<'_>, after: &Line<'_>) -> Option<Vec<String>> {
        let old = self.base.events.get(before.name)?;
        let new = self.other.events.get(before.name)?;
        let differing: BTreeSet<&str> = before
            .fields()
            .symmetric_difference(&after.fields())
            .map(|(name, _)| *name)
            .collect();
        let is_shown = |line: &&String| {
            let name = line.split(':').next().unwrap_or(line);
            differing.contains(name)
        };
        let gone = old.difference(new).filter(is_shown);
        let came = new.difference(old).filter(is_shown);
        let gone = gone.map(|line| format!("- field {line}"));
        let all: Vec<String> = gone
            .chain(came.map(|line| format!("+ field {line}")))
            .collect();
        (!all.is_empty()).then_some(all)
    }
}

/// Whether it is a call that the kernel does not describe: its line shows all six registers.
fn is_undescribed(line: &Line<'_>) -> bool {
    let is_register = |word: &&str| *word == "0" || *word == "<addr>" || word.starts_with("0x");
    let given = line.call().map(|(given, _)| given).unwrap_or_default();
    given.len() == 6 && given.iter().all(is_register)
}

const NOT_THERE: &str = "-1 ENOSYS";

/// Whether it is a line with a count: `read 3`.
fn is_count(line: &Line<'_>) -> bool {
    let rest = line.text.strip_prefix(line.name).map(str::trim_start);
    rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns a result without parts that belong to a scenario, such as a path.
fn brief(result: &str) -> &str {
    if result.starts_with('<') || result.contains('<') {
        "a descriptor"
    } else {
        result
    }
}
