//! What a guest writes, and what is left of it.

use super::{HARNESS, NEW, can_tell, list, text, vm};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

#[test]
fn what_a_command_writes_stays_in_the_guest_but_for_what_was_allowed() {
    if !can_tell() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let allowed = folder.path().join("allowed");
    std::fs::create_dir(&allowed).expect("a folder");
    std::fs::write(folder.path().join("here"), "host").expect("a file");
    let at = folder.path().to_str().expect("text");
    let script = format!(
        "cd {at} && cat here && echo guest > here && cat here && echo kept > allowed/new && kill -9 $$"
    );
    let output = vm(
        NEW,
        &["--write", allowed.to_str().expect("text")],
        &["sh", "-c", &script],
    );
    assert_eq!(
        output.status.code(),
        Some(128 + 9),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(text(&output.stdout), "hostguest\n");
    let read = |path: PathBuf| std::fs::read_to_string(path).expect("a file");
    assert_eq!(read(folder.path().join("here")), "host");
    assert_eq!(read(allowed.join("new")), "kept\n");
    // What lay nowhere on the host would be lost with the guest.
    for nowhere in ["none", "here"] {
        let nowhere = folder.path().join(nowhere);
        let output = vm(
            NEW,
            &["--write", nowhere.to_str().expect("text")],
            &["true"],
        );
        assert_eq!(output.status.code(), Some(125));
        let said = "there is no such folder";
        assert!(text(&output.stderr).contains(said), "{output:?}");
    }
}

#[test]
fn a_harness_that_is_killed_leaves_no_file_of_its_guest() {
    if !can_tell() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut harness = Command::new(HARNESS)
        .args(["vm", "--kernel", NEW, "--kernels"])
        .arg(list())
        .args(["--", "sh", "-c", "echo up; sleep 1000"])
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the harness runs");
    let mut out = BufReader::new(harness.stdout.take().expect("a pipe"));
    let mut line = String::new();
    out.read_line(&mut line).expect("a line");
    assert_eq!(line, "up\n");
    harness.kill().expect("a kill");
    harness.wait().expect("an end");
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .expect("a folder")
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
