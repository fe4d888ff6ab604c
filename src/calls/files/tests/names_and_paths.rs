//! Under which names descriptors are shown, and which paths calls name; and what is said where
//! something was not seen.

use super::*;
use std::fmt::Write as _;

#[test]
fn descriptions_of_one_path_are_told_apart_while_both_are_open() {
    let mut it = Story::new();
    assert_eq!(it.open(1, "/a", 3), "3</a>");
    assert_eq!(it.open(1, "/a", 4), "4</a:2>");
    it.plain(1, "dup", &[3], 5);
    it.plain(1, "close", &[3], 0);
    assert_eq!(it.open(1, "/a", 3), "3</a:3>", "the first is open still");
    it.plain(1, "close", &[5], 0);
    it.plain(1, "close", &[4], 0);
    assert_eq!(it.open(1, "/a", 4), "4</a>");
    assert_eq!(it.open(1, "/b", 5), "5</b>");
    it.fork(1, 2);
    it.plain(2, "close", &[3], 0);
    assert_eq!(it.open(2, "/a", 3), "3</a:2>");
    assert_eq!(it.read(1, 3), "3</a:3>");
}

#[test]
fn what_has_no_path_is_told_by_what_it_is() {
    let mut it = Story::new();
    let cases: [(&str, &[u64], &str); 17] = [
        ("eventfd2", &[0, 0], "eventfd:1"),
        ("eventfd2", &[0, 0], "eventfd:2"),
        ("epoll_create1", &[0], "epoll:1"),
        ("signalfd4", &[0xffff_ffff, 0, 8, 0], "signalfd:1"),
        ("timerfd_create", &[1, 0], "timerfd:1"),
        ("inotify_init1", &[0], "inotify:1"),
        ("pidfd_open", &[1], "pidfd:1"),
        (
            "perf_event_open",
            &[0, 0, 0, 0xffff_ffff, 8],
            "perf_event:1",
        ),
        ("bpf", &[0], "bpf:1"),
        ("landlock_create_ruleset", &[0x1000, 8, 0], "landlock:1"),
        ("seccomp", &[1, 8], "seccomp:1"),
        ("fsopen", &[0, 0], "fscontext:1"),
        ("fsmount", &[3, 0], "mount:1"),
        ("memfd_secret", &[0], "secretmem:1"),
        ("socket", &[16, 3, 0], "netlink:1"),
        ("socket", &[10, 2, 17], "udp:1"),
        ("open_by_handle_at", &[3, 0, 0], "?"),
    ];
    for (number, (name, words, shown)) in (3..).zip(cases) {
        it.plain(1, name, words, number);
        assert_eq!(it.read(1, number as i32), format!("{number}<{shown}>"));
    }
    it.call(1, "memfd_create", &[0x1000, 1], 30, vec![given(0, "cache")]);
    it.call(1, "mq_open", &[0x1000, 0], 31, vec![given(0, "jobs")]);
    it.open_as(1, "/tmp", libc::O_TMPFILE as u64, 32);
    let named = [30, 31, 32].map(|number| it.read(1, number));
    assert_eq!(named, ["30<memfd:cache>", "31<mqueue:jobs>", "32</tmp/#>"]);
    // Results that are no descriptors.
    it.plain(1, "bpf", &[2], 40);
    it.plain(1, "landlock_create_ruleset", &[0, 0, 1], 41);
    it.plain(1, "fcntl", &[3, 3], 42);
    let same = it.plain(1, "signalfd4", &[6, 0, 8, 0], 6);
    assert_eq!(shown(6, same.files.result()), "6<signalfd:1>");
    let not_open = [40, 41, 42].map(|number| it.read(1, number));
    assert_eq!(not_open, ["40", "41", "42"]);
}

