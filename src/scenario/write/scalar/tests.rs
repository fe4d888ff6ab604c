//! Strings that are easily taken for something else, written and read back.

use super::*;
use crate::scenario::diagnostic::Source;
use crate::scenario::places::Places;
use serde_yaml::Value;
use std::path::Path;

/// What is easily taken for something else.
pub(in crate::scenario) const HOSTILE: &[&str] = &[
    "",
    " ",
    "  ",
    "a",
    "a b",
    " a",
    "a ",
    "yes",
    "No",
    "ON",
    "off",
    "y",
    "N",
    "true",
    "False",
    "null",
    "Null",
    "~",
    "0",
    "1",
    "-1",
    "+1",
    "0x1",
    "0X1f",
    "0o7",
    "0777",
    "0b1",
    "1_000",
    "1e3",
    "1.5",
    ".5",
    "-.5",
    "+.5e9",
    ".inf",
    "-.INF",
    ".NaN",
    "1:30",
    "190:20:30",
    "2001-12-14",
    "2001-12-14T21:59:43Z",
    "12e03",
    "0xg",
    "2.txt",
    "10.0.0.1",
    "$a",
    "${a}",
    "$",
    ": ",
    ":",
    "a:",
    "a: b",
    "a:b",
    "a::b",
    "a :b",
    "#",
    "a #b",
    "a#b",
    " #",
    "-",
    "--",
    "---",
    "--- a",
    "...",
    "... a",
    "..",
    ".",
    "-a",
    "- a",
    "--long=x",
    "?",
    "? a",
    "?a",
    "!",
    "!futex",
    "!!str",
    "&a",
    "*a",
    "*",
    "|",
    ">",
    "%net",
    "@",
    "@a",
    "`",
    "`a`",
    "'",
    "''",
    "\"",
    "\"\"",
    "\\",
    "\\n",
    "'a",
    "\"a",
    "it's",
    "say \"x\"",
    "it's \"x\"",
    "\\d+'\"",
    ",",
    "a,b",
    "[",
    "]",
    "[a]",
    "{",
    "}",
    "{a: b}",
    "a]",
    "a}",
    "=",
    "<<",
    "a=b",
    "/usr/lib",
    "rename*",
    "1..=4",
    "2..",
    "..=3",
    "\n",
    "\n\n",
    "a\n",
    "a\nb",
    "a\nb\n",
    "a\n\nb\n",
    "a\n\n",
    "a\n\n\n",
    "\na\n",
    "\n\na",
    " a\nb\n",
    "a\n b\n",
    "\ta\nb\n",
    "a\n\tb\n",
    "\n a\nb\n",
    "a \nb\n",
    "a\n \nb\n",
    "a\n\t\nb\n",
    " \na\n",
    "a\t",
    "\t",
    "a\tb",
    "a\r\nb\r\n",
    "\r",
    "a\r",
    "\r\n",
    "#!/bin/sh\nexit 0\n",
    "- a\n- b\n",
    "a: b\nc: d\n",
    "---\na\n",
    "...\n",
    "%YAML 1.2\n---\n",
    "# only\n",
    "\u{0}",
    "a\0b",
    "\u{1}",
    "\u{7f}",
    "\u{85}",
    "a\u{85}b\n",
    "\u{a0}",
    "\u{ad}",
    "\u{200b}",
    "\u{2028}",
    "a\u{2029}b\nc\n",
    "\u{feff}",
    "\u{feff}a\n",
    "\u{fffe}",
    "\u{ffff}",
    "\u{fffd}",
    "ü",
    "grüß dich 日本",
    "🎉",
    "🎉\n🎉\n",
    "e\u{301}",
    "\u{301}",
    "\u{202e}abc",
    "\u{e000}",
    "\u{10ffff}",
    "हिन्दी",
    "１２",
    "²",
    "Ⅷ",
];

/// What both parsers read in `document` under `a`, which must be a string or a list that holds
/// nothing else.
fn read_back(document: &str) -> Value {
    let source = Source::new(Path::new("x.yaml"), document);
    if let Err(complaint) = Places::parse(&source) {
        panic!("{document:?}: {complaint}");
    }
    let value: Value =
        serde_yaml::from_str(document).unwrap_or_else(|error| panic!("{document:?}: {error}"));
    value["a"].clone()
}

