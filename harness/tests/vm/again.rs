//! Guests that end late: when scenarios are run again, and when all have been told.

use super::{HARNESS, NEW, OLD, can_tell, list, text};
use std::process::Command;

/// Differs between the kernels; on the new one the second of the further runs is its last.
const PANICS: &str = "description: a test
workload:
  shell: |
    case $(uname -r) in 5.10.*) mkdir old; exit 0;; esac
    mkdir new
    if test -e /dev/shm/twice; then echo c > /proc/sysrq-trigger; fi
    if test -e /dev/shm/once; then touch /dev/shm/twice; fi
    touch /dev/shm/once
trace: { events: [{ syscalls: [mkdir] }] }
sandbox: none
snapshot: false
";

/// Tells that it has passed in the harness' place, as the harness does before the guest is over;
/// and ends the guest.
const IS_TOLD: &str = r#"description: a test
workload:
  shell: |
    for p in /proc/[0-9]*; do
      case $(tr '\0' ' ' < $p/cmdline) in *"/harness run "*)
        echo '{"type":"scenario","name":"it","verdict":"pass"}' > $p/fd/1;;
      esac
    done
    echo c > /proc/sysrq-trigger
sandbox: none
snapshot: false
"#;

/// The status of a matrix with one scenario, what it prints, and all that it says.
fn matrix(yaml: &str, kernels: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("it.yaml"), yaml).expect("a scenario");
    let kernels = kernels.iter().flat_map(|kernel| ["-k", kernel]);
    let output = Command::new(HARNESS)
        .args(["matrix", "--guests", "1", "--kernels"])
        .arg(list())
        .args(kernels)
        .arg(folder.path())
        .env_remove("HARNESS_REQUIRE")
        .output()
        .expect("the harness runs");
    let [out, said] = [&output.stdout, &output.stderr].map(|said| text(said));
    let all = format!("{out}{said}");
    (output.status.code(), out, all)
}

#[test]
fn a_scenario_that_ends_its_guest_when_it_is_run_again_is_no_pass() {
    if !can_tell() {
        return;
    }
    let (status, out, all) = matrix(PANICS, &[OLD, NEW]);
    assert_eq!(status, Some(99), "{all}");
    assert!(out.contains("pass or broken"), "{all}");
    let why = "the guest ended before its command did";
    assert!(out.contains(why), "{all}");
}

#[test]
fn a_guest_that_panics_when_all_scenarios_are_told_is_no_pass() {
    if !can_tell() {
        return;
    }
    let (status, out, all) = matrix(IS_TOLD, &[NEW]);
    assert_eq!(status, Some(99), "{all}");
    let why = "it was the last to end there, and then the guest ended before its command did";
    assert!(out.contains(why), "{all}");
}
