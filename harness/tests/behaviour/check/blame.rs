//! Which test did it, and rules for single tests.

use super::{Project, ruled, summary};
use crate::support::require::{program, require, right_to_trace};

/// A runner that starts a process for each test, as nextest does.
const RUNNER: &str =
    "#!/bin/sh\nfor name in net::connects disk::saves; do ./t-1 --exact $name --nocapture; done\n";

/// The tests.
const TESTS: &str = "\
#!/bin/sh
case $2 in
    net::connects) exec python3 -I -S -c 'import socket; socket.socket().connect_ex((\"127.0.0.1\", 9))' ;;
    disk::saves) echo x > saved ;;
    disk::lies) ./t-1 --exact net::connects ;;
esac
";

fn project(rules: &str) -> Project {
    let project = ruled(rules);
    for (name, text) in [("runner", RUNNER), ("t-1", TESTS)] {
        project.write(name, text);
        let changed = project.run(&[], &["chmod", "755", name]);
        changed.assert_status(0);
    }
    project
}

#[test]
fn a_process_for_each_test_tells_which_test_did_it() {
    require!(right_to_trace());
    require!(program("python3"));
    let lines = project("").stated("./runner");
    let tests = |to: &str| {
        let line = lines.iter().find(|line| line["to"] == to);
        line.unwrap_or_else(|| panic!("{to}: {lines:?}"))["tests"].clone()
    };
    assert_eq!(tests("127.0.0.1:9"), serde_json::json!(["net::connects"]));
    assert_eq!(tests("saved"), serde_json::json!(["disk::saves"]));
    let all = serde_json::json!(["disk::saves", "net::connects"]);
    assert_eq!(summary(&lines)["tests"], all);
}

