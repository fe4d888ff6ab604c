//! The reader of a `format` file's text.

use std::collections::HashSet;

use super::layout::{Field, Format};
use super::shape::{Content, Declaration, Extent, Shape, classify};

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

/// Reads the text of one `format` file, as `f_show()` of `kernel/trace/trace_events.c` writes it (v5.10 to v7.2).
///
/// # Errors
///
/// Where a line is not what the kernel writes there. Unknown C types are no error: they become bytes or integers by
/// their size.
pub fn parse(text: &str) -> Result<Format, FormatError> {
    let mut lines = Lines::new(text);
    let name = lines.value("name: ", "`name: ` and the event's name")?;
    let id = lines.value("ID: ", "`ID: ` and a number below 65536")?;
    let id = id
        .parse()
        .map_err(|_| lines.error("`ID: ` and a number below 65536"))?;
    lines.value("format:", "`format:`")?;
    let common = lines.fields()?;
    let mut fields = lines.fields()?;
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

/// Turns text into bytes where the event prints it as an array: what `write` wrote is declared `char[]` too (v7.2).
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
            found: self.current.chars().take(READABLE).collect(),
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

/// Reads `\tfield:DECLARATION;\toffset:N;\tsize:N;\tsigned:N;`; what was expected instead is the error.
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
    let (name, declaration) = split(declaration).ok_or("a C type and a name")?;
    Ok(Field {
        name: name.to_owned(),
        c_type: spell(&declaration),
        offset,
        size,
        signed,
        shape: classify(&declaration, size, signed),
    })
}

/// Takes the name out of a declaration: `TYPE NAME`, `TYPE NAME[DIMENSION]`, `__data_loc TYPE[] NAME`.
fn split(text: &str) -> Option<(&str, Declaration<'_>)> {
    let text = text.trim();
    let (text, after_name) = match text.strip_suffix(']') {
        Some(open) => {
            let (text, dimension) = open.split_once('[')?;
            (text.trim_end(), Some(dimension))
        }
        None => (text, None),
    };
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let before = text.trim_end_matches(is_of_name);
    let name = text.strip_prefix(before).filter(|name| !name.is_empty())?;
    let (locator, c_type) = locator(before.trim_end());
    let (base, dimension) = match c_type
        .strip_suffix(']')
        .and_then(|c_type| c_type.split_once('['))
    {
        Some((base, before_name)) => (base.trim_end(), Some(before_name)),
        None => (c_type, after_name),
    };
    let declaration = Declaration {
        locator,
        base,
        dimension,
    };
    (!base.is_empty()).then_some((name, declaration))
}

fn locator(c_type: &str) -> (Option<Extent>, &str) {
    for (keyword, extent) in [
        ("__data_loc ", Extent::DataLoc),
        ("__rel_loc ", Extent::RelLoc),
    ] {
        if let Some(rest) = c_type.strip_prefix(keyword) {
            return (Some(extent), rest.trim_start());
        }
    }
    (None, c_type)
}

