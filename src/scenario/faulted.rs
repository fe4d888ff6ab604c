//! A scenario with more faults, which expects of its results alone.
//!
//! A fault changes the way of a run, and that the run goes another way is no failure: the sequence
//! of its calls, their numbers, its snapshot. What must hold whichever way it goes stays: how it
//! ends, what it writes, which files it leaves, and what it must never do.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_yaml::{Mapping, Value};

use super::Scenario;
use super::diagnostic::Diagnostic;
use super::faults::When;
use super::key_path::KeyPath;
use super::matrix::Substitution;
use super::programs::Programs;
use super::reader::Parsed;
use super::steps::StepSpec;
use super::write::scalar::flow;
use syscall_model::errno::errno_name;
use syscall_model::signals::signal_name;

/// The keys of `expect` that speak of the way, or of what a program says of a failure.
const OF_THE_WAY: [&str; 8] = [
    "sequence",
    "any_order",
    "only",
    "count",
    "between",
    "sections",
    "delta",
    "stderr",
];

/// The other keys that speak of the way, or of many runs.
const BESIDE: [&str; 6] = [
    "sections",
    "baseline",
    "crash",
    "lenient",
    "on_failure",
    "matrix",
];

/// A fault that is added to a scenario: an error in place of a call.
#[derive(Clone, Debug)]
pub struct AddedFault {
    /// Which calls it may be done to.
    pub step: StepSpec,
    /// To which of these it is.
    pub when: When,
    /// The error's number.
    pub error: i32,
    /// The signal that comes with it.
    pub signal: Option<i32>,
}

/// What is added to a scenario.
#[derive(Clone, Copy)]
pub struct Added<'a> {
    /// Faults, behind its own.
    pub faults: &'a [AddedFault],
    /// An event that is recorded besides, as it stands in a list.
    pub event: Option<&'a str>,
    /// The exit status that is expected; `None` for what the scenario says itself.
    pub exit: Option<u8>,
    /// How long the run may take.
    pub timeout: Duration,
    /// What it shows; `None` for what it says itself.
    pub description: Option<&'a str>,
    /// Where a file of `from` is from the folder of the new scenario.
    pub from: &'a dyn Fn(&Path) -> PathBuf,
}

