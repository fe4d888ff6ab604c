//! Data moves one way: which room may name which.

use super::paths::{Named, named};
use super::source::Source;
use super::{expect_none, expect_one_at, planted, repository};
use std::collections::{BTreeMap, BTreeSet};

/// Every room and those that it may name, which stand above it. A new edge is a change of the
/// architecture: say so in the subject of the commit that adds it here.
const ROOMS: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("errors", &["units"]),
    ("sys", &["units"]),
    ("files", &["errors", "sys"]),
    ("attr", &[]),
    ("format", &[]),
    ("record", &["attr", "units"]),
    ("host", &["format", "sys", "units"]),
    ("probes", &["files", "format", "host", "sys", "units"]),
    ("scenario", &["units"]),
    ("merge", &["record", "units"]),
    ("space", &["record", "units"]),
    (
        "perfdata",
        &["attr", "files", "format", "record", "space", "units"],
    ),
    (
        "symbols",
        &["errors", "files", "host", "perfdata", "space", "units"],
    ),
    ("ring", &["merge", "record", "sys", "units"]),
    ("memory", &[]),
    (
        "capture",
        &["attr", "format", "host", "memory", "sys", "units"],
    ),
    (
        "events",
        &[
            "attr", "capture", "host", "memory", "record", "ring", "sys", "units",
        ],
    ),
    ("sandbox", &["files", "host", "scenario", "sys", "units"]),
    ("decode", &["format"]),
    ("print", &["decode", "format"]),
    (
        "script",
        &[
            "attr", "decode", "format", "perfdata", "print", "record", "space", "units",
        ],
    ),
    ("syscall", &["format", "memory", "record", "units"]),
    (
        "trace",
        &["decode", "format", "memory", "space", "syscall", "units"],
    ),
    ("matching", &["scenario", "syscall", "trace"]),
    ("mutate", &["syscall", "trace"]),
    ("calibrate", &["matching", "scenario", "syscall", "trace"]),
    (
        "plan",
        &[
            "attr", "errors", "events", "format", "host", "matching", "memory", "scenario",
            "syscall", "trace", "units",
        ],
    ),
    (
        "verdict",
        &[
            "events", "matching", "plan", "sandbox", "scenario", "syscall", "trace", "units",
        ],
    ),
    ("snapshot", &["files", "units"]),
    ("upgrade", &["syscall"]),
    (
        "suggest",
        &["sandbox", "scenario", "syscall", "trace", "units"],
    ),
    (
        "matrix",
        &[
            "errors", "host", "scenario", "snapshot", "sys", "units", "upgrade", "verdict",
        ],
    ),
    (
        "run",
        &[
            "attr",
            "calibrate",
            "capture",
            "decode",
            "errors",
            "events",
            "files",
            "format",
            "host",
            "matching",
            "memory",
            "merge",
            "mutate",
            "perfdata",
            "plan",
            "print",
            "probes",
            "record",
            "ring",
            "sandbox",
            "scenario",
            "snapshot",
            "space",
            "suggest",
            "symbols",
            "sys",
            "syscall",
            "trace",
            "units",
            "verdict",
        ],
    ),
    (
        "report",
        &[
            "format", "matrix", "plan", "run", "space", "syscall", "trace", "units", "upgrade",
            "verdict",
        ],
    ),
];

/// The room of a file, and how deep its module is below the crate's root.
fn place(path: &str) -> Option<(&str, usize)> {
    let inner = path.strip_prefix("src/")?.strip_suffix(".rs")?;
    let inner = inner.strip_suffix("/mod").unwrap_or(inner);
    let room = inner.split('/').next()?;
    (room != "lib").then(|| (room, inner.split('/').count()))
}

/// The room that a path leads to, if it leaves its own.
fn target(path: &Named, depth: usize) -> Option<&str> {
    let mut segments = path.segments.iter().map(String::as_str).peekable();
    if segments.next_if_eq(&"crate").is_none() {
        let mut supers = 0;
        while segments.next_if_eq(&"super").is_some() {
            supers += 1;
        }
        if supers < depth {
            return None;
        }
    }
    segments
        .next()
        .filter(|name| ROOMS.iter().any(|(room, _)| room == name))
}

