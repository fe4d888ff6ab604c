//! Reads `mem:ADDRESS[/LENGTH][:ACCESS]`: accesses to a place of memory
//! (`tools/perf/util/parse-events.y`, `event_legacy_mem`).

use super::Letters;
use perf_records::attr::{Access, Source};

const ACCESS: &[(&str, Access)] = &[
    ("r", Access::Read),
    ("w", Access::Write),
    ("rw", Access::ReadWrite),
    ("wr", Access::ReadWrite),
    ("x", Access::Execute),
];

/// The lengths that machines have registers for.
const LENGTHS: &[u64] = &[1, 2, 4, 8];

/// What is wrong with it; `at` is the character within the word, from 1.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) at: usize,
    pub(super) expected: &'static str,
}

/// The event, and the letters behind it.
pub(super) fn read(word: &str) -> Result<(Source, Option<Letters<'_>>), Wrong> {
    let text = word.strip_prefix(super::MEMORY).unwrap_or(word);
    let mut at = super::MEMORY.len() + 1;
    let end = text.find([':', '/']).unwrap_or(text.len());
    let (place, mut rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let address = super::number(place).ok_or(Wrong {
        at,
        expected: "an address such as 0x404010",
    })?;
    at += place.len();
    let mut length = None;
    if let Some(behind) = rest.strip_prefix('/') {
        let end = behind.find(':').unwrap_or(behind.len());
        let (text, after) = behind.split_at_checked(end).unwrap_or((behind, ""));
        let number = super::number(text).filter(|number| LENGTHS.contains(number));
        length = Some(number.ok_or(Wrong {
            at: at + 1,
            expected: "a length of 1, 2, 4 or 8 bytes",
        })?);
        at += 1 + text.len();
        rest = after;
    }
    let mut access = Access::ReadWrite;
    if let Some(behind) = rest.strip_prefix(':') {
        let end = behind.find(':').unwrap_or(behind.len());
        let (text, after) = behind.split_at_checked(end).unwrap_or((behind, ""));
        if let Some((_, known)) = ACCESS.iter().find(|(known, _)| *known == text) {
            access = *known;
            at += 1 + text.len();
            rest = after;
        } else if text.contains(['r', 'w', 'x']) {
            return Err(Wrong {
                at: at + 1,
                expected: "r, w, rw or x",
            });
        }
    }
    // As in perf: an instruction is as long as a word, all else is an `int`.
    let length = length.unwrap_or(match access {
        Access::Execute => size_of::<usize>() as u64,
        _ => 4,
    });
    let source = Source::Breakpoint {
        address,
        length,
        access,
    };
    Ok((
        source,
        rest.strip_prefix(':').map(|letters| (at + 1, letters)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_a_length_and_a_kind_of_access() {
        use Access::{Execute, Read, ReadWrite, Write};
        for (word, address, length, access, letters) in [
            ("mem:0x404010", 0x40_4010, 4, ReadWrite, None),
            ("mem:4096/8", 4096, 8, ReadWrite, None),
            ("mem:0x10/1:w", 16, 1, Write, None),
            ("mem:0x10:r", 16, 4, Read, None),
            ("mem:0x10:x", 16, 8, Execute, None),
            ("mem:0x10:u", 16, 4, ReadWrite, Some((10, "u"))),
            ("mem:0x10/2:rw:u", 16, 2, ReadWrite, Some((15, "u"))),
        ] {
            let read = read(word).expect(word);
            let source = Source::Breakpoint {
                address,
                length,
                access,
            };
            assert_eq!(read, (source, letters), "{word}");
        }
    }

    #[test]
    fn what_is_no_place_is_refused_where_it_stands() {
        for (word, at) in [
            ("mem:", 5),
            ("mem:main", 5),
            ("mem:0x10/3", 10),
            ("mem:0x10/:w", 10),
            ("mem:0x10:rx", 10),
            ("mem:0x10/4:rr", 12),
        ] {
            assert_eq!(read(word).expect_err(word).at, at, "{word}");
        }
    }
}
