//! The `print fmt:` of a tracepoint's format: the text that the kernel makes of a record, and the
//! tables of names in it.
//!
//! The invariant: any text gives a [`Text`], and any payload gives bytes. What cannot be evaluated
//! (a call of a function of the kernel, statements, a structure's members) makes the whole event
//! print its fields by name instead, and [`Text::why_fields`] says what it was. Expressions are
//! computed as C does, with the types that the fields have.
//!
//! ```text
//! Format --Text::new--> pieces: literals, and conversions with their expressions   once an event
//! payload --Text::write--> bytes, appended to a Vec<u8>                            once a record, nothing allocated
//! ```

mod bits;
mod call;
mod conversion;
pub(crate) mod digits;
mod evaluate;
mod expression;
mod lexer;
mod network;
mod number;
mod parse;
mod symbols;
#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "a test may panic")]
mod tests;
#[cfg(test)]
mod tests_witnessed;
mod text;
mod typed;
mod write;

pub use symbols::{Symbols, function_fields, symbols};
pub use text::{Functions, Text};
