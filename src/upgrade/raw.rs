//! Reads the text of traces at full detail, which `harness trace -o` and `harness script` write.
//! There, ids of tasks, addresses and times differ from run to run. This puts such a text into the
//! grammar of normalised traces (`crate::trace`) as far as text allows: a number is an id if the
//! call or field is known to hold one, and an address if it is too large for anything else.

use super::mask::{Ids, Inodes, masked};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use syscall_model::kinds::{ReturnKind, return_kind, returns_child_pid};

/// The contents of a line.
struct Entry<'a> {
    /// The id of the thread.
    task: &'a str,
    /// The program, if the line names it.
    program: Option<&'a str>,
    text: String,
    /// Whether addresses are written without `0x`.
    is_script: bool,
    /// The functions that led to it, without their addresses.
    frames: Vec<&'a str>,
}

impl Entry<'_> {
    fn name(&self) -> &str {
        let end = self.text.find(['(', ' ']);
        end.and_then(|end| self.text.get(..end))
            .unwrap_or(&self.text)
    }

    /// Returns the task that this made, and whether it is a thread of its creator's process.
    fn birth(&self) -> Option<(&str, bool)> {
        let number = |text: &'_ str| text.bytes().all(|b| b.is_ascii_digit()) && text != "0";
        if self.name() == "sched:sched_process_fork" {
            let (_, rest) = self.text.rsplit_once("child_pid=")?;
            let id = rest.split(' ').next().filter(|id| number(id))?;
            return Some((id, false));
        }
        let (call, id) = self.text.rsplit_once(" = ")?;
        // The calls' numbers on x86-64 and arm64; a result of these calls is always a task's id.
        let is_of_script = ["NR 56", "NR 57", "NR 58", "NR 220", "NR 435"]
            .iter()
            .any(|it| call.ends_with(it));
        let is_birth = returns_child_pid(self.name()) || (self.is_script && is_of_script);
        (is_birth && number(id)).then(|| (id, call.contains("CLONE_THREAD")))
    }
}

/// How the last line of a printed trace begins that is not complete.
pub const INCOMPLETE: &str = "--- incomplete";

/// Takes the line off that says that a printed trace is not complete; returns the rest, and what
/// the line says.
#[must_use]
pub fn without_end(text: &str) -> (&str, Option<&str>) {
    let whole = text.trim_end();
    let (before, last) = match whole.rsplit_once('\n') {
        Some((before, last)) => (before, last),
        None => ("", whole),
    };
    match last.strip_prefix("--- ") {
        Some(said) if last.starts_with(INCOMPLETE) => (before, Some(said)),
        _ => (text, None),
    }
}

/// Turns such a text into the grammar of normalised traces; `None` if it is no trace.
#[must_use]
pub fn normalised(text: &str) -> Option<String> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut others: Vec<&str> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(entry) = traced(line).or_else(|| scripted(line)) {
            entries.push(entry);
        } else if let (true, Some(entry)) = (line.starts_with([' ', '\t']), entries.last_mut()) {
            entry.frames.push(line.trim());
        } else if entries.is_empty() && !line.trim().is_empty() {
            return None;
        } else if !line.trim().is_empty() {
            others.push(line);
        }
    }
    if entries.is_empty() {
        return None;
    }
    let family = Family::of(&entries);
    let (mut out, mut inodes) = (String::new(), Inodes::default());
    let mut own: HashMap<&str, Vec<&Entry<'_>>> = HashMap::new();
    // The record of memory that was read for a call is full of addresses, and no event of the
    // program.
    for entry in entries.iter().filter(|entry| entry.name() != "memory") {
        own.entry(entry.task).or_default().push(entry);
    }
    for task in &family.order {
        if !out.is_empty() {
            out.push('\n');
        }
        family.head(&mut out, task);
        for entry in own.get(task).into_iter().flatten() {
            let what = (entry.name(), entry.is_script);
            let said = masked(&entry.text, what, &family.ids, &mut inodes);
            let _always_fits = writeln!(out, "  {said}");
            for frame in &entry.frames {
                let _always_fits = writeln!(out, "    {}", function(frame));
            }
        }
    }
    if !others.is_empty() {
        out.push_str("\nbesides\n");
        for line in others {
            let _always_fits = writeln!(out, "  {line}");
        }
    }
    Some(out)
}

