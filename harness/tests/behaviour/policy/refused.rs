//! No policy is made of what is not known whole.

use trace_harness::run::{Bench, Control, Fault, Options, Suite, Undisturbed, discover};
use trace_harness::verdict::{Known, Verdict};

use super::{names, object, policy, shell, under, with_policy, without};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};
use perf_live::host::Host;

/// No policy comes of this project, and the reason is said.
#[track_caller]
fn no_policy(project: &Project, why: &str) {
    let run = policy(project, &[]);
    run.assert_status(1);
    assert!(run.stderr.contains(why), "{}", run.stderr);
    assert!(
        run.stderr.contains("there is no policy of runs"),
        "{}",
        run.stderr
    );
    assert!(
        project
            .files("")
            .keys()
            .all(|file| !file.starts_with("p.json"))
    );
    project.assert_nothing_left();
}

#[test]
fn a_run_that_does_not_pass_makes_no_policy_even_beside_one_that_does() {
    require!(right_to_trace());
    let project = Project::with("good", &shell("rm -f a", ""));
    project.scenario("bad", &shell("rm a", ""));
    no_policy(&project, "bad");
}

#[test]
fn a_scenario_that_is_skipped_or_known_to_fail_makes_no_policy() {
    require!(right_to_trace());
    let skipped = shell("rm -f a", "requires: { commands: [no-such-command] }");
    no_policy(&Project::with("it", &skipped), "no-such-command");
    let failing = shell("rm a", "expect_failure: it is broken");
    let project = Project::with("it", &failing);
    no_policy(&project, "it: it is known to fail");
    // Under a policy that refuses something it would fail as well, and for another reason.
    let whole = object(&with_policy(&shell("rm -f a", "")));
    let less = without(&whole, "unlinkat");
    let run = under(&project, &less, &["--format", "json"]);
    run.assert_status(1);
    assert_eq!(run.verdicts()["it"].0, "incomplete", "{}", run.stdout);
    assert!(
        run.stdout.contains("what the policy refuses is not known"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_call_without_a_number_makes_no_policy_and_is_none_of_x32() {
    require!(right_to_trace());
    require!(program("python3"));
    let call = "import ctypes; ctypes.CDLL(None).syscall(-1)";
    let it = format!("workload: {{ run: [python3, -c, '{call}'] }}\nsnapshot: false");
    no_policy(&Project::with("it", &it), "it makes the call -1 of ");
    let run = policy(&Project::with("it", &it), &[]);
    assert!(!run.stderr.contains("x32"), "{}", run.stderr);
}

#[test]
fn a_ring_that_keeps_the_last_records_makes_no_policy() {
    require!(right_to_trace());
    let flight = shell("rm -f a", "").replace("trace: {", "trace: { ring: { mode: flight },");
    no_policy(
        &Project::with("it", &flight),
        "keeps the last records alone",
    );
}

#[test]
fn a_record_that_is_missing_leaves_what_the_run_needed_unknown() {
    require!(right_to_trace());
    let project = Project::with("it", &shell("rm -f a", ""));
    let host = Host::running();
    let mut bench = Bench::new(&host).expect("a bench");
    bench.record_every_call();
    let items = discover(&[project.join("scenarios")]).expect("scenarios");
    let item = items.first().expect("a scenario").clone();
    let suite = Suite::read(&bench, items).expect("a suite");
    let run = |drop_sample| {
        let options = Options {
            fault: Fault { drop_sample },
            ..Options::default()
        };
        suite.run_one(&item, &options, &|| -> Box<dyn Control> {
            Box::new(Undisturbed)
        })
    };
    let whole = run(None);
    assert_eq!(whole.verdict, Verdict::Pass, "{whole:?}");
    assert!(matches!(whole.needs, Some(Known::Yes(_))));
    for record in [0, 1, 7, 40] {
        let report = run(Some(record));
        assert_eq!(report.verdict, Verdict::Incomplete, "{record}: {report:?}");
        assert!(matches!(report.needs, Some(Known::No(_))), "{record}");
    }
}

#[test]
fn a_recording_of_few_calls_makes_no_policy_and_one_of_all_calls_makes_the_same() {
    require!(right_to_trace());
    let project = with_policy(&shell("rm -f a", ""));
    let live = project.read("p.json");
    let from = || {
        project
            .harness(&["run", "--save", "saved", "scenarios"])
            .assert_status(0);
        policy(&project, &["--from", "saved/it.data"])
    };
    let run = from();
    run.assert_status(1);
    assert!(
        run.stderr.contains("does not hold all calls"),
        "{}",
        run.stderr
    );
    project.scenario("it", &shell("rm -f a", "").replace("[unlinkat]", "[all]"));
    from().assert_status(0);
    assert_eq!(project.read("p.json"), live);
}

#[test]
fn a_call_that_a_fault_answers_is_needed_and_under_a_policy_it_is_still_answered() {
    require!(right_to_trace());
    let yaml = shell("rm a; test -e a", "faults: [{ unlinkat: { error: EIO } }]")
        .replace("workload: {", "workload: { files: { a: x },");
    let project = with_policy(&yaml);
    let whole = object(&project);
    assert!(names(&whole).contains("unlinkat"));
    under(&project, &whole, &[]).assert_status(0);
    let run = under(&project, &without(&whole, "unlinkat"), &[]);
    run.assert_status(1);
    let said = "the policy refuses `unlinkat`";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    assert!(run.stdout.contains("never fired"), "{}", run.stdout);
}

#[test]
fn another_user_runs_under_a_policy_too() {
    require!(right_to_trace());
    let project = with_policy(&shell("rm -f a", "sandbox: { user: nobody }"));
    let whole = object(&project);
    under(&project, &whole, &[]).assert_status(0);
    under(&project, &without(&whole, "brk"), &[]).assert_status(1);
}

#[test]
fn on_the_bare_host_a_run_is_under_the_policy_too() {
    require!(right_to_trace());
    let project = with_policy(&shell("rm -f a", "sandbox: none"));
    let whole = object(&project);
    under(&project, &whole, &[]).assert_status(0);
    let run = under(&project, &without(&whole, "execve"), &[]);
    run.assert_status(1);
    assert!(
        run.stdout.contains("the policy refuses `execve`"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_policy_that_is_not_understood_runs_nothing() {
    require!(right_to_trace());
    let project = Project::with("it", &shell("touch ran", ""));
    project.write("p.json", "{\n  \"defaultAction\": \"SCMP_ACT_ALLOW\"\n}\n");
    let run = project.harness(&["run", "--policy", "p.json", "scenarios"]);
    run.assert_status(2);
    assert!(run.stderr.contains("p.json:2:20: "), "{}", run.stderr);
    assert_eq!(run.stdout, "");
}

/// A program of the attacks, compiled into a scenario's folder.
fn attack(name: &str, arguments: &str) -> Result<Project, String> {
    program("gcc")?;
    let project = Project::new();
    let source = format!(
        "{}/tests/attacks/programs/{name}.c",
        env!("CARGO_MANIFEST_DIR")
    );
    let compiled = project.run(&[], &["gcc", "-static", "-O1", "-o", name, &source]);
    match compiled.status {
        0 => {}
        _ => {
            return Err(format!(
                "gcc does not compile {name}.c: {}",
                compiled.stderr
            ));
        }
    }
    let files = format!("{{ {name}: {{ from: ../{name}, mode: \"0755\" }}, secret: s }}");
    let rest = "trace: { events: [{ syscalls: [unlink] }] }\nsnapshot: false";
    project.scenario(
        "it",
        &format!("workload: {{ run: [./{name}{arguments}], files: {files} }}\n{rest}"),
    );
    Ok(project)
}

#[test]
fn what_a_filter_of_the_programs_own_refuses_makes_no_policy() {
    require!(right_to_trace());
    let project = require!(attack("filtered", ", errno, '41'"));
    no_policy(&project, "has `socket` refused by a filter of its own");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_call_by_the_page_of_the_oldest_programs_makes_no_policy() {
    require!(right_to_trace());
    let project = require!(attack("vsyscall", ""));
    let run = policy(&project, &[]);
    // Without the page such a program dies, which is no pass either.
    run.assert_status(1);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn calls_of_32_bits_are_listed_where_they_are_seen_and_refused_where_they_are_not_listed() {
    require!(right_to_trace());
    let project = require!(attack("gate32", ", setuid32"));
    // Its main thread waits for the other one, or comes when that is gone.
    let run = policy(&project, &["--also", "futex"]);
    if run.status != 0 {
        // A kernel without calls of 32 bits.
        return;
    }
    let whole = object(&project);
    let mut less = whole.clone();
    let all = less["architectures"].as_array_mut().expect("a list");
    assert!(all.contains(&"SCMP_ARCH_X86".into()), "{whole}");
    all.retain(|name| name != "SCMP_ARCH_X86");
    under(&project, &whole, &[]).assert_status(0);
    let run = under(&project, &less, &[]);
    run.assert_status(1);
    assert!(
        run.stdout.contains("refuses `setuid32` of i386"),
        "{}",
        run.stdout
    );
}
