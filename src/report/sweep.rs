//! Reports on sweeps, as text and as JSON lines.

use super::json::object_line;
use crate::run::{Sweep, SweepPlan, Swept};
use crate::sweep::{Class, How, Site, Spot};
use perf_live::units::ExitKind;
use perf_records::units::{shell_word, shown};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use syscall_model::errno::errno_name;
use syscall_model::signals::signal_name;

/// Appends what a sweep is going to do, as a JSON object and a line feed.
pub fn sweep_json(out: &mut String, plan: &SweepPlan, shard: Option<&str>) {
    object_line(out, "sweep", |line| {
        line.put("name", &plan.item.name);
        line.put("file", plan.item.file.to_string_lossy());
        line.put("sites", plan.sites.len());
        line.put("runs", plan.runs);
        line.put("of_all", plan.of_all);
        line.put("shard", shard);
        line.put("timeout_ms", plan.timeout.as_millis());
        line.put("timeout_by", plan.timeout_by.word());
        line.put("expects_results", plan.expects_results);
        line.put("remarks", &plan.remarks);
        line.put("not_failed", &plan.not_failed);
        let lost = plan.lost.iter().map(|lost| {
            serde_json::json!({
                "task": lost.spot.task,
                "program": lost.spot.program,
                "call": lost.spot.matching.call,
                "line": lost.spot.line,
                "stack": lost.spot.stack,
                "why": lost.why,
            })
        });
        line.put("lost", lost.collect::<Vec<_>>());
    });
}

/// Appends a run as a JSON object and a line feed; `written` is the file with its scenario.
pub fn swept_json(out: &mut String, plan: &SweepPlan, swept: &Swept, written: Option<&str>) {
    let Some(site) = plan.sites.get(swept.site) else {
        return;
    };
    object_line(out, "run", |line| {
        line.put("name", &plan.item.name);
        line.put("site", site.number);
        line.put("task", &site.spot.task);
        line.put("program", &site.spot.program);
        line.put("call", &site.spot.matching.call);
        line.put("line", &site.spot.line);
        line.put("stack", &site.spot.stack);
        line.put("times", site.spot.times);
        line.put("error", errno_name(swept.error));
        line.put("fault", swept.fault.to_string());
        line.put("done_to", &swept.told.line);
        line.put("class", swept.told.class.word());
        line.put("how", swept.told.how.map(How::word));
        line.put("why", &swept.told.why);
        match swept.told.exit {
            None => line.put("exit", None::<&str>),
            Some(ExitKind::Code(code)) => line.put("exit", BTreeMap::from([("code", code)])),
            Some(ExitKind::Signal(signal)) => {
                line.put("exit", BTreeMap::from([("signal", signal_name(signal))]));
            }
        }
        line.put("duration_ms", swept.duration.as_millis());
        line.put("written", written);
    });
}

/// Appends the last line as JSON: how many runs are of each class.
pub fn sweeps_json(out: &mut String, sweeps: &[Sweep]) {
    let all = Totals::of(sweeps);
    object_line(out, "summary", |line| {
        line.put("scenarios", sweeps.len());
        line.put("sites", all.sites);
        line.put("runs", all.runs);
        line.put("untried", all.untried);
        line.put("lost", all.lost);
        for class in Class::ALL {
            line.put(class.word(), all.of_class(class));
        }
        for how in HOWS {
            line.put(how.word(), all.of_how(how));
        }
        line.put("interrupted", all.interrupted);
    });
}

const HOWS: [How; 3] = [How::Status, How::Message, How::Without];

/// Numbers of runs.
struct Totals {
    sites: usize,
    runs: usize,
    untried: usize,
    lost: usize,
    interrupted: bool,
    classes: BTreeMap<Class, usize>,
    hows: BTreeMap<How, usize>,
}

