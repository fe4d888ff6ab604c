//! `-e inject=` does to a command what strace's does, call by call.

use std::fs;
use std::os::unix::process::ExitStatusExt;

use super::support::command::Place;
use super::support::require::{self, require};

const HARNESS: &str = env!("CARGO_BIN_EXE_harness");

/// What a command came to, and each changed call: its name, and the end of its line.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    status: Option<i32>,
    stdout: String,
    stderr: String,
    changed: Vec<(String, String)>,
}

fn outcome(tracer: &[&str], inject: &str, set: &str, command: &[&str]) -> Outcome {
    let place = Place::new();
    let file = place.beside("trace");
    let file = file.to_str().expect("a path of letters");
    let (trace, inject) = (format!("trace={set}"), inject.to_owned());
    let options = ["-f", "-o", file, "-e", &trace, "-e", &inject, "--"];
    let words: Vec<&str> = tracer
        .iter()
        .chain(&options)
        .chain(command)
        .copied()
        .collect();
    let output = place.run("", &words);
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let is_changed = |line: &&str| line.contains("(INJECTED)") || line.contains("(DELAYED)");
    let changed = text.lines().filter(is_changed).map(|line| {
        let (head, _) = line.split_once('(').expect("a call");
        let name = head.rsplit(' ').next().unwrap_or_default();
        let (_, end) = line.rsplit_once(" = ").expect("a result");
        (name.to_owned(), end.to_owned())
    });
    Outcome {
        changed: changed.collect(),
        status: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: of_command(&output.stderr),
    }
}

/// What is said on standard error, without what the tracer says of its options.
fn of_command(stderr: &[u8]) -> String {
    let own = ["resolved into", "harness: nothing "];
    let is_own = |line: &&str| own.iter().any(|own| line.contains(own));
    let said = String::from_utf8_lossy(stderr);
    let said = said.lines().filter(|line| !is_own(line));
    said.map(|line| format!("{line}\n")).collect()
}

/// The same words of the calls that programs make on this architecture.
fn of_architecture(words: &str) -> String {
    match cfg!(target_arch = "aarch64") {
        true => words
            .replace("mkdir", "mkdirat")
            .replace("rmdir", "unlinkat"),
        false => words.to_owned(),
    }
}

fn check(inject: &str, set: &str, command: &[&str]) {
    let [inject, set] = [inject, set].map(of_architecture);
    let witness = outcome(&["strace"], &inject, &set, command);
    let traced = outcome(&[HARNESS, "trace"], &inject, &set, command);
    assert_eq!(
        witness, traced,
        "strace (left) and harness (right): {inject} {command:?}"
    );
}

#[test]
fn an_injection_has_the_same_outcome_as_under_strace() {
    require!(require::right_to_trace());
    require!(require::strace());
    let three = ["mkdir", "one", "two", "three"];
    let several = ["sh", "-c", "mkdir one two; mkdir three four; echo *"];
    for (inject, set, command) in [
        ("inject=mkdir:error=ENOSPC", "mkdir", &three[..]),
        ("inject=mkdir:error=28:when=2", "mkdir", &three),
        ("inject=mkdir:error=EIO:when=2+", "mkdir", &three),
        ("inject=mkdir:error=EIO:when=1+2", "mkdir", &three),
        ("inject=mkdir:error=EIO:when=2..3", "mkdir", &three),
        ("inject=mkdir:error=EIO:when=1..3+2", "mkdir", &three),
        ("fault=mkdir:when=2", "mkdir", &three),
        ("inject=mkdir:retval=0", "mkdir", &three),
        ("inject=mkdir:delay_enter=20000:when=1", "mkdir", &three),
        (
            "inject=mkdir:error=EROFS:delay_exit=20ms:when=1",
            "mkdir",
            &three,
        ),
        ("inject=mkdir:error=EACCES:when=2", "mkdir", &several),
        ("inject=fsync:error=EIO", "fsync", &["sync", "a.txt"]),
        ("inject=unlinkat:error=EBUSY", "unlinkat", &["rm", "a.txt"]),
        (
            "inject=%desc:error=EMFILE:when=300",
            "fsync",
            &["cat", "a.txt"],
        ),
        (
            "inject=rename,renameat,renameat2:error=EXDEV",
            "%file",
            &["mv", "-T", "a.txt", "z.txt"],
        ),
        (
            "inject=mkdir:signal=TERM:when=2",
            "mkdir",
            &["sh", "-c", "mkdir one two; echo $?"],
        ),
        (
            "inject=fdatasync,fsync:retval=0",
            "fsync,fdatasync",
            &["dd", "if=a.txt", "of=o", "conv=fsync", "status=none"],
        ),
        (
            "inject=mkdir,rmdir:error=EIO:when=2",
            "mkdir,rmdir",
            &[
                "sh",
                "-c",
                "mkdir one; rmdir one; mkdir two three; rmdir four five; echo *",
            ],
        ),
        (
            "inject=%file:error=EMFILE:when=2",
            "mkdir,rmdir,unlinkat",
            &[
                "perl",
                "-e",
                "mkdir 'a'; rmdir 'a'; mkdir 'b'; rmdir 'b'; mkdir 'c'; rmdir 'c'",
            ],
        ),
        (
            "inject=getppid,getuid:retval=7:when=2..3",
            "getppid,getuid",
            &["perl", "-e", "print getppid() == 7, $<, ';' for 1 .. 4"],
        ),
    ] {
        check(inject, set, command);
    }
}

