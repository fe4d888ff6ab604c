//! Writes counters, as `perf stat` shows them and as JSON lines.

use super::json::{Exit, object_line};
use crate::run::Count;
use perf_live::units::ExitKind;
use std::fmt::Write;
use std::time::Duration;

/// Events whose counters are nanoseconds; `perf stat` shows milliseconds.
const CLOCKS: [&str; 2] = ["cpu-clock", "task-clock"];

/// The counters of a run, and how it ended.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// The counters.
    pub counts: &'a [Count],
    /// The time over which they counted.
    pub elapsed: Duration,
    /// The CPU time of a command and of those children that it waited for.
    pub cpu: Option<Duration>,
    /// How the command ended.
    pub exit: Option<ExitKind>,
    /// Whether a count of a part of the time is scaled up.
    pub scaled: bool,
}

impl Counted<'_> {
    /// Appends the counts as text. `whose` says which tasks were counted.
    pub fn human(&self, out: &mut String, whose: &str) {
        let _always_fits = writeln!(out, "\n counted of {whose}:\n");
        for count in self.counts {
            self.line(out, count);
        }
        let seconds = |time: Duration| format!("{:>18.9} seconds", time.as_secs_f64());
        let _always_fits = writeln!(out, "\n{} elapsed", seconds(self.elapsed));
        if let Some(cpu) = self.cpu {
            let _always_fits = writeln!(out, "{} on CPUs", seconds(cpu));
        }
        out.push('\n');
    }

    fn line(&self, out: &mut String, count: &Count) {
        let shown = match self.scaled {
            true => count.scaled().unwrap_or(count.value),
            false => count.value,
        };
        let _always_fits = match &count.absent {
            Some(_) => write!(out, "{:>18}", "<not supported>"),
            None if count.is_uncounted() => write!(out, "{:>18}", "<not counted>"),
            None if count.is_clock() => {
                let (whole, rest) = (shown / 1_000_000, shown % 1_000_000 / 10_000);
                write!(out, "{:>18}", format!("{whole}.{rest:02}"))
            }
            None => match count.scale() {
                Some(scale) => write!(out, "{:>18.2}", shown as f64 * scale),
                None => write!(out, "{shown:>18}"),
            },
        };
        let unit = match &count.unit {
            _ if count.is_clock() => "msec",
            Some(unit) => unit.name.as_deref().unwrap_or(""),
            None => "",
        };
        let _always_fits = write!(out, " {unit:<4} {}", count.name);
        if let Some(group) = count.group {
            let first = self
                .counts
                .iter()
                .position(|other| other.group == Some(group));
            let leader = first.and_then(|first| self.counts.get(first));
            let is_leader = leader.is_some_and(|leader| std::ptr::eq(leader, count));
            let leader = leader.filter(|_| !is_leader);
            if let Some(leader) = leader {
                let _always_fits = write!(out, "  (with {})", leader.name);
            }
        }
        if count.running < count.enabled && !count.is_uncounted() {
            let share = u128::from(count.running) * 1000 / u128::from(count.enabled);
            let (percent, tenth) = (share / 10, share % 10);
            let scaled = if self.scaled { "scaled, " } else { "" };
            let _always_fits = write!(out, "  ({scaled}during {percent}.{tenth} % of the time)");
        }
        out.push('\n');
    }

    /// Appends an object for each counter, and a summary last; a line each.
    pub fn json(&self, out: &mut String) {
        for count in self.counts {
            object_line(out, "counter", |line| {
                line.put("name", &count.name);
                let is_counted = count.absent.is_none() && !count.is_uncounted();
                let value = is_counted.then_some(count.value);
                line.put("value", value);
                if self.scaled {
                    line.put("scaled", value.and_then(|_| count.scaled()));
                }
                let unit = count.unit.as_ref();
                let named = unit.and_then(|unit| unit.name.as_deref());
                line.put("unit", if count.is_clock() { Some("ns") } else { named });
                line.put("scale", unit.and_then(|unit| unit.scale.as_deref()));
                line.put("enabled_ns", count.enabled);
                line.put("running_ns", count.running);
                line.put("group", count.group);
                line.put("not_supported", &count.absent);
            });
        }
        object_line(out, "summary", |line| {
            line.put("elapsed_ns", self.elapsed.as_nanos());
            line.put("cpu_ns", self.cpu.map(|cpu| cpu.as_nanos()));
            line.put("exit", self.exit.map(Exit::from));
        });
    }
}

impl Count {
    fn scale(&self) -> Option<f64> {
        let unit = self.unit.as_ref()?;
        unit.scale.as_ref()?.parse().ok()
    }

    fn is_clock(&self) -> bool {
        CLOCKS.contains(&self.name.as_str())
    }
}
