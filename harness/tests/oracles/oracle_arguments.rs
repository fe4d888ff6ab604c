//! Every argument of every call of real programs is written as strace writes it.
//!
//! Both witnesses watch the same run: `harness trace` runs `strace -f`, which runs the program.
//! Neither is in the other's way, as one reads tracepoints and the other uses ptrace, so that
//! nothing differs that is not a difference between the two: addresses, ids, times and the
//! scheduler's choices are the same. What strace does itself is left out by its thread.
//!
//! What is not the same and both are right is in [`nature`].

mod align;
mod compare;
mod descriptors;
mod nature;
mod programs;
mod report;

use std::fs;

use super::support::command::Place;
use super::support::harness::Traced;
use super::support::require::{self, require};
use super::support::spoken::{self, Threads};
use super::support::{harness, oracle};
use compare::Finding;
use programs::{COMMANDS, NETLINK, PROGRAMS, Program};
use report::{Report, Tally};

/// Of a thousand arguments that both witnesses can show, so many are to be equal.
const EQUAL_OF_THOUSAND: u64 = 999;

/// Of a thousand arguments, no more than so many may be left to strace.
const LEFT_OF_THOUSAND: u64 = 1;

/// How a program is watched.
struct Watch<'a> {
    /// What runs strace, if anything.
    before: &'a [&'a str],
    /// Options of strace.
    options: &'a [&'a str],
    /// How much of strings and buffers both show, in bytes.
    shown: &'a str,
}

impl Watch<'_> {
    const PLAIN: Self = Self {
        before: &[],
        options: &[],
        shown: "256",
    };
    /// In a network of its own, which has one device, and with messages as a whole.
    const APART: Self = Self {
        before: &["unshare", "--net"],
        options: &[],
        shown: "4096",
    };
}

/// The calls of one run, as both witnesses tell them.
struct Run {
    traced: Traced,
    witness: Threads,
}

impl Run {
    fn of(place: &Place, watch: &Watch<'_>, program: &Program) -> Self {
        let command = program.run.command();
        let file = place.beside("strace");
        let file = file.to_str().expect("a path of letters");
        let shown = ["-s", watch.shown];
        let strace = ["strace", "-X", "abbrev", "-f", "-o", file];
        let command = command.iter().map(String::as_str);
        let words = watch.before.iter().chain(&strace).chain(&shown);
        let words = words.chain(watch.options).copied().chain(command);
        let words: Vec<&str> = words.collect();
        let traced = harness::trace_with(place, program.prepare, (&[], &shown), &words);
        assert_eq!(traced.summary.lost, 0, "{words:?}");
        let output = &traced.output;
        let text = fs::read(file).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let witness = spoken::threads(&String::from_utf8_lossy(&text));
        let witness = witness.unwrap_or_else(|line| panic!("cannot read strace's `{line}`"));
        assert!(!witness.is_empty(), "{words:?}: {output:?}");
        Self { traced, witness }
    }

    /// What the program ended with that it should not have.
    fn surprise(&self, program: &Program) -> Option<String> {
        let output = &self.traced.output;
        let is_expected = output.status.code() == Some(program.status);
        (!is_expected).then(|| format!("{}: {output:?}", program.name))
    }

    fn tally(&self, program: &Program, report: &mut Report) -> Tally {
        let mut tally = Tally::default();
        for (tid, theirs) in &self.witness {
            let ours = self.traced.thread(*tid);
            let aligned = align::align(&ours, theirs);
            tally.calls += theirs.len() as u64;
            for call in &aligned.alone {
                tally.alone += 1;
                report.alone(&format!("{}: {call}", program.name));
            }
            for (ours, theirs) in aligned.pairs {
                for argument in compare::arguments(ours, theirs) {
                    tally.add(argument.finding);
                    report.argument(&argument);
                }
            }
        }
        tally
    }
}

/// Runs the programs that can run here, each in a place of its own; what they ended with that they
/// should not have.
fn for_each<'a>(
    programs: impl IntoIterator<Item = &'a Program>,
    watch: &Watch<'_>,
    mut look: impl FnMut(&Program, Run),
) -> Vec<String> {
    let mut surprises: Vec<String> = Vec::new();
    for program in programs {
        let command = program.run.command();
        let needed = program.needs.split_whitespace();
        let mut needed = needed.chain(command.first().map(String::as_str));
        if let Some(reason) = needed.find_map(|name| require::program(name).err()) {
            require::skip(&format!("{}: {reason}", program.name));
            continue;
        }
        let place = Place::new();
        let run = Run::of(&place, watch, program);
        if run.traced.output.status.code() == Some(oracle::UNSUPPORTED) {
            require::skip(&format!("{}: the kernel does not have it", program.name));
            continue;
        }
        surprises.extend(run.surprise(program));
        look(program, run);
    }
    surprises
}

