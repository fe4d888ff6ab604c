//! The formats of tracepoints as a file or pipe carries them (`tools/perf/util/trace-event-info.c`,
//! `trace-event-read.c`).
//!
//! ```text
//! 23 8 68 "tracing" "0.6\0" | u8 big endian | u8 size of long | u32 page size
//! "header_page\0" u64 length, text | "header_event\0" u64 length, text
//! u32 n, n times: u64 length, format of ftrace's own | u32 systems, each: name\0, u32 n, n times: u64 length, format
//! u32 length, symbols | u32 length, formats of printk | u64 length, names of tasks
//! ```

/// What stands in front.
const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// The version that is written; what 0.5 has less is the last part.
const VERSION: &str = "0.6";

/// The longest name of a system, in bytes: it is a folder's (`NAME_MAX`). It is kept with each of
/// its formats.
const LONGEST_NAME: usize = 255;

/// The formats of tracepoints, and what is needed to read their records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracingData {
    /// Whether the machine has the high byte first.
    pub is_big_endian: bool,
    /// How many bytes a `long` has.
    pub long_size: u8,
    /// The size of a page in bytes.
    pub page_size: u32,
    /// The form of a page of ftrace's ring, not used by perf's records.
    pub header_page: String,
    /// The form of an event's header there.
    pub header_event: String,
    /// The formats of ftrace's own events.
    pub ftrace: Vec<String>,
    /// The formats: system, and text of `format`.
    pub formats: Vec<(String, String)>,
    /// `kallsyms`, or nothing.
    pub symbols: Vec<u8>,
    /// `printk_formats`.
    pub printk_formats: Vec<u8>,
    /// `saved_cmdlines`.
    pub saved_cmdlines: Vec<u8>,
}

/// Where formats of tracepoints cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the formats of tracepoints end or make no sense at byte {at}, in their {what}")]
pub struct TracingError {
    /// The place, in bytes from their start.
    pub at: usize,
    /// What was being read.
    pub what: &'static str,
}

