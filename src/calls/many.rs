//! Calls of i386 that stand for others: `socketcall(2)` and `ipc(2)`, whose first word says for
//! which, and the old `mmap` and `select`, whose arguments are in memory.
//!
//! Such a call is told as the one that it stands for, with that one's arguments, as soon as these
//! are known (`told`); all that is said of the direct call is then said of it. It has a number
//! that no call of the kernel has, so that how it was made is not forgotten. The arguments of
//! `ipc` are in registers. Those of the others are an array of 32-bit words, as many as the call
//! has; where that was not read the call stays what it is, and its arguments are unknown.
//!
//! `net/compat.c` (`compat_sys_socketcall()`), `ipc/syscall.c` (`compat_ksys_ipc()`),
//! `arch/x86/kernel/sys_ia32.c` (`ia32_mmap`), `fs/select.c` (`compat_sys_old_select()`).

use super::call::{Call, Entry};
use super::layout::{self, Layout, Word};
use super::memory::{Extent, Fetch, Memory, Moment};
use super::names::{self, Abi};
use super::relatives::{self, OPERATIONS, Operation};
use std::sync::LazyLock;

/// The first number of those that calls are told by; a call of the kernel with one of them would
/// have no name ([`as_entered`]).
const FIRST: u32 = 0x5ca1_0000;

/// How many such numbers there are; some of them are of no call.
pub const TOLD: u32 = 66;

// Where those of each call begin among them.
const OF_SOCKETS: u32 = 0;
const OF_IPC: u32 = 32;
const OF_MMAP: u32 = 64;
const OF_SELECT: u32 = 65;

/// The argument under which an array of words is known of a call that is told by it: behind those
/// that a call has.
pub const ARRAY: u8 = 6;

/// The longest array: six words.
pub const LONGEST_ARRAY: u16 = 24;

/// What a call is told as.
#[derive(Debug)]
pub(super) struct Told {
    /// The number of the call of i386 that is made.
    made: u32,
    /// Its operation, of a call that takes one.
    operation: Option<&'static Operation>,
    /// The row of the direct call.
    row: usize,
    /// How many words there are in memory, and the argument that says where; `None` where all are
    /// in registers.
    array: Option<(u8, u8)>,
    /// How the words are those of the native call.
    pub(super) layout: Layout,
}

/// The words of `socketcall`'s operations (`nargs[]`, `net/socket.c`), from the first on.
const WORDS: [u8; 20] = [3, 3, 3, 2, 3, 3, 3, 4, 4, 4, 6, 6, 2, 5, 5, 3, 3, 4, 5, 4];

static ALL: LazyLock<Vec<Option<Told>>> = LazyLock::new(|| {
    let mut all: Vec<Option<Told>> = (0..TOLD).map(|_| None).collect();
    let mut add = |place: u32, made: &str, name: &str, operation, array, layout| {
        let found = names::row_of(name).zip(names::number(Abi::I386, made));
        if let (Some((row, made)), Some(slot)) = (found, all.get_mut(place as usize)) {
            *slot = Some(Told {
                made,
                operation,
                row,
                array,
                layout,
            });
        }
    };
    for operation in OPERATIONS {
        let (number, name) = (operation.number, operation.native);
        let (first, array, layout) = match operation.of {
            "socketcall" => {
                let words = WORDS.get(number as usize - 1).copied().unwrap_or_default();
                (OF_SOCKETS, Some((1, words)), of_socket(name))
            }
            _ => (OF_IPC, None, of_ipc(name)),
        };
        add(
            first + number,
            operation.of,
            name,
            Some(operation),
            array,
            layout,
        );
    }
    add(OF_MMAP, "mmap", "mmap", None, Some((0, 6)), layout::SAME);
    let select = layout::SAME;
    add(OF_SELECT, "select", "select", None, Some((0, 5)), select);
    all
});

/// How the words of an operation of `socketcall` are those of the native call.
fn of_socket(name: &str) -> Layout {
    use Word::{At, Is};
    match name {
        "send" | "recv" => layout::are(&[At(0), At(1), At(2), At(3), Is(0), Is(0)]),
        _ => layout::SAME,
    }
}

