//! Expectations of single events: what they become, and what is refused as it could never be told
//! from nothing.

use super::*;
use crate::scenario::{Literal, Pattern, Test};
use syscall_model::Signatures;

mod addresses;
mod impossible;
mod shown;

/// Calls with the declarations of their arguments, as tracefs has them.
const CALLS: [(&str, &str); 19] = [
    ("access", "const char * filename; int mode"),
    ("bind", "int fd; struct sockaddr * umyaddr; int addrlen"),
    ("close", "unsigned int fd"),
    ("exit_group", "int error_code"),
    (
        "fcntl",
        "unsigned int fd; unsigned int cmd; unsigned long arg",
    ),
    ("fsync", "unsigned int fd"),
    (
        "ioctl",
        "unsigned int fd; unsigned int cmd; unsigned long arg",
    ),
    (
        "execve",
        "const char * filename; const char *const * argv; const char *const * envp",
    ),
    ("kill", "pid_t pid; int sig"),
    (
        "lseek",
        "unsigned int fd; off_t offset; unsigned int whence",
    ),
    (
        "openat",
        "int dfd; const char * filename; int flags; umode_t mode",
    ),
    ("munmap", "unsigned long addr; size_t len"),
    ("read", "unsigned int fd; char * buf; size_t count"),
    ("rename", "const char * oldname; const char * newname"),
    (
        "rt_sigprocmask",
        "int how; sigset_t * nset; sigset_t * oset; size_t sigsetsize",
    ),
    ("setgroups", "int gidsetsize; gid_t * grouplist"),
    ("socket", "int family; int type; int protocol"),
    ("umask", "int mask"),
    ("write", "unsigned int fd; const char * buf; size_t count"),
];

/// The forms of these calls.
pub(super) fn signatures() -> Signatures<'static> {
    Signatures::new(Box::new(|event| {
        let call = event.strip_prefix("sys_enter_")?;
        let (_, arguments) = CALLS.iter().find(|(name, _)| *name == call)?;
        let mut text = format!("name: {event}\nID: 1\nformat:\n");
        text += "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n";
        for (offset, field) in (16..).step_by(8).zip(arguments.split("; ")) {
            text += &format!("\tfield:{field};\toffset:{offset};\tsize:8;\tsigned:0;\n");
        }
        text += "\nprint fmt: \"\"\n";
        Some(Arc::new(
            perf_records::format::parse(&text).expect("a format"),
        ))
    }))
}

/// All of these calls, and a tracepoint and operations.
fn scenario(expect: &str) -> String {
    let calls: Vec<&str> = CALLS.iter().map(|(name, _)| *name).collect();
    format!(
        "description: d\nworkload: {{ run: [a] }}\nsnapshot: false\ntrace: {{ events: [{{ syscalls: [{}] }}, \
         'sched:sched_process_*', 'io_uring:IORING_OP_FSYNC'] }}\nexpect:\n{expect}\n",
        calls.join(", ")
    )
}

fn planned(expect: &str) -> Box<Plan> {
    match resolved_on(&Kernel::with_io_uring(), None, &scenario(expect)) {
        Ok(Resolved::Plan(plan)) => plan,
        other => panic!("{other:?}"),
    }
}

/// The tests of the only step's fields.
fn fields(step: &str) -> Vec<(String, Test)> {
    let plan = planned(&format!("  sequence: [ {{ {step} }} ]"));
    let [Pattern::Step(matcher)] = plan.expected.sequence.as_slice() else {
        panic!("{:?}", plan.expected)
    };
    matcher.fields.clone()
}

fn text(text: &str) -> String {
    format!("{:?}", Test::Is(Literal::Text(text.to_owned())))
}

fn number(number: i128) -> String {
    format!("{:?}", Test::Is(Literal::Number(number)))
}

fn refusal(expect: &str) -> Diagnostic {
    match resolved_on(&Kernel::with_io_uring(), None, &scenario(expect)) {
        Err(PlanError::Invalid(diagnostic)) => *diagnostic,
        other => panic!("{expect}: {other:?}"),
    }
}

/// `expect` must be refused on its first line, which is line 6 of the file, where it has an `@`,
/// which is taken out.
#[track_caller]
fn refused(expect: &str, message: &str, help: Option<&str>) {
    let column = expect.find('@').expect("a place") + 1;
    let diagnostic = refusal(&expect.replacen('@', "", 1));
    assert_eq!(
        (&*diagnostic.message, diagnostic.help.as_deref()),
        (message, help)
    );
    let place = (diagnostic.line, diagnostic.column);
    assert_eq!(place, (6, column), "{expect}");
}

