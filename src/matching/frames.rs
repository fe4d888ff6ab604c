//! Tests the functions that led to an event.
//!
//! A frame without a name may be any function, and a cut chain may go on with any: a function that
//! is not found there is unknown, not missing.

use super::answer::Answer;
use crate::scenario::{Literal, Test};
use perf_records::glob::path_glob;

/// Whether one of the functions passes; for a list, whether all of them occur in this order, from
/// the innermost outwards.
pub(super) fn hold(test: &Test, names: &[Option<Box<str>>], is_cut: bool) -> Answer {
    match test {
        Test::Any => Answer::unless_more(names.iter().any(Option::is_some), is_cut),
        Test::Not(test) => hold(test, names, is_cut).opposite(),
        Test::OneOf(tests) => {
            if in_order(tests, names, false) {
                Answer::Yes
            } else {
                Answer::unless_more(false, is_cut || in_order(tests, names, true))
            }
        }
        test => {
            let is_known = names.iter().flatten().any(|name| is(test, name));
            Answer::unless_more(is_known, is_cut || names.iter().any(Option::is_none))
        }
    }
}

/// The functions that a test is about, each by the test of its name.
#[must_use]
pub fn functions_of(test: &Test) -> Vec<&Test> {
    match test {
        Test::Any => Vec::new(),
        Test::Not(test) => functions_of(test),
        Test::OneOf(tests) => tests.iter().flat_map(functions_of).collect(),
        test => vec![test],
    }
}

/// Whether a function of this name passes its test.
#[must_use]
pub fn is_function(test: &Test, name: &str) -> bool {
    is(test, name)
}

fn in_order(tests: &[Test], names: &[Option<Box<str>>], is_unknown_any: bool) -> bool {
    let mut names = names.iter();
    tests.iter().all(|test| {
        names.any(|name| match name {
            Some(name) => is(test, name),
            None => is_unknown_any,
        })
    })
}

fn is(test: &Test, name: &str) -> bool {
    match test {
        Test::Is(Literal::Text(text)) => {
            text == name || path_glob(text.as_bytes(), name.as_bytes())
        }
        Test::Prefix(prefix) => name.starts_with(prefix.as_str()),
        Test::Glob(text) => path_glob(text.as_bytes(), name.as_bytes()),
        Test::Regex(regex) => regex.is_match(name.as_bytes()),
        Test::Contains(all) => all.iter().all(|piece| name.contains(piece.as_str())),
        Test::Not(test) => !is(test, name),
        Test::OneOf(tests) => tests.iter().any(|test| is(test, name)),
        Test::Any => true,
        Test::Is(Literal::Number(_)) | Test::Capture(_) | Test::Range(..) => false,
        Test::Words(_) | Test::Spelled(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Test {
        Test::Is(Literal::Text(text.to_owned()))
    }

    fn list(names: &[&str]) -> Test {
        Test::OneOf(names.iter().map(|name| text(name)).collect())
    }

    fn names(names: &[&str]) -> Vec<Option<Box<str>>> {
        let known = |name: &&str| (**name != *"?").then(|| (*name).into());
        names.iter().map(known).collect()
    }

    #[test]
    fn some_frame_is_the_function_and_a_list_is_an_order() {
        let chain = names(&["fsync", "h", "g", "f", "main"]);
        for (test, answer) in [
            (text("g"), Answer::Yes),
            (text("ma*"), Answer::Yes),
            (text("commit"), Answer::No),
            (list(&["fsync", "g", "main"]), Answer::Yes),
            (list(&["g", "h"]), Answer::No),
            (Test::Not(Box::new(text("g"))), Answer::No),
            (Test::Not(Box::new(text("x"))), Answer::Yes),
        ] {
            assert_eq!(hold(&test, &chain, false), answer, "{test:?}");
        }
    }

    #[test]
    fn one_of_several_functions_is_no_order() {
        let chain = names(&["fsync", "h", "g", "main"]);
        let one_of = |names: &[&str]| Test::OneOf(vec![list(names)]);
        assert_eq!(hold(&one_of(&["g", "h"]), &chain, false), Answer::Yes);
        assert_eq!(hold(&one_of(&["x", "g"]), &chain, false), Answer::Yes);
        assert_eq!(hold(&one_of(&["x", "y"]), &chain, false), Answer::No);
    }

    #[test]
    fn each_function_of_a_test_is_found_by_its_own_name() {
        let not = Test::Not(Box::new(list(&["g", "f_*"])));
        let functions = functions_of(&not);
        assert_eq!(functions.len(), 2);
        assert!(is_function(functions[1], "f_x") && !is_function(functions[1], "g"));
        assert!(functions_of(&Test::Any).is_empty());
    }

    #[test]
    fn what_could_not_be_unwound_makes_nothing_pass_and_nothing_fail() {
        let chain = names(&["fsync", "?", "f"]);
        for (test, answer) in [
            (text("f"), Answer::Yes),
            (text("g"), Answer::Unknown),
            (list(&["fsync", "g", "f"]), Answer::Unknown),
            (list(&["fsync", "g", "h", "f"]), Answer::No),
            (list(&["f", "fsync"]), Answer::No),
            (Test::Not(Box::new(text("g"))), Answer::Unknown),
        ] {
            assert_eq!(hold(&test, &chain, false), answer, "{test:?}");
        }
        let cut = names(&["fsync", "h"]);
        assert_eq!(hold(&text("h"), &cut, true), Answer::Yes);
        assert_eq!(hold(&text("main"), &cut, true), Answer::Unknown);
        assert_eq!(hold(&list(&["main", "h"]), &cut, true), Answer::Unknown);
    }
}
