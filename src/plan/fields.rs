//! Finds out which fields an event has, and of which kind.

use super::EventsPlan;
use super::operations;
use crate::matching::{Matcher, SpanRule};
use crate::trace::{Naming, OF_SOCKETS};
use perf_live::units::SoftwareEvent;
use perf_records::format::{Content, Field as FormatField, Format, Shape};
use perf_records::print::function_fields;
use syscall_model::constants::{Constants, tables};
use syscall_model::kinds::{ArgKind, ReturnKind, never_returns};
use syscall_model::names::{self, Abi};
use syscall_model::structs::StructKind;
use syscall_model::{Signature, Signatures, address_place, names_of_flags_behind};

/// A field of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) kind: FieldKind,
    /// Whether it may be an error's name instead.
    pub(super) is_result: bool,
    /// Whether it is read from the memory of the workload.
    pub(super) is_read: bool,
    /// Which numbers it can be.
    pub(super) room: Room,
}

/// Which numbers an argument or a result can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// 64 bits, with or without a sign.
    Wide,
    /// 32 bits with a sign.
    Signed,
    /// 32 bits without.
    Unsigned,
    /// The same, or -1.
    Id,
}

impl Room {
    /// The least and the greatest.
    pub(super) fn ends(self) -> (i128, i128) {
        match self {
            Self::Wide => (i64::MIN.into(), u64::MAX.into()),
            Self::Signed => (i32::MIN.into(), i32::MAX.into()),
            Self::Unsigned => (0, u32::MAX.into()),
            Self::Id => (-1, u32::MAX.into()),
        }
    }
}

/// What a field can be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// A path.
    Path,
    /// A string that is no path.
    Text,
    /// Strings: the words of a command, or variables.
    Words,
    /// The address of a host.
    Ip,
    /// What is read or written.
    Contents,
    /// A descriptor: a number, or what it refers to.
    File,
    /// A task: `P2`, or its number.
    Task,
    /// A task in the record of a tracepoint, where its number is the machine's.
    TaskOfMachine,
    /// The process that did it, which has a name, `P1`, and no number.
    Process,
    /// A number.
    Number,
    /// An address of which a trace tells nothing else.
    Address,
    /// An address that a trace shows by its mapping.
    Mapped,
    /// Permissions.
    Octal,
    /// Flags, a mode or a command of these names.
    Names(&'static Constants),
    /// Flags of a submission to an io_uring.
    Flags,
    /// A signal.
    Signal,
    /// A set of signals, in brackets and without `SIG`.
    Signals,
    /// A structure or a list, of which a trace has the whole in brackets.
    Whole,
    /// Where a signal came from.
    SignalCode,
    /// What became of a span.
    State,
    /// A length of time.
    Duration,
    /// The functions that led to the event.
    Frames,
    /// A value of which only its text, or its call's command, tells the meaning.
    Anything,
}

/// The fields that every event has beside its own.
const OF_ALL: [&str; 2] = ["process", "program"];

const RETURNS: &str = "returns";

const FLAGS: &str = "flags";

/// The functions that led to an event.
pub(super) const STACK: &str = "stack";

impl Field {
    pub(super) fn plain(kind: FieldKind) -> Self {
        Self {
            kind,
            is_result: false,
            is_read: false,
            room: Room::Wide,
        }
    }
}

/// The fields of events by the names of these.
pub(super) struct Fields<'a> {
    pub(super) events: &'a EventsPlan,
    pub(super) signatures: &'a Signatures<'a>,
    /// The spans among the events.
    pub(super) spans: Vec<SpanRule>,
}