/// The same for the fields of a step.
#[track_caller]
fn refused_step(step: &str, message: &str, help: Option<&str>) {
    refused(&format!("  sequence: [ {{ {step} }} ]"), message, help);
}

#[test]
fn values_become_what_a_trace_has() {
    for (step, expected) in [
        ("lseek: { offset: 16 }", number(16)),
        ("lseek: { offset: '0x10' }", number(16)),
        ("lseek: { whence: SEEK_END }", text("SEEK_END")),
        ("openat: { mode: '0644' }", number(0o644)),
        ("openat: { path: '0644' }", text("0644")),
        ("openat: { path: /tmp/sandboxes }", text("/tmp/sandboxes")),
        (
            "openat: { path: /var/tmp/sandbox/x }",
            text("/var/tmp/sandbox/x"),
        ),
        ("openat: { path: ..data }", text("..data")),
        ("openat: { filename: a }", text("a")),
        (
            "openat: { flags: O_RDWR | O_CREAT }",
            text("O_RDWR|O_CREAT"),
        ),
        (
            "openat: { flags: O_SYNC|O_DSYNC|O_RDWR|O_DIRECTORY|O_TMPFILE }",
            text("O_RDWR|O_SYNC|O_TMPFILE"),
        ),
        ("openat: { mode: '644' }", number(0o644)),
        ("openat: { mode: '0x1a4' }", number(0o644)),
        ("openat: { returns: EWOULDBLOCK }", text("EAGAIN")),
        ("openat: { returns: -1 }", number(-1)),
        ("openat: { returns: E }", text("E")),
        ("fsync: { fd: config.tmp }", text("config.tmp")),
        ("fsync: { fd: '3' }", text("3")),
        ("fsync: { process: P2.T1 }", text("P2")),
        ("kill: { pid: P2.T3, }", text("P2.T3")),
        ("kill: { signal: SIGTERM }", text("SIGTERM")),
        ("kill: { sig: SIGRT_3 }", text("SIGRT_3")),
        ("fcntl: { arg: anything }", text("anything")),
        (
            "'io_uring:IORING_OP_FSYNC': { flags: IOSQE_IO_LINK }",
            text("IOSQE_IO_LINK"),
        ),
        (
            "'sched:sched_process_exec': { filename: /bin/a }",
            text("/bin/a"),
        ),
        ("'sched:sched_process_exec': { pid: P1 }", text("P1")),
        (
            "openat: { path: { text: '~/a' } }",
            format!("Spelled({})", text("~/a")),
        ),
        ("rename: { from: a }", text("a")),
        ("rename: { program: sh }", text("sh")),
    ] {
        let fields = fields(step);
        assert_eq!(format!("{:?}", fields[0].1), expected, "{step}");
    }
    let range = |step: &str| format!("{:?}", fields(step)[0].1);
    assert_eq!(range("read: { count: 1..=4 }"), "Range(Some(1), Some(4))");
    assert_eq!(range("read: { returns: '..=-1' }"), "Range(None, Some(-1))");
    assert_eq!(range("openat: { returns: '3..' }"), "Range(Some(3), None)");
    assert_eq!(range("openat: { path: '3..' }"), text("3.."));
    assert_eq!(
        range("openat: { returns: { not: { one_of: [ENOTSUP, 0] } } }"),
        format!("Not(OneOf([{}, {}]))", text("EOPNOTSUPP"), number(0))
    );
    assert_eq!(
        range("openat: { path: $x, filename: $x }"),
        "Capture(\"x\")"
    );
}

#[test]
fn patterns_keep_their_form_and_sections_are_resolved_too() {
    let plan = planned(
        "  sequence: [ fsync, { next: close }, { never: [write, { read: { fd: 0 } }] }, { any_order: [ { sequence: [ fsync, read ] }, close ] } ]
  any_order: [ access ]
  never: [ kill ]
  only: [ fsync, close, write, read, access, kill, 'sched:sched_process_*' ]
  count: { openat: '1..=2' }",
    );
    let expected = &plan.expected;
    let [
        Pattern::Step(fsync),
        Pattern::Next(close),
        Pattern::Never(never),
        Pattern::AnyOrder(any),
    ] = expected.sequence.as_slice()
    else {
        panic!("{expected:?}")
    };
    assert_eq!(
        (&*fsync.word, fsync.line, &*close.word, never.len()),
        ("fsync", 6, "close", 2)
    );
    let [Pattern::Sequence(two), Pattern::Step(_)] = any.as_slice() else {
        panic!("{any:?}")
    };
    assert_eq!(two.len(), 2);
    assert_eq!(expected.any_order.len(), 1);
    assert_eq!((expected.never.len(), expected.only.len()), (1, 7));
    let names: Vec<&str> = expected.only[6].names.iter().map(String::as_str).collect();
    assert_eq!(
        names,
        ["sched:sched_process_exec", "sched:sched_process_fork"]
    );
    assert_eq!(expected.count[0].times.to_string(), "1..=2");
    assert_eq!(expected.steps().len(), 7 + 1 + 1 + 7 + 1);
}

