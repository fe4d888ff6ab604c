//! Files that commands write: replaced whole or not at all, and nothing but regular files replaced.

use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};

use nix::sys::signal::Signal;
use nix::sys::stat::{Mode, SFlag, makedev, mknod};
use nix::unistd::{Uid, mkfifo};

use crate::support::fifo::Fifo;
use crate::support::process::{Started, Watched};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// What writes to the file behind it.
const WRITERS: [&[&str]; 6] = [
    &["trace", "true", "-o"],
    &["trace", "-o", "other", "true", "--save"],
    &["stat", "true", "-o"],
    &["record", "-e", "sched:sched_process_exec", "true", "-o"],
    &["inject", "-b", "-i", "run.data", "-o"],
    &[
        "matrix",
        "--kernels",
        "kernels.yaml",
        "scenarios",
        "--report",
    ],
];

/// The words, with the option and the file in front of a command.
fn words<'a>(writer: &[&'a str], file: &'a str) -> Vec<&'a str> {
    let (option, rest) = writer.split_last().expect("an option");
    let (name, rest) = rest.split_first().expect("a command");
    [&[*name, *option, file], rest].concat()
}

fn project() -> Project {
    let project = Project::with("a", super::PASSES);
    project.write("kernels.yaml", "here: host\n");
    let words = ["trace", "--save", "run.data", "-o", "trace", "true"];
    project.harness(&words).assert_status(0);
    project
}

#[test]
fn a_device_that_is_named_as_output_is_written_and_stays() {
    require!(right_to_trace());
    let project = project();
    // One of our own: a harness that replaced the machine's would have no other.
    let null = project.join("null.json");
    let mode = Mode::from_bits_truncate(0o666);
    let made = mknod(&null, SFlag::S_IFCHR, mode, makedev(1, 3));
    require!(made.map_err(|error| format!("no device can be made: {error}")));
    require!(fs::write(&null, "x").map_err(|error| format!("no device can be used: {error}")));
    let before = fs::metadata(&null).expect("the device");
    for writer in WRITERS {
        project
            .harness(&words(writer, "null.json"))
            .assert_status(0);
        let after = fs::symlink_metadata(&null).expect("the device");
        assert!(after.file_type().is_char_device(), "{writer:?}");
        assert_eq!((after.ino(), after.mode()), (before.ino(), before.mode()));
    }
}

#[test]
fn a_pipe_that_is_named_as_output_is_written_and_stays() {
    require!(right_to_trace());
    let project = project();
    let pipe = project.join("pipe.json");
    mkfifo(&pipe, Mode::S_IRUSR | Mode::S_IWUSR).expect("mkfifo");
    for writer in WRITERS {
        let path = pipe.clone();
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            fs::File::open(path)?.read_to_end(&mut bytes)?;
            std::io::Result::Ok(bytes)
        });
        project
            .harness(&words(writer, "pipe.json"))
            .assert_status(0);
        let bytes = reader.join().expect("a reader").expect("bytes");
        assert!(!bytes.is_empty(), "{writer:?}");
        let kind = fs::symlink_metadata(&pipe).expect("the pipe").file_type();
        assert!(kind.is_fifo(), "{writer:?}");
    }
}

#[test]
fn a_link_is_followed_and_a_file_keeps_its_mode_and_owner() {
    require!(right_to_trace());
    let project = project();
    let file = project.join("sub/file.json");
    project.write("sub/file.json", "old");
    symlink("sub/file.json", project.join("link.json")).expect("a link");
    fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("a mode");
    if Uid::effective().is_root() {
        chown(&file, Some(12345), Some(23456)).expect("an owner");
    }
    let owner = fs::metadata(&file).expect("the file");
    for writer in WRITERS {
        fs::write(&file, "old").expect("a file");
        project
            .harness(&words(writer, "link.json"))
            .assert_status(0);
        assert!(project.join("link.json").is_symlink(), "{writer:?}");
        let after = fs::metadata(&file).expect("the file");
        assert_eq!(
            (after.mode(), after.uid(), after.gid()),
            (owner.mode(), owner.uid(), owner.gid()),
            "{writer:?}"
        );
        let bytes = fs::read(&file).expect("the file");
        assert!(bytes.len() > 3, "{writer:?}");
        let _old = fs::remove_file(project.join("sub/file.json.old"));
        assert_eq!(fs::read_dir(project.join("sub")).expect("sub").count(), 1);
    }
}

