//! Submissions to an io_uring, and events that are asked for more than once.

use super::*;

const SUBMIT: &str = "io_uring:io_uring_submit_req";

/// The filters of the submissions' tracepoint, one for each time that it is opened.
fn submissions(wants: &[Wanted]) -> Vec<Option<String>> {
    let plan = events(wants, &Kernel::with_io_uring()).unwrap();
    let planned = plan.named.iter();
    let operations = planned.filter(|planned| planned.naming == Naming::Operations);
    let opened = plan
        .requests
        .into_iter()
        .filter(|request| request.name == SUBMIT);
    let filters: Vec<_> = opened.map(|request| request.filter).collect();
    assert_eq!(operations.count(), filters.len());
    filters
}

#[test]
fn submissions_come_with_the_call_that_makes_them() {
    for wants in [
        vec![],
        vec![calls(&["%desc"])],
        vec![calls(&["io_uring_enter"])],
    ] {
        assert_eq!(submissions(&wants), [None], "{wants:?}");
    }
    assert!(submissions(&[calls(&["openat"])]).is_empty());
    assert!(submissions(&[calls(&["!io_uring_enter"])]).is_empty());
    let both = [calls(&["%desc"]), tracepoint("io_uring:IORING_OP_FSYNC")];
    assert_eq!(submissions(&both), [None]);
}

#[test]
fn operations_by_name_are_filtered_in_the_kernel() {
    let named = |names: &[&str]| {
        let wants: Vec<_> = names.iter().map(|name| tracepoint(name)).collect();
        submissions(&wants)
    };
    let only = |filter: &str| vec![Some(filter.to_owned())];
    assert_eq!(named(&["io_uring:IORING_OP_FSYNC"]), only("opcode == 3"));
    assert_eq!(
        named(&["io_uring:IORING_OP_CLOSE", "io_uring:IORING_OP_FSYNC"]),
        only("opcode == 3 || opcode == 19")
    );
    assert_eq!(
        named(&["io_uring:IORING_OP_WRITE*"]),
        only("opcode == 2 || opcode == 5 || opcode == 23 || opcode == 61")
    );
    assert_eq!(named(&["io_uring:IORING_OP_*"]), [None]);
    let filtered = with_filter("io_uring:IORING_OP_FSYNC", "sq_thread == 1");
    assert_eq!(
        submissions(std::slice::from_ref(&filtered)),
        only("((opcode == 3) && (sq_thread == 1))")
    );
    // One submission has one record, whatever takes it.
    let all = with_filter("io_uring:IORING_OP_*", "sq_thread == 0");
    assert_eq!(
        submissions(&[
            filtered.clone(),
            all,
            tracepoint("io_uring:IORING_OP_CLOSE")
        ]),
        only("((opcode == 3) && (sq_thread == 1)) || (sq_thread == 0) || opcode == 19")
    );
    assert_eq!(
        submissions(&[filtered, tracepoint("io_uring:IORING_OP_*")]),
        [None]
    );
}

#[test]
fn an_event_that_is_asked_for_twice_has_one_record_of_an_occurrence() {
    let name = "sched:sched_switch";
    let filter = |wants: &[Wanted]| {
        let kernel = Kernel::with_io_uring();
        let planned = events(wants, &kernel).unwrap();
        let requests = planned.requests.iter();
        let filters: Vec<_> = requests
            .filter(|request| request.name == name)
            .map(|request| request.filter.clone())
            .collect();
        assert_eq!(filters.len(), 1, "{filters:?}");
        filters.into_iter().next().flatten()
    };
    let (low, high) = ("prev_prio < 120", "prev_prio > 100");
    let [one, other] = [low, high].map(|text| with_filter(name, text));
    assert_eq!(filter(&[one.clone(), one.clone()]).as_deref(), Some(low));
    assert_eq!(
        filter(&[one.clone(), other]).as_deref(),
        Some("(prev_prio < 120) || (prev_prio > 100)")
    );
    assert_eq!(filter(&[one.clone(), tracepoint(name)]), None);
    assert_eq!(filter(&[tracepoint("sched:*"), one]), None);
}

fn with_filter(name: &str, filter: &str) -> Wanted {
    Wanted::Event(WantedEvent {
        name: name.to_owned(),
        filter: Some(filter.to_owned()),
        ..WantedEvent::default()
    })
}

#[test]
fn the_tracepoint_of_submissions_by_its_own_name_is_a_tracepoint_like_others() {
    let plan = |wants: &[Wanted]| events(wants, &Kernel::with_io_uring()).unwrap();
    let namings = |plan: EventsPlan| {
        let planned = plan.named.into_iter();
        planned.map(|planned| planned.naming).collect::<Vec<_>>()
    };
    let own = Naming::Own(SUBMIT.into());
    let alone = plan(&[tracepoint("io_uring:*")]);
    assert_eq!(namings(alone), std::slice::from_ref(&own));
    let beside = plan(&[calls(&["%desc"]), tracepoint(SUBMIT)]);
    assert_eq!(namings(beside), [own, Naming::Operations]);
}

#[test]
fn a_kernel_that_shows_no_submissions_is_told_from_a_workload_that_makes_none() {
    let plan = events(&[calls(&["%desc"])], &Kernel::captured()).unwrap();
    assert!(plan.operations.is_blind && plan.named.is_empty());
    let plan = events(&[calls(&["%desc"])], &Kernel::with_io_uring()).unwrap();
    assert!(!plan.operations.is_blind);
    let fsync = [tracepoint("io_uring:IORING_OP_FSYNC")];
    match events(&fsync, &Kernel::captured()).unwrap_err() {
        EventsError::Tracepoint { at: 0, name, .. } => assert_eq!(name, SUBMIT),
        other => panic!("{other:?}"),
    }
}
