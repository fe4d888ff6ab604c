#![expect(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::verdict::{About, Kind};

pub(super) fn facts(release: &str) -> Facts {
    Facts {
        release: release.to_owned(),
        ..Facts::default()
    }
}

pub(super) fn passed(trace: &str) -> Answer {
    Answer {
        verdict: "pass".to_owned(),
        findings: Vec::new(),
        trace: format!("# trace 2, level sequence\n\n{trace}"),
    }
}

fn ended(verdict: &str, finding: Finding) -> Answer {
    Answer {
        verdict: verdict.to_owned(),
        findings: vec![finding],
        trace: String::new(),
    }
}

fn lack(about: About, text: &str) -> Finding {
    Finding::new(Kind::Unmet, about, text)
}

fn late() -> Finding {
    let about = About::Limit("timeout".to_owned());
    Finding::new(Kind::TooLong, about, "still ran after 10 s")
}

/// Class, words and evidence of each difference.
pub(super) fn found(
    base: (&Facts, &[Answer]),
    other: (&Facts, &[Answer]),
) -> Vec<(Class, String, String)> {
    let all = explain(base, other).into_iter();
    all.map(|it| (it.class, it.what.to_string(), it.evidence.join("\n")))
        .collect()
}

pub(super) fn one(before: &Answer, after: &Answer) -> (Class, String, String) {
    let (old, new) = (facts("6.1"), facts("6.12"));
    let before = (&old, std::slice::from_ref(before));
    let [one] = <[_; 1]>::try_from(found(before, (&new, std::slice::from_ref(after)))).unwrap();
    one
}

#[test]
fn equal_answers_do_not_differ() {
    let answer = passed("P1 cat\n  close(3</x>) = 0\n");
    assert_eq!(
        explain(
            (&facts("6.1"), std::slice::from_ref(&answer)),
            (&facts("7.2"), std::slice::from_ref(&answer))
        ),
        []
    );
}

#[test]
fn a_process_more_does_not_make_all_behind_it_differ() {
    let before = passed("P1 sh\n  wait4(P2) = P2\n\nP2 cat, child of P1\n  close(3) = 0\n");
    let after = passed(
        "P1 sh\n  wait4(P3) = P3\n\nP2 tool, child of P1\n\nP3 cat, child of P1\n  close(3) = 0\n",
    );
    let (class, what, evidence) = one(&before, &after);
    assert_eq!(class, Class::Path);
    assert_eq!(what, "one more process `tool`");
    assert_eq!(evidence, "+ P2 tool, child: 0 lines");
}

#[test]
fn a_call_that_the_kernel_does_not_have_and_what_is_done_instead_are_told() {
    let before = passed("P1 x\n  openat2(AT_FDCWD, \"a\") = 3</a>\n");
    let after =
        passed("P1 x\n  openat2(AT_FDCWD, \"a\") = -1 ENOSYS\n  openat(AT_FDCWD, \"a\") = 3</a>\n");
    let (old, new) = (facts("6.1"), facts("5.10"));
    let all = found((&old, &[before]), (&new, &[after]));
    let [(class, what, evidence)] = &*all else {
        panic!("{all:?}")
    };
    assert_eq!(
        (*class, &**what),
        (Class::Absent, "the kernel 5.10 has no `openat2`")
    );
    assert!(
        evidence.ends_with("\n+ P1 openat(AT_FDCWD, \"a\") = 3</a>"),
        "{evidence}"
    );
}

#[test]
fn another_result_is_behaviour_and_shown_with_both_lines() {
    let before = passed("P1 x\n  fchmodat(3, \"a\", 0644) = 0\n");
    let after = passed("P1 x\n  fchmodat(3, \"a\", 0644) = -1 EOPNOTSUPP\n");
    let (class, what, evidence) = one(&before, &after);
    assert_eq!(class, Class::Behaviour);
    assert_eq!(what, "`fchmodat` returns -1 EOPNOTSUPP instead of 0");
    assert_eq!(
        evidence,
        "- P1 fchmodat(3, \"a\", 0644) = 0\n+ P1 fchmodat(3, \"a\", 0644) = -1 EOPNOTSUPP"
    );
}

