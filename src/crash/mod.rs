//! Every folder that a power cut may leave, from a complete record of what a program did to one.
//!
//! A [`Log`] holds a folder as it was and the steps that changed it, in the order in which they
//! took effect. A [`Model`] says how a file system writes them: into which *pieces* a change may be
//! torn, which piece never reaches the disk before which other, and what a sync makes durable.
//! [`Pieces`] is the log cut by the model. A crash at a moment leaves the pieces of an *ideal* (a
//! set closed downwards) of that order, with everything in it that was durable then:
//!
//! ```text
//!  Log + Model -> Pieces -> explore() -> State, State, ...   each folder content once
//!                              |            |
//!                              |            +-> Pieces::tree(): the folder after the crash
//!                              +-> coverage(): all of them, or so many of about 2^n
//! ```
//!
//! Nothing here reads a file, a clock or a source of randomness.
//!
//! ```
//! use trace_harness::crash::{Change, Content, Log, Model, Node, NodeId, Pieces, Place, Step, Tree};
//!
//! let (root, file) = (NodeId(0), NodeId(1));
//! let start = Tree::new(root, [(root, Node::folder([(b"a".to_vec(), file)])),
//!                              (file, Node::file(Content::new(b"old".to_vec())))]);
//! let truncate = Change::Truncate { node: file, size: 0 };
//! let write = Change::Write { node: file, at: 0, bytes: b"new".to_vec().into() };
//! let log = Log::new(start, [], vec![Step::Change(truncate), Step::Change(write)])?;
//! let model = Model::named("ordered").ok_or("no such model")?;
//! let pieces = Pieces::new(&log, &model);
//! let mut seen = Vec::new();
//! for state in pieces.explore(100, 1) {
//!     let tree = pieces.tree(&state);
//!     seen.push(tree.find(b"a").and_then(Node::content).map(Content::to_vec));
//! }
//! seen.sort();
//! assert_eq!(seen, [Some(vec![]), Some(b"new".to_vec()), Some(b"old".to_vec())]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod allowed;
mod applied;
mod bits;
mod building;
mod calls;
mod content;
mod cut;
mod described;
mod disk;
mod entering;
mod explore;
mod kept;
mod log;
mod looked;
mod making;
mod model;
mod order;
mod pieces;
mod random;
mod ranges;
mod replay;
mod search;
mod seen;
mod shrink;
mod sum;
#[cfg(test)]
mod tests;
mod tree;
mod twice;
mod uncovered;
mod view;
mod watched;

pub use building::{Built, Ended, Ends, build};
pub use calls::{HELD, REFUSED, SENDING, is_held};
pub use content::Content;
pub use explore::{Coverage, Explored, Lost, Part, State};
pub use kept::Kept;
pub use log::{Attribute, Change, Fault, Log, LogError, Step};
pub use looked::{Looked, Page};
pub use model::Model;
pub use pieces::Pieces;
pub use seen::{Act, Begin, FileId, Maker, Opened, Replacing, Seen, Spot, Synced, Target};
pub use tree::{Attributes, Kind, Node, NodeId, Place, Tree};
pub use watched::Watched;
