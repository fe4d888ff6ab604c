//! Programs that a test has just built, as scenarios refer to them.

use super::super::{Programs, read_all};
use super::{Command, FileSource, Scenario};
use std::path::{Path, PathBuf};

fn programs() -> Programs {
    let given = [
        ("CARGO_BIN_EXE_save", "target/debug/save"),
        ("CARGO_BIN_EXE_my-tool", "/built/my-tool"),
        ("CARGO_BIN_EXE_", "/no/name"),
        ("CARGO_BIN_EXE_../up", "/no/name/either"),
        ("PATH", "/bin"),
    ];
    let given = given.map(|(name, file)| (name.into(), file.into()));
    Programs::of(given, Path::new("/project"))
}

fn read(text: &str) -> Result<Scenario, String> {
    let read = read_all(Path::new("x.yaml"), text, &programs());
    read.map(|all| all.into_iter().next().unwrap())
        .map_err(|complaint| complaint.render(false))
}

fn laid(scenario: &Scenario) -> Vec<(PathBuf, FileSource)> {
    let files = scenario.workload.files.iter();
    let laid = files.map(|(path, file)| (path.clone(), file.source.clone()));
    laid.collect()
}

fn from(path: &str, file: &str) -> (PathBuf, FileSource) {
    (path.into(), FileSource::From(file.into()))
}

#[test]
fn a_program_that_is_referred_to_is_laid_beside_the_files_and_run_from_there() {
    let scenario = read(
        "description: x\nworkload: { run: [\"${CARGO_BIN_EXE_save}\", \"${CARGO_BIN_EXE_my-tool}\"], \
         env: { HOME: \"${HOME}\" } }\n",
    )
    .unwrap();
    let command = Command::Run(vec!["./save".into(), "./my-tool".into()]);
    assert_eq!(scenario.workload.command, command);
    assert_eq!(scenario.workload.env["HOME"], "${HOME}");
    let expected = [
        from("my-tool", "/built/my-tool"),
        from("save", "/project/target/debug/save"),
    ];
    assert_eq!(laid(&scenario), expected);
}

#[test]
fn a_program_is_laid_elsewhere_by_from() {
    let scenario = read(
        "description: of ${CARGO_BIN_EXE_none}\nworkload: { run: [bin/save], \
         files: { bin/save: { from: \"${CARGO_BIN_EXE_save}\", mode: \"0700\" } } }\n",
    )
    .unwrap();
    assert_eq!(
        laid(&scenario),
        [from("bin/save", "/project/target/debug/save")]
    );
}

#[test]
fn a_baseline_has_the_programs_too() {
    let scenario = read(
        "description: x\nworkload: { run: [cat] }\nbaseline: { run: [\"${CARGO_BIN_EXE_save}\"], files: {} }\n\
         trace: { events: [{ syscalls: [openat] }] }\nexpect: { delta: { openat: +1 } }\n",
    )
    .unwrap();
    let save = from("save", "/project/target/debug/save");
    let baseline = scenario.baseline.unwrap();
    assert_eq!(baseline.files[Path::new("save")].source, save.1);
    assert_eq!(baseline.command, Command::Run(vec!["./save".into()]));
}

#[test]
fn a_program_that_is_not_given_is_an_error_where_it_is_referred_to() {
    let complaint = read("description: x\nworkload: { run: [\"${CARGO_BIN_EXE_safe}\"] }\n");
    let complaint = complaint.unwrap_err();
    assert!(
        complaint.contains("`CARGO_BIN_EXE_safe` is not set in the environment"),
        "{complaint}"
    );
    assert!(complaint.contains("x.yaml:2:19"), "{complaint}");
    assert!(
        complaint.contains("is `${CARGO_BIN_EXE_save}` meant?"),
        "{complaint}"
    );
    let complaint = read(
        "description: x\nworkload: { run: [a], files: { a: { from: \"${CARGO_BIN_EXE_other}\" } } }\n",
    );
    let complaint = complaint.unwrap_err();
    assert!(
        complaint.contains("by hand: CARGO_BIN_EXE_other=target/debug/other"),
        "{complaint}"
    );
}

#[test]
fn a_file_of_the_author_is_not_replaced_by_a_program() {
    let complaint = read(
        "description: x\nworkload: { run: [\"${CARGO_BIN_EXE_save}\"], files: { save: mine } }\n",
    );
    let complaint = complaint.unwrap_err();
    assert!(
        complaint.contains("is laid out as `save`, and so is another file"),
        "{complaint}"
    );
}
