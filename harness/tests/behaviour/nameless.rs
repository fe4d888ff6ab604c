//! Calls that no table has a name for are among all calls: who speaks of every call means them.

use crate::support::project::verdict;
use crate::support::require::{program, require, right_to_trace};

/// A program that makes nine calls of a number that no kernel has yet, and then ends.
fn nine(events: &str, expect: &str) -> String {
    let script = "import ctypes, os\\nlibc = ctypes.CDLL(None)\\nos.write(2, b'go')\\n\
        for i in range(9): libc.syscall(998, 5)\\nos._exit(0)";
    format!(
        "workload: {{ run: [python3, -IBSc, \"{script}\"] }}\nsnapshot: false\n\
         trace: {{ events: [{{ syscalls: [{events}] }}], since: {{ written: go }} }}\n\
         expect: {{ {expect} }}\n"
    )
}

#[test]
fn what_is_expected_of_every_call_is_expected_of_those_without_a_name() {
    require!(right_to_trace());
    require!(program("python3"));
    let fails = [
        "count: { '*': '..=1' }",
        "never: [{ '*': { returns: ENOSYS } }]",
        "never: [{ all: { returns: ENOSYS } }]",
        "only: [exit_group]",
    ];
    for events in ["all", "'?all'", "'*'"] {
        for expect in fails {
            let (word, why) = verdict(&nine(events, expect));
            assert_eq!(word, "fail", "{events}: {expect}: {why}");
        }
        let (word, why) = verdict(&nine(events, "count: { '*': 10 }"));
        assert_eq!(word, "pass", "{events}: {why}");
    }
}