#[test]
fn arguments_are_those_that_strace_shows() {
    require!(require::right_to_trace());
    require!(require::strace());
    let mut report = Report::default();
    let surprises = for_each(PROGRAMS, &Watch::PLAIN, |program, run| {
        let tally = run.tally(program, &mut report);
        report.program(program.name, tally);
    });
    println!("{}", report.text());
    let total = report.total();
    // What failed stands last, as a log that is cut keeps its end.
    assert_eq!(
        total.alone,
        0,
        "calls that one tells alone: {}",
        report.told_alone()
    );
    let unread = report.examples(Finding::Unread);
    assert_eq!(total.unread, 0, "strings that were not read:\n{unread}");
    let (equal, comparable) = (total.equal, total.comparable());
    assert!(
        equal * 1000 >= comparable * EQUAL_OF_THOUSAND,
        "{equal} of {comparable} are equal:\n{}",
        report.examples(Finding::Unequal)
    );
    assert!(
        total.only_strace * 1000 <= comparable * LEFT_OF_THOUSAND,
        "of {comparable}, left to strace:\n{}",
        report.examples(Finding::OnlyStrace)
    );
    assert_eq!(surprises, [""; 0]);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn memory_is_read_as_far_as_its_page_goes() {
    require!(require::right_to_trace());
    require!(require::strace());
    let mut report = Report::default();
    let surprises = for_each([&programs::PAGE_ENDS], &Watch::PLAIN, |program, run| {
        let tally = run.tally(program, &mut report);
        report.program(program.name, tally);
    });
    let (text, total) = (report.text(), report.total());
    assert_eq!(total.equal, total.comparable(), "{text}");
    assert!(total.comparable() > 200, "{text}");
    assert_eq!(surprises, [""; 0]);
}

#[test]
fn what_commands_are_given_and_answer_is_what_strace_shows() {
    require!(require::right_to_trace());
    require!(require::strace());
    let mut report = Report::default();
    let surprises = for_each([&COMMANDS], &Watch::PLAIN, |program, run| {
        let tally = run.tally(program, &mut report);
        report.program(program.name, tally);
    });
    let (text, total) = (report.text(), report.total());
    assert_eq!(total.alone, 0, "{}", report.told_alone());
    assert_eq!(total.equal, total.comparable(), "{text}");
    assert!(total.comparable() > 600, "{text}");
    assert_eq!(surprises, [""; 0]);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn what_calls_of_a_32_bit_program_point_to_is_what_strace_shows() {
    require!(require::right_to_trace());
    require!(require::strace());
    require!(oracle::int80_works());
    let mut report = Report::default();
    let surprises = for_each(
        [&programs::NARROW, &programs::NARROW_ANSWERS],
        &Watch::PLAIN,
        |program, run| {
            let tally = run.tally(program, &mut report);
            report.program(program.name, tally);
        },
    );
    let (text, total) = (report.text(), report.total());
    assert_eq!(total.alone, 0, "{}", report.told_alone());
    assert_eq!(total.equal, total.comparable(), "{text}");
    assert!(total.comparable() > 150, "{text}");
    assert_eq!(surprises, [""; 0]);
}

#[test]
fn messages_of_netlink_are_told_as_strace_tells_them() {
    require!(require::right_to_trace());
    require!(require::strace_of_netlink());
    require!(require::program("unshare"));
    let mut report = Report::default();
    let surprises = for_each(NETLINK, &Watch::APART, |program, run| {
        let tally = run.tally(program, &mut report);
        report.program(program.name, tally);
    });
    println!("{}", report.text());
    let total = report.total();
    for finding in [Finding::Unread, Finding::Unequal] {
        let found = report.examples(finding);
        assert!(found.is_empty(), "{finding:?}:\n{found}");
    }
    assert_eq!(total.equal, total.comparable());
    assert_eq!(surprises, [""; 0]);
}
