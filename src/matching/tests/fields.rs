//! Tests of single fields.

use super::notation::deeds;
use super::*;

/// Whether a field of the first deed of a trace is so; as `count: { x: 1 }` of that one would say.
#[track_caller]
fn check(trace: &str, step: &str, answer: &[&str]) {
    let text = format!("any_order: [{{ {step} }}]");
    assert_eq!(judged(&text, trace), answer, "{step} of {trace}");
}

/// Passes all of the first, fails all of the second, and does not know any of the third.
#[track_caller]
fn table(trace: &str, call: &str, yes: &[&str], no: &[&str], unknown: &[&str]) {
    for (fields, answer) in [(yes, &[][..]), (no, &["failed"]), (unknown, &["unknown"])] {
        for field in fields {
            check(trace, &format!("{call}: {{ {field} }}"), answer);
        }
    }
}

#[test]
fn what_most_calls_have_under_one_name_is_found_under_others() {
    table(
        "P1 renameat(olddfd=<3 $DIR/c #1>, oldname:from=p\"a\", newname:to=p\"b\") = 0",
        "renameat",
        &["path: a", "path: b", "path: { not: a }"],
        // The folder of a path is no descriptor that something is done to.
        &["path: c", "path: { not: [a, b] }", "fd: c"],
        &[],
    );
    table(
        "P1 copy_file_range(fd_in=<3 $DIR/a #1>, fd_out=<4 $DIR/b #2>) = 5",
        "copy_file_range",
        &["fd: a", "fd: b"],
        &["fd: c", "path: a"],
        &[],
    );
    table(
        "P1 dup2(oldfd=<1 stdout #1>, newfd=9) = 9",
        "dup2",
        &["fd: stdout"],
        &["fd: stderr"],
        &[],
    );
    table(
        "P1 creat(pathname:path=p\"a\", mode=384) = 3",
        "creat",
        &["flags: { contains: O_CREAT }", "mode: 384"],
        &["flags: { contains: O_EXCL }", "flags: O_CREAT"],
        &[],
    );
    table(
        "P1 close_range(fd=3, max_fd=9, flags=0) = 0",
        "close_range",
        &[],
        &[],
        &["fd: a"],
    );
    table(
        "P1 execve(filename:path=p\"a\", argv=[\"a\"], ...) = 0",
        "execve",
        &["path: a"],
        &["flags: O_CREAT", "mode: 384", "fd: a"],
        &["envp: { contains: A }"],
    );
    table(
        "P1 sendmsg(fd=<3 unix #1>, msg=message) = 5",
        "sendmsg",
        &[],
        &[],
        &["data: secret", "address: { not: x }"],
    );
    // Which of two paths a capture stands for is not said.
    let between = "between: [{ first: { link: { path: $p } }, then: { unlink: { path: $p } }, \
                   there_is: { fsync: {} } }]";
    let trace = "P1 link(oldname:from=p\"a\", newname:to=p\"b\") = 0\n\
                 P1 unlink(pathname:path=p\"b\") = 0";
    assert_eq!(judged(between, trace), ["unknown"]);
    let only = "only: [ '%file': { path: a } ]";
    let link = "P1 link(oldname:from=p\"a\", newname:to=p\"b\") = 0";
    assert_eq!(judged(&only.replace("'%file'", "link"), link), ["failed"]);
}

#[test]
fn a_path_that_climbs_is_spelled_as_it_stands() {
    table(
        "P1 openat(dfd=AT_FDCWD, filename:path=p\"../etc/a\") = 3",
        "openat",
        &[
            "path: { text: ../etc/a }",
            "path: { text: { glob: '../*/*' } }",
            "path: { text: { glob: '**/a' } }",
            "path: { text: { prefix: ../ } }",
            "path: { text: { not: { prefix: / } } }",
            "path: { text: { contains: .. } }",
        ],
        &[
            "path: { text: { glob: '*' } }",
            "path: { text: { not: { prefix: ../ } } }",
            "path: { text: { prefix: etc } }",
        ],
        &[],
    );
}

