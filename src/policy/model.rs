//! A policy: the calls that it allows, whatever form it is written in.

use super::demand::{Demand, Need};
use super::needs::{looked_at, told_by};
use super::{groups, minijail, oci, systemd};
use perf_live::gate::AllowedCalls;
use std::collections::BTreeSet;
use std::fmt;
use syscall_model::names::{self, Abi};

/// The form of a policy's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The `seccomp` object of a container's `config.json`: crun, runc, Docker, Podman.
    Oci,
    /// Lines of a unit of systemd.
    Systemd,
    /// A policy of minijail.
    Minijail,
}

impl Form {
    /// Whether calls of this name can be told by the word of [`told_by`].
    fn tells(self, name: &str) -> bool {
        match self {
            Self::Oci | Self::Minijail => true,
            Self::Systemd => name == "socket",
        }
    }

    /// The bits of an argument that a rule asks for, of those that the kernel looks at.
    fn mask(self, looked_at: u64) -> u64 {
        match self {
            Self::Oci | Self::Systemd => looked_at,
            // It compares whole words.
            Self::Minijail => u64::MAX,
        }
    }

    /// Whether the file has comments, which say who needs each rule.
    #[must_use]
    pub fn has_comments(self) -> bool {
        self != Self::Oci
    }

    /// What is allowed beside the rules.
    fn implied(self) -> impl Iterator<Item = &'static str> {
        let group = groups::calls(groups::DEFAULT).filter(|_| self == Self::Systemd);
        group.into_iter().flatten().copied()
    }
}

/// A place in a file, both from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// What is not understood of a file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Complaint {
    /// Where.
    pub place: Place,
    /// What.
    pub message: String,
}

impl Complaint {
    pub(super) fn new(place: Place, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { place, message }
    }
}

/// What the argument of a call must be: these bits of it this value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Test {
    /// Which argument, from 0.
    pub index: u8,
    /// The bits.
    pub mask: u64,
    /// The value.
    pub value: u64,
}

/// A call that is allowed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// With which argument; `None` with any.
    pub test: Option<Test>,
    /// Where the file says so.
    pub place: Place,
}

/// A policy: what no rule allows is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The form that it was read from, or is to be written in.
    pub form: Form,
    /// The conventions whose calls it allows.
    pub abis: BTreeSet<Abi>,
    /// What it allows, sorted by name.
    pub rules: Vec<Rule>,
    /// The error of a call that it refuses.
    pub errno: u16,
    /// Where the file says what becomes of all other calls.
    pub otherwise: Place,
}

