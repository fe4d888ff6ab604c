//! What programs and process tell each other: the layouts of the maps' values and of the records.

use syscall_model::many;
use syscall_model::memory::{Captured, Handled, Memory, Moment, Part, Piece, State};
use syscall_model::names::Abi;
use syscall_model::select::Admitted;

/// Runs that can be captured at a time by one set of programs, at most: each takes 98 KiB.
pub(super) const MAX_SLOTS: u32 = 1 << 10;
/// Tasks that can be followed at a time.
pub(super) const MAX_TASKS: u32 = 16 << 10;
/// Numbers of calls below which there may be something to read.
pub(super) const MAX_CALLS: u32 = 512;
/// The places of calls in a slot: those of the native convention by their numbers, as many for
/// those of the 32-bit one behind them, and those of calls that such a call stands for.
pub(super) const PLACES: u32 = BY_NUMBER + many::TOLD;
/// How many of them are of calls by their numbers; behind these are the others.
pub(super) const BY_NUMBER: u32 = 2 * MAX_CALLS;

/// The place of a call; `None` where there is none for it.
pub(super) fn place(abi: Abi, number: u32) -> Option<u32> {
    if let Some(place) = many::place(abi, number as i32) {
        return Some(BY_NUMBER + place);
    }
    let first = match abi {
        _ if abi == Abi::native() => 0,
        _ if Some(abi) == Abi::native().compat() => MAX_CALLS,
        _ => return None,
    };
    (number < MAX_CALLS).then_some(first + number)
}

pub(super) fn call_at(place: u16) -> (Abi, i32) {
    let native = Abi::native();
    if let Some(place) = u32::from(place).checked_sub(BY_NUMBER) {
        return many::at(place);
    }
    match (native.compat(), u32::from(place).checked_sub(MAX_CALLS)) {
        (Some(compat), Some(number)) => (compat, number as i32),
        _ => (native, place.into()),
    }
}
/// Fetches of a call at its entry; no call has more, and each costs the verifier time.
pub(super) const MAX_FETCHES: usize = 5;
/// Fetches of a call at its exit, whose places follow those.
pub(super) const MAX_AT_EXIT: usize = 4;
/// Strings of a vector.
pub(super) const MAX_STRINGS: i32 = 64;
/// What one fetch may bring, in bytes: `PATH_MAX`.
pub(super) const MAX_PIECE: i32 = 4096;
/// Where in a record's body the last piece may start.
pub(super) const BODY: i32 = 11 << 10;
/// The size of the buffer in which a record is made: the head, a body, one piece more. A per-CPU
/// value may have 32 KiB at most.
pub(super) const SCRATCH: usize = (BODY + PIECE_MASK) as usize + 64;
/// Lengths of pieces are masked with this, which changes none: a comparison would give the verifier
/// two ways to follow.
pub(super) const PIECE_MASK: i32 = 0x1fff;

/// A task that is followed; the key is its thread id in the initial namespace.
pub(super) mod task {
    pub(in crate::capture) const SLOT: i16 = 0;
    /// A bit for each fetch at the entry that is to be tried again at the exit, and [`AT_EXIT`].
    pub(in crate::capture) const OWED: i16 = 4;
    pub(in crate::capture) const NUMBER: i16 = 8;
    /// How many strings the vector has; 0 unless its end was seen.
    pub(in crate::capture) const STRINGS: i16 = 12;
    /// Which of several structures has its turn.
    pub(in crate::capture) const TURN: i16 = 116;
    /// Six words, the address of [`ARRAY`] where that was read, and room for a masked index.
    pub(in crate::capture) const ARGS: i16 = 16;
    /// Not 0 while the last call was interrupted and nothing has followed yet.
    pub(in crate::capture) const INTERRUPTED: i16 = 80;
    /// The string of a vector, or the fetch, that is to be read next.
    pub(in crate::capture) const PLACE: i16 = 84;
    /// The vector's address.
    pub(in crate::capture) const VECTOR: i16 = 88;
    /// How long the record is that is being made.
    pub(in crate::capture) const OFFSET: i16 = 96;
    /// The buffer that the record is made in.
    pub(in crate::capture) const SCRATCH: i16 = 100;
    /// Not 0 from the record of the entry to the exit.
    pub(in crate::capture) const SENT: i16 = 104;
    /// Which copy of a program was here last, counted from 1.
    pub(in crate::capture) const LAST: i16 = 108;
    /// Not 0 from the task's first `execve(2)` on, or from its birth if its parent's is not 0: from
    /// where events of tasks are that an exec starts. Its calls are recorded then.
    pub(in crate::capture) const RECORDED: i16 = 112;
    /// The words of a call that are in memory, six of 32 bits, and room for a masked length.
    pub(in crate::capture) const ARRAY: i16 = 120;
    pub(in crate::capture) const SIZE: usize = 152;
    pub(in crate::capture) const AT_EXIT: i32 = 0x100;
}

