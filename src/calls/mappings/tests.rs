//! Stories of address spaces: where each address lay, even if that changed later.

use super::super::files::{Files, Initial, Tables, Watched};
use super::super::names::{self, Abi};
use super::super::{Actor, Call, Entry, Observation, Outcome, Shares, ShortName, ThreadId};
use super::*;
use crate::memory::{Memory, Moment, Piece, State};
use perf_records::units::{Nanos, Pid, Tid};
use std::collections::HashMap;

mod races;

const ANONYMOUS: u64 = 0x22;
const PRIVATE: u64 = 0x2;
const FIXED: u64 = 0x10;
const MAYMOVE: u64 = 1;
const NO_FILE: u64 = u64::MAX;
const ENOMEM: i64 = -(libc::ENOMEM as i64);
const EINVAL: i64 = -(libc::EINVAL as i64);
const PAGE: u64 = 0x1000;

/// A run in the making. Threads are numbers; a process is told by its first thread.
struct Story {
    tables: Tables,
    maps: Maps,
    entered: HashMap<u32, (i32, [u64; 6])>,
}

fn nr(name: &str) -> i32 {
    names::number(Abi::native(), name).unwrap() as i32
}

/// The place as a person would write it; mappings without a name by their number in the run.
fn shown(place: Option<&Place>) -> String {
    let Some(place) = place else {
        return "?".to_owned();
    };
    let name = String::from_utf8(place.mapping.name()).unwrap();
    let number = match place.mapping.is_named() {
        true => String::new(),
        false => format!(":{}", place.mapping.id),
    };
    match place.offset {
        0 => format!("{name}{number}"),
        offset => format!("{name}{number}+{offset:#x}"),
    }
}

impl Story {
    /// A program that has just been executed.
    fn new() -> Self {
        let mut story = Self::unborn(true);
        story.born(1, None, Shares::default());
        story.exec(1);
        story
    }

    fn unborn(complete: bool) -> Self {
        let watched = Watched {
            complete: true,
            ..Watched::default()
        };
        Self {
            tables: Tables::new(Initial::default(), watched),
            maps: Maps::new(complete, PAGE),
            entered: HashMap::new(),
        }
    }

    fn observe(&mut self, mut observation: Observation) -> Observation {
        self.tables.observe(&mut observation);
        self.maps.observe(&mut observation);
        observation
    }

    fn actor(thread: u32) -> Actor {
        Actor {
            thread: ThreadId(thread),
            pid: Pid(thread),
            tid: Tid(thread),
            comm: ShortName::default(),
        }
    }

    fn born(&mut self, child: u32, parent: Option<u32>, shares: Shares) {
        self.observe(Observation::Born {
            child: Self::actor(child),
            parent: parent.map(ThreadId),
            shares,
        });
    }

    /// A task that shares the memory, does not share it, or it is not known.
    fn task(&mut self, parent: u32, child: u32, memory: Option<bool>) {
        let shares = Shares {
            memory,
            ..Shares::default()
        };
        self.born(child, Some(parent), shares);
    }

    fn exec(&mut self, thread: u32) {
        self.observe(Observation::Executed(Self::actor(thread)));
    }

    fn enter(&mut self, thread: u32, name: &str, words: &[u64]) {
        let mut args = [0; 6];
        args[..words.len()].copy_from_slice(words);
        self.entered.insert(thread, (nr(name), args));
        self.observe(Observation::Entered {
            is_answered: false,
            actor: Self::actor(thread),
            abi: Abi::native(),
            number: nr(name),
            entry: Entry::Seen {
                time: Nanos(1),
                args,
            },
        });
    }

    fn end(&mut self, thread: u32, outcome: Outcome, pieces: Vec<Piece>) -> Call {
        let (number, args) = self.entered.remove(&thread).unwrap();
        let call = Observation::Call(Call {
            actor: Self::actor(thread),
            abi: Abi::native(),
            number,
            entry: Entry::Seen {
                time: Nanos(1),
                args,
            },
            outcome,
            memory: Memory::new(pieces),
            files: Files::default(),
            places: Places::default(),
            injected: Default::default(),
        });
        match self.observe(call) {
            Observation::Call(call) => call,
            _ => unreachable!(),
        }
    }

