//! Values that several tasks share, each kept as long as a task holds it.

/// A place in a [`Pool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key(usize);

/// The values, with how many have each.
#[derive(Debug)]
pub(super) struct Pool<T> {
    held: Vec<Option<(T, u32)>>,
    free: Vec<usize>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self {
            held: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Pool<T> {
    /// Takes a value in, for one holder.
    pub(super) fn add(&mut self, value: T) -> Key {
        let new = Some((value, 1));
        match self.free.pop() {
            Some(place) => {
                if let Some(slot) = self.held.get_mut(place) {
                    *slot = new;
                }
                Key(place)
            }
            None => {
                self.held.push(new);
                Key(self.held.len() - 1)
            }
        }
    }

    /// One more has it.
    pub(super) fn share(&mut self, key: Key) -> Key {
        if let Some(Some((_, holders))) = self.held.get_mut(key.0) {
            *holders += 1;
        }
        key
    }

    /// One has it no longer.
    pub(super) fn release(&mut self, key: Key) {
        let Some(slot) = self.held.get_mut(key.0) else {
            return;
        };
        if let Some((_, holders)) = slot {
            *holders -= 1;
            if *holders == 0 {
                *slot = None;
                self.free.push(key.0);
            }
        }
    }

    pub(super) fn is_shared(&self, key: Key) -> bool {
        matches!(self.held.get(key.0), Some(Some((_, 2..))))
    }

    pub(super) fn get(&self, key: Key) -> Option<&T> {
        Some(&self.held.get(key.0)?.as_ref()?.0)
    }

    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        Some(&mut self.held.get_mut(key.0)?.as_mut()?.0)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        let held = self.held.iter().enumerate();
        held.filter_map(|(place, slot)| Some((Key(place), &slot.as_ref()?.0)))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (Key, &mut T)> {
        let held = self.held.iter_mut().enumerate();
        held.filter_map(|(place, slot)| Some((Key(place), &mut slot.as_mut()?.0)))
    }
}
