//! What was counted, as `perf stat` shows it and as JSON lines.

use super::json::{exit_json, number, string};
use crate::run::Count;
use crate::units::ExitKind;
use std::fmt::Write;
use std::time::Duration;

/// Events whose counters are nanoseconds; `perf stat` shows milliseconds.
const CLOCKS: [&str; 2] = ["cpu-clock", "task-clock"];

/// What was counted, and how it ended.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// The counters.
    pub counts: &'a [Count],
    /// Over how long.
    pub elapsed: Duration,
    /// The time on CPUs of a command, as far as it waited for whom it started.
    pub cpu: Option<Duration>,
    /// Its end.
    pub exit: Option<ExitKind>,
}

impl Counted<'_> {
    /// Appends it for people. `whose` says of whom it was counted.
    pub fn human(&self, out: &mut String, whose: &str) {
        let _always_fits = writeln!(out, "\n counted of {whose}:\n");
        for count in self.counts {
            let Count { name, value, .. } = count;
            let _always_fits = if count.is_clock() {
                let (whole, rest) = (value / 1_000_000, value % 1_000_000 / 10_000);
                write!(out, "{:>18} msec {name}", format!("{whole}.{rest:02}"))
            } else {
                write!(out, "{value:>18}      {name}")
            };
            if count.running < count.enabled {
                let share = u128::from(count.running) * 1000 / u128::from(count.enabled);
                let (percent, tenth) = (share / 10, share % 10);
                let _always_fits = write!(out, "  (during {percent}.{tenth} % of the time)");
            }
            out.push('\n');
        }
        let seconds = |time: Duration| format!("{:>18.9} seconds", time.as_secs_f64());
        let _always_fits = writeln!(out, "\n{} elapsed", seconds(self.elapsed));
        if let Some(cpu) = self.cpu {
            let _always_fits = writeln!(out, "{} on CPUs", seconds(cpu));
        }
        out.push('\n');
    }

    /// Appends an object for each counter, and a summary last; a line each.
    pub fn json(&self, out: &mut String) {
        for count in self.counts {
            out.push_str("{\"type\":\"counter\",\"name\":");
            string(out, &count.name);
            number(out, "value", count.value);
            out.push_str(if count.is_clock() {
                ",\"unit\":\"ns\""
            } else {
                ",\"unit\":null"
            });
            number(out, "enabled_ns", count.enabled);
            number(out, "running_ns", count.running);
            out.push_str("}\n");
        }
        out.push_str("{\"type\":\"summary\"");
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        number(out, "elapsed_ns", nanoseconds(self.elapsed));
        match self.cpu {
            Some(cpu) => number(out, "cpu_ns", nanoseconds(cpu)),
            None => out.push_str(",\"cpu_ns\":null"),
        }
        let exit = self.exit.map(exit_json);
        let exit = exit.as_deref().unwrap_or("null");
        let _always_fits = writeln!(out, ",\"exit\":{exit}}}");
    }
}

impl Count {
    fn is_clock(&self) -> bool {
        CLOCKS.contains(&self.name.as_str())
    }
}