#[test]
fn a_relative_path_starts_at_its_directory() {
    let mut it = Story::new();
    assert_eq!(it.open(1, "x", 3), "3</home/x>");
    assert_eq!(it.open(1, "./a//b/../c/", 4), "4</home/a/b/../c>");
    assert_eq!(it.open(1, "/../etc", 5), "5</etc>");
    it.open(1, "/dir", 6);
    let words = [6, 0x1000];
    let at = it.call(1, "openat", &words, 7, vec![given(1, "y")]);
    assert_eq!(shown(7, at.files.result()), "7</dir/y>");
    assert_eq!(at.files.path(1), Some(&b"/dir/y"[..]));
    let both = [6, 0x1000, AT_FDCWD, 0x2000];
    let strings = vec![given(1, "old"), given(3, "new")];
    let rename = it.call(1, "renameat2", &both, 0, strings);
    let paths: Vec<_> = rename.files.paths().collect();
    assert_eq!(paths, [&b"/dir/old"[..], b"/home/new"]);
    let empty = it.call(1, "newfstatat", &[6, 0x1000], 0, vec![given(1, "")]);
    assert_eq!(empty.files.path(1), Some(&b"/dir"[..]));
    it.plain(1, "openat", &[AT_FDCWD, 0x1000], 8);
    assert_eq!(it.read(1, 8), "8<?>", "its path was not read");
    let resolved = it.tables.resolve(ThreadId(1), 6, b"z").unwrap();
    assert_eq!(resolved, b"/dir/z");
    let in_root = [&[0; 16][..], &0x10_u64.to_ne_bytes()].concat();
    let how = piece(2, Moment::Enter, &in_root);
    let pieces = vec![given(1, "/../etc"), how];
    it.call(1, "openat2", &[6, 0x1000, 0x2000, 24], 9, pieces);
    assert_eq!(it.read(1, 9), "9</dir/etc>");
}

const NOFOLLOW: u64 = libc::O_NOFOLLOW as u64;

#[test]
fn what_is_reached_by_two_dots_from_a_folder_that_is_no_link_has_the_name_in_front_of_it() {
    let mut it = Story::new();
    let mut open = |from: u64, path: &str, flags: u64, number: i64| {
        let words = [from, 0x1000, flags];
        let call = it.call(1, "openat", &words, number, vec![given(1, path)]);
        shown(number as i32, call.files.result())
    };
    assert_eq!(open(AT_FDCWD, "/l/a", NOFOLLOW, 3), "3</l/a>");
    assert_eq!(open(3, "b", NOFOLLOW, 4), "4</l/a/b>");
    assert_eq!(open(4, "..", NOFOLLOW, 5), "5</l/a:2>");
    assert_eq!(open(5, "..", 0, 6), "6</l>");
    assert_eq!(open(6, "..", 0, 7), "7</l/..>", "it may be a link");
    assert_eq!(open(4, "../../x", 0, 8), "8</l/x>");
    assert_eq!(open(4, "../../x/y", NOFOLLOW, 9), "9</l/x/y>");
    assert_eq!(open(9, "../..", 0, 10), "10</l/x/..>");
    assert_eq!(open(4, "../../../x", 0, 11), "11</l/../x>");
    assert_eq!(open(4, ".", 0, 12), "12</l/a/b:2>", "the same");
    assert_eq!(open(12, "..", 0, 18), "18</l/a:3>", "no link either");
    assert_eq!(open(3, "c", 0, 13), "13</l/a/c>");
    assert_eq!(open(13, "..", 0, 14), "14</l/a/c/..>", "it may be a link");
    assert_eq!(open(3, "d/", NOFOLLOW, 15), "15</l/a/d>");
    assert_eq!(
        open(15, "..", 0, 16),
        "16</l/a/d/..>",
        "a slash follows a link"
    );
    assert_eq!(open(4, "...", 0, 17), "17</l/a/b/...>");
}

#[test]
fn two_dots_stay_where_a_folder_may_have_been_moved_meanwhile() {
    let mut it = Story::new();
    let up = |it: &mut Story, number: i64| {
        let words = [3, 0x1000, 0];
        let call = it.call(1, "openat", &words, number, vec![given(1, "..")]);
        shown(number as i32, call.files.result())
    };
    it.open_as(1, "/a/b", NOFOLLOW, 3);
    assert_eq!(up(&mut it, 4), "4</a>");
    it.fork(1, 2);
    it.enter(2, "rename", &[0x1000, 0x1000]);
    assert_eq!(up(&mut it, 5), "5</a/b/..>");
    it.leave(2, 0, vec![given(0, "/a/b"), given(1, "/c")]);
    assert_eq!(up(&mut it, 6), "6</a/b/..:2>");
    it.open_as(1, "/a/b", NOFOLLOW, 3);
    assert_eq!(up(&mut it, 7), "7</a:2>");
    it.plain(1, "mount", &[], 0);
    assert_eq!(up(&mut it, 8), "8</a/b/..:3>");
}