#[test]
fn a_filter_of_calls_in_the_guest_is_its_environment() {
    let before = passed("P1 x\n  openat2(AT_FDCWD, \"a\") = 3</a>\n");
    let after = passed("P1 x\n  openat2(AT_FDCWD, \"a\") = -1 EPERM\n");
    let mut filtered = facts("6.1");
    let mut free = facts("6.1");
    filtered.settings.insert("Seccomp".into(), "2".into());
    free.settings.insert("Seccomp".into(), "0".into());
    let all = found((&free, &[before]), (&filtered, &[after]));
    let [(class, _, evidence)] = &*all else {
        panic!("{all:?}")
    };
    assert_eq!(*class, Class::Environment);
    assert!(evidence.contains("Seccomp is 2 instead of 0"), "{evidence}");
}

#[test]
fn a_setting_is_blamed_only_for_the_errors_that_it_leads_to() {
    let before = passed("P1 x\n  linkat(\"a\", \"b\") = 0\n");
    let refused = passed("P1 x\n  linkat(\"a\", \"b\") = -1 EPERM\n");
    let missing = passed("P1 x\n  linkat(\"a\", \"b\") = -1 ENOENT\n");
    let mut base = facts("6.1");
    let mut other = facts("6.1");
    for (facts, value) in [(&mut base, "0"), (&mut other, "1")] {
        let name = "fs.protected_hardlinks".to_owned();
        facts.settings.insert(name, value.to_owned());
    }
    let class = |after| found((&base, std::slice::from_ref(&before)), (&other, &[after]))[0].0;
    assert_eq!(class(refused), Class::Environment);
    assert_eq!(class(missing), Class::Behaviour);
}

#[test]
fn an_event_whose_fields_moved_is_the_tracing_abi() {
    let before = passed("P1 x\n  sched:sched_exec pid=P1 old=P1\n");
    let after = passed("P1 x\n  sched:sched_exec pid=P1 old=P1 flags=0\n");
    let mut old = facts("6.1");
    let mut new = facts("7.2");
    let fields = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
    let name = "sched:sched_exec";
    old.events.insert(name.into(), fields(&["pid", "old"]));
    new.events
        .insert(name.into(), fields(&["pid", "old", "flags"]));
    let all = found(
        (&old, std::slice::from_ref(&before)),
        (&new, std::slice::from_ref(&after)),
    );
    let [(class, what, evidence)] = &*all else {
        panic!("{all:?}")
    };
    assert_eq!(
        (*class, &**what),
        (Class::Layout, "`sched:sched_exec` has other fields")
    );
    assert!(evidence.ends_with("+ field flags"), "{evidence}");
    // The same values with the same fields are what the kernel does.
    let same = found((&old, &[before]), (&old, &[after]));
    assert_eq!(same[0].0, Class::Behaviour);
}

#[test]
fn an_event_that_only_one_kernel_has_is_not_there_and_one_that_does_not_fire_is_behaviour() {
    let before = passed("P1 x\n  sched:old a=1\n  close(3) = 0\n");
    let after = passed("P1 x\n  close(3) = 0\n");
    let mut old = facts("6.1");
    let mut new = facts("7.2");
    old.events.insert("sched:old".into(), BTreeSet::new());
    new.events.insert("sched:new".into(), BTreeSet::new());
    let class = |new: &Facts| {
        let (before, after) = (std::slice::from_ref(&before), std::slice::from_ref(&after));
        found((&old, before), (new, after))[0].0
    };
    assert_eq!(class(&new), Class::Absent);
    new.events.insert("sched:old".into(), BTreeSet::new());
    assert_eq!(class(&new), Class::Behaviour);
}

