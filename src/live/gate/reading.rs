//! Reads what the arguments of a waiting call point to, as the BPF programs do it.

use super::Held;
use crate::sys::memory;
use crate::sys::page_size;
use syscall_model::many;
use syscall_model::memory::{
    Behind, Extent, Fetch, Fetches, Memory, Moment, Piece, Several, State,
};
use syscall_model::names::Abi;

/// As many strings of a vector as the BPF programs read.
const MOST_STRINGS: u16 = 64;

/// Reads what is to be read when a call is entered, or of the call that it stands for.
#[must_use]
pub fn read_memory(call: &Held, fetches: &Fetches) -> Memory {
    let standing = standing(call);
    let (call, array) = match &standing {
        Some((told, array)) => (told, array.clone()),
        None => (call, None),
    };
    let fetches = fetches.get(&(call.abi, call.number as u32));
    let (Some(fetches), mut pieces) = (fetches, Vec::from_iter(array)) else {
        return Memory::default();
    };
    let at_entry = fetches.iter().filter(|fetch| fetch.moment == Moment::Enter);
    for fetch in at_entry {
        let address = word(call, fetch.argument);
        if address == 0 {
            continue;
        }
        match fetch.extent {
            Extent::Behind(what) => {
                let of_each = (0..number_of(call, what))
                    .filter_map(|place| behind(call, fetch, (what, place), address));
                pieces.extend(of_each);
            }
            Extent::Strings => strings(call, fetch, address, &mut pieces),
            _ => pieces.push(one(call, fetch, address)),
        }
    }
    Memory::new(pieces)
}

/// The call that a call stands for, and its words where they are in memory and can be read.
fn standing(call: &Held) -> Option<(Held, Option<Piece>)> {
    let number = many::stands_for(call.abi, call.number, word(call, 0))?;
    let mut told = *call;
    told.number = number;
    let Some((argument, length)) = many::array(call.abi, number) else {
        return Some((told, None));
    };
    let mut bytes = [0; many::LONGEST_ARRAY as usize];
    let (given, address) = (bytes.get_mut(..length.into())?, word(call, argument));
    let n = memory::read_memory(call.thread, address, given).ok()?;
    for (to, word) in told.arguments.iter_mut().zip(bytes.chunks_exact(4)) {
        *to = u32::from_ne_bytes(*word.first_chunk()?).into();
    }
    let array = Piece {
        argument: many::ARRAY,
        element: 0,
        moment: Moment::Enter,
        address,
        state: State::Whole,
        bytes: bytes.into(),
    };
    (n == usize::from(length)).then_some((told, Some(array)))
}

/// The memory of a thread from an address on: so many bytes, or as many as there are before a page
/// that is not there.
#[must_use]
pub fn stack_from(thread: u32, address: u64, most: usize) -> Vec<u8> {
    let mut bytes = vec![0; most];
    let there = memory::read_memory(thread, address, &mut bytes).unwrap_or(0);
    bytes.truncate(there);
    bytes
}

/// An argument: of a 32-bit call the kernel looks at the lower half of the register alone.
fn word(call: &Held, argument: u8) -> u64 {
    let words = call.arguments.get(usize::from(argument));
    let word = words.copied().unwrap_or_default();
    match has_narrow_addresses(call) {
        true => word & 0xffff_ffff,
        false => word,
    }
}

fn has_narrow_addresses(call: &Held) -> bool {
    Abi::native().compat() == Some(call.abi)
}

fn one(call: &Held, fetch: &Fetch, address: u64) -> Piece {
    let limit = usize::from(fetch.limit);
    let wanted = match fetch.extent {
        Extent::String => return string(call, fetch, 0, address),
        Extent::Fixed(size) => Some(usize::from(size)),
        Extent::Counted { count, unit } => {
            let count = usize::try_from(word(call, count)).unwrap_or(usize::MAX);
            Some(count.saturating_mul(usize::from(unit)))
        }
        Extent::Sized { at } => {
            let mut length = [0; 4];
            let read = memory::read_memory(call.thread, word(call, at), &mut length);
            matches!(read, Ok(4)).then(|| u32::from_ne_bytes(length) as usize)
        }
        Extent::Strings | Extent::Behind(_) | Extent::Returned { .. } => None,
    };
    let read = wanted.and_then(|wanted| {
        let mut bytes = vec![0; wanted.min(limit)];
        let n = memory::read_memory(call.thread, address, &mut bytes).ok()?;
        let is_all = n == bytes.len();
        let state = if wanted > limit {
            State::Cut
        } else {
            State::Whole
        };
        is_all.then_some((state, bytes))
    });
    piece(fetch, 0, address, read)
}

