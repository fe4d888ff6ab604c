//! Makes events that a run could have had and did not have.

use super::pool::{Kind, Pool};
use super::{Recorded, Thread};
use crate::trace::{Deed, Part, Value};
use syscall_model::constants::write_constants;
use syscall_model::kinds::{ArgKind, ReturnKind};
use syscall_model::names::{self, Abi};
use syscall_model::{Argument, Shown};

/// Makes an event of this name: its paths and descriptors are some of the run's, all else is made
/// up.
pub(super) fn deed(name: &str, recorded: &Recorded<'_>, pool: &Pool) -> Deed {
    let abi = Abi::native();
    let number = names::number(abi, name).and_then(|number| i32::try_from(number).ok());
    let (fields, returns) = match number {
        Some(number) => recorded.signatures.with(abi, number, |signature| {
            let fields = signature
                .arguments
                .iter()
                .map(|argument| field(argument, pool));
            (fields.collect(), Some(result(signature.returns, pool)))
        }),
        None => (Vec::new(), None),
    };
    Deed::imagined(name, fields, returns)
}

fn field(argument: &Argument, pool: &Pool) -> Part {
    let number = |text: &str| (text.to_owned(), Value::Number(0));
    let (text, value) = match argument.kind {
        ArgKind::Path => path(pool),
        ArgKind::Fd => file(pool),
        ArgKind::Text => {
            let value = Value::Bytes {
                bytes: Vec::new(),
                is_cut: false,
            };
            ("\"\"".to_owned(), value)
        }
        ArgKind::Pid => task(),
        ArgKind::Constants(constants) => {
            let mut text = String::new();
            write_constants(&mut text, constants, 0, &mut Shown);
            let names = text.split('|').map(Into::into).collect();
            (text, Value::Names(names, 0))
        }
        ArgKind::Octal => number("000"),
        ArgKind::Pointer
        | ArgKind::Address
        | ArgKind::Strings
        | ArgKind::Struct(_)
        | ArgKind::Buffer => ("NULL".to_owned(), Value::Nothing),
        _ => number("0"),
    };
    Part {
        name: std::sync::Arc::clone(&argument.name),
        alias: argument.alias,
        text,
        value,
    }
}

fn result(kind: ReturnKind, pool: &Pool) -> Part {
    let (text, value) = match kind {
        ReturnKind::Fd => file(pool),
        ReturnKind::Pid => task(),
        ReturnKind::Address => ("NULL".to_owned(), Value::Nothing),
        ReturnKind::Number | ReturnKind::Octal | ReturnKind::Constants(_) => {
            ("0".to_owned(), Value::Number(0))
        }
    };
    Part {
        name: "returns".into(),
        alias: None,
        text,
        value,
    }
}

fn path(pool: &Pool) -> (String, Value) {
    let none = || {
        let value = Value::Path {
            given: b"x".to_vec(),
            absolute: Some(b"$DIR/x".to_vec()),
            reached: crate::trace::Reached::Untold,
        };
        ("\"x\"".to_owned(), value)
    };
    pool.another(Kind::Path, "").cloned().unwrap_or_else(none)
}

fn file(pool: &Pool) -> (String, Value) {
    let none = || {
        let value = Value::File {
            number: 1,
            description: None,
            name: b"stdout".to_vec(),
            reached: crate::trace::Reached::Untold,
        };
        ("1<stdout>".to_owned(), value)
    };
    pool.another(Kind::File, "").cloned().unwrap_or_else(none)
}

fn task() -> (String, Value) {
    ("0".to_owned(), Value::Task { id: 0, task: None })
}

/// Returns the thread with the most events, and the event in its middle.
pub(super) fn busiest(threads: &[Thread]) -> Option<(usize, usize)> {
    let places = threads.iter().enumerate().rev();
    // The first of several with as many.
    let (place, thread) = places.max_by_key(|(_, thread)| thread.deeds.len())?;
    Some((place, thread.deeds.len().saturating_sub(1) / 2))
}
