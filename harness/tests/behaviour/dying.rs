//! A harness that is killed or asked to end, at any moment, leaves nothing behind.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;
use perf_live::sandbox::WorldSpec;
use perf_live::sandbox::{World, launch};

use crate::cork::{own_world, workload};
use crate::support::fifo::Fifo;
use crate::support::oracle;
use crate::support::process::{self, Started, Watched};
use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

/// Tells the test below that it is the harness.
const ROLE: &str = "BEHAVIOUR_PARKS_IN";

/// Not a test by itself: what `a_killed_harness_leaves_no_parked_workload` starts and kills.
#[test]
#[ignore = "a part of another test, which runs it as a process of its own"]
fn parks_and_waits() {
    let world = match std::env::var(ROLE).as_deref() {
        Ok("host") => World::Host,
        Ok("namespace") => own_world(&WorldSpec::default()),
        _ => return,
    };
    let corked: Vec<_> = (0..5)
        .map(|_| launch(&workload(&["true"], &world)).expect("a cork"))
        .collect();
    let mut said = std::io::stdout().lock();
    for corked in &corked {
        writeln!(said, "parked {}", corked.pid()).expect("a reader");
    }
    said.flush().expect("a reader");
    loop {
        nix::unistd::pause();
    }
}

#[test]
fn a_killed_harness_leaves_no_parked_workload() {
    require!(right_to_trace());
    for world in ["host", "namespace"] {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args([
            "--ignored",
            "--exact",
            "dying::parks_and_waits",
            "--nocapture",
        ]);
        let mut harness = Started::new(command.env(ROLE, world).stdout(Stdio::piped()));
        let parked: Vec<Watched> = BufReader::new(harness.stdout())
            .lines()
            .filter_map(|line| line.expect("text").strip_prefix("parked ")?.parse().ok())
            .map(|pid| Watched::new(pid).expect("a parked process"))
            .take(5)
            .collect();
        assert_eq!(parked.len(), 5, "{world}");
        harness.end_by(Signal::SIGKILL);
        parked.iter().for_each(Watched::wait);
    }
}

/// A main process and a daemon of its making that hold the pipe and never end, not even by a
/// `SIGTERM`. Each says a line when it is so far.
fn endless(fifo: &Fifo) -> String {
    let (oracle, path) = (oracle::path(), fifo.path());
    format!(
        "sandbox: {{ root: host }}\nworkload:\n  shell: |\n    exec > '{path}'\n    setsid '{oracle}' ignore-sigterm &\n    \
         exec '{oracle}' ignore-sigterm\n  timeout: 60m"
    )
}

/// A run of the scenario `endless` that is so far that both its processes wait for ever.
fn started(project: &Project, arguments: &[&str]) -> (Started, Fifo) {
    let mut fifo = Fifo::new(&project.join("fifo"));
    project.scenario("endless", &endless(&fifo));
    let mut command = project.disposing("--default-signal", &["run"]);
    command.args(arguments).arg("scenarios");
    let harness = Started::new(command.stdout(Stdio::null()).stderr(Stdio::null()));
    fifo.wait_for_lines(2);
    (harness, fifo)
}

#[test]
fn a_hangup_that_is_ignored_as_by_nohup_ends_nothing() {
    require!(right_to_trace());
    let project = Project::new();
    let mut said = Fifo::new(&project.join("said"));
    let go = project.join("go");
    nix::unistd::mkfifo(&go, nix::sys::stat::Mode::S_IRWXU).expect("mkfifo");
    let yaml = format!(
        "sandbox: {{ root: host }}\nworkload: {{ shell: \"echo ready > '{}'; cat '{}'\" }}\n\
         expect: {{ exit: 0 }}\nsnapshot: false",
        said.path(),
        go.display()
    );
    project.scenario("waits", &yaml);
    let mut command = project.disposing("--ignore-signal=HUP", &["run", "scenarios"]);
    let mut harness = Started::new(command.stdout(Stdio::null()).stderr(Stdio::null()));
    said.wait_for_lines(1);
    let pid = nix::unistd::Pid::from_raw(harness.id().cast_signed());
    nix::sys::signal::kill(pid, Signal::SIGHUP).expect("kill");
    std::fs::write(&go, "").expect("a reader");
    assert_eq!(harness.wait(), 0);
}

#[test]
fn a_harness_killed_in_the_middle_of_a_run_leaves_no_process() {
    require!(right_to_trace());
    let project = Project::new();
    let (mut harness, mut fifo) = started(&project, &[]);
    assert!(
        process::all_in(project.path()).len() >= 3,
        "the harness and two of the workload"
    );
    assert_eq!(harness.end_by(Signal::SIGKILL), 137);
    fifo.wait_for_end();
    process::wait_for_all_in(project.path());
    assert_eq!(project.snapshots(), [""; 0], "nothing half-written");
}

