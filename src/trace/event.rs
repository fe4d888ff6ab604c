//! Tracepoints as values with a meaning.

use super::{FieldValue, TracedEvent};
use crate::decode::{self, DecodeError, Value};
use crate::format::{Field, Format};
use std::sync::Arc;

impl TracedEvent {
    /// Decodes a record of a tracepoint, common fields left out.
    ///
    /// # Errors
    /// The first field that does not fit the record.
    pub fn decode(name: &Arc<str>, format: &Format, payload: &[u8]) -> Result<Self, DecodeError> {
        let field = |field: &Field| {
            let value = decode::field(payload, field)?;
            Ok((Arc::from(field.name.as_str()), FieldValue::of(field, value)))
        };
        let fields = format
            .fields
            .iter()
            .map(field)
            .collect::<Result<_, DecodeError>>()?;
        Ok(Self {
            name: Arc::clone(name),
            fields,
        })
    }
}

impl FieldValue {
    fn of(field: &Field, value: Value<'_>) -> Self {
        match value {
            Value::Signed(number) if field.is_pid() => Self::Task(number as i32),
            Value::Signed(number) => Self::Number(number.into()),
            // What the kernel keeps in an `unsigned long` is a number that fits 32 bits, or an address.
            Value::Unsigned(address)
                if field.c_type == "unsigned long" && address > u64::from(u32::MAX) =>
            {
                Self::Address(address)
            }
            Value::Unsigned(number) => Self::Number(number.into()),
            Value::Pointer(address) => Self::Address(address),
            Value::Text(bytes) => Self::Text(bytes.to_owned()),
            other => Self::Other(other.to_string()),
        }
    }
}
