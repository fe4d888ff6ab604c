use super::lines::Stream;
use super::printed::{Printed, State};
use super::{Blamed, Blaming, Tests};
use crate::matching::tests::notation::{deeds, of_deeds};
use std::sync::Arc;

const PYTEST: &str = "===== test session starts =====\n";
const PYTEST_ENDS: &str = "\n===== 2 passed in 0.01s =====\n";
const RUST: &str = "\nrunning 2 tests\n";
const RUST_ENDS: &str = "\ntest result: ok. 2 passed\n";

/// What is written, and whether that is cut.
fn printed(written: &[(&str, bool)]) -> Printed {
    let mut stream = Stream::default();
    for (moment, (text, is_cut)) in (1..).zip(written) {
        stream.write(moment, text.as_bytes(), *is_cut);
    }
    Printed::of(stream.said().expect("it tells of tests"))
}

fn words(state: State) -> String {
    match state {
        State::Outside => "-".to_owned(),
        State::Unknown => "?".to_owned(),
        State::Running(names) => names.join(" or "),
    }
}

/// What runs after each of these was written. What ends in `...` is longer than what is read.
fn check(written: &[&str], running: &[&str]) {
    let all: Vec<_> = written
        .iter()
        .map(|text| match text.strip_suffix("...") {
            Some(text) => (text, true),
            None => (*text, false),
        })
        .collect();
    let printed = printed(&all);
    let found = (1..).zip(written);
    let found: Vec<_> = found.map(|(at, _)| words(printed.at(at))).collect();
    assert_eq!(found, running, "{written:?}");
}

/// Nothing is known of any moment.
fn check_unknown(written: &[&str]) {
    check(written, &vec!["?"; written.len()]);
}

#[test]
fn go_says_which_test_runs_and_not_when_a_part_of_it_is_over() {
    check(
        &[
            "=== RUN   TestA\n",
            "=== RUN   TestA/sub\n",
            "--- PASS: TestA (0.00s)\n    --- PASS: TestA/sub (0.00s)\n",
            "=== RUN   TestB\n",
            "--- SKIP: TestB (0.00s)\n",
            "PASS\n",
        ],
        &["TestA", "TestA or TestA/sub", "?", "TestB", "?", "-"],
    );
}

#[test]
fn tests_that_run_side_by_side_are_one_of_several() {
    check(
        &[
            "=== RUN   TestA\n=== PAUSE TestA\n",
            "=== RUN   TestB\n=== PAUSE TestB\n",
            "=== CONT  TestA\n=== CONT  TestB\n",
            "--- PASS: TestA (0.00s)\n",
            "--- PASS: TestB (0.00s)\n",
            "PASS\n",
        ],
        &["?", "?", "TestA or TestB", "TestB", "?", "-"],
    );
}

#[test]
fn pytest_and_rust_begin_a_line_and_end_it() {
    check(
        &[
            PYTEST,
            "a.py::x[a b] ",
            "PASSED",
            "   [ 50%]",
            "\n",
            "a.py::y ",
            "\u{1b}[33mSKIPPED\u{1b}[0m (no net)",
            "   [100%]",
            PYTEST_ENDS,
        ],
        &["-", "a.py::x[a b]", "?", "?", "?", "a.py::y", "?", "?", "-"],
    );
    check(
        &[
            RUST,
            "test a - should panic ... ",
            "\u{1b}[32mok\u{1b}[0m\u{1b}(B",
            " <0.001s>\n",
            "test b ... ",
            "ignored, slow",
            "\n",
            RUST_ENDS,
        ],
        &["-", "a", "?", "?", "b", "?", "?", "-"],
    );
}