/// What is to be read for a call; the key is the slot times [`PLACES`] plus the call's place.
pub(super) mod spec {
    /// 0 where there is nothing to read, by any convention with this number.
    pub(in crate::capture) const ANY: i16 = 0;
    /// Not 0 where something is read at the exit.
    pub(in crate::capture) const AT_EXIT: i16 = 1;
    /// Not 0 where there is something to read for this convention.
    pub(in crate::capture) const OWN: i16 = 2;
    /// Not 0 where it stands for other calls: [`THIS`] and what follows.
    pub(in crate::capture) const WHICH: i16 = 3;
    /// The first place of those.
    pub(in crate::capture) const FIRST: i16 = 4;
    /// Of a call that another one stands for: how many bytes of words it has in memory; 0 where its
    /// words are in registers.
    pub(in crate::capture) const ARRAY: i16 = 6;
    /// The argument that says where they are.
    pub(in crate::capture) const POINTER: i16 = 7;
    pub(in crate::capture) const FETCHES: i16 = 8;
    pub(in crate::capture) const FETCH_SIZE: i16 = 8;
    pub(in crate::capture) const SIZE: usize = 8 + (super::MAX_FETCHES + super::MAX_AT_EXIT) * 8;

    pub(in crate::capture) const ARGUMENT: i16 = 0;
    pub(in crate::capture) const KIND: i16 = 1;
    /// Another argument; of [`BEHIND`] where the address stands.
    pub(in crate::capture) const OTHER: i16 = 2;
    /// Of [`BEHIND`] where the number stands, with [`WIDE`].
    pub(in crate::capture) const NUMBER: i16 = 3;
    pub(in crate::capture) const LIMIT: i16 = 4;
    pub(in crate::capture) const UNIT: i16 = 6;
    /// Of [`BEHIND`], whose units are small: where there are several structures, the argument with
    /// their number, plus 1, or that of `Several::RESULT`; from the bit [`APART`] on how far from
    /// each other those are, as a power of 2.
    pub(in crate::capture) const OF: i16 = 7;
    pub(in crate::capture) const APART: i32 = 3;
    pub(in crate::capture) const WIDE: i32 = 1;
    /// Beside [`WIDE`]: addresses have 32 bits.
    pub(in crate::capture) const NARROW: i32 = 2;

    pub(in crate::capture) const STRING: i32 = 1;
    pub(in crate::capture) const STRINGS: i32 = 2;
    pub(in crate::capture) const FIXED: i32 = 3;
    pub(in crate::capture) const COUNTED: i32 = 4;
    pub(in crate::capture) const SIZED: i32 = 5;
    pub(in crate::capture) const RETURNED: i32 = 6;
    /// This and what follows is about what structures point to.
    pub(in crate::capture) const BEHIND: i32 = 7;
    pub(in crate::capture) const TWICE: i32 = 8;
    pub(in crate::capture) const TEXT: i32 = 9;

    pub(in crate::capture) const THIS: i32 = 1;
    pub(in crate::capture) const BY_HALF: i32 = 2;
    pub(in crate::capture) const BY_WORD: i32 = 3;
}

/// What became of a slot's records.
pub(super) mod slot {
    pub(in crate::capture) const SENT: i16 = 0;
    pub(in crate::capture) const LOST: i16 = 8;
    pub(in crate::capture) const SIZE: usize = 16;
}

/// Which calls of a slot's tasks are recorded; the key is the slot.
pub(super) mod selection {
    /// 0 where none is.
    pub(in crate::capture) const ON: i16 = 0;
    /// Of each half: whether the number -1 is, other numbers, and those of x32.
    pub(in crate::capture) const FLAGS: [i16; 2] = [1, 5];
    pub(in crate::capture) const MINUS_ONE: i16 = 0;
    pub(in crate::capture) const OTHERS: i16 = 1;
    pub(in crate::capture) const X32: i16 = 2;
    /// Of each half: a bit for each small number.
    pub(in crate::capture) const BITS: [i16; 2] = [8, 8 + super::BITS];
    pub(in crate::capture) const SIZE: usize = 8 + 2 * super::BITS as usize;
}

/// The bytes of the bits of a half.
const BITS: i16 = (Admitted::PLAIN / 8) as i16;

/// The value of the map of selections that has these halves recorded.
pub(super) fn selected(enter: &Admitted, leave: &Admitted) -> [u8; selection::SIZE] {
    let mut value = [0; selection::SIZE];
    value[selection::ON as usize] = 1;
    for (half, admitted) in [enter, leave].into_iter().enumerate() {
        let flags = selection::FLAGS[half];
        value[(flags + selection::MINUS_ONE) as usize] = admitted.minus_one.into();
        value[(flags + selection::OTHERS) as usize] = admitted.others.into();
        value[(flags + selection::X32) as usize] = admitted.x32.into();
        let words = admitted.plain.iter().flat_map(|word| word.to_ne_bytes());
        let places = selection::BITS[half] as usize..;
        for (place, byte) in places.zip(words) {
            value[place] = byte;
        }
    }
    value
}

