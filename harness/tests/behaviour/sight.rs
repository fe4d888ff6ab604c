//! What the events of a workload do not see is never taken for absence: each of these was once a
//! pass.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::sync::Arc;

use perf_live::host::{Catalogue, Host, HostError};
use perf_records::format::Format;
use perf_records::units::TracepointName;
use trace_harness::plan::{self, Facts, MemoryReader, Resolved};
use trace_harness::run::{Bench, Extras, Subject, attempt, lay_out};
use trace_harness::scenario;
use trace_harness::snapshot::Place;
use trace_harness::verdict::{Verdict, joined};

use crate::support::machine::facts;
use crate::support::oracle;
use crate::support::project::{Project, verdict};
use crate::support::require::{self, program, require, right_to_trace};
use serde_json::Value;
use trace_harness::run::Undisturbed;

/// The verdict on a scenario whose workload writes its `/proc/self/cgroup` to the file that `{}`
/// stands for; its group is gone afterwards.
fn verdict_in_a_group(yaml: &str) -> (String, String) {
    let project = Project::new();
    let file = project.join("group");
    project.scenario("it", &yaml.replace("{}", &file.to_string_lossy()));
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    let mounts = std::fs::read_to_string("/proc/mounts").expect("procfs");
    let mounted = mounts.lines().find_map(|line| {
        let mut words = line.split(' ');
        let point = words.nth(1)?;
        (words.next()? == "cgroup2").then(|| point.to_owned())
    });
    let said = std::fs::read_to_string(&file).expect("the workload's group");
    let own = said.lines().find_map(|line| line.strip_prefix("0::"));
    let (mounted, own) = mounted.zip(own).expect("a version 2 hierarchy");
    assert!(own.contains("/harness-base-"), "{said}");
    assert!(!Path::new(&format!("{mounted}{own}")).exists(), "{own}");
    let base = own.rsplit_once('/').map_or("", |(base, _)| base);
    assert!(!Path::new(&format!("{mounted}{base}")).exists(), "{base}");
    run.verdicts()["it"].clone()
}

#[test]
fn a_set_user_id_program_of_another_user_makes_the_run_incomplete() {
    require!(right_to_trace());
    require!(program("su"));
    let (verdict, reason) = verdict(
        "workload:\n  run: [setpriv, --reuid=65534, --regid=65534, --clear-groups, su, --help]\n\
         trace: { events: [{ syscalls: [write] }] }\nsnapshot: false",
    );
    assert_eq!(verdict, "incomplete", "{reason}");
    assert!(reason.contains("set-user-ID"), "{reason}");
}

#[test]
fn a_set_user_id_program_is_followed_where_the_scenario_names_the_user() {
    require!(right_to_trace());
    require!(program("su"));
    let (verdict, reason) = verdict(
        "workload: { shell: \"su --help > /dev/null; su --help > /dev/null\" }\nsandbox: { user: nobody }\n\
         trace: { events: [{ syscalls: [execve, exit_group] }] }\nexpect: { count: { execve: 3, exit_group: 3 } }\n\
         snapshot: false",
    );
    assert_eq!(verdict, "pass", "{reason}");
}

#[test]
fn a_workload_that_leaves_its_control_group_makes_the_run_incomplete_and_leaves_none_behind() {
    require!(right_to_trace());
    // The root of the hierarchy takes every process.
    let script = "open C, '/proc/self/cgroup'; open O, '>', '{}'; print O <C>; close O; open M, '/proc/mounts'; my ($m) = map { (split)[1] } grep { (split)[2] eq 'cgroup2' } <M>; \
                  open F, qq{>$m/cgroup.procs} or die; print F $$; close F or die; mkdir 'a'; rmdir 'a'";
    let yaml = format!(
        "sandbox: {{ root: host }}\nworkload:\n  run: [perl, -e, {script:?}]\ntrace: {{ events: [\"sched:sched_process_exit\", {{ syscalls: [mkdir, rmdir] }}] }}\n\
         snapshot: false\nexpect: {{ count: {{ rmdir: 1 }} }}"
    );
    let (verdict, reason) = verdict_in_a_group(&yaml);
    assert_eq!(verdict, "incomplete", "{reason}");
    assert!(reason.contains("control group"), "{reason}");
}

#[test]
fn the_end_of_a_process_is_seen_on_every_kernel_and_its_control_group_is_removed() {
    require!(right_to_trace());
    let (verdict, reason) = verdict_in_a_group(
        "sandbox: { root: host }\nworkload: { shell: \"while read l; do echo $l; done < /proc/self/cgroup > {}; true & wait\" }\n\
         trace: { events: [\"sched:sched_process_exit\"] }\nsnapshot: false\n\
         expect: { count: { \"sched:sched_process_exit\": 2 } }",
    );
    assert_eq!(verdict, "pass", "{reason}");
}

