//! Clocks are sampled: what stands for a period is accounted for as such.

use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};
use serde_json::Value;

/// A program that computes for a while, with a clock that is sampled each millisecond of it.
const SAMPLED: &str = "workload: { run: [dd, if=/dev/zero, of=/dev/null, bs=1M, count=1000, status=none] }\n\
trace: { events: [{ event: cpu-clock, period: 1000000 }] }\n\
expect: { count: { cpu-clock: 1.. } }\nsnapshot: false";

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn samples_of_a_clock_stand_for_no_more_than_the_time_on_cpus() {
    require!(right_to_trace());
    let project = Project::with("x", SAMPLED);
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    run.assert_status(0);
    let lines = lines(&run.stdout);
    let (samples, cpu) = (&lines[0]["events"], &lines[0]["usage"]["cpu_us"]);
    let samples = samples.as_u64().expect("a number");
    let cpu = cpu.as_f64().unwrap_or_else(|| panic!("{}", run.stdout));
    assert!(samples > 0, "{}", run.stdout);
    assert!(samples as f64 <= cpu / 1000.0 + 1.0, "{}", run.stdout);
    project.assert_nothing_left();
}

#[test]
fn a_sample_says_where_the_program_was() {
    require!(right_to_trace());
    let project = Project::new();
    let run = project.harness(&[
        "trace",
        "--format",
        "json",
        "-e",
        "none,cpu-clock/freq=1000/",
        "--",
        "dd",
        "if=/dev/zero",
        "of=/dev/null",
        "bs=1M",
        "count=1000",
        "status=none",
    ]);
    run.assert_status(0);
    let lines = lines(&run.stderr);
    let (summary, samples) = lines.split_last().expect("a summary");
    assert_eq!(summary["complete"], true, "{summary}");
    assert!(!samples.is_empty());
    for sample in samples {
        assert_eq!(sample["name"], "software:cpu-clock", "{sample}");
        assert!(sample["fields"]["ip"].as_u64() > Some(0), "{sample}");
    }
}

#[test]
fn of_ten_faults_one_has_a_record() {
    require!(right_to_trace());
    let project = Project::with(
        "x",
        "workload: { run: [dd, if=/dev/zero, of=/dev/null, bs=4M, count=1, status=none] }\n\
         trace: { events: [{ event: minor-faults, period: 10 }, { count: page-faults }] }\n\
         expect: { count: { minor-faults: 100.., page-faults: 1024..=1300 } }\nsnapshot: false",
    );
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    run.assert_status(0);
    let events = lines(&run.stdout)[0]["events"].as_u64();
    assert!(events <= Some(130), "{}", run.stdout);
}

#[test]
fn what_is_absent_from_samples_is_not_known() {
    require!(right_to_trace());
    let run = |expect: &str| {
        let yaml = format!(
            "workload: {{ run: [\"true\"] }}\n\
             trace: {{ events: [{{ event: minor-faults, period: 100000 }}] }}\nexpect: {expect}\nsnapshot: false"
        );
        let project = Project::with("x", &yaml);
        project.harness(&["run", "scenarios"])
    };
    for expect in [
        "{ never: [{ minor-faults: {} }] }",
        "{ count: { minor-faults: ..=3 } }",
    ] {
        let run = run(expect);
        run.assert_status(1);
        assert!(
            run.stdout.contains("incomplete  x"),
            "{expect}: {}",
            run.stdout
        );
        assert!(
            run.stdout.contains("is sampled"),
            "{expect}: {}",
            run.stdout
        );
    }
}

#[test]
fn what_was_sampled_is_so_in_its_recording_too() {
    require!(right_to_trace());
    let project = Project::with("x", SAMPLED);
    let words = ["run", "--save", "kept", "scenarios"];
    project.harness(&words).assert_status(0);
    let from = ["run", "--from", "kept/x.data", "scenarios"];
    project.harness(&from).assert_status(0);
    let traced = project.harness(&["trace", "-i", "kept/x.data"]);
    traced.assert_status(0);
    let is_sample = |line: &&str| line.contains("software:cpu-clock ip=");
    let n_samples = traced
        .stderr
        .lines()
        .chain(traced.stdout.lines())
        .filter(is_sample);
    assert!(n_samples.count() > 0, "{}{}", traced.stdout, traced.stderr);
}

#[test]
fn a_clock_that_nobody_says_the_rate_of_is_refused() {
    require!(right_to_trace());
    let clock = "workload: { run: [ls] }\ntrace: { events: [openat: 1] }";
    let project = Project::with("x", &clock.replace("[openat: 1]", "[{ event: cpu-clock }]"));
    let run = project.harness(&["run", "scenarios"]);
    run.assert_status(2);
    for said in [
        "`software:cpu-clock` goes on all the time",
        "`freq: 1000` a second",
        "scenarios/x.yaml:3:",
    ] {
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    let run = project.harness(&["trace", "-e", "cpu-clock", "true"]);
    run.assert_status(125);
    assert!(
        run.stderr.contains("cpu-clock/freq=1000/"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_is_sampled_is_software_and_has_one_rate() {
    for (event, said) in [
        (
            "{ event: cpu-clock, freq: 9, period: 9 }",
            "exclude each other",
        ),
        (
            "{ event: 'sched:sched_switch', period: 9 }",
            "belong to an `event` of software",
        ),
        (
            "{ event: cpu-clock, freq: 9, ring: flight }",
            "nothing is overwritten",
        ),
    ] {
        let yaml = format!("workload: {{ run: [ls] }}\ntrace: {{ events: [{event}] }}");
        let run = Project::with("x", &yaml).harness(&["run", "scenarios"]);
        run.assert_status(2);
        assert!(run.stderr.contains(said), "{event}: {}", run.stderr);
    }
}
