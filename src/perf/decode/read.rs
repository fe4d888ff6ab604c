//! From a payload and a field to its value.

use super::bytes;
use super::error::{DecodeError, Fault};
use super::locate::{block, raw};
use super::value::{Array, CpuMask, Value};
use crate::format::{Content, Element, Field, Format, Integer, Shape};

/// The value of `field` in `payload`.
///
/// # Errors
///
/// Where not all bytes of the value lie in the payload, or an array's last element is cut.
pub fn field<'a>(payload: &'a [u8], field: &Field) -> Result<Value<'a>, DecodeError> {
    let value = match field.shape {
        Shape::Integer(integer) => {
            number(payload, field, integer).map(|bits| match integer.signed {
                true => Value::Signed(bits.cast_signed()),
                false => Value::Unsigned(bits),
            })
        }
        Shape::Pointer(width) => raw(payload, field, width).map(Value::Pointer),
        Shape::Block(extent, content) => {
            block(payload, field, extent).and_then(|bytes| interpret(bytes, content))
        }
    };
    value.map_err(|fault| named(field, fault))
}

/// Every field of the event's own with its value, in the order of the format.
pub fn fields<'a, 'f>(
    payload: &'a [u8],
    format: &'f Format,
) -> impl Iterator<Item = (&'f Field, Result<Value<'a>, DecodeError>)> {
    let own = format.fields.iter();
    own.map(move |own| (own, field(payload, own)))
}

/// The integer or address of `field`, widened to 64 bits: a sign is carried upwards. For paths that
/// run per record.
///
/// # Errors
///
/// Where it does not lie in the payload, or the field is neither integer nor pointer.
pub fn bits(payload: &[u8], field: &Field) -> Result<u64, DecodeError> {
    let bits = match field.shape {
        Shape::Integer(integer) => number(payload, field, integer),
        Shape::Pointer(width) => raw(payload, field, width),
        Shape::Block(..) => Err(Fault::WrongShape { wanted: "a number" }),
    };
    bits.map_err(|fault| named(field, fault))
}

/// The text of `field` without its NUL.
///
/// # Errors
///
/// Where it does not lie in the payload, or the field is not text.
pub fn text<'a>(payload: &'a [u8], field: &Field) -> Result<&'a [u8], DecodeError> {
    let text = match field.shape {
        Shape::Block(extent, Content::Text) => block(payload, field, extent).map(until_nul),
        _ => Err(Fault::WrongShape { wanted: "text" }),
    };
    text.map_err(|fault| named(field, fault))
}

/// The bytes of `field` as they are, NULs included, whatever they hold.
///
/// # Errors
///
/// Where they do not lie in the payload, or the field is a number.
pub fn content<'a>(payload: &'a [u8], field: &Field) -> Result<&'a [u8], DecodeError> {
    let bytes = match field.shape {
        Shape::Block(extent, _) => block(payload, field, extent),
        _ => Err(Fault::WrongShape { wanted: "bytes" }),
    };
    bytes.map_err(|fault| named(field, fault))
}

/// The elements of `field`: `args` of `raw_syscalls:sys_enter`.
///
/// # Errors
///
/// Where they do not all lie in the payload, or the field is no array of numbers.
pub fn array<'a>(payload: &'a [u8], field: &Field) -> Result<Array<'a>, DecodeError> {
    let array = match field.shape {
        Shape::Block(extent, Content::Array(element)) => {
            block(payload, field, extent).and_then(|bytes| elements(bytes, element))
        }
        _ => Err(Fault::WrongShape { wanted: "an array" }),
    };
    array.map_err(|fault| named(field, fault))
}

#[cold]
fn named(field: &Field, fault: Fault) -> DecodeError {
    DecodeError {
        field: field.name.clone(),
        fault,
    }
}

/// The value of an integer, widened to 64 bits.
fn number(payload: &[u8], field: &Field, integer: Integer) -> Result<u64, Fault> {
    let bits = raw(payload, field, integer.slot)?;
    Ok(match integer.signed {
        true => bytes::sign_extend(bits, integer.width).cast_unsigned(),
        false => bytes::truncate(bits, integer.width),
    })
}

