//! Turns the words of a call into values for expectations.

use super::render::Writer;
use super::values::ADDRESS;
use super::{Deed, Reached, Value};
use syscall_model::files::{FileKind, Lookup, OpenFile};
use syscall_model::kinds::{ArgKind, ReturnKind};
use syscall_model::mappings::{Place, Source};
use syscall_model::memory::{Moment, Piece, State};
use syscall_model::structs::{StructKind, signals_behind, text_behind};
use syscall_model::{self as files, Call, ThreadId};

impl Deed {
    /// The open file description that a part refers to; `None` where it is none, or not known.
    #[must_use]
    pub fn description(&self, word: &str) -> Option<u64> {
        match self.part(word)?.value {
            Value::File { description, .. } | Value::UnknownFile { description, .. } => description,
            _ => None,
        }
    }
}

impl Writer<'_> {
    /// Returns the value of an argument with the text `text`.
    pub(super) fn value(
        &self,
        call: &Call,
        (place, word): (usize, u64),
        kind: ArgKind,
        text: &str,
    ) -> Value {
        let low = word as u32;
        match kind {
            ArgKind::Fd => {
                let reached = call.files.reached(place);
                self.file(low as i32, call.files.argument(place), reached)
            }
            ArgKind::Pid => self.id(low as i32),
            ArgKind::Path => match self.bytes(call, place, word, Self::path_in_directory) {
                Value::Bytes {
                    bytes: given,
                    is_cut: false,
                } => Value::Path {
                    absolute: match call.files.path(place) {
                        Some(path) => Some(self.path_in_directory(path)),
                        None if given.is_empty() => self.beside(call, place),
                        None => None,
                    },
                    given,
                    reached: self.reached(call.files.reached(place)),
                },
                other => other,
            },
            ArgKind::Text | ArgKind::Buffer => self.bytes(call, place, word, Self::in_directory),
            ArgKind::Strings => self.strings(call, place, word),
            ArgKind::Constants(_) | ArgKind::Signal => names(text, word),
            ArgKind::Int => Value::Number((low as i32).into()),
            ArgKind::Id if low == u32::MAX => Value::Number(-1),
            ArgKind::Uint32 | ArgKind::Id | ArgKind::Hex32 => Value::Number(low.into()),
            ArgKind::Octal => Value::Number((word & 0xffff).into()),
            ArgKind::Long | ArgKind::Offset => Value::Number((word as i64).into()),
            ArgKind::Size | ArgKind::Hex => Value::Number(word.into()),
            // A value above 4 GiB may be an address.
            ArgKind::Word if u32::try_from(word).is_ok() => Value::Number(word.into()),
            ArgKind::Pointer | ArgKind::Address | ArgKind::Struct(_) if word == 0 => Value::Nothing,
            ArgKind::Address if is_in_unknown_file(call.places.argument(place)) => Value::Unread,
            ArgKind::Struct(_) if text == ADDRESS => match is_nothing_there(call, place) {
                true => Value::Nothing,
                false => Value::Unread,
            },
            ArgKind::Word | ArgKind::Pointer | ArgKind::Address => Value::Address(word),
            ArgKind::Struct(kind) => self.behind_pointer(call, place, kind, text),
            ArgKind::Unused => Value::Text,
        }
    }

    /// What lies behind a pointer: a text, a set of signals, one number (`[1]`, and of `[1] => [8]`
    /// the one that the program gave), or what its text alone tells.
    fn behind_pointer(&self, call: &Call, place: usize, kind: StructKind, text: &str) -> Value {
        if let Some((bytes, is_cut)) = text_behind(kind, call, place) {
            return Value::Bytes {
                bytes: self.in_directory(bytes),
                is_cut,
            };
        }
        if let (StructKind::SignalSet, Some(bits)) = (kind, signals_behind(call, place)) {
            return Value::Names(vec![text.into()], bits);
        }
        if !kind.is_number() {
            return Value::Text;
        }
        let given = text.split_once(" => ").map_or(text, |(given, _)| given);
        let inside = given
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        let number = inside.and_then(|inside| inside.parse().ok());
        number.map_or(Value::Text, Value::Number)
    }

    /// The name of the descriptor in front of a path: it is meant by an empty one
    /// (`AT_EMPTY_PATH`).
    fn beside(&self, call: &Call, place: usize) -> Option<Vec<u8>> {
        match call.files.argument(place.checked_sub(1)?) {
            Lookup::Open(file) if file.kind != FileKind::Unread => Some(self.name_of(file)),
            _ => None,
        }
    }

    /// Returns the value of a result with the text `text`.
    pub(super) fn returned(
        &self,
        call: &Call,
        value: i64,
        returns: ReturnKind,
        text: &str,
    ) -> Value {
        if let (-4095..=-1, Some(name)) = (value, text.strip_prefix("-1 ")) {
            return Value::Error(name.into());
        }
        match returns {
            ReturnKind::Number | ReturnKind::Octal => Value::Number(value.into()),
            ReturnKind::Fd => {
                let reached = call.files.reached_by_result();
                self.file(value as i32, call.files.result(), reached)
            }
            ReturnKind::Pid => self.id(value as i32),
            ReturnKind::Address if value == 0 => Value::Nothing,
            ReturnKind::Address if is_in_unknown_file(call.places.result()) => Value::Unread,
            ReturnKind::Address => Value::Address(value as u64),
            ReturnKind::Constants(_) => names(text, value as u64),
        }
    }

    pub(super) fn task_value(&self, thread: Option<ThreadId>, id: i32) -> Value {
        let task = thread.and_then(|thread| self.names.get(&thread));
        Value::Task {
            id,
            task: task.copied(),
        }
    }

    fn id(&self, id: i32) -> Value {
        // Below -1 it is a process group, as for kill(2).
        let thread = self.trace.ids.inner(id.saturating_abs(), self.moment);
        self.task_value(thread.filter(|_| !(-1..=0).contains(&id)), id)
    }

    fn file(&self, number: i32, lookup: Lookup<'_>, reached: &files::Reached) -> Value {
        let (description, name) = match lookup {
            Lookup::Open(file) if file.kind == FileKind::Unread => {
                let description = Some(file.id);
                return Value::UnknownFile {
                    number,
                    description,
                };
            }
            Lookup::Open(file) => (Some(file.id), self.name_of(file)),
            _ if number == libc::AT_FDCWD => (None, b"AT_FDCWD".to_vec()),
            Lookup::Unknown | Lookup::Untracked if number >= 0 => {
                return Value::UnknownFile {
                    number,
                    description: None,
                };
            }
            Lookup::Closed | Lookup::Unknown | Lookup::Untracked => (None, Vec::new()),
        };
        Value::File {
            number,
            description,
            name,
            reached: self.reached(reached),
        }
    }

    pub(super) fn reached(&self, reached: &files::Reached) -> Reached {
        match (reached.names(), reached) {
            (None, _) => Reached::Untold,
            (Some(Err(why)), _) => Reached::Unknown(why.to_string().into()),
            (Some(Ok(names)), files::Reached::Known { is_led, .. }) => Reached::Known {
                names: names
                    .iter()
                    .map(|name| self.path_in_directory(name))
                    .collect(),
                is_led: *is_led,
            },
            (Some(Ok(_)), _) => Reached::Nowhere,
        }
    }

    /// Returns the file's name without a number: an author who asks by name does not mean one of
    /// many.
    fn name_of(&self, file: &OpenFile) -> Vec<u8> {
        match (file.class(), &file.kind) {
            (Some(class), _) => class.into(),
            // A path of nobody knows where, which is none of what the word stands for.
            (None, FileKind::Path(path)) if FileKind::is_word(path) => [b"./", &**path].concat(),
            (None, kind) => self.in_directory(&kind.word()),
        }
    }

    fn bytes(
        &self,
        call: &Call,
        place: usize,
        word: u64,
        named: impl Fn(&Self, &[u8]) -> Vec<u8>,
    ) -> Value {
        let mut moments = [Moment::Enter, Moment::Exit].into_iter();
        let piece = moments.find_map(|moment| call.memory.piece(place, moment));
        match piece {
            _ if word == 0 => Value::Nothing,
            Some(piece) if piece.read().is_some() => Value::Bytes {
                bytes: named(self, &piece.bytes),
                is_cut: piece.state == State::Cut,
            },
            // The kernel could not read it either.
            Some(_) if call.error() == Some(libc::EFAULT) => Value::Nothing,
            // A program's argument is there, whatever the call returns.
            Some(piece) if piece.moment == Moment::Enter => Value::Unread,
            // The kernel had no value to return.
            _ if call.error().is_some() => Value::Nothing,
            _ => Value::Unread,
        }
    }

    fn strings(&self, call: &Call, place: usize, word: u64) -> Value {
        let pieces: Vec<&Piece> = call.memory.strings(place).collect();
        if word == 0 {
            return Value::Nothing;
        }
        if pieces.is_empty() || pieces.iter().any(|piece| piece.state == State::Unread) {
            return match call.error() {
                Some(libc::EFAULT) => Value::Nothing,
                _ => Value::Unread,
            };
        }
        let strings = pieces.iter().take_while(|piece| piece.state != State::End);
        Value::Strings {
            is_cut: !pieces.iter().any(|piece| piece.state == State::End)
                || pieces.iter().any(|piece| piece.state == State::Cut),
            strings: strings
                .map(|piece| self.in_directory(&piece.bytes))
                .collect(),
        }
    }
}

/// Whether an address lies in a mapping of a file that is not known.
fn is_in_unknown_file(place: Option<&Place>) -> bool {
    place.is_some_and(|place| match &place.mapping.source {
        Source::UnknownFile => true,
        Source::File(file) => file.kind == FileKind::Unread,
        Source::Anonymous | Source::Heap | Source::Shared => false,
    })
}

/// Whether a structure is not shown because there was none: the kernel writes none if a call fails,
/// and reads none from a bad address.
fn is_nothing_there(call: &Call, place: usize) -> bool {
    let is_given = call.memory.piece(place, Moment::Enter).is_some();
    let is_filled = call.memory.is_read() && !is_given;
    match call.error() {
        Some(libc::EFAULT) => true,
        error => error.is_some() && is_filled,
    }
}

fn names(text: &str, number: u64) -> Value {
    Value::Names(text.split('|').map(Into::into).collect(), number)
}
