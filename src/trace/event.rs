//! Decodes tracepoints to values with a meaning.

use super::{FieldValue, TracedEvent};
use perf_records::decode::{self, DecodeError, Value};
use perf_records::format::{Content, Extent, Field, Format, Shape};
use std::sync::Arc;
use syscall_model::signals::known_signal;
use syscall_model::{signal_code, uring};

/// How the records of a tracepoint become events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Naming {
    /// Events of this name, with the fields of the tracepoint's format.
    Own(Arc<str>),
    /// Submissions to an io_uring (`io_uring:io_uring_submit_req`): each is named after its
    /// operation.
    Operations,
}

/// The fields of a submission's tracepoint that its events show. The other fields are pointers of
/// the kernel.
pub const SUBMISSION: [&str; 4] = ["opcode", "user_data", "flags", "sq_thread"];

impl TracedEvent {
    /// Decodes a record of a tracepoint, common fields left out.
    ///
    /// # Errors
    /// The first field that does not fit the record.
    pub fn decode(naming: &Naming, format: &Format, payload: &[u8]) -> Result<Self, DecodeError> {
        match naming {
            Naming::Own(name) => Self::fields(name, format, payload),
            Naming::Operations => Self::submission(format, payload),
        }
    }

    /// Makes `io_uring:IORING_OP_FSYNC user_data=0x7f.. flags=IOSQE_IO_LINK`; with `sq_thread=1` if
    /// a thread of the kernel took it from the ring.
    fn submission(format: &Format, payload: &[u8]) -> Result<Self, DecodeError> {
        let mut words = [0; SUBMISSION.len()];
        for (name, word) in SUBMISSION.iter().zip(&mut words) {
            if let Some(field) = format.field(name) {
                *word = decode::field(payload, field)?.as_u64().unwrap_or(0);
            }
        }
        let [opcode, user_data, flags, sq_thread] = words;
        // The program's own value: a number, or a pointer to its state of the operation.
        let user_data = match u32::try_from(user_data) {
            Ok(small) => FieldValue::Number(small.into()),
            Err(_) => FieldValue::Address(user_data),
        };
        let mut fields = vec![
            ("user_data".into(), user_data),
            ("flags".into(), FieldValue::Other(uring::flags_text(flags))),
        ];
        if sq_thread != 0 {
            fields.push(("sq_thread".into(), FieldValue::Number(1)));
        }
        Ok(Self {
            name: uring::event_name(opcode as u8),
            fields,
        })
    }

    fn fields(name: &Arc<str>, format: &Format, payload: &[u8]) -> Result<Self, DecodeError> {
        let is_probe = format
            .common
            .iter()
            .any(|field| field.name.starts_with("__probe_"));
        let field = |field: &Field| {
            if is_probe && is_unread(payload, field) {
                return Ok((Arc::from(field.name.as_str()), FieldValue::Unread));
            }
            let value = match decode::field(payload, field)? {
                // The type `x64`, as which probes read addresses.
                Value::Unsigned(address)
                    if is_probe
                        && address > u64::from(u32::MAX)
                        && is_shown_in_hex(format, field) =>
                {
                    Value::Pointer(address)
                }
                value => value,
            };
            Ok((Arc::from(field.name.as_str()), FieldValue::of(field, value)))
        };
        let mut fields = format
            .fields
            .iter()
            .map(field)
            .collect::<Result<Vec<_>, DecodeError>>()?;
        if name.starts_with("signal:signal_") {
            name_signal(&mut fields);
        }
        Ok(Self {
            name: Arc::clone(name),
            fields,
        })
    }
}

fn is_shown_in_hex(format: &Format, field: &Field) -> bool {
    let shown = format!(" {}=0x%", field.name);
    format.print_fmt.contains(&shown)
}

/// Whether a probe could not read a string: the record then says so in the string's place
/// (`FAULT_STRING`, `kernel/trace/trace_probe_kernel.h`), or has nothing at all there before Linux
/// 5.15, not even a NUL.
fn is_unread(payload: &[u8], field: &Field) -> bool {
    matches!(field.shape, Shape::Block(Extent::DataLoc, Content::Text))
        && decode::content(payload, field).is_ok_and(|bytes| matches!(bytes, b"" | b"(fault)\0"))
}

/// Names the numbers in a signal's tracepoint.
fn name_signal(fields: &mut [(Arc<str>, FieldValue)]) {
    let mut signal = 0;
    for (name, value) in fields {
        let FieldValue::Number(number) = *value else {
            continue;
        };
        let small = i32::try_from(number).unwrap_or_default();
        let named = match &**name {
            "sig" => {
                signal = small;
                known_signal(small)
            }
            "code" => signal_code(signal, small).map(Into::into),
            _ => None,
        };
        if let Some(named) = named {
            *value = FieldValue::Named(named, number);
        }
    }
}

impl FieldValue {
    fn of(field: &Field, value: Value<'_>) -> Self {
        match value {
            Value::Signed(number) if field.is_pid() => Self::Task(number as i32),
            Value::Signed(number) => Self::Number(number.into()),
            // An `unsigned long` of the kernel is a number if it fits 32 bits, and else an address.
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
