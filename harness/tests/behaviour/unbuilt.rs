//! Kernels that were built without what the harness calls: it does without, or names the option.

use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};
use syscall_model::names::{self, Abi};

/// Runs the scenario `it` as on a kernel without this call.
fn without(project: &Project, call: &str) -> Run {
    project.compile(&[], "unbuilt.c", "unbuilt");
    let number = names::number(Abi::native(), call).expect("a call");
    let (unbuilt, harness) = ("./unbuilt", env!("CARGO_BIN_EXE_harness"));
    let number = number.to_string();
    let words = [unbuilt, &number, harness, "run", "--format", "json"];
    let run = project.run(&[], &[&words[..], &["scenarios"]].concat());
    project.assert_nothing_left();
    run
}

fn verdict(run: &Run) -> (String, String) {
    let told = &run.json()[0];
    (told["verdict"].to_string(), told["reasons"].to_string())
}

/// A scenario that replaces a file; the new one is synced before, or not.
fn replaces(is_synced: bool) -> Project {
    let sync = if is_synced { "sync new && " } else { "" };
    Project::with(
        "it",
        &format!(
            "workload: {{ shell: \"printf 'NEW\\n' > new && {sync}mv new old\", \
             files: {{ old: \"old\\n\" }}, timeout: 60s }}\n\
             trace: {{ events: [{{ syscalls: [fsync] }}] }}\nsnapshot: false\n\
             crash: {{ recovers: {{ shell: \"grep -qx -e old -e NEW old\" }} }}\n"
        ),
    )
}

#[test]
fn power_cuts_are_tried_where_no_file_has_a_handle() {
    require!(right_to_trace());
    require!(program("cc"));
    for (is_synced, expected) in [(true, "\"pass\""), (false, "\"fail\"")] {
        let run = without(&replaces(is_synced), "name_to_handle_at");
        let (found, why) = verdict(&run);
        assert_eq!(found, expected, "{why}");
    }
}

#[test]
fn what_depends_on_the_memory_of_a_held_call_is_unknown_and_names_the_option() {
    require!(right_to_trace());
    require!(program("cc"));
    require!(program("python3"));
    let faulted = |script: &str, calls: &str, fault: &str| {
        let yaml = format!(
            "workload: {{ run: [python3, -c, \"import os\\n{script}\"], timeout: 60s }}\n\
             trace: {{ events: [{{ syscalls: [{calls}] }}] }}\nsnapshot: false\n\
             faults: [{{ {fault} }}]\n"
        );
        Project::with("it", &yaml)
    };
    let writes = "os.writev(1, [b'some', b'more'])";
    for project in [
        faulted(
            "os.mkdir('a')",
            "'mkdir*'",
            "'mkdir*': { path: a, error: EIO }",
        ),
        faulted(writes, "writev", "writev: { short: 1 }"),
        faulted("os.write(1, b'some')", "write", "write: { short: 1 }"),
        replaces(true),
    ] {
        let run = without(&project, "process_vm_readv");
        let (found, why) = verdict(&run);
        assert_eq!(found, "\"incomplete\"", "{why}");
        assert!(why.contains("CONFIG_CROSS_MEMORY_ATTACH"), "{why}");
    }
}

#[test]
fn a_fault_that_depends_on_no_memory_is_done_on_a_kernel_that_reads_none() {
    require!(right_to_trace());
    require!(program("cc"));
    let project = Project::with(
        "it",
        "workload: { shell: 'touch f; sync f' , timeout: 60s }\n\
         trace: { events: [{ syscalls: [fsync] }] }\nsnapshot: false\n\
         faults: [{ fsync: { error: EIO } }]\nexpect: { exit: 1 }\n",
    );
    let (found, why) = verdict(&without(&project, "process_vm_readv"));
    assert_eq!(found, "\"pass\"", "{why}");
}
