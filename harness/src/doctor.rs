//! `harness doctor`: what this machine allows, and a remedy for each thing that it does not.
//!
//! Whatever can be tried is tried, and not concluded from a number in a file.

mod faults;
mod proof;

use crate::{out, status};
use perf_live::errors::chain;
use perf_live::host::{Grant, HOW_TO_GET_RIGHTS, Host};
use perf_live::sandbox::World;
use perf_live::sandbox::WorldSpec;
use perf_live::sys::rights::are_lent;
use perf_records::units::shown_path;
use proof::whole_run;
use syscall_model::UNREAD;
use trace_harness::plan::{CallSource, MOST_CALLS, MemoryReader, Reach};
use trace_harness::run::{Bench, LIMITS_OF_COPIES, LIMITS_OF_OWN_CALLS};
use trace_harness::scenario::{Architecture, Feature};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Print what a kernel of one's own takes as a guest, a fragment of its configuration for the
    /// kernel's scripts/kconfig/merge_config.sh, and look at nothing here
    #[arg(long, value_name = "ARCH", value_parser = arch)]
    kernel_config: Option<Architecture>,
}

fn arch(word: &str) -> Result<Architecture, String> {
    let all = Architecture::ALL.iter();
    let found = all.copied().find(|arch| arch.word() == word);
    found.ok_or_else(|| "it is amd64 or arm64".to_owned())
}

/// One line of the report.
struct Finding {
    what: &'static str,
    /// What was found, or what is wrong and what can be done about it.
    result: Result<String, (String, String)>,
    /// Whether scenarios cannot run without it.
    needed: bool,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    if let Some(arch) = arguments.kernel_config {
        let text = trace_harness::matrix::fragment(arch);
        return out::ended(out::print(&text), status::PASSED, status::USAGE);
    }
    let host = Host::running();
    let findings = examine(&host);
    let mut is_fit = true;
    let mut text = String::new();
    for Finding {
        what,
        result,
        needed,
    } in findings
    {
        match result {
            Ok(detail) => text.push_str(&format!("  ok  {what}: {detail}\n")),
            Err((why, remedy)) => {
                is_fit &= !needed;
                let mark = if needed { "NO" } else { "--" };
                text.push_str(&format!(
                    "  {mark}  {what}: {why}\n      remedy: {remedy}\n"
                ));
            }
        }
    }
    let verdict = match (is_fit, trace_harness::matrix::qemu(Architecture::OWN)) {
        (true, _) => "scenarios can run here",
        (false, Ok(_)) => {
            "scenarios cannot run here: see the lines marked NO; they can in a virtual machine: harness run --vm"
        }
        (false, Err(_)) => "scenarios cannot run here: see the lines marked NO",
    };
    text.push_str(&format!("{verdict}\n"));
    let status = if is_fit {
        status::PASSED
    } else {
        status::FAILED
    };
    out::ended(out::print(&text), status, status::USAGE)
}

fn examine(host: &Host) -> Vec<Finding> {
    let mut findings = vec![tracefs(host)];
    let bench = match Bench::new(host) {
        Ok(bench) => bench,
        Err(error) => {
            let result = Err((
                chain(&error),
                "mount procfs and sysfs at /proc and /sys".to_owned(),
            ));
            findings.push(Finding {
                what: "procfs and sysfs",
                result,
                needed: true,
            });
            return findings;
        }
    };
    findings.insert(0, kernel(&bench));
    findings.push(rights(host));
    findings.push(events(&bench));
    findings.push(strings(&bench));
    findings.push(calls(host));
    findings.push(whole_run(&bench, "a traced run", World::Host, false));
    findings.push(whole_run(
        &bench,
        "a traced run in a sandbox",
        bench.worlds.own(&WorldSpec::default(), None),
        true,
    ));
    findings.push(faults::faults(
        host,
        proof::workload(&bench, bench.worlds.own(&WorldSpec::default(), None)).map_err(Into::into),
    ));
    findings.push(lost_counts(&bench));
    findings.push(control_groups(host));
    findings.push(sources(host));
    findings.push(features(&bench));
    findings.push(open_files(&bench));
    findings.push(settings(host));
    findings.push(guests());
    findings
}