#[test]
fn what_cannot_be_written_is_said_before_the_command_runs() {
    require!(right_to_trace());
    let project = project();
    fs::create_dir(project.join("folder.json")).expect("a folder");
    let last = WRITERS.len() - 1;
    for writer in &WRITERS[..last] {
        for (file, why) in [
            ("folder.json", "is a directory"),
            ("none/x.json", "no such file or directory"),
        ] {
            // That of --save is made.
            if writer.contains(&"--save") && file.starts_with("none") {
                continue;
            }
            let words: Vec<&str> = words(writer, file);
            let words: Vec<&str> = words.into_iter().filter(|word| *word != "true").collect();
            let words = match writer[0] {
                "inject" => words,
                _ => [&words[..], &["touch", "ran"]].concat(),
            };
            let run = project.harness(&words);
            assert_ne!(run.status, 0, "{words:?}");
            assert!(run.stderr.contains(why), "{words:?}: {}", run.stderr);
            assert!(!project.join("ran").exists(), "{words:?}");
        }
    }
    let both = project.harness(&["trace", "-o", "x", "--save", "./x", "touch", "ran"]);
    both.assert_status(125);
    assert!(!project.join("ran").exists());
}

#[test]
fn a_harness_that_is_killed_leaves_what_was_there() {
    require!(right_to_trace());
    let project = Project::new();
    for words in [
        &["trace", "-o", "file"][..],
        &["trace", "-o", "t", "--save", "file"],
        &["record", "-e", "sched:sched_process_exec", "-o", "file"],
    ] {
        project.write("file", "old");
        let path = project.join(&format!("said-{}", words.len()));
        let _none = fs::remove_file(&path);
        let mut fifo = Fifo::new(&path);
        let script = format!("echo $$ > '{}'; exec sleep infinity", fifo.path());
        let shell = ["sh", "-c", &script];
        let mut harness = Started::new(&mut project.program(&[words, &shell].concat()));
        let command: i32 = fifo.wait_for_lines(1).trim().parse().expect("a number");
        let command = Watched::new(command).expect("the command");
        harness.end_by(Signal::SIGKILL);
        // It lives on, as under strace.
        command.kill();
        assert_eq!(project.read("file"), "old", "{words:?}");
        project.assert_nothing_left();
        let _named = fs::remove_file(project.join("t"));
    }
}

#[test]
fn inject_may_write_what_it_reads() {
    require!(right_to_trace());
    let project = project();
    project
        .harness(&["inject", "-b", "-i", "run.data", "-o", "other.data"])
        .assert_status(0);
    project
        .harness(&["inject", "-b", "-i", "run.data", "-o", "run.data"])
        .assert_status(0);
    let read = |name: &str| fs::read(project.join(name)).expect("a file");
    assert_eq!(read("run.data"), read("other.data"));
}

/// perf leaves them out in silence.
#[test]
fn a_feature_that_a_pipes_record_has_no_room_for_is_left_out_and_said() {
    require!(right_to_trace());
    let project = Project::new();
    let long = "x".repeat(70_000);
    let record = ["record", "-e", "sched:sched_process_exec", "-o"];
    let said = "  feature CMDLINE is left out: a pipe's record has no room for its 70";
    let with = |output: &str, long: &str| {
        let command = [
            "sh",
            "-c",
            "exec \"$0\" \"$@\" > piped",
            env!("CARGO_BIN_EXE_harness"),
        ];
        let run = project.run(
            &[],
            &[&command, &record[..], &[output, "true", long]].concat(),
        );
        run.assert_status(0);
        run.stderr
    };
    assert!(with("-", &long).contains(said));
    project.harness(&["script", "-i", "piped"]).assert_status(0);
    assert!(!with("-", "short").contains("left out"));
    assert!(!with("whole", &long).contains("left out"));
    let words = "exec \"$0\" inject -b -i whole -o - > piped";
    let run = project.run(&[], &["sh", "-c", words, env!("CARGO_BIN_EXE_harness")]);
    run.assert_status(0);
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let names = |file: &str| project.harness(&["script", "-i", file]).stdout;
    assert_eq!(names("piped"), names("whole"));
}

