//! The arguments of `socketcall(2)` of i386, which are in memory: an array of 32-bit numbers.
//!
//! What is read there does not depend on the operation: the array, and what its second and its
//! fifth number point to, as long as the number behind each says. An operation looks at one of them
//! for an address, or at none.

use super::Call;
use super::memory::{Behind, Extent, Fetch, Moment, State};
use super::pointers::LONGEST_ADDRESS;

/// The second and the fifth argument of an operation, each an address with its length behind it.
const SECOND: Behind = Behind {
    pointer: 4,
    length: 8,
    is_narrow: true,
    ..Behind::NAME
};
const FIFTH: Behind = Behind {
    pointer: 16,
    length: 20,
    ..SECOND
};

/// The argument that says where the array is.
const ARRAY: usize = 1;
/// The longest array: six numbers.
const LONGEST_ARRAY: u16 = 24;

/// What is to be read for `socketcall`.
pub(super) fn fetches() -> Vec<Fetch> {
    let fetch = |extent, limit| Fetch {
        argument: ARRAY as u8,
        moment: Moment::Enter,
        extent,
        limit,
    };
    vec![
        fetch(Extent::Fixed(LONGEST_ARRAY), LONGEST_ARRAY),
        fetch(Extent::Behind(SECOND), LONGEST_ADDRESS),
        fetch(Extent::Behind(FIFTH), LONGEST_ADDRESS),
    ]
}

/// The address that an operation of `socketcall` gives to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given<'a> {
    /// It gives none, or a null pointer.
    Nothing,
    /// It may give one, which was not read.
    Unread,
    /// The bytes of a `struct sockaddr`.
    Bytes(&'a [u8]),
}

/// What address an operation gives; `None` for a call that is no such operation.
#[must_use]
pub fn address_given(call: &Call) -> Option<Given<'_>> {
    let operation = call.operation()?.strip_prefix("socketcall.")?;
    let (what, is_enough) = match operation {
        "bind" | "connect" => (SECOND, 12),
        "sendto" => (FIFTH, 24),
        "sendmsg" | "sendmmsg" => return Some(Given::Unread),
        _ => return Some(Given::Nothing),
    };
    Some(read(call, what, is_enough).unwrap_or(Given::Unread))
}

/// Of an operation with `is_enough` bytes of arguments; `None` where not all of it was read.
fn read(call: &Call, what: Behind, is_enough: usize) -> Option<Given<'_>> {
    let array = call.memory.piece(ARRAY, Moment::Enter)?;
    let array = array.read_first(is_enough)?;
    let address = number(array, what.pointer.into())?;
    let length = number(array, what.length.into())?;
    if address == 0 || length == 0 {
        return Some(Given::Nothing);
    }
    let piece = call.memory.behind(ARRAY, what, Moment::Enter)?;
    // What another thread has changed in between does not fit together.
    let is_it = piece.address == u64::from(address)
        && piece.state == State::Whole
        && piece.bytes.len() == length as usize;
    is_it.then_some(Given::Bytes(&piece.bytes))
}

fn number(array: &[u8], at: usize) -> Option<u32> {
    let bytes = array.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

/// The family, the type and the protocol of the socket that an operation makes; `None` for a call
/// that is no such operation, an error where they were not read.
#[must_use]
pub fn socket_given(call: &Call) -> Option<Result<[u32; 3], ()>> {
    let read = || {
        let array = call.memory.piece(ARRAY, Moment::Enter)?;
        let array = array.read_first(12)?;
        Some([number(array, 0)?, number(array, 4)?, number(array, 8)?])
    };
    (call.operation()? == "socketcall.socket").then(|| read().ok_or(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Memory, Piece};
    use crate::names::{self, Abi};

    const ADDRESS: u32 = 0x5000;

    fn call(operation: u64, array: &[u32], address: &[u8]) -> Call {
        let number = names::number(Abi::I386, "socketcall").expect("a number");
        let mut call = Call::entered_as(Abi::I386, number as i32, [operation, 0x4000, 0, 0, 0, 0]);
        let piece = |element, address: u32, bytes: Vec<u8>| Piece {
            argument: ARRAY as u8,
            element,
            moment: Moment::Enter,
            address: address.into(),
            state: State::Whole,
            bytes: bytes.into(),
        };
        let array = array.iter().flat_map(|word| word.to_le_bytes()).collect();
        let pieces = vec![
            piece(0, 0x4000, array),
            piece(SECOND.element(), ADDRESS, address.to_vec()),
            piece(FIFTH.element(), ADDRESS, address.to_vec()),
        ];
        call.memory = Memory::new(pieces);
        call
    }

    #[test]
    fn the_operation_says_which_number_is_an_address() {
        let address = [2, 0, 0, 7, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        let bytes = Some(Given::Bytes(&address[..]));
        let second = [3, ADDRESS, 16, 0, 0, 0];
        let fifth = [3, 0x6000, 5, 0, ADDRESS, 16];
        for (operation, array, expected) in [
            (2, second, bytes),
            (3, second, bytes),
            (3, [3, 0, 0, 0, 0, 0], Some(Given::Nothing)),
            (11, fifth, bytes),
            (11, [3, 0x6000, 5, 0, 0, 0], Some(Given::Nothing)),
            (1, second, Some(Given::Nothing)),
            (9, second, Some(Given::Nothing)),
            (16, second, Some(Given::Unread)),
            (99, second, None),
        ] {
            assert_eq!(
                address_given(&call(operation, &array, &address)),
                expected,
                "{operation}"
            );
        }
    }

    #[test]
    fn an_address_that_is_not_the_arrays_is_not_taken_for_it() {
        let address = [2, 0, 0, 7];
        for array in [[3, ADDRESS + 4, 4], [3, ADDRESS, 5], [3, ADDRESS, 0x100]] {
            assert_eq!(
                address_given(&call(3, &array, &address)),
                Some(Given::Unread),
                "{array:?}"
            );
        }
        assert_eq!(
            address_given(&call(3, &[3, ADDRESS], &address)),
            Some(Given::Unread)
        );
        let mut unread = call(3, &[3, ADDRESS, 4], &address);
        unread.memory = Memory::default();
        assert_eq!(address_given(&unread), Some(Given::Unread));
    }

    #[test]
    fn the_array_says_what_a_socket_is() {
        assert_eq!(
            socket_given(&call(1, &[16, 3, 4], &[])),
            Some(Ok([16, 3, 4]))
        );
        assert_eq!(socket_given(&call(1, &[16, 3], &[])), Some(Err(())));
        assert_eq!(socket_given(&call(2, &[16, 3, 4], &[])), None);
    }
}
