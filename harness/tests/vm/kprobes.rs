//! Scenarios with kprobes, which the machine's own kernel may not have.

use super::{HARNESS, NEW, can_tell, list, text};
use std::path::Path;
use std::process::Command;

#[test]
fn scenarios_with_kprobes_pass_where_the_kernel_has_them() {
    if !can_tell() {
        return;
    }
    let output = Command::new(HARNESS)
        .args(["run", &format!("--vm={NEW}"), "--kernels"])
        .arg(list())
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vm/kprobes/scenarios"))
        .env("HARNESS_REQUIRE", "all")
        .env("CI", "1")
        .output()
        .expect("the harness runs");
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}{said}");
    assert!(out.contains("1 scenario: 1 pass"), "{out}{said}");
}
