//! What 32-bit calls point to: of 32-bit programs, and of 64-bit ones that make such calls.

use super::UNREAD;
use crate::gate::calls_of_32_bits;
use crate::source::bpf_records_calls;
use crate::support::project::{OF_32, Project};
use crate::support::require::{program, require, right_to_trace};

pub(super) fn needs() -> Result<(), String> {
    right_to_trace()?;
    program("cc")?;
    calls_of_32_bits()
}

/// What may record calls here.
pub(super) fn sources() -> impl Iterator<Item = &'static str> {
    let bpf = bpf_records_calls().is_ok().then_some("bpf");
    ["perf"].into_iter().chain(bpf)
}

/// A compiled program, in a project of its own.
pub(super) fn project(flags: &[&str], source: &str) -> Project {
    let project = Project::new();
    project.compile(flags, source, "program");
    project
}

/// The lines of a trace with so much of contents.
pub(super) fn lines(project: &Project, source: &str, events: &str, mode: &[&str]) -> Vec<String> {
    let words = ["trace", "--source", source, "-s", "32", "-e", events];
    let command = ["-o", "trace", "--", "./program"];
    let words = [&words[..], &command, mode].concat();
    project.harness(&words).assert_status(0);
    let trace = project.read("trace");
    let without_thread = |line: &str| Some(line.split_once(' ')?.1.to_owned());
    trace.lines().filter_map(without_thread).collect()
}

/// The calls of the 32-bit table among them.
pub(super) fn narrow(lines: &[String]) -> Vec<&str> {
    let narrow = lines.iter().filter_map(|it| it.strip_prefix("[i386] "));
    narrow.collect()
}

/// How calls of the program begin and end.
const POINTS: &[(&str, &str)] = &[
    ("mkdir(\"folder\", 0700)", " = 0"),
    (
        "open(\"folder/file\", O_RDWR|O_CREAT, 0600)",
        "folder/file>",
    ),
    ("write(", ", \"twelve bytes\", 12) = 12"),
    (
        "writev(",
        ", [{iov_base=\"one\", iov_len=3}, {iov_base=\"three\", iov_len=5}], 2) = 8",
    ),
    (
        "pwritev(",
        ", [{iov_base=\"one\", iov_len=3}, {iov_base=\"three\", iov_len=5}], 2, 0) = 8",
    ),
    ("pwrite64(", ", \"zero\", 4, 1) = 4"),
    ("pread64(", ", \"ozero\", 5, 0) = 5"),
    (
        "preadv(",
        ", [{iov_base=\"oze\", iov_len=3}, {iov_base=\"ro\", iov_len=2}], 2, 0) = 5",
    ),
    (
        "stat64(\"folder/file\", {st_mode=S_IFREG|0600, st_size=20, ...})",
        " = 0",
    ),
    ("fstat64(", ", {st_mode=S_IFREG|0600, st_size=20, ...}) = 0"),
    (
        "stat(\"folder/file\", {st_mode=S_IFREG|0600, st_size=20, ...})",
        " = 0",
    ),
    ("statfs(\"folder\", {f_type=", " = 0"),
    ("rename(\"folder/file\", \"folder/other\")", " = 0"),
    ("symlink(\"other\", \"folder/link\")", " = 0"),
    ("readlink(\"folder/link\", \"other\", 100)", " = 5"),
    ("pipe([", " read>, 5<pipe:1 write>]) = 0"),
    ("read(", ", \"through\", 100) = 7"),
    ("nanosleep({tv_sec=0, tv_nsec=1000}, NULL)", " = 0"),
    (
        "clock_nanosleep_time64(CLOCK_MONOTONIC, 0, {tv_sec=0, tv_nsec=1000}, NULL)",
        " = 0",
    ),
    ("uname({sysname=\"Linux\"", " = 0"),
    ("rt_sigprocmask(SIG_BLOCK, [USR1], NULL, 8)", " = 0"),
    (
        "rt_sigaction(SIGUSR1, {sa_handler=SIG_IGN, sa_mask=[], sa_flags=0}, NULL, 8)",
        " = 0",
    ),
    (
        "poll([{fd=",
        "<pipe:1 read>, events=POLLIN}], 1, 0) = 0 (Timeout)",
    ),
    (
        "connect(",
        ", {sa_family=AF_INET, sin_port=htons(50099), sin_addr=inet_addr(\"127.0.0.1\")}, 16) = 0",
    ),
    (
        "sendto(",
        ", \"datagram\", 8, 0, {sa_family=AF_INET, sin_port=htons(50099), sin_addr=inet_addr(\"127.0.0.1\")}, 16) = 8",
    ),
    (
        "utimensat(AT_FDCWD, \"folder/other\", [{tv_sec=1, tv_nsec=2}",
        "0) = 0",
    ),
    ("unlinkat(AT_FDCWD, \"folder/other\", 0)", " = 0"),
    ("open(0x8, O_RDONLY)", " = -1 EFAULT (Bad address)"),
    (
        "execve(\"/bin/true\", [\"true\", \"and\", \"more\"], NULL)",
        " = 0",
    ),
];

