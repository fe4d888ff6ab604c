//! A harness that is killed by `SIGKILL`, at any moment, leaves no process, no directory, no
//! control group and no mount.

use std::ffi::{CString, OsStr};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use perf_live::host::Host;
use perf_live::sys::removal::{Members, remove_group};

use crate::support::fifo::Fifo;
use crate::support::oracle;
use crate::support::process::{self, Started, Watched};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// A mount namespace in which a group of its own stands for the hierarchy of control groups: what
/// is found in it was made there.
struct Groups {
    group: PathBuf,
    namespace: String,
    _holder: Started,
}

impl Groups {
    fn new() -> Result<Self, String> {
        program("unshare").and(program("nsenter"))?;
        let hierarchy = Host::running().cgroup2().ok_or("there are no groups")?;
        let group = tempfile::TempDir::with_prefix_in("behaviour-", &hierarchy);
        let group = group.map_err(|error| error.to_string())?.keep();
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c"]);
        command.arg("mount --bind \"$1\" \"$2\" && echo ready && exec sleep infinity");
        command.arg("sh").arg(&group).arg(&hierarchy);
        let mut holder = Started::new(command.stdout(Stdio::piped()));
        let mut said = String::new();
        let read = BufReader::new(holder.stdout()).read_line(&mut said);
        read.expect("a pipe");
        assert_eq!(said, "ready\n");
        Ok(Self {
            group,
            namespace: format!("--mount=/proc/{}/ns/mnt", holder.id()),
            _holder: holder,
        })
    }

    /// The program with its arguments, in the namespace.
    fn enter(&self, project: &Project, words: &[&str]) -> Command {
        let mut command = project.command("nsenter");
        command
            .arg(&self.namespace)
            .arg(env!("CARGO_BIN_EXE_harness"));
        command.args(words);
        command
    }

    /// How many there are.
    fn count(&self) -> usize {
        let entries = fs::read_dir(&self.group).expect("the group").flatten();
        entries.filter(|entry| entry.path().is_dir()).count()
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        // With what a test that has failed has found there.
        let (folder, name) = (self.group.parent(), self.group.file_name());
        let c_string = |text: &OsStr| CString::new(text.as_bytes()).expect("a path");
        let folder = c_string(folder.expect("the hierarchy").as_os_str());
        let name = c_string(name.expect("a name"));
        let _left = remove_group(&folder, &name, Members::Kill, Duration::from_secs(1));
    }
}

/// What is in the temporary folder.
fn temporary(project: &Project) -> Vec<PathBuf> {
    let entries = fs::read_dir(project.join("tmp")).expect("tmp").flatten();
    entries.map(|entry| entry.path()).collect()
}

fn mounts_of(project: &Project) -> usize {
    let mounts = fs::read_to_string("/proc/self/mounts").expect("mounts");
    let path = project.path().to_str().expect("a path of letters");
    mounts.lines().filter(|line| line.contains(path)).count()
}

/// Scenarios with all that a run may have: files, folders, a daemon, and a control group, which the
/// end of a process is always counted for.
fn busy(project: &Project) {
    let oracle = oracle::path();
    let mark = project.path().display();
    let scenario = |name: &str, sandbox: &str, script: &str| {
        let yaml = format!(
            "sandbox: {sandbox}\nworkload:\n  shell: |\n    {script}\n  env: {{ MARK: '{mark}' }}\n  \
             files: {{ a/b: x, c: y }}\n\
             trace: {{ events: [\"sched:sched_process_exit\", {{ syscalls: [\"%desc\"] }}] }}\n\
             snapshot: false"
        );
        project.scenario(name, &yaml);
    };
    scenario("a", "{ network: none }", "mkdir -p d/e/f; chmod 0 d; cat c");
    let children = "for i in 1 2 3; do (sleep 0.0$i; : > f$i) & done; wait";
    scenario("b", "{ root: host }", children);
    let daemon = format!("setsid '{oracle}' ignore-sigterm & : > f; wait");
    scenario("endless/c", "{ root: host }", &daemon);
    scenario("endless/d", "none", &daemon);
}

/// The numbers of Marsaglia's xorshift, the same in every run of the test.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u128) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u64::try_from(u128::from(self.0) % end.max(1)).expect("less than a number of 64 bits")
    }
}

const SIDE_BY_SIDE: u64 = 5;
const KILLS: usize = 60;

