//! How much a search takes.

use super::super::search::{Found, Search};
use super::super::shape::Shape;
use super::notation::deeds;
use super::*;

/// What came of a search, and how many deeds it tried.
fn searched(text: &str, trace: &[Deed], most: u64) -> (Found, u64) {
    let expected = expected(text);
    let deeds: Vec<&Deed> = trace.iter().collect();
    let scene = Scene::new(&deeds);
    let shape = Shape::new(&expected.sequence, &expected.any_order);
    let mut search = Search::new(&scene, &shape, &Bindings::default(), false, most);
    (search.run(), search.tries)
}

/// The same lines so often, one after the other; `%` becomes the number of the turn.
fn turns(lines: &str, many: u64) -> Vec<Deed> {
    let alike = (!lines.contains('%')).then(|| deeds(lines));
    let mut all = Vec::new();
    for turn in 0..many {
        let of_turn = || deeds(&lines.replace('%', &turn.to_string()));
        for mut deed in alike.clone().unwrap_or_else(of_turn) {
            deed.entered += 1000 * turn;
            deed.left += 1000 * turn;
            all.push(deed);
        }
    }
    all
}

#[test]
fn what_nothing_can_follow_is_not_tried() {
    let mut trace = turns("P1 write(fd=1) = 1", 20_000);
    let hundred = format!("sequence: [ {} ]", ["write"; 100].join(", "));
    // A step, and the one before it that it cannot be as well.
    assert_eq!(searched(&hundred, &trace, MOST_TRIES), (Found::All, 199));
    // The one that all of them must be followed by is in front of them.
    trace.splice(0..0, deeds("P1 0-0 fsync(fd=1) = 0"));
    let failing = hundred.replace(" ]", ", fsync ]");
    assert_eq!(searched(&failing, &trace, MOST_TRIES), (Found::None, 0));
}

#[test]
fn steps_that_nothing_tells_apart_are_tried_in_one_order() {
    let all = turns("P1 write(fd=1) = 1\nP1 write(fd=2) = 1", 1000);
    let steps = ["write: {fd: 1}"; 1000].join(", ");
    let any_order = format!("any_order: [ {steps} ]");
    assert_eq!(searched(&any_order, &all, MOST_TRIES), (Found::All, 1000));
    // Where one of them is missing, others that could be it are not tried in all orders.
    let fewer = turns("P1 write(fd=1) = 1\nP1 write(fd=2) = 1", 8);
    let nine = ["write: {fd: $fd, returns: 1}", "close: {fd: $fd}"].join(", ");
    let steps = ["write: {returns: 1}"; 8].join(", ");
    let any_order = format!("any_order: [ {steps}, {nine} ]");
    assert_eq!(searched(&any_order, &fewer, MOST_TRIES).0, Found::None);
    let fewer = [fewer, deeds("P1 8000-8001 close(fd=2) = 0")].concat();
    assert_eq!(searched(&any_order, &fewer, MOST_TRIES).0, Found::All);
}

#[test]
fn of_many_files_only_that_is_tried_which_all_steps_have() {
    let mut trace = turns(
        "P1 openat(dfd=AT_FDCWD) = <3 $DIR/a #%>\nP1 openat(dfd=AT_FDCWD) = ENOENT\nP1 close(fd=<3 $DIR/a #%>) = 0",
        30_000,
    );
    let place = trace.len() - 1;
    trace.splice(
        place..place,
        deeds("P1 29999004-29999005 fsync(fd=<3 $DIR/a #29999>) = 0"),
    );
    let steps = "sequence: [ openat: {returns: $fd}, fsync: {fd: $fd}, close: {fd: $fd} ]";
    assert_eq!(searched(steps, &trace, MOST_TRIES), (Found::All, 3));
}

#[test]
fn what_was_in_vain_is_not_tried_again() {
    let mut trace = deeds("P1 0-0 a(x=1) = 0");
    trace.extend(turns("P1 w(x=%) = 0", 40));
    trace.extend(deeds("P1 50000-50001 b(x=2) = 0"));
    // Forty above five are 658008 ways.
    let (found, tries) = searched(
        "sequence: [ a: {x: $x}, w, w, w, w, w, b: {x: $x} ]",
        &trace,
        MOST_TRIES,
    );
    assert_eq!(found, Found::None);
    assert!(tries < 5000, "{tries}");
}

#[test]
fn more_steps_than_deeds_are_noticed_at_once() {
    let trace = turns("P1 w(x=%) = 0", 30);
    let steps = |many| format!("any_order: [ {} ]", vec!["w"; many].join(", "));
    assert_eq!(searched(&steps(30), &trace, MOST_TRIES).0, Found::All);
    assert_eq!(searched(&steps(31), &trace, MOST_TRIES), (Found::None, 0));
}

#[test]
fn what_takes_too_long_is_neither_met_nor_missed() {
    let mut trace = turns("P1 a(x=%) = 0", 100);
    trace.extend(deeds("P1 900000-900001 b(y=99) = 0"));
    let steps = "sequence: [ a: {x: $x}, b: {y: $x} ]";
    assert_eq!(searched(steps, &trace, 50), (Found::GaveUp, 51));
    assert_eq!(searched(steps, &trace, 1000).0, Found::All);
    let deeds: Vec<&Deed> = trace.iter().collect();
    let judgement = judge(
        &expected(steps),
        &Scene::new(&deeds),
        None,
        &Bindings::default(),
        50,
    );
    assert_eq!(
        judgement.findings,
        [Finding::GaveUp(
            "`expect.sequence`, step 1 of 2 (line 1) may be one of 100 `a`, and whether one fits all steps could not be told within 50 \
             attempts; what the steps say of their fields decides how many there are"
                .to_owned()
                .into()
        )]
    );
}
