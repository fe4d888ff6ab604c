//! What `harness trace -i` shows of a recording, and where.

use super::judged;
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

#[test]
fn a_scenario_that_filters_an_event_is_not_judged_by_a_recording_of_all_of_them() {
    require!(right_to_trace());
    let project = Project::new();
    let event = "syscalls:sys_enter_write";
    let of = |filters: &[&str]| {
        let written = |filter: &&str| match filter.is_empty() {
            true => format!("{{ event: \"{event}\" }}"),
            false => format!("{{ event: \"{event}\", filter: \"{filter}\" }}"),
        };
        let events: Vec<String> = filters.iter().map(written).collect();
        format!(
            "workload: {{ shell: \"echo a; echo long\" }}\ntrace: {{ events: [{}] }}\n\
             expect: {{ sequence: [{{ \"{event}\": {{}} }}] }}\nsnapshot: false",
            events.join(", "),
        )
    };
    let judge = |file: &str, filters: &[&str]| {
        project.scenario("judges", &of(filters));
        let is = judged(&project, &["--from", file, "scenarios/judges.yaml"]);
        (is[0].1.clone(), is[0].2.concat())
    };
    project.scenario("saved", &of(&[""]));
    let save = ["run", "--save", ".", "scenarios/saved.yaml"];
    project.harness(&save).assert_status(0);
    let (verdict, why) = judge("saved.data", &["count == 99"]);
    assert_eq!(verdict, "skipped", "{why}");
    assert!(why.contains("but all of them"), "{why}");
    // Two wishes for one event are one filter, in whatever order they stand.
    project.scenario("saved", &of(&["count == 99", "count == 2"]));
    project.harness(&save).assert_status(0);
    for (filters, wanted) in [
        (&["count == 99", "count == 2"][..], "pass"),
        (&["count == 2", "count == 99"], "pass"),
        (&["count == 2"], "skipped"),
        (&["count == 99"], "skipped"),
        (&["count == 5"], "skipped"),
    ] {
        let (verdict, why) = judge("saved.data", filters);
        assert_eq!(verdict, wanted, "{filters:?}: {why}");
    }
    let words = [
        env!("CARGO_BIN_EXE_harness"),
        "record",
        "-o",
        "recorded.data",
        "-e",
        event,
        "--",
        "sh",
        "-c",
        "echo a; echo long",
    ];
    project.run(&[], &words).assert_status(0);
    let (verdict, why) = judge("recorded.data", &["count == 99"]);
    assert_eq!(verdict, "incomplete", "{why}");
    assert!(why.contains("by no filter"), "{why}");
}
