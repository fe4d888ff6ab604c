//! The reader of a `format` file's text.

use std::collections::HashSet;

use super::declaration;
use super::layout::{Field, Format};
use super::shape::{Content, Extent, Shape, classify};

/// Why a text is not a `format` file, and where that showed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the event format: expected {expected}, found `{found}`")]
pub struct FormatError {
    /// Counted from 1.
    pub line: usize,
    /// What belongs there.
    pub expected: &'static str,
    /// What stands there instead, cut to a readable length; empty at the end of the text.
    pub found: String,
}

/// Reads the text of one `format` file, as `f_show()` of `kernel/trace/trace_events.c` writes it
/// (v5.10 to v7.2).
///
/// # Errors
///
/// Where a line is not what the kernel writes there. Unknown C types are no error: they become
/// bytes or integers by their size.
pub fn parse(text: &str) -> Result<Format, FormatError> {
    let mut lines = Lines::new(text);
    let name = lines.value("name: ", "`name: ` and the event's name")?;
    let id = lines.value("ID: ", "`ID: ` and a number below 65536")?;
    let id = id
        .parse()
        .map_err(|_| lines.error("`ID: ` and a number below 65536"))?;
    lines.value("format:", "`format:`")?;
    let mut common = lines.fields()?;
    let mut fields = lines.fields()?;
    // What all probes have, before the arguments of one (`FIELD_STRING_IP`,
    // `kernel/trace/trace_probe.h`).
    let is_of_all = |field: &Field| PROBES.contains(&field.name.as_str());
    common.extend(fields.extract_if(.., |field| is_of_all(field)));
    let print_fmt = lines.rest("print fmt: ", "a field, or `print fmt: `")?;
    unmask_buffers(&mut fields, print_fmt);
    Ok(Format {
        name: name.to_owned(),
        id,
        common,
        fields,
        print_fmt: print_fmt.to_owned(),
    })
}

const PROBES: [&str; 3] = ["__probe_ip", "__probe_func", "__probe_ret_ip"];

/// Turns text into bytes where the event prints it as an array: what `write` wrote is declared
/// `char[]` too (v7.2).
fn unmask_buffers(fields: &mut [Field], print_fmt: &str) {
    let calls = print_fmt.split("__print_dynamic_array(").skip(1);
    let arguments = calls.filter_map(|call| call.split_once(','));
    let buffers: HashSet<&str> = arguments.map(|(first, _)| first.trim()).collect();
    for field in fields {
        if let Shape::Block(extent @ (Extent::DataLoc | Extent::RelLoc), Content::Text) =
            field.shape
            && buffers.contains(field.name.as_str())
        {
            field.shape = Shape::Block(extent, Content::Bytes);
        }
    }
}

