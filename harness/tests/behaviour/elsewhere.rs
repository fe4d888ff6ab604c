//! What a call has under another name than most, where a glob or a class asks for it.

use crate::support::project::verdict;
use crate::support::require::{program, require, right_to_trace};

fn scenario(calls: &str, script: &str, expect: &str) -> String {
    format!(
        "workload: {{ run: [python3, -IBSc, \"{script}\"], files: {{ secret: {{ content: s }} }} }}\n\
         trace: {{ events: [{{ syscalls: [{calls}] }}] }}\n\
         expect: {{ {expect} }}\nsnapshot: false\n"
    )
}

#[test]
fn a_call_that_has_a_field_under_another_name_is_meant_by_a_glob_and_a_class() {
    require!(right_to_trace());
    require!(program("python3"));
    let copies = "import os; os.copy_file_range(os.open('secret', 0), os.open('b', 65), 1)";
    let of_copies = "never: [{ '*': { fd: secret } }]";
    let gathers = "import os; os.writev(1, [b'pass', b'word'])";
    for (calls, script, expect, wanted) in [
        (
            "'%file'",
            "import os; os.rename('secret', 'b')",
            "never: [{ '%file': { path: secret } }]",
            "fail",
        ),
        ("'*'", copies, of_copies, "fail"),
        // What was written is not read.
        (
            "'write*'",
            gathers,
            "never: [{ 'write*': { data: { contains: password } } }]",
            "incomplete",
        ),
        (
            "'write*'",
            gathers,
            "never: [{ 'write*': { fd: stderr, data: { contains: password } } }]",
            "pass",
        ),
    ] {
        let (word, why) = verdict(&scenario(calls, script, expect));
        assert_eq!(word, wanted, "{expect}: {why}");
    }
}

#[test]
fn the_flags_of_a_structure_are_a_field_of_the_call_itself() {
    require!(right_to_trace());
    require!(program("python3"));
    // `struct open_how`: flags, mode, resolve.
    let script = "import ctypes, os, struct; how = struct.pack('QQQ', os.O_CREAT, 384, 0); \
                  ctypes.CDLL(None).syscall(437, -100, b'b', how, 24)";
    for (flag, wanted) in [("O_CREAT", "fail"), ("O_EXCL", "pass")] {
        for calls in ["openat2", "'openat*'"] {
            let expect = format!("never: [{{ {calls}: {{ flags: {{ contains: {flag} }} }} }}]");
            let (word, why) = verdict(&scenario(calls, script, &expect));
            assert_eq!(word, wanted, "{expect}: {why}");
        }
    }
}
