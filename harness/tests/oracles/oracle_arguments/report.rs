//! What came of the comparison, as text.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::compare::{Argument, Finding};

/// Counts of calls and arguments.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    /// Calls that strace tells.
    pub(super) calls: u64,
    /// Calls that one witness tells alone.
    pub(super) alone: u64,
    pub(super) equal: u64,
    pub(super) only_strace: u64,
    pub(super) only_ours: u64,
    pub(super) unread: u64,
    pub(super) unequal: u64,
}

impl Tally {
    pub(super) fn add(&mut self, finding: Finding) {
        *match finding {
            Finding::Equal => &mut self.equal,
            Finding::OnlyStrace => &mut self.only_strace,
            Finding::OnlyOurs => &mut self.only_ours,
            Finding::Unread => &mut self.unread,
            Finding::Unequal => &mut self.unequal,
        } += 1;
    }

    /// Arguments that both can show.
    pub(super) fn comparable(&self) -> u64 {
        self.equal + self.unread + self.unequal
    }

    fn row(&self, name: &str) -> String {
        let share = 100.0 * self.equal as f64 / self.comparable().max(1) as f64;
        format!(
            "{name:32} {:6} {:5} {:8} {:7} {:7} {:7} {:7} {:7} {share:7.2}",
            self.calls,
            self.alone,
            self.comparable(),
            self.equal,
            self.unequal,
            self.unread,
            self.only_strace,
            self.only_ours,
        )
    }
}

/// How many examples are given for an argument.
const EXAMPLES: usize = 6;

/// What differs in one argument of one call.
#[derive(Default)]
struct Differences {
    count: u64,
    /// Ours and strace's, with how often.
    examples: BTreeMap<(String, String), u64>,
}

/// What came of all programs.
#[derive(Default)]
pub(super) struct Report {
    programs: Vec<(&'static str, Tally)>,
    alone: BTreeMap<String, u64>,
    differences: BTreeMap<Finding, BTreeMap<String, Differences>>,
}

impl Report {
    pub(super) fn program(&mut self, name: &'static str, tally: Tally) {
        self.programs.push((name, tally));
    }

    pub(super) fn alone(&mut self, call: &str) {
        *self.alone.entry(call.to_owned()).or_default() += 1;
    }

    pub(super) fn argument(&mut self, argument: &Argument<'_>) {
        if argument.finding == Finding::Equal {
            return;
        }
        let Argument {
            call, place, name, ..
        } = argument;
        let key = format!("{call} {place} {name}");
        let differences = self
            .differences
            .entry(argument.finding)
            .or_default()
            .entry(key)
            .or_default();
        differences.count += 1;
        let example = (argument.ours.clone(), argument.theirs.clone());
        *differences.examples.entry(example).or_default() += 1;
    }

    pub(super) fn total(&self) -> Tally {
        let mut total = Tally::default();
        for (_, tally) in &self.programs {
            total.calls += tally.calls;
            total.alone += tally.alone;
            total.equal += tally.equal;
            total.only_strace += tally.only_strace;
            total.only_ours += tally.only_ours;
            total.unread += tally.unread;
            total.unequal += tally.unequal;
        }
        total
    }

    /// The calls that one witness tells alone, a line each.
    pub(super) fn told_alone(&self) -> String {
        let lines = self.alone.iter();
        lines
            .map(|(call, count)| format!("\n  {count:6} {call}"))
            .collect()
    }

    /// What this was found of.
    pub(super) fn examples(&self, finding: Finding) -> String {
        let mut text = String::new();
        if let Some(arguments) = self.differences.get(&finding) {
            write_arguments(&mut text, arguments);
        }
        text
    }

    /// The table of programs, and what differs.
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "{:32} {:>6} {:>5} {:>8} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}\n",
            "program",
            "calls",
            "alone",
            "args",
            "equal",
            "unequal",
            "unread",
            "strace",
            "ours",
            "%"
        );
        let total = ("all", self.total());
        for (name, tally) in self.programs.iter().chain([&total]) {
            text.push_str(&tally.row(name));
            text.push('\n');
        }
        if !self.alone.is_empty() {
            writeln!(text, "\ncalls that one tells alone{}", self.told_alone())
                .expect("a String takes everything");
        }
        for (finding, arguments) in &self.differences {
            let heading = match finding {
                Finding::Equal => "equal",
                Finding::Unequal => "unequal",
                Finding::Unread => "a string that was not read",
                Finding::OnlyStrace => "only strace shows it",
                Finding::OnlyOurs => "only harness shows it",
            };
            let count: u64 = arguments
                .values()
                .map(|differences| differences.count)
                .sum();
            writeln!(text, "\n{heading}: {count}").expect("a String takes everything");
            write_arguments(&mut text, arguments);
        }
        text
    }
}

/// Those that differ most often first.
fn write_arguments(text: &mut String, arguments: &BTreeMap<String, Differences>) {
    let mut sorted: Vec<_> = arguments.iter().collect();
    sorted.sort_by_key(|(_, differences)| std::cmp::Reverse(differences.count));
    for (argument, differences) in sorted {
        writeln!(text, "  {argument}: {}", differences.count).expect("a String takes everything");
        let mut examples: Vec<_> = differences.examples.iter().collect();
        examples.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for ((ours, theirs), count) in examples.into_iter().take(EXAMPLES) {
            writeln!(
                text,
                "  {count:6} x {}\n   strace: {}",
                short(ours),
                short(theirs)
            )
            .expect("a String takes everything");
        }
    }
}

/// As much as helps to see the difference.
fn short(text: &str) -> String {
    text.chars().take(220).collect()
}
