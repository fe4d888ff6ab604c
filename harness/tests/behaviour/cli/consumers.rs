//! Reports of `harness run` as others read them: Python's parser of XML, Perl's of TAP, GitHub's of
//! annotations.

use super::{BROKEN, ENDLESS, FAILS, PASSES, SKIPPED};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

pub(super) fn project() -> Project {
    let project = Project::new();
    for (name, yaml) in [
        ("a", PASSES),
        ("b", FAILS),
        ("c", SKIPPED),
        ("d/e", BROKEN),
        ("f", ENDLESS),
    ] {
        project.scenario(name, yaml);
    }
    project.scenario("g", STEP);
    project
}

/// A step that does not occur, in line 5 of the file, and an output with markup in it.
const STEP: &str = "workload: { shell: 'echo \"<b>&]]> #1\"' }
snapshot: false
expect:
  sequence: [{ fsync: { returns: 0 } }]
  stdout: \"<i>\"";

/// The rules of Jenkins and Ant: counts are right, each case has a name, a class and a time, and at
/// most one result.
const JUNIT: &str = r#"
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == "testsuites", root.tag
for suite in root:
    assert suite.tag == "testsuite" and suite.get("name")
    cases = suite.findall("testcase")
    for element in (root, suite):
        assert int(element.get("tests")) == len(cases)
        for word, tag in ("failures", "failure"), ("errors", "error"), ("skipped", "skipped"):
            assert int(element.get(word)) == sum(case.find(tag) is not None for case in cases), word
        assert float(element.get("time")) >= max(float(case.get("time")) for case in cases)
    for case in cases:
        assert case.get("name") and case.get("classname") and int(case.get("line")) >= 1
        order = [child.tag for child in case]
        assert order[0] == "properties" and len(order) <= 2, order
        assert set(order[1:]) <= {"failure", "error", "skipped"}, order
        for found in case.findall("failure") + case.findall("error"):
            assert found.get("type") and found.get("message") and found.text
        kind = order[1] if len(order) > 1 else "pass"
        print(case.get("name"), case.get("file"), case.get("line"), kind)
"#;

#[test]
fn pythons_parser_reads_junit_by_the_rules_of_jenkins_and_ant() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = project();
    project
        .harness(&["run", "--report", "r.xml", "scenarios"])
        .assert_status(99);
    let read = project.run(&[], &["python3", "-c", JUNIT, "r.xml"]);
    read.assert_status(0);
    let lines: Vec<&str> = read.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "a scenarios/a.yaml 1 pass",
            "b scenarios/b.yaml 2 failure",
            "c scenarios/c.yaml 1 skipped",
            "d/e scenarios/d/e.yaml 1 error",
            "f scenarios/f.yaml 2 failure",
            "g scenarios/g.yaml 6 failure",
        ]
    );
}

const TAP: &str = r#"
use TAP::Parser;
open my $file, "<", $ARGV[0] or die;
my $parser = TAP::Parser->new({ source => $file });
while (my $result = $parser->next) {
    next unless $result->is_test;
    printf "%d%s%s %s
", $result->number, $result->is_ok ? " ok" : " not",
        $result->has_skip ? " skip" : "", $result->description;
}
die join "; ", $parser->parse_errors if $parser->parse_errors;
printf "%d of %d, %d failed
", $parser->tests_run, $parser->tests_planned, scalar $parser->failed;
"#;

#[test]
fn perls_parser_reads_ktap() {
    require!(right_to_trace());
    require!(program("perl"));
    let project = project();
    let run = project.harness(&["run", "--format", "ktap", "scenarios"]);
    run.assert_status(99);
    assert!(
        run.stdout.starts_with("KTAP version 1\n1..6\n"),
        "{}",
        run.stdout
    );
    project.write("r.tap", &run.stdout);
    let read = project.run(&[], &["perl", "-e", TAP, "r.tap"]);
    read.assert_status(0);
    assert_eq!(
        read.stdout,
        "1 ok a\n2 not b\n3 ok skip c\n4 not d/e # ERROR broken\n5 not f # TIMEOUT\n6 not g\n\
         6 of 6, 4 failed\n"
    );
}

type Properties<'l> = Vec<(&'l str, String)>;

