//! What a line of text begins with: the thread's id and, if asked for, the time.

use super::line::write_seconds;
use super::values::task_name;
use perf_live::sys;
use perf_records::units::Nanos;
use std::fmt::Write;
use syscall_model::Actor;

/// How the time of a line is told, in strace's forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeForm {
    /// Seconds of the clock that the events are stamped with
    Events,
    /// The time of day where the harness runs (`-t`: 12:34:56)
    Day,
    /// The same, with microseconds (`-tt`)
    DayMicros,
    /// Seconds since 1970, with microseconds (`-ttt`)
    Epoch,
    /// Seconds since the line before it (`-r`), negative if that one is of a later moment
    Relative,
}

impl TimeForm {
    /// Whether it takes the offset between the events' clock and the clock on the wall.
    #[must_use]
    pub fn is_of_wall(self) -> bool {
        matches!(self, Self::Day | Self::DayMicros | Self::Epoch)
    }
}

/// Writes what lines begin with.
#[derive(Debug, Default)]
pub struct Lead {
    times: Option<TimeForm>,
    /// Whether the thread's name stands behind its id.
    names: bool,
    /// Nanoseconds to add to a time of the events for one since 1970.
    offset: i64,
    last: Option<Nanos>,
    text: String,
    /// A second and its time of day, as most lines are of the same second as the line before.
    day: Option<(i64, String)>,
}

impl Lead {
    /// Begins lines with the thread's id, and the time if a form is given. `offset` is added to
    /// times of the events to get those since 1970, in nanoseconds.
    #[must_use]
    pub fn new(times: Option<TimeForm>, offset: i64) -> Self {
        Self {
            times,
            offset,
            ..Self::default()
        }
    }

    /// Adds the thread's name behind its id: `1234<sh> `.
    #[must_use]
    pub fn with_names(mut self, names: bool) -> Self {
        self.names = names;
        self
    }

    /// Returns the begin of a line: `1234 `, or with a time `1234 12:00:01.123456 `.
    pub fn of(&mut self, actor: &Actor, time: Nanos) -> &str {
        self.text.clear();
        self.text.push_str(itoa::Buffer::new().format(actor.tid.0));
        if self.names {
            task_name(&mut self.text, &actor.comm);
        }
        self.text.push(' ');
        if let Some(form) = self.times {
            self.time(form, time);
            self.text.push(' ');
        }
        &self.text
    }

    fn time(&mut self, form: TimeForm, time: Nanos) {
        let wall = i64::try_from(time.0).unwrap_or(i64::MAX);
        let wall = wall.saturating_add(self.offset);
        let (seconds, micros) = (
            wall.div_euclid(1_000_000_000),
            wall.rem_euclid(1_000_000_000) / 1_000,
        );
        let _always_fits = match form {
            TimeForm::Events => {
                write_seconds(&mut self.text, time.0);
                Ok(())
            }
            TimeForm::Epoch => write!(self.text, "{seconds}.{micros:06}"),
            TimeForm::Day => self.day(seconds),
            TimeForm::DayMicros => self
                .day(seconds)
                .and_then(|()| write!(self.text, ".{micros:06}")),
            TimeForm::Relative => {
                let last = self.last.replace(time).unwrap_or(time);
                if time < last {
                    self.text.push('-');
                }
                write_seconds(&mut self.text, time.0.abs_diff(last.0));
                Ok(())
            }
        };
    }

    fn day(&mut self, seconds: i64) -> std::fmt::Result {
        if self.day.as_ref().is_none_or(|(of, _)| *of != seconds) {
            let text = sys::local_time(seconds).map_or_else(
                |_| seconds.to_string(),
                |at| format!("{:02}:{:02}:{:02}", at.hour, at.minute, at.second),
            );
            self.day = Some((seconds, text));
        }
        let text = self.day.as_ref().map_or("", |(_, text)| text.as_str());
        self.text.write_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_records::units::{Pid, Tid};
    use syscall_model::{ShortName, ThreadId};

    fn lines(form: TimeForm, offset: i64, times: &[u64]) -> Vec<String> {
        let actor = Actor {
            thread: ThreadId(0),
            pid: Pid(7),
            tid: Tid(8),
            comm: ShortName::default(),
        };
        let mut lead = Lead::new(Some(form), offset);
        let of = |time: &u64| lead.of(&actor, Nanos(*time)).to_owned();
        times.iter().map(of).collect()
    }

    #[test]
    fn a_line_tells_seconds_since_1970_behind_the_thread() {
        let epoch = 1_700_000_000_000_000_000;
        let told = lines(TimeForm::Epoch, epoch, &[1_000, 2_500_000_999]);
        assert_eq!(told, ["8 1700000000.000001 ", "8 1700000002.500000 "]);
    }

    #[test]
    fn a_line_tells_the_time_since_the_line_before_it_also_if_that_was_later() {
        let told = lines(TimeForm::Relative, 0, &[5_000_000, 6_500_000, 6_000_000]);
        assert_eq!(told, ["8 0.000000 ", "8 0.001500 ", "8 -0.000500 "]);
    }
}
