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

#[test]
fn what_lies_behind_a_pointer_is_compared_as_what_it_is() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, socket; os.symlink('../x', 'l'); os.readlink('l'); \
                  socket.socket().setsockopt(1, 2, 1)";
    for (expect, wanted) in [
        ("never: [{ 'readlink*': { buf: ../x } }]", "fail"),
        ("never: [{ 'readlink*': { buf: { prefix: ../ } } }]", "fail"),
        ("never: [{ 'readlink*': { buf: { glob: '*/y' } } }]", "pass"),
        ("never: [{ setsockopt: { optval: 1 } }]", "fail"),
        (
            "never: [{ setsockopt: { optval: { range: '2..' } } }]",
            "pass",
        ),
        (
            "count: [{ setsockopt: { optval: '[1]' }, times: 1 }]",
            "pass",
        ),
    ] {
        let scenario = scenario("'readlink*', setsockopt", script, expect);
        let (word, why) = verdict(&scenario);
        assert_eq!(word, wanted, "{expect}: {why}");
    }
}

#[test]
fn a_word_for_a_kind_of_descriptors_means_all_of_that_kind() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, socket; os.write(os.memfd_create('q'), b'x'); \
                  pair = socket.socketpair(); pair[0].send(b'x'); os.write(os.open('secret', 1), b'x')";
    for (kind, wanted) in [
        ("memfd", "fail"),
        ("socket", "fail"),
        ("unix", "fail"),
        ("tcp", "pass"),
        ("./memfd", "pass"),
    ] {
        let expect =
            format!("never: [{{ write: {{ fd: {kind} }} }}, {{ sendto: {{ fd: {kind} }} }}]");
        let scenario = scenario("write, sendto, '%desc', '%net'", script, &expect);
        let (word, why) = verdict(&scenario);
        assert_eq!(word, wanted, "{kind}: {why}");
    }
}