#[test]
fn what_the_calls_of_a_32_bit_program_point_to_is_read() {
    require!(needs());
    let project = project(OF_32, "points.i386.c");
    for source in sources() {
        let lines = lines(&project, source, "all", &[]);
        let calls = narrow(&lines);
        for (start, end) in POINTS {
            let is_it = |call: &&&str| call.starts_with(start) && call.ends_with(end);
            assert!(
                calls.iter().any(|it| is_it(&it)),
                "{source}: {start}: {calls:#?}"
            );
        }
        assert!(
            !lines.iter().any(|it| it.contains(UNREAD)),
            "{source}: {lines:#?}"
        );
        // What was passed by a message is the file that it is.
        let passed = "cmsg_type=SCM_RIGHTS, cmsg_data=[";
        let n_passed = calls.iter().filter(|it| it.contains(passed)).count();
        assert_eq!(n_passed, 2, "{source}: {calls:#?}");
    }
}

#[test]
fn the_kernel_looks_at_the_lower_half_of_a_register_and_so_does_what_is_read() {
    require!(needs());
    let project = project(&[], "narrow.c");
    for source in sources() {
        let lines = lines(&project, source, "open", &["high"]);
        let open = "open(\"by-the-lower-half\", O_RDONLY) = -1 ENOENT (No such file or directory)";
        assert_eq!(narrow(&lines), [open], "{source}");
    }
}

#[test]
fn calls_of_both_tables_by_one_thread_are_each_read_as_their_own() {
    require!(needs());
    let project = project(&[], "narrow.c");
    for source in sources() {
        let lines = lines(&project, source, "open,fstat", &["mixed"]);
        assert_eq!(narrow(&lines).len(), 3, "{source}: {lines:#?}");
        for call in narrow(&lines) {
            assert!(
                call.starts_with("open(\"by-the-lower-half\", "),
                "{source}: {call}"
            );
        }
        let count = |start| lines.iter().filter(|it| it.starts_with(start)).count();
        assert_eq!(count("open(\"by-all-of-it\", "), 3, "{source}: {lines:#?}");
    }
}

#[test]
fn a_native_call_of_a_32_bit_program_is_read_as_one() {
    require!(needs());
    let project = project(OF_32, "widths.i386.c");
    for source in sources() {
        let words = ["trace", "--source", source, "-e", "open", "-o", "trace"];
        let run = project.harness(&[&words[..], &["--", "./program"]].concat());
        // The registers of perf before Linux 5.11 have the mark of the program.
        if source == "perf" && run.status == 125 {
            let said = "calls that may be native or of 32 bits";
            assert!(run.stderr.contains(said), "{run:?}");
            continue;
        }
        run.assert_status(0);
        let trace = project.read("trace");
        let lines = trace
            .lines()
            .filter_map(|line| Some(line.split_once(' ')?.1));
        let lines: Vec<&str> = lines.collect();
        let opens = lines.iter().filter(|it| it.contains("open("));
        let opens: Vec<&str> = opens.map(|it| it.split(',').next().unwrap_or(it)).collect();
        let expected = [
            "[i386] open(\"first\"",
            "open(\"second\"",
            "[i386] open(\"third\"",
        ];
        assert_eq!(opens, expected, "{source}");
    }
}

