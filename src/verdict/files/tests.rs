//! Judging of what was left.

use super::super::finding::Kind;
use super::*;
use crate::scenario::CountRange;

fn there() -> FileAfter {
    FileAfter {
        exists: true,
        ..FileAfter::default()
    }
}

fn holds(text: &str) -> FileAfter {
    FileAfter {
        content: Some(ExpectedOutput::Exact(text.to_owned())),
        ..there()
    }
}

fn file(content: &[u8]) -> LeftFile {
    LeftFile {
        kind: FileType::File,
        mode: 0o644,
        size: content.len() as u64,
        target: Vec::new(),
        content: LeftContent::Whole(content.to_owned()),
    }
}

fn left(files: &[(&str, LeftFile)]) -> Left {
    let files = files
        .iter()
        .map(|(path, file)| (path.as_bytes().to_owned(), file.clone()));
    Left {
        files: files.collect(),
        ..Left::default()
    }
}

fn directory() -> LeftFile {
    LeftFile {
        kind: FileType::Directory,
        ..file(b"")
    }
}

fn judged(expected: &[(&str, FileAfter)], left: &Left) -> Vec<Finding> {
    let expected: Vec<_> = expected
        .iter()
        .map(|(key, wanted)| ((*key).to_owned(), wanted.clone()))
        .collect();
    after(&expected, &Known::Yes(left.clone()))
}

/// What speaks against, where nothing is unknown.
fn against(expected: &[(&str, FileAfter)], left: &Left) -> Vec<String> {
    let findings = judged(expected, left).into_iter();
    let text = |finding: Finding| {
        assert_eq!(finding.kind, Kind::Missed, "{finding}");
        finding.text
    };
    findings.map(text).collect()
}

#[test]
fn text_that_differs_is_shown_line_by_line() {
    let left = left(&[("out", file(b"one\ntwo\n")), ("raw", file(b"\xff"))]);
    assert_eq!(against(&[("out", holds("one\ntwo\n"))], &left), [""; 0]);
    assert_eq!(
        against(&[("out", holds("one\n2\n"))], &left),
        [
            "`out` is not what was expected:\n--- expected\n+++ this run\n@@ -1,2 +1,2 @@\n one\n-2\n+two"
        ]
    );
    let raw = against(&[("raw", holds("x"))], &left);
    assert_eq!(raw, ["expected `raw` to hold \"x\", got \"\u{fffd}\""]);
}

#[test]
fn each_thing_that_is_expected_of_a_file_is_judged() {
    let link = LeftFile {
        kind: FileType::Symlink,
        target: b"a".to_vec(),
        ..file(b"")
    };
    let left = left(&[("f", file(b"abc")), ("l", link), ("d", directory())]);
    let size = |min, max| FileAfter {
        size: Some(CountRange { min, max }),
        ..there()
    };
    let mode = |mode| FileAfter {
        mode: Some(mode),
        ..there()
    };
    let target = |text: &str| FileAfter {
        target: Some(text.to_owned()),
        ..there()
    };
    let kind = |kind| FileAfter {
        kind: Some(kind),
        ..there()
    };
    let good = [
        ("f", size(3, Some(3))),
        ("f", mode(0o644)),
        ("l", target("a")),
        ("d", kind(FileType::Directory)),
        ("x", FileAfter::default()),
    ];
    assert_eq!(against(&good, &left), [""; 0]);
    let bad = [
        ("f", size(4, None)),
        ("f", mode(0o600)),
        ("l", target("b")),
        ("d", holds("x")),
        ("l", kind(FileType::File)),
        ("f", FileAfter::default()),
    ];
    assert_eq!(
        against(&bad, &left),
        [
            "expected `f` to have 4.. bytes, got 3",
            "expected `f` to have mode 0600, got 0644",
            "expected `l` to lead to \"b\", got \"a\"",
            "expected a file at `d` after the run, and there is a directory",
            "expected a file at `l` after the run, and there is a symbolic link to \"a\"",
            "expected no `f` after the run, and there is a file of 3 bytes",
        ]
    );
}