/// A frame without its address.
fn function(frame: &str) -> &str {
    match frame.split_once(' ') {
        Some((word, rest)) if word.bytes().all(|b| b.is_ascii_hexdigit()) => rest,
        _ => frame,
    }
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())
}

/// `12.345`.
fn is_time(word: &str) -> bool {
    let parts = word.split_once('.');
    parts.is_some_and(|(whole, part)| is_number(whole) && is_number(part))
}

/// `12:34:56`, `12:34:56.789012`, `1700000000.000001`, `-0.000001`.
fn is_moment(word: &str) -> bool {
    let word = word.strip_prefix('-').unwrap_or(word);
    let day = word.split('.').next().unwrap_or_default();
    is_time(word) || (day.split(':').count() == 3 && day.split(':').all(is_number))
}

/// `1234 close(3) = 0`, with the times of `-t`, `-r` and `-T` or without.
fn traced(line: &str) -> Option<Entry<'_>> {
    let (word, mut rest) = line.split_once(' ')?;
    if let Some((_, behind)) = rest.split_once(' ').filter(|(time, _)| is_moment(time)) {
        rest = behind;
    }
    let took = rest.strip_suffix('>').and_then(|it| it.rsplit_once(" <"));
    if let Some((before, _)) = took.filter(|(_, took)| is_time(took)) {
        rest = before;
    }
    let is_said = rest.starts_with(|c: char| c.is_ascii_alphabetic() || "[-+_".contains(c))
        && (rest.contains(") = ") || rest.contains(':') || rest.contains(['-', '+']));
    (is_number(word) && is_said).then(|| Entry {
        task: word,
        program: None,
        // The text of an error adds nothing to its name.
        text: match rest.rsplit_once(" (") {
            Some((said, _)) if said.contains(" = -1 E") && rest.ends_with(')') => said.to_owned(),
            _ => rest.to_owned(),
        },
        is_script: false,
        frames: Vec::new(),
    })
}

/// `cat 1234 [001] 12.345: 1 sched:sched_switch: prev_comm=...`, the layout of `perf script`.
fn scripted(line: &str) -> Option<Entry<'_>> {
    let word = |from: usize| -> Option<(usize, &str)> {
        let rest = line.get(from..)?;
        let start = from + (rest.len() - rest.trim_start().len());
        let word = line.get(start..)?.split_ascii_whitespace().next()?;
        Some((start, word))
    };
    let (mut at, mut before): (usize, Vec<(usize, &str)>) = (0, Vec::new());
    let rest = loop {
        let (start, found) = word(at)?;
        at = start + found.len();
        if found.strip_suffix(':').is_some_and(is_time) {
            break at;
        }
        before.push((start, found));
    };
    before.pop_if(|(_, cpu)| cpu.starts_with('[') && cpu.ends_with(']'));
    let (start, id) = before.pop().filter(|_| !before.is_empty())?;
    let task = id.rsplit('/').next().filter(|id| is_number(id))?;
    let (mut start_of_event, mut event) = word(rest)?;
    if is_number(event) {
        (start_of_event, event) = word(start_of_event + event.len())?;
    }
    let behind = line.get(start_of_event + event.len()..).unwrap_or("");
    let event = event.strip_suffix(':').unwrap_or(event);
    Some(Entry {
        task,
        program: line.get(..start).map(str::trim),
        text: format!("{event} {}", behind.trim()).trim_end().to_owned(),
        is_script: true,
        frames: Vec::new(),
    })
}

/// The creator of each process.
struct Family<'a> {
    /// The tasks, in the order of the tree of creation.
    order: Vec<&'a str>,
    parents: HashMap<&'a str, &'a str>,
    programs: HashMap<&'a str, String>,
    ids: Ids<'a>,
}

