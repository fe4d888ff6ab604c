//! What perf printed of the recordings among the fixtures where these were made.

use std::fs;

use super::fixture;

/// A sample as perf printed it where the recording was made.
pub(super) struct Printed {
    /// In the columns of perf 7.2, in all of which but one perf 6.1 prints it as well.
    pub(super) text: String,
    pub(super) comm: String,
    pub(super) tid: String,
    /// What is behind these two.
    rest: String,
}

impl Printed {
    fn new(line: &str) -> Self {
        let (comm, rest) = line.split_at(16);
        let (tid, rest) = rest.trim_start().split_once(' ').expect("a task's id");
        Self {
            // The id has five places in perf 6.1.
            text: format!("{comm} {tid:>7} {rest}\n"),
            comm: comm.trim_start().to_owned(),
            tid: tid.to_owned(),
            rest: rest.to_owned(),
        }
    }

    /// The CPU's number, the microseconds, the event, and its payload.
    pub(super) fn parts(&self) -> (u64, u64, &str, &str) {
        let (cpu, rest) = self.rest.split_once(' ').expect("a CPU");
        let (time, rest) = rest.split_once(": ").expect("a time");
        let (event, payload) = rest.split_once(": ").expect("an event");
        let number = |digits: &str| digits.trim_start().parse::<u64>().expect("a number");
        let (seconds, micros) = time.split_once('.').expect("a point");
        let time = number(seconds) * 1_000_000 + number(micros);
        (
            number(cpu.trim_matches(['[', ']'])),
            time,
            event.trim_start(),
            payload,
        )
    }
}

/// What perf printed of a recording where that was made.
pub(super) fn of_perf(name: &str) -> Vec<Printed> {
    let text = fs::read_to_string(fixture(name)).expect("the fixture");
    let samples: Vec<Printed> = text.lines().map(Printed::new).collect();
    assert!(samples.len() > 5, "{text}");
    samples
}

pub(super) fn text<'a>(samples: impl IntoIterator<Item = &'a Printed>) -> String {
    let texts = samples.into_iter().map(|sample| sample.text.as_str());
    texts.collect()
}
