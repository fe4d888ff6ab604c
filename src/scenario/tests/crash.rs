//! What a power cut may leave.

use crate::crash::Model;
use crate::scenario::{self, CrashSpec, Promises, Rings};
use std::path::Path;

const REFERENCE: &str = include_str!("../../../scenarios/README.md");

fn read(crash: &str) -> Result<CrashSpec, (String, usize, usize)> {
    let text = format!(
        "description: d\nworkload: {{ run: [ls], env: {{ A: b }}, stdin: x, files: {{ f: x }} }}\n{crash}\n"
    );
    match scenario::read(Path::new("x.yaml"), &text) {
        Ok(scenario) => Ok(scenario.crash.expect("the key")),
        Err(complaint) => Err((complaint.message, complaint.line, complaint.column)),
    }
}

#[test]
fn what_is_not_written_is_the_least_that_may_be_relied_on() {
    let crash = read("crash: { recovers: { run: [./check] } }").expect("crash");
    assert_eq!(crash.model.name, "posix");
    assert_eq!((crash.states, crash.seed), (5000, 0));
    assert_eq!(crash.acknowledged, Promises::Stdout);
    assert_eq!(crash.io_uring, Rings::Refuse);
    assert_eq!(crash.recovers.env.get("A").map(String::as_str), Some("b"));
    assert!(crash.recovers.stdin.is_none() && crash.expect.exit.is_none());
}

#[test]
fn a_model_is_one_by_name_or_differs_from_one() {
    let model = |model: &str| {
        let text = format!("crash: {{ model: {model}, recovers: {{ run: [x] }} }}");
        read(&text).expect("crash").model
    };
    assert!(model("ext4").sync_commits && model("ordered").in_order);
    let differs = model("{ base: ext4, torn: 1KiB }");
    assert_eq!((differs.torn, differs.sync_commits), (1024, true));
    // Reports do not take it for the model that it differs from.
    assert_eq!(differs.name, "ext4, torn: 1024");
    let differs = model("{ base: posix, page: 0, sync_commits: true, moves_whole: false }");
    let expected = Model {
        name: "posix, page: 0, sync_commits: true, moves_whole: false".to_owned(),
        page: 0,
        sync_commits: true,
        ..Model::default()
    };
    assert_eq!(differs, expected);
}

#[test]
fn the_reference_shows_what_each_model_says_and_each_key_of_it_may_differ() {
    let row = |key: &str| {
        let begins = format!("| `{key}` |");
        let row = REFERENCE.lines().find(|line| line.starts_with(&begins));
        let cells = row.unwrap_or_else(|| panic!("{key}")).split('|');
        let cells: Vec<&str> = cells.map(str::trim).skip(3).collect();
        cells[..Model::NAMES.len()].to_vec()
    };
    for (column, base) in Model::NAMES.into_iter().enumerate() {
        // What every key says of it makes any other model the same.
        for other in Model::NAMES {
            let of = |key: &str| {
                let value = match row(key)[column] {
                    "yes" => "true",
                    "no" => "false",
                    number => number,
                };
                format!(", {key}: {value}")
            };
            let written: String = KEYS.into_iter().map(of).collect();
            let text = format!(
                "crash: {{ model: {{ base: {other}{written} }}, recovers: {{ run: [x] }} }}"
            );
            let model = read(&text).expect("crash").model;
            let name = base.to_owned();
            assert_eq!(Some(Model { name, ..model }), Model::named(base), "{base}");
        }
    }
}

/// The keys of a model.
const KEYS: [&str; 12] = [
    "torn",
    "page",
    "size_after_data",
    "folders_in_order",
    "sync_commits",
    "sync_brings_name",
    "replace_after_data",
    "exchange_touches",
    "moves_whole",
    "sync_all_flushes",
    "emptied_uncovers",
    "in_order",
];

#[test]
fn a_power_cut_changes_the_folders_that_are_watched_or_all() {
    let watch = |watch: &str| {
        let text = format!("crash: {{ {watch} recovers: {{ run: [x] }} }}");
        read(&text).expect("crash").watch
    };
    assert!(watch("").has(b"") && watch("watch: [a, .],").has(b"b"));
    assert_eq!(watch("watch: [a/b],").folders(), [b"a/b".to_vec()]);
}

#[test]
fn promises_are_made_on_a_stream_or_by_a_socket_of_one_address() {
    let promises = |written: &str| {
        let text = format!("crash: {{ acknowledged: {written}, recovers: {{ run: [x] }} }}");
        read(&text).map(|crash| crash.acknowledged)
    };
    assert_eq!(promises("stderr"), Ok(Promises::Stderr));
    assert_eq!(promises("{ port: 7000 }"), Ok(Promises::Port(7000)));
    let socket = Promises::Socket("@kv".to_owned());
    assert_eq!(promises("{ socket: '@kv' }"), Ok(socket));
    for wrong in [
        "{ port: 0 }",
        "{ port: 70000 }",
        "{ socket: '' }",
        "{ socket: '@' }",
        "{ port: 7000, socket: kv }",
        "{}",
        "socket",
    ] {
        assert!(promises(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_cannot_be_is_refused_at_its_place() {
    for (crash, message, line, column) in [
        (
            "crash: { model: posix }",
            "`crash` lacks the key `recovers`",
            3,
            8,
        ),
        (
            "crash: { recovers: {} }",
            "`recovers` needs `run` or `shell`",
            3,
            20,
        ),
        (
            "crash: { model: minix, recovers: { run: [x] } }",
            "must be `posix`, `ext4`, `xfs`, `btrfs`, `ordered`, or a mapping with `base`, not `minix`",
            3,
            17,
        ),
        (
            "crash: { states: 0, recovers: { run: [x] } }",
            "above zero",
            3,
            18,
        ),
        (
            "crash: { watch: [], recovers: { run: [x] } }",
            "`watch` names no folder",
            3,
            17,
        ),
        (
            "crash: { watch: [a, ../b], recovers: { run: [x] } }",
            "cannot leave the working directory by `..`",
            3,
            21,
        ),
        (
            "crash: { watch: [/var], recovers: { run: [x] } }",
            "relative to the working directory",
            3,
            18,
        ),
        (
            "crash: { watch: [f/g], recovers: { run: [x] } }",
            "`f` is a file here, not a folder",
            3,
            18,
        ),
        (
            "crash: { recovers: { run: [x], expect: { sequence: [] } } }",
            "unknown key `sequence`",
            3,
            42,
        ),
        (
            "crash: { recovers: { run: [x] } }\nfaults: [{ fsync: { error: EIO } }]",
            "a run with `crash` has no `faults`",
            3,
            1,
        ),
    ] {
        let (said, at_line, at_column) = read(crash).expect_err(crash);
        assert!(said.contains(message), "{crash}: {said}");
        assert_eq!((at_line, at_column), (line, column), "{crash}: {said}");
    }
}
