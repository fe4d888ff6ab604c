//! Which file a path leads to: the names that the run itself makes and takes away, over those that
//! were there before.
//!
//! A [`Tree`] has nodes, which are files, and entries, which are names of files in folders. Below
//! what the run changed lies a [`Ground`], which is asked once for each name. A walk gives the node
//! that a path leads to, by links, `..`, roots and mounts as the kernel goes; a node keeps every
//! name that it ever had. What cannot be known is told as unknown, with the reason, never guessed.
//!
//! A call takes effect between its two halves. So a walk notes which names it went by: where
//! another thread changed one of them in the meantime, or is about to and ends later, the walk's
//! result is in doubt.

mod anchor;
mod calls;
mod doubt;
mod ground;
mod mounts;
mod names;
mod node;
mod present;
mod processes;
mod program;
mod reached;
mod supposed;
mod walk;

pub use anchor::{Anchored, Led};
pub use calls::needed;
pub(crate) use calls::{Change, Looks, change, looks};
pub use doubt::{Doubt, Reached};
pub(crate) use doubt::{Keys, Where};
pub use ground::{Found, Ground, Identity, Why};
pub use mounts::Sharing;
pub(crate) use mounts::Space;
pub(crate) use node::{New, NodeId, Spot, Tree};
pub use present::{Alias, Begins, Holding, Holds, Sought, Task, aliases, seek};
pub use walk::Magic;
pub(crate) use walk::{Leads, Magics, Start, Target, Walked};

#[cfg(test)]
mod tests;
