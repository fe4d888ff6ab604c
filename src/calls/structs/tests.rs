//! Structures of real calls against what strace printed for the very same bytes.

// The captured bytes have the layouts of one architecture.
#![cfg(target_arch = "x86_64")]

mod commands;

use super::*;
use crate::files::Files;
use crate::kinds::{ArgKind, ReturnKind};
use crate::memory::{Extent, Fetch, Memory, Moment, Piece, State};
use crate::names::{self, Abi};
use crate::{
    Actor, Entry, Outcome, ShortName, Shown, ThreadId, pointers, write_argument, write_result,
};
use perf_records::units::{Nanos, Pid, Tid};

/// Written by `ci/capture-structs`, which describes it.
const CAPTURED: &str = include_str!("../../../harness/fixtures/structs.txt");

/// A call of the fixture.
struct Case<'a> {
    name: &'a str,
    words: [u64; 6],
    result: i64,
    /// Places and bytes.
    before: Vec<(u8, Vec<u8>)>,
    after: Vec<(u8, Vec<u8>)>,
    strace: &'a str,
}

fn cases() -> Vec<Case<'static>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for line in CAPTURED.lines().filter(|line| !line.starts_with('#')) {
        let (word, rest) = line.split_once(' ').expect("a word and more");
        if word == "call" {
            cases.push(case(rest));
            continue;
        }
        let case = cases.last_mut().expect("a call comes first");
        match word {
            "before" => case.before.push(bytes(rest)),
            "after" => case.after.push(bytes(rest)),
            _ => case.strace = rest,
        }
    }
    cases
}

fn case(line: &str) -> Case<'_> {
    let (call, result) = line.split_once(" = ").expect("a result");
    let (name, words) = call.split_once(' ').expect("a name");
    let words: Vec<u64> = words
        .split(' ')
        .map(|word| u64::from_str_radix(word, 16).expect("a number in hex"))
        .collect();
    Case {
        name,
        words: words.try_into().expect("six words"),
        result: result.parse().expect("a number"),
        before: Vec::new(),
        after: Vec::new(),
        strace: "",
    }
}

fn bytes(line: &str) -> (u8, Vec<u8>) {
    let (place, rest) = line.split_once(' ').expect("a place");
    let (size, digits) = rest.split_once(' ').expect("a size");
    let digits: Vec<u8> = digits
        .chars()
        .map(|digit| digit.to_digit(16).expect("hex") as u8)
        .collect();
    let mut bytes: Vec<u8> = digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect();
    bytes.resize(size.parse().expect("a size"), 0);
    (place.parse().expect("a place"), bytes)
}

impl Case<'_> {
    /// What stood behind an argument at a moment.
    fn memory(&self, place: u8, moment: Moment) -> Option<&[u8]> {
        let at = |all: &[(u8, Vec<u8>)]| all.iter().position(|(at, _)| *at == place);
        let before = || at(&self.before).map(|found| &*self.before[found].1);
        match moment {
            Moment::Enter => before(),
            Moment::Exit => at(&self.after)
                .map(|found| &*self.after[found].1)
                .or_else(before),
        }
    }

    /// Reads as the kernel's programs do, no more than `most` bytes.
    fn read(&self, fetch: &Fetch, most: usize) -> Option<Piece> {
        let word = |place: u8| self.words[usize::from(place)];
        let result = usize::try_from(self.result).unwrap_or(0);
        let length = match fetch.extent {
            Extent::Fixed(size) => usize::from(size),
            Extent::Counted { count, unit } => word(count) as u32 as usize * usize::from(unit),
            Extent::Sized { at } => {
                let size = self.memory(at, fetch.moment)?.first_chunk()?;
                u32::from_le_bytes(*size) as usize
            }
            Extent::Returned { unit } => result * usize::from(unit),
            Extent::String | Extent::Strings | Extent::Behind(_) => return None,
        };
        let memory = self.memory(fetch.argument, fetch.moment)?;
        let limit = usize::from(fetch.limit).min(most);
        let bytes = memory.get(..length.min(limit));
        Some(Piece {
            argument: fetch.argument,
            element: 0,
            moment: fetch.moment,
            address: word(fetch.argument),
            state: match bytes {
                None => State::Unread,
                Some(bytes) if bytes.len() < length => State::Cut,
                Some(_) => State::Whole,
            },
            bytes: bytes.unwrap_or_default().into(),
        })
    }

    fn call(&self, most: usize) -> Call {
        let fetches = pointers::fetches_of(self.name, 0);
        let pieces = fetches.iter().filter_map(|fetch| self.read(fetch, most));
        Call {
            actor: Actor {
                thread: ThreadId(0),
                pid: Pid(1),
                tid: Tid(1),
                comm: ShortName::new(b"x"),
            },
            abi: Abi::native(),
            number: names::number(Abi::native(), self.name).expect("a call") as i32,
            entry: Entry::Seen {
                time: Nanos(0),
                args: self.words,
            },
            outcome: Outcome::Returned {
                time: Nanos(0),
                value: self.result,
            },
            memory: Memory::new(pieces.collect()),
            files: Files::default(),
            places: Default::default(),
            injected: Default::default(),
        }
    }

    /// The arguments that are structures.
    fn structures(&self) -> impl Iterator<Item = (usize, ArgKind)> {
        (0..6).filter_map(|place| {
            let kind = pointers::kind(self.name, place)
                .or_else(|| pointers::by_command(self.name, place, &self.words))?;
            matches!(kind, ArgKind::Struct(_)).then_some((place, kind))
        })
    }
}

