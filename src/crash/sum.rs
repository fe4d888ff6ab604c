//! A digest of bytes at positions that can be added up.

/// The Mersenne prime 2^61 - 1.
const PRIME: u64 = (1 << 61) - 1;
/// Two bases below [`PRIME`], from the digits of pi: two lanes make a collision of the first lane
/// visible.
const BASES: [u64; 2] = [0x0243_f6a8_885a_308d, 0x1131_98a2_e037_0734];

/// The sum of `word[i] * base^i` over the 32-bit words of a content, modulo a prime, twice.
///
/// Zeros add nothing, and the digest of a content is the sum of the digests of its parts however it
/// is cut, so that equal files have equal digests whatever wrote them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Sum([u64; 2]);

impl Sum {
    /// Returns the digest of `bytes` at `at`, with zeros all around.
    pub(crate) fn of(at: u64, bytes: &[u8]) -> Self {
        let [low, high] = BASES;
        if bytes.iter().all(|byte| *byte == 0) {
            return Self::default();
        }
        Self([lane(low, at, bytes), lane(high, at, bytes)])
    }

    /// Returns the digest of two contents laid over each other, of which one is zero wherever the
    /// other is not.
    pub(crate) fn and(self, other: Self) -> Self {
        let ([a, b], [c, d]) = (self.0, other.0);
        Self([add(a, c), add(b, d)])
    }
}

/// Computes one lane.
fn lane(base: u64, at: u64, bytes: &[u8]) -> u64 {
    let mut power = raised(base, at / 4);
    let mut sum = 0;
    let mut shift = (at % 4) * 8;
    let mut word = 0_u64;
    for byte in bytes {
        word |= u64::from(*byte) << shift;
        shift += 8;
        if shift == 32 {
            sum = add(sum, times(word, power));
            power = times(power, base);
            (word, shift) = (0, 0);
        }
    }
    add(sum, times(word, power))
}

/// Returns `base` to the power of `exponent`.
fn raised(base: u64, mut exponent: u64) -> u64 {
    let (mut square, mut power) = (base, 1);
    while exponent > 0 {
        if exponent % 2 == 1 {
            power = times(power, square);
        }
        square = times(square, square);
        exponent /= 2;
    }
    power
}

fn add(a: u64, b: u64) -> u64 {
    (a + b) % PRIME
}

fn times(a: u64, b: u64) -> u64 {
    // The remainder is below 2^61.
    u64::try_from(u128::from(a) * u128::from(b) % u128::from(PRIME)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::Sum;

    #[test]
    fn a_sum_does_not_depend_on_the_cut() {
        let bytes: Vec<u8> = (0..100).map(|n: u8| n.wrapping_mul(37)).collect();
        for at in [0, 1, 2, 3, 4, 1 << 40] {
            let whole = Sum::of(at, &bytes);
            for cut in 0..bytes.len() {
                let (left, right) = bytes.split_at(cut);
                let offset = u64::try_from(cut).unwrap_or(0);
                assert_eq!(Sum::of(at, left).and(Sum::of(at + offset, right)), whole);
            }
        }
    }

    #[test]
    fn a_sum_depends_on_position_and_on_each_byte() {
        assert_ne!(Sum::of(0, b"a"), Sum::of(1, b"a"));
        assert_ne!(Sum::of(0, b"a"), Sum::of(4, b"a"));
        assert_ne!(Sum::of(0, &[255; 4]), Sum::of(0, &[7, 0, 0, 0]));
        assert_eq!(Sum::of(9, &[0; 40]), Sum::default());
    }
}
