//! The lines of a unit's `[Service]` section by which systemd makes a filter (`systemd.exec(5)`).

use super::demand::Demand;
use super::model::{Complaint, Form, Place, Policy, Rule, Test};
use super::needs::told_by;
use super::why::{who, wrapped};
use std::collections::{BTreeMap, BTreeSet};
use syscall_model::constants::tables::ADDRESS_FAMILIES;
use syscall_model::errno::errno_name;
use syscall_model::names::Abi;

/// The group `@default`, which systemd adds to each list of what is allowed: of systemd 252
/// (Debian's 252.38-1), `systemd-analyze syscall-filter @default`.
pub(super) const DEFAULT: &[&str] = &[
    "arch_prctl",
    "brk",
    "cacheflush",
    "clock_getres",
    "clock_getres_time64",
    "clock_gettime",
    "clock_gettime64",
    "clock_nanosleep",
    "clock_nanosleep_time64",
    "execve",
    "exit",
    "exit_group",
    "futex",
    "futex_time64",
    "futex_waitv",
    "get_robust_list",
    "get_thread_area",
    "getegid",
    "getegid32",
    "geteuid",
    "geteuid32",
    "getgid",
    "getgid32",
    "getgroups",
    "getgroups32",
    "getpgid",
    "getpgrp",
    "getpid",
    "getppid",
    "getrandom",
    "getresgid",
    "getresgid32",
    "getresuid",
    "getresuid32",
    "getrlimit",
    "getsid",
    "gettid",
    "gettimeofday",
    "getuid",
    "getuid32",
    "membarrier",
    "mmap",
    "mmap2",
    "mprotect",
    "munmap",
    "nanosleep",
    "pause",
    "prlimit64",
    "restart_syscall",
    "riscv_flush_icache",
    "riscv_hwprobe",
    "rseq",
    "rt_sigreturn",
    "sched_getaffinity",
    "sched_yield",
    "set_robust_list",
    "set_thread_area",
    "set_tid_address",
    "set_tls",
    "sigreturn",
    "time",
    "ugetrlimit",
    "uretprobe",
];

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
    let needs = demand.needs(&|_| true);
    let comment = |text: &mut String, rule: &Rule| {
        for line in wrapped(&who(rule, &needs), "# ") {
            text.push_str(&line);
            text.push('\n');
        }
    };
    let mut before = "";
    for rule in &policy.rules {
        // Rules that differ in the argument alone are one here; of `socket` it follows below.
        if rule.name != before {
            let whole = Rule {
                test: None,
                ..rule.clone()
            };
            comment(&mut text, &whole);
            text += &format!("{FILTER}={}\n", rule.name);
        }
        before = &rule.name;
    }
    for rule in &policy.rules {
        if let Some(Test { value, .. }) = rule.test {
            comment(&mut text, rule);
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
    let mut reading = Reading::default();
    for (line, text) in (1..).zip(text.lines()) {
        reading.line(line, text)?;
    }
    reading.policy()
}

/// What the lines until now said.
#[derive(Default)]
struct Reading {
    section: String,
    abis: BTreeSet<Abi>,
    rules: Vec<Rule>,
    errno: Option<u16>,
    families: Option<BTreeMap<u64, Place>>,
    /// The first line with calls.
    filter: Option<Place>,
}

impl Reading {
    fn line(&mut self, line: usize, text: &str) -> Result<(), Complaint> {
        let at = |column: usize| Place { line, column };
        let start = text.len() - text.trim_start().len() + 1;
        let trimmed = text.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            return Ok(());
        }
        if trimmed.ends_with('\\') {
            let message = "lines that go on in the next one are not understood";
            return Err(Complaint::new(at(text.chars().count()), message));
        }
        if trimmed.starts_with('[') {
            trimmed.clone_into(&mut self.section);
            if trimmed != "[Service]" {
                let message = format!("the section `{trimmed}` is not understood");
                return Err(Complaint::new(at(start), message));
            }
            return Ok(());
        }
        let Some((key, value)) = trimmed.split_once('=') else {
            return Err(Complaint::new(at(start), "`=` is missing"));
        };
        if self.section.is_empty() {
            return Err(Complaint::new(at(start), "`[Service]` is missing above"));
        }
        let words = words(value, start + key.len() + 1);
        if words.is_empty() {
            let message = format!(
                "`{key}` without a word takes back what stands above, which is not understood"
            );
            return Err(Complaint::new(at(start), message));
        }
        if key.trim() == FILTER {
            self.filter.get_or_insert(at(start));
        }
        for (word, column) in words {
            let said = self.word(key.trim(), word, at(column));
            said.map_err(|message| match message {
                Some(message) => Complaint::new(at(column), message),
                None => Complaint::new(at(start), format!("`{}` is not understood", key.trim())),
            })?;
        }
        Ok(())
    }

    /// Takes one word of a key, or says what is wrong with it; nothing if it is the key.
    fn word(&mut self, key: &str, word: &str, place: Place) -> Result<(), Option<String>> {
        match key {
            FILTER => {
                let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                if !word.chars().all(is_name) {
                    return Err(Some(format!(
                        "`{word}` is not understood: names of calls are"
                    )));
                }
                self.rules.push(Rule {
                    name: word.to_owned(),
                    test: None,
                    place,
                });
            }
            ARCHITECTURE => {
                let known = ARCHITECTURES.iter().find(|(_, name)| *name == word);
                let abi = match word {
                    "native" => Some(Abi::native()),
                    _ => known.map(|(abi, _)| *abi),
                };
                let unknown = || Some(format!("`{word}` is not understood"));
                self.abis.insert(abi.ok_or_else(unknown)?);
            }
            ERROR => {
                let mut all = 1..=4095_u16;
                let named = all.find(|errno| errno_name(i32::from(*errno)) == Some(word));
                let number = || word.parse().ok().filter(|errno| (1..=4095).contains(errno));
                let unknown = || Some(format!("`{word}` is no error"));
                self.errno = Some(named.or_else(number).ok_or_else(unknown)?);
            }
            FAMILIES => {
                let all = self.families.get_or_insert_default();
                let known = ADDRESS_FAMILIES.names().find(|(name, _)| *name == word);
                match (known, word) {
                    (Some((_, value)), _) => drop(all.insert(value, place)),
                    (None, "none") => {}
                    (None, _) => {
                        return Err(Some(format!(
                            "`{word}` is not understood: names of address families are"
                        )));
                    }
                }
            }
            _ => return Err(None),
        }
        Ok(())
    }

    /// The policy, when all is read.
    fn policy(self) -> Result<Policy, Complaint> {
        let Self {
            mut abis,
            mut rules,
            errno,
            families,
            filter,
            ..
        } = self;
        let Some(otherwise) = filter else {
            let message = format!("it is neither JSON nor has it a line `{FILTER}=`");
            return Err(Complaint::new(Place { line: 1, column: 1 }, message));
        };
        if abis.is_empty() {
            // All that this machine has.
            let native = Abi::native();
            abis.extend([Some(native), native.compat()].into_iter().flatten());
            abis.extend((native == Abi::X86_64).then_some(Abi::X32));
        }
        if let (Some(families), Some((index, mask))) = (families, told_by("socket"))
            && rules.iter().any(|rule| rule.name == "socket")
        {
            rules.retain(|rule| rule.name != "socket");
            rules.extend(families.into_iter().map(|(value, place)| Rule {
                name: "socket".to_owned(),
                test: Some(Test { index, mask, value }),
                place,
            }));
        }
        Ok(Policy {
            form: Form::Systemd,
            abis,
            rules,
            errno: errno.unwrap_or(libc::EPERM as u16),
            otherwise,
        })
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
