//! Calls that a scenario names and that this architecture does not have.
//!
//! `never: [unlink]` would hold on any kernel without such a call, whatever else removed a file. So
//! such a scenario is about another architecture, as one with `requires.arch` is.

use super::requires::Lack;
use crate::scenario::{Architecture, Expectations, Mark, Scenario, Since, StepSpec};
use perf_records::glob::glob;
use syscall_model::names::{self, Abi};

/// Returns a requirement for each such name in what is expected and injected, in marks and in the
/// ends of spans; `native` is the convention of 64-bit programs here.
pub(super) fn absent_calls(scenario: &Scenario, native: Abi) -> Vec<Lack> {
    let mut absent: Vec<&str> = words(scenario)
        .into_iter()
        .filter(|word| is_absent(word, native))
        .collect();
    absent.sort_unstable();
    absent.dedup();
    let own = Architecture::OWN.word();
    let lack = |word| {
        Lack::of_architecture(format!(
            "needs the call `{word}`, which {own} does not have"
        ))
    };
    absent.into_iter().map(lack).collect()
}

/// Returns a remark about such names as only programs of 32 bits make calls of: that a program of
/// 64 bits makes none of them says nothing of what it does.
pub(super) fn of_32_alone(scenario: &Scenario) -> Option<String> {
    let mut alone = words(scenario);
    alone.retain(|word| is_of_32_alone(word, Abi::native()));
    alone.sort_unstable();
    alone.dedup();
    let all = alone.join("`, `");
    (!alone.is_empty())
        .then(|| format!("`{all}`: 32-bit programs alone make such calls, and 64-bit ones others"))
}

fn is_of_32_alone(word: &str, native: Abi) -> bool {
    let word = names::of_tracefs(word).unwrap_or(word);
    let is_among = |abi| names::all(abi).any(|(_, name)| glob(word, name));
    native.compat().is_some_and(is_among) && !is_among(Abi::X86_64) && !is_among(native)
}

/// Every name of a step in what is judged.
fn words(scenario: &Scenario) -> Vec<&str> {
    let sections = scenario.expect.sections.values();
    let expected = sections.chain([&scenario.expect.events]);
    let expected = expected.flat_map(Expectations::steps);
    let delta = scenario.expect.delta.iter().map(|delta| &delta.step);
    let spans = scenario.trace.spans.iter();
    let spans = spans.flat_map(|span| [&span.begin, &span.end]);
    let faults = scenario.faults.iter();
    let faults = faults.flat_map(|fault| [&fault.step].into_iter().chain(&fault.until));
    let sections = scenario.sections.values();
    let marks = sections.flat_map(|section| [&section.from, &section.to]);
    let since = match &scenario.trace.since {
        Since::Mark(mark) => Some(mark),
        Since::Exec | Since::Main => None,
    };
    let marks = marks.chain(since).filter_map(|mark| match mark {
        Mark::Step(step) => Some(step),
        Mark::Written(_) => None,
    });
    let steps = expected
        .chain(delta)
        .chain(spans)
        .chain(faults)
        .chain(marks);
    steps.map(|step: &StepSpec| step.event.as_str()).collect()
}

/// Whether a name, or a glob of names, means calls of x86-64 and none of `native`. What has calls
/// of both means the same on both, as `open*`; forms of 32-bit programs are on neither.
fn is_absent(word: &str, native: Abi) -> bool {
    let is_among = |abi| names::all(abi).any(|(_, name)| glob(word, name));
    is_among(Abi::X86_64) && !is_among(native)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_32_bit_programs_call_is_remarked() {
        let is_alone = |word| is_of_32_alone(word, Abi::X86_64);
        for word in ["waitpid", "fstat64", "sigaction", "stat6?"] {
            assert!(is_alone(word), "{word}");
        }
        for word in [
            "wait4",
            "stat*",
            "fsync",
            "sched:sched_switch",
            "io_uring:*",
        ] {
            assert!(!is_alone(word), "{word}");
        }
    }

    #[test]
    fn a_call_that_only_x86_64_has_is_absent_on_arm64_and_no_other_is() {
        let absent = |word| is_absent(word, Abi::Aarch64);
        for word in ["unlink", "fork", "mkdir", "rename", "dup2", "*fork", "open"] {
            assert!(absent(word), "{word}");
        }
        for word in [
            "unlinkat",
            "open*",
            "rename*",
            "*",
            "openat",
            "socketcall",
            "%file",
            "span:x",
        ] {
            assert!(!absent(word), "{word}");
        }
        assert!(!is_absent("unlink", Abi::X86_64));
    }

    #[test]
    fn a_scenario_is_about_another_architecture_wherever_it_names_such_a_call() {
        let events = "description: x\nworkload: { run: [x] }\ntrace: { events: [{ syscalls: [\"*\"] }], spans: { s: { begin: openat, \
                      end: close, key: { begin: returns, end: fd } } } }\n";
        for (text, word) in [
            ("expect: { never: [unlink] }", "unlink"),
            ("expect: { count: { fork: 0 } }", "fork"),
            (
                "expect: { sequence: [openat, { any_order: [dup2, close] }] }",
                "dup2",
            ),
            (
                "expect: { between: [{ first: openat, then: close, there_is: mkdir }] }",
                "mkdir",
            ),
            ("faults: [{ rename: { from: a, error: EIO } }]", "rename"),
            (
                "sections: { s: { from: { mkdir: { path: a } }, to: done } }\nexpect: { sections: { s: { never: [openat] } } }",
                "mkdir",
            ),
        ] {
            let path = std::path::Path::new("x.yaml");
            let read = crate::scenario::read(path, &format!("{events}{text}\n"));
            let scenario = read.unwrap_or_else(|error| panic!("{text}: {error:?}"));
            let absent = absent_calls(&scenario, Abi::Aarch64);
            let told = absent.first().map(AsRef::as_ref).unwrap_or_default();
            assert_eq!(absent.len(), 1, "{text}: {absent:?}");
            assert!(told.contains(&format!("the call `{word}`")), "{told}");
            assert!(absent_calls(&scenario, Abi::X86_64).is_empty());
        }
    }
}
