//! What the program needs of the machine: it gets at tracefs by itself, and says which right it
//! lacks.

use super::PASSES;
use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_of_users, right_to_trace};
use serde_json::Value;

const OPENS: &str = "workload: { run: [cat, a], files: { a: x } }
trace: { events: [{ syscalls: [openat] }] }
expect: { sequence: [{ openat: { path: a } }] }
snapshot: false";

/// Runs a copy of the program that all users may read, as the user nobody.
fn as_nobody(project: &Project, arguments: &[&str]) -> Run {
    as_nobody_with(project, &[], arguments)
}

fn as_nobody_with(project: &Project, environment: &[(&str, &str)], arguments: &[&str]) -> Run {
    project.copy_program(env!("CARGO_BIN_EXE_harness"), "program");
    project.open_to_everybody("program");
    let nobody = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "./program",
    ];
    project.run(environment, &[&nobody[..], arguments].concat())
}

/// One message and one remedy on stderr.
fn assert_says_what_is_missing(run: &Run) {
    let lines: Vec<&str> = run.stderr.lines().collect();
    let [message, hint] = lines.as_slice() else {
        panic!("not one message: {}", run.stderr)
    };
    assert!(message.starts_with("harness: "), "{message}");
    let names_it = ["tracefs", "raw_syscalls:sys_enter"]
        .iter()
        .any(|what| message.contains(what));
    let why = ["operation not permitted", "permission denied"];
    assert!(
        names_it && why.iter().any(|why| message.ends_with(why)),
        "{message}"
    );
    assert!(hint.starts_with("hint: run as root"), "{hint}");
    // Every stock distribution closes tracefs to ordinary users: this is what they read first.
    assert!(hint.contains("harness run --vm"), "{hint}");
}

/// A machine or a user that lacks something skips scenarios, and nothing is green that did not run.
#[test]
fn without_the_right_to_trace_run_and_trace_say_so_once() {
    require!(right_to_trace());
    require!(program("setpriv"));
    let project = Project::new();
    for name in ["a", "b", "c"] {
        project.scenario(name, PASSES);
    }
    // Without tracefs it is not known what fields the call has.
    project.scenario("fields", OPENS);
    let run = as_nobody(&project, &["run", "scenarios"]);
    run.assert_status(77);
    assert_says_what_is_missing(&run);
    for name in ["a", "b", "c", "fields"] {
        // As it is mounted here or not.
        let is_skipped = ["cannot ", "tracefs is not mounted"].iter().any(|why| {
            let skipped = format!("skipped  {name}: needs the right to trace: {why}");
            run.stdout.contains(&skipped)
        });
        assert!(is_skipped, "{}", run.stdout);
    }
    assert!(
        run.stdout.ends_with("4 scenarios: 4 skipped\n"),
        "{}",
        run.stdout
    );
    let run = as_nobody(&project, &["run", "--format", "json", "scenarios"]);
    run.assert_status(77);
    assert_says_what_is_missing(&run);
    let lines = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    for line in lines.iter().filter(|line| line["type"] == "scenario") {
        assert_eq!(line["verdict"], "skipped", "{line}");
        assert_eq!(line["findings"][0]["kind"], "unmet", "{line}");
    }
    let require = [("HARNESS_REQUIRE", "all")];
    let run = as_nobody_with(&project, &require, &["run", "scenarios"]);
    run.assert_status(1);
    assert!(
        run.stdout.ends_with("4 scenarios: 4 fail\n"),
        "{}",
        run.stdout
    );
    let run = as_nobody(&project, &["sweep", "scenarios/fields.yaml"]);
    run.assert_status(77);
    let run = as_nobody(&project, &["trace", "true"]);
    run.assert_status(125);
    assert_eq!(run.stdout, "");
    assert_says_what_is_missing(&run);
    project.assert_nothing_left();
}

#[test]
fn what_cannot_be_tried_without_the_right_to_trace_is_skipped_or_where_all_is_required_fails() {
    require!(right_to_trace());
    require!(program("setpriv"));
    let project = Project::new();
    project.scenario("opens", OPENS);
    project.write("rules.yaml", "expect: { confined: { network: [] } }\n");
    let required = [("HARNESS_REQUIRE", "all")];
    for words in [
        &["check", "rules.yaml", "--", "true"][..],
        &["new", "true", "--", "true"],
        &["calibrate", "scenarios/opens.yaml"],
        &["sweep", "scenarios/opens.yaml"],
    ] {
        as_nobody(&project, words).assert_status(77);
        as_nobody_with(&project, &required, words).assert_status(1);
    }
    // A statement is never what a skip is.
    as_nobody(&project, &["check", "--", "true"]).assert_status(125);
    project.write("rules.yaml", "expect: { confined: { netwrk: [] } }\n");
    let wrong = ["check", "rules.yaml", "--", "true"];
    as_nobody(&project, &wrong).assert_status(2);
    project.assert_nothing_left();
}

