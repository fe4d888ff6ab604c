//! Resolves what is expected of single events to the names and values of a trace, and refuses an
//! expectation that could never fail or never hold.

use super::field_tests::{Fault, MOST_CONTENTS, Named};
use super::field_words::looks_behind;
use super::fields::{Field, FieldKind, Fields};
use super::named::names_of;
use super::needs::{Needs, exact_paths};
use super::{
    Delta, EventsPlan, Facts, FaultPlan, Marks, PlanError, baseline, faults, here, invalid, marks,
    spans, unreachable,
};
use crate::matching::{Expected, Matcher, SpanRule, functions_of};
use crate::scenario::{Expectations, KeyPath, Role, Scenario, StepSpec, Test, did_you_mean};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use syscall_model::{has_all_of, natives_of};

/// All that is expected of events.
pub(super) struct All {
    pub(super) run: Expected,
    pub(super) sections: BTreeMap<String, Expected>,
    pub(super) delta: Vec<Delta>,
    pub(super) marks: Marks,
    pub(super) spans: Vec<SpanRule>,
    pub(super) faults: Vec<FaultPlan>,
}

/// Resolves all that is expected of events, and returns what judging it needs.
pub(super) fn all(
    scenario: &Scenario,
    events: &EventsPlan,
    counted: &BTreeSet<String>,
    facts: &Facts<'_>,
) -> Result<(All, Needs), PlanError> {
    let mut resolver = Resolver {
        scenario,
        events,
        counted,
        fields: Fields {
            events,
            signatures: facts.signatures,
            spans: Vec::new(),
        },
        needs: RefCell::default(),
    };
    resolver.fields.spans = spans::rules(scenario, &resolver)?;
    let at = KeyPath::root().key("expect");
    let sections = scenario.expect.sections.iter();
    let sections = sections.map(|(name, expectations)| {
        let at = at.clone().key("sections").key(name);
        Ok((name.clone(), resolver.expected(expectations, &at)?))
    });
    let all = All {
        run: resolver.expected(&resolver.without_counted(), &at)?,
        sections: sections.collect::<Result<_, PlanError>>()?,
        delta: baseline::delta(scenario, &resolver)?,
        marks: marks::marks(scenario, events, &resolver)?,
        faults: faults::faults(scenario, &resolver)?,
        spans: resolver.fields.spans,
    };
    let mut needs = resolver.needs.into_inner();
    if facts.every_path {
        needs.every_path();
    }
    Ok((all, needs))
}

impl All {
    /// Returns the names of all events that the expectations name.
    pub(super) fn names(&self) -> HashSet<&str> {
        let all = self.sections.values().chain([&self.run]);
        let matchers = all.flat_map(Expected::steps);
        let matchers = matchers.chain(self.delta.iter().map(|delta| &delta.step));
        let of_spans = self.spans.iter().flat_map(|rule| [&rule.begin, &rule.end]);
        matchers
            .chain(of_spans)
            .flat_map(|matcher| matcher.names.iter().map(String::as_str))
            .collect()
    }
}

/// Complains of a test of call chains on an event whose call chains are not recorded.
fn without_chain(event: &str, word: &str, at: &KeyPath) -> Fault {
    let help = match event.contains(':') {
        true => format!("write {{ event: \"{event}\", callchain: fp }} below `trace.events`"),
        false => format!("write {{ syscalls: [{event}], callchain: dwarf }} below `trace.events`"),
    };
    Fault {
        message: format!(
            "`{word}` of `{event}` means the functions that led to it, and these are not recorded"
        ),
        help: Some(help),
        at: at.clone(),
    }
}

/// Resolves steps, and collects what judging them needs.
pub(super) struct Resolver<'a> {
    scenario: &'a Scenario,
    events: &'a EventsPlan,
    /// Names that are only counted.
    counted: &'a BTreeSet<String>,
    fields: Fields<'a>,
    needs: RefCell<Needs>,
}

