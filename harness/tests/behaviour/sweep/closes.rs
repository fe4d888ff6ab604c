//! What an ignored close tells of the data of its file, whatever `trace.events` names.

use super::{all_are, classes, python, runs, sweep};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

const OPTIONS: [&str; 4] = ["-e", "close", "--errors", "EIO"];

/// A program that opens a file, does this with it, and ignores that its close fails. Of it all
/// `trace.events` names the opens and the closes alone.
fn closes(does: &str) -> Project {
    let script = format!(
        "import mmap, os\nold = os.open('script.py', os.O_RDONLY)\n\
         new = os.open('new', os.O_CREAT | os.O_RDWR)\n{does}\n\
         try: os.close(new)\nexcept OSError: pass\n"
    );
    let rest = "expect: { files_after: { new: { exists: true } } }\nsnapshot: false";
    let project = python(&script, "openat, close", rest);
    since(&project, "openat: { path: new }");
    project
}

fn since(project: &Project, step: &str) {
    let text = project.read("scenarios/it.yaml");
    let since = format!("trace: {{ since: {{ step: {{ {step} }} }}, ");
    project.write("scenarios/it.yaml", &text.replace("trace: { ", &since));
}

#[test]
fn an_ignored_close_is_silent_whichever_call_wrote_the_file_though_none_was_asked_for() {
    require!(right_to_trace());
    require!(program("python3"));
    for does in [
        "os.write(new, b'milk')",
        "os.pwrite(new, b'milk', 0)",
        "os.pwritev(new, [b'milk'], 0)",
        "os.copy_file_range(old, new, 4)",
        "os.sendfile(new, old, 0, 4)",
        "os.ftruncate(new, 4)",
        "os.posix_fallocate(new, 0, 4)",
        "os.write(os.dup(new), b'milk')",
        "os.fsync(new)\nos.write(new, b'milk')",
    ] {
        let lines = sweep(&closes(does), 1, &OPTIONS);
        assert!(
            classes(&lines).iter().all(|(_, of)| of == "silent"),
            "{does}: {lines:#?}"
        );
        all_are("silent", &lines);
    }
}

#[test]
fn an_ignored_close_is_handled_where_it_is_known_that_nothing_is_lost() {
    require!(right_to_trace());
    require!(program("python3"));
    for does in [
        "pass",
        "os.write(new, b'milk')\nos.fsync(new)",
        "os.pwritev(new, [b'milk'], 0, os.RWF_DSYNC)",
        "os.copy_file_range(old, new, 4)\nos.fdatasync(new)",
        "new = os.open('other', os.O_CREAT | os.O_WRONLY | os.O_DSYNC)\nos.write(new, b'milk')",
        "new = os.open('other', os.O_CREAT | os.O_WRONLY | os.O_SYNC)\nos.pwrite(new, b'milk', 0)",
        "os.close(new)\nnew = os.open('script.py', os.O_RDONLY)",
    ] {
        let lines = sweep(&closes(does), 0, &OPTIONS);
        let is_handled = |of: &str| of.starts_with("handled");
        assert!(
            classes(&lines).iter().all(|(_, of)| is_handled(of)),
            "{does}: {lines:#?}"
        );
    }
}

#[test]
fn a_close_behind_what_does_not_say_whether_it_stored_the_data_is_the_last_that_can_say_so() {
    require!(right_to_trace());
    require!(program("python3"));
    let lines = sweep(&closes("os.write(new, b'milk')\nos.sync()"), 1, &OPTIONS);
    all_are("silent", &lines);
}

#[test]
fn an_ignored_close_is_unknown_where_another_descriptor_of_that_name_was_synced() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\nagain = os.open('new', os.O_CREAT | os.O_RDONLY)\nos.mkdir('a')\n\
                  new = os.open('new', os.O_WRONLY)\nos.write(new, b'milk')\nos.fsync(again)\n\
                  try: os.close(new)\nexcept OSError: pass\n";
    let rest = "expect: { files_after: { new: milk } }\nsnapshot: false";
    let project = python(script, "mkdir, close", rest);
    since(&project, "mkdir: { path: a }");
    all_are("unknown", &sweep(&project, 1, &OPTIONS));
}

#[test]
fn an_ignored_close_of_a_file_that_was_mapped_is_unknown_as_no_call_shows_what_is_stored() {
    require!(right_to_trace());
    require!(program("python3"));
    let does = "os.ftruncate(new, 4)\nos.fsync(new)\n\
                page = mmap.mmap(new, 4)\npage[:] = b'milk'\npage.close()";
    let lines = sweep(&closes(does), 1, &OPTIONS);
    all_are("unknown", &lines);
}

#[test]
fn what_was_written_before_the_mark_is_known_of_a_close_behind_it() {
    require!(right_to_trace());
    require!(program("python3"));
    let written = |does: &str| {
        let script = format!(
            "import os\nnew = os.open('new', os.O_CREAT | os.O_WRONLY)\n{does}\n\
             os.mkdir('a')\ntry: os.close(new)\nexcept OSError: pass\n"
        );
        let rest = "expect: { files_after: { new: milk } }\nsnapshot: false";
        let project = python(&script, "mkdir, close", rest);
        since(&project, "mkdir: { path: a }");
        project
    };
    let lines = sweep(&written("os.write(new, b'milk')"), 1, &OPTIONS);
    all_are("silent", &lines);
    let synced = written("os.write(new, b'milk')\nos.fsync(new)");
    all_are("handled did_without", &sweep(&synced, 0, &OPTIONS));
}

#[test]
fn what_a_sweep_writes_of_an_ignored_failure_fails_though_all_results_are_right() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = closes("os.write(new, b'milk')");
    let words = ["-e", "close", "--errors", "EIO", "--write", "found"];
    all_are("silent", &sweep(&project, 1, &words));
    let run = project.harness(&["run", "found"]);
    run.assert_status(1);
    let said = "expected exit status 1, got exit status 0";
    assert!(run.stdout.contains(said), "{}", run.stdout);
}

#[test]
fn each_sync_and_close_is_failed_though_nothing_tells_them_apart() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\n\
        new = os.open('out', os.O_WRONLY | os.O_CREAT)\n\
        os.write(new, b'one\\n'); os.fsync(new)\n\
        os.write(new, b'two\\n')\n\
        try: os.fsync(new)\n\
        except OSError: pass\n";
    let rest = "expect: { files_after: { out: \"one\\ntwo\\n\" } }\nsnapshot: false\n";
    let project = python(script, "fsync, write", rest);
    let lines = sweep(&project, 1, &["-e", "fsync", "--errors", "EIO", "-j", "1"]);
    let of: Vec<&str> = runs(&lines)
        .iter()
        .filter_map(|line| line["class"].as_str())
        .collect();
    assert_eq!(of, ["handled", "silent"], "{lines:#?}");
    assert!(runs(&lines).iter().all(|line| line["times"] == 1));
}
