//! A workload that does exactly what it is told and prints what it really did.
//!
//! Tests run it under `harness trace` and compare the trace with these lines, so that the truth
//! comes from the program itself and not from a second tracer. Each line is one `write`, of the
//! form
//!
//! ```text
//! kind key=value key=value
//! ```
//!
//! It has no Rust `main`: the runtime's start-up ignores `SIGPIPE`, opens missing descriptors and
//! installs `SIGSEGV` handlers, and what the workload was given could then no longer be told from
//! what the runtime made of it.
#![no_main]
#![expect(
    unsafe_code,
    reason = "it makes calls that no safe wrapper makes: int 0x80, vfork, clone3, seccomp filters"
)]

#[path = "oracle/births.rs"]
mod births;
#[path = "oracle/cold.rs"]
mod cold;
#[cfg(target_arch = "x86_64")]
#[path = "oracle/compat.rs"]
mod compat;
#[path = "oracle/crowds.rs"]
mod crowds;
#[path = "oracle/endings.rs"]
mod endings;
#[path = "oracle/filters.rs"]
mod filters;
#[path = "oracle/interruptions.rs"]
mod interruptions;
#[path = "oracle/kernel.rs"]
mod kernel;
#[cfg(target_arch = "x86_64")]
#[path = "oracle/page_ends.rs"]
mod page_ends;
#[path = "oracle/uring.rs"]
mod uring;

use std::ffi::{c_char, c_int};

use kernel::say;

const USAGE: &str = "\
usage: oracle SUBCOMMAND
  exit N                ends with status N
  signal SIG            kills itself with the signal (SIGKILL or 9)
  flood N               N x getppid
  flood-threads T N     T threads, N x getppid each
  threads T             T threads, thread i (from 0) makes 10 + i x getppid
  fork-tree             7 processes, a different number of getppid in each
  many-forks N          N children that end at once, one after the other
  vfork                 a vfork child calls getpgid 5 times and executes true   (x86_64)
  clone3                a clone3 child calls getpgid 30 times and ends with 7
  daemon                a grandchild calls getpgid 50 times after the main process has ended
  thread-exec           a thread that is not the leader executes true, the others are blocked
  exec-self N           executes itself N times
  restart               blocking calls interrupted by signals, restarted or not
  sigreturn N           handles N signals
  seccomp-kill          a child is killed by seccomp in getpgid
  seccomp-errno         getpgid is denied by seccomp with EPERM
  int80                 32-bit calls through int 0x80                           (x86_64)
  x32                   getpid with the x32 bit in its number                   (x86_64)
  unknown-number        a call that no kernel has
  io-uring              8 operations through an io_uring, an fsync among them
  io-uring-polled       the same, submitted by a thread of the kernel's
  io-uring-registered   files, buffers, tags and restrictions of an io_uring
  refused               makes the calls of its stdin, `number word...` a line, under a filter that
                        refuses all calls; `@address=hex` puts bytes into memory before, into the
                        16 pages from 0x10000000 on of which every other one is there
  page-ends             structures at the end of a page, some going on there   (x86_64)
  fds                   its open descriptors, signal mask, ignored signals
  spam-stdout BYTES     writes that many bytes
  hold-stdout           ends, but leaves a child that keeps stdout open for ever
  ignore-sigterm        ignores SIGTERM and never ends
  cold-paths            gives the kernel paths and an address from memory that it has never touched
  cold-vectors          children that execute true with long vectors, by a directory and by a descriptor
  cold-execs N          N children, each of which executes true by a path it has never touched
  without-clone3 COMMAND...
                        executes the command under a filter that answers clone3 with ENOSYS
  tidy COMMAND...       executes the command with no other descriptors than the first three
";

/// The status that says that this architecture lacks what was asked for.
const UNSUPPORTED: i32 = 77;

/// Runs the subcommand; its result is the exit status.
// SAFETY: the program has no other `main`; the name is what the C runtime looks for.
#[unsafe(no_mangle)]
pub extern "C" fn main(_argc: c_int, _argv: *const *const c_char) -> c_int {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Some(status) => status,
        None => {
            eprint!("{USAGE}");
            2
        }
    }
}

/// The exit status of the subcommand, or nothing where the words are none.
fn run(words: &[&str]) -> Option<i32> {
    let status = match *words {
        ["exit", status] => endings::exit(status.parse().ok()?),
        ["signal", signal] => endings::signal(endings::signal_named(signal)?),
        ["spam-stdout", bytes] => endings::spam_stdout(bytes.parse().ok()?),
        ["hold-stdout"] => endings::hold_stdout(),
        ["ignore-sigterm"] => endings::ignore_sigterm(),
        ["fds"] => endings::descriptors(),
        ["flood", calls] => crowds::flood(calls.parse().ok()?),
        ["flood-threads", threads, calls] => {
            let calls: u64 = calls.parse().ok()?;
            crowds::threads(threads.parse().ok()?, |_| calls)
        }
        ["threads", threads] => crowds::threads(threads.parse().ok()?, |index| 10 + index),
        ["fork-tree"] => crowds::fork_tree(),
        ["many-forks", forks] => crowds::many_forks(forks.parse().ok()?),
        ["clone3"] => births::clone3(),
        ["daemon"] => births::daemon(),
        ["thread-exec"] => births::thread_exec(),
        ["exec-self", times] => births::exec_self(times.parse().ok()?),
        ["restart"] => interruptions::restart(),
        ["sigreturn", times] => interruptions::sigreturn(times.parse().ok()?),
        ["seccomp-kill"] => filters::killed(),
        ["seccomp-errno"] => filters::denied(),
        ["refused"] => filters::refused(),
        ["without-clone3", program, ..] => filters::without_clone3(program, &words[2..]),
        ["tidy", program, ..] => births::tidy(program, &words[1..]),
        ["io-uring"] => uring::uring(false),
        ["io-uring-polled"] => uring::uring(true),
        ["io-uring-registered"] => uring::registered(),
        ["cold-paths"] => cold::paths(),
        ["cold-vectors"] => cold::vectors(),
        ["cold-execs", times] => cold::execs(times.parse().ok()?),
        ["unknown-number"] => unknown_number(),
        ["vfork" | "int80" | "x32" | "page-ends"] => only_x86_64(words),
        _ => return None,
    };
    Some(status)
}

#[cfg(target_arch = "x86_64")]
fn only_x86_64(words: &[&str]) -> i32 {
    match *words {
        ["vfork"] => compat::vfork(),
        ["int80"] => compat::int80(),
        ["x32"] => compat::x32(),
        ["page-ends"] => page_ends::page_ends(),
        _ => UNSUPPORTED,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn only_x86_64(_words: &[&str]) -> i32 {
    UNSUPPORTED
}

/// Far above every table of calls, below the bit that marks x32.
const NO_SUCH_CALL: i64 = 9999;

fn unknown_number() -> i32 {
    let result = kernel::call_without_arguments(NO_SUCH_CALL);
    say(&format!(
        "call nr={NO_SUCH_CALL} {}",
        kernel::result_words(result)
    ));
    0
}
