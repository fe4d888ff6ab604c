//! The functions that led to an event.

use super::{End, Frame};
use std::fmt::Write;
use std::sync::Arc;

/// A call chain, from the innermost function on: the kernel's part first, where there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    /// The frames.
    pub frames: Vec<StackFrame>,
    /// How it ended, where it was found in a copy of the stack. The kernel, which follows frame
    /// pointers, does not say.
    pub end: Option<End>,
    /// Whether a function that is asked for may have led to it without a frame of its own: no file
    /// has it, so that its name may have been taken away, or it was put into its caller.
    pub is_partial: bool,
}

/// One function of a call chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackFrame {
    /// The address, as it was recorded; in a copy of the stack, of a caller the last byte of its
    /// call.
    pub address: u64,
    /// Whether it is the kernel's.
    pub is_kernel: bool,
    /// Its file, or a word for what is none.
    pub file: Option<Arc<str>>,
    /// What it is, where that is known.
    pub function: Option<Frame>,
}

impl StackFrame {
    /// The function's name.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.function.as_ref().map(|function| &*function.name)
    }
}

impl Stack {
    /// Whether more functions may have led to it than are told.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        matches!(
            self.end,
            Some(End::Cut | End::Lost | End::NoTable | End::Enough)
        )
    }

    /// The names of the functions on a line, the innermost first, and why it does not go on.
    #[must_use]
    pub fn line(&self) -> String {
        let names = self.frames.iter().map(|frame| frame.name());
        let names = names.map(|name| name.unwrap_or("[unknown]"));
        let mut line = names.collect::<Vec<_>>().join(" < ");
        if self.is_cut() {
            line.push_str(" < ...");
        }
        if let (Some(End::NoTable), Some(last)) = (self.end, self.frames.last()) {
            let file = last.file.as_deref().unwrap_or("the last file");
            let _always_fits = write!(
                line,
                " (`{file}` has no table of the callers, `.eh_frame` or `.debug_frame`: \
                 install its debug symbols)"
            );
        }
        line
    }
}
