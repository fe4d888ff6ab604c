//! What a task's memory held when it made a call: which bytes are to be read, and what came of it.
//!
//! A record of a call has six words; what the pointers among them point to must be read while the
//! call is made, as the memory may hold something else a moment later.

mod behind;

use crate::names::Abi;
pub use behind::{Behind, Several};
use std::collections::BTreeMap;

/// The moment at which memory is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Moment {
    /// When the call is entered: what the program gives to the kernel.
    Enter,
    /// When it is left: what the kernel gives to the program.
    Exit,
}

/// How many bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// A string, to its zero byte.
    String,
    /// A vector of pointers to strings, to its null pointer; each string is a [`Piece`].
    Strings,
    /// This number of bytes.
    Fixed(u16),
    /// So many elements as an argument says, of so many bytes each.
    Counted {
        /// The argument that has their number.
        count: u8,
        /// The size of each in bytes.
        unit: u16,
    },
    /// As many bytes as the 32-bit number says that an argument points to (`socklen_t *`), read at
    /// the same moment.
    Sized {
        /// The argument's place.
        at: u8,
    },
    /// What a structure points to at which the argument points.
    Behind(Behind),
    /// As many elements as the call returned, of so many bytes each; only when it is left.
    Returned {
        /// The size of each in bytes.
        unit: u16,
    },
}

/// What is to be read for an argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fetch {
    /// The argument that holds the address, from 0.
    pub argument: u8,
    /// The moment of the read.
    pub moment: Moment,
    /// The number of bytes.
    pub extent: Extent,
    /// No more than so many bytes; of a vector of strings, of each.
    pub limit: u16,
}

/// What is to be read: for each call, by its convention and number.
pub type Fetches = BTreeMap<(Abi, u32), Vec<Fetch>>;

/// How much of what was to be read is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// All of it, without the zero byte of a string.
    Whole,
    /// Its beginning: there was more than the limit.
    Cut,
    /// Its beginning: the memory behind that could not be read.
    Part,
    /// Nothing: the memory could not be read.
    Unread,
    /// The end of a vector of strings: there are no more than those before it.
    End,
}

/// What came of one [`Fetch`], or of one string of a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The argument that holds the address, from 0.
    pub argument: u8,
    /// The place in a vector of strings, from 0; [`Behind::element`]; else 0.
    pub element: u16,
    /// The moment of the read.
    pub moment: Moment,
    /// The address.
    pub address: u64,
    /// Whether it is all there.
    pub state: State,
    /// What was there; a string without its zero byte.
    pub bytes: Box<[u8]>,
}

impl Piece {
    fn place(&self) -> (u8, u16) {
        (self.argument, self.element)
    }

    /// Takes away what was read, but for so many bytes.
    fn forget_behind(&mut self, n: usize) {
        self.bytes = self.bytes.get(..n).unwrap_or_default().into();
        self.state = if n == 0 { State::Unread } else { State::Part };
    }

    /// Whether what the kernel has written for `written` may be in what this holds behind so many
    /// bytes.
    fn may_have(&self, written: &Self, n: usize) -> bool {
        let behind = |piece: &Self| piece.address.saturating_add(piece.bytes.len() as u64);
        let is_all = written.state == State::Whole;
        // The zero byte of a string counts.
        let starts_in_front = written.address <= behind(self);
        starts_in_front && (!is_all || self.address.saturating_add(n as u64) < behind(written))
    }

    /// What was there, unless some of what should have been could not be read.
    #[must_use]
    pub fn read(&self) -> Option<&[u8]> {
        matches!(self.state, State::Whole | State::Cut).then_some(&*self.bytes)
    }

    /// Likewise, where so many bytes are enough.
    #[must_use]
    pub fn read_first(&self, length: usize) -> Option<&[u8]> {
        match self.state {
            State::Part => self.bytes.get(..length),
            _ => self
                .read()
                .map(|bytes| bytes.get(..length).unwrap_or(bytes)),
        }
    }
}

/// All that was read for one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    pieces: Vec<Piece>,
    /// Whether a reader was at work for the call at all, even if it read nothing.
    is_read: bool,
    /// Arguments, with the place in a vector, of which something was read too late to be sure that
    /// it is what the program gave to the kernel: all behind so many bytes.
    late: Vec<((u8, u16), usize)>,
}

