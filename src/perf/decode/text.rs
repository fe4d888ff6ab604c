//! Values as text, for a person and for snapshots: never ambiguous, always printable ASCII.

use std::fmt::{self, Display, Formatter, Write};

use super::value::{Array, CpuMask, Value};

/// Numbers are decimal, addresses `0x` and hexadecimal, text a C string literal, bytes hexadecimal
/// pairs, arrays `[1, 2]`, CPUs ranges as in sysfs: `{0-3,7}`.
impl Display for Value<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signed(value) => write!(f, "{value}"),
            Self::Unsigned(value) => write!(f, "{value}"),
            Self::Pointer(value) => write!(f, "{value:#x}"),
            Self::Text(bytes) => quoted(f, bytes),
            Self::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
            Self::Array(array) => write!(f, "{array}"),
            Self::CpuMask(mask) => write!(f, "{mask}"),
        }
    }
}

impl Display for Array<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut separator = "[";
        for value in self {
            write!(f, "{separator}{value}")?;
            separator = ", ";
        }
        f.write_str(if self.is_empty() { "[]" } else { "]" })
    }
}

impl Display for CpuMask<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut cpus = self.cpus().peekable();
        let mut separator = "";
        f.write_char('{')?;
        while let Some(first) = cpus.next() {
            let mut last = first;
            while let Some(next) = cpus.next_if_eq(&last.saturating_add(1)) {
                last = next;
            }
            match first == last {
                true => write!(f, "{separator}{first}")?,
                false => write!(f, "{separator}{first}-{last}")?,
            }
            separator = ",";
        }
        f.write_char('}')
    }
}

/// A C string literal: octal escapes of three digits, which a following digit cannot prolong.
fn quoted(f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_char('"')?;
    for &byte in bytes {
        match byte {
            b'"' => f.write_str("\\\"")?,
            b'\\' => f.write_str("\\\\")?,
            b'\n' => f.write_str("\\n")?,
            b'\r' => f.write_str("\\r")?,
            b'\t' => f.write_str("\\t")?,
            b' '..=b'~' => f.write_char(char::from(byte))?,
            _ => write!(f, "\\{byte:03o}")?,
        }
    }
    f.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::super::value::{Array, CpuMask, Value};
    use crate::format::{Element, Width};

    fn check(value: Value<'_>, expected: &str) {
        assert_eq!(value.to_string(), expected);
    }

    #[test]
    fn numbers_are_decimal_and_addresses_hexadecimal() {
        check(Value::Signed(i64::MIN), "-9223372036854775808");
        check(Value::Unsigned(u64::MAX), "18446744073709551615");
        check(Value::Pointer(0x7ffe_0010), "0x7ffe0010");
        check(Value::Pointer(0), "0x0");
    }

    #[test]
    fn text_is_a_c_literal_that_no_byte_can_break() {
        check(Value::Text(b""), r#""""#);
        check(
            Value::Text(b"say \"a\\b\"\n\r\t"),
            r#""say \"a\\b\"\n\r\t""#,
        );
        check(Value::Text(b"\x1b1\x7f\xc3\xa9"), r#""\0331\177\303\251""#);
    }

    #[test]
    fn bytes_are_hexadecimal_pairs() {
        check(Value::Bytes(b"\x00\x0f\xff"), "000fff");
    }

    #[test]
    fn arrays_show_each_element_with_its_sign() {
        let array = |signed| {
            let width = Width::W2;
            let element = Element::Integer { width, signed };
            Array::new(element, b"\xff\xff\x01\x00").expect("two whole elements")
        };
        check(Value::Array(array(true)), "[-1, 1]");
        check(Value::Array(array(false)), "[65535, 1]");
    }

    #[test]
    fn cpus_are_ranges_over_the_borders_of_words() {
        let check = |bytes: &[u8], expected| {
            let words = Array::new(CpuMask::WORD, bytes).expect("whole words");
            assert_eq!(CpuMask::new(words).to_string(), expected);
        };
        check(&[], "{}");
        check(&[0; 16], "{}");
        check(
            &[
                0b1011,
                0,
                0,
                0,
                0,
                0,
                0,
                0b1000_0000,
                0b1,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
            ],
            "{0-1,3,63-64}",
        );
    }
}