impl Fields<'_> {
    /// Returns what an event of this name has under `word`; `None` for nothing.
    pub(super) fn find(&self, event: &str, word: &str) -> Option<Field> {
        self.own(event, word).or_else(|| match word {
            "process" => Some(Field::plain(FieldKind::Process)),
            "program" => Some(Field::plain(FieldKind::Text)),
            // The short form holds if the event has no field of its own by that name.
            STACK | "from" => Some(Field::plain(FieldKind::Frames)),
            _ => None,
        })
    }

    fn own(&self, event: &str, word: &str) -> Option<Field> {
        if let Some(rule) = self.spans.iter().find(|rule| *rule.name == *event) {
            return self.of_span(rule, word);
        }
        if operations::is_operation(event) {
            return match word {
                "user_data" => Some(Field::plain(FieldKind::Number)),
                "flags" => Some(Field::plain(FieldKind::Flags)),
                "sq_thread" => Some(Field::plain(FieldKind::Number)),
                _ => None,
            };
        }
        if let Some(software) = SoftwareEvent::parse(event) {
            return match word {
                "ip" => Some(Field::plain(FieldKind::Address)),
                "function" => Some(Field::plain(FieldKind::Text)),
                "addr" if software.kind.is_fault() => Some(Field::plain(FieldKind::Address)),
                "map" if software.kind.is_fault() => Some(Field::plain(FieldKind::Text)),
                "offset" if software.kind.is_fault() => Some(Field::plain(FieldKind::Number)),
                _ => None,
            };
        }
        if event.starts_with("signal:signal_") && matches!(word, "sig" | "code") {
            let mut all = self.formats(event);
            let kind = match word {
                "sig" => FieldKind::Signal,
                _ => FieldKind::SignalCode,
            };
            return all
                .any(|field| field.name == word)
                .then_some(Field::plain(kind));
        }
        if event.contains(':') {
            let format = self.format(event)?;
            let field = format.fields.iter().find(|field| field.name == word)?;
            return Some(of_tracepoint(format, field));
        }
        self.signature(event, |signature| {
            if let Some(place) = signature.place_of(word) {
                return argument(signature, place);
            }
            let returns = word == RETURNS && !never_returns(event);
            let result = returns.then(|| result(signature));
            result.or_else(|| behind(event, word))
        })?
    }

    fn of_span(&self, rule: &SpanRule, word: &str) -> Option<Field> {
        let of = |end: &Matcher, word: &str| {
            let mut names = end.names.iter();
            names.find_map(|event| self.find(event, word))
        };
        if let Some(word) = word.strip_prefix("begin.") {
            return of(&rule.begin, word);
        }
        if let Some(word) = word.strip_prefix("end.") {
            return of(&rule.end, word);
        }
        match word {
            "state" => Some(Field::plain(FieldKind::State)),
            "duration" => Some(Field::plain(FieldKind::Duration)),
            word => {
                let mut key = rule.key.iter().filter(|field| field.is_shown());
                let shared = key.find(|field| field.begin == word)?;
                of(&rule.begin, &shared.begin)
            }
        }
    }

    /// Returns all names of a span's fields, without those of its ends.
    fn all_of_span(rule: &SpanRule) -> Vec<String> {
        let key = rule.key.iter().filter(|field| field.is_shown());
        let key = key.map(|field| field.begin.clone());
        let own = ["state", "duration", "begin.FIELD", "end.FIELD"];
        key.chain(own.map(str::to_owned)).collect()
    }

    /// Returns all names of an event's fields, each with its alias if it has one.
    pub(super) fn all(&self, event: &str) -> Vec<(String, Option<&'static str>)> {
        let plain = |name: &str| (name.to_owned(), None);
        let span = self.spans.iter().find(|rule| *rule.name == *event);
        let mut all: Vec<_> = if let Some(rule) = span {
            let all = Self::all_of_span(rule).into_iter();
            all.map(|name| (name, None)).collect()
        } else if let Some(software) = SoftwareEvent::parse(event) {
            let all = ["ip", "function", "addr", "map", "offset"];
            let n = if software.kind.is_fault() {
                all.len()
            } else {
                2
            };
            all.into_iter().take(n).map(plain).collect()
        } else if operations::is_operation(event) {
            ["user_data", "flags", "sq_thread"].map(plain).into()
        } else if event.contains(':') {
            self.formats(event)
                .map(|field| plain(&field.name))
                .collect()
        } else {
            let arguments = self.signature(event, |signature| {
                let arguments = signature.arguments.iter();
                let named = arguments.map(|it| {
                    let alias = it.alias.filter(|alias| **alias != *it.name);
                    (it.name.to_string(), alias)
                });
                named.collect::<Vec<_>>()
            });
            let returns = (!never_returns(event)).then(|| plain(RETURNS));
            let of_sockets = address_place(event).map_or(&[][..], |_| &OF_SOCKETS);
            let of_sockets = of_sockets.iter().map(|name| plain(name));
            let flags = names_of_flags_behind(event).map(|_| plain(FLAGS));
            let own = arguments.into_iter().flatten();
            own.chain(flags).chain(returns).chain(of_sockets).collect()
        };
        all.extend(OF_ALL.map(plain));
        if self.events.has_chain(event) {
            all.push((STACK.to_owned(), Some("from")));
        }
        all
    }

    fn format(&self, event: &str) -> Option<&Format> {
        let mut planned = self.events.named.iter();
        let is_it = |naming: &Naming| matches!(naming, Naming::Own(name) if **name == *event);
        let of_event = planned.find(|planned| is_it(&planned.naming))?;
        of_event.format.as_deref()
    }

    fn formats(&self, event: &str) -> impl Iterator<Item = &FormatField> {
        let format = self.format(event).into_iter();
        format.flat_map(|format| &format.fields)
    }

    fn signature<R>(&self, event: &str, with: impl FnOnce(&Signature) -> R) -> Option<R> {
        let native = Abi::native();
        let conventions = [Some(native), native.compat()].into_iter().flatten();
        let mut numbers = conventions.filter_map(|abi| Some((abi, names::number(abi, event)?)));
        let (abi, number) = numbers.next()?;
        let number = i32::try_from(number).ok()?;
        Some(self.signatures.with(abi, number, with))
    }
}

