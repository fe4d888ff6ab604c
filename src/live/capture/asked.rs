//! What the programs are told to read of a call.

use super::wire::{BY_NUMBER, MAX_AT_EXIT, MAX_FETCHES, MAX_PIECE, call_at, spec};
use syscall_model::many::{self, Which};
use syscall_model::memory::{Extent, Fetch, Fetches, Moment};
use syscall_model::names::Abi;

/// The value of the map of what is to be read, for one place; `None` where it is more than the
/// programs can do.
pub(super) fn value(fetches: &Fetches, place: u32) -> Option<[u8; spec::SIZE]> {
    let (abi, number) = call_at(place as u16);
    let of = |abi| {
        fetches
            .get(&(abi, number as u32))
            .map_or(&[][..], Vec::as_slice)
    };
    let mut value = specification(of(abi))?;
    let others = abi.compat().map_or(&[][..], of);
    let is_any = !others.is_empty() || tells(fetches, abi.compat(), number as u32);
    value[spec::ANY as usize] |= u8::from(is_any);
    if let Some((argument, bytes)) = many::array(abi, number)
        && fetches.contains_key(&(abi, number as u32))
    {
        value[spec::ANY as usize] = 1;
        value[spec::OWN as usize] = 1;
        value[spec::ARRAY as usize] = bytes;
        value[spec::POINTER as usize] = argument;
    }
    if let Some(which) = many::which(abi, number as u32)
        && tells(fetches, Some(abi), number as u32)
    {
        let (kind, first) = match which {
            Which::ByWord(first) => (spec::BY_WORD, first),
            Which::ByHalf(first) => (spec::BY_HALF, first),
            Which::This(place) => (spec::THIS, place),
        };
        let [low, high, ..] = (BY_NUMBER + first).to_le_bytes();
        value[spec::ANY as usize] = 1;
        value[spec::WHICH as usize] = kind as u8;
        value[spec::FIRST as usize] = low;
        value[spec::FIRST as usize + 1] = high;
    }
    Some(value)
}

/// Whether something is to be read for a call that a call of i386 with this number stands for.
fn tells(fetches: &Fetches, abi: Option<Abi>, number: u32) -> bool {
    let is_i386 = abi == Some(Abi::I386);
    is_i386 && many::told_by(number).any(|told| fetches.contains_key(&(Abi::I386, told)))
}

/// The value of the map of what is to be read, for one call; `None` where it is more than the
/// programs can do.
fn specification(fetches: &[Fetch]) -> Option<[u8; spec::SIZE]> {
    let mut value = [0; spec::SIZE];
    for moment in [Moment::Enter, Moment::Exit] {
        let of_moment = fetches.iter().filter(|fetch| fetch.moment == moment);
        let (first, most) = match moment {
            Moment::Enter => (0, MAX_FETCHES),
            Moment::Exit => (MAX_FETCHES, MAX_AT_EXIT),
        };
        for (place, fetch) in of_moment.enumerate() {
            if place >= most || i32::from(fetch.limit) > MAX_PIECE {
                return None;
            }
            let at = 8 + (first + place) * 8;
            value
                .get_mut(at..at + 8)?
                .copy_from_slice(&one_fetch(fetch, place)?);
            value[spec::ANY as usize] = 1;
            value[spec::OWN as usize] = 1;
            value[spec::AT_EXIT as usize] |= u8::from(moment == Moment::Exit);
        }
    }
    Some(value)
}

fn one_fetch(fetch: &Fetch, place: usize) -> Option<[u8; 8]> {
    let mut number = 0;
    let (kind, other, unit) = match fetch.extent {
        Extent::String => (spec::STRING, 0, 0),
        // Programs look for a vector in one place only: a loop is expensive to verify.
        Extent::Strings if place == 1 && fetch.moment == Moment::Enter => (spec::STRINGS, 0, 0),
        Extent::Strings => return None,
        Extent::Fixed(size) => (spec::FIXED, 0, size),
        Extent::Counted { count, unit } => (spec::COUNTED, count, unit),
        Extent::Sized { at } => (spec::SIZED, at, 0),
        Extent::Returned { unit } => (spec::RETURNED, 0, unit),
        // The first fetch of a call is made by a program that does not know of it.
        Extent::Behind(_) if place == 0 => return None,
        Extent::Behind(what) => {
            number = what.length & !((spec::WIDE | spec::NARROW) as u8)
                | u8::from(what.is_wide)
                | if what.is_narrow {
                    spec::NARROW as u8
                } else {
                    0
                };
            let of = what.of.map_or(0, |several| {
                (several.count + 1) | (several.apart << spec::APART)
            });
            let kind = match (what.is_text, what.is_twice) {
                (true, _) => spec::TEXT,
                (_, true) => spec::TWICE,
                _ => spec::BEHIND,
            };
            (kind, what.pointer, u16::from_ne_bytes([what.unit, of]))
        }
    };
    // Of a string one byte more is asked for, so that one that is longer can be told from one that
    // fits.
    let is_text = match fetch.extent {
        Extent::Behind(what) => what.is_text,
        extent => extent == Extent::String,
    };
    let more = u16::from(is_text);
    let limit = fetch.limit.saturating_add(more).to_ne_bytes();
    let unit: [u8; 2] = unit.to_ne_bytes();
    Some([
        fetch.argument,
        kind as u8,
        other,
        number,
        limit[0],
        limit[1],
        unit[0],
        unit[1],
    ])
}