/// The same for the registers of `ipc`: the operation, three numbers, an address, one more.
fn of_ipc(name: &str) -> Layout {
    use Word::{At, Unknown};
    match name {
        "semop" => layout::are(&[At(1), At(4), At(2)]),
        "semtimedop" => layout::are(&[At(1), At(4), At(2), At(5)]),
        // The last one is where the address points to.
        "semctl" => layout::are(&[At(1), At(2), At(3), Unknown]),
        "semget" | "shmget" => layout::are(&[At(1), At(2), At(3)]),
        "msgget" => layout::are(&[At(1), At(2)]),
        "msgsnd" => layout::are(&[At(1), At(4), At(2), At(3)]),
        "msgrcv" => layout::are(&[At(1), At(4), At(2), At(5), At(3)]),
        "msgctl" | "shmctl" => layout::are(&[At(1), At(2), At(4)]),
        // The address that it attaches at goes to memory.
        "shmat" => layout::but_its_result(layout::are(&[At(1), At(4), At(2)])),
        "shmdt" => layout::are(&[At(4)]),
        _ => layout::HIDDEN,
    }
}

/// Whether a number is one by which calls are told.
#[inline]
pub(super) const fn is_told(number: u32) -> bool {
    number.wrapping_sub(FIRST) < TOLD
}

/// What a call of i386 with this number is told as; `None` for a call of the kernel.
pub(super) fn of(number: i32) -> Option<&'static Told> {
    ALL.get(place(Abi::I386, number)? as usize)?.as_ref()
}

/// The row of the call that it is told as.
pub(super) fn row_told(number: u32) -> Option<usize> {
    of(number as i32).map(|told| told.row)
}

/// The operation by which a call is told.
pub(super) fn operation(abi: Abi, number: i32) -> Option<&'static Operation> {
    of(number).filter(|_| abi == Abi::I386)?.operation
}

/// The place of a number among those by which calls are told, from 0.
#[must_use]
pub fn place(abi: Abi, number: i32) -> Option<u32> {
    let number = number as u32;
    (abi == Abi::I386 && is_told(number)).then(|| number - FIRST)
}

/// The number at a place.
#[must_use]
pub fn at(place: u32) -> (Abi, i32) {
    (Abi::I386, (FIRST + place) as i32)
}

/// The convention and number by which a call was made that may be told by others.
#[must_use]
pub fn made_as(abi: Abi, number: i32) -> (Abi, i32) {
    match place(abi, number).and_then(|_| of(number)) {
        Some(told) => (abi, told.made as i32),
        None => (abi, number),
    }
}

/// A number that a program has made a call by: one by which calls are told becomes another that has
/// no name either, as no program can have that told.
#[must_use]
pub fn as_entered(abi: Abi, number: i32) -> i32 {
    match place(abi, number) {
        Some(_) => number ^ 0x0100_0000,
        None => number,
    }
}

/// The numbers by which a call of i386 is told.
pub fn told_by(number: u32) -> impl Iterator<Item = u32> {
    let all = ALL.iter().enumerate();
    let of = all.filter(move |(_, told)| told.as_ref().is_some_and(|told| told.made == number));
    of.map(|(place, _)| FIRST + place as u32)
}

/// How a program is to find what a call is told as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The first place, to which its first word is added where that is below 32.
    ByWord(u32),
    /// The same with the lower half of that word.
    ByHalf(u32),
    /// This place.
    This(u32),
}

/// The same for a call; `None` for one that stands for no other.
#[must_use]
pub fn which(abi: Abi, number: u32) -> Option<Which> {
    let name = names::name(abi, number).filter(|_| abi == Abi::I386 && !is_told(number))?;
    Some(match name {
        "socketcall" => Which::ByWord(OF_SOCKETS),
        "ipc" => Which::ByHalf(OF_IPC),
        "mmap" => Which::This(OF_MMAP),
        "select" => Which::This(OF_SELECT),
        _ => return None,
    })
}

/// The array of words of a call that is told by this number: the argument that says where it is,
/// and its bytes.
#[must_use]
pub fn array(abi: Abi, number: i32) -> Option<(u8, u8)> {
    let (argument, words) = of(number).filter(|_| abi == Abi::I386)?.array?;
    Some((argument, words * 4))
}

/// What is to be read for a call that stands for others, as long as it is not known for which: the
/// array, whose words say it later if it was not in memory.
pub(super) fn fetches(abi: Abi, number: u32) -> Option<Vec<Fetch>> {
    let (argument, words) = match which(abi, number)? {
        Which::ByWord(_) => (1, LONGEST_ARRAY),
        Which::ByHalf(_) => return Some(Vec::new()),
        Which::This(place) => {
            let (argument, bytes) = array(Abi::I386, at(place).1)?;
            (argument, bytes.into())
        }
    };
    Some(vec![Fetch {
        argument,
        moment: Moment::Enter,
        extent: Extent::Fixed(words),
        limit: words,
    }])
}