#[test]
fn what_is_unmet_is_not_there_or_the_environment() {
    let pass = passed("P1 x\n");
    let (class, what, _) = one(
        &pass,
        &ended(
            "skipped",
            lack(About::Kernel, "needs tracepoint `sched:new`"),
        ),
    );
    assert_eq!(
        (class, &*what),
        (Class::Absent, "needs tracepoint `sched:new`")
    );
    let (class, ..) = one(
        &pass,
        &ended("skipped", lack(About::Machine, "needs the command `git`")),
    );
    assert_eq!(class, Class::Environment);
}

#[test]
fn a_run_that_did_not_come_to_its_end_is_the_environment_and_another_verdict_is_behaviour() {
    let pass = passed("");
    let (class, what, _) = one(
        &pass,
        &Answer {
            trace: pass.trace.clone(),
            ..ended("timeout", late())
        },
    );
    assert_eq!(
        (class, &*what),
        (
            Class::Environment,
            "timeout instead of pass: still ran after 10 s"
        )
    );
    let (class, ..) = one(
        &pass,
        &Answer {
            trace: pass.trace.clone(),
            ..ended("fail", Finding::missed(About::Exit, "exit 1"))
        },
    );
    assert_eq!(class, Class::Behaviour);
}

#[test]
fn what_varies_on_one_kernel_is_noise_and_nothing_else() {
    let a = passed("P1 x\n  poll(1) = 1\n");
    let b = passed("P1 x\n  poll(1) = 1\n  poll(1) = 1\n");
    let (old, new) = (facts("6.1"), facts("7.2"));
    let all = found((&old, &[a.clone(), b.clone()]), (&new, &[b]));
    let [(class, what, evidence)] = &*all else {
        panic!("{all:?}")
    };
    assert_eq!((*class, &**what), (Class::Noise, "one more `poll`"));
    assert!(
        evidence.starts_with("not in every run on 6.1:"),
        "{evidence}"
    );
}

#[test]
fn a_reason_that_begins_with_no_stays_as_it_is_where_it_varies() {
    let pass = passed("P1 x\n  poll(1) = 1\n");
    let skipped = ended(
        "skipped",
        lack(About::Machine, "no room for another process"),
    );
    let all = told(
        (&facts("6.1"), &[pass.clone(), skipped]),
        (&facts("7.2"), &[pass]),
    );
    let what = "no room for another process".to_owned();
    assert_eq!(all, [(Class::Noise, what)]);
}

#[test]
fn words_that_look_like_tasks_are_left_alone() {
    let to = |task: &str| (task == "P1").then(|| "P9".to_owned());
    for (text, said) in [
        ("kill(P1, SIGTERM) = 0", "kill(P9, SIGTERM) = 0"),
        ("\"MAP1 P1x P12 P1\"", "\"MAP1 P1x P12 P9\""),
        ("P1.T2 P1", "P1.T2 P9"),
    ] {
        assert_eq!(super::lines::renamed(text, to), said);
    }
}

/// Each difference without its evidence.
fn told(base: (&Facts, &[Answer]), other: (&Facts, &[Answer])) -> Vec<(Class, String)> {
    let all = explain(base, other).into_iter();
    all.map(|it| (it.class, it.what.to_string())).collect()
}

fn with(release: &str, settings: &[(&str, &str)]) -> Facts {
    let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Facts {
        settings: settings.iter().map(text).collect(),
        ..facts(release)
    }
}

#[test]
fn what_varies_is_noise_whichever_way_round_it_is_seen() {
    let once = passed("P1 x\n  poll(1) = 1\n");
    let twice = passed("P1 x\n  poll(1) = 1\n  poll(1) = 1\n");
    let (old, new) = (facts("6.1"), facts("7.2"));
    let all = told(
        (&old, &[twice.clone(), once.clone()]),
        (&new, &[once.clone(), twice, once]),
    );
    assert_eq!(all, [(Class::Noise, "one more `poll`".to_owned())]);
}

