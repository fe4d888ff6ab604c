//! What is written of a run, by the options.

use super::chosen;
use super::options::{By, Descriptors, Format};
use super::printer::Form;
use super::{Arguments, Trouble};
use perf_records::attr::Chain;
use trace_harness::report::{Lead, Plain, Summary, TaskNames, TimeForm};

/// Returns the call chain of events without a term for it.
pub(super) fn call_chain(arguments: &Arguments) -> Option<Chain> {
    let whole = arguments.stack_trace.then_some(Chain {
        user_stack: Chain::STACK,
        ..Chain::default()
    });
    arguments.call_graph.or(whole)
}

/// Returns what is written of the run. `offset` is between its clock and that on the wall, if it is
/// known.
pub(super) fn form(arguments: &Arguments, offset: Option<i64>) -> Result<Form, Trouble> {
    let times = arguments.times.form();
    let has_times = times.is_some() || arguments.times.durations;
    if has_times && arguments.format != Format::Text {
        let said = "each of -t, -r and -T is of lines of text: other forms have all times";
        return Err(Trouble::Usage(said.to_owned()));
    }
    if arguments.format == Format::Perfetto && (arguments.summary || arguments.with_summary) {
        let said = "a time line has no tables: -c and -C are of lines, as text or as JSON";
        return Err(Trouble::Usage(said.to_owned()));
    }
    if times.is_some_and(TimeForm::is_of_wall) && offset.is_none() {
        return Err(Trouble::Usage(
            "the recording does not say what time it was by the clock on the wall\nhint: use -r, or record with \
             `harness record` or `perf record -k monotonic`"
                .to_owned(),
        ));
    }
    let has_names = arguments.decode_pids.is_some() || arguments.command_names;
    if has_names && arguments.format != Format::Text {
        let said = "--decode-pids is of lines of text: other forms have the member `comm`";
        return Err(Trouble::Usage(said.to_owned()));
    }
    let is_summarised = arguments.summary || arguments.with_summary;
    let summary = Summary::new(arguments.summary_by == By::Thread);
    Ok(Form {
        format: arguments.format,
        choice: chosen::choice(arguments)?,
        values: Plain {
            contents: arguments.string_limit.into(),
            bare_descriptors: arguments.decode_fds == Descriptors::None,
            names: has_names.then(TaskNames::default),
        },
        lines: !arguments.summary,
        lead: Lead::new(times, offset.unwrap_or_default()).with_names(has_names),
        durations: arguments.times.durations,
        summary: is_summarised.then(|| (summary, arguments.summary_sort.into())),
    })
}
