//! Chooses which calls and events have call chains.

use super::error::EventsError;
use super::events::{EventsPlan, Meaning};
use super::wanted::Wanted;
use crate::scenario::{CallChain, EventSpec};
use crate::trace::Naming;
use perf_records::attr::Chain;
use syscall_model::names::{self, Abi};
use syscall_model::select::Selection;

/// What a scenario's word for it means.
pub(super) fn of(chain: CallChain) -> Chain {
    Chain {
        user_stack: match chain {
            CallChain::FramePointers => 0,
            CallChain::Stack => Chain::STACK,
        },
        ..Chain::default()
    }
}

/// The call chains of an element of `trace.events` that names calls.
pub(super) fn wanted(spec: &EventSpec) -> Option<Wanted> {
    match spec {
        EventSpec::Chained(words, chain) => Some(Wanted::Chains(words.clone(), of(*chain))),
        _ => None,
    }
}

impl EventsPlan {
    /// Whether the events of this name, a call's or another's, come with call chains.
    pub(super) fn has_chain(&self, event: &str) -> bool {
        if let Some(number) = names::number(Abi::native(), event) {
            let number = i32::try_from(number).unwrap_or(-1);
            return self.wants_chain(Abi::native(), number);
        }
        let mut events = self.requests.iter().zip(&self.meanings);
        events.any(|(request, meaning)| {
            let Meaning::Event(place) = meaning else {
                return false;
            };
            let planned = self.named.get(*place);
            let is_it = planned.is_some_and(
                |planned| matches!(&planned.naming, Naming::Own(name) if **name == *event),
            );
            is_it && request.attr.has_chain()
        })
    }

    /// Whether any event has a call chain.
    #[must_use]
    pub fn has_chains(&self) -> bool {
        self.requests.iter().any(|request| request.attr.has_chain())
    }

    /// Whether the call chain of this call is wanted. Calls share an event, so that other calls
    /// have chains too.
    #[must_use]
    pub fn wants_chain(&self, abi: Abi, number: i32) -> bool {
        let Some((chained, _)) = &self.chained else {
            return false;
        };
        match u32::try_from(number) {
            Ok(number) => chained.contains(abi, number),
            Err(_) => chained.is_everything(),
        }
    }

    /// Gives the entering halves of calls a call chain if it is wanted: of user space only, as all
    /// calls enter the kernel the same way.
    pub(super) fn chain_calls(&mut self) {
        let chain = self.chained.as_ref().map(|(_, chain)| Chain {
            user_only: true,
            ..*chain
        });
        for (request, meaning) in self.requests.iter_mut().zip(&self.meanings) {
            if matches!(meaning, Meaning::Enter { .. }) {
                request.attr = request.attr.with_chain(chain);
            }
        }
    }
}

/// Returns the calls with call chains, and the kind of these: of two kinds, the one that tells
/// more.
pub(super) fn chained(wants: &[Wanted]) -> Result<Option<(Selection, Chain)>, EventsError> {
    let mut all: Option<(Vec<&str>, Chain)> = None;
    for (at, want) in wants.iter().enumerate() {
        let Wanted::Chains(words, chain) = want else {
            continue;
        };
        let names: Vec<&str> = words.iter().map(String::as_str).collect();
        Selection::parse(&names, Abi::native()).map_err(|unknown| EventsError::Syscall {
            at: (at, unknown.index),
            unknown,
        })?;
        match &mut all {
            Some((before, most)) => {
                before.extend(names);
                most.user_stack = most.user_stack.max(chain.user_stack);
                most.max_stack = most.max_stack.max(chain.max_stack);
            }
            None => all = Some((names, *chain)),
        }
    }
    Ok(all.and_then(|(words, chain)| Some((Selection::parse(&words, Abi::native()).ok()?, chain))))
}