#[test]
fn a_verdict_that_every_run_comes_to_is_told_beside_noise() {
    let once = passed("P1 x\n  poll(1) = 1\n");
    let twice = passed("P1 x\n  poll(1) = 1\n  poll(1) = 1\n");
    let failed = |answer: &Answer| Answer {
        verdict: "fail".to_owned(),
        findings: vec![Finding::missed(About::Exit, "exit 1")],
        ..answer.clone()
    };
    let all = told(
        (&facts("6.1"), &[once.clone(), twice.clone()]),
        (&facts("7.2"), &[failed(&once), failed(&twice)]),
    );
    let verdict = "fail instead of pass: exit 1".to_owned();
    assert!(all.contains(&(Class::Behaviour, verdict)), "{all:?}");
    let others = all.iter().filter(|(class, _)| *class != Class::Noise);
    assert_eq!(others.count(), 1, "{all:?}");
}

#[test]
fn a_timeout_of_every_run_is_behaviour_and_one_of_some_runs_noise() {
    let pass = passed("P1 x\n");
    let late = ended("timeout", late());
    let all = told(
        (&facts("6.1"), &[pass.clone(), pass.clone()]),
        (&facts("7.2"), &[late.clone(), late.clone()]),
    );
    assert_eq!(all[0].0, Class::Behaviour);
    let all = told(
        (&facts("6.1"), &[pass.clone(), pass.clone()]),
        (&facts("7.2"), &[late, pass]),
    );
    assert_eq!(all[0].0, Class::Noise);
    assert_eq!(all.len(), 1);
}

#[test]
fn a_setting_that_is_new_is_to_blame_where_it_is_set_to_something() {
    let before = passed("P1 x\n  io_uring_setup(8, {...}) = 3<io_uring>\n");
    let after = passed("P1 x\n  io_uring_setup(8, {...}) = -1 EPERM\n");
    let class = |value: &str| {
        let new = with("6.12", &[("kernel.io_uring_disabled", value)]);
        let (before, after) = (std::slice::from_ref(&before), std::slice::from_ref(&after));
        found((&facts("6.1"), before), (&new, after))[0].0
    };
    assert_eq!(class("0"), Class::Behaviour);
    assert_eq!(class("2"), Class::Environment);
}

#[test]
fn a_setting_is_not_to_blame_for_calls_that_it_does_not_decide() {
    let before = passed("P1 x\n  bpf(BPF_PROG_LOAD) = 3</x>\n");
    let after = passed("P1 x\n  bpf(BPF_PROG_LOAD) = -1 EPERM\n");
    let class = |name: &str| {
        let (old, new) = (with("6.1", &[(name, "0")]), with("6.1", &[(name, "2")]));
        let (before, after) = (std::slice::from_ref(&before), std::slice::from_ref(&after));
        found((&old, before), (&new, after))[0].0
    };
    assert_eq!(class("kernel.io_uring_disabled"), Class::Behaviour);
    assert_eq!(
        class("kernel.unprivileged_bpf_disabled"),
        Class::Environment
    );
}

#[test]
fn a_filter_that_denies_that_there_is_a_call_is_no_kernel_without_it() {
    let before = passed("P1 x\n  openat2(AT_FDCWD, \"a\") = 3</a>\n");
    let after = passed("P1 x\n  openat2(AT_FDCWD, \"a\") = -1 ENOSYS\n");
    let (free, filtered) = (
        with("6.1", &[("Seccomp", "0")]),
        with("6.1", &[("Seccomp", "2")]),
    );
    let all = told((&free, &[before]), (&filtered, &[after]));
    let what = "`openat2` returns -1 ENOSYS instead of a descriptor".to_owned();
    assert_eq!(all, [(Class::Environment, what)]);
}

