//! strace as the witness of values: every call that this machine has, each argument with every
//! single bit, with none, with all and with those at the borders of the widths that the kernel
//! takes. What the library writes must be the value that the kernel takes, under no name that
//! strace gives to another.
//!
//! A filter refuses all these calls, as for [`strace_words`](super::strace_words).

mod compare;
mod reasons;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use syscall_model::kinds::ArgKind;
use syscall_model::names::{self, Abi};
use syscall_model::{Shown, Signature, write_argument};

pub(super) use self::compare::arguments;
use self::compare::{Declared, Finding, Witness, compare};
use super::strace_words::{Words, call, number, signatures, strace, strace_6_1, x86_64};
use super::support::require::{self, require};

/// None, all, every single bit, and the borders of 8, 16, 31, 32 and 64 bits.
fn swept() -> BTreeSet<u64> {
    let borders = [
        0,
        2,
        3,
        0xff,
        0xffff,
        0x7fff_ffff,
        0xffff_ffff,
        0x1_0000_0001,
        0x1_0000_0004,
        0x7fff_ffff_ffff_ffff,
        0xffff_ffff_0000_0000,
        0xffff_ffff_8000_0000,
        0xffff_ffff_ffff_ff9c,
        u64::MAX,
    ];
    let bits = (0..64).map(|bit| 1 << bit);
    bits.chain(borders).collect()
}

/// Of a call with these words every argument with every value; where a name of a command changes
/// what other arguments are, those with that command too.
fn sweep(
    signature: &Signature,
    name: &'static str,
    (base, settled): ([u64; 6], &[usize]),
    values: &BTreeSet<u64>,
    found: &mut BTreeSet<Words>,
) {
    let meanings = signature.meanings(&base);
    for (place, kind) in meanings.shown() {
        if settled.contains(&place) {
            continue;
        }
        let with = |value: u64| {
            let mut words = base;
            words[place] = value;
            words
        };
        found.extend(values.iter().map(|value| (name, with(*value))));
        let ArgKind::Constants(set) = kind else {
            continue;
        };
        let mut commands: Vec<u64> = set.names().map(|(_, value)| value).collect();
        if set.name == "ioctl_commands" {
            let requests = syscall_model::constants::tables::IOCTL_NAMES.names();
            commands.extend(requests.map(|(_, value)| value));
        }
        for command in commands {
            let words = with(command);
            if signature.meanings(&words) != meanings {
                let settled = [settled, &[place]].concat();
                sweep(signature, name, (words, &settled), values, found);
            } else {
                found.insert((name, words));
            }
        }
    }
}

/// What the library writes of each argument of a call.
fn ours(signature: &Signature, name: &str, words: [u64; 6]) -> Vec<(usize, ArgKind, String)> {
    let call = call(name, words);
    let meanings = signature.meanings(&words);
    let shown = meanings.shown().map(|(place, kind)| {
        let mut out = String::new();
        write_argument(&mut out, &call, place, kind, &mut Shown);
        // Of memory that is not there strace shows the address.
        let address = format!("{:#x}", words[place]);
        (place, kind, out.replace(syscall_model::UNREAD, &address))
    });
    shown.collect()
}

#[test]
fn no_value_is_another_than_strace_shows() {
    require!(require::strace());
    require!(strace_6_1());
    require!(x86_64());
    let signatures = signatures();
    let values = swept();
    let mut calls = BTreeSet::new();
    let mut texts = Vec::new();
    let known = names::all(Abi::native()).filter(|(_, name)| *name != "exit_group");
    for (_, name) in known {
        let number = number(name).expect("a call of this machine");
        signatures.with(Abi::native(), number, |signature| {
            if signature
                .arguments
                .first()
                .is_some_and(|first| *first.name != *"arg0")
            {
                sweep(signature, name, ([0; 6], &[]), &values, &mut calls);
            }
        });
    }
    for (name, words) in &calls {
        let number = number(name).expect("a call of this machine");
        signatures.with(Abi::native(), number, |signature| {
            texts.push(ours(signature, name, *words));
        });
    }
    let witness = Witness::new(&fs::read(require::program("strace").expect("strace")).expect("it"));
    let declared = Declared::read();
    let theirs = strace(&calls);
    let mut count: BTreeMap<Finding, u64> = BTreeMap::new();
    let mut examples: BTreeMap<(Finding, String), BTreeSet<String>> = BTreeMap::new();
    for (((name, words), ours), theirs) in calls.iter().zip(&texts).zip(&theirs) {
        for difference in compare((name, words), ours, theirs, &witness, &declared) {
            *count.entry(difference.finding).or_default() += 1;
            if difference.finding > Finding::Same {
                let key = (difference.finding, difference.place);
                examples.entry(key).or_default().insert(difference.text);
            }
        }
    }
    let mut report = format!("{} calls: {count:?}\n", calls.len());
    for ((finding, place), texts) in &examples {
        let first: Vec<&str> = texts.iter().map(String::as_str).take(3).collect();
        let line = format!(
            "{finding:?} {} x {place}: {}\n",
            texts.len(),
            first.join("; ")
        );
        report.push_str(&line);
    }
    // All that differs, for a person who mends it.
    if let Ok(file) = std::env::var("HARNESS_SWEEP_REPORT") {
        fs::write(file, &report).expect("a report");
    }
    println!("{report}");
    let wrong = report.lines();
    let wrong = wrong.filter(|line| line.starts_with("Wrong") || line.starts_with("OtherName"));
    let wrong: Vec<&str> = wrong.take(40).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(calls.len() > 150_000, "{}", calls.len());
}
