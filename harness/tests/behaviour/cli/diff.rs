//! `harness diff`: of two runs of a program it says what a person would.

use crate::support::oracle;
use crate::support::project::{Project, Run};
use crate::support::require::{require, right_to_trace};
use crate::support::unread::Unread;

/// Two runs of each command, as text, as script and as recordings; the project has their files
/// `a.txt`, `b.txt`, `a.data` and so on.
fn two_runs(commands: [&[&str]; 2]) -> Project {
    let project = Project::new();
    for (name, command) in ["a", "b"].into_iter().zip(commands) {
        let (text, data) = (format!("{name}.txt"), format!("{name}.data"));
        let own = ["trace", "-o", &text, "--save", &data, "--"];
        let words = [&own[..], command].concat();
        project.harness(&words).assert_status(0);
        let script = project.harness(&["script", "-i", &data]);
        script.assert_status(0);
        project.write(&format!("{name}.script"), &script.stdout);
    }
    project
}

#[test]
fn two_runs_of_a_program_do_not_differ_in_whatever_form_they_are_kept() {
    require!(right_to_trace());
    let command = [
        "env",
        "-i",
        "find",
        "/etc/hostname",
        "-exec",
        "cat",
        "{}",
        ";",
    ];
    let project = two_runs([&command, &command]);
    assert_ne!(project.read("a.txt"), project.read("b.txt"), "ids differ");
    for form in ["txt", "data"] {
        let run = project.harness(&["diff", &format!("a.{form}"), &format!("b.{form}")]);
        assert_eq!((run.stdout.as_str(), run.status), ("", 0), "{form}");
    }
    // One text says less than a recording: each of its lines would differ.
    for words in [["a.txt", "a.data"], ["a.data", "a.txt"]] {
        let run = project.harness(&["diff", words[0], words[1]]);
        assert_eq!((run.stdout.as_str(), run.status), ("", 2), "{words:?}");
        let hint = "hint: print that as well (harness trace -i a.data -o FILE)";
        assert!(run.stderr.contains(hint), "{}", run.stderr);
    }
    // A script shows all registers of a call, and those that the call does not take hold anything.
    let run = project.harness(&["diff", "a.script", "b.script"]);
    let lines = run.stdout.lines().skip(2);
    let differing: Vec<&str> = lines.filter(|line| line.starts_with(['-', '+'])).collect();
    let is_of_registers = |line: &&str| line.contains("  raw_syscalls:sys_enter NR ");
    assert!(differing.iter().all(is_of_registers), "{}", run.stdout);
}

#[test]
fn a_process_more_and_another_argument_are_all_that_is_said() {
    require!(right_to_trace());
    let once = [
        "env",
        "-i",
        "find",
        "/etc/hostname",
        "-exec",
        "cat",
        "{}",
        ";",
    ];
    let twice = [
        "env",
        "-i",
        "find",
        "/etc/hostname",
        "-exec",
        "true",
        ";",
        "-exec",
        "cat",
        "{}",
        ";",
    ];
    let project = two_runs([&once, &twice]);
    for form in ["txt", "data"] {
        let (a, b) = (format!("a.{form}"), format!("b.{form}"));
        let run = project.harness(&["diff", &a, &b]);
        run.assert_status(1);
        let heads = |sign: char| -> Vec<&str> {
            let lines = run
                .stdout
                .lines()
                .filter_map(|line| line.strip_prefix(sign));
            lines.filter(|line| line.starts_with('P')).collect()
        };
        assert_eq!(heads('+'), ["P2 true, child of P1"], "{}", run.stdout);
        assert_eq!(heads('-'), [""; 0], "{}", run.stdout);
        // The other child has another number, and does the same.
        let lines = run.stdout.lines().filter(|line| line.contains("hostname"));
        let differing: Vec<&str> = lines.filter(|line| !line.starts_with(' ')).collect();
        assert!(
            differing.iter().all(|line| line.contains("execve(")),
            "{}",
            run.stdout
        );
        let beside = project.harness(&["diff", "--side-by-side", "--width", "100", &a, &b]);
        beside.assert_status(1);
        assert!(
            beside.stdout.contains("> P2 true, child of P1\n"),
            "{}",
            beside.stdout
        );
        assert!(
            beside
                .stdout
                .lines()
                .all(|line| line.chars().count() <= 100),
            "{}",
            beside.stdout
        );
    }
}

