//! Writes calls and events as they come, and a summary at the end.

use super::delivered::{Signals, Step};
use super::options::Format;
use super::sched::View;
use super::spans::{self, Spans};
use super::{Sink, Trouble, unseen};
use crate::out::note;
use crate::status;
use perf_live::events::Account;
use perf_live::events::Origin;
use perf_live::units::ExitKind;
use perf_records::record::LayoutTable;
use perf_records::space::Stack;
use std::sync::Arc;
use syscall_model::{Call, Choice, Observation, Signatures};
use trace_harness::plan::EventsPlan;
use trace_harness::report::{self, Lead, Plain, Span, Summary, SummaryOrder, Timeline};
use trace_harness::run::{Fired, Observer, Saving, Turn};

/// What is written of a run.
pub(super) struct Form {
    pub(super) format: Format,
    /// The calls to print.
    pub(super) choice: Choice,
    /// How their values are written.
    pub(super) values: Plain,
    /// Whether each call and event gets a line.
    pub(super) lines: bool,
    /// What lines of text begin with.
    pub(super) lead: Lead,
    /// Whether lines of calls end with the time that they took.
    pub(super) durations: bool,
    /// The summary, if one is written.
    pub(super) summary: Option<(Summary, SummaryOrder)>,
}

/// Writes a run.
pub(super) struct Printer<'a> {
    plan: &'a EventsPlan,
    signatures: &'a Signatures<'a>,
    form: Form,
    text: String,
    sink: Sink,
    n_events: u64,
    error: Option<Trouble>,
    timeline: Timeline,
    /// The tables of `--sched`, if asked for.
    pub(super) sched: Option<View>,
    /// Set if signals are shown as such.
    pub(super) signals: Option<Signals>,
    /// The pairs of `--span`.
    pub(super) spans: Spans,
    /// The recording, if one is kept.
    pub(super) saving: Option<Saving>,
    /// Called when what reads the trace wants no more.
    pub(super) reader_gone: fn(),
}

impl<'a> Printer<'a> {
    const FULL: usize = 1 << 16;

    pub(super) fn new(
        plan: &'a EventsPlan,
        signatures: &'a Signatures<'a>,
        form: Form,
        sink: Sink,
    ) -> Self {
        Self {
            plan,
            signatures,
            form,
            text: String::with_capacity(Self::FULL * 2),
            sink,
            n_events: 0,
            error: None,
            timeline: Timeline::default(),
            sched: None,
            signals: None,
            spans: Spans::default(),
            saving: None,
            reader_gone: || (),
        }
    }

    fn flush(&mut self) {
        if self.error.is_none()
            && let Err(error) = self.sink.put(&self.text)
        {
            if matches!(error, Trouble::ReaderGone) {
                (self.reader_gone)();
            }
            self.error = Some(error);
        }
        self.text.clear();
    }

    /// Writes the rest, for a recording that is judged elsewhere.
    pub(super) fn end(mut self) -> Result<(), Trouble> {
        self.flush();
        self.error.map_or(Ok(()), Err)?;
        self.sink.finish()
    }

    /// Has spans made, and writes them.
    fn tell_spans(&mut self, told: impl FnOnce(&mut Spans, &mut dyn FnMut(&Span))) {
        let mut spans = std::mem::take(&mut self.spans);
        told(&mut spans, &mut |span| {
            let Form {
                format,
                lines,
                lead,
                ..
            } = &mut self.form;
            let of = span.end.as_ref().or(span.begin.as_ref());
            match (format, of) {
                _ if !*lines => {}
                (Format::Text, Some(of)) => {
                    let lead = lead.of(span.actor().unwrap_or(&of.actor), of.to);
                    report::span_line(&mut self.text, lead, span);
                }
                (Format::Text, None) => {}
                (Format::Json, _) => report::span_json(&mut self.text, span),
                (Format::Perfetto, _) => self.timeline.span(&mut self.text, span),
            }
        });
        self.spans = spans;
    }

