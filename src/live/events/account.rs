//! Every record is accounted for: counter = records + lost + overwritten, for each event.

use super::counter_account::CounterAccount;
use super::untold::{Forgotten, OtherFile, UntoldReturns, copies};
use perf_records::units::count_of;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The account of one event over all CPUs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventAccount {
    /// The event.
    pub name: String,
    /// How often it fired, by the kernel's counter.
    pub counted: u64,
    /// How much of that was read as records: their number, or the sum of their periods for an event
    /// that counts by more than one.
    pub delivered: u64,
    /// How many found no room, by the kernel's own count; `None` where it keeps none (before Linux
    /// 6.0). The counter is the witness then: it counts an occurrence whether or not its record
    /// found room.
    pub said_lost: Option<u64>,
    /// How many were overwritten by younger ones, as they were meant to be. These are not lost.
    #[serde(default)]
    pub overwritten: u64,
    /// Whether its records are samples, each of which stands for a period. The number of records is
    /// then not known in advance: what a task counted since its last sample has none, and a clock's
    /// samples come with interrupts, some of which the kernel leaves out if they come too often.
    #[serde(default)]
    pub sampled: bool,
}

impl EventAccount {
    /// How many occurrences have no record, and never had one that was overwritten.
    #[must_use]
    pub fn missing(&self) -> u64 {
        if self.sampled {
            return self.said_lost.unwrap_or(0);
        }
        self.counted.saturating_sub(self.known())
    }

    /// Of how many occurrences it is known what became of their records.
    fn known(&self) -> u64 {
        self.delivered.saturating_add(self.overwritten)
    }

    /// Whether nothing is missing and the kernel's numbers agree with ours.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        // The counter is no witness of samples, so that the kernel must be one.
        if self.sampled {
            return self.said_lost == Some(0);
        }
        self.counted == self.known() && self.said_lost.unwrap_or(0) == 0
    }

    /// Whether what is missing is exactly what the kernel says it dropped.
    #[must_use]
    pub fn is_explained(&self) -> bool {
        let is_sum_known = !self.sampled;
        self.said_lost
            .filter(|_| is_sum_known)
            .is_none_or(|lost| self.known().checked_add(lost) == Some(self.counted))
    }
}

