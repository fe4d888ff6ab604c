//! What the kernel does to a file though no call names it or opens it for writing: none passes.

use super::{ruled, summary};
use crate::support::require::{program, require, right_to_trace};

/// Types a letter into a terminal that was opened for reading alone.
const FAKES: &str = "\
import fcntl, os, struct
master = os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)
fcntl.ioctl(master, 0x40045431, struct.pack('i', 0))
number = struct.unpack('i', fcntl.ioctl(master, 0x80045430, bytes(4)))[0]
terminal = os.open(f'/dev/pts/{number}', os.O_RDONLY | os.O_NOCTTY)
fcntl.ioctl(terminal, 0x5412, b'x')
";

#[test]
fn what_is_typed_into_a_terminal_that_is_open_for_reading_is_written() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = ruled("expect: { confined: { writes: ['/dev/**/ptmx'] } }\n");
    project.write("fakes.py", FAKES);
    let run = project.checked("exec python3 -I -S -B fakes.py");
    run.assert_status(1);
    // The name of a terminal that has just been made is not always known.
    assert!(run.stderr.contains("TIOCSTI"), "{}", run.stderr);
}

/// Limits core dumps to some bytes.
fn limits_cores(bytes: u32) -> String {
    format!(
        "exec python3 -I -S -B -c 'import resource\n\
         hard = resource.getrlimit(resource.RLIMIT_CORE)[1]\n\
         resource.setrlimit(resource.RLIMIT_CORE, ({bytes}, max(hard, {bytes})))'"
    )
}

#[test]
fn core_dumps_that_are_turned_on_make_it_not_known_what_is_written() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = ruled("expect: { confined: { writes: [] } }\n");
    let run = project.checked(&limits_cores(4096));
    run.assert_status(1);
    for said in ["incomplete", "core dumps were turned on", "RLIMIT_CORE"] {
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    assert_eq!(
        summary(&project.stated(&limits_cores(4096)))["complete"],
        false
    );
    project.checked(&limits_cores(0)).assert_status(0);
    assert_eq!(summary(&project.stated(&limits_cores(0)))["complete"], true);
}

#[test]
fn a_command_starts_with_core_dumps_off_though_they_are_on_where_harness_was_started() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = ruled("expect: { confined: { network: [] } }\n");
    let prints = "import resource; print(resource.getrlimit(resource.RLIMIT_CORE)[0])";
    let check = project.program(&["check", "rules.yaml", "--", "python3", "-c", prints]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -c 4096; exec \"$0\" \"$@\""]);
    shell.arg(check.get_program()).args(check.get_args());
    shell.current_dir(project.path());
    let run = shell.output().expect("a shell");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(matches!(said.trim(), "0" | "1"), "{run:?}");
}

#[test]
fn a_process_that_dies_dumps_core_into_no_file() {
    require!(right_to_trace());
    let project = ruled("expect: { confined: { writes: [] } }\n");
    let words = ["ulimit -c unlimited; exec \"$@\"", "sh"];
    let check = ["check", "rules.yaml", "--", "sh", "-c"];
    let dies = ["sh -c 'kill -SEGV $$'; true"];
    let harness = [env!("CARGO_BIN_EXE_harness")];
    let words = [&["sh", "-c"], &words[..], &harness, &check, &dies].concat();
    project.run(&[], &words).assert_status(0);
    let names = std::fs::read_dir(project.path()).expect("a folder");
    let mut names = names.map(|entry| entry.expect("an entry").file_name());
    assert!(!names.any(|name| name.to_string_lossy().starts_with("core")));
}

/// The path of the loader that loaded this program.
fn loader() -> Result<String, String> {
    let maps = std::fs::read_to_string("/proc/self/maps").map_err(|error| error.to_string())?;
    let mut paths = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5));
    let found = paths.find(|path| path.contains("/ld-"));
    found.map_or_else(
        || Err("this program needs no loader".to_owned()),
        |path| Ok(path.to_owned()),
    )
}

#[test]
fn what_a_loader_executes_that_is_a_program_itself_is_not_known() {
    require!(right_to_trace());
    let loader = require!(loader());
    let touch = require!(program("touch"));
    let touch = touch.to_str().expect("a path");
    let project = ruled(&format!(
        "expect: {{ confined: {{ programs: [{loader:?}, sh] }} }}\n"
    ));
    let command = ["check", "rules.yaml", "--", &loader, touch, "made"];
    for run in [
        project.harness(&command),
        project.checked(&format!("{loader} {touch} made")),
    ] {
        run.assert_status(1);
        for said in ["incomplete", "a loader was executed by itself"] {
            assert!(run.stderr.contains(said), "{}", run.stderr);
        }
    }
    let lines = project.stated(&format!("{loader} {touch} made"));
    assert_eq!(summary(&lines)["complete"], false);
}