/// What a whole command line comes to: what the command printed and left, and how it ended.
#[derive(Debug, PartialEq, Eq)]
struct Whole {
    status: Option<i32>,
    stdout: String,
    stderr: String,
    files: Vec<String>,
}

fn whole(tracer: &[&str], line: &str) -> Whole {
    let place = Place::new();
    let script = ["-o", "/dev/null"].map(str::to_owned).join(" ");
    let script = format!("exec {} {script} {line}", tracer.join(" "));
    let output = place.run("", &["sh", "-c", &script]);
    let mut files: Vec<String> = fs::read_dir(place.beside("work"))
        .expect("the folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    files.sort();
    // strace ends by the command's signal, and the harness with the status that a shell has for it.
    let by_signal = || output.status.signal().map(|signal| 128 + signal);
    Whole {
        status: output.status.code().or_else(by_signal),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: of_command(&output.stderr),
        files,
    }
}

/// The forms of coreutils' own tests (ls, mktemp, yes, wc, cat, tee, sort), and of others that test
/// with strace.
#[test]
fn the_command_lines_of_public_test_suites_have_the_same_outcome() {
    require!(require::right_to_trace());
    require!(require::strace());
    for line in [
        "-e fault=getxattr,lgetxattr,listxattr,llistxattr:error=EOPNOTSUPP ls --color=always -d .",
        "-e inject=getrandom:error=ENOSYS sh -c 'mktemp XXXXXX | wc -c; rm -f ??????'",
        "-f -e inject=io_uring_setup,memfd_create,vmsplice,splice,tee:error=ENOSYS sh -c 'yes | head -n 3'",
        "-f -e inject=io_uring_setup,memfd_create:error=ENOSYS cat a.txt",
        "-f -e inject=pipe,pipe2:error=EMFILE sh -c 'wc -c a.txt; yes | head -n 1'",
        "-qqq -f -e inject=write:retval=1:when=1..5 sh -c 'echo abc | tee z.txt'",
        "-qqq -f -e trace=write -e inject=write:error=EAGAIN:when=1 sh -c 'echo abc'",
        "-f -P . -e trace=/read,splice -e fault=all:error=EIO cat .",
        "-P a.txt -e fault=openat:error=EBADF cat a.txt b.txt",
        "-f -P a.txt -e inject=unlinkat:error=EACCES rm a.txt b.txt",
        "-f -P a.txt -e inject=read:error=EIO cat b.txt a.txt",
        "-f -e inject=/^rename:signal=KILL:when=1 mv -T a.txt z.txt",
        "-f -e trace=unlink,unlinkat -e inject=unlink,unlinkat:retval=0 rm a.txt",
        "-e inject=fsync:error=EIO:when=3+ sync a.txt a.txt a.txt a.txt",
        "-e inject=rename,renameat,renameat2:error=EXDEV mv -T a.txt z.txt",
        "-e trace=fdatasync -e inject=fsync:error=EIO sync a.txt",
        "--inject=fsync:error=EIO sync a.txt",
        "--fault=fsync:error=EIO --quiet=all sync a.txt",
    ] {
        assert_eq!(
            whole(&["strace"], line),
            whole(&[HARNESS, "trace"], line),
            "strace (left) and harness (right): {line}"
        );
    }
}
