//! `harness matrix --update`: snapshots of several kernels in one go.

use super::{HARNESS, NEW, OLD, can_tell, list, text};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Makes a folder that has another name on the old kernel.
const DIFFERS: &str = "description: a folder by the kernel's name\n\
workload: { run: [sh, -c, \"case $(uname -r) in 5.*) mkdir old;; *) mkdir new;; esac\"] }\n\
trace: { events: [{ syscalls: [mkdir] }] }\n";
const SAME: &str = "description: one folder\nworkload: { run: [mkdir, made] }\n\
trace: { events: [{ syscalls: [mkdir] }] }\n";

fn matrix(folder: &Path, options: &[&str]) -> Output {
    Command::new(HARNESS)
        .args(["matrix", "--guests", "1", "-k", OLD, "-k", NEW, "--kernels"])
        .arg(list())
        .args(options)
        .arg(folder.join("scenarios"))
        .env_remove("HARNESS_REQUIRE")
        .env_remove("CI")
        .output()
        .expect("the harness runs")
}

fn files(folder: &Path) -> Vec<String> {
    let below = std::fs::read_dir(folder.join("snapshots")).expect("snapshots");
    let name = |path: PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.expect("a name").to_owned()
    };
    let mut all: Vec<String> = below
        .map(|entry| name(entry.expect("an entry").path()))
        .collect();
    all.sort();
    all
}

#[test]
fn one_snapshot_for_what_is_the_same_variants_for_what_is_not_and_others_are_left_alone() {
    if !can_tell() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let at = |name: &str| folder.join(name);
    let read = |name: &str| std::fs::read_to_string(at(name)).expect("a file");
    for name in ["scenarios", "snapshots"] {
        std::fs::create_dir(at(name)).expect("a folder");
    }
    for (name, yaml) in [("differs", DIFFERS), ("same", SAME)] {
        std::fs::write(at(&format!("scenarios/{name}.yaml")), yaml).expect("a file");
    }
    let nowhere = "---\nsource: x\n---\n# trace 2, level sequence\n\nP1 nobody\n";
    // A kernel of another version, and one of these whose answer has become that of all.
    for name in ["same@3.2.snap", "same@5.10.snap"] {
        std::fs::write(at(&format!("snapshots/{name}")), nowhere).expect("a file");
    }
    let output = matrix(folder, &["--update"]);
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}{said}");
    assert_eq!(
        files(folder),
        [
            "differs.snap",
            "differs@5.10.snap",
            "same.snap",
            "same@3.2.snap"
        ],
        "{said}"
    );
    assert!(read("snapshots/differs.snap").contains("mkdir(\"new\""));
    assert!(read("snapshots/differs@5.10.snap").contains("mkdir(\"old\""));
    assert_eq!(read("snapshots/same@3.2.snap"), nowhere);
    assert!(said.contains("removed, as it says what"), "{said}");
    // They are what a run on either compares with.
    let output = matrix(folder, &[]);
    let (out, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}{said}");
}
