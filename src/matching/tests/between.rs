//! `between`: for each `first` and the next `then` behind it, something comes between.

use super::super::order::Scene;
use super::notation::deeds;
use super::*;
use std::collections::BTreeSet;

const SYNC: &str =
    "between: [{ first: pwrite64, then: sendto, there_is: { fdatasync: { returns: 0 } } }]";

const SAME_FILE: &str = "between: [{ first: { pwrite64: { fd: $fd } }, then: sendto, \
                         there_is: { fdatasync: { fd: $fd, returns: 0 } } }]";

/// Calls of one thread: `w` writes, `s` syncs, `f` fails to, `u` syncs an unknown file, `a`
/// answers; each has a file's number.
fn calls(text: &str) -> String {
    let call = |word: &str| {
        let (call, file) = word.split_at(1);
        let file = format!("fd=<3 $DIR/{file} #{file}>");
        match call {
            "w" => format!("P1/kv pwrite64({file}) = 1\n"),
            "s" => format!("P1/kv fdatasync({file}) = 0\n"),
            "f" => format!("P1/kv fdatasync({file}) = EIO\n"),
            "u" => "P1/kv fdatasync(fd=<unread>) = 0\n".to_owned(),
            _ => format!("P1/kv sendto({file}) = 1\n"),
        }
    };
    text.split_whitespace().map(call).collect()
}

#[test]
fn each_first_needs_it_before_the_next_then() {
    for (trace, answer) in [
        ("w1 s1 a9", &[][..]),
        ("w1 s1 a9 w1 s1 a9", &[]),
        // One behind the last of several is behind all of them.
        ("w1 w1 w1 s1 a9", &[]),
        ("w1 s1 w1 a9", &["failed"]),
        ("w1 a9 s1", &["failed"]),
        // The sync for the next answer comes too late for this one.
        ("w1 a9 s1 a9", &["failed"]),
        ("w1 s1 a9 w1 a9 s1 w1 s1 a9", &["failed"]),
        ("w1 f1 a9", &["failed"]),
        ("s1 w1 a9", &["failed"]),
        // What comes behind nothing, or is followed by nothing, demands nothing.
        ("a9 w1 s1 a9 a9 w1", &[]),
        ("w1 s1 w2 a9", &["failed"]),
    ] {
        assert_eq!(judged(SYNC, &calls(trace)), answer, "{trace}");
    }
}

#[test]
fn what_never_occurs_is_no_pass_unless_the_scenario_says_so() {
    for trace in ["", "s1", "w1", "a9", "w1 s1", "a9 w1"] {
        assert_eq!(judged(SYNC, &calls(trace)), ["failed"], "{trace}");
        let may_lack = SYNC.replace("there_is", "times: '0..', there_is");
        assert_eq!(judged(&may_lack, &calls(trace)), [""; 0], "{trace}");
    }
    for (times, answer) in [
        ("2", &[][..]),
        ("'3..'", &["failed"]),
        ("'..=1'", &["failed"]),
    ] {
        let text = SYNC.replace("there_is", &format!("times: {times}, there_is"));
        assert_eq!(judged(&text, &calls("w1 s1 a9 w1 s1 a9 w1")), answer);
    }
}

#[test]
fn a_capture_is_the_same_within_a_pair_and_another_in_the_next() {
    for (trace, answer) in [
        ("w1 s1 a9 w2 s2 a9", &[][..]),
        ("w1 w2 s2 s1 a9", &[]),
        ("w1 s2 a9", &["failed"]),
        ("w1 w2 s2 a9", &["failed"]),
        ("w1 u a9", &["unknown"]),
        ("w1 u s1 a9", &[]),
    ] {
        assert_eq!(judged(SAME_FILE, &calls(trace)), answer, "{trace}");
    }
    // The next `then` is the next with the same file.
    let close = SAME_FILE.replace("then: sendto", "then: { sendto: { fd: $fd } }");
    for (trace, answer) in [
        ("w1 a2 s1 a1", &[][..]),
        ("w1 a2 a1 s1", &["failed"]),
        ("w1 s1 a2", &["failed"]),
    ] {
        assert_eq!(judged(&close, &calls(trace)), answer, "{trace}");
    }
    // What `sequence` binds keeps its value.
    let outer = format!("sequence: [{{ fsync: {{ fd: $fd }} }}]\n{SAME_FILE}");
    let begin = "P1/kv fsync(fd=<3 $DIR/1 #1>) = 0\n";
    for (trace, answer) in [
        ("w1 s1 a9 w2 a9", &[][..]),
        ("w2 s2 a9", &["failed"]),
        ("w2 a9 w1 a9", &["failed"]),
    ] {
        let trace = begin.to_owned() + &calls(trace);
        assert_eq!(judged(&outer, &trace), answer, "{trace}");
    }
    // Where it has none the missing step is the finding.
    assert_eq!(judged(&outer, &calls("w1 a9")), ["failed"]);
}