/// Without strace's marks of values that have no name, `0x63 /* AF_??? */`.
fn without_marks(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(" /* ") {
        let (mark, after) = behind.split_once(" */").expect("a comment ends");
        out.push_str(before);
        if !mark.ends_with("???") {
            out.push_str(&format!(" /* {mark} */"));
        }
        rest = after;
    }
    out + rest
}

/// The arguments and the rest of a line of strace's.
fn parts(line: &str) -> (Vec<&str>, &str) {
    let (call, result) = line.rsplit_once(" = ").expect("a result");
    // The parentheses behind a result may hold an equals sign, but not one between blanks.
    let arguments = call.trim_end().strip_suffix(')').expect("a closed list");
    let arguments = arguments.split_once('(').expect("an open list").1;
    let (mut depth, mut is_text, mut is_escaped, mut start) = (0, false, false, 0);
    let mut parts = Vec::new();
    for (at, letter) in arguments.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_text = !is_text,
            _ if is_text => {}
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(arguments[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(arguments[start..].trim());
    (parts, result)
}

fn written(call: &Call, place: usize, kind: ArgKind) -> String {
    let mut out = String::new();
    write_argument(&mut out, call, place, kind, &mut Shown);
    out
}

/// `{tv_sec=1, tv_usec=2}` as the string that its bytes are.
fn as_bytes(time: &str) -> Option<String> {
    let numbers = time.strip_prefix("{tv_sec=")?.strip_suffix('}')?;
    let (seconds, fraction) = numbers.split_once(", tv_usec=")?;
    let numbers: [u64; 2] = [seconds.parse().ok()?, fraction.parse().ok()?];
    let mut string = String::new();
    crate::write_string(&mut string, &numbers.map(u64::to_le_bytes).concat());
    Some(string)
}

#[test]
fn structures_are_those_that_strace_printed_for_the_same_bytes() {
    let mut compared = 0;
    let mut kinds = std::collections::HashSet::new();
    let mut wrong = Vec::new();
    for case in cases() {
        let call = case.call(usize::MAX);
        let (theirs, _) = parts(case.strace);
        for (place, kind) in case.structures() {
            let Some(theirs) = theirs.get(place) else {
                continue;
            };
            let ours = written(&call, place, kind);
            let theirs = without_marks(theirs);
            // strace 6.1 does not know the mask of all that is said of access times.
            let is_newer = ours.contains("MOUNT_ATTR__ATIME");
            // Times that are options it shows as bytes.
            let is_option =
                case.name.ends_with("sockopt") && as_bytes(&ours) == Some(theirs.clone());
            if ours != theirs && !is_newer && !is_option {
                wrong.push(format!("{} {place}\n    {ours}\n    {theirs}", case.name));
            }
            compared += 1;
            if !ours.starts_with("0x") {
                kinds.insert(kind);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 590, "{compared}");
    assert!(kinds.len() > 45, "{}", kinds.len());
}

#[test]
fn results_say_what_happened_as_strace_says_it() {
    let mut compared = 0;
    for case in cases() {
        if !matches!(case.name, "poll" | "ppoll" | "select" | "pselect6") {
            continue;
        }
        let (_, theirs) = parts(case.strace);
        let mut ours = String::new();
        let call = case.call(usize::MAX);
        write_result(&mut ours, &call, ReturnKind::Number, &mut Shown);
        // strace adds the text of an error.
        let theirs = if case.result < 0 {
            theirs.split(" (").next().expect("a part")
        } else {
            theirs
        };
        assert_eq!(ours, theirs, "{}", case.strace);
        compared += 1;
    }
    assert!(compared > 12, "{compared}");
}

#[test]
fn bytes_cut_anywhere_give_an_address_or_a_whole_text() {
    let mut n_shorter = 0;
    for case in cases() {
        let whole = case.call(usize::MAX);
        for most in 0..160 {
            let call = case.call(most);
            for (place, kind) in case.structures() {
                let text = written(&call, place, kind);
                let address = format!("{:#x}", case.words[place]);
                let is_closed =
                    |open, close| text.matches(open).count() == text.matches(close).count();
                assert!(
                    text == address || is_closed('{', '}') && is_closed('[', ']'),
                    "{} {most}: {text}",
                    case.name
                );
                n_shorter += u64::from(text != written(&whole, place, kind));
            }
            let mut result = String::new();
            write_result(&mut result, &call, ReturnKind::Number, &mut Shown);
            assert!(
                !result.contains('(') || result.ends_with(')'),
                "{} {most}: {result}",
                case.name
            );
        }
    }
    assert!(n_shorter > 1000, "{n_shorter}");
}

/// A call that succeeded, with the bytes behind one argument.
fn made(
    name: &'static str,
    words: [u64; 6],
    (place, before, after): (u8, &[&[u8]], &[&[u8]]),
) -> Call {
    let memory = |parts: &[&[u8]]| vec![(place, parts.concat())];
    let case = Case {
        name,
        words,
        result: 0,
        before: memory(before),
        after: memory(after),
        strace: "",
    };
    case.call(usize::MAX)
}

fn shown(call: &Call, place: usize) -> String {
    let kind = pointers::kind(call.name().expect("a name"), place).expect("a structure");
    written(call, place, kind)
}

#[test]
fn a_message_shows_where_its_parts_are() {
    let header = |length: u32, flags: u32| {
        let fields: [u64; 6] = [0x1000, length.into(), 0x2000, 2, 0x3000, 24];
        let mut bytes: Vec<u8> = fields
            .iter()
            .flat_map(|field| field.to_le_bytes())
            .collect();
        bytes.extend(u64::from(flags).to_le_bytes());
        bytes
    };
    let (before, after) = (header(110, 0), header(16, 8));
    let words = [3, 0x5000, 0, 0, 0, 0];
    let call = made("recvmsg", words, (1, &[&before], &[&after]));
    assert_eq!(
        shown(&call, 1),
        "{msg_name=0x1000, msg_namelen=110 => 16, msg_iov=0x2000, msg_iovlen=2, msg_control=0x3000, \
         msg_controllen=24, msg_flags=MSG_CTRUNC}"
    );
    let failed = Call {
        outcome: Outcome::Returned {
            time: Nanos(0),
            value: -11,
        },
        ..call
    };
    assert_eq!(shown(&failed, 1), "{msg_namelen=110}");
    let call = made("sendmsg", words, (1, &[&before], &[&before]));
    assert!(shown(&call, 1).starts_with("{msg_name=0x1000, msg_namelen=110, msg_iov="));
}

#[test]
fn vectors_show_where_their_contents_are_and_that_there_are_more() {
    let vector: Vec<u8> = [0x1000_u64, 3, 0, 0]
        .iter()
        .flat_map(|field| field.to_le_bytes())
        .collect();
    let call = made("writev", [1, 0x5000, 2, 0, 0, 0], (1, &[&vector], &[]));
    assert_eq!(
        shown(&call, 1),
        "[{iov_base=0x1000, iov_len=3}, {iov_base=NULL, iov_len=0}]"
    );
    let many = vector.repeat(50);
    let call = made("writev", [1, 0x5000, 100, 0, 0, 0], (1, &[&many], &[]));
    let text = shown(&call, 1);
    assert_eq!(text.matches("iov_base").count(), 64, "{text}");
    assert!(text.ends_with(", ...]"), "{text}");
}

#[test]
fn what_was_left_of_a_sleep_is_told_after_an_interruption_only() {
    let time = [8_u64.to_le_bytes(), 5_u64.to_le_bytes()].concat();
    let sleep = |flags| {
        let words = [1, flags, 0x4000, 0x5000, 0, 0];
        Call {
            outcome: Outcome::Interrupted {
                time: Nanos(0),
                errno: 516,
            },
            ..made("clock_nanosleep", words, (3, &[], &[&time]))
        }
    };
    assert_eq!(shown(&sleep(0), 3), "{tv_sec=8, tv_nsec=5}");
    assert_eq!(shown(&sleep(1), 3), "0x5000", "a point in time");
    let finished = Call {
        outcome: Outcome::Returned {
            time: Nanos(0),
            value: 0,
        },
        ..sleep(0)
    };
    assert_eq!(shown(&finished, 3), "0x5000");
}

#[test]
fn waitid_tells_no_times_as_the_kernel_does_not_write_them() {
    let mut info = [0xee_u8; 128];
    for (offset, field) in [(0, 17_u32), (4, 0), (8, 1), (16, 7), (20, 0), (24, 3)] {
        info[offset..offset + 4].copy_from_slice(&field.to_le_bytes());
    }
    let words = [1, 7, 0x5000, 4, 0, 0];
    let call = made("waitid", words, (2, &[], &[&info]));
    assert_eq!(
        shown(&call, 2),
        "{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=7, si_uid=0, si_status=3}"
    );
}

#[test]
fn only_a_message_queue_with_attributes_of_its_own_has_flags() {
    let attributes = [2048_u64, 0, 0, 0, 0, 0, 0, 0]
        .map(u64::to_le_bytes)
        .concat();
    let words = [3, 0x5000, 0, 0, 0, 0];
    let call = made("mq_getsetattr", words, (1, &[&attributes], &[]));
    assert!(shown(&call, 1).starts_with("{mq_flags=O_NONBLOCK, "));
}

/// Writes a mark for what varies.
struct Stable;

impl Values for Stable {
    fn task(&mut self, _: i32, out: &mut String) {
        out.push_str("P1");
    }
    fn address(&mut self, _: u64, out: &mut String) {
        out.push_str("<addr>");
    }
    fn descriptor(&mut self, number: i32, _: crate::files::Lookup<'_>, out: &mut String) {
        out.push_str(&format!("F{number}"));
    }
    fn varying(&mut self, what: crate::Varying, _: i128, out: &mut String) -> bool {
        out.push_str(&format!("<{what:?}>"));
        false
    }
    fn varying_hex(&mut self, what: crate::Varying, number: u64, out: &mut String) {
        self.varying(what, number.into(), out);
    }
}

#[test]
fn what_varies_goes_through_its_own_writers() {
    let stable = |name: &str, place: usize| {
        let case = cases()
            .into_iter()
            .find(|case| case.name == name && case.result >= 0)
            .expect("a call that succeeded");
        let kinds: Vec<_> = case.structures().collect();
        let (_, kind) = kinds.iter().find(|(at, _)| *at == place).expect("a kind");
        let mut out = String::new();
        write_argument(&mut out, &case.call(usize::MAX), place, *kind, &mut Stable);
        out
    };
    assert_eq!(
        stable("getsockname", 1),
        "{sa_family=AF_INET, sin_port=htons(<Port>), sin_addr=inet_addr(\"127.0.0.1\")}"
    );
    assert_eq!(
        stable("newfstatat", 2),
        "{st_mode=S_IFREG|0644, st_size=<Size>, ...}"
    );
    assert_eq!(
        stable("utimensat", 2),
        "[{tv_sec=<Time>, tv_nsec=<Time>}, UTIME_OMIT]"
    );
    assert_eq!(
        stable("clock_gettime", 1),
        "{tv_sec=<Time>, tv_nsec=<Time>}"
    );
    assert_eq!(stable("nanosleep", 0), "{tv_sec=0, tv_nsec=1000}");
    assert_eq!(
        stable("getitimer", 1),
        "{it_interval={tv_sec=0, tv_usec=5}, it_value={tv_sec=<Duration>, tv_usec=<Duration>}}"
    );
    assert!(stable("statfs", 1).contains("f_bfree=<Machine>"));
    assert!(stable("statfs", 1).contains("f_fsid={val=[<Machine>, <Machine>]}"));
    assert_eq!(stable("pipe", 0).matches('F').count(), 2);
    assert!(stable("clone3", 0).contains("child_tid=<addr>, "));
    assert!(stable("clone3", 0).ends_with(" => {parent_tid=[P1]}"));
}

/// A call with what stands before it in memory behind an argument.
fn call_with(name: &str, words: [u64; 6], result: i64, given: &[(u8, Vec<u8>)]) -> Call {
    let case = Case {
        name,
        words,
        result,
        before: given.to_vec(),
        after: Vec::new(),
        strace: "",
    };
    case.call(usize::MAX)
}

fn eights(numbers: &[u64]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

#[test]
fn all_bits_of_the_attributes_of_a_mount_are_shown() {
    for name in ["mount_setattr", "open_tree_attr"] {
        let bytes = eights(&[0xffff_ffff_0000_0000, 0x70, 0, 0]);
        let call = call_with(name, [3, 1, 0, 0x1000, 32, 0], 0, &[(3, bytes)]);
        let kind = ArgKind::Struct(StructKind::MountAttributes);
        assert_eq!(
            written(&call, 3, kind),
            "{attr_set=0xffffffff00000000, attr_clr=MOUNT_ATTR__ATIME, propagation=0, userns_fd=0}"
        );
    }
}

#[test]
fn an_id_that_the_kernel_had_no_room_for_is_not_shown() {
    const SETS_PARENT: u64 = 0x10_0000;
    let text = |parent: u64| {
        let bytes = eights(&[SETS_PARENT, 0, 0, parent, 17, 0, 0, 0]);
        let call = call_with("clone3", [0x1000, 64, 0, 0, 0, 0], 5963, &[(0, bytes)]);
        written(&call, 0, ArgKind::Struct(StructKind::CloneArguments))
    };
    assert!(text(0).ends_with(" => {parent_tid=NULL}"), "{}", text(0));
    assert!(
        text(0x2000).ends_with(" => {parent_tid=[5963]}"),
        "{}",
        text(0x2000)
    );
}

#[test]
fn what_clone_writes_for_the_parent_is_its_result_also_when_the_child_has_overwritten_it() {
    const SETS_PARENT: u64 = 0x10_0000;
    const MAKES_DESCRIPTOR: u64 = 0x1000;
    let text = |flags: u64, result: i64, left: &[u8]| {
        let words = [flags, 0, 0x2000, 0, 0, 0];
        let case = Case {
            name: "clone",
            words,
            result,
            before: Vec::new(),
            after: vec![(2, left.to_vec())],
            strace: "",
        };
        let kind = pointers::by_command("clone", 2, &words);
        kind.map(|kind| written(&case.call(usize::MAX), 2, kind))
    };
    let text_of = |flags, result, left: &[u8]| text(flags, result, left).expect("a number");
    assert_eq!(text_of(SETS_PARENT, 5963, &[0; 4]), "[5963]");
    assert_eq!(text_of(SETS_PARENT, 5963, &[]), "0x2000");
    assert_eq!(text_of(SETS_PARENT, -11, &[7, 0, 0, 0]), "0x2000");
    assert_eq!(text_of(MAKES_DESCRIPTOR, 5963, &[7, 0, 0, 0]), "[7]");
    assert_eq!(text(17, 5963, &[7, 0, 0, 0]), None);
}

#[test]
fn the_fraction_of_a_second_has_no_sign() {
    let bytes = eights(&[u64::MAX, u64::MAX]);
    let call = call_with("nanosleep", [0x1000, 0, 0, 0, 0, 0], -22, &[(0, bytes)]);
    assert_eq!(
        written(&call, 0, ArgKind::Struct(StructKind::Timespec)),
        "{tv_sec=-1, tv_nsec=18446744073709551615}"
    );
}

#[test]
fn the_name_of_a_socket_ends_with_its_structure() {
    let mut bytes = vec![1, 0, 0];
    bytes.resize(120, b'x');
    let call = call_with("bind", [3, 0x1000, 120, 0, 0, 0], -22, &[(1, bytes)]);
    assert_eq!(
        written(&call, 1, ArgKind::Struct(StructKind::SocketAddress)),
        format!("{{sa_family=AF_UNIX, sun_path=@\"{}\"}}", "x".repeat(107))
    );
}
