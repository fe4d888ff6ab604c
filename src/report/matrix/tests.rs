#![expect(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::matrix::{Column, Printed, Trouble};
use crate::verdict::{About, Finding, Kind};
use serde_json::{Value, json};

/// A kernel of which each scenario came to a verdict, with reasons and a trace.
pub(in crate::report) fn column(kernel: &str, told: &[(&str, &str, &str, &str)]) -> Column {
    let mut column = Column::of(kernel);
    for (name, verdict, reason, trace) in told {
        let trace = match *trace {
            "" => String::new(),
            lines => format!("# trace 2, level sequence\n\nP1 x\n{lines}"),
        };
        let finding = match (*verdict, *reason) {
            (_, "") => None,
            ("skipped", text) => Some(Finding::new(Kind::Unmet, About::Kernel, text)),
            (_, text) if text.contains("trace differs") => {
                Some(Finding::missed(About::Snapshot, text))
            }
            (_, text) => Some(Finding::missed(About::Exit, text)),
        };
        let findings: Vec<Finding> = finding.into_iter().collect();
        let line = json!({
            "type": "scenario", "name": name, "verdict": verdict, "findings": findings, "kernel": format!("{kernel}.0-amd64"), "trace": trace
        });
        assert!(column.line(&line.to_string()), "{line}");
    }
    column.facts.release.clone_from(&column.release);
    column
}

/// Three kernels: a scenario is skipped on the first, a call ends otherwise on the last, so that
/// one scenario fails and another does not.
pub(in crate::report) fn matrix() -> Matrix {
    const OLD: &str = "  fchmod(3, 0640) = 0\n";
    const NEW: &str = "  fchmod(3, 0640) = -1 EIO\n";
    let needs = "needs the tracepoint `a:b`";
    let old = [
        ("files/cp", "pass", "", OLD),
        ("files/mv", "pass", "", OLD),
        ("io/poll", "pass", "", "  poll(1) = 1\n"),
        ("new", "skipped", needs, ""),
    ];
    let middle = [
        ("files/cp", "pass", "", OLD),
        ("files/mv", "pass", "", OLD),
        ("io/poll", "pass", "", "  poll(1) = 1\n"),
        ("new", "pass", "", "  close(3) = 0\n"),
        // Another run.
        ("io/poll", "pass", "", "  poll(1) = 1\n  poll(1) = 1\n"),
    ];
    let new = [
        ("files/cp", "pass", "", NEW),
        (
            "files/mv",
            "fail",
            "the trace is another:\n- fchmod 0\n+ fchmod -1",
            NEW,
        ),
        ("io/poll", "pass", "", "  poll(1) = 1\n"),
        ("new", "pass", "", "  close(3) = 0\n"),
    ];
    let columns = vec![
        column("5.10", &old),
        column("6.1", &middle),
        column("7.2", &new),
    ];
    Matrix::new(columns, [])
}

/// A kernel of which nothing is known.
fn died() -> Column {
    let mut column = Column::of("8.0");
    column.trouble = Some("it broke".into());
    column
}

fn human(matrix: &Matrix) -> String {
    let mut text = String::new();
    MatrixReport::of(matrix).human(&mut text, false);
    text
}

#[test]
fn the_table_comes_first_then_what_is_no_pass_then_each_upgrade() {
    // Which way round noise is told is of no concern here.
    let text = human(&matrix()).replace("no `poll`", "one more `poll`");
    assert_eq!(
        text,
        "\
scenario  5.10     6.1   7.2
files/cp  pass     pass  pass
files/mv  pass     pass  fail
io/poll   pass     pass  pass
new       skipped  pass  pass

no pass, for what differs below:
    files/mv: fail on 7.2 (see 6.1 -> 7.2)
        the trace is another

5.10 -> 6.1: 1 difference in 1 scenario

   not there  needs the tracepoint `a:b`
              skipped, then pass: new

       noise  one more `poll` in io/poll

6.1 -> 7.2: 1 difference in 2 scenarios

   behaviour  `fchmod` returns -1 EIO instead of 0
              pass, then fail: files/mv
              pass on both: files/cp
              - P1 fchmod(3, 0640) = 0
              + P1 fchmod(3, 0640) = -1 EIO

       noise  one more `poll` in io/poll

what these words mean:
   behaviour  the same calls are answered otherwise, or the run ends otherwise
   not there  an event, a call or a feature is not in this kernel
       noise  it varies from run to run on one kernel too

4 scenarios, 3 kernels: 10 pass, 1 fail, 1 skipped; 2 differences in 3 scenarios, nothing else in 7 pairs of traces
"
    );
}