fn interpret(bytes: &[u8], content: Content) -> Result<Value<'_>, Fault> {
    Ok(match content {
        Content::Text => Value::Text(until_nul(bytes)),
        Content::Bytes => Value::Bytes(bytes),
        Content::Array(element) => Value::Array(elements(bytes, element)?),
        Content::CpuMask => Value::CpuMask(CpuMask::new(elements(bytes, CpuMask::WORD)?)),
    })
}

fn elements(bytes: &[u8], element: Element) -> Result<Array<'_>, Fault> {
    Array::new(element, bytes).ok_or(Fault::CutElement {
        length: bytes.len(),
        element: element.width().bytes(),
    })
}

/// The length in a locator counts the NUL, that of a fixed array what lies behind it too.
fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::captured::Captured;

    /// All fields of a captured record as text.
    fn rendered(event: &Captured, payload: &[u8]) -> String {
        let values = fields(payload, &event.format).map(|(field, value)| {
            format!(
                "{}={}",
                field.name,
                value.expect("a captured record is whole")
            )
        });
        values.collect::<Vec<_>>().join(" ")
    }

    fn first(event: &Captured) -> &[u8] {
        event.payloads.first().expect("a capture has records")
    }

    #[test]
    fn located_values_are_read_from_where_each_kind_of_locator_counts() {
        let event = captured!("harness_locators.harness_located@6.1");
        let [full, empty] = event.payloads.as_slice() else {
            panic!("two records were captured");
        };
        // Beside them in the capture stands what the kernel printed.
        let text = r#""three\twords \"here\"""#;
        assert_eq!(
            rendered(&event, full),
            format!(
                "data_text={text} rel_text={text} data_numbers=[-1, -2, -3] \
                 rel_numbers=[-100, -101, -102] data_bits=[13] rel_bits=[13] \
                 data_cpus={{0,2-3}} rel_cpus={{0,2-3}} pair=0100000002000000 last=255"
            )
        );
        assert_eq!(
            rendered(&event, empty),
            "data_text=\"\" rel_text=\"\" data_numbers=[] rel_numbers=[] data_bits=[13] \
             rel_bits=[13] data_cpus={0,2-3} rel_cpus={0,2-3} pair=0100000002000000 last=255"
        );
    }

    #[test]
    fn a_descriptor_is_minus_100_however_its_register_was_extended() {
        let zero_extended = captured!("syscalls.sys_enter_openat");
        let sign_extended = captured!("syscalls.sys_enter_openat@7.2");
        for (event, above) in [(zero_extended, 0), (sign_extended, 0xff)] {
            let payload = first(&event);
            assert_eq!(
                payload.get(20),
                Some(&above),
                "the capture shows this extension"
            );
            let dfd = field(payload, event.field("dfd"));
            assert_eq!(dfd, Ok(Value::Signed(-100)));
            let bits = bits(payload, event.field("dfd")).map(u64::cast_signed);
            assert_eq!(bits, Ok(-100));
        }
    }

    #[test]
    fn an_offset_may_be_negative() {
        let event = captured!("syscalls.sys_enter_lseek");
        let offset = field(first(&event), event.field("offset"));
        assert_eq!(offset, Ok(Value::Signed(-60)));
    }

    #[test]
    fn a_path_is_text_without_its_nul() {
        let event = captured!("syscalls.sys_enter_openat@7.2");
        let path = text(first(&event), event.field("__filename_val"));
        assert_eq!(path, Ok(b"/greeting".as_slice()));
    }

    #[test]
    fn written_bytes_are_whole_although_they_hold_a_nul() {
        let event = captured!("syscalls.sys_enter_write@7.2");
        let written = event.payloads.last().expect("a capture has records");
        let value = field(written, event.field("__buf_val"));
        assert_eq!(value, Ok(Value::Bytes(b"one\ntwo\0th\"ree\xff")));
    }

    #[test]
    fn unaligned_fields_of_a_probe_are_read() {
        let event = captured!("harness.kprobe@6.1");
        // Beside it in the capture stands `words={0xffffffff9674774a,0x8000}`, `%pS` and so on.
        let (probe, caller) = (0xffff_ffff_9674_7050_u64, 0xffff_ffff_9674_774a_u64);
        assert_eq!(
            rendered(&event, first(&event)),
            format!(
                "path=\"/greeting\" symbol={} words=[{caller}, 32768] \
                 bytes=4a777496 number=-100 bits=7 comm=\"cat\" strings=5200000052000000",
                probe + 1
            )
        );
    }

    #[test]
    fn arguments_are_read_by_index_and_in_a_row() {
        let event = captured!("raw_syscalls.sys_enter");
        let payload = first(&event);
        let args = array(payload, event.field("args")).expect("a captured record is whole");
        assert_eq!(args.len(), 6);
        let by_index: Vec<_> = (0..7).map(|index| args.bits(index)).collect();
        let in_a_row = args.iter().map(|value| value.as_u64()).chain([None]);
        assert_eq!(by_index, in_a_row.collect::<Vec<_>>());
    }

    /// Every captured event, for what must hold of any.
    fn all() -> [Captured; 6] {
        [
            captured!("harness_locators.harness_located@6.1"),
            captured!("harness.kprobe@6.1"),
            captured!("raw_syscalls.sys_enter"),
            captured!("sched.sched_process_exec"),
            captured!("sched.sched_switch"),
            captured!("syscalls.sys_enter_write@7.2"),
        ]
    }

    #[test]
    fn a_payload_cut_anywhere_gives_the_true_value_or_an_error_with_the_field() {
        for event in all() {
            let payload = first(&event);
            for (own, whole) in fields(payload, &event.format) {
                for end in 0..payload.len() {
                    let (cut, _) = payload.split_at(end);
                    match field(cut, own) {
                        Ok(_) => assert_eq!(field(cut, own), whole, "{end} bytes"),
                        Err(error) => assert_eq!(error.field, own.name),
                    }
                }
                assert!(
                    field(&[], own).is_err(),
                    "`{}` of an empty payload",
                    own.name
                );
            }
        }
    }

    #[test]
    fn a_locator_that_points_outside_is_an_error() {
        let event = captured!("sched.sched_process_exec");
        let filename = event.field("filename");
        let mut payload = first(&event).to_vec();
        let locator = payload
            .get_mut(8..12)
            .expect("the locator is in the payload");
        locator.copy_from_slice(&0x0001_ffff_u32.to_le_bytes());
        let error = field(&payload, filename).expect_err("nothing lies there");
        assert_eq!(
            error.to_string(),
            format!(
                "field `filename`: located at 1 bytes from offset 65535, in a payload of {}",
                payload.len()
            )
        );
    }

    #[test]
    fn an_array_with_a_cut_element_is_an_error() {
        let event = captured!("harness_locators.harness_located@6.1");
        let mut payload = first(&event).to_vec();
        // The high half of `data_numbers`' locator is its length.
        *payload.get_mut(18).expect("the locator is in the payload") -= 1;
        let error = field(&payload, event.field("data_numbers")).expect_err("5 is odd");
        let fault = Fault::CutElement {
            length: 5,
            element: 2,
        };
        assert_eq!(error.fault, fault);
    }

    #[test]
    fn a_field_of_another_shape_is_refused_and_not_reinterpreted() {
        let event = captured!("sched.sched_switch");
        let payload = first(&event);
        let refused = |fault: Fault| matches!(fault, Fault::WrongShape { .. });
        let (comm, pid) = (event.field("prev_comm"), event.field("prev_pid"));
        assert!(bits(payload, comm).is_err_and(|error| refused(error.fault)));
        assert!(text(payload, pid).is_err_and(|error| refused(error.fault)));
        assert!(array(payload, pid).is_err_and(|error| refused(error.fault)));
    }

    #[test]
    fn no_offset_or_size_overflows() {
        let mut event = captured!("harness_locators.harness_located@6.1");
        let payload = event.payloads.remove(0);
        for own in &mut event.format.fields {
            own.offset = usize::MAX - 3;
            own.size = usize::MAX;
            assert!(field(&payload, own).is_err(), "{own:?}");
        }
    }
}
