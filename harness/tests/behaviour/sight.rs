//! What the events of a workload do not see is never taken for absence: each of these was once a pass.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// The verdict on a scenario, and its first reason.
fn verdict(yaml: &str) -> (String, String) {
    let project = Project::with("it", yaml);
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    let verdict = run.verdicts()["it"].clone();
    project.assert_nothing_left();
    verdict
}

/// Held by the tests that make control groups: each looks at all that there are.
static GROUPS: Mutex<()> = Mutex::new(());

/// The groups of the harness that are there, where the version 2 hierarchy is mounted.
fn groups() -> Vec<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/mounts").expect("procfs");
    let mounted = mounts.lines().find_map(|line| {
        let mut words = line.split(' ');
        let point = words.nth(1)?;
        (words.next()? == "cgroup2").then(|| point.to_owned())
    });
    let entries = mounted
        .map(std::fs::read_dir)
        .into_iter()
        .flatten()
        .flatten()
        .flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .filter(|path| path.to_string_lossy().contains("/harness-"))
        .collect()
}

#[test]
fn a_set_user_id_program_of_another_user_makes_the_run_incomplete() {
    require!(right_to_trace());
    require!(program("su"));
    let (verdict, reason) = verdict(
        "workload:\n  run: [setpriv, --reuid=65534, --regid=65534, --clear-groups, su, --help]\n\
         trace: { events: [{ syscalls: [write] }] }\nsnapshot: false",
    );
    assert_eq!(verdict, "incomplete", "{reason}");
    assert!(reason.contains("set-user-ID"), "{reason}");
}

#[test]
fn a_workload_that_leaves_its_control_group_makes_the_run_incomplete_and_leaves_none_behind() {
    require!(right_to_trace());
    let _alone = GROUPS.lock();
    let before = groups();
    // The root of the hierarchy takes every process.
    let script = "open M, '/proc/mounts'; my ($m) = map { (split)[1] } grep { (split)[2] eq 'cgroup2' } <M>; \
                  open F, qq{>$m/cgroup.procs} or die; print F $$; close F or die; mkdir 'a'; rmdir 'a'";
    let yaml = format!(
        "workload:\n  run: [perl, -e, {script:?}]\ntrace: {{ events: [\"sched:sched_process_exit\", {{ syscalls: [mkdir, rmdir] }}] }}\n\
         snapshot: false\nexpect: {{ count: {{ rmdir: 1 }} }}"
    );
    let (verdict, reason) = verdict(&yaml);
    assert_eq!(verdict, "incomplete", "{reason}");
    assert!(reason.contains("control group"), "{reason}");
    assert_eq!(groups(), before);
}

#[test]
fn the_end_of_a_process_is_seen_on_every_kernel_and_its_control_group_is_removed() {
    require!(right_to_trace());
    let _alone = GROUPS.lock();
    let before = groups();
    let (verdict, reason) = verdict(
        "workload: { shell: \"true & wait\" }\ntrace: { events: [\"sched:sched_process_exit\"] }\nsnapshot: false\n\
         expect: { count: { \"sched:sched_process_exit\": 2 } }",
    );
    assert_eq!(verdict, "pass", "{reason}");
    assert_eq!(groups(), before);
}

#[test]
fn a_harness_whose_parent_ignores_the_end_of_children_still_learns_of_its_own() {
    require!(right_to_trace());
    let project = Project::new();
    let perl = [
        "-e",
        "$SIG{CHLD} = 'IGNORE'; exec @ARGV or die",
        env!("CARGO_BIN_EXE_harness"),
    ];
    let mut command = project.command("perl");
    command
        .args(perl)
        .args(["trace", "-o", "trace", "sh", "-c", "exit 3"]);
    command.process_group(0);
    let status = command.status().expect("perl runs");
    assert_eq!(status.code(), Some(3));
    assert!(Path::new(&project.join("trace")).exists());
}
