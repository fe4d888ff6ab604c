//! Writes by no file that was opened for writing.

use super::{Project, ruled, summary};
use crate::support::require::{program, require, right_to_trace};

const NO_WRITES: &str = "expect: { confined: { writes: [] } }\n";

/// `TIOCSTI` takes a descriptor that is open for reading.
#[test]
fn input_that_is_put_into_a_terminal_is_a_write_of_it() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = ruled(NO_WRITES);
    let script = "import fcntl, os, subprocess, sys\n\
                  _, terminal = os.openpty()\nname = os.ttyname(terminal)\n\
                  puts = f'import fcntl, os\\nfile = os.open({name!r}, os.O_RDONLY | os.O_NOCTTY)\\n\
                  fcntl.ioctl(file, {sys.argv[2]}, b\"\\\\3\")'\n\
                  run = ['check', 'rules.yaml', '--', 'python3', '-c', puts]\n\
                  sys.exit(subprocess.run([sys.argv[1], *run]).returncode)";
    let tried = |request: &str| {
        let harness = env!("CARGO_BIN_EXE_harness");
        project.run(&[], &["python3", "-c", script, harness, request])
    };
    let run = tried("0x5412");
    run.assert_status(1);
    let said = "does not allow `/dev/pts/";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    // TCGETS
    tried("0x5401").assert_status(0);
}

#[test]
fn a_core_dump_is_written_into_no_file_or_makes_the_run_incomplete() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = ruled(NO_WRITES);
    let dies = "ulimit -S -c LIMIT; sh -c 'kill -SEGV $$'; true";
    let checked = |limit: &str| {
        let shell = dies.replace("LIMIT", limit);
        let words = ["ulimit -c unlimited; exec \"$@\"", "sh"];
        let check = ["check", "rules.yaml", "--", "sh", "-c", &shell];
        let harness = [env!("CARGO_BIN_EXE_harness")];
        project.run(&[], &[&["sh", "-c"], &words[..], &harness, &check].concat())
    };
    let run = checked("0");
    run.assert_status(0);
    let dumps = |project: &Project| {
        let names = std::fs::read_dir(project.path()).expect("a folder");
        let mut names = names.map(|entry| entry.expect("an entry").file_name());
        names.any(|name| name.to_string_lossy().starts_with("core"))
    };
    assert!(!dumps(&project));
    // Blocks of 512 bytes: no dump is as small.
    checked("1").assert_status(0);
    let run = checked("100");
    run.assert_status(1);
    for said in ["incomplete", "may leave a core dump"] {
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    // A program may be told what a limit is, and take it away.
    let asks = "python3 -c 'import resource as r; r.setrlimit(r.RLIMIT_CORE, (0, 0)); \
                r.getrlimit(r.RLIMIT_CORE)'";
    project.checked(asks).assert_status(0);
    let lines = project.stated("ulimit -c 100");
    assert_eq!(summary(&lines)["complete"], false);
}
