//! A fast hash of ids.

use std::hash::{BuildHasherDefault, Hasher};

/// How maps hash whose keys are the kernel's ids: of threads, events and moments. A map that the
/// workload fills with names of its choice takes the standard library's hash, against which it
/// cannot choose names that fall together.
pub type Hashed = BuildHasherDefault<IdHasher>;

/// Multiplies and rotates, as the compiler's own does (`rustc-hash`).
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

impl IdHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        self.0 = self
            .0
            .wrapping_add(word)
            .wrapping_mul(0xf135_7aea_2e62_a9c5);
    }
}

impl Hasher for IdHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.add(u64::from(*byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.add(u64::from(number));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}
