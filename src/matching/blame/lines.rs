//! What a line of a runner says.

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said<'l> {
    /// A test begins.
    Begins(&'l str),
    /// A test goes on, or waits.
    GoesOn(&'l str),
    Waits(&'l str),
    /// A test has ended.
    Ended(&'l str),
    /// A test began and ended unseen.
    Was(&'l str),
    /// A test was passed over.
    Skipped(&'l str),
    /// Other processes run the tests.
    Elsewhere,
}

/// The test that a line without its end begins: what follows is the result.
pub(super) fn beginning(line: &str) -> Option<&str> {
    let rust = line.strip_prefix("test ");
    if let Some(name) = rust.and_then(|line| line.strip_suffix(" ... ")) {
        return (!name.is_empty()).then_some(name);
    }
    let name = line.strip_suffix(' ')?;
    is_node(name).then_some(name)
}

/// Whether it is a node id of pytest: `tests/test_net.py::test_connects`.
pub(super) fn is_node(name: &str) -> bool {
    let Some((file, test)) = name.split_once(".py::") else {
        return false;
    };
    !file.is_empty() && !test.is_empty() && !file.contains(char::is_whitespace)
}

const RESULTS: [&str; 7] = [
    "PASSED", "FAILED", "SKIPPED", "ERROR", "XFAIL", "XPASS", "RERUN",
];

/// A text without blanks and colours in front.
fn without_colours(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some((_, behind)) = rest
        .strip_prefix('\u{1b}')
        .and_then(|colour| colour.split_once('m'))
    {
        rest = behind.trim_start();
    }
    rest
}

/// Whether it is the result of a test whose name stands before it, in colours or not.
pub(super) fn is_result(text: &str) -> bool {
    let rest = without_colours(text);
    let mut results = RESULTS.iter().chain(&["ok", "ignored"]);
    results.any(|result| {
        let behind = rest.strip_prefix(*result);
        behind.is_some_and(|it| !it.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// What a whole line says.
pub(super) fn whole(line: &str) -> Vec<Said<'_>> {
    // With `-test.v=test2json` Go marks its own lines.
    let line = line.strip_prefix('\u{16}').unwrap_or(line);
    let framed = |word: &str| line.strip_prefix(word).map(str::trim);
    if let Some(name) = framed("=== RUN ") {
        return vec![Said::Begins(name)];
    }
    if let Some(name) = framed("=== CONT ").or_else(|| framed("=== NAME ")) {
        return vec![Said::GoesOn(name)];
    }
    if let Some(name) = framed("=== PAUSE ") {
        return vec![Said::Waits(name)];
    }
    let trimmed = line.trim_start();
    for word in ["--- PASS: ", "--- FAIL: ", "--- SKIP: "] {
        if let Some(rest) = trimmed.strip_prefix(word) {
            let name = rest.rsplit_once(" (").map_or(rest, |(name, _)| name);
            return vec![Said::Ended(name)];
        }
    }
    if is_of_worker(line) {
        return vec![Said::Elsewhere];
    }
    let was = |name, result: &str| match result.starts_with("ignored") || result == "SKIPPED" {
        true => Said::Skipped(name),
        false => Said::Was(name),
    };
    if let Some((name, result)) = line
        .strip_prefix("test ")
        .and_then(|line| line.rsplit_once(" ... "))
    {
        return vec![was(name, result)];
    }
    let mut results = RESULTS.iter();
    let node = results.find_map(|result| {
        let (name, _) = line.split_once(&format!(" {result}"))?;
        is_node(name).then(|| was(name, result))
    });
    node.into_iter().collect()
}

/// Whether a worker of pytest-xdist is said to have done it: `[gw0] [ 50%] PASSED test_net.py::a`.
fn is_of_worker(line: &str) -> bool {
    let worker = without_colours(line).strip_prefix("[gw");
    let number = worker.and_then(|behind| behind.split_once(']'));
    number.is_some_and(|(number, _)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}