#[test]
fn an_event_that_is_not_recorded_is_refused_wherever_it_stands() {
    let never = "is not among the events of this scenario, so it can never occur";
    let connect = format!("`connect` {never}");
    for expect in [
        "  never: [ @connect ]",
        "  only: [ { @connect: {} } ]",
        "  any_order: [ fsync, @connect ]",
        "  between: [{ first: @connect, then: fsync, there_is: close }]",
        "  between: [{ first: fsync, then: @connect, there_is: close }]",
        "  between: [{ first: fsync, then: close, there_is: { @connect: {} } }]",
        "  sequence: [ fsync, { never: [ read, @connect ] } ]",
        "  sequence: [ fsync, { next: { @connect: {} } } ]",
    ] {
        refused(expect, &connect, None);
    }
    refused(
        "  count: [ { @'sched:sched_process_exek': {}, times: 1 } ]",
        &format!("`sched:sched_process_exek` {never}"),
        Some("did you mean `sched:sched_process_exec`?"),
    );
    refused(
        "  never: [ @'sched:*' ]",
        &format!("`sched:*` {never}"),
        None,
    );
    refused(
        "  never: [ @'rename*' ]",
        "`rename*` also means `renameat`, which is not among the events of this scenario",
        None,
    );
    refused(
        "  never: [ @fsynk ]",
        "unknown system call `fsynk`",
        Some("did you mean `fsync`?"),
    );
}

#[test]
fn a_field_that_no_event_has_is_refused_with_those_that_there_are() {
    refused_step(
        "openat: { @pth: a }",
        "`openat` has no field `pth`",
        Some("did you mean `path`?"),
    );
    refused_step(
        "rename: { @flags: a }",
        "`rename` has no field `flags`",
        Some("its fields are `from` (oldname), `to` (newname), `returns`, `process`, `program`"),
    );
    refused_step(
        "exit_group: { @returns: 0 }",
        "`exit_group` has no field `returns`",
        Some("its fields are `error_code`, `process`, `program`"),
    );
    refused_step(
        "'sched:sched_process_fork': { @returns: 0 }",
        "`sched:sched_process_fork` has no field `returns`",
        Some(
            "its fields are `parent_comm`, `parent_pid`, `child_comm`, `child_pid`, `process`, `program`",
        ),
    );
    refused_step(
        "'io_uring:IORING_OP_FSYNC': { @fd: 3 }",
        "`io_uring:IORING_OP_FSYNC` has no field `fd`",
        Some("its fields are `user_data`, `flags`, `sq_thread`, `process`, `program`"),
    );
    refused_step(
        "'sched:sched_process_*': { @filenam: a }",
        "no event of `sched:sched_process_*` has a field `filenam`",
        Some("did you mean `filename`?"),
    );
    // One of several is enough.
    assert_eq!(fields("'sched:sched_process_*': { filename: a }").len(), 1);
}

