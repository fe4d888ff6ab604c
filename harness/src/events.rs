//! `harness events`: lists the events that this kernel has.

use crate::{complain, out, status};
use perf_live::events::{Counted, Counter, EventRequest};
use perf_live::host::Host;
use perf_records::attr::{Attr, Source};
use trace_harness::plan::{EventsError, listed};
use trace_harness::report::{listed_json, listed_line};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only those whose names match one of these globs: sched:*, *fsync*
    #[arg(value_name = "GLOB")]
    patterns: Vec<String>,
    /// How to print them
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A line each, with the fields and their types
    Text,
    /// A JSON object each, with the fields' places as well
    Json,
}

/// Whether the machine has a counter for it, found by opening it; a refusal for lack of rights
/// counts as yes.
fn is_there(source: Source) -> bool {
    let event = EventRequest::new("", Attr::counting(source));
    let opened = Counter::open(&event, Counted::Myself);
    opened.map_or_else(|error| !error.is_absent(), |_| true)
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    let events = match listed(&arguments.patterns, &Host::running(), &is_there) {
        Ok(events) => events,
        Err(error) => {
            complain(&error, error.hint());
            return match error {
                EventsError::Host(_) => status::TROUBLE,
                _ => status::USAGE,
            };
        }
    };
    let mut text = String::new();
    for event in &events {
        match arguments.format {
            Format::Text => listed_line(&mut text, event),
            Format::Json => listed_json(&mut text, event),
        }
    }
    out::ended(out::print(&text), status::PASSED, status::USAGE)
}
