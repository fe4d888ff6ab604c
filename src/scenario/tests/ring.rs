//! Rings that are overwritten, and what is kept of a run that failed.

use super::{check, read_text};
use crate::scenario::{EventSpec, EventWish, Last, RingMode, RingSpec};
use std::time::Duration;

fn with(text: &str) -> crate::scenario::Scenario {
    let text = format!("description: d\nworkload: {{ run: [ls] }}\n{text}\n");
    read_text(&text).unwrap()
}

#[test]
fn a_ring_is_read_while_it_fills_unless_it_is_overwritten() {
    assert_eq!(with("").trace.ring, RingSpec::default());
    assert_eq!(RingSpec::default().mode, RingMode::Stream);
    let scenario = with(
        "trace: { ring: { size: 4MiB, mode: flight }, events: [{ event: \"a:b\", ring: stream }, \"c:d\"] }",
    );
    let ring = scenario.trace.ring;
    assert_eq!((ring.size, ring.mode), (Some(4 << 20), RingMode::Flight));
    let rings = scenario.trace.events.iter().map(|event| match event {
        EventSpec::Event(EventWish { ring, .. }) => *ring,
        EventSpec::Syscalls(_) | EventSpec::Chained(..) | EventSpec::Counted(_) => None,
    });
    assert_eq!(rings.collect::<Vec<_>>(), [Some(RingMode::Stream), None]);
}

#[test]
fn the_end_of_a_run_is_so_much_time_or_so_many_bytes_or_what_there_is() {
    assert_eq!(with("").on_failure, None);
    for (text, last) in [
        ("dump", Last::All),
        (
            "{ dump: { last: 500ms } }",
            Last::Time(Duration::from_millis(500)),
        ),
        ("{ dump: { last: 16MiB } }", Last::Bytes(16 << 20)),
    ] {
        assert_eq!(
            with(&format!("on_failure: {text}")).on_failure,
            Some(last),
            "{text}"
        );
    }
}

#[test]
fn unknown_mode() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { ring: { mode: flght } }
",
        "
error: `trace.ring.mode`: unknown mode `flght`
 --> x.yaml:3:24
  |
3 | trace: { ring: { mode: flght } }
  |                        ^^^^^
  |
  = help: did you mean `flight`?
",
    );
}

#[test]
fn a_ring_for_some_calls() {
    check(
        "\
description: d
workload: { run: [ls] }
trace: { events: [{ syscalls: [openat], ring: flight }] }
",
        "
error: `trace.events[0]`: a `ring` belongs to an `event`
 --> x.yaml:3:19
  |
3 | trace: { events: [{ syscalls: [openat], ring: flight }] }
  |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: all system calls share one: `trace: { ring: { mode: flight } }`
",
    );
}

#[test]
fn an_end_of_no_length() {
    check(
        "\
description: d
workload: { run: [ls] }
on_failure: { dump: { last: 5 } }
",
        "
error: `on_failure.dump.last` must be a duration such as `500ms` or `5s`, or a size such as `16MiB`, not `5`
 --> x.yaml:3:29
  |
3 | on_failure: { dump: { last: 5 } }
  |                             ^
",
    );
    check(
        "\
description: d
workload: { run: [ls] }
on_failure: keep
",
        "
error: `on_failure` must be `dump`, or a mapping such as `dump: { last: 5s }`, not `keep`
 --> x.yaml:3:13
  |
3 | on_failure: keep
  |             ^^^^
",
    );
}
