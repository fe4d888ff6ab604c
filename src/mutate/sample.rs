//! Chooses some of many, and the same ones each time: by the text of the trace.

/// FNV-1a: short, and the same on every machine and in every version.
pub(super) fn hash(seed: u64, bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
        })
}

/// Returns the places of `strata` in the order in which they are tried: the first of each stratum,
/// then the second of each, and so on, so that rare kinds are tried however many there are of
/// others. Within a stratum `seed` decides.
pub(super) fn order<S: Ord>(strata: &[S], seed: u64) -> Vec<usize> {
    let key = |place: usize| (hash(seed, &place.to_le_bytes()), place);
    let mut places: Vec<(&S, usize)> = strata.iter().zip(0..).collect();
    places.sort_by_key(|(stratum, place)| (*stratum, key(*place)));
    let mut ranked: Vec<(usize, usize)> = Vec::with_capacity(places.len());
    for stratum in places.chunk_by(|(one, _), (other, _)| one == other) {
        ranked.extend((0..).zip(stratum.iter().map(|(_, place)| *place)));
    }
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, place)| place).collect()
}