#[test]
fn two_dots_stay_where_a_folder_was_moved_while_it_was_opened() {
    let mut it = Story::new();
    it.fork(1, 2);
    it.enter(1, "openat", &[AT_FDCWD, 0x1000, NOFOLLOW]);
    let pieces = vec![given(0, "/a/b"), given(1, "/c/b")];
    it.call(2, "rename", &[0x1000, 0x1000], 0, pieces);
    it.leave(1, 3, vec![given(1, "/a/b")]);
    let words = [3, 0x1000, 0];
    let call = it.call(1, "openat", &words, 4, vec![given(1, "..")]);
    assert_eq!(shown(4, call.files.result()), "4</a/b/..>");
}

/// The new root may be the folder by another name.
#[test]
fn two_dots_stay_where_a_task_has_another_root() {
    for call in ["chroot", "pivot_root"] {
        let mut it = Story::new();
        it.open_as(1, "/real/in", NOFOLLOW, 3);
        it.call(1, call, &[0x1000, 0x1000], 0, vec![given(0, "/link")]);
        let words = [3, 0x1000, 0];
        let call = it.call(1, "openat", &words, 4, vec![given(1, "..")]);
        assert_ne!(shown(4, call.files.result()), "4</real>");
        let words = [3, 0x1000, NOFOLLOW];
        it.call(1, "openat", &words, 5, vec![given(1, "x")]);
        let words = [5, 0x1000, 0];
        let call = it.call(1, "openat", &words, 6, vec![given(1, "..")]);
        assert_ne!(shown(6, call.files.result()), "6</real/in>");
    }
}

#[test]
fn two_dots_stay_below_a_folder_that_is_taken_for_the_root() {
    const IN_ROOT: u64 = 0x10;
    let mut it = Story::new();
    it.open_as(1, "/a/b", NOFOLLOW, 3);
    let how = [0, 0, IN_ROOT].map(u64::to_ne_bytes).concat();
    let how = piece(2, Moment::Enter, &how);
    let pieces = vec![given(1, ".."), how];
    let call = it.call(1, "openat2", &[3, 0x1000, 0x2000, 24], 4, pieces);
    assert_ne!(shown(4, call.files.result()), "4</a>");
}

#[test]
fn a_directory_is_the_threads_and_changes_for_those_who_share_it() {
    let mut it = Story::new();
    it.thread(1, 2);
    it.fork(1, 3);
    it.call(2, "chdir", &[0x1000], 0, vec![given(0, "sub")]);
    assert_eq!(it.open(1, "x", 3), "3</home/sub/x>");
    assert_eq!(it.open(3, "x", 3), "3</home/x>");
    it.open(1, "/dir", 4);
    it.plain(1, "fchdir", &[4], 0);
    assert_eq!(it.open(2, "y", 5), "5</dir/y>");
    it.call(1, "chdir", &[0x1000], -2, vec![given(0, "nowhere")]);
    assert_eq!(it.open(2, "z", 6), "6</dir/z>");
    it.plain(2, "unshare", &[libc::CLONE_FS as u64], 0);
    it.call(2, "chdir", &[0x1000], 0, vec![given(0, "/own")]);
    assert_eq!(it.open(1, "x", 7), "7</dir/x>");
    assert_eq!(it.open(2, "x", 8), "8</own/x>");
    it.plain(1, "chdir", &[0x1000], 0);
    assert_eq!(it.open(1, "x", 9), "9<x>", "as it was given");
}

#[test]
fn an_exec_by_another_thread_takes_that_ones_directory_along() {
    let mut it = Story::new();
    it.thread(1, 2);
    it.fork(1, 3);
    it.thread(3, 4);
    for (leader, other) in [(1, 2), (3, 4)] {
        it.plain(other, "unshare", &[libc::CLONE_FS as u64], 0);
        it.call(other, "chdir", &[0x1000], 0, vec![given(0, "/own")]);
        it.call(leader, "chdir", &[0x1000], 0, vec![given(0, "/dir")]);
        it.enter(other, "execve", &[]);
        it.enter(leader, "execve", &[]);
    }
    for thread in [2, 4] {
        it.tables.observe(&mut Observation::Gone(ThreadId(thread)));
    }
    for thread in [1, 3] {
        let actor = it.actor(thread);
        it.tables.observe(&mut Observation::Executed(actor));
        it.leave(thread, 0, Vec::new());
        assert_eq!(it.open(thread, "x", 3), "3</own/x>");
    }
}

