//! What suites of C programs do: processes side by side, `make`, and logs that stay open.

use super::{done, ruled};
use crate::support::require::{program, require, right_to_trace};

/// Four processes that make folders of their own and remove them by descriptors of folders.
const REMOVERS: &str = r#"
import os, shutil
def work(k):
    for i in range(30):
        os.makedirs(f"own.{k}.{i}/d/e")
        open(f"own.{k}.{i}/d/f", "w").close()
        shutil.rmtree(f"own.{k}.{i}")
    os._exit(0)
children = [os.fork() or work(k) for k in range(4)]
for child in children:
    os.waitpid(child, 0)
"#;

#[test]
fn processes_that_remove_folders_of_their_own_side_by_side_are_judged() {
    require!(right_to_trace());
    require!(program("python3"));
    for (writes, status) in [("own.**", 0), ("other.**", 1)] {
        let project = ruled(&format!(
            "expect: {{ confined: {{ writes: [\"{writes}\"] }} }}\n"
        ));
        project.write("removers.py", REMOVERS);
        let words = ["python3", "-I", "-S", "removers.py"];
        let run = project.harness(&[&["check", "rules.yaml", "--"], &words[..]].concat());
        run.assert_status(status);
    }
}

#[test]
fn a_call_that_sets_the_ids_that_a_command_started_with_changes_no_privileges() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = ruled("expect: { confined: { privileges: none } }\n");
    let same = "python3 -c 'import os; os.setresuid(-1, os.geteuid(), -1); os.setgid(os.getgid())'";
    project.checked(same).assert_status(0);
    assert!(done(&project.stated(same), "privileges").is_empty());
    let other = "python3 -c 'import os; os.setresuid(1000, -1, 0)'";
    if nix::unistd::geteuid().is_root() {
        project.checked(other).assert_status(1);
        assert_eq!(done(&project.stated(other), "privileges"), ["setresuid"]);
    }
}

#[test]
fn a_command_is_handed_no_descriptors_of_its_runner_if_that_is_said() {
    require!(right_to_trace());
    let project = ruled("expect: { confined: { writes: [] } }\n");
    for (option, status) in [(&[][..], 1), (&["--close-fds"], 0)] {
        let words = format!(
            "exec 7>log; exec \"$0\" check {} rules.yaml -- true",
            option.concat()
        );
        let words = ["bash", "-c", &words, env!("CARGO_BIN_EXE_harness")];
        project.run(&[], &words).assert_status(status);
    }
}

#[test]
fn learnt_rules_allow_each_name_of_what_is_used_by_another() {
    require!(right_to_trace());
    let project = ruled("");
    let renames = [
        "sh",
        "-c",
        "mkdir -p a/x; mv a b; touch b/x/f; cat b/x/f; rm -r b",
    ];
    let learn = [&["check", "--learn", "learnt.yaml", "--"], &renames[..]].concat();
    project.harness(&learn).assert_status(0);
    let check = [&["check", "learnt.yaml", "--"], &renames[..]].concat();
    project.harness(&check).assert_status(0);
}

#[test]
fn rules_that_are_learnt_of_a_command_that_fails_are_said_to_expect_that() {
    require!(right_to_trace());
    let project = ruled("");
    for (status, is_said) in [(0, false), (3, true)] {
        let file = format!("{status}.yaml");
        let command = format!("exit {status}");
        let words = ["check", "--learn", &file, "--", "sh", "-c", &command];
        let said = project.harness(&words).stderr;
        let expects = said.contains("expect the command to end as it did: exit status 3");
        assert_eq!(expects, is_said, "{said}");
    }
}