#[test]
fn what_follows_from_a_refusal_is_shown_with_it() {
    let before = passed(
        "P1 sh\n  wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = P2\n  exit_group(0) = ?\n\n\
         P2 cat, child of P1\n  openat(AT_FDCWD, \"link\", O_RDONLY) = 3</x>\n  read(3</x>) = 4\n  exit_group(0) = ?\n",
    );
    let after = passed(
        "P1 sh\n  wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 1}], 0, NULL) = P2\n  exit_group(1) = ?\n\n\
         P2 cat, child of P1\n  openat(AT_FDCWD, \"link\", O_RDONLY) = -1 EACCES\n  write(2) = 30\n  exit_group(1) = ?\n",
    );
    let all = found(
        (&with("6.1", &[("fs.protected_symlinks", "0")]), &[before]),
        (&with("6.1", &[("fs.protected_symlinks", "1")]), &[after]),
    );
    let [(class, what, evidence)] = &*all else {
        panic!("{all:?}")
    };
    assert_eq!(*class, Class::Environment);
    assert_eq!(what, "`openat` returns -1 EACCES instead of a descriptor");
    for line in [
        "fs.protected_symlinks is 1 instead of 0",
        "- P2 read(3</x>) = 4",
        "+ P2 write(2) = 30",
        "+ P2 exit_group(1) = ?",
        "+ P1 exit_group(1) = ?",
    ] {
        assert!(evidence.contains(line), "{line}: {evidence}");
    }
}

#[test]
fn another_value_of_a_field_that_did_not_move_is_no_other_layout() {
    let before = passed("P1 x\n  sched:sched_wakeup pid=P1 success=1 target_cpu=0\n");
    let after = passed("P1 x\n  sched:sched_wakeup pid=P1 success=1 target_cpu=1\n");
    let name = "sched:sched_wakeup";
    let with = |fields: &[&str]| {
        let mut facts = facts("6.1");
        let fields = fields.iter().map(|it| (*it).to_owned()).collect();
        facts.events.insert(name.to_owned(), fields);
        facts
    };
    let old = with(&["pid: pid_t, 4 bytes", "success: int, 4 bytes"]);
    let new = with(&["pid: pid_t, 4 bytes"]);
    let all = told((&old, &[before]), (&new, &[after]));
    let what = format!("`{name}` has other values");
    assert_eq!(all, [(Class::Behaviour, what)]);
}

#[test]
fn how_often_a_call_is_made_is_another_way_and_not_another_argument() {
    let before = passed("P1 x\n  read 3\n");
    let after = passed("P1 x\n  read 4\n");
    let (class, what, _) = one(&before, &after);
    assert_eq!(
        (class, &*what),
        (Class::Path, "`read` another number of times")
    );
}

/// What 5.10, 6.1 and 7.2 said of the same program.
#[test]
fn a_call_that_a_kernel_cannot_describe_is_not_there_even_where_the_other_refuses_it_alike() {
    let before =
        passed("P1 x\n  memfd_secret(0, <addr>, <addr>, 0xf7a08b30, 0x8, 0x6) = -1 ENOSYS\n");
    let after = passed("P1 x\n  memfd_secret(0) = -1 ENOSYS\n");
    let (class, what, _) = one(&before, &after);
    assert_eq!(
        (class, &*what),
        (Class::Absent, "the kernel 6.1 has no `memfd_secret`")
    );
}

#[test]
fn a_limit_is_to_blame_for_what_is_said_of_it_and_no_other_limit_is() {
    let line = |value: &str| {
        passed(&format!(
            "P1 x\n  prlimit64(0, RLIMIT_MEMLOCK, NULL, {{rlim_cur={value}*1024, rlim_max={value}*1024}}) = 0\n"
        ))
    };
    let settings = |locked, processes| {
        with(
            "x",
            &[
                ("limit Max locked memory", locked),
                ("limit Max processes", processes),
            ],
        )
    };
    let all = found(
        (&settings("65536 65536", "7688 7688"), &[line("64")]),
        (&settings("8388608 8388608", "7669 7669"), &[line("8192")]),
    );
    let [(Class::Environment, _, evidence)] = &*all else {
        panic!("{all:?}")
    };
    assert!(
        evidence.contains("limit Max locked memory is"),
        "{evidence}"
    );
    assert!(!evidence.contains("processes"), "{evidence}");
}

