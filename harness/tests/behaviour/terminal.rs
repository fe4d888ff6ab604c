//! What a workload or a recording says of itself reaches a person as text: it neither steers the
//! terminal nor makes lines of its own among those of the program.

use std::fs;

use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};

/// Clears the screen, says that all is well, orders something of a CI system, turns the direction
/// of writing.
const HOSTILE: &str = "\\033[2J\\033[H\\n      pass  everything\\n::error::x\\rpass  everything\\n\
    x ##[group]##vso[task.complete]##teamcity[y]\\n\\342\\200\\256\\302\\233";

/// Nothing of it came through.
#[track_caller]
fn assert_harmless(text: &str) {
    for c in ['\u{1b}', '\r', '\u{202e}', '\u{9b}', '\u{2028}'] {
        assert!(!text.contains(c), "{c:?} in {text:?}");
    }
    for line in text.lines() {
        let line = line.trim_start();
        let is_forged = line.starts_with("pass  everything") || line.starts_with("::");
        assert!(!is_forged, "{text}");
    }
    for order in ["##[", "##vso[", "##teamcity["] {
        assert!(!text.contains(order), "{order} in {text}");
    }
}

#[track_caller]
fn assert_all_harmless(run: &Run) {
    assert_harmless(&run.stdout);
    assert_harmless(&run.stderr);
}

#[test]
fn what_a_workload_prints_neither_steers_the_terminal_nor_forges_a_line() {
    require!(right_to_trace());
    let project = Project::with(
        "x",
        &format!(
            "workload: {{ shell: 'printf \"{HOSTILE}\" >&2; printf \"{HOSTILE}\"; printf \"{HOSTILE}\" >f; exit 3' }}"
        ),
    );
    project.write(
        "scenarios/y.yaml",
        &format!(
            "description: z\nworkload: {{ shell: 'printf \"{HOSTILE}\" | tee f' }}\n\
             expect: {{ stdout: other, files_after: {{ f: other }} }}\n"
        ),
    );
    for form in ["human", "json", "junit", "ktap", "markdown", "html"] {
        let run = project.harness(&["run", "--format", form, "scenarios"]);
        assert_all_harmless(run.assert_status(1));
        assert!(run.stdout.contains("everything"), "{form}: {}", run.stdout);
    }
    // Of commands to GitHub there is one for each scenario.
    let run = project.harness(&["run", "--format", "github", "scenarios"]);
    let is_own = |line: &str| line.starts_with("::error file=scenarios/");
    assert!(run.stdout.lines().all(is_own), "{}", run.stdout);
    assert_eq!(run.stdout.lines().count(), 2);
    assert_harmless(&run.stdout.replace("::error file=", ""));
    let made = project.harness(&[
        "new",
        "-o",
        "n.yaml",
        "--",
        "sh",
        "-c",
        &format!("printf '{HOSTILE}' >&2; exit 3"),
    ]);
    assert_all_harmless(&made);
    if made.status == 0 {
        assert_harmless(&project.read("n.yaml").replace("::", "").replace("##", ""));
    }
}

#[test]
fn names_of_tasks_files_and_scenarios_are_on_one_line() {
    require!(right_to_trace());
    let project = Project::new();
    let program = "perl -e '$0 = \"\\e[2Jx\\npass  y\"; $f = \"a\\n      pass  everything\\e[2J\\r\"; open F, \">\", $f; mkdir \"d\\e[1m\"; \
         system {$^X} $^X, \"-e\", \"1\", $f'";
    let name = "it\n      pass  everything\u{1b}[2J";
    let yaml = format!(
        "description: \"a\\e[2J\\n      pass  everything\"\nworkload:\n  shell: |\n    {program}\n\
         trace: {{ events: [{{ syscalls: [execve, openat, mkdir, clone, vfork, wait4] }}], since: main }}\n"
    );
    fs::write(project.join(&format!("scenarios/{name}.yaml")), yaml).expect("a scenario");
    let run = project.harness(&["run", "scenarios"]);
    assert_all_harmless(&run);
    assert!(run.stdout.contains("it\\n      pass"), "{}", run.stdout);
    let review = project.harness(&["review"]);
    assert_all_harmless(&review);
    let dumped = project.join("r.perf.data");
    let dumped = dumped.to_str().expect("a path of letters");
    let words = ["sh", "-c", program];
    let traced = project.harness(
        &[
            &["trace", "--sched", "--summary", "--save", dumped, "--"][..],
            &words,
        ]
        .concat(),
    );
    assert_all_harmless(&traced);
    for command in [
        &["diff", dumped, dumped][..],
        &["script", "-i", dumped, "--show-all-events"],
        &["dump", "-i", dumped],
    ] {
        assert_all_harmless(&project.harness(command));
    }
}

#[test]
fn a_name_of_a_recording_ends_no_line_of_a_script() {
    let place = tempfile::tempdir().expect("a folder");
    let file = place.path().join("perf.data");
    let path = file.to_str().expect("a path of letters").to_owned();
    let fixture = format!(
        "{}/fixtures/perfdata/events.data",
        env!("CARGO_MANIFEST_DIR")
    );
    let mut bytes = fs::read(fixture).expect("a recording");
    let project = Project::new();
    let of = |arguments: &[&str]| {
        let run = project.harness(&[arguments, &["-i", &path]].concat());
        assert_all_harmless(&run);
        run.stdout
    };
    fs::write(&file, &bytes).expect("a file");
    let forms = [
        &["script", "--show-all-events"][..],
        &["script", "--format", "json"],
        &["dump"],
    ];
    let before = forms.map(|form| of(form).lines().count());
    // As long as `true`: the name of a task, a file and a mapping.
    let places: Vec<usize> = (0..bytes.len() - 5)
        .filter(|at| &bytes[*at..*at + 5] == b"true\0")
        .collect();
    assert!(places.len() > 3);
    for at in places {
        bytes[at..at + 4].copy_from_slice(b"\n\x1b\r\x7f");
    }
    fs::write(&file, &bytes).expect("a file");
    for (form, lines) in forms.iter().zip(before) {
        let text = of(form);
        assert_eq!(text.lines().count(), lines, "{form:?}");
    }
    assert!(of(&["script"]).contains("\\n\\u{1b}\\r\\u{7f}"));
}

