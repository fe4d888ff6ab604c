//! The states of a run's folder that a power cut may leave, and what a recovery makes of each.
//!
//! ```text
//! the run: each call of crash::HELD --held--> Witness -> Seen     what it is about, its bytes
//!                                   --records--> Ended            what it returned, and when
//! crash::build(Seen, Ended) -> Log; it must end in the folder that the run left
//! crash::Pieces::explore() -> State --folder::lay--> a directory --> the recovery --> verdict
//! ```

mod exploring;
mod folder;
mod labels;
mod looking;
mod mapped;
mod of_bits;
mod of_call;
mod of_data;
mod of_names;
mod of_sockets;
mod of_xattrs;
mod originals;
mod recovery;
mod rings;
mod sight;
mod witness;

pub(super) use exploring::{conclude, cut, explore, keep, kept, told};
pub(super) use folder::{Before, scan};
pub(super) use looking::{left, looks};
pub(super) use of_sockets::Stream;
pub(super) use recovery::{Recovery, Tried, spoken};
pub(super) use witness::{Witness, Witnessed};
