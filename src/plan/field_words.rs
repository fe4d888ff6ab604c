//! Words for what became of a span, for lengths of time and for where signals come from.

use super::field_tests::{Named, Wrong};
use super::fields::FieldKind;
use crate::matching::numeral;
use crate::scenario::{Literal, Test, did_you_mean, nearest};
use crate::trace::State;
use core::net::IpAddr;
use syscall_model::errno::{errno_name, errno_names};
use syscall_model::signals::known_signal;
use syscall_model::{names, signal_codes};

pub(super) const RANGE_OF_TIME: &str =
    "a length of time is written \"..=10ms\", \"1s..\" or \"200us..=1ms\"";

pub(super) const IN_RANGE: &str = "a range is written \"1..=4\", \"2..\" or \"..=3\"";

const AN_ADDRESS: &str = "an address is a number, \"0x1000\"; many of them are a range, \"4096..\"";

pub(super) const PROCESS: &str =
    "a trace names it P1, P2 and so on, and never by a number; to take any write `any`";

const TASK_OF_MACHINE: &str = "a task is P1, P2.T2; its number is the machine's, which \
    no scenario can know, and 0 is the idle task; to take any write `any`";

pub(super) const IN_OCTAL: &str = "permissions are octal digits in quotes, \"0640\"; what else it \
    may be is one more of a list";

/// The other names of errors: what strace and so the trace call them.
const SAME_ERRORS: [(&str, &str); 3] = [
    ("EWOULDBLOCK", "EAGAIN"),
    ("ENOTSUP", "EOPNOTSUPP"),
    ("EDEADLOCK", "EDEADLK"),
];

/// How a number that is meant as permissions is written.
pub(super) fn quoted_octal(number: i128) -> Option<String> {
    let digits = number.to_string();
    let is_octal = |digit: u8| matches!(digit, b'0'..=b'7');
    match u32::try_from(number) {
        Ok(_) if digits.bytes().all(is_octal) => Some(format!("quote it: \"0{number}\"")),
        Ok(number) => Some(format!("{number} in octal digits is \"0{number:o}\"")),
        Err(_) => None,
    }
}

/// Whether a trace has this text in the place of some address: `NULL`, `<addr>`, `<heap+0x10>`.
pub(super) fn is_shown_for_address(text: &str) -> bool {
    text == "NULL" || (text.starts_with('<') && text.ends_with('>'))
}

/// Whether some address in hexadecimal digits may pass a test of texts.
pub(super) fn may_be_hexadecimal(test: &Test) -> bool {
    match test {
        Test::Prefix(text) | Test::Glob(text) => text.starts_with("0x"),
        Test::Regex(regex) => regex.as_str().trim_start_matches('^').starts_with("0x"),
        _ => false,
    }
}

/// Whether a value of memory, or what a descriptor refers to, decides over a test of it.
pub(super) fn looks_behind(test: &Test, kind: FieldKind) -> bool {
    match test {
        Test::Any => false,
        Test::Is(Literal::Number(_)) | Test::Range(..) | Test::Capture(_) => {
            kind != FieldKind::File
        }
        Test::Is(Literal::Text(text)) => kind != FieldKind::File || numeral(text).is_none(),
        Test::OneOf(tests) => tests.iter().any(|test| looks_behind(test, kind)),
        Test::Not(test) | Test::Spelled(test) => looks_behind(test, kind),
        Test::Prefix(_) | Test::Glob(_) | Test::Regex(_) => true,
        Test::Contains(_) | Test::Words(_) => true,
    }
}

/// A task's name in a trace: `P2`, `P2.T3`.
pub(super) fn task(text: &str) -> Option<String> {
    let number = |text: &str| {
        let number: u32 = text.parse().ok()?;
        (number > 0 && number.to_string() == text).then_some(number)
    };
    let (process, thread) = match text.split_once(".T") {
        Some((process, thread)) => (process, number(thread)?),
        None => (text, 1),
    };
    let process = number(process.strip_prefix('P')?)?;
    Some(match thread {
        1 => format!("P{process}"),
        thread => format!("P{process}.T{thread}"),
    })
}