#[test]
fn a_node_id_names_any_file_and_not_where_a_test_was_found() {
    for (text, name) in [
        ("tests/x.yaml::case one ", "tests/x.yaml::case one"),
        ("my tests/a.py::x ", "my tests/a.py::x"),
        ("doc/x.txt::x.txt ", "doc/x.txt::x.txt"),
        ("a.py::T::x <- base.py ", "a.py::T::x"),
        ("a.py::x[a <- b] ", "a.py::x[a <- b]"),
    ] {
        check(
            &[PYTEST, text, "PASSED\n", PYTEST_ENDS],
            &["-", name, "?", "-"],
        );
    }
}

#[test]
fn what_is_no_runners_tells_of_no_test() {
    for text in [
        "a.py::x ",
        "test a ... ",
        "PASS\n",
        "ok\n",
        "[gw0] PASSED a.py::x ",
    ] {
        let mut stream = Stream::default();
        stream.write(1, text.as_bytes(), false);
        assert_eq!(stream.said(), None, "{text}");
    }
}

#[test]
fn results_of_tests_that_ran_before_they_were_named_make_all_unknown() {
    check_unknown(&[RUST, "test a ... ok\n", RUST_ENDS]);
    check_unknown(&[RUST, "test a ... ", "ok\n", "test b ... ok\n", RUST_ENDS]);
    check_unknown(&[PYTEST, "a.py::x PASSED [ 50%]\n", PYTEST_ENDS]);
    check_unknown(&["=== RUN   TestA\n--- PASS: TestA (0.00s)\n", "PASS\n"]);
    check_unknown(&[
        "=== RUN   TestA\n",
        "--- PASS: TestA (0.00s)\n=== RUN   TestB\n",
        "--- PASS: TestB (0.00s)\nPASS\n",
    ]);
}

#[test]
fn what_a_test_prints_between_its_name_and_its_result_ends_nothing() {
    check(
        &[
            RUST,
            "test a ... ",
            "hello\n",
            "okay, connecting\n",
            "ok\n",
            RUST_ENDS,
        ],
        &["-", "a", "a", "a", "?", "-"],
    );
}

#[test]
fn a_result_that_is_not_the_runners_makes_all_unknown() {
    // The test prints the result itself, and the runner prints it again.
    check_unknown(&[RUST, "test a ... ", "ok\n", "ok\n", RUST_ENDS]);
    check_unknown(&[
        PYTEST,
        "a.py::x ",
        "\nPASSED\n",
        "PASSED [ 50%]\n",
        PYTEST_ENDS,
    ]);
    // What looked like a result goes on.
    check_unknown(&[RUST, "test a ... ", "ok", "ay\n", "ok\n", RUST_ENDS]);
    // Of a test that does not run, or never began.
    check_unknown(&["=== RUN   TestA\n", "--- PASS: TestC (0.00s)\n", "PASS\n"]);
    check_unknown(&[
        "=== RUN   TestA\n=== PAUSE TestA\n",
        "=== RUN   TestB\n",
        "--- PASS: TestA (0.00s)\n",
        "--- PASS: TestB (0.00s)\n",
        "PASS\n",
    ]);
}

#[test]
fn a_name_in_the_midst_of_another_test_makes_all_unknown() {
    let ends = "--- PASS: TestA (0.00s)\n";
    check_unknown(&["=== RUN   TestA\n", "=== RUN   TestB\n", ends, "PASS\n"]);
    check_unknown(&[
        "=== RUN   TestA\n",
        ends,
        "=== RUN   TestA\n",
        ends,
        "PASS\n",
    ]);
    check_unknown(&["=== RUN   TestA\n", "=== RUN   TestB/sub\n", ends, "PASS\n"]);
    check_unknown(&[
        RUST,
        "test a ... ",
        "hello\n",
        "test b ... ",
        "ok\n",
        RUST_ENDS,
    ]);
    check_unknown(&[
        RUST,
        "test a ... ",
        "=== RUN   TestA\n",
        ends,
        "ok\n",
        RUST_ENDS,
    ]);
    check_unknown(&[
        RUST,
        "test a ... ",
        PYTEST,
        "ok\n",
        "test b ... ",
        RUST_ENDS,
    ]);
}