impl Memory {
    /// Takes the pieces as they were read.
    #[must_use]
    pub fn new(pieces: Vec<Piece>) -> Self {
        Self {
            pieces,
            is_read: true,
            late: Vec::new(),
        }
    }

    /// Adds what was read later; it replaces what could not be read before. The beginning that
    /// could be read stays what it was, as the call may have changed it. What lies where the call
    /// has written is not known then.
    pub fn extend(&mut self, later: Self) {
        self.is_read |= later.is_read;
        for piece in later.pieces {
            let same = |known: &&mut Piece| {
                (known.argument, known.element, known.moment)
                    == (piece.argument, piece.element, piece.moment)
            };
            let known = self.pieces.iter_mut().find(same);
            // Of several that are read again for one of them.
            let is_known = |known: &&mut Piece| matches!(known.state, State::Whole | State::Cut);
            if piece.element > 0 && known.as_ref().is_some_and(is_known) {
                continue;
            }
            let (place, is_given) = (piece.place(), piece.moment == Moment::Enter);
            if is_given && !self.late.iter().any(|(late, _)| *late == place) {
                let part = known.as_ref().filter(|known| known.state == State::Part);
                self.late
                    .push((place, part.map_or(0, |known| known.bytes.len())));
            }
            match known {
                Some(known) if known.state == State::Part => {
                    if let Some(rest) = piece.bytes.get(known.bytes.len()..) {
                        known.bytes = [&known.bytes, rest].concat().into();
                        known.state = piece.state;
                    }
                }
                Some(known) => *known = piece,
                None => self.pieces.push(piece),
            }
        }
        self.doubt_what_is_late();
    }

    fn doubt_what_is_late(&mut self) {
        for (place, n) in &self.late {
            let of = |moment| self.pieces.iter().filter(move |it| it.moment == moment);
            let is_doubtful = of(Moment::Enter)
                .filter(|piece| piece.place() == *place)
                .any(|piece| of(Moment::Exit).any(|written| piece.may_have(written, *n)));
            let given = self.pieces.iter_mut().find(|piece| {
                is_doubtful && (piece.place(), piece.moment) == (*place, Moment::Enter)
            });
            if let Some(given) = given {
                given.forget_behind(*n);
            }
        }
    }

    /// Takes away what a program gave to the kernel, by what was read.
    pub fn forget_what_was_given(&mut self) {
        let given = |piece: &&mut Piece| piece.moment == Moment::Enter;
        for piece in self.pieces.iter_mut().filter(given) {
            piece.forget_behind(0);
        }
    }

    /// The pieces, to be changed.
    pub(crate) fn pieces_mut(&mut self) -> impl Iterator<Item = &mut Piece> {
        self.pieces.iter_mut()
    }

    /// Changes what was read of an argument.
    pub fn change(&mut self, argument: usize, how: impl Fn(&[u8]) -> Box<[u8]>) {
        for piece in &mut self.pieces {
            if usize::from(piece.argument) == argument {
                piece.bytes = how(&piece.bytes);
            }
        }
    }

    /// Whether something of an argument was read too late to be sure of it.
    pub(crate) fn is_late(&self, argument: u8) -> bool {
        self.late.iter().any(|((late, _), _)| *late == argument)
    }

    /// Puts what was read of an argument to another one.
    pub(crate) fn rename(&mut self, argument: u8, other: u8) {
        let of_it = self.pieces.iter_mut().filter(|it| it.argument == argument);
        of_it.for_each(|piece| piece.argument = other);
    }

    /// Whether a reader was at work for the call at all, even if it read nothing.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.is_read
    }

    /// Whether nothing was to be read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// What an argument pointed to at a moment.
    #[must_use]
    pub fn piece(&self, argument: usize, moment: Moment) -> Option<&Piece> {
        self.strings(argument).find(|piece| piece.moment == moment)
    }

    /// What the structure pointed to at which an argument pointed.
    #[must_use]
    pub fn behind(&self, argument: usize, what: Behind, moment: Moment) -> Option<&Piece> {
        self.behind_one(argument, (what, 0), moment)
    }

    /// The same for one of an array of structures, of which the first is 0.
    #[must_use]
    pub fn behind_one(
        &self,
        argument: usize,
        (what, place): (Behind, u16),
        moment: Moment,
    ) -> Option<&Piece> {
        let element = what.element_of(place)?;
        let mut pieces = self.strings(argument);
        pieces.find(|piece| (piece.element, piece.moment) == (element, moment))
    }

    /// The pieces of an argument, in order: the strings of a vector.
    pub fn strings(&self, argument: usize) -> impl Iterator<Item = &Piece> {
        self.pieces
            .iter()
            .filter(move |piece| usize::from(piece.argument) == argument)
    }
}