impl Totals {
    fn of(sweeps: &[Sweep]) -> Self {
        let (mut classes, mut hows) = (BTreeMap::new(), BTreeMap::new());
        for swept in sweeps.iter().flat_map(|sweep| &sweep.runs) {
            *classes.entry(swept.told.class).or_default() += 1;
            if let Some(how) = swept.told.how {
                *hows.entry(how).or_default() += 1;
            }
        }
        let sites = |sweep: &Sweep| {
            let sites: BTreeSet<usize> = sweep.runs.iter().map(|swept| swept.site).collect();
            sites.len()
        };
        let runs = sweeps.iter().map(|sweep| sweep.runs.len()).sum();
        let planned: usize = sweeps.iter().map(|sweep| sweep.plan.runs).sum();
        Self {
            sites: sweeps.iter().map(sites).sum(),
            runs,
            untried: planned.saturating_sub(runs),
            lost: sweeps.iter().map(|sweep| sweep.plan.lost.len()).sum(),
            interrupted: sweeps.iter().any(|sweep| sweep.interrupted),
            classes,
            hows,
        }
    }

    fn of_class(&self, class: Class) -> usize {
        self.classes.get(&class).copied().unwrap_or_default()
    }

    fn of_how(&self, how: How) -> usize {
        self.hows.get(&how).copied().unwrap_or_default()
    }
}

/// Appends the sites of a sweep, the worst first, each with what the program made of each error;
/// `written` has the file with the scenario of a run, by its site and error. Coloured with ANSI
/// sequences on request.
pub fn sweep_human(
    out: &mut String,
    sweep: &Sweep,
    written: &BTreeMap<(usize, i32), String>,
    color: bool,
) {
    let mut sites: BTreeMap<usize, Vec<&Swept>> = BTreeMap::new();
    for swept in &sweep.runs {
        sites.entry(swept.site).or_default().push(swept);
    }
    let mut sites: Vec<(usize, Vec<&Swept>)> = sites.into_iter().collect();
    for (_, runs) in &mut sites {
        runs.sort_by_key(|swept| swept.told.class);
    }
    sites.sort_by_key(|(site, runs)| (runs.first().map(|swept| swept.told.class), *site));
    for (place, runs) in sites {
        let Some(site) = sweep.plan.sites.get(place) else {
            continue;
        };
        heading(out, site);
        for swept in runs {
            let file = written.get(&(swept.site, swept.error));
            one(out, swept, file.map(String::as_str), color);
        }
    }
    lost(out, sweep, color);
    remarks(out, sweep);
}

/// The sites that could not be failed: `-- P1 sh  unlink("x") = 0`, and why not.
fn lost(out: &mut String, sweep: &Sweep, color: bool) {
    for lost in &sweep.plan.lost {
        spot(out, "--", &lost.spot);
        let unknown = classed(Class::Unknown, color);
        let _always_fits = writeln!(out, "  {unknown}  never failed: {}", lost.why);
    }
}

/// `#3 P1 python3  fsync(<$DIR/config>) = 0, 2 calls`
fn heading(out: &mut String, site: &Site) {
    spot(out, &format!("#{}", site.number), &site.spot);
}

fn spot(out: &mut String, name: &str, spot: &Spot) {
    let times = match spot.times {
        1 => String::new(),
        times => format!(", {times} calls"),
    };
    let _always_fits = writeln!(
        out,
        "{name} {} {}  {}{times}",
        spot.task,
        shown(&spot.program),
        shown(&spot.line)
    );
    if !spot.stack.is_empty() {
        let _always_fits = writeln!(out, "    from {}", shown(&spot.stack.join(" < ")));
    }
}

/// The word of a class, coloured on request.
fn classed(class: Class, color: bool) -> String {
    let paint = |style: &'static str| if color { style } else { "" };
    let style = match class {
        Class::Handled => "\u{1b}[32m",
        Class::Unknown => "\u{1b}[33m",
        _ => "\u{1b}[1;31m",
    };
    let (start, end) = (paint(style), paint("\u{1b}[0m"));
    let word = class.word().replace('_', " ");
    format!("{start}{word:>9}{end}")
}