    fn leave(&mut self, thread: u32, value: i64) -> Call {
        let time = Nanos(2);
        self.end(thread, Outcome::Returned { time, value }, Vec::new())
    }

    /// The first argument's place and the result's.
    fn call(&mut self, thread: u32, name: &str, words: &[u64], value: i64) -> [String; 2] {
        self.enter(thread, name, words);
        let call = self.leave(thread, value);
        [shown(call.places.argument(0)), shown(call.places.result())]
    }

    fn open(&mut self, thread: u32, path: &str, number: i64) {
        let path = Piece {
            argument: 1,
            element: 0,
            moment: Moment::Enter,
            address: 0x1000,
            state: State::Whole,
            bytes: path.as_bytes().into(),
        };
        self.enter(thread, "openat", &[libc::AT_FDCWD as u64, 0x1000]);
        let outcome = Outcome::Returned {
            time: Nanos(2),
            value: number,
        };
        self.end(thread, outcome, vec![path]);
    }

    /// Anonymous memory where the kernel wants it.
    fn map(&mut self, thread: u32, at: u64, length: u64) -> String {
        let [_, result] = self.call(
            thread,
            "mmap",
            &[0, length, 3, ANONYMOUS, NO_FILE, 0],
            at as i64,
        );
        result
    }

    fn map_fixed(&mut self, thread: u32, at: u64, length: u64) -> [String; 2] {
        let words = [at, length, 3, ANONYMOUS | FIXED, NO_FILE, 0];
        self.call(thread, "mmap", &words, at as i64)
    }

    fn unmap(&mut self, thread: u32, at: u64, length: u64) -> String {
        let [argument, _] = self.call(thread, "munmap", &[at, length], 0);
        argument
    }

    /// Where an address lies now, by a call that changes nothing.
    fn at(&mut self, thread: u32, address: u64) -> String {
        let [argument, _] = self.call(thread, "madvise", &[address, PAGE, 0], 0);
        argument
    }
}

#[test]
fn a_library_is_one_mapping_whatever_is_mapped_into_it() {
    // What ld.so of glibc 2.36 does for libc.so.6.
    const BASE: u64 = 0x7fc0_a140_d000;
    let mut it = Story::new();
    it.open(1, "/lib/libc.so.6", 3);
    let of_file = |flags| PRIVATE | 0x800 | flags;
    let [argument, result] = it.call(1, "mmap", &[0, 1_974_096, 1, of_file(0), 3, 0], BASE as i64);
    assert_eq!([&*argument, &*result], ["?", "/lib/libc.so.6"]);
    for (offset, length) in [
        (0x2_6000, 1_400_832),
        (0x17_c000, 339_968),
        (0x1c_f000, 24_576),
    ] {
        let words = [BASE + offset, length, 5, of_file(FIXED), 3, offset];
        let both = it.call(1, "mmap", &words, (BASE + offset) as i64);
        let expected = format!("/lib/libc.so.6+{offset:#x}");
        assert_eq!(both, [expected.clone(), expected]);
    }
    let bss = it.map_fixed(1, BASE + 0x1d_5000, 53_072);
    assert_eq!(bss, ["/lib/libc.so.6+0x1d5000", "/lib/libc.so.6+0x1d5000"]);
    it.call(1, "close", &[3], 0);
    let [relro, _] = it.call(1, "mprotect", &[BASE + 0x1c_f000, 16_384, 1], 0);
    assert_eq!(relro, "/lib/libc.so.6+0x1cf000");
    let [own, _] = it.call(1, "mprotect", &[0x556c_a7b3_0000, 4096, 1], 0);
    assert_eq!(own, "?", "the program was mapped by exec");
    // The last page is whole, and no more.
    assert_eq!(it.at(1, BASE + 0x1e_1000), "/lib/libc.so.6+0x1e1000");
    assert_eq!(it.at(1, BASE + 0x1e_2000), "?");
}