/// Every edge that there is, with the place of its first use.
fn edges(sources: &[&Source]) -> BTreeMap<(String, String), String> {
    let mut edges = BTreeMap::new();
    for source in sources {
        let Some((room, depth)) = place(&source.path) else {
            continue;
        };
        for path in named(&source.product) {
            if let Some(to) = target(&path, depth).filter(|to| *to != room) {
                edges
                    .entry((room.to_owned(), to.to_owned()))
                    .or_insert_with(|| format!("{}:{}", source.path, path.line));
            }
        }
    }
    edges
}

fn is_allowed(from: &str, to: &str) -> bool {
    ROOMS
        .iter()
        .any(|(room, may)| *room == from && may.contains(&to))
}

fn unknown_edges(sources: &[&Source]) -> Vec<String> {
    let edges = edges(sources);
    let unknown = edges.iter().filter(|((from, to), _)| !is_allowed(from, to));
    unknown
        .map(|((from, to), place)| {
            format!(
                "{place}: `{from}` names `{to}`, which the table of rooms does not allow: move what it needs to an \
                 earlier room or pass it in; if the edge is right, add it to ROOMS in this test and to \
                 src/ARCHITECTURE.md"
            )
        })
        .collect()
}

#[test]
fn a_room_names_only_the_rooms_that_the_table_allows() {
    expect_none(&unknown_edges(&repository::rust(&["src/"])));
    let backwards = planted(
        "src/record/deep.rs",
        "use crate::{\n    units::Pid,\n    run::Bench,\n};",
    );
    expect_one_at("src/record/deep.rs:3", &unknown_edges(&backwards));
    let relative = planted(
        "src/record/deep.rs",
        "fn f() { super::super::run::follow() }",
    );
    expect_one_at("src/record/deep.rs:1", &unknown_edges(&relative));
    let own = planted("src/record/deep.rs", "use super::run;\nuse std::run;");
    expect_none(&unknown_edges(&own));
}

#[test]
fn the_table_allows_nothing_that_is_not_needed() {
    let edges = edges(&repository::rust(&["src/"]));
    let is_used = |from: &str, to: &str| edges.contains_key(&(from.to_owned(), to.to_owned()));
    let mut complaints = Vec::new();
    for (from, may) in ROOMS {
        for to in may.iter().filter(|to| !is_used(from, to)) {
            complaints.push(format!(
                "ROOMS: `{from}` does not name `{to}` any more: take the edge out"
            ));
        }
    }
    expect_none(&complaints);
}

#[test]
fn a_room_stands_below_the_rooms_that_it_names() {
    let order = |name: &str| ROOMS.iter().position(|(room, _)| *room == name);
    for (place, (room, may)) in ROOMS.iter().enumerate() {
        for to in *may {
            assert!(
                order(to).is_some_and(|to| to < place),
                "ROOMS: `{room}` stands above `{to}`: reorder"
            );
        }
    }
}

#[test]
fn the_rooms_of_the_table_the_crate_and_its_front_page_are_the_same() {
    let rooms: BTreeSet<String> = ROOMS.iter().map(|(room, _)| (*room).to_owned()).collect();
    let lib = repository::read("src/lib.rs");
    let module = |line: &str| {
        line.strip_prefix("pub mod ")?
            .strip_suffix(';')
            .map(str::to_owned)
    };
    let modules: BTreeSet<String> = lib.lines().filter_map(module).collect();
    assert_eq!(modules, rooms, "`pub mod` in src/lib.rs, and ROOMS");
    let page = repository::read("src/ARCHITECTURE.md");
    let row = |line: &str| {
        line.strip_prefix("| [`")?
            .split_once("`]")
            .map(|(room, _)| room.to_owned())
    };
    let described: BTreeSet<String> = page.lines().filter_map(row).collect();
    assert_eq!(
        described, rooms,
        "rows of the table of rooms in src/ARCHITECTURE.md, and ROOMS"
    );
}
