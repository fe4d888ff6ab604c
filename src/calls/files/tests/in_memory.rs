//! Descriptors in what a call's pointers lead to.

use super::*;

/// `struct pollfd[]`.
fn poll_fds(numbers: &[i32]) -> Piece {
    let entry = |number: &i32| [&number.to_ne_bytes()[..], &[1, 0, 0, 0]].concat();
    let bytes: Vec<u8> = numbers.iter().flat_map(entry).collect();
    piece(0, Moment::Enter, &bytes)
}

/// What a call says of a number in its memory.
fn within(call: &Call, number: i32) -> String {
    shown(number, call.files.in_memory(number))
}

#[test]
fn what_is_waited_for_is_what_it_was_when_the_call_began() {
    let mut it = Story::new();
    it.open(1, "/a", 3);
    let words = [0x1000, 3, 0];
    let pieces = vec![poll_fds(&[3, 9, -1])];
    let call = it.call(1, "poll", &words, 1, pieces.clone());
    assert_eq!(within(&call, 3), "3</a>");
    assert_eq!(within(&call, 9), "9");
    it.plain(1, "close", &[3], 0);
    it.open(1, "/b", 3);
    let call = it.call(1, "ppoll", &words, -14, pieces);
    assert_eq!(within(&call, 3), "3</b>");
    let set = piece(2, Moment::Enter, &[0b1000, 0, 0, 0, 0, 0, 0, 0]);
    let words = [4, 0, 0x1000, 0, 0];
    let call = it.call(1, "select", &words, 0, vec![set]);
    assert_eq!(within(&call, 3), "3</b>");
}

#[test]
fn what_another_thread_changes_while_a_call_waits_is_not_known() {
    let mut it = Story::new();
    it.open(1, "/a", 3);
    it.open(1, "/b", 4);
    let shares = Shares {
        files: Some(true),
        directory: Some(true),
        ..Shares::default()
    };
    it.born(2, Some(1), 1, shares);
    it.enter(1, "poll", &[0x1000, 3, u64::MAX]);
    it.plain(2, "close", &[3], 0);
    it.open(2, "/c", 3);
    it.open(2, "/d", 5);
    let call = it.leave(1, 1, vec![poll_fds(&[3, 4, 5])]);
    assert_eq!(within(&call, 3), "3<?>");
    assert_eq!(within(&call, 4), "4</b>");
    assert_eq!(within(&call, 5), "5<?>");
    // What a call was doing before may come to pass after this one began.
    it.enter(2, "dup2", &[4, 3]);
    it.enter(1, "poll", &[0x1000, 1, 0]);
    it.leave(2, 3, Vec::new());
    let call = it.leave(1, 0, vec![poll_fds(&[3])]);
    assert_eq!(within(&call, 3), "3<?>");
}

#[test]
fn a_structure_has_a_descriptor_of_its_own() {
    let mut it = Story::new();
    it.open(1, "/sys/fs/cgroup/a", 3);
    let mut arguments = [0_u64; 11];
    arguments[10] = 3;
    let bytes = arguments.map(u64::to_le_bytes).concat();
    let words = [0x1000, 88];
    let pieces = vec![piece(0, Moment::Enter, &bytes)];
    let call = it.call(1, "clone3", &words, -1, pieces);
    assert_eq!(within(&call, 3), "3</sys/fs/cgroup/a>");
    it.open(1, "/proc/self/ns/user", 4);
    let bytes = [3_u64, 0, 0, 0].map(u64::to_le_bytes).concat();
    let pieces = vec![piece(2, Moment::Enter, &bytes)];
    let call = it.call(1, "ioctl", &[1, 0x4020_940d, 0x1000], -1, pieces);
    assert_eq!(within(&call, 3), "3</sys/fs/cgroup/a>");
    let pieces = vec![piece(
        2,
        Moment::Enter,
        &[4_u32, u32::MAX, 3].map(u32::to_le_bytes).concat(),
    )];
    let call = it.call(1, "io_uring_register", &[9, 2, 0x1000, 2], -1, pieces);
    assert_eq!(within(&call, 4), "4</proc/self/ns/user>");
    // Behind those that it is given.
    assert_eq!(within(&call, 3), "3");
    let bytes = [0x10_0000_u64, 0, 0, 4].map(u64::to_le_bytes).concat();
    let words = [AT_FDCWD, 0x1000, 0, 0x2000, 32];
    let pieces = vec![given(1, "/mnt"), piece(3, Moment::Enter, &bytes)];
    let call = it.call(1, "mount_setattr", &words, 0, pieces);
    assert_eq!(within(&call, 4), "4</proc/self/ns/user>");
}

#[test]
fn a_descriptor_that_clone_makes_is_one_of_a_process() {
    let mut it = Story::new();
    it.open(1, "/a", 3);
    let words = [libc::CLONE_PIDFD as u64, 0, 0x1000];
    let pieces = vec![piece(2, Moment::Exit, &[4, 0, 0, 0])];
    let call = it.call(1, "clone", &words, 9, pieces);
    assert_eq!(within(&call, 4), "4<pidfd:1>");
    assert_eq!(it.read(1, 3), "3</a>");
    assert_eq!(it.read(1, 4), "4<pidfd:1>");
    // It could not be read.
    it.call(1, "clone", &words, 10, Vec::new());
    assert_eq!(it.read(1, 5), "5<?>");
}

#[test]
fn an_argument_is_a_descriptor_by_the_command() {
    let mut it = Story::new();
    it.open(1, "/a", 3);
    it.open(1, "/b", 4);
    for (name, words, place) in [
        ("ioctl", [3, 0x4004_9409, 4, 0, 0], 2),
        ("fcntl", [3, 0x403, 4, 0, 0], 2),
        ("fsconfig", [3, 5, 0, 0, 4], 4),
        ("waitid", [3, 4, 0, 0, 0], 1),
    ] {
        let call = it.plain(1, name, &words, 0);
        assert_eq!(shown(4, call.files.argument(place)), "4</b>", "{name}");
    }
    // With others it is a number.
    for (name, words, place) in [
        ("ioctl", [3, 0x5425, 4, 0, 0], 2),
        ("fcntl", [3, 1030, 4, 0, 0], 2),
        ("waitid", [1, 4, 0, 0, 0], 1),
    ] {
        let call = it.plain(1, name, &words, 0);
        assert_eq!(call.files.argument(place), Lookup::Untracked, "{name}");
    }
}
