//! Tests values with several names: the file that a path led to, or that a descriptor refers to.

use super::answer::Answer;
use super::field::{self, Captures, Free, has_capture};
use super::paths::{climbs, is_absolute as is_from_root};
use crate::scenario::{Literal, Test};
use crate::trace::{Part, Reached, Value};

/// Whether a part passes the author's test by one of its names; or by all of them, if the test
/// requires that.
///
/// A file has the name in the call, unless that contains a `..`, which may lead elsewhere than the
/// text says, and is not what the test asks for; and all names that it had in the run so far. If it
/// is not known which file it is, a name that fails the test decides nothing.
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
        Test::Spelled(test) => return field::spelled(test, part, captures),
        Test::OneOf(tests) if tests.iter().any(is_spelled) => {
            let answers = tests
                .iter()
                .map(|test| holds(test, part, is_closed, captures));
            return answers.fold(Answer::No, Answer::or);
        }
        Test::Not(test) if is_spelled(test) || asks_for_stream(test) => {
            return holds(test, part, is_closed, captures).opposite();
        }
        _ => {}
    }
    let goes_by_spelling = is_plain(part) || asks_for_climbs(test);
    let mut spelled = || field::holds(test, part, captures);
    match reached {
        // It was opened by a link of procfs, such as `/dev/stdout`, and what that leads to is not
        // told.
        Reached::Nowhere if is_named_by_path(part) && asks_for_stream(test) => {
            spelled().or(Answer::Unknown)
        }
        Reached::Untold | Reached::Nowhere => spelled(),
        Reached::Unknown(_) => match (is_closed, spelled()) {
            (true, answer) => answer.and(Answer::Unknown),
            (false, answer) if goes_by_spelling => answer.or(Answer::Unknown),
            (false, _) => Answer::Unknown,
        },
        // Links of the machine itself do not concern the scenario; what else the run calls the file
        // does.
        Reached::Known {
            is_led: false,
            names,
        } if is_closed => {
            let mut answer = spelled();
            for name in names.iter().skip(1) {
                answer = answer.and(field::holds(test, &called(part, name), captures));
            }
            answer
        }
        Reached::Known { names, .. } => {
            let mut answers: Vec<Answer> = Vec::new();
            if goes_by_spelling || names.is_empty() {
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

/// Whether a file is among those that a test means: by where it was reached and by every other name
/// that the run gave it.
///
/// A path from the root that goes through links of the machine's own alone may be meant as it is
/// spelled, by `test` and not by `by_place`. The text of any other path may say what the kernel
/// does not do: it starts in a folder that has another name by now.
pub(super) fn is_within(test: &Test, by_place: &Test, part: &Part) -> Answer {
    let spelled = |part: &Part| field::holds(test, part, &mut Free);
    let either = |part: &Part| spelled(part).or(field::holds(by_place, part, &mut Free));
    let (reached, given) = match &part.value {
        Value::Path { reached, given, .. } => (reached, given.as_slice()),
        Value::File { reached, .. } => (reached, &b""[..]),
        Value::UnknownFile { .. } => return Answer::Unknown,
        _ => return either(part),
    };
    match reached {
        Reached::Untold | Reached::Nowhere => either(part),
        // A link of the machine's own may lead to what is meant.
        Reached::Unknown(_) => Answer::Unknown,
        Reached::Known { names, is_led } => {
            let by = |name: &Vec<u8>| either(&called(part, name));
            let Some((first, others)) = names.split_first() else {
                return either(part);
            };
            let is_meant = !is_led && is_plain(part) && is_from_root(given);
            let first = match is_meant {
                true => by(first).or(spelled(part)),
                false => by(first),
            };
            others.iter().map(by).fold(first, Answer::and)
        }
    }
}

/// Whether a test is about the number of a descriptor.
fn is_of_numbers(test: &Test) -> bool {
    match test {
        Test::Is(Literal::Number(_)) | Test::Range(..) => true,
        Test::Is(Literal::Text(text)) => field::numeral(text).is_some(),
        Test::OneOf(tests) => tests.iter().all(is_of_numbers),
        Test::Not(test) => is_of_numbers(test),
        _ => false,
    }
}

/// Whether a test is about the spelling.
fn is_spelled(test: &Test) -> bool {
    match test {
        Test::Spelled(_) => true,
        Test::Not(test) => is_spelled(test),
        Test::OneOf(tests) => tests.iter().any(is_spelled),
        _ => false,
    }
}

/// Whether the file of a descriptor has the path by which it was opened for its name.
fn is_named_by_path(part: &Part) -> bool {
    matches!(&part.value, Value::File { name, .. } if is_from_root(name))
}

/// Whether a test is about what has no path and can be opened by one all the same, through
/// `/proc/self/fd`.
fn asks_for_stream(test: &Test) -> bool {
    match test {
        Test::Is(Literal::Text(text)) => {
            matches!(text.as_str(), "stdin" | "stdout" | "stderr" | "pipe")
        }
        Test::Not(test) => asks_for_stream(test),
        Test::OneOf(tests) => tests.iter().any(asks_for_stream),
        _ => false,
    }
}

/// Whether a test of a text is about a `..` in it, which no name of a file has.
fn asks_for_climbs(test: &Test) -> bool {
    match test {
        Test::Contains(all) => all.iter().any(|text| text.contains("..")),
        Test::Regex(regex) => regex.as_str().contains(r"\.\."),
        Test::Not(test) => asks_for_climbs(test),
        Test::OneOf(tests) => tests.iter().any(asks_for_climbs),
        _ => false,
    }
}

/// Whether the name leads where its text says.
fn is_plain(part: &Part) -> bool {
    match &part.value {
        Value::Path { given, .. } => !climbs(given) && !given.is_empty(),
        Value::File { name, .. } => !climbs(name),
        _ => true,
    }
}

/// Returns the part under another name.
pub(super) fn called(part: &Part, by: &[u8]) -> Part {
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

/// Returns why it is not known which file a part is.
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
