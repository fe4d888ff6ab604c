//! New scenarios: what is written passes at once, and so does what it suggests.

use crate::support::project::{Project, Run};
use crate::support::require::{require, right_to_trace};

/// Replaces a file as one should.
const SAVE: &str = "use IO::Handle;\n\
                    open my $new, '>', 'config.new' or die;\n\
                    print $new \"a = 1\\n\";\n\
                    $new->flush; $new->sync; close $new;\n\
                    rename 'config.new', 'config' or die;\n\
                    print \"saved\\n\";\n";

fn new(project: &Project, name: &str, command: &[&str]) -> Run {
    project.harness(&[&["new", name, "-n", "10", "--"], command].concat())
}

/// The text with all that is commented out and no prose.
fn with_suggestions(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let code = line.trim_start().strip_prefix('#');
        let is_code = code.is_some_and(|code| {
            let key = code.trim_start_matches(' ').starts_with("- ");
            key || ["sequence:", "never:", "count:"]
                .iter()
                .any(|key| code.starts_with(key))
        });
        let line = if is_code {
            line.replacen('#', "", 1)
        } else {
            line.to_owned()
        };
        line + "\n"
    });
    lines.collect()
}

#[test]
fn a_new_scenario_passes_at_once_and_with_all_that_it_suggests() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("save.pl", SAVE);
    project.write("config", "a = 0\n");
    let run = new(&project, "durability/save", &["perl", "save.pl", "config"]);
    run.assert_status(0);
    for said in [
        "laid in, as the command names it: save.pl\n",
        "laid in, as the command names it: config\n",
        "written: scenarios/durability/save.yaml, snapshots/durability/save.snap\n",
    ] {
        assert!(run.stdout.contains(said), "{run:?}");
    }
    let text = project.read("scenarios/durability/save.yaml");
    for line in [
        "  run: [perl, save.pl, config]\n",
        "    save.pl: { from: ../../save.pl }\n",
        "  stdout: \"saved\\n\"\n",
        "  files_after:\n    config: \"a = 1\\n\"\n",
        "  #  - fsync: { fd: $file, returns: 0 }\n",
        "  #  - rename: { from: $new, to: config, returns: 0 }\n",
        "count: { execve: 1, fsync: 1, rename: 1 }\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    project
        .harness(&["run", "scenarios", "--repeat", "20"])
        .assert_status(0);
    project.write("scenarios/durability/save.yaml", &with_suggestions(&text));
    project
        .harness(&["run", "scenarios", "--repeat", "5"])
        .assert_status(0);
    // It is a test: a save without the sync fails by what was suggested.
    project.write("save.pl", &SAVE.replace("$new->sync;", ""));
    let run = project.harness(&["run", "scenarios"]);
    run.assert_status(1);
    assert!(run.stdout.contains("fsync"), "{run:?}");
    project.assert_nothing_left();
}

#[test]
fn what_is_another_output_in_each_run_is_not_expected() {
    require!(right_to_trace());
    let project = Project::new();
    let text = "head -c 9 /dev/urandom | od -x; date; echo wrong >&2; exit 3";
    new(&project, "odd", &["sh", "-c", text]).assert_status(0);
    let file = project.read("scenarios/odd.yaml");
    assert!(file.contains("  exit: 3\n"), "{file}");
    assert!(file.contains("  stderr: \"wrong\\n\"\n"), "{file}");
    assert!(
        file.contains("\n  # stdout differs in each run: "),
        "{file}"
    );
    assert!(!file.contains("\n  stdout:"), "{file}");
    assert!(file.contains("  shell: "), "{file}");
    project
        .harness(&["run", "scenarios", "--repeat", "5"])
        .assert_status(0);
}

#[test]
fn what_is_there_is_never_overwritten() {
    let project = Project::with("old", "workload: { run: [ls] }");
    project.write("snapshots/seen.snap", "---\nsource: x\n---\nx\n");
    let before = (project.files("scenarios"), project.files("snapshots"));
    for name in ["old", "scenarios/old.yaml", "seen"] {
        let run = new(&project, name, &["true"]);
        run.assert_status(2);
        assert!(run.stderr.contains("is there already"), "{run:?}");
    }
    for name in ["../old", "/old", "a/../b"] {
        let run = new(&project, name, &["true"]);
        run.assert_status(2);
        assert!(
            run.stderr.contains("is no name below `scenarios`"),
            "{run:?}"
        );
    }
    let ci = project.harness_with(&[("CI", "1")], &["new", "x", "--", "true"]);
    ci.assert_status(2);
    assert_eq!(
        before,
        (project.files("scenarios"), project.files("snapshots"))
    );
}

#[test]
fn a_command_that_is_no_test_leaves_nothing() {
    require!(right_to_trace());
    let project = Project::new();
    for (command, status, says) in [
        (&["no-such-command"][..], 1, "no-such-command"),
        (&["sleep", "100"], 1, "timeout"),
        (&["sh", "-c", "sleep 100 &"], 1, "outlived the main process"),
    ] {
        let arguments = [&["new", "a/b/c", "--timeout", "1", "--"], command].concat();
        let run = project.harness(&arguments);
        run.assert_status(status);
        assert!(run.stderr.contains(says), "{run:?}");
    }
    assert!(!project.join("scenarios/a").exists());
    assert!(project.snapshots().is_empty());
    project.assert_nothing_left();
}