/// A run: its class, its error, how that shows, and for all but handled ones the fault.
fn one(out: &mut String, swept: &Swept, file: Option<&str>, color: bool) {
    let class = classed(swept.told.class, color);
    let error = errno_name(swept.error).unwrap_or("?");
    let exit = swept.told.exit.map(|exit| exit.to_string());
    let how = match swept.told.how {
        Some(How::Status) | None => exit.unwrap_or_default(),
        Some(How::Message) => match swept.told.why.first() {
            Some(line) => format!("a message: {}", shown(line)),
            None => "a message".to_owned(),
        },
        Some(How::Without) => match swept.told.why.as_slice() {
            [] => "did without".to_owned(),
            [one] => format!("did without: {}", shown(one)),
            [first, more @ ..] => format!("did without: {}, and {} more", shown(first), more.len()),
        },
    };
    let line = format!("  {class}  {error:12} {how}");
    let _always_fits = writeln!(out, "{}", line.trim_end());
    if swept.told.class == Class::Handled {
        return;
    }
    for line in swept.told.why.iter().flat_map(|why| why.lines()) {
        let _always_fits = writeln!(out, "{:13}{}", "", shown(line));
    }
    let fault = swept.fault.to_string();
    let _always_fits = writeln!(out, "{:13}faults: [{}]", "", shown(&fault));
    if let Some(file) = file {
        let _always_fits = writeln!(out, "{:13}harness run {}", "", shell_word(file));
    }
}

fn remarks(out: &mut String, sweep: &Sweep) {
    let plan = &sweep.plan;
    let mut remark = |text: &str| {
        let _always_fits = writeln!(out, "remark: {}", shown(text));
    };
    let is_late = |swept: &Swept| matches!(swept.told.class, Class::Hung | Class::Retried);
    if sweep.runs.iter().any(is_late) {
        remark(&format!(
            "each run may take {} ms, by the {}",
            plan.timeout.as_millis(),
            match plan.timeout_by {
                crate::run::TimeBy::Scenario => "scenario's `workload.timeout`",
                crate::run::TimeBy::Learned => "runs without faults",
            }
        ));
    }
    plan.remarks.iter().for_each(|text| remark(text));
    if !plan.not_failed.is_empty() {
        let calls = plan.not_failed.iter();
        let calls: Vec<String> = calls.map(|(name, n)| format!("{name} {n}")).collect();
        remark(&format!("not failed: {}", calls.join(", ")));
    }
}

/// Appends the last line: `12 sites, 30 runs: 1 crashed, 29 handled (20 by status, 9 did without)`;
/// and that the sweep was interrupted, if it was.
pub fn sweeps_human(out: &mut String, sweeps: &[Sweep]) {
    let all = Totals::of(sweeps);
    let classes = Class::ALL
        .into_iter()
        .filter(|class| all.of_class(*class) > 0);
    let classes: Vec<String> = classes
        .map(|class| format!("{} {}", all.of_class(class), class.word().replace('_', " ")))
        .collect();
    let hows = HOWS.into_iter().filter(|how| all.of_how(*how) > 0);
    let hows: Vec<String> = hows
        .map(|how| {
            let word = match how {
                How::Status => "by status",
                How::Message => "by a message",
                How::Without => "did without",
            };
            format!("{} {word}", all.of_how(how))
        })
        .collect();
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let (sites, runs) = (all.sites, all.runs);
    let each = match classes.is_empty() {
        true => String::new(),
        false => format!(": {}", classes.join(", ")),
    };
    let _always_fits = write!(
        out,
        "{sites} site{}, {runs} run{}{each}",
        plural(sites),
        plural(runs),
    );
    if !hows.is_empty() {
        let _always_fits = write!(out, " ({})", hows.join(", "));
    }
    if all.lost > 0 {
        let _always_fits = write!(out, "; {} site{} never failed", all.lost, plural(all.lost));
    }
    out.push('\n');
    if all.interrupted {
        let _always_fits = writeln!(
            out,
            "interrupted: {} not made",
            match all.untried {
                1 => "1 run was".to_owned(),
                n => format!("{n} runs were"),
            }
        );
    }
}
