//! strace as the witness of structures: every structure that calls are given, with every single
//! bit of it, with none and with all, at the end of a page, behind which it may go on.
//!
//! As for [`strace_words`](super::strace_words) a filter refuses all these calls, so that strace
//! and the library see what the program gives, and nothing else.

mod cases;
mod differences;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use syscall_model::kinds::ArgKind;
use syscall_model::memory::{Extent, Fetch, Memory, Moment, Piece, State};
use syscall_model::names::Abi;
use syscall_model::{Outcome, Shown, Signature, pointers, write_argument};

use self::cases::{CASES, Case, contents};
use super::strace_sweep::arguments;
use super::strace_words::{call, number, signatures, strace_6_1, strace_lines, x86_64};
use super::support::require::{self, require};

/// The first page of memory that is there, and where it ends.
const PAGE: u64 = 0x1000_0000;
const END: u64 = PAGE + 4096;

/// A call with what stands in memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Given {
    name: &'static str,
    words: [u64; 6],
    /// The bytes before the end of the page.
    bytes: Vec<u8>,
}

impl Given {
    fn line(&self) -> String {
        let number = number(self.name).expect("a call of this machine");
        let words = self.words.map(|word| word.to_string()).join(" ");
        let mut line = format!("{number} {words} @{}=", END - self.bytes.len() as u64);
        for byte in &self.bytes {
            write!(line, "{byte:02x}").expect("a String takes everything");
        }
        line
    }

    /// What a reader finds for this.
    fn piece(&self, fetch: &Fetch) -> Option<Piece> {
        let address = self.words[usize::from(fetch.argument)];
        let wanted = match fetch.extent {
            Extent::Fixed(size) => u64::from(size),
            Extent::Counted { count, unit } => {
                self.words[usize::from(count)].min(1 << 20) * u64::from(unit)
            }
            _ => return None,
        };
        let limit = u64::from(fetch.limit);
        let start = (END - self.bytes.len() as u64..END).contains(&address);
        let start = start.then(|| (address + self.bytes.len() as u64 - END) as usize);
        let rest = start.map_or(&[][..], |start| &self.bytes[start..]);
        let length = wanted.min(limit) as usize;
        let state = match rest.len() {
            0 => State::Unread,
            there if there < length => State::Part,
            _ if wanted > limit => State::Cut,
            _ => State::Whole,
        };
        (address != 0).then(|| Piece {
            argument: fetch.argument,
            element: 0,
            moment: Moment::Enter,
            address,
            state,
            bytes: rest[..length.min(rest.len())].into(),
        })
    }

    fn text(&self, signature: &Signature, place: usize) -> String {
        let fetches = pointers::fetches_of(self.name, 0);
        let fetches = fetches.iter().filter(|fetch| fetch.moment == Moment::Enter);
        let mut call = call(self.name, self.words);
        call.memory = Memory::new(fetches.filter_map(|fetch| self.piece(fetch)).collect());
        call.outcome = Outcome::Returned {
            time: perf_records::units::Nanos(0),
            value: -i64::from(libc::EPERM),
        };
        let kind = signature.meanings(&self.words).arguments[place];
        assert!(matches!(kind, ArgKind::Struct(_)), "{self:?} {place}");
        let mut out = String::new();
        write_argument(&mut out, &call, place, kind, &mut Shown);
        out
    }
}

fn given(case: &Case) -> BTreeSet<(Given, usize)> {
    let mut all = BTreeSet::new();
    for bytes in contents(case) {
        for (length, word) in case.lengths(bytes.len()) {
            let mut words = case.words;
            words[case.place] = END - bytes.len() as u64;
            if let (Some(at), Some(word)) = (case.length_at, word) {
                words[at] = word;
            }
            let bytes = bytes[..length].to_vec();
            words[case.place] = END - bytes.len() as u64;
            let name = case.call;
            all.insert((Given { name, words, bytes }, case.place));
        }
    }
    all
}

#[test]
fn every_bit_of_a_structure_is_shown_as_strace_shows_it() {
    require!(require::strace());
    require!(strace_6_1());
    require!(x86_64());
    let signatures = signatures();
    let all: Vec<(Given, usize)> = CASES.iter().flat_map(given).collect();
    let lines: Vec<String> = all.iter().map(|(given, _)| given.line()).collect();
    let theirs = strace_lines(&lines);
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut equal = 0;
    for ((given, place), theirs) in all.iter().zip(&theirs) {
        let number = number(given.name).expect("a call of this machine");
        let ours = signatures.with(Abi::native(), number, |signature| {
            given.text(signature, *place)
        });
        let whole = theirs;
        let theirs = arguments(theirs).get(*place).copied().unwrap_or_default();
        if differences::is_same(given.name, &ours, theirs) {
            equal += 1;
        } else {
            let key = format!("{} {place}", given.name);
            let text = format!("ours   {ours}\nstrace {theirs}\n       {whole}\n");
            wrong.entry(key).or_default().push(text);
        }
    }
    let mut report = format!("{equal} of {} are equal\n", all.len());
    for (place, texts) in &wrong {
        let some: Vec<&str> = texts
            .iter()
            .step_by(texts.len().div_ceil(6))
            .map(String::as_str)
            .collect();
        report.push_str(&format!("{place}: {}\n{}", texts.len(), some.concat()));
    }
    if let Ok(file) = std::env::var("HARNESS_SWEEP_REPORT") {
        std::fs::write(file, &report).expect("a report");
    }
    assert!(
        wrong.is_empty(),
        "{}",
        report.chars().take(20_000).collect::<String>()
    );
    assert!(equal > 30_000, "{equal}");
}