/// How many structures there are of which it is read what they point to.
fn number_of(call: &Held, what: Behind) -> u16 {
    what.of.map_or(1, |several| {
        let number = word(call, several.count).min(Several::MOST.into());
        number as u16
    })
}

/// What a structure points to, or one in an array; `None` where it points to nothing, or could not
/// be read.
fn behind(call: &Held, fetch: &Fetch, (what, place): (Behind, u16), first: u64) -> Option<Piece> {
    let number = |at: u64, size: usize| {
        let mut bytes = [0; 8];
        let n = memory::read_memory(call.thread, at, &mut bytes[..size]).ok()?;
        (n == size).then(|| u64::from_ne_bytes(bytes))
    };
    let address_size = if what.is_narrow { 4 } else { 8 };
    let before = what
        .of
        .map_or(0, |several| u64::from(place) << several.apart);
    let structure = first.wrapping_add(before >> u8::from(what.is_narrow));
    let at = |base: u64, offset: u8| base.wrapping_add(offset.into());
    let pointed = number(at(structure, what.pointer), address_size)?;
    let (base, address) = match what.is_twice {
        true => (pointed, number(pointed, address_size)?),
        false => (structure, pointed),
    };
    let element = what.element_of(place)?;
    if what.is_text {
        return (address != 0).then(|| string(call, fetch, element, address));
    }
    let length = number(at(base, what.length), if what.is_wide { 8 } else { 4 })?;
    let size = length.saturating_mul(what.unit.into());
    let fetch = Fetch {
        extent: Extent::Fixed(u16::try_from(size).unwrap_or(u16::MAX)),
        ..*fetch
    };
    (address != 0).then(|| Piece {
        element,
        ..one(call, &fetch, address)
    })
}

fn string(call: &Held, fetch: &Fetch, element: u16, address: u64) -> Piece {
    let limit = usize::from(fetch.limit);
    let mut bytes: Vec<u8> = Vec::new();
    // To the end of a page each: the next one may not be there.
    let read = loop {
        let at = address.wrapping_add(bytes.len() as u64);
        let in_page = page_size() - (at as usize & (page_size() - 1));
        let mut more = vec![0; in_page.min(limit + 1 - bytes.len())];
        let Ok(n) = memory::read_memory(call.thread, at, &mut more) else {
            break None;
        };
        more.truncate(n);
        if let Some(end) = more.iter().position(|byte| *byte == 0) {
            more.truncate(end);
            bytes.append(&mut more);
            break Some((State::Whole, bytes));
        }
        bytes.append(&mut more);
        if bytes.len() > limit || n == 0 {
            bytes.truncate(limit);
            break Some((State::Cut, bytes));
        }
    };
    piece(fetch, element, address, read)
}

fn strings(call: &Held, fetch: &Fetch, address: u64, pieces: &mut Vec<Piece>) {
    let size = if has_narrow_addresses(call) { 4 } else { 8 };
    for element in 0..MOST_STRINGS {
        let at = address.wrapping_add(u64::from(element) * size as u64);
        let mut pointer = [0; 8];
        let read = memory::read_memory(call.thread, at, &mut pointer[..size]).ok();
        let is_read = read == Some(size);
        let to = is_read.then(|| u64::from_ne_bytes(pointer));
        match to {
            None => {
                pieces.push(piece(fetch, element, at, None));
                return;
            }
            Some(0) => {
                let end = piece(fetch, element, at, Some((State::End, Vec::new())));
                pieces.push(end);
                return;
            }
            Some(to) => pieces.push(string(call, fetch, element, to)),
        }
    }
}

fn piece(fetch: &Fetch, element: u16, address: u64, read: Option<(State, Vec<u8>)>) -> Piece {
    let (state, bytes) = read.unwrap_or((State::Unread, Vec::new()));
    Piece {
        argument: fetch.argument,
        element,
        moment: Moment::Enter,
        address,
        state,
        bytes: bytes.into(),
    }
}