#[test]
fn a_harness_whose_parent_ignores_the_end_of_children_still_learns_of_its_own() {
    require!(right_to_trace());
    let project = Project::new();
    let perl = [
        "-e",
        "$SIG{CHLD} = 'IGNORE'; exec @ARGV or die",
        env!("CARGO_BIN_EXE_harness"),
    ];
    let mut command = project.command("perl");
    command
        .args(perl)
        .args(["trace", "-o", "trace", "sh", "-c", "exit 3"]);
    command.process_group(0);
    let status = command.status().expect("perl runs");
    assert_eq!(status.code(), Some(3));
    assert!(Path::new(&project.join("trace")).exists());
}

/// This machine, as if its kernel had no tracepoint of io_uring.
struct WithoutIoUring<'a>(&'a Host);

impl Catalogue for WithoutIoUring<'_> {
    fn format(&self, name: &TracepointName) -> Result<Arc<Format>, HostError> {
        if name.system() == "io_uring" {
            return Err(HostError::NoTracepoint { name: name.clone() });
        }
        self.0.format(name)
    }
    fn systems(&self) -> Result<Vec<String>, HostError> {
        self.0.systems()
    }
    fn events(&self, system: &str) -> Result<Vec<String>, HostError> {
        self.0.events(system)
    }
}

#[test]
fn what_is_submitted_where_no_tracepoint_shows_it_makes_the_run_incomplete() {
    require!(right_to_trace());
    let host = Host::running();
    let bench = Bench::new(&host).expect("this machine");
    if host.io_uring_disabled() == Some(2) {
        return require::skip("kernel.io_uring_disabled forbids io_uring");
    }
    let facts = Facts {
        io_uring_disabled: Some(0),
        reader: MemoryReader::Nobody,
        ..facts(&bench)
    };
    let outcome = |subcommand: &str, catalogue: &dyn Catalogue| {
        let oracle = oracle::path();
        let text = format!(
            "description: d\nsandbox: {{ root: host }}\nworkload: {{ run: [{oracle:?}, {subcommand}] }}\ntrace: {{ events: [{{ syscalls: [\"%desc\"] }}] }}\n\
             snapshot: false\n"
        );
        let scenario = scenario::read(Path::new("it.yaml"), &text).expect("a scenario");
        let Ok(Resolved::Plan(plan)) = plan::resolve(&scenario, &facts, catalogue) else {
            panic!("no plan for {text}");
        };
        let file = Path::new("it.yaml");
        let dir = lay_out(&bench, &plan, file).expect("a directory");
        let stored = &Place::of(file).stored(bench.kernel()).expect("none");
        let subject = Subject { file, stored };
        let outcome = attempt(
            &bench,
            &plan,
            subject,
            &mut Undisturbed,
            Extras::default(),
            &dir,
        );
        let outcome = outcome.expect("a run");
        (outcome.verdict, joined(&outcome.findings, "\n"))
    };
    let blind = WithoutIoUring(&host);
    for subcommand in ["io-uring", "io-uring-polled"] {
        let (verdict, reasons) = outcome(subcommand, &blind);
        assert_eq!(verdict, Verdict::Incomplete, "{reasons}");
        assert!(
            reasons.contains("no tracepoint for what is submitted to io_uring"),
            "{reasons}"
        );
        assert_eq!(outcome(subcommand, &host).0, Verdict::Pass);
    }
    assert_eq!(outcome("fds", &blind).0, Verdict::Pass);
}

#[test]
fn a_path_that_led_to_a_file_of_too_many_names_is_said_to_be_unknown_and_no_snapshot_has_it() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\\nopen('f', 'w').close()\\n\
        for i in range(80): os.link('f', 'f%d' % i)";
    let yaml = format!(
        "workload: {{ run: [python3, -IBSc, \"{script}\"] }}\n\
         trace: {{ events: [{{ syscalls: ['link*'] }}] }}\n\
         expect: {{ exit: 0 }}\n"
    );
    let project = Project::with("it", &yaml);
    let run = project.harness(&["run", "--format", "json", "--traces", "scenarios"]);
    let (word, why) = &run.verdicts()["it"];
    assert_eq!(word, "incomplete", "{why}");
    let said = "times `-> ?` of a path, so it cannot be compared: \
        its file has more names than are followed";
    assert!(why.contains(said) && !why.contains("<unread>"), "{why}");
    // Nor is it what kernels are compared by.
    let lines = run.stdout.lines().map(serde_json::from_str);
    let lines: Vec<Value> = lines.collect::<Result<_, _>>().expect("JSON lines");
    let it = lines.iter().find(|line| line["type"] == "scenario");
    assert_eq!(it.expect("a scenario")["trace"], Value::Null);
}
