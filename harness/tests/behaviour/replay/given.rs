//! A recording is of a run that was given the same.

use super::judged;
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

#[test]
fn a_recording_of_a_run_that_was_given_something_else_neither_passes_nor_fails_a_scenario() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("from", "f");
    let fault = "faults:\n- mkdir: { error: EIO, when: 2 }\n";
    let of = |workload: &str, rest: &str| {
        format!(
            "workload: {{ shell: \"mkdir a; mkdir b; true\", {workload} }}\n{rest}snapshot: false\n\
             expect: {{ count: {{ mkdir: 2 }} }}\n"
        )
    };
    let given =
        "stdin: s, env: { A: a }, files: { i: { content: i, mode: '0600' }, f: { from: ../from } }";
    project.scenario("recorded", &of(given, fault));
    let save = ["run", "--save", ".", "scenarios/recorded.yaml"];
    project.harness(&save).assert_status(0);
    let judge = || {
        judged(
            &project,
            &["--from", "recorded.data", "scenarios/judges.yaml"],
        )
    };
    // For how long the run may go on is no matter of what it was given.
    let more = format!("{given}, timeout: 9s");
    project.scenario("judges", &of(&more, fault));
    assert_eq!(judge()[0].1, "pass");
    let other = |from: &str, to: &str| {
        assert!(given.contains(from), "{from}");
        given.replace(from, to)
    };
    for (workload, rest, place) in [
        (other("stdin: s", "stdin: t"), fault, "`workload.stdin`"),
        (other("A: a", "A: b"), fault, "`workload.env`"),
        (
            other("content: i", "content: j"),
            fault,
            "`workload.files.i`",
        ),
        (other("0600", "0601"), fault, "`workload.files.i`"),
        (
            other(" i: {", " j: {"),
            fault,
            "`workload.files.i`, another `workload.files.j`",
        ),
        (given.to_owned(), "", "`faults`"),
        (
            given.to_owned(),
            "faults:\n- mkdir: { error: EIO, when: 1 }\n",
            "`faults`",
        ),
        (
            given.to_owned(),
            &format!("{fault}- mkdir: {{ delay: 1ms }}\n"),
            "`faults`",
        ),
        (
            given.to_owned(),
            &format!("sandbox: {{ network: host }}\n{fault}"),
            "`sandbox`",
        ),
    ] {
        project.scenario("judges", &of(&workload, rest));
        let is = judge();
        assert_eq!(is[0].1, "incomplete", "{place}: {is:?}");
        let said = format!("the recording is of a run with another {place}: record");
        assert!(is[0].2.concat().contains(&said), "{is:?}");
    }
    project.scenario("judges", &of(given, fault));
    project.write("from", "g");
    assert!(
        judge()[0]
            .2
            .concat()
            .contains("another `workload.files.f`:")
    );
    std::fs::remove_file(project.join("from")).expect("a file");
    let is = judge();
    assert_eq!(is[0].1, "incomplete", "{is:?}");
    assert!(is[0].2.concat().contains("cannot read `"), "{is:?}");
}
