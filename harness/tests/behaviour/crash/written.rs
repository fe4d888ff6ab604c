//! A state that fails becomes a scenario.

use super::{SAVE, WHOLE, crash, python, shell};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};
use serde_json::Value;

/// Tries all states, of which some fail; returns the scenario that is written, and its last line.
fn written(project: &Project) -> (String, Value) {
    let lines = crash(project, 1, &["--write", "scenarios/found"]);
    let last = lines.last().expect("a last line").clone();
    let path = last["written"].as_str().map(str::to_owned);
    let path = path.unwrap_or_else(|| panic!("{last}"));
    let worst = lines.iter().find(|line| line["number"] == last["worst"]);
    (path, worst.expect("the state").clone())
}

/// It fails for the reason that the state failed for.
fn fails_as(project: &Project, path: &str, state: &Value) {
    let run = project.harness(&["run", path]);
    run.assert_status(1);
    let reasons = state["reasons"].as_array().expect("reasons");
    let first = reasons[0].as_str().and_then(|reason| reason.lines().next());
    let first = first.expect("a reason");
    assert!(run.stdout.contains(first), "{first}: {}", run.stdout);
    project.assert_nothing_left();
}

#[test]
fn a_written_scenario_fails_as_the_recovery_failed_on_the_state() {
    require!(right_to_trace());
    let project = shell(&SAVE.replace("SYNC", ":"), WHOLE);
    let (path, state) = written(&project);
    fails_as(&project, &path, &state);
    // A recovery that can live with the state passes on it.
    let text = std::fs::read_to_string(project.path().join(&path)).expect("a scenario");
    let lost = text.lines().find(|line| line.starts_with("# lost: "));
    assert!(
        lost.is_some_and(|line| line.contains("write(next")),
        "{text}"
    );
    let lenient = text.replace("read -r it < old", "read -r it < old || it=new");
    assert_ne!(lenient, text);
    std::fs::write(project.path().join(&path), lenient).expect("written");
    project.harness(&["run", &path]).assert_status(0);
}

#[test]
fn a_written_scenario_has_bytes_of_any_kind_in_folders_of_any_depth() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\nos.mkdir('d')\nfile = os.open('d/x.yaml', os.O_CREAT | os.O_WRONLY)\n\
                  os.write(file, b'\\xff' * 600)\nos.fsync(os.open('.', os.O_RDONLY))\n\
                  os.fsync(os.open('d', os.O_RDONLY))\nos.write(1, b'saved')";
    let held = "recovers: { shell: '[ ! -s acknowledged ] || \
                [ $(tr -d \"\\\\000\" < d/x.yaml | wc -c) = 600 ]' }";
    let project = python(script, held);
    let (path, state) = written(&project);
    fails_as(&project, &path, &state);
    // A copy is no scenario of the folder.
    let listed = project.harness(&["run", "--list", "scenarios"]);
    listed.assert_status(0);
    assert_eq!(listed.stdout.lines().count(), 2, "{}", listed.stdout);
}

#[test]
fn what_passes_is_not_written_and_what_others_wrote_stays() {
    require!(right_to_trace());
    let project = shell(&SAVE.replace("SYNC", "sync next"), WHOLE);
    let lines = crash(&project, 0, &["--write", "found"]);
    assert_eq!(lines.last().expect("a last line")["written"], Value::Null);
    assert!(!project.path().join("found").exists());
    let project = shell(&SAVE.replace("SYNC", ":"), WHOLE);
    let (path, _) = written(&project);
    // Once more: it was its own.
    assert_eq!(written(&project).0, path);
    let file = project.path().join(&path);
    std::fs::write(&file, "description: mine\n").expect("written");
    let words = ["crash", "--write", "scenarios/found", "scenarios/it.yaml"];
    let run = project.harness(&words);
    run.assert_status(2);
    assert!(run.stderr.contains("has written it"), "{}", run.stderr);
    let text = std::fs::read_to_string(&file).expect("it");
    assert_eq!(text, "description: mine\n");
    // Where nothing can be written, the command line is not to blame.
    let words = ["crash", "--write", "/proc/none", "scenarios/it.yaml"];
    let run = project.harness(&words);
    run.assert_status(99);
    assert!(
        run.stderr.contains("cannot write `/proc/none/"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_state_that_no_scenario_can_lay_out_is_said() {
    require!(right_to_trace());
    let script = format!("ln -s old link; sync .; {}", SAVE.replace("SYNC", ":"));
    let project = shell(&script, WHOLE);
    let words = ["crash", "--write", "found", "scenarios/it.yaml"];
    let run = project.harness(&words);
    run.assert_status(2);
    let why = "no scenario can lay this state out: `link` is no regular file";
    assert!(run.stderr.contains(why), "{}", run.stderr);
}
