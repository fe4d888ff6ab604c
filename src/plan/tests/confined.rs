//! What is recorded for `expect.confined`, and what of that is seen.

use super::*;

fn scenario(events: &str, expect: &str) -> String {
    let trace = format!("trace: {{ events: {events} }}");
    format!("description: d\nworkload: {{ run: [a] }}\n{trace}\nexpect: {{ {expect} }}\n")
}

fn planned(text: &str) -> Box<Plan> {
    match resolved(text) {
        Ok(Resolved::Plan(plan)) => plan,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_calls_of_a_closed_world_are_recorded_and_neither_shown_nor_named() {
    let text = scenario("[{ syscalls: [openat] }]", "confined: { network: [] }");
    let plan = planned(&text);
    assert_eq!(plan.events.names(), ["openat".to_owned()].into());
    for hidden in [
        "connect",
        "sendmmsg",
        "socketcall.connect",
        "socketcall",
        "execve",
    ] {
        assert!(plan.marks.hidden.contains(hidden), "{hidden}");
        assert!(!plan.view.as_ref().unwrap().shows(hidden), "{hidden}");
    }
    for other in ["openat", "open", "unlink", "setuid"] {
        assert!(!plan.marks.hidden.contains(other), "{other}");
    }
    let selection = plan.events.selection.as_ref().unwrap();
    assert!(selection.has_name("connect") && selection.has_name("openat"));
    assert!(plan.events.watched.names && plan.keeps_order());
    let lines = &plan.confinement.as_ref().unwrap().lines;
    assert_eq!(lines[&crate::matching::Realm::Network], 4);
}

#[test]
fn what_is_recorded_for_a_closed_world_can_be_named_by_no_other_expectation() {
    let text = scenario(
        "[{ syscalls: [openat] }]",
        "confined: { network: [] }, never: [connect]",
    );
    let Err(PlanError::Invalid(complaint)) = resolved(&text) else {
        panic!("it is planned");
    };
    let said = complaint.to_string();
    assert!(said.contains("`connect` is not among the events"), "{said}");
}

#[test]
fn where_every_call_is_asked_for_nothing_is_hidden() {
    let text = "description: d\nworkload: { run: [a] }\nexpect: { confined: { writes: [] } }\n";
    let plan = planned(text);
    assert!(plan.marks.hidden.is_empty());
    assert!(plan.events.selection.as_ref().unwrap().is_everything());
    let text = scenario("[\"sched:sched_switch\"]", "confined: { writes: [] }");
    let plan = planned(&text);
    assert!(plan.events.asked.is_none() && plan.marks.hidden.contains("openat"));
}

#[test]
fn without_memory_or_rights_it_is_not_judged() {
    let text = scenario("[{ syscalls: [close] }]", "confined: { writes: [] }");
    let text = text + "snapshot: false\n";
    let unmet = resolved_by(MemoryReader::Nobody, &Kernel::captured(), None, &text);
    let Ok(Resolved::Unmet(lacks)) = unmet else {
        panic!("{unmet:?}");
    };
    let said = texts(lacks).join("; ");
    assert!(
        said.contains("BPF, to read what the run is confined to"),
        "{said}"
    );
}

#[test]
fn parts_of_an_address_are_fields_of_the_calls_that_have_one() {
    let of = |field: &str| {
        let never = format!("never: [{{ connect: {{ {field} }} }}]");
        resolved(&scenario("[{ syscalls: [connect] }]", &never))
    };
    let right = "ip: 127.0.0.1, port: 8123, family: AF_INET, unix: { not: /run/x }";
    assert!(matches!(of(right), Ok(Resolved::Plan(_))));
    for wrong in ["port: http", "family: AF_INTERNET", "ip: 5"] {
        assert!(matches!(of(wrong), Err(PlanError::Invalid(_))), "{wrong}");
    }
    let shutdown = "never: [{ shutdown: { port: 1 } }]";
    let none = resolved(&scenario("[{ syscalls: [shutdown] }]", shutdown));
    assert!(matches!(none, Err(PlanError::Invalid(_))));
}

#[test]
fn what_is_below_the_folder_of_a_sandbox_is_below_its_working_directory() {
    let rules = "confined: { writes: ['/tmp/sandbox/**', '/tmp/sandboxes/*', '/tmp/**', a], \
                 network: ['unix:/tmp/sandbox/s'], programs: [/tmp/sandbox/x] }";
    let text = scenario("[{ syscalls: [openat] }]", rules);
    let of = |text: &str| planned(text).confinement.unwrap().rules;
    let inside = of(&text);
    let writes = ["$DIR/**", "/tmp/sandboxes/*", "/tmp/**", "a"];
    assert_eq!(inside.writes.unwrap(), writes);
    assert_eq!(inside.programs.unwrap(), ["$DIR/x"]);
    assert_eq!(inside.network.unwrap()[0].to_string(), "unix:$DIR/s");
    let outside = of(&format!("{text}sandbox: none\n"));
    assert_eq!(outside.writes.unwrap()[0], "/tmp/sandbox/**");
}
