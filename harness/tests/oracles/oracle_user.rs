//! A user with no right but to read tracefs sees all calls of own programs, by strace's word.
//!
//! As `oracle_strace`, but for chosen calls, and both tracers run as the user nobody.

use super::support::calls::difference;
use super::support::command::Place;
use super::support::require::{self, require};
use super::support::{harness, oracle, strace};

/// A machine whose tracefs this user may read. Its owner and mode belong to the file system and not
/// to a mount of it, so that to change them would change the machine: the right to read comes as a
/// capability, which opens no event.
const AS_NOBODY: &[&str] = &[
    "unshare",
    "--mount",
    "sh",
    "-c",
    "mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null
     exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+dac_read_search \
        --ambient-caps=+dac_read_search -- \"$@\"",
    "sh",
];

/// Those that are compared. Threads and processes are known by the calls that make them.
const CALLS: &[&str] = &[
    "access",
    "clone",
    "clone3",
    "close",
    "dup2",
    "execve",
    "exit_group",
    "fork",
    "fstat",
    "getppid",
    "mmap",
    "newfstatat",
    "openat",
    "pipe2",
    "read",
    "rt_sigaction",
    "vfork",
    "write",
];

/// As in `oracle_strace`.
const STEADY: usize = 1;
const VARYING: usize = 20;

fn check(attempts: usize, command: &[&str]) {
    require!(require::right_to_trace());
    require!(require::strace());
    require!(require::right_of_users());
    for program in ["unshare", "setpriv"] {
        require!(require::program(program));
    }
    let place = Place::new();
    place.open_to_everybody();
    let events = CALLS.iter().map(|name| format!("?{name}"));
    let events = events.collect::<Vec<_>>().join(",");
    let mut differences: Vec<String> = Vec::new();
    for _ in 0..attempts {
        let (witness, _) = strace::trace_behind(&place, "", AS_NOBODY, command);
        let options = ["-e", events.as_str()];
        let traced = harness::trace_with(&place, "", (AS_NOBODY, &options), command);
        assert_eq!(traced.summary.lost, 0, "{command:?}");
        let said = String::from_utf8_lossy(&traced.output.stderr).into_owned();
        assert!(
            said.contains("with the rights of an ordinary user"),
            "{said}"
        );
        match difference(
            &witness.only(CALLS).by_creation(),
            &traced.trace().by_creation(),
        ) {
            None => return,
            Some(difference) => differences.push(difference),
        }
    }
    let last = differences.last().map_or("", String::as_str);
    panic!("{command:?}: strace (left) and harness (right): {last}");
}

#[test]
fn a_user_sees_the_calls_of_one_process() {
    check(STEADY, &["cat", "a.txt", "missing.txt"]);
}

#[test]
fn a_user_sees_the_calls_of_a_pipeline() {
    check(VARYING, &["sh", "-c", "cat a.txt | sort | uniq -c"]);
}

#[test]
fn a_user_sees_the_calls_of_three_generations() {
    check(VARYING, &[&oracle::path(), "fork-tree"]);
}

#[test]
fn a_user_sees_the_calls_of_threads() {
    check(VARYING, &[&oracle::path(), "threads", "3"]);
}

#[test]
fn a_user_sees_the_calls_of_a_program_that_executes_itself() {
    check(STEADY, &[&oracle::path(), "exec-self", "3"]);
}

#[test]
fn a_user_sees_the_calls_between_signals() {
    check(STEADY, &[&oracle::path(), "sigreturn", "5"]);
}

#[test]
fn who_may_read_tracefs_may_make_no_probe_and_is_told_what_it_takes() {
    require!(require::right_to_trace());
    require!(require::right_of_users());
    for program in ["unshare", "setpriv"] {
        require!(require::program(program));
    }
    let place = Place::new();
    place.open_to_everybody();
    for command in ["trace", "stat"] {
        let mut words = AS_NOBODY.to_vec();
        let event = "uprobe:libc.so.6:fsync";
        words.extend([harness::PATH, command, "-e", event, "--", "/bin/true"]);
        let output = place.run("", &words);
        assert!(!output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        let hint = "hint: probes are root's: run as root, or once as root: setcap ";
        assert!(said.contains(hint), "{command}: {said}");
        assert!(said.contains(":fsync`"), "{command}: {said}");
    }
}
