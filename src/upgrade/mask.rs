//! Masks those parts of a line in a trace at full detail that differ from run to run.

use super::raw::is_of_tasks;
use std::collections::HashMap;
use syscall_model::kinds::{ReturnKind, return_kind};

/// Names for tasks, by their ids.
pub(super) type Ids<'a> = HashMap<&'a str, String>;

/// Numbers for files without a path, in the order of their appearance: `<pipe:[13150164]>` becomes
/// `<pipe:[1]>`. Each class is numbered by itself.
#[derive(Default)]
pub(super) struct Inodes(HashMap<String, Vec<String>>);

impl Inodes {
    fn number(&mut self, class: &str, inode: &str) -> usize {
        let known = self.0.entry(class.to_owned()).or_default();
        match known.iter().position(|it| it == inode) {
            Some(place) => place + 1,
            None => {
                known.push(inode.to_owned());
                known.len()
            }
        }
    }
}

/// Returns a normalised trace in which files without a path that the program was given are numbered
/// too.
#[must_use]
pub fn numbered(text: &str) -> String {
    let mut inodes = Inodes::default();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(":[") {
        out.push_str(before);
        out.push_str(":[");
        rest = behind;
        let class = before.rsplit_once('<').map(|(_, class)| class);
        let class = class.filter(|class| class.bytes().all(|b| b.is_ascii_alphanumeric()));
        let inode = behind.split_once("]>").map(|(inode, _)| inode);
        let inode = inode.filter(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()));
        if let (Some(class), Some(inode)) = (class, inode) {
            out.push_str(&inodes.number(class, inode).to_string());
            rest = behind.get(inode.len()..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    out
}

/// The number of hexadecimal digits from which a number after `0x` is an address; the next one is
/// for numbers without it.
const DIGITS: usize = 7;
const BARE_DIGITS: usize = 9;
/// A number from the first one on is an address, and from the second one on a negative number.
const DECIMAL: std::ops::Range<u64> = 1 << 40..1 << 63;
/// The least number that can be an id, if nothing else is known of it.
const SMALL: u32 = 300;
/// This many seconds are a point in time, and no duration.
const LONG: u64 = 1_000_000;

/// A word, and the text before it in the line.
struct Word<'w> {
    before: &'w str,
    word: &'w str,
    /// Whether it is within a string or a path.
    is_quoted: bool,
}

struct Masking<'m> {
    name: &'m str,
    is_script: bool,
    is_of_tasks: bool,
    gives_times: bool,
    ids: &'m Ids<'m>,
}

/// Returns the line with names for ids, `<addr>` for addresses and `<time>` for points in time.
pub(super) fn masked(
    text: &str,
    (name, is_script): (&str, bool),
    ids: &Ids<'_>,
    inodes: &mut Inodes,
) -> String {
    if matches!(name, "rt_sigreturn" | "sigreturn") {
        // A register of the code that was interrupted.
        return format!("{name}() = <register>");
    }
    let masking = Masking {
        name,
        is_script,
        is_of_tasks: is_of_tasks(name),
        gives_times: matches!(
            name,
            "clock_gettime" | "gettimeofday" | "getrusage" | "times" | "time"
        ) || text.contains("TIMER_ABSTIME"),
        ids,
    };
    let mut out = String::with_capacity(text.len());
    let (mut at, mut quoted, mut path) = (0, false, false);
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or("");
        let length = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        if length > 0 {
            let word = Word {
                before: text.get(..at).unwrap_or(""),
                word: rest.get(..length).unwrap_or(""),
                is_quoted: quoted || path,
            };
            let behind = rest.get(length..).unwrap_or("");
            let class = word.before.strip_suffix(":[").filter(|_| !quoted);
            let class = class.and_then(|before| Some(before.rsplit_once('<')?.1));
            if let (Some(class), true) = (class, behind.starts_with("]>")) {
                out.push_str(&inodes.number(class, word.word).to_string());
                at += length;
                continue;
            }
            match masking.of(&word) {
                Some(said) => out.push_str(&said),
                None => out.push_str(word.word),
            }
            at += length;
            continue;
        }
        match c {
            '\\' if quoted => {
                // An escaped character stays as it is.
                let next = rest.chars().nth(1).map_or(0, char::len_utf8);
                out.push_str(rest.get(..1 + next).unwrap_or("\\"));
                at += 1 + next;
                continue;
            }
            '"' => quoted = !quoted,
            '<' if !quoted && rest.starts_with("</") => path = true,
            '>' if !quoted => path = false,
            _ => {}
        }
        out.push(c);
        at += c.len_utf8();
    }
    out
}

impl Masking<'_> {
    /// Returns the text in place of a word.
    fn of(&self, word: &Word<'_>) -> Option<String> {
        let id = || self.ids.get(word.word).cloned();
        if word.is_quoted {
            // A folder of procfs.
            return word.before.ends_with("proc/").then(id).flatten();
        }
        let hex = |word: &str| word.bytes().all(|b| b.is_ascii_hexdigit());
        let addr = || Some("<addr>".to_owned());
        if let Some(digits) = word.word.strip_prefix("0x") {
            return (digits.len() >= DIGITS && hex(digits)).then(addr).flatten();
        }
        if self.is_script && word.word.len() >= BARE_DIGITS && hex(word.word) {
            return addr();
        }
        if self.name == "raw_syscalls:sys_enter" {
            // The record does not say which register holds an id; a small number is a flag or a
            // count.
            let id = u32::from_str_radix(word.word, 16).ok()?;
            let id = (id >= SMALL).then(|| id.to_string())?;
            return self.ids.get(id.as_str()).cloned();
        }
        let number: u64 = word.word.parse().ok()?;
        let field = word.before.strip_suffix('=');
        let field =
            field.map(|before| before.rsplit([' ', '{', ',', '(']).next().unwrap_or(before));
        if let Some(field) = field {
            let is_time = match field {
                "tv_sec" => self.gives_times || number >= LONG,
                "tv_nsec" | "tv_usec" => {
                    let long = word.before.rsplit_once("tv_sec=");
                    let seconds = long.and_then(|(_, rest)| rest.split(',').next());
                    let seconds = seconds.and_then(|it| it.parse::<u64>().ok());
                    self.gives_times || seconds.is_some_and(|it| it >= LONG)
                }
                "si_utime" | "si_stime" => true,
                _ => false,
            };
            if is_time {
                return Some("<time>".to_owned());
            }
            if ["pid", "tid", "tgid"].iter().any(|it| field.ends_with(it)) && number > 0 {
                return id().or_else(|| Some("<pid>".to_owned()));
            }
        }
        let is_result = word.before.ends_with(") = ") || word.before.ends_with(" => ");
        if self.is_of_tasks {
            let is_foreign = is_result && number > 1 && return_kind(self.name) == ReturnKind::Pid;
            return id().or_else(|| is_foreign.then(|| "<pid>".to_owned()));
        }
        if self.is_script && (self.name.starts_with("PERF_RECORD_") || self.is_new_task(word)) {
            return id();
        }
        if self.name == "sysinfo" && !is_result {
            return Some("<machine>".to_owned());
        }
        let counts_time = self.gives_times && is_result && number > 0;
        if counts_time && matches!(self.name, "time" | "times") {
            return Some("<time>".to_owned());
        }
        DECIMAL.contains(&number).then(addr).flatten()
    }

    /// Whether it is the result of a call that makes a task, which a script shows as a number.
    fn is_new_task(&self, word: &Word<'_>) -> bool {
        self.name == "raw_syscalls:sys_exit" && word.before.ends_with(" = ")
    }
}