#[test]
fn a_number_is_what_it_is_in_any_writing() {
    table(
        "P1 lseek(fd=<3 a #1>, offset=16) = 16",
        "lseek",
        &[
            "offset: 16",
            "offset: '16'",
            "offset: '0x10'",
            "offset: '020'",
            "offset: [1, 16]",
            "offset: {range: 1..=16}",
            "offset: {range: 16..}",
            "offset: {not: 17}",
            "offset: any",
            "offset: {regex: '^16$'}",
            "returns: 16",
        ],
        &[
            "offset: 1",
            "offset: '1'",
            "offset: [1, 2]",
            "offset: {range: 1..=15}",
            "offset: {not: 16}",
            "offset: {prefix: '2'}",
            "whence: 0",
        ],
        &[],
    );
}

#[test]
fn an_error_is_its_name_and_minus_one_and_no_number_else() {
    table(
        "P1 unlink(pathname:path=p\"a\") = ENOENT",
        "unlink",
        &[
            "returns: ENOENT",
            "returns: -1",
            "returns: {not: 0}",
            "returns: [EACCES, ENOENT]",
            "returns: any",
        ],
        &[
            "returns: 0",
            "returns: EACCES",
            "returns: {range: '0..'}",
            "returns: {range: '2..'}",
            "returns: {not: ENOENT}",
        ],
        &[],
    );
}

#[test]
fn what_is_not_there_is_nothing_the_author_can_mean() {
    table(
        "P1 exit_group(error_code=0) = ?",
        "exit_group",
        &[],
        &[
            "returns: any",
            "returns: 0",
            "returns: {range: '0..'}",
            "returns: {not: 0}",
            "returns: {not: [0, 1]}",
        ],
        &[],
    );
}

#[test]
fn an_address_is_a_number_and_a_null_pointer_is_zero() {
    table(
        "P1 munmap(addr=@0x10000000) = @0x2000",
        "munmap",
        &[
            "addr: 268435456",
            "addr: '0x10000000'",
            "addr: {range: 268435456..}",
            "addr: {prefix: '0x1'}",
            "addr: <addr>",
            "addr: {not: 1}",
            "returns: 8192",
        ],
        &[
            "addr: 1",
            "addr: '0x1'",
            "addr: {range: ..=1}",
            "addr: {not: 268435456}",
            "addr: {prefix: '0x2'}",
        ],
        &[],
    );
    table(
        "P1 munmap(addr=NULL) = 0",
        "munmap",
        &["addr: 0", "addr: 'NULL'", "addr: '0x0'", "addr: {not: 1}"],
        &[
            "addr: 1",
            "addr: any",
            "addr: {not: 0}",
            "addr: {range: 1..}",
        ],
        &[],
    );
}

#[test]
fn a_value_that_was_not_read_may_be_any() {
    table(
        "P1 chdir(filename:path=<unread>) = 0",
        "chdir",
        &["path: any", "returns: 0"],
        &["mode: 1", "path: a, returns: 1"],
        &[
            "path: a",
            "path: {not: a}",
            "path: [a, b]",
            "path: {prefix: a}",
            "path: {glob: '*'}",
            "path: {regex: a}",
            "path: {contains: a}",
            "path: {range: '1..'}",
        ],
    );
}

