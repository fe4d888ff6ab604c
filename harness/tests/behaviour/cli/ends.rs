//! Standard output and error that take nothing: every command that the program has, against each of
//! them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use super::PASSES;
use crate::support::project::{Project, Run};
use crate::support::require::{require, right_to_trace};

/// A command: its name, the words behind it, what its standard output is, and the statuses it ends
/// with.
struct Case {
    name: &'static str,
    words: &'static [&'static str],
    ends: Ends,
}

/// The statuses where all is well, where what was asked for cannot be written, and where its reader
/// has gone away.
#[derive(Clone, Copy)]
enum Ends {
    /// What was asked for goes to standard output.
    Output { well: i32, full: i32, gone: i32 },
    /// To standard error.
    Error { well: i32, full: i32, gone: i32 },
    /// To neither.
    Neither { well: i32 },
}

/// A command that only prints.
const PRINTS: Ends = prints(0);

const fn prints(well: i32) -> Ends {
    Ends::Output {
        well,
        full: 2,
        gone: 141,
    }
}

/// One that works, and tells what it did.
const fn works(well: i32) -> Ends {
    Ends::Output {
        well,
        full: 99,
        gone: well,
    }
}

/// One whose trace or counts go to standard error.
const ON_ERROR: Ends = Ends::Error {
    well: 0,
    full: 125,
    gone: 125,
};

/// Every command of `harness --help`, and the forms of it that write elsewhere.
const CASES: &[Case] = &[
    case("run", &["scenarios"], works(0)),
    case(
        "run",
        &["--format", "json", "--traces", "scenarios"],
        works(0),
    ),
    case("run", &["--format", "junit", "scenarios"], works(0)),
    case("run", &["--format", "ktap", "scenarios"], works(0)),
    case("merge", &["part.jsonl"], works(0)),
    case("merge", &["--format", "json", "part.jsonl"], works(0)),
    case("new", &["fresh", "-n", "2", "--", "true"], works(0)),
    case("trace", &["true"], ON_ERROR),
    case("trace", &["--format", "json", "true"], ON_ERROR),
    case("trace", &["-o", "t", "true"], Ends::Neither { well: 0 }),
    case(
        "trace",
        &["-i", "run.data"],
        Ends::Output {
            well: 0,
            full: 125,
            gone: 141,
        },
    ),
    case(
        "record",
        &["-e", "sched:sched_process_exec", "-o", "-", "true"],
        Ends::Output {
            well: 0,
            full: 125,
            gone: 125,
        },
    ),
    case(
        "record",
        &["-e", "sched:sched_process_exec", "-o", "r", "true"],
        Ends::Neither { well: 0 },
    ),
    case("check", &["--", "true"], ON_ERROR),
    case(
        "check",
        &["-o", "c", "--", "true"],
        Ends::Neither { well: 0 },
    ),
    case("stat", &["true"], ON_ERROR),
    case("stat", &["-o", "s", "true"], Ends::Neither { well: 0 }),
    case(
        "inject",
        &["-b", "-i", "run.data"],
        Ends::Output {
            well: 0,
            full: 1,
            gone: 141,
        },
    ),
    case(
        "inject",
        &["-b", "-i", "run.data", "-o", "i"],
        Ends::Neither { well: 0 },
    ),
    case("script", &["-i", "run.data"], PRINTS),
    case("dump", &["-i", "run.data"], PRINTS),
    case(
        "calibrate",
        &["--dry-run", "-n", "2", "scenarios/a.yaml"],
        works(0),
    ),
    case("mutate", &["scenarios"], works(1)),
    case("crash", &["crashed.yaml"], works(0)),
    case("crash", &["--format", "json", "crashed.yaml"], works(0)),
    case("sweep", &["swept.yaml"], works(0)),
    case("sweep", &["--format", "json", "swept.yaml"], works(0)),
    case("policy", &["--format", "oci", "swept.yaml"], works(0)),
    case("policy", &["--format", "systemd", "swept.yaml"], works(0)),
    case("review", &["snapshots"], PRINTS),
    case("events", &["sched:*"], PRINTS),
    case(
        "matrix",
        &["--kernels", "kernels.yaml", "scenarios"],
        works(0),
    ),
    case("diff", &["left", "right"], prints(1)),
    // The command that is run has what the harness has.
    case(
        "vm",
        &["--kernels", "kernels.yaml", "--", "true"],
        Ends::Neither { well: 0 },
    ),
    case("doctor", &[], PRINTS),
    case("schema", &[], PRINTS),
    case("completions", &["bash"], PRINTS),
    case("man", &[], PRINTS),
    case("help", &[], PRINTS),
];