#[test]
fn a_library_in_memory_that_was_reserved_for_it_has_its_own_name() {
    // What ld.so of arm64 does, as pages of 64 KiB are to be possible: it reserves more, maps the
    // file where it is aligned, and gives back what is left on both sides.
    const RESERVED: u64 = 0xffff_b715_2000;
    const BASE: u64 = 0xffff_b716_0000;
    let mut it = Story::new();
    it.open(1, "/lib/libc.so.6", 3);
    let reserved = [0, 1_826_912, 0, ANONYMOUS, NO_FILE, 0];
    it.call(1, "mmap", &reserved, RESERVED as i64);
    let of_file = PRIVATE | 0x800 | FIXED;
    let words = [BASE, 1_761_376, 5, of_file, 3, 0];
    it.call(1, "mmap", &words, BASE as i64);
    it.unmap(1, RESERVED, BASE - RESERVED);
    it.unmap(1, BASE + 0x1a_f000, 0x1000);
    let data = [BASE + 0x19_c000, 24_576, 3, of_file, 3, 0x18_c000];
    it.call(1, "mmap", &data, (BASE + 0x19_c000) as i64);
    it.map_fixed(1, BASE + 0x1a_2000, 49_248);
    for offset in [0x1000, 0x19_c000, 0x1a_e000] {
        let told = format!("/lib/libc.so.6+{offset:#x}");
        assert_eq!(it.at(1, BASE + offset), told);
    }
}

#[test]
fn a_mapping_keeps_the_name_of_its_file_when_the_number_means_another() {
    let mut it = Story::new();
    it.open(1, "/a", 3);
    let file = [0, PAGE, 1, PRIVATE, 3, 0];
    let [_, result] = it.call(1, "mmap", &file, 0x10_0000);
    assert_eq!(result, "/a");
    it.call(1, "close", &[3], 0);
    it.open(1, "/b", 3);
    assert_eq!(it.at(1, 0x10_0000), "/a");
    // It is not known what this number was.
    let [_, unknown] = it.call(1, "mmap", &[0, PAGE, 1, PRIVATE, 9, 0], 0x20_0000);
    assert_eq!(unknown, "file:1");
}

#[test]
fn every_break_is_told_by_the_first() {
    const START: u64 = 0x5555_5555_6000;
    let mut it = Story::new();
    let brk = |it: &mut Story, asked, now: u64| it.call(1, "brk", &[asked], now as i64);
    assert_eq!(brk(&mut it, 0, START), ["?", "heap"]);
    assert_eq!(it.at(1, START), "?", "it is empty");
    let grown = brk(&mut it, START + 0x2_1000, START + 0x2_1000);
    assert_eq!(grown, ["heap+0x21000", "heap+0x21000"]);
    assert_eq!(it.at(1, START), "heap");
    assert_eq!(it.at(1, START + 0x2_0fff), "heap+0x20fff");
    assert_eq!(it.at(1, START + 0x2_1000), "?");
    let refused = brk(&mut it, START + 0x100_0000, START + 0x2_1000);
    assert_eq!(refused, ["heap+0x1000000", "heap+0x21000"]);
    brk(&mut it, START + 0x8123, START + 0x8123);
    assert_eq!(it.at(1, START + 0x8000), "heap+0x8000");
    assert_eq!(it.at(1, START + 0x9000), "?");
    // The start is the same though the first page is not there any more.
    it.unmap(1, START, PAGE);
    assert_eq!(it.at(1, START), "?");
    assert_eq!(it.at(1, START + PAGE), "heap+0x1000");
}

#[test]
fn a_first_break_that_is_granted_tells_no_start() {
    let mut it = Story::new();
    let granted = it.call(1, "brk", &[0x60_0000], 0x60_0000);
    assert_eq!(granted, ["?", "?"]);
    it.exec(1);
    let refused = it.call(1, "brk", &[1], 0x50_0000);
    assert_eq!(refused, ["?", "heap"]);
}

#[test]
fn what_is_unmapped_in_the_middle_leaves_both_sides() {
    let mut it = Story::new();
    assert_eq!(it.map(1, 0x10_0000, 0x5000), "map:0");
    assert_eq!(it.unmap(1, 0x10_2000, 0x1000), "map:0+0x2000");
    assert_eq!(it.at(1, 0x10_1fff), "map:0+0x1fff");
    assert_eq!(it.at(1, 0x10_2000), "?");
    assert_eq!(it.at(1, 0x10_3000), "map:0+0x3000");
    assert_eq!(it.map(1, 0x10_2000, 1), "map:1");
    assert_eq!(it.at(1, 0x10_2fff), "map:1+0xfff", "a page is whole");
    it.unmap(1, 0, 0x10_4000);
    assert_eq!(it.at(1, 0x10_3fff), "?");
    assert_eq!(it.at(1, 0x10_4000), "map:0", "its head is gone");
}