#[test]
fn what_is_missing_is_told_with_what_is_near() {
    let link = LeftFile {
        kind: FileType::Symlink,
        ..file(b"")
    };
    let left = left(&[
        ("sub/out", file(b"")),
        ("config", file(b"")),
        ("link", link),
    ]);
    let missing = |path| against(&[(path, there())], &left).concat();
    let nothing =
        |path| format!("expected something at `{path}` after the run, and there is nothing");
    assert_eq!(missing("out"), nothing("out") + " (but there is `sub/out`)");
    assert_eq!(
        missing("confg"),
        nothing("confg") + " (but there is `config`)"
    );
    assert_eq!(missing("far-away"), nothing("far-away"));
    let followed = " (`link` is a symbolic link, which is not followed)";
    assert_eq!(missing("link/a"), nothing("link/a") + followed);
}

#[test]
fn a_glob_stands_for_all_that_no_path_and_no_glob_before_it_names() {
    let left = left(&[
        ("a", directory()),
        ("a/kept", file(b"k")),
        ("log.1", file(b"one")),
        ("log.2", file(b"two")),
        ("core", file(b"")),
    ]);
    let rest = ("**", FileAfter::default());
    let logs = ("log.*", there());
    let reason = "expected nothing like `**` after the run, and there is a file of 0 bytes, `core`";
    assert_eq!(
        against(&[("a/kept", holds("k")), logs.clone(), rest.clone()], &left),
        [reason]
    );
    let none = against(
        &[("a/kept", holds("k")), logs, ("core", there()), rest],
        &left,
    );
    assert_eq!(none, [""; 0]);
    assert_eq!(
        against(&[("*.tmp", there())], &left),
        ["expected something like `*.tmp` after the run, and there is nothing"]
    );
    let contents = against(&[("log.*", holds("one"))], &left);
    assert_eq!(contents.len(), 1, "{contents:?}");
    assert!(contents[0].starts_with("`log.2` is not"), "{contents:?}");
}

#[test]
fn of_many_that_are_wrong_ten_are_named() {
    let names: Vec<String> = (0..30).map(|n| format!("f{n}")).collect();
    let files: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), file(b"")))
        .collect();
    let reasons = against(&[("f*", FileAfter::default())], &left(&files));
    assert_eq!(reasons.len(), 11);
    assert_eq!(
        reasons.last().map(String::as_str),
        Some("and 20 more for `f*`")
    );
}

#[test]
fn what_was_not_seen_or_read_is_neither_a_pass_nor_a_failure() {
    let mut left = left(&[("big", file(b"")), ("secret", file(b""))]);
    let start = |left: &mut Left, path: &str, content, size| {
        let file = left.files.get_mut(path.as_bytes()).unwrap();
        (file.content, file.size) = (content, size);
    };
    start(&mut left, "big", LeftContent::Start(b"abc".to_vec()), 100);
    let unread = LeftContent::Unread("permission denied".to_owned());
    start(&mut left, "secret", unread, 1);
    left.unseen
        .insert(b"deep".to_vec(), "its path is too long".to_owned());
    let contains = |text: &str| FileAfter {
        content: Some(ExpectedOutput::Contains(text.to_owned())),
        ..there()
    };
    let found = |key, wanted| judged(&[(key, wanted)], &left);
    assert_eq!(found("big", contains("bc")), []);
    let unknown = |key: &str, reason: &str| [Finding::unknown(About::File(key.to_owned()), reason)];
    assert_eq!(
        found("big", contains("x")),
        unknown(
            "big",
            "what `big` holds cannot be judged: it has 100 bytes, of which 3 were read"
        )
    );
    assert_eq!(
        against(&[("big", holds("abc"))], &left).len(),
        1,
        "its size tells"
    );
    assert_eq!(
        found("secret", contains("x")),
        unknown(
            "secret",
            "what `secret` holds cannot be judged: permission denied"
        )
    );
    assert_eq!(
        found("deep/x", FileAfter::default()),
        unknown(
            "deep/x",
            "whether there is `deep/x` cannot be told: its path is too long"
        )
    );
    assert_eq!(
        found("*.tmp", FileAfter::default()),
        unknown(
            "*.tmp",
            "whether all is seen of `*.tmp` cannot be told: `deep`: its path is too long"
        )
    );
}

#[test]
fn only_contents_that_are_judged_are_read() {
    let expected = [
        ("a".to_owned(), holds("")),
        ("*.log".to_owned(), holds("")),
        ("b".to_owned(), there()),
    ];
    let reads = |path: &str| reads_content(&expected, path.as_bytes());
    assert_eq!(
        ["a", "x.log", "b", "c"].map(reads),
        [true, true, false, false]
    );
}
