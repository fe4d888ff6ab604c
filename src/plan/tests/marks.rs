//! Where traces and sections begin: what is recorded for it, and what cannot be told here.

use super::super::calls::cannot_tell_starts;
use super::*;

fn scenario(trace: &str, rest: &str) -> String {
    format!(
        "description: d\nworkload: {{ run: [a] }}\ntrace: {{ {trace} events: [{{ syscalls: [openat] }}] }}\n{rest}\n"
    )
}

fn planned(text: &str) -> Box<Plan> {
    match resolved(text) {
        Ok(Resolved::Plan(plan)) => plan,
        other => panic!("{other:?}"),
    }
}

#[test]
fn to_tell_where_programs_begin_takes_all_calls_and_shows_no_more() {
    let plan = planned(&scenario("since: main,", ""));
    assert!(plan.events.starts);
    assert!(
        plan.events
            .requests
            .iter()
            .all(|request| request.filter.is_none())
    );
    assert_eq!(plan.events.names(), ["openat".to_owned()].into());
    let plan = planned(&scenario("", ""));
    assert!(!plan.events.starts);
    assert!(plan.events.requests[0].filter.is_some());
}

#[test]
fn who_may_not_record_all_calls_cannot_tell_where_programs_begin() {
    assert_eq!(cannot_tell_starts(Reach::Everything), None);
    let why = cannot_tell_starts(Reach::OwnCalls).unwrap();
    assert!(why.contains("since: main"), "{why}");
}

const SAVE: &str = "sections: { save: { from: \">save\", to: \"<save\" } }\nexpect: { sections: { save: { count: { openat: 1 } } } }";

#[test]
fn what_marks_are_written_with_is_recorded_and_read_and_hidden() {
    let plan = planned(&scenario("", SAVE));
    assert_eq!(plan.events.memory.contents, 6, "with the line feed");
    let filter = plan.events.requests[0].filter.clone().unwrap();
    assert!(filter.contains("== 1"), "write: {filter}");
    assert_eq!(plan.events.names(), ["openat".to_owned()].into());
    let hidden = ["pwrite64".to_owned(), "write".to_owned()];
    assert_eq!(plan.marks.hidden, hidden.into());
    let view = plan.view.as_ref().unwrap();
    assert!(view.shows("openat") && !view.shows("write"));
    assert_eq!(view.contents, 0);
    assert!(plan.keeps_order());
}

#[test]
fn marks_that_are_asked_for_anyway_or_are_events_hide_nothing() {
    let text = scenario("", SAVE).replace("[openat] }]", "[openat, write, pwrite64] }]");
    assert!(planned(&text).marks.hidden.is_empty());
    let steps = SAVE.replace("\">save\"", "{ openat: { path: a } }");
    let steps = steps.replace("\"<save\"", "{ openat: { path: b } }");
    let plan = planned(&scenario("", &steps));
    assert!(plan.marks.hidden.is_empty());
    assert_eq!(plan.events.memory.contents, 0);
}

#[test]
fn marks_that_cannot_be_read_or_never_occur_are_told_before_anything_runs() {
    let text = scenario("", SAVE);
    let without = format!("{text}snapshot: false\n");
    match resolved_by(MemoryReader::Nobody, &Kernel::captured(), None, &without) {
        Ok(Resolved::Unmet(reasons)) => {
            let said = texts(reasons).concat();
            assert!(said.contains("what is written, for its marks"), "{said}");
        }
        other => panic!("{other:?}"),
    }
    let never = SAVE.replace("\">save\"", "{ connect: {} }");
    let long = SAVE.replace(">save", &"x".repeat(4096));
    for (text, message) in [(never, "can never occur"), (long, "4095 bytes at most")] {
        match resolved(&scenario("", &text)) {
            Err(PlanError::Invalid(fault)) => {
                let said = fault.to_string();
                assert!(
                    said.contains(message) && said.contains("x.yaml:4:"),
                    "{said}"
                );
            }
            other => panic!("{other:?}"),
        }
    }
}
