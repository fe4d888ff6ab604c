//! Values as text, for a person and for snapshots: never ambiguous, always printable ASCII.

use std::fmt::{self, Display, Formatter, Write};

use super::value::{Array, CpuMask, Value};

/// Numbers are decimal, addresses `0x` and hexadecimal, text a C string literal, bytes hexadecimal pairs, arrays
/// `[1, 2]`, CPUs ranges as in sysfs: `{0-3,7}`.
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