#[test]
fn a_recording_that_lost_events_is_not_said_to_be_the_same() {
    require!(right_to_trace());
    let project = Project::new();
    let mut unread = Unread::new(&project);
    let script = unread.shell(&format!("{} flood 20000", oracle::path()));
    let own = ["trace", "-m", "4KiB", "-o", "/dev/null", "--save", "a.data"];
    let words = [&own[..], &["--", "sh", "-c", &script]].concat();
    unread.run(&mut project.program(&words)).assert_status(125);
    let run = project.harness(&["diff", "a.data", "a.data"]);
    run.assert_status(2);
    assert!(
        run.stderr.contains("`a.data`: events were lost"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_cannot_be_read_is_said_with_its_name() {
    let project = Project::new();
    project.write("a.json", "{}\n");
    let run = project.harness(&["diff", "a.json", "missing"]);
    run.assert_status(2);
    assert!(
        run.stderr.contains("cannot read `a.json`: it is JSON"),
        "{}",
        run.stderr
    );
    project.write("a.txt", "P1 sh\n  close(3) = 0\n");
    let run = project.harness(&["diff", "a.txt", "missing"]);
    run.assert_status(2);
    assert!(
        run.stderr.contains("cannot read `missing`: "),
        "{}",
        run.stderr
    );
}

#[test]
fn a_file_that_is_no_trace_is_said_to_be_none() {
    let project = Project::new();
    project.write(
        "trace.snap",
        "---\nsource: x\n---\n# trace 2, level sequence\n\nP1 sh\n  a() = 0\n",
    );
    project.write("empty", "");
    project.write("other.snap", "---\nsource: x\n---\nrubbish\n");
    project.write("garbage", "garbage\n");
    // As by strace without ids.
    project.write("without-ids", "fsync(3) = 0\nsync() = 0\n");
    for name in ["garbage", "without-ids", "other.snap"] {
        for words in [["diff", name, name], ["diff", "trace.snap", name]] {
            let run = project.harness(&words);
            assert_eq!((run.stdout.as_str(), run.status), ("", 2), "{words:?}");
            let said = format!("cannot read `{name}`: it is no trace");
            assert!(run.stderr.contains(&said), "{}", run.stderr);
        }
    }
    project
        .harness(&["diff", "empty", "empty"])
        .assert_status(0);
    let run = project.harness(&["diff", "trace.snap", "trace.snap"]);
    run.assert_status(0);
}

/// Traces a flood that nobody reads, into `a.txt` and `a.data`.
fn flood(project: &Project, how: &[&str]) -> Run {
    let mut unread = Unread::new(project);
    let script = unread.shell(&format!("{} flood 20000", oracle::path()));
    let words = [
        how,
        &["-m", "4KiB", "-e", "getppid", "--", "sh", "-c", &script],
    ]
    .concat();
    let run = unread.run(&mut project.program(&words));
    run.assert_status(125);
    run
}

/// The number in front of these words.
fn number(said: &str, words: &str) -> u64 {
    let before = said.split(words).next().filter(|it| *it != said);
    let number = before.and_then(|it| it.rsplit([' ', '\n']).next());
    let number = number.and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("no number of {words}: {said}"))
}

#[test]
fn a_text_of_a_trace_that_lost_events_says_so_and_is_never_the_same_as_another() {
    require!(right_to_trace());
    let project = Project::new();
    let how = ["trace", "-o", "a.txt", "--save", "a.data"];
    let run = flood(&project, &how);
    let lost = number(&run.stderr, " records lost");
    let text = project.read("a.txt");
    let end = format!("\n--- incomplete: {lost} records lost\n");
    assert!(text.ends_with(&end), "{}", &text[text.len() - 100..]);
    for form in ["txt", "data"] {
        let file = format!("a.{form}");
        let run = project.harness(&["diff", &file, &file]);
        assert_eq!((run.stdout.as_str(), run.status), ("", 2), "{form}");
        let said = "what there is does not differ, but it is not all";
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    let printed = project.harness(&["trace", "-i", "a.data"]);
    printed.assert_status(125);
    assert!(printed.stdout.ends_with(&end), "{}", printed.stderr);
    project
        .harness(&["trace", "-o", "b.txt", "true"])
        .assert_status(0);
    assert!(!project.read("b.txt").contains("incomplete"));
}

#[test]
fn what_a_recording_lost_is_told_once_though_the_kernel_and_the_recorder_say_it() {
    require!(right_to_trace());
    let project = Project::new();
    let run = flood(&project, &["record", "-o", "a.data"]);
    let lost = number(&run.stderr, " lost, ");
    assert!(lost > 0, "{}", run.stderr);
    let script = project.harness(&["script", "-i", "a.data"]);
    let words = " records were lost when this was recorded";
    assert_eq!(number(&script.stderr, words), lost, "{}", run.stderr);
    let trace = project.harness(&["trace", "-i", "a.data"]);
    trace.assert_status(125);
    let words = " records lost";
    assert_eq!(number(&trace.stderr, words), lost, "{}", trace.stderr);
}
