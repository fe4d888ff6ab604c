//! What an ordinary user can trace, and what he is told of the rest.

use crate::support::oracle;
use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_of_users, right_to_trace};
use crate::support::unread::Unread;

/// A machine whose tracefs this user may read. Its owner and mode belong to the file system and not
/// to a mount of it, so that to change them would change the machine: the right to read comes as a
/// capability, which opens no event.
const AS_NOBODY: &str = "mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null
    exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+dac_read_search \
        --ambient-caps=+dac_read_search -- \"$@\"";

fn needs() -> Result<(), String> {
    right_to_trace()?;
    right_of_users()?;
    program("unshare")?;
    program("setpriv").map(drop)
}

fn as_nobody(project: &Project, arguments: &[&str]) -> Run {
    project.run(&[], &words_as_nobody(arguments))
}

fn words_as_nobody<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let harness = env!("CARGO_BIN_EXE_harness");
    let before = ["unshare", "--mount", "sh", "-c", AS_NOBODY, "sh", harness];
    [&before[..], arguments].concat()
}

/// `` `event`: N counted, N records, N lost ``.
fn account(said: &str, event: &str) -> [u64; 3] {
    let start = format!("`{event}`: ");
    let mut lines = said.lines().map(str::trim);
    let line = lines.find_map(|line| line.strip_prefix(start.as_str()));
    let line = line.unwrap_or_else(|| panic!("nothing about `{event}`: {said}"));
    let numbers = line.split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<u64> = numbers.filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().expect("three numbers")
}

#[test]
fn a_flood_that_a_user_traces_into_a_one_page_ring_is_lost_to_the_last_record() {
    require!(needs());
    let project = Project::new();
    project.open_to_everybody("tmp");
    let mut unread = Unread::new(&project);
    let script = unread.shell(&format!("{} flood 100000", oracle::path()));
    let words = ["trace", "-m", "4KiB", "-o", "/dev/null", "-e", "getppid"];
    let words = [&words[..], &["--", "sh", "-c", &script]].concat();
    let words = words_as_nobody(&words);
    let run = unread.run(project.command(words[0]).args(&words[1..]));
    run.assert_status(125);
    for half in ["enter", "exit"] {
        let [counted, records, lost] =
            account(&run.stderr, &format!("syscalls:sys_{half}_getppid"));
        // Shells ask for their parent once.
        assert!((100_000..=100_001).contains(&counted), "{half}: {counted}");
        assert_eq!(counted, records + lost, "{half}");
        assert!(lost > 0, "{half}");
    }
    project.assert_nothing_left();
}

#[test]
fn a_user_is_told_which_right_is_missing_for_what_he_cannot_trace() {
    require!(needs());
    let project = Project::new();
    for (events, said) in [
        ("all", "at most 100 calls can be traced at a time"),
        ("!futex", "at most 100 calls can be traced at a time"),
        (
            "sched:sched_switch",
            "cannot open `sched:sched_switch`: operation not permitted",
        ),
        (
            "raw_syscalls:sys_enter",
            "`raw_syscalls:sys_enter` shows nothing without the right",
        ),
        (
            "io_uring:IORING_OP_FSYNC",
            "`io_uring:io_uring_submit_req` shows nothing without",
        ),
    ] {
        let run = as_nobody(&project, &["trace", "-e", events, "--", "true"]);
        run.assert_status(125);
        assert!(run.stderr.contains(said), "{events}: {}", run.stderr);
        let hint = run.stderr.lines().find(|line| line.starts_with("hint: "));
        let names_it = hint.is_some_and(|hint| hint.contains("cap_perfmon"));
        assert!(names_it, "{events}: {}", run.stderr);
    }
}

#[test]
fn the_doctor_tells_a_user_what_he_can_trace() {
    require!(needs());
    let run = as_nobody(&Project::new(), &["doctor"]);
    let can = "as an ordinary user: calls of your own programs, at most 100 at a time";
    assert!(run.stdout.contains(can), "{}", run.stdout);
    let whole = run.stdout.lines().any(|line| {
        line.starts_with("  ok  a traced run: ") && line.ends_with("every record accounted for")
    });
    assert!(whole, "{}", run.stdout);
}

/// A 32-bit program that calls `exit(0)`.
#[cfg(target_arch = "x86_64")]
fn program_of_32_bits() -> Vec<u8> {
    const BASE: u32 = 0x0804_8000;
    let code = [0x31, 0xdb, 0xb8, 1, 0, 0, 0, 0xcd, 0x80];
    let size = 52 + 32 + code.len() as u32;
    let mut file = b"\x7fELF\x01\x01\x01".to_vec();
    file.resize(16, 0);
    // Elf32_Ehdr (elf(5)): ET_EXEC for EM_386, and one program header behind it.
    file.extend([2_u16, 3].iter().flat_map(|half| half.to_le_bytes()));
    let words = [1, BASE + 52 + 32, 52, 0, 0];
    file.extend(words.iter().flat_map(|word: &u32| word.to_le_bytes()));
    let halves = [52_u16, 32, 1, 0, 0, 0];
    file.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
    // Elf32_Phdr: PT_LOAD of the whole file, to be read and executed.
    let words = [1, 0, BASE, BASE, size, size, 5, 0x1000];
    file.extend(words.iter().flat_map(|word: &u32| word.to_le_bytes()));
    file.extend(code);
    file
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_32_bit_program_is_out_of_a_users_sight_and_makes_the_run_incomplete() {
    use std::os::unix::fs::PermissionsExt;
    require!(needs());
    let project = Project::new();
    let file = project.join("i386");
    std::fs::write(&file, program_of_32_bits()).expect("a program");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&file, executable).expect("a program");
    let path = file.to_str().expect("a path of letters");
    let status = std::process::Command::new(path).status();
    if !status.is_ok_and(|status| status.success()) {
        return crate::support::require::skip("this kernel runs no 32-bit programs");
    }
    let script = "\"$0\"; exec \"$0\"";
    let run = as_nobody(
        &project,
        &[
            "trace",
            "-o",
            "/dev/null",
            "-e",
            "getppid",
            "--",
            "sh",
            "-c",
            script,
            path,
        ],
    );
    run.assert_status(125);
    let programs = run
        .stderr
        .lines()
        .find(|line| line.trim().starts_with("programs of which"));
    assert!(
        programs.is_some_and(|line| line.ends_with(": 2")),
        "{}",
        run.stderr
    );
}