#[test]
fn a_32_bit_call_that_looks_like_a_native_one_is_read_as_the_kernel_makes_it() {
    require!(needs());
    require!(bpf_records_calls());
    let project = project(&[], "narrow.c");
    let lines = lines(&project, "bpf", "open,fstat", &["disguised"]);
    let opens = narrow(&lines);
    assert!(
        matches!(*opens, [open] if open.starts_with("open(\"by-the-lower-half\", ")),
        "{lines:#?}"
    );
    // The registers alone tell perf's records, which it fits to no call that was read.
    let words = [
        "trace",
        "--source",
        "perf",
        "-e",
        "open,fstat",
        "-o",
        "trace",
    ];
    let run = project.harness(&[&words[..], &["--", "./program", "disguised"]].concat());
    run.assert_status(125);
    assert!(!project.read("trace").contains("of di"), "{run:?}");
}

#[test]
fn a_path_that_was_not_there_is_read_at_the_end_of_the_call() {
    require!(needs());
    let project = project(&[], "narrow.c");
    for source in sources() {
        let lines = lines(&project, source, "open", &["cold"]);
        let opens = narrow(&lines);
        assert!(
            matches!(*opens, [open] if open.starts_with("open(\"link\", ")),
            "{lines:#?}"
        );
    }
}

#[test]
fn a_path_that_the_call_has_written_over_before_it_was_read_is_unread() {
    require!(needs());
    let project = project(&[], "narrow.c");
    for source in sources() {
        let _ = std::fs::remove_file(project.join("link"));
        let lines = lines(&project, source, "readlink", &["late"]);
        let expected = format!("readlink({UNREAD}, \"another\", 100) = 7");
        assert_eq!(narrow(&lines), [expected.as_str()], "{source}");
    }
}

/// The scenario's verdict with these expectations and faults.
fn judged(source: &str, rest: &str) -> (String, String) {
    let project = project(OF_32, source);
    let yaml = format!(
        "workload: {{ run: [./program], files: {{ program: {{ from: ../program, mode: \"0755\" }}, secret: s }} }}\n\
         snapshot: false\n{rest}"
    );
    project.scenario("it", &yaml);
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    run.verdicts()["it"].clone()
}

#[test]
fn expectations_on_paths_and_contents_of_a_32_bit_program_are_decided() {
    require!(needs());
    for (expect, wanted) in [
        (
            "count: { open: 2 }, sequence: [ { open: { path: folder/file, returns: $fd } }, { write: { fd: $fd, data: twelve bytes } }, { rename: { from: folder/file, to: folder/other } } ]",
            "pass",
        ),
        ("never: [ { unlinkat: { path: folder/other } } ]", "fail"),
        ("never: [ { open: { path: another } } ]", "pass"),
        (
            "never: [ { connect: { address: { contains: \"50098\" } } } ]",
            "pass",
        ),
    ] {
        let rest = format!(
            "trace: {{ events: [{{ syscalls: [\"%file\", write, connect] }}] }}\nexpect: {{ {expect} }}"
        );
        let (verdict, why) = judged("points.i386.c", &rest);
        assert_eq!(verdict, wanted, "{expect}: {why}");
    }
}

#[test]
fn a_fault_finds_the_call_of_a_32_bit_program_by_its_path() {
    require!(needs());
    for (path, wanted) in [("secret", "pass"), ("other", "fail")] {
        let rest = format!(
            "trace: {{ events: [{{ syscalls: [open] }}] }}\n\
             faults: [{{ open: {{ path: {path}, error: EACCES }} }}]\n\
             expect: {{ exit: 1, sequence: [ {{ open: {{ path: secret, returns: EACCES }} }} ] }}"
        );
        let (verdict, why) = judged("opens.i386.c", &rest);
        assert_eq!(verdict, wanted, "{path}: {why}");
    }
}

#[test]
fn where_a_32_bit_program_may_go_is_decided() {
    require!(needs());
    for (source, confined, wanted) in [
        ("opens.i386.c", "reads: []", "pass"),
        ("points.i386.c", "writes: [folder, \"folder/**\"]", "pass"),
        ("points.i386.c", "writes: [\"other/**\"]", "fail"),
        (
            "socketcall.i386.c",
            "network: [\"127.0.0.1:50099\", \"127.0.0.1:50098\"]",
            "pass",
        ),
        (
            "socketcall.i386.c",
            "network: [\"127.0.0.1:50099\"]",
            "fail",
        ),
        ("netlink.i386.c", "network: [\"family:netlink\"]", "pass"),
        ("netlink.i386.c", "network: []", "fail"),
    ] {
        let rest = format!("expect: {{ confined: {{ {confined} }} }}");
        let (verdict, why) = judged(source, &rest);
        assert_eq!(verdict, wanted, "{source}, {confined}: {why}");
    }
}
