//! The text of a trace, taken apart by its grammar (`crate::trace`).
//!
//! The deeds of a run end with the harness that ran it. What another kernel answered comes as text
//! (the lines of the harness in the guest), and so does what was stored (a snapshot, the output of
//! `harness trace -o`), so two answers have nothing but their texts in common. This is the only
//! parser of such a text: a string, the name of a file or a structure may hold any separator, and
//! is passed over whole.

use std::collections::BTreeSet;

/// A line of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The call or event.
    pub name: &'a str,
    /// The line without the blanks before it.
    pub text: &'a str,
    /// The line with these blanks.
    pub(super) whole: &'a str,
}

impl<'a> Line<'a> {
    pub(super) fn of(whole: &'a str) -> Self {
        let text = whole.trim_start();
        // `[i386] openat(...)`: the convention belongs to the name.
        let from = match text.strip_prefix('[') {
            Some(rest) => rest.find("] ").map_or(0, |at| at + 3),
            None => 0,
        };
        let behind = text.get(from..).unwrap_or_default();
        let length = behind.find(['(', ' ']).unwrap_or(behind.len());
        let name = text.get(..from.saturating_add(length)).unwrap_or(text);
        Self { name, text, whole }
    }

    /// The same line, to be compared as another text.
    pub(super) fn in_form(&self, form: &'a str) -> Self {
        let whole = self.whole;
        Self {
            whole,
            ..Self::of(form)
        }
    }

    /// The line as its trace has it, without the blanks before it.
    pub(super) fn shown(&self) -> &'a str {
        self.whole.trim_start()
    }

    /// Whether it is an event and no call.
    #[must_use]
    pub fn is_event(&self) -> bool {
        self.name.contains(':')
    }

    /// Returns the result of a call, with the error's name; `None` for an event and for a call
    /// without a result.
    #[must_use]
    pub fn result(&self) -> Option<&'a str> {
        self.call().map(|(_, result)| result)
    }

    /// The arguments of a call and its result; `None` for what is no call, or only counted.
    pub(super) fn call(&self) -> Option<(Vec<&'a str>, &'a str)> {
        let inner = self.text.strip_prefix(self.name)?.strip_prefix('(')?;
        let (end, _) = outermost(inner).find(|(_, c)| *c == ')')?;
        let (arguments, behind) = inner.split_at_checked(end)?;
        Some((split(arguments, ", "), behind.strip_prefix(") = ")?))
    }

    /// The fields of an event with their values.
    pub(super) fn fields(&self) -> BTreeSet<(&'a str, &'a str)> {
        let behind = self.text.strip_prefix(self.name).unwrap_or_default();
        let words = split(behind, " ").into_iter();
        words.filter_map(|word| word.split_once('=')).collect()
    }
}

/// The parts of a text between separators that stand in no string, name, structure or list.
fn split<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, _) in outermost(text) {
        if text
            .get(at..)
            .is_some_and(|rest| rest.starts_with(separator))
        {
            parts.extend(text.get(from..at));
            from = at + separator.len();
        }
    }
    parts.extend(text.get(from..));
    parts
}

/// The characters of a text that stand in no string, name of a file, structure or list, with their
/// places. A bracket that nothing opened is one of them.
fn outermost(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut brackets, mut angles) = (0_usize, 0_usize);
    let (mut is_quoted, mut is_passed) = (false, false);
    text.char_indices().filter(move |(at, c)| {
        let is_outermost = brackets == 0 && angles == 0 && !is_quoted;
        if std::mem::take(&mut is_passed) {
            return is_outermost;
        }
        match c {
            '\\' => is_passed = true,
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '<' => {
                let rest = text.get(at + 1..).unwrap_or_default();
                // `21<<MAP_HUGE_SHIFT` is a number.
                match rest.starts_with('<') && !rest.starts_with("<temporary:") {
                    true => is_passed = true,
                    false => angles += 1,
                }
            }
            '>' => angles = angles.saturating_sub(1),
            // In the name of a file these are of no meaning.
            _ if angles > 0 => {}
            '(' | '[' | '{' => brackets += 1,
            ')' | ']' | '}' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        is_outermost
    })
}

