//! The states of random logs, against all subsets of their pieces.
//!
//! Nothing of the crate is used but its types: the pieces, their order, what is durable and what a
//! disk holds are written down here a second time, in the slowest way.

mod logs;
mod naive;

use std::collections::BTreeSet;
use std::ops::Range;

use crate::crash::{Coverage, Log, Model, Pieces};
use logs::Dice;

/// The threads that share the logs: with one, this test would go on for long when all others have
/// ended.
const THREADS: u64 = 4;

/// Compares the states of `count` logs; returns how many there were. Each tenth log has at most
/// `many` pieces, the others `few`.
fn compare(count: u64, bounds: (usize, usize), seed: u64) -> usize {
    std::thread::scope(|scope| {
        let shares =
            (0..THREADS).map(|share| share * count / THREADS..(share + 1) * count / THREADS);
        let threads: Vec<_> = shares
            .map(|cases| scope.spawn(move || compare_share(cases, bounds, seed)))
            .collect();
        let states = threads.into_iter().map(|thread| thread.join());
        states.map(|states| states.expect("a share")).sum()
    })
}

fn compare_share(cases: Range<u64>, (few, many): (usize, usize), seed: u64) -> usize {
    let mut states = 0;
    for case in cases {
        let mut dice = Dice(seed.wrapping_mul(0x1_0000_0001).wrapping_add(case));
        let model = logs::model(&mut dice);
        let pieces = if case % 10 == 0 { many } else { few };
        let log = logs::log(&mut dice, &model, pieces);
        let expected = naive::states(&log, &model);
        let cut = Pieces::new(&log, &model);
        let explored = cut.explore(1 << 20, 1);
        let context = || format!("case {case} of {seed}: {model:?}\n{:#?}", log.steps());
        assert_eq!(
            explored.coverage(),
            Coverage::All(expected.len()),
            "{}",
            context()
        );
        let mut found = BTreeSet::new();
        for state in explored {
            let tree = naive::describe(&cut.tree(&state));
            let added = found.insert((tree, state.acknowledged));
            assert!(added, "a state twice: {state:?}\n{}", context());
        }
        assert_eq!(found, expected, "{}", context());
        if case % 4 == 1 {
            allowed(&cut, &log, &found, &context);
        }
        if case % 4 == 0 {
            bounded(&cut, &found, dice.below(1 << 20), &context);
        }
        if case % 4 == 2 {
            behind(cut, &found, &mut dice, &context);
        }
        states += found.len();
    }
    states
}

/// Asks of the folders that any model leaves of a log whether this one does.
fn allowed(
    cut: &Pieces,
    log: &Log,
    all: &BTreeSet<(Vec<u8>, usize)>,
    context: &dyn Fn() -> String,
) {
    for name in ["posix", "ordered"] {
        let other = Pieces::new(log, &Model::named(name).expect("a model"));
        let states = other.explore(40, 1).map(|state| other.tree(&state));
        for tree in states.chain(cut.explore(40, 1).map(|state| cut.tree(&state))) {
            let described = naive::describe(&tree);
            let expected = all.iter().any(|(known, _)| *known == described);
            let allows = (0..=log.steps().len()).any(|returned| cut.allow(returned, &tree));
            assert_eq!(allows, expected, "{tree:?}\n{}", context());
        }
    }
}

/// Begins behind an acknowledgement: the states are those of which no fewer were made.
fn behind(
    mut cut: Pieces,
    all: &BTreeSet<(Vec<u8>, usize)>,
    dice: &mut Dice,
    context: &dyn Fn() -> String,
) {
    let most = all.iter().map(|(_, made)| *made).max().unwrap_or(0);
    let least = usize::try_from(dice.below(most as u64 + 1)).expect("a number");
    cut.begin_behind(least);
    let expected: BTreeSet<_> = all.iter().filter(|it| it.1 >= least).cloned().collect();
    let found = cut.explore(1 << 20, 1);
    let found: BTreeSet<_> = found
        .map(|state| (naive::describe(&cut.tree(&state)), state.acknowledged))
        .collect();
    assert_eq!(found, expected, "behind {least}: {}", context());
    let trees: BTreeSet<_> = expected.iter().map(|(tree, _)| tree).collect();
    assert!(!cut.are_settled() || trees.len() == 1, "{}", context());
    bounded(&cut, &expected, dice.below(1 << 20), context);
}

/// Explores with a bound below the number of states: each is one of them, none comes twice.
fn bounded(
    cut: &Pieces,
    all: &BTreeSet<(Vec<u8>, usize)>,
    seed: u64,
    context: &dyn Fn() -> String,
) {
    let most = all.len() / 2;
    let explored = cut.explore(most, seed);
    if let Coverage::Some { below_log2 } = explored.coverage() {
        assert!(
            all.len() as u128 <= 1 << below_log2.min(127),
            "{}",
            context()
        );
    }
    let mut found = BTreeSet::new();
    for state in explored {
        let key = (naive::describe(&cut.tree(&state)), state.acknowledged);
        assert!(all.contains(&key), "{state:?}\n{}", context());
        assert!(found.insert(key), "a state twice: {state:?}\n{}", context());
    }
    assert_eq!(found.len(), most, "{}", context());
}

#[test]
fn all_states_of_ten_thousand_logs_are_those_of_all_subsets() {
    let states = compare(10_000, (4, 8), 1);
    assert!(states > 50_000, "the logs are too poor: {states} states");
}

/// `CRASH_LOGS=1000 CRASH_SEED=7 cargo test --release -- --ignored`.
#[test]
#[ignore = "takes minutes"]
fn all_states_of_larger_logs_are_those_of_all_subsets() {
    let number = |name: &str, default| {
        std::env::var(name)
            .ok()
            .map_or(default, |text| text.parse().expect("a number"))
    };
    compare(
        number("CRASH_LOGS", 1000),
        (14, 18),
        number("CRASH_SEED", 2),
    );
}