/// Tries virtual machines, in which scenarios need no right to trace.
fn guests() -> Finding {
    let result = trace_harness::matrix::qemu(Architecture::OWN).map_err(|error| {
        let remedy = error.hint(None).unwrap_or_default();
        (chain(&error), remedy)
    });
    Finding {
        what: "virtual machines",
        result: result
            .map(|found| format!("{found}: harness matrix, vm and run --vm need no rights")),
        needed: false,
    }
}

fn kernel(bench: &Bench<'_>) -> Finding {
    let detail = format!(
        "{} on {}, {} CPUs",
        bench.release,
        std::env::consts::ARCH,
        bench.cpus.len()
    );
    Finding {
        what: "kernel",
        result: Ok(detail),
        needed: true,
    }
}

fn tracefs(host: &Host) -> Finding {
    let result = host
        .describe_tracefs()
        .map_err(|error| (chain(&error), error.hint()));
    Finding {
        what: "tracefs",
        result,
        needed: true,
    }
}

/// Reports the rights with which all else is tried.
fn rights(host: &Host) -> Finding {
    let grant = |grant: Grant, what: &str| match host.grants(grant) {
        true => what.to_owned(),
        false => format!(
            "no {what} (`{}` in {} grants it)",
            grant.word(),
            Host::RIGHTS
        ),
    };
    let is_root = nix::unistd::geteuid().is_root();
    let detail = match (are_lent(), is_root) {
        (true, _) => format!(
            "an ordinary user's; to trace commands that it starts the program's file lends more; {}; {}",
            grant(Grant::Machine, "recording of others"),
            grant(Grant::Probes, "probes"),
        ),
        (false, true) if host.has_rights_of_root() => "root's".to_owned(),
        (false, true) => "root's name without root's rights, as in a container: a sandbox is made as an ordinary user makes it; no workload runs as another user".to_owned(),
        (false, false) => "an ordinary user's".to_owned(),
    };
    Finding {
        what: "rights",
        result: Ok(detail),
        needed: false,
    }
}

fn events(bench: &Bench<'_>) -> Finding {
    let mut needed = true;
    let result = match bench.reach() {
        Ok(Reach::Everything) => Ok("tracepoint events can be opened".to_owned()),
        Ok(Reach::OwnCalls | Reach::Recorded) => {
            needed = false;
            let what = format!(
                "as an ordinary user: calls of your own programs, at most {MOST_CALLS} at a time, and no other tracepoints; {LIMITS_OF_OWN_CALLS}"
            );
            Err((what, format!("for all of it {HOW_TO_GET_RIGHTS}")))
        }
        Err(error) => Err((
            chain(&error),
            error.hint().unwrap_or_else(|| HOW_TO_GET_RIGHTS.to_owned()),
        )),
    };
    Finding {
        what: "perf events",
        result,
        needed,
    }
}

fn strings(bench: &Bench<'_>) -> Finding {
    let (reader, why) = bench.reader();
    let why = why.unwrap_or_default();
    let lacking = |what: String| {
        let remedy =
            "let BPF read them; until then scenarios whose snapshots show them are skipped";
        Err((format!("{why}: they are {what}"), remedy.to_owned()))
    };
    let result = match reader {
        MemoryReader::Bpf => Ok("BPF programs read what calls point to".to_owned()),
        MemoryReader::Kernel => lacking(format!("the kernel's own copies, {LIMITS_OF_COPIES}")),
        MemoryReader::Nobody => lacking(format!("shown as {UNREAD}")),
    };
    Finding {
        what: "strings",
        result,
        needed: false,
    }
}

/// Tries the faster source of calls.
fn calls(host: &Host) -> Finding {
    const WHAT: &str = "calls recorded by BPF";
    let tried = Bench::new(host).map(|bench| bench.with_source(CallSource::Bpf));
    let result = match tried {
        Err(error) => Err((chain(&error), String::new())),
        Ok(bench) => match bench.can_record_calls() {
            Err(error) => Err((
                chain(&error),
                "none needed: the kernel records them, which takes longer".to_owned(),
            )),
            Ok(()) => {
                let proof = whole_run(&bench, WHAT, World::Host, false).result;
                proof.map(|text| match bench.preempts_programs() {
                    true => format!(
                        "{text}; `--source bpf` asks for it, as this kernel may skip a program for some calls"
                    ),
                    false => text,
                })
            }
        },
    };
    Finding {
        what: WHAT,
        result,
        needed: false,
    }
}