#[test]
fn a_runner_that_ends_in_a_test_or_before_it_says_so_makes_all_unknown() {
    check_unknown(&[RUST, "test a ... "]);
    check_unknown(&[RUST, "test a ... ", "ok\n"]);
    check_unknown(&[RUST, "test a ... ", RUST_ENDS]);
    check_unknown(&["=== RUN   TestA\n", "PASS\n"]);
}

#[test]
fn behind_what_was_not_read_nothing_is_known_until_a_test_begins_that_runs_alone() {
    let a = ["=== RUN   TestA\n", "--- PASS: TestA (0.00s)\n"];
    let b = ["=== RUN   TestB\n", "--- PASS: TestB (0.00s)\n"];
    // The name of the first test may have been in it.
    check(
        &["xxxx...", b[0], b[1], "PASS\n"],
        &["?", "TestB", "?", "-"],
    );
    check(
        &[a[0], "xxxx...", a[1], b[0], b[1], "PASS\n"],
        &["TestA", "?", "?", "TestB", "?", "-"],
    );
    // A part of a test, or one that goes on, does not run alone.
    check(
        &[
            a[0],
            "xxxx...",
            "=== RUN   TestA/sub\n",
            "=== CONT  TestB\n",
            "PASS\n",
        ],
        &["TestA", "?", "?", "?", "-"],
    );
    check(
        &[
            RUST,
            "test a ... ",
            "xxxx...",
            "ok\n",
            "test b ... ",
            "ok\n",
            RUST_ENDS,
        ],
        &["-", "a", "?", "?", "b", "?", "-"],
    );
}

#[test]
fn a_line_without_an_end_is_read_up_to_a_bound() {
    let long = "x".repeat(5000);
    check(
        &[
            RUST,
            "test a ... ",
            &long,
            &long,
            "\nok\n",
            "test b ... ",
            "ok\n",
            RUST_ENDS,
        ],
        &["-", "a", "?", "?", "?", "b", "?", "-"],
    );
    let mut stream = Stream::default();
    for moment in 0..100_000 {
        stream.write(moment, b"12345678", false);
    }
    assert_eq!(stream.said(), None);
}

/// Each test has its own moments.
#[test]
fn many_tests_are_told_apart_in_no_time() {
    const TESTS: u64 = 20_000;
    let mut stream = Stream::default();
    for n in 0..TESTS {
        stream.write(4 * n, format!("=== RUN   Test{n}\n").as_bytes(), false);
        let ends = format!("--- PASS: Test{n} (0.00s)\n");
        stream.write(4 * n + 2, ends.as_bytes(), false);
    }
    stream.write(4 * TESTS, b"PASS\n", false);
    let printed = Printed::of(stream.said().unwrap());
    for n in 0..TESTS {
        assert_eq!(words(printed.at(4 * n + 1)), format!("Test{n}"));
        assert!(printed.begins_within(4 * n, 4 * n + 1));
        assert!(!printed.begins_within(4 * n + 3, 4 * n + 3));
    }
}

#[test]
fn more_parts_of_a_test_than_are_told_apart_are_unknown() {
    let mut written = vec![("=== RUN   TestA\n".to_owned(), false)];
    written.extend((0..300).map(|n| (format!("=== RUN   TestA/{n}\n"), false)));
    written.push(("--- PASS: TestA (0.00s)\n".to_owned(), true));
    let written: Vec<_> = written
        .iter()
        .map(|(it, cut)| (it.as_str(), *cut))
        .collect();
    let printed = printed(&written);
    assert!(matches!(printed.at(256), State::Running(names) if names.len() == 256));
    assert_eq!(printed.at(257), State::Unknown);
}

