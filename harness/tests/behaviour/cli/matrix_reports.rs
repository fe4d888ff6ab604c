//! The files that `harness matrix --report` writes. The kernel is the machine's own: no guest is
//! needed.

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use quick_junit::Report;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use super::{PASSES, SKIPPED};
use crate::support::fifo::Fifo;
use crate::support::process::Watched;
use crate::support::project::{Project, Run};
use crate::support::require::{require, right_to_trace};

/// Two names for this machine's kernel.
fn project() -> Project {
    let project = Project::with("a", PASSES);
    project.scenario("b", SKIPPED);
    project.write("kernels.yaml", "one: host\ntwo: host\n");
    project
}

const MATRIX: [&str; 4] = ["matrix", "scenarios", "--kernels", "kernels.yaml"];

#[test]
fn each_file_has_the_form_of_its_ending_and_the_same_is_printed() {
    require!(right_to_trace());
    let project = project();
    let files = ["out/m.txt", "out/m.jsonl", "out/m.xml", "out/m.html"];
    let mut words = MATRIX.to_vec();
    for file in files {
        words.extend(["--report", file]);
    }
    let run = project.harness(&words);
    run.assert_status(0);
    let [text, json, xml, html] = files.map(|file| project.read(file));
    assert_eq!(text, run.stdout);
    assert!(text.contains("\none -> two: nothing differs\n"), "{text}");
    let is_object = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
    assert!(
        json.lines().count() > 5 && json.lines().all(is_object),
        "{json}"
    );
    let report = Report::deserialize_from_str(&xml).expect("JUnit");
    let names: Vec<&str> = report
        .test_suites
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(names, ["one", "two"]);
    assert!(html.starts_with("<!doctype html>"), "{html}");
    assert!(html.ends_with("</html>\n"), "{html}");
    // Nothing is left of what the files were written as before they were whole.
    assert_eq!(project.files("out").len(), files.len());
}