impl fmt::Display for EventAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}`: {} counted, {} records",
            self.name, self.counted, self.delivered
        )?;
        if self.overwritten > 0 {
            write!(f, ", {} overwritten", self.overwritten)?;
        }
        match self.said_lost {
            Some(lost) => write!(f, ", {lost} lost")?,
            None if self.sampled => {
                f.write_str(", and this kernel does not tell how many samples were lost")?
            }
            None => write!(f, ", {} missing", self.missing())?,
        }
        if !self.is_explained() {
            f.write_str(" (these do not add up)")?;
        }
        Ok(())
    }
}

/// The account of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// One for each request.
    pub events: Vec<EventAccount>,
    /// Names, forks and exits that found no room.
    pub side_band_lost: u64,
    /// How many rings were full at their end, on a kernel that does not count what it drops (before
    /// Linux 6.0): names, forks and exits may be missing there.
    #[serde(default)]
    pub full_rings: u64,
    /// The most bytes of records that waited to be read, if there was no room for more; 0 if there
    /// always was.
    #[serde(default)]
    pub full_backlog: u64,
    /// Whether the harness was asked to end before it had read all records.
    #[serde(default)]
    pub broke_off: bool,
    /// How many programs ran on after the kernel had ended their events.
    pub out_of_sight: u64,
    /// Of how many processes the end was not seen, though the run was followed to its end: they
    /// went where no event looks.
    #[serde(default)]
    pub unended: u64,
    /// How many calls were made through the vsyscall page, which only the oldest programs use; only
    /// the number of such a call is seen.
    #[serde(default)]
    pub legacy_calls: u64,
    /// How many calls may be native or of 32 bits, as their program has put into a register what
    /// tells the one from the other.
    #[serde(default)]
    pub disguised: u64,
    /// How many programs of 32 bits ran, where a recording holds native calls alone.
    #[serde(default)]
    pub unheld: u64,
    /// Of how many programs a recording says neither by their mappings nor by the registers of
    /// their calls whether they are of 32 bits.
    #[serde(default)]
    pub untold: u64,
    /// How many calls set up an io_uring or submitted to one, on a kernel that shows no submissions
    /// though they were asked for.
    pub blind_rings: u64,
    /// How many calls no program read the memory of, though it was to be read: the kernel skipped
    /// the program.
    pub unread: u64,
    /// How many tasks were being made when the following of living processes began: it is not known
    /// whether their events are whole.
    #[serde(default)]
    pub half_made: u64,
    /// Whether not even the return of the workload's own `execve(2)` was seen. Then the workload
    /// ran where no event looks, or another user's BPF program keeps the records from all events.
    pub never_started: bool,
    /// Whether other CPUs are online now than those that events were opened on.
    pub other_cpus: bool,
    /// The sum of the `PERF_RECORD_LOST` records: a second witness, which misses losses at the end.
    pub lost_records: u64,
    /// In nanoseconds of the events' clock, the moment from which on everything is remembered,
    /// where records of before were overwritten.
    #[serde(default)]
    pub remembers_from: Option<u64>,
    /// How often an event was stopped for the rest of a tick, as it had more samples than
    /// `kernel.perf_event_max_sample_rate` allows (`PERF_RECORD_THROTTLE`). What happens then is no
    /// sample, and none that was lost.
    #[serde(default)]
    pub throttled: u64,
    /// How many calls were answered in place of being made: each has a leaving half and no entering
    /// one.
    #[serde(default)]
    pub answered: u64,
    /// How many more were answered, of which no leaving half was seen.
    #[serde(default)]
    pub unpaired: u64,
    /// How many calls a signal took back while they were held, that were not made again.
    #[serde(default)]
    pub not_again: u64,
    /// How many calls held other memory when the kernel read it than when it was decided about
    /// them.
    #[serde(default)]
    pub differing: u64,
    /// The events of which the kernel left returns out, or may have: one entry each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untold_returns: Vec<UntoldReturns>,
    /// The probes in whose place another file was executed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_files: Vec<OtherFile>,
    /// The probes that the kernel may have forgotten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<Forgotten>,
    /// The events of probes that are not in all copies of their function, and how many these are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub copied: BTreeMap<String, u64>,
    /// What was counted without records.
    #[serde(default)]
    pub counters: Vec<CounterAccount>,
}

impl Account {
    /// Says of which calls it is not known whether they are native, and which are missing for that.
    fn of_conventions(&self) -> impl Iterator<Item = String> {
        [
            (
                self.disguised,
                "calls that may be native or of 32 bits (`int 0x80`), as their program has put into a register what tells which",
            ),
            (
                self.unheld,
                "programs of 32 bits, whose calls the recording does not hold (it has native calls alone)",
            ),
            (
                self.untold,
                "programs of which neither registers nor mappings in the recording tell whether they are of 32 bits, where calls have other numbers",
            ),
        ]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{what}: {n}"))
    }

    /// Whether every occurrence of every event has its record.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.events.iter().all(EventAccount::is_complete)
            && self.counters.iter().all(CounterAccount::is_complete)
            && self.side_band_lost == 0
            && self.full_rings == 0
            && !self.broke_off
            && self.out_of_sight == 0
            && self.unended == 0
            && self.legacy_calls == 0
            && self.disguised == 0
            && self.unheld == 0
            && self.untold == 0
            && self.unread == 0
            && self.unpaired == 0
            && self.not_again == 0
            && self.differing == 0
            && self.blind_rings == 0
            && self.half_made == 0
            && !self.never_started
            && !self.other_cpus
            && self.untold_returns.is_empty()
            && self.other_files.is_empty()
            && self.forgotten.is_empty()
            && self.lost_records == 0
    }

    /// How often things happened that were counted without records.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let counters = self.counters.iter();
        counters
            .map(|counter| (counter.name.clone(), counter.value))
            .collect()
    }

    /// The account of an event. Where several have the same name, `before` of these come first.
    #[must_use]
    pub fn of(&self, name: &str, before: usize) -> Option<&EventAccount> {
        let mut events = self.events.iter().filter(|event| event.name == name);
        events.nth(before)
    }

    /// How many records are missing, side-band included.
    #[must_use]
    pub fn lost(&self) -> u64 {
        let counted: u64 = self
            .events
            .iter()
            .map(|event| event.missing().max(event.said_lost.unwrap_or(0)))
            .sum();
        (counted + self.side_band_lost).max(self.lost_records)
    }

    /// What is to be known of a complete one, a line each.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let throttled = (self.throttled > 0).then(|| {
            format!(
                "samples were throttled {} times, as there were more than kernel.perf_event_max_sample_rate allows: there are fewer than were asked for",
                self.throttled
            )
        });
        throttled.into_iter().chain(copies(&self.copied)).collect()
    }

    /// What probes did not tell: the event, and a line of what is wrong with it.
    pub fn of_probes(&self) -> impl Iterator<Item = (&str, String)> {
        let returns = self.untold_returns.iter();
        let returns = returns.map(|it| (it.name.as_str(), it.to_string()));
        let files = self.other_files.iter();
        let files = files.map(|it| (it.name.as_str(), it.to_string()));
        let forgotten = self.forgotten.iter();
        let forgotten = forgotten.map(|it| (it.name.as_str(), it.to_string()));
        returns.chain(files).chain(forgotten)
    }

    /// What is wrong with it, a line each; empty for a complete one.
    #[must_use]
    pub fn complaints(&self) -> Vec<String> {
        let mut lines = self.of_all();
        lines.extend(self.of_probes().map(|(_, line)| line));
        lines
    }

    /// What is wrong with it apart from single [probes](Self::of_probes), a line each.
    #[must_use]
    pub fn of_all(&self) -> Vec<String> {
        let wrong = self.events.iter().filter(|event| !event.is_complete());
        let broke_off = "the harness was asked to end before it had read all records";
        let broke_off = self.broke_off.then(|| broke_off.to_owned());
        let told = |n: u64, what: &str| (n > 0).then(|| format!("{what}: {n}"));
        let mut lines: Vec<String> = broke_off.into_iter().collect();
        let has_more = |event: &EventAccount| !event.sampled && event.known() > event.counted;
        if self.events.iter().any(has_more) {
            lines.push(
                "more was recorded than the kernel counted: it takes its counters off a task that executes a set-user-ID program, or one \
                 that its user may not read".to_owned(),
            );
        }
        lines.extend(wrong.map(ToString::to_string));
        let part = self.counters.iter().filter(|event| !event.is_complete());
        lines.extend(part.map(ToString::to_string));
        if self.side_band_lost > 0 {
            lines.push(format!(
                "names, forks and exits: {} lost",
                self.side_band_lost
            ));
        }
        if self.full_rings > 0 {
            lines.push(full_rings(self.full_rings));
        }
        if self.full_backlog > 0 && !lines.is_empty() {
            lines.push(format!(
                "{} MiB of records waited to be read, and there was no room for more: they came faster than they were read \
                 (`--backlog` and the free space in TMPDIR bound what may wait)",
                self.full_backlog.div_ceil(1 << 20)
            ));
        }
        if self.unpaired > 0 {
            lines.push(format!(
                "calls that were answered for a fault: {} returns seen, {} missing",
                self.answered, self.unpaired
            ));
        }
        lines.extend(told(
            self.not_again,
            "calls that a signal took back before they were answered, and that were not made again",
        ));
        lines.extend(told(
            self.differing,
            "calls that read otherwise when they were made than when it was decided which fault they get",
        ));
        // Where a record is missing, it may be that one.
        if self.never_started && lines.is_empty() {
            lines.push(
                "not even the workload's own execve was seen: it ran on a CPU without events, or a BPF program hides the calls".to_owned(),
            );
        }
        if self.unread > 0 && lines.is_empty() {
            lines.push(format!(
                "calls that the kernel ran no program for, to read what they point to: {}",
                self.unread
            ));
        }
        lines.extend(told(
            self.half_made,
            "tasks that were being made just as the trace began, of which calls may be missing",
        ));
        if self.other_cpus {
            lines.push("CPUs came or went during the run".to_owned());
        }
        lines.extend(told(
            self.out_of_sight,
            "programs of which the kernel shows nothing (set-user-ID, moved to another control group, or 32-bit where each call has its own tracepoint)",
        ));
        lines.extend(told(
            self.unended,
            "processes whose end was not seen, so that they may have left the control group that events are counted for",
        ));
        lines.extend(told(
            self.legacy_calls,
            "calls of `gettimeofday`, `time` or `getcpu` by the vsyscall page, of which the kernel shows neither arguments nor results",
        ));
        lines.extend(self.of_conventions());
        if self.blind_rings > 0 {
            lines.push(format!(
                "there is no tracepoint for what is submitted to io_uring, or none for this user: {} worked on one",
                count_of(self.blind_rings, "call")
            ));
        }
        if lines.is_empty() && self.lost_records > 0 {
            lines.push(format!(
                "the kernel reported {} lost records",
                self.lost_records
            ));
        }
        lines
    }
}

/// That it is not known whether rings lack records about tasks.
#[must_use]
pub fn full_rings(n: u64) -> String {
    format!(
        "rings that were full at their end, where this kernel does not tell whether it dropped names, forks and exits: {n}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_samples_the_kernel_alone_knows_what_was_lost() {
        let sampled = |lost| EventAccount {
            sampled: true,
            ..event(1000, 900, lost)
        };
        assert!(sampled(Some(0)).is_complete());
        assert_eq!(sampled(Some(0)).missing(), 0);
        let lossy = sampled(Some(3));
        assert!(!lossy.is_complete() && lossy.is_explained());
        assert_eq!(lossy.missing(), 3);
        assert_eq!(lossy.to_string(), "`e`: 1000 counted, 900 records, 3 lost");
        // If the kernel does not count lost samples, they cannot be known.
        assert!(!sampled(None).is_complete());
    }

    fn event(counted: u64, delivered: u64, said_lost: Option<u64>) -> EventAccount {
        EventAccount {
            name: "e".to_owned(),
            counted,
            delivered,
            said_lost,
            overwritten: 0,
            sampled: false,
        }
    }

    #[test]
    fn a_run_is_complete_only_if_counter_equals_records_and_nothing_was_lost() {
        let complete = |event: EventAccount| {
            Account {
                events: vec![event],
                ..Account::default()
            }
            .is_complete()
        };
        assert!(complete(event(5, 5, Some(0))));
        assert!(complete(event(5, 5, None)));
        assert!(!complete(event(5, 4, Some(1))));
        assert!(
            !complete(event(5, 4, Some(0))),
            "one dropped by the reader itself"
        );
        assert!(
            !complete(event(5, 4, None)),
            "no lost count, but the counter tells"
        );
        assert!(!complete(event(5, 5, Some(1))));
        assert!(
            !complete(event(4, 5, Some(0))),
            "more records than occurrences"
        );
        assert!(
            !Account {
                side_band_lost: 1,
                ..Account::default()
            }
            .is_complete()
        );
        assert!(
            !Account {
                blind_rings: 1,
                ..Account::default()
            }
            .is_complete()
        );
        assert!(
            !Account {
                lost_records: 1,
                ..Account::default()
            }
            .is_complete()
        );
    }

    #[test]
    fn a_counter_that_was_not_running_all_the_time_makes_a_run_incomplete() {
        let account = |running| Account {
            counters: vec![CounterAccount {
                name: "cycles".to_owned(),
                value: 9,
                enabled: 100,
                running,
            }],
            ..Account::default()
        };
        assert!(account(100).is_complete());
        assert!(!account(40).is_complete());
        assert_eq!(
            account(40).complaints(),
            ["`cycles`: 9 counted in 40 of 100 ns: it shared a counter with other events"]
        );
    }

    #[test]
    fn the_numbers_are_in_the_complaint() {
        let account = Account {
            events: vec![event(500, 73, Some(427))],
            ..Account::default()
        };
        assert_eq!(
            account.complaints(),
            ["`e`: 500 counted, 73 records, 427 lost"]
        );
        assert_eq!(account.lost(), 427);
        let account = Account {
            events: vec![event(500, 72, Some(427))],
            ..Account::default()
        };
        assert_eq!(
            account.complaints(),
            ["`e`: 500 counted, 72 records, 427 lost (these do not add up)"]
        );
        assert_eq!(account.lost(), 428);
    }

    #[test]
    fn what_is_overwritten_is_not_lost() {
        let overwriting = |counted, delivered, lost, overwritten| EventAccount {
            overwritten,
            ..event(counted, delivered, Some(lost))
        };
        let whole = overwriting(9, 2, 0, 7);
        assert!(whole.is_complete() && whole.is_explained());
        assert_eq!(whole.missing(), 0);
        assert_eq!(
            whole.to_string(),
            "`e`: 9 counted, 2 records, 7 overwritten, 0 lost"
        );
        let dropped = overwriting(9, 1, 0, 7);
        assert!(!dropped.is_complete() && !dropped.is_explained());
        assert_eq!(dropped.missing(), 1);
        let lost = overwriting(9, 1, 1, 7);
        assert!(!lost.is_complete() && lost.is_explained());
        assert!(!overwriting(9, 3, 0, 7).is_complete());
    }

    #[test]
    fn what_the_kernel_does_not_show_makes_a_run_incomplete() {
        for account in [
            Account {
                full_rings: 1,
                ..Account::default()
            },
            Account {
                unended: 1,
                ..Account::default()
            },
            Account {
                broke_off: true,
                ..Account::default()
            },
            Account {
                legacy_calls: 1,
                ..Account::default()
            },
        ] {
            assert!(!account.is_complete());
            assert_eq!(account.complaints().len(), 1);
        }
    }

    #[test]
    fn a_call_that_nobody_read_for_makes_a_run_incomplete() {
        let account = Account {
            events: vec![event(2, 2, Some(0))],
            unread: 1,
            ..Account::default()
        };
        assert!(!account.is_complete());
        let complaints = account.complaints();
        assert_eq!(
            complaints,
            ["calls that the kernel ran no program for, to read what they point to: 1"]
        );
    }
}
