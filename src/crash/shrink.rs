//! Looks for the least that has to be lost for a state to fail.

use crate::crash::bits::Bits;
use crate::crash::explore::State;
use crate::crash::pieces::Pieces;

impl Pieces {
    /// Returns a state that `fails` too and of which less is lost. No piece of the steps before its
    /// moment can be put back alone (with what it comes after) so that it still fails.
    ///
    /// `fails` is asked about states that the model allows, with the number of `state`: first about
    /// halves of what is lost put back, then about less (Zeller and Hildebrandt, "Simplifying and
    /// Isolating Failure-Inducing Input", 2002). `state` itself is not asked about.
    pub fn shrink(&self, state: &State, fails: &mut dyn FnMut(&State) -> bool) -> State {
        let mut best = state.clone();
        let Some(moment) = self
            .moments
            .iter()
            .find(|moment| state.moment <= moment.last)
        else {
            return best;
        };
        let missing = |best: &State| -> Vec<usize> {
            let begun = self
                .list
                .iter()
                .take_while(|piece| piece.step < best.moment);
            (0..begun.count())
                .filter(|piece| !best.kept.has(*piece))
                .collect()
        };
        let mut size = missing(&best).len().div_ceil(2);
        while size > 0 {
            let mut less = false;
            for chunk in missing(&best).chunks(size) {
                let mut kept: Bits = best.kept.clone();
                chunk.iter().for_each(|piece| self.add(&mut kept, *piece));
                if kept == best.kept {
                    continue;
                }
                let tried = self.state(state.number, moment, kept);
                if fails(&tried) {
                    best = tried;
                    less = true;
                }
            }
            if size > 1 {
                size = size.div_ceil(2);
            } else if !less {
                break;
            }
        }
        best
    }
}
