//! Reads a trace, in any form that it was kept in, into the grammar of normalised traces.

use perf_live::errors::chain;
use perf_live::files;
use perf_live::host::Host;
use perf_records::space::Stack;
use perf_records::units::{NotText, shown_path};
use std::path::Path;
use std::sync::Arc;
use syscall_model::Observation;
use trace_harness::plan::{self, EventsPlan};
use trace_harness::run::{Fired, Observer, RecordedRun};
use trace_harness::trace::{Builder, View};
use trace_harness::upgrade::TraceText;
use trace_harness::{snapshot, upgrade, verdict};

const NO_TRACE: &str = "it is no trace";

/// What a trace was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A text as it was printed.
    Printed,
    Recording,
    /// A text in the grammar of snapshots.
    Written,
}

/// A trace that was read.
pub(super) struct Read {
    pub(super) text: String,
    pub(super) form: Form,
    /// Why it is not the whole run; if it is not, absence in it means nothing.
    pub(super) lacks: Vec<String>,
}

/// Reads a trace. An empty text is one of a run that did nothing.
pub(super) fn trace(path: &Path) -> Result<Read, String> {
    let failed = |why: String| format!("cannot read `{}`: {why}", shown_path(path));
    let whole = |text: String, form| Read {
        text,
        form,
        lacks: Vec::new(),
    };
    if path.extension().is_some_and(|ending| ending == "snap") {
        let text = snapshot::read(path).map_err(|error| failed(chain(&error)))?;
        let text = text.ok_or_else(|| failed("there is no such file".to_owned()))?;
        if !TraceText::is_one(&text) {
            return Err(failed(NO_TRACE.to_owned()));
        }
        return Ok(whole(text, Form::Written));
    }
    let file = files::open_stream(path).map_err(|error| failed(chain(&error)))?;
    let bytes = files::TRACE
        .read(file)
        .map_err(|error| failed(chain(&error)))?;
    // The magic of perf.data, in either byte order.
    if bytes.starts_with(b"PERFILE2") || bytes.starts_with(b"2ELIFREP") {
        if !path.is_file() {
            return Err(failed(
                "a recording is read twice, which a pipe cannot be".to_owned(),
            ));
        }
        return recording(path);
    }
    let text = NotText::check(&bytes).map_err(|fault| {
        failed(format!(
            "it is neither text nor a recording in perf's file format: {fault}"
        ))
    })?;
    if text.starts_with('{') {
        return Err(failed(
            "it is JSON; traces are compared as text, or as recordings (--save)".to_owned(),
        ));
    }
    let (text, incomplete) = upgrade::without_end(text);
    let read = match upgrade::normalised(text) {
        Some(text) => whole(text, Form::Printed),
        None if text.trim().is_empty() => whole(String::new(), Form::Printed),
        None if TraceText::is_one(text) => whole(text.to_owned(), Form::Written),
        None => return Err(failed(NO_TRACE.to_owned())),
    };
    Ok(Read {
        lacks: incomplete.map(str::to_owned).into_iter().collect(),
        ..read
    })
}

/// Reads all that a recording holds.
fn recording(path: &Path) -> Result<Read, String> {
    let failed = |error: &(dyn std::error::Error + 'static)| {
        format!("`{}`: {}", shown_path(path), chain(error))
    };
    let recording = RecordedRun::open(path).map_err(|error| chain(&error))?;
    let (wanted, memory) = (recording.wanted(), recording.memory());
    if wanted.is_empty() {
        return Err(format!(
            "`{}` holds neither calls nor tracepoints",
            shown_path(path)
        ));
    }
    let plan = plan::events_within(recording.reach(), &wanted, memory, &recording);
    let plan = plan.map_err(|error| failed(&error))?;
    let host = Host::running();
    let signatures = crate::trace::replay::signatures(&recording, &host);
    let mut collector = Collector {
        plan: &plan,
        builder: Builder::new(true),
        error: None,
    };
    let run = recording.replay(&plan, &mut collector);
    let run = run.map_err(|error| failed(&error))?;
    if let Some(error) = collector.error {
        return Err(format!("`{}`: {error}", shown_path(path)));
    }
    if let Some(id) = run.main_pid {
        collector.builder.main_process(id);
    }
    let view = View {
        directory: run.directory,
        contents: memory.contents.into(),
        ..View::default()
    };
    let text = collector
        .builder
        .finish()
        .normalise(&view, &signatures)
        .text();
    let account = &run.account;
    let mut lacks: Vec<String> = verdict::overwritten(account).into_iter().collect();
    if !account.is_complete() {
        lacks.push("events were lost".to_owned());
    }
    lacks.extend(run.findings.iter().map(ToString::to_string));
    Ok(Read {
        text: upgrade::numbered(&text),
        form: Form::Recording,
        lacks,
    })
}

/// Collects a recording into a trace.
struct Collector<'a> {
    plan: &'a EventsPlan,
    builder: Builder,
    error: Option<String>,
}

impl Observer for Collector<'_> {
    fn observe(&mut self, observation: &Observation) {
        self.builder
            .observe(observation, |call| self.plan.wants(call));
    }

    fn observe_with(&mut self, observation: &Observation, stack: &Arc<Stack>) {
        self.builder.led_by(Arc::clone(stack));
        self.observe(observation);
    }

    fn event(&mut self, fired: &Fired<'_>) {
        let Some(planned) = self.plan.named.get(fired.place) else {
            return;
        };
        if let Err(error) = fired.add_to(planned, &mut self.builder) {
            self.error.get_or_insert(chain(&error));
        }
    }
}