#[test]
fn what_is_no_kernel_and_a_program_that_runs_no_harness_are_named_without_a_guest() {
    let project = Project::with("a", PASSES);
    project.write("notes", "no kernel\n");
    let list = "notes: { image: notes }\nnone: { host: true, under: [\"false\"] }\n";
    project.write("kernels.yaml", list);
    let words = ["matrix", "scenarios", "--kernels", "kernels.yaml"];
    let run = project.harness(&words);
    run.assert_status(99);
    for said in [
        "/notes` is no kernel of ",
        ": it should be a",
        "none (1 of 1 scenario broken): `false`, under which the harness was to run (`under`), \
         ended with status 1, and no word of the harness came\n",
    ] {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
    let vm = ["vm", "--kernels", "kernels.yaml", "-k", "notes", "true"];
    let run = project.harness(&vm);
    run.assert_status(125);
    assert!(run.stderr.contains("is no kernel of"), "{run:?}");
}

#[test]
fn what_cannot_be_written_is_a_usage_error_before_anything_runs() {
    let project = project();
    project.write("file", "x");
    for (name, said) in [
        ("m.doc", ".html"),
        ("m", ".html"),
        ("file/m.html", "cannot write `file/m.html`: "),
        ("scenarios", ".html"),
    ] {
        let run = project.harness(&[&MATRIX[..], &["--report", name]].concat());
        run.assert_status(2);
        assert!(run.stderr.contains(said), "{}", run.stderr);
        // No kernel has been asked.
        assert!(!run.stderr.contains("one:"), "{}", run.stderr);
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn an_interrupted_matrix_keeps_what_had_ended_and_reports_it_to_all_that_asked() {
    require!(right_to_trace());
    let project = project();
    let mut fifo = Fifo::new(&project.join("fifo"));
    let path = fifo.path();
    let endless = format!(
        "sandbox: {{ root: host }}\nworkload: {{ shell: \"echo here > '{path}'; exec sleep 1000\", timeout: 900s }}\n\
         snapshot: false"
    );
    project.scenario("endless", &endless);
    let files = [
        "--report", "m.html", "--report", "m.jsonl", "--report", "m.xml",
    ];
    let one_by_one = ["--guests", "1", "--jobs", "1"];
    let mut command = project.program(&[&MATRIX[..], &one_by_one, &files].concat());
    command.process_group(0);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.expect("the program");
    fifo.wait_for_lines(1);
    // As a terminal does: to all of its group.
    let group = Pid::from_raw(i32::try_from(child.id()).expect("a process"));
    killpg(group, Signal::SIGINT).expect("killpg");
    let run = Run::from(child.wait_with_output().expect("its end"));
    run.assert_status(130);
    assert!(
        run.stderr.contains("harness: interrupted"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("broken"), "{}", run.stderr);
    let said = "one: 2 of 3 scenarios had ended, two: 0 of 3 scenarios had ended";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let table: Vec<Vec<&str>> = run
        .stdout
        .lines()
        .take(4)
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        table,
        [
            ["scenario", "one", "two"],
            ["a", "pass", "interrupted"],
            ["b", "skipped", "interrupted"],
            ["endless", "interrupted", "interrupted"],
        ]
    );
    for file in ["m.html", "m.xml"] {
        let report = project.read(file);
        assert!(!report.contains("the run has not finished"), "{report}");
        assert!(report.contains("interrupted"), "{report}");
    }
    let lines = project.read("m.jsonl");
    let lines: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let of = |kind: &str, key: &str| -> Vec<String> {
        let found = lines.iter().filter(|line| line["type"] == kind);
        found.map(|line| line[key].to_string()).collect()
    };
    let (pass, skipped, broken) = ("\"pass\"", "\"skipped\"", "\"broken\"");
    assert_eq!(
        of("cell", "verdict"),
        [pass, broken, skipped, broken, broken, broken]
    );
    assert_eq!(of("kernel", "interrupted"), ["true", "true"]);
    // Two kernels that did not come to their end are not compared.
    assert_eq!(of("change", "what"), [""; 0]);
}

#[test]
fn what_does_not_end_when_asked_is_not_waited_for_and_not_left_behind() {
    require!(right_to_trace());
    let project = project();
    let mut fifo = Fifo::new(&project.join("fifo"));
    let stubborn = format!(
        "trap '' INT TERM\necho $$ > '{}'\nexec sleep 1000\n",
        fifo.path()
    );
    project.write("stubborn", &stubborn);
    let list = "one: host\ntwo: { host: true, under: [sh, ./stubborn] }\n";
    project.write("kernels.yaml", list);
    let options = ["--guests", "1", "--report", "m.jsonl"];
    let mut command = project.program(&[&MATRIX[..], &options].concat());
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.expect("the program");
    let stubborn = fifo.wait_for_lines(1).trim().parse().expect("a process");
    let stubborn = Watched::new(stubborn).expect("it lives");
    let harness = Pid::from_raw(i32::try_from(child.id()).expect("a process"));
    kill(harness, Signal::SIGTERM).expect("kill");
    let run = Run::from(child.wait_with_output().expect("its end"));
    run.assert_status(128 + 15);
    stubborn.wait();
    let table: Vec<Vec<&str>> = run
        .stdout
        .lines()
        .take(3)
        .map(|line| line.split_whitespace().collect())
        .collect();
    let one = [["scenario", "one", "two"], ["a", "pass", "interrupted"]];
    assert_eq!(table[..2], one);
    assert_eq!(table[2], ["b", "skipped", "interrupted"]);
    assert!(!project.read("m.jsonl").contains("unfinished"));
}

#[test]
fn a_scenario_that_is_wrong_is_told_before_any_kernel_is_asked() {
    let project = project();
    project.write("scenarios/c.yaml", "description: c\nworkload: { rum: x }\n");
    let run = project.harness(&MATRIX);
    run.assert_status(2);
    assert!(
        run.stderr.contains("scenarios/c.yaml:2:13"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("one:"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
}

#[test]
fn a_scenario_whose_file_changes_while_the_kernels_run_is_no_pass_on_any() {
    require!(right_to_trace());
    let project = project();
    let file = project.join("scenarios/it.yaml");
    let yaml = format!(
        "workload: {{ shell: \"echo '# more' >> '{}'\" }}\nsandbox: none\nsnapshot: false",
        file.display()
    );
    project.scenario("it", &yaml);
    let run = project.harness(&[&MATRIX[..], &["--format", "json"]].concat());
    run.assert_status(99);
    let lines = run.json();
    let of = |name: &str| -> Vec<&str> {
        let cells = lines.iter().filter(|line| line["type"] == "cell");
        let own = cells.filter(|line| line["scenario"] == name);
        own.map(|line| line["verdict"].as_str().expect("a verdict"))
            .collect()
    };
    assert_eq!(of("it"), ["broken", "broken"], "{run:?}");
    assert_eq!(of("a"), ["pass", "pass"], "{run:?}");
    assert!(
        run.stdout
            .contains("its file changed while the kernels ran"),
        "{run:?}"
    );
    project.assert_nothing_left();
}
