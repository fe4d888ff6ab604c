//! Named numbers: flags, modes and commands.
//!
//! The names and values are the kernel's, by its own headers; `ci/capture-constants` makes the
//! tables of them. The form is that of `strace -X abbrev`, without its comments: a value without a
//! name is a bare number.

mod own;
#[rustfmt::skip]
pub mod tables;

use super::numerals::{decimal, hex_or_zero};
use super::text::Values;
use crate::signals::known_signal;
pub(super) use own::Own;
use std::fmt::{self, Write};

/// A set of names for the values of an argument.
#[derive(PartialEq, Eq, Hash)]
pub struct Constants {
    /// What to call the set.
    pub name: &'static str,
    /// The bits of the register that mean something.
    pub mask: u64,
    parts: &'static [Part],
}

/// A name and its value; values of signed types are extended to 64 bits.
type Row = (&'static str, u64);

/// How some of the bits are written.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Part {
    /// One name for the bits of the mask; hexadecimal without one.
    Field(u64, &'static [Row]),
    /// One name for the whole; a signed decimal number without one.
    Decimal(&'static [Row]),
    /// Names for bits and groups of bits, the first that fits wins; what is left in hexadecimal. A
    /// first row of 0 is the name of no bits.
    Bits(&'static [Row]),
    /// A signal in these bits; nothing where there is none.
    Signal(u64),
    /// Permissions in these bits; always there.
    Octal(u64),
    /// A decimal number in these bits; always there.
    Number(u64),
    /// A number in these bits, `21<<MAP_HUGE_SHIFT`; nothing where it is 0.
    Shifted(u64, &'static str),
    /// What follows no such rule.
    Own(Own),
}

/// A value that is not the same on all architectures.
const fn either(x86_64: u64, aarch64: u64) -> u64 {
    if cfg!(target_arch = "aarch64") {
        aarch64
    } else {
        x86_64
    }
}

impl fmt::Debug for Constants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Constants {
    /// The value of a name, for tables that are made of other tables; none has the value of all
    /// bits.
    pub(super) const fn value(&self, name: &str) -> u64 {
        let mut parts = self.parts;
        while let [part, others @ ..] = parts {
            let mut rows = part.rows();
            while let [(one, value), rest @ ..] = rows {
                if is_same(one.as_bytes(), name.as_bytes()) {
                    return *value;
                }
                rows = rest;
            }
            parts = others;
        }
        u64::MAX
    }

    /// Every name of the set with its value, as far as the names are listed: kinds of arguments
    /// that combine sets have none of their own.
    pub fn names(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.parts.iter().flat_map(|part| part.rows()).copied()
    }

    /// Whether a value may be written with this word, which is no number: as far as words follow a
    /// rule, they are right if they follow it.
    pub fn knows(&self, word: &str) -> bool {
        self.names().any(|(name, _)| name == word)
            || self.parts.iter().any(|part| match part {
                Part::Own(_) => true,
                Part::Shifted(_, name) => word.ends_with(name),
                Part::Signal(_) => (1..=64).any(|n| known_signal(n).is_some_and(|it| it == word)),
                Part::Field(..)
                | Part::Decimal(_)
                | Part::Bits(_)
                | Part::Octal(_)
                | Part::Number(_) => false,
            })
    }

    /// The bits of a flag that others have as well, so that its name is not shown where theirs is:
    /// those of `O_DSYNC` are in `O_SYNC`.
    pub fn shared_bits(&self, word: &str) -> Option<u64> {
        self.parts.iter().find_map(|part| {
            let Part::Bits(rows) = part else { return None };
            let (_, bits) = *rows
                .iter()
                .find(|(name, bits)| *name == word && *bits != 0)?;
            let has_them = |(_, other): &&Row| *other != bits && other & bits == bits;
            rows.iter().find(has_them).map(|_| bits)
        })
    }

    /// The words that a value is shown by which has all these flags: the bits of `O_DSYNC` are in
    /// `O_SYNC`, so that `O_SYNC|O_DSYNC` is shown as `O_SYNC`. Words that are no flags stay.
    pub fn as_shown<'w>(&self, words: impl Iterator<Item = &'w str>) -> Vec<&'w str> {
        let flags = self.parts.iter().flat_map(|part| match part {
            Part::Bits(rows) => *rows,
            _ => &[],
        });
        let flags = || flags.clone().filter(|(_, bits)| *bits != 0);
        let (mut shown, mut left) = (Vec::new(), 0);
        for word in words {
            match flags().find(|(name, _)| *name == word) {
                Some((_, bits)) => left |= bits,
                None => shown.push(word),
            }
        }
        for (name, bits) in flags() {
            if left & bits == *bits {
                shown.push(*name);
                left &= !bits;
            }
        }
        shown
    }

    /// The name of a value among those of a set of plain names.
    pub(crate) fn find(&self, value: u64) -> Option<&'static str> {
        let row = self.parts.iter().flat_map(|part| part.rows());
        let mut row = row.filter(|row| self.bits_of(row.1) == self.bits_of(value));
        row.next().map(|row| row.0)
    }

    fn bits_of(&self, word: u64) -> u64 {
        word & self.mask
    }
}

const fn is_same(mut left: &[u8], mut right: &[u8]) -> bool {
    loop {
        match (left, right) {
            ([], []) => return true,
            ([one, ones @ ..], [other, others @ ..]) if *one == *other => {
                left = ones;
                right = others;
            }
            _ => return false,
        }
    }
}

impl Part {
    const fn rows(&self) -> &'static [Row] {
        match self {
            Self::Field(_, rows) | Self::Decimal(rows) | Self::Bits(rows) => rows,
            Self::Signal(_)
            | Self::Octal(_)
            | Self::Number(_)
            | Self::Shifted(..)
            | Self::Own(_) => &[],
        }
    }
}