#[test]
fn names_are_sorted_once_by_what_a_thread_has_of_them() {
    let mut stream = Stream::default();
    stream.write(0, RUST.as_bytes(), false);
    for n in 0..20_000 {
        let line = format!("test group::name_{} ... ok\n", n / 2 * 10 + n % 2);
        stream.write(n, line.as_bytes(), false);
    }
    let printed = Printed::of(stream.said().unwrap());
    let full = printed.by_thread_name();
    let all: usize = full.values().map(Vec::len).sum();
    assert_eq!((printed.begun().count(), all), (20_000, 20_000));
    let one = full.get(b"group::name_0".as_slice()).unwrap();
    assert_eq!(one, &[Arc::from("group::name_0")]);
    assert!(full.get(b"group::name_100".as_slice()).unwrap().len() > 1);
}

/// The test that the last deed is of, by the processes that were started; `unknown`, or `none`.
fn of_last(command: &[&str], text: &str) -> String {
    let blaming = Blaming {
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        ..Blaming::default()
    };
    let trace = of_deeds(deeds(text));
    let deeds = trace.in_order();
    let last = deeds.iter().max_by_key(|deed| deed.entered);
    let tests = Tests::of(&blaming, &trace, &deeds);
    match tests.blame(last.expect("a deed")) {
        Blamed::Nothing => "none".to_owned(),
        Blamed::Test(name) => name.to_string(),
        Blamed::OneOf(_) => "unknown".to_owned(),
    }
}

const RUN: [&str; 1] = ["runner"];

