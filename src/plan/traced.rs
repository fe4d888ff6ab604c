//! Reads a word of the trace command: what it has the trace show.

use super::error::EventsError;
use super::wanted::WantedEvent;
use super::word::{Kind, take_apart};
use perf_live::host::Catalogue;
use perf_live::units::SoftwareEvent;
use perf_records::attr::Chain;

/// A word of what is traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TracedWord<'a> {
    /// Calls: a name, a glob or a class, perhaps with `!`; and what the word says of their call
    /// chain, `Some(None)` for none.
    Calls(&'a str, Option<Option<Chain>>),
    /// Another event.
    Event(WantedEvent),
}

/// Reads a word; `default` is the call chain of all words that do not choose one.
///
/// # Errors
/// [`EventsError`], also for an event that a trace does not show, and for a term that has no effect
/// on the event.
pub fn traced<'a>(
    word: &'a str,
    default: Option<Chain>,
    catalogue: &dyn Catalogue,
) -> Result<TracedWord<'a>, EventsError> {
    let word = take_apart(0, word, "", None, catalogue)?;
    let is_software = SoftwareEvent::parse(&word.shown).is_some();
    let mut chain = None;
    for term in word.terms.said() {
        match term {
            "call-graph" | "max-stack" | "stack-size" => chain = Some(word.terms.chain(default)),
            "period" | "freq" if is_software => {}
            _ => {
                let why = "a trace has every occurrence of what it shows; `harness record` has it";
                word.refuse(term, why)?;
            }
        }
    }
    let name = match word.kind() {
        Kind::Calls => {
            word.refuse_unknown()?;
            return Ok(TracedWord::Calls(word.name, chain));
        }
        Kind::Source(_) if !is_software => {
            let name = word.shown;
            return Err(EventsError::Untraced { at: word.at, name });
        }
        Kind::Source(_) => word.shown.clone(),
        Kind::Tracepoints => {
            word.refuse_modes("a trace shows what happens in all modes")?;
            word.name.to_owned()
        }
        Kind::Probe => {
            let probe = word.probe.as_ref();
            probe.map_or_else(|| word.name.to_owned(), |probe| probe.name.clone())
        }
    };
    Ok(TracedWord::Event(WantedEvent {
        name,
        filter: None,
        probe: word.probe,
        chain: chain.unwrap_or(default),
        sampling: word.terms.sampling,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_live::errors;
    use perf_live::host::Host;
    use perf_records::attr::Sampling;
    use std::path::Path;

    /// Reads as on an unknown machine.
    fn read(word: &str) -> Result<TracedWord<'_>, EventsError> {
        traced(word, None, &Host::at(Path::new("/nonexistent")))
    }

    fn event(word: &str) -> WantedEvent {
        match read(word) {
            Ok(TracedWord::Event(event)) => event,
            other => panic!("{word}: {other:?}"),
        }
    }

    #[test]
    fn terms_say_the_call_chain_and_how_often_a_software_event_is_sampled() {
        let calls = |word| read(word).unwrap();
        assert_eq!(calls("openat"), TracedWord::Calls("openat", None));
        let without = TracedWord::Calls("openat", Some(None));
        assert_eq!(calls("openat/call-graph=no/"), without);
        assert_eq!(calls("[a-c]*"), TracedWord::Calls("[a-c]*", None));
        let clock = event("cpu-clock/freq=99/u");
        let every = Some(Sampling::Frequency(99));
        assert_eq!((&*clock.name, clock.sampling), ("cpu-clock:u", every));
        assert_eq!(event("software:faults:k").name, "faults:k");
        let probe = event("uprobe:/b:f/call-graph=fp/");
        assert!(probe.probe.is_some() && probe.chain.is_some());
    }

    #[test]
    fn what_a_trace_does_not_have_is_refused() {
        for (word, said) in [
            ("sched:x/nr=3/", "at character 9: `nr` cannot be here"),
            ("sched:x/freq=99/", "at character 9: `freq` cannot be here"),
            ("uprobe:/b:f/nr=3/", "`nr` cannot be here"),
            ("sched:x:k", "`k` cannot be here: a trace shows"),
            ("cs:u", "it happens in the kernel alone"),
            ("faults:p", "`p` cannot be here"),
            ("faults:x", "the modifier `x` cannot be here"),
            ("openat/call-graph=fp/u", "`u` cannot be here"),
            ("cycles", "a trace does not show `cycles`"),
            ("dummy", "a trace does not show `dummy`"),
            ("mem:0x10/4:w", "a trace does not show `mem:0x10/4:w`"),
            ("page-fault", "there is no event `page-fault`"),
            ("opennat/call-graph=fp/", "unknown system call `opennat`"),
        ] {
            let refused = errors::chain(&read(word).expect_err(word));
            assert!(refused.contains(said), "{word}: {refused}");
        }
    }
}
