//! What may stand in which room.

use super::paths::named;
use super::source::{Source, line_of};
use super::{expect_none, expect_one_at, planted, repository};

/// What does no I/O and reads no clock: folders.
const PURE: &[&str] = &[
    "perf/record",
    "perf/format",
    "perf/attr",
    "perf/decode",
    "perf/print",
    "perf/script",
    "perf/space",
    "calls",
    "trace",
    "matching",
    "mutate",
    "sweep",
    "policy",
    "calibrate",
    "plan",
    "verdict",
    "suggest",
    "upgrade",
];

/// What a pure room may not name, as the start of a path.
const EFFECTS: &[&[&str]] = &[
    &["std", "fs"],
    &["std", "net"],
    &["std", "process"],
    &["std", "env"],
    &["std", "thread"],
    &["std", "os"],
    &["std", "io", "stdin"],
    &["std", "io", "stdout"],
    &["std", "io", "stderr"],
    &["std", "time", "Instant"],
    &["std", "time", "SystemTime"],
    &["std", "fs", "File"],
    &["perf_live", "sys"],
    &["tempfile"],
];

/// Pseudo file systems named outside `host`: the file, the word, and why.
const PSEUDO_PATHS: &[(&str, &str, &str)] = &[
    ("src/live/sandbox/world.rs", "/proc", "the sandbox's own"),
    ("src/live/files/output/nameless.rs", "/proc", "linkat(2)"),
    ("src/matrix/init.rs", "/proc", "where a guest mounts it"),
    ("src/matrix/init.rs", "/sys", "where a guest mounts it"),
    ("src/matrix/root.rs", "/proc", "where a guest mounts it"),
    ("src/matrix/root.rs", "/sys", "where a guest mounts it"),
    ("src/upgrade/pseudo.rs", "/proc", "a path in a trace"),
    ("src/upgrade/pseudo.rs", "/sys", "a path in a trace"),
    ("src/matching/confined/table.rs", "/proc", "in a trace"),
    ("src/matching/confined/table.rs", "/sys", "in a trace"),
    ("harness/src/doctor.rs", "/proc", "a word in a remedy"),
    ("harness/src/doctor.rs", "/sys", "a word in a remedy"),
];

/// The longest that a file may be, its unit tests not counted.
const LONGEST: usize = 400;

/// The longest that a file of tests may be: cases in a row read well enough.
const LONGEST_TESTS: usize = 600;

/// Longer files, and why.
const LONG: &[(&str, &str)] = &[
    ("src/calls/names.rs", "a table"),
    ("src/calls/constants/tables.rs", "generated"),
];

/// The lines in which a word stands in product code, not as part of a longer one.
fn lines_with_word(source: &Source, word: &str) -> Vec<usize> {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let product = &source.product;
    let whole = |at: usize| {
        let before = product.get(..at).and_then(|text| text.chars().next_back());
        let after = source
            .product
            .get(at + word.len()..)
            .and_then(|text| text.chars().next());
        !is_word(before) && !is_word(after)
    };
    let places = product.match_indices(word).map(|(at, _)| at);
    let places = places.filter(|at| whole(*at));
    places.map(|at| line_of(product, at)).collect()
}

fn outside<'a>(sources: &'a [&Source], folder: &'a str) -> impl Iterator<Item = &'a Source> {
    sources.iter().copied().filter(move |source| {
        !source.path.starts_with(&format!("{folder}/")) && source.path != format!("{folder}.rs")
    })
}

fn unsafe_outside_sys(sources: &[&Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in outside(sources, "src/live/sys") {
        for line in lines_with_word(source, "unsafe") {
            complaints.push(format!(
                "{}:{line}: `unsafe` outside of src/live/sys: add a safe function there, one system call each, and call \
                 that",
                source.path
            ));
        }
    }
    complaints
}

#[test]
fn unsafe_code_is_only_in_sys() {
    let sources = repository::rust(&["src/", "harness/src/"]);
    expect_none(&unsafe_outside_sys(&sources));
    let bad = planted(
        "src/live/ring.rs",
        "// unsafe\n#[expect(unsafe_code)]\nfn f() { unsafe { g() } }",
    );
    expect_one_at("src/live/ring.rs:3", &unsafe_outside_sys(&bad));
    expect_none(&unsafe_outside_sys(&planted(
        "src/live/sys/ring.rs",
        "unsafe { g() }",
    )));
}

/// Whether a literal holds a path of a pseudo file system.
fn pseudo_path(text: &str) -> Option<&'static str> {
    let is_there = |root: &str| {
        text.match_indices(root).any(|(at, _)| {
            let after = text
                .get(at + root.len()..)
                .and_then(|rest| rest.chars().next());
            !after.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        })
    };
    ["/proc", "/sys"].into_iter().find(|root| is_there(root))
}