impl<'a> Family<'a> {
    fn of(entries: &'a [Entry<'a>]) -> Self {
        let mut seen: Vec<&'a str> = Vec::new();
        let mut known: HashSet<&'a str> = HashSet::new();
        let mut parents: HashMap<&'a str, &'a str> = HashMap::new();
        let mut children: HashMap<&'a str, Vec<&'a str>> = HashMap::new();
        let mut threads: HashSet<&'a str> = HashSet::new();
        let mut programs: HashMap<&'a str, String> = HashMap::new();
        for entry in entries {
            if known.insert(entry.task) {
                seen.push(entry.task);
            }
            if let Some((child, is_thread)) = entry.birth() {
                if is_thread {
                    threads.insert(child);
                }
                if child != entry.task && !parents.contains_key(child) {
                    parents.insert(child, entry.task);
                    children.entry(entry.task).or_default().push(child);
                }
            }
            if let Some(program) = program_of(entry) {
                programs.insert(entry.task, program);
            }
        }
        let mut family = Self {
            order: Vec::new(),
            parents,
            programs,
            ids: Ids::default(),
        };
        let roots: Vec<&str> = seen
            .iter()
            .copied()
            .filter(|task| !family.parents.contains_key(task))
            .collect();
        let mut waiting: Vec<&str> = roots.into_iter().rev().collect();
        let mut processes = 0;
        while let Some(task) = waiting.pop() {
            if family.ids.contains_key(task) {
                continue;
            }
            processes += 1;
            family.ids.insert(task, format!("P{processes}"));
            family.order.push(task);
            // Its threads come after it, and the processes that any of them made after these.
            let mut made: Vec<&str> = Vec::new();
            let mut own = vec![task];
            let mut place = 0;
            while let Some(thread) = own.get(place).copied() {
                place += 1;
                for child in children.get(thread).into_iter().flatten().copied() {
                    if !threads.contains(child) {
                        made.push(child);
                    } else if !family.ids.contains_key(child) {
                        own.push(child);
                        let name = format!("P{processes}.T{}", own.len());
                        family.ids.insert(child, name);
                        family.order.push(child);
                    }
                }
            }
            waiting.extend(made.into_iter().rev());
        }
        family
    }

    fn head(&self, out: &mut String, task: &str) {
        let name = self.ids.get(task).map_or("", String::as_str);
        out.push_str(name);
        if !name.contains(".T") {
            // A task without an execve runs its creator's program.
            let mut runs = task;
            let mut steps = 0;
            while !self.programs.contains_key(runs) && steps < self.order.len() {
                runs = self.parents.get(runs).copied().unwrap_or(runs);
                steps += 1;
            }
            if let Some(program) = self.programs.get(runs) {
                let _always_fits = write!(out, " {program}");
            }
            if let Some(parent) = self.parents.get(task).and_then(|it| self.ids.get(it)) {
                let _always_fits = write!(out, ", child of {parent}");
            }
        }
        out.push('\n');
    }
}

/// Returns the program that the task runs from this line on, if the line says so.
fn program_of(entry: &Entry<'_>) -> Option<String> {
    if let Some(program) = entry.program {
        return Some(program.to_owned());
    }
    let is_executing = matches!(entry.name(), "execve" | "execveat");
    if !is_executing || !entry.text.ends_with(" = 0") {
        return None;
    }
    let path = entry.text.split('"').nth(1)?;
    path.rsplit('/').next().map(str::to_owned)
}

/// Whether a call of this name takes or returns ids of tasks.
pub(super) fn is_of_tasks(name: &str) -> bool {
    const TAKING: &[&str] = &[
        "kill",
        "tkill",
        "tgkill",
        "waitid",
        "setpgid",
        "prlimit64",
        "pidfd_open",
        "rt_sigqueueinfo",
        "rt_tgsigqueueinfo",
        "process_vm_readv",
        "process_vm_writev",
        "ptrace",
        "getpriority",
        "setpriority",
        "capget",
        "capset",
        "kcmp",
        "get_robust_list",
        "migrate_pages",
        "move_pages",
        "ioprio_get",
        "ioprio_set",
    ];
    return_kind(name) == ReturnKind::Pid || name.starts_with("sched_") || TAKING.contains(&name)
}