#[test]
fn flags_are_compared_as_sets() {
    table(
        "P1 open(flags=O_RDWR|O_CREAT|O_CLOEXEC) = <3 a #1>",
        "open",
        &[
            "flags: O_RDWR|O_CREAT|O_CLOEXEC",
            "flags: O_CREAT|O_RDWR|O_CLOEXEC",
            "flags: {contains: O_CREAT}",
            "flags: {contains: [O_RDWR, O_CREAT]}",
            "flags: {contains: O_RDWR|O_CREAT}",
            "flags: {not: {contains: O_TRUNC}}",
            "flags: 0x80042",
            "flags: {contains: '0x40'}",
        ],
        &[
            "flags: O_RDWR|O_CREAT",
            "flags: O_RDWR|O_CREAT|O_CLOEXEC|O_TRUNC",
            "flags: O_RDWR",
            "flags: {contains: O_TRUNC}",
            "flags: {contains: [O_RDWR, O_TRUNC]}",
            "flags: 0",
            "flags: {contains: O_RD}",
        ],
        &[],
    );
}

#[test]
fn a_path_is_as_given_or_where_it_leads() {
    table(
        "P1 chdir(filename:path=p\"./sub//a\") = 0",
        "chdir",
        &[
            "path: sub/a",
            "path: ./sub/a",
            "path: $DIR/sub/a",
            "filename: sub/a",
            "path: {prefix: sub/}",
            "path: {prefix: ./sub}",
            "path: {prefix: $DIR/}",
            "path: {glob: 'sub/*'}",
            "path: {glob: '$DIR/**'}",
            "path: {glob: '**/a'}",
            "path: {regex: 'a$'}",
            "path: {contains: sub}",
            "path: {not: a}",
        ],
        &[
            "path: a",
            "path: /sub/a",
            "path: {prefix: /sub}",
            "path: {glob: '*'}",
            "path: {glob: '$DIR/*'}",
            "path: {regex: '^b'}",
            "path: {contains: [sub, x]}",
            "path: {not: sub/a}",
        ],
        &[],
    );
}

#[test]
fn a_wildcard_is_no_root_and_two_stars_are_every_folder_but_behind_a_dot() {
    table(
        "P1 chdir(filename:path=p\"/tmp/a\") = 0",
        "chdir",
        &[
            "path: {glob: '**a'}",
            "path: {glob: '**/a'}",
            "path: {glob: '/**/a'}",
            "path: {glob: '/*/a'}",
        ],
        &[
            "path: {glob: './**'}",
            "path: {glob: './/**'}",
            "path: {glob: './**/a'}",
            "path: {glob: '*/**'}",
            "path: {glob: '*/*/a'}",
            "path: {glob: '$DIR/**'}",
            "path: {prefix: './'}",
        ],
        &[],
    );
    table(
        "P1 chdir(filename:path=p\"tmp/a\") = 0",
        "chdir",
        &[
            "path: {glob: '**/a'}",
            "path: {glob: './**'}",
            "path: {glob: './*/a'}",
            "path: {glob: '*/**'}",
            "path: {prefix: './'}",
        ],
        &["path: {glob: '/**/tmp/a'}", "path: {glob: '*/*/a'}"],
        &[],
    );
}

#[test]
fn a_path_that_climbs_is_not_below_where_it_came_from() {
    table(
        "P1 chdir(filename:path=p\"/usr/../etc/passwd\") = 0",
        "chdir",
        &[
            "path: /usr/../etc/passwd",
            "path: {prefix: /etc/}",
            "path: {glob: '/etc/*'}",
        ],
        &["path: {prefix: /usr/}", "path: {glob: '/usr/**'}"],
        &[],
    );
    table(
        "P1 chdir(filename:path=p\"../secret\") = 0",
        "chdir",
        &["path: ../secret"],
        &["path: {prefix: $DIR/s}", "path: {glob: '*'}"],
        &[],
    );
}

#[test]
fn a_path_below_an_unknown_directory_is_unknown_unless_it_ends_otherwise() {
    table(
        "P1 chdir(filename:path=q\"sub/a\") = 0",
        "chdir",
        &["path: sub/a", "path: {prefix: sub}", "path: {glob: sub/?}"],
        &["path: sub/b", "path: /tmp/b"],
        &[
            "path: /tmp/sub/a",
            "path: {prefix: /tmp}",
            "path: {not: $DIR/x/sub/a}",
        ],
    );
}