#[test]
fn calls_of_a_user_are_held_under_no_new_privileges_and_that_is_said() {
    require!(needs());
    let project = Project::new();
    let inject = "inject=mkdir:error=ENOSPC";
    let words = ["trace", "-e", "mkdir", "-e", inject, "--", "mkdir", "a"];
    let run = as_nobody(&project, &words);
    run.assert_status(1);
    assert!(run.stderr.contains("(INJECTED)"), "{run:?}");
    assert!(run.stderr.contains("under no_new_privs"), "{run:?}");
}

/// How many records a file of `harness record` has.
fn n_samples(run: &Run) -> u64 {
    let said = run.stderr.split("[ harness record: ").nth(1);
    let number = said.and_then(|said| said.split(' ').next());
    let number = number.and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("{run:?}"))
}

#[test]
fn calls_that_a_user_records_by_name_are_recorded_by_their_own_tracepoints() {
    require!(needs());
    let project = Project::new();
    project.open_to_everybody("tmp");
    let data = project.join("tmp/calls.data").display().to_string();
    let words = ["record", "-o", &data, "-e", "mkdir,rmdir", "--"];
    let shell = ["sh", "-c", "mkdir tmp/d && rmdir tmp/d"];
    let run = as_nobody(&project, &[&words[..], &shell].concat());
    run.assert_status(0);
    assert_eq!(n_samples(&run), 4, "{run:?}");
    let script = project.harness(&["script", "-i", &data]);
    for name in ["sys_enter_mkdir", "sys_exit_rmdir"] {
        assert!(script.stdout.contains(name), "{}", script.stdout);
    }
    let trace = project.harness(&["trace", "-i", &data]);
    trace.assert_status(0);
    assert!(trace.stdout.contains(" rmdir("), "{trace:?}");
    let all = as_nobody(&project, &["record", "-o", &data, "-e", "all", "true"]);
    all.assert_status(125);
    let most = "at most 100 calls can be traced at a time";
    assert!(all.stderr.contains(most), "{}", all.stderr);
}

#[test]
fn what_happens_in_the_kernel_alone_is_never_counted_as_0_and_never_recorded_for_a_user() {
    require!(needs());
    let project = Project::new();
    project.open_to_everybody("tmp");
    let data = project.join("tmp/kernel.data").display().to_string();
    let shows_nothing =
        |name: &str| format!("`{name}` shows nothing without the right to trace everything");
    for name in [
        "context-switches",
        "cpu-migrations",
        "page-faults:k",
        "raw_syscalls:sys_enter",
    ] {
        let recorded = ["record", "-o", &data, "-c", "1", "-e", name, "true"];
        let run = as_nobody(&project, &recorded);
        run.assert_status(125);
        assert!(run.stderr.contains(&shows_nothing(name)), "{}", run.stderr);
        let alone = as_nobody(&project, &["stat", "-e", name, "true"]);
        alone.assert_status(125);
        assert!(alone.stderr.contains(&shows_nothing(name)), "{alone:?}");
    }
    let events = "mkdir,context-switches,sched:sched_process_exec,{page-faults,cpu-migrations}";
    let words = ["stat", "--format", "json", "-o", "-", "-e", events];
    let run = as_nobody(&project, &[&words[..], &["mkdir", "tmp/made"]].concat());
    run.assert_status(0);
    let counters: Vec<serde_json::Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .filter(|line: &serde_json::Value| line["type"] == "counter")
        .collect();
    let shown: Vec<(&str, Option<u64>, bool)> = counters
        .iter()
        .map(|line| {
            let is_absent = line["not_supported"].is_string();
            (
                line["name"].as_str().expect("a name"),
                line["value"].as_u64(),
                is_absent,
            )
        })
        .collect();
    let expected = [
        ("mkdir", Some(1), false),
        ("context-switches", None, true),
        ("sched:sched_process_exec", None, true),
        ("page-faults", None, true),
        ("cpu-migrations", None, true),
    ];
    assert_eq!(shown, expected, "{run:?}");
    // Nothing named is what perf counts then, as far as it can be seen.
    let run = as_nobody(&project, &["stat", "true"]);
    run.assert_status(0);
    let lines = run.stderr.lines();
    let unseen = lines
        .filter(|line| line.contains("<not supported>"))
        .count();
    assert_eq!(unseen, 2, "{}", run.stderr);
}
