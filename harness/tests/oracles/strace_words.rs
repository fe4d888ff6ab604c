//! strace as the witness of what words mean: calls with chosen words, which a filter refuses, so
//! that any call can be made. What strace prints of the words is compared with what the library
//! writes of the same words; nothing is traced for that.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use flate2::read::GzDecoder;
use perf_records::format::{self, Format};
use perf_records::units::{Nanos, Pid, Tid};
use syscall_model::constants::{Constants, tables};
use syscall_model::files::Files;
use syscall_model::kinds::ArgKind;
use syscall_model::memory::Memory;
use syscall_model::names::{self, Abi};
use syscall_model::{
    Actor, Call, Entry, Outcome, ShortName, Shown, Signature, Signatures, ThreadId, UNREAD,
    mappings::Places, write_arguments,
};

mod differences;

use self::differences::{DIFFERENT, OBSCURE, is_same, plain};
use super::support::command::PATH;
use super::support::oracle;
use super::support::require::{self, require};

/// Calls by number with their words.
pub(super) type Words = (&'static str, [u64; 6]);

/// What the arguments are that a call is not made for: nothing, and a number that is also an
/// address of nothing.
const OTHERS: [u64; 2] = [0, 0x1234];

/// The formats of the running kernel's calls cannot be read without rights; these are the same on
/// every machine.
pub(super) fn signatures() -> Signatures<'static> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/formats/6.18.44-fc-v669.txt.gz");
    let mut text = String::new();
    let file = File::open(path).expect("the fixture is readable");
    let read = GzDecoder::new(file).read_to_string(&mut text);
    read.expect("the fixture is compressed text");
    let formats: BTreeMap<String, Arc<Format>> = text
        .split("# ")
        .filter_map(|event| event.strip_prefix("syscalls/")?.split_once('\n'))
        .map(|(event, text)| {
            (
                event.to_owned(),
                Arc::new(format::parse(text).expect("a format")),
            )
        })
        .collect();
    Signatures::new(Box::new(move |event| formats.get(event).cloned()))
}

pub(super) fn call(name: &str, args: [u64; 6]) -> Call {
    Call {
        actor: Actor {
            thread: ThreadId(0),
            pid: Pid(1),
            tid: Tid(1),
            comm: ShortName::default(),
        },
        abi: Abi::native(),
        number: number(name).expect("a call of this machine"),
        entry: Entry::Seen {
            time: Nanos(0),
            args,
        },
        outcome: Outcome::Missing,
        memory: Memory::default(),
        files: Files::default(),
        places: Places::default(),
        injected: Default::default(),
    }
}

pub(super) fn number(name: &str) -> Option<i32> {
    names::number(Abi::native(), name).and_then(|number| i32::try_from(number).ok())
}

/// The values to try of a set: none, each that has a name, all of them at once, one without a name.
fn values(set: &Constants) -> BTreeSet<u64> {
    // Sets that are made of others.
    let sets: &[&Constants] = match set.name {
        "ioctl_commands" => &[&tables::IOCTL_NAMES],
        "clocks" => &[&tables::CLOCK_NAMES],
        "mount_flags" => &[&tables::MOUNT_FLAG_BITS],
        "personalities" => &[&tables::PERSONALITY_PARTS],
        _ => &[set],
    };
    let mut values: BTreeSet<u64> = [0, 1, 0x5a5a, 0x4000_0000, 0xffff_ffff].into();
    let mut all = 0;
    for (_, value) in sets.iter().flat_map(|set| set.names()) {
        values.insert(value);
        all |= value;
    }
    values.insert(all);
    if set.name == "quota_commands" {
        let commands = tables::QUOTA_OPERATIONS.names();
        values.extend(commands.map(|(_, command)| command << 8 | 1));
    }
    values
}

/// Every call with named arguments, each of them with every value; where a value changes what
/// others are, those too.
fn tried(signature: &Signature, name: &'static str, tried: &mut BTreeSet<Words>) {
    for other in OTHERS {
        vary(signature, name, [other; 6], &[], tried);
    }
}

fn vary(
    signature: &Signature,
    name: &'static str,
    base: [u64; 6],
    settled: &[usize],
    tried: &mut BTreeSet<Words>,
) {
    tried.insert((name, base));
    let meanings = signature.meanings(&base);
    for (place, kind) in meanings.shown() {
        if settled.contains(&place) {
            continue;
        }
        let values = match kind {
            ArgKind::Constants(set) => values(set),
            ArgKind::Signal => (0..66).collect(),
            ArgKind::Octal => [0, 7, 0o22, 0o644, 0o7777].into(),
            ArgKind::Id => [0, 5, 0xffff_ffff].into(),
            _ => continue,
        };
        for value in values {
            let mut words = base;
            words[place] = value;
            let is_news = signature.meanings(&words) != meanings;
            if is_news {
                let settled = [settled, &[place]].concat();
                vary(signature, name, words, &settled, tried);
            } else if base.contains(&0) {
                tried.insert((name, words));
            }
        }
    }
}