fn pseudo_paths_outside_host(sources: &[&Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in outside(sources, "src/live/host") {
        for literal in source.literals.iter().filter(|literal| !literal.in_test) {
            let Some(root) = pseudo_path(&literal.text) else {
                continue;
            };
            let excused = |entry: &(&str, &str, &str)| entry.0 == source.path && entry.1 == root;
            if !PSEUDO_PATHS.iter().any(excused) {
                complaints.push(format!(
                    "{}:{}: a path below {root} outside of src/live/host: ask `host` for the fact, so that a captured tree \
                     can answer too",
                    source.path, literal.line
                ));
            }
        }
    }
    complaints
}

#[test]
fn pseudo_file_systems_are_named_only_in_host() {
    let sources = repository::rust(&["src/", "harness/src/"]);
    expect_none(&pseudo_paths_outside_host(&sources));
    for (path, root, why) in PSEUDO_PATHS {
        let found = sources.iter().find(|source| source.path == *path);
        let literals = found.map_or([].as_slice(), |source| source.literals.as_slice());
        let is_used = literals
            .iter()
            .any(|literal| pseudo_path(&literal.text) == Some(*root));
        assert!(
            is_used,
            "PSEUDO_PATHS: {path} does not name {root} any more ({why}): take it out"
        );
    }
    let bad = planted(
        "src/plan/mod.rs",
        "// \"/proc\"\nf(\"/processes /system\");\ng(\"/sys/kernel\");",
    );
    expect_one_at("src/plan/mod.rs:3", &pseudo_paths_outside_host(&bad));
}

fn yaml_outside_scenario(sources: &[&Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in outside(sources, "src/scenario") {
        for path in named(&source.product) {
            let first = path.segments.first().map_or("", String::as_str);
            if first.contains("yaml") || first.starts_with("saphyr") {
                complaints.push(format!(
                    "{}:{}: `{first}` outside of src/scenario: no other room knows YAML; let `scenario` give a typed \
                     value",
                    source.path, path.line
                ));
            }
        }
    }
    complaints
}

#[test]
fn yaml_is_known_only_to_scenario() {
    let sources = repository::rust(&["src/", "harness/src/"]);
    expect_none(&yaml_outside_scenario(&sources));
    let bad = planted("src/plan/mod.rs", "use std::fs;\nuse serde_yaml::Value;");
    expect_one_at("src/plan/mod.rs:2", &yaml_outside_scenario(&bad));
}

fn terminal_in_library(sources: &[&Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut complain = |source: &Source, line: usize, what: &str| {
        complaints.push(format!(
            "{}:{line}: `{what}` in the library, which neither prints nor exits: return it, or append to a `String`; \
             harness/src prints",
            source.path
        ));
    };
    for source in sources {
        for word in ["println", "eprintln", "print", "eprint", "dbg"] {
            for line in lines_with_word(source, word) {
                let text = source.product.lines().nth(line - 1).unwrap_or_default();
                if text.contains(&format!("{word}!")) {
                    complain(source, line, &format!("{word}!"));
                }
            }
        }
        for path in named(&source.product) {
            let path_is = |wanted: &[&str]| {
                path.segments
                    .iter()
                    .map(String::as_str)
                    .eq(wanted.iter().copied())
            };
            if path_is(&["std", "process", "exit"]) || path_is(&["process", "exit"]) {
                complain(source, path.line, "process::exit");
            }
        }
    }
    complaints
}

#[test]
fn the_library_neither_prints_nor_exits() {
    expect_none(&terminal_in_library(&repository::rust(&["src/"])));
    let bad = planted(
        "src/run/mod.rs",
        "fn print(text: &str) {}\nstd::eprintln!(\"a\");",
    );
    expect_one_at("src/run/mod.rs:2", &terminal_in_library(&bad));
    let bad = planted("src/run/mod.rs", "use std::process::{self, exit};");
    expect_one_at("src/run/mod.rs:1", &terminal_in_library(&bad));
}

fn is_pure(path: &str) -> bool {
    PURE.iter()
        .any(|room| path == format!("src/{room}.rs") || path.starts_with(&format!("src/{room}/")))
}

fn effects_in_pure_rooms(sources: &[&Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|source| is_pure(&source.path)) {
        for path in named(&source.product) {
            let starts = |effect: &&&[&str]| {
                path.segments.len() >= effect.len()
                    && path
                        .segments
                        .iter()
                        .zip(effect.iter())
                        .all(|(segment, wanted)| segment == wanted)
            };
            if let Some(effect) = EFFECTS.iter().find(starts) {
                complaints.push(format!(
                    "{}:{}: `{}` in a room that does no I/O and reads no clock: let the caller do it and pass the \
                     result in",
                    source.path,
                    path.line,
                    effect.join("::")
                ));
            }
        }
    }
    complaints
}

#[test]
fn pure_rooms_do_no_io_and_read_no_clock() {
    expect_none(&effects_in_pure_rooms(&repository::rust(&["src/"])));
    let bad = planted("src/verdict.rs", "use std::time::{Duration, Instant};");
    expect_one_at("src/verdict.rs:1", &effects_in_pure_rooms(&bad));
    let tested = planted(
        "src/verdict.rs",
        "#[cfg(test)]\nmod tests { use std::fs; }\nuse std::fmt;",
    );
    expect_none(&effects_in_pure_rooms(&tested));
}

fn long_files(sources: &[&Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        let length = source.text.lines().count() - source.test_lines;
        let longest = if source.is_test {
            LONGEST_TESTS
        } else {
            LONGEST
        };
        let excuse = LONG.iter().find(|(path, _)| *path == source.path);
        match (length > longest, excuse) {
            (true, None) => complaints.push(format!(
                "{}:{longest}: the file has {length} lines, its unit tests not counted: split it by what its parts are \
                 for",
                source.path
            )),
            (false, Some((path, why))) => complaints.push(format!(
                "{path}:{length}: the file is short enough now: take it out of LONG in this test ({why})"
            )),
            _ => {}
        }
    }
    complaints
}

#[test]
fn files_stay_short() {
    expect_none(&long_files(&repository::all()));
    let bad = planted("src/live/ring.rs", &"f();\n".repeat(LONGEST + 1));
    expect_one_at("src/live/ring.rs:400", &long_files(&bad));
    let tested = format!(
        "{}#[cfg(test)]\nmod tests {{\n}}\n",
        "f();\n".repeat(LONGEST)
    );
    expect_none(&long_files(&planted("src/live/ring.rs", &tested)));
}

fn handles_that_can_be_cloned(sources: &[&Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources {
        let mut derives_clone = false;
        for (line, text) in source.product.lines().enumerate() {
            let words: Vec<&str> = text
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .collect();
            if text.trim_start().starts_with("#[derive(") {
                derives_clone = words.contains(&"Clone");
            }
            let name = words
                .iter()
                .skip_while(|word| !matches!(**word, "struct" | "enum"))
                .nth(1);
            let Some(name) = name else { continue };
            let drops = sources
                .iter()
                .any(|source| source.product.contains(&format!("Drop for {name} ")));
            if derives_clone && drops {
                complaints.push(format!(
                    "{}:{}: `{name}` is `Clone` and has a `Drop`: a copy's end would undo what the other still uses",
                    source.path,
                    line + 1
                ));
            }
            derives_clone = false;
        }
    }
    complaints
}

#[test]
fn nothing_with_a_drop_can_be_cloned() {
    expect_none(&handles_that_can_be_cloned(&repository::rust(&["src/"])));
    let bad = planted(
        "src/live/ring.rs",
        "#[derive(Debug, Clone)]\npub struct Ring;\nimpl Drop for Ring {\n}",
    );
    expect_one_at("src/live/ring.rs:2", &handles_that_can_be_cloned(&bad));
}

fn causes_told_twice(sources: &[&Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources {
        for (line, text) in source.text.lines().enumerate() {
            if text.trim_start().starts_with("#[error(\"") && text.contains("{source") {
                complaints.push(format!(
                    "{}:{}: the message repeats its source, which `run::chain` adds: leave it out here",
                    source.path,
                    line + 1
                ));
            }
        }
    }
    complaints
}

#[test]
fn no_error_repeats_its_source() {
    expect_none(&causes_told_twice(&repository::rust(&["src/"])));
    let bad = planted(
        "src/live/host/mod.rs",
        "#[error(\"cannot read `{path}`: {source}\")]",
    );
    expect_one_at("src/live/host/mod.rs:1", &causes_told_twice(&bad));
}
