//! The text of a tracepoint's tracefs `format` file, turned into field layouts.
//!
//! The invariant: [`parse()`] is total. Any text gives a [`Format`] or a [`FormatError`] that names
//! the line, and what a field's bytes mean is settled here once, in its [`Shape`], so that nothing
//! later guesses from a C type. A shape promises nothing about a payload: `decode` checks every
//! access.
//!
//! ```text
//! events/sched/sched_switch/format --parse--> Format { name, id, common, fields, print_fmt }
//!                                             with each Field { offset, size, shape, .. }
//! ```

mod ctype;
mod declaration;
mod layout;
mod parse;
mod shape;

pub use ctype::integer_type;
pub use layout::{Field, Format};
pub use parse::{FormatError, parse};
pub use shape::{Content, Element, Extent, Integer, Shape, Width};
