//! `callchain` of an element of `trace.events`.

use super::flexible::{Flexible, NoMapping, deserialize_flexible};
use schemars::{Schema, SchemaGenerator, json_schema};

/// How the functions are found that led to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallChain {
    /// By frame pointers, which programs may lack.
    FramePointers,
    /// In a copy of the stack.
    Stack,
}

/// As it is written: `false` for none.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenChain(pub(super) Option<CallChain>);

impl Flexible for WrittenChain {
    const EXPECTED: &'static str = "`true`, `false`, `fp` or `dwarf`";
    type Mapping = NoMapping;

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": [true, false, "fp", "dwarf"] })
    }

    fn from_flag(flag: bool) -> Option<Result<Self, String>> {
        Some(Ok(Self(flag.then_some(CallChain::FramePointers))))
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(match text {
            "fp" => Ok(Self(Some(CallChain::FramePointers))),
            "dwarf" => Ok(Self(Some(CallChain::Stack))),
            _ => return None,
        })
    }
}

deserialize_flexible!(WrittenChain);