#[test]
fn a_harness_that_is_asked_to_end_leaves_no_process_no_directory_and_no_snapshot() {
    require!(right_to_trace());
    let cases: [(Signal, &[&str]); 5] = [
        (Signal::SIGINT, &[]),
        (Signal::SIGHUP, &[]),
        (Signal::SIGTERM, &[]),
        (Signal::SIGTERM, &["--update"]),
        (Signal::SIGTERM, &["--repeat", "5"]),
    ];
    for (signal, arguments) in cases {
        let project = Project::new();
        project.write(
            "snapshots/endless.snap",
            "---\nsource: x\n---\nwhat was stored\n",
        );
        let before = project.files("snapshots");
        let (mut harness, mut fifo) = started(&project, arguments);
        let status = harness.end_by(signal);
        assert_eq!(
            status, 99,
            "{signal} {arguments:?}: an interrupted run is no verdict"
        );
        fifo.wait_for_end();
        project.assert_nothing_left();
        assert_eq!(project.files("snapshots"), before, "{signal} {arguments:?}");
    }
}

/// The kill falls where the harness happens to be between the end of one workload and the start of
/// the next: laying out, corking, opening, uncorking, reaping.
#[test]
fn a_harness_killed_between_two_workloads_leaves_no_process() {
    require!(right_to_trace());
    for round in 1..=20 {
        let project = Project::new();
        let mut fifo = Fifo::new(&project.join("fifo"));
        let yaml = format!(
            "sandbox: {{ root: host }}\nworkload: {{ shell: \"echo ran > '{}'\" }}\nsnapshot: false",
            fifo.path()
        );
        project.scenario("again", &yaml);
        let mut command = project.program(&["run", "--repeat", "100000", "scenarios"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        // Kept open, so that the end of one workload is not the end of the pipe.
        let kept = File::options()
            .write(true)
            .open(fifo.path())
            .expect("the pipe");
        let mut harness = Started::new(&mut command);
        fifo.wait_for_lines(round);
        assert_eq!(harness.end_by(Signal::SIGKILL), 137);
        process::wait_for_all_in(project.path());
        drop(kept);
    }
}

#[test]
fn a_signal_to_trace_reaches_the_command_and_its_end_is_the_status() {
    require!(right_to_trace());
    for (signal, status) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130)] {
        let project = Project::new();
        let mut fifo = Fifo::new(&project.join("fifo"));
        let script = format!("exec > '{}'; echo ready; exec sleep infinity", fifo.path());
        let words = ["trace", "--format", "json", "-o", "trace"];
        let mut command = project.disposing("--default-signal", &words);
        let mut harness = Started::new(command.args(["sh", "-c", &script]));
        fifo.wait_for_lines(1);
        assert_eq!(harness.end_by(signal), status);
        let ended = format!("\"exit\":{{\"signal\":\"{signal}\"}}}}");
        assert!(
            project.read("trace").trim_end().ends_with(&ended),
            "{}",
            project.read("trace")
        );
        project.assert_nothing_left();
    }
}

/// As a person has it who traces a program that daemonises and has seen enough.
#[test]
fn a_signal_after_the_end_of_the_command_leaves_alone_what_it_left_behind() {
    require!(right_to_trace());
    let project = Project::new();
    let mut fifo = Fifo::new(&project.join("fifo"));
    let (path, oracle) = (fifo.path(), oracle::path());
    let script =
        format!("exec > '{path}'; setsid '{oracle}' ignore-sigterm & echo main $$; exit 5");
    let mut command = project.program(&["trace", "-o", "trace", "sh", "-c", &script]);
    let mut harness = Started::new(command.stderr(Stdio::null()));
    let said = fifo.wait_for_lines(2).replace("ready pid=", "daemon ");
    let pid = |start: &str| {
        let pid = said
            .lines()
            .find_map(|line| line.strip_prefix(start)?.parse().ok());
        Watched::new(pid.expect("a pid"))
    };
    if let Some(main) = pid("main ") {
        main.wait_until_reaped();
    }
    let daemon = pid("daemon ").expect("the daemon");
    assert_eq!(harness.end_by(Signal::SIGINT), 5);
    assert!(
        !daemon.ends_within(Duration::ZERO),
        "the daemon was ended too"
    );
    daemon.kill();
    project.assert_nothing_left();
}