impl Resolver<'_> {
    /// Resolves the expectations for the whole run or for a section; `at` is the key that holds
    /// `sequence` and the others.
    fn expected(&self, expectations: &Expectations, at: &KeyPath) -> Result<Expected, PlanError> {
        let expected = expectations.try_map(|role, step| self.in_role(role, step))?;
        if !expected.only.is_empty() && self.lets_everything_through(&expected.only) {
            let message = "`only` lets every event of this scenario through, so it always holds";
            let help = "record more events, or say what their fields must be".to_owned();
            let at = at.clone().key("only").key_itself();
            return Err(invalid(self.scenario.complaint(&at, message, Some(help))));
        }
        Ok(expected)
    }

    fn in_role(&self, role: Role, step: &StepSpec) -> Result<Matcher, PlanError> {
        let only_of_events = match role {
            Role::Next => Some("what a thread does next is an event"),
            Role::Only => Some("`only` is said of events"),
            Role::Step
            | Role::Never
            | Role::Count(_)
            | Role::First
            | Role::Then
            | Role::ThereIs => None,
        };
        if let Some(why) = only_of_events {
            spans::refuse(step, self.scenario, why)?;
        }
        Ok(Matcher {
            is_closed: role == Role::Only,
            ..self.matcher(step)?
        })
    }

    /// Returns the expectations that need records.
    fn without_counted(&self) -> Expectations {
        let mut expectations = self.scenario.expect.events.clone();
        expectations
            .count
            .retain(|spec| !self.is_counted(&spec.step));
        expectations
    }

    /// Whether only the count of a step is known, and only the count is asked for.
    fn is_counted(&self, step: &StepSpec) -> bool {
        step.fields.is_empty() && self.counted.contains(&step.event)
    }

    /// What is compared with the baseline.
    pub(super) fn compared(&self, step: &StepSpec) -> Result<Matcher, PlanError> {
        if !self.is_counted(step) {
            return self.matcher(step);
        }
        Ok(Matcher {
            is_closed: false,
            word: step.event.clone(),
            names: BTreeSet::from([step.event.clone()]),
            fields: Vec::new(),
            at: step.at.clone(),
            line: self.scenario.complaint(&step.at, "", None).line,
        })
    }

    /// Notes that a mark of this many bytes, with its line feed, has to be read.
    pub(super) fn reads_mark(&self, bytes: u16) {
        let mut needs = self.needs.borrow_mut();
        needs.contents = needs.contents.max(bytes);
        let field = || "what is written, for its marks".to_owned();
        needs.memory.get_or_insert_with(field);
    }

    /// A single step.
    pub(super) fn matcher(&self, step: &StepSpec) -> Result<Matcher, PlanError> {
        self.of_step(step, false)
    }

    /// A call that is held, of which the functions that led to it need no record.
    pub(super) fn held(&self, step: &StepSpec) -> Result<Matcher, PlanError> {
        self.of_step(step, true)
    }

    /// What the functions that led to a call must be.
    pub(super) fn callers(&self, step: &StepSpec) -> Vec<Test> {
        let names = names_of(&step.event, self.events, self.scenario, true).unwrap_or_default();
        let is_one = |word: &str| {
            let mut names = names.iter();
            names.any(|name| self.kind(name, word) == Some(FieldKind::Frames))
        };
        let fields = step.fields.iter().filter(|(word, _)| is_one(word));
        fields.map(|(_, test)| test.clone()).collect()
    }

    fn of_step(&self, step: &StepSpec, is_held: bool) -> Result<Matcher, PlanError> {
        let names = names_of(&step.event, self.events, self.scenario, true);
        let names = names.map_err(|(message, help)| {
            let is_counted = self.counted.contains(&step.event);
            let (message, help) = match is_counted {
                true => (
                    format!("`{}` is only counted, over all of the run", step.event),
                    Some("its name stands in `expect.count` and `expect.delta` alone, without fields; an event is recorded by `event`".to_owned()),
                ),
                false => {
                    let counted = self.counted.iter().map(String::as_str);
                    (message, help.or(did_you_mean(&step.event, counted)))
                }
            };
            invalid(self.scenario.complaint(&step.at, message, help))
        })?;
        let names: BTreeSet<String> = names.into_iter().collect();
        let fields = step.fields.iter();
        let fields = fields.map(|(word, test)| {
            let test = self.field(step, (&names, is_held), word, test)?;
            Ok((word.clone(), test))
        });
        Ok(Matcher {
            is_closed: false,
            word: step.event.clone(),
            fields: fields.collect::<Result<_, PlanError>>()?,
            names,
            at: step.at.clone(),
            line: self.scenario.complaint(&step.at, "", None).line,
        })
    }

    /// Resolves the test of a field, which at least one of the events must have and be able to
    /// pass.
    fn field(
        &self,
        step: &StepSpec,
        (names, is_held): (&BTreeSet<String>, bool),
        word: &str,
        test: &Test,
    ) -> Result<Test, PlanError> {
        let at = step.field_at(word);
        let complain = |fault: Fault| {
            let Fault { message, help, at } = fault;
            invalid(self.scenario.complaint(&at, message, help))
        };
        let directories = self.scenario.beside.directories.iter();
        let here = directories.fold(test.clone(), |test, directory| here::test(&test, directory));
        let mut resolved = None;
        let mut fault = None;
        for event in self.own_names(names) {
            let Some(field) = self.fields.find(event, word) else {
                continue;
            };
            let by_callers = field.kind == FieldKind::Frames;
            self.needs.borrow_mut().callers |= by_callers && is_held;
            if by_callers && !is_held && !self.events.has_chain(event) {
                fault.get_or_insert_with(|| without_chain(event, word, &at));
                continue;
            }
            if by_callers && !is_held {
                let functions = functions_of(test).into_iter().cloned();
                self.needs.borrow_mut().functions.extend(functions);
            }
            let named = Named { field, event, word };
            let test = match field.kind {
                FieldKind::Path | FieldKind::File => &here,
                _ => test,
            };
            let unreachable = unreachable::fault(self.scenario, &named, test, &at);
            match unreachable.map_or_else(|| named.resolve(test, &at), Err) {
                Ok(test) => {
                    self.note(&named, &test, &at)?;
                    resolved.get_or_insert(test);
                }
                Err(other) => {
                    fault.get_or_insert(other);
                }
            }
        }
        match (resolved, fault) {
            (Some(test), _) => Ok(test),
            (None, Some(fault)) => Err(complain(fault)),
            (None, None) => {
                let (message, help) = self.no_field(&step.event, names, word);
                let at = at.key_itself();
                Err(complain(Fault {
                    message,
                    help: Some(help),
                    at,
                }))
            }
        }
    }

    /// Returns the names whose fields are known. Relatives of a call have the call's fields, as far
    /// as they have any.
    fn own_names<'n>(&self, names: &'n BTreeSet<String>) -> Vec<&'n String> {
        let is_relative = |name: &&String| {
            let natives = natives_of(name);
            natives.iter().any(|native| names.contains(*native)) || !has_all_of(name, |_| false)
        };
        let (relatives, own): (Vec<_>, Vec<_>) = names.iter().partition(is_relative);
        if own.is_empty() { relatives } else { own }
    }

    /// A field of a span's key.
    pub(super) fn key_field(
        &self,
        event: &str,
        word: &str,
        at: &KeyPath,
    ) -> Result<Field, PlanError> {
        self.fields.find(event, word).ok_or_else(|| {
            let names = BTreeSet::from([event.to_owned()]);
            let (message, help) = self.no_field(event, &names, word);
            invalid(self.scenario.complaint(at, message, Some(help)))
        })
    }

    /// What a field of an event is.
    pub(super) fn kind(&self, event: &str, word: &str) -> Option<FieldKind> {
        Some(self.fields.find(event, word)?.kind)
    }

    /// Collects what a test needs, with its place in the file.
    pub(super) fn note(
        &self,
        named: &Named<'_>,
        test: &Test,
        at: &KeyPath,
    ) -> Result<(), PlanError> {
        let Field { kind, is_read, .. } = named.field;
        let mut needs = self.needs.borrow_mut();
        if kind == FieldKind::Contents {
            let bytes = named.contents(test).ok_or_else(|| {
                let message = format!("of {named} no more than {MOST_CONTENTS} bytes can be read");
                invalid(self.scenario.complaint(at, message, None))
            })?;
            needs.contents = needs.contents.max(bytes);
        }
        let is_read = is_read || kind == FieldKind::File;
        if !is_read || !looks_behind(test, kind) {
            return Ok(());
        }
        needs.paths |= kind == FieldKind::Path;
        if matches!(kind, FieldKind::Path | FieldKind::File) {
            needs.names |= !matches!(test, Test::Capture(_) | Test::Spelled(_));
            exact_paths(test, &mut needs.exact);
        }
        if kind == FieldKind::File {
            needs.descriptor.get_or_insert_with(|| named.to_string());
        }
        needs.memory.get_or_insert_with(|| named.to_string());
        Ok(())
    }

    /// Complains of a field that does not exist, and says which ones do.
    fn no_field(&self, event: &str, names: &BTreeSet<String>, word: &str) -> (String, String) {
        let shown = word.escape_debug();
        let own = self.own_names(names);
        let message = match own.len() {
            1 => format!("`{event}` has no field `{shown}`"),
            _ => format!("no event of `{event}` has a field `{shown}`"),
        };
        let mut all: Vec<(String, Option<&str>)> = Vec::new();
        for field in own.into_iter().flat_map(|event| self.fields.all(event)) {
            if !all.contains(&field) {
                all.push(field);
            }
        }
        let words = all
            .iter()
            .flat_map(|(name, alias)| [Some(name.as_str()), *alias])
            .flatten();
        let help = did_you_mean(word, words).unwrap_or_else(|| {
            let field = |(name, alias): &(String, Option<&str>)| match alias {
                Some(alias) => format!("`{alias}` ({name})"),
                None => format!("`{name}`"),
            };
            let all: Vec<String> = all.iter().map(field).collect();
            format!("its fields are {}", all.join(", "))
        });
        (message, help)
    }

    fn lets_everything_through(&self, only: &[Matcher]) -> bool {
        let is_free = |matcher: &&Matcher| {
            let mut tests = matcher.fields.iter().map(|(_, test)| test);
            tests.all(|test| matches!(test, Test::Any))
        };
        let free = only.iter().filter(is_free);
        let free: BTreeSet<&str> = free
            .flat_map(|matcher| matcher.names.iter().map(String::as_str))
            .collect();
        self.events
            .names()
            .iter()
            .all(|name| free.contains(&**name))
    }
}
