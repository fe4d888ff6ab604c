//! strace as the witness of messages: what `sendmsg(2)` is given, with what its parts point to.
//!
//! As for [`strace_words`](super::strace_words) a filter refuses these calls, so that both see what
//! the program gives, and nothing else.

use std::fmt::Write;

use syscall_model::memory::{Extent, Fetch, Memory, Moment, Piece, State};
use syscall_model::names::Abi;
use syscall_model::{Outcome, Shown, pointers, write_argument};

use super::strace_sweep::arguments;
use super::strace_words::{call, number, signatures, strace_6_1, strace_lines, x86_64};
use super::support::require::{self, require};

/// Where memory ends that is there.
const END: u64 = 0x1000_1000;

/// A message, with what follows it in memory, to the end of a page.
struct Given {
    name: Vec<u8>,
    vectors: Vec<u8>,
    control: Vec<u8>,
    /// What the message says of the lengths of these.
    lengths: (u32, u64, u64),
}

impl Given {
    fn of(name: &[u8], vectors: &[u8], control: &[u8]) -> Self {
        let lengths = (
            name.len() as u32,
            vectors.len() as u64 / 16,
            control.len() as u64,
        );
        Self {
            name: name.to_vec(),
            vectors: vectors.to_vec(),
            control: control.to_vec(),
            lengths,
        }
    }

    fn control(control: &[u8]) -> Self {
        Self::of(&[], &[], control)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut name = self.name.clone();
        name.resize(name.len().next_multiple_of(8), 0);
        let behind = [&*name, &self.vectors, &self.control];
        let length: usize = behind.iter().map(|part| part.len()).sum();
        let mut at = END - length as u64;
        let places = behind.map(|part| {
            let place = if part.is_empty() { 0 } else { at };
            at += part.len() as u64;
            place
        });
        let (name, vectors, control) = self.lengths;
        let words = [
            places[0],
            name.into(),
            places[1],
            vectors,
            places[2],
            control,
            0,
        ];
        [&*words.map(u64::to_le_bytes).concat(), &*behind.concat()].concat()
    }

    fn words(&self) -> [u64; 6] {
        [3, END - self.bytes().len() as u64, 0, 0, 0, 0]
    }

    fn line(&self) -> String {
        let words = self.words();
        let number = number("sendmsg").expect("a call of this machine");
        let mut line = format!("{number} 3 {} 0 0 0 0 @{}=", words[1], words[1]);
        for byte in self.bytes() {
            write!(line, "{byte:02x}").expect("a String takes everything");
        }
        line
    }

    /// What a reader finds for this.
    fn piece(&self, fetch: &Fetch) -> Option<Piece> {
        let (start, bytes) = (self.words()[1], self.bytes());
        let word = |at: u8| {
            let at = usize::from(at);
            let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
            word.map_or(0, |word| u64::from_le_bytes(*word))
        };
        let (element, address, wanted) = match fetch.extent {
            Extent::Fixed(size) => (0, start, size.into()),
            Extent::Behind(what) => {
                let number = word(what.length);
                let number = if what.is_wide {
                    number
                } else {
                    number & 0xffff_ffff
                };
                let wanted = number.min(1 << 20) * u64::from(what.unit);
                (what.element(), word(what.pointer), wanted)
            }
            _ => return None,
        };
        let limit = u64::from(fetch.limit);
        let length = wanted.min(limit) as usize;
        let rest = bytes.get((address.checked_sub(start)?) as usize..)?;
        let state = match rest.len() {
            0 if length > 0 => State::Unread,
            there if there < length => State::Part,
            _ if wanted > limit => State::Cut,
            _ => State::Whole,
        };
        Some(Piece {
            argument: fetch.argument,
            element,
            moment: Moment::Enter,
            address,
            state,
            bytes: rest[..length.min(rest.len())].into(),
        })
    }

    fn text(&self) -> String {
        let fetches = pointers::fetches_of("sendmsg", 0);
        let mut call = call("sendmsg", self.words());
        call.memory = Memory::new(
            fetches
                .iter()
                .filter_map(|fetch| self.piece(fetch))
                .collect(),
        );
        call.outcome = Outcome::Returned {
            time: perf_records::units::Nanos(0),
            value: -i64::from(libc::EPERM),
        };
        let number = number("sendmsg").expect("a call of this machine");
        let mut out = String::new();
        signatures().with(Abi::native(), number, |signature| {
            let kind = signature.meanings(&self.words()).arguments[1];
            write_argument(&mut out, &call, 1, kind, &mut Shown);
        });
        out
    }
}

