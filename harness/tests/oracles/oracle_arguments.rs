//! Every argument of every call of real programs is written as strace writes it.
//!
//! Both witnesses watch the same run: `harness trace` runs `strace -f`, which runs the program.
//! Neither is in the other's way, as one reads tracepoints and the other uses ptrace, so that
//! nothing differs that is not a difference between the two: addresses, ids, times and the
//! scheduler's choices are the same. What strace does itself is left out by its thread.
//!
//! What is not the same and both are right is in [`compare`].

mod align;
mod compare;
mod programs;
mod report;

use std::fs;

use super::support::command::Place;
use super::support::harness::Traced;
use super::support::require::{self, require};
use super::support::spoken::{self, Threads};
use super::support::{harness, oracle};
use programs::PROGRAMS;
use report::{Report, Tally};

/// Of a thousand arguments that both witnesses can show, so many are to be equal.
const EQUAL_OF_THOUSAND: u64 = 550;

/// The calls of one run, as both witnesses tell them.
struct Run {
    traced: Traced,
    witness: Threads,
}

impl Run {
    fn of(place: &Place, prepare: &str, command: &[&str]) -> Self {
        let file = place.beside("strace");
        let file = file.to_str().expect("a path of letters");
        let strace = ["strace", "-X", "abbrev", "-s", "256", "-f", "-o", file];
        let words: Vec<&str> = strace.iter().chain(command).copied().collect();
        let traced = harness::trace_in(place, prepare, &words);
        assert_eq!(traced.summary.lost, 0, "{command:?}");
        let output = &traced.output;
        let text = fs::read(file).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let witness = spoken::threads(&String::from_utf8_lossy(&text));
        let witness = witness.unwrap_or_else(|line| panic!("cannot read strace's `{line}`"));
        assert!(!witness.is_empty(), "{command:?}: {output:?}");
        Self { traced, witness }
    }

    fn tally(&self, report: &mut Report) -> Tally {
        let mut tally = Tally::default();
        for (tid, theirs) in &self.witness {
            let ours = self.traced.thread(*tid);
            let aligned = align::align(&ours, theirs);
            tally.calls += theirs.len() as u64;
            for call in &aligned.alone {
                tally.alone += 1;
                report.alone(call);
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

#[test]
fn arguments_are_those_that_strace_shows() {
    require!(require::right_to_trace());
    require!(require::strace());
    let mut report = Report::default();
    let mut surprises: Vec<String> = Vec::new();
    for program in PROGRAMS {
        let command = program.run.command();
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let mut needed = program
            .needs
            .split_whitespace()
            .chain(command.first().copied());
        if let Some(reason) = needed.find_map(|name| require::program(name).err()) {
            require::skip(&format!("{}: {reason}", program.name));
            continue;
        }
        let run = Run::of(&Place::new(), program.prepare, &command);
        let output = &run.traced.output;
        if output.status.code() != Some(program.status) {
            surprises.push(format!("{}: {output:?}", program.name));
        }
        let tally = run.tally(&mut report);
        report.program(program.name, tally);
    }
    assert_eq!(surprises, [""; 0]);
    let text = report.text();
    println!("{text}");
    let total = report.total();
    assert!(
        total.alone == 0 && total.equal * 1000 >= total.comparable() * EQUAL_OF_THOUSAND,
        "{text}"
    );
}
