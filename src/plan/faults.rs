//! Decides which calls are held, and refuses a fault that could never fire or never be decided.

use super::expected::Resolver;
use super::fields::FieldKind;
use super::{EventsPlan, Plan, PlanError, invalid};
use crate::matching::Matcher;
use crate::scenario::{FaultSpec, KeyPath, Literal, Per, Scenario, StepSpec, Test, When};
use crate::trace::Deed;
use perf_live::gate::{HeldCalls, MADE, SHORTER, first_without};
use std::collections::BTreeSet;
use syscall_model::names::{self, Abi};
use syscall_model::{Answer, Injected, uring};

/// A fault, with its names resolved to those of a trace.
#[derive(Clone, Debug)]
pub struct FaultPlan {
    /// Which calls it may be done to.
    pub matcher: Matcher,
    /// To which of these it is.
    pub when: When,
    /// By what these are counted.
    pub per: Per,
    /// What is done.
    pub injected: Injected,
    /// Which call must come before it is made, where it is [blocked](Injected::is_blocked).
    pub until: Option<Matcher>,
    /// What the functions that led to a call must be, or to one that it waits for, where these
    /// decide.
    pub callers: Vec<Test>,
    /// The files of which a call must name or use one, by the names that a deed has for them; none
    /// for any call.
    pub within: BTreeSet<Vec<u8>>,
}

impl FaultPlan {
    /// A fault that is done to all calls of these names, counted in each thread.
    #[must_use]
    pub fn of_calls(word: &str, names: BTreeSet<String>, when: When, injected: Injected) -> Self {
        Self {
            matcher: Matcher {
                word: word.to_owned(),
                names,
                fields: Vec::new(),
                is_closed: false,
                at: KeyPath::root(),
                line: 1,
            },
            when,
            per: Per::Thread,
            injected,
            until: None,
            callers: Vec::new(),
            within: BTreeSet::new(),
        }
    }

    /// Whether it may be done to a call of this name, as far as the name tells.
    #[must_use]
    pub fn is_about(&self, name: &str) -> bool {
        may_be(&self.matcher, name)
    }

    /// Whether a call of this name may be the one until which it holds others.
    #[must_use]
    pub fn waits_for(&self, name: &str) -> bool {
        self.until.as_ref().is_some_and(|until| may_be(until, name))
    }

    /// Whether the functions that led to a call decide.
    #[must_use]
    pub fn asks_callers(&self) -> bool {
        !self.callers.is_empty()
    }

    /// Whether calls of this name are held for it.
    #[must_use]
    pub fn holds(&self, name: &str) -> bool {
        self.is_about(name) || self.waits_for(name)
    }
}

impl Plan {
    /// Whether the functions that led to calls decide what is done to these.
    #[must_use]
    pub fn asks_callers(&self) -> bool {
        self.faults.iter().any(FaultPlan::asks_callers)
    }
}

fn may_be(matcher: &Matcher, name: &str) -> bool {
    let is_one_of_many = |own: &String| {
        let call = own.split_once('.').map(|(call, _)| call);
        call == Some(name)
    };
    matcher.names.contains(name) || matcher.names.iter().any(is_one_of_many)
}

/// The calls that are held for faults: these, in each convention, and those by which a program
/// would get around them.
#[must_use]
pub fn held(faults: &[FaultPlan]) -> HeldCalls {
    match faults.is_empty() {
        true => HeldCalls::default(),
        false => calls(|name| GUARDED.contains(&name) || is_meant(faults, name)),
    }
}

/// Those of them that a fault may be done to, or that one waits for.
#[must_use]
pub fn meant(faults: &[FaultPlan]) -> HeldCalls {
    calls(|name| is_meant(faults, name))
}

fn is_meant(faults: &[FaultPlan], name: &str) -> bool {
    faults.iter().any(|fault| fault.holds(name))
}

/// The calls of these names in each convention.
fn calls(is_one: impl Fn(&str) -> bool) -> HeldCalls {
    let mut held = HeldCalls::default();
    let native = Abi::native();
    let x32 = (native == Abi::X86_64).then_some(Abi::X32);
    for abi in [Some(native), native.compat(), x32].into_iter().flatten() {
        for (number, _) in names::all(abi).filter(|(_, name)| is_one(name)) {
            held.hold(abi, number);
        }
    }
    held
}

/// The calls by which threads and processes end: those that end otherwise were ended.
pub(super) const ENDING: [&str; 4] = ["execve", "execveat", "exit", "exit_group"];

/// What is looked at beside: `io_uring_setup` and `io_setup` make rings whose operations no filter
/// sees, `seccomp` may ask for a listener of its own, and by it and `prctl` a program has filters
/// of its own, which may ask a tracer.
const GUARDED: [&str; 4] = ["io_setup", "io_uring_setup", "prctl", "seccomp"];

