//! Moments of a run.

use super::super::{Mark, Scene, Unmarked, tally};
use super::{deeds, expected};
use crate::scenario::Pattern;
use crate::trace::{Deed, Value};

fn found(mark: &Mark, trace: &str) -> Result<u64, Unmarked> {
    let deeds = deeds(trace);
    let deeds: Vec<&Deed> = deeds.iter().collect();
    mark.find(&Scene::new(&deeds)).map(|deed| deed.entered)
}

fn written(trace: &str) -> Result<u64, Unmarked> {
    found(&Mark::Written(b"go".to_vec()), trace)
}

fn not(why: &str) -> Result<u64, Unmarked> {
    Err(Unmarked::Not(why.to_owned()))
}

#[test]
fn a_mark_is_written_whole_in_one_call_with_a_line_feed_or_without() {
    let write = |text: &str, length: usize| {
        format!("P1 10-11 write(fd=1, buf={text}, count={length}) = EBADF")
    };
    assert_eq!(written(&write("\"go\"", 2)), Ok(10));
    let mut fed = deeds(&write("\"go \"", 3));
    for part in fed.iter_mut().flat_map(|deed| &mut deed.fields) {
        if let Value::Bytes { bytes, .. } = &mut part.value {
            *bytes = b"go\n".to_vec();
        }
    }
    let fed: Vec<&Deed> = fed.iter().collect();
    let found = Mark::Written(b"go".to_vec())
        .find(&Scene::new(&fed))
        .map(|deed| deed.entered);
    assert_eq!(found, Ok(10));
    for other in [
        write("\"g\"", 1),
        write("\"gone\"", 4),
        write("\"ga\"", 2),
        write("\"go \"", 3),
    ] {
        assert_eq!(
            written(&other),
            not("the mark \"go\" never came"),
            "{other}"
        );
    }
    assert_eq!(
        written("P1 read(fd=1, buf=\"go\", count=2) = 2"),
        not("the mark \"go\" never came")
    );
    assert_eq!(
        written("P2 4-5 pwrite64(fd=1, buf=\"go\", count=2, pos=0) = 2"),
        Ok(4)
    );
}

#[test]
fn a_mark_that_comes_again_is_none_and_says_from_whom() {
    let trace = "P1 write(fd=1, buf=\"go\", count=2) = 2\nP1 write(fd=1, buf=\"go\", count=2) = 2\n\
                 P2.T2 write(fd=1, buf=\"go\", count=2) = 2";
    assert_eq!(
        written(trace),
        not("the mark \"go\" came 3 times: 2 of P1, 1 of P2.T2")
    );
}

#[test]
fn what_was_not_read_may_be_the_mark_if_it_has_its_length() {
    let unread = |length: usize| format!("P1 write(fd=1, buf=<unread>, count={length}) = {length}");
    for length in [2, 3] {
        assert!(matches!(
            written(&unread(length)),
            Err(Unmarked::Unknown(_))
        ));
    }
    let known = "P2 40-41 write(fd=1, buf=\"go\", count=2) = 2";
    assert_eq!(written(&format!("{}\n{known}", unread(4))), Ok(40));
    assert!(matches!(
        written(&format!("{}\n{known}", unread(2))),
        Err(Unmarked::Unknown(_))
    ));
}

#[test]
fn a_step_is_a_mark_and_is_counted() {
    let step = expected("sequence: [{ openat: { path: a } }]");
    let Some(Pattern::Step(matcher)) = step.sequence.first() else {
        panic!("{step:?}");
    };
    let open = |path: &str| format!("P1 openat(filename:path={path}) = 3");
    let mark = Mark::Step(matcher.clone());
    assert_eq!(found(&mark, &open("p\"a\"")), Ok(2));
    assert!(matches!(
        found(&mark, &open("p\"b\"")),
        Err(Unmarked::Not(_))
    ));
    let trace = [open("p\"a\""), open("<unread>"), open("p\"b\"")].join("\n");
    assert!(matches!(found(&mark, &trace), Err(Unmarked::Unknown(_))));
    let deeds = deeds(&trace);
    let deeds: Vec<&Deed> = deeds.iter().collect();
    assert_eq!(tally(matcher, &Scene::new(&deeds)), (1, 2));
}