    /// Writes the times on CPUs that are over, if they are wanted one by one.
    fn stretches(&mut self) {
        let view = self.sched.as_mut();
        let over = view.and_then(|view| view.stretches.as_mut());
        for of in over.into_iter().flat_map(|all| all.drain(..)) {
            self.timeline.on_cpu(&mut self.text, &of);
        }
    }

    fn counted(&mut self) {
        self.n_events += 1;
        if self.text.len() >= Self::FULL {
            self.flush();
        }
    }

    /// Writes a call.
    fn call(&mut self, observation: &Observation, stack: Option<&Arc<Stack>>) {
        let Observation::Call(call) = observation else {
            return;
        };
        let is_chosen = self.plan.wants(call)
            && self.signatures.with(call.abi, call.number, |signature| {
                self.form.choice.admits(call, signature)
            });
        if !is_chosen {
            return;
        }
        let Form {
            format,
            values,
            lines,
            lead,
            durations,
            ..
        } = &mut self.form;
        let (out, signatures) = (&mut self.text, self.signatures);
        match format {
            _ if !*lines => {}
            Format::Text => {
                let lead = lead.of(&call.actor, call.time());
                report::call_line(out, lead, call, signatures, values);
                if *durations {
                    report::duration_of_line(out, call);
                }
            }
            Format::Json => report::call_json(out, call, signatures, values),
            Format::Perfetto => {
                let stack = stack.map(|stack| &**stack);
                self.timeline.call(out, call, stack, signatures, values);
            }
        }
        if let Some((summary, _)) = &mut self.form.summary {
            summary.call(call);
        }
        self.chain(stack);
        self.tell_spans(|spans, tell| spans.call(call, signatures, tell));
        self.exited(call);
        self.counted();
    }

    /// Writes a signal that was delivered.
    fn signal(&mut self, signal: &report::Delivered) {
        match self.form.format {
            _ if !self.form.lines => {}
            Format::Text => {
                let lead = self.form.lead.of(&signal.actor, signal.time);
                report::signal_line(&mut self.text, lead, signal);
            }
            Format::Json => report::signal_json(&mut self.text, signal),
            Format::Perfetto => self.timeline.signal(&mut self.text, signal),
        }
        self.counted();
    }

    /// Writes how a process ended, if signals are shown; in JSON the call says it.
    fn exited(&mut self, call: &Call) {
        let is_text = self.form.lines && self.form.format == Format::Text;
        if is_text
            && self.signals.is_some()
            && let (Some("exit_group"), Some(args)) = (call.name(), call.entry.args())
        {
            let lead = self.form.lead.of(&call.actor, call.time());
            report::exited_line(&mut self.text, lead, args[0]);
        }
    }

    /// Writes the functions that led to the last call or event.
    fn chain(&mut self, stack: Option<&Arc<Stack>>) {
        let Some(stack) = stack.filter(|_| self.form.lines) else {
            return;
        };
        match self.form.format {
            Format::Text => report::chain_lines(&mut self.text, stack),
            Format::Json => report::chain_json(&mut self.text, stack),
            Format::Perfetto => {}
        }
    }

