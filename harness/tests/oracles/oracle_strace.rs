//! Per thread, the names and results of all calls are those that `strace -f` prints for the same
//! program.
//!
//! Two runs are compared, in folders of the same path and contents, with the same few variables and
//! without address space randomisation, so that even the addresses that `mmap` and `brk` return are
//! equal. Where the witnesses differ and both are right, `support::calls` makes them alike and says
//! why:
//!
//! - ids of threads and processes become names by order of creation; the parent of the workload,
//!   its group and session are the tracer's;
//! - a `clone` returns twice, and only the tracepoint reports the return in the child;
//! - a thread that is killed in a blocking call: the tracepoint still sees the call return
//!   `ERESTARTSYS`.
//!
//! One difference is strace's own: the kernel drops a `SIGCHLD` without a handler, but not while
//! ptrace wants to see it, and then it may interrupt the `wait4` of a process that waits for one
//! child while another ends.
//!
//! And these they have in common, though one might think otherwise: both report `ERESTARTSYS` where
//! the program sees `EINTR`, as both look before the signal is delivered; both give for
//! `rt_sigreturn` the value of the register that it restores, which may look like an error.

use super::support::calls::difference;
use super::support::command::Place;
use super::support::require::{self, require};
use super::support::{calls, harness, oracle, strace};

/// What the command does without a choice of the scheduler's is the same in every run.
const STEADY: usize = 1;
/// Processes or threads run at the same time: who waits for whom, and in how many pieces a pipe is
/// read, may vary. That one pair of runs is equal proves the tracer right all the same, as no wrong
/// trace equals a right one.
const VARYING: usize = 20;

/// Compares a run under strace with one under the program under test, at most `attempts` times.
fn check(attempts: usize, prepare: &str, command: &[&str]) {
    check_without(&[], attempts, prepare, command);
}

/// The same, but for the calls of these names.
fn check_without(names: &[&str], attempts: usize, prepare: &str, command: &[&str]) {
    let [program, ..] = command else {
        panic!("no command");
    };
    require!(require::right_to_trace());
    require!(require::strace());
    require!(require::program(program));
    let place = Place::new();
    let mut sources = harness::SOURCES.to_vec();
    let mut last = None;
    for _ in 0..attempts {
        let witness = strace::trace(&place, prepare, command).without(names);
        sources.retain(|source| {
            let traced = harness::trace_by(source, &place, prepare, command);
            assert_eq!(traced.summary.lost, 0, "{command:?}");
            begins_with_its_execve(&traced);
            let trace = traced.trace().without(names);
            let difference = difference(&witness.by_creation(), &trace.by_creation());
            let differs = difference.is_some();
            last = difference.or(last.take());
            differs
        });
        if sources.is_empty() {
            return;
        }
    }
    let last = last.unwrap_or_default();
    panic!("{command:?}, {sources:?}: strace (left) and harness (right): {last}");
}

fn begins_with_its_execve(traced: &harness::Traced) {
    let first = traced.calls.first().map(harness::Syscall::call);
    let outcome = calls::Outcome::Value(0);
    let name = "execve".to_owned();
    assert_eq!(first, Some(calls::Call { name, outcome }));
}

#[test]
fn a_program_that_does_nothing() {
    check(STEADY, "", &["true"]);
}

#[test]
fn reading_a_file() {
    check(STEADY, "", &["cat", "a.txt", "missing.txt"]);
}

#[test]
fn listing_a_folder() {
    check(STEADY, "", &["ls", "-l"]);
}

#[test]
fn copying_files() {
    // Not a whole folder: its files would be copied in the order of their inodes.
    check(STEADY, "", &["cp", "a.txt", "b.txt", "sub/deeper"]);
}

#[test]
fn walking_a_tree() {
    check(
        STEADY,
        "",
        &["find", ".", "-name", "*.txt", "-newer", "a.txt"],
    );
}

#[test]
fn searching_a_tree() {
    check(STEADY, "", &["grep", "-r", "99 needle", "."]);
}

#[test]
fn sorting_in_one_thread() {
    check(
        STEADY,
        "",
        &[
            "sort",
            "--parallel=1",
            "-o",
            "sorted.txt",
            "sub/deeper/d.txt",
        ],
    );
}

#[test]
fn archiving_a_tree() {
    check(
        STEADY,
        "",
        &[
            "tar",
            "--create",
            "--file=all.tar",
            "--sort=name",
            "sub",
            "a.txt",
        ],
    );
}

#[test]
fn editing_in_place() {
    // Of the random bits for the temporary file's name some are not good enough, and it asks again.
    let command = ["sed", "-i", "s/needle/thread/", "b.txt"];
    check_without(&["getrandom"], STEADY, "", &command);
}

#[test]
fn a_python_program() {
    let program = "import os; os.rename('a.txt', 'z.txt'); print(sorted(os.listdir()))";
    check(STEADY, "", &["python3", "-I", "-S", "-B", "-c", program]);
}

#[test]
fn a_perl_program() {
    let program =
        "open(F, '>', 'new') or die; print F 'x' x 9; close F; unlink 'b.txt'; print -s 'new'";
    check(STEADY, "", &["perl", "-e", program]);
}

#[test]
fn a_database_transaction() {
    let statements = "create table t(a); insert into t values (1), (2); select sum(a) from t;";
    check(STEADY, "", &["sqlite3", "new.db", statements]);
}

#[test]
fn the_version_of_git() {
    check(STEADY, "", &["git", "--version"]);
}

#[test]
fn the_status_of_a_repository() {
    let prepare = "git init -q . && git add a.txt sub && rm b.txt && \
                   git -c user.name=n -c user.email=e commit -q -m m && rm a.txt";
    check(STEADY, prepare, &["git", "status", "--short"]);
}

#[test]
fn a_pipeline() {
    // Each of the three may end while the shell still makes the others, or afterwards: when the
    // shell handles SIGCHLD and for which of them it waits first is left to chance. Each writes in
    // one piece, so that the next reads one piece.
    let command = "cat a.txt | sort | uniq -c > counted.txt";
    check_without(
        &["wait4", "rt_sigreturn"],
        VARYING,
        "",
        &["sh", "-c", command],
    );
}

#[test]
fn a_loop_of_commands() {
    check(
        VARYING,
        "",
        &[
            "bash",
            "-c",
            "for i in 1 2 3; do /bin/echo $i; done; exit 4",
        ],
    );
}

#[test]
fn a_program_that_handles_signals() {
    check(STEADY, "", &[&oracle::path(), "sigreturn", "5"]);
}

#[test]
fn a_program_that_executes_itself() {
    check(STEADY, "", &[&oracle::path(), "exec-self", "3"]);
}

#[test]
fn a_child_by_vfork() {
    require!(only_on_x86_64());
    check(STEADY, "", &[&oracle::path(), "vfork"]);
}

fn only_on_x86_64() -> Result<(), String> {
    if cfg!(target_arch = "x86_64") {
        return Ok(());
    }
    Err("the call exists on x86_64 only".to_owned())
}

#[test]
fn a_child_by_clone3() {
    check(VARYING, "", &[&oracle::path(), "clone3"]);
}

#[test]
fn many_children_one_after_the_other() {
    check(VARYING, "", &[&oracle::path(), "many-forks", "20"]);
}

#[test]
fn three_generations_at_once() {
    check(VARYING, "", &[&oracle::path(), "fork-tree"]);
}

#[test]
fn three_threads_at_once() {
    // Whether a thread has to wait for another is the scheduler's choice.
    check_without(&["futex"], VARYING, "", &[&oracle::path(), "threads", "3"]);
}