#[test]
fn a_flag_whose_bits_another_has_is_sought_by_its_bits() {
    let sought = |flags: &str| {
        let step = format!("openat: {{ flags: {{ contains: {flags} }} }}");
        match fields(&step).as_slice() {
            [(_, Test::Contains(words))] => words.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(sought("O_CREAT"), ["O_CREAT"]);
    let bits = |flag: i32| format!("{flag:#x}");
    assert_eq!(
        sought("[O_DSYNC, O_CREAT|O_DIRECTORY, O_SYNC]"),
        [
            bits(libc::O_DSYNC),
            format!("O_CREAT|{}", bits(libc::O_DIRECTORY)),
            "O_SYNC".to_owned()
        ]
    );
    // Ways to open are no bits of one another.
    assert_eq!(sought("O_WRONLY"), ["O_WRONLY"]);
}

#[test]
fn what_every_event_passes_is_refused() {
    let everything = "bind, fsync, close, write, read, access, kill, rename, socket, lseek, exit_group, fcntl, ioctl, munmap, umask, execve, setgroups, rt_sigprocmask, 'sched:sched_process_*', 'io_uring:IORING_OP_FSYNC'";
    let message = "`only` lets every event of this scenario through, so it always holds";
    let help = Some("record more events, or say what their fields must be");
    refused(
        &format!("  @only: [ {everything}, {{ openat: {{ path: any }} }} ]"),
        message,
        help,
    );
    let narrow = planned(&format!(
        "  only: [ {everything}, {{ openat: {{ path: a }} }} ]"
    ));
    assert_eq!(narrow.expected.only.len(), 21);
    let all = "description: d\nworkload: { run: [a] }\nsnapshot: { hide: ['%file', close] }\n\
               trace: { events: [{ syscalls: [openat, close] }] }\n";
    assert_eq!(
        complaint(all),
        (
            3,
            19,
            "the snapshot shows no event of this scenario".to_owned()
        )
    );
}

#[test]
fn what_expectations_look_at_is_read_and_shown_no_more_than_before() {
    let memory = |expect: &str| {
        let text = scenario(expect).replace("snapshot: false", "snapshot: { contents: 16 }");
        match resolved_on(&Kernel::with_io_uring(), None, &text) {
            Ok(Resolved::Plan(plan)) => {
                assert_eq!(plan.view.expect("a view").contents, 16);
                (plan.events.memory.contents, plan.events.memory.paths)
            }
            other => panic!("{other:?}"),
        }
    };
    let of = |step: &str| memory(&format!("  sequence: [ {{ {step} }} ]"));
    assert_eq!(of("write: { fd: 1 }"), (16, false));
    assert_eq!(of("write: { data: any }"), (16, false));
    assert_eq!(of("write: { data: short }"), (16, false));
    assert_eq!(of("write: { data: twenty bytes of text }"), (21, false));
    assert_eq!(
        of("write: { data: [a, { prefix: twenty bytes of text }] }"),
        (21, false)
    );
    assert_eq!(
        of("write: { data: { not: { contains: a } } }"),
        (4096, false)
    );
    assert_eq!(of("write: { data: { regex: a } }"), (4096, false));
    assert_eq!(of("write: { data: $DIR/a }"), (4096, false));
    assert_eq!(of("openat: { path: a }"), (16, true));
    assert_eq!(of("openat: { path: any }"), (16, false));
    assert_eq!(of("rename: { to: { not: a } }"), (16, true));
}

#[test]
fn a_field_that_cannot_be_read_here_is_an_unmet_requirement() {
    let unmet = |step: &str| {
        let text = scenario(&format!("  never: [ {{ {step} }} ]"));
        let kernel = Kernel::with_io_uring();
        match resolved_by(MemoryReader::Nobody, &kernel, None, &text) {
            Ok(Resolved::Unmet(reasons)) => texts(reasons).join("; "),
            Ok(Resolved::Plan(_)) => "nothing".to_owned(),
            other => panic!("{other:?}"),
        }
    };
    let of = |field: &str| format!("its expectations need BPF, to read {field}: it is forbidden");
    assert_eq!(unmet("openat: { path: a }"), of("`path` of `openat`"));
    assert_eq!(unmet("write: { data: a }"), of("`data` of `write`"));
    assert_eq!(unmet("fsync: { fd: a }"), of("`fd` of `fsync`"));
    assert_eq!(unmet("ioctl: { arg: a }"), of("`arg` of `ioctl`"));
    for step in [
        "openat: { path: any, flags: O_RDWR }",
        "fsync: { fd: 3, returns: { not: 0 } }",
        "fsync: { fd: '3', program: a }",
        "'sched:sched_process_exec': { filename: a }",
    ] {
        assert_eq!(unmet(step), "nothing", "{step}");
    }
}

#[test]
fn marks_take_nothing_away_where_no_event_is_named() {
    let text = "description: d\nworkload: { run: [a] }\nsections: { s: { from: '>', to: '<' } }\nexpect: { sections: { s: { count: { read: 1 } } } }\n";
    match resolved(text) {
        Ok(Resolved::Plan(plan)) => {
            let fetched = plan.events.fetches.len();
            let Ok(Resolved::Plan(plain)) = resolved("description: d\nworkload: { run: [a] }\n")
            else {
                panic!("no plan")
            };
            // The contents of writes are read besides.
            assert!(fetched >= plain.events.fetches.len(), "{fetched}");
            let filters = |plan: &crate::plan::Plan| {
                let requests = plan.events.requests.iter();
                requests.map(|it| it.filter.clone()).collect::<Vec<_>>()
            };
            assert_eq!(filters(&plan), filters(&plain));
        }
        other => panic!("{other:?}"),
    }
}
