//! Drawn names that lie beside each other: what some of them begin with was not drawn.

use super::drawn::varying;
use perf_records::glob::{open_at, path_glob};
use std::collections::{BTreeMap, BTreeSet};

/// So many letters are drawn by `mkstemp(3)`; none draws fewer.
const DRAWN: usize = 6;

/// A family has at least one of so many names that have one shape: no more families are told apart.
const MOST: usize = 8;

/// The globs of those names of one folder that look drawn. Names of one shape that begin alike keep
/// what they begin with, if that is no chance: `pp??????` of `ppR4xk1Q`, `ppa0bWzz` and `ppX9d2Lm`.
#[must_use]
pub fn families(names: &BTreeSet<&str>) -> BTreeSet<String> {
    let mut of_shape: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for name in names {
        let shape = varying(name);
        if open_at(&shape).is_some() {
            of_shape.entry(shape).or_default().insert(name);
        }
    }
    let mut globs = BTreeSet::new();
    // One that was drawn as a whole may look like a word with a number, too.
    let whole: Vec<String> = of_shape.keys().filter(|it| is_whole(it)).cloned().collect();
    let is_one = |name: &&str| whole.iter().any(|shape| path_glob(shape, name));
    of_shape.retain(|shape, names| !shape.contains('*') || !names.iter().all(is_one));
    for (shape, names) in of_shape {
        let Some((begin, end)) = drawn_word(&shape) else {
            globs.insert(shape);
            continue;
        };
        let word = |name: &&'_ str| name.get(begin..end).map(str::to_owned);
        let words: BTreeSet<String> = names.iter().filter_map(word).collect();
        let has_word = names.iter().all(|name| name.get(begin..end).is_some());
        if !has_word {
            globs.insert(shape);
            continue;
        }
        for front in fronts(&words) {
            let kept = begin + front.len();
            let open = shape.get(kept..).unwrap_or_default();
            let plain = shape.get(..begin).unwrap_or_default();
            globs.insert(format!("{plain}{front}{open}"));
        }
    }
    globs
}

fn is_whole(shape: &str) -> bool {
    shape.bytes().all(|c| c == b'?')
}

/// Where the first word of a shape is that was drawn as a whole, if all in front of it is plain.
fn drawn_word(shape: &str) -> Option<(usize, usize)> {
    let begin = shape.find(['?', '*', '['])?;
    let open = shape.get(begin..)?;
    let length = open.len() - open.trim_start_matches('?').len();
    let is_python = shape.get(..begin)?.ends_with("tmp");
    (length > DRAWN && shape.is_ascii() && !is_python).then_some((begin, begin + length))
}

/// What words of one length begin with that was not drawn; an empty one where nothing is known.
fn fronts(words: &BTreeSet<String>) -> BTreeSet<String> {
    let length = words.first().map_or(0, String::len);
    let mut rest: BTreeSet<&str> = words.iter().map(String::as_str).collect();
    let mut fronts: BTreeSet<String> = BTreeSet::new();
    for n in (1..=length.saturating_sub(DRAWN)).rev() {
        let mut of_front: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (front, drawn) in rest.iter().filter_map(|word| word.split_at_checked(n)) {
            of_front.entry(front).or_default().push(drawn);
        }
        of_front.retain(|front, drawn| {
            is_word(front) && is_no_chance(n, drawn.len(), words.len()) && differ_at_once(drawn)
        });
        fronts.extend(of_front.into_keys().map(str::to_owned));
        rest.retain(|word| !fronts.iter().any(|front| word.starts_with(&**front)));
    }
    // One alone that has the form of these: Python draws no capitals.
    let of_form = |word: &&str| {
        let known = fronts.iter().map(String::len).max()?;
        let (front, drawn) = word.split_at_checked(known)?;
        let is_of_form = is_word(front) && drawn.contains(|c: char| c.is_ascii_uppercase());
        is_of_form.then(|| front.to_owned())
    };
    let alone = rest.iter().map(|word| of_form(word).unwrap_or_default());
    let alone: BTreeSet<String> = alone.collect();
    let is_told_apart = fronts.len() + alone.len() <= MOST;
    match is_told_apart || alone.is_empty() {
        true => fronts.extend(alone),
        false => drop(fronts.insert(String::new())),
    }
    fronts
}

fn is_word(front: &str) -> bool {
    front.bytes().all(|c| c.is_ascii_lowercase() || c == b'_')
}

/// Whether so many names do not have so many letters in common because they were drawn so.
fn is_no_chance(letters: usize, names: usize, all: usize) -> bool {
    names.saturating_sub(1).saturating_mul(letters) >= 4 && names.saturating_mul(MOST) >= all
}

/// Whether what follows differs from its first letter on: else more of it is not drawn anew for
/// each name, as of a time, of which nothing stays in the next run.
fn differ_at_once(drawn: &[&str]) -> bool {
    let first: BTreeSet<Option<char>> = drawn.iter().map(|it| it.chars().next()).collect();
    first.len() > 1
}

#[cfg(test)]
mod tests {
    use super::families;

    fn check(names: &[&str], globs: &[&str]) {
        let found = families(&names.iter().copied().collect());
        let globs = globs.iter().map(|glob| (*glob).to_owned()).collect();
        assert_eq!(found, globs, "{names:?}");
    }

    #[test]
    fn names_that_begin_alike_keep_what_they_begin_with() {
        let pp = ["ppR4xk1Q", "ppa0bWzz", "ppX9d2Lm"];
        check(&pp, &["pp??????"]);
        let po = ["po0MqqIT", "po3qWlxK", "poZZb1aa"];
        check(&[pp, po].concat(), &["pp??????", "po??????"]);
        // One alone that has their form; what Python draws has no capitals, and no front.
        check(
            &[&pp[..], &["prR4xk1Q"]].concat(),
            &["pp??????", "pr??????"],
        );
        check(
            &[&pp[..], &["6b1qk2_0"]].concat(),
            &["pp??????", "????????"],
        );
        check(
            &["log.ccR4xk1Qab.o", "log.cca0bWzz3d.o", "log.ccX9d2Lm00.o"],
            &["log.cc????????.o"],
        );
    }

    #[test]
    fn many_names_that_stand_alone_are_no_families() {
        let pp = ["ppR4xk1Q", "ppa0bWzz", "ppX9d2Lm"];
        let globs = |n| {
            let alone: Vec<String> = ('a'..).take(n).map(|c| format!("{c}qR4xk1Q")).collect();
            let all = pp.into_iter().chain(alone.iter().map(String::as_str));
            families(&all.collect())
        };
        assert_eq!(globs(7).len(), 8);
        assert_eq!(globs(8), ["????????", "pp??????"].map(str::to_owned).into());
    }

    #[test]
    fn names_that_were_not_drawn_have_none() {
        check(&["settings", "a[b]", "what?", "x*y"], &[]);
    }

    #[test]
    fn names_that_begin_alike_by_chance_or_by_the_time_keep_nothing() {
        check(&["ppR4xk1Q"], &["????????"]);
        check(&["pR4xk1Q0", "pa0bWzz1"], &["????????"]);
        check(&["mig3k2x1", "mig3k2x9", "mig3k2z4"], &["????????"]);
        check(&["65f3a1b2", "65f7a1b3", "6592a1b4"], &["????????"]);
        let many = (0..500_u32).map(|n| format!("{:08x}", n.wrapping_mul(2_654_435_761)));
        let many: Vec<String> = many.collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let globs = families(&many.iter().copied().collect());
        assert!(globs.contains("????????") && globs.len() < 8, "{globs:?}");
    }
}
