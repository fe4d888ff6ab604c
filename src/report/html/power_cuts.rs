//! The states that a power cut may leave, as a page: a timeline of what was durable when, and what
//! the recovery made of the states that it failed on.

use super::text::{escape, lines};
use crate::run::{CrashStart, CrashStudy};
use crate::verdict::{Failure, joined};
use std::fmt::Write;

/// So many states are told of in full.
const SHOWN: usize = 50;

const STYLE: &str = include_str!("style.css");

/// Colours of the timeline.
const OWN: &str = "\
.cuts th, .cuts td { padding: .2rem 1rem .2rem 0; border-bottom: 1px solid var(--line); }
.cuts thead th { color: var(--quiet); font-size: .85rem; }
.cuts td:nth-child(2) { font-family: ui-monospace, monospace; font-size: .8125rem; overflow-wrap: anywhere; }
.cuts .lost { background: var(--bad-back); } .cuts .lost td:last-child { color: var(--bad); }
.cuts .after { color: var(--quiet); } .cuts .cut td { border-bottom: 3px solid var(--bad); }
";

/// Appends the page.
pub(in crate::report) fn write(out: &mut String, start: &CrashStart, study: &CrashStudy) {
    let mut title = String::new();
    escape(&mut title, &start.item.name);
    // No script and no foreign content can run, even if a name contained it.
    let _always_fits = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>Power cuts: {title}</title>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <style>\n{STYLE}{OWN}</style>\n</head>\n<body>\n<header>\n<h1>Power cuts: {title}</h1>\n"
    );
    let crashed = &study.crashed;
    let word = if crashed.failed > 0 { "fail" } else { "pass" };
    let unknown = !crashed.unknown.is_empty() || study.interrupted;
    let class = if crashed.failed == 0 && unknown {
        "incomplete"
    } else {
        word
    };
    let _always_fits = write!(out, "<p class=\"{class}\">");
    escape(out, &start.extent);
    let _always_fits = writeln!(
        out,
        ": {} tried, the recovery fails on {}{}</p>\n</header>\n<main>",
        crashed.tried,
        crashed.failed,
        if study.interrupted {
            ", interrupted"
        } else {
            ""
        }
    );
    if unknown && !crashed.unknown.is_empty() {
        out.push_str("<section><h2>Not known</h2>");
        lines(out, crashed.unknown.iter().flat_map(|why| why.lines()));
        out.push_str("</section>\n");
    }
    if let Some(remark) = crashed.remark() {
        let _always_fits = writeln!(out, "<p>{remark}</p>");
    }
    timeline(out, start, crashed.worst.as_ref());
    failures(out, study);
    out.push_str("</main>\n</body>\n</html>\n");
}

/// Appends the calls, by which each is durable, and what became of each in the worst state.
fn timeline(out: &mut String, start: &CrashStart, worst: Option<&Failure>) {
    out.push_str("<section>\n<h2>What was durable when</h2>\n");
    if let Some(worst) = worst {
        let _always_fits = writeln!(
            out,
            "<p>The last column is state {}, the one that fails and loses least.</p>",
            worst.state
        );
    }
    out.push_str(
        "<table class=\"cuts\">\n<thead><tr><th>#<th>call<th>durable behind<th>state</tr></thead>\n<tbody>\n",
    );
    for (step, call) in start.calls.iter().enumerate() {
        let fate = worst.map(|worst| fate(worst, step));
        let (class, word) = fate.unwrap_or_default();
        let is_cut = worst.is_some_and(|worst| worst.moment == step + 1);
        let cut = if is_cut { " cut" } else { "" };
        let _always_fits = write!(
            out,
            "<tr class=\"{class}{cut}\"><td class=\"n\">{}<td>",
            step + 1
        );
        escape(out, call);
        if let Some(from) = start.from.get(step).and_then(Option::as_deref) {
            out.push_str("<br>from ");
            escape(out, from);
        }
        out.push_str("<td>");
        match start.durable_by.get(step).copied().flatten() {
            Some(by) => {
                let _always_fits = write!(out, "{} ", by + 1);
                escape(out, start.calls.get(by).map_or("", |call| call));
            }
            None => out.push('\u{2013}'),
        }
        let _always_fits = writeln!(
            out,
            "<td>{word}{}</tr>",
            if is_cut { ", power cut" } else { "" }
        );
    }
    out.push_str("</tbody>\n</table>\n</section>\n");
}

/// What became of a step in a state: the class of its row, and a word.
fn fate(worst: &Failure, step: usize) -> (&'static str, &'static str) {
    if step >= worst.moment {
        ("after", "not yet made")
    } else if worst.steps.contains(&step) {
        ("lost", "lost, all or in part")
    } else {
        ("", "there")
    }
}

/// Appends the states that failed, those that lost least first.
fn failures(out: &mut String, study: &CrashStudy) {
    let mut failures: Vec<&Failure> = study.failures.iter().collect();
    if failures.is_empty() {
        return;
    }
    failures.sort_by_key(|failure| (failure.lost.len(), failure.state));
    out.push_str("<section>\n<h2>States that the recovery fails on</h2>\n");
    for failure in failures.iter().take(SHOWN) {
        let _always_fits = write!(out, "<details><summary>State {}: power cut ", failure.state);
        match failure.behind_with_callers() {
            Some(call) => {
                out.push_str("behind ");
                escape(out, &call);
            }
            None => out.push_str("before the first change"),
        }
        out.push_str("</summary>\n");
        let headed = |head: &str, all: &[String]| {
            all.iter()
                .map(|line| format!("{head}: {line}"))
                .collect::<Vec<_>>()
        };
        let said = joined(&failure.findings, "\n");
        let recovery = format!("recovery: {}: {said}", failure.verdict);
        let told = [
            headed("lost", &failure.lost_with_callers()),
            headed("left", &failure.folder),
        ]
        .concat();
        lines(out, told.iter().map(String::as_str).chain(recovery.lines()));
        out.push_str("</details>\n");
    }
    if let Some(more) = failures.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let _always_fits = writeln!(out, "<p>and {more} more</p>");
    }
    out.push_str("</section>\n");
}
