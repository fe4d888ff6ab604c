//! `harness matrix --save`: what a policy is made of for several kernels.

use super::{HARNESS, NEW, OLD, can_tell, harness, list, text};
use std::path::Path;
use std::process::{Command, Output};

/// Makes a call on the old kernel that it does not make on the new one.
const DIFFERS: &str = "description: a link by the kernel's name\n\
workload: { run: [sh, -c, \"case $(uname -r) in 5.*) ln -s a b;; *) mkdir new;; esac\"] }\n\
trace: { events: [{ syscalls: [fsync] }] }\nsnapshot: false\n";

fn save(folder: &Path) -> Output {
    let mut command = Command::new(HARNESS);
    command.args(["matrix", "--guests", "1", "-k", OLD, "-k", NEW, "--kernels"]);
    command.arg(list()).arg("--save").arg(folder.join("saved"));
    command
        .arg(folder.join("scenarios"))
        .env_remove("HARNESS_REQUIRE");
    command.output().expect("the harness runs")
}

#[test]
fn a_policy_of_several_kernels_marks_what_one_of_them_needs_alone() {
    if !can_tell() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::create_dir(folder.join("scenarios")).expect("a folder");
    std::fs::write(folder.join("scenarios/it.yaml"), DIFFERS).expect("a file");
    let output = save(folder);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let at = |name: &str| folder.join(name).to_str().expect("text").to_owned();
    let policy = |from: &str| {
        let (from, scenarios) = (at(from), at("scenarios"));
        let words = [
            "policy", "--format", "minijail", "--from", &from, &scenarios,
        ];
        let output = harness(&words);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let both = policy("saved");
    let mark = |call: &str| {
        let mut before = "";
        for line in both.lines() {
            if line == format!("{call}: 1") {
                return before.to_owned();
            }
            before = line;
        }
        panic!("no {call}: {both}");
    };
    assert!(mark("symlinkat").starts_with("# on 5.10."), "{both}");
    assert!(mark("mkdir").starts_with("# on 6.1."), "{both}");
    assert_eq!(mark("execve"), "# it");
    let old = policy(&format!("saved/{OLD}"));
    assert!(
        old.contains("\nsymlinkat: 1\n") && !old.contains(" alone"),
        "{old}"
    );
    assert!(!old.contains("\nmkdir: 1\n"), "{old}");
    // They hold the files that calls reached, too.
    let (from, scenarios) = (at("saved"), at("scenarios"));
    let words = [
        "policy", "--format", "landlock", "--from", &from, &scenarios,
    ];
    let output = harness(&words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let rules: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let first = &rules["pathBeneath"][0];
    assert_eq!(first["parent"][0], "${dir}", "{rules:#}");
    let both = serde_json::json!(["make_dir", "make_sym"]);
    assert_eq!(first["allowedAccess"], both, "{rules:#}");
    // Records of an earlier run would be taken for those of this one.
    let again = save(folder);
    assert_eq!(again.status.code(), Some(2));
    let said = text(&again.stderr);
    assert!(said.contains("is not empty"), "{said}");
}
