//! What a command is held to, from the keys of a file of rules.

use super::File;
use crate::scenario::diagnostic::{Diagnostic, Source};
use crate::scenario::expect::{Expect, WrittenExpect};
use crate::scenario::flexible::Entries;
use crate::scenario::key_path::KeyPath;
use crate::scenario::model::Scenario;
use crate::scenario::places::Places;
use crate::scenario::requires::Requires;
use crate::scenario::ring::RingMode;
use crate::scenario::rules::{Beside, TestRules, WrittenHeld, WrittenRules, WrittenTest};
use crate::scenario::sandbox::SandboxSpec;
use crate::scenario::snapshot::SnapshotSpec;
use crate::scenario::trace::{EventSpec, EventWish};
use crate::scenario::workload::{Command, Workload};
use std::collections::BTreeMap;
use std::time::Duration;

/// As long as a command may take of which the rules do not say it.
const ANY_TIME: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// Builds the scenario of a command on the bare host from keys that are each right by themselves.
pub(in crate::scenario) fn assemble_rules(
    source: Source,
    places: Places,
    written: WrittenRules,
    command: &[String],
) -> Result<Scenario, Diagnostic> {
    let file = File {
        source: &source,
        places: &places,
    };
    let root = KeyPath::root;
    let description = match written.description {
        Some(description) => file.not_blank("description", description)?,
        None => "what a command may do".to_owned(),
    };
    let names_events = written.trace.events.is_some();
    let mut trace = file.trace(written.trace)?;
    let of_event = trace.events.iter().position(|spec| match spec {
        EventSpec::Event(wish) => wish.ring == Some(RingMode::Flight),
        _ => false,
    });
    let flight = match of_event {
        Some(at) => Some(root().key("trace").key("events").index(at).key("ring")),
        None if trace.ring.mode == RingMode::Flight => {
            Some(root().key("trace").key("ring").key("mode"))
        }
        None => None,
    };
    if let Some(at) = flight {
        return Err(file
            .complaint(
                &at,
                "a check needs every record, and this ring keeps the last ones",
            )
            .with_help("leave it out"));
    }
    let WrittenHeld {
        exit,
        never,
        only,
        count,
        confined,
    } = written.expect;
    let expect = file.expect(WrittenExpect {
        exit,
        never,
        only,
        count,
        confined,
        ..WrittenExpect::default()
    })?;
    if !expect.events.only.is_empty() && !names_events {
        let at = root().key("expect").key("only").key_itself();
        return Err(file
            .complaint(
                &at,
                "`only` is said of the events that are recorded, and none are named",
            )
            .with_help("name them: `trace: { events: [{ syscalls: [...] }] }`"));
    }
    trace.events.extend(named(&expect));
    if trace.events.is_empty() {
        // An empty list would be every call.
        trace.events.push(EventSpec::Syscalls(Vec::new()));
    }
    Ok(Scenario {
        description,
        workload: Workload {
            command: Command::Run(command.to_vec()),
            env: BTreeMap::new(),
            stdin: None,
            files: BTreeMap::new(),
            timeout: ANY_TIME,
        },
        sandbox: SandboxSpec::None,
        trace,
        sections: BTreeMap::new(),
        faults: Vec::new(),
        crash: None,
        baseline: None,
        expect,
        snapshot: SnapshotSpec::Off,
        requires: Requires::default(),
        on_failure: None,
        expect_failure: None,
        lenient: None,
        row: Vec::new(),
        beside: Beside {
            tests: file.tests(written.tests)?,
            blame: written.blame,
            ..Beside::default()
        },
        source,
        places,
    })
}

/// The events that the expectations name.
fn named(expect: &Expect) -> Vec<EventSpec> {
    let steps = expect.events.steps().into_iter();
    let mut names: Vec<&str> = steps.map(|step| step.event.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let is_event = |name: &&str| name.contains(':') && !name.starts_with('/');
    let (events, calls): (Vec<&str>, Vec<&str>) = names.into_iter().partition(is_event);
    let calls = calls.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let calls = (!calls.is_empty()).then_some(EventSpec::Syscalls(calls));
    let events = events.into_iter().map(|name| {
        EventSpec::Event(EventWish {
            name: name.to_owned(),
            ..EventWish::default()
        })
    });
    calls.into_iter().chain(events).collect()
}

impl File<'_> {
    fn tests(&self, written: Option<Entries<WrittenTest>>) -> Result<Vec<TestRules>, Diagnostic> {
        let at = KeyPath::root().key("tests");
        let Some(Entries(written)) = written else {
            return Ok(Vec::new());
        };
        if written.is_empty() {
            return Err(self.empty(&at, "name a test, or leave it out"));
        }
        let mut tests = Vec::new();
        for (name, test) in written {
            let at = at.clone().key(&name);
            if name.trim().is_empty() {
                return Err(self.complaint(&at.key_itself(), "the name of a test is empty"));
            }
            let help = "say what is allowed: { network: [\"127.0.0.1:*\"] }";
            let confined = test.confined.read();
            let confined = confined.ok_or_else(|| self.empty(&at.clone().key("confined"), help))?;
            tests.push(TestRules { name, confined, at });
        }
        Ok(tests)
    }
}