impl Named<'_> {
    /// Whether it is of a call's own tracepoint, which has what the call was given and no more.
    pub(super) fn is_of_call(&self) -> bool {
        self.event.starts_with("syscalls:sys_enter_")
    }

    /// What is written of a task that is the machine's number in a record.
    pub(super) fn of_machine(&self) -> String {
        match self.is_of_call() {
            true => self.instead(),
            false => TASK_OF_MACHINE.to_owned(),
        }
    }

    /// That a number is one that it can be.
    pub(super) fn has_room_for(&self, number: i128) -> Result<(), Wrong> {
        let (least, most) = self.field.room.ends();
        if (least..=most).contains(&number) {
            return Ok(());
        }
        let message = format!("{self} is never {number}: it is within {least}..={most}");
        Err((message, None))
    }

    /// That a result is asked for the number of an error, which a trace has by its name.
    pub(super) fn error_by_number(&self, number: i128) -> Result<(), Wrong> {
        if !self.field.is_result || !(-4095..=-2).contains(&number) {
            return Ok(());
        }
        let message = format!("an error is expected by its name, not by {number}");
        let name = i32::try_from(-number).ok().and_then(errno_name);
        Err((message, name.map(|name| format!("write {name}"))))
    }

    /// The error that a text names, where the field can be one.
    pub(super) fn error(&self, text: &str) -> Result<Option<&'static str>, Wrong> {
        let looks_so = text.starts_with('E')
            && text.len() > 2
            && text
                .bytes()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        if !self.field.is_result || !looks_so {
            return Ok(None);
        }
        let same = SAME_ERRORS.iter().find(|(other, _)| *other == text);
        if let Some((_, name)) = same {
            return Ok(Some(name));
        }
        if let Some(name) = errno_names().find(|name| *name == text) {
            return Ok(Some(name));
        }
        let near = nearest(text, errno_names()).map(|near| format!("did you mean `{near}`?"));
        // A file that a descriptor refers to may have such a name.
        if near.is_none() && self.field.kind == FieldKind::File {
            return Ok(None);
        }
        Err((format!("unknown error `{text}`"), near))
    }

    pub(super) fn signal(&self, text: &str) -> Result<(), Wrong> {
        let known: Vec<_> = (1..=64).filter_map(known_signal).collect();
        if known.iter().any(|name| name == text) {
            return Ok(());
        }
        let whole = format!("SIG{}", text.to_uppercase().trim_start_matches("SIG"));
        let near = nearest(&whole, known.iter().map(AsRef::as_ref));
        let help = near.map(|near| format!("did you mean `{near}`?"));
        Err((format!("unknown signal `{}`", text.escape_debug()), help))
    }

    /// That it is another thing than a text.
    pub(super) fn is_not(&self, text: &str, help: &str) -> Wrong {
        let message = format!("{self} is {}, not `{}`", self.kind(), text.escape_debug());
        (message, Some(help.to_owned()))
    }

    pub(super) fn no_address(&self, text: &str) -> Wrong {
        self.is_not(text, &self.instead())
    }

    /// What is written in place of a text, where it is an address.
    pub(super) fn instead(&self) -> String {
        match self.event.strip_prefix("syscalls:sys_enter_") {
            Some(call) => {
                let call = names::of_tracefs(call).unwrap_or(call);
                format!("what lies there is in the call: name `{call}` instead")
            }
            None => AN_ADDRESS.to_owned(),
        }
    }

    pub(super) fn no_duration(&self, text: &str) -> Wrong {
        let message = format!(
            "{self} is a length of time, never exactly `{}`",
            text.escape_debug()
        );
        (message, Some(RANGE_OF_TIME.to_owned()))
    }

    pub(super) fn range(&self, range: &Test) -> Result<Test, Wrong> {
        if self.is_text() {
            let message = format!("{self} is {}, so it is in no range", self.kind());
            return Err((message, None));
        }
        match self.field.kind {
            FieldKind::Duration => {
                let message = format!("the ends of {self} have no unit");
                Err((message, Some(RANGE_OF_TIME.to_owned())))
            }
            FieldKind::Octal => {
                let message = format!("{self} is bits, and in no range");
                Err((message, Some("write a list of what it may be".to_owned())))
            }
            FieldKind::Process | FieldKind::TaskOfMachine => {
                let help = match self.field.kind {
                    FieldKind::Process => PROCESS.to_owned(),
                    _ => self.of_machine(),
                };
                let message = format!("{self} is a name, and in no range");
                Err((message, Some(help)))
            }
            _ if self.field.is_result && matches!(range, Test::Range(_, Some(..-1))) => {
                let message = "an error is expected by its name, and -1 is any error".to_owned();
                Err((message, Some("write ENOENT, or -1".to_owned())))
            }
            FieldKind::Signals | FieldKind::Whole => {
                let message = format!("{self} is {}, and in no range", self.kind());
                Err((message, Some(self.in_brackets().to_owned())))
            }
            _ => match (range, self.field.room.ends()) {
                (Test::Range(Some(from), _), (_, most)) if *from > most => self.has_room_for(*from),
                (Test::Range(_, Some(to)), (least, _)) if *to < least => self.has_room_for(*to),
                _ => Ok(()),
            }
            .map(|()| range.clone()),
        }
    }

    /// Permissions, with or without a 0 in front.
    pub(super) fn octal(&self, text: &str) -> Result<Test, Wrong> {
        let bits = u32::from_str_radix(text, 8);
        let bits = bits.map(|bits| Test::Is(Literal::Number(bits.into())));
        bits.map_err(|_| (format!("{self} has octal digits"), None))
    }

    /// An address as the trace has it: one of IPv4 as that, however it is written.
    pub(super) fn ip(&self, text: &str) -> Result<Test, Wrong> {
        let help = "an address is written 127.0.0.1 or \"::1\"; many of them by `prefix`";
        match text.parse::<IpAddr>() {
            Ok(ip) => Ok(Test::Is(Literal::Text(ip.to_canonical().to_string()))),
            Err(_) => Err(self.is_not(text, help)),
        }
    }

    /// A test of a part of an address, whose hexadecimal digits are small.
    pub(super) fn part_of_ip(&self, test: &Test) -> Result<Test, Wrong> {
        let text = match test {
            Test::Prefix(text) | Test::Glob(text) => text,
            Test::Regex(regex) => regex.as_str().trim_start_matches('^'),
            Test::Contains(all) => &all.concat(),
            _ => return Ok(test.clone()),
        };
        let small = text.to_ascii_lowercase();
        let is_part = |c: char| c.is_ascii_hexdigit() || ".:*?[]{}!^,-".contains(c);
        let is_text = !matches!(test, Test::Regex(_));
        if is_text && !small.chars().all(is_part) {
            let message = format!("{self} is {}, never `{}`", self.kind(), text.escape_debug());
            return Err((message, None));
        }
        if small.starts_with("::ffff:") {
            let message = format!("{self} has IPv4 addresses in their own form alone");
            return Err((message, Some("write it without `::ffff:`".to_owned())));
        }
        Ok(match test {
            Test::Prefix(_) => Test::Prefix(small),
            Test::Glob(_) => Test::Glob(small),
            Test::Contains(all) => {
                Test::Contains(all.iter().map(|part| part.to_ascii_lowercase()).collect())
            }
            _ => test.clone(),
        })
    }

    pub(super) fn state(&self, text: &str) -> Result<(), Wrong> {
        let words = State::ALL.map(State::word);
        if words.contains(&text) {
            return Ok(());
        }
        let message = format!("{self} is never `{}`", text.escape_debug());
        let all = || format!("it is {}", words.join(", "));
        Err((message, Some(did_you_mean(text, words).unwrap_or_else(all))))
    }

    pub(super) fn signal_code(&self, text: &str) -> Result<(), Wrong> {
        if signal_codes().any(|name| name == text) {
            return Ok(());
        }
        Err((
            format!("unknown code of a signal `{}`", text.escape_debug()),
            did_you_mean(text, signal_codes()),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::fields::{Field, FieldKind};
    use crate::scenario::KeyPath;

    fn resolved(test: &Test) -> Result<String, String> {
        let ip = Named {
            field: Field::plain(FieldKind::Ip),
            event: "connect",
            word: "ip",
        };
        let resolved = ip.resolve(test, &KeyPath::root());
        let resolved = resolved.map(|test| format!("{test:?}"));
        resolved.map_err(|fault| fault.message)
    }

    fn is(text: &str) -> Test {
        Test::Is(Literal::Text(text.to_owned()))
    }

    #[test]
    fn an_address_is_the_same_however_it_is_written() {
        for (written, shown) in [
            ("127.0.0.1", "127.0.0.1"),
            ("::ffff:127.0.0.1", "127.0.0.1"),
            ("::FFFF:7f00:1", "127.0.0.1"),
            ("0:0:0:0:0:0:0:1", "::1"),
            ("FE80::1", "fe80::1"),
        ] {
            assert_eq!(resolved(&is(written)), Ok(format!("{:?}", is(shown))));
        }
        let small = Test::Prefix("fe80:".to_owned());
        assert_eq!(
            resolved(&Test::Prefix("FE80:".to_owned())),
            Ok(format!("{small:?}"))
        );
        let not = |text| Test::Not(Box::new(is(text)));
        assert_eq!(
            resolved(&not("::FFFF:1.2.3.4")),
            Ok(format!("{:?}", not("1.2.3.4")))
        );
    }

    #[test]
    fn what_no_address_can_be_is_refused() {
        for text in ["localhost", "127.0.0.01", "127.1", "127.0.0.1:80", ""] {
            let message = format!("`ip` of `connect` is an IP address, not `{text}`");
            assert_eq!(resolved(&is(text)), Err(message));
        }
        for test in [
            Test::Prefix("local".to_owned()),
            Test::Glob("*.example".to_owned()),
            Test::Prefix("::ffff:127.".to_owned()),
            Test::Glob("::FFFF:*".to_owned()),
            Test::Is(Literal::Number(127)),
        ] {
            assert!(resolved(&test).is_err(), "{test:?}");
        }
    }
}