/// The number that a call is told by, given its first word; `None` where it stands for none.
#[must_use]
pub fn stands_for(abi: Abi, number: i32, first: u64) -> Option<i32> {
    let place = match which(abi, u32::try_from(number).ok()?)? {
        Which::ByWord(of_first) => of_first + below_32(first)?,
        // The upper half is a version (`ipc_parse_version()`).
        Which::ByHalf(of_first) => of_first + below_32(first & 0xffff)?,
        Which::This(place) => place,
    };
    // The oldest version has two of its arguments in memory (`struct ipc_kludge`).
    let is_old = place == OF_IPC + MSGRCV && first >> 16 == 0;
    let (_, told) = at(place);
    of(told).filter(|_| !is_old).map(|_| told)
}

/// The name of a call that is made, with its operation where its first word says one:
/// `socketcall.bind`.
#[must_use]
pub fn name_made(abi: Abi, number: i32, first: u64) -> Option<&'static str> {
    match relatives::operation(abi, number, first) {
        Some(operation) => Some(operation.name),
        None => names::name_of(abi, number),
    }
}

/// The number and the words by which a call is told, given what was read for it; `None` where it is
/// told as it was made.
pub(super) fn words(
    (abi, number): (Abi, i32),
    args: &[u64; 6],
    memory: &Memory,
) -> Option<(i32, [u64; 6])> {
    let told = stands_for(abi, number, args[0])?;
    let Some((argument, words)) = of(told)?.array else {
        return Some((told, layout::native_words(abi, told, *args)));
    };
    let length = usize::from(words) * 4;
    let given = |argument: u8| memory.piece(argument.into(), Moment::Enter);
    let bytes = match (given(ARRAY), given(argument)) {
        (Some(array), _) => array.read_first(length)?,
        (None, Some(array)) => {
            // What was read late the call itself may have written.
            let writes = WRITES.contains(&names::name_of(abi, told).unwrap_or_default());
            if writes && memory.is_late(argument) {
                return None;
            }
            array.read_first(length)?
        }
        (None, None) => return None,
    };
    let words = bytes.get(..length)?.chunks_exact(4);
    let mut all = [0; 6];
    for (to, word) in all.iter_mut().zip(words) {
        *to = u32::from_le_bytes(*word.first_chunk()?).into();
    }
    Some((told, layout::native_words(abi, told, all)))
}

/// What was read for a call of these words was read as for this number, with these words: those by
/// which it is told, if what they lead to was read.
#[must_use]
pub fn read_as(
    (abi, number): (Abi, i32),
    args: [u64; 6],
    memory: &Memory,
) -> ((Abi, i32), [u64; 6]) {
    let has_words = memory.piece(ARRAY.into(), Moment::Enter).is_some();
    let is_read = |told: &(i32, _)| has_words || array(abi, told.0).is_none();
    match words((abi, number), &args, memory).filter(is_read) {
        Some((told, words)) => ((abi, told), words),
        None => ((abi, number), args),
    }
}

/// The number of `MSGRCV` of `include/uapi/linux/ipc.h`.
const MSGRCV: u32 = 12;

fn below_32(word: u64) -> Option<u32> {
    u32::try_from(word).ok().filter(|word| *word < 32)
}

/// The calls with an array of words that write to what they point to.
const WRITES: &[&str] = &[
    "accept",
    "accept4",
    "getpeername",
    "getsockname",
    "getsockopt",
    "recv",
    "recvfrom",
    "recvmmsg",
    "recvmsg",
    "select",
    "sendmmsg",
    "socketpair",
];