/// A control message that says that it has this length.
fn said(length: u64, level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(level.to_le_bytes());
    bytes.extend(kind.to_le_bytes());
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

fn control(level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
    said(16 + data.len() as u64, level, kind, data)
}

fn numbers(numbers: &[i32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

fn all() -> Vec<Given> {
    let rights = |of: &[i32]| control(libc::SOL_SOCKET, libc::SCM_RIGHTS, &numbers(of));
    let mut all = Vec::new();
    let data = b"ab\0cdefghijklmnopqrstuvw";
    for length in [0, 3, 4, 8, 12, 16, 24] {
        // Those of newer kernels have other names here than in strace 6.1, and are not tried.
        for kind in [1, 2, 3, 41, 61, 99] {
            all.push(Given::control(&control(1, kind, &data[..length])));
        }
        for kind in [3, 4, 6, 7, 10, 11, 19, 99] {
            all.push(Given::control(&control(0, kind, &data[..length])));
        }
        let levels = [6, 17, 41, 270, 0x1234];
        all.extend(levels.map(|level| Given::control(&control(level, 3, &data[..length]))));
    }
    for kind in [29, 35, 63, 64] {
        all.push(Given::control(&control(1, kind, &data[..16])));
    }
    for (kind, length) in [(1, 1), (1, 4), (2, 4), (2, 16), (8, 12), (20, 16), (23, 4)] {
        all.push(Given::control(&control(0, kind, &data[..length])));
    }
    let address = [2, 0, 0, 53, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    all.push(Given::control(&control(0, 20, &address)));
    all.push(Given::control(&[rights(&[3]), rights(&[-1, 4])].concat()));
    // Lengths that are none.
    for length in [0, 5, 15, 100, 1 << 40] {
        all.push(Given::control(&said(length, 1, 1, &numbers(&[3, 4]))));
    }
    all.push(Given::control(
        &[rights(&[3, 4]), b"1234".to_vec()].concat(),
    ));
    all.push(Given::control(&rights(&[3])[..20]));
    all.push(Given::control(b"1234"));
    let with = |lengths, given: Given| Given { lengths, ..given };
    all.push(with((0, 0, 100), Given::control(&rights(&[3]))));
    // Names.
    for name in [&b"\x01\0abc"[..], &address, b"\x02\0", b"\x01"] {
        all.push(Given::of(name, &[], &[]));
    }
    for length in [0, 1, 200, u32::MAX] {
        all.push(with((length, 0, 0), Given::of(b"\x01\0abc", &[], &[])));
    }
    // Vectors: nothing is at their addresses, as contents are not read here.
    let vectors = [0x10_u64, 5, 0, 7].map(u64::to_le_bytes).concat();
    all.push(Given::of(&address, &vectors, &rights(&[3])));
    for count in [0, 1, 3] {
        all.push(with((0, count, 0), Given::of(&[], &vectors, &[])));
    }
    all
}

#[test]
fn messages_are_shown_as_strace_shows_them() {
    require!(require::strace());
    require!(strace_6_1());
    require!(x86_64());
    let all = all();
    let lines: Vec<String> = all.iter().map(Given::line).collect();
    let theirs = strace_lines(&lines);
    let mut wrong = String::new();
    for (given, theirs) in all.iter().zip(&theirs) {
        let theirs = without_marks(arguments(theirs).get(1).copied().unwrap_or_default());
        let ours = given.text();
        if ours != theirs {
            writeln!(wrong, "ours   {ours}\nstrace {theirs}").expect("a String takes everything");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(all.len() > 150, "{}", all.len());
}

/// Without the comments on values that have no name.
fn without_marks(text: &str) -> String {
    let parts = text.split(" /* ").map(|part| match part.split_once(" */") {
        Some((comment, rest)) if comment.ends_with("???") => rest.to_owned(),
        Some(_) => format!(" /* {part}"),
        None => part.to_owned(),
    });
    parts.collect()
}
