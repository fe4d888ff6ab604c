#![expect(clippy::unwrap_used, reason = "a test may panic")]

use super::lines::Line;
use super::tests::{facts, found, one, passed};
use super::*;

#[test]
fn what_stands_in_a_string_or_a_name_is_no_result() {
    let before = passed("P1 cat\n  openat(AT_FDCWD, \"a) = -1 EPERM\", O_RDONLY) = </a) = 3>\n");
    let after = passed("P1 cat\n  openat(AT_FDCWD, \"b) = -1 EPERM\", O_RDONLY) = </a) = 3>\n");
    let (class, what, _) = one(&before, &after);
    assert_eq!(
        (class, &*what),
        (Class::Behaviour, "`openat` has other arguments")
    );
    let (mut old, mut new) = (facts("6.1"), facts("6.12"));
    let setting = |value: &str| ("fs.protected_hardlinks".to_owned(), value.to_owned());
    old.settings = [setting("0")].into();
    new.settings = [setting("1")].into();
    let named = |name: &str| passed(&format!("P1 ln\n  link(\"{name}\", \"x\") = 0\n"));
    let [(class, ..)] = <[_; 1]>::try_from(found(
        (&old, &[named("a")]),
        (&new, &[named("is EPERM = x")]),
    ))
    .unwrap();
    assert_eq!(
        class,
        Class::Behaviour,
        "a name that says EPERM is no error"
    );
}

#[test]
fn a_line_is_taken_apart_only_where_nothing_is_quoted_or_bracketed() {
    let line = |text| Line::of(text);
    for (text, arguments, result) in [
        (
            "read(</a, (b>, \"=\\\") = 1\", 5) = 5",
            &["</a, (b>", "\"=\\\") = 1\"", "5"][..],
            "5",
        ),
        (
            "[i386] dup(</x:2>) = <\"/a> = 1\">",
            &["</x:2>"],
            "<\"/a> = 1\">",
        ),
        (
            "mmap(NULL, 21<<MAP_HUGE_SHIFT) = <map:1>",
            &["NULL", "21<<MAP_HUGE_SHIFT"],
            "<map:1>",
        ),
        (
            "open(\"a\" -> \"/b\", 0) = <<temporary:1>/x = 2>",
            &["\"a\" -> \"/b\"", "0"],
            "<<temporary:1>/x = 2>",
        ),
        (
            "wait4(P2, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0) = P2",
            &["P2", "[{WIFEXITED(s) && WEXITSTATUS(s) == 0}]", "0"],
            "P2",
        ),
    ] {
        assert_eq!(
            line(text).call(),
            Some((arguments.to_vec(), result)),
            "{text}"
        );
    }
    assert_eq!(line("[i386] dup(3) = 4").name, "[i386] dup");
    assert_eq!(line("openat 3").call(), None);
    let fields = line("sched:sched_process_fork parent_comm=\"a pid=3\" pid=P1").fields();
    assert_eq!(
        fields,
        [("parent_comm", "\"a pid=3\""), ("pid", "P1")].into()
    );
}

#[test]
fn a_text_in_the_grammar_is_told_from_any_other() {
    for text in [
        "# trace 2, level sequence\n",
        "# trace 2, level set\n# rules: tasks\n\nprogram sh\n  read\n",
        "P1 sh\n  a() = 0\n\nP1.T2\n  b() = 0\n\nP2 x, child of P1\n\nP2, not in sequence\n  c 1\n",
    ] {
        assert!(TraceText::is_one(text), "{text}");
    }
    for text in [
        "",
        "garbage\n",
        "# a comment\n",
        "  a() = 0\n",
        "fsync(3) = 0\n  a() = 0\n",
        "P1 sh\n  a() = 0\ngarbage\n",
        "P1sh\n",
    ] {
        assert!(!TraceText::is_one(text), "{text}");
    }
}
