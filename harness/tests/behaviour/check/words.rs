//! What rules and their reports say.

use super::{Project, ruled};
use crate::support::require::{require, right_to_trace};

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