/// A call as the one that it stands for, where that is known with its arguments.
pub(super) fn told(mut call: Call) -> Call {
    let args = call.entry.args().copied();
    let told = args.and_then(|args| words((call.abi, call.number), &args, &call.memory));
    let Some((number, words)) = told else {
        return call;
    };
    if let Entry::Seen { args, .. } | Entry::UnderWay { args, .. } = &mut call.entry {
        *args = words;
    }
    // The array as it was read for the call that is made is none of the other's arguments.
    if let Some((argument, _)) = array(call.abi, number)
        && call.memory.piece(ARRAY.into(), Moment::Enter).is_none()
    {
        call.memory.rename(argument, ARRAY);
    }
    call.number = number;
    call
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Piece, State};

    fn number(call: &str) -> i32 {
        names::number(Abi::I386, call).expect("a call of i386") as i32
    }

    fn array(argument: u8, state: State, words: &[u32]) -> Memory {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        Memory::new(vec![Piece {
            argument,
            element: 0,
            moment: Moment::Enter,
            address: 0x4000,
            state,
            bytes: bytes.collect(),
        }])
    }

    /// The name that a call is told by, with its words.
    fn told(call: &str, args: [u64; 6], memory: Memory) -> (&'static str, [u64; 6]) {
        let mut call = Call::entered_as(Abi::I386, number(call), args);
        call.memory = memory;
        let told = super::told(call);
        let name = told.name().expect("a name");
        (name, *told.entry.args().expect("an entry"))
    }

    #[test]
    fn an_operation_is_told_as_the_call_that_it_stands_for_with_the_words_of_its_array() {
        let words = [3, 0x5000, 16, 9, 9, 9];
        for (operation, name, n_words) in [
            (1, "socket", 3),
            (3, "connect", 3),
            (9, "send", 4),
            (11, "sendto", 6),
            (17, "recvmsg", 3),
            (18, "accept4", 4),
        ] {
            let mut expected = words.map(u64::from);
            expected[n_words..].fill(0);
            for argument in [1, ARRAY] {
                // No more is needed than the operation has.
                let memory = array(argument, State::Part, &words[..n_words]);
                let told = told("socketcall", [operation, 0x4000, 0, 0, 0, 0], memory);
                assert_eq!(told, (name, expected), "{operation}");
                let memory = array(argument, State::Part, &words[..n_words - 1]);
                let (name, args) =
                    super::tests::told("socketcall", [operation, 0x4000, 0, 0, 0, 0], memory);
                assert_eq!((name, args[1]), ("socketcall", 0x4000), "{operation}");
            }
        }
    }

    #[test]
    fn an_operation_that_there_is_not_is_told_as_it_was_made() {
        let memory = || array(1, State::Whole, &[3, 0x5000, 16, 0, 0, 0]);
        for operation in [0, 21, 31, 32, 0xffff_ffff, 0x1_0003] {
            let args = [operation, 0x4000, 0, 0, 0, 0];
            assert_eq!(told("socketcall", args, memory()), ("socketcall", args));
        }
        for operation in [0, 5, 10, 25, 31, 32, 0xffff] {
            let args = [operation, 1, 2, 3, 4, 5];
            assert_eq!(told("ipc", args, Memory::default()), ("ipc", args));
        }
    }

    #[test]
    fn the_words_of_ipc_are_in_registers_but_for_the_oldest_msgrcv() {
        let ipc = |operation| told("ipc", [operation, 1, 2, 3, 4, 5], Memory::default());
        assert_eq!(ipc(1), ("semop", [1, 4, 2, 3, 4, 5]));
        assert_eq!(ipc(11), ("msgsnd", [1, 4, 2, 3, 4, 5]));
        assert_eq!(ipc(1 << 16 | 12), ("msgrcv", [1, 4, 2, 5, 3, 5]));
        assert_eq!(ipc(12).0, "ipc");
        assert_eq!(ipc(22), ("shmdt", [4, 1, 2, 3, 4, 5]));
    }

    #[test]
    fn words_that_were_read_behind_the_entry_of_a_call_that_writes_are_not_taken_for_them() {
        let late = || {
            let mut memory = array(1, State::Unread, &[]);
            memory.extend(array(1, State::Whole, &[3, 0x5000, 16, 0, 0, 0]));
            memory
        };
        let name = |operation| told("socketcall", [operation, 0x4000, 0, 0, 0, 0], late()).0;
        assert_eq!(name(3), "connect");
        for writes in [5, 6, 7, 8, 10, 12, 15, 17, 18, 19, 20] {
            assert_eq!(name(writes), "socketcall", "{writes}");
        }
    }

    #[test]
    fn no_program_makes_a_call_by_a_number_that_calls_are_told_by() {
        for place in 0..TOLD {
            let (abi, number) = at(place);
            let entered = as_entered(abi, number);
            assert_eq!(names::name_of(abi, entered), None, "{number:#x}");
        }
        assert_eq!(as_entered(Abi::I386, 102), 102);
        let native = Abi::X86_64;
        assert_eq!(names::name_of(native, at(1).1), None);
    }
}