    /// Writes the rest and the remarks on all; returns the exit status, which is the workload's if
    /// known. With `parts`, a line each, not every occurrence of what is shown was recorded.
    pub(super) fn finish(
        mut self,
        (account, parts): (&Account, &[String]),
        exit: Option<ExitKind>,
    ) -> Result<u8, Trouble> {
        self.tell_spans(|spans, tell| {
            for line in spans.finish(tell) {
                note!("harness: {line}");
            }
        });
        let lost = account.lost();
        let is_complete = account.is_complete() && parts.is_empty();
        let mut complaints = account.complaints();
        complaints.extend_from_slice(parts);
        if let Some((summary, order)) = &self.form.summary {
            match self.form.format {
                Format::Json => summary.json(&mut self.text, *order),
                Format::Perfetto => {}
                Format::Text => {
                    if self.form.lines {
                        self.text.push('\n');
                    }
                    let missing = (!is_complete).then_some((lost, complaints.as_slice()));
                    summary.text(&mut self.text, *order, missing);
                }
            }
        }
        match (&self.sched, self.form.format) {
            (Some(view), Format::Text) => view.text(&mut self.text),
            (Some(view), Format::Json) => view.json(&mut self.text),
            (Some(_), Format::Perfetto) | (None, _) => {}
        }
        let (out, n_events) = (&mut self.text, self.n_events);
        // Where it is read later, what is said of it here is not there.
        let is_kept = !matches!(self.sink, Sink::Error(_));
        let is_said = self.form.summary.is_some() && !self.form.lines;
        match self.form.format {
            Format::Text if !is_complete && is_kept && !is_said => {
                unseen::end_incomplete(out, lost);
            }
            Format::Text => {}
            Format::Json => report::summary_json(out, n_events, lost, is_complete, exit),
            Format::Perfetto => self.timeline.end(out, (n_events, lost), is_complete, exit),
        }
        self.flush();
        if let Some(error) = self.error {
            return Err(error);
        }
        // A file may be for a program alone.
        let is_stream = self.sink.is_a_stream();
        let is_watched = is_stream && self.form.format == Format::Text;
        self.sink.finish()?;
        for line in account.remarks() {
            note!("harness: {line}");
        }
        if !is_complete {
            unseen::say_incomplete(account, &complaints, is_stream);
            return Ok(status::TRACE_TROUBLE);
        }
        if is_watched && n_events == 0 {
            unseen::say_kin(self.plan);
        }
        let status = exit.map_or(0, |exit| exit.shell_status());
        Ok(u8::try_from(status).unwrap_or(status::TRACE_TROUBLE))
    }
}

impl Observer for Printer<'_> {
    fn record(&mut self, table: &LayoutTable<Origin>, bytes: &[u8]) {
        if let Some(saving) = &mut self.saving {
            saving.record(table, bytes);
        }
    }

    fn observe(&mut self, observation: &Observation) {
        if let Some(view) = &mut self.sched {
            view.observe(observation);
        }
        if let Some(names) = &mut self.form.values.names {
            names.observe(observation);
        }
        self.call(observation, None);
    }

    fn observe_with(&mut self, observation: &Observation, stack: &Arc<Stack>) {
        if let Some(names) = &mut self.form.values.names {
            names.observe(observation);
        }
        self.call(observation, Some(stack));
    }

    fn turn(&mut self, turn: Turn) {
        if let Some(view) = &mut self.sched {
            view.turn(turn);
            self.stretches();
        }
    }

    fn note(&mut self, note: &str) {
        note!("harness: {note}");
    }

    fn event(&mut self, fired: &Fired<'_>) {
        let Some(planned) = self.plan.named.get(fired.place) else {
            return;
        };
        let Fired {
            actor, time, cpu, ..
        } = *fired;
        match fired.decode(planned) {
            Ok(event) => {
                if let Some(view) = &mut self.sched
                    && view.event(fired, &event)
                {
                    return self.stretches();
                }
                if let Some(signals) = &mut self.signals {
                    match signals.event(actor, time, &event) {
                        Step::Sent => return,
                        Step::Delivered(signal) => return self.signal(&signal),
                        Step::Other => {}
                    }
                }
                if let Some((summary, _)) = &mut self.form.summary {
                    summary.event(actor, &event.name);
                }
                let out = &mut self.text;
                match self.form.format {
                    _ if !self.form.lines => {}
                    Format::Text => {
                        let lead = self.form.lead.of(actor, time);
                        if !report::fault_line(out, lead, &event) {
                            report::event_line(out, lead, &event);
                        }
                    }
                    Format::Json => report::event_json(out, actor, time, cpu, &event),
                    Format::Perfetto => {
                        let stack = fired.stack.map(|stack| &**stack);
                        self.timeline.event(out, (actor, time, cpu), &event, stack);
                    }
                }
                self.tell_spans(|spans, tell| {
                    let end = || spans::moment(actor, time, &event.fields);
                    spans.event(&event.name, end, tell);
                });
            }
            Err(error) => {
                self.error.get_or_insert(error.into());
            }
        }
        self.chain(fired.stack);
        self.counted();
    }

    fn pause(&mut self) {
        if let Some(saving) = &mut self.saving {
            saving.round();
        }
        self.flush();
    }
}