#[test]
fn an_aligned_mapping_begins_where_its_head_was_cut_off() {
    // What malloc() of glibc does for the arena of a second thread (new_heap(), malloc/arena.c).
    const MAX: u64 = 0x400_0000;
    let mut lines = Vec::new();
    for start in [0x7fff_e900_0000, 0x7fff_e7ab_c000] {
        let mut it = Story::new();
        it.map(1, start, 2 * MAX);
        let aligned = (start + MAX - 1) & !(MAX - 1);
        it.unmap(1, start, aligned - start);
        let tail = it.unmap(1, aligned + MAX, MAX - (aligned - start));
        lines.push([tail, it.at(1, aligned), it.at(1, aligned + 0x2_1000)]);
    }
    let expected = ["map:0+0x4000000", "map:0", "map:0+0x21000"].map(str::to_owned);
    assert_eq!(lines, [expected.clone(), expected]);
}

#[test]
fn a_mapping_is_moved_with_its_offsets() {
    let mut it = Story::new();
    it.map(1, 0x10_0000, 0x4000);
    let remap = |it: &mut Story, words: &[u64], now: i64| it.call(1, "mremap", words, now);
    // In place, larger and smaller.
    let words = [0x10_0000, 0x4000, 0x6000, MAYMOVE];
    assert_eq!(remap(&mut it, &words, 0x10_0000), ["map:0", "map:0"]);
    assert_eq!(it.at(1, 0x10_5fff), "map:0+0x5fff");
    remap(&mut it, &[0x10_0000, 0x6000, 0x5000, 0], 0x10_0000);
    assert_eq!(it.at(1, 0x10_5000), "?");
    // Elsewhere, as a whole.
    remap(&mut it, &[0x10_0000, 0x5000, 0x8000, MAYMOVE], 0x20_0000);
    assert_eq!(it.at(1, 0x10_0000), "?");
    assert_eq!(it.at(1, 0x20_0000), "map:0");
    assert_eq!(it.at(1, 0x20_7000), "map:0+0x7000");
    // Its middle, to where something else is.
    assert_eq!(it.map(1, 0x30_0000, 0x3000), "map:1");
    let words = [0x20_2000, 0x1000, 0x1000, MAYMOVE | 2, 0x30_1000];
    it.enter(1, "mremap", &words);
    let call = it.leave(1, 0x30_1000);
    assert_eq!(shown(call.places.argument(4)), "map:1+0x1000");
    assert_eq!(shown(call.places.result()), "map:0+0x2000");
    assert_eq!(it.at(1, 0x20_2000), "?");
    assert_eq!(it.at(1, 0x20_3000), "map:0+0x3000");
    assert_eq!(it.at(1, 0x30_0000), "map:1");
    assert_eq!(it.at(1, 0x30_2000), "map:1+0x2000");
    // The same pages a second time: both are the mapping.
    remap(&mut it, &[0x20_0000, 0, 0x2000, MAYMOVE], 0x40_0000);
    assert_eq!(it.at(1, 0x20_1000), "map:0+0x1000");
    assert_eq!(it.at(1, 0x40_1000), "map:0+0x1000");
    // Moved and not unmapped.
    remap(
        &mut it,
        &[0x40_0000, 0x2000, 0x2000, MAYMOVE | 4],
        0x50_0000,
    );
    assert_eq!(it.at(1, 0x40_0000), "map:0");
    assert_eq!(it.at(1, 0x50_0000), "map:0");
    // Of something unknown.
    let words = [0x60_0000, 0x1000, 0x1000, MAYMOVE];
    assert_eq!(remap(&mut it, &words, 0x61_0000), ["?", "?"]);
}

