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
fn a_program_that_executed_itself_is_known_in_a_recording_too() {
    require!(right_to_trace());
    let yaml = "\
workload: { run: [env, sh, -c, 'exec /proc/self/exe -c :'] }
trace: { events: [{ syscalls: [exit_group] }] }
expect: { confined: { programs: ['/usr/**', '/bin/**'] } }
snapshot: false
";
    let project = Project::with("it", yaml);
    let run = ["run", "--save", "saved", "scenarios"];
    project.harness(&run).assert_status(0);
    let again = ["run", "--from", "saved/it.data", "scenarios/it.yaml"];
    project.harness(&again).assert_status(0);
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

/// What a resolver sends: two messages by one call, by a socket that is connected.
const SENDS_SEVERAL: &str = "import ctypes, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((\"127.0.0.1\", 9))
name = ctypes.create_string_buffer(struct.pack(\"=H6B8x\", 2, 0, 10, 127, 0, 0, 1))
text = ctypes.create_string_buffer(b\"it\")
piece = ctypes.create_string_buffer(struct.pack(\"QQ\", ctypes.addressof(text), 2))
one = struct.pack(\"QQQQQQQQ\", NAME, 16, ctypes.addressof(piece), 1, 0, 0, 0, 0)
several = ctypes.create_string_buffer(one * 2)
ctypes.CDLL(None).sendmmsg(s.fileno(), several, 2, 0)
";

fn sends_several(name: &str) -> Project {
    let script = SENDS_SEVERAL.replace("NAME", name);
    let script: String = script
        .lines()
        .map(|line| format!("      {line}\n"))
        .collect();
    let yaml = format!(
        "workload:\n  run:\n  - python3\n  - -c\n  - |\n{script}\
         trace: {{ events: [{{ syscalls: [sendmmsg] }}] }}\n\
         expect: {{ confined: {{ network: [\"127.0.0.1:9\"] }} }}\n\
         snapshot: false\n"
    );
    Project::with("it", &yaml)
}

#[test]
fn messages_without_names_go_where_their_socket_is_connected_to() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = sends_several("0");
    project.harness(&["run", "scenarios"]).assert_status(0);
}

#[test]
fn where_a_message_of_several_goes_that_has_a_name_is_not_known() {
    require!(right_to_trace());
    require!(program("python3"));
    let run = sends_several("ctypes.addressof(name)").harness(&["run", "scenarios"]);
    run.assert_status(1);
    let said = "cannot be decided: what it was done to was not read";
    assert!(run.stdout.contains(said), "{}", run.stdout);
}

#[test]
fn a_message_goes_to_the_address_that_it_names() {
    require!(right_to_trace());
    require!(program("python3"));
    let yaml = |sends: &str, to: &str| {
        format!(
            "workload:\n  run:\n  - python3\n  - -c\n  - |\n    import os, socket as s\n    \
             u = s.socket(s.AF_UNIX, s.SOCK_DGRAM); u.bind('peer')\n    \
             os.symlink('peer', 'link')\n    \
             s.socket({sends}, s.SOCK_DGRAM).sendmsg([b'x'], [], 0, TO)\n\
             trace: {{ events: [{{ syscalls: [exit_group] }}] }}\n\
             expect: {{ confined: {{ network: [\"unix:peer\", \"{to}\"] }} }}\nsnapshot: false\n"
        )
    };
    for (family, address, allowed, other) in [
        (
            "s.AF_INET",
            "('127.0.0.1', 9)",
            "127.0.0.1:9",
            "127.0.0.1:10",
        ),
        ("s.AF_INET6", "('::1', 9)", "[::1]:9", "[::1]:10"),
        ("s.AF_UNIX", "'peer'", "unix:peer", "unix:peer"),
        ("s.AF_UNIX", "'link'", "unix:peer", "unix:peer"),
    ] {
        let yaml = |to| yaml(family, to).replace("TO", address);
        let project = Project::with("it", &yaml(allowed));
        let run = project.harness(&["run", "scenarios"]);
        assert_eq!(run.status, 0, "{address}: {}", run.stdout);
        if other != allowed {
            project.scenario("it", &yaml(other));
            let run = project.harness(&["run", "scenarios"]);
            run.assert_status(1);
            let said = format!("does not allow `{allowed}`");
            assert!(run.stdout.contains(&said), "{}", run.stdout);
        }
    }
}

#[test]
fn a_message_with_a_name_by_a_socket_of_netlink_reaches_netlink_alone() {
    require!(right_to_trace());
    require!(program("python3"));
    let yaml = "\
workload:
  run:
  - python3
  - -c
  - |
    import socket
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.sendmsg([bytes(16)], [], 0, (0, 0))
trace: { events: [{ syscalls: [sendmsg] }] }
expect: { confined: { network: [\"family:netlink\"] } }
snapshot: false
";
    let project = Project::with("it", yaml);
    project.harness(&["run", "scenarios"]).assert_status(0);
    project.scenario("it", &yaml.replace("family:netlink", "family:packet"));
    project.harness(&["run", "scenarios"]).assert_status(1);
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