fn argument(signature: &Signature, place: usize) -> Option<Field> {
    let kind = signature.arguments.get(place)?.kind;
    let by_command = signature.by_command.contains(&place);
    let depends = by_command || signature.depends.is_some_and(|it| it.may_change(place));
    let (kind, is_read) = match kind {
        ArgKind::Path => (FieldKind::Path, true),
        ArgKind::Text => (FieldKind::Text, true),
        ArgKind::Strings => (FieldKind::Words, true),
        ArgKind::Buffer => (FieldKind::Contents, true),
        ArgKind::Struct(kind) if depends || kind.is_number() || kind.is_text() => {
            (FieldKind::Anything, true)
        }
        ArgKind::Struct(StructKind::SignalSet) => (FieldKind::Signals, true),
        ArgKind::Struct(_) => (FieldKind::Whole, true),
        _ if depends => (FieldKind::Anything, by_command),
        ArgKind::Fd => (FieldKind::File, false),
        ArgKind::Pid => (FieldKind::Task, false),
        ArgKind::Constants(names) => (FieldKind::Names(names), false),
        ArgKind::Signal => (FieldKind::Signal, false),
        ArgKind::Octal => (FieldKind::Octal, false),
        ArgKind::Int
        | ArgKind::Uint32
        | ArgKind::Long
        | ArgKind::Size
        | ArgKind::Hex
        | ArgKind::Hex32
        | ArgKind::Id
        | ArgKind::Offset => (FieldKind::Number, false),
        ArgKind::Pointer => (FieldKind::Address, false),
        ArgKind::Address => (FieldKind::Mapped, false),
        ArgKind::Word | ArgKind::Unused => (FieldKind::Anything, false),
    };
    let room = match signature.arguments.get(place)?.kind {
        _ if depends => Room::Wide,
        ArgKind::Int | ArgKind::Fd | ArgKind::Pid | ArgKind::Signal => Room::Signed,
        ArgKind::Uint32 | ArgKind::Hex32 => Room::Unsigned,
        ArgKind::Id => Room::Id,
        _ => Room::Wide,
    };
    Some(Field {
        kind,
        is_result: false,
        is_read,
        room,
    })
}

/// A part of a socket's address, which is read from memory.
fn behind(call: &str, word: &str) -> Option<Field> {
    let kind = match word {
        FLAGS => FieldKind::Names(names_of_flags_behind(call)?),
        _ => {
            address_place(call)?;
            match word {
                "family" => FieldKind::Names(&tables::ADDRESS_FAMILIES),
                "ip" => FieldKind::Ip,
                "port" => FieldKind::Number,
                "unix" => FieldKind::Path,
                _ => return None,
            }
        }
    };
    Some(Field {
        is_read: true,
        ..Field::plain(kind)
    })
}

fn result(signature: &Signature) -> Field {
    let kind = match signature.returns {
        _ if signature.depends.is_some_and(|it| it.may_change_result()) => FieldKind::Anything,
        ReturnKind::Number => FieldKind::Number,
        ReturnKind::Octal => FieldKind::Octal,
        ReturnKind::Fd => FieldKind::File,
        ReturnKind::Pid => FieldKind::Task,
        ReturnKind::Address => FieldKind::Mapped,
        ReturnKind::Constants(names) => FieldKind::Names(names),
    };
    Field {
        kind,
        is_result: true,
        ..Field::plain(kind)
    }
}

/// Returns the kind of a tracepoint's field as the trace decodes it; the field lies in the record,
/// so no memory is read for it.
fn of_tracepoint(format: &Format, field: &FormatField) -> Field {
    // What points to a function of the kernel has its name.
    let is_function = || {
        let mut functions = function_fields(format).into_iter();
        functions.any(|(name, _)| name == field.name)
    };
    Field::plain(match field.shape {
        _ if field.is_pid() => FieldKind::TaskOfMachine,
        Shape::Block(_, Content::Text) => FieldKind::Text,
        Shape::Block(..) => FieldKind::Anything,
        Shape::Integer(_) | Shape::Pointer(_) if is_function() => FieldKind::Anything,
        Shape::Integer(_) => FieldKind::Number,
        Shape::Pointer(_) => FieldKind::Address,
    })
}