/// What strace prints of the calls, one line each.
pub(super) fn strace(calls: &BTreeSet<Words>) -> Vec<String> {
    let line = |(name, words): &Words| {
        let words = words.map(|word| word.to_string()).join(" ");
        let number = number(name).expect("a call of this machine");
        format!("{number} {words}")
    };
    let lines: Vec<String> = calls.iter().map(line).collect();
    let theirs = strace_lines(&lines);
    theirs.iter().map(|line| plain(line)).collect()
}

/// What strace prints of calls by the workload's own lines, without the results.
pub(super) fn strace_lines(calls: &[String]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("strace");
    let mut child = Command::new("strace")
        .args(["-X", "abbrev", "-s", "256", "-e", "signal=none", "-o"])
        .arg(&file)
        .args([&oracle::path(), "refused"])
        .env_clear()
        .env("PATH", PATH)
        .stdin(Stdio::piped())
        // It complains of memory that is not there.
        .stderr(Stdio::null())
        .spawn()
        .expect("strace starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin
        .write_all(calls.join("\n").as_bytes())
        .expect("it reads");
    drop(stdin);
    let status = child.wait().expect("it ends");
    assert!(status.success(), "{status}");
    let text = fs::read(&file).expect("strace wrote");
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let start = lines
        .iter()
        .position(|line| line.contains("SECCOMP_MODE_FILTER"))
        .expect("the filter is installed");
    let refused = &lines[start + 1..start + 1 + calls.len()];
    let call = |line: &&str| {
        let call = line.rsplit_once(" = ").map_or(*line, |(call, _)| call);
        call.trim_end().to_owned()
    };
    refused.iter().map(call).collect()
}

/// Words of a line that look like names of constants.
fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| {
            word.starts_with(|c: char| c.is_ascii_uppercase() || c == '_') && word.len() > 3
        })
}

/// Whether all that strace has by name is in the text as well; `_IOC()` is how it writes a request
/// without a name.
fn has_no_other_name(ours: &str, theirs: &str) -> bool {
    let mut names = identifiers(theirs).filter(|name| !name.starts_with("_IOC"));
    names.all(|name| identifiers(ours).any(|ours| ours == name))
}

#[test]
fn words_mean_what_strace_says() {
    require!(require::strace());
    require!(strace_6_1());
    require!(x86_64());
    let signatures = signatures();
    let mut calls = BTreeSet::new();
    let mut ours = Vec::new();
    for (_, name) in names::all(Abi::native()) {
        // Only the filter's own way out is let through.
        if name == "exit_group" {
            continue;
        }
        let number = number(name).expect("a call of this machine");
        signatures.with(Abi::native(), number, |signature| {
            if signature
                .arguments
                .first()
                .is_some_and(|argument| *argument.name != *"arg0")
            {
                tried(signature, name, &mut calls);
            }
        });
    }
    for (name, words) in &calls {
        let call = call(name, *words);
        let mut out = format!("{name}(");
        signatures.with(call.abi, call.number, |signature| {
            write_arguments(&mut out, &call, signature, &mut Shown);
        });
        out.push(')');
        // Of memory that is not there strace shows the address.
        ours.push(out.replace(UNREAD, "0x1234"));
    }
    let theirs = strace(&calls);
    let binary = fs::read(require::program("strace").expect("strace")).expect("readable");
    let binary = String::from_utf8_lossy(&binary);
    let words: BTreeSet<&str> = binary
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .collect();
    // The linker may keep a name as the end of a longer one.
    let mut ends = BTreeMap::new();
    let mut is_known = |name: &str| {
        words.contains(name)
            || *ends
                .entry(name.to_owned())
                .or_insert_with(|| words.iter().any(|word| word.ends_with(name)))
    };
    let (mut compared, mut newer, mut different, mut wrong) = (0, 0, 0, Vec::new());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        if theirs.starts_with("syscall_0x") {
            newer += 1;
            continue;
        }
        let is_different = DIFFERENT.iter().any(|(start, _)| ours.starts_with(start));
        if is_different || identifiers(ours).any(|name| OBSCURE.contains(&name)) {
            different += 1;
            continue;
        }
        // A name that strace does not know stands for a number of its, not for another name.
        let is_newer = identifiers(ours).any(|name| !is_known(name));
        if is_newer && has_no_other_name(ours, theirs) {
            newer += 1;
            continue;
        }
        compared += 1;
        if !is_same(ours, theirs) {
            wrong.push(format!("ours   {ours}\nstrace {theirs}"));
        }
    }
    let n_wrong = wrong.len();
    assert!(
        wrong.is_empty(),
        "{n_wrong} of {compared} ({newer} newer, {different} different):\n{}",
        wrong.join("\n")
    );
    assert!(compared > 6000, "{compared}, {newer}, {different}");
}

/// Others know other names, and differ elsewhere.
pub(super) fn strace_6_1() -> Result<(), String> {
    let output = Command::new("strace").arg("--version").output();
    let output = output.map_err(|error| error.to_string())?;
    match output.stdout.starts_with(b"strace -- version 6.1\n") {
        true => Ok(()),
        false => Err("strace is not of version 6.1".to_owned()),
    }
}

pub(super) fn x86_64() -> Result<(), String> {
    match cfg!(target_arch = "x86_64") {
        true => Ok(()),
        false => Err("the captured formats are those of x86_64".to_owned()),
    }
}
