//! What a stream of a runner says of its tests, line by line.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Who prints lines of this form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    /// `go test -v`.
    Go,
    /// `pytest -v`.
    Pytest,
    /// Rust's test harness, and those that print as it does.
    Rust,
    /// `ctest`, which starts a process for each test, just behind its name.
    Ctest,
}

/// What was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A test begins.
    Begins(Arc<str>, Runner),
    /// A test goes on, or waits.
    GoesOn(Arc<str>),
    Waits(Arc<str>),
    /// A test has ended.
    Ended(Arc<str>),
    /// All tests are over.
    Over,
    /// A result, and no test whose result it can be.
    Orphan,
    /// What no runner says that tells of a test while it runs.
    Wrong,
    /// What was said was not read.
    Missed,
}

/// A stream that a process writes to.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The line that has no end yet, behind the name that it begins with.
    line: Vec<u8>,
    /// Whether that line is too long to be one of a runner.
    is_lost: bool,
    /// Who has said that tests begin.
    runner: Option<Runner>,
    /// The test whose result comes next.
    begun: Option<Arc<str>>,
    /// The tests of `ctest` that have begun, by their numbers.
    numbered: BTreeMap<u64, Arc<str>>,
    /// Whether the line was taken for a result before its end came.
    is_told: bool,
    said: Vec<(u64, Said)>,
    /// How many tests have begun.
    tests: usize,
}

/// No line of a runner is longer, in bytes.
const LONGEST_LINE: usize = 4096;

impl Stream {
    /// Takes what was written at a moment.
    pub(super) fn write(&mut self, moment: u64, bytes: &[u8], is_cut: bool) {
        let before = self.said.len();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let is_whole = piece.ends_with(b"\n");
            if self.is_lost {
                self.is_lost = !is_whole;
                continue;
            }
            if self.line.len().saturating_add(piece.len()) > LONGEST_LINE {
                self.miss(moment);
                self.is_lost = !is_whole;
                continue;
            }
            self.line.extend_from_slice(piece);
            if is_whole {
                let text = plain(&std::mem::take(&mut self.line));
                self.whole(moment, text.trim_end_matches(['\n', '\r']));
            } else if let Some(runner) = self.runner.filter(|_| !self.is_told) {
                let text = plain(&self.line);
                self.partial(moment, &text, runner);
            }
        }
        let said = self.said.get(before..).unwrap_or_default();
        let begins = |(_, it): &(u64, Said)| matches!(it, Said::Begins(..));
        let ends = |(_, it): &(u64, Said)| matches!(it, Said::Ended(_));
        // The test ran before this.
        if said.iter().any(begins) && said.iter().any(ends) {
            self.say(moment, Said::Wrong);
        }
        if is_cut {
            self.miss(moment);
        }
    }

    /// How many tests have begun by what was said so far.
    pub(super) fn tests(&self) -> usize {
        self.tests
    }

    /// Something was written that was not read: it may have been a name. A runner begins a write
    /// with what it says next.
    pub(super) fn miss(&mut self, moment: u64) {
        self.line = Vec::new();
        (self.begun, self.is_told) = (None, false);
        let is_known = matches!(self.said.last(), Some((_, Said::Missed)));
        if !is_known {
            self.say(moment, Said::Missed);
        }
    }

    /// What it said of tests, and when; `None` if a runner does not print there.
    pub(super) fn said(mut self) -> Option<Vec<(u64, Said)>> {
        if self.is_told {
            self.say(u64::MAX, Said::Wrong);
        }
        (self.tests > 0).then_some(self.said)
    }

    fn say(&mut self, moment: u64, said: Said) {
        self.tests += usize::from(matches!(said, Said::Begins(..)));
        self.said.push((moment, said));
    }

    fn whole(&mut self, moment: u64, line: &str) {
        if self.runner == Some(Runner::Ctest) {
            let said = self.of_ctest(line).into_iter();
            return said.for_each(|said| self.say(moment, said));
        }
        let has_result = self.runner.is_some_and(|runner| is_result(runner, line));
        if std::mem::take(&mut self.is_told) {
            if !has_result {
                self.say(moment, Said::Wrong);
            }
            return;
        }
        if has_result {
            let ended = self.begun.take().map(Said::Ended);
            return self.say(moment, ended.unwrap_or(Said::Orphan));
        }
        if let Some(runner) = announced(line) {
            if self.tests > 0 && self.runner != Some(runner) {
                self.say(moment, Said::Wrong);
            }
            self.runner = Some(runner);
        }
        if let Some(said) = of_go(line).or_else(|| is_end(self.runner, line).then_some(Said::Over))
        {
            self.say(moment, said);
        } else if let Some((name, runner)) = self.runner.and_then(|it| behind(it, line)) {
            self.say(moment, Said::Begins(Arc::clone(&name), runner));
            self.say(moment, Said::Ended(name));
        }
    }

    /// What a line of `ctest` says; what its tests print may stand between these.
    fn of_ctest(&mut self, line: &str) -> Option<Said> {
        if let Some(start) = line.trim_start().strip_prefix("Start ") {
            let (number, name) = start.trim_start().split_once(": ")?;
            let name: Arc<str> = Arc::from(name);
            self.numbered
                .insert(number.parse().ok()?, Arc::clone(&name));
            return Some(Said::Begins(name, Runner::Ctest));
        }
        if is_end(self.runner, line) {
            return Some(Said::Over);
        }
        let (share, result) = line.split_once(" Test ")?;
        let (over, all) = share.trim_start().split_once('/')?;
        let _numbers: (u64, u64) = (over.parse().ok()?, all.parse().ok()?);
        let (number, _) = result.trim_start().strip_prefix('#')?.split_once(':')?;
        let ended = self.numbered.remove(&number.parse().ok()?);
        Some(ended.map_or(Said::Orphan, Said::Ended))
    }

    fn partial(&mut self, moment: u64, text: &str, runner: Runner) {
        if self.begun.is_some() && is_result(runner, text) {
            self.is_told = true;
            let ended = self.begun.take().map(Said::Ended);
            self.say(moment, ended.unwrap_or(Said::Orphan));
        } else if let Some(name) = beginning(runner, text) {
            self.line.clear();
            self.begun = Some(Arc::clone(&name));
            self.say(moment, Said::Begins(name, runner));
        }
    }
}

