//! Deeds for tests, written down as lines much like those of a snapshot.
//!
//! ```text
//! P1 openat(dfd=AT_FDCWD, filename:path=p"a", flags=O_RDWR|O_CREAT) = <3 $DIR/a #1>
//! P2.T2/sh 10-14 fsync(fd=<3 $DIR/a #1>) = 0
//! P1 sched:sched_process_exit comm="sh"
//! ```
//! A line is a task, with `/` and a program if one is wanted; when it was entered and left, else
//! each line has two moments of its own; then the call or event, whose parts are `name=value` or
//! `name:alias=value`. Values: `12`; `A|B` for names; `ENOENT` as a result; `"text"` and
//! `"text"...` if it is cut, `hidden"text"` if the trace does not show it, and `told"text"` if it
//! shows the messages in it; `p"path"`, resolved below `$DIR`, and `q"path"` if its folder is not
//! known; `<3 name #1>` for a descriptor with what it refers to and its open file description,
//! `<3>` for one that is not open and `<3 ?>` for one that is not known; `P2` for a task;
//! `["a", "b"]`; `<unread>`; `NULL` and `?` for nothing; anything else is text.

use crate::trace::{Block, Deed, Normalised, Part, StableName, Value, View};
use perf_records::units::Nanos;
use std::collections::{BTreeMap, BTreeSet};
use syscall_model::ThreadId;

/// The deeds of some lines, in their order.
pub(crate) fn deeds(text: &str) -> Vec<Deed> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .zip(1..)
        .map(|(line, number)| deed(line, 2 * number))
        .collect()
}

/// A trace of these deeds, where the first process made all others unless a call says who did.
pub(crate) fn of_deeds(deeds: Vec<Deed>) -> Normalised {
    let mut blocks: BTreeMap<StableName, Block> = BTreeMap::new();
    for deed in deeds {
        let block = blocks.entry(deed.task).or_insert_with(|| Block {
            task: deed.task,
            program: deed.program.as_ref().to_owned(),
            parent: (deed.task.process > 1).then_some(StableName {
                process: 1,
                thread: 1,
            }),
            deeds: Vec::new(),
            tally: BTreeMap::new(),
            answered: BTreeMap::new(),
        });
        block.deeds.push(deed);
    }
    Normalised {
        blocks: blocks.into_values().collect(),
        unread: 0,
        unled: BTreeMap::new(),
        view: View::default(),
        counted: BTreeMap::new(),
        handed: BTreeSet::new(),
        rules: BTreeSet::new(),
    }
}

fn deed(line: &str, moment: u64) -> Deed {
    let (who, rest) = line.split_once(' ').unwrap();
    let (task, program) = who.split_once('/').unwrap_or((who, "program"));
    let task = task_of(task).unwrap();
    let when = rest.split_once(' ').and_then(|(when, rest)| {
        let (entered, left) = when.split_once('-')?;
        Some((entered.parse().ok()?, left.parse().ok()?, rest))
    });
    let (entered, left, rest) = when.unwrap_or((moment, moment + 1, rest));
    let mut deed = Deed {
        name: "".into(),
        task,
        thread: ThreadId(100 * task.process + task.thread),
        program: program.into(),
        entered,
        left,
        clock: (Nanos(entered), Nanos(left)),
        convention: None,
        fields: Vec::new(),
        returns: None,
        stack: None,
        unseen: None,
        behind: Vec::new(),
        ends: None,
        injected: Default::default(),
    };
    let is_call = rest.split(' ').next().unwrap().contains('(');
    let Some((name, rest)) = rest.split_once('(').filter(|_| is_call) else {
        let mut words = split(rest, ' ').into_iter();
        deed.name = words.next().unwrap().into();
        deed.fields = words.map(part).collect();
        deed.left = if when.is_some() { left } else { moment };
        return deed;
    };
    let (arguments, result) = rest.rsplit_once(") = ").unwrap();
    deed.name = name.into();
    for argument in split(arguments, ',') {
        match argument {
            "..." => deed.unseen = Some("..."),
            "?" => deed.unseen = Some("?"),
            argument => deed.fields.push(part(argument)),
        }
    }
    let mut returns = part(&format!("returns={result}"));
    if let Some(error) = result.strip_prefix('E') {
        returns.value = Value::Error(format!("E{error}").into());
        returns.text = format!("-1 E{error}");
    }
    deed.returns = Some(returns);
    deed
}

