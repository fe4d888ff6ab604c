//! What a run is confined to, as the report and the snapshot have it.

use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

const OUT: &str = "\
workload: { shell: 'mkdir data; echo x > data/a; echo y > out', stdin: '' }
trace: { events: [{ syscalls: [exit_group] }] }
expect: { confined: { writes: [data, 'data/**'], network: [], programs: [mkdir] } }
";

#[test]
fn a_finding_says_which_world_was_left() {
    require!(right_to_trace());
    let project = Project::with("it", OUT);
    let run = project.harness(&["run", "--update", "--format", "json", "scenarios"]);
    let report = &run.json()[0];
    assert_eq!(report["verdict"], "fail", "{report}");
    let finding = &report["findings"][0];
    assert_eq!(finding["kind"], "missed");
    assert_eq!(
        (&finding["about"], &finding["name"]),
        (&"confined".into(), &"writes".into())
    );
    let text = finding["text"].as_str().expect("a text");
    assert!(text.contains("does not allow `out`") && text.contains("in P1 sh"));
}

#[test]
fn what_is_recorded_for_it_is_in_no_snapshot_and_a_recording_is_judged_alike() {
    require!(right_to_trace());
    let yaml = OUT.replace("'data/**'", "'data/**', out");
    let project = Project::with("it", &yaml);
    let run = ["run", "--update", "--save", "saved", "scenarios"];
    project.harness(&run).assert_status(0);
    let again = ["run", "--from", "saved/it.data", "scenarios/it.yaml"];
    project.harness(&again).assert_status(0);
    project.scenario("it", OUT);
    let again = project.harness(&again);
    again.assert_status(1);
    assert!(
        again.stdout.contains("does not allow `out`"),
        "{}",
        again.stdout
    );
    let snapshot = project.read("snapshots/it.snap");
    assert!(snapshot.contains("exit_group(0)"), "{snapshot}");
    for hidden in ["openat", "mkdir(", "execve"] {
        assert!(!snapshot.contains(hidden), "{hidden}: {snapshot}");
    }
}

#[test]
fn the_parts_of_an_address_are_fields() {
    require!(right_to_trace());
    require!(program("python3"));
    let connects = "import socket; s = socket.socket(); s.connect_ex((\"127.0.0.1\", 9))";
    let yaml = format!(
        "workload: {{ run: [python3, -I, -S, -c, '{connects}'] }}\n\
         trace: {{ events: [{{ syscalls: [connect] }}] }}\n\
         expect:\n  \
         sequence: [{{ connect: {{ ip: 127.0.0.1, port: 9, family: AF_INET }} }}]\n  \
         never: [{{ connect: {{ port: 10 }} }}, {{ connect: {{ unix: any }} }}]\n\
         snapshot: false\n"
    );
    let project = Project::with("it", &yaml);
    project.harness(&["run", "scenarios"]).assert_status(0);
}

#[test]
fn a_mutant_that_leaves_a_closed_world_is_noticed() {
    require!(right_to_trace());
    let yaml = "\
workload: { shell: 'echo x > a', stdin: '' }
trace: { events: [{ syscalls: [unlink] }] }
expect: { confined: { writes: [a] } }
snapshot: false
";
    let project = Project::with("it", yaml);
    let run = project.harness(&["mutate", "--format", "json", "scenarios"]);
    let report = &run.json()[0];
    assert_eq!(
        (&report["mutants"], &report["by_expectations"]),
        (&1.into(), &1.into()),
        "{report}"
    );
}
