//! Tells differences between kernels from variation on one of them.

use super::classify::{Told, compare};
use super::verdicts::of_verdict;
use super::{Answer, Class, Difference, Facts, What};
use std::collections::BTreeSet;

/// The answers of a kernel to a scenario, each different answer once.
struct Runs<'a> {
    facts: &'a Facts,
    /// How many runs there were.
    n: usize,
    answers: Vec<&'a Answer>,
}

impl<'a> Runs<'a> {
    fn of((facts, answers): (&'a Facts, &'a [Answer])) -> Self {
        let mut different: Vec<&Answer> = Vec::new();
        for answer in answers {
            if !different.iter().any(|known| known.is_as(answer)) {
                different.push(answer);
            }
        }
        Self {
            facts,
            n: answers.len(),
            answers: different,
        }
    }

    /// Returns the differences between runs on this kernel, such as names of temporary files, in
    /// both directions.
    fn variations(&self) -> BTreeSet<What> {
        let mut all = BTreeSet::new();
        for (place, one) in self.answers.iter().enumerate() {
            for (other_place, other) in self.answers.iter().enumerate() {
                if place != other_place {
                    let found = compare((self.facts, one), (self.facts, other));
                    all.extend(found.into_iter().map(|it| it.what));
                }
            }
        }
        all
    }
}

/// Returns the differences of the answers of `other` from those of `base`, each once. Several
/// answers of a kernel come from several runs. What differs between every run on one kernel and
/// every run on the other is a difference; what differs in only some, or also between runs on one
/// kernel, is noise.
#[must_use]
pub fn explain(base: (&Facts, &[Answer]), other: (&Facts, &[Answer])) -> Vec<Difference> {
    let runs = (Runs::of(base), Runs::of(other));
    let mut found: Vec<(Difference, usize)> = Vec::new();
    let (mut n_pairs, mut n_verdicts) = (0, 0);
    let mut verdicts = None;
    for before in &runs.0.answers {
        for after in &runs.1.answers {
            n_pairs += 1;
            if before.verdict != after.verdict {
                n_verdicts += 1;
                verdicts.get_or_insert((before, after));
            }
            for difference in compare((runs.0.facts, before), (runs.1.facts, after)) {
                match found.iter_mut().find(|(it, _)| it.what == difference.what) {
                    Some((_, n)) => *n += 1,
                    None => found.push((difference, 1)),
                }
            }
        }
    }
    let mut all: Vec<Difference> = Vec::new();
    let mut varies = runs.0.variations();
    varies.append(&mut runs.1.variations());
    for (difference, n) in found {
        let difference = if n == n_pairs && !varies.contains(&difference.what) {
            difference
        } else {
            noise(difference, &runs)
        };
        if !all.iter().any(|it| it.what == difference.what) {
            all.push(difference);
        }
    }
    let is_explained = all.iter().any(|it| it.class != Class::Noise);
    match verdicts {
        Some((before, after)) if n_verdicts == n_pairs && !is_explained => {
            let is_steady = runs.0.n.min(runs.1.n) > 1;
            let told = Told::between(runs.0.facts, runs.1.facts);
            all.push(of_verdict(&told, before, after, is_steady));
        }
        Some((before, after)) if n_verdicts < n_pairs && all.is_empty() => {
            let told = Told::between(runs.0.facts, runs.1.facts);
            all.push(noise(of_verdict(&told, before, after, false), &runs));
        }
        _ => {}
    }
    for difference in &mut all {
        blame_machine(difference, base.0, other.0);
    }
    all.sort_by_key(|difference| difference.class);
    all
}

/// If one kernel is the host's and the other a guest's, a difference may come from the kernel or
/// from the machine.
fn blame_machine(difference: &mut Difference, base: &Facts, other: &Facts) {
    let is_open = matches!(difference.class, Class::Behaviour | Class::Path);
    if !is_open || base.on_host == other.on_host {
        return;
    }
    let place = |facts: &Facts| {
        if facts.on_host {
            "on the host"
        } else {
            "in a guest"
        }
    };
    difference.class = Class::Environment;
    difference.evidence.push(format!(
        "  {} ran {} and {} {}: it may be the machine",
        base.release,
        place(base),
        other.release,
        place(other)
    ));
}

/// Turns a difference into noise, which has neither more nor less.
fn noise(difference: Difference, runs: &(Runs<'_>, Runs<'_>)) -> Difference {
    let varies = |runs: &&Runs<'_>| runs.answers.len() > 1;
    let on = [&runs.0, &runs.1].into_iter().filter(varies);
    let mut on: Vec<&str> = on.map(|runs| runs.facts.release.as_str()).collect();
    on.dedup();
    let mut evidence = vec![format!("not in every run on {}:", on.join(", "))];
    evidence.extend(difference.evidence);
    let what = match difference.what {
        What::Less(of) => What::More(of),
        what => what,
    };
    Difference {
        class: Class::Noise,
        within: difference.within,
        what,
        evidence,
    }
}