/// Runs the program as root with these capabilities alone.
fn with_rights(
    project: &Project,
    environment: &[(&str, &str)],
    rights: &str,
    arguments: &[&str],
) -> Run {
    let inherited = format!("--inh-caps=-all,{rights}");
    let bound = format!("--bounding-set=-all,{rights}");
    let program = env!("CARGO_BIN_EXE_harness");
    // Without the right to mount it, it takes one that is there.
    let mounts = "mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null; exec \"$0\" \"$@\"";
    let words = ["unshare", "--mount", "sh", "-c", mounts];
    let setpriv = ["setpriv", &inherited, &bound, program];
    project.run(environment, &[&words[..], &setpriv, arguments].concat())
}

#[test]
fn a_scenario_that_no_sandbox_can_be_made_for_is_skipped_by_each_command_that_runs_it() {
    require!(right_to_trace());
    require!(right_of_users());
    require!(program("setpriv"));
    require!(program("unshare"));
    let project = Project::with("opens", OPENS);
    let crash = "description: it
workload: { shell: echo x > a && sync a }
crash: { model: posix, recovers: { run: [\"true\"] } }
snapshot: false";
    project.write("crash.yaml", crash);
    let opens = "scenarios/opens.yaml";
    let run = |environment: &[(&str, &str)], words: &[&str]| {
        with_rights(&project, environment, "+perfmon,+bpf", words)
    };
    // Before Linux 5.12 a sandbox takes no such right.
    if run(&[], &["run", opens]).status != 77 {
        return;
    }
    for words in [
        &["run", opens][..],
        &["mutate", opens],
        &["sweep", opens],
        &["calibrate", "-n", "2", "--dry-run", opens],
        &["crash", "crash.yaml"],
        &["new", "true", "--", "true"],
    ] {
        let skipped = run(&[], words);
        skipped.assert_status(77);
        let said = format!("{}{}", skipped.stdout, skipped.stderr);
        let why = "needs the right to make a sandbox: ";
        assert!(said.contains(why), "{words:?}: {said}");
        assert!(said.contains("add CAP_SETFCAP"), "{words:?}: {said}");
        run(&[("HARNESS_REQUIRE", "all")], words).assert_status(1);
    }
    project.assert_nothing_left();
}

/// Root has its name there and some capabilities, as in a container.
#[test]
fn root_without_roots_rights_runs_scenarios_as_an_ordinary_user_does() {
    require!(right_to_trace());
    require!(right_of_users());
    require!(program("setpriv"));
    require!(program("unshare"));
    let project = Project::with("opens", OPENS);
    project.scenario(
        "user",
        "workload: { run: [\"true\"] }\nsandbox: { user: nobody }\nsnapshot: false",
    );
    // Its id is that of the machine's root, by which the kernel guards these files.
    project.scenario(
        "guarded",
        "workload:
  shell: |
    for file in /proc/sys /proc / /usr; do mount -o remount,bind,rw $file; done 2>/dev/null
    cat /proc/sys/vm/swappiness > /proc/sys/vm/swappiness && echo written
    touch /usr/written && echo written
expect: { stdout: \"\", exit: 1 }
snapshot: false",
    );
    let run_with = |rights, arguments: &[&str]| with_rights(&project, &[], rights, arguments);
    // Since Linux 5.12 root's id is in a user namespace only by a right to it.
    let doctor = run_with("+perfmon,+bpf", &["doctor"]);
    if doctor.status != 0 {
        assert!(
            doctor.stdout.contains("remedy: add CAP_SETFCAP"),
            "{}",
            doctor.stdout
        );
        // The gate lacks nothing but a sandbox to be tried in.
        assert!(
            !doctor.stdout.contains("CONFIG_SECCOMP_FILTER"),
            "{}",
            doctor.stdout
        );
        let skips = run_with("+perfmon,+bpf", &["run", "scenarios"]);
        skips.assert_status(77);
        let why = "skipped  opens: needs the right to make a sandbox: ";
        assert!(skips.stdout.contains(why), "{}", skips.stdout);
        assert!(
            skips.stdout.contains("(hint: add CAP_SETFCAP"),
            "{}",
            skips.stdout
        );
    }
    // On the bare host no sandbox is needed.
    project.write("rules.yaml", "expect: { confined: { writes: [made] } }\n");
    let check = |path: &str| {
        let words = ["check", "rules.yaml", "--", "touch", path];
        run_with("+perfmon,+bpf", &words)
    };
    check("made").assert_status(0);
    let other = check("other");
    other.assert_status(1);
    assert!(
        other.stderr.contains("does not allow `other`"),
        "{}",
        other.stderr
    );
    let run = |arguments: &[&str]| run_with("+perfmon,+bpf,+setfcap", arguments);
    let doctor = run(&["doctor"]);
    assert!(
        doctor
            .stdout
            .contains("rights: root's name without root's rights"),
        "{}",
        doctor.stdout
    );
    assert!(
        doctor.stdout.ends_with("scenarios can run here\n"),
        "{}",
        doctor.stdout
    );
    let run = run(&["run", "scenarios"]);
    run.assert_status(0);
    for name in ["opens", "guarded"] {
        assert!(
            run.stdout.contains(&format!("pass  {name}  (")),
            "{}",
            run.stdout
        );
    }
    let skipped = "skipped  user: needs root, to run the workload as another user";
    assert!(run.stdout.contains(skipped), "{}", run.stdout);
    project.assert_nothing_left();
}

/// A fresh machine, as a mount namespace in which neither tracefs nor debugfs is mounted.
#[test]
fn tracefs_that_is_not_mounted_is_got_at_and_stays_unmounted() {
    require!(right_to_trace());
    require!(program("unshare"));
    let project = Project::with("a", PASSES);
    let script = "set -e
        for kind in tracefs debugfs; do
            while grep -q \" $kind \" /proc/mounts; do
                umount -l \"$(grep -m 1 \" $kind \" /proc/mounts | cut -d ' ' -f 2)\"
            done
        done
        cat /proc/self/mountinfo > before
        \"$0\" run scenarios
        \"$0\" trace -o trace -e sched:sched_process_exec true
        cat /proc/self/mountinfo > after";
    let words = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        script,
        env!("CARGO_BIN_EXE_harness"),
    ];
    project.run(&[], &words).assert_status(0);
    assert!(
        !project.read("before").contains("tracefs"),
        "a fresh machine"
    );
    assert_eq!(project.read("before"), project.read("after"));
    let trace = project.read("trace");
    assert!(
        trace.contains(" sched:sched_process_exec filename="),
        "{trace}"
    );
    project.assert_nothing_left();
}

/// As a user has it whose tracefs is mounted, for root alone.
#[test]
fn a_mounted_tracefs_serves_root_and_is_named_to_others() {
    require!(right_to_trace());
    require!(program("unshare"));
    require!(program("setpriv"));
    let project = Project::with("a", PASSES);
    // In a namespace of its own, and from scratch, as others may have mounted it.
    let script = "umount /sys/kernel/tracing 2>/dev/null
        mount -t tracefs nodev /sys/kernel/tracing || exit 3
        \"$0\" run scenarios >&2 || exit 4
        exec setpriv --reuid=65534 --regid=65534 --clear-groups ./program run scenarios";
    // For the copy.
    as_nobody(&project, &["--version"]).assert_status(0);
    let words = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        script,
        env!("CARGO_BIN_EXE_harness"),
    ];
    let run = project.run(&[], &words);
    run.assert_status(77);
    let (_, message) = run
        .stderr
        .split_once("1 scenario: 1 pass\n")
        .expect("root's report");
    let expected = "harness: cannot read tracefs at `/sys/kernel/tracing`: permission denied\n\
                    hint: run as root";
    assert!(message.starts_with(expected), "{message}");
}

/// What there was too little of for a moment is no lack of the machine: beside others that pass, a
/// skip would end with status 0.
#[test]
fn a_scenario_is_not_skipped_for_want_of_memory_or_files() {
    require!(right_to_trace());
    let project = Project::new();
    project.scenario("opens", OPENS);
    let run = |suite: &[&str]| {
        let program = env!("CARGO_BIN_EXE_harness");
        let inject = ["-e", "bpf", "-e", "inject=bpf:error=ENOMEM", "--", program];
        let trace = ["trace", "-o", "/dev/null"];
        project.harness(&[&trace[..], &inject, suite].concat())
    };
    let of_suite = run(&["run", "scenarios"]);
    of_suite.assert_status(99);
    assert_eq!(of_suite.stdout, "");
    let why = "(bpf(2)): out of memory\n";
    assert!(of_suite.stderr.ends_with(why), "{}", of_suite.stderr);
    project.write("rules.yaml", "expect: { exit: 0 }\n");
    run(&["check", "rules.yaml", "--", "true"]).assert_status(99);
}