/// Writes a value by its names.
pub fn write_constants(
    out: &mut String,
    constants: &Constants,
    word: u64,
    values: &mut impl Values,
) {
    let word = constants.bits_of(word);
    let mut list = List {
        start: out.len(),
        out,
    };
    let mut left = word;
    // What the flags leave over stands behind the flags; the other parts say which bits are theirs.
    let of_others = constants
        .parts
        .iter()
        .fold(0, |bits, part| bits | part.mask());
    for part in constants.parts {
        match part {
            Part::Field(mask, rows) => {
                let value = word & mask;
                let row = rows.iter().find(|row| constants.bits_of(row.1) == value);
                match row {
                    Some(row) => list.item(|out| out.push_str(row.0)),
                    None if value != 0 || constants.parts.len() == 1 => {
                        list.item(|out| hex_or_zero(out, value));
                    }
                    None => {}
                }
            }
            Part::Decimal(rows) => {
                let row = rows.iter().find(|row| constants.bits_of(row.1) == word);
                list.item(|out| match row {
                    Some(row) => out.push_str(row.0),
                    None => decimal(out, i64::from(word as u32 as i32)),
                });
            }
            Part::Bits(rows) => {
                left &= !of_others;
                if let (0, Some(row)) = (left, rows.first().filter(|row| row.1 == 0)) {
                    list.item(|out| out.push_str(row.0));
                }
                for (name, bits) in rows.iter() {
                    if *bits != 0 && left & bits == *bits {
                        list.item(|out| out.push_str(name));
                        left &= !bits;
                    }
                }
                if left != 0 {
                    list.item(|out| hex_or_zero(out, left));
                }
            }
            Part::Signal(mask) => match word & mask {
                0 if word != 0 => {}
                number => list.item(|out| write_signal(out, number as i32)),
            },
            Part::Octal(mask) => list.item(|out| permissions(out, word & mask)),
            Part::Number(mask) => list.item(|out| decimal(out, (word & mask) as i64)),
            Part::Shifted(mask, name) => {
                let value = (word & mask) >> mask.trailing_zeros();
                if value != 0 {
                    list.item(|out| {
                        decimal(out, value as i64);
                        out.push_str("<<");
                        out.push_str(name);
                    });
                }
            }
            Part::Own(own) => list.item(|out| own.write(out, word, values)),
        }
    }
    if list.is_empty() {
        out.push('0');
    }
}

impl Part {
    /// The bits that no flag may be found in.
    fn mask(&self) -> u64 {
        match self {
            Self::Field(mask, _)
            | Self::Signal(mask)
            | Self::Octal(mask)
            | Self::Number(mask)
            | Self::Shifted(mask, _) => *mask,
            Self::Bits(_) => 0,
            Self::Decimal(_) | Self::Own(_) => u64::MAX,
        }
    }
}

/// Items with `|` between them.
struct List<'a> {
    out: &'a mut String,
    start: usize,
}

impl List<'_> {
    fn item(&mut self, write: impl FnOnce(&mut String)) {
        if !self.is_empty() {
            self.out.push('|');
        }
        write(self.out);
    }

    fn is_empty(&self) -> bool {
        self.out.len() == self.start
    }
}

/// Writes a signal by its name, or the number of what is none.
pub(super) fn write_signal(out: &mut String, number: i32) {
    match known_signal(number) {
        Some(name) => out.push_str(&name),
        None => decimal(out, number.into()),
    }
}

/// Three digits at least, as strace writes them, so that they do not look like a decimal number.
pub(super) fn permissions(out: &mut String, mode: u64) {
    // Writing to a String cannot fail.
    let _always_fits = write!(out, "0{mode:02o}");
}

#[cfg(test)]
mod tests;
