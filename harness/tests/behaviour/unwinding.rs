//! Callers in a copy of a stack, by the tables that a file has of its functions, or lacks.

use serde_json::Value;

use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

const PROGRAM: &str = "
#include <unistd.h>
__attribute__((noinline)) int innermost(int n) { int r = chdir(\"none\"); __asm__ volatile(\"\"); return r + n; }
__attribute__((noinline)) int outermost(int n) { int r = innermost(n); __asm__ volatile(\"\"); return r + 1; }
int main(void) { int r = outermost(1); __asm__ volatile(\"\"); return r != 1; }
";

/// Without the tables of `.eh_frame`, and without frame pointers.
const WITHOUT: [&str; 4] = [
    "-O1",
    "-fomit-frame-pointer",
    "-fno-asynchronous-unwind-tables",
    "-fno-unwind-tables",
];

/// A folder with the program, compiled with these options.
fn compiled(options: &[&str]) -> Project {
    let project = Project::new();
    project.write("it.c", PROGRAM);
    let compile = [&["cc", "-o", "it", "it.c"][..], &WITHOUT, options].concat();
    project.run(&[], &compile).assert_status(0);
    project
}

/// The program's functions that led to its only `chdir`, and how their chain ends.
fn chain(project: &Project) -> (Vec<String>, String) {
    let words = [
        "trace", "-k", "--format", "json", "-e", "chdir", "-o", "trace", "./it",
    ];
    project.harness(&words).assert_status(0);
    let trace = project.read("trace");
    let is_it = |line: &&str| line.contains("\"name\":\"chdir\"");
    let call = trace.lines().find(is_it).expect("the call");
    let call: Value = serde_json::from_str(call).expect("JSON");
    let frames = call["callchain"].as_array().expect("a chain").iter();
    let is_own = |file: &str| file.ends_with("/it");
    let own = frames.filter(|frame| frame["dso"].as_str().is_some_and(is_own));
    let names = own.map(|frame| frame["sym"].as_str().unwrap_or_default().to_owned());
    let end = call["callchain_end"].as_str().unwrap_or_default();
    (names.collect(), end.to_owned())
}

#[test]
fn callers_are_found_by_the_tables_for_debuggers_where_there_are_no_others() {
    require!(right_to_trace());
    require!(program("cc"));
    for option in ["-g", "-gz=zlib"] {
        let (names, end) = chain(&compiled(&["-g", option]));
        assert_eq!(names[..3], ["innermost", "outermost", "main"], "{option}");
        assert_eq!(end, "outermost", "{option}");
    }
}

#[test]
fn a_chain_ends_where_a_file_has_no_table_of_a_function_and_what_asks_for_more_names_it() {
    require!(right_to_trace());
    require!(program("cc"));
    let project = compiled(&[]);
    let (names, end) = chain(&project);
    assert_eq!(names, ["innermost"]);
    assert_eq!(end, "no_table");
    for (asks, has_none) in [
        (
            "trace: { events: [{ syscalls: [chdir], callchain: dwarf }] }\n\
             expect: { any_order: [{ chdir: { from: outermost } }] }",
            "/it` has no table of the callers, `.eh_frame` or `.debug_frame`: install",
        ),
        (
            "trace: { events: [{ syscalls: [chdir] }] }\n\
             faults: [{ chdir: { stack: outermost, error: EIO } }]",
            "/it` has no table of the caller of `innermost`, `.eh_frame` or `.debug_frame`: install",
        ),
    ] {
        let yaml = format!(
            "workload: {{ run: [./it], files: {{ it: {{ from: ../it }} }} }}\n{asks}\nsnapshot: false"
        );
        project.scenario("it", &yaml);
        let run = project.harness(&["run", "--format", "json", "scenarios"]);
        let (verdict, _) = &run.verdicts()["it"];
        assert_eq!(verdict, "incomplete", "{}", run.stdout);
        assert!(run.stdout.contains(has_none), "{}", run.stdout);
    }
}
