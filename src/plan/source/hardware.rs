//! The names that perf has for the events of any processor (`event_symbols_hw` and
//! `evsel__hw_cache`, `tools/perf/util/`).

use perf_records::attr::Source;

/// Names by `PERF_COUNT_HW_*`; the first of several is the one that perf lists.
const HARDWARE: &[(&str, u32)] = &[
    ("cpu-cycles", 0),
    ("cycles", 0),
    ("instructions", 1),
    ("cache-references", 2),
    ("cache-misses", 3),
    ("branch-instructions", 4),
    ("branches", 4),
    ("branch-misses", 5),
    ("bus-cycles", 6),
    ("stalled-cycles-frontend", 7),
    ("idle-cycles-frontend", 7),
    ("stalled-cycles-backend", 8),
    ("idle-cycles-backend", 8),
    ("ref-cycles", 9),
];

/// The operations of a cache: `PERF_COUNT_HW_CACHE_OP_*`.
const READ: u32 = 0;
const WRITE: u32 = 1;
const PREFETCH: u32 = 2;

/// A cache by its `PERF_COUNT_HW_CACHE_*`, its names and its operations. perf lists the first name.
const CACHES: &[(u32, &[&str], &[u32])] = &[
    (
        0,
        &["L1-dcache", "l1-d", "l1d", "L1-data"],
        &[READ, WRITE, PREFETCH],
    ),
    (
        1,
        &["L1-icache", "l1-i", "l1i", "L1-instruction"],
        &[READ, PREFETCH],
    ),
    (2, &["LLC", "L2"], &[READ, WRITE, PREFETCH]),
    (3, &["dTLB", "d-tlb", "Data-TLB"], &[READ, WRITE, PREFETCH]),
    (4, &["iTLB", "i-tlb", "Instruction-TLB"], &[READ]),
    (5, &["branch", "bpu", "btb", "bpc"], &[READ]),
    (6, &["node"], &[READ, WRITE, PREFETCH]),
];

const OPERATIONS: &[(u32, &[&str])] = &[
    (READ, &["loads", "load", "read"]),
    (WRITE, &["stores", "store", "write"]),
    (
        PREFETCH,
        &[
            "prefetches",
            "prefetch",
            "speculative-read",
            "speculative-load",
        ],
    ),
];

/// By their `PERF_COUNT_HW_CACHE_RESULT_*`.
const RESULTS: &[(u32, &[&str])] = &[
    (0, &["refs", "Reference", "ops", "access"]),
    (1, &["misses", "miss"]),
];

/// The event of this name.
pub(in crate::plan) fn named(name: &str) -> Option<Source> {
    let hardware = HARDWARE.iter().find(|(known, _)| *known == name);
    match hardware {
        Some((_, number)) => Some(Source::hardware(*number)),
        None => cache(name).or_else(|| raw(name)),
    }
}

/// Reads `CACHE[-OPERATION][-RESULT]`; without an operation it means loads, without a result all
/// accesses.
fn cache(name: &str) -> Option<Source> {
    let rest_of = |text: &str, words: &[&str]| {
        let mut rests = words.iter().filter_map(|word| text.strip_prefix(word));
        rests
            .find(|rest| rest.is_empty() || rest.starts_with('-'))
            .map(str::to_owned)
    };
    let (number, operations, rest) = CACHES.iter().find_map(|(number, words, operations)| {
        Some((*number, *operations, rest_of(name, words)?))
    })?;
    let part = |text: &str, all: &[(u32, &[&str])]| {
        let text = text.strip_prefix('-')?;
        all.iter()
            .find_map(|(number, words)| Some((*number, rest_of(text, words)?)))
    };
    let (operation, rest) = part(&rest, OPERATIONS).unwrap_or((READ, rest));
    let (result, rest) = part(&rest, RESULTS).unwrap_or((0, rest));
    (rest.is_empty() && operations.contains(&operation))
        .then(|| Source::cache(number, operation, result))
}

/// Reads `rNNN`, of hexadecimal digits; `r0xNNN` if the former would be the name of a call: `read`.
fn raw(name: &str) -> Option<Source> {
    let digits = name.strip_prefix('r')?;
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_hexdigit());
    let number = u64::from_str_radix(digits, 16).ok()?;
    is_number.then(|| Source::raw(number))
}

/// The names that perf lists, in its order.
pub(in crate::plan) fn names() -> impl Iterator<Item = String> {
    let hardware = HARDWARE.iter().map(|(name, _)| (*name).to_owned());
    let caches = CACHES.iter().flat_map(|(_, names, operations)| {
        let cache = names.first().copied().unwrap_or_default();
        let of_it = OPERATIONS
            .iter()
            .filter(|(number, _)| operations.contains(number));
        of_it.flat_map(move |(_, words)| {
            let all = words.first().copied().unwrap_or_default();
            let one = words.get(1).copied().unwrap_or_default();
            [format!("{cache}-{all}"), format!("{cache}-{one}-misses")]
        })
    });
    hardware.chain(caches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_named_as_perf_names_them() {
        // What perf puts into `config`: the cache, the operation in the second byte, the result in
        // the third.
        for (name, cache, operation, result) in [
            ("L1-dcache-loads", 0, 0, 0),
            ("L1-dcache-load-misses", 0, 0, 1),
            ("L1-dcache-stores", 0, 1, 0),
            ("l1d-misses", 0, 0, 1),
            ("L1-dcache-prefetch-misses", 0, 2, 1),
            ("LLC", 2, 0, 0),
            ("LLC-store-misses", 2, 1, 1),
            ("dTLB-load-misses", 3, 0, 1),
            ("Instruction-TLB-read-miss", 4, 0, 1),
            ("node-prefetches", 6, 2, 0),
        ] {
            assert_eq!(
                named(name),
                Some(Source::cache(cache, operation, result)),
                "{name}"
            );
        }
        for name in [
            "iTLB-stores",
            "L1-dcache-x",
            "L1-dcachex",
            "LLC-misses-loads",
            "branch-stores",
            "openat",
            "",
        ] {
            assert_eq!(named(name), None, "{name}");
        }
    }

    #[test]
    fn a_raw_number_is_hexadecimal() {
        assert_eq!(named("r1a8"), Some(Source::raw(0x1a8)));
        assert_eq!(named("r0xead"), Some(Source::raw(0xead)));
        assert_eq!(named("r"), None);
        assert_eq!(named("rename"), None);
        assert_eq!(named("r+1"), None);
        assert_eq!(named("r11112222333344445"), None);
    }

    #[test]
    fn every_name_that_is_listed_names_an_event() {
        for name in names() {
            assert!(named(&name).is_some(), "{name}");
        }
    }
}
