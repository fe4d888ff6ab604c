//! Reads the kernel's copies of a call's strings from a record of the call's own tracepoint.

use crate::plan::{Copied, Copies, Form};
use perf_records::decode::{self, DecodeError};
use syscall_model::memory::{Memory, Moment, Piece, State};

/// Returns the pieces of memory that a record holds.
///
/// # Errors
/// [`DecodeError`], if a copy does not lie in the record.
pub(super) fn read(copies: &Copies, record: &[u8]) -> Result<Memory, DecodeError> {
    let pieces = copies.copied.iter().map(|copied| piece(copied, record));
    Ok(Memory::new(pieces.collect::<Result<_, _>>()?))
}

fn piece(copied: &Copied, record: &[u8]) -> Result<Piece, DecodeError> {
    let bytes = decode::content(record, &copied.copy)?;
    let (state, bytes) = match &copied.form {
        Form::Text => text(bytes),
        Form::Bytes { count, limit } => {
            let wanted = decode::bits(record, count)?;
            let kept = bytes.get(..usize::from(*limit)).unwrap_or(bytes);
            match kept.len() as u64 {
                0 if wanted > 0 => (State::Unread, kept),
                length if length < wanted => (State::Cut, kept),
                _ => (State::Whole, kept),
            }
        }
    };
    Ok(Piece {
        argument: copied.argument,
        element: 0,
        moment: Moment::Enter,
        address: decode::bits(record, &copied.address)?,
        state,
        bytes: bytes.into(),
    })
}

/// Returns a copied string without its zero byte. The kernel ends one that was too long with three
/// dots, which may just as well be the string's own: such a string counts as cut, as it does begin
/// with the bytes before the dots.
fn text(copy: &[u8]) -> (State, &[u8]) {
    let Some(text) = copy.strip_suffix(b"\0") else {
        return (State::Unread, &[]);
    };
    match text.strip_suffix(b"...") {
        Some(beginning) => (State::Cut, beginning),
        None => (State::Whole, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syscall_model::memory::{Extent, Fetch};

    const RENAMEAT2: &str =
        include_str!("../../harness/fixtures/payloads/syscalls.sys_enter_renameat2@7.2.txt");
    const OPENAT: &str =
        include_str!("../../harness/fixtures/payloads/syscalls.sys_enter_openat@7.2.txt");
    const WRITE: &str =
        include_str!("../../harness/fixtures/payloads/syscalls.sys_enter_write@7.2.txt");

    /// What is read of each record of a capture: argument, address, state and bytes.
    fn read_all(capture: &str, fetches: &[Fetch]) -> Vec<Vec<(u8, u64, State, String)>> {
        let at = capture.find("\nname: ").expect("a format") + 1;
        let format = perf_records::format::parse(&capture[at..]).expect("a format");
        let copies = Copies::of(0, &format, fetches).expect("copies");
        let records = capture
            .lines()
            .filter_map(|line| line.strip_prefix("payload "));
        let read = records.map(|hex| {
            let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("digits");
            let record: Vec<u8> = (0..hex.len()).step_by(2).map(digits).collect();
            let memory = read(&copies, &record).expect("copies in the record");
            let pieces = (0..6).flat_map(|argument| memory.piece(argument, Moment::Enter));
            let piece = |piece: &Piece| {
                let text = String::from_utf8_lossy(&piece.bytes).into_owned();
                (piece.argument, piece.address, piece.state, text)
            };
            pieces.map(piece).collect()
        });
        read.collect()
    }

    fn string(argument: u8) -> Fetch {
        Fetch {
            argument,
            moment: Moment::Enter,
            extent: Extent::String,
            limit: 4096,
        }
    }

    #[test]
    fn a_copy_is_whole_or_cut_or_unread_and_an_empty_one_is_none_of_the_latter() {
        let is = |argument, address, state, text: &str| (argument, address, state, text.to_owned());
        let expected = [
            [
                is(1, 0x7fff_e879_1f01, State::Cut, &"l".repeat(63)),
                is(3, 0x7fff_e879_1f42, State::Whole, "b"),
            ],
            [
                is(1, 0xa5_dac8, State::Whole, ""),
                is(3, 8, State::Unread, ""),
            ],
            [
                is(1, 0x7ff2_6c1c_5610, State::Whole, "tab.here"),
                is(3, 0x7ff2_6c1c_02f0, State::Whole, &"d".repeat(63)),
            ],
        ];
        assert_eq!(read_all(RENAMEAT2, &[string(1), string(3)]), expected);
        let paths: Vec<_> = read_all(OPENAT, &[string(1)])
            .into_iter()
            .flatten()
            .map(|(.., text)| text)
            .collect();
        assert_eq!(paths, ["/greeting", "/absent"]);
    }

    #[test]
    fn bytes_are_cut_where_there_are_more_than_are_wanted() {
        let first = |limit| {
            let written = Fetch {
                extent: Extent::Counted { count: 2, unit: 1 },
                limit,
                ..string(1)
            };
            let read = read_all(WRITE, &[written]);
            let (.., state, text) = read[0][0].clone();
            (state, text)
        };
        let message = "cat: can't open '/absent': No such file or directory\n";
        assert_eq!(first(64), (State::Whole, message.to_owned()));
        assert_eq!(first(5), (State::Cut, "cat: ".to_owned()));
    }

    #[test]
    fn three_dots_at_the_end_say_that_a_string_is_cut_even_if_they_are_its_own() {
        assert_eq!(text(b"a...\0"), (State::Cut, b"a".as_slice()));
        assert_eq!(text(b"a..\0"), (State::Whole, b"a..".as_slice()));
        assert_eq!(text(b"\0"), (State::Whole, b"".as_slice()));
        assert_eq!(text(b""), (State::Unread, b"".as_slice()));
    }

    #[test]
    fn a_copy_outside_its_record_is_an_error() {
        let at = OPENAT.find("\nname: ").expect("a format") + 1;
        let format = perf_records::format::parse(&OPENAT[at..]).expect("a format");
        let copies = Copies::of(257, &format, &[string(1)]).expect("copies");
        let mut record = [0; 60];
        record[48..52].copy_from_slice(&(10_u32 << 16 | 55).to_ne_bytes());
        assert!(read(&copies, &record).is_err());
    }
}