#[test]
fn a_fixed_mapping_over_a_border_is_one_of_its_own() {
    let mut it = Story::new();
    it.map(1, 0x10_0000, 0x2000);
    it.map(1, 0x10_2000, 0x2000);
    let both = it.map_fixed(1, 0x10_1000, 0x2000);
    assert_eq!(both, ["map:0+0x1000", "map:2"]);
    assert_eq!(it.at(1, 0x10_0000), "map:0");
    assert_eq!(it.at(1, 0x10_2000), "map:2+0x1000");
    assert_eq!(it.at(1, 0x10_3000), "map:1+0x1000");
    // Beyond the end of everything, and where nothing is.
    assert_eq!(
        it.map_fixed(1, 0x10_3000, 0x2000),
        ["map:1+0x1000", "map:3"]
    );
    assert_eq!(it.map_fixed(1, 0x50_0000, 0x1000), ["?", "map:4"]);
    // Inside: the whole of it is inside, too.
    assert_eq!(it.map_fixed(1, 0x50_0000, 0x1000), ["map:4", "map:4"]);
}

#[test]
fn what_is_mapped_over_another_file_or_shared_is_one_of_its_own() {
    let mut it = Story::new();
    it.open(1, "/data", 3);
    it.open(1, "/other", 4);
    let shared = libc::MAP_SHARED as u64;
    let file = |it: &mut Story, at, flags, number| {
        it.call(1, "mmap", &[at, PAGE, 3, flags, number, 0], at as i64)
    };
    let anonymous = (ANONYMOUS, NO_FILE);
    for (below, above, told) in [
        ((shared, 3), (shared, 4), "/other"),
        ((shared, 3), anonymous, "map:"),
        ((PRIVATE, 3), (PRIVATE, 4), "/other"),
        ((PRIVATE, 3), (PRIVATE, 3), "/data"),
        (anonymous, (shared, 4), "/other"),
        (anonymous, (PRIVATE, 4), "/other"),
        ((PRIVATE, 3), anonymous, "/data"),
    ] {
        it.unmap(1, 0x10_0000, PAGE);
        file(&mut it, 0x10_0000, below.0, below.1);
        file(&mut it, 0x10_0000, above.0 | FIXED, above.1);
        assert!(it.at(1, 0x10_0000).starts_with(told), "{below:?} {above:?}");
    }
}

#[test]
fn a_hint_is_told_by_what_it_lies_in_or_behind() {
    let mut it = Story::new();
    it.map(1, 0x10_0000, 0x2000);
    let hint = |it: &mut Story, at: u64, now| {
        let words = [at, PAGE, 3, ANONYMOUS, NO_FILE, 0];
        it.call(1, "mmap", &words, now)
    };
    assert_eq!(
        hint(&mut it, 0x10_1000, 0x20_0000),
        ["map:0+0x1000", "map:1"]
    );
    assert_eq!(
        hint(&mut it, 0x10_2000, 0x10_2000),
        ["map:0+0x2000", "map:2"]
    );
    assert_eq!(hint(&mut it, 0x10_2000, 0x30_0000), ["map:2", "map:3"]);
    assert_eq!(hint(&mut it, 0x66_0000, 0x66_0000), ["?", "map:4"]);
    // What is protected behind a mapping is another mapping, which was not seen.
    assert_eq!(it.at(1, 0x66_1000), "?");
}

#[test]
fn a_stack_is_told_by_the_mapping_that_it_grows_down_into() {
    let mut it = Story::new();
    it.map(1, 0x10_0000, 0x2000);
    it.map(1, 0x10_2000, 0x2000);
    let settls = libc::CLONE_SETTLS as u64;
    for (flags, tls) in [(settls, "map:1+0x10"), (0, "?")] {
        let tls_at = if cfg!(target_arch = "x86_64") { 4 } else { 3 };
        let mut words = [flags, 0x10_2000, 0, 0, 0, 0];
        words[tls_at] = 0x10_2010;
        it.enter(1, "clone", &words);
        let call = it.leave(1, 7);
        assert_eq!(shown(call.places.argument(1)), "map:0+0x2000");
        assert_eq!(shown(call.places.argument(tls_at)), tls);
        assert_eq!(shown(call.places.result()), "?");
    }
}