/// The text, a line at a time, with the number of the line last taken.
struct Lines<'a> {
    rest: &'a str,
    number: usize,
    current: &'a str,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            number: 0,
            current: "",
        }
    }

    /// The next line; empty after the last.
    fn next(&mut self) -> &'a str {
        (self.current, self.rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.number = self.number.saturating_add(1);
        self.current
    }

    fn error(&self, expected: &'static str) -> FormatError {
        const READABLE: usize = 60;
        FormatError {
            line: self.number,
            expected,
            found: self.current.trim().chars().take(READABLE).collect(),
        }
    }

    fn value(&mut self, key: &str, expected: &'static str) -> Result<&'a str, FormatError> {
        let line = self.next();
        line.strip_prefix(key).ok_or_else(|| self.error(expected))
    }

    /// Everything after `key`, to the end of the text: some format strings hold line breaks.
    fn rest(&mut self, key: &str, expected: &'static str) -> Result<&'a str, FormatError> {
        let from_key = self.rest;
        self.next();
        let value = from_key.strip_prefix(key);
        value
            .map(|value| value.strip_suffix('\n').unwrap_or(value))
            .ok_or_else(|| self.error(expected))
    }

    /// Field lines up to an empty line, which is taken too.
    fn fields(&mut self) -> Result<Vec<Field>, FormatError> {
        let mut fields = Vec::new();
        loop {
            let line = self.next();
            if line.is_empty() {
                return Ok(fields);
            }
            fields.push(field(line).map_err(|expected| self.error(expected))?);
        }
    }
}

/// Reads `\tfield:DECLARATION;\toffset:N;\tsize:N;\tsigned:N;`; what was expected instead is the
/// error.
fn field(line: &str) -> Result<Field, &'static str> {
    const DECLARATION: &str = "`field:` and a declaration that ends in `;`";
    let line = line
        .trim_start()
        .strip_prefix("field:")
        .ok_or(DECLARATION)?;
    let (declaration, numbers) = line.split_once(';').ok_or(DECLARATION)?;
    let mut numbers = numbers.split(';').map(str::trim_start);
    let mut number = |key: &str| numbers.next()?.strip_prefix(key)?.parse::<usize>().ok();
    let offset = number("offset:").ok_or("`offset:` and a number")?;
    let size = number("size:").ok_or("`size:` and a number")?;
    let signed = match number("signed:") {
        Some(0) => false,
        Some(1) => true,
        _ => return Err("`signed:` and 0 or 1"),
    };
    let (name, declaration) = declaration::parse(declaration).ok_or("a C type and a name")?;
    Ok(Field {
        name: name.to_owned(),
        c_type: declaration.spelled(),
        offset,
        size,
        signed,
        shape: classify(&declaration, size, signed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::captured::format_text;

    const EXEC: &str =
        include_str!("../../../harness/fixtures/payloads/sched.sched_process_exec.txt");

    #[test]
    fn header_fields_and_print_format_are_read() {
        let format = parse(format_text(EXEC)).expect("a captured format parses");
        assert_eq!(format.name, "sched_process_exec");
        assert!(EXEC.contains(&format!("\nID: {}\n", format.id)));
        let names = |fields: &[Field]| -> Vec<String> {
            fields
                .iter()
                .map(|field| format!("{} {}", field.c_type, field.name))
                .collect()
        };
        assert_eq!(
            names(&format.common),
            [
                "unsigned short common_type",
                "unsigned char common_flags",
                "unsigned char common_preempt_count",
                "int common_pid"
            ]
        );
        assert_eq!(
            names(&format.fields),
            ["__data_loc char[] filename", "pid_t pid", "pid_t old_pid"]
        );
        let arguments =
            "\"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, REC->old_pid";
        assert_eq!(format.print_fmt, arguments);
        assert_eq!(
            format.field("common_pid").map(|field| field.offset),
            Some(4)
        );
        assert_eq!(format.field("absent"), None);
    }

    #[test]
    fn only_fields_of_type_pid_t_are_pids() {
        let exec = captured!("sched.sched_process_exec");
        assert!(exec.field("old_pid").is_pid());
        assert!(!exec.field("common_pid").is_pid());
    }

    /// What is reported when `from` in a captured format is replaced by `to`.
    fn complaint(from: &str, to: &str) -> String {
        let text = format_text(EXEC);
        assert!(text.contains(from), "nothing to replace");
        parse(&text.replacen(from, to, 1))
            .expect_err("the text is damaged")
            .to_string()
    }

    #[test]
    fn errors_name_the_line_and_what_belongs_there() {
        let check = |from, to, expected: &str| {
            let complaint = complaint(from, to);
            assert!(complaint.starts_with(expected), "{complaint}");
        };
        check(
            "name: ",
            "",
            "line 1 of the event format: expected `name: ` and the event's name, \
             found `sched_process_exec`",
        );
        check(
            "ID: ",
            "ID: 65536 of ",
            "line 2 of the event format: expected `ID: ` and a number below 65536, found `ID: \
             65536 of ",
        );
        check(
            "size:2;",
            "size:two;",
            "line 4 of the event format: expected `size:` and a number, \
             found `field:unsigned short common_type;\toffset:0;\tsize:two;\tsigned`",
        );
        check(
            "pid_t pid;",
            "pid;",
            "line 10 of the event format: expected a C type and a name, \
             found `field:pid;\toffset:12;\tsize:4;\tsigned:1;`",
        );
        check(
            "print fmt: ",
            "",
            "line 13 of the event format: expected a field, or `print fmt: `, \
             found `\"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->p`",
        );
    }

    #[test]
    fn a_text_cut_anywhere_is_an_error_until_its_last_line_begins() {
        let text = format_text(EXEC);
        let last_line =
            text.find("print fmt: ").expect("a format has a last line") + "print fmt: ".len();
        for end in 0..text.len() {
            let (cut, _) = text.split_at(end);
            assert_eq!(
                parse(cut).is_ok(),
                end >= last_line,
                "{end} bytes of {}",
                text.len()
            );
        }
    }

    #[test]
    fn no_number_is_too_large_to_be_read_or_refused() {
        let huge = usize::MAX.to_string();
        let text = format_text(EXEC).replace("size:4", &format!("size:{huge}"));
        let format = parse(&text).expect("a size is not judged");
        assert_eq!(
            format.field("pid").map(|field| field.size),
            Some(usize::MAX)
        );
        let beyond = format!("size:{huge}0");
        assert!(parse(&format_text(EXEC).replace("size:4", &beyond)).is_err());
    }
}
