//! The lines of a unit's `[Service]` section by which systemd makes a filter (`systemd.exec(5)`).

use super::demand::Demand;
use super::groups;
use super::model::{Complaint, Form, Place, Policy, Rule, Test};
use super::needs::told_by;
use super::why::Reasons;
use std::collections::{BTreeMap, BTreeSet};
use syscall_model::constants::tables::ADDRESS_FAMILIES;
use syscall_model::errno::errno_name;
use syscall_model::names::Abi;

/// Its names of conventions.
const ARCHITECTURES: [(Abi, &str); 5] = [
    (Abi::X86_64, "x86-64"),
    (Abi::I386, "x86"),
    (Abi::X32, "x32"),
    (Abi::Aarch64, "arm64"),
    (Abi::Arm, "arm"),
];

const FILTER: &str = "SystemCallFilter";
const ARCHITECTURE: &str = "SystemCallArchitectures";
const ERROR: &str = "SystemCallErrorNumber";
const FAMILIES: &str = "RestrictAddressFamilies";

pub(super) fn write(policy: &Policy, demand: &Demand) -> String {
    let mut text =
        "# Made by `harness policy`. For a file NAME.service.d/NAME.conf.\n[Service]\n".to_owned();
    let of = |abi: &Abi| {
        let mut known = ARCHITECTURES.iter();
        known.find(|(known, _)| known == abi).map(|(_, name)| *name)
    };
    let architectures: Vec<&str> = policy.abis.iter().filter_map(of).collect();
    text += &format!("{ARCHITECTURE}={}\n", architectures.join(" "));
    let error = errno_name(policy.errno.into()).unwrap_or("EPERM");
    text += &format!("{ERROR}={error}\n");
    let reasons = Reasons::of(demand);
    let names: BTreeSet<&str> = policy.rules.iter().map(|rule| &*rule.name).collect();
    let groups = groups::fitting(&policy.abis, &names);
    let whole = |name: &str| Rule {
        name: name.to_owned(),
        test: None,
        place: Place::default(),
    };
    for (group, calls) in &groups {
        for call in calls {
            text += &reasons.who(&whole(call)).lines(&format!("# {call}: "));
        }
        text += &format!("# All calls of the group, in {}.\n", groups::version());
        text += &format!("{FILTER}={group}\n");
    }
    let in_a_group = |name: &str| groups.values().any(|calls| calls.contains(name));
    // Rules that differ in the argument alone are one here; of `socket` it follows below.
    for name in names.into_iter().filter(|name| !in_a_group(name)) {
        text += &reasons.who(&whole(name)).lines("# ");
        text += &format!("{FILTER}={name}\n");
    }
    for rule in &policy.rules {
        if let Some(Test { value, .. }) = rule.test {
            text += &reasons.who(rule).lines("# ");
            text += &format!("{FAMILIES}={}\n", family(value).unwrap_or_default());
        }
    }
    text
}

/// The name of an address family; `None` where systemd could not say it.
pub(super) fn family(value: u64) -> Option<&'static str> {
    let mut names = ADDRESS_FAMILIES.names();
    names
        .find(|(name, known)| *known == value && *name != "AF_UNSPEC")
        .map(|(name, _)| name)
}

pub(super) fn read(text: &str) -> Result<Policy, Complaint> {
    let mut unit = Unit {
        policy: Policy {
            form: Form::Systemd,
            abis: BTreeSet::new(),
            rules: Vec::new(),
            errno: libc::EPERM as u16,
            otherwise: Place { line: 1, column: 1 },
        },
        grouped: Vec::new(),
        families: None,
        has_filter: false,
    };
    let mut section = String::new();
    for (line, text) in (1..).zip(text.lines()) {
        let at = |column: usize| Place { line, column };
        let start = text.len() - text.trim_start().len() + 1;
        let trimmed = text.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if trimmed.ends_with('\\') {
            let message = "lines that go on in the next one are not understood";
            return Err(Complaint::new(at(text.chars().count()), message));
        }
        if trimmed.starts_with('[') {
            section = trimmed.to_owned();
            if section != "[Service]" {
                let message = format!("the section `{section}` is not understood");
                return Err(Complaint::new(at(start), message));
            }
            continue;
        }
        let Some((key, value)) = trimmed.split_once('=') else {
            return Err(Complaint::new(at(start), "`=` is missing"));
        };
        if section.is_empty() {
            return Err(Complaint::new(at(start), "`[Service]` is missing above"));
        }
        let words = words(value, start + key.len() + 1);
        if words.is_empty() {
            let message = format!(
                "`{key}` without a word takes back what stands above, which is not understood"
            );
            return Err(Complaint::new(at(start), message));
        }
        unit.take((key.trim(), at(start)), &words, line)?;
    }
    unit.policy()
}

