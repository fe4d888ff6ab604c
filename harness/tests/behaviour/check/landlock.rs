//! Commands that restrict themselves, and what the kernel does for them all the same.

use super::{ruled, summary};
use crate::support::require::{program, require, right_to_trace};
use perf_live::sys::landlock;

/// Landlock is asked whether a file may be opened when it has been made.
#[test]
fn a_file_that_landlock_lets_be_made_and_not_opened_is_not_overlooked() {
    require!(right_to_trace());
    require!(program("python3"));
    require!(landlock::abi().ok_or_else(|| "the kernel has no Landlock".to_owned()));
    let project = ruled("expect: { confined: { writes: [] } }\n");
    project.write(
        "made.py",
        "import ctypes, os, sys\n\
         libc = ctypes.CDLL(None, use_errno=True)\n\
         write_file = ctypes.c_uint64(1 << 1)\n\
         ruleset = libc.syscall(444, ctypes.byref(write_file), 8, 0)\n\
         libc.prctl(38, 1, 0, 0, 0)\n\
         assert libc.syscall(446, ruleset, 0) == 0, ctypes.get_errno()\n\
         try: os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)\n\
         except PermissionError: sys.exit(0)\n\
         sys.exit(1)\n",
    );
    let shell = "python3 -I -S -B made.py made";
    let run = project.checked(shell);
    run.assert_status(1);
    for said in ["incomplete", "whether it was done is not known"] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    assert_eq!(project.read("made"), "");
    let lines = project.stated("python3 -I -S -B made.py made-too");
    assert_eq!(summary(&lines)["complete"], false);
}
