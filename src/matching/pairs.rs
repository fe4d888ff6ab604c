//! Pairs begins with ends, by their key.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Begins that wait for their ends. Within a key the latest is on top: an end belongs to the last
/// begin with its key.
#[derive(Debug)]
pub struct Pairs<K, T> {
    open: HashMap<K, Vec<(u64, T)>>,
    /// The key of each by its number, the oldest first.
    ages: BTreeMap<u64, K>,
    n_begun: u64,
    most: usize,
}

impl<K: Clone + Eq + Hash, T> Pairs<K, T> {
    /// Makes an empty store for at most `most` begins.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            open: HashMap::new(),
            ages: BTreeMap::new(),
            n_begun: 0,
            most,
        }
    }

    /// Adds a begin. Returns the oldest one if there are too many.
    pub fn begin(&mut self, key: K, begin: T) -> Option<T> {
        let number = self.n_begun;
        self.n_begun += 1;
        self.ages.insert(number, key.clone());
        self.open.entry(key).or_default().push((number, begin));
        if self.ages.len() <= self.most {
            return None;
        }
        let (_, key) = self.ages.pop_first()?;
        // The oldest of all is also the oldest of its key.
        let stack = self.open.get_mut(&key)?;
        let oldest = (!stack.is_empty()).then(|| stack.remove(0).1);
        if stack.is_empty() {
            self.open.remove(&key);
        }
        oldest
    }

    /// Takes an end: returns its begin, if there is one.
    pub fn end(&mut self, key: &K) -> Option<T> {
        let stack = self.open.get_mut(key)?;
        let youngest = stack.pop();
        if stack.is_empty() {
            self.open.remove(key);
        }
        let (number, begin) = youngest?;
        self.ages.remove(&number);
        Some(begin)
    }

    /// Returns all begins without an end, in their order.
    #[must_use]
    pub fn into_rest(self) -> Vec<T> {
        let mut rest: Vec<(u64, T)> = self.open.into_values().flatten().collect();
        rest.sort_by_key(|(number, _)| *number);
        rest.into_iter().map(|(_, begin)| begin).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_begin_of_a_key_ends_first_and_keys_do_not_meet() {
        let mut pairs = Pairs::new(10);
        for (key, begin) in [("a", 1), ("a", 2), ("b", 3), ("a", 4)] {
            assert_eq!(pairs.begin(key, begin), None);
        }
        assert_eq!(pairs.end(&"a"), Some(4));
        assert_eq!(pairs.end(&"b"), Some(3));
        assert_eq!(pairs.end(&"b"), None);
        assert_eq!(pairs.end(&"a"), Some(2));
        assert_eq!(pairs.begin("c", 5), None);
        assert_eq!(pairs.into_rest(), [1, 5]);
    }

    #[test]
    fn where_too_many_wait_the_oldest_is_given_up() {
        let mut pairs = Pairs::new(2);
        assert_eq!(pairs.begin("a", 1), None);
        assert_eq!(pairs.begin("b", 2), None);
        assert_eq!(pairs.end(&"a"), Some(1));
        assert_eq!(pairs.begin("b", 3), None);
        assert_eq!(pairs.begin("b", 4), Some(2));
        assert_eq!(pairs.end(&"b"), Some(4));
        assert_eq!(pairs.end(&"b"), Some(3));
        assert_eq!(pairs.end(&"b"), None);
    }
}
