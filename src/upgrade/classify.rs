//! Why answers differ.

use super::align::{Change, aligned};
use super::lines::{Line, TraceText};
use super::{Answer, Class, Difference, Facts};
use std::collections::BTreeSet;

/// In what the answers of `other` differ from those of `base`, each difference once. Several answers of a kernel are those of several runs: in what
/// they differ among themselves is noise wherever it comes up.
#[must_use]
pub fn explain(base: (&Facts, &[Answer]), other: (&Facts, &[Answer])) -> Vec<Difference> {
    let mut all: Vec<Difference> = Vec::new();
    let mut noise: BTreeSet<String> = BTreeSet::new();
    for (facts, answers) in [base, other] {
        let Some((first, others)) = answers.split_first() else {
            continue;
        };
        for answer in others {
            for found in compare((facts, first), (facts, answer)) {
                noise.insert(found.what.clone());
                let mut evidence = vec![format!("two runs on {} differ so:", facts.release)];
                evidence.extend(found.evidence);
                add(
                    &mut all,
                    Difference {
                        class: Class::Noise,
                        what: found.what,
                        evidence,
                    },
                );
            }
        }
    }
    let (Some(first), Some(second)) = (base.1.first(), other.1.first()) else {
        return all;
    };
    for found in compare((base.0, first), (other.0, second)) {
        if !noise.contains(&found.what) {
            add(&mut all, found);
        }
    }
    all.sort_by_key(|difference| difference.class);
    all
}

/// The same once.
fn add(all: &mut Vec<Difference>, found: Difference) {
    let is_same = |it: &&mut Difference| it.class == found.class && it.what == found.what;
    match all.iter_mut().find(is_same) {
        Some(known) => known.evidence.extend(found.evidence),
        None => all.push(found),
    }
}

fn compare(base: (&Facts, &Answer), other: (&Facts, &Answer)) -> Vec<Difference> {
    let (before, after) = (base.1, other.1);
    if before == after {
        return Vec::new();
    }
    if let Some(said) = unmet(before, after) {
        return vec![said];
    }
    let traces = (
        TraceText::read(&before.trace),
        TraceText::read(&after.trace),
    );
    let changes = aligned(&traces.0, &traces.1);
    let mut all: Vec<Difference> = Vec::new();
    for change in &changes {
        add(&mut all, of_change(change, base.0, other.0));
    }
    if before.verdict != after.verdict && all.is_empty() {
        all.push(of_verdict(before, after));
    }
    let settings = differing_settings(base.0, other.0);
    for difference in &mut all {
        blame_settings(difference, &settings);
    }
    all
}

/// One of them did not run the scenario.
fn unmet(before: &Answer, after: &Answer) -> Option<Difference> {
    let (sign, skipped) = match (&*before.verdict, &*after.verdict) {
        ("skipped", "skipped") => return None,
        ("skipped", _) => ('-', before),
        (_, "skipped") => ('+', after),
        _ => return None,
    };
    let is_of_kernel = |reason: &String| {
        ["tracepoint", "feature", "kernel", "event", "PMU", "probe"]
            .iter()
            .any(|word| reason.contains(word))
    };
    let class = if skipped.reasons.iter().any(is_of_kernel) {
        Class::Absent
    } else {
        Class::Environment
    };
    let reasons = skipped.reasons.iter();
    Some(Difference {
        class,
        what: skipped.reasons.join("; "),
        evidence: reasons.map(|reason| format!("{sign} {reason}")).collect(),
    })
}

/// Verdicts differ, and the traces do not tell why.
fn of_verdict(before: &Answer, after: &Answer) -> Difference {
    let is_slow = |answer: &Answer| matches!(&*answer.verdict, "timeout" | "incomplete" | "broken");
    let class = match is_slow(before) || is_slow(after) {
        true => Class::Environment,
        false => Class::Behaviour,
    };
    let said = |sign: char, answer: &Answer| {
        let mut lines = vec![format!("{sign} {}", answer.verdict)];
        let reasons = answer.reasons.iter().flat_map(|reason| reason.lines());
        lines.extend(reasons.map(|line| format!("{sign}   {line}")));
        lines
    };
    let mut evidence = said('-', before);
    evidence.extend(said('+', after));
    let worse = if is_slow(before) { before } else { after };
    let reason = worse
        .reasons
        .first()
        .and_then(|reason| reason.lines().next());
    Difference {
        class,
        what: format!(
            "{} instead of {}{}",
            after.verdict,
            before.verdict,
            reason
                .map(|reason| format!(": {reason}"))
                .unwrap_or_default()
        ),
        evidence,
    }
}

fn of_change(change: &Change<'_>, base: &Facts, other: &Facts) -> Difference {
    match change {
        Change::Gone(task, kind, lines) => Difference {
            class: Class::Path,
            what: format!("no process `{}`", program(kind)),
            evidence: vec![format!("- {task} {kind}: {lines} lines")],
        },
        Change::Came(task, kind, lines) => Difference {
            class: Class::Path,
            what: format!("one more process `{}`", program(kind)),
            evidence: vec![format!("+ {task} {kind}: {lines} lines")],
        },
        Change::Only(task, line) => of_one_side('-', task, line, other),
        Change::New(task, line) => of_one_side('+', task, line, base),
        Change::Other(task, before, after) => of_both(task, before, after, base, other),
    }
}

fn program(kind: &str) -> &str {
    kind.split(", ").next().unwrap_or(kind)
}

