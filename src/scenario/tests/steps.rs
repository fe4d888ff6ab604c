//! Steps, their order and how often they come, as they are read.

use super::read_text;
use crate::scenario::{CountRange, Expectations, Literal, Pattern, Scenario, StepSpec, Test};

fn scenario(text: &str) -> Scenario {
    read_text(&format!(
        "description: d\nworkload: {{ run: [ls] }}\nexpect:\n{text}"
    ))
    .unwrap()
}

fn expectations(text: &str) -> Expectations {
    scenario(text).expect.events
}

fn names(steps: &[StepSpec]) -> String {
    let names: Vec<&str> = steps.iter().map(|step| step.event.as_str()).collect();
    names.join(" ")
}

/// Patterns in few characters: brackets for a sequence, braces for what has no order.
fn short(patterns: &[Pattern]) -> String {
    let parts = patterns.iter().map(|pattern| match pattern {
        Pattern::Step(step) => step.event.clone(),
        Pattern::Next(step) => format!("next {}", step.event),
        Pattern::Never(steps) => format!("never {}", names(steps)),
        Pattern::Sequence(list) => format!("[{}]", short(list)),
        Pattern::AnyOrder(list) => format!("{{{}}}", short(list)),
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// What the only field of the only step must be, written as `value`.
fn field(value: &str) -> Test {
    let mut read = expectations(&format!("  never: [{{ openat: {{ path: {value} }} }}]\n"));
    read.never.remove(0).fields.remove(0).1
}

#[test]
fn patterns_are_read_as_they_are_nested() {
    let read = expectations(
        "  sequence:
    - never: { unlink: {} }
    - openat: { path: a }
    - next: fstat
    - next: { close: { fd: 3 } }
    - never: [write, { writev: {} }]
    - any_order: [a, { sequence: [b, next: c, never: d] }]
    - sequence: [e, any_order: [f]]
    - sequence: [g, never: h]
    - next: i
    - never: j
  any_order:
    - sequence: [k, l]
    - m
  never: [n, { o: {} }]
  only: [\"%file\", { p: {} }]
",
    );
    assert_eq!(
        short(&read.sequence),
        "never unlink, openat, next fstat, next close, never write writev, \
         {a, [b, next c, never d]}, [e, {f}], [g, never h], next i, never j"
    );
    assert_eq!(short(&read.any_order), "[k, l], m");
    assert_eq!(names(&read.never), "n o");
    assert_eq!(names(&read.only), "%file p");
    assert!(read.count.is_empty());
}

#[test]
fn fields_keep_the_order_of_the_file() {
    let read = expectations("  never: [{ a: { z: 1, b: 2, returns: 3, a: 4 } }]\n");
    let fields = read.never[0].fields.iter().map(|(name, _)| name.as_str());
    assert_eq!(fields.collect::<Vec<_>>(), ["z", "b", "returns", "a"]);
}

#[test]
fn counts_are_a_mapping_or_a_list() {
    let exactly = |n| CountRange {
        min: n,
        max: Some(n),
    };
    for text in [
        "  count: { fsync: 2, openat: 1.., sched:sched_switch: \"..=3\" }\n",
        "  count:\n    - { times: 2, fsync: {} }\n    - { openat: {}, times: 1.. }\n\
         \u{20}   - sched:sched_switch: {}\n      times: ..=3\n",
    ] {
        let read = expectations(text).count;
        let events: Vec<_> = read.iter().map(|spec| spec.step.event.as_str()).collect();
        assert_eq!(events, ["fsync", "openat", "sched:sched_switch"]);
        let times: Vec<_> = read.iter().map(|spec| spec.times).collect();
        let from_one = CountRange { min: 1, max: None };
        let to_three = CountRange {
            min: 0,
            max: Some(3),
        };
        assert_eq!(times, [exactly(2), from_one, to_three]);
    }
    let read = expectations("  count: [{ openat: { path: a }, times: 0 }]\n").count;
    assert_eq!(read[0].step.fields.len(), 1);
    assert_eq!(read[0].times, exactly(0));
}

#[test]
fn every_test_of_a_field_is_read() {
    let text = |text: &str| Literal::Text(text.to_owned());
    let is = |value: &str| match field(value) {
        Test::Is(literal) => literal,
        other => panic!("{value}: {other:?}"),
    };
    assert_eq!(is("a"), text("a"));
    assert_eq!(is("\"\""), text(""));
    assert_eq!(is("\"5\""), text("5"));
    assert_eq!(is("5"), Literal::Number(5));
    assert_eq!(is("-1"), Literal::Number(-1));
    assert_eq!(is("0x10"), Literal::Number(16));
    assert_eq!(is("0o644"), Literal::Number(0o644));
    assert_eq!(is("18446744073709551615"), Literal::Number(u64::MAX.into()));
    assert_eq!(is("-9223372036854775808"), Literal::Number(i64::MIN.into()));
    assert_eq!(is("{ equals: any }"), text("any"));
    assert_eq!(is("{ equals: $fd }"), text("$fd"));
    assert_eq!(is("{ equals: -2 }"), Literal::Number(-2));
    for plain in [
        "$DIR",
        "$DIR/a",
        "${fd}",
        "$1",
        "$",
        "a$b",
        "O_RDWR|O_CREAT",
        "1..=4",
    ] {
        assert_eq!(is(&format!("{plain:?}")), text(plain));
    }
    assert!(matches!(field("any"), Test::Any));
    assert!(matches!(field("{ any: true }"), Test::Any));
    assert!(matches!(field("{ prefix: /usr/ }"), Test::Prefix(p) if p == "/usr/"));
    assert!(matches!(field("{ glob: \"*.so\" }"), Test::Glob(g) if g == "*.so"));
    assert!(matches!(field("{ regex: \"^a+$\" }"), Test::Regex(r) if r.as_str() == "^a+$"));
    assert!(matches!(field("{ contains: O_CREAT }"), Test::Contains(c) if c == ["O_CREAT"]));
    assert!(matches!(field("{ contains: [a, b] }"), Test::Contains(c) if c == ["a", "b"]));
    for (range, min, max) in [
        ("1..=4", Some(1), Some(4)),
        ("-3..", Some(-3), None),
        ("..=-1", None, Some(-1)),
        ("0..", Some(0), None),
    ] {
        let read = field(&format!("{{ range: \"{range}\" }}"));
        assert!(
            matches!(read, Test::Range(a, b) if (a, b) == (min, max)),
            "{range}"
        );
    }
}

#[test]
fn tests_of_fields_nest() {
    for list in ["[a, 5, { prefix: b }]", "{ one_of: [a, 5, { prefix: b }] }"] {
        let Test::OneOf(tests) = field(list) else {
            panic!("{list} is one of several");
        };
        // Among functions a plain list is an order, and this stays one of these.
        let inner = match &tests[..] {
            [Test::OneOf(inner)] => inner,
            tests => tests,
        };
        assert_eq!(list.contains("one_of"), inner.len() != tests.len());
        let [Test::Is(a), Test::Is(five), Test::Prefix(b)] = inner else {
            panic!("{tests:?}");
        };
        assert_eq!(
            (a, five),
            (&Literal::Text("a".to_owned()), &Literal::Number(5))
        );
        assert_eq!(b, "b");
    }
    let Test::Not(inner) = field("{ not: { not: [a] } }") else {
        panic!("a negation");
    };
    assert!(matches!(*inner, Test::Not(inner) if matches!(&*inner, Test::OneOf(_))));
}

#[test]
fn captures_are_words_behind_a_dollar_sign() {
    let read = expectations(
        "  sequence:
    - never: { write: { fd: $out_2 } }
    - openat: { returns: $out_2 }
    - dup: { oldfd: { not: $out_2 }, returns: [$out_2, 3] }
",
    );
    let Pattern::Step(dup) = &read.sequence[2] else {
        panic!("a step");
    };
    let captures = dup.fields.iter().flat_map(|(_, test)| test.captures());
    assert_eq!(
        captures.collect::<Vec<_>>(),
        [("out_2", false), ("out_2", false)]
    );
    let Pattern::Step(openat) = &read.sequence[1] else {
        panic!("a step");
    };
    assert_eq!(openat.fields[0].1.captures(), [("out_2", true)]);
}

#[test]
fn a_capture_may_stand_twice_in_one_step_or_once_in_another_expectation() {
    for text in [
        "  any_order: [{ dup2: { oldfd: $fd, newfd: $fd } }]\n",
        "  any_order: [{ openat: { returns: $fd } }]\n  never: [{ write: { fd: $fd } }]\n",
        "  sequence: [{ openat: { returns: $fd } }]\n  only: [{ write: { fd: $fd } }]\n",
        "  sequence: [{ openat: { returns: $fd } }]\n  count: [{ write: { fd: $fd }, times: 1 }]\n",
        "  sequence: [{ openat: { returns: $fd } }]\n  any_order: [{ fsync: { fd: $fd } }]\n",
    ] {
        expectations(text);
    }
}

#[test]
fn a_between_has_three_steps_and_a_number() {
    let read = expectations(
        "  between:
    - first: pwrite64
      then: { sendto: {} }
      there_is: { fdatasync: { returns: 0 } }
    - { first: a, then: b, there_is: c, times: '0..' }
    - { first: a, then: b, there_is: c, times: 2 }
",
    );
    let [one, may_lack, two] = &read.between[..] else {
        panic!("three elements");
    };
    let words = one.steps().map(|step| step.event.as_str());
    assert_eq!(words, ["pwrite64", "sendto", "fdatasync"]);
    assert_eq!(one.there_is.fields.len(), 1);
    let times = [one, may_lack, two].map(|it| (it.times.min, it.times.max));
    assert_eq!(times, [(1, None), (0, None), (2, Some(2))]);
}

#[test]
fn a_capture_of_a_between_is_its_own_or_one_of_a_step() {
    let own = "  between:
    - { first: { write: { fd: $fd } }, then: { a: { x: $y } }, there_is: { b: { fd: $fd, x: $y } } }
    - { first: { read: { fd: $fd } }, then: { close: { fd: $fd } }, there_is: c }
";
    expectations(own);
    let outer = "  between: [{ first: { write: { fd: $fd } }, then: a, there_is: b }]
";
    expectations(&format!(
        "  sequence: [{{ openat: {{ returns: $fd }} }}]\n{outer}"
    ));
    let section = |expected: &str| {
        let text = format!(
            "description: d\nworkload: {{ run: [ls] }}\nsections: {{ s: {{ from: a, to: b }} }}\n\
             expect:\n  any_order: [{{ dup: {{ oldfd: $x, newfd: $x }} }}]\n  sections:\n    s: {{ {expected} }}\n"
        );
        read_text(&text).unwrap()
    };
    section("between: [{ first: { write: { fd: $x } }, then: a, there_is: b }]");
    section(
        "any_order: [{ dup: { oldfd: $y } }], between: [{ first: { write: { fd: $y } }, then: a, there_is: b }]",
    );
}

#[test]
fn each_step_knows_where_it_stands() {
    let scenario = scenario(
        "  sequence:
    - openat: { path: a }
    - next: fsync
    - never: [write, { pwrite64: {} }]
    - never:
        writev: { fd: 3 }
  any_order:
    - any_order: [rename, { sequence: [unlink] }]
  only: [{ close: { fd: 5 } }]
  count: { fstat: 1 }
  between: [{ first: lseek, then: { sendto: {} }, there_is: fdatasync }]
",
    );
    let events = &scenario.expect.events;
    let mut steps: Vec<&StepSpec> = Vec::new();
    let mut lists = vec![&events.sequence, &events.any_order];
    while let Some(list) = lists.pop() {
        for pattern in list {
            match pattern {
                Pattern::Step(step) | Pattern::Next(step) => steps.push(step),
                Pattern::Never(never) => steps.extend(never),
                Pattern::Sequence(list) | Pattern::AnyOrder(list) => lists.push(list),
            }
        }
    }
    steps.extend(&events.only);
    steps.extend(events.count.iter().map(|spec| &spec.step));
    steps.extend(events.between.iter().flat_map(|between| between.steps()));
    for step in &steps {
        let shown = scenario.complaint(&step.at, "here", None).to_string();
        let mut lines = shown.lines().rev();
        let (marks, line) = (lines.next().unwrap(), lines.next().unwrap());
        let start = marks.find('^').unwrap();
        assert_eq!(&line[start..marks.len()], step.event, "{shown}");
    }
    assert_eq!(steps.len(), 12);
    let place = |at| {
        let complaint = scenario.complaint(&at, "here", None);
        (complaint.line, complaint.column)
    };
    let openat = steps.iter().find(|step| step.event == "openat").unwrap();
    assert_eq!(place(openat.field_at("path")), (5, 23));
    assert_eq!(place(openat.field_at("path").key_itself()), (5, 17));
    let fsync = steps.iter().find(|step| step.event == "fsync").unwrap();
    assert_eq!(
        place(fsync.field_at("fd").key_itself()),
        (6, 13),
        "a field that is not there"
    );
}
