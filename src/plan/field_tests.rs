//! Whether a field can be what the author wants it to be, in the form that patterns are matched
//! with.

use super::field_wholes::is_in_brackets;
use super::field_words::{
    IN_OCTAL, IN_RANGE, PROCESS, RANGE_OF_TIME, is_shown_for_address, may_be_hexadecimal,
    quoted_octal, task,
};
use super::fields::{Field, FieldKind};
use crate::matching::numeral;
use crate::scenario::{KeyPath, Literal, Test, nearest};
use perf_live::units::SoftwareEvent;
use syscall_model::uring;

/// As much of contents as can be read for one call, in bytes.
pub(super) const MOST_CONTENTS: u16 = 4096;

/// What is wrong with a test, what to do about it, and where it stands.
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) help: Option<String>,
    pub(super) at: KeyPath,
}

/// A field of an event, as messages name it: `path` of `openat`.
pub(super) struct Named<'a> {
    pub(super) field: Field,
    pub(super) event: &'a str,
    pub(super) word: &'a str,
}

/// What a test takes that is written without its operator, or says nothing of a value of this kind.
pub(super) type Wrong = (String, Option<String>);

impl Named<'_> {
    /// The test as it is matched: ranges and errors by their own names. `at` is where it stands.
    pub(super) fn resolve(&self, test: &Test, at: &KeyPath) -> Result<Test, Fault> {
        let here = |wrong: Result<Test, Wrong>, at: KeyPath| {
            wrong.map_err(|(message, help)| Fault { message, help, at })
        };
        let each = |tests: &[Test], at: &KeyPath| {
            let each = tests.iter().enumerate();
            let each = each.map(|(place, test)| self.resolve(test, &at.clone().index(place)));
            each.collect::<Result<_, _>>().map(Test::OneOf)
        };
        if let Some(inner) = test.one_of() {
            let at = at.clone().key("one_of");
            return match (self.field.kind, inner) {
                (FieldKind::Frames, _) => Ok(Test::OneOf(vec![self.resolve(inner, &at)?])),
                // A list alone is the words in their order.
                (FieldKind::Words, Test::OneOf(tests)) => Ok(Test::OneOf(vec![each(tests, &at)?])),
                _ => self.resolve(inner, &at),
            };
        }
        match test {
            Test::Capture(_) if self.field.kind == FieldKind::Duration => {
                let message =
                    format!("{self} is another in each run, so no capture can stand for it");
                Err(Fault {
                    message,
                    help: Some(RANGE_OF_TIME.to_owned()),
                    at: at.clone(),
                })
            }
            Test::Capture(_) if self.field.kind == FieldKind::Frames => Err(Fault {
                message: format!("no capture can stand for {self}, the functions that led to it"),
                help: None,
                at: at.clone(),
            }),
            Test::Any | Test::Capture(_) | Test::Words(_) => Ok(test.clone()),
            Test::OneOf(tests) if self.field.kind == FieldKind::Words => {
                here(self.words(tests), at.clone())
            }
            Test::OneOf(tests) => each(tests, at),
            Test::Not(test) => self
                .resolve(test, &at.clone().key("not"))
                .map(|test| Test::Not(Box::new(test))),
            Test::Spelled(test) if matches!(self.field.kind, FieldKind::Path | FieldKind::File) => {
                let test = self.resolve(test, &at.clone().key("text"));
                test.map(|test| Test::Spelled(Box::new(test)))
            }
            Test::Spelled(_) => {
                let message = format!("{self} is {}, and no path", self.kind());
                here(Err((message, None)), at.clone().key("text"))
            }
            Test::Is(Literal::Number(number)) => {
                here(self.number(*number), at.clone().key("equals"))
            }
            Test::Is(Literal::Text(text)) => here(self.text(text), at.clone().key("equals")),
            Test::Prefix(_) => here(self.textual("prefix", test), at.clone().key("prefix")),
            Test::Glob(_) => here(self.textual("glob", test), at.clone().key("glob")),
            Test::Regex(_) => here(self.textual("regex", test), at.clone().key("regex")),
            Test::Contains(words) => self.contains(words, test, &at.clone().key("contains")),
            Test::Range(..) => here(self.range(test), at.clone().key("range")),
        }
    }

    /// How many bytes of contents must be read for a test.
    pub(super) fn contents(&self, test: &Test) -> Option<u16> {
        let length = |text: &str| {
            // The working directory, which stands for more bytes than its name has.
            if text.contains("$DIR") {
                return Some(MOST_CONTENTS);
            }
            let bytes = u16::try_from(text.len()).ok()?;
            (bytes <= MOST_CONTENTS).then(|| bytes.saturating_add(1).min(MOST_CONTENTS))
        };
        match test {
            Test::Any => Some(0),
            Test::Is(Literal::Text(text)) | Test::Prefix(text) => length(text),
            Test::OneOf(tests) => {
                let each: Option<Vec<u16>> = tests.iter().map(|test| self.contents(test)).collect();
                Some(each?.into_iter().max().unwrap_or_default())
            }
            Test::Not(test) | Test::Spelled(test) => self.contents(test),
            Test::Contains(words) => {
                let all: Option<Vec<u16>> = words.iter().map(|word| length(word)).collect();
                all.map(|_| MOST_CONTENTS)
            }
            Test::Is(Literal::Number(_))
            | Test::Capture(_)
            | Test::Glob(_)
            | Test::Regex(_)
            | Test::Words(_)
            | Test::Range(..) => Some(MOST_CONTENTS),
        }
    }

    /// Whether it is certainly a text that is no name of a number.
    pub(super) fn is_text(&self) -> bool {
        matches!(
            self.field.kind,
            FieldKind::Path
                | FieldKind::Text
                | FieldKind::Words
                | FieldKind::Ip
                | FieldKind::Contents
                | FieldKind::Frames
        )
    }

    /// Whether it is the function that a program was in when a software event fired.
    fn is_function_of_program(&self) -> bool {
        self.word == "function" && SoftwareEvent::parse(self.event).is_some()
    }

    /// What the field is, with an article.
    pub(super) fn kind(&self) -> &'static str {
        match self.field.kind {
            FieldKind::Path => "a path",
            FieldKind::Text => "a text",
            FieldKind::Words => "a list of words",
            FieldKind::Ip => "an IP address",
            FieldKind::Contents => "what is read or written",
            FieldKind::File => "a descriptor",
            FieldKind::Task | FieldKind::TaskOfMachine => "a task",
            FieldKind::Process => "a process of the run",
            FieldKind::Number => "a number",
            FieldKind::Octal => "permissions",
            FieldKind::Address | FieldKind::Mapped => "an address",
            FieldKind::Names(_) | FieldKind::Flags => "a set of names",
            FieldKind::Signal => "a signal",
            FieldKind::Signals => "a set of signals",
            FieldKind::Whole => "a structure or a list",
            FieldKind::SignalCode => "a signal's code",
            FieldKind::State => "what became of it",
            FieldKind::Duration => "a length of time",
            FieldKind::Frames => "a function's name",
            FieldKind::Anything => "a value",
        }
    }

    fn number(&self, number: i128) -> Result<Test, Wrong> {
        let test = Test::Is(Literal::Number(number));
        if self.is_text() {
            let message = format!("{self} is {}, not a number", self.kind());
            return Err((message, Some(format!("quote it: \"{number}\""))));
        }
        if self.field.kind == FieldKind::Duration {
            return Err(self.no_duration(&number.to_string()));
        }
        if self.field.kind == FieldKind::Process {
            return Err(self.is_not(&number.to_string(), PROCESS));
        }
        if self.field.kind == FieldKind::TaskOfMachine && number != 0 {
            return Err(self.is_not(&number.to_string(), &self.of_machine()));
        }
        self.error_by_number(number)?;
        self.has_room_for(number)?;
        if matches!(self.field.kind, FieldKind::Signals | FieldKind::Whole) && number != 0 {
            return Err(self.is_not(&number.to_string(), self.in_brackets()));
        }
        if self.field.kind == FieldKind::Octal && !(0..8).contains(&number) && number != -1 {
            let message = format!("{self} is written in octal digits and quoted");
            return Err((message, quoted_octal(number)));
        }
        Ok(test)
    }

    fn text(&self, text: &str) -> Result<Test, Wrong> {
        let as_it_is = || Ok(Test::Is(Literal::Text(text.to_owned())));
        if self.field.kind == FieldKind::Ip {
            return self.ip(text);
        }
        // A trace says how far into it: `main+0x30`.
        if self.is_function_of_program() && !text.contains("+0x") {
            let inside = Test::Prefix(format!("{text}+0x"));
            return as_it_is().map(|alone| Test::OneOf(vec![alone, inside]));
        }
        if self.is_text() {
            return as_it_is();
        }
        if self.field.kind == FieldKind::Duration {
            let range = Test::range_of_time(text).ok_or_else(|| self.no_duration(text))?;
            return range.map_err(|message| (message, None));
        }
        if let Some(name) = self.error(text)? {
            return Ok(Test::Is(Literal::Text(name.to_owned())));
        }
        if let Some(range) = Test::range(text) {
            return range
                .map_err(|message| (message, None))
                .and_then(|range| self.range(&range));
        }
        if self.field.kind == FieldKind::Octal && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return self.octal(text);
        }
        if let Some(number) = numeral(text) {
            self.error_by_number(number)?;
            self.has_room_for(number)?;
            return match self.field.kind {
                // A name that is made of digits, too.
                FieldKind::File | FieldKind::Anything => as_it_is(),
                FieldKind::Process => Err(self.is_not(text, PROCESS)),
                FieldKind::Signals | FieldKind::Whole if number != 0 => {
                    Err(self.is_not(text, self.in_brackets()))
                }
                FieldKind::TaskOfMachine if number != 0 => {
                    Err(self.is_not(text, &self.of_machine()))
                }
                _ => Ok(Test::Is(Literal::Number(number))),
            };
        }
        match self.field.kind {
            FieldKind::Names(_) | FieldKind::Flags => {
                let words = || text.split('|').map(str::trim);
                words().try_for_each(|word| self.name(word))?;
                match self.field.kind {
                    FieldKind::Names(names) => {
                        let shown = names.as_shown(words()).join("|");
                        Ok(Test::Is(Literal::Text(shown)))
                    }
                    _ => as_it_is(),
                }
            }
            FieldKind::Signal => self.signal(text).and_then(|()| as_it_is()),
            FieldKind::SignalCode => self.signal_code(text).and_then(|()| as_it_is()),
            FieldKind::State => self.state(text).and_then(|()| as_it_is()),
            FieldKind::Signals if !is_shown_for_address(text) => self.set_of_signals(text),
            FieldKind::Whole if !is_in_brackets(text) => Err(self.is_not(text, self.in_brackets())),
            FieldKind::TaskOfMachine if self.is_of_call() || task(text).is_none() => {
                Err(self.is_not(text, &self.of_machine()))
            }
            FieldKind::Task | FieldKind::TaskOfMachine => match task(text) {
                Some(name) => Ok(Test::Is(Literal::Text(name))),
                None => {
                    let message = format!("{self} is a task, not `{}`", text.escape_debug());
                    let help = "a task is P1, P2.T2 or a number; to take any write `any`";
                    Err((message, Some(help.to_owned())))
                }
            },
            FieldKind::Process => match task(text) {
                Some(name) if !name.contains(".T") => Ok(Test::Is(Literal::Text(name))),
                _ => Err(self.is_not(text, PROCESS)),
            },
            FieldKind::Octal => Err(self.is_not(text, IN_OCTAL)),
            FieldKind::Number if self.field.is_result => {
                let help = "an error is written by its name, ENOENT; a range \"1..=4\"";
                Err(self.is_not(text, help))
            }
            FieldKind::Number => Err(self.is_not(text, IN_RANGE)),
            FieldKind::Address | FieldKind::Mapped => match is_shown_for_address(text) {
                true => as_it_is(),
                false => Err(self.no_address(text)),
            },
            FieldKind::Path
            | FieldKind::Text
            | FieldKind::Words
            | FieldKind::Ip
            | FieldKind::Contents
            | FieldKind::Signals
            | FieldKind::Whole
            | FieldKind::File
            | FieldKind::Duration
            | FieldKind::Frames
            | FieldKind::Anything => as_it_is(),
        }
    }

    /// A flag, a mode or a command.
    fn name(&self, word: &str) -> Result<(), Wrong> {
        let names: Vec<&str> = match self.field.kind {
            FieldKind::Names(names) if names.knows(word) => return Ok(()),
            FieldKind::Names(names) => names.names().map(|(name, _)| name).collect(),
            FieldKind::Flags => uring::flag_names().collect(),
            _ => return Ok(()),
        };
        if numeral(word).is_some() || names.contains(&word) {
            return Ok(());
        }
        let message = format!("{self} is never `{}`", word.escape_debug());
        let help = match nearest(word, names.iter().copied()) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if names.len() <= 12 => Some(format!("its names are {}", names.join(", "))),
            None => None,
        };
        Err((message, help))
    }

    /// A test of the text of a value.
    fn textual(&self, operator: &str, test: &Test) -> Result<Test, Wrong> {
        match self.field.kind {
            FieldKind::Ip => self.part_of_ip(test),
            FieldKind::Signals | FieldKind::Whole => match test {
                Test::Prefix(text) if !is_in_brackets(text) => {
                    Err(self.is_not(text, self.in_brackets()))
                }
                _ => Ok(test.clone()),
            },
            FieldKind::Duration => {
                let message = format!("{self} is {}, which `{operator}` does not fit", self.kind());
                Err((message, Some(RANGE_OF_TIME.to_owned())))
            }
            FieldKind::Address if !may_be_hexadecimal(test) => {
                let message = format!("{self} is {}, which `{operator}` does not fit", self.kind());
                Err((message, Some(self.instead())))
            }
            FieldKind::Number | FieldKind::Octal if !self.field.is_result => {
                let message = format!("{self} is {}, which `{operator}` does not fit", self.kind());
                let help = match self.field.kind {
                    FieldKind::Octal => IN_OCTAL,
                    _ => IN_RANGE,
                };
                Err((message, Some(help.to_owned())))
            }
            _ => Ok(test.clone()),
        }
    }

    fn contains(&self, words: &[String], test: &Test, at: &KeyPath) -> Result<Test, Fault> {
        let fault = |at: KeyPath| move |(message, help): Wrong| Fault { message, help, at };
        for (place, words) in words.iter().enumerate() {
            for word in words.split('|') {
                let at = at.clone().index(place);
                self.name(word.trim()).map_err(fault(at))?;
            }
        }
        let test = self.textual("contains", test).map_err(fault(at.clone()))?;
        if self.field.kind == FieldKind::Signals {
            return self
                .signals(words)
                .map(|()| test)
                .map_err(fault(at.clone()));
        }
        let FieldKind::Names(names) = self.field.kind else {
            return Ok(test);
        };
        // By its bits, as a trace shows only the name of another flag that has them.
        let bits = |word: &str| match names.shared_bits(word.trim()) {
            Some(bits) => format!("{bits:#x}"),
            None => word.trim().to_owned(),
        };
        let words = words.iter().map(|words| {
            let words: Vec<String> = words.split('|').map(bits).collect();
            words.join("|")
        });
        Ok(Test::Contains(words.collect()))
    }
}

impl std::fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { event, word, .. } = self;
        match *word {
            "returns" => write!(f, "what `{event}` returns"),
            "process" => f.write_str("the process"),
            "program" => f.write_str("the program's name"),
            _ => write!(f, "`{word}` of `{event}`"),
        }
    }
}