/// The text without colours.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_colour = |c: char| c.is_ascii_digit() || c == ';';
        plain.push_str(match (part.strip_prefix('['), part.strip_prefix('(')) {
            (Some(rest), _) => {
                let rest = rest.trim_start_matches(is_colour);
                rest.get(1..).unwrap_or_default()
            }
            (_, Some(set)) => set.get(1..).unwrap_or_default(),
            _ => part,
        });
    }
    plain
}

/// The runner whose tests begin, by what it prints in front of them.
fn announced(line: &str) -> Option<Runner> {
    let framed = line.trim().trim_matches('=');
    if framed.len() < line.trim().len() && framed.trim() == "test session starts" {
        return Some(Runner::Pytest);
    }
    // In a trace the working directory is `$DIR`.
    let folder = line.strip_prefix("Test project ");
    if folder.is_some_and(|it| it.starts_with('/') || it.starts_with("$DIR")) {
        return Some(Runner::Ctest);
    }
    let count = line.strip_prefix("running ")?;
    let count = count
        .strip_suffix(" tests")
        .or(count.strip_suffix(" test"))?;
    count.parse::<u64>().ok().map(|_| Runner::Rust)
}

/// Whether all tests are over with this line.
fn is_end(runner: Option<Runner>, line: &str) -> bool {
    match runner {
        Some(Runner::Rust) => line.starts_with("test result: "),
        Some(Runner::Pytest) => {
            let framed = line.trim().trim_matches('=');
            let took = framed.rsplit_once(" in ").map(|(_, took)| took.trim());
            let is_time = took.is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()));
            is_time && line.starts_with('=') && line.trim_end().ends_with('=')
        }
        Some(Runner::Ctest) => {
            let (share, rest) = line.split_once("% tests passed, ").unwrap_or_default();
            let is_share = !share.is_empty() && share.bytes().all(|byte| byte.is_ascii_digit());
            is_share && rest.contains(" failed out of ")
        }
        Some(Runner::Go) | None => matches!(marked(line), "PASS" | "FAIL"),
    }
}

