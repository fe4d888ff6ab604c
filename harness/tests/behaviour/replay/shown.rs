//! What `harness trace -i` shows of a recording, and where.

use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

#[test]
fn the_trace_of_a_recording_goes_to_standard_output_in_every_form() {
    require!(right_to_trace());
    let project = Project::new();
    let save = ["trace", "--save", "run.data", "-o", "live", "--", "true"];
    project.harness(&save).assert_status(0);
    for form in [
        &[][..],
        &["-c"],
        &["--format", "json"],
        &["--format", "perfetto"],
    ] {
        let printed = project.harness(&[&["trace", "-i", "run.data"], form].concat());
        printed.assert_status(0);
        let file = ["trace", "-i", "run.data", "-o", "again"];
        project
            .harness(&[&file[..], form].concat())
            .assert_status(0);
        assert_eq!(printed.stdout, project.read("again"), "{form:?}");
        assert_eq!(printed.stderr, "", "{form:?}");
    }
}

#[test]
fn a_recording_with_a_filter_is_shown_as_far_as_it_goes_and_says_by_what() {
    require!(right_to_trace());
    let project = Project::new();
    let event = "{ event: \"syscalls:sys_enter_write\", filter: \"count > 3\" }";
    let of = |events: &str, never: &str| {
        format!(
            "workload: {{ shell: \"echo a; echo long\" }}\ntrace: {{ events: [{events}] }}\n\
             expect: {{ {never} }}\nsnapshot: false"
        )
    };
    let once = "count: { \"syscalls:sys_enter_write\": 1 }";
    project.scenario("saved", &of(event, once));
    let save = ["run", "--save", ".", "scenarios/saved.yaml"];
    project.harness(&save).assert_status(0);
    let said = "the recording holds `syscalls:sys_enter_write` only where `count > 3`";
    for events in [&[][..], &["-e", "syscalls:sys_enter_write"]] {
        let shown = project.harness(&[&["trace", "-i", "saved.data"], events].concat());
        shown.assert_status(0);
        assert_eq!(shown.stdout.matches("sys_enter_write").count(), 1);
        assert!(shown.stderr.contains(said), "{}", shown.stderr);
    }
    // A scenario that asks for all of them is not judged.
    project.scenario(
        "saved",
        &of("{ event: \"syscalls:sys_enter_write\" }", once),
    );
    let judge = ["run", "--from", "saved.data", "scenarios/saved.yaml"];
    let run = project.harness(&judge);
    assert!(run.stdout.contains("1 skipped"), "{}", run.stdout);
}
