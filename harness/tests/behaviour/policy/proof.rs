//! What others make of a policy: crun has the kernel enforce it, and systemd reads it.

use serde_json::{Value, json};
use std::fs;

use super::{object, policy, without};
use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};

/// crun of Debian 12 wants control groups of version 2 alone, which a mount of one's own has.
const ALONE: &str =
    "umount -R /sys/fs/cgroup 2>/dev/null; mount -t cgroup2 none /sys/fs/cgroup && exec \"$@\"";

/// Runs a command in a container with the host's programs, under a policy if one is given.
fn contained(project: &Project, words: &[&str], policy: Option<&Value>) -> Run {
    let bind = |path: &str| json!({ "destination": path, "type": "bind", "source": path, "options": ["rbind", "ro"] });
    let folders = ["/usr", "/bin", "/lib", "/lib64", "/etc"];
    let present = folders
        .into_iter()
        .filter(|path| fs::exists(path).is_ok_and(|is| is));
    let mut mounts: Vec<Value> = present.map(bind).collect();
    for (path, kind) in [("/proc", "proc"), ("/dev", "tmpfs"), ("/w", "tmpfs")] {
        mounts.push(json!({ "destination": path, "type": kind, "source": kind }));
    }
    let namespaces = ["pid", "mount", "ipc", "uts"].map(|kind| json!({ "type": kind }));
    let mut config = json!({
        "ociVersion": "1.0.2",
        "process": {
            "terminal": false, "user": { "uid": 0, "gid": 0 }, "args": words, "cwd": "/w",
            "env": ["PATH=/usr/bin:/bin", "HOME=/w", "TMPDIR=/w", "LANG=C"], "noNewPrivileges": true,
        },
        "root": { "path": "rootfs" },
        "mounts": mounts,
        "linux": { "namespaces": namespaces },
    });
    if let Some(policy) = policy {
        config["linux"]["seccomp"] = policy.clone();
    }
    fs::create_dir_all(project.join("bundle/rootfs")).expect("a folder");
    project.write("bundle/config.json", &config.to_string());
    let name = format!("behaviour-{}", std::process::id());
    let words = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        ALONE,
        "sh",
        "crun",
        "--root",
        "crun",
        "--cgroup-manager=disabled",
        "run",
        "--bundle",
        "bundle",
        &name,
    ];
    project.run(&[], &words)
}

/// Whether containers can be made here.
fn containers(project: &Project) -> Result<(), String> {
    program("crun")?;
    program("unshare")?;
    let run = contained(project, &["true"], None);
    match run.status {
        0 => Ok(()),
        _ => Err(format!("crun makes no container here: {}", run.stderr)),
    }
}

/// The command does the same in a container under the policy of its scenario, and not without what
/// one of these calls does.
fn holds(project: &Project, words: &[&str], stdout: &str, needed: &[&str]) {
    let run = json!(words);
    let expect = json!({ "stdout": stdout });
    project.scenario(
        "it",
        &format!("workload: {{ run: {run} }}\nexpect: {expect}\nsnapshot: false"),
    );
    policy(project, &[]).assert_status(0);
    let whole = object(project);
    let run = contained(project, words, Some(&whole));
    assert_eq!((run.status, &*run.stdout), (0, stdout), "{run:?}");
    for name in needed {
        let run = contained(project, words, Some(&without(&whole, name)));
        assert!(run.status != 0 || run.stdout != stdout, "{name}: {run:?}");
    }
}

#[test]
fn a_container_under_the_policy_does_what_the_scenario_did_and_not_without_its_calls() {
    require!(right_to_trace());
    let project = Project::new();
    require!(containers(&project));
    let line = ["sh", "-c", "echo hi > a && cat a && rm a"];
    holds(
        &project,
        &line,
        "hi\n",
        &["unlinkat", "openat", "write", "dup2"],
    );
    require!(program("sqlite3"));
    let table = "create table t(a); insert into t values(1),(2); select sum(a) from t";
    let line = ["sqlite3", "t.db", table];
    holds(&project, &line, "3\n", &["pwrite64", "fdatasync", "openat"]);
}

#[test]
fn systemd_understands_every_line_of_a_unit() {
    require!(right_to_trace());
    require!(program("systemd-analyze"));
    require!(program("python3"));
    let project = Project::new();
    let line = "import socket\nsocket.socket(socket.AF_UNIX)\nsocket.socket(socket.AF_INET)";
    let run = json!(["python3", "-c", line]);
    project.scenario(
        "it",
        &format!("workload: {{ run: {run} }}\nsnapshot: false"),
    );
    let unit = project.harness(&["policy", "--format", "systemd", "scenarios"]);
    unit.assert_status(0);
    let lines = unit.stdout.lines();
    let families: Vec<&str> = lines.filter(|line| line.starts_with("Restrict")).collect();
    assert_eq!(
        families,
        [
            "RestrictAddressFamilies=AF_UNIX",
            "RestrictAddressFamilies=AF_INET"
        ]
    );
    project.write(
        "it.service",
        &format!("{}ExecStart=/bin/true\n", unit.stdout),
    );
    let path = project.join("it.service");
    let path = path.to_str().expect("text");
    let words = ["systemd-analyze", "verify", "--man=no", path];
    let said = project.run(&[], &words).stderr;
    assert!(!said.contains("it.service:"), "{said}");
    // It says so where it does not.
    let wrong = unit
        .stdout
        .replace("SystemCallFilter=socket\n", "SystemCallFilter=sockets\n");
    project.write("it.service", &format!("{wrong}ExecStart=/bin/true\n"));
    let said = project.run(&[], &words).stderr;
    assert!(said.contains("it.service:"), "{said}");
}
