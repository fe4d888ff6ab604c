//! The text of an event's records.

use super::conversion::{Piece, pieces};
use super::write::Record;
use crate::decode;
use crate::format::Format;
use std::io::Write;
use std::sync::Arc;

/// The function of the kernel at an address, and how many bytes behind its start that is.
pub type Functions<'a> = dyn Fn(u64) -> Option<(Arc<str>, u64)> + 'a;

/// What the kernel would print of an event's records.
#[derive(Clone, Debug)]
pub struct Text {
    /// The pieces, or what was in the way.
    pieces: Result<Vec<Piece>, String>,
    /// For what cannot be printed otherwise.
    format: Format,
}

impl Text {
    /// Reads the `print fmt:` of a format, once.
    ///
    /// ```
    /// # let text = "name: sched_process_hang\nID: 319\nformat:\n\
    /// #     \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
    /// #     \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
    /// #     \tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\n\
    /// #     print fmt: \"comm=%s pid=%d\", REC->comm, REC->pid\n";
    /// let format = perf_records::format::parse(text)?;
    /// let text = perf_records::print::Text::new(&format);
    /// let mut payload = [0; 28];
    /// payload[8..12].copy_from_slice(b"bash");
    /// payload[24] = 42;
    /// let mut line = Vec::new();
    /// text.write(&payload, &mut line);
    /// assert_eq!(line, b"comm=bash pid=42");
    /// # Ok::<(), perf_records::format::FormatError>(())
    /// ```
    #[must_use]
    pub fn new(format: &Format) -> Self {
        Self {
            pieces: pieces(format),
            format: format.clone(),
        }
    }

    /// What the records of this event are printed by their fields for, if they are.
    #[must_use]
    pub fn why_fields(&self) -> Option<&str> {
        self.pieces.as_ref().err().map(String::as_str)
    }

    /// Appends the text of a record. Addresses of functions are shown as numbers.
    ///
    /// A record that is too short for what the text shows is printed by its fields.
    pub fn write(&self, payload: &[u8], out: &mut Vec<u8>) {
        self.record(
            Record {
                payload,
                functions: None,
            },
            out,
        );
    }

    /// [`write`](Self::write), with the names of functions.
    pub fn write_with<'f>(&self, payload: &[u8], functions: &'f Functions<'f>, out: &mut Vec<u8>) {
        self.record(
            Record {
                payload,
                functions: Some(functions),
            },
            out,
        );
    }

    fn record(&self, record: Record<'_, '_>, out: &mut Vec<u8>) {
        let start = out.len();
        let written = self.pieces.as_ref().ok().and_then(|pieces| {
            for piece in pieces {
                match piece {
                    Piece::Literal(text) => text.write(out),
                    Piece::Conversion(conversion) => record.convert(conversion, out)?,
                }
            }
            Some(())
        });
        if written.is_none() {
            out.truncate(start);
            self.fields(record.payload, out);
        }
    }

    /// `name=value name=value`, values as [`decode::Value`] writes them.
    fn fields(&self, payload: &[u8], out: &mut Vec<u8>) {
        for (at, (field, value)) in decode::fields(payload, &self.format).enumerate() {
            if at > 0 {
                out.push(b' ');
            }
            out.extend_from_slice(field.name.as_bytes());
            // Writing to a vector cannot fail.
            let _infallible = match value {
                Ok(value) => write!(out, "={value}"),
                Err(error) => write!(out, "=<{}>", error.fault),
            };
        }
    }

    pub(super) fn pieces(&self) -> &[Piece] {
        self.pieces.as_deref().unwrap_or_default()
    }
}
