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
    /// A call came until which a fault blocks others. It is still held.
    pub(super) fn come(&mut self, fault: usize, id: u64) {
        self.came.entry(fault).or_default().push(id);
    }

    /// A call is blocked by a fault; says whether it has to wait: until another has gone on, but
    /// not for one that waits for this call.
    pub(super) fn wait(&mut self, fault: usize, id: u64) -> bool {
        let has_gone = self.over.contains(&fault);
        let waits = !has_gone && !self.meets(fault, id, &mut Vec::new());
        if waits {
            self.waiting.push((fault, id));
        }
        waits
    }

    /// Whether one of those until which a fault blocks waits for the call itself, or for another
    /// that does.
    fn meets(&self, fault: usize, id: u64, seen: &mut Vec<usize>) -> bool {
        if seen.contains(&fault) {
            return false;
        }
        seen.push(fault);
        let of = |fault: usize| self.came.get(&fault).map_or(&[][..], Vec::as_slice);
        let is_other = |other: u64| other != id && of(fault).contains(&other);
        let others = self.waiting.iter().filter(|(_, it)| is_other(*it));
        let mut by = others.map(|(by, _)| *by);
        by.any(|by| of(by).contains(&id) || self.meets(by, id, seen))
    }

    /// A call goes on or is answered; returns those that waited for it.
    pub(super) fn go(&mut self, id: u64) -> Vec<u64> {
        let came = self.came.iter().filter(|(_, came)| came.contains(&id));
        let of: Vec<usize> = came.map(|(fault, _)| *fault).collect();
        self.over.extend(&of);
        self.waiting.retain(|(_, waiting)| *waiting != id);
        let freed = self.waiting.extract_if(.., |it| of.contains(&it.0));
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
        blocks.come(0, 1);
        assert!(blocks.wait(0, 1), "it is no other");
        assert!(blocks.wait(1, 2), "another fault");
        blocks.come(0, 3);
        assert_eq!(blocks.go(3), [1]);
        assert!(!blocks.wait(0, 4), "it has come");
        blocks.come(1, 5);
        assert_eq!(blocks.go(5), [2]);
    }

    #[test]
    fn a_call_that_is_held_itself_frees_none_before_it_goes_on() {
        let mut blocks = Blocks::default();
        assert!(blocks.wait(0, 1));
        blocks.come(0, 2);
        assert!(blocks.wait(0, 3), "the other has not gone on");
        assert_eq!(blocks.go(2), [1, 3]);
        // One waits for another, and that for a third.
        assert!(blocks.wait(1, 4));
        blocks.come(1, 5);
        assert!(blocks.wait(2, 5));
        blocks.come(2, 6);
        assert_eq!(blocks.go(6), [5]);
        assert_eq!(blocks.go(5), [4]);
    }

    #[test]
    fn calls_that_wait_for_each_other_meet() {
        // Each is one until which the other is blocked: by one fault, by two, by three.
        for n_faults in 1..=3 {
            let mut blocks = Blocks::default();
            let calls = n_faults.max(2) as u64;
            for id in 0..calls {
                let (own, next) = (id as usize % n_faults, (id as usize + 1) % n_faults);
                blocks.come(next, id);
                assert_eq!(blocks.wait(own, id), id + 1 < calls, "{id} of {calls}");
            }
            let mut gone = vec![calls - 1];
            while let Some(id) = gone.pop() {
                gone.extend(blocks.go(id));
            }
            assert!(blocks.waiting.is_empty(), "{n_faults}");
        }
    }

    #[test]
    fn what_a_signal_took_back_has_not_come_and_does_not_wait() {
        let mut blocks = Blocks::default();
        blocks.come(0, 1);
        blocks.settle(1, &End::TakenBack);
        assert!(blocks.wait(0, 2));
        blocks.settle(2, &End::TakenBack);
        blocks.come(0, 3);
        assert!(blocks.go(3).is_empty());
        blocks.settle(3, &End::Answered);
        assert!(!blocks.wait(0, 4));
    }
}
