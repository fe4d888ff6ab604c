//! Data moves one way: which room may name which.

use super::paths::{Named, named};
use super::source::Source;
use super::{expect_none, expect_one_at, planted, repository};
use std::collections::{BTreeMap, BTreeSet};

/// A crate below the root: its name, its folder, and its rooms with those that each may name, which
/// stand above it. What a crate may name of another, the compiler holds. A new edge is a change of
/// the architecture: say so in the subject of the commit that adds it here.
struct Crate {
    name: &'static str,
    folder: &'static str,
    rooms: Rooms,
}

const CRATES: &[Crate] = &[
    Crate {
        name: "perf_records",
        folder: "src/perf/",
        rooms: PERF_RECORDS,
    },
    Crate {
        name: "syscall_model",
        folder: "src/calls/",
        rooms: &[],
    },
    Crate {
        name: "perf_live",
        folder: "src/live/",
        rooms: PERF_LIVE,
    },
    // Last: the others lie in its folder.
    Crate {
        name: "trace_harness",
        folder: "src/",
        rooms: TRACE_HARNESS,
    },
];

type Rooms = &'static [(&'static str, &'static [&'static str])];

const PERF_RECORDS: Rooms = &[
    ("units", &[]),
    ("attr", &[]),
    ("format", &[]),
    ("glob", &[]),
    ("record", &["attr", "units"]),
    ("merge", &["record", "units"]),
    ("space", &["record", "units"]),
    ("perfdata", &["attr", "format", "record", "space", "units"]),
    ("decode", &["format"]),
    ("print", &["decode", "format"]),
    (
        "script",
        &[
            "attr", "decode", "format", "glob", "perfdata", "print", "record", "space", "units",
        ],
    ),
];

const PERF_LIVE: Rooms = &[
    ("units", &[]),
    ("errors", &[]),
    ("sys", &["units"]),
    ("files", &["errors", "sys"]),
    ("elf", &["files"]),
    ("host", &["sys", "units"]),
    ("probes", &["elf", "files", "host", "sys", "units"]),
    ("symbols", &["elf", "errors", "files", "host"]),
    ("ring", &["sys"]),
    ("capture", &["host", "ring", "sys"]),
    ("events", &["capture", "host", "ring", "sys"]),
    ("gate", &["host", "sys"]),
    ("sandbox", &["files", "gate", "host", "sys", "units"]),
];

const TRACE_HARNESS: Rooms = &[
    ("crash", &[]),
    ("scenario", &["crash"]),
    ("trace", &[]),
    ("matching", &["scenario", "trace"]),
    ("policy", &[]),
    ("mutate", &["trace"]),
    ("calibrate", &["matching", "scenario", "trace"]),
    ("plan", &["crash", "matching", "scenario", "trace"]),
    (
        "verdict",
        &["crash", "matching", "plan", "policy", "scenario", "trace"],
    ),
    (
        "sweep",
        &["matching", "plan", "scenario", "trace", "verdict"],
    ),
    ("snapshot", &[]),
    ("upgrade", &["verdict"]),
    ("suggest", &["matching", "scenario", "trace", "verdict"]),
    ("matrix", &["scenario", "snapshot", "upgrade", "verdict"]),
    (
        "run",
        &[
            "calibrate",
            "crash",
            "matching",
            "mutate",
            "plan",
            "policy",
            "scenario",
            "snapshot",
            "sweep",
            "trace",
            "verdict",
        ],
    ),
    (
        "report",
        &[
            "matching", "matrix", "mutate", "plan", "run", "sweep", "trace", "upgrade", "verdict",
        ],
    ),
    ("testing", &["report", "run", "scenario", "verdict"]),
];

/// The crate and the room of a file, and how deep its module is below the crate's root.
fn place(path: &str) -> Option<(&'static Crate, &str, usize)> {
    let home = CRATES.iter().find(|home| path.starts_with(home.folder))?;
    let inner = path.strip_prefix(home.folder)?.strip_suffix(".rs")?;
    let inner = inner.strip_suffix("/mod").unwrap_or(inner);
    let room = inner.split('/').next()?;
    let is_room = home.rooms.iter().any(|(name, _)| *name == room);
    is_room.then(|| (home, room, inner.split('/').count()))
}

/// The room of the same crate that a path leads to, if it leaves its own.
fn target<'a>(home: &Crate, path: &'a Named, depth: usize) -> Option<&'a str> {
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
        .filter(|name| home.rooms.iter().any(|(room, _)| room == name))
}

