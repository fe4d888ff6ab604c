//! What a power cut may leave.

use crate::scenario::{self, CrashSpec, Promises};
use std::path::Path;

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
}

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