/// The same as a scenario has it: `{ fsync: { fd: config, when: 2, error: EIO } }`.
impl std::fmt::Display for AddedFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{{ {}: {{ ", flow(&self.step.event))?;
        for (name, test) in &self.step.fields {
            write!(f, "{}: {test}, ", flow(name))?;
        }
        match self.when {
            When { first, last, .. } if last == Some(first) => write!(f, "when: {first}, ")?,
            When { first, .. } => write!(f, "when: \"{first}..\", ")?,
        }
        let error = errno_name(self.error).unwrap_or("EIO");
        write!(f, "error: {error}")?;
        if let Some(signal) = self.signal {
            write!(f, ", signal: {}", signal_name(signal))?;
        }
        f.write_str(" } }")
    }
}

/// Returns the text of a scenario like that of `row` in this file, with what is added.
///
/// # Errors
/// What keeps the text from being read, or from being written again as what it says.
pub fn faulted(
    (file, text, row): (&Path, &str, &str),
    programs: &Programs,
    added: &Added<'_>,
) -> Result<String, Diagnostic> {
    let (mut value, scenario) = of_row((file, text, row), programs)?;
    let complain = || scenario.complaint(&KeyPath::root(), "no fault can be added here", None);
    let all = value.as_mapping_mut().ok_or_else(complain)?;
    edit(all, &scenario, added).ok_or_else(complain)?;
    let written = serde_yaml::to_string(&value).map_err(|_| complain())?;
    // What is read of it must be what was meant.
    match Parsed::read(file, &written)?.value == value {
        true => Ok(written),
        false => Err(complain()),
    }
}

/// Returns the values of a row as they stand in the file, and its scenario.
pub(super) fn of_row(
    (file, text, row): (&Path, &str, &str),
    programs: &Programs,
) -> Result<(Value, Scenario), Diagnostic> {
    let mut parsed = Parsed::read(file, text)?;
    let Some(matrix) = parsed.matrix()? else {
        return Ok((parsed.value.clone(), parsed.scenario(programs)?));
    };
    let mut substitution = Substitution::new();
    for found in matrix.rows() {
        let of_row = parsed.of_row(found, &mut substitution)?;
        if found.label() == row {
            return Ok((of_row.value.clone(), of_row.scenario(programs)?));
        }
    }
    Err(parsed
        .source
        .diagnostic(0..0, "the file has no such row any more"))
}

/// The events of a scenario, written out where it does not name any.
fn events(all: &mut Mapping) -> Option<&mut Vec<Value>> {
    if !all.contains_key("trace") {
        all.insert("trace".into(), Value::Mapping(Mapping::new()));
    }
    let trace = all.get_mut("trace")?.as_mapping_mut()?;
    if !trace.contains_key("events") {
        let every_call = serde_yaml::from_str("[{ syscalls: [all] }]").ok()?;
        trace.insert("events".into(), every_call);
    }
    trace.get_mut("events")?.as_sequence_mut()
}

/// Changes the values of a scenario; `None` where they are not those of one.
fn edit(all: &mut Mapping, scenario: &Scenario, added: &Added<'_>) -> Option<()> {
    for key in BESIDE {
        all.shift_remove(key);
    }
    if let Some(expect) = all.get_mut("expect").and_then(Value::as_mapping_mut) {
        for key in OF_THE_WAY {
            expect.shift_remove(key);
        }
        without_captures(expect, scenario);
        if expect.is_empty() {
            all.shift_remove("expect");
        }
    }
    if let Some(exit) = added.exit {
        let expect = all.entry("expect".into());
        let expect = expect.or_insert_with(|| Value::Mapping(Mapping::new()));
        expect.as_mapping_mut()?.insert("exit".into(), exit.into());
    }
    if let Some(event) = added.event {
        let events = events(all)?;
        let event: Value = serde_yaml::from_str(event).ok()?;
        // One of its own with another filter does not have them all.
        let is_it = |one: &Value| {
            let name = one.get("event").or(Some(one));
            *one == event || name == event.get("event") && one.get("filter").is_none()
        };
        if !events.iter().any(is_it) {
            events.push(event);
        }
    }
    if let Some(description) = added.description {
        all.insert("description".into(), description.into());
    }
    let workload = all.get_mut("workload")?.as_mapping_mut()?;
    let timeout = format!("{}ms", added.timeout.as_millis().max(1));
    workload.insert("timeout".into(), timeout.into());
    let files = workload.get_mut("files").and_then(Value::as_mapping_mut);
    for (_, file) in files.into_iter().flatten() {
        if let Some(Value::String(from)) = file.get_mut("from")
            && !from.starts_with("${")
        {
            *from = (added.from)(Path::new(from.as_str())).to_str()?.to_owned();
        }
    }
    let mut faults = match all.shift_remove("faults") {
        None => Vec::new(),
        Some(own) => own.as_sequence()?.clone(),
    };
    for fault in added.faults {
        faults.push(serde_yaml::from_str(&fault.to_string()).ok()?);
    }
    all.insert("snapshot".into(), false.into());
    if !faults.is_empty() {
        all.insert("faults".into(), Value::Sequence(faults));
    }
    Some(())
}

/// Takes out of `never` what speaks of a file or a task that an expectation of the way has found.
fn without_captures(expect: &mut Mapping, scenario: &Scenario) {
    let Some(never) = expect.get_mut("never").and_then(Value::as_sequence_mut) else {
        return;
    };
    let mut steps = scenario.expect.events.never.iter();
    never.retain(|_| {
        let mut fields = steps.next().into_iter().flat_map(|step| &step.fields);
        fields.all(|(_, test)| test.captures().is_empty())
    });
    if never.is_empty() {
        expect.shift_remove("never");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{self, Literal, Test, event};
    use perf_live::units::ExitKind;

    const TEXT: &str = "description: it saves\n\
        workload: { shell: 'save ${to}', files: { save: { from: ../save } } }\n\
        trace: { events: [{ syscalls: [fsync, write] }] }\n\
        faults: [{ write: { when: 9, short: 1 } }]\n\
        expect:\n  exit: 0\n  stdout: 'yes'\n  stderr: ''\n  count: { fsync: 1 }\n  \
        sequence: [{ write: { fd: $it } }]\n  never: [{ fsync: { fd: $it } }, { write: { fd: x } }]\n\
        lenient: a race\nmatrix: { to: [a, '010'] }\n";

    fn added(row: &str) -> String {
        let text = |text: &str| Test::Is(Literal::Text(text.to_owned()));
        let faults = [AddedFault {
            step: event("fsync", vec![("fd".to_owned(), text("any"))]),
            when: When {
                first: 2,
                last: Some(2),
                step: 1,
            },
            error: libc::EIO,
            signal: Some(libc::SIGPIPE),
        }];
        let added = Added {
            faults: &faults,
            event: Some("{ event: 'signal:signal_deliver', filter: 'sig == 6' }"),
            exit: Some(7),
            timeout: Duration::from_secs(2),
            description: Some("a fault: it says no"),
            from: &|from| Path::new("..").join(from),
        };
        let it = (Path::new("it.yaml"), TEXT, row);
        faulted(it, &Programs::default(), &added).expect("a scenario")
    }

    #[test]
    fn a_faulted_row_expects_of_results_alone_and_is_a_scenario_by_itself() {
        let text = added("to=010");
        let scenario = scenario::read(Path::new("x.yaml"), &text).expect("a scenario");
        assert_eq!(scenario.workload.command.argv().last(), Some(&"save 010"));
        assert_eq!(scenario.workload.timeout, Duration::from_secs(2));
        assert_eq!(scenario.faults.len(), 2, "{text}");
        assert_eq!(scenario.expect.exit, Some(ExitKind::Code(7)));
        assert!(scenario.row.is_empty() && scenario.lenient.is_none());
        let events = &scenario.expect.events;
        assert_eq!((events.never.len(), events.steps().len()), (1, 1), "{text}");
        assert!(scenario.expect.stderr.is_none() && scenario.expect.stdout.is_some());
        assert!(text.contains("../../save"), "{text}");
        assert_eq!(scenario.trace.events.len(), 2, "{text}");
        assert!(text.contains("equals: any"), "{text}");
    }
}