type Environment<'a> = &'a [(&'a str, &'a str)];

/// What a command writes to a terminal, both outputs in their order.
fn on_terminal(project: &Project, environment: Environment<'_>, arguments: &[&str]) -> String {
    // It copies what the terminal gets, and ends with the command's status.
    const SPAWN: &str = "import os, pty, sys\n\
        sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let words = [
        &["python3", "-c", SPAWN, env!("CARGO_BIN_EXE_harness")],
        arguments,
    ];
    let run = project.run(environment, &words.concat());
    run.assert_status(0);
    run.stdout
}

/// The lines of a terminal that got this text, without colours.
fn screen(text: &str) -> Vec<String> {
    let mut lines = vec![Vec::new()];
    let mut column = 0;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let line = lines.last_mut().expect("a line");
        match c {
            '\r' => column = 0,
            '\n' => lines.push(Vec::new()),
            '\u{1b}' => {
                let sequence: String = rest
                    .by_ref()
                    .take_while(|c| *c != 'm' && *c != 'K')
                    .collect();
                if sequence == "[" {
                    line.truncate(column);
                }
            }
            c => {
                line.resize(line.len().max(column + 1), ' ');
                line[column] = c;
                column += 1;
            }
        }
    }
    let lines = lines.into_iter().map(|line| line.into_iter().collect());
    lines.filter(|line: &String| !line.is_empty()).collect()
}

#[test]
fn a_terminal_has_colours_and_progress_as_its_user_wants_them() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    for name in ["a", "b"] {
        project.scenario(name, "workload: { run: [\"true\"] }\nsnapshot: false");
    }
    let run = ["run", "--jobs", "1", "--repeat", "3", "scenarios"];
    let cases: [(Environment<'_>, bool, bool); 5] = [
        (&[("TERM", "xterm")], true, true),
        (&[("TERM", "xterm"), ("NO_COLOR", "")], true, true),
        (&[("TERM", "xterm"), ("NO_COLOR", "1")], false, true),
        (&[("TERM", "dumb")], false, false),
        (&[("TERM", "dumb"), ("NO_COLOR", "1")], false, false),
    ];
    for (environment, has_colors, has_progress) in cases {
        let text = on_terminal(&project, environment, &run);
        assert_eq!(
            text.contains("\u{1b}[32m"),
            has_colors,
            "{environment:?} {text:?}"
        );
        for progress in ["\r\u{1b}[K0 of 2 done, run 1 of 6", "\r\u{1b}[K1 of 2 done"] {
            assert_eq!(
                text.contains(progress),
                has_progress,
                "{environment:?} {text:?}"
            );
        }
        if !has_progress {
            assert!(!text.contains('\u{1b}'), "{environment:?} {text:?}");
        }
        let lines = screen(&text);
        let begun = |line: &String| line.split("  (").next().map(str::to_owned);
        let begun: Vec<String> = lines.iter().filter_map(begun).collect();
        let expected = ["      pass  a", "      pass  b", "2 scenarios: 2 pass"];
        assert_eq!(begun, expected, "{environment:?} {text:?}");
        assert!(
            lines.iter().take(2).all(|line| line.ends_with(" events)")),
            "{lines:?}"
        );
    }
}

#[test]
fn a_terminal_has_the_progress_of_many_states_and_runs_and_a_file_has_not() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    let cut = "workload: { shell: '> f' }\ncrash: { recovers: { run: ['true'] } }\nsnapshot: false";
    project.scenario("cut", cut);
    let swept = "workload: { shell: 'mkdir a || mkdir b || exit 0' }\n\
        trace: { events: [{ syscalls: [mkdir, mkdirat] }] }\nsnapshot: false";
    project.scenario("swept", swept);
    let cases = [
        (["crash", "scenarios/cut.yaml"], "states"),
        (["sweep", "scenarios/swept.yaml"], "runs"),
    ];
    for (words, what) in cases {
        let text = on_terminal(&project, &[("TERM", "xterm")], &words);
        let mut told = text.split("\r\u{1b}[K1 of ").skip(1);
        let told = told.next().unwrap_or_else(|| panic!("{text:?}"));
        let told = told.split('\r').next().expect("a line");
        assert!(told.contains(&format!(" {what}, about ")), "{text:?}");
        // In the end nothing is left of it.
        assert!(
            !screen(&text).iter().any(|line| line.contains("about")),
            "{text:?}"
        );
        let run = project.harness(&words);
        assert!(!run.stderr.contains("left"), "{}", run.stderr);
    }
}

/// The test's own terminal: of a text that is overwritten the tail stays, unless it is erased.
#[test]
fn a_screen_keeps_what_nobody_erased() {
    assert_eq!(screen("12345\rab\r\n"), ["ab345"]);
    assert_eq!(screen("12345\r\u{1b}[Kab\r\nc"), ["ab", "c"]);
    assert_eq!(screen("\u{1b}[32mx\u{1b}[0m\r\n"), ["x"]);
}
