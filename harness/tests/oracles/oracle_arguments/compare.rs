//! Whether two texts of an argument say the same.
//!
//! What differs by nature is in [`nature`]; everything else is compared letter by letter.

use super::super::support::calls::Outcome;
use super::super::support::harness::Syscall;
use super::super::support::spoken::{self, Spoken};
use super::nature;

/// What came of the comparison of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Finding {
    /// Both show the same.
    Equal,
    /// strace shows what an address leads to, and that is left to strace: [`nature::is_left`]; or
    /// the call never returned, and strace shows what it had filled in before.
    OnlyStrace,
    /// The tracer shows what the address leads to, and strace the address.
    OnlyOurs,
    /// strace shows a string, and the tracer does not.
    Unread,
    /// Both show something, and it is not the same.
    Unequal,
}

/// One argument of one call.
pub(super) struct Argument<'a> {
    pub(super) call: &'a str,
    pub(super) place: usize,
    /// The kernel's name for it.
    pub(super) name: &'a str,
    pub(super) ours: String,
    pub(super) theirs: String,
    pub(super) finding: Finding,
}

/// What stands for an argument that one of the two does not have.
const ABSENT: &str = "(absent)";

/// Compares all arguments of a call.
pub(super) fn arguments<'a>(ours: &'a Syscall, theirs: &Spoken) -> Vec<Argument<'a>> {
    if nature::WITHOUT_ARGUMENTS.contains(&ours.name.as_str()) {
        return Vec::new();
    }
    let theirs = nature::in_order_of_the_kernel(ours, theirs);
    let count = ours.args.len().max(theirs.len());
    let compared = (0..count).filter_map(|place| {
        let argument = ours.args.get(place);
        let our = argument.map_or(ABSENT.to_owned(), |argument| {
            nature::without_files(&argument.text)
        });
        let their = theirs
            .get(place)
            .cloned()
            .unwrap_or_else(|| Some(ABSENT.to_owned()))?;
        let their = nature::as_ours(&ours.name, place, &their, &our);
        let is_left =
            nature::is_left(&ours.name, place, &their) || ours.outcome() == Outcome::Never;
        let finding = match (finding(&our, &their), is_left) {
            (Finding::OnlyStrace, false) => Finding::Unequal,
            (Finding::Unread, true) => Finding::OnlyStrace,
            (finding, _) => finding,
        };
        Some(Argument {
            call: &ours.name,
            place,
            name: argument.map_or("", |argument| &argument.name),
            finding,
            theirs: their,
            ours: our,
        })
    });
    compared.collect()
}

/// Goes through both texts, token by token: the worst that is found.
fn finding(ours: &str, theirs: &str) -> Finding {
    let (mut ours, mut theirs) = (ours, theirs);
    let mut worst = Finding::Equal;
    loop {
        let (our, their) = (first_token(ours), first_token(theirs));
        let (found, in_theirs) = match (Form::of(our), Form::of(their)) {
            _ if our == their && our.is_empty() => return worst,
            _ if our == their => (Finding::Equal, their.len()),
            (Form::String, Form::String) if is_beginning(their, our) => {
                (Finding::Equal, their.len())
            }
            // What the kernel has written behind one of the addresses.
            (Form::End, _) if theirs.starts_with(" => {") => return worst.max(Finding::OnlyStrace),
            (Form::Address, Form::String) => (Finding::Unread, their.len()),
            // A message in a format that strace knows.
            (Form::Address | Form::String, Form::Structure) => {
                (Finding::OnlyStrace, length_of_structure(theirs))
            }
            (Form::String | Form::Structure, Form::Address) => {
                return worst.max(Finding::OnlyOurs);
            }
            _ => return Finding::Unequal,
        };
        worst = worst.max(found);
        ours = ours.get(our.len()..).unwrap_or_default();
        theirs = theirs.get(in_theirs..).unwrap_or_default();
    }
}

/// What a token is the beginning of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Address,
    String,
    Structure,
    Other,
    End,
}

impl Form {
    fn of(token: &str) -> Self {
        match token.as_bytes() {
            [] => Self::End,
            [b'"', ..] => Self::String,
            [b'[' | b'{' | b'~', ..] => Self::Structure,
            [b'0', b'x', ..] | b"<unread>" => Self::Address,
            _ => Self::Other,
        }
    }
}

/// A string with its dots, a word, or one character.
fn first_token(text: &str) -> &str {
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let length = match text.as_bytes() {
        [] => 0,
        [b'"', ..] => {
            let string = spoken::length_of_string(text.as_bytes()).unwrap_or(text.len());
            let has_dots = text
                .get(string..)
                .is_some_and(|rest| rest.starts_with("..."));
            if has_dots { string + 3 } else { string }
        }
        _ if text.starts_with("<unread>") => "<unread>".len(),
        [first, ..] if first.is_ascii_alphanumeric() => text
            .find(|letter| !is_of_word(letter))
            .unwrap_or(text.len()),
        _ => text.chars().next().map_or(0, char::len_utf8),
    };
    text.get(..length).unwrap_or_default()
}

/// Whether the first string is cut, and the second goes on where it ends.
fn is_beginning(cut: &str, whole: &str) -> bool {
    cut.strip_suffix("\"...")
        .is_some_and(|beginning| whole.starts_with(beginning) && whole.len() > cut.len())
}

/// How long the list or structure is that the text begins with.
fn length_of_structure(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let token = first_token(rest);
        at += token.len();
        depth += match token {
            "[" | "{" | "(" => 1,
            "]" | "}" | ")" => -1,
            _ => 0,
        };
        if depth == 0 && token != "~" {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_must_be_there_and_whole() {
        for (ours, theirs, expected) in [
            ("\"/etc\"", "\"/etc\"", Finding::Equal),
            ("<unread>", "\"/etc\"", Finding::Unread),
            ("0x7f00", "\"/etc\"", Finding::Unread),
            ("\"/et\"...", "\"/etc\"", Finding::Unequal),
            ("\"/etc\"", "\"/et\"...", Finding::Unequal),
            ("\"/etc/passwd\"", "\"/et\"...", Finding::Equal),
            ("\"/usr/passwd\"", "\"/et\"...", Finding::Unequal),
            ("{st_mode=0}", "0x7f00", Finding::OnlyOurs),
            ("0x1", "PROT_READ", Finding::Unequal),
            ("(absent)", "0644", Finding::Unequal),
        ] {
            assert_eq!(finding(ours, theirs), expected, "{ours} {theirs}");
        }
    }

    #[test]
    fn what_stands_beside_an_address_in_a_structure_is_compared() {
        for (ours, theirs, expected) in [
            ("0x7f00", "{st_mode=0}", Finding::OnlyStrace),
            (
                "{a=0x1, b=2}",
                "{a=[{c=\"]\"}, 3], b=2}",
                Finding::OnlyStrace,
            ),
            ("{a=0x1, b=2}", "{a=[{c=\"]\"}, 3], b=3}", Finding::Unequal),
            ("{a=0x1, b=2}", "{a=~[INT], b=2}", Finding::OnlyStrace),
            ("{a=0x1, b=2}", "{a=\"x\", b=2}", Finding::Unread),
            ("{a=0x1}", "{a=0x1} => {b=[2]}", Finding::OnlyStrace),
            ("{a=0x1}", "{a=0x1} => 2", Finding::Unequal),
            ("{a=\"bytes\"}", "{a=[{type=1}]}", Finding::OnlyStrace),
        ] {
            assert_eq!(finding(ours, theirs), expected, "{ours} {theirs}");
        }
    }
}