#[test]
fn a_path_that_is_used_while_another_thread_changes_directory_is_shown_as_given() {
    let mut it = Story::new();
    it.thread(1, 2);
    it.enter(1, "openat", &[AT_FDCWD, 0x1000]);
    it.call(2, "chdir", &[0x1000], 0, vec![given(0, "/other")]);
    it.leave(1, 3, vec![given(1, "x")]);
    assert_eq!(it.read(1, 3), "3<x>");
    it.enter(2, "chdir", &[0x1000]);
    assert_eq!(it.open(1, "x", 4), "4<x:2>");
    assert_eq!(it.open(1, "/y", 5), "5</y>");
    it.leave(2, 0, vec![given(0, "more")]);
    assert_eq!(it.open(1, "x", 6), "6</other/more/x>");
}

#[test]
fn paths_in_a_new_root_are_told_from_the_old_one() {
    let mut it = Story::new();
    it.call(1, "chroot", &[0x1000], 0, vec![given(0, "jail")]);
    assert_eq!(
        it.open(1, "x", 3),
        "3</home/x>",
        "the directory is the old one"
    );
    it.call(1, "chdir", &[0x1000], 0, vec![given(0, "/")]);
    assert_eq!(it.open(1, "../etc/passwd", 4), "4</home/jail/etc/passwd>");
    assert_eq!(it.open(1, "/../bin", 5), "5</home/jail/bin>");
    it.call(1, "chroot", &[0x1000], -1, vec![given(0, "/deeper")]);
    assert_eq!(it.open(1, "/lib", 6), "6</home/jail/lib>");
    it.plain(1, "pivot_root", &[0x1000, 0x2000], 0);
    let call = it.call(1, "openat", &[AT_FDCWD, 0x1000], 7, vec![given(1, "/x")]);
    assert_eq!(shown(7, call.files.result()), "7</x>");
    assert_eq!(call.files.path(1), None);
}

#[test]
fn what_a_ring_may_have_done_is_unknown() {
    let mut it = Story::new();
    it.open(1, "/a", 3);
    it.call(
        1,
        "io_uring_setup",
        &[8, 0x1000],
        4,
        vec![given(1, "\0\0\0\0\0\0\0\0\0\0\0\0")],
    );
    assert_eq!((it.read(1, 3), it.read(1, 5)), ("3</a>".into(), "5".into()));
    it.plain(1, "io_uring_enter", &[4, 0, 1], 0);
    assert_eq!(it.read(1, 3), "3</a>", "nothing was submitted");
    it.plain(1, "io_uring_enter", &[4, 1, 1], 1);
    assert_eq!(
        (it.read(1, 3), it.read(1, 5)),
        ("3<?>".into(), "5<?>".into())
    );

    // A thread of the kernel's may do what it is to do, whatever its number stands for.
    let mut it = Story::new();
    it.open(1, "/a", 3);
    it.plain(1, "io_uring_setup", &[8, 0x1000], 3);
    assert_eq!(it.read(1, 3), "3<?>");

    let mut it = Story::with(Watched {
        complete: true,
        submissions: true,
        names: false,
        paths: false,
    });
    it.open(1, "/a", 3);
    it.plain(1, "io_uring_setup", &[8, 0x1000], 4);
    assert_eq!(it.read(1, 4), "4<io_uring:1>");
    it.plain(1, "io_uring_setup", &[8, 0x1000], 3);
    assert_eq!(it.read(1, 3), "3</a>", "the number is no descriptor's");
    const READ: u8 = 22;
    const OPENAT: u8 = 18;
    const CLOSE: u8 = 19;
    let seen = [READ, OPENAT, CLOSE].map(|operation| {
        it.tables.submitted(ThreadId(1), operation);
        [it.read(1, 3), it.read(1, 5)]
    });
    let expected = [["3</a>", "5"], ["3</a>", "5<?>"], ["3<?>", "5<?>"]];
    assert_eq!(seen, expected);
    it.exec(1);
    assert_eq!(it.open(1, "/b", 5), "5</b>");
    assert_eq!(it.read(1, 5), "5</b>", "an exec ends a ring");
}

