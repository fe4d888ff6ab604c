//! Threads that share a space, calls that fail, and ends that are not seen.

use super::*;

#[test]
fn threads_have_one_space() {
    let mut it = Story::new();
    it.task(1, 2, Some(true));
    assert_eq!(it.map(1, 0x10_0000, 0x2000), "map:0");
    assert_eq!(it.at(2, 0x10_1000), "map:0+0x1000");
    it.unmap(2, 0x10_0000, 0x2000);
    assert_eq!(it.at(1, 0x10_1000), "?");
    // One that executes has another one from then on, and leaves this as it is: vfork(2).
    it.map(1, 0x10_0000, 0x2000);
    it.exec(2);
    assert_eq!(it.at(2, 0x10_0000), "?");
    assert_eq!(it.at(1, 0x10_0000), "map:1");
}

#[test]
fn an_argument_is_looked_up_when_the_call_is_entered() {
    let mut it = Story::new();
    it.task(1, 2, Some(true));
    it.map(1, 0x10_0000, 0x2000);
    it.enter(2, "madvise", &[0x10_1000, PAGE, 4]);
    it.unmap(1, 0x10_0000, 0x2000);
    it.map(1, 0x10_1000, PAGE);
    let call = it.leave(2, 0);
    assert_eq!(shown(call.places.argument(0)), "map:0+0x1000");
    assert_eq!(it.at(2, 0x10_1000), "map:1");
}

#[test]
fn a_range_is_free_before_its_unmapping_returns() {
    for remap in [false, true] {
        let mut it = Story::new();
        it.task(1, 2, Some(true));
        it.map(1, 0x10_0000, 0x2000);
        match remap {
            true => it.enter(1, "mremap", &[0x10_0000, 0x2000, 0x4000, MAYMOVE]),
            false => it.enter(1, "munmap", &[0x10_0000, 0x2000]),
        }
        assert_eq!(it.at(2, 0x10_0000), "?", "before or after is not known");
        assert_eq!(it.map(2, 0x10_1000, PAGE), "map:1");
        it.leave(1, if remap { 0x40_0000 } else { 0 });
        assert_eq!(it.at(1, 0x10_1000), "map:1");
        assert_eq!(it.at(1, 0x10_0000), "?");
        assert_eq!(
            it.at(2, 0x40_1000),
            if remap { "map:0+0x1000" } else { "?" }
        );
    }
}

#[test]
fn a_call_that_fails_changes_nothing() {
    let mut it = Story::new();
    it.map(1, 0x10_0000, 0x3000);
    it.map(1, 0x20_0000, 0x1000);
    let [argument, _] = it.call(1, "munmap", &[0x10_1000, 0x1000], ENOMEM);
    assert_eq!(argument, "map:0+0x1000");
    let [_, result] = it.call(1, "mmap", &[0, PAGE, 3, ANONYMOUS, NO_FILE, 0], ENOMEM);
    assert_eq!(result, "?");
    it.call(1, "mremap", &[0x10_0000, 0x3000, 0x9000, MAYMOVE], ENOMEM);
    it.call(1, "munmap", &[0x10_0800, 0x1000], EINVAL);
    // Refused before it takes anything away; it would have been over a border.
    let words = [0x10_2000, 0x2000, 3, PRIVATE | FIXED, 9, 0];
    it.call(1, "mmap", &words, -i64::from(libc::EBADF));
    it.enter(1, "munmap", &[0x20_0000, 0x1000]);
    let restarted = Outcome::Restarted {
        time: Nanos(2),
        errno: 513,
    };
    it.end(1, restarted, Vec::new());
    for offset in [0, 0xfff, 0x1000, 0x1fff, 0x2000, 0x2fff] {
        let expected = match offset {
            0 => "map:0".to_owned(),
            _ => format!("map:0+{offset:#x}"),
        };
        assert_eq!(it.at(1, 0x10_0000 + offset), expected);
    }
    assert_eq!(it.at(1, 0x20_0000), "map:1");
}

