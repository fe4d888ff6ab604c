//! Regressions that are planted in guests: they are found, and put down to what was planted.

use super::{HARNESS, NEW, can_tell, text};
use std::path::Path;
use std::process::{Command, Output};

/// Refuses `openat2(2)` to what it executes.
const FILTER: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { 4, filter };
    if (argc < 2 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 99;
    execv(argv[1], argv + 1);
    return 98;
}
"#;

/// Opens a file as programs do that also run where there is no `openat2`.
const READER: &str = r#"
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
    struct open_how how = { .flags = O_RDONLY, .resolve = RESOLVE_NO_SYMLINKS };
    char byte = 0;
    int fd = syscall(SYS_openat2, AT_FDCWD, "file", &how, sizeof how);
    if (fd < 0)
        fd = syscall(SYS_openat, AT_FDCWD, "file", O_RDONLY);
    return read(fd, &byte, 1) != 1 || byte != 'x';
}
"#;

const READS: &str = "description: a program that opens by openat2
workload:
  run: [./reader]
  files: { reader: { from: ../reader, mode: \"0755\" }, file: x }
trace: { events: [{ syscalls: [openat2] }] }
expect: { exit: 0 }
";

/// In a folder that all users may write to, a link of another user is not followed, if the kernel
/// protects from that.
const FOLLOWS: &str = "description: a link in a folder of everybody's
workload:
  shell: |
    mkdir -m 1777 shared
    ln -s ../file shared/link
    chown -h 65534 shared/link
    exec cat shared/link
  files: { file: x }
trace: { events: [{ syscalls: [openat] }] }
snapshot: { levels: { cat: { level: sequence }, \"*\": { level: set } } }
expect: { exit: 1 }
";

fn compiled(folder: &Path, name: &str, source: &str) {
    let file = folder.join(format!("{name}.c"));
    std::fs::write(&file, source).expect("a file");
    let compiler = Command::new("cc")
        .arg("-O1")
        .arg("-o")
        .args([&folder.join(name), &file])
        .output()
        .expect("a compiler");
    assert!(compiler.status.success(), "{}", text(&compiler.stderr));
}

fn harness(folder: &Path, words: &[&str]) -> Output {
    Command::new(HARNESS)
        .args(words)
        .args(["--kernels", "kernels.yaml", "scenarios"])
        .current_dir(folder)
        .env_remove("CI")
        .env_remove("HARNESS_REQUIRE")
        .output()
        .expect("the harness runs")
}

#[test]
fn a_planted_regression_is_found_and_put_down_to_what_was_planted() {
    if !can_tell() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    compiled(at, "filter", FILTER);
    compiled(at, "reader", READER);
    std::fs::create_dir(at.join("scenarios")).expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(at.join(name), text).expect("a file");
    write("scenarios/reads.yaml", READS);
    write("scenarios/follows.yaml", FOLLOWS);
    // The same kernel, whatever is planted.
    assert_eq!(NEW, "6.1");
    write(
        "kernels.yaml",
        "plain: { suite: bookworm }\nfiltered: { suite: bookworm, under: [./filter] }\n\
         open: { suite: bookworm, append: sysctl.fs.protected_symlinks=0 }\n",
    );
    let accepted = harness(at, &["run", "--vm=plain", "--update"]);
    assert_eq!(
        accepted.status.code(),
        Some(0),
        "{}{}",
        text(&accepted.stdout),
        text(&accepted.stderr)
    );
    let matrix = ["matrix", "--format", "json", "--guests", "1"];
    let kernels = ["-k", "filtered", "-k", "plain", "-k", "open"];
    let output = harness(at, &[&matrix[..], &kernels].concat());
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{out}{said}");
    let mut changes = Vec::new();
    for line in out.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("an object");
        match line["type"].as_str() {
            Some("cell") => {
                let is_right = match line["scenario"].as_str() {
                    Some("reads") => line["kernel"] != "filtered",
                    _ => line["kernel"] != "open",
                };
                let verdict = if is_right { "pass" } else { "fail" };
                assert_eq!(line["verdict"], verdict, "{line}{said}");
            }
            Some("change") => changes.push(line),
            _ => {}
        }
    }
    let found: Vec<String> = changes
        .iter()
        .map(|change| {
            let word = |name: &str| change[name].as_str().unwrap_or_default().to_owned();
            format!(
                "{} to {}: {}: {}",
                word("from"),
                word("to"),
                word("class"),
                word("what")
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            "filtered to plain: environment: `openat2` returns a descriptor instead of -1 EPERM",
            "plain to open: environment: `openat` returns a descriptor instead of -1 EACCES",
        ],
        "{out}"
    );
    for (change, blamed) in changes.iter().zip([
        "Seccomp is 0 instead of 2",
        "fs.protected_symlinks is 0 instead of 1",
    ]) {
        let evidence = change["scenarios"][0]["evidence"].to_string();
        assert!(evidence.contains(blamed), "{evidence}");
    }
}
