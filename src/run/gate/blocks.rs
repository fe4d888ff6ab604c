//! Which calls wait for others, and which of these have come.

use perf_live::gate::End;
use std::collections::{HashMap, HashSet};

/// What the faults that block calls have seen, by the faults' places.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// The faults for which a call came and was made or answered.
    over: HashSet<usize>,
    /// The calls that came, and may still be taken back.
    came: HashMap<usize, Vec<u64>>,
    /// The calls that wait.
    waiting: Vec<(usize, u64)>,
}

impl Blocks {
    /// A call is blocked by a fault; says whether it has to wait.
    pub(super) fn wait(&mut self, fault: usize, id: u64) -> bool {
        let came = self.came.get(&fault);
        let has_come = self.over.contains(&fault) || came.is_some_and(|came| !came.is_empty());
        if !has_come {
            self.waiting.push((fault, id));
        }
        !has_come
    }

    /// A call came until which a fault blocks others; returns these, but for that call itself.
    pub(super) fn come(&mut self, fault: usize, id: u64) -> Vec<u64> {
        self.came.entry(fault).or_default().push(id);
        let is_it = |waiting: &mut (usize, u64)| waiting.0 == fault && waiting.1 != id;
        let freed = self.waiting.extract_if(.., is_it);
        freed.map(|(_, id)| id).collect()
    }

    /// A call ended. One that a signal took back has not come. Returns the faults for which it
    /// came.
    pub(super) fn settle(&mut self, id: u64, end: &End) -> Vec<usize> {
        let mut of = Vec::new();
        self.waiting.retain(|(_, waiting)| *waiting != id);
        for (fault, came) in &mut self.came {
            let place = came.iter().position(|came| *came == id);
            if place.map(|place| came.swap_remove(place)).is_some() && *end != End::TakenBack {
                self.over.insert(*fault);
                of.push(*fault);
            }
        }
        of
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_waits_until_another_has_come_and_never_for_itself() {
        let mut blocks = Blocks::default();
        assert!(blocks.wait(0, 1));
        assert!(blocks.come(0, 1).is_empty(), "it is no other");
        assert!(blocks.wait(1, 2), "another fault");
        assert_eq!(blocks.come(0, 3), [1]);
        assert!(!blocks.wait(0, 4), "it has come");
        assert_eq!(blocks.come(1, 5), [2]);
    }

    #[test]
    fn what_a_signal_took_back_has_not_come_and_does_not_wait() {
        let mut blocks = Blocks::default();
        blocks.come(0, 1);
        blocks.settle(1, &End::TakenBack);
        assert!(blocks.wait(0, 2));
        blocks.settle(2, &End::TakenBack);
        assert!(blocks.come(0, 3).is_empty());
        blocks.settle(3, &End::Answered);
        assert!(!blocks.wait(0, 4));
    }
}