/// What the runner of GitHub Actions makes of a line: the command, its properties, its message.
fn command(line: &str) -> Option<(&str, Properties<'_>, String)> {
    let text = |text: &str| text.replace("%3A", ":").replace("%2C", ",");
    let data = |text: &str| {
        text.replace("%0D", "\r")
            .replace("%0A", "\n")
            .replace("%25", "%")
    };
    let (head, message) = line.trim_start().strip_prefix("::")?.split_once("::")?;
    let (name, properties) = head.split_once(' ')?;
    let properties = properties.split(',').map(|property| {
        let (name, value) = property.split_once('=').expect("a property");
        (name, data(&text(value)))
    });
    Some((name, properties.collect(), data(message)))
}

#[test]
fn github_has_an_annotation_at_the_line_of_each_scenario_that_is_no_pass() {
    require!(right_to_trace());
    let project = project();
    let workspace = project.path().parent().expect("a folder");
    let workspace = workspace.canonicalize().expect("a path");
    let folder = project
        .path()
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let environment = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_STEP_SUMMARY", "summary.md"),
        ("GITHUB_WORKSPACE", workspace.to_str().expect("text")),
    ];
    project.write("summary.md", "before\n");
    let human = project.harness_with(&environment, &["run", "scenarios"]);
    let only = project.harness(&["run", "--format", "github", "scenarios"]);
    let commands: Vec<_> = human.stdout.lines().filter_map(command).collect();
    assert_eq!(
        only.stdout.lines().filter_map(command).count(),
        commands.len()
    );
    let at = |name: &str| {
        let title = |properties: &[(&str, String)], name: &str| {
            properties
                .iter()
                .any(|(key, value)| *key == "title" && value.starts_with(name))
        };
        let found = commands
            .iter()
            .find(|(_, properties, _)| title(properties, name));
        let (command, properties, message) = found.expect("an annotation");
        let of = |key: &str| {
            let mut all = properties.iter();
            all.find(|(known, _)| *known == key)
                .map(|it| it.1.clone())
                .expect("a property")
        };
        (
            format!("{command} {} {}", of("file"), of("line")),
            message.clone(),
        )
    };
    assert_eq!(commands.len(), 5);
    assert_eq!(
        at("b: fail").0,
        format!("error {folder}/scenarios/b.yaml 2")
    );
    assert_eq!(
        at("c: skipped").0,
        format!("notice {folder}/scenarios/c.yaml 1")
    );
    let (place, message) = at("g: fail");
    assert_eq!(place, format!("error {folder}/scenarios/g.yaml 6"));
    assert!(message.contains("there is no `fsync`"), "{message}");
    assert!(message.contains("<b>&]]> #1"), "{message}");
    let summary = project.read("summary.md");
    assert!(
        summary.starts_with("before\n## 6 scenarios: 1 pass"),
        "{summary}"
    );
    assert!(
        summary.contains("&lt;b&gt;&amp;]]&gt; #1") && !summary.contains("<b>&"),
        "{summary}"
    );
    // What is for machines has nothing else in it.
    let json = project.harness_with(&environment, &["run", "--format", "json", "scenarios"]);
    assert_eq!(json.json().len(), 7);
}

#[test]
fn findings_have_as_data_what_is_known_of_them() {
    require!(right_to_trace());
    let project = Project::with("g", STEP);
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    let lines = run.json();
    let findings = lines[0]["findings"].as_array().expect("findings");
    let step = findings
        .iter()
        .find(|it| it["event"] == "fsync")
        .expect("a finding");
    let expected = serde_json::json!({
        "kind": "missed", "about": "events", "text": step["text"], "line": 5, "column": 16,
        "step": "1", "event": "fsync", "expected": "fsync: { returns: 0 }",
    });
    assert_eq!(step, &expected);
    let output = findings
        .iter()
        .find(|it| it["about"] == "stdout")
        .expect("a finding");
    let got = r##""<b>&]]> #1\n""##;
    let place = (&output["line"], &output["column"]);
    assert_eq!(place, (&serde_json::json!(6), &serde_json::json!(11)));
    assert_eq!(output["expected"], "\"<i>\"");
    assert_eq!(output["got"], got);
}

