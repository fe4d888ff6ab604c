//! What records without a payload say: where an instruction was, and what it meant.

use super::setting::Fired;
use crate::plan::PlannedEvent;
use crate::trace::{FieldValue, TracedEvent};
use perf_live::units::SoftwareEvent;
use perf_records::space::Frame;
use std::sync::Arc;

/// Where a software event fired.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// The function of the instruction, where that is known.
    pub function: Option<Frame>,
    /// Of a fault, what is mapped where it was meant to lead.
    pub mapping: Option<Mapping>,
}

/// A mapping at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The file, or a word for what is none: `[heap]`, `//anon`.
    pub name: Arc<str>,
    /// Where in the file; where in the mapping if it is no file.
    pub offset: u64,
}

impl Fired<'_> {
    /// What a software event says: where the program was, and what a fault's address is in.
    pub(super) fn software(&self, planned: &PlannedEvent) -> TracedEvent {
        let mut fields = Vec::new();
        let mut add = |name: &str, value: FieldValue| fields.push((Arc::from(name), value));
        if let Some(ip) = self.sample.ip {
            add("ip", FieldValue::Address(ip));
        }
        let scene = self.scene;
        if let Some(function) = scene.and_then(|scene| scene.function.as_ref()) {
            let text = format!("{}+{:#x}", function.name, function.into);
            add("function", FieldValue::Text(text.into_bytes()));
        }
        let is_fault =
            SoftwareEvent::parse(&planned.name).is_some_and(|event| event.kind.is_fault());
        if let (true, Some(address)) = (is_fault, self.sample.address) {
            add("addr", FieldValue::Address(address));
            if let Some(mapping) = scene.and_then(|scene| scene.mapping.as_ref()) {
                add("map", FieldValue::Text(mapping.name.as_bytes().to_vec()));
                add("offset", FieldValue::Number(mapping.offset.into()));
            }
        }
        TracedEvent {
            name: Arc::clone(&planned.name),
            fields,
        }
    }
}