/// A record of the capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Captured {
    /// What was read for a call.
    Contents {
        /// The call's convention and number.
        call: (Abi, i32),
        /// Which of the call's halves the record belongs to.
        part: Part,
        /// The memory.
        memory: Memory,
    },
    /// A signal came while an interrupted call returned.
    Signal {
        /// Whether the program handles it, and then with `SA_RESTART` or without.
        handled: Option<Handled>,
    },
}

/// Which part of a call something was read in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its entry.
    Entry {
        /// Whether a record of its exit will follow.
        more: bool,
    },
    /// Between its halves; it adds to what was read at the entry.
    Within,
    /// Its exit.
    Exit,
}

/// How a program handles a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handled {
    /// Whether calls that it interrupts are made again (`SA_RESTART`).
    pub restarts: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_that_was_read_in_time_stays_what_it_was() {
        let of = |state, bytes: &[u8]| Piece {
            argument: 1,
            element: 0,
            moment: Moment::Enter,
            address: 0x1ff8,
            state,
            bytes: bytes.into(),
        };
        let joined = |later: Piece| {
            let mut memory = Memory::new(vec![of(State::Part, b"before")]);
            memory.extend(Memory::new(vec![later]));
            memory.piece(1, Moment::Enter).cloned()
        };
        let whole = joined(of(State::Whole, b"change and more"));
        assert_eq!(whole, Some(of(State::Whole, b"before and more")));
        let part = Some(of(State::Part, b"before"));
        assert_eq!(joined(of(State::Part, b"change")), part);
        assert_eq!(joined(of(State::Unread, b"")), part);
    }

    #[test]
    fn what_was_read_too_late_where_the_call_wrote_is_not_known() {
        let piece = |argument, moment, address, state, bytes: &[u8]| Piece {
            argument,
            element: 0,
            moment,
            address,
            state,
            bytes: bytes.into(),
        };
        let path = |state, bytes| piece(0, Moment::Enter, 0x1000, state, bytes);
        let known = |first: Piece, within: bool, address, state| {
            let late = path(State::Whole, b"written");
            let answer = piece(1, Moment::Exit, address, state, b"1234");
            let mut memory = Memory::new(vec![first]);
            match within {
                true => {
                    memory.extend(Memory::new(vec![late]));
                    memory.extend(Memory::new(vec![answer]));
                }
                false => memory.extend(Memory::new(vec![late, answer])),
            }
            memory
                .piece(0, Moment::Enter)
                .and_then(Piece::read)
                .is_some()
        };
        for within in [false, true] {
            let unread = |address, state| known(path(State::Unread, b""), within, address, state);
            for (address, is_known) in [
                (0xffc, true),
                (0xffd, false),
                (0x1000, false),
                (0x1007, false),
                (0x1008, true),
            ] {
                assert_eq!(unread(address, State::Whole), is_known, "{address:#x}");
            }
            // How far it goes on is not known.
            assert!(!unread(0x100, State::Cut) && unread(0x1008, State::Cut));
            let part = |address| known(path(State::Part, b"wr"), within, address, State::Whole);
            assert!(!part(0xfff) && part(0xffe) && part(0x2000));
        }
        let mut in_time = Memory::new(vec![path(State::Whole, b"given")]);
        in_time.extend(Memory::new(vec![piece(
            1,
            Moment::Exit,
            0x1000,
            State::Whole,
            b"12",
        )]));
        let given = in_time.piece(0, Moment::Enter).and_then(Piece::read);
        assert_eq!(given, Some(&b"given"[..]));
        let answer = piece(0, Moment::Exit, 0x1000, State::Whole, b"1234");
        let mut part = Memory::new(vec![path(State::Part, b"gi")]);
        part.extend(Memory::new(vec![path(State::Whole, b"12345"), answer]));
        assert_eq!(
            part.piece(0, Moment::Enter),
            Some(&path(State::Part, b"gi"))
        );
    }
}
