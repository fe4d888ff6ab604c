//! The promise behind which the power cuts begin.

use super::{crash, shell};
use crate::support::require::{require, right_to_trace};

/// Prepares with a file that is synced after its name, saves behind `begun`.
const SAVE: &str = "echo one > first; sync first .; printf be; printf 'gun\n'; echo two > second";

/// Holds what was prepared to be there, and nothing else.
const PREPARED: &str = "recovers: { shell: grep -q one first }";

#[test]
fn power_cuts_begin_behind_the_text_that_is_named_though_two_writes_make_it() {
    require!(right_to_trace());
    let all = crash(&shell(SAVE, PREPARED), 1, &[]);
    let some = format!("since: begun, {PREPARED}");
    let project = shell(SAVE, &some);
    let behind = crash(&project, 0, &[]);
    let tried = |lines: &[serde_json::Value]| lines.last().unwrap()["tried"].as_u64().unwrap();
    assert!(tried(&behind) < tried(&all), "{all:?}\n{behind:?}");
    let run = project.harness(&["run", "--save", "saved", "scenarios/it.yaml"]);
    run.assert_status(0);
    let said = "all that `posix` allows behind \"begun\"";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    let again = project.harness(&["run", "--from", "saved/it.data", "scenarios/it.yaml"]);
    again.assert_status(0);
    assert!(again.stdout.contains(said), "{}", again.stdout);
}

#[test]
fn what_was_prepared_and_not_synced_may_be_lost_behind_the_text() {
    require!(right_to_trace());
    let unsynced = SAVE.replace("sync first .", ":");
    crash(
        &shell(&unsynced, &format!("since: begun, {PREPARED}")),
        1,
        &[],
    );
}

#[test]
fn a_text_that_is_never_written_or_has_no_change_behind_it_is_no_pass() {
    require!(right_to_trace());
    let prepared = "echo one > first; sync first .; echo begun";
    for (script, why) in [
        (SAVE.replace("gun", "g"), "never wrote that"),
        (prepared.to_owned(), "changed nothing in the folder behind"),
    ] {
        let project = shell(&script, &format!("since: begun, {PREPARED}"));
        let run = project.harness(&["run", "scenarios/it.yaml"]);
        run.assert_status(1);
        assert!(run.stdout.contains(why), "{}", run.stdout);
        let run = project.harness(&["crash", "scenarios/it.yaml"]);
        run.assert_status(1);
        assert!(run.stderr.contains(why), "{}", run.stderr);
    }
    let project = shell(SAVE, &format!("since: '', {PREPARED}"));
    project
        .harness(&["run", "scenarios/it.yaml"])
        .assert_status(2);
}
