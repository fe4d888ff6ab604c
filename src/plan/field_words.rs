//! Words for what became of a span, for lengths of time and for where signals come from.

use super::field_tests::{Named, Wrong};
use super::fields::FieldKind;
use crate::scenario::{Literal, Test, did_you_mean};
use crate::trace::State;
use core::net::IpAddr;
use syscall_model::signal_codes;

pub(super) const RANGE_OF_TIME: &str =
    "a length of time is written \"..=10ms\", \"1s..\" or \"200us..=1ms\"";

impl Named<'_> {
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
            _ => Ok(range.clone()),
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
        match text.parse::<IpAddr>() {
            Ok(ip) => Ok(Test::Is(Literal::Text(ip.to_canonical().to_string()))),
            Err(_) => {
                let message = format!("{self} is {}, not `{}`", self.kind(), text.escape_debug());
                let help = "an address is written 127.0.0.1 or \"::1\"; many of them by `prefix`";
                Err((message, Some(help.to_owned())))
            }
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
