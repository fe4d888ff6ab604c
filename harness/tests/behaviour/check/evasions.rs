//! Commands that do what their rules forbid, in a way that is meant to stay unseen: none passes.

use super::elsewhere::elsewhere;
use super::{ruled, summary};
use crate::support::oracle;
use crate::support::project::{OF_32, Project, Run};
use crate::support::require::{program, require, right_to_trace};
use crate::support::unread::Unread;
use serde_json::Value;
use std::path::Path;

const NO_WRITES: &str = "expect: { confined: { writes: [] } }\n";

#[test]
fn a_child_that_outlives_the_command_is_ended_and_said() {
    require!(right_to_trace());
    let project = ruled(NO_WRITES);
    for shell in [
        "sleep 300 &",
        "(setsid sh -c 'sleep 300; echo x > late' < /dev/null > /dev/null 2>&1 &)",
    ] {
        let run = project.checked(shell);
        run.assert_status(1);
        assert!(run.stderr.contains("leak"), "{}", run.stderr);
        let lines = project.stated(shell);
        assert_eq!(summary(&lines)["complete"], false);
    }
    project.assert_nothing_left();
}

#[test]
fn what_a_command_did_is_said_beside_the_process_that_outlived_it() {
    require!(right_to_trace());
    let run = ruled(NO_WRITES).checked("echo x > made; sleep 300 & exit 3");
    run.assert_status(1);
    for said in [
        "leak",
        "outlived the main process",
        "does not allow `made`",
        "expected exit status 0, got exit status 3",
    ] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
}