#[test]
fn what_hands_a_test_on_is_no_test_and_what_it_executes_is() {
    for (path, argv) in [
        ("/usr/bin/env", r#""env", "FOO=1", "./t""#),
        ("/usr/bin/nice", r#""nice", "-n", "5", "./t""#),
        ("/bin/setarch", r#""setarch", "-R", "./t""#),
        ("/usr/bin/stdbuf", r#""stdbuf", "-oL", "./t""#),
        ("/usr/bin/nohup", r#""nohup", "./t""#),
    ] {
        let text = format!(
            "P2 execve(filename:path=p\"{path}\", argv=[{argv}, \"--exact\", \"net\"]) = 0\n\
             P2 execve(filename:path=p\"/a/t\", argv=[\"./t\", \"--exact\", \"net\"]) = ENOENT\n\
             P2 execve(filename:path=p\"./t\", argv=[\"./t\", \"--exact\", \"net\"]) = 0\n\
             P2 getpid() = 1\n"
        );
        assert_eq!(of_last(&RUN, &text), "net", "{argv}");
    }
    // In two steps, and the test is a child's.
    let text = r#"
        P2 execve(filename:path=p"/usr/bin/env", argv=["env", "A=1", "timeout", "5", "./t", "--exact", "net"]) = 0
        P2 execve(filename:path=p"/usr/bin/timeout", argv=["timeout", "5", "./t", "--exact", "net"]) = 0
        P2 vfork() = P3
        P3 execve(filename:path=p"./t", argv=["./t", "--exact", "net"]) = 0
        P3 getpid() = 1
    "#;
    assert_eq!(of_last(&RUN, text), "net");
    let of_go = r#"
        P2 execve(filename:path=p"/usr/bin/nice", argv=["nice", "-n", "5", "./t", "-test.run=^TestNet$"]) = 0
        P2 execve(filename:path=p"./t", argv=["./t", "-test.run=^TestNet$"]) = 0
        P2 getpid() = 1
    "#;
    assert_eq!(of_last(&RUN, of_go), "TestNet");
    // The command itself.
    let command = ["timeout", "5", "./t", "--exact", "net"];
    let text = r#"
        P1 vfork() = P2
        P2 execve(filename:path=p"./t", argv=["./t", "--exact", "net"]) = 0
        P2 getpid() = 1
    "#;
    assert_eq!(of_last(&command, text), "net");
}

#[test]
fn what_is_executed_in_place_of_the_words_that_were_handed_on_tells_no_test() {
    let env =
        r#"P2 execve(filename:path=p"/usr/bin/env", argv=["env", "./t", "--exact", "net"]) = 0"#;
    for next in [
        r#"P2 execve(filename:path=p"./t", argv=["./t", "--exact", "other"]) = 0"#,
        r#"P2 execve(filename:path=p"./t", argv=["./t", "--exact", "net", "x"]) = 0"#,
        r#"P2 execve(filename:path=p"./t", argv=<unread>) = 0"#,
        "",
    ] {
        let text = format!("{env}\n{next}\nP2 getpid() = 1\n");
        assert_eq!(of_last(&RUN, &text), "unknown", "{next}");
    }
    // A program of the tests may have any name, and one of two tests lies.
    for path in ["./env", "/home/me/bin/env", "/usr/bin/t"] {
        let text = format!(
            "P2 execve(filename:path=p\"{path}\", argv=[\"env\", \"one\", \"--exact\", \"two\"]) = 0\n\
             P2 execve(filename:path=p\"./one\", argv=[\"one\", \"--exact\", \"two\"]) = 0\n\
             P2 getpid() = 1\n"
        );
        assert_eq!(of_last(&RUN, &text), "unknown", "{path}");
    }
    // What a test hands on is that test's.
    let text = r#"
        P2 execve(filename:path=p"./t", argv=["./t", "--exact", "lies"]) = 0
        P2 execve(filename:path=p"/usr/bin/env", argv=["env", "./t", "--exact", "net"]) = 0
        P2 execve(filename:path=p"./t", argv=["./t", "--exact", "net"]) = 0
        P2 getpid() = 1
    "#;
    assert_eq!(of_last(&RUN, text), "lies");
}

const CTEST: &str = "Test project $DIR/build\n";
const CTEST_ENDS: &str = "\n100% tests passed, 0 tests failed out of 2\n";

#[test]
fn ctest_names_a_test_just_before_it_starts_its_process() {
    check(
        &[
            CTEST,
            "      Start  1: saves a file\n",
            " 1/12 Test  #1: saves a file .... ",
            "   Passed    0.01 sec\n",
            "      Start 12: net\n",
            "2/12 Test #12: net ...***Failed  0.1 sec\n",
            CTEST_ENDS,
        ],
        &["-", "saves a file", "saves a file", "?", "net", "?", "-"],
    );
    // What tests print stands behind their results, and is of no runner.
    check(
        &[
            CTEST,
            "    Start 1: a\n",
            "1/2 Test #1: a ...***Failed  0.1 sec\n",
            "=== RUN   TestB\nrunning 2 tests\ntest c ... ok\n",
            "a cut line...",
            "    Start 2: b\n",
            "2/2 Test #2: b ... Passed  0.1 sec\n",
            CTEST_ENDS,
        ],
        &["-", "a", "?", "?", "?", "b", "?", "-"],
    );
}

#[test]
fn tests_of_ctest_that_run_side_by_side_are_told_by_the_one_that_was_named_last() {
    check(
        &[
            CTEST,
            "    Start 1: a\n",
            "    Start 2: b\n",
            "1/2 Test #1: a ... Passed  0.1 sec\n",
            "2/2 Test #2: b ... Passed  0.1 sec\n",
            CTEST_ENDS,
        ],
        &["-", "a", "b", "b", "?", "-"],
    );
}

#[test]
fn what_ctest_does_not_say_is_not_believed() {
    for wrong in [
        "2/2 Test #2: b ... Passed  0.1 sec\n",
        "    Start 1: a\n",
        "    Start 2: b\n2/2 Test #2: b ... Passed  0.1 sec\n",
    ] {
        check_unknown(&[
            CTEST,
            "    Start 1: a\n",
            wrong,
            "1/2 Test #1: a ... Passed  0.1 sec\n",
            CTEST_ENDS,
        ]);
    }
}