#[test]
fn each_report_file_of_a_run_has_the_form_of_its_ending() {
    require!(right_to_trace());
    let project = project();
    let files = [
        "o/r.txt", "o/r.json", "o/r.xml", "o/r.tap", "o/r.md", "o/r.html",
    ];
    let mut words = vec!["run", "scenarios"];
    for file in files {
        words.extend(["--report", file]);
    }
    let run = project.harness(&words);
    run.assert_status(99);
    let [text, json, xml, tap, markdown, html] = files.map(|file| project.read(file));
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    // On the terminal they stand in the order in which they ended.
    assert_eq!(sorted(&text), sorted(&run.stdout));
    assert_eq!(json.lines().count(), 7);
    assert!(!json.contains("\"trace\""), "{json}");
    assert!(xml.starts_with("<?xml "), "{xml}");
    assert!(tap.starts_with("KTAP version 1\n"), "{tap}");
    assert!(markdown.starts_with("## 6 scenarios: "), "{markdown}");
    assert!(
        html.contains("<summary>The trace on ") && html.contains("<time datetime="),
        "{html}"
    );
    for (name, said) in [("x.doc", ".tap"), ("scenarios/a.yaml/x.md", "cannot write")] {
        let refused = project.harness(&["run", "--report", name, "scenarios"]);
        refused.assert_status(2);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
        assert_eq!(refused.stdout, "");
    }
}

#[test]
fn a_filter_takes_a_name_as_it_is_printed() {
    let project = Project::new();
    let rows =
        "matrix: { bug: [\"\", x] }\nworkload: { run: [\"true\", \"${bug}\"] }\nsnapshot: false";
    project.scenario("ack", rows);
    project.scenario("ackb", PASSES);
    let names = |filter: &str| {
        let run = project.harness(&["run", "--list", "--filter", filter, "scenarios"]);
        (run.status, run.stdout)
    };
    assert_eq!(names("ack[bug=x]"), (0, "ack[bug=x]\nackb\n".to_owned()));
    assert_eq!(names("^ack\\["), (0, "ack[bug=]\nack[bug=x]\n".to_owned()));
    project.scenario("odd(", PASSES);
    assert_eq!(names("odd("), (0, "odd(\n".to_owned()));
    let run = project.harness(&["run", "--list", "--filter", "od(", "scenarios"]);
    run.assert_status(2);
    assert!(
        run.stderr.contains("no regular expression"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_program_that_is_not_in_the_sandbox_and_is_here_is_told_of() {
    require!(right_to_trace());
    let project = Project::with("kv", "workload: { run: [./kv] }\nsnapshot: false");
    project.scenario("gone", "workload: { run: [./none] }\nsnapshot: false");
    project.copy_program("/bin/true", "kv");
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    run.assert_status(1);
    let verdicts = run.verdicts();
    let here = project.join("kv").canonicalize().expect("a path");
    let said = format!(
        "no such file in the sandbox; this machine has `{}`",
        here.display()
    );
    assert!(verdicts["kv"].1.contains(&said), "{verdicts:?}");
    let way = "`workload.files: { kv: { from: PATH } }`";
    assert!(verdicts["kv"].1.contains(way), "{verdicts:?}");
    assert_eq!(
        verdicts["gone"].1,
        "`./none` could not be executed: no such file"
    );
    // The way that it says leads there.
    let laid = "workload: { run: [./kv], files: { kv: { from: ../kv } } }";
    project.scenario("kv", &format!("{laid}\nsnapshot: false"));
    project
        .harness(&["run", "scenarios/kv.yaml"])
        .assert_status(0);
}

#[test]
fn an_interpreter_that_the_sandbox_hides_is_told_of() {
    require!(right_to_trace());
    let project = Project::new();
    project.copy_program("/bin/sh", "sh");
    let shell = project.join("sh");
    if !shell.starts_with("/tmp") {
        return;
    }
    project.write(
        "scenarios/x.sh",
        &format!("#!{}\nexit 0\n", shell.display()),
    );
    let yaml = "workload: { run: [./x.sh], files: { x.sh: { from: x.sh, mode: \"0755\" } } }\nsnapshot: false";
    project.scenario("x", yaml);
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    let reason = &run.verdicts()["x"].1;
    let said = format!(
        "its interpreter `{}` is not in the sandbox, which has a `/tmp`",
        shell.display()
    );
    assert!(reason.contains(&said), "{reason}");
}
