//! Turns an event that is no call into a deed.

use super::render::Writer;
use super::{FieldValue, Part, TracedEvent, Value};
use std::sync::Arc;
use syscall_model::Values;

impl Writer<'_> {
    /// Its fields.
    pub(super) fn event(&mut self, event: &TracedEvent) -> Vec<Part> {
        let mut parts = Vec::new();
        for (name, value) in &event.fields {
            let mut text = String::new();
            let value = match value {
                FieldValue::Number(number) => {
                    text.push_str(&number.to_string());
                    Value::Number(*number)
                }
                FieldValue::Task(id) => {
                    let thread = self.trace.ids.outer(*id, self.moment);
                    self.person(thread, *id, &mut text);
                    self.task_value(thread, *id)
                }
                FieldValue::Address(0) => {
                    text.push_str("NULL");
                    Value::Nothing
                }
                FieldValue::Address(address) => {
                    self.address(*address, &mut text);
                    Value::Address(*address)
                }
                FieldValue::Function { address, name, .. } => {
                    // The offset and the compiler's suffix (`.isra.0`) differ from build to build.
                    let name = name.split('.').next().unwrap_or(name);
                    text.push_str(name);
                    Value::Names(vec![name.into()], *address)
                }
                FieldValue::Text(bytes) => {
                    self.string(bytes, &mut text);
                    Value::Bytes {
                        bytes: self.in_directory(bytes),
                        is_cut: false,
                    }
                }
                FieldValue::Unread => {
                    self.unread(&mut text);
                    Value::Unread
                }
                FieldValue::Named(name, number) => {
                    text.push_str(name);
                    Value::Names(vec![name.as_ref().into()], *number as u64)
                }
                FieldValue::Other(other) => {
                    text.push_str(other);
                    Value::Names(other.split('|').map(Into::into).collect(), 0)
                }
            };
            parts.push(Part {
                name: Arc::clone(name),
                alias: None,
                text,
                value,
            });
        }
        parts
    }
}
