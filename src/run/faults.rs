//! What software events say, whose records have no payload: where the program was, and which
//! address a fault is about.

use super::setting::Fired;
use crate::plan::PlannedEvent;
use crate::trace::{FieldValue, TracedEvent};
use perf_live::units::SoftwareEvent;
use perf_records::space::Frame;
use std::sync::Arc;

/// The surroundings of a software event.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// The function that the program was in, if known.
    pub function: Option<Frame>,
    /// For a fault, the mapping of the address that it is about.
    pub mapping: Option<Mapping>,
}

/// A mapping at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The file's path, or a word for a mapping without one: `[heap]`, `//anon`.
    pub name: Arc<str>,
    /// The offset in the file, or in the mapping if it has no file.
    pub offset: u64,
}

impl Fired<'_> {
    /// Makes a traced event of a software event: where the program was, and what a fault's address
    /// is in.
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