/// What a policy says of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'p> {
    /// It is allowed.
    Allowed,
    /// No rule allows it. The rules of its name, if there are any, ask for another argument.
    Refused(&'p [Rule]),
    /// These rules allow it with some arguments, and which it had is not known.
    Unknown(&'p [Rule]),
}

impl Policy {
    /// The policy that allows what is needed and nothing else. Without `by_word`, calls are told by
    /// their names alone.
    #[must_use]
    pub fn of(demand: &Demand, form: Form, by_word: bool) -> Self {
        let tells = demand.needs(&|name| by_word && form.tells(name));
        // A family without a name in the unit's words cannot be allowed alone.
        let is_unsaid = |need: &Need| {
            let family = need.word.filter(|_| form == Form::Systemd);
            let family = family.map(|word| looked_at(need.name, word));
            family.is_some_and(|family| systemd::family(family).is_none())
        };
        let is_unsaid = tells.keys().any(is_unsaid);
        let rules = demand.needs(&|name| by_word && form.tells(name) && !is_unsaid);
        let test = |(word, (index, looked_at)): (u64, (u8, u64))| {
            let mask = form.mask(looked_at);
            let value = word & mask;
            Test { index, mask, value }
        };
        let rules = rules.into_keys().map(|need| Rule {
            test: need.word.zip(told_by(need.name)).map(test),
            name: need.name.to_owned(),
            place: Place::default(),
        });
        // Words that differ where nothing looks are one rule.
        let rules: BTreeSet<Rule> = rules.collect();
        Self {
            form,
            abis: demand.abis(),
            rules: rules.into_iter().collect(),
            errno: libc::EPERM as u16,
            otherwise: Place::default(),
        }
    }

    /// What is needed and its form has no words for, a line each.
    #[must_use]
    pub fn unsaid(&self, demand: &Demand) -> Vec<String> {
        let foreign = match self.form {
            Form::Minijail => demand.foreign(),
            Form::Oci | Form::Systemd => Vec::new(),
        };
        let lines = foreign.into_iter();
        lines
            .map(|line| format!("{line}, which a policy of minijail kills"))
            .collect()
    }

    /// Reads a policy's file.
    ///
    /// # Errors
    /// The first thing that is not understood: a policy that is understood in part would allow or
    /// refuse something else than its file says.
    pub fn read(text: &str) -> Result<Self, Complaint> {
        let mut lines = text.lines().map(str::trim);
        let first = lines.find(|line| !line.is_empty() && !line.starts_with(['#', ';']));
        let mut policy = match first.unwrap_or_default() {
            line if line.starts_with('{') => oci::read(text)?,
            line if line.starts_with('[') || !line.contains(':') => systemd::read(text)?,
            line if line
                .split_once(':')
                .is_some_and(|(name, _)| name.contains('=')) =>
            {
                systemd::read(text)?
            }
            _ => minijail::read(text)?,
        };
        policy.rules.sort();
        let rules = policy.rules.iter();
        let foreign = rules
            .filter_map(|rule| {
                let test = rule.test?;
                let known = told_by(&rule.name);
                let is_told = known.is_some_and(|(index, mask)| {
                    test.index == index && test.mask & mask == mask && test.value & !test.mask == 0
                });
                (!is_told).then_some(rule)
            })
            .next();
        match foreign {
            None => Ok(policy),
            Some(rule) => Err(Complaint::new(
                rule.place,
                match told_by(&rule.name) {
                    Some((index, _)) => format!(
                        "of `{}` only rules are understood that ask for one value of the argument {index}, all its bits",
                        rule.name
                    ),
                    None => format!("no argument of `{}` is understood in rules", rule.name),
                },
            )),
        }
    }

    /// What it says of a call, whose word of [`told_by`] is this, if that is known.
    #[must_use]
    pub fn answer(&self, abi: Abi, name: Option<&str>, word: Option<u64>) -> Answer<'_> {
        let name = name.filter(|_| self.abis.contains(&abi));
        let Some(name) = name else {
            return Answer::Refused(&[]);
        };
        if self.form.implied().any(|implied| implied == name) {
            return Answer::Allowed;
        }
        let start = self.rules.partition_point(|rule| *rule.name < *name);
        let rules = self.rules.get(start..).unwrap_or_default();
        let rules = &rules[..rules.partition_point(|rule| rule.name == name)];
        let mut unknown = false;
        for rule in rules {
            match (rule.test, word) {
                (None, _) => return Answer::Allowed,
                (Some(test), Some(word)) if word & test.mask == test.value => {
                    return Answer::Allowed;
                }
                (Some(_), Some(_)) => {}
                (Some(_), None) => unknown = true,
            }
        }
        match unknown {
            true => Answer::Unknown(rules),
            false => Answer::Refused(rules),
        }
    }

    /// The calls that a filter of the kernel lets pass for it.
    #[must_use]
    pub fn allowed(&self) -> AllowedCalls {
        let mut allowed = AllowedCalls::default();
        for (abi, rule) in self
            .abis
            .iter()
            .flat_map(|abi| self.rules.iter().map(|rule| (*abi, rule)))
        {
            // A name that a convention lacks stands for no call of it.
            if let Some(number) = names::number(abi, &rule.name) {
                let test = rule.test.map(|test| (test.index, test.mask, test.value));
                allowed.allow(abi, number, test);
            }
        }
        for abi in &self.abis {
            let numbers = self.form.implied();
            for number in numbers.filter_map(|name| names::number(*abi, name)) {
                allowed.allow(*abi, number, None);
            }
        }
        allowed
    }

    /// The file, made of what is needed.
    #[must_use]
    pub fn text(&self, demand: &Demand) -> String {
        match self.form {
            Form::Oci => oci::write(self),
            Form::Systemd => systemd::write(self, demand),
            Form::Minijail => minijail::write(self, demand),
        }
    }
}
