//! Reads what the arguments of a waiting call point to, as the BPF programs do it.

use super::Held;
use crate::sys::gate;
use crate::sys::page_size;
use syscall_model::memory::{Extent, Fetch, Memory, Moment, Piece, State};

/// As many strings of a vector as the BPF programs read.
const MOST_STRINGS: u16 = 64;

/// Reads what is to be read when a call is entered.
#[must_use]
pub fn read_memory(call: &Held, fetches: &[Fetch]) -> Memory {
    let mut pieces = Vec::new();
    let at_entry = fetches.iter().filter(|fetch| fetch.moment == Moment::Enter);
    for fetch in at_entry {
        let address = word(call, fetch.argument);
        if address == 0 {
            continue;
        }
        match fetch.extent {
            Extent::Named => pieces.extend(name(call, fetch, address)),
            Extent::Strings => strings(call, fetch, address, &mut pieces),
            _ => pieces.push(one(call, fetch, address)),
        }
    }
    Memory::new(pieces)
}

/// The memory of a thread from an address on: so many bytes, or as many as there are before a page
/// that is not there.
#[must_use]
pub fn stack_from(thread: u32, address: u64, most: usize) -> Vec<u8> {
    let mut bytes = vec![0; most];
    let there = gate::read_memory(thread, address, &mut bytes).unwrap_or(0);
    bytes.truncate(there);
    bytes
}

fn word(call: &Held, argument: u8) -> u64 {
    let words = call.arguments.get(usize::from(argument));
    words.copied().unwrap_or_default()
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
            let read = gate::read_memory(call.thread, word(call, at), &mut length);
            matches!(read, Ok(4)).then(|| u32::from_ne_bytes(length) as usize)
        }
        Extent::Strings | Extent::Named | Extent::Returned { .. } => None,
    };
    let read = wanted.and_then(|wanted| {
        let mut bytes = vec![0; wanted.min(limit)];
        let n = gate::read_memory(call.thread, address, &mut bytes).ok()?;
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

/// What a message names; `None` where it names nothing, or could not be read.
fn name(call: &Held, fetch: &Fetch, message: u64) -> Option<Piece> {
    let mut head = [0; 12];
    let n = gate::read_memory(call.thread, message, &mut head).ok()?;
    let (address, length) = head.split_first_chunk::<8>().filter(|_| n == 12)?;
    let address = u64::from_ne_bytes(*address);
    let length = u32::from_ne_bytes(*length.first_chunk()?);
    let size = u16::try_from(length).unwrap_or(u16::MAX);
    let fetch = Fetch {
        extent: Extent::Fixed(size),
        ..*fetch
    };
    (address != 0).then(|| Piece {
        element: 1,
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
        let Ok(n) = gate::read_memory(call.thread, at, &mut more) else {
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
    for element in 0..MOST_STRINGS {
        let at = address.wrapping_add(u64::from(element) * 8);
        let mut pointer = [0; 8];
        let read = gate::read_memory(call.thread, at, &mut pointer);
        let to = matches!(read, Ok(8)).then(|| u64::from_ne_bytes(pointer));
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
