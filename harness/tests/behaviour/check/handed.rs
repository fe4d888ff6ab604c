//! What a command is handed open, and what it has the kernel do later: no call of it says so.

use super::{Project, done, ruled, summary};
use crate::support::oracle;
use crate::support::project::Run;
use crate::support::require::{self, program, require, right_to_trace};
use perf_live::host::Host;
use serde_json::Value;
use std::net::TcpListener;

const HARNESS: &str = env!("CARGO_BIN_EXE_harness");

/// Holds a command to rules that a shell starts with these descriptors.
fn handed(project: &Project, redirection: &str) -> Run {
    let shell = format!("{HARNESS} check rules.yaml -- true {redirection}");
    project.run(&[], &["bash", "-c", &shell])
}

/// States what the same command did.
fn stated(project: &Project, redirection: &str) -> Vec<Value> {
    let shell = format!("{HARNESS} check --format json -o stated -- true {redirection}");
    project.run(&[], &["bash", "-c", &shell]);
    let text = project.read("stated");
    let line = |line| serde_json::from_str(line).expect("a line of JSON");
    text.lines().map(line).collect()
}

#[test]
fn a_file_that_the_command_is_handed_open_for_writing_takes_a_rule() {
    require!(right_to_trace());
    let project = ruled("expect: { confined: { writes: [] } }\n");
    let run = handed(&project, "5>>given");
    run.assert_status(1);
    let said = "was handed descriptor 5, open for writing `given`";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    handed(&project, "5<rules.yaml").assert_status(0);
    // Where the streams go is the caller's choice, which a statement tells.
    handed(&project, ">out").assert_status(0);
    assert_eq!(
        done(&stated(&project, "5>>given >out"), "handed"),
        ["given", "out"]
    );
    project.write("rules.yaml", "expect: { confined: { writes: [given] } }\n");
    handed(&project, "5>>given").assert_status(0);
}

#[test]
fn a_file_outside_that_the_command_is_handed_for_reading_takes_a_rule() {
    require!(right_to_trace());
    let project = ruled("expect: { confined: { reads: [] } }\n");
    let run = handed(&project, "5</etc/passwd");
    run.assert_status(1);
    let said = "was handed descriptor 5, open for reading `/etc/passwd`";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    handed(&project, "5<rules.yaml").assert_status(0);
    let lines = stated(&project, "5</etc/passwd 6<rules.yaml");
    assert_eq!(done(&lines, "handed"), ["/etc/passwd"]);
}

#[test]
fn a_socket_that_the_command_is_handed_takes_a_rule_for_its_peer() {
    require!(right_to_trace());
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let connection = format!("5<>/dev/tcp/127.0.0.1/{}", address.port());
    let project = ruled("expect: { confined: { network: [] } }\n");
    let run = handed(&project, &connection);
    run.assert_status(1);
    let said = format!("was handed descriptor 5, a socket of `{address}`");
    assert!(run.stderr.contains(&said), "{}", run.stderr);
    let lines = stated(&project, &connection);
    assert_eq!(done(&lines, "handed"), [address.to_string()]);
    // Also where it is standard input.
    handed(&project, &connection.replace('5', "0")).assert_status(1);
    let rules = "expect: { confined: { network: [\"127.0.0.1:*\"] } }\n";
    project.write("rules.yaml", rules);
    handed(&project, &connection).assert_status(0);
}

#[test]
fn a_socket_whose_other_side_has_no_name_is_never_a_pass() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = ruled("expect: { confined: { network: [\"*:*\"] } }\n");
    let script = "import socket, subprocess, sys\n\
                  a, b = socket.socketpair()\n\
                  sys.exit(subprocess.run(sys.argv[1:], pass_fds=[b.fileno()]).returncode)";
    let checked = |words: &[&str]| {
        let words = [
            &["python3", "-c", script, HARNESS, "check"],
            words,
            &["--", "true"],
        ]
        .concat();
        project.run(&[], &words)
    };
    let run = checked(&["rules.yaml"]);
    run.assert_status(1);
    assert!(run.stderr.contains("incomplete"), "{}", run.stderr);
    assert!(
        run.stderr.contains("other side has no name"),
        "{}",
        run.stderr
    );
    checked(&[]).assert_status(125);
}

#[test]
fn a_file_whose_signals_go_to_a_process_outside_is_a_signal_to_it() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let own = |pid: &str| {
        let script = format!(
            "import fcntl, os\n\
             a, b = os.pipe()\n\
             fcntl.fcntl(a, fcntl.F_SETOWN, {pid})"
        );
        project.write("it.py", &script);
        project.stated("exec python3 -I -S it.py")
    };
    let lines = own("os.getppid()");
    let signalled = done(&lines, "signalled");
    assert_eq!(signalled, ["a signal by F_SETOWN to a process outside"]);
    assert_eq!(summary(&lines)["complete"], true, "{lines:?}");
    for pid in ["os.getpid()", "0"] {
        assert_eq!(done(&own(pid), "signalled"), [""; 0]);
    }
}

#[test]
fn a_socket_whose_signals_go_to_a_process_by_an_ioctl_is_a_signal_that_is_not_known() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    for (request, number) in [("FIOSETOWN", 0x8901), ("SIOCSPGRP", 0x8902)] {
        let script = format!(
            "import fcntl, os, socket, struct\n\
             fcntl.ioctl(socket.socketpair()[0], {number}, struct.pack('i', os.getppid()))"
        );
        project.write("it.py", &script);
        let lines = project.stated("exec python3 -I -S it.py");
        let signalled = done(&lines, "signalled");
        assert_eq!(signalled, [format!("a signal by {request} to a process")]);
        assert_eq!(summary(&lines)["complete"], false, "{lines:?}");
    }
}

#[test]
fn what_an_io_uring_did_to_no_name_is_known_and_what_it_may_have_done_to_one_is_not() {
    require!(right_to_trace());
    if Host::running().io_uring_disabled() == Some(2) {
        return require::skip("kernel.io_uring_disabled forbids io_uring");
    }
    let project = Project::new();
    let lines = project.stated(&format!("{} pending-io-uring", oracle::example("hostile")));
    assert_eq!(summary(&lines)["complete"], true, "{lines:?}");
    let lines = project.stated(&format!("{} io-uring > /dev/null", oracle::path()));
    let summary = summary(&lines);
    assert_eq!(summary["complete"], false, "{summary}");
    let reasons = summary["reasons"].to_string();
    let said = "`io_uring:IORING_OP_OPENAT` was submitted, which may do what `";
    assert!(reasons.contains(said), "{reasons}");
    assert!(!reasons.contains("trace.events"), "{reasons}");
}