/// A record: this head, then pieces, each on a multiple of 8 bytes.
pub(super) mod head {
    pub(in crate::capture) const LENGTH: i16 = 0;
    pub(in crate::capture) const NUMBER: i16 = 4;
    pub(in crate::capture) const WHAT: i16 = 6;
    /// Not 0 where a record of the call's end will follow.
    pub(in crate::capture) const MORE: i16 = 7;
    /// Of a signal: 0 where it is not handled, else its `sa_flags` with [`HANDLED`].
    pub(in crate::capture) const SIGNAL: i16 = 8;
    pub(in crate::capture) const SIZE: i16 = 16;
    pub(in crate::capture) const HANDLED: i32 = 1;

    pub(in crate::capture) const ENTER: i32 = 0;
    pub(in crate::capture) const EXIT: i32 = 1;
    /// Adds to what was read at the entry.
    pub(in crate::capture) const WITHIN: i32 = 2;
    pub(in crate::capture) const DELIVERED: i32 = 3;
}

/// The head of a piece.
pub(super) mod piece {
    pub(in crate::capture) const ARGUMENT: i16 = 0;
    pub(in crate::capture) const STATE: i16 = 1;
    pub(in crate::capture) const ELEMENT: i16 = 2;
    pub(in crate::capture) const LENGTH: i16 = 4;
    pub(in crate::capture) const ADDRESS: i16 = 8;
    pub(in crate::capture) const SIZE: i16 = 16;

    pub(in crate::capture) const WHOLE: i32 = 0;
    pub(in crate::capture) const CUT: i32 = 1;
    pub(in crate::capture) const UNREAD: i32 = 2;
    pub(in crate::capture) const END: i32 = 3;
    pub(in crate::capture) const PART: i32 = 4;
    /// Set in the state of what was read at the exit for its own sake.
    pub(in crate::capture) const OF_EXIT: i32 = 0x10;
}

fn number<const N: usize>(bytes: &[u8], at: i16) -> Option<[u8; N]> {
    bytes
        .get(usize::try_from(at).ok()?..)?
        .first_chunk()
        .copied()
}

/// Reads a record as the programs wrote it; `None` where it is not one of theirs.
#[must_use]
pub fn parse(bytes: &[u8]) -> Option<Captured> {
    let length = u32::from_ne_bytes(number(bytes, head::LENGTH)?);
    let bytes = bytes.get(..usize::try_from(length).ok()?)?;
    let call = call_at(u16::from_ne_bytes(number(bytes, head::NUMBER)?));
    let [what] = number(bytes, head::WHAT)?;
    let [more] = number(bytes, head::MORE)?;
    if i32::from(what) == head::DELIVERED {
        let flags = u64::from_ne_bytes(number(bytes, head::SIGNAL)?);
        let handled = (flags & head::HANDLED as u64 != 0).then_some(Handled {
            restarts: flags & libc::SA_RESTART as u64 != 0,
        });
        return Some(Captured::Signal { handled });
    }
    let part = match i32::from(what) {
        head::ENTER => Part::Entry { more: more != 0 },
        head::EXIT => Part::Exit,
        head::WITHIN => Part::Within,
        _ => return None,
    };
    let mut rest = bytes.get(usize::try_from(head::SIZE).ok()?..)?;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let (piece, size) = one_piece(rest)?;
        pieces.push(piece);
        rest = rest.get(size..)?;
    }
    Some(Captured::Contents {
        call,
        part,
        memory: Memory::new(pieces),
    })
}

fn one_piece(bytes: &[u8]) -> Option<(Piece, usize)> {
    let [argument] = number(bytes, piece::ARGUMENT)?;
    let [state] = number(bytes, piece::STATE)?;
    let element = u16::from_ne_bytes(number(bytes, piece::ELEMENT)?);
    let length = u32::from_ne_bytes(number(bytes, piece::LENGTH)?) as usize;
    let address = u64::from_ne_bytes(number(bytes, piece::ADDRESS)?);
    let start = usize::try_from(piece::SIZE).ok()?;
    let end = start.checked_add(length)?;
    let content = bytes.get(start..end)?;
    let moment = if i32::from(state) & piece::OF_EXIT == 0 {
        Moment::Enter
    } else {
        Moment::Exit
    };
    let state = match i32::from(state) & !piece::OF_EXIT {
        piece::WHOLE => State::Whole,
        piece::CUT => State::Cut,
        piece::UNREAD => State::Unread,
        piece::END => State::End,
        piece::PART => State::Part,
        _ => return None,
    };
    let piece = Piece {
        argument,
        element,
        moment,
        address,
        state,
        bytes: content.into(),
    };
    Some((piece, end.checked_next_multiple_of(8)?))
}