/// What was read of a unit so far.
struct Unit {
    policy: Policy,
    /// The rules of groups, of any architecture.
    grouped: Vec<Rule>,
    families: Option<BTreeMap<u64, Place>>,
    has_filter: bool,
}

impl Unit {
    /// Takes a line: its key and where that is, and its words with their columns.
    fn take(
        &mut self,
        (key, start): (&str, Place),
        words: &[(&str, usize)],
        line: usize,
    ) -> Result<(), Complaint> {
        let at = |column: usize| Place { line, column };
        match key {
            FILTER => {
                if !self.has_filter {
                    self.policy.otherwise = start;
                }
                self.has_filter = true;
                for &(word, column) in words {
                    let rule = |name: &str| Rule {
                        name: name.to_owned(),
                        test: None,
                        place: at(column),
                    };
                    if let Some(calls) = groups::calls(word) {
                        self.grouped.extend(calls.iter().map(|call| rule(call)));
                        continue;
                    }
                    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                    if !word.chars().all(is_name) {
                        let message = format!(
                            "`{word}` is not understood: names of calls are, and groups of {}",
                            groups::version()
                        );
                        return Err(Complaint::new(at(column), message));
                    }
                    self.policy.rules.push(rule(word));
                }
            }
            ARCHITECTURE => {
                for &(word, column) in words {
                    let known = ARCHITECTURES.iter().find(|(_, name)| *name == word);
                    let abi = match word {
                        "native" => Abi::native(),
                        _ => {
                            known
                                .ok_or_else(|| {
                                    let message = format!("`{word}` is not understood");
                                    Complaint::new(at(column), message)
                                })?
                                .0
                        }
                    };
                    self.policy.abis.insert(abi);
                }
            }
            ERROR => {
                let &[(word, column)] = words else {
                    return Err(Complaint::new(start, format!("`{ERROR}` is one error")));
                };
                let errno = (1..=4095).find(|errno| errno_name(*errno) == Some(word));
                let errno =
                    errno.or_else(|| word.parse().ok().filter(|errno| (1..=4095).contains(errno)));
                let unknown = || Complaint::new(at(column), format!("`{word}` is no error"));
                self.policy.errno = errno.ok_or_else(unknown)? as u16;
            }
            // It takes back what stands above: `config_parse_address_families()` of systemd 252.
            FAMILIES if matches!(words, [("none", _)]) => self.families = Some(BTreeMap::new()),
            FAMILIES => {
                let all = self.families.get_or_insert_default();
                for &(word, column) in words {
                    let known = ADDRESS_FAMILIES.names().find(|(name, _)| *name == word);
                    let Some((_, value)) = known else {
                        let message =
                            format!("`{word}` is not understood: names of address families are");
                        return Err(Complaint::new(at(column), message));
                    };
                    all.insert(value, at(column));
                }
            }
            key => {
                let message = format!("`{key}` is not understood");
                return Err(Complaint::new(start, message));
            }
        }
        Ok(())
    }

    /// The policy that the lines make.
    fn policy(self) -> Result<Policy, Complaint> {
        let Self {
            mut policy,
            grouped,
            families,
            has_filter,
        } = self;
        if !has_filter {
            let message = format!("it is neither JSON nor has it a line `{FILTER}=`");
            return Err(Complaint::new(Place { line: 1, column: 1 }, message));
        }
        if policy.abis.is_empty() {
            // All that this machine has.
            let native = Abi::native();
            policy
                .abis
                .extend([Some(native), native.compat()].into_iter().flatten());
            policy
                .abis
                .extend((native == Abi::X86_64).then_some(Abi::X32));
        }
        let grouped = grouped.into_iter();
        let of = grouped.filter(|rule| groups::is_of(&policy.abis, &rule.name));
        policy.rules.extend(of.collect::<Vec<_>>());
        if let (Some(families), Some((index, mask))) = (families, told_by("socket"))
            && policy.rules.iter().any(|rule| rule.name == "socket")
        {
            policy.rules.retain(|rule| rule.name != "socket");
            policy
                .rules
                .extend(families.into_iter().map(|(value, place)| Rule {
                    name: "socket".to_owned(),
                    test: Some(Test { index, mask, value }),
                    place,
                }));
        }
        Ok(policy)
    }
}

/// The words of a value, each with its column, from that of the value.
fn words(value: &str, column: usize) -> Vec<(&str, usize)> {
    let mut words = Vec::new();
    let mut at = 0;
    for word in value.split([' ', '\t']) {
        if !word.is_empty() {
            words.push((word, column + at));
        }
        at += word.len() + 1;
    }
    words
}
