//! Prints reports as scenarios end, and what remains when all have ended.

use crate::out::{note, note_for_now};
use crate::results::{Form, Results, Whole, json};
use crate::shard::Share;
use crate::trace::Trouble;
use crate::{complain, out};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use trace_harness::report;
use trace_harness::run::ScenarioReport;

/// Writes the text beside the end of a failed run.
fn write_text(report: &ScenarioReport) -> bool {
    let Some(dump) = &report.dumped else {
        return true;
    };
    let reasons = report.findings.iter();
    let reasons = reasons.flat_map(|finding| finding.text.lines());
    let reasons: String = reasons.map(|line| format!("#   {line}\n")).collect();
    let head = format!(
        "# {}: {}\n{reasons}# Each line: when it was entered, in seconds of CLOCK_MONOTONIC, the thread, and what it did.\n",
        report.name, report.verdict
    );
    let written = crate::trace::replay::text(dump, &head, &report::text_of(dump));
    let is_written = written.is_ok();
    match written {
        Ok(()) | Err(Trouble::ReaderGone) => {}
        Err(Trouble::Other(error, hint)) => complain(&*error, hint),
        Err(Trouble::NotExecuted(error)) => complain(&error, None),
        Err(Trouble::Usage(text)) => note!("harness: {text}"),
    }
    is_written
}

pub(super) struct Printer<'a> {
    told: out::Told,
    /// Whether all else that belongs to the report was written.
    is_whole: AtomicBool,
    pub(super) results: &'a Results,
    pub(super) share: Option<&'a Share>,
    /// The lines before those of scenarios in JSON.
    pub(super) head: String,
    pub(super) traces: bool,
    pub(super) total: usize,
    /// How many runs there are, if each scenario has several.
    pub(super) runs: Option<usize>,
    begun: AtomicUsize,
    progress: bool,
    reports: Mutex<Vec<ScenarioReport>>,
}

impl<'a> Printer<'a> {
    /// One that has nothing to report yet.
    pub(super) fn new(told: out::Told, results: &'a Results) -> Self {
        Self {
            told,
            is_whole: AtomicBool::new(true),
            results,
            share: None,
            head: String::new(),
            traces: false,
            total: 0,
            runs: None,
            begun: AtomicUsize::new(0),
            progress: out::has_sequences(&std::io::stderr()) && results.format == Form::Human,
            reports: Mutex::default(),
        }
    }

    /// Counts a run that begins.
    pub(super) fn begin(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
        if self.runs.is_some() {
            self.show_progress();
        }
    }

    pub(super) fn report(&self, mut report: ScenarioReport) {
        if !write_text(&report) {
            self.is_whole.store(false, Ordering::Relaxed);
        }
        let keeps_trace = self.traces || self.results.shows_traces();
        report.trace = report.trace.filter(|_| keeps_trace);
        report.whole = report.whole.filter(|_| self.results.shows_traces());
        let mut text = String::new();
        match self.results.format {
            Form::Human => {
                report::human(&mut text, &report, out::has_colors(&std::io::stdout()));
            }
            Form::Json => text = json(&report, self.traces),
            // They are written when all is known.
            _ => {}
        }
        if self.progress {
            note_for_now!("");
        }
        self.told.print(&text);
        if let Ok(mut reports) = self.reports.lock() {
            reports.push(report);
        }
        self.show_progress();
    }

    pub(super) fn show_progress(&self) {
        // The lock is kept until the line is written, so that no older count follows a newer one.
        let reports = self.reports.lock();
        let done = reports.as_ref().map_or(0, |reports| reports.len());
        if !self.progress || done >= self.total {
            return;
        }
        let begun = self.begun.load(Ordering::Relaxed);
        let run = match self.runs {
            Some(runs) => format!(", run {begun} of {runs}"),
            None => String::new(),
        };
        note_for_now!("{done} of {} done{run}", self.total);
    }

    /// Returns the reports, and whether all of them were printed.
    pub(super) fn finish(self) -> (Vec<ScenarioReport>, bool) {
        let mut reports = self.reports.into_inner().unwrap_or_default();
        reports.sort_by(|a, b| a.name.cmp(&b.name));
        let whole = Whole {
            reports: &reports,
            submission: self.results.submission(),
            share: self.share,
            traces: self.traces,
            head: &self.head,
        };
        self.told.print(&match self.results.format {
            form @ (Form::Human | Form::Json) => whole.summary(form),
            form => whole.text(form, false),
        });
        let is_written = self.results.write(&whole, &self.told);
        let is_told = self.told.all() && self.is_whole.into_inner() && is_written;
        (reports, is_told)
    }
}
