//! What goes into a guest, and who ends it.

use super::{HARNESS, NEW, can_tell, list, text};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

/// A command in a guest, with a pipe at each end.
fn started(command: &[&str]) -> Child {
    Command::new(HARNESS)
        .args(["vm", "--kernel", NEW, "--kernels"])
        .arg(list())
        .arg("--")
        .args(command)
        .env_remove("HARNESS_KERNEL")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the harness runs")
}

#[test]
fn what_is_piped_in_is_what_the_command_reads_to_its_end() {
    if !can_tell() {
        return;
    }
    // More than any pipe or port holds, and not the same in any two places of a page.
    let all: Vec<u8> = (0..2_000_003_u32).map(|n| (n % 251) as u8).collect();
    let mut child = started(&["cat"]);
    let mut input = child.stdin.take().expect("a pipe");
    let written = all.clone();
    let writer = std::thread::spawn(move || input.write_all(&written));
    let output = child.wait_with_output().expect("an end");
    writer.join().expect("no panic").expect("all of it taken");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(output.stdout == all, "{} bytes", output.stdout.len());
}

#[test]
fn a_command_that_reads_less_or_nothing_ends_with_its_input_open() {
    if !can_tell() {
        return;
    }
    let mut child = started(&["sh", "-c", "read -r line; echo \"got $line\""]);
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"one\ntwo\n").expect("room in a pipe");
    let mut out = String::new();
    let mut pipe = child.stdout.take().expect("a pipe");
    pipe.read_to_string(&mut out).expect("text");
    assert_eq!(out, "got one\n");
    assert_eq!(child.wait().expect("an end").code(), Some(0));
    drop(input);
}

#[test]
fn what_the_terminals_interrupt_asks_for_is_the_end_of_the_guest() {
    if !can_tell() {
        return;
    }
    let mut child = started(&["sh", "-c", "echo up; exec sleep 1000"]);
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    out.read_line(&mut line).expect("text");
    assert_eq!(line, "up\n");
    let threads = format!("/proc/{}/task", child.id());
    let children: Vec<String> = std::fs::read_dir(threads)
        .expect("threads")
        .flat_map(|thread| {
            let list = thread.expect("a thread").path().join("children");
            let list = std::fs::read_to_string(list).unwrap_or_default();
            list.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(children.len(), 1, "QEMU: {children:?}");
    let pid = i32::try_from(child.id()).expect("a pid");
    kill(Pid::from_raw(pid), Signal::SIGINT).expect("a signal");
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(125));
    let said = text(&output.stderr);
    assert!(said.contains("ended by a signal"), "{said}");
    let qemu = format!("/proc/{}", children[0]);
    assert!(!std::path::Path::new(&qemu).exists(), "{qemu}");
}

#[test]
fn a_guest_runs_the_harness_that_boots_it_where_its_file_was_removed() {
    if !can_tell() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("harness");
    std::fs::copy(HARNESS, &copy).expect("a copy");
    // As cargo does it, which may build the harness again while a guest is about to boot.
    let script = "exec 9<\"$0\"; rm \"$0\"; exec /proc/self/fd/9 vm --kernels \"$1\" --kernel \"$2\" -- uname -s";
    let output = Command::new("sh")
        .args(["-c", script])
        .args([copy.as_path(), &list()])
        .arg(NEW)
        .output()
        .expect("the shell runs");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(text(&output.stdout), "Linux\n");
}