#[test]
fn a_call_that_ended_unseen_did_it_or_did_not() {
    let mut it = Story::new();
    it.open(1, "/a", 3);
    it.thread(1, 2);
    it.enter(2, "dup2", &[1, 3]);
    it.end(2, Outcome::NeverReturned, Vec::new());
    it.enter(2, "close", &[2]);
    it.end(2, Outcome::Missing, Vec::new());
    assert_eq!(
        [0, 2, 3, 4].map(|n| it.read(1, n)),
        ["0<stdin>", "2", "3<?>", "4"]
    );
    it.enter(2, "openat", &[AT_FDCWD, 0x1000]);
    it.end(2, Outcome::Missing, vec![given(1, "/b")]);
    assert_eq!(
        [0, 2, 3, 4].map(|n| it.read(1, n)),
        ["0<stdin>", "2<?>", "3<?>", "4<?>"]
    );
    it.enter(2, "chdir", &[0x1000]);
    it.end(2, Outcome::Missing, vec![given(0, "/c")]);
    assert_eq!(it.open(1, "x", 5), "5<x>");
}

#[test]
fn nothing_is_known_where_not_all_calls_are_recorded() {
    let mut it = Story::with(Watched {
        complete: false,
        submissions: false,
        names: false,
        paths: true,
    });
    assert_eq!(it.open(1, "/a", 3), "3<?>");
    assert_eq!(it.read(1, 0), "0<?>");
    assert_eq!(it.tables.resolve(ThreadId(1), libc::AT_FDCWD, b"x"), None);
}

#[test]
fn the_harness_own_process_hands_over_what_the_workload_starts_with() {
    let mut it = Story::new();
    it.born(2, Some(1), 2, Shares::default());
    it.exec(2);
    assert_eq!([0, 3].map(|number| it.read(2, number)), ["0<stdin>", "3"]);
    assert_eq!(it.open(2, "x", 3), "3</home/x>");
    assert_eq!(it.read(1, 3), "3");
}

#[test]
fn arguments_that_are_descriptors_are_those_of_the_reviewed_table() {
    const REVIEWED: &str = include_str!("../../../../harness/fixtures/syscall-argument-kinds.txt");
    let mut wrong = String::new();
    for line in REVIEWED.lines().filter(|line| !line.starts_with('#')) {
        let (name, arguments) = line.split_once(": ").unwrap();
        let mut expected = 0_u8;
        for argument in arguments.split(" | ") {
            let mut words = argument.split(' ');
            let place: u32 = words.next().unwrap().parse().unwrap();
            expected |= u8::from(words.next() == Some("Fd")) << place;
        }
        let found = calls::plan(Abi::native(), nr(name)).descriptors;
        if found != expected && names::number(Abi::native(), name).is_some() {
            writeln!(wrong, "{name}: {found:b}, not {expected:b}").unwrap();
        }
    }
    assert_eq!(wrong, "");
}

#[test]
fn every_call_that_returns_a_descriptor_has_an_effect() {
    use super::super::super::kinds::{ReturnKind, return_kind};
    for abi in [Abi::native(), Abi::I386, Abi::Arm] {
        for (_, name) in names::all(abi) {
            if return_kind(name) == ReturnKind::Fd {
                assert!(needed().contains(&name), "{name}");
            }
        }
    }
    for name in [
        "close",
        "close_range",
        "fcntl64",
        "execve",
        "clone3",
        "recvmmsg_time64",
    ] {
        assert!(needed().contains(&name), "{name}");
    }
    assert!(!needed().contains(&"read"));
}

#[test]
fn after_a_loss_only_what_comes_later_is_known() {
    let mut it = Story::new();
    it.open(1, "/a", 3);
    it.tables.lost();
    assert_eq!([0, 3, 4].map(|n| it.read(1, n)), ["0<?>", "3<?>", "4<?>"]);
    assert_eq!(it.open(1, "x", 4), "4<x>");
    assert_eq!(it.read(1, 4), "4<x>");
}

#[test]
fn a_word_for_a_kind_of_files_is_no_path() {
    for word in [
        "stdin", "stdout", "stderr", "pipe", "tcp", "unix", "pidfd", "memfd:x",
    ] {
        assert!(FileKind::is_word(word.as_bytes()), "{word}");
    }
    for path in [
        "./stdout", "/stdout", "$DIR/tcp", "pip", "pipe:1", "stdouts", "",
    ] {
        assert!(!FileKind::is_word(path.as_bytes()), "{path}");
    }
}