#[test]
fn a_shared_segment_is_there_until_it_is_detached() {
    let mut it = Story::new();
    let [_, result] = it.call(1, "shmat", &[5, 0, 0], 0x10_0000);
    assert_eq!(result, "shm:0");
    assert_eq!(it.at(1, 0x10_0010), "shm:0+0x10");
    let [refused, _] = it.call(1, "shmdt", &[0x10_0010], EINVAL);
    assert_eq!(refused, "shm:0+0x10");
    assert_eq!(it.at(1, 0x10_0000), "shm:0");
    it.call(1, "shmdt", &[0x10_0000], 0);
    assert_eq!(it.at(1, 0x10_0000), "?");
    // It takes away no mapping of another kind.
    it.map(1, 0x20_0000, PAGE);
    it.call(1, "shmdt", &[0x20_0000], EINVAL);
    assert_eq!(it.at(1, 0x20_0000), "map:1");
    // Over what was there before, and it is not known how far.
    it.call(
        1,
        "shmat",
        &[5, 0x1f_0000, libc::SHM_REMAP as u64],
        0x1f_0000,
    );
    assert_eq!(it.at(1, 0x1f_0000), "shm:2");
    assert_eq!(it.at(1, 0x20_0000), "?");
}

#[test]
fn a_fork_has_the_mappings_and_goes_its_own_way() {
    let mut it = Story::new();
    it.map(1, 0x10_0000, 0x2000);
    it.call(1, "brk", &[0], 0x50_0000);
    it.task(1, 2, Some(false));
    assert_eq!(it.at(2, 0x10_1000), "map:0+0x1000");
    it.unmap(2, 0x10_0000, 0x1000);
    assert_eq!(it.at(1, 0x10_0000), "map:0");
    assert_eq!(it.at(2, 0x10_1000), "map:0");
    assert_eq!(it.map(1, 0x20_0000, PAGE), "map:2");
    assert_eq!(it.at(2, 0x20_0000), "?");
    it.call(2, "brk", &[0x50_1000], 0x50_1000);
    assert_eq!(it.at(2, 0x50_0000), "heap");
    assert_eq!(it.at(1, 0x50_0000), "?");
    let mut space = |thread| {
        it.enter(thread, "madvise", &[0x10_1000]);
        it.leave(thread, 0).places.argument(0).unwrap().space
    };
    assert_ne!(space(1), space(2));
    it.exec(2);
    assert_eq!(it.at(2, 0x10_1000), "?");
    assert_eq!(it.call(2, "brk", &[0], 0x77_0000), ["?", "heap"]);
    it.observe(Observation::Gone(ThreadId(1)));
    assert_eq!(it.at(2, 0x77_0000), "?");
    assert_eq!(it.map(2, 0x10_0000, PAGE), "map:4");
}

#[test]
fn nothing_is_known_where_not_every_call_is_observed() {
    let mut it = Story::unborn(false);
    it.born(1, None, Shares::default());
    it.exec(1);
    assert_eq!(it.map(1, 0x10_0000, PAGE), "?");
    assert_eq!(it.at(1, 0x10_0000), "?");
    let of = |name| needed().contains(&name);
    assert!(["mmap", "munmap", "mremap", "brk", "shmat", "shmdt"].map(of) == [true; 6]);
    assert!(!of("clone") && !of("mprotect"));
}

/// Against the kernel's own declarations: what the fixture calls an address is looked up.
#[test]
fn every_address_for_its_own_sake_is_looked_up() {
    // Handles that io_setup(2) gave, and the entry of a kernel.
    const OTHERWISE: [&str; 6] = [
        "io_cancel",
        "io_destroy",
        "io_getevents",
        "io_pgetevents",
        "io_submit",
        "kexec_load",
    ];
    let table = include_str!("../../../harness/fixtures/syscall-argument-kinds.txt");
    let mut n_found = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let Some((name, arguments)) = line.split_once(": ") else {
            continue;
        };
        let is_address = |argument: &&str| argument.split(' ').nth(1) == Some("Address");
        let bits = arguments
            .split(" | ")
            .filter(is_address)
            .map(|argument| 1 << argument.split(' ').next().unwrap().parse::<u8>().unwrap());
        let expected: u8 = bits.sum();
        let number = names::number(Abi::X86_64, name).map(|number| number as i32);
        let Some(number) = number.filter(|_| !OTHERWISE.contains(&name)) else {
            continue;
        };
        let plan = calls::plan(Abi::X86_64, number);
        assert_eq!(plan.addresses, expected, "{name}: {arguments}");
        n_found += u32::from(expected != 0);
    }
    assert!(n_found > 20, "{n_found}");
}