/// The C type in one piece, the dimension behind it.
fn spell(declaration: &Declaration<'_>) -> String {
    let locator = match declaration.locator {
        Some(Extent::DataLoc) => "__data_loc ",
        Some(Extent::RelLoc) => "__rel_loc ",
        _ => "",
    };
    let base = declaration.base;
    match declaration.dimension {
        Some(dimension) => format!("{locator}{base}[{dimension}]"),
        None => format!("{locator}{base}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::captured::{Captured, captured, format_text};
    use crate::format::{Element, Integer, Width};

    const EXEC: &str = include_str!("../../harness/fixtures/payloads/sched.sched_process_exec.txt");

    fn shape(event: &Captured, field: &str) -> Shape {
        event.field(field).shape
    }

    fn integers(width: Width, signed: bool) -> Content {
        Content::Array(Element::Integer { width, signed })
    }

    #[test]
    fn header_fields_and_print_format_are_read() {
        let format = parse(format_text(EXEC)).expect("a captured format parses");
        assert_eq!(
            (format.name.as_str(), format.id),
            ("sched_process_exec", 365)
        );
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

    #[test]
    fn text_is_located_by_data_loc() {
        let exec = captured!("sched.sched_process_exec");
        assert_eq!(
            shape(&exec, "filename"),
            Shape::Block(Extent::DataLoc, Content::Text)
        );
    }

    #[test]
    fn both_locators_are_understood_wherever_the_brackets_stand() {
        let event = captured!("harness_locators.harness_located@6.1");
        for (prefix, extent) in [("data", Extent::DataLoc), ("rel", Extent::RelLoc)] {
            let of = |suffix: &str| shape(&event, &format!("{prefix}_{suffix}"));
            assert_eq!(of("text"), Shape::Block(extent, Content::Text));
            assert_eq!(of("bits"), Shape::Block(extent, integers(Width::W8, false)));
            assert_eq!(of("cpus"), Shape::Block(extent, Content::CpuMask));
        }
        let numbers = |field, extent, width| {
            assert_eq!(
                shape(&event, field),
                Shape::Block(extent, integers(width, true))
            );
        };
        numbers("data_numbers", Extent::DataLoc, Width::W2);
        numbers("rel_numbers", Extent::RelLoc, Width::W4);
        assert_eq!(event.field("rel_text").c_type, "__rel_loc char[]");
    }

    #[test]
    fn what_a_call_writes_is_bytes_although_declared_as_text() {
        let write = captured!("syscalls.sys_enter_write@7.2");
        assert_eq!(
            shape(&write, "__buf_val"),
            Shape::Block(Extent::DataLoc, Content::Bytes)
        );
        let openat = captured!("syscalls.sys_enter_openat@7.2");
        assert_eq!(
            shape(&openat, "__filename_val"),
            Shape::Block(Extent::DataLoc, Content::Text)
        );
    }

    #[test]
    fn an_argument_is_as_wide_as_its_type_and_not_as_its_slot() {
        let openat = captured!("syscalls.sys_enter_openat");
        let argument = |width, signed| {
            Shape::Integer(Integer {
                slot: Width::W8,
                width,
                signed,
            })
        };
        assert_eq!(
            (openat.field("dfd").size, openat.field("dfd").signed),
            (8, false)
        );
        assert_eq!(shape(&openat, "dfd"), argument(Width::W4, true));
        assert_eq!(shape(&openat, "mode"), argument(Width::W2, false));
        assert_eq!(shape(&openat, "filename"), Shape::Pointer(Width::W8));
    }

    #[test]
    fn fixed_arrays_keep_the_width_of_their_elements() {
        let args = shape(&captured!("raw_syscalls.sys_enter"), "args");
        assert_eq!(
            args,
            Shape::Block(Extent::Fixed, integers(Width::W8, false))
        );
        let comm = shape(&captured!("sched.sched_switch"), "prev_comm");
        assert_eq!(comm, Shape::Block(Extent::Fixed, Content::Text));
        let address = shape(&captured!("sock.inet_sock_set_state"), "saddr");
        assert_eq!(address, Shape::Block(Extent::Fixed, Content::Bytes));
    }

    #[test]
    fn an_array_without_dimension_but_with_a_size_is_fixed() {
        let probe = captured!("harness.kprobe@6.1");
        let words = probe.field("words");
        assert_eq!((words.c_type.as_str(), words.size), ("u64[]", 16));
        assert_eq!(
            words.shape,
            Shape::Block(Extent::Fixed, integers(Width::W8, false))
        );
    }

    #[test]
    fn an_array_of_locators_and_a_structure_stay_bytes() {
        let opaque = Shape::Block(Extent::Fixed, Content::Bytes);
        assert_eq!(shape(&captured!("harness.kprobe@6.1"), "strings"), opaque);
        assert_eq!(
            shape(&captured!("harness_locators.harness_located@6.1"), "pair"),
            opaque
        );
    }

    #[test]
    fn a_misspelt_locator_is_not_taken_for_one() {
        let text = format_text(EXEC).replace("__data_loc", "__dyn_loc");
        let format = parse(&text).expect("unknown types are no error");
        let shape = format.field("filename").map(|field| field.shape);
        assert_eq!(shape, Some(Shape::Block(Extent::Fixed, Content::Bytes)));
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
        let check = |from, to, expected: &str| assert_eq!(complaint(from, to), expected);
        check(
            "name: ",
            "",
            "line 1 of the event format: expected `name: ` and the event's name, \
             found `sched_process_exec`",
        );
        check(
            "ID: 365",
            "ID: 65536",
            "line 2 of the event format: expected `ID: ` and a number below 65536, found `ID: 65536`",
        );
        check(
            "size:2;",
            "size:two;",
            "line 4 of the event format: expected `size:` and a number, \
             found `\tfield:unsigned short common_type;\toffset:0;\tsize:two;\ts`",
        );
        check(
            "pid_t pid;",
            "pid;",
            "line 10 of the event format: expected a C type and a name, \
             found `\tfield:pid;\toffset:12;\tsize:4;\tsigned:1;`",
        );
        check(
            "print fmt: ",
            "",
            "line 13 of the event format: expected a field, or `print fmt: `, \
             found `\"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pi`",
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