const fn case(name: &'static str, words: &'static [&'static str], ends: Ends) -> Case {
    Case { name, words, ends }
}

/// The commands that the program says it has.
fn commands(project: &Project) -> Vec<String> {
    let help = project.harness(&["--help"]);
    help.assert_status(0);
    let lines = help.stdout.lines();
    let lines = lines.take_while(|line| *line != "Options:");
    // A name stands at the second column, below the heading of its group.
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// What all cases read.
fn project() -> Project {
    let project = Project::with("a", PASSES);
    project.write("left", "P1 true\n  close(3) = 0\n");
    project.write("right", "P1 true\n  close(4) = 0\n");
    project.write("kernels.yaml", "here: host\n");
    let swept = "description: it makes a folder\nworkload: { run: [mkdir, d] }\n\
                 trace: { events: [{ syscalls: [mkdir] }] }\nsnapshot: false\n";
    let crashed = "description: it saves\nworkload: { shell: 'echo a > b; sync b; sync .' }\n\
        trace: { events: [{ syscalls: [fsync] }] }\ncrash: { recovers: { run: ['true'] } }\nsnapshot: false\n";
    project.write("crashed.yaml", crashed);
    project.write("swept.yaml", swept);
    let saved = project.harness(&["trace", "--save", "run.data", "-o", "trace", "true"]);
    saved.assert_status(0);
    let part = project.harness(&["run", "--shard", "1/1", "--format", "json", "scenarios"]);
    project.write("part.jsonl", &part.stdout);
    project
}

/// One command in a folder where none has been before, so that each does all that it does.
fn end(project: &Project, case: &Case, set: impl FnOnce(&mut Command)) -> Run {
    let made = [
        "scenarios/fresh.yaml",
        "snapshots/fresh.snap",
        "t",
        "r",
        "s",
        "i",
    ];
    for name in made {
        let _none = fs::remove_file(project.join(name));
    }
    let words = [&[case.name], case.words].concat();
    let mut command = project.program(&words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    set(&mut command);
    let output = command.output().expect("the program");
    // A recording is no text.
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Run {
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
        status: output.status.code().expect("a status"),
    }
}

fn full() -> File {
    File::options()
        .write(true)
        .open("/dev/full")
        .expect("/dev/full")
}

/// The writing end of a pipe without a reader.
fn gone() -> OwnedFd {
    let (reader, writer) = nix::unistd::pipe().expect("a pipe");
    drop(reader);
    writer
}

/// A shell that closes a descriptor and becomes the program.
fn closed(project: &Project, case: &Case, which: &str) -> Run {
    end(project, case, |command| {
        let program = command.get_program().to_owned();
        let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let mut shell = project.command("sh");
        shell
            .arg("-c")
            .arg(format!("exec \"$0\" \"$@\" {which}>&-"));
        shell.arg(program).args(words);
        shell.stdout(Stdio::piped()).stderr(Stdio::piped());
        *command = shell;
    })
}

#[test]
fn every_command_has_its_end_where_its_output_is_full_closed_or_unread() {
    require!(right_to_trace());
    let project = project();
    let mut cases: BTreeMap<&str, Vec<&Case>> = BTreeMap::new();
    for case in CASES {
        cases.entry(case.name).or_default().push(case);
    }
    let known: Vec<String> = cases.keys().map(|name| (*name).to_owned()).collect();
    let mut there = commands(&project);
    there.sort();
    assert_eq!(
        there, known,
        "the commands of --help, and those of this table"
    );
    for case in CASES {
        check(&project, case);
    }
    project.assert_nothing_left();
}

fn check(project: &Project, case: &Case) {
    let about = format!("{} {}", case.name, case.words.join(" "));
    let expect = |how: &str, run: &Run, status: i32| {
        assert_eq!(run.status, status, "{about}, {how}: {run:?}");
        for text in [&run.stdout, &run.stderr] {
            assert!(!text.contains("panicked"), "{about}, {how}: {text}");
        }
    };
    let why = "harness: cannot write to standard output: ";
    let on = |set: fn(&mut Command)| end(project, case, set);
    let well = on(|_| {});
    match case.ends {
        Ends::Output {
            well: status,
            full: full_status,
            gone: gone_status,
        } => {
            expect("well", &well, status);
            assert!(!well.stdout.is_empty(), "{about}");
            let run = on(|command| {
                command.stdout(full());
            });
            expect("a full output", &run, full_status);
            let system = "no space left on device";
            assert!(run.stderr.contains(system), "{about}: {}", run.stderr);
            let run = closed(project, case, "");
            expect("a closed output", &run, full_status);
            assert!(run.stderr.contains("bad file"), "{about}: {}", run.stderr);
            let run = on(|command| {
                command.stdout(gone());
            });
            expect("an unread output", &run, gone_status);
            assert!(!run.stderr.contains(why), "{about}: {}", run.stderr);
            expect("a closed error", &closed(project, case, "2"), status);
            let run = on(|command| {
                command.stderr(full());
            });
            expect("a full error", &run, status);
            let run = on(|command| {
                command.stderr(gone());
            });
            expect("an unread error", &run, status);
        }
        Ends::Error {
            well: status,
            full: full_status,
            gone: gone_status,
        } => {
            expect("well", &well, status);
            assert!(!well.stderr.is_empty(), "{about}");
            let run = on(|command| {
                command.stderr(full());
            });
            expect("a full error", &run, full_status);
            expect("a closed error", &closed(project, case, "2"), full_status);
            let run = on(|command| {
                command.stderr(gone());
            });
            expect("an unread error", &run, gone_status);
            expect("a closed output", &closed(project, case, ""), status);
        }
        Ends::Neither { well: status } => {
            expect("well", &well, status);
            for which in ["", "2"] {
                expect("closed", &closed(project, case, which), status);
            }
            let run = on(|command| {
                command.stderr(full());
            });
            expect("a full error", &run, status);
        }
    }
}

#[test]
fn help_and_the_version_are_written_or_the_status_says_so() {
    let project = Project::new();
    for words in [
        &["--help"][..],
        &["--version"],
        &["run", "--help"],
        &["trace", "-h"],
    ] {
        let run = |set: fn(&mut Command)| {
            let mut command = project.program(words);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            set(&mut command);
            Run::from(command.output().expect("the program"))
        };
        let full_status = if words[0] == "trace" { 125 } else { 2 };
        run(|command| {
            command.stdout(full());
        })
        .assert_status(full_status);
        run(|command| {
            command.stdout(gone());
        })
        .assert_status(141);
        run(|_| {}).assert_status(0);
    }
}

#[test]
fn a_reader_that_has_seen_enough_ends_a_long_list() {
    let project = Project::new();
    let mut command = project.program(&["schema"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program");
    let mut first = [0; 1];
    let mut reader = child.stdout.take().expect("a pipe");
    reader.read_exact(&mut first).expect("a byte");
    drop(reader);
    // The pipe may have had room for all of it.
    let status = child.wait().expect("wait").code();
    assert!(matches!(status, Some(0 | 141)), "{status:?}");
}