/// A line that only one has; `without` is the kernel that does not have it.
fn of_one_side(sign: char, task: &str, line: &Line<'_>, without: &Facts) -> Difference {
    let name = line.name;
    let is_absent =
        line.is_event() && !without.events.is_empty() && !without.events.contains_key(name);
    let class = match (line.is_event(), is_absent) {
        (_, true) => Class::Absent,
        (true, false) => Class::Behaviour,
        (false, _) => Class::Path,
    };
    let what = match (is_absent, sign) {
        (true, _) => format!("the kernel {} has no event `{name}`", without.release),
        (false, '-') => format!("no `{name}`"),
        (false, _) => format!("one more `{name}`"),
    };
    Difference {
        class,
        what,
        evidence: vec![format!("{sign} {task} {}", line.text)],
    }
}

/// The same call or event, otherwise.
fn of_both(
    task: &str,
    before: &Line<'_>,
    after: &Line<'_>,
    base: &Facts,
    other: &Facts,
) -> Difference {
    let mut evidence = vec![
        format!("- {task} {}", before.text),
        format!("+ {task} {}", after.text),
    ];
    let name = before.name;
    let fields = |facts: &Facts| facts.events.get(name).cloned();
    if let (Some(old), Some(new)) = (fields(base), fields(other))
        && old != new
    {
        evidence.extend(old.difference(&new).map(|field| format!("- field {field}")));
        evidence.extend(new.difference(&old).map(|field| format!("+ field {field}")));
        return Difference {
            class: Class::Layout,
            what: format!("`{name}` has other fields"),
            evidence,
        };
    }
    let results = (before.result(), after.result());
    let is_new = results.0 != results.1;
    let (class, what) = match results {
        (Some(old), Some(new)) if is_new && [old, new].contains(&NOT_THERE) => {
            let release = if new == NOT_THERE { other } else { base };
            let what = format!("the kernel {} has no `{name}`", release.release);
            (Class::Absent, what)
        }
        (Some(old), Some(new)) if is_new => {
            let what = format!("`{name}` returns {} instead of {}", brief(new), brief(old));
            (Class::Behaviour, what)
        }
        _ if before.is_event() => (Class::Behaviour, format!("`{name}` has other values")),
        _ => (Class::Behaviour, format!("`{name}` has other arguments")),
    };
    Difference {
        class,
        what,
        evidence,
    }
}

const NOT_THERE: &str = "-1 ENOSYS";

/// A result without what is a scenario's own, such as a path.
fn brief(result: &str) -> &str {
    if result.starts_with('<') {
        "a descriptor"
    } else {
        result
    }
}

/// The settings that differ: their names, and what is said of them.
fn differing_settings(base: &Facts, other: &Facts) -> Vec<(String, String)> {
    let names: BTreeSet<&String> = base.settings.keys().chain(other.settings.keys()).collect();
    let said = |name: &String| {
        let (old, new) = (base.settings.get(name), other.settings.get(name));
        let [old, new] = [old, new].map(|value| value.map_or("not there", |value| value));
        (old != new).then(|| (name.clone(), format!("{name} is {new} instead of {old}")))
    };
    names.into_iter().filter_map(said).collect()
}

// What of the settings decides how calls end, with the errors that it leads to.
const DECIDING: &[(&str, &[&str])] = &[
    ("Seccomp", &["EPERM", "ENOSYS", "EACCES", "SIGSYS"]),
    ("fs.protected_", &["EACCES", "EPERM"]),
    ("fs.suid_dumpable", &[]),
    ("fs.nr_open", &["EMFILE", "EPERM"]),
    ("fs.file-max", &["ENFILE"]),
    ("fs.pipe-", &["EPERM", "EAGAIN"]),
    ("fs.inotify.", &["ENOSPC", "EMFILE"]),
    ("kernel.io_uring_", &["EPERM"]),
    ("kernel.unprivileged_", &["EPERM"]),
    ("kernel.yama.", &["EPERM"]),
    ("kernel.perf_event_", &["EACCES", "EPERM"]),
    ("kernel.pid_max", &["EAGAIN"]),
    ("kernel.threads-max", &["EAGAIN"]),
    ("kernel.apparmor_", &["EACCES", "EPERM"]),
    ("user.max_", &["ENOSPC"]),
    ("vm.overcommit_", &["ENOMEM"]),
    ("vm.max_map_count", &["ENOMEM"]),
    ("vm.mmap_min_addr", &["EPERM"]),
    ("net.ipv4.ping_group_range", &["EACCES", "EPERM"]),
    ("net.ipv4.ip_unprivileged_port_start", &["EACCES"]),
    ("net.core.", &[]),
];

/// A call that ends otherwise, where a setting that leads to just that error is another one, is no doing of the kernel's.
fn blame_settings(difference: &mut Difference, settings: &[(String, String)]) {
    if !matches!(
        difference.class,
        Class::Behaviour | Class::Path | Class::Absent
    ) {
        return;
    }
    let evidence = &difference.evidence;
    let shows = |error: &str| evidence.iter().any(|line| line.contains(error));
    let decides = |name: &str| {
        let mut all = DECIDING.iter();
        all.any(|(prefix, errors)| name.starts_with(prefix) && errors.iter().any(|it| shows(it)))
    };
    let blamed: Vec<String> = settings
        .iter()
        .filter(|(name, _)| decides(name))
        .map(|(_, said)| format!("  {said}"))
        .collect();
    if !blamed.is_empty() {
        difference.class = Class::Environment;
        difference.evidence.extend(blamed);
    }
}
