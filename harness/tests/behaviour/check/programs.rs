//! Which programs were executed.

use super::{done, summary};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// Runners of tests execute themselves by that name: what ran is the file that was executed before,
/// but of a script it is the interpreter.
#[test]
fn a_program_that_executes_itself_by_procfs_is_the_one_that_was_executed() {
    require!(right_to_trace());
    let project = Project::new();
    let lines = project.stated("env sh -c 'exec /proc/self/exe -c :'");
    assert_eq!(summary(&lines)["complete"], true, "{lines:?}");
    let programs = done(&lines, "executed");
    assert!(
        programs.iter().all(|it| !it.starts_with("/proc")),
        "{programs:?}"
    );
    project.write("script", "#!/bin/sh\nexec /proc/self/exe -c :\n");
    let lines = project.stated("chmod 755 script; ./script");
    assert_eq!(summary(&lines)["complete"], false, "{lines:?}");
    // It may be one that is allowed.
    for (programs, verdict) in [("./script", "incomplete"), ("", "fail")] {
        let rules = format!("expect: {{ confined: {{ programs: [{programs}] }} }}\n");
        project.write("rules.yaml", &rules);
        let run = project.checked("exec ./script");
        assert!(
            run.stderr.trim_start().starts_with(verdict),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_program_that_is_in_memory_alone_is_named_by_what_made_it() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = Project::new();
    project.write(
        "run.py",
        "import os\n\
         memory = os.memfd_create(\"tool\", 0)\n\
         os.write(memory, open(\"/bin/true\", \"rb\").read())\n\
         os.execve(memory, [\"tool\"], {})\n",
    );
    let shell = "exec python3 -I -S run.py";
    let lines = project.stated(shell);
    assert!(
        done(&lines, "executed").contains(&"memfd:tool"),
        "{lines:?}"
    );
    assert_eq!(summary(&lines)["complete"], true, "{lines:?}");
    for (more, status) in [(", \"memfd:tool\"", 0), (", \"memfd:t\"", 1), ("", 1)] {
        let rules = format!("expect: {{ confined: {{ programs: [\"/**\"{more}] }} }}\n");
        project.write("rules.yaml", &rules);
        project.checked(shell).assert_status(status);
    }
}