#[test]
fn a_descriptor_is_its_number_or_what_it_refers_to() {
    table(
        "P1 fsync(fd=<3 $DIR/a #1>) = 0",
        "fsync",
        &[
            "fd: 3",
            "fd: a",
            "fd: $DIR/a",
            "fd: {prefix: $DIR/}",
            "fd: {glob: '?'}",
            "fd: {range: '3..'}",
            "fd: {regex: 'a$'}",
            "fd: any",
        ],
        &["fd: 4", "fd: b", "fd: {prefix: /tmp}", "fd: {not: a}"],
        &[],
    );
    table(
        "P1 write(fd=<1 stdout #1>) = 0",
        "write",
        &["fd: stdout", "fd: 1", "fd: {contains: out}"],
        &["fd: stderr", "fd: {glob: 'std'}"],
        &[],
    );
}

#[test]
fn a_descriptor_that_nobody_knows_has_a_number_and_one_that_is_not_open_no_name() {
    table(
        "P1 fsync(fd=<3 ?>) = 0",
        "fsync",
        &["fd: 3"],
        &["fd: 4"],
        &["fd: a", "fd: {prefix: a}", "fd: {not: a}", "fd: {regex: a}"],
    );
    table(
        "P1 fsync(fd=<3>) = EBADF",
        "fsync",
        &["fd: 3", "fd: {not: a}"],
        &["fd: a", "fd: {prefix: a}"],
        &[],
    );
}

#[test]
fn a_string_that_was_cut_may_go_on() {
    table(
        "P1 write(buf=\"abc\"...) = 9",
        "write",
        &[
            "buf: {prefix: ab}",
            "buf: {prefix: abc}",
            "buf: {contains: bc}",
            "buf: {regex: 'a'}",
            "buf: {not: abc}",
        ],
        &[
            "buf: abc",
            "buf: x",
            "buf: {prefix: b}",
            "buf: {not: {contains: b}}",
        ],
        &[
            "buf: abcd",
            "buf: {prefix: abcd}",
            "buf: {contains: d}",
            "buf: {regex: 'c$'}",
            "buf: {glob: 'a*'}",
        ],
    );
    table(
        "P1 write(buf=\"abc\") = 3",
        "write",
        &["buf: abc", "buf: {regex: 'c$'}", "buf: {glob: 'a*'}"],
        &["buf: abcd", "buf: ab", "buf: {contains: d}"],
        &[],
    );
}

#[test]
fn arguments_are_words_with_blanks_between() {
    table(
        "P1 execve(argv=[\"sh\", \"-c\", \"x y\"]) = 0",
        "execve",
        &[
            "argv: sh -c x y",
            "argv: {prefix: sh}",
            "argv: {contains: '-c'}",
        ],
        &["argv: sh", "argv: {contains: '-e'}"],
        &[],
    );
    table(
        "P1 execve(argv=[\"sh\", ...]) = 0",
        "execve",
        &["argv: {prefix: sh}"],
        &[],
        &["argv: sh", "argv: {contains: '-e'}"],
    );
}

#[test]
fn a_structure_is_its_text_and_what_is_left_out_of_it_unknown() {
    table(
        "P1 connect(uservaddr={sa_family=AF_INET, sin_port=htons(80)}) = 0",
        "connect",
        &["uservaddr: {contains: 'htons(80)'}"],
        &["uservaddr: {contains: 'htons(81)'}"],
        &[],
    );
    table(
        "P1 connect(uservaddr={sa_family=AF_INET, <unread>}) = 0",
        "connect",
        &["uservaddr: {contains: AF_INET}"],
        &[],
        &["uservaddr: {contains: 'htons(81)'}"],
    );
    table(
        "P1 sendmsg(msg={msg_iov=[{iov_base=\"a\", iov_len=1}, {iov_base=<addr>, iov_len=9}], msg_iovlen=2}) = 10",
        "sendmsg",
        &["msg: {contains: 'iov_len=9'}"],
        &[],
        &["msg: {contains: secret}"],
    );
}