struct Cursor<'a> {
    all: &'a [u8],
    at: usize,
    is_foreign: bool,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, length: usize, what: &'static str) -> Result<&'a [u8], TracingError> {
        let failed = TracingError { at: self.at, what };
        let end = self.at.checked_add(length).ok_or(failed)?;
        let bytes = self.all.get(self.at..end).ok_or(failed)?;
        self.at = end;
        Ok(bytes)
    }

    fn number<const N: usize>(&mut self, what: &'static str) -> Result<u64, TracingError> {
        let mut bytes = [0; 8];
        let source = self.take(N, what)?;
        for (to, from) in bytes.iter_mut().zip(source) {
            *to = *from;
        }
        let is_little = cfg!(target_endian = "little") != self.is_foreign;
        Ok(if is_little {
            u64::from_le_bytes(bytes)
        } else {
            u64::from_be_bytes(bytes) >> (64_usize.saturating_sub(N.saturating_mul(8)))
        })
    }

    fn counted<const N: usize>(&mut self, what: &'static str) -> Result<&'a [u8], TracingError> {
        let failed = TracingError { at: self.at, what };
        let length = usize::try_from(self.number::<N>(what)?).map_err(|_| failed)?;
        self.take(length, what)
    }

    fn string(&mut self, what: &'static str) -> Result<&'a [u8], TracingError> {
        let failed = TracingError { at: self.at, what };
        let rest = self.all.get(self.at..).unwrap_or_default();
        let rest = rest.get(..=LONGEST_NAME).unwrap_or(rest);
        let length = rest.iter().position(|byte| *byte == 0).ok_or(failed)?;
        let text = self.take(length, what)?;
        self.take(1, what)?;
        Ok(text)
    }

    fn expect(&mut self, bytes: &[u8], what: &'static str) -> Result<(), TracingError> {
        let failed = TracingError { at: self.at, what };
        (self.take(bytes.len(), what)? == bytes)
            .then_some(())
            .ok_or(failed)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl TracingData {
    /// Reads them, and says how many bytes they are.
    ///
    /// # Errors
    /// [`TracingError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, usize), TracingError> {
        let mut cursor = Cursor {
            all: bytes,
            at: 0,
            is_foreign: false,
        };
        cursor.expect(MAGIC, "magic")?;
        let version = text(cursor.string("version")?);
        let has_names = version.parse::<f64>().is_ok_and(|version| version >= 0.6);
        let is_big_endian = cursor.number::<1>("byte order")? != 0;
        cursor.is_foreign = is_big_endian == cfg!(target_endian = "little");
        let mut data = Self {
            is_big_endian,
            long_size: cursor.number::<1>("size of a long")? as u8,
            page_size: cursor.number::<4>("page size")? as u32,
            ..Self::default()
        };
        cursor.expect(b"header_page\0", "header_page")?;
        data.header_page = text(cursor.counted::<8>("header_page")?);
        cursor.expect(b"header_event\0", "header_event")?;
        data.header_event = text(cursor.counted::<8>("header_event")?);
        for _ in 0..cursor.number::<4>("number of ftrace's formats")? {
            let format = cursor.counted::<8>("ftrace's format")?;
            data.ftrace.push(text(format));
        }
        for _ in 0..cursor.number::<4>("number of systems")? {
            let system = text(cursor.string("name of a system")?);
            for _ in 0..cursor.number::<4>("number of a system's formats")? {
                let format = text(cursor.counted::<8>("format")?);
                data.formats.push((system.clone(), format));
            }
        }
        data.symbols = cursor.counted::<4>("kallsyms")?.to_vec();
        data.printk_formats = cursor.counted::<4>("printk_formats")?.to_vec();
        if has_names {
            data.saved_cmdlines = cursor.counted::<8>("saved_cmdlines")?.to_vec();
        }
        Ok((data, cursor.at))
    }

    /// Their bytes, in this machine's order. Formats of a system that do not stand together come
    /// together.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(VERSION.as_bytes());
        out.extend_from_slice(&[0, u8::from(cfg!(target_endian = "big")), self.long_size]);
        out.extend_from_slice(&self.page_size.to_ne_bytes());
        let long = |out: &mut Vec<u8>, bytes: &[u8]| {
            out.extend_from_slice(&(bytes.len() as u64).to_ne_bytes());
            out.extend_from_slice(bytes);
        };
        let short = |out: &mut Vec<u8>, bytes: &[u8]| {
            out.extend_from_slice(&(bytes.len() as u32).to_ne_bytes());
            out.extend_from_slice(bytes);
        };
        out.extend_from_slice(b"header_page\0");
        long(&mut out, self.header_page.as_bytes());
        out.extend_from_slice(b"header_event\0");
        long(&mut out, self.header_event.as_bytes());
        out.extend_from_slice(&(self.ftrace.len() as u32).to_ne_bytes());
        for format in &self.ftrace {
            long(&mut out, format.as_bytes());
        }
        let mut systems: Vec<(&str, Vec<&str>)> = Vec::new();
        for (system, format) in &self.formats {
            match systems.iter_mut().find(|(known, _)| known == system) {
                Some((_, formats)) => formats.push(format),
                None => systems.push((system, vec![format])),
            }
        }
        out.extend_from_slice(&(systems.len() as u32).to_ne_bytes());
        for (system, formats) in systems {
            out.extend_from_slice(system.as_bytes());
            out.push(0);
            out.extend_from_slice(&(formats.len() as u32).to_ne_bytes());
            for format in formats {
                long(&mut out, format.as_bytes());
            }
        }
        short(&mut out, &self.symbols);
        short(&mut out, &self.printk_formats);
        long(&mut out, &self.saved_cmdlines);
        out
    }
}

#[cfg(test)]
#[expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may panic"
)]
mod tests {
    use super::*;

    fn data() -> TracingData {
        TracingData {
            is_big_endian: cfg!(target_endian = "big"),
            long_size: 8,
            page_size: 4096,
            header_page: "page".into(),
            header_event: "event".into(),
            ftrace: vec!["own".into()],
            formats: vec![
                ("sched".into(), "name: a\n".into()),
                ("sched".into(), "name: b\n".into()),
                ("irq".into(), String::new()),
            ],
            symbols: Vec::new(),
            printk_formats: b"0x1 : \"x\"\n".to_vec(),
            saved_cmdlines: b"1 init\n".to_vec(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = data().to_bytes();
        let length = bytes.len();
        bytes.extend_from_slice(b"padding");
        assert_eq!(TracingData::from_bytes(&bytes), Ok((data(), length)));
    }

    #[test]
    fn a_name_of_a_system_that_no_folder_could_have_is_refused() {
        let mut long = data();
        long.formats = vec![("s".repeat(256), String::new())];
        let error = TracingData::from_bytes(&long.to_bytes()).unwrap_err();
        assert_eq!(error.what, "name of a system");
        long.formats = vec![("s".repeat(255), String::new())];
        assert!(TracingData::from_bytes(&long.to_bytes()).is_ok());
    }

    #[test]
    fn wherever_it_is_cut_the_place_is_said_and_nothing_panics() {
        let bytes = data().to_bytes();
        for length in 0..bytes.len() {
            let error = TracingData::from_bytes(&bytes[..length]).unwrap_err();
            assert!(error.at <= length, "{error}");
        }
    }
}
