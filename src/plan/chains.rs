//! Which calls and events come with call chains.

use super::error::EventsError;
use super::events::{EventsPlan, Meaning};
use super::wanted::Wanted;
use crate::attr::Chain;
use crate::syscall::names::Abi;
use crate::syscall::select::Selection;

impl EventsPlan {
    /// Whether anything comes with a call chain.
    #[must_use]
    pub fn has_chains(&self) -> bool {
        self.requests.iter().any(|request| request.chain.is_some())
    }

    /// Whether the call chain of this call is wanted. Calls have an event in common, so that it is there of others as well.
    #[must_use]
    pub fn wants_chain(&self, abi: Abi, number: i32) -> bool {
        let Some(chained) = &self.chained else {
            return false;
        };
        match u32::try_from(number) {
            Ok(number) => chained.contains(abi, number),
            Err(_) => chained.is_everything(),
        }
    }

    /// Has the entering halves of calls come with call chains, where that is wanted: the user's part, as all of them come to the kernel by the
    /// same way.
    pub(super) fn add_chains(&mut self, wants: &[Wanted]) -> Result<(), EventsError> {
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
                // Of two kinds the one that tells more.
                Some((before, most)) => {
                    before.extend(names);
                    most.user_stack = most.user_stack.max(chain.user_stack);
                    most.max_stack = most.max_stack.max(chain.max_stack);
                }
                None => all = Some((names, *chain)),
            }
        }
        let Some((words, chain)) = all else {
            return Ok(());
        };
        self.chained = Selection::parse(&words, Abi::native()).ok();
        let chain = Chain {
            user_only: true,
            ..chain
        };
        for (request, meaning) in self.requests.iter_mut().zip(&self.meanings) {
            if matches!(meaning, Meaning::Enter { .. }) {
                request.chain = Some(chain);
            }
        }
        Ok(())
    }
}