#[test]
fn a_daemon_that_writes_before_it_ends_is_seen() {
    require!(right_to_trace());
    let run = ruled(NO_WRITES)
        .checked("(setsid sh -c 'echo x > made' &); while ! [ -e made ]; do :; done");
    run.assert_status(1);
    assert!(
        run.stderr.contains("does not allow `made`"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_link_out_of_the_folder_is_where_it_leads() {
    require!(right_to_trace());
    let project = ruled("expect: { confined: { writes: [d, \"d/**\"] } }\n");
    let shell = "mkdir d; ln -s ../outside d/l; echo x > d/l";
    let run = project.checked(shell);
    run.assert_status(1);
    assert!(
        run.stderr.contains("does not allow `outside`"),
        "{}",
        run.stderr
    );
}

/// The link is there before the run and is gone when its end is read.
#[test]
fn a_link_that_is_replaced_behind_the_write_is_where_it_led() {
    require!(right_to_trace());
    let project = ruled("expect: { confined: { writes: [d, \"d/**\"] } }\n");
    project.write("victim", "");
    project.run(&[], &["sh", "-c", "mkdir d; ln -s ../victim d/l"]);
    let run = project.checked("echo x > d/l; rm d/l; echo y > d/l");
    run.assert_status(1);
    assert!(
        run.stderr.contains("does not allow `victim`"),
        "{}",
        run.stderr
    );
}

/// The link is made beforehand, so that no call of the run tells of it.
#[test]
fn a_write_by_a_hard_link_to_a_file_outside_is_never_a_pass() {
    require!(right_to_trace());
    let project = ruled("expect: { confined: { writes: [data, \"data/**\"] } }\n");
    let other = Project::new();
    other.write("victim", "");
    project.run(&[], &["mkdir", "data"]).assert_status(0);
    let victim = other.join("victim");
    std::fs::hard_link(&victim, project.join("data/l")).expect("a link");
    let shell = "echo x > data/l";
    let run = project.checked(shell);
    run.assert_status(1);
    assert!(run.stderr.contains("incomplete"), "{}", run.stderr);
    assert!(
        run.stderr.contains("`data/l` was changed"),
        "{}",
        run.stderr
    );
    assert_eq!(summary(&project.stated(shell))["complete"], false);
    // To take the name away changes nothing outside.
    project.checked("rm data/l").assert_status(0);
    // Where all names are known the rules hold for each.
    project.write("data/a", "");
    std::fs::hard_link(project.join("data/a"), project.join("data/b")).expect("a link");
    project.checked("echo x > data/a").assert_status(0);
    std::fs::hard_link(project.join("data/a"), project.join("outside")).expect("a link");
    let run = project.checked("echo x > data/a");
    run.assert_status(1);
    assert!(
        run.stderr.contains("does not allow `outside`"),
        "{}",
        run.stderr
    );
}

/// In a folder that was looked at, each name is known, and must be allowed.
#[test]
fn the_other_name_of_a_file_is_forbidden_in_a_folder_that_was_looked_at_too() {
    require!(right_to_trace());
    let (project, other) = elsewhere();
    let there = other.path().to_str().expect("text");
    std::fs::create_dir(project.join("data")).expect("a folder");
    std::fs::write(other.path().join("victim"), "").expect("a file");
    std::fs::hard_link(other.path().join("victim"), project.join("data/l")).expect("a link");
    let rules =
        |more: &str| format!("expect: {{ confined: {{ writes: [data, \"data/**\"{more}] }} }}\n");
    let command = ["rules.yaml", "--", "sh", "-c", "echo x > data/l"];
    let checked = |rules: &str, folder: &[&str]| {
        project.write("rules.yaml", rules);
        project.harness(&[&["check"], folder, &command[..]].concat())
    };
    let run = checked(&rules(""), &["--folder", there]);
    run.assert_status(1);
    let said = format!("does not allow `{there}/victim`");
    assert!(run.stderr.contains(&said), "{}", run.stderr);
    // What a rule names is looked at as well.
    let both = rules(&format!(", \"{there}/victim\""));
    checked(&both, &["--folder", there]).assert_status(0);
}

/// The same in a folder that is not known before: it may have been any file.
#[test]
fn a_name_outside_whose_folder_changed_is_not_known() {
    require!(right_to_trace());
    let (project, other) = (Project::new(), Project::new());
    let there = other.path().to_str().expect("text");
    project.write(
        "rules.yaml",
        &format!("expect: {{ confined: {{ reads: [\"{there}/l\"] }} }}\n"),
    );
    other.write("secret", "");
    other.run(&[], &["ln", "-s", "secret", "l"]);
    let shell = format!("read x < {there}/l; rm {there}/l; echo y > {there}/l");
    let run = project.harness(&["check", "rules.yaml", "--", "bash", "-c", &shell]);
    run.assert_status(1);
    assert!(!run.stderr.contains("      pass"), "{}", run.stderr);
}

/// The folder for temporary files changes all the time.
#[test]
fn a_working_directory_is_known_though_others_change_the_folder_that_it_lies_in() {
    require!(right_to_trace());
    let project = Project::new();
    // Times of folders have the grain of a tick, which a run outlasts.
    project.stated("true");
    project.write("inside/old", "");
    let shell = "echo x > ../beside; echo x > new; mv old older; cat < new";
    let mut command = project.program(&["check", "--", "sh", "-c", shell]);
    let run: Run = command
        .current_dir(project.join("inside"))
        .output()
        .expect("a run")
        .into();
    assert!(run.stderr.contains("\n  new\n"), "{}", run.stderr);
    assert!(run.stderr.contains("\n  old -> older\n"), "{}", run.stderr);
}

/// By a statement, which says so of it, and what would make it known.
#[test]
fn what_is_not_known_says_why_and_is_known_in_a_folder_that_was_looked_at() {
    require!(right_to_trace());
    let (project, other) = elsewhere();
    let there = other.path().to_str().expect("text");
    // Times of folders have the grain of a tick, which a run outlasts.
    project.stated("true");
    let shell = format!("echo x > {there}/a; mv {there}/a {there}/b; cat {there}/b; rm {there}/b");
    let run = project.harness(&["check", "--", "sh", "-c", &shell]);
    run.assert_status(125);
    for said in [
        "not known in full: ".to_owned(),
        format!("is looked at by --folder {there}\n"),
        format!("\n  ? {there}/a: what `"),
    ] {
        assert!(run.stderr.contains(&said), "{said}: {}", run.stderr);
    }
    let words = ["check", "--folder", there, "--", "sh", "-c", &shell];
    let run = project.harness(&words);
    run.assert_status(0);
    assert!(run.stderr.starts_with("complete: "), "{}", run.stderr);
    assert!(!run.stderr.contains("hint: "), "{}", run.stderr);
    // What it was before the start is known too: that of a link is what it led to.
    other_link(other.path());
    let shell = format!("read x < {there}/l; rm {there}/l; echo y > {there}/l");
    let words = ["check", "--format", "json", "--folder", there];
    let words = [&words[..], &["--", "bash", "-c", &shell]].concat();
    let lines: Vec<Value> = {
        let said = project.harness(&words).stderr;
        said.lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect()
    };
    let secret = format!("{there}/secret");
    assert!(
        super::done(&lines, "read").contains(&secret.as_str()),
        "{lines:?}"
    );
    project.write("file", "");
    for (folder, said) in [
        ("nowhere", "no such folder"),
        ("file", "no such folder"),
        ("/usr/..", "name the folders that matter"),
    ] {
        let run = project.harness(&["check", "--folder", folder, "--", "true"]);
        run.assert_status(125);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

fn other_link(folder: &Path) {
    std::fs::write(folder.join("secret"), "").expect("a file");
    std::os::unix::fs::symlink("secret", folder.join("l")).expect("a link");
}

#[test]
fn a_new_file_outside_is_stated_and_rules_hold_for_it() {
    require!(right_to_trace());
    let (project, other) = elsewhere();
    let there = other.path().to_str().expect("text");
    // Times of folders have the grain of a tick, which a run outlasts.
    project.stated("true");
    let shell = format!("echo x > {there}/a; mkdir {there}/d; (set -C; echo x > {there}/b)");
    let lines = project.stated(&shell);
    let made = ["a", "b", "d"].map(|name| format!("{there}/{name}"));
    assert_eq!(super::done(&lines, "written"), made);
    assert_eq!(summary(&lines)["complete"], true, "{lines:?}");
    // A name that is taken away is that name, whatever lay there.
    let lines = project.stated(&format!(
        "rm {there}/b; mv {there}/a {there}/c; rmdir {there}/d"
    ));
    assert_eq!(
        super::done(&lines, "deleted"),
        [made[1].as_str(), made[2].as_str()]
    );
    assert_eq!(super::done(&lines, "renamed"), [made[0].as_str()]);
    assert_eq!(summary(&lines)["complete"], true, "{lines:?}");
    project.write("rules.yaml", "expect: { confined: { writes: [] } }\n");
    let run = project.checked(&format!("echo x > {there}/e"));
    run.assert_status(1);
    let said = format!("does not allow `{there}/e`");
    assert!(run.stderr.contains(&said), "{}", run.stderr);
    project.write(
        "rules.yaml",
        "expect: { confined: { writes: [\"/never/there\"] } }\n",
    );
    project
        .checked(&format!("echo x > {there}/f"))
        .assert_status(1);
}

#[test]
fn a_path_with_the_folders_own_for_a_beginning_is_outside() {
    require!(right_to_trace());
    let project = ruled("expect: { confined: { writes: [\"**\"] } }\n");
    let beside = format!("{}-beside", project.path().display());
    let run = project.checked(&format!("echo x > {beside}; rm {beside}"));
    run.assert_status(1);
    // A text may go on so behind a path, and a name as well.
    for behind in ["-beside", "@tmp", ",v", "=1", ":2"] {
        let beside = format!("{}{behind}", project.path().display());
        let lines = project.stated(&format!("cat {beside}; echo x > {beside}; rm {beside}"));
        assert_eq!(super::done(&lines, "written"), [beside.as_str()]);
        assert_eq!(super::done(&lines, "deleted"), [beside.as_str()]);
    }
}

#[test]
fn a_submission_to_an_io_uring_and_a_call_of_32_bits_are_not_overlooked() {
    require!(right_to_trace());
    require!(program("cc"));
    let project = ruled("expect: { confined: { writes: [], network: [] } }\n");
    project.compile(&["-static"], "submits.c", "submits");
    let run = project.checked("./submits 26 0 0");
    assert!(run.stderr.contains("io_uring"), "{run:?}");
    let sends = project.stated("./submits 26 0 0");
    assert_eq!(summary(&sends)["complete"], false);
    project.compile(OF_32, "opens.i386.c", "opens");
    project
        .harness(&["check", "rules.yaml", "--", "./opens"])
        .assert_status(1);
}

#[test]
fn a_command_that_cannot_be_executed_or_is_killed_does_not_pass() {
    require!(right_to_trace());
    let project = ruled(NO_WRITES);
    let run = project.harness(&["check", "rules.yaml", "--", "./absent"]);
    run.assert_status(1);
    let run = project.harness(&["check", "rules.yaml", "--", "absent-anywhere"]);
    run.assert_status(1);
    project.checked("kill -9 $$").assert_status(1);
    let slow = [
        "check",
        "rules.yaml",
        "--timeout",
        "1",
        "--",
        "sleep",
        "300",
    ];
    let run = project.harness(&slow);
    run.assert_status(1);
    assert!(run.stderr.contains("timeout"), "{}", run.stderr);
}

#[test]
fn a_run_that_lost_events_is_incomplete() {
    require!(right_to_trace());
    let project = ruled("expect: { count: { getppid: \"1..\" } }\n");
    let mut unread = Unread::new(&project);
    let script = unread.shell(&format!("{} flood 20000", oracle::path()));
    let words = [
        "check",
        "rules.yaml",
        "-m",
        "4KiB",
        "--",
        "sh",
        "-c",
        &script,
    ];
    let run = unread.run(&mut project.program(&words));
    run.assert_status(1);
    assert!(run.stderr.contains("incomplete  rules"), "{}", run.stderr);
}

#[test]
fn a_command_with_its_own_tracer_is_seen_as_any_other() {
    require!(right_to_trace());
    require!(program("strace"));
    let project = ruled(NO_WRITES);
    let run = project.harness(&[
        "check",
        "rules.yaml",
        "--",
        "strace",
        "-f",
        "-o",
        "/dev/null",
        "sh",
        "-c",
        "echo x > made",
    ]);
    run.assert_status(1);
    assert!(
        run.stderr.contains("does not allow `made`"),
        "{}",
        run.stderr
    );
}