#[test]
fn over_threads_order_is_that_of_sequence() {
    let sync = |from: u32, to: u32| {
        format!(
            "P1/kv 10-20 pwrite64(fd=3) = 1\n\
             P1.T2/kv {from}-{to} fdatasync(fd=3) = 0\n\
             P2/kv 50-60 sendto(fd=4) = 1\n"
        )
    };
    for ((from, to), answer) in [
        ((20, 50), &[][..]),
        ((21, 30), &[]),
        // Begun before the write had ended, or not ended when the answer began.
        ((19, 30), &["failed"]),
        ((30, 51), &["failed"]),
        ((61, 70), &["failed"]),
    ] {
        assert_eq!(judged(SYNC, &sync(from, to)), answer, "{from}-{to}");
    }
    // An answer that is under way while the write is does not come behind it.
    let trace = "P1/kv 10-20 pwrite64(fd=3) = 1\nP2/kv 15-30 sendto(fd=4) = 1\n\
                 P1/kv 31-40 fdatasync(fd=3) = 0\nP2/kv 50-60 sendto(fd=4) = 1\n";
    assert_eq!(judged(SYNC, trace), [""; 0]);
    // Of two answers at the same time both are the next.
    let trace = "P1/kv 10-20 pwrite64(fd=3) = 1\nP2/kv 30-60 sendto(fd=4) = 1\n\
                 P1/kv 35-40 fdatasync(fd=3) = 0\nP1.T2/kv 50-55 sendto(fd=4) = 1\n";
    assert_eq!(judged(SYNC, trace), ["failed"]);
}

#[test]
fn what_is_not_known_is_not_judged() {
    let other = "between: [{ first: { pwrite64: { fd: a } }, then: { sendto: { fd: b } }, \
                 there_is: { fdatasync: { fd: a } } }]";
    let file = |name: &str| match name {
        "?" => "fd=<unread>".to_owned(),
        name => format!("fd=<3 $DIR/{name} #1>"),
    };
    let trace = |[write, sync, answer]: [&str; 3], more: &str| {
        format!(
            "P1/kv pwrite64({}) = 1\nP1/kv fdatasync({}) = 0\nP1/kv sendto({}) = 1\n{more}",
            file(write),
            file(sync),
            file(answer)
        )
    };
    for (files, more, answer) in [
        (["a", "a", "b"], "", &[][..]),
        (["a", "?", "b"], "", &["unknown"]),
        // They may be no pair at all, and one there must be.
        (["?", "a", "b"], "", &["unknown"]),
        (["a", "a", "?"], "", &["unknown"]),
        (["?", "c", "b"], "", &["unknown"]),
        (["a", "c", "?"], "", &["unknown"]),
        // Whichever of the two is the next.
        (
            ["a", "c", "?"],
            "P1/kv sendto(fd=<4 $DIR/b #2>) = 1\n",
            &["failed"],
        ),
        (["a", "a", "?"], "P1/kv sendto(fd=<4 $DIR/b #2>) = 1\n", &[]),
    ] {
        assert_eq!(
            judged(other, &trace(files, more)),
            answer,
            "{files:?} {more}"
        );
    }
}

#[test]
fn what_was_overwritten_is_not_judged() {
    let answers = |forgotten: &[&str], trace: &str| {
        let deeds = deeds(&calls(trace));
        let deeds: Vec<&Deed> = deeds.iter().collect();
        let names: BTreeSet<String> = forgotten.iter().map(|name| (*name).to_owned()).collect();
        let scene = Scene::new(&deeds).forgetting(&names, false);
        let expected = expected(SYNC);
        let judgement = judge(&expected, &scene, None, &Bindings::default(), MOST_TRIES);
        let findings = judgement.findings.into_iter();
        let words = findings.map(|finding| match finding {
            Finding::Failed(_) => "failed",
            Finding::Unknown(_) => "unknown",
            Finding::GaveUp(_) => "gave up",
            Finding::Remark(_) => "remarked",
        });
        words.collect::<Vec<_>>()
    };
    for name in ["pwrite64", "sendto"] {
        assert_eq!(answers(&[name], "w1 s1 a9"), ["unknown"], "{name}");
        assert_eq!(answers(&[name], ""), ["unknown"], "{name}");
    }
    assert_eq!(answers(&["pwrite64"], "w1 a9"), ["failed"]);
    assert_eq!(answers(&["fdatasync"], "w1 a9 s1"), ["unknown"]);
    assert_eq!(answers(&["fdatasync"], "s1 w1 a9"), ["failed"]);
    assert_eq!(answers(&["fdatasync"], "w1 s1 a9"), [""; 0]);
    assert_eq!(answers(&["fsync"], "w1 a9"), ["failed"]);
    let all = ["pwrite64", "fdatasync", "sendto"];
    assert_eq!(answers(&all, "w1 s1 a9"), ["unknown"]);
}

