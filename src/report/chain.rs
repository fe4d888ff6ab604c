//! Writes the functions that led to a call or an event, after its line.

use super::json::{number, string};
use perf_records::space::{End, Stack, StackFrame};
use perf_records::units::shown;
use std::fmt::Write;

/// The indentation of frames below a line, as in `perf trace`.
const INDENT: &str = "                                       ";

/// Appends a line for each function, the innermost first: `fsync (/usr/lib/libc.so.6)`, or
/// `(inlined)`.
pub fn chain_lines(out: &mut String, stack: &Stack) {
    for frame in &stack.frames {
        out.push_str(INDENT);
        match frame.name() {
            Some(name) => out.push_str(&shown(name)),
            None => {
                let _always_fits = write!(out, "[{:#x}]", frame.address);
            }
        }
        let is_inlined = frame
            .function
            .as_ref()
            .is_some_and(|function| function.is_inlined);
        let file = match (is_inlined, &frame.file) {
            (true, _) => "inlined",
            (false, Some(file)) => file,
            (false, None) => "[unknown]",
        };
        let _always_fits = writeln!(out, " ({})", shown(file));
    }
    if let Some(why) = stack.end.and_then(end) {
        let _always_fits = writeln!(out, "{INDENT}[{why}]");
    }
}

/// Returns a remark on the end of a chain that is not whole.
fn end(end: End) -> Option<&'static str> {
    match end {
        End::Outermost => None,
        End::Enough => Some("and more"),
        End::Cut => Some("the copy of the stack ends here"),
        End::Lost => Some("nothing tells of the caller"),
        End::NoTable => Some("no table tells of the caller: .eh_frame, .debug_frame"),
    }
}

/// Adds a member `callchain` to the object that was appended last.
pub fn chain_json(out: &mut String, stack: &Stack) {
    const END: &str = "}\n";
    if !out.ends_with(END) {
        return;
    }
    out.truncate(out.len().saturating_sub(END.len()));
    out.push_str(",\"callchain\":[");
    for (place, frame) in stack.frames.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        self::frame(out, frame);
    }
    out.push(']');
    if let Some(end) = stack.end {
        let word = match end {
            End::Outermost => "outermost",
            End::Enough => "limit",
            End::Cut => "cut",
            End::Lost => "unknown",
            End::NoTable => "no_table",
        };
        let _always_fits = write!(out, ",\"callchain_end\":\"{word}\"");
    }
    out.push_str(END);
}

fn frame(out: &mut String, frame: &StackFrame) {
    let _always_fits = write!(out, "{{\"ip\":{}", frame.address);
    let mut text = |name: &str, value: &str| {
        let _always_fits = write!(out, ",\"{name}\":");
        string(out, value);
    };
    if let Some(name) = frame.name() {
        text("sym", name);
    }
    if let Some(file) = &frame.file {
        text("dso", file);
    }
    if let Some(function) = &frame.function {
        number(out, "off", function.into);
        if let Some(line) = &function.line {
            out.push_str(",\"file\":");
            string(out, &line.file);
            number(out, "line", line.number.into());
        }
        if function.is_inlined {
            out.push_str(",\"inlined\":true");
        }
    }
    if frame.is_kernel {
        out.push_str(",\"kernel\":true");
    }
    out.push('}');
}
