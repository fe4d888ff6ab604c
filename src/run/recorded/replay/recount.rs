//! Compares the kernel's counts of a recorded run with the records that are read now.

use perf_live::events::{Account, EventAccount, MEMORY, OtherFile};

/// Makes the account of a recorded run: the kernel's counts of then against the records of now.
pub(super) fn recount(
    account: &mut Account,
    then: &Account,
    rows: &[(&str, usize)],
    delivered: &[u64],
) {
    for (place, delivered) in delivered.iter().enumerate() {
        let (name, before) = rows.get(place).copied().unwrap_or((MEMORY, 0));
        if let Some(event) = then.of(name, before) {
            account.events.push(EventAccount {
                delivered: *delivered,
                ..event.clone()
            });
        }
    }
    *account = Account {
        events: std::mem::take(&mut account.events),
        out_of_sight: account.out_of_sight.max(then.out_of_sight),
        lost_records: account.lost_records.max(then.lost_records),
        throttled: account.throttled.max(then.throttled),
        // The records tell these too, and more of them if calls were overwritten during the run.
        legacy_calls: account.legacy_calls,
        disguised: account.disguised,
        blind_rings: account.blind_rings,
        unread: account.unread,
        untold_returns: std::mem::take(&mut account.untold_returns),
        other_files: other_files(account, then, rows),
        forgotten: match then.forgotten.is_empty() {
            true => std::mem::take(&mut account.forgotten),
            false => asked(&then.forgotten, |it| &it.name, rows),
        },
        never_started: account.never_started,
        ..then.clone()
    };
}

/// What was executed in the place of files with probes: what the records say of it, and what was
/// seen beside them of the events of now.
fn other_files(account: &Account, then: &Account, rows: &[(&str, usize)]) -> Vec<OtherFile> {
    let mut all = account.other_files.clone();
    for file in asked(&then.other_files, |it| &it.name, rows) {
        if !all.contains(&file) {
            all.push(file);
        }
    }
    all
}

/// What is known of the events of now.
fn asked<T: Clone>(known: &[T], name: fn(&T) -> &str, rows: &[(&str, usize)]) -> Vec<T> {
    let is_asked = |it: &&T| rows.iter().any(|(asked, _)| *asked == name(it));
    known.iter().filter(is_asked).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Resolved, tests::resolved};

    #[test]
    fn what_made_a_run_incomplete_makes_its_recording_incomplete() {
        type Spoil = fn(&mut Account);
        let cases: [Spoil; 8] = [
            |account| account.side_band_lost = 1,
            |account| account.full_rings = 1,
            |account| account.out_of_sight = 1,
            |account| account.unended = 1,
            |account| account.other_cpus = true,
            |account| account.lost_records = 1,
            |account| account.events.push(event(1)),
            |account| account.counters.push(counter()),
        ];
        let yaml = "description: it ends\nworkload: { run: [\"true\"] }\nsnapshot: false";
        let Ok(Resolved::Plan(plan)) = resolved(yaml) else {
            panic!("no plan")
        };
        let plan = plan.events;
        let delivered = vec![0; plan.requests.len() + 1];
        let places = 0..plan.requests.len();
        let rows: Vec<_> = places.filter_map(|place| plan.name_of(place)).collect();
        for (number, spoil) in cases.into_iter().enumerate() {
            let (mut now, mut then) = (Account::default(), Account::default());
            recount(&mut now, &then, &rows, &delivered);
            assert!(now.is_complete());
            spoil(&mut then);
            assert!(!then.is_complete());
            recount(&mut now, &then, &rows, &delivered);
            assert!(!now.is_complete(), "{number}");
        }
    }

    fn event(lost: u64) -> EventAccount {
        EventAccount {
            name: MEMORY.to_owned(),
            counted: lost,
            delivered: 0,
            said_lost: Some(lost),
            overwritten: 0,
            sampled: false,
        }
    }

    #[test]
    fn another_file_in_the_place_of_a_probed_one_counts_where_the_probe_is_asked_for() {
        let file = OtherFile {
            name: "uprobe:f".to_owned(),
            path: "/bin/save".to_owned(),
            process: None,
        };
        let then = Account {
            other_files: vec![file],
            ..Account::default()
        };
        for (asked, is_complete) in [("uprobe:f", false), ("uprobe:g", true)] {
            let mut now = Account::default();
            recount(&mut now, &then, &[(asked, 0)], &[]);
            assert_eq!(now.is_complete(), is_complete, "{asked}");
        }
    }

    fn counter() -> perf_live::events::CounterAccount {
        perf_live::events::CounterAccount {
            name: "cpu-clock".to_owned(),
            value: 1,
            enabled: 2,
            running: 1,
        }
    }
}
