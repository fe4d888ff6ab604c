//! Words for what a trace has as a whole: lists of words, sets of signals, structures.

use super::field_tests::{Named, Wrong};
use super::field_words::is_shown_for_address;
use super::fields::FieldKind;
use crate::scenario::{Literal, Test};
use syscall_model::signals::{shown_set, signal_number};

/// Whether a text may be the whole of a structure, a list or a set, or stands for an address.
pub(super) fn is_in_brackets(text: &str) -> bool {
    text.starts_with(['[', '{', '~', '"']) || is_shown_for_address(text)
}

impl Named<'_> {
    /// What is written of something that a trace has in brackets.
    pub(super) fn in_brackets(&self) -> &'static str {
        match self.field.kind {
            FieldKind::Signals => {
                "one of them is written { contains: SIGINT }, and all of them \"[INT TERM]\""
            }
            _ => {
                "a part of it is written { contains: \"..\" }, and the whole as a trace has it: \
                 \"[1, 2]\", \"{..}\""
            }
        }
    }

    /// The words of a list, in their order.
    pub(super) fn words(&self, tests: &[Test]) -> Result<Test, Wrong> {
        let words = tests.iter().map(|test| match test {
            Test::Is(Literal::Text(text)) => Ok(text.clone()),
            Test::Is(Literal::Number(number)) => {
                let message = format!("a word of {self} is a text, not a number");
                Err((message, Some(format!("quote it: \"{number}\""))))
            }
            _ => {
                let message =
                    format!("{self} is a list of words, and a list of words alone is one");
                let help = "one of several is { one_of: [..] }, a word in it { contains: .. }";
                Err((message, Some(help.to_owned())))
            }
        });
        words.collect::<Result<_, _>>().map(Test::Words)
    }

    /// A whole set of signals, as a trace has it.
    pub(super) fn set_of_signals(&self, text: &str) -> Result<Test, Wrong> {
        let (is_all_but, inside) = match text.strip_prefix('~') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let inside = inside.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        let Some(inside) = inside else {
            return Err(self.is_not(text, self.in_brackets()));
        };
        let words = inside.split([' ', ',']).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(str::to_owned).collect();
        self.signals(&words)?;
        let numbers = words.iter().filter_map(|word| signal_number(word));
        let bits = numbers.fold(0, |bits: u64, number| bits | 1 << (number - 1));
        let bits = if is_all_but { !bits } else { bits };
        Ok(Test::Is(Literal::Text(shown_set(bits))))
    }

    /// Signals in a set, with or without `SIG`.
    pub(super) fn signals(&self, words: &[String]) -> Result<(), Wrong> {
        let mut words = words.iter().flat_map(|words| words.split('|'));
        words.try_for_each(|word| match signal_number(word.trim()) {
            Some(_) => Ok(()),
            None => self.signal(word.trim()),
        })
    }
}
