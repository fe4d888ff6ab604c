//! What is asked of a run of which little is told.

use crate::mutate::tests::{deed, file, number, path, threads};
use crate::mutate::{Least, Mutant, Mutants, Number, Recorded, Step, Tells, Thread, Told};
use crate::trace::Deed;
use std::collections::BTreeSet;
use syscall_model::Signatures;

/// Expectations of one kind: each event of these names is a step of its own.
struct OfNames {
    steps: Vec<(&'static str, Number, bool, &'static [&'static str])>,
    only: Option<&'static str>,
}

impl Tells for OfNames {
    fn number(&self, step: Step) -> Number {
        self.steps[step].1
    }

    fn is_ordered(&self, step: Step) -> bool {
        self.steps[step].2
    }

    fn of(&self, deed: &Deed) -> Told {
        let steps = self.steps.iter().enumerate();
        let steps = steps.filter(|(_, (name, ..))| *name == &*deed.name);
        let fields = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Told {
            steps: steps.map(|(step, it)| (step, fields(it.3))).collect(),
            allowed_by: BTreeSet::new(),
            is_forbidden: self.only.is_some_and(|only| *only != *deed.name),
        }
    }
}

const EACH: Number = Number {
    least: Least::Each,
    most: None,
};

/// The mutants of what is told, as `operator event field`, and how many changes were left out.
fn told(threads: &[Thread], tells: &OfNames) -> (BTreeSet<String>, usize) {
    let signatures = Signatures::new(Box::new(|_| None));
    let recorded = Recorded {
        threads,
        absent: &["chmod".to_owned()],
        chosen_by: &BTreeSet::new(),
        tells: Some(tells),
        signatures: &signatures,
    };
    let mutants = Mutants::of(&recorded);
    let untold = mutants.n_untold();
    let kind = |it: Mutant| {
        let field = it.field.map(|field| format!(" {field}"));
        format!("{} {}{}", it.operator, it.event, field.unwrap_or_default())
    };
    (mutants.map(kind).collect(), untold)
}

fn saving() -> Vec<Thread> {
    threads(&[&[
        deed("write", &[file("fd", "new", 1)], number("returns", 3)),
        deed("write", &[file("fd", "new", 1)], number("returns", 4)),
        deed("fsync", &[file("fd", "new", 1)], number("returns", 0)),
        deed("rename", &[path("oldname", "new")], number("returns", 0)),
        deed("close", &[file("fd", "new", 1)], number("returns", 0)),
    ]])
}

fn kinds(kinds: &[&str]) -> BTreeSet<String> {
    kinds.iter().map(|kind| (*kind).to_owned()).collect()
}

#[test]
fn of_an_order_only_its_events_are_moved_and_only_what_has_no_like_is_left_out() {
    let tells = OfNames {
        steps: vec![
            ("write", EACH, true, &["fd"]),
            ("fsync", EACH, true, &["returns"]),
            ("rename", EACH, true, &[]),
        ],
        only: None,
    };
    let (asked, untold) = told(&saving(), &tells);
    let expected = kinds(&[
        "drop fsync",
        "drop rename",
        "drop_all write",
        "swap write",
        "swap fsync",
        "exchange write",
        "delay write",
        "delay fsync",
        "edit fsync returns",
    ]);
    assert_eq!(asked, expected);
    assert_ne!(untold, 0);
}

#[test]
fn an_event_of_two_like_steps_may_not_be_left_out_where_two_came() {
    let step = ("write", EACH, true, &["fd"][..]);
    let tells = OfNames {
        steps: vec![step, step],
        only: None,
    };
    let (asked, _) = told(&saving(), &tells);
    let expected = kinds(&["drop write", "drop_all write", "edit write fd"]);
    assert_eq!(asked, expected);
}

#[test]
fn of_a_number_one_more_and_one_less_are_asked_at_its_ends_alone() {
    let between = |least, most| Number {
        least: Least::Number(least),
        most,
    };
    let asked = |number| {
        let tells = OfNames {
            steps: vec![("write", number, false, &[])],
            only: None,
        };
        told(&saving(), &tells).0
    };
    let exactly = [
        "drop write",
        "drop_all write",
        "insert write",
        "repeat write",
    ];
    assert_eq!(asked(between(2, Some(2))), kinds(&exactly));
    assert_eq!(asked(between(1, Some(3))), kinds(&["drop_all write"]));
    assert_eq!(asked(between(0, None)), kinds(&[]));
}

#[test]
fn an_event_that_is_not_among_those_that_may_come_is_inserted() {
    let tells = OfNames {
        steps: Vec::new(),
        only: Some("write"),
    };
    let (asked, _) = told(&saving(), &tells);
    assert!(asked.contains("insert chmod"), "{asked:?}");
    assert!(!asked.contains("insert write"), "{asked:?}");
    assert!(!asked.contains("drop write"), "{asked:?}");
}