/// When the last process is gone, none is left that could remove anything: what is there then,
/// stays.
fn kill_at_random_moments(seed: u64) {
    let groups = require!(Groups::new());
    let project = Project::new();
    busy(&project);
    let all = project.join("scenarios");
    let (all, endless) = (all.to_str().expect("letters"), all.join("endless"));
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let start = Instant::now();
    let filter = ["run", "--filter", "^[ab]$", all];
    project.harness(&filter).assert_status(0);
    // Some moments are behind the end of the runs that have one.
    let life = start.elapsed().as_micros() * 5 / 4;
    for round in 0..KILLS {
        let moment = Duration::from_micros(numbers.below(life));
        let words: &[&str] = match round % 3 {
            0 => &filter,
            1 => &["run", all],
            _ => &["run", endless.to_str().expect("letters")],
        };
        // In the namespace a mount that was left would not be seen.
        let mut command = if round % 2 == 0 {
            groups.enter(&project, words)
        } else {
            project.program(words)
        };
        let mut harness = Started::new(command.stdout(Stdio::null()).stderr(Stdio::null()));
        let watched = Watched::new(harness.id().cast_signed()).expect("a child of ours");
        watched.ends_within(moment);
        harness.end_by(Signal::SIGKILL);
        process::wait_for_all_in(project.path());
        let left = (temporary(&project), groups.count(), mounts_of(&project));
        assert_eq!(left, (Vec::new(), 0, 0), "seed {seed}, {round}, {moment:?}");
    }
    assert_eq!(project.snapshots(), [""; 0], "nothing half-written");
}

#[test]
fn a_harness_killed_at_any_of_300_moments_leaves_nothing() {
    require!(right_to_trace());
    std::thread::scope(|scope| {
        for seed in 1..=SIDE_BY_SIDE {
            scope.spawn(move || kill_at_random_moments(seed));
        }
    });
}

/// A run of something that never ends, so far that it has begun.
fn begun(project: &Project, command: &mut Command) -> (Started, Fifo) {
    let mut fifo = Fifo::new(&project.join("fifo"));
    let (oracle, path) = (oracle::path(), fifo.path());
    let yaml = format!(
        "sandbox: {{ root: host }}\nworkload:\n  shell: exec '{oracle}' ignore-sigterm > '{path}'\n\
         trace: {{ events: [\"sched:sched_process_exit\"] }}\nsnapshot: false"
    );
    project.scenario("endless/it", &yaml);
    let harness = Started::new(command.stdout(Stdio::null()).stderr(Stdio::null()));
    fifo.wait_for_lines(1);
    (harness, fifo)
}

fn janitor_of(project: &Project) -> Watched {
    let mut all = process::all_in(project.path()).into_iter();
    all.find(|process| process.name() == "harness-janitor")
        .expect("a janitor")
}

/// As where all of a control group is killed, or the power fails.
#[test]
fn what_a_harness_and_its_janitor_leave_the_next_harness_removes() {
    require!(right_to_trace());
    let groups = require!(Groups::new());
    let project = Project::new();
    let endless = project.join("scenarios/endless");
    let words = ["run", endless.to_str().expect("letters")];
    let (mut harness, mut fifo) = begun(&project, &mut groups.enter(&project, &words));
    project.scenario("short", "workload: { run: [\"true\"] }\nsnapshot: false");
    let short = project.join("scenarios/short.yaml");
    let run_another = |inside: &Path| {
        let words = ["run", inside.to_str().expect("letters")];
        let output = groups.enter(&project, &words).output().expect("nsenter");
        assert!(output.status.success(), "{output:?}");
    };
    janitor_of(&project).kill();
    run_another(&short);
    assert_eq!(temporary(&project).len(), 1, "that of a harness that lives");
    assert_eq!(groups.count(), 1, "that of a harness that lives");
    harness.end_by(Signal::SIGKILL);
    fifo.wait_for_end();
    process::wait_for_all_in(project.path());
    assert_eq!(
        temporary(&project).len(),
        1,
        "no process was left to remove it"
    );
    assert_eq!(groups.count(), 1, "no process was left to remove it");
    run_another(&short);
    assert_eq!((temporary(&project), groups.count()), (Vec::new(), 0));
}