#[test]
fn arguments_that_nobody_saw_may_be_any() {
    table(
        "P1 execve(filename:path=p\"/bin/sh\", ...) = 0",
        "execve",
        &["path: /bin/sh", "returns: 0"],
        &["path: /bin/ls"],
        &["envp: x"],
    );
}

#[test]
fn a_deed_has_a_process_and_a_program() {
    table(
        "P2.T2/sh sched:sched_process_exit comm=\"sh\"",
        "sched:sched_process_exit",
        &["process: P2", "program: sh", "comm: sh"],
        &["process: P1", "program: ls", "returns: any"],
        &[],
    );
}

#[test]
fn a_field_that_one_of_the_names_does_not_have_is_not_so() {
    let trace = "P1 rename(oldname:from=p\"a\") = 0\nP1 renameat2(flags=0) = 0";
    assert_eq!(deeds(trace).len(), 2);
    assert_eq!(
        judged("count: { rename|renameat2: { flags: 0, times: 1 } }", trace),
        [""; 0]
    );
}

#[test]
fn a_number_in_whose_place_a_structure_has_a_word_is_not_known() {
    table(
        "P1 utimensat(utimes=[{tv_sec=<time>, tv_nsec=0}]) = 0",
        "utimensat",
        &[
            "utimes: {contains: tv_nsec=0}",
            "utimes: {contains: tv_sec}",
            "utimes: {regex: 'tv_nsec=[0-9]'}",
            "utimes: {contains: 'tv_sec=<time>'}",
        ],
        &[
            "utimes: {contains: UTIME_NOW}",
            "utimes: {contains: UTIME_NOW5}",
            "utimes: {contains: [tv_nsec=0, UTIME_OMIT]}",
            "utimes: {contains: tv_nsec=1}",
            "utimes: {contains: 10.0.0.1}",
            "utimes: {regex: AF_INET6}",
            "utimes: {prefix: '{'}",
        ],
        &[
            "utimes: {contains: tv_sec=5}",
            "utimes: {not: {contains: tv_sec=5}}",
            "utimes: {regex: 'tv_sec=[0-9]'}",
            "utimes: {regex: 'tv_sec=\\d'}",
            "utimes: {regex: 'tv_sec=\\w+,'}",
            "utimes: {glob: '*tv_sec=?, *'}",
            "utimes: {contains: '5, tv_nsec'}",
            "utimes: {contains: 'tv_sec=5, '}",
            "utimes: {prefix: '[{tv_sec=5'}",
            "utimes: '[{tv_sec=5, tv_nsec=0}]'",
        ],
    );
}

#[test]
fn a_file_that_is_called_like_a_kind_is_meant_by_its_path_alone() {
    table(
        "P1 write(fd=<3 $DIR/stdout #1>, count=1) = 1",
        "write",
        &[
            "fd: ./stdout",
            "fd: $DIR/stdout",
            "fd: {not: stdout}",
            "fd: {glob: 'std*'}",
        ],
        &[
            "fd: stdout",
            "fd: [stdout, stderr]",
            "fd: {not: ./stdout}",
            "fd: pipe",
        ],
        &[],
    );
    table(
        "P1 write(fd=<1 stdout #1>, count=1) = 1",
        "write",
        &["fd: stdout", "fd: {not: ./stdout}"],
        &["fd: ./stdout", "fd: $DIR/stdout", "fd: {not: stdout}"],
        &[],
    );
    // Nobody knows where it is, and it is a file.
    table(
        "P1 write(fd=<3 ./tcp #1>, count=1) = 1",
        "write",
        &["fd: ./tcp"],
        &["fd: tcp"],
        &[],
    );
}
