//! Parts of a run.

use super::Story;
use crate::trace::{Deed, Level, Normalised, Stretch, Trace, View};
use syscall_model::Signatures;

fn run() -> Trace {
    let mut story = Story::new(500);
    story.born(0, 0, None);
    for name in ["getpid", "sync", "getuid", "getuid"] {
        story.call(0, name, [0; 6], 0);
    }
    story.born(2, 2, Some(0));
    story.call(2, "gettid", [0; 6], 0);
    story.builder.finish()
}

fn normalised(trace: &Trace, view: &View) -> Normalised {
    trace.normalise(view, &Signatures::new(Box::new(|_| None)))
}

/// The headings and the names below them.
fn words(trace: &Normalised) -> Vec<String> {
    let text = trace.text();
    let lines = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    let word = |line: &str| line.trim().split(['(', ',']).next().map(str::to_owned);
    lines.filter_map(word).collect()
}

fn place(trace: &Normalised, name: &str, of: fn(&Deed) -> u64) -> u64 {
    let deeds = trace.in_order();
    deeds
        .iter()
        .find(|deed| *deed.name == *name)
        .map(|deed| of(deed))
        .unwrap()
}

#[test]
fn a_stretch_is_what_ended_behind_its_beginning_and_began_before_its_end() {
    let stretch = Stretch {
        after: 10,
        before: Some(20),
    };
    for (entered, left, is_in) in [
        (9, 10, false),
        (9, 11, true),
        (19, 30, true),
        (20, 21, false),
        (5, 30, true),
    ] {
        assert_eq!(stretch.holds(entered, left), is_in, "{entered} to {left}");
    }
    assert!(Stretch::from(10).holds(100, 101) && !Stretch::from(10).holds(9, 10));
}

#[test]
fn what_is_shown_of_a_stretch_is_its_deeds_and_those_who_did_them() {
    let mut view = View::default();
    let trace = run();
    let whole = normalised(&trace, &view);
    view.stretch = Some(Stretch {
        after: place(&whole, "sync", |deed| deed.left),
        before: Some(place(&whole, "gettid", |deed| deed.entered)),
    });
    assert_eq!(
        words(&normalised(&trace, &view)),
        ["P1 sh", "getuid", "getuid"]
    );
    view.level = Level::Counts;
    assert_eq!(words(&normalised(&trace, &view)), ["P1 sh", "getuid 2"]);
}

#[test]
fn what_is_cut_off_is_neither_there_nor_counted() {
    let view = View::default();
    let mut trace = run();
    let whole = normalised(&trace, &view);
    trace.cut(
        Stretch::from(place(&whole, "sync", |deed| deed.left)),
        &whole,
    );
    let rest = normalised(&trace, &view);
    assert_eq!(
        words(&rest),
        ["P1 sh", "getuid", "getuid", "P2 sh", "gettid"]
    );
    let counts: Vec<_> = rest.counts().into_iter().collect();
    assert_eq!(counts, [("gettid".to_owned(), 1), ("getuid".to_owned(), 2)]);
}
