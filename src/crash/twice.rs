//! A digest of 128 bits.

use std::hash::{DefaultHasher, Hasher};

/// Two hashes that differ in what they begin with.
pub(super) struct Twice(DefaultHasher, DefaultHasher);

impl Default for Twice {
    fn default() -> Self {
        let mut second = DefaultHasher::new();
        second.write_u8(1);
        Self(DefaultHasher::new(), second)
    }
}

impl Hasher for Twice {
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
        self.1.write(bytes);
    }

    fn finish(&self) -> u64 {
        self.0.finish()
    }
}

impl Twice {
    pub(super) fn both(&self) -> u128 {
        u128::from(self.0.finish()) << 64 | u128::from(self.1.finish())
    }
}
