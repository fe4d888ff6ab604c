//! The examples of the reference, scenarios/README.md.

use std::fs;
use std::process::Command;

use crate::followed::whole;
use crate::{HARNESS, cannot_trace, read};

/// That it can be used is more than that it can be read: its events are there, and they have its
/// fields.
#[test]
fn every_example_of_the_reference_can_be_used() {
    if let Some(why) = cannot_trace() {
        return crate::skip(&why);
    }
    let reference = read("scenarios/README.md");
    let examples = reference.split("```yaml\n").skip(1);
    let examples = examples.map(|rest| rest.split("```\n").next().unwrap_or_default());
    // Only root can run a workload as another user.
    let is_root = nix::unistd::geteuid().is_root();
    let examples = examples.filter(|example| is_root || !example.contains("user:"));
    let place = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = place.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    write("scenarios/workloads/save.py", "");
    let mut number = 0;
    for example in examples {
        number += 1;
        write(&format!("scenarios/{number:02}.yaml"), &whole(example));
    }
    assert!(number > 15, "the examples are found");
    let mut run = Command::new(HARNESS);
    let output = run.args(["run", "scenarios"]).current_dir(&place).output();
    let output = output.expect("the program");
    let said = String::from_utf8_lossy(&output.stderr);
    // Most of them run programs that there are not.
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(!said.contains("cannot be used"), "{said}");
}
