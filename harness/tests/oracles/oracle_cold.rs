//! Strings in memory that was never touched before the kernel reads it are in the trace.
//!
//! When the call is entered their page is not mapped, and a tracer that must not sleep cannot read
//! it; it has to look again when the call has made it so. The workload says of each page whether it
//! was mapped, so that the test tests what it is for.

use super::support::harness::{self, Syscall, Traced};
use super::support::oracle;
use super::support::require::{self, require};

/// Children of the workload that execute a program.
const EXECS: usize = 50;

fn trace(words: &[&str]) -> Traced {
    let oracle = oracle::path();
    let command: Vec<&str> = [oracle.as_str()].iter().chain(words).copied().collect();
    let traced = harness::trace(&command);
    assert_eq!(traced.summary.exit, harness::Exit::Code(0));
    for fact in traced.facts().all("cold") {
        assert_eq!(fact.number("mapped"), 0, "{fact:?}");
    }
    traced
}

/// The texts of an argument in all calls of that name in which it holds one of the words.
fn texts<'a>(traced: &'a Traced, name: &str, place: usize) -> Vec<&'a str> {
    let calls = traced.calls.iter().filter(|call| call.name == name);
    let text = |call: &'a Syscall| call.args.get(place).map(|argument| argument.text.as_str());
    calls.filter_map(text).collect()
}

#[test]
fn a_path_from_a_page_never_touched_is_there() {
    require!(require::right_to_trace());
    let traced = trace(&["cold-paths"]);
    let opened = texts(&traced, "openat", 1);
    for path in ["\"/dev/../dev/null\"", "\"/nonexistent/cold-open\""] {
        let times = opened.iter().filter(|text| **text == path).count();
        assert_eq!(times, 1, "{path}: {opened:?}");
    }
    let renamed = ["\"/nonexistent/cold-old\"", "\"/nonexistent/cold-new\""];
    for (place, path) in [1, 3].into_iter().zip(renamed) {
        assert_eq!(texts(&traced, "renameat2", place), [path]);
    }
    let address = "{sa_family=AF_UNIX, sun_path=\"/nonexistent/cold-socket\"}";
    assert_eq!(texts(&traced, "connect", 1), [address]);
    let executed = texts(&traced, "execve", 0);
    assert_eq!(executed.last(), Some(&"\"/nonexistent/cold-exec\""));
}

#[test]
fn a_path_that_goes_on_in_a_page_never_touched_is_whole() {
    require!(require::right_to_trace());
    let traced = trace(&["cold-paths"]);
    let facts = traced.facts();
    let crossing = facts.one("crossing");
    assert_eq!((crossing.number("begin"), crossing.number("end")), (1, 0));
    let opened = texts(&traced, "openat", 1);
    assert!(
        opened.contains(&"\"/nonexistent/cold-crossing\""),
        "{opened:?}"
    );
}

#[test]
fn a_program_executed_by_a_path_never_touched_has_its_path_and_arguments() {
    require!(require::right_to_trace());
    let traced = trace(&["cold-execs", &EXECS.to_string()]);
    // The first is that of the workload itself, which the harness makes; its entry was not seen.
    assert_eq!(traced.calls.first().map(|call| call.args.len()), Some(0));
    let of_children = |place| texts(&traced, "execve", place);
    assert_eq!(of_children(0), ["\"/bin/../bin/true\""; EXECS]);
    assert_eq!(of_children(1), ["[\"cold-first\", \"cold-second\"]"; EXECS]);
}

#[test]
fn an_argument_of_an_exec_is_its_own_or_unread_and_a_vector_that_is_cut_says_so() {
    require!(require::right_to_trace());
    let traced = trace(&["cold-vectors"]);
    let vectors = texts(&traced, "execveat", 2);
    let [many, long, ..] = vectors[..] else {
        panic!("{vectors:?}");
    };
    let own: Vec<String> = (0..63).map(|place| format!("\"place-{place}\"")).collect();
    assert_eq!(many, format!("[<unread>, {}, ...]", own.join(", ")));
    let cut = |place: usize| format!("\"{place}{}\"...", "-".repeat(4095));
    assert_eq!(
        long,
        format!("[<unread>, {}, {}, {}, ...]", cut(0), cut(1), cut(2))
    );
}

#[test]
fn a_program_executed_by_a_directory_or_a_descriptor_has_its_path_and_arguments() {
    require!(require::right_to_trace());
    let traced = trace(&["cold-vectors"]);
    let paths = texts(&traced, "execveat", 1);
    let own = [
        "\"/bin/../bin/true\"",
        "\"/bin/../bin/true\"",
        "\"true\"",
        "\"\"",
    ];
    assert_eq!(paths, own);
    let vectors = texts(&traced, "execveat", 2);
    assert_eq!(vectors.get(2..), Some(&["[\"cold-first\"]"; 2][..]));
    let calls = traced.calls.iter().filter(|call| call.name == "execveat");
    let results: Vec<_> = calls.map(|call| call.ret).collect();
    assert_eq!(results, [Some(0); 4]);
}
