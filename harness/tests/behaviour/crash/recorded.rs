//! A recording keeps what power cuts may leave.

use super::{SAVE, WHOLE, json, python, scenario, shell};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};
use std::io::Read;

/// A project with a recording of its scenario.
fn saved(project: &Project) {
    let run = project.harness(&["run", "--save", "saved", "scenarios/it.yaml"]);
    assert!(run.stdout.contains("1 scenario"), "{}", run.stdout);
}

/// What the scenario says of its recording.
fn again(project: &Project, status: i32) -> String {
    let run = project.harness(&["run", "--from", "saved/it.data", "scenarios/it.yaml"]);
    run.assert_status(status);
    project.assert_nothing_left();
    run.stdout + &run.stderr
}

/// Replaces a text in the scenario.
fn edit(project: &Project, old: &str, new: &str) {
    let path = project.path().join("scenarios/it.yaml");
    let text = std::fs::read_to_string(&path).expect("a scenario");
    assert!(text.contains(old), "{text}");
    std::fs::write(&path, text.replace(old, new)).expect("written");
}

#[test]
fn a_recording_is_judged_by_the_states_that_its_log_allows() {
    require!(right_to_trace());
    let project = shell(&SAVE.replace("SYNC", "sync next"), WHOLE);
    let live = project.harness(&["run", "--save", "saved", "scenarios/it.yaml"]);
    live.assert_status(0);
    let states = |text: &str| {
        let line = text.lines().find(|line| line.contains("recovers after"));
        line.map(str::to_owned).unwrap_or_else(|| panic!("{text}"))
    };
    assert_eq!(states(&again(&project, 0)), states(&live.stdout));
    let unsynced = shell(&SAVE.replace("SYNC", ":"), WHOLE);
    saved(&unsynced);
    let text = again(&unsynced, 1);
    assert!(text.contains("write(next, 4 bytes at 0)"), "{text}");
    assert!(text.contains("the recovery fails after"), "{text}");
}

#[test]
fn a_program_larger_than_what_is_read_of_others_is_the_same_after_the_run() {
    require!(right_to_trace());
    let project = shell(&SAVE.replace("SYNC", "sync next"), WHOLE);
    let large = std::fs::File::create(project.join("large")).expect("a file");
    // More than 16 MiB, all of them written.
    let written = std::io::copy(&mut std::io::repeat(7).take(17 << 20), &mut &large);
    written.expect("bytes");
    edit(&project, "files: {", "files: { large: { from: ../large }, ");
    saved(&project);
    project
        .harness(&["run", "scenarios/it.yaml"])
        .assert_status(0);
    again(&project, 0);
    // What the run makes of it is compared as ever.
    let changes = "printf x | dd of=large conv=notrunc 2>&-; printf saved";
    let crash = "model: ordered, recovers: { shell: 'true' }";
    scenario(&project, &format!("shell: {}", json(changes)), crash);
    edit(&project, "files: {", "files: { large: { from: ../large }, ");
    project
        .harness(&["run", "scenarios/it.yaml"])
        .assert_status(0);
}

#[test]
fn another_model_and_another_recovery_are_tried_on_a_recording() {
    require!(right_to_trace());
    let project = shell(&SAVE.replace("SYNC", ":"), WHOLE);
    saved(&project);
    again(&project, 1);
    edit(&project, "crash: {", "crash: { model: ordered,");
    again(&project, 0);
    edit(&project, "$it = old", "$it = nothing");
    again(&project, 1);
}

#[test]
fn a_recording_of_other_watched_folders_says_nothing_of_these() {
    require!(right_to_trace());
    let project = shell(&SAVE.replace("SYNC", ":"), WHOLE);
    edit(&project, "crash: {", "crash: { watch: [elsewhere],");
    saved(&project);
    edit(&project, "crash: { watch: [elsewhere],", "crash: {");
    let text = again(&project, 1);
    assert!(text.contains("incomplete"), "{text}");
    assert!(text.contains("with another `crash.watch`"), "{text}");
}

#[test]
fn a_recording_without_a_log_says_nothing_of_power_cuts() {
    require!(right_to_trace());
    let script = SAVE.replace("SYNC", "sync next");
    let project = shell(&script, WHOLE);
    let path = project.path().join("scenarios/it.yaml");
    let text = std::fs::read_to_string(&path).expect("a scenario");
    let without: String = text
        .lines()
        .filter(|line| !line.starts_with("crash:"))
        .map(|line| format!("{line}\n"))
        .collect();
    let without = without.replace("[fsync]", "[all]");
    assert!(without.contains(&json(&script)), "{without}");
    std::fs::write(&path, without).expect("written");
    saved(&project);
    std::fs::write(&path, text).expect("written");
    let text = again(&project, 1);
    assert!(text.contains("incomplete"), "{text}");
}

#[test]
fn a_log_that_was_changed_in_its_recording_is_refused() {
    require!(right_to_trace());
    let project = shell(&SAVE.replace("SYNC", ":"), WHOLE);
    saved(&project);
    let path = project.path().join("saved/it.data");
    let mut bytes = std::fs::read(&path).expect("a recording");
    // What the call wrote, so that the state that fails would pass.
    let wrote = b"\"bytes\":\"new\\n\"";
    let mut windows = bytes.windows(wrote.len());
    let place = windows.position(|window| window == wrote).expect("it");
    bytes[place + 9..place + 12].copy_from_slice(b"old");
    std::fs::write(&path, bytes).expect("written");
    let run = project.harness(&["run", "--from", "saved/it.data", "scenarios/it.yaml"]);
    assert_ne!(run.status, 0, "{}", run.stdout);
    let text = run.stdout + &run.stderr;
    assert!(text.contains("was changed or damaged"), "{text}");
}

#[test]
fn a_recording_with_looks_at_some_pages_is_not_judged_by_a_model_that_has_an_order_of_pages() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import mmap, os\nfile = os.open('old', os.O_RDWR)\nos.ftruncate(file, 8192)\n\
                  map = mmap.mmap(file, 8192)\nos.pwrite(file, b'x', 0)\n\
                  map[0:3] = b'NEW'\nos.pwrite(file, b'end', 5000)\nos.fsync(file)";
    let project = python(script, "model: ext4, recovers: { run: ['true'] }");
    saved(&project);
    again(&project, 0);
    edit(&project, "model: ext4", "model: ordered");
    let text = again(&project, 1);
    assert!(text.contains("has an order between pages"), "{text}");
    saved(&project);
    again(&project, 0);
}