/// A process or a thread of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block<'a> {
    /// Its first line.
    pub(super) head: &'a str,
    /// `P2`, `P2.T1`, `program sh`.
    pub(super) task: &'a str,
    /// Its kind, without its number and its parent's: the program's name, and whether it is a
    /// child.
    pub(super) kind: String,
    /// Its parent: `P1`.
    pub(super) parent: Option<&'a str>,
    pub(super) lines: Vec<Line<'a>>,
}

/// A parsed trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceText<'a> {
    pub(super) blocks: Vec<Block<'a>>,
}

impl<'a> TraceText<'a> {
    /// Whether a text is in the grammar: all of it behind its header are heads of tasks, and lines
    /// below them.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        let mut lines = text.lines().filter(|line| !line.is_empty());
        match lines.find(|line| !line.starts_with("# ")) {
            Some(first) => is_head(first) && lines.all(|it| it.starts_with("  ") || is_head(it)),
            None => text.lines().any(|line| line.starts_with("# trace ")),
        }
    }

    /// Parses a text. A text that is no trace has no blocks.
    #[must_use]
    pub fn read(text: &'a str) -> Self {
        let mut blocks: Vec<Block<'a>> = Vec::new();
        for line in text.lines() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match (line.starts_with("  "), blocks.last_mut()) {
                (true, Some(block)) => block.lines.push(Line::of(line)),
                (true, None) => {}
                (false, _) => blocks.push(Block::of(line)),
            }
        }
        Self { blocks }
    }
}

/// Whether a line is the head of a block.
fn is_head(line: &str) -> bool {
    let length = task_length(line);
    let behind = line.get(length..).unwrap_or_default();
    let is_task = length > 0 && (behind.is_empty() || behind.starts_with([' ', ',']));
    is_task || line.starts_with("program ")
}

impl<'a> Block<'a> {
    pub(super) fn is_thread(&self) -> bool {
        self.task.contains(".T")
    }

    fn of(head: &'a str) -> Self {
        let (task, rest) = match head.split_once([' ', ',']) {
            Some((_, _)) if head.starts_with("program ") => (head, ""),
            Some((task, rest)) => (task, rest),
            None => (head, ""),
        };
        let without_parent = rest.split(", ").map(|part| match part {
            part if part.starts_with("child of ") => "child",
            part => part,
        });
        let kind = match head.strip_prefix("program ") {
            Some(program) => program.to_owned(),
            None => without_parent.collect::<Vec<_>>().join(", "),
        };
        let mut parts = rest.split(", ");
        let parent = parts.find_map(|part| part.strip_prefix("child of "));
        let mut block = Self {
            head,
            task,
            kind,
            parent: parent.filter(|_| !head.starts_with("program ")),
            lines: Vec::new(),
        };
        if block.is_thread() {
            let before = if block.kind.is_empty() { "" } else { ", " };
            block.kind = format!("{}{before}thread", block.kind);
        }
        block
    }
}

/// Replaces the names of tasks in a text: `P4` by what `to` returns for it.
pub(super) fn renamed(text: &str, to: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let length = task_length(rest);
        let is_word = before.is_alphanumeric() || before == '_';
        if let Some(task) = rest.get(..length).filter(|_| length > 0 && !is_word) {
            match to(task) {
                Some(name) => out.push_str(&name),
                None => out.push_str(task),
            }
            rest = rest.get(length..).unwrap_or_default();
            before = '0';
        } else {
            out.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            before = c;
        }
    }
    out
}

/// Returns the length in bytes of a task's name, `P1` or `P1.T2`, at the start of a text.
fn task_length(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let Some(rest) = text.strip_prefix('P') else {
        return 0;
    };
    let process = digits(rest);
    if process == 0 {
        return 0;
    }
    let behind = rest.get(process..).unwrap_or_default();
    let thread = behind.strip_prefix(".T").map_or(0, digits);
    let all = if thread > 0 {
        1 + process + 2 + thread
    } else {
        1 + process
    };
    let next = text.get(all..).and_then(|rest| rest.chars().next());
    if next.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        0
    } else {
        all
    }
}
