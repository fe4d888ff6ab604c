//! New scenarios: what is written passes at once, and so does what it suggests.

mod durability;
mod paths;

use crate::support::project::{Project, Run};
use crate::support::require::{require, right_to_trace};

/// Replaces a file as one should.
const SAVE: &str = "use IO::Handle;\n\
                    open my $new, '>', 'config.new' or die;\n\
                    print $new \"a = 1\\n\";\n\
                    $new->flush; $new->sync; close $new;\n\
                    rename 'config.new', 'config' or die;\n\
                    print \"saved\\n\";\n";

/// Calls the harness where names of programs are what they are in the sandbox.
fn here(project: &Project, words: &[&str]) -> Run {
    project.harness_with(&[("PATH", trace_harness::run::PATH)], words)
}

fn new(project: &Project, name: &str, command: &[&str]) -> Run {
    here(
        project,
        &[&["new", name, "-n", "10", "--"], command].concat(),
    )
}

/// The text with all that is commented out and no prose.
fn with_suggestions(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let code = line.trim_start().strip_prefix('#');
        let is_code = code.is_some_and(|code| {
            let starts_with = |keys: &[&str]| keys.iter().any(|key| code.starts_with(key));
            let element = ["- ", "then: ", "there_is: "];
            let code = code.trim_start_matches(' ');
            element.iter().any(|key| code.starts_with(key))
                || starts_with(&["sequence:", "between:", "never:", "count:"])
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
fn a_command_that_is_another_program_in_the_sandbox_is_not_tested_in_its_place() {
    require!(right_to_trace());
    let project = Project::new();
    std::fs::create_dir(project.join("mine")).expect("a folder");
    // The sandbox has its own `true`, and the folder of this one may be hidden there or not.
    project.copy_program("/bin/false", "mine/true");
    let mine = project.join("mine");
    let path = format!(
        "{}:{}",
        mine.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let with = |words: &[&str]| project.harness_with(&[("PATH", &path)], words);
    let said = format!("`{}`", mine.join("true").display());
    let is_hidden = mine.starts_with("/tmp") || mine.starts_with("/run");
    let run = with(&["new", "x", "-n", "2", "--", "true"]);
    run.assert_status(i32::from(is_hidden));
    assert!(run.stderr.contains(&said), "{run:?}");
    // There is no scenario yet whose keys could say it.
    assert_eq!(
        run.stderr.contains("hint: --root host"),
        is_hidden,
        "{run:?}"
    );
    assert!(!run.stderr.contains("workload.files"), "{run:?}");
    assert_eq!(project.join("scenarios/x.yaml").exists(), !is_hidden);
    let run = with(&["trace", "--sandbox", "--", "true"]);
    assert_eq!(run.stderr.contains(&said), is_hidden, "{run:?}");
    // Who says which `PATH` is meant, or which file, is not asked.
    with(&[
        "new",
        "y",
        "-n",
        "2",
        "--env",
        "PATH=/usr/bin:/bin",
        "--",
        "true",
    ])
    .assert_status(0);
    with(&["new", "z", "-n", "2", "--", "/bin/true"]).assert_status(0);
    // A scenario means the same whoever runs it.
    project.scenario("w", "workload: { run: [\"true\"] }\nsnapshot: false");
    with(&["run", "scenarios/w.yaml"]).assert_status(0);
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
    let command = [
        "new", "odd", "-n", "10", "--exit", "3", "--", "sh", "-c", text,
    ];
    project.harness(&command).assert_status(0);
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

#[test]
fn only_what_an_argument_names_as_a_whole_is_laid_in() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("t/a", "x\n");
    let run = new(&project, "sql", &["echo", "create table t(a)"]);
    run.assert_status(0);
    assert!(!run.stdout.contains("laid in"), "{run:?}");
    assert!(!project.read("scenarios/sql.yaml").contains("files:"));
    let pipe = nix::sys::stat::Mode::S_IRUSR;
    std::fs::create_dir(project.join("pipes")).expect("a folder");
    nix::unistd::mkfifo(&project.join("pipes/pipe"), pipe).expect("a pipe");
    let run = new(&project, "named", &["echo", "pipes"]);
    run.assert_status(0);
    assert!(
        run.stderr
            .contains("not laid in: pipes, which has no files"),
        "{run:?}"
    );
    let run = project.harness(&["new", "asked", "--file", "pipes", "--", "true"]);
    run.assert_status(2);
    assert!(run.stderr.contains("`pipes` has no files"), "{run:?}");
}

#[test]
fn a_command_that_fails_is_run_once_and_recorded_only_if_that_is_wanted() {
    require!(right_to_trace());
    let project = Project::new();
    let fails = ["sh", "-c", "echo missing >&2; exit 3"];
    let run = new(&project, "fails", &fails);
    run.assert_status(1);
    for said in [
        "exit status 3, saying `missing`",
        "--exit 3 records it",
        "--file",
    ] {
        assert!(run.stderr.contains(said), "{said}: {run:?}");
    }
    assert!(!project.join("scenarios/fails.yaml").exists());
    let with = |name: &str, exit: &str, command: &[&str]| {
        let options = ["new", name, "-n", "2", "--exit", exit, "--"];
        project.harness(&[&options, command].concat())
    };
    with("fails", "3", &fails).assert_status(0);
    assert!(project.read("scenarios/fails.yaml").contains("  exit: 3\n"));
    with("well", "3", &["true"]).assert_status(1);
    with("killed", "SIGTERM", &["sh", "-c", "kill -TERM $$"]).assert_status(0);
    let text = project.read("scenarios/killed.yaml");
    assert!(text.contains("  exit: { signal: SIGTERM }\n"), "{text}");
    with("odd", "300", &["true"]).assert_status(2);
}

#[test]
fn what_the_command_finds_around_it_is_written() {
    require!(right_to_trace());
    let project = Project::new();
    project.write("in.txt", "one\n");
    let command = ["sh", "-c", "echo \"$GREETING\"; cat; hostname; id -u"];
    let options = [
        "new",
        "world",
        "-n",
        "2",
        "--env",
        "GREETING=a b",
        "--stdin",
        "in.txt",
        "--network",
        "host",
        "--user",
        "65534",
        "--survivors",
        "allowed",
        "--",
    ];
    project
        .harness(&[&options[..], &command[..]].concat())
        .assert_status(0);
    let text = project.read("scenarios/world.yaml");
    for line in [
        "  env: { GREETING: \"a b\" }\n",
        "  stdin: \"one\\n\"\n",
        "sandbox: { network: host, user: 65534, survivors: allowed }\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    assert!(text.contains("a b\n    one\n"), "{text}");
    let empty = [
        "new",
        "empty",
        "-n",
        "2",
        "--stdin",
        "/dev/null",
        "--",
        "cat",
    ];
    project.harness(&empty).assert_status(0);
    assert!(!project.read("scenarios/empty.yaml").contains("stdin"));
    project.harness(&["run", "scenarios"]).assert_status(0);
    for wrong in [
        ["--env", "GREETING"],
        ["--network", "some"],
        ["--stdin", "no-such-file"],
    ] {
        let run = project.harness(&[&["new", "wrong"], &wrong[..], &["--", "true"]].concat());
        run.assert_status(2);
    }
}

#[test]
fn a_program_that_does_something_else_in_each_run_becomes_a_scenario_without_a_snapshot() {
    require!(right_to_trace());
    let project = Project::new();
    let text = "exec(rand() < 0.5 ? ('true') : ('test', '1'))";
    let run = new(&project, "either", &["perl", "-e", text]);
    run.assert_status(0);
    assert!(run.stdout.contains("no snapshot: "), "{run:?}");
    assert!(
        run.stdout.contains("written: scenarios/either.yaml\n"),
        "{run:?}"
    );
    let text = project.read("scenarios/either.yaml");
    assert!(
        text.contains("\n# No snapshot is the same in each run: "),
        "{text}"
    );
    assert!(text.ends_with("\nsnapshot: false\n"), "{text}");
    assert!(project.snapshots().is_empty());
    let repeated = ["run", "scenarios", "--repeat", "10"];
    project.harness(&repeated).assert_status(0);
}

#[test]
fn what_the_loader_does_is_left_out_of_events_of_the_authors_own() {
    require!(right_to_trace());
    let project = Project::new();
    let options = ["new", "own", "-n", "2", "-e", "openat,close", "--", "true"];
    project.harness(&options).assert_status(0);
    let text = project.read("scenarios/own.yaml");
    assert!(text.contains("  since: main\n"), "{text}");
    let snapshot = project.read("snapshots/own.snap");
    assert!(!snapshot.contains("ld.so.cache"), "{snapshot}");
    let options = [
        "new",
        "events",
        "-n",
        "2",
        "-e",
        "sched:sched_process_exec",
        "--",
        "true",
    ];
    project.harness(&options).assert_status(0);
    let text = project.read("scenarios/events.yaml");
    assert!(!text.contains("since:"), "{text}");
}
