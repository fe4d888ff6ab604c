//! Turns the functions that led to a deed into a part for expectations.

use super::deed::{Deed, Part, Value};
use perf_records::space::Stack;

/// Stands behind a chain of which not each function that is asked for was found anywhere.
const OTHERS: &str = " (no process has each function that is asked for)";

/// The part that a chain is.
pub(super) fn frames(stack: &Stack) -> Part {
    let names = stack.frames.iter().map(|frame| frame.name().map(Box::from));
    let names: Vec<Option<Box<str>>> = names.collect();
    let mut text = stack.line();
    // By frame pointers, the kernel misses a function without one: there may be more functions than
    // it found.
    let by_pointers = stack.end.is_none() && stack.frames.iter().any(|frame| !frame.is_kernel);
    let is_cut = stack.is_cut() || by_pointers || stack.is_partial;
    if stack.is_partial {
        text.push_str(OTHERS);
    }
    Part {
        name: "stack".into(),
        alias: None,
        text,
        value: Value::Frames { names, is_cut },
    }
}

impl Deed {
    /// Says that more functions may have led to it than were named.
    pub fn lacks_functions(&mut self) {
        if let Some(part) = &mut self.stack
            && let Value::Frames { is_cut, .. } = &mut part.value
        {
            *is_cut = true;
            part.text.push_str(OTHERS);
        }
    }
}
