//! Values that a field cannot have.

use super::*;

const RANGE: Option<&str> = Some("a range is written \"1..=4\", \"2..\" or \"..=3\"");

/// A step, what is wrong with it, and the advice.
type Refused = (&'static str, &'static str, Option<&'static str>);

const IMPOSSIBLE: &[Refused] = &[
    (
        "openat: { path: @3 }",
        "`path` of `openat` is a path, not a number",
        Some("quote it: \"3\""),
    ),
    (
        "openat: { path: { range: @1..=4 } }",
        "`path` of `openat` is a path, so it is in no range",
        None,
    ),
    (
        "write: { buf: [a, @3] }",
        "`buf` of `write` is what is read or written, not a number",
        Some("quote it: \"3\""),
    ),
    (
        "write: { program: @3 }",
        "the program's name is a text, not a number",
        Some("quote it: \"3\""),
    ),
    (
        "write: { count: @abc }",
        "`count` of `write` is a number, not `abc`",
        RANGE,
    ),
    (
        "write: { count: { equals: @abc } }",
        "`count` of `write` is a number, not `abc`",
        RANGE,
    ),
    (
        "write: { count: @4..=1 }",
        "no number is in this range",
        None,
    ),
    (
        "write: { count: { prefix: @'1' } }",
        "`count` of `write` is a number, which `prefix` does not fit",
        RANGE,
    ),
    (
        "write: { count: { contains: @'1' } }",
        "`count` of `write` is a number, which `contains` does not fit",
        RANGE,
    ),
    (
        "write: { returns: @OK }",
        "what `write` returns is a number, not `OK`",
        Some("an error is written by its name, ENOENT; a range \"1..=4\""),
    ),
    (
        "openat: { flags: @O_CREATT|O_RDWR }",
        "`flags` of `openat` is never `O_CREATT`",
        Some("did you mean `O_CREAT`?"),
    ),
    (
        "openat: { flags: { contains: [O_RDWR, @O_CLOEXEK] } }",
        "`flags` of `openat` is never `O_CLOEXEK`",
        Some("did you mean `O_CLOEXEC`?"),
    ),
    (
        "lseek: { whence: { not: @SEEK_EDN } }",
        "`whence` of `lseek` is never `SEEK_EDN`",
        Some("did you mean `SEEK_END`?"),
    ),
    (
        "'io_uring:IORING_OP_FSYNC': { flags: @IOSQE_IO_LNK }",
        "`flags` of `io_uring:IORING_OP_FSYNC` is never `IOSQE_IO_LNK`",
        Some("did you mean `IOSQE_IO_LINK`?"),
    ),
    (
        "openat: { returns: @ENOENTT }",
        "unknown error `ENOENTT`",
        Some("did you mean `ENOENT`?"),
    ),
    (
        "fcntl: { returns: @ENOENTT }",
        "unknown error `ENOENTT`",
        Some("did you mean `ENOENT`?"),
    ),
    (
        "openat: { returns: @-2 }",
        "an error is expected by its name, not by -2",
        Some("write ENOENT"),
    ),
    (
        "openat: { returns: @'-2' }",
        "an error is expected by its name, not by -2",
        Some("write ENOENT"),
    ),
    (
        "openat: { returns: { range: @'-20..=-2' } }",
        "an error is expected by its name, and -1 is any error",
        Some("write ENOENT, or -1"),
    ),
    (
        "bind: { address: @'127.0.0.1:80' }",
        "`address` is the text of a structure, so it is never `127.0.0.1:80`",
        Some("write `ip` and `port`, or `unix`"),
    ),
    (
        "openat: { mode: @644 }",
        "`mode` of `openat` is written in octal digits and quoted",
        Some("quote it: \"0644\""),
    ),
    (
        "openat: { mode: @'689' }",
        "`mode` of `openat` has octal digits",
        None,
    ),
    (
        "openat: { mode: @'0..=0644' }",
        "`mode` of `openat` is bits, and in no range",
        Some("write a list of what it may be"),
    ),
    (
        "openat: { path: @../x }",
        "a path is compared by where it leads, so none is ever `../x`",
        Some("write where it leads, or { text: ... } for how the program spelled it"),
    ),
    (
        "read: { fd: { not: [a, { glob: @'/usr/../etc/*' }] } }",
        "a path is compared by where it leads, so none is ever `/usr/../etc/*`",
        Some("write where it leads, or { text: ... } for how the program spelled it"),
    ),
    (
        "openat: { program: @a-very-long-program }",
        "the kernel has 15 bytes of a program's name, so none is ever `a-very-long-program`",
        Some("its path is in `execve: { path: ... }`"),
    ),
    (
        "'sched:sched_process_exec': { pid: @2 }",
        "`pid` of `sched:sched_process_exec` is a task, not `2`",
        Some(
            "a task is P1, P2.T2; its number is the machine's, which no scenario can know, and 0 is the idle task; to take any write `any`",
        ),
    ),
    (
        "'sched:sched_process_exec': { pid: { range: @'1..' } }",
        "`pid` of `sched:sched_process_exec` is a name, and in no range",
        Some(
            "a task is P1, P2.T2; its number is the machine's, which no scenario can know, and 0 is the idle task; to take any write `any`",
        ),
    ),
    (
        "openat: { path: { glob: @'$HOME/*' } }",
        "no shell reads `$HOME/*`: it would be a file of that very name",
        Some("write the path itself; a file that is called so is `./$HOME/*`"),
    ),
    (
        "openat: { path: { prefix: @'~/' } }",
        "no shell reads `~/`: it would be a file of that very name",
        Some("write the path itself; a file that is called so is `./~/`"),
    ),
    (
        "openat: { path: [a, { glob: @'{b,c}.txt' }] }",
        "a glob has no alternatives in braces",
        Some("write a list of globs"),
    ),
    (
        "openat: { path: { regex: @'^$DIR/a' } }",
        "`$` is the end of the text, so nothing is ever behind it",
        Some("write `\\$` for the letter, as in `\\$DIR`"),
    ),
    (
        "openat: { path: { regex: @'($DIR|/tmp)/a' } }",
        "`$` is the end of the text, so nothing is ever behind it",
        Some("write `\\$` for the letter, as in `\\$DIR`"),
    ),
    (
        "openat: { process: @2 }",
        "the process is a process of the run, not `2`",
        Some("a trace names it P1, P2 and so on, and never by a number; to take any write `any`"),
    ),
    (
        "openat: { process: { range: @'1..=100' } }",
        "the process is a name, and in no range",
        Some("a trace names it P1, P2 and so on, and never by a number; to take any write `any`"),
    ),
    (
        "openat: { process: { not: [P1, @P1.T2] } }",
        "the process is a process of the run, not `P1.T2`",
        Some("a trace names it P1, P2 and so on, and never by a number; to take any write `any`"),
    ),
    (
        "openat: { path: { text: @/tmp/sandbox/x } }",
        "a trace has `$DIR` in place of /tmp/sandbox, the working directory, so nothing is ever `/tmp/sandbox/x`",
        Some("write \"$DIR/x\""),
    ),
    (
        "write: { data: { contains: @/tmp/sandbox/x } }",
        "a trace has `$DIR` in place of /tmp/sandbox, the working directory, so nothing is ever `/tmp/sandbox/x`",
        Some("write \"$DIR/x\""),
    ),
    (
        "kill: { signal: @TERM }",
        "unknown signal `TERM`",
        Some("did you mean `SIGTERM`?"),
    ),
    (
        "kill: { pid: @sh }",
        "`pid` of `kill` is a task, not `sh`",
        Some("a task is P1, P2.T2 or a number; to take any write `any`"),
    ),
    (
        "kill: { pid: @5000000000 }",
        "`pid` of `kill` is never 5000000000: it is within -2147483648..=2147483647",
        None,
    ),
    (
        "read: { count: @'18446744073709551616..' }",
        "`count` of `read` is never 18446744073709551616: it is within -9223372036854775808..=18446744073709551615",
        None,
    ),
    (
        "bind: { address: { prefix: @AF_UNIX } }",
        "`address` of `bind` is a structure or a list, not `AF_UNIX`",
        Some(
            "a part of it is written { contains: \"..\" }, and the whole as a trace has it: \"[1, 2]\", \"{..}\"",
        ),
    ),
    (
        "rt_sigprocmask: { nset: @'[INT TREM]' }",
        "unknown signal `TREM`",
        Some("did you mean `SIGTERM`?"),
    ),
    (
        "rt_sigprocmask: { nset: @SIGINT }",
        "`nset` of `rt_sigprocmask` is a set of signals, not `SIGINT`",
        Some("one of them is written { contains: SIGINT }, and all of them \"[INT TERM]\""),
    ),
    (
        "rt_sigprocmask: { nset: { contains: @SIGINTT } }",
        "unknown signal `SIGINTT`",
        Some("did you mean `SIGINT`?"),
    ),
    (
        "setgroups: { grouplist: [@1, 2] }",
        "`grouplist` of `setgroups` is a structure or a list, not `1`",
        Some(
            "a part of it is written { contains: \"..\" }, and the whole as a trace has it: \"[1, 2]\", \"{..}\"",
        ),
    ),
    (
        "execve: { argv: @[sh, { prefix: x }] }",
        "`argv` of `execve` is a list of words, and a list of words alone is one",
        Some("one of several is { one_of: [..] }, a word in it { contains: .. }"),
    ),
    (
        "kill: { process: @P0 }",
        "the process is a process of the run, not `P0`",
        Some("a trace names it P1, P2 and so on, and never by a number; to take any write `any`"),
    ),
    (
        "'sched:sched_process_exec': { filename: @3 }",
        "`filename` of `sched:sched_process_exec` is a text, not a number",
        Some("quote it: \"3\""),
    ),
];

#[test]
fn a_value_that_a_field_cannot_have_is_refused() {
    for (step, message, help) in IMPOSSIBLE {
        refused_step(step, message, *help);
    }
    let long = "x".repeat(4097);
    refused_step(
        &format!("write: {{ data: @{long} }}"),
        "of `data` of `write` no more than 4096 bytes can be read",
        None,
    );
}