/// Splits outside of quotes and brackets.
fn split(text: &str, at: char) -> Vec<&str> {
    let (mut depth, mut is_quoted, mut start) = (0, false, 0);
    let mut pieces = Vec::new();
    for (place, letter) in text.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '<' | '[' | '{' if !is_quoted => depth += 1,
            '>' | ']' | '}' if !is_quoted => depth -= 1,
            letter if letter == at && depth == 0 && !is_quoted => {
                pieces.push(&text[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    pieces.push(&text[start..]);
    let pieces = pieces.into_iter().map(str::trim);
    pieces.filter(|piece| !piece.is_empty()).collect()
}

fn part(text: &str) -> Part {
    let (name, value) = text.split_once('=').unwrap();
    let (name, alias) = match name.split_once(':') {
        Some((name, alias)) => (name, Some(&*alias.to_owned().leak())),
        None => (name, None),
    };
    let (value, text) = value_of(value);
    Part {
        name: name.into(),
        alias,
        text,
        value,
    }
}

fn value_of(text: &str) -> (Value, String) {
    let shown = |value| (value, text.to_owned());
    if let Ok(number) = text.parse() {
        return shown(Value::Number(number));
    }
    if let Some(digits) = text.strip_prefix("@0x") {
        let address = u64::from_str_radix(digits, 16).unwrap();
        return (Value::Address(address), "<addr>".to_owned());
    }
    if let Some(path) = text.strip_prefix('p').and_then(quoted) {
        let absolute = match path.starts_with(['/', '$']) {
            true => path.clone(),
            false => format!("$DIR/{path}"),
        };
        let value = Value::Path {
            given: path.into(),
            absolute: Some(absolute.into()),
            reached: crate::trace::Reached::Untold,
        };
        return (value, text[1..].to_owned());
    }
    if let Some(path) = text.strip_prefix('q').and_then(quoted) {
        let value = Value::Path {
            given: path.into(),
            absolute: None,
            reached: crate::trace::Reached::Untold,
        };
        return (value, text[1..].to_owned());
    }
    if let Some(bytes) = text.strip_prefix("hidden").and_then(quoted) {
        let value = Value::Bytes {
            bytes: bytes.into(),
            is_cut: false,
        };
        return (value, "<addr>".to_owned());
    }
    if let Some(bytes) = text.strip_prefix("told").and_then(quoted) {
        let told = format!("[{{{bytes}}}]");
        let value = Value::Bytes {
            bytes: bytes.into(),
            is_cut: false,
        };
        return (value, told);
    }
    if let Some(bytes) = quoted(text.strip_suffix("...").unwrap_or(text)) {
        return shown(Value::Bytes {
            bytes: bytes.into(),
            is_cut: text.ends_with("..."),
        });
    }
    if let Some(inside) = inside(text, '[', ']').filter(|inside| inside.starts_with('"')) {
        let strings = split(inside, ',');
        let strings = strings.iter().filter_map(|it| quoted(it));
        return shown(Value::Strings {
            strings: strings.map(String::into_bytes).collect(),
            is_cut: inside.ends_with("..."),
        });
    }
    if let Some(task) = task_of(text) {
        return shown(Value::Task {
            id: 1000 + task.process as i32,
            task: Some(task),
        });
    }
    match text {
        "<unread>" => return shown(Value::Unread),
        "NULL" | "?" => return shown(Value::Nothing),
        "? SIGSYS" => return shown(Value::Never),
        "AT_FDCWD" => {
            return shown(Value::File {
                number: -100,
                description: None,
                name: text.into(),
                reached: crate::trace::Reached::Untold,
            });
        }
        _ => {}
    }
    if let Some(inside) = inside(text, '<', '>') {
        return file(inside);
    }
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || "_|".contains(c);
    match text.chars().all(is_name) {
        true => {
            let names: Vec<Box<str>> = text.split('|').map(Into::into).collect();
            let bits = names.iter().map(|name| bit(name));
            let bits = bits.fold(0, |bits, bit| bits | bit);
            shown(Value::Names(names, bits))
        }
        false => shown(Value::Text),
    }
}

fn bit(name: &str) -> u64 {
    match name {
        "O_RDONLY" => 0,
        "O_WRONLY" => 1,
        "O_RDWR" => 2,
        "O_CREAT" => 0o100,
        "O_TRUNC" => 0o1000,
        "O_CLOEXEC" => 0o2000000,
        _ => 1 << 40,
    }
}

/// `3 $DIR/a #1`.
fn file(inside: &str) -> (Value, String) {
    let (number, rest) = inside.split_once(' ').unwrap_or((inside, ""));
    let (name, description) = match rest.split_once('#') {
        Some((name, description)) => (name.trim(), Some(description.parse().unwrap())),
        None => ("", None),
    };
    let text = match (rest, number.parse().unwrap()) {
        ("", _) => number.to_owned(),
        ("?", _) => format!("{number}<?>"),
        (_, 0..=2) => format!("{number}<{name}>"),
        _ => format!("<{name}>"),
    };
    let number = number.parse().unwrap();
    let value = match rest {
        "?" => Value::UnknownFile {
            number,
            description: None,
        },
        _ => Value::File {
            number,
            description,
            name: name.into(),
            reached: crate::trace::Reached::Untold,
        },
    };
    (value, text)
}

fn quoted(text: &str) -> Option<String> {
    Some(inside(text, '"', '"')?.to_owned())
}

fn inside(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

fn task_of(text: &str) -> Option<StableName> {
    let (process, thread) = match text.strip_prefix('P')?.split_once(".T") {
        Some((process, thread)) => (process, thread.parse().ok()?),
        None => (text.strip_prefix('P')?, 1),
    };
    Some(StableName {
        process: process.parse().ok()?,
        thread,
    })
}
