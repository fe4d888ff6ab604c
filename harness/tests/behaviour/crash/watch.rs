//! The folders whose state a power cut may change.

use super::{crash, is_unknown, shell};
use crate::support::require::{require, right_to_trace};

const SAVE: &str =
    "echo log > log; cd data; echo new > next; SYNC; mv next it; sync .; cd ..; rm log";

/// Nothing but the data may be as a power cut left it.
const WHOLE: &str = "watch: [data], recovers: { shell: '[ ! -e log ] && grep -q old old || exit 1; \
                     cd data; [ ! -e it ] || grep -q new it' }";

#[test]
fn what_is_not_watched_is_in_each_state_as_it_was_before_the_run() {
    require!(right_to_trace());
    let lines = crash(&shell(&SAVE.replace("SYNC", "sync next"), WHOLE), 0, &[]);
    let calls = lines[0]["calls"].to_string();
    assert!(
        calls.contains("data/next") && !calls.contains("log"),
        "{calls}"
    );
    crash(&shell(&SAVE.replace("SYNC", ":"), WHOLE), 1, &[]);
}

#[test]
fn what_no_state_could_have_is_no_matter_outside_of_what_is_watched() {
    require!(right_to_trace());
    // A name `acknowledged`, and one that is moved out of the sandbox's folder.
    let script = "> acknowledged; mv old /tmp/old; echo new > data/it";
    let held = "watch: [data], recovers: { shell: '[ -e old ] && [ ! -s acknowledged ]' }";
    crash(&shell(script, held), 0, &[]);
}

#[test]
fn a_change_in_no_watched_folder_is_no_change() {
    require!(right_to_trace());
    let project = shell("> new", "watch: [data], recovers: { run: ['true'] }");
    let run = project.harness(&["run", "scenarios/it.yaml"]);
    run.assert_status(1);
    assert!(run.stdout.contains("changed nothing"), "{}", run.stdout);
}

#[test]
fn a_file_that_leaves_or_comes_to_a_watched_folder_makes_the_run_incomplete() {
    require!(right_to_trace());
    let watch = "watch: [data/deep], recovers: { run: ['true'] }";
    for (script, why) in [
        ("mv old data/deep/old", "renamed into or out of the folder"),
        (
            "> data/deep/it; mv data/deep/it it",
            "renamed into or out of the folder",
        ),
        (
            "> data/deep/it; ln data/deep/it it",
            "a name in the folder and one outside",
        ),
        (
            "mv data away; mv away data; > data/deep/it",
            "the folder itself was renamed",
        ),
    ] {
        is_unknown(&shell(script, watch), why);
    }
}