fn check(text: &str) {
    let expected = Value::String(text.to_owned());
    let (flow, line) = (flow(text), line(text));
    let list = Value::Sequence(vec![expected.clone(), expected.clone()]);
    assert_eq!(
        read_back(&format!("a: [{flow}, {flow}]\n")),
        list,
        "{flow:?}"
    );
    assert_eq!(
        read_back(&format!("a: [ {flow},{flow} ] # c\n")),
        list,
        "{flow:?}"
    );
    assert_eq!(
        read_back(&format!("a:\n  - {flow}\n  - {flow}\n")),
        list,
        "{flow:?}"
    );
    assert_eq!(
        read_back(&format!("a: {line} # c\nb: c\n")),
        expected,
        "{line:?}"
    );
    let mapping = read_back(&format!("a: {{ {flow}: b }}\n"));
    assert_eq!(
        mapping.as_mapping().unwrap().keys().next(),
        Some(&expected),
        "{flow:?}"
    );
    if let Some(block) = block(text, 2) {
        let document = format!("a: {block}\nc: d\n");
        assert_eq!(read_back(&document), expected, "{document:?}");
        assert_eq!(read_back(&format!("a: {block}\n")), expected);
    }
    if let Some(block) = block(text, 14) {
        let document = format!("a:\n            b: {block}\n            c: d\n");
        assert_eq!(read_back(&document)["b"], expected, "{document:?}");
    }
}

#[test]
fn whatever_string_is_written_is_read_back() {
    for text in HOSTILE {
        check(text);
    }
    // Each pair of the odd characters, in front of, within and behind a word.
    let odd: Vec<char> = " \t\n\r:#,-?[]{}&*!|>'\"%@`~=<.$\\0x\u{85}\u{2028}é"
        .chars()
        .collect();
    for first in &odd {
        for second in &odd {
            for text in [
                format!("{first}{second}"),
                format!("a{first}{second}b"),
                format!("{first}a{second}"),
                format!("a\n{first}{second}b\n"),
            ] {
                check(&text);
            }
        }
    }
}

#[test]
fn quotes_are_only_where_they_are_needed() {
    for plain in [
        "ls",
        "-l",
        "--color=never",
        "/usr/bin",
        "a.txt",
        "2.html",
        "sched:sched_switch",
        "grüß",
        "$fd",
        "if=/dev/zero",
        "C.UTF-8",
        ".",
        "onward",
    ] {
        assert_eq!(flow(plain), plain);
    }
    assert_eq!(
        line("mv keeps what it replaces, if told so"),
        "mv keeps what it replaces, if told so"
    );
    for (text, written) in [
        ("yes", r#""yes""#),
        ("0x1", r#""0x1""#),
        ("-5", r#""-5""#),
        ("a b", r#""a b""#),
        (r"^\d+$", r"'^\d+$'"),
        ("say \"x\"", "'say \"x\"'"),
        ("it's", r#""it's""#),
        ("a\tb\u{1b}", r#""a\tb\x1b""#),
        ("\u{202e}", r#""\u202e""#),
    ] {
        assert_eq!(flow(text), written);
    }
    assert_eq!(line("a: b"), "\"a: b\"");
}

#[test]
fn several_lines_are_a_block_as_long_as_nothing_in_it_is_invisible() {
    assert_eq!(
        block("one\n\ttwo\n", 2).as_deref(),
        Some("|\n  one\n  \ttwo")
    );
    assert_eq!(
        block("one\n\ntwo", 4).as_deref(),
        Some("|-\n    one\n\n    two")
    );
    assert_eq!(
        block("  one\ntwo\n", 2).as_deref(),
        Some("|2\n    one\n  two")
    );
    assert_eq!(block("one\n\n", 2).as_deref(), Some("|+\n  one\n"));
    for text in [
        "one",
        "",
        "\n",
        "one \ntwo\n",
        "one\r\ntwo\r\n",
        "one\u{1b}\ntwo\n",
    ] {
        assert_eq!(block(text, 2), None, "{text:?}");
    }
}
