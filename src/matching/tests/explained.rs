//! What is said of expectations that are not met, as whole texts.

use super::*;

#[track_caller]
fn check(expected: &str, trace: &str, text: &str) {
    let findings = judgement(expected, trace).findings;
    let found: Vec<&str> = findings.iter().map(Finding::text).collect();
    assert_eq!(format!("\n{}\n", found.join("\n")), text, "{expected}");
}

const SAVE: &str = r##"
    P1/python3 openat(dfd=AT_FDCWD, filename:path=p"/etc/locale", flags=O_RDONLY|O_CLOEXEC) = ENOENT
    P1/python3 openat(dfd=AT_FDCWD, filename:path=p"config.tmp", flags=O_RDWR|O_CREAT) = <3 $DIR/config.tmp #1>
    P1/python3 write(fd=<3 $DIR/config.tmp #1>, buf="a = 2", count=5) = 5
    P1/python3 close(fd=<3 $DIR/config.tmp #1>) = 0
    P1/python3 openat(dfd=AT_FDCWD, filename:path=p".", flags=O_RDONLY|O_CLOEXEC) = <3 $DIR #2>
    P1/python3 fsync(fd=<3 $DIR #2>) = 0
    P1/python3 rename(oldname:from=p"config.tmp", newname:to=p"config.toml") = 0
    P1/python3 exit_group(error_code=0) = ?
"##;

const THREADS: &str = r##"
    P1/python3 10-20 fsync(fd=<3 $DIR/a #1>) = 0
    P2/sh 12-13 getpid() = 7
    P1.T2/python3 15-16 rename(oldname:from=p"a", newname:to=p"b") = 0
"##;

const MANY: &str = r##"
    P1/cat read(fd=<0 stdin #1>) = 10
    P1/cat read(fd=<0 stdin #1>) = 11
    P1/cat read(fd=<0 stdin #1>) = 12
    P1/cat read(fd=<0 stdin #1>) = 13
    P1/cat read(fd=<0 stdin #1>) = 0
"##;

const NAMES: &str = r##"
    P1/a read(fd=0) = 1
    P1/a read(fd=0) = 1
    P1/a write(fd=1) = 1
    P2/b getpid() = 7
    P2/b getppid() = 6
    P2/b gettid() = 7
    P2/b getuid() = 0
    P2/b geteuid() = 0
    P2/b getgid() = 0
    P2/b exit_group(error_code=0) = ?
"##;

const UNREAD: &str = r##"
    P1/rm execve(filename:path=p"/bin/sh", argv=["sh", ...], ...) = 0
    P1/rm unlink(pathname:path=<unread>) = 0
    P1/rm unlink(pathname:path=p"b") = 0
    P1/rm connect(addr=<unread>) = 0
"##;

const FAR: &str = r##"
    P1/dd openat(filename:path=p"a") = <3 $DIR/a #1>
    P1/dd read(fd=<0 stdin #7>) = 10
    P1/dd read(fd=<0 stdin #7>) = 10
    P1/dd read(fd=<0 stdin #7>) = 10
    P2/sh getpid() = 7
    P1/dd read(fd=<0 stdin #7>) = 10
    P1/dd read(fd=<0 stdin #7>) = 10
    P1/dd openat(filename:path=p"a") = <4 $DIR/a:2 #2>
    P1/dd read(fd=<0 stdin #7>) = 10
    P1/dd read(fd=<0 stdin #7>) = 10
    P1/dd read(fd=<0 stdin #7>) = 10
    P1/dd read(fd=<0 stdin #7>) = 10
    P1/dd read(fd=<0 stdin #7>) = 10
    P1/dd read(fd=<0 stdin #7>) = 0
    P1/dd fsync(fd=<1 stdout #8>) = 0
    P1/dd read(fd=<0 stdin #7>) = 10
"##;

#[test]
fn a_step_of_which_none_is_like_it_is_explained_by_the_nearest() {
    check(
        "sequence:\n\
         - openat: { path: config.tmp, flags: { contains: O_CREAT }, returns: $fd }\n\
         - fsync: { fd: $fd, returns: 0 }\n\
         - rename: { from: config.tmp }",
        SAVE,
        r##"
`expect.sequence`, step 2 of 3 (line 2) never occurs: the only `fsync` is not like it
+ 1  openat: { path: config.tmp, flags: { contains: O_CREAT }, returns: $fd }
- 2  fsync: { fd: $fd, returns: 0 }
     nearest: P1 fsync(<$DIR>) = 0
~      fd: expected $fd, which is <$DIR/config.tmp> (step 1), got <$DIR>
@@ P1 python3 @@
     openat(AT_FDCWD, "/etc/locale", O_RDONLY|O_CLOEXEC) = -1 ENOENT
+ 1  openat(AT_FDCWD, "config.tmp", O_RDWR|O_CREAT) = <$DIR/config.tmp>
     write(<$DIR/config.tmp>, "a = 2", 5) = 5
     close(<$DIR/config.tmp>) = 0
     openat(AT_FDCWD, ".", O_RDONLY|O_CLOEXEC) = <$DIR>
~    fsync(<$DIR>) = 0
     rename("config.tmp", "config.toml") = 0
     exit_group(0) = ?
"##,
    );
    check(
        "sequence: [ openat: { path: config.tmp, flags: O_WRONLY|O_CREAT|O_TRUNC } ]",
        SAVE,
        r##"
`expect.sequence` (line 1) never occurs: of 3 `openat` none is like it
- 1  openat: { path: config.tmp, flags: O_WRONLY|O_CREAT|O_TRUNC }
     nearest: P1 openat(AT_FDCWD, "config.tmp", O_RDWR|O_CREAT) = <$DIR/config.tmp>
~      flags: expected O_WRONLY|O_CREAT|O_TRUNC, got O_RDWR|O_CREAT (missing O_WRONLY|O_TRUNC, unwanted O_RDWR)
@@ P1 python3 @@
    openat(AT_FDCWD, "/etc/locale", O_RDONLY|O_CLOEXEC) = -1 ENOENT
~   openat(AT_FDCWD, "config.tmp", O_RDWR|O_CREAT) = <$DIR/config.tmp>
    write(<$DIR/config.tmp>, "a = 2", 5) = 5
    close(<$DIR/config.tmp>) = 0
"##,
    );
    check(
        "sequence: [ openat: { path: /etc, flags: { contains: O_TRUNC } } ]",
        SAVE,
        r##"
`expect.sequence` (line 1) never occurs: of 3 `openat` none is like it
- 1  openat: { path: /etc, flags: { contains: O_TRUNC } }
     nearest: P1 openat(AT_FDCWD, "/etc/locale", O_RDONLY|O_CLOEXEC) = -1 ENOENT
~      path: expected /etc, got "/etc/locale"
~      flags: expected { contains: O_TRUNC }, got O_RDONLY|O_CLOEXEC (missing O_TRUNC)
     nearest: P1 openat(AT_FDCWD, "config.tmp", O_RDWR|O_CREAT) = <$DIR/config.tmp>
~      path: expected /etc, got "config.tmp"
~      flags: expected { contains: O_TRUNC }, got O_RDWR|O_CREAT (missing O_TRUNC)
@@ P1 python3 @@
~   openat(AT_FDCWD, "/etc/locale", O_RDONLY|O_CLOEXEC) = -1 ENOENT
~   openat(AT_FDCWD, "config.tmp", O_RDWR|O_CREAT) = <$DIR/config.tmp>
    write(<$DIR/config.tmp>, "a = 2", 5) = 5
    close(<$DIR/config.tmp>) = 0
"##,
    );
    check(
        "sequence: [ rename: { from: config.tmp, to: config.toml, returns: EXDEV }, exit_group ]",
        SAVE,
        r##"
`expect.sequence`, step 1 of 2 (line 1) never occurs: the only `rename` is not like it
- 1  rename: { from: config.tmp, to: config.toml, returns: EXDEV }
     nearest: P1 rename("config.tmp", "config.toml") = 0
~      returns: expected EXDEV, got 0
@@ P1 python3 @@
    openat(AT_FDCWD, ".", O_RDONLY|O_CLOEXEC) = <$DIR>
    fsync(<$DIR>) = 0
~   rename("config.tmp", "config.toml") = 0
    exit_group(0) = ?
"##,
    );
}

#[test]
fn a_step_whose_name_never_occurs_is_told_from_one_that_is_not_like_it() {
    check(
        "sequence: [ openat: { path: config.tmp, returns: $fd }, fdatasync: { fd: $fd } ]",
        SAVE,
        r##"
`expect.sequence`, step 2 of 2 (line 2) never occurs: there is no `fdatasync`, but 1 `fsync`
+ 1  openat: { path: config.tmp, returns: $fd }
- 2  fdatasync: { fd: $fd }
@@ P1 python3 @@
     openat(AT_FDCWD, "/etc/locale", O_RDONLY|O_CLOEXEC) = -1 ENOENT
+ 1  openat(AT_FDCWD, "config.tmp", O_RDWR|O_CREAT) = <$DIR/config.tmp>
     write(<$DIR/config.tmp>, "a = 2", 5) = 5
     close(<$DIR/config.tmp>) = 0
"##,
    );
    check(
        "sequence: [ fdatasync ]",
        SAVE,
        r##"
`expect.sequence` (line 1) never occurs: there is no `fdatasync`, but 1 `fsync`
- 1  fdatasync
"##,
    );
}

#[test]
fn a_step_that_occurs_too_early_is_shown_where_it_does() {
    check(
        "sequence: [ rename: { from: config.tmp }, fsync: { returns: 0 } ]",
        SAVE,
        r##"
`expect.sequence`, step 2 of 2 (line 2) occurs, but before step 1
+ 1  rename: { from: config.tmp }
- 2  fsync: { returns: 0 }
@@ P1 python3 @@
     close(<$DIR/config.tmp>) = 0
     openat(AT_FDCWD, ".", O_RDONLY|O_CLOEXEC) = <$DIR>
~ 2  fsync(<$DIR>) = 0
+ 1  rename("config.tmp", "config.toml") = 0
     exit_group(0) = ?
"##,
    );
    check(
        "sequence: [ fsync, fsync ]",
        SAVE,
        r##"
`expect.sequence`, step 2 of 2 (line 2) occurs once too few: what is like it is step 1
+ 1  fsync
- 2  fsync
@@ P1 python3 @@
     close(<$DIR/config.tmp>) = 0
     openat(AT_FDCWD, ".", O_RDONLY|O_CLOEXEC) = <$DIR>
+ 1  fsync(<$DIR>) = 0
     rename("config.tmp", "config.toml") = 0
     exit_group(0) = ?
"##,
    );
}

#[test]
fn a_step_that_another_thread_makes_too_early_is_shown_among_both_threads() {
    check(
        "sequence: [ fsync, rename ]",
        THREADS,
        r##"
`expect.sequence`, step 2 of 2 (line 2) occurs, but while step 1 was under way in another thread
+ 1  fsync
- 2  rename
@@ P1 python3, P1.T2 python3 @@
+ 1  P1 fsync(<$DIR/a>) = 0
~ 2  P1.T2 rename("a", "b") = 0
"##,
    );
}

#[test]
fn what_came_instead_of_the_next_is_shown() {
    check(
        "sequence: [ write, next: { rename: { from: config.tmp } } ]",
        SAVE,
        r##"
`expect.sequence`, step 2 of 2 (line 2) is not what its thread does next behind step 1
+ 1  write
- 2  rename: { from: config.tmp }
@@ P1 python3 @@
     openat(AT_FDCWD, "/etc/locale", O_RDONLY|O_CLOEXEC) = -1 ENOENT
     openat(AT_FDCWD, "config.tmp", O_RDWR|O_CREAT) = <$DIR/config.tmp>
+ 1  write(<$DIR/config.tmp>, "a = 2", 5) = 5
-    close(<$DIR/config.tmp>) = 0
     openat(AT_FDCWD, ".", O_RDONLY|O_CLOEXEC) = <$DIR>
     fsync(<$DIR>) = 0
"##,
    );
    check(
        "sequence: [ write, next: { close: { fd: 7 } } ]",
        SAVE,
        r##"
`expect.sequence`, step 2 of 2 (line 2) is not what its thread does next behind step 1
+ 1  write
- 2  close: { fd: 7 }
     next: P1 close(<$DIR/config.tmp>) = 0
~      fd: expected 7, got 3<$DIR/config.tmp>
@@ P1 python3 @@
     openat(AT_FDCWD, "/etc/locale", O_RDONLY|O_CLOEXEC) = -1 ENOENT
     openat(AT_FDCWD, "config.tmp", O_RDWR|O_CREAT) = <$DIR/config.tmp>
+ 1  write(<$DIR/config.tmp>, "a = 2", 5) = 5
~    close(<$DIR/config.tmp>) = 0
     openat(AT_FDCWD, ".", O_RDONLY|O_CLOEXEC) = <$DIR>
     fsync(<$DIR>) = 0
"##,
    );
    check(
        "sequence: [ exit_group, next: write ]",
        SAVE,
        r##"
`expect.sequence`, step 2 of 2 (line 2) does not occur: its thread does nothing behind step 1
+ 1  exit_group
- 2  write
@@ P1 python3 @@
     fsync(<$DIR>) = 0
     rename("config.tmp", "config.toml") = 0
+ 1  exit_group(0) = ?
"##,
    );
}

#[test]
fn what_lies_behind_the_last_step_is_said_to_lie_there() {
    let expected = "sequence:\n- openat: { path: config.tmp }\n- never: [ fsync ]";
    let findings = judgement(expected, SAVE).findings;
    let text = findings.first().map(Finding::text).unwrap_or_default();
    let said = "`expect.sequence`, step 1 of 2 (line 1) occurs, but not without the `fsync` behind \
                it that line 2 forbids\n";
    assert!(text.starts_with(said), "{text}");
}

#[test]
fn what_lies_between_is_shown_with_the_line_that_forbids_it() {
    check(
        "sequence:\n\
         - openat: { path: config.tmp }\n\
         - never: [ close: { fd: 7 }, write ]\n\
         - rename",
        SAVE,
        r##"
`expect.sequence`, step 3 of 3 (line 4) occurs, but not without the `write` before it that line 3 forbids
+ 1  openat: { path: config.tmp }
- 3  rename
@@ P1 python3 @@
     openat(AT_FDCWD, "/etc/locale", O_RDONLY|O_CLOEXEC) = -1 ENOENT
+ 1  openat(AT_FDCWD, "config.tmp", O_RDWR|O_CREAT) = <$DIR/config.tmp>
-    write(<$DIR/config.tmp>, "a = 2", 5) = 5
     close(<$DIR/config.tmp>) = 0
     openat(AT_FDCWD, ".", O_RDONLY|O_CLOEXEC) = <$DIR>
     fsync(<$DIR>) = 0
~ 3  rename("config.tmp", "config.toml") = 0
     exit_group(0) = ?
"##,
    );
    check(
        "sequence: [ never: [ write, close ] ]",
        SAVE,
        r##"
`expect.sequence`: what must not occur does
@@ P1 python3 @@
    openat(AT_FDCWD, "/etc/locale", O_RDONLY|O_CLOEXEC) = -1 ENOENT
    openat(AT_FDCWD, "config.tmp", O_RDWR|O_CREAT) = <$DIR/config.tmp>
-   write(<$DIR/config.tmp>, "a = 2", 5) = 5
    close(<$DIR/config.tmp>) = 0
    openat(AT_FDCWD, ".", O_RDONLY|O_CLOEXEC) = <$DIR>
"##,
    );
}

#[test]
fn any_order_is_explained_by_the_one_that_is_missing() {
    check(
        "any_order: [ fsync, write, fsync ]",
        SAVE,
        r##"
`expect.any_order`, step 3 of 3 (line 3) occurs once too few: what is like it is step 1
+ 1  fsync
- 3  fsync
@@ P1 python3 @@
     close(<$DIR/config.tmp>) = 0
     openat(AT_FDCWD, ".", O_RDONLY|O_CLOEXEC) = <$DIR>
+ 1  fsync(<$DIR>) = 0
     rename("config.tmp", "config.toml") = 0
     exit_group(0) = ?
"##,
    );
    check(
        "any_order: [ fsync, { sequence: [ close, write ] } ]",
        SAVE,
        r##"
`expect.any_order`, step 2.2 of 2 (line 3) occurs, but before step 2.1
+ 2.1  close
- 2.2  write
@@ P1 python3 @@
       openat(AT_FDCWD, "/etc/locale", O_RDONLY|O_CLOEXEC) = -1 ENOENT
       openat(AT_FDCWD, "config.tmp", O_RDWR|O_CREAT) = <$DIR/config.tmp>
~ 2.2  write(<$DIR/config.tmp>, "a = 2", 5) = 5
+ 2.1  close(<$DIR/config.tmp>) = 0
       openat(AT_FDCWD, ".", O_RDONLY|O_CLOEXEC) = <$DIR>
       fsync(<$DIR>) = 0
"##,
    );
}

#[test]
fn a_capture_of_another_expectation_is_named_with_its_place() {
    check(
        "sequence: [ openat: { path: config.tmp, returns: $fd } ]\n\
         any_order: [ write: { fd: $fd }, fsync: { fd: $fd } ]",
        SAVE,
        r##"
`expect.any_order`, step 2 of 2 (line 3) never occurs: the only `fsync` is not like it
+ 1  openat: { path: config.tmp, returns: $fd }
+ 1  write: { fd: $fd }
- 2  fsync: { fd: $fd }
     nearest: P1 fsync(<$DIR>) = 0
~      fd: expected $fd, which is <$DIR/config.tmp> (step 1 of `expect.sequence`), got <$DIR>
@@ P1 python3 @@
     openat(AT_FDCWD, "/etc/locale", O_RDONLY|O_CLOEXEC) = -1 ENOENT
+ 1  openat(AT_FDCWD, "config.tmp", O_RDWR|O_CREAT) = <$DIR/config.tmp>
+ 1  write(<$DIR/config.tmp>, "a = 2", 5) = 5
     close(<$DIR/config.tmp>) = 0
     openat(AT_FDCWD, ".", O_RDONLY|O_CLOEXEC) = <$DIR>
~    fsync(<$DIR>) = 0
     rename("config.tmp", "config.toml") = 0
     exit_group(0) = ?
"##,
    );
}

#[test]
fn never_shows_what_occurs() {
    check(
        "never: [ fsync, connect ]",
        SAVE,
        r##"
`expect.never`: `fsync` occurs (line 1)
@@ P1 python3 @@
    close(<$DIR/config.tmp>) = 0
    openat(AT_FDCWD, ".", O_RDONLY|O_CLOEXEC) = <$DIR>
-   fsync(<$DIR>) = 0
    rename("config.tmp", "config.toml") = 0
    exit_group(0) = ?
"##,
    );
}

#[test]
fn never_shows_the_first_of_many() {
    check(
        "never: [ read: { fd: 0 } ]",
        MANY,
        r##"
`expect.never`: `read: { fd: 0 }` occurs 5 times (line 1)
@@ P1 cat @@
-   read(0<stdin>) = 10
-   read(0<stdin>) = 11
-   read(0<stdin>) = 12
    read(0<stdin>) = 13
    read(0<stdin>) = 0
- and 2 more
"##,
    );
}

#[test]
fn only_shows_the_first_of_each_name_and_what_was_allowed() {
    check(
        "only: [ openat: { path: { prefix: $DIR } }, write, close, exit_group ]",
        SAVE,
        r##"
`expect.only` does not allow 3 of 8 events
- P1 openat(AT_FDCWD, "/etc/locale", O_RDONLY|O_CLOEXEC) = -1 ENOENT
    line 1 allows openat: { path: { prefix: $DIR } }
~     path: expected { prefix: $DIR }, got "/etc/locale"
- P1 fsync(<$DIR>) = 0
- P1 rename("config.tmp", "config.toml") = 0
"##,
    );
}

#[test]
fn only_shows_six_names_and_names_the_others() {
    check(
        "only: [ exit_group ]",
        NAMES,
        r##"
`expect.only` does not allow 9 of 10 events
- P1 read(0) = 1   (and 1 more `read`)
- P1 write(1) = 1
- P2 getpid() = 7
- P2 getppid() = 6
- P2 gettid() = 7
- P2 getuid() = 0
- and `geteuid`, `getgid`
"##,
    );
}

#[test]
fn count_shows_what_was_counted_or_what_came_nearest() {
    check(
        "count: { fsync: 2, openat: 1, connect: 1, fsync|fdatasync: { returns: EIO, times: 1 } }",
        SAVE,
        r##"
expected 2 of `fsync`, got 1
+ P1 fsync(<$DIR>) = 0
expected 1 of `openat`, got 3
+ P1 openat(AT_FDCWD, "/etc/locale", O_RDONLY|O_CLOEXEC) = -1 ENOENT
+ P1 openat(AT_FDCWD, "config.tmp", O_RDWR|O_CREAT) = <$DIR/config.tmp>
+ P1 openat(AT_FDCWD, ".", O_RDONLY|O_CLOEXEC) = <$DIR>
expected 1 of `connect`, got 0
expected 1 of `fsync|fdatasync: { returns: EIO }`, got 0
  nearest: P1 fsync(<$DIR>) = 0
~   returns: expected EIO, got 0
"##,
    );
}

#[test]
fn count_shows_three() {
    check(
        "count: { read: 1..=2 }",
        MANY,
        r##"
expected 1..=2 of `read`, got 5
+ P1 read(0<stdin>) = 10
+ P1 read(0<stdin>) = 11
+ P1 read(0<stdin>) = 12
+ and 2 more
"##,
    );
}

#[test]
fn what_was_not_read_is_shown_with_what_hangs_on_it() {
    check(
        "sequence: [ unlink: { path: a }, unlink ]",
        UNREAD,
        r##"
`expect.sequence`, step 1 of 2 (line 1) occurs or not: what decides was not read
~ P1 unlink(<unread>) = 0
~   path: expected a, got <unread>
"##,
    );
    check(
        "never: [ unlink: { path: a } ]",
        UNREAD,
        r##"
`expect.never`: whether `unlink: { path: a }` occurs (line 1) was not read
~ P1 unlink(<unread>) = 0
~   path: expected a, got <unread>
"##,
    );
    check(
        "only: [ execve, connect, unlink: { path: [a, b] } ]",
        UNREAD,
        r##"
`expect.only`: whether it allows 1 of the events was not read
~ P1 unlink(<unread>) = 0
~   path: expected [a, b], got <unread>
"##,
    );
    check(
        "count: { unlink: { path: a, times: 1 } }",
        UNREAD,
        r##"
expected 1 of `unlink: { path: a }`, got 0, and 1 of which it was not read
~ P1 unlink(<unread>) = 0
~   path: expected a, got <unread>
"##,
    );
    check(
        "sequence: [ unlink: { path: b }, never: [ connect: { addr: { contains: AF_INET } } ] ]",
        UNREAD,
        r##"
`expect.sequence`, step 1 of 2 (line 1) occurs or not: what decides was not read
~ P1 unlink(<unread>) = 0
~   path: expected b, got <unread>
"##,
    );
    check(
        "sequence: [ execve: { argv: sh } ]",
        UNREAD,
        r##"
`expect.sequence` (line 1) occurs or not: what decides was not read
~ P1 execve("/bin/sh", ["sh", ...], ...) = 0
~   argv: expected sh, got ["sh", ...]
"##,
    );
}

#[test]
fn contents_and_permissions_are_shown_as_people_write_them() {
    check(
        "never: [ write: { data: { prefix: two } } ]\nonly: [ open: { mode: [384, { not: 420 }] } ]",
        r##"
            P1/sh open(mode=420) = 0
            P1/sh write(data:data=hidden"two and more than thirty-two letters") = 4
            P1/sh sendto(data:data=told"a message") = 4
        "##,
        r##"
`expect.never`: `write: { data: { prefix: two } }` occurs (line 1)
@@ P1 sh @@
    open(420) = 0
-   write("two and more than thirty-two let"...) = 4
    sendto([{a message}]) = 4
`expect.only` does not allow 3 of 3 events
- P1 open(420) = 0
    line 2 allows open: { mode: ["0600", { not: "0644" }] }
~     mode: expected ["0600", { not: "0644" }], got 420
- P1 write("two and more than thirty-two let"...) = 4
- P1 sendto([{a message}]) = 4
"##,
    );
}

#[test]
fn steps_that_are_far_apart_are_shown_with_what_is_between_left_out() {
    check(
        "sequence: [ openat: { returns: $fd }, fsync: { fd: $fd } ]",
        FAR,
        r##"
`expect.sequence`, step 2 of 2 (line 2) never occurs: the only `fsync` is not like it
+ 1  openat: { returns: $fd }
- 2  fsync: { fd: $fd }
     nearest: P1 fsync(1<stdout>) = 0
~      fd: expected $fd, which is <$DIR/a> (step 1), got 1<stdout>
@@ P1 dd @@
+ 1  openat("a") = <$DIR/a>
     read(0<stdin>) = 10
     read(0<stdin>) = 10
      (8 more)
     read(0<stdin>) = 10
     read(0<stdin>) = 0
~    fsync(1<stdout>) = 0
     read(0<stdin>) = 10
"##,
    );
}
