//! Software events in a trace: how they are asked of the kernel, and what cannot be told of
//! them.

use super::*;
use perf_live::units::SoftwareEvent;
use perf_records::attr::{Modes, SampleType, Sampling};

fn wanted(name: &str, sampling: Option<Sampling>) -> Wanted {
    Wanted::Event(WantedEvent {
        name: name.to_owned(),
        sampling,
        ..WantedEvent::default()
    })
}

fn planned(reach: Reach, wants: &[Wanted]) -> Result<EventsPlan, EventsError> {
    // No call is wanted but those that following the tasks takes.
    events_within(reach, wants, MemoryPlan::default(), &Kernel::captured())
}

/// The requests for what is no tracepoint.
fn asked(wants: &[Wanted]) -> Vec<perf_live::events::EventRequest> {
    let plan = planned(Reach::Everything, wants).unwrap();
    let software = |name: &str| SoftwareEvent::parse(name).is_some();
    let requests = plan.requests.into_iter();
    requests.filter(|it| software(&it.name)).collect()
}

fn refused(reach: Reach, wants: &[Wanted]) -> String {
    planned(reach, wants).expect_err("refused").to_string()
}

#[test]
fn each_occurrence_has_a_record_and_a_clock_only_samples() {
    let period = Some(Sampling::Period(1_000_000));
    let requests = asked(&[wanted("faults", None), wanted("cpu-clock", period)]);
    let [faults, clock] = requests.as_slice() else {
        panic!("{requests:?}");
    };
    assert_eq!(
        (faults.name.as_str(), faults.attr.sampling),
        ("software:page-faults", Sampling::Period(1))
    );
    assert_eq!(Some(clock.attr.sampling), period);
    let refused = refused(Reach::Everything, &[wanted("task-clock", None)]);
    assert!(
        refused.starts_with("`software:task-clock` goes on all the time"),
        "{refused}"
    );
}

#[test]
fn where_one_record_stands_for_many_it_does_not_say_for_how_many() {
    let extra = |name, sampling| asked(&[wanted(name, sampling)])[0].attr.sample_type;
    let many = Some(Sampling::Period(3));
    assert!(extra("cs", None).has(SampleType::PERIOD));
    assert!(!extra("cs", many).has(SampleType::PERIOD));
    assert!(extra("cpu-clock", many).has(SampleType::PERIOD));
    assert!(extra("cs", Some(Sampling::Frequency(3))).has(SampleType::PERIOD));
}

#[test]
fn faults_alone_have_an_address() {
    for (name, has_address) in [
        ("faults", true),
        ("major-faults:u", true),
        ("cs", false),
        ("migrations:k", false),
    ] {
        let request = &asked(&[wanted(name, None)])[0];
        assert_eq!(
            request.attr.sample_type.has(SampleType::ADDR),
            has_address,
            "{name}"
        );
        assert!(request.attr.sample_type.has(SampleType::IP), "{name}");
        let plan = planned(Reach::Everything, &[wanted(name, None)]).unwrap();
        assert_eq!(plan.has_faults(), has_address, "{name}");
        assert!(plan.has_software() && plan.has_no_payload(0), "{name}");
    }
}

fn modes(exclude_user: bool, exclude_kernel: bool) -> Modes {
    Modes {
        exclude_user,
        exclude_kernel,
        exclude_hypervisor: true,
        precise: 0,
    }
}

#[test]
fn letters_leave_out_the_other_mode_and_make_it_another_event() {
    let requests = asked(&[
        wanted("faults:u", None),
        wanted("software:page-faults:k", None),
    ]);
    let asked: Vec<_> = requests
        .iter()
        .map(|it| (it.name.as_str(), it.attr.modes))
        .collect();
    let expected = [
        ("software:page-faults:u", modes(false, true)),
        ("software:page-faults:k", modes(true, false)),
    ];
    assert_eq!(asked, expected);
    assert_eq!(asked_twice(), 1);
    let refused = refused(Reach::Everything, &[wanted("cs:u", None)]);
    assert_eq!(
        refused,
        "`software:context-switches:u` cannot be: it happens in the kernel alone"
    );
}

/// How many events one is that is named in two ways.
fn asked_twice() -> usize {
    asked(&[wanted("faults:uk", None), wanted("page-faults", None)]).len()
}

#[test]
fn two_events_that_one_occurrence_fires_are_not_recorded_together() {
    let both = [wanted("faults", None), wanted("faults:u", None)];
    let refused = refused(Reach::Everything, &both);
    assert!(
        refused.starts_with(
            "`software:page-faults:u` cannot be: one occurrence makes a record of both"
        ),
        "{refused}"
    );
    // Others wrote what they wrote, on a kernel that may have told them apart.
    assert!(planned(Reach::Recorded, &both).is_ok());
    // Of all faults those are other events, and clocks have timers of their own.
    let rate = Some(Sampling::Frequency(9));
    assert_eq!(
        asked(&[wanted("faults", None), wanted("minor-faults", None)]).len(),
        2
    );
    assert_eq!(
        asked(&[wanted("cpu-clock", rate), wanted("cpu-clock:u", rate)]).len(),
        2
    );
}

#[test]
fn who_sees_his_own_programs_alone_may_see_what_they_do_in_user_mode() {
    let refused = refused(Reach::OwnCalls, &[wanted("faults", None)]);
    assert!(refused.contains("software:page-faults"), "{refused}");
    // The calls that tell of tasks have a tracepoint each there, which this kernel does not have.
    match planned(Reach::OwnCalls, &[wanted("faults:u", None)]) {
        Ok(_) | Err(EventsError::Tracepoint { .. }) => {}
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_filter_is_refused_as_there_are_no_fields() {
    let filtered = Wanted::Event(WantedEvent {
        name: "faults:k".to_owned(),
        filter: Some("a > 1".to_owned()),
        ..WantedEvent::default()
    });
    let refused = refused(Reach::Everything, &[filtered]);
    assert!(
        refused.starts_with("`software:page-faults:k` takes no filter"),
        "{refused}"
    );
}

fn plan_of(events: &str, rest: &str) -> Box<Plan> {
    let text = format!(
        "description: d\nworkload: {{ run: [a] }}\ntrace: {{ events: [{events}] }}\n{rest}\n"
    );
    match resolved(&text) {
        Ok(Resolved::Plan(plan)) => plan,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn a_snapshot_shows_software_events_only_where_it_names_them() {
    let events = "{ syscalls: [close] }, 'page-faults:u', cs";
    let shows = |rest: &str, name: &str| plan_of(events, rest).view.expect("a view").shows(name);
    for (rest, shown) in [
        ("", false),
        ("snapshot: { show: [close, 'faults:u'] }", true),
        (
            "snapshot: { levels: { a: { level: counts, set: ['software:page-faults:u'] } } }",
            true,
        ),
    ] {
        assert_eq!(shows(rest, "software:page-faults:u"), shown, "{rest}");
        assert!(!shows(rest, "software:context-switches"), "{rest}");
        assert!(shows(rest, "close"), "{rest}");
    }
}

#[test]
fn functions_are_looked_up_where_something_asks_for_them() {
    let of = |rest: &str| plan_of("{ syscalls: [close] }, faults", rest).looks_at_functions();
    assert!(!of(""));
    assert!(of(
        "expect: { any_order: [{ page-faults: { function: main } }] }"
    ));
    assert!(of("snapshot: { show: [page-faults] }"));
}