#[test]
fn what_failed_is_put_back_only_where_nothing_came() {
    let mut it = Story::new();
    it.task(1, 2, Some(true));
    it.map(1, 0x10_0000, 0x3000);
    it.enter(1, "munmap", &[0x10_0000, 0x3000]);
    it.map_fixed(2, 0x10_1000, PAGE);
    it.leave(1, ENOMEM);
    let now = [0x10_0000, 0x10_1000, 0x10_2000].map(|at| it.at(1, at));
    assert_eq!(now, ["map:0", "map:1", "map:0+0x2000"]);
}

#[test]
fn a_fixed_mapping_that_failed_late_may_have_taken_what_was_there() {
    let mut it = Story::new();
    it.map(1, 0x10_0000, 0x3000);
    let words = [0x10_1000, PAGE, 3, ANONYMOUS | FIXED, NO_FILE, 0];
    it.call(1, "mmap", &words, ENOMEM);
    assert_eq!(it.at(1, 0x10_1000), "?");
    assert_eq!(it.at(1, 0x10_2000), "map:0+0x2000");
    // What is mapped there now belongs to it, or not.
    assert_eq!(it.map_fixed(1, 0x10_1000, PAGE), ["?", "?"]);
    assert_eq!(it.map_fixed(1, 0x10_0000, 0x3000), ["map:0", "?"]);
    // But not what the kernel puts into a free place.
    assert_eq!(it.map(1, 0x10_1000, PAGE), "map:1");
}

#[test]
fn an_end_that_is_not_seen_leaves_nothing_to_guess() {
    for outcome in [Outcome::NeverReturned, Outcome::Missing] {
        let mut it = Story::new();
        it.task(1, 2, Some(true));
        it.map(1, 0x10_0000, 0x3000);
        it.enter(1, "munmap", &[0x10_0000, PAGE]);
        it.end(1, outcome, Vec::new());
        let words = [0x10_1000, PAGE, 3, ANONYMOUS | FIXED, NO_FILE, 0];
        it.enter(1, "mmap", &words);
        it.end(1, outcome, Vec::new());
        let now = [0x10_0000, 0x10_1000, 0x10_2000].map(|at| it.at(2, at));
        assert_eq!(now, ["?", "?", "map:0+0x2000"]);
    }
}

#[test]
fn a_call_that_was_not_seen_to_enter_may_have_taken_anything() {
    for (name, value, expected) in [("munmap", 0, "?"), ("munmap", EINVAL, "map:0")] {
        let mut it = Story::new();
        it.map(1, 0x10_0000, PAGE);
        it.observe(Observation::Call(Call {
            actor: Story::actor(1),
            abi: Abi::native(),
            number: nr(name),
            entry: Entry::Missing,
            outcome: Outcome::Returned {
                time: Nanos(2),
                value,
            },
            memory: Memory::default(),
            files: Files::default(),
            places: Places::default(),
            injected: Default::default(),
        }));
        assert_eq!(it.at(1, 0x10_0000), expected);
        assert_eq!(it.map(1, 0x10_0000, PAGE), "map:1");
    }
}

#[test]
fn a_space_that_may_be_shared_is_known_only_where_nobody_else_changed_it() {
    let mut it = Story::new();
    it.map(1, 0x10_0000, 0x3000);
    it.task(1, 2, None);
    assert_eq!(it.at(2, 0x10_0000), "map:0");
    it.unmap(2, 0x10_0000, PAGE);
    it.map(2, 0x20_0000, PAGE);
    assert_eq!(it.at(2, 0x20_0000), "map:1");
    let now = [0x10_0000, 0x10_1000, 0x20_0000].map(|at| it.at(1, at));
    assert_eq!(now, ["?", "map:0+0x1000", "?"]);
    // By an exec it is another for certain.
    it.exec(2);
    it.unmap(2, 0x10_0000, 0x3000);
    assert_eq!(it.at(1, 0x10_1000), "map:0+0x1000");
    assert_eq!(it.map(1, 0x10_0000, PAGE), "map:2");
}

#[test]
fn a_task_whose_creator_nobody_saw_knows_what_it_maps_itself() {
    let mut it = Story::unborn(true);
    it.born(5, None, Shares::default());
    assert_eq!(it.call(5, "brk", &[0], 0x50_0000), ["?", "?"]);
    assert_eq!(it.map(5, 0x10_0000, PAGE), "map:0");
    assert_eq!(it.call(6, "brk", &[0], 0x50_0000), ["?", "?"]);
}
