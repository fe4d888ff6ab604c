//! A policy of minijail (`minijail0(5)`), as its own library and compiler read it.

use super::demand::Demand;
use super::model::{Complaint, Form, Place, Policy, Rule, Test};
use super::needs::told_by;
use super::why::Reasons;
use std::collections::BTreeSet;
use syscall_model::names::Abi;

pub(super) fn write(policy: &Policy, demand: &Demand) -> String {
    let mut text = "# Made by `harness policy`, for `minijail0 -S FILE`.\n".to_owned();
    let reasons = Reasons::of(demand);
    // A name may stand there once: what is allowed of it is a line.
    for rules in policy.rules.chunk_by(|one, other| one.name == other.name) {
        let mut tests = Vec::new();
        for rule in rules {
            match rule.test {
                Some(Test { index, value, .. }) => {
                    text += &reasons.who(rule).lines(&format!("# {value:#x}: "));
                    tests.push(format!("arg{index} == {value:#x}"));
                }
                None => text += &reasons.who(rule).lines("# "),
            }
        }
        let allowed = match tests.is_empty() {
            true => "1".to_owned(),
            false => tests.join(" || "),
        };
        let name = rules.first().map_or("", |rule| &rule.name);
        text += &format!("{name}: {allowed}\n");
    }
    text
}

pub(super) fn read(text: &str) -> Result<Policy, Complaint> {
    let mut policy = Policy {
        form: Form::Minijail,
        // A filter of minijail kills what is of another architecture.
        abis: BTreeSet::from([Abi::native()]),
        rules: Vec::new(),
        errno: libc::EPERM as u16,
        otherwise: Place { line: 1, column: 1 },
    };
    let mut names = BTreeSet::new();
    for (line, text) in (1..).zip(text.lines()) {
        let at = |rest: &str| Place {
            line,
            column: text[..text.len() - rest.len()].chars().count() + 1,
        };
        let rest = text.trim_start_matches([' ', '\t']);
        if rest.is_empty() || rest.starts_with('#') {
            continue;
        }
        let Some((name, tests)) = rest.split_once(':') else {
            let message = "`NAME: 1` and `NAME: argN == NUMBER || ...` are understood";
            return Err(Complaint::new(at(rest), message));
        };
        let name = name.trim_end_matches([' ', '\t']);
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if !name.starts_with(|first: char| first.is_ascii_alphabetic())
            || !name.chars().all(is_of_name)
        {
            let message = format!("`{name}` is not understood: names of calls are");
            return Err(Complaint::new(at(rest), message));
        }
        if !names.insert(name) {
            let message = format!("`{name}` stands there twice, which minijail refuses");
            return Err(Complaint::new(at(rest), message));
        }
        let mut add = |test, place| {
            policy.rules.push(Rule {
                name: name.to_owned(),
                test,
                place,
            });
        };
        let tests = tests.trim_matches([' ', '\t']);
        if tests == "1" {
            add(None, at(rest));
            continue;
        }
        for test in tests.split("||") {
            let test = test.trim_matches([' ', '\t']);
            let unknown = || {
                let message = format!(
                    "`{test}` is not understood: `1` is, and `argN == NUMBER` of the argument that \
                     tells calls of `{name}` apart"
                );
                Complaint::new(at(rest), message)
            };
            add(Some(argument(name, test).ok_or_else(unknown)?), at(rest));
        }
    }
    Ok(policy)
}

/// `arg1 == 0x5401`.
fn argument(name: &str, text: &str) -> Option<Test> {
    let (index, _) = told_by(name)?;
    let words: Vec<&str> = text
        .split([' ', '\t'])
        .filter(|it| !it.is_empty())
        .collect();
    let &[argument, "==", number] = words.as_slice() else {
        return None;
    };
    let value = match number.strip_prefix("0x") {
        _ if !number.chars().all(|letter| letter.is_ascii_alphanumeric()) => None,
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        // What begins with 0 is octal there.
        None if number != "0" && number.starts_with('0') => None,
        None => number.parse().ok(),
    };
    (argument == format!("arg{index}")).then_some(Test {
        index,
        mask: u64::MAX,
        value: value?,
    })
}
