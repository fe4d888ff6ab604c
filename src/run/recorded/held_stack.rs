//! The functions that led to a call that was held, as a recording keeps them.

use perf_records::space::{End, Frame, Line, Stack, StackFrame};
use serde::{Deserialize, Serialize};

/// A chain of functions of user space.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct HeldStack {
    end: String,
    #[serde(default)]
    is_partial: bool,
    frames: Vec<HeldFrame>,
}

/// One function.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct HeldFrame {
    address: u64,
    file: Option<String>,
    function: Option<HeldFunction>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct HeldFunction {
    name: String,
    into: u64,
    line: Option<(String, u32)>,
    is_inlined: bool,
}

const ENDS: [(End, &str); 5] = [
    (End::Outermost, "outermost"),
    (End::Enough, "enough"),
    (End::Cut, "cut"),
    (End::Lost, "lost"),
    (End::NoTable, "no table"),
];

impl From<&Stack> for HeldStack {
    fn from(stack: &Stack) -> Self {
        let end = ENDS.iter().find(|(end, _)| stack.end == Some(*end));
        let line = |line: &Line| (line.file.as_ref().to_owned(), line.number);
        let function = |function: &Frame| HeldFunction {
            name: function.name.as_ref().to_owned(),
            into: function.into,
            line: function.line.as_ref().map(line),
            is_inlined: function.is_inlined,
        };
        let frame = |frame: &StackFrame| HeldFrame {
            address: frame.address,
            file: frame.file.as_deref().map(str::to_owned),
            function: frame.function.as_ref().map(function),
        };
        Self {
            end: end.map_or("", |(_, word)| word).to_owned(),
            is_partial: stack.is_partial,
            frames: stack.frames.iter().map(frame).collect(),
        }
    }
}

impl HeldStack {
    /// `None` where it makes no sense.
    pub(super) fn stack(&self) -> Option<Stack> {
        let (end, _) = ENDS.into_iter().find(|(_, word)| *word == self.end)?;
        let function = |function: &HeldFunction| Frame {
            name: function.name.as_str().into(),
            into: function.into,
            line: function.line.as_ref().map(|(file, number)| Line {
                file: file.as_str().into(),
                number: *number,
            }),
            is_inlined: function.is_inlined,
        };
        let frame = |frame: &HeldFrame| StackFrame {
            address: frame.address,
            is_kernel: false,
            file: frame.file.as_deref().map(Into::into),
            function: frame.function.as_ref().map(function),
        };
        Some(Stack {
            frames: self.frames.iter().map(frame).collect(),
            end: Some(end),
            is_partial: self.is_partial,
        })
    }
}