#[test]
fn a_failure_that_no_upgrade_explains_is_told_in_full() {
    let fails = |kernel: &str| column(kernel, &[("a", "fail", "one\n- two\n+ three", "")]);
    let everywhere = Matrix::new(vec![fails("6.1"), fails("7.2")], []);
    let text = human(&everywhere);
    assert!(
        text.contains("fail on 6.1, 7.2:\n    a\n        one\n        - two\n        + three\n"),
        "{text}"
    );
    assert!(
        text.ends_with("2 fail; no difference; verdicts alone were compared, no traces\n"),
        "{text}"
    );
    // A verdict that is another for what no trace shows is told once.
    let passes = column("5.10", &[("a", "pass", "", "")]);
    let text = human(&Matrix::new(vec![passes, fails("6.1")], []));
    assert!(text.contains("        + three\n"), "{text}");
    assert_eq!(text.matches("three").count(), 1, "{text}");
}

#[test]
fn of_many_scenarios_and_much_evidence_a_handful_is_shown() {
    let names: Vec<String> = (0..9).map(|n| format!("s{n}")).collect();
    let many = |kernel: &str, lines: usize| {
        let trace: String = (0..lines).map(|n| format!("  read({n}) = 1\n")).collect();
        let told: Vec<_> = names
            .iter()
            .map(|name| (name.as_str(), "pass", "", trace.as_str()))
            .collect();
        column(kernel, &told)
    };
    let text = human(&Matrix::new(vec![many("6.1", 1), many("7.2", 21)], []));
    assert!(
        text.contains("pass on both: s0, s1, s2, s3, s4 and 4 more\n"),
        "{text}"
    );
    assert_eq!(text.matches("+ P1 read").count(), 8, "{text}");
    assert!(text.contains("and 12 more lines\n"), "{text}");
}

#[test]
fn a_kernel_that_died_says_why_and_is_no_upgrade() {
    let mut died = Column::of("6.1");
    died.trouble = Some(Trouble {
        printed: Printed::of("its console", "the last line"),
        ..Trouble::from("it broke")
    });
    let fine = |kernel: &str| column(kernel, &[("a", "pass", "", "  close(3) = 0\n")]);
    let text = human(&Matrix::new(vec![fine("5.10"), died, fine("7.2")], []));
    assert!(
        text.contains(
            "\n6.1 (1 of 1 scenario broken): it broke; its console:\n    the last line\n"
        ),
        "{text}"
    );
    assert!(text.contains("\n5.10 -> 7.2: nothing differs\n"), "{text}");
    assert!(
        text.ends_with("; no difference in 1 pair of traces\n"),
        "{text}"
    );
    let alone = human(&Matrix::new(vec![fine("5.10")], []));
    assert!(
        alone.ends_with("\n1 scenario, 1 kernel: 1 pass\n"),
        "{alone}"
    );
}

#[test]
fn what_a_kernel_did_not_come_to_is_said_once() {
    let told = [
        ("a", "pass", "", "  close(3) = 0\n"),
        ("b", "pass", "", "  close(3) = 0\n"),
    ];
    let mut died = column("6.1", &told[..1]);
    died.trouble = Some("it broke".into());
    let text = human(&Matrix::new(vec![column("5.10", &told), died], []));
    assert!(!text.contains("broken on"), "{text}");
    assert!(
        text.contains("\n6.1 (1 of 2 scenarios broken): it broke\n"),
        "{text}"
    );
    // A kernel that broke is compared with none.
    assert!(!text.contains("5.10 -> 6.1"), "{text}");
    assert!(
        text.ends_with(
            ": 3 pass, 1 broken; nothing was compared, as no two kernels came to their end\n"
        ),
        "{text}"
    );
}

#[test]
fn what_was_interrupted_is_counted_as_that_and_not_as_broken() {
    let told = [
        ("a", "pass", "", "  close(3) = 0\n"),
        ("b", "pass", "", "  close(3) = 0\n"),
    ];
    let mut interrupted = column("6.1", &told[..1]);
    interrupted.interrupt();
    let whole = column("5.10", &told);
    let text = human(&Matrix::new(vec![whole.clone(), interrupted.clone()], []));
    let end = ": 3 pass, 1 interrupted; nothing was compared, as it was interrupted\n";
    assert!(text.ends_with(end), "{text}");
    // Beside it a kernel that broke is one.
    let mut died = column("5.15", &told[..1]);
    died.trouble = Some("it broke".into());
    let text = human(&Matrix::new(vec![whole, died, interrupted], []));
    let counts = ": 4 pass, 1 broken, 1 interrupted; ";
    assert!(text.contains(counts), "{text}");
}

#[test]
fn colours_change_nothing_but_colours() {
    let matrix = matrix();
    let mut colored = String::new();
    MatrixReport::of(&matrix).human(&mut colored, true);
    assert!(colored.contains("\u{1b}[1;31mfail\u{1b}[0m"), "{colored}");
    let plain = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    assert_eq!(plain.replace_all(&colored, ""), human(&matrix));
}

