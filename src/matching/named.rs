//! Tests of what has several names: a file that a path led to, or that a descriptor refers to.

use super::answer::Answer;
use super::field::{self, Captures, has_capture};
use super::paths::climbs;
use crate::scenario::{Literal, Test};
use crate::trace::{Part, Reached, Value};

/// Whether a part is what the author wrote, by any of its names; or by each of them, where that is
/// what it takes.
///
/// A file has the name that the call was given, unless a `..` is in it, which may lead elsewhere
/// than its text says, and all names that it had in the run so far. Where it is not known which
/// file it is, no name that does not fit tells anything.
pub(super) fn holds(
    test: &Test,
    part: &Part,
    is_closed: bool,
    captures: &mut dyn Captures,
) -> Answer {
    let reached = match &part.value {
        Value::Path { reached, .. } | Value::File { reached, .. } => reached,
        _ => &Reached::Untold,
    };
    if *reached == Reached::Untold || has_capture(test) {
        return field::holds(test, part, captures);
    }
    if matches!(part.value, Value::File { .. }) && is_of_numbers(test) {
        return field::holds(test, part, captures);
    }
    match test {
        Test::Any => return field::holds(test, part, captures),
        Test::Spelled(test) => return field::holds(test, part, captures),
        Test::OneOf(tests) if tests.iter().any(is_spelled) => {
            let answers = tests
                .iter()
                .map(|test| holds(test, part, is_closed, captures));
            return answers.fold(Answer::No, Answer::or);
        }
        Test::Not(test) if is_spelled(test) => {
            return holds(test, part, is_closed, captures).opposite();
        }
        _ => {}
    }
    let mut spelled = || field::holds(test, part, captures);
    match reached {
        Reached::Untold => field::holds(test, part, captures),
        Reached::Unknown(_) => match (is_closed, spelled()) {
            (true, answer) => answer.and(Answer::Unknown),
            (false, answer) if is_plain(part) => answer.or(Answer::Unknown),
            (false, _) => Answer::Unknown,
        },
        // What only the machine's own links do is no affair of the scenario's.
        Reached::Known { is_led: false, .. } if is_closed => spelled(),
        Reached::Known { names, .. } => {
            let is_spelled = is_plain(part) || names.is_empty();
            let mut answers: Vec<Answer> = Vec::new();
            if is_spelled {
                answers.push(field::holds(test, part, captures));
            }
            for name in names {
                answers.push(field::holds(test, &called(part, name), captures));
            }
            let mut answers = answers.into_iter();
            let first = answers.next().unwrap_or(Answer::Unknown);
            answers.fold(first, if is_closed { Answer::and } else { Answer::or })
        }
    }
}

/// Whether the number of a descriptor decides.
fn is_of_numbers(test: &Test) -> bool {
    match test {
        Test::Is(Literal::Number(_)) | Test::Range(..) => true,
        Test::Is(Literal::Text(text)) => field::numeral(text).is_some(),
        Test::OneOf(tests) => tests.iter().all(is_of_numbers),
        Test::Not(test) => is_of_numbers(test),
        _ => false,
    }
}

/// Whether the spelling is compared.
fn is_spelled(test: &Test) -> bool {
    match test {
        Test::Spelled(_) => true,
        Test::Not(test) => is_spelled(test),
        Test::OneOf(tests) => tests.iter().any(is_spelled),
        _ => false,
    }
}

/// Whether what it is called leads where it says.
fn is_plain(part: &Part) -> bool {
    match &part.value {
        Value::Path { given, .. } => !climbs(given) && !given.is_empty(),
        Value::File { name, .. } => !climbs(name),
        _ => true,
    }
}

/// The same under another name.
fn called(part: &Part, by: &[u8]) -> Part {
    let mut called = part.clone();
    match &mut called.value {
        Value::Path {
            given,
            absolute,
            reached,
        } => {
            *given = by.to_vec();
            *absolute = Some(by.to_vec());
            *reached = Reached::Untold;
        }
        Value::File { name, reached, .. } => {
            *name = by.to_vec();
            *reached = Reached::Untold;
        }
        _ => {}
    }
    called
}

/// Why it is not known which file a part is.
pub(super) fn why_unknown(part: &Part) -> Option<&str> {
    match &part.value {
        Value::Path {
            reached: Reached::Unknown(why),
            ..
        }
        | Value::File {
            reached: Reached::Unknown(why),
            ..
        } => Some(why),
        _ => None,
    }
}
