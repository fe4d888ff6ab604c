//! The search against one that tries everything.

use super::super::answer::Answer;
use super::super::field::{Free, holds};
use super::super::order::Place;
use super::super::search::{Found, Search};
use super::super::shape::Shape;
use super::super::unify::unify;
use super::notation::deeds;
use super::*;
use crate::trace::Part;
use std::collections::HashMap;

/// Numbers that look random and are the same in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

const NAMES: [&str; 4] = ["a", "b", "read", "clone"];

fn trace(numbers: &mut Numbers) -> String {
    let (mut lines, mut clocks) = (String::new(), [0; 3]);
    for number in 0..7 {
        // A thread makes one call after the other, and no two moments are the same.
        let thread = numbers.below(3) as usize;
        let task = ["P1", "P1.T2", "P2"][thread];
        let entered = 10 * (clocks[thread] + numbers.below(4)) + number;
        let left = entered + 10 * numbers.below(4);
        clocks[thread] = left / 10 + 1;
        let name = numbers.one(&NAMES);
        let values = [
            "1",
            "1",
            "2",
            "<unread>",
            "<3 $DIR/f #1>",
            "<3 $DIR/f #2>",
            "<2 $DIR/g #1>",
        ];
        let value = numbers.one(&values);
        lines += &format!("{task} {entered}-{left} {name}(x={value}) = 0\n");
    }
    lines
}

fn step(numbers: &mut Numbers) -> String {
    let name = numbers.one(&NAMES);
    let tests = ["$x", "$x", "$x", "$y", "1", "{not: 1}", "any"];
    match numbers.below(4) {
        0 => name.to_owned(),
        _ => format!("{name}: {{x: {}}}", numbers.one(&tests)),
    }
}

fn steps(numbers: &mut Numbers) -> String {
    let mut all = vec![step(numbers)];
    for _ in 0..1 + numbers.below(2) {
        let (one, other) = (step(numbers), step(numbers));
        all.push(match numbers.below(6) {
            0 => format!(
                "next: {{{}}}",
                if one.contains(':') {
                    one
                } else {
                    format!("{one}: {{}}")
                }
            ),
            1 => format!("any_order: [{{sequence: [{one}, {other}]}}]"),
            2 => format!("any_order: [{{sequence: [{one}]}}, {other}]"),
            3 => format!("never: [{one}]"),
            _ => one,
        });
    }
    let sequence = all.join(", ");
    match numbers.below(3) {
        0 => format!("sequence: [ {sequence} ]\nany_order: [ {} ]", step(numbers)),
        _ => format!("sequence: [ {sequence} ]"),
    }
}

/// Whether some choice of deeds is what is sought, if what is not known is what is wanted, or is
/// not.
fn occurs(scene: &Scene<'_>, shape: &Shape<'_>, is_lenient: bool, chosen: &mut Vec<Place>) -> bool {
    if chosen.len() == shape.leaves.len() {
        return is_right(scene, shape, is_lenient, chosen);
    }
    (0..scene.deeds.len()).any(|deed| {
        chosen.push(deed);
        let found = occurs(scene, shape, is_lenient, chosen);
        chosen.pop();
        found
    })
}

fn is_right(scene: &Scene<'_>, shape: &Shape<'_>, is_lenient: bool, chosen: &[Place]) -> bool {
    let least = if is_lenient {
        Answer::Unknown
    } else {
        Answer::Yes
    };
    let mut bound: HashMap<String, Part> = HashMap::new();
    for (leaf, deed) in shape.leaves.iter().zip(chosen) {
        let is_after = leaf
            .after
            .iter()
            .all(|it| scene.is_before(chosen[*it], *deed));
        let is_next = !leaf.is_next
            || leaf
                .after
                .iter()
                .map(|it| chosen[*it])
                .max()
                .and_then(|it| scene.next(it))
                == Some(*deed);
        let others = shape.leaves.iter().zip(chosen);
        let of_its_own = others.filter(|(other, it)| other.is_free == leaf.is_free && *it == deed);
        let is_another = of_its_own.count() == 1;
        let fits = answer(scene.deeds[*deed], leaf.matcher, &mut bound) >= least;
        if !(is_after && is_next && is_another && fits) {
            return false;
        }
    }
    shape.gaps.iter().all(|gap| {
        let after: Vec<Place> = gap.after.iter().map(|it| chosen[*it]).collect();
        let before: Vec<Place> = gap.before.iter().map(|it| chosen[*it]).collect();
        (0..scene.deeds.len()).all(|deed| {
            let is_outside = after
                .iter()
                .any(|it| *it == deed || scene.is_before(deed, *it))
                || before
                    .iter()
                    .any(|it| *it == deed || scene.is_before(*it, deed));
            let worst = gap.matchers.iter();
            let worst = worst
                .map(|it| answer(scene.deeds[deed], it, &mut bound.clone()))
                .max();
            let most = if is_lenient {
                Answer::Unknown
            } else {
                Answer::No
            };
            is_outside || worst.is_none_or(|worst| worst <= most)
        })
    })
}

fn answer(deed: &Deed, matcher: &Matcher, bound: &mut HashMap<String, Part>) -> Answer {
    if !matcher.names.contains(&*deed.name) {
        return Answer::No;
    }
    let mut answers = matcher.fields.iter().map(|(word, test)| {
        let part = deed.part(word).unwrap().into_owned();
        match test {
            Test::Capture(name) => unify(
                bound.entry(name.clone()).or_insert_with(|| part.clone()),
                &part,
            ),
            test => holds(test, &part, &mut Free),
        }
    });
    answers.by_ref().min().unwrap_or(Answer::Yes)
}

#[test]
fn the_search_finds_what_trying_everything_finds_and_nothing_else() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut found_before = [0; 3];
    for _ in 0..700 {
        let (text, lines) = (steps(&mut numbers), trace(&mut numbers));
        let expected = expected(&text);
        let deeds = deeds(&lines);
        let deeds: Vec<&Deed> = deeds.iter().collect();
        let scene = Scene::new(&deeds);
        let shape = Shape::new(&expected.sequence, &expected.any_order);
        let mut answers = Vec::new();
        for is_lenient in [false, true] {
            let outer = Bindings::default();
            let mut search = Search::new(&scene, &shape, &outer, is_lenient, MOST_TRIES);
            let found = search.run() == Found::All;
            let is_there = occurs(&scene, &shape, is_lenient, &mut Vec::new());
            assert_eq!(found, is_there, "{text}\n{lines}lenient: {is_lenient}");
            let mut further = Search::new(&scene, &shape, &outer, is_lenient, MOST_TRIES);
            if is_there {
                assert_eq!(
                    further.run_as_far_as_possible(),
                    Found::All,
                    "{text}\n{lines}"
                );
            }
            answers.push(found);
        }
        found_before[usize::from(answers[0]) + usize::from(answers[1])] += 1;
    }
    // Each of the three answers is among the cases, and often.
    assert!(
        found_before.iter().all(|many| *many > 30),
        "{found_before:?}"
    );
}
