//! Descriptors that come otherwise than by a call which says what it opens: one test for each way
//! of [`super::super::arriving`].

use super::*;

const ADDFD: u64 = 0x4018_2103;
const EFAULT: i64 = -(libc::EFAULT as i64);

/// A run of one process that has `/home/a` under 3.
fn with_a_file() -> Story {
    let mut story = Story::new();
    story.open(1, "a", 3);
    story
}

/// What 3, which is open, and 9, which is not, are taken for behind a call.
fn behind(name: &str, words: &[u64], value: i64) -> [String; 2] {
    let mut story = with_a_file();
    story.plain(1, name, words, value);
    [story.read(1, 3), story.read(1, 9)]
}

fn same(open: &str, closed: &str) -> [String; 2] {
    [open.to_owned(), closed.to_owned()]
}

#[test]
fn what_pidfd_getfd_gives_may_be_anything_also_what_is_open_already() {
    let mut story = with_a_file();
    let call = story.plain(1, "pidfd_getfd", &[4, 3, 0], 5);
    assert_eq!(shown(5, call.files.result()), "5<?>");
    assert_eq!(story.read(1, 5), "5<?>");
    assert_eq!(story.read(1, 3), "3</home/a>");
    // It may be one whose events have descriptors.
    assert_eq!(story.read(1, 9), "9<?>");
    assert_eq!(story.open(1, "b", 9), "9</home/b>");
    assert_eq!(story.read(1, 9), "9</home/b>");
}

#[test]
fn descriptors_of_a_message_have_come_also_where_it_failed_behind_them() {
    for name in ["recvmsg", "recvmmsg"] {
        for value in [1, EFAULT] {
            let found = behind(name, &[0, 0x1000, 1], value);
            assert_eq!(found, same("3</home/a>", "9<?>"), "{name} {value}");
        }
        let failed = behind(name, &[0, 0x1000, 1], -i64::from(libc::EAGAIN));
        assert_eq!(failed, same("3</home/a>", "9"), "{name}");
    }
}

#[test]
fn a_message_whose_call_never_returned_may_have_come() {
    let mut story = with_a_file();
    story.thread(1, 2);
    story.enter(2, "recvmsg", &[0, 0x1000]);
    story.end(2, Outcome::NeverReturned, Vec::new());
    assert_eq!(story.read(1, 9), "9<?>");
}

#[test]
fn a_supervisor_makes_the_number_unknown_in_every_table() {
    let mut story = with_a_file();
    story.fork(1, 2);
    story.open(2, "b", 5);
    story.open(1, "c", 5);
    story.plain(2, "ioctl", &[7, ADDFD, 0x1000], 5);
    for process in [1, 2] {
        assert_eq!(story.read(process, 5), "5<?>");
        assert_eq!(story.read(process, 3), "3</home/a>");
        assert_eq!(story.read(process, 9), "9<?>");
    }
}

#[test]
fn while_a_supervisor_installs_something_nothing_is_known() {
    let mut story = with_a_file();
    story.fork(1, 2);
    story.enter(2, "ioctl", &[7, ADDFD, 0x1000]);
    assert_eq!(story.read(1, 3), "3<?>");
    story.leave(2, -i64::from(libc::EINPROGRESS), Vec::new());
    assert_eq!(story.read(1, 3), "3</home/a>");
    // The size of what it points to is no part of the request.
    story.enter(2, "ioctl", &[7, 0xc020_2103, 0x1000]);
    story.end(2, Outcome::NeverReturned, Vec::new());
    assert_eq!(story.read(1, 3), "3<?>");
}

#[test]
fn a_request_that_is_not_known_to_open_nothing_may_open_something() {
    // TIOCGPTPEER, SIOCGSKNS, SIOCKCMCLONE, XFS_IOC_OPEN_BY_HANDLE, NS_GET_USERNS,
    // BINDER_WRITE_READ, KVM_CREATE_VM.
    let opening = [
        0x5441,
        0x894c,
        0x89e2,
        0xc038_586b,
        0xb701,
        0xc030_6201,
        0xae01,
    ];
    for request in opening {
        let found = behind("ioctl", &[3, request, 0x1000], 0);
        assert_eq!(found, same("3</home/a>", "9<?>"), "{request:#x}");
    }
    // TCGETS, FIONREAD, SIOCGIFNAME, FICLONE, FS_IOC_GETFLAGS, FS_IOC_FSGETXATTR, FITRIM.
    let plain = [
        0x5401,
        0x541b,
        0x8910,
        0x4004_9409,
        0x8008_6601,
        0x801c_581f,
        0xc018_5879,
    ];
    for request in plain {
        let found = behind("ioctl", &[3, request, 0x1000], 0);
        assert_eq!(found, same("3</home/a>", "9"), "{request:#x}");
    }
    let failed = behind("ioctl", &[3, 0xc030_6201, 0x1000], EFAULT);
    assert_eq!(failed, same("3</home/a>", "9<?>"));
}

#[test]
fn an_option_of_a_socket_may_be_a_descriptor() {
    let peer = behind("getsockopt", &[3, 1, 77], 0);
    assert_eq!(peer, same("3</home/a>", "9<?>"));
    let other = behind("getsockopt", &[3, 1, 3], 0);
    assert_eq!(other, same("3</home/a>", "9"));
}

#[test]
fn a_bpf_program_that_runs_as_a_call_opens_and_closes_anything() {
    assert_eq!(behind("bpf", &[10], 0), same("3<?>", "9<?>"));
    assert_eq!(behind("bpf", &[0], 9), same("3</home/a>", "9<bpf:1>"));
    assert_eq!(behind("bpf", &[1], 0), same("3</home/a>", "9"));
}

#[test]
fn a_ring_opens_what_it_is_given_to_open_and_later_requests_may_too() {
    const FIXED_FD_INSTALL: u8 = 54;
    const LATER: u8 = 200;
    for (operation, expected) in [
        (FIXED_FD_INSTALL, same("3</home/a>", "9<?>")),
        (LATER, same("3<?>", "9<?>")),
        (0, same("3</home/a>", "9")),
    ] {
        let mut story = Story::with(Watched {
            complete: true,
            submissions: true,
            paths: true,
            names: false,
        });
        story.open(1, "a", 3);
        story.tables.submitted(ThreadId(1), operation);
        assert_eq!([story.read(1, 3), story.read(1, 9)], expected);
    }
    let registered = behind("io_uring_register", &[3, 200], 0);
    assert_eq!(registered, same("3</home/a>", "9<?>"));
    let ordinary = behind("io_uring_register", &[3, 2], 0);
    assert_eq!(ordinary, same("3</home/a>", "9"));
}

#[test]
fn reading_of_what_tells_of_other_processes_opens_descriptors() {
    for (name, words) in [("fanotify_init", [0, 0]), ("userfaultfd", [0, 0])] {
        let mut story = with_a_file();
        story.plain(1, name, &words, 4);
        assert_eq!(story.read(1, 9), "9<?>", "{name}");
        assert_eq!(story.read(1, 3), "3</home/a>", "{name}");
    }
}
