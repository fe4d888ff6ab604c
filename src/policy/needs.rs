//! What a run needed of the kernel.

use super::landlock::Touched;
use std::collections::{BTreeMap, BTreeSet};
use syscall_model::many::made_as;
use syscall_model::names::{self, Abi};
use syscall_model::{Call, Entry, Observation};

/// `PR_SET_SECCOMP`, include/uapi/linux/prctl.h.
const PR_SET_SECCOMP: u64 = 22;

/// The argument that tells which of many things a call does: its place, and the bits of it that the
/// kernel looks at.
///
/// Commands, families and options are 32 bits wide, and a C library may leave anything above them.
#[must_use]
pub fn told_by(name: &str) -> Option<(u8, u64)> {
    const INT: u64 = 0xffff_ffff;
    match name {
        "ioctl" => Some((1, INT)),
        "socket" | "socketpair" | "prctl" => Some((0, INT)),
        "clone" => Some((0, u64::MAX)),
        _ => None,
    }
}

/// The bits of a word that the kernel looks at, of calls of this name.
pub(super) fn looked_at(name: &str, word: u64) -> u64 {
    told_by(name).map_or(word, |(_, mask)| word & mask)
}

/// The calls of a run, by convention and number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    calls: BTreeMap<(Abi, i32), Words>,
    /// Whether the workload asked for a seccomp filter of its own.
    pub filters: bool,
    /// What it did to files, ports and others; `None` where names were not followed.
    pub touched: Option<Touched>,
}

/// The words by which the calls of one kind differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The values of the argument of [`told_by`], all bits of them.
    pub seen: BTreeSet<u64>,
    /// Whether it was not seen of some call.
    pub unseen: bool,
    /// Whether some call has no entering half, though nothing that the harness did answered it: a
    /// filter refused it.
    pub unentered: bool,
}

impl Needs {
    /// Notes what an observation tells.
    pub fn note(&mut self, observation: &Observation) {
        match observation {
            Observation::Entered {
                abi, number, entry, ..
            } => self.add_call((*abi, *number), entry, true),
            Observation::Call(call) => self.add_call(
                (call.abi, call.number),
                &call.entry,
                is_entered(call) || call.injected.answer.is_some(),
            ),
            _ => {}
        }
    }

    /// A call that stands for another is one more of those by which it was made, as a filter sees
    /// its registers alone.
    fn add_call(&mut self, told: (Abi, i32), entry: &Entry, is_entered: bool) {
        let (abi, number) = made_as(told.0, told.1);
        let args = entry.args().filter(|_| (abi, number) == told);
        let name = names::name_of(abi, number);
        self.filters |= match name {
            Some("seccomp") => true,
            Some("prctl") => args.is_none_or(|args| args[0] & 0xffff_ffff == PR_SET_SECCOMP),
            _ => false,
        };
        let words = self.calls.entry((abi, number)).or_default();
        words.unentered |= !is_entered;
        if let Some((place, _)) = name.and_then(told_by) {
            match args.and_then(|args| args.get(usize::from(place))) {
                Some(word) => {
                    words.seen.insert(*word);
                }
                None => words.unseen = true,
            }
        }
    }

    /// What needs a call of this name, with any arguments; `None` if there is no such call.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let number = i32::try_from(names::number(Abi::native(), name)?).ok()?;
        let words = Words {
            unseen: true,
            ..Words::default()
        };
        Some(Self {
            calls: BTreeMap::from([((Abi::native(), number), words)]),
            filters: false,
            touched: None,
        })
    }

    /// Adds what another run of the same scenario needed.
    pub fn add(&mut self, other: &Self) {
        self.filters |= other.filters;
        match (&mut self.touched, &other.touched) {
            (Some(own), Some(other)) => own.add(other),
            // Of one of them it is not known.
            (own, _) => *own = None,
        }
        for (call, words) in &other.calls {
            let own = self.calls.entry(*call).or_default();
            own.seen.extend(&words.seen);
            own.unseen |= words.unseen;
            own.unentered |= words.unentered;
        }
    }

    /// The calls.
    pub fn calls(&self) -> impl Iterator<Item = (Abi, i32, &Words)> {
        self.calls
            .iter()
            .map(|((abi, number), words)| (*abi, *number, words))
    }
}

/// The workload's own first `execve` has been entered before anything is recorded.
fn is_entered(call: &Call) -> bool {
    !matches!(call.entry, Entry::Missing)
}

#[cfg(test)]
impl Needs {
    /// What a run needed that made these calls, each with this word.
    pub(super) fn of(calls: &[(Abi, &str, Option<u64>)]) -> Self {
        let mut needs = Self::default();
        for (abi, name, word) in calls {
            let number = names::number(*abi, name).expect("a call") as i32;
            let entry = word.map_or(Entry::Uncorking, |word| Entry::Seen {
                time: perf_records::units::Nanos(1),
                args: [word; 6],
            });
            needs.add_call((*abi, number), &entry, true);
        }
        needs
    }
}