#[test]
fn each_line_is_an_object_and_changes_are_whole() {
    let mut text = String::new();
    let mut matrix = matrix();
    matrix.columns.push(died());
    MatrixReport::of(&matrix).json(&mut text);
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |kind: &str| -> Vec<&Value> {
        let all = lines.iter();
        all.filter(|line| line["type"] == kind).collect()
    };
    assert_eq!(
        (of("cell").len(), of("difference").len(), of("kernel").len()),
        (12, 2, 4)
    );
    assert_eq!(of("kernel")[3]["trouble"], "it broke");
    assert_eq!(
        of("difference")[0]["reasons"][0],
        "the trace is another:\n- fchmod 0\n+ fchmod -1"
    );
    let changes = of("change");
    let words: Vec<_> = changes
        .iter()
        .map(|it| (&it["from"], &it["class"]))
        .collect();
    assert_eq!(
        words,
        [
            (&json!("5.10"), &json!("not there")),
            (&json!("5.10"), &json!("noise")),
            (&json!("6.1"), &json!("behaviour")),
            (&json!("6.1"), &json!("noise"))
        ]
    );
    let change = changes[2];
    assert_eq!(change["to"], "7.2");
    assert_eq!(change["what"], "`fchmod` returns -1 EIO instead of 0");
    let evidence = json!(["- P1 fchmod(3, 0640) = 0", "+ P1 fchmod(3, 0640) = -1 EIO"]);
    assert_eq!(
        change["scenarios"],
        json!([
            {"name": "files/cp", "verdicts": ["pass", "pass"], "evidence": evidence},
            {"name": "files/mv", "verdicts": ["pass", "fail"], "evidence": evidence}
        ])
    );
}

#[test]
fn junit_has_a_suite_for_each_kernel_with_what_is_new_there() {
    let mut matrix = matrix();
    matrix.columns.push(died());
    let mut xml = String::new();
    MatrixReport::of(&matrix).junit(&mut xml);
    let suites: Vec<&str> = xml.split("<testsuite ").skip(1).collect();
    let [old, middle, new, broken] = <[&str; 4]>::try_from(suites).unwrap();
    assert!(
        old.contains("name=\"5.10\" tests=\"4\" skipped=\"1\" errors=\"0\" failures=\"0\""),
        "{old}"
    );
    assert!(
        old.contains("<property name=\"release\" value=\"5.10.0-amd64\"/>"),
        "{old}"
    );
    assert!(
        old.contains("<skipped message=\"needs the tracepoint `a:b`\"/>"),
        "{old}"
    );
    assert!(!old.contains("system-out"), "{old}");
    assert!(
        middle.contains("<system-out>unlike 5.10: not there: needs"),
        "{middle}"
    );
    assert!(new.contains("failures=\"1\""), "{new}");
    assert!(
        new.contains("<failure message=\"the trace is another:\" type=\"fail\">"),
        "{new}"
    );
    assert!(
        new.contains("<testcase name=\"files/mv\" classname=\"7.2\">"),
        "{new}"
    );
    assert!(
        new.contains("unlike 6.1: behaviour: `fchmod` returns -1 EIO instead of 0\n  - P1 fchmod(3, 0640) = 0\n"),
        "{new}"
    );
    assert!(
        broken.contains("<system-err>it broke</system-err>"),
        "{broken}"
    );
}

#[test]
fn a_kernel_whose_runs_differ_is_no_pass_in_the_table_and_says_so() {
    let varies = [("a", "pass", "", ""), ("a", "fail", "why", "")];
    let columns = vec![
        column("6.1", &varies[..1]),
        column("7.2", &varies),
        column("8.0", &varies[1..]),
    ];
    let matrix = Matrix::new(columns, []);
    let text = human(&matrix);
    assert!(
        text.starts_with("scenario  6.1   7.2           8.0\na         pass  pass or fail  fail\n"),
        "{text}"
    );
    assert!(
        text.contains("        why\n        note: not the same in all runs: pass, fail\n"),
        "{text}"
    );
    let mut json = String::new();
    MatrixReport::of(&matrix).json(&mut json);
    let cell: Value = serde_json::from_str(json.lines().nth(1).unwrap()).unwrap();
    assert_eq!(
        (&cell["verdict"], &cell["verdicts"]),
        (&json!("fail"), &json!(["pass", "fail"]))
    );
}

#[test]
fn the_meaning_of_a_class_does_not_read_as_a_difference_of_the_last_upgrade() {
    let told = |kernel: &str, value| {
        let trace = format!("  close({value}) = 0\n");
        column(kernel, &[("a", "pass", "", trace.as_str())])
    };
    let columns = vec![told("5.10", 1), told("6.1", 2), told("7.2", 2)];
    let text = human(&Matrix::new(columns, []));
    let said = "6.1 -> 7.2: nothing differs\n\nwhat these words mean:\n   behaviour  the same";
    assert!(text.contains(said), "{text}");
}