#[test]
fn a_test_may_do_what_its_own_rules_allow_and_no_other_test_may() {
    require!(right_to_trace());
    require!(program("python3"));
    let rules = "\
expect: { confined: { network: [] } }
tests: { \"net::*\": { confined: { network: [\"127.0.0.1:*\"] } } }
";
    let project = project(rules);
    project.checked("./runner").assert_status(0);
    project.write("rules.yaml", &rules.replace("net::*", "disk::*"));
    let run = project.checked("./runner");
    run.assert_status(1);
    assert!(
        run.stderr.contains("in test net::connects"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_process_that_outlives_the_command_is_told_with_the_test_that_started_it() {
    require!(right_to_trace());
    let rules = "expect: { confined: { network: [] } }\n\
                 tests: { \"disk::*\": { confined: { network: [] } } }\n";
    let project = project(rules);
    project.write(
        "t-1",
        "#!/bin/sh\ncase $2 in disk::saves) sleep 300 & ;; esac\n",
    );
    let run = project.checked("./runner");
    run.assert_status(1);
    assert!(
        run.stderr
            .contains("outlived the main process, started in test disk::saves"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_test_that_starts_a_process_in_the_name_of_another_is_itself() {
    require!(right_to_trace());
    require!(program("python3"));
    let rules = "\
expect: { confined: { network: [] } }
tests: { \"net::*\": { confined: { network: [\"127.0.0.1:*\"] } } }
";
    let project = project(rules);
    let run = project.checked("./t-1 --exact net::connects; ./t-1 --exact disk::lies");
    run.assert_status(1);
    assert!(run.stderr.contains("in test disk::lies"), "{}", run.stderr);
}

#[test]
fn a_command_that_is_one_test_is_that_test() {
    require!(right_to_trace());
    require!(program("python3"));
    let rules = "\
expect: { confined: { writes: [] } }
tests: { \"disk::saves\": { confined: { writes: [saved] } } }
";
    let project = project(rules);
    let run = |name| project.harness(&["check", "rules.yaml", "--", "./t-1", "--exact", name]);
    run("disk::saves").assert_status(0);
    // A runner that starts a process for each test has others for the other entries.
    let other = run("net::connects");
    other.assert_status(0);
    assert!(other.stderr.contains("holds nothing"), "{}", other.stderr);
}

#[test]
fn rules_of_a_test_that_did_not_run_are_said() {
    require!(right_to_trace());
    let rules = "tests: { \"gone::*\": { confined: { network: [] } } }\n";
    let run = project(rules).checked("./runner");
    run.assert_status(0);
    assert!(run.stderr.contains("holds nothing"), "{}", run.stderr);
    assert!(run.stderr.contains("(line 1)"), "{}", run.stderr);
}

#[test]
fn rules_of_tests_fail_where_no_test_is_known_to_have_run() {
    require!(right_to_trace());
    let rules = "tests: { \"gone::*\": { confined: { network: [] } } }\n";
    let run = project(rules).checked("true");
    run.assert_status(1);
    assert!(run.stderr.contains("holds nothing"), "{}", run.stderr);
}

/// A program whose one process runs all tests, and prints what it runs, as Go does.
fn printing(lines: &str) -> String {
    format!(
        "import os, socket\n\
         def say(text): os.write(1, (text + chr(10)).encode())\n\
         def connect(): socket.socket().connect_ex((\"127.0.0.1\", 9))\n\
         {lines}\nsay(\"PASS\")\n"
    )
}

const BY_OUTPUT: &str = "\
blame: output
expect: { confined: { network: [] } }
tests: { TestNet: { confined: { network: [\"127.0.0.1:*\"] } } }
";

#[test]
fn what_the_runner_printed_last_tells_the_test() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = ruled(BY_OUTPUT);
    let net = "say(\"=== RUN   TestNet\"); connect(); say(\"--- PASS: TestNet (0.00s)\")\n";
    let other = "say(\"=== RUN   TestA\"); say(\"--- PASS: TestA (0.00s)\")\n";
    project.write("t.py", &printing(&format!("{net}{other}")));
    let check = || project.harness(&["check", "rules.yaml", "--", "python3", "-I", "-S", "t.py"]);
    check().assert_status(0);
    let guilty = other.replace("\"); say", "\"); connect(); say");
    project.write("t.py", &printing(&format!("{net}{guilty}")));
    let run = check();
    run.assert_status(1);
    assert!(run.stderr.contains("in test TestA"), "{}", run.stderr);
}

/// The process is started by a test that may connect, and connects during one that may not.
#[test]
fn what_a_process_does_that_outlives_its_test_is_of_no_test_for_sure() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = ruled(BY_OUTPUT);
    let pool = "import sys\n\
                a, b = os.pipe(); c, d = os.pipe()\n\
                say(\"=== RUN   TestNet\")\n\
                if os.fork() == 0: os.read(a, 1); connect(); os.write(d, b'x'); os._exit(0)\n\
                def work(): os.write(b, b'x'); os.read(c, 1)\n";
    let (passed, begins) = (
        "say(\"--- PASS: TestNet (0.00s)\")",
        "say(\"=== RUN   TestA\")",
    );
    let check = || project.harness(&["check", "rules.yaml", "--", "python3", "-I", "-S", "t.py"]);
    project.write(
        "t.py",
        &printing(&format!(
            "{pool}{passed}\n{begins}\nwork()\n{}",
            passed.replace("TestNet", "TestA")
        )),
    );
    let run = check();
    run.assert_status(1);
    assert!(run.stderr.contains("incomplete"), "{}", run.stderr);
    // Within its test it is that test's.
    project.write("t.py", &printing(&format!("{pool}work()\n{passed}\n")));
    check().assert_status(0);
}

#[test]
fn a_test_that_prints_the_name_of_another_does_not_pass_as_it() {
    require!(right_to_trace());
    let project = ruled(BY_OUTPUT);
    let net = "say(\"=== RUN   TestNet\"); connect(); say(\"--- PASS: TestNet (0.00s)\")\n";
    for lies in [
        "say(\"=== RUN   TestA\"); say(\"=== RUN   TestNet\"); connect(); say(\"--- PASS: TestA (0.00s)\")\n",
        "say(\"=== RUN   TestA\"); say(\"--- PASS: TestA (0.00s)\"); say(\"=== RUN   TestNet\"); connect()\nsay(\"--- PASS: TestA (0.00s)\")\n",
    ] {
        for order in [format!("{net}{lies}"), format!("{lies}{net}")] {
            project.write("t.py", &printing(&order));
            let words = ["check", "rules.yaml", "--", "python3", "-I", "-S", "t.py"];
            let run = project.harness(&words);
            run.assert_status(1);
        }
    }
}

#[test]
fn a_report_has_a_case_for_each_test_that_broke_a_rule() {
    require!(right_to_trace());
    require!(program("python3"));
    let project =
        project("{ blame: process, expect: { confined: { network: [], writes: [] } } }\n");
    let reports = ["--report", "r.xml", "--report", "r.jsonl"];
    let words = [&["check", "rules.yaml"], &reports[..], &["--", "./runner"]].concat();
    project.harness(&words).assert_status(1);
    let xml = project.read("r.xml");
    for said in [
        " tests=\"3\" skipped=\"0\" errors=\"0\" failures=\"3\"",
        "<testcase name=\"disk::saves\" classname=\"rules\" file=\"rules.yaml\" line=\"1\">",
        "<failure message=\"`writes` does not allow `saved`\" type=\"fail\">",
        "<testcase name=\"net::connects\" classname=\"rules\" file=\"rules.yaml\" line=\"1\">",
        "<failure message=\"`network` does not allow `127.0.0.1:9`\" type=\"fail\">",
    ] {
        assert!(xml.contains(said), "{said}\n{xml}");
    }
    let json = project.read("r.jsonl");
    let first = json.lines().next().expect("a line");
    let first: serde_json::Value = serde_json::from_str(first).expect("JSON");
    let findings = first["findings"].as_array().expect("findings");
    let tests: Vec<_> = findings.iter().map(|it| it["tests"].clone()).collect();
    let of = |test: &str, did: &str| serde_json::json!([{ "test": test, "did": [did] }]);
    assert!(tests.contains(&of("disk::saves", "saved")), "{tests:?}");
    assert!(
        tests.contains(&of("net::connects", "127.0.0.1:9")),
        "{tests:?}"
    );
}