fn lost_counts(bench: &Bench<'_>) -> Finding {
    let result = if bench.has_lost_counts() {
        Ok("the kernel counts lost records for each event".to_owned())
    } else {
        Err((
            "this kernel does not count lost records; the counters alone are the witness"
                .to_owned(),
            "none needed; Linux 6.0 has PERF_FORMAT_LOST".to_owned(),
        ))
    };
    Finding {
        what: "lost records",
        result,
        needed: false,
    }
}

fn control_groups(host: &Host) -> Finding {
    let result = match host.cgroup2() {
        Some(path) if host.cgroup2_has_perf_events() => {
            Ok(format!("version 2 at {}", shown_path(&path)))
        }
        Some(_) => Err((
            "the perf_event controller is taken by version 1: many events at once will be slow"
                .to_owned(),
            "unmount the version 1 hierarchy of perf_event, or boot with cgroup_no_v1=perf_event"
                .to_owned(),
        )),
        None => Err((
            "version 2 is not mounted: many events at once will be slow".to_owned(),
            "mount -t cgroup2 none /sys/fs/cgroup/unified".to_owned(),
        )),
    };
    Finding {
        what: "control groups",
        result,
        needed: false,
    }
}

/// Lists the sources of events that sysfs describes.
fn sources(host: &Host) -> Finding {
    let names = host.event_sources().join(", ");
    let result = match host.counts_cycles() {
        true => Ok(names),
        false => Err((
            format!("{names}; none has the counters of a processor, for cycles and the like"),
            "none needed, but for hardware events: a virtual machine has them where its host gives them (QEMU: -cpu host,pmu=on)".to_owned(),
        )),
    };
    Finding {
        what: "event sources",
        result,
        needed: false,
    }
}

/// Tries the features that scenarios may require.
fn features(bench: &Bench<'_>) -> Finding {
    let lacking = |feature: &Feature| Some((feature.word(), bench.lacks(*feature)?));
    let lacking: Vec<_> = Feature::ALL.iter().filter_map(lacking).collect();
    let is_there = |feature: &&Feature| lacking.iter().all(|(word, _)| *word != feature.word());
    let there = Feature::ALL.iter().filter(is_there);
    let there: Vec<&str> = there.map(|feature| feature.word()).collect();
    let each = lacking
        .iter()
        .map(|(word, why)| format!("no {word}: {why}"));
    let each: Vec<String> = each.collect();
    let result = match each.is_empty() {
        true => Ok(there.join(", ")),
        false => Err((
            format!("{}; {}", there.join(", "), each.join("; ")),
            "none needed, but for scenarios that require them".to_owned(),
        )),
    };
    Finding {
        what: "features",
        result,
        needed: false,
    }
}

fn open_files(bench: &Bench<'_>) -> Finding {
    const MANY: u64 = 4096;
    let result = match bench.open_files {
        Some((_, hard)) if hard < MANY => Err((
            format!(
                "at most {hard} open files: few events on {} CPUs",
                bench.cpus.len()
            ),
            "raise the hard limit: ulimit -Hn 65536, or LimitNOFILE= of the service".to_owned(),
        )),
        Some((_, hard)) => Ok(format!("up to {hard}")),
        None => Ok("unknown".to_owned()),
    };
    Finding {
        what: "open files",
        result,
        needed: false,
    }
}

fn settings(host: &Host) -> Finding {
    let number =
        |value: Option<i64>| value.map_or_else(|| "absent".to_owned(), |value| value.to_string());
    let detail = format!(
        "perf_event_paranoid {}, perf_event_mlock_kb {}",
        number(host.perf_event_paranoid()),
        number(host.perf_event_mlock_kb())
    );
    Finding {
        what: "settings",
        result: Ok(detail),
        needed: false,
    }
}