#[test]
fn a_setting_that_allows_as_much_or_nearly_is_not_to_blame() {
    let before = passed("P1 x\n  unshare(CLONE_NEWUSER) = 0\n");
    let after = passed("P1 x\n  unshare(CLONE_NEWUSER) = -1 ENOSPC\n");
    let class = |old: &str, new: &str| {
        let name = "user.max_user_namespaces";
        let (old, new) = (with("6.1", &[(name, old)]), with("6.1", &[(name, new)]));
        let (before, after) = (std::slice::from_ref(&before), std::slice::from_ref(&after));
        found((&old, before), (&new, after))[0].0
    };
    assert_eq!(class("7688", "7669"), Class::Behaviour);
    assert_eq!(class("100", "7669"), Class::Behaviour);
    assert_eq!(class("7669", "100"), Class::Environment);
    assert_eq!(class("7669", "0"), Class::Environment);
}

#[test]
fn a_refusal_does_not_hide_what_else_a_task_is_told_otherwise() {
    let before = passed(
        "P1 x\n  memfd_create(\"x\", MFD_EXEC) = -1 EINVAL\n  landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) = 2\n",
    );
    let after = passed(
        "P1 x\n  memfd_create(\"x\", MFD_EXEC) = <memfd:x>\n  landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) = 10\n",
    );
    let all = told((&facts("6.1"), &[before]), (&facts("7.2"), &[after]));
    let behaviour = |what: &str| (Class::Behaviour, what.to_owned());
    assert_eq!(
        all,
        [
            behaviour("`memfd_create` returns a descriptor instead of -1 EINVAL"),
            behaviour("`landlock_create_ruleset` returns 10 instead of 2"),
        ]
    );
}

#[test]
fn a_field_that_is_new_is_another_layout() {
    let before = passed("P1 sh\n  sched:sched_process_exit comm=\"sh\" pid=P1 prio=120\n");
    let after =
        passed("P1 sh\n  sched:sched_process_exit comm=\"sh\" pid=P1 prio=120 group_dead=1\n");
    let name = "sched:sched_process_exit";
    let old = [
        "comm: char[16], 16 bytes",
        "pid: pid_t, 4 bytes",
        "prio: int, 4 bytes",
    ];
    let (mut base, mut other) = (facts("6.1"), facts("7.2"));
    let lines = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect();
    base.events.insert(name.to_owned(), lines(&old));
    let new = [&old[..], &["group_dead: bool, 1 bytes"]].concat();
    other.events.insert(name.to_owned(), lines(&new));
    let all = told((&base, &[before]), (&other, &[after]));
    assert_eq!(all, [(Class::Layout, format!("`{name}` has other fields"))]);
}

/// As git makes them.
#[test]
fn names_that_are_others_in_each_run_are_noise_and_hide_no_other_end() {
    let run = |name: &str, end: &str| {
        passed(&format!(
            "P1 git\n  openat(AT_FDCWD, \".git/{name}\", O_RDWR|O_CREAT|O_EXCL, 0600) = <$DIR/.git/{name}>\n  \
             set_mempolicy(MPOL_PREFERRED_MANY, <addr>, 1024) = {end}\n"
        ))
    };
    let (old, new) = (facts("5.10"), facts("6.1"));
    let all = told(
        (
            &old,
            &[run("tD4GrCa", "-1 EINVAL"), run("tCUHNHr", "-1 EINVAL")],
        ),
        (&new, &[run("tR7O0Ym", "0"), run("tZuQe6h", "0")]),
    );
    assert_eq!(
        all,
        [
            (
                Class::Behaviour,
                "`set_mempolicy` returns 0 instead of -1 EINVAL".to_owned()
            ),
            (
                Class::Noise,
                "`openat` returns another descriptor".to_owned()
            ),
        ]
    );
}