#[test]
fn a_full_file_system_is_an_error_and_leaves_what_was_there() {
    require!(right_to_trace());
    require!(program("unshare"));
    let project = project();
    fs::create_dir(project.join("small")).expect("a folder");
    // In a mount name space of its own, whose end is that of the file system.
    let script = "mount -t tmpfs -o size=16k none small && echo old > small/file || exit 50\n\
                  \"$HARNESS\" \"$@\" 2> said; status=$?\n\
                  test \"$(cat small/file)\" = old || exit 51\n\
                  test \"$(ls -A small)\" = file || exit 52\n\
                  grep -q 'no space left on device' said || { cat said; exit 53; }\n\
                  exit $status";
    let harness = env!("CARGO_BIN_EXE_harness");
    let calls = "for i in 1 2 3 4 5 6 7 8 9; do ls -R . > /dev/null; done";
    let many = "mkdir -p d; for i in $(seq 300); do : > d/a-file-of-its-own-$i; done";
    let check = ["check", "--format", "json", "-o", "small/file"];
    let cases: [(&[&str], i32); 5] = [
        (&["trace", "-o", "small/file", "sh", "-c", calls], 125),
        (&[&check[..], &["--", "sh", "-c", many]].concat(), 125),
        (
            &[
                "trace",
                "-o",
                "t",
                "--save",
                "small/file",
                "sh",
                "-c",
                calls,
            ],
            125,
        ),
        (
            &[
                "record",
                "-e",
                "syscalls:*",
                "-o",
                "small/file",
                "sh",
                "-c",
                calls,
            ],
            125,
        ),
        (&["inject", "-b", "-i", "big.data", "-o", "small/file"], 1),
    ];
    let big = ["trace", "-o", "t", "--save", "big.data", "sh", "-c", calls];
    project.harness(&big).assert_status(0);
    for (words, status) in cases {
        let shell = ["unshare", "-m", "sh", "-c", script, "sh"];
        let run = project.run(&[("HARNESS", harness)], &[&shell[..], words].concat());
        require!(match run.status {
            50 => Err("no file system can be mounted".to_owned()),
            _ => Ok(()),
        });
        run.assert_status(status);
    }
}

#[test]
fn calibrate_writes_the_scenario_and_its_snapshot_or_neither() {
    require!(right_to_trace());
    let project = Project::with(
        "a",
        "workload: { shell: \"cat x\" , files: { x: x } }\ntrace: { events: [{ syscalls: [openat] }] }\nsnapshot: { level: set }",
    );
    let file = project.join("scenarios/a.yaml");
    fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("a mode");
    if Uid::effective().is_root() {
        chown(&file, Some(12345), Some(23456)).expect("an owner");
    }
    let before = fs::metadata(&file).expect("the file");
    let text = project.read("scenarios/a.yaml");
    // No snapshot can be where a folder is.
    fs::create_dir_all(project.join("snapshots/a.snap")).expect("a folder");
    let calibrate = ["calibrate", "-n", "3", "scenarios/a.yaml"];
    let run = project.harness(&calibrate);
    assert_ne!(run.status, 0, "{run:?}");
    assert_eq!(project.read("scenarios/a.yaml"), text);
    fs::remove_dir(project.join("snapshots/a.snap")).expect("a folder");
    project.harness(&calibrate).assert_status(0);
    assert_ne!(project.read("scenarios/a.yaml"), text);
    let after = fs::metadata(&file).expect("the file");
    assert_eq!(
        (after.mode(), after.uid(), after.gid()),
        (before.mode(), before.uid(), before.gid())
    );
    project.assert_nothing_left();
}

#[test]
fn a_trace_is_written_to_standard_output_where_a_dash_is_named() {
    require!(right_to_trace());
    let project = Project::new();
    let run = project.harness(&["trace", "-o", "-", "-e", "exit_group", "--", "true"]);
    run.assert_status(0);
    assert!(run.stdout.contains("exit_group(0) = ?"), "{}", run.stdout);
    assert!(!project.join("-").exists());
}

#[test]
fn a_file_that_is_read_or_written_already_is_refused_as_an_output_and_stays() {
    require!(right_to_trace());
    let project = Project::new();
    let record = ["record", "-e", "openat", "-o", "a.data", "true"];
    project.harness(&record).assert_status(0);
    let before = std::fs::read(project.join("a.data")).expect("a recording");
    std::os::unix::fs::symlink("a.data", project.join("link")).expect("a link");
    for output in ["a.data", "./a.data", "link"] {
        let run = project.harness(&["trace", "-i", "a.data", "-o", output]);
        run.assert_status(125);
        let said = format!("`{output}` cannot be both -o and -i");
        assert!(run.stderr.contains(&said), "{}", run.stderr);
    }
    assert!(std::fs::read(project.join("a.data")).expect("a recording") == before);
    let words = [
        "check",
        "--learn",
        "rules.yaml",
        "-o",
        "./rules.yaml",
        "--",
        "true",
    ];
    let run = project.harness(&words);
    run.assert_status(125);
    let said = "cannot be both -o and --learn";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert!(!project.join("rules.yaml").exists());
}
