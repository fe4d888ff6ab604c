//! Values that are lists, and tasks that a record has by the machine's number.

use crate::support::project::{Project, verdict};
use crate::support::require::{program, require, right_to_trace};

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
        // Where one word ends counts.
        ("[/bin/true, 'a 1']", "pass"),
        ("['/bin/true a 1']", "pass"),
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

#[test]
fn a_signal_is_in_a_set_by_its_own_name_and_in_a_set_of_all_others() {
    require!(right_to_trace());
    require!(program("python3"));
    for (blocked, contains, word) in [
        ("SIGKILL, s.SIGTERM", "SIGTERM", "fail"),
        ("SIGTERM", "TERM", "fail"),
        ("SIGTERM, s.SIGINT", "[SIGTERM, INT]", "fail"),
        ("SIGTERM", "[SIGTERM, SIGINT]", "pass"),
        // `KILL` has it in it.
        ("SIGKILL, s.SIGTERM", "SIGILL", "pass"),
        ("SIGRTMIN + 10", "SIGRT_1", "pass"),
    ] {
        let script = format!("import signal as s; s.pthread_sigmask(s.SIG_BLOCK, [s.{blocked}])");
        let (found, why) = verdict(&blocks(&script, contains));
        assert_eq!(found, word, "{blocked}: {contains}: {why}");
    }
    // Most of them are shown as all but some.
    let most =
        "import signal as s; s.pthread_sigmask(s.SIG_BLOCK, s.valid_signals() - {s.SIGTERM})";
    for (contains, word) in [("SIGINT", "fail"), ("SIGTERM", "pass")] {
        let (found, why) = verdict(&blocks(most, contains));
        assert_eq!(found, word, "{contains}: {why}");
    }
}

#[test]
fn a_whole_set_of_signals_is_the_same_in_any_order() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import signal as s; s.pthread_sigmask(s.SIG_BLOCK, [s.SIGINT, s.SIGTERM])";
    for (set, word) in [
        ("'[INT TERM]'", "fail"),
        ("'[SIGTERM SIGINT]'", "fail"),
        ("'[INT]'", "pass"),
        ("'~[INT TERM]'", "pass"),
    ] {
        let yaml = blocks(script, "INT").replace("{ contains: INT }", set);
        let (found, why) = verdict(&yaml);
        assert_eq!(found, word, "{set}: {why}");
    }
}

/// That no set of signals that is blocked contains these.
fn blocks(script: &str, contains: &str) -> String {
    format!(
        "workload: {{ run: [python3, -ISc, \"{script}\"] }}\nsnapshot: false\n\
         trace: {{ events: [{{ syscalls: [rt_sigprocmask] }}] }}\n\
         expect:\n  never:\n    - rt_sigprocmask: {{ how: SIG_BLOCK, program: python3, nset: {{ contains: {contains} }} }}\n"
    )
}