/// The test that a line without its end begins: what follows is the result.
fn beginning(runner: Runner, text: &str) -> Option<Arc<str>> {
    match runner {
        Runner::Rust => named(text.strip_prefix("test ")?.strip_suffix(" ... ")?),
        Runner::Pytest => node(text.strip_suffix(' ')?),
        Runner::Go | Runner::Ctest => None,
    }
}

/// The test of which a whole line says that it ran.
fn behind(runner: Runner, line: &str) -> Option<(Arc<str>, Runner)> {
    let name = match runner {
        Runner::Rust => {
            let (name, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
            named(name).filter(|_| is_result(runner, result))
        }
        Runner::Pytest => {
            let mut blanks = line.match_indices(' ');
            let split = blanks.find_map(|(at, _)| {
                let (name, result) = line.split_at_checked(at)?;
                is_result(runner, result).then_some(name)
            });
            node(split?)
        }
        Runner::Go | Runner::Ctest => None,
    };
    name.map(|name| (name, runner))
}

/// The name of one of Rust's tests, without how it is run.
fn named(text: &str) -> Option<Arc<str>> {
    let mut modes = [" - should panic", " - compile fail", " - compile"].into_iter();
    let name = modes.find_map(|mode| text.strip_suffix(mode));
    let name = name.unwrap_or(text).trim_end();
    (!name.is_empty()).then(|| name.into())
}

/// A node id of pytest: `tests/test_net.py::test_connects`. In front of a worker's result stands
/// the worker: `[gw0]`.
fn node(text: &str) -> Option<Arc<str>> {
    // Where the test was found stands behind it, with `-vv`.
    let name = match text.rsplit_once(" <- ") {
        Some((name, from)) if !from.ends_with(']') => name,
        _ => text,
    };
    let (file, test) = name.split_once("::")?;
    let is_node = !file.is_empty() && !test.is_empty() && !name.trim_start().starts_with('[');
    is_node.then(|| name.into())
}

/// Whether it is a result, whole or as far as it goes: `PASSED   [ 50%]`, `ok <0.001s>`.
fn is_result(runner: Runner, text: &str) -> bool {
    let words: &[&str] = match runner {
        Runner::Go | Runner::Ctest => &[],
        Runner::Pytest => &[
            "PASSED", "FAILED", "SKIPPED", "ERROR", "XFAIL", "XPASS", "RERUN",
        ],
        Runner::Rust => &["ok", "FAILED", "ignored", "bench:"],
    };
    let text = text.trim();
    words.iter().any(|word| {
        let Some(rest) = text.strip_prefix(word) else {
            return false;
        };
        // A reason, a time, or how many tests are over.
        let told = rest.strip_prefix(' ').map(str::trim_start);
        let is_share = |c: char| c.is_ascii_digit() || matches!(c, '[' | ']' | ' ' | '%' | '/');
        let is_told = told.is_some_and(|told| match runner {
            Runner::Rust => *word == "bench:" || told.starts_with(['(', '<']),
            _ => told.starts_with('(') || told.starts_with('[') && told.chars().all(is_share),
        });
        rest.is_empty() || is_told || *word == "ignored" && rest.starts_with(", ")
    })
}

/// A line of Go, which marks its own lines with `-test.v=test2json`.
fn marked(line: &str) -> &str {
    line.strip_prefix('\u{16}').unwrap_or(line)
}

/// What a line of `go test -v` says.
fn of_go(line: &str) -> Option<Said> {
    let line = marked(line);
    let framed = |word: &str| line.strip_prefix(word).map(|name| Arc::from(name.trim()));
    if let Some(name) = framed("=== RUN ") {
        return Some(Said::Begins(name, Runner::Go));
    }
    if let Some(name) = framed("=== CONT ").or_else(|| framed("=== NAME ")) {
        return Some(Said::GoesOn(name));
    }
    if let Some(name) = framed("=== PAUSE ") {
        return Some(Said::Waits(name));
    }
    let mut words = ["--- PASS: ", "--- FAIL: ", "--- SKIP: ", "--- BENCH: "].into_iter();
    let result = words.find_map(|word| line.trim_start().strip_prefix(word))?;
    let name = result.rsplit_once(" (").map_or(result, |(name, _)| name);
    Some(Said::Ended(name.into()))
}