#[test]
fn a_failure_shows_the_pair_and_what_is_most_like_the_missing() {
    let check = |expected: &str, trace: &str, text: &str| {
        let findings = judgement(expected, trace).findings;
        let found: Vec<&str> = findings.iter().map(Finding::text).collect();
        assert_eq!(format!("\n{}\n", found.join("\n")), text, "{expected}");
    };
    check(
        SAME_FILE,
        &calls("w1 s1 a9 w1 s2 a9 s1"),
        "
`expect.between` (line 1): there is no `fdatasync` between `pwrite64` and `sendto`, in 1 of 2 cases
+ first     pwrite64: { fd: $fd }
- there_is  fdatasync: { fd: $fd, returns: 0 }
+ then      sendto
  nearest: P1 fdatasync(<$DIR/2>) = 0
~   fd: expected $fd, which is <$DIR/1> (`first`), got <$DIR/2>
@@ P1 kv @@
         fdatasync(<$DIR/1>) = 0
         sendto(<$DIR/9>) = 1
+ first  pwrite64(<$DIR/1>) = 1
~        fdatasync(<$DIR/2>) = 0
+ then   sendto(<$DIR/9>) = 1
         fdatasync(<$DIR/1>) = 0
",
    );
    check(
        SYNC,
        &calls("w1 a9 s1"),
        "
`expect.between` (line 1): there is no `fdatasync` between `pwrite64` and `sendto`
+ first     pwrite64
- there_is  fdatasync: { returns: 0 }
+ then      sendto
  nearest: P1 fdatasync(<$DIR/1>) = 0, behind `then`
@@ P1 kv @@
+ first  pwrite64(<$DIR/1>) = 1
+ then   sendto(<$DIR/9>) = 1
~        fdatasync(<$DIR/1>) = 0
",
    );
    check(
        SYNC,
        &calls("w1 s1"),
        "
`expect.between` (line 1) never occurs: no `pwrite64` has a `sendto` behind it
+ pwrite64: P1 pwrite64(<$DIR/1>) = 1
- sendto: there is no `sendto`
",
    );
}

#[test]
fn it_is_what_trying_all_pairs_gives() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |end: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % end
    };
    let mut seen = BTreeSet::new();
    for _ in 0..3_000 {
        let mut clocks = [0; 3];
        let mut trace = String::new();
        for number in 0..9 {
            // No two moments are the same.
            let thread = below(3) as usize;
            let task = ["P1", "P1.T2", "P2"][thread];
            let entered = 10 * (clocks[thread] + below(4)) + number;
            let left = entered + 10 * below(6);
            clocks[thread] = left / 10 + 1;
            let name = ["a", "b", "c", "read", "clone"][below(5) as usize];
            trace += &format!("{task} {entered}-{left} {name}(x={}) = 0\n", below(2));
        }
        let deeds = deeds(&trace);
        let deeds: Vec<&Deed> = deeds.iter().collect();
        let scene = Scene::new(&deeds);
        let all = |names: &[&str]| -> Vec<usize> {
            let is = |place: &usize| names.contains(&&*scene.deeds[*place].name);
            (0..deeds.len()).filter(is).collect()
        };
        let before = |one: usize, other: usize| scene.is_before(one, other);
        let (mut pairs, mut unmet) = (0, 0);
        for first in all(&["a", "read"]) {
            let behind: Vec<usize> = all(&["b", "clone"])
                .into_iter()
                .filter(|then| before(first, *then))
                .collect();
            let is_next = |then: &usize| !behind.iter().any(|other| before(*other, *then));
            let is_met = |then: &usize| {
                let mut all = all(&["c", "read"]).into_iter();
                all.any(|it| before(first, it) && before(it, *then))
            };
            pairs += usize::from(!behind.is_empty());
            let mut next = behind.iter().filter(|then| is_next(then));
            unmet += usize::from(!next.all(is_met));
        }
        let right = if pairs > 0 && unmet == 0 {
            ""
        } else {
            "failed"
        };
        let text = "between: [{ first: a|read, then: b|clone, there_is: c|read }]";
        assert_eq!(judged(text, &trace).join(""), right, "{trace}");
        seen.insert((pairs > 0, unmet > 0));
    }
    assert_eq!(seen.len(), 3);
}

#[test]
fn the_search_ends() {
    let many = |text: &str, times: usize| calls(text).repeat(times);
    // Pairs that are not there cost little, as does one `then` for many.
    assert_eq!(judged(SAME_FILE, &many("w1 s1", 3_000)), ["failed"]);
    let trace = many("w1", 3_000) + &calls("s1 a9");
    assert_eq!(judged(SAME_FILE, &trace), [""; 0]);
    let trace = many("w1", 3_000) + &many("s2", 3_000) + &calls("a9");
    assert_eq!(judged(SAME_FILE, &trace), ["gave up"]);
}