/// A terminal and a CI send their signals to whole groups and sessions.
#[test]
fn the_janitor_outlives_every_signal_but_one_and_does_its_duty() {
    require!(right_to_trace());
    let project = Project::new();
    let mut command = project.program(&["run", "scenarios/endless"]);
    let (mut harness, mut fifo) = begun(&project, &mut command);
    let janitor = janitor_of(&project);
    for signal in [
        Signal::SIGINT,
        Signal::SIGTERM,
        Signal::SIGHUP,
        Signal::SIGQUIT,
    ] {
        janitor.send(signal);
    }
    assert_eq!(harness.end_by(Signal::SIGKILL), 137);
    fifo.wait_for_end();
    project.assert_nothing_left();
}

/// Whether the file system of a folder has files without names.
fn has_nameless_files(project: &Project) -> Result<(), String> {
    let mut options = fs::File::options();
    options.write(true).custom_flags(libc::O_TMPFILE);
    let made = options.open(project.path()).map(drop);
    made.map_err(|error| format!("a file without a name in TMPDIR: {error}"))
}

#[test]
fn nothing_is_left_beside_what_a_killed_harness_was_writing() {
    require!(right_to_trace());
    let commands: [&[&str]; 5] = [
        &["record", "-e", "sched:sched_process_exit", "-o", "it/data"],
        &["trace", "-o", "it/data", "--save", "it/saved"],
        &["check", "-o", "it/said", "--learn", "it/rules.yaml"],
        &["stat", "-e", "execve", "-o", "it/said"],
        &["run", "--report", "it/data.json", "scenarios/endless"],
    ];
    for command in commands {
        let project = Project::new();
        require!(has_nameless_files(&project));
        for name in ["it/data", "it/data.json"] {
            project.write(name, "old");
        }
        let mut fifo = Fifo::new(&project.join("fifo"));
        let (oracle, path) = (oracle::path(), fifo.path().to_owned());
        let script = format!("exec '{oracle}' ignore-sigterm > '{path}'");
        project.scenario(
            "endless/it",
            &format!(
                "sandbox: {{ root: host }}\nworkload:\n  shell: {script}\n  timeout: 60m\nsnapshot: false"
            ),
        );
        let mut words = command.to_vec();
        if command.first() != Some(&"run") {
            words.extend(["--", "sh", "-c", &script]);
        }
        let mut program = project.program(&words);
        let mut harness = Started::new(program.stdout(Stdio::null()).stderr(Stdio::null()));
        fifo.wait_for_lines(1);
        assert_eq!(harness.end_by(Signal::SIGKILL), 137);
        // A command on the bare host is its caller's, and lives on.
        let command = process::all_in(project.path()).into_iter();
        command
            .filter(|it| it.name() == "oracle")
            .for_each(|it| it.kill());
        fifo.wait_for_end();
        let mut files = project.files("it");
        // Of a run that began, its report says so from the start.
        let report = files.remove("it/data.json").unwrap_or_default();
        let report = String::from_utf8_lossy(&report);
        let is_whole = report == "old" || report.contains("has not finished");
        assert!(is_whole, "{words:?}: {report}");
        let left: Vec<_> = files.into_iter().collect();
        assert_eq!(left, [("it/data".to_owned(), b"old".to_vec())], "{words:?}");
    }
}

/// Whether a process has ended and was not waited for.
fn is_dead(id: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"));
    let stat = stat.expect("a process that nobody waits for");
    let state = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    state == Some('Z')
}

#[test]
fn a_command_that_ends_with_the_signal_to_the_harness_leaves_nothing_behind() {
    require!(right_to_trace());
    let project = Project::new();
    for words in [
        &["trace", "-o", "t"][..],
        &["record", "-e", "getppid", "-o", "r"],
        &["stat", "-e", "getppid", "-o", "s"],
    ] {
        let script = ["--", "sh", "-c", "echo $$; read end"];
        let mut command = project.program(&[words, &script].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("harness");
        let harness = Pid::from_raw(child.id().cast_signed());
        let mut line = String::new();
        let mut said = BufReader::new(child.stdout.take().expect("a pipe"));
        said.read_line(&mut line).expect("a line");
        let shell = Pid::from_raw(line.trim().parse().expect("a process"));
        // It finds both at once: the signal, and that the command has ended.
        kill(harness, Signal::SIGSTOP).expect("kill");
        kill(harness, Signal::SIGTERM).expect("kill");
        drop(child.stdin.take());
        while !is_dead(shell) {
            std::thread::yield_now();
        }
        kill(harness, Signal::SIGCONT).expect("kill");
        let output = child.wait_with_output().expect("harness");
        let said = String::from_utf8(output.stderr).expect("text");
        assert!(!said.contains("lives on"), "{words:?}: {said}");
    }
}
