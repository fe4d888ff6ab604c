//! Values that are lists, and tasks that a record has by the machine's number.

use crate::support::project::{Project, verdict};
use crate::support::require::{require, right_to_trace};

#[test]
fn a_list_of_the_words_of_a_command_is_these_words_in_their_order() {
    require!(right_to_trace());
    for (argv, word) in [
        ("[/bin/true, a, '1']", "fail"),
        ("'/bin/true a 1'", "fail"),
        ("{ one_of: [x, [/bin/true, a, '1']] }", "fail"),
        ("{ not: [/bin/true] }", "fail"),
        ("{ contains: a }", "fail"),
        ("[a, /bin/true, '1']", "pass"),
        ("{ one_of: [a, /bin/true] }", "pass"),
    ] {
        let yaml = format!(
            "workload: {{ run: [/bin/true, a, '1'] }}\nsnapshot: false\n\
             trace: {{ events: [{{ syscalls: [execve] }}] }}\n\
             expect: {{ never: [{{ execve: {{ argv: {argv} }} }}] }}\n"
        );
        let (found, why) = verdict(&yaml);
        assert_eq!(found, word, "{argv}: {why}");
    }
}

#[test]
fn a_task_in_the_tracepoint_of_a_call_is_asked_of_the_call() {
    require!(right_to_trace());
    let project = Project::new();
    for (task, is_refused) in [("P1", true), ("1", true), ("any", false)] {
        project.scenario(
            "it",
            &format!(
                "workload: {{ shell: 'kill -0 $$' }}\nsnapshot: false\n\
                 trace: {{ events: ['syscalls:sys_enter_kill'] }}\n\
                 expect: {{ never: [{{ 'syscalls:sys_enter_kill': {{ pid: {task} }} }}] }}\n"
            ),
        );
        let run = project.harness(&["run", "scenarios"]);
        run.assert_status(if is_refused { 2 } else { 1 });
        let said = "what lies there is in the call: name `kill` instead";
        assert_eq!(run.stderr.contains(said), is_refused, "{task}: {run:?}");
    }
}
