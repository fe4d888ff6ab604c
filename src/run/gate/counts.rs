//! Counts the calls that each fault matches.

use crate::plan::FaultPlan;
use crate::verdict::FaultOutcome;
use perf_live::gate::End;
use std::collections::HashMap;
use syscall_model::Answer;

/// What a fault counted of one call.
#[derive(Clone, Copy, Debug)]
struct Counted {
    fault: usize,
    /// By what it was counted, and its number there; `None` where it is not known whether it was
    /// meant.
    number: Option<(u32, u64)>,
    /// Whether `when` names that number.
    is_due: bool,
    is_fired: bool,
    /// Whether it is done by the holding alone, and has no answer and no signal to come behind it.
    is_holding: bool,
    /// Whether that holds it until another call comes.
    is_blocked: bool,
}

/// The numbers of calls, and what became of each fault.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) outcomes: Vec<FaultOutcome>,
    /// How many calls each fault matched in each process or thread, or in all of the run (0).
    last: HashMap<(usize, u32), u64>,
    /// What was counted of the calls that are not settled, by their ids.
    open: HashMap<u64, Vec<Counted>>,
}

impl Counts {
    pub(super) fn of(n_faults: usize) -> Self {
        Self {
            outcomes: vec![FaultOutcome::default(); n_faults],
            ..Self::default()
        }
    }

    /// Counts a call that a fault matches in `group`, which is `None` where that is not known;
    /// returns whether the fault is due. `is_free` says whether it can be done to this call.
    pub(super) fn count(
        &mut self,
        id: u64,
        (fault, plan): (usize, &FaultPlan),
        group: Option<u32>,
        is_free: bool,
    ) -> bool {
        let Some(outcome) = self.outcomes.get_mut(fault) else {
            return false;
        };
        let number = group.map(|group| {
            let last = self.last.entry((fault, group)).or_default();
            *last += 1;
            (group, *last)
        });
        let is_due = number.is_some_and(|(_, number)| plan.when.has(number));
        let is_fired = is_free && is_due;
        outcome.seen += u64::from(number.is_some());
        outcome.due += u64::from(is_due);
        outcome.unknown += u64::from(number.is_none());
        outcome.fired += u64::from(is_fired);
        self.open.entry(id).or_default().push(Counted {
            fault,
            number,
            is_due,
            is_fired,
            is_holding: matches!(plan.injected.answer, None | Some(Answer::Whole))
                && plan.injected.signal.is_none(),
            is_blocked: is_fired && plan.injected.is_blocked,
        });
        is_fired
    }

    /// Says how a call ended. A number is given back only while it is the last: returns whether
    /// all numbers hold.
    pub(super) fn settle(&mut self, id: u64, end: &End) -> bool {
        let mut holds = true;
        for counted in self.open.remove(&id).into_iter().flatten() {
            let Some(outcome) = self.outcomes.get_mut(counted.fault) else {
                continue;
            };
            let fired = u64::from(counted.is_fired);
            match end {
                End::Answered => {}
                End::Unmade => {
                    outcome.unmade += u64::from(counted.number.is_some());
                    match counted.is_holding {
                        true => outcome.unmade_fired += fired,
                        // The workload did not get what was to come.
                        false => outcome.fired -= fired,
                    }
                    outcome.blocked += u64::from(counted.is_blocked);
                }
                End::Failed(_) => outcome.fired -= fired,
                End::TakenBack => match counted.number {
                    None => outcome.unknown -= 1,
                    Some((group, number)) => {
                        let last = self.last.entry((counted.fault, group)).or_default();
                        outcome.fired -= fired;
                        if *last == number {
                            *last -= 1;
                            outcome.seen -= 1;
                            outcome.due -= u64::from(counted.is_due);
                        } else {
                            outcome.unmade += 1;
                            holds = false;
                        }
                    }
                },
            }
        }
        holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::When;
    use std::collections::BTreeSet;
    use syscall_model::Injected;

    fn second() -> FaultPlan {
        let when = When {
            first: 2,
            last: Some(2),
            step: 1,
        };
        let names = BTreeSet::from(["mkdir".to_owned()]);
        FaultPlan::of_calls("mkdir", names, when, Injected::default())
    }

    #[test]
    fn the_number_of_a_call_that_was_taken_back_is_given_again() {
        let (mut counts, second) = (Counts::of(1), second());
        assert!(!counts.count(1, (0, &second), Some(0), true));
        assert!(counts.settle(1, &End::TakenBack));
        assert!(!counts.count(2, (0, &second), Some(0), true));
        assert!(counts.count(3, (0, &second), Some(0), true));
        assert_eq!((counts.outcomes[0].seen, counts.outcomes[0].fired), (2, 1));
        assert!(counts.settle(3, &End::TakenBack));
        assert_eq!((counts.outcomes[0].due, counts.outcomes[0].fired), (0, 0));
        // Another fault has been done to it.
        assert!(!counts.count(4, (0, &second), Some(0), false));
        assert_eq!((counts.outcomes[0].due, counts.outcomes[0].fired), (1, 0));
    }

    #[test]
    fn no_number_is_given_back_past_a_later_one() {
        let (mut counts, second) = (Counts::of(1), second());
        assert!(!counts.count(1, (0, &second), Some(0), true));
        assert!(counts.count(2, (0, &second), Some(0), true));
        assert!(!counts.settle(1, &End::TakenBack), "it is told");
        assert!(!counts.count(3, (0, &second), Some(0), true), "once only");
        assert_eq!(counts.outcomes[0].fired, 1);
    }

    #[test]
    fn what_could_not_be_done_has_not_fired_and_keeps_its_number() {
        let (mut counts, second) = (Counts::of(1), second());
        counts.count(1, (0, &second), Some(0), true);
        assert!(counts.count(2, (0, &second), Some(0), true));
        counts.settle(2, &End::Failed("no right".to_owned()));
        assert!(!counts.count(3, (0, &second), Some(0), true));
        assert_eq!((counts.outcomes[0].seen, counts.outcomes[0].fired), (3, 0));
    }

    #[test]
    fn an_answer_that_never_came_is_not_done_and_a_holding_without_one_is() {
        let held = |answer| {
            let mut fault = second();
            (fault.when, fault.injected.answer) = (When::default(), answer);
            let mut counts = Counts::of(1);
            assert!(counts.count(1, (0, &fault), Some(0), true));
            assert!(counts.settle(1, &End::Unmade));
            let outcome = &counts.outcomes[0];
            (outcome.fired, outcome.unmade, outcome.unmade_fired)
        };
        assert_eq!(held(Some(Answer::Error(5))), (0, 1, 0));
        assert_eq!(held(None), (1, 1, 1));
        // The call was made, and its return is what is held.
        assert_eq!(held(Some(Answer::Whole)), (1, 1, 1));
    }
}
