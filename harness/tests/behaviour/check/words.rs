//! What rules and their reports say.

use super::{Project, ruled, summary};
use crate::support::require::{program, require, right_to_trace};

#[test]
fn a_path_with_what_a_shell_would_replace_is_refused_where_it_stands() {
    for (path, letter) in [("$TMPDIR/**", '$'), ("/a/${HOME}/x", '$'), ("~/x/**", '~')] {
        let project = ruled(&format!(
            "expect: {{ confined: {{ writes: [out, \"{path}\"] }} }}\n"
        ));
        let run = project.checked("echo x > out");
        run.assert_status(2);
        for said in [
            "rules.yaml:1:37",
            &format!("the `{letter}` stands for itself"),
            &format!("write [{letter}]"),
        ] {
            assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
        }
    }
}

#[test]
fn a_name_with_a_dollar_or_a_tilde_is_learnt_and_allowed() {
    require!(right_to_trace());
    let project = Project::new();
    let shell = "echo x > '$HOME'; echo x > '~a'; echo x > 'a$1'";
    let words = ["check", "--learn", "rules.yaml", "--", "sh", "-c", shell];
    project.harness(&words).assert_status(0);
    project.checked(shell).assert_status(0);
    let run = project.checked("echo x > '$HOMER'");
    run.assert_status(1);
    let rule = "what allows it: writes: [\"[$]HOMER\"]";
    assert!(run.stderr.contains(rule), "{}", run.stderr);
}

#[test]
fn a_runner_that_prints_no_names_is_told_with_the_option_that_makes_it() {
    require!(right_to_trace());
    let rules = "blame: output\nexpect: { confined: { writes: [] } }\n";
    let entry = "tests: { TestNet: { confined: { writes: [] } } }\n";
    let project = ruled(rules);
    let run = project.checked("echo ok");
    run.assert_status(0);
    assert!(run.stderr.contains("`pytest -v`"), "{}", run.stderr);
    project.write("rules.yaml", &format!("{rules}{entry}"));
    let run = project.checked("echo ok");
    run.assert_status(1);
    for said in ["holds nothing: no runner printed names", "`go test -v`"] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    // One that prints them is told of the entry alone.
    let run = project.checked("echo '=== RUN   TestA'; echo '--- PASS: TestA (0.00s)'; echo PASS");
    run.assert_status(0);
    assert!(
        run.stderr.contains("that a test of this name ran"),
        "{}",
        run.stderr
    );
    let words = ["check", "--blame", "output", "--", "echo", "ok"];
    let stated = project.harness(&words);
    assert!(stated.stderr.contains("`pytest -v`"), "{}", stated.stderr);
}

#[test]
fn a_failure_says_that_the_tests_own_list_stands_in_place_of_that_of_the_whole() {
    require!(right_to_trace());
    let project = ruled(
        "expect: { confined: { writes: [out] } }\n\
         tests: { net: { confined: { writes: [own] } } }\n",
    );
    project.write("t", "#!/bin/sh\necho x > own; echo x > $3\n");
    project.run(&[], &["chmod", "755", "t"]).assert_status(0);
    let run = project.checked("./t --exact net out");
    let said = "allows it, but a test's own list stands in place of it";
    // With two names it is of one of both.
    assert!(!run.stderr.contains(said), "{}", run.stderr);
    project.write("t", "#!/bin/sh\necho x > own; echo x > out\n");
    let run = project.checked("./t --exact net");
    run.assert_status(1);
    for said in [
        "`tests.\"net\".confined.writes` does not allow `out`",
        &format!("`expect.confined.writes` (line 1) {said}"),
    ] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
}

#[test]
fn a_command_is_called_a_command_and_counts_no_events_where_none_are_named() {
    require!(right_to_trace());
    let project = ruled("expect: { confined: { writes: [] } }\n");
    let run = project.checked("true");
    run.assert_status(0);
    assert!(
        run.stderr.ends_with("1 command: 1 pass\n"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("events"), "{}", run.stderr);
}

#[test]
fn what_hands_a_test_on_is_no_test() {
    require!(right_to_trace());
    for name in ["env", "nice", "timeout", "stdbuf", "setsid"] {
        require!(program(name));
    }
    let project = ruled(
        "expect: { confined: { writes: [] } }\n\
         tests: { net: { confined: { writes: [out] } } }\n",
    );
    project.write("t", "#!/bin/sh\necho x > out\n");
    project.run(&[], &["chmod", "755", "t"]).assert_status(0);
    for wrapper in [
        "env FOO=1",
        "nice -n 5",
        "timeout 50",
        "stdbuf -oL",
        "setsid -w",
    ] {
        project
            .checked(&format!("{wrapper} ./t --exact net"))
            .assert_status(0);
        let run = project.checked(&format!("{wrapper} ./t --exact other"));
        run.assert_status(1);
        assert!(run.stderr.contains("in test other"), "{}", run.stderr);
    }
}

#[test]
fn a_clock_that_is_only_read_is_no_privilege() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = ruled("expect: { confined: { privileges: none } }\n");
    project.write(
        "clock.py",
        "import ctypes\n\
         it = ctypes.create_string_buffer(512)\n\
         libc = ctypes.CDLL(None)\n\
         assert libc.adjtimex(it) >= 0 and libc.clock_adjtime(0, it) >= 0\n",
    );
    project
        .checked("exec python3 -I -S clock.py")
        .assert_status(0);
    let lines = project.stated("exec python3 -I -S clock.py");
    assert_eq!(summary(&lines)["complete"], true, "{lines:?}");
    assert_eq!(super::done(&lines, "privileges"), [""; 0]);
}