/// Whether a call is made no ring of operations, as these would get around a fault: be what one is
/// done to, or what one waits for.
#[must_use]
pub fn is_guarded(faults: &[FaultPlan], call: &str) -> bool {
    let matchers = faults.iter();
    let matchers = matchers.flat_map(|fault| [Some(&fault.matcher), fault.until.as_ref()]);
    let names = matchers.flatten().flat_map(|matcher| &matcher.names);
    let mut names = names.filter(|name| !name.starts_with("io_uring_"));
    match call {
        "io_uring_setup" => names.any(|name| uring::does(name)),
        "io_setup" => names.any(|name| uring::aio_does(name)),
        _ => false,
    }
}

/// What a guarded call is answered with.
pub const REFUSED: Injected = Injected {
    answer: Some(Answer::Error(libc::ENOSYS)),
    ..Injected::NONE
};

/// Whether a deed is a call that was refused as it would get around a fault.
#[must_use]
pub fn guards(deed: &Deed) -> bool {
    matches!(&*deed.name, "io_setup" | "io_uring_setup") && deed.injected == REFUSED
}

/// Resolves the faults.
pub(super) fn faults(
    scenario: &Scenario,
    resolver: &Resolver<'_>,
) -> Result<Vec<FaultPlan>, PlanError> {
    let faults = scenario.faults.iter();
    faults.map(|fault| one(scenario, resolver, fault)).collect()
}

fn one(
    scenario: &Scenario,
    resolver: &Resolver<'_>,
    fault: &FaultSpec,
) -> Result<FaultPlan, PlanError> {
    let step = &fault.step;
    let matcher = held_matcher(scenario, resolver, step)?;
    let until = fault.until.as_ref();
    let until = until.map(|until| held_matcher(scenario, resolver, until));
    check_made(scenario, step, (&matcher, fault.injected))?;
    let steps = std::iter::once(step).chain(&fault.until);
    Ok(FaultPlan {
        matcher,
        when: fault.when,
        per: fault.per,
        injected: fault.injected,
        until: until.transpose()?,
        callers: steps.flat_map(|step| resolver.callers(step)).collect(),
        within: BTreeSet::new(),
    })
}

/// Refuses to make a call for its thread that only the thread itself can make.
fn check_made(
    scenario: &Scenario,
    step: &StepSpec,
    (matcher, injected): (&Matcher, Injected),
) -> Result<(), PlanError> {
    let (can, at, cannot) = match injected.answer {
        Some(Answer::Short(_)) => (
            &SHORTER[..],
            step.field_at("short"),
            "`short` cannot be done to",
        ),
        Some(Answer::Whole) => (
            &MADE[..],
            step.field_at("delay").key("after"),
            "`after` cannot hold the return of",
        ),
        _ => return Ok(()),
    };
    let Some(other) = first_without(&matcher.names, can) else {
        return Ok(());
    };
    let can = can.join(", ");
    let help = match injected.answer {
        Some(Answer::Whole) => format!(
            "it can that of {can}; of any call that of an answer (`error`, `returns`). What its \
             thread does next is held by a `delay` of that call"
        ),
        _ => format!("it can to {can}"),
    };
    let message = format!("{cannot} `{other}`");
    Err(invalid(scenario.complaint(&at, message, Some(help))))
}

/// Resolves the matcher of a call, as far as it is decided while the call is held.
fn held_matcher(
    scenario: &Scenario,
    resolver: &Resolver<'_>,
    step: &StepSpec,
) -> Result<Matcher, PlanError> {
    let complain = |at: &_, message: String| invalid(scenario.complaint(at, message, None));
    if step.event.contains(':') {
        let message = format!("`{}` is no call, and faults are done to calls", step.event);
        return Err(complain(&step.at, message));
    }
    let decides = |names: &mut dyn Iterator<Item = &String>| {
        for name in names {
            for (word, test) in &step.fields {
                let why = match resolver.kind(name, word) {
                    Some(FieldKind::Process) if !is_main(test) => {
                        "of all processes only the first, `P1`, is known by its number"
                    }
                    _ => continue,
                };
                let message = format!("`{word}` decides no fault: {why} while it is held");
                return Err(complain(&step.field_at(word).key_itself(), message));
            }
        }
        Ok(())
    };
    // First of all: nothing that could be recorded beside would help.
    decides(&mut std::iter::once(&step.event))?;
    let matcher = resolver.held(step)?;
    decides(&mut matcher.names.iter())?;
    Ok(matcher)
}

/// Whether the test asks for the workload's first process, or for any but that.
fn is_main(test: &Test) -> bool {
    match test {
        Test::Is(Literal::Text(name)) => name == "P1",
        Test::Not(test) => is_main(test),
        _ => false,
    }
}

/// Refuses faults where calls are overwritten: what was done to which could not be told.
pub(super) fn check_kept(scenario: &Scenario, events: &EventsPlan) -> Result<(), PlanError> {
    if scenario.faults.is_empty() || !events.overwrites_calls() {
        return Ok(());
    }
    let at = KeyPath::root().key("faults").key_itself();
    let message = "faults need the record of every call, and the ring overwrites them";
    let help = Some("write `ring: { mode: stream }` below `trace`".to_owned());
    Err(invalid(scenario.complaint(&at, message, help)))
}