/// Every edge that there is, with the place of its first use: the crate, from, to.
type Edges = BTreeMap<(&'static str, String, String), String>;

fn edges(sources: &[&Source]) -> Edges {
    let mut edges = BTreeMap::new();
    for source in sources {
        let Some((home, room, depth)) = place(&source.path) else {
            continue;
        };
        for path in named(&source.product) {
            if let Some(to) = target(home, &path, depth).filter(|to| *to != room) {
                edges
                    .entry((home.name, room.to_owned(), to.to_owned()))
                    .or_insert_with(|| format!("{}:{}", source.path, path.line));
            }
        }
    }
    edges
}

fn is_allowed(name: &str, from: &str, to: &str) -> bool {
    let mut rooms = CRATES
        .iter()
        .filter(|home| home.name == name)
        .flat_map(|home| home.rooms);
    rooms.any(|(room, may)| *room == from && may.contains(&to))
}

fn unknown_edges(sources: &[&Source]) -> Vec<String> {
    let edges = edges(sources);
    let unknown = edges
        .iter()
        .filter(|((home, from, to), _)| !is_allowed(home, from, to));
    unknown
        .map(|((home, from, to), place)| {
            format!(
                "{place}: in {home} `{from}` names `{to}`, which the table of rooms does not allow: move what it needs \
                 to an earlier room or pass it in; if the edge is right, add it to the tables in this test and to \
                 src/ARCHITECTURE.md"
            )
        })
        .collect()
}

#[test]
fn a_room_names_only_the_rooms_that_the_table_allows() {
    expect_none(&unknown_edges(&repository::rust(&["src/"])));
    let backwards = planted(
        "src/perf/record/deep.rs",
        "use crate::{\n    units::Pid,\n    script::Line,\n};",
    );
    expect_one_at("src/perf/record/deep.rs:3", &unknown_edges(&backwards));
    let relative = planted(
        "src/perf/record/deep.rs",
        "fn f() { super::super::script::follow() }",
    );
    expect_one_at("src/perf/record/deep.rs:1", &unknown_edges(&relative));
    let own = planted(
        "src/perf/record/deep.rs",
        "use super::script;\nuse std::script;",
    );
    expect_none(&unknown_edges(&own));
}

#[test]
fn the_tables_allow_nothing_that_is_not_needed() {
    let edges = edges(&repository::rust(&["src/"]));
    let mut complaints = Vec::new();
    for home in CRATES {
        for (from, may) in home.rooms {
            let is_used =
                |to: &str| edges.contains_key(&(home.name, (*from).to_owned(), to.to_owned()));
            for to in may.iter().filter(|to| !is_used(to)) {
                complaints.push(format!(
                    "{}: `{from}` does not name `{to}` any more: take the edge out",
                    home.name
                ));
            }
        }
    }
    expect_none(&complaints);
}

#[test]
fn a_room_stands_below_the_rooms_that_it_names() {
    for home in CRATES {
        let order = |name: &str| home.rooms.iter().position(|(room, _)| *room == name);
        for (place, (room, may)) in home.rooms.iter().enumerate() {
            for to in *may {
                assert!(
                    order(to).is_some_and(|to| to < place),
                    "{}: `{room}` stands above `{to}`: reorder",
                    home.name
                );
            }
        }
    }
}

#[test]
fn the_rooms_of_the_tables_the_crates_and_the_front_page_are_the_same() {
    let module = |line: &str| {
        line.strip_prefix("pub mod ")?
            .strip_suffix(';')
            .map(str::to_owned)
    };
    let mut all = BTreeSet::from(["calls".to_owned()]);
    for home in CRATES.iter().filter(|home| !home.rooms.is_empty()) {
        let rooms: BTreeSet<String> = home
            .rooms
            .iter()
            .map(|(room, _)| (*room).to_owned())
            .collect();
        let lib = format!("{}lib.rs", home.folder);
        let modules: BTreeSet<String> = repository::read(&lib).lines().filter_map(module).collect();
        assert_eq!(modules, rooms, "`pub mod` in {lib}, and the table");
        all.extend(rooms);
    }
    let page = repository::read("src/ARCHITECTURE.md");
    let row = |line: &str| {
        line.strip_prefix("| [`")?
            .split_once("`]")
            .map(|(room, _)| room.to_owned())
    };
    let described: BTreeSet<String> = page.lines().filter_map(row).collect();
    assert_eq!(
        described, all,
        "rows of the tables of rooms in src/ARCHITECTURE.md, and those of this test"
    );
}
