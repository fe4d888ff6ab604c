//! Writing of the parts that structures are made of.

use super::Varying;
use super::names::{Flags, Names};
use super::site::Bytes;
use crate::constants::{Constants, permissions, write_constants, write_signal};
use crate::files::Lookup;
use crate::numerals;
use crate::text::{self, Values};

/// The text so far, and how values that differ between runs are written.
pub(super) struct Pen<'a, V> {
    pub(super) out: &'a mut String,
    pub(super) values: &'a mut V,
}

impl<V: Values> Pen<'_, V> {
    pub(super) fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    pub(super) fn number(&mut self, number: impl itoa::Integer) {
        self.out.push_str(itoa::Buffer::new().format(number));
    }

    /// In hex; 0 as `0`.
    pub(super) fn hex(&mut self, number: u64) {
        numerals::hex_or_zero(self.out, number);
    }

    /// A mode without its type: three digits at least, and a zero in front.
    pub(super) fn octal(&mut self, mode: u64) {
        permissions(self.out, mode);
    }

    pub(super) fn address(&mut self, address: u64) {
        text::address(self.out, address, self.values);
    }

    /// What stands at an address, or the address where that cannot be written.
    pub(super) fn or_address(&mut self, address: u64, write: impl FnOnce(&mut Self) -> Option<()>) {
        let start = self.out.len();
        if write(self).is_none() {
            self.out.truncate(start);
            self.address(address);
        }
    }

    pub(super) fn task(&mut self, id: i32) {
        text::task(self.out, id, self.values);
    }

    /// A descriptor, and what it refers to where that is known.
    pub(super) fn descriptor(&mut self, number: i32, file: Lookup<'_>) {
        if number < 0 {
            self.number(number);
        } else {
            self.values.descriptor(number, file, self.out);
        }
    }

    pub(super) fn string(&mut self, bytes: &[u8]) {
        self.values.string(bytes, self.out);
    }

    /// Writes an id of a user or a group; the highest id stands for none.
    pub(super) fn id(&mut self, id: u32) {
        match id {
            u32::MAX => self.text("-1"),
            _ => self.number(id),
        }
    }

    pub(super) fn varying(&mut self, what: Varying, number: impl Into<i128>) -> bool {
        self.values.varying(what, number.into(), self.out)
    }

    /// A value as it is written where it is an argument.
    pub(super) fn constants(&mut self, constants: &Constants, value: u64) {
        write_constants(self.out, constants, value, self.values);
    }

    /// A value by its name, or in hex.
    pub(super) fn name(&mut self, names: &Names, value: u64) {
        match names.name(value) {
            Some(name) => self.text(name),
            None => self.hex(value),
        }
    }

    /// Bits by their names, what is left over in hex.
    pub(super) fn flags(&mut self, flags: &Flags, value: u64) {
        let mut left = value;
        let start = self.out.len();
        for (bits, name) in flags.table {
            if *bits != 0 && left & bits == *bits {
                self.bar(start);
                self.text(name);
                left &= !bits;
            }
        }
        if left != 0 || self.out.len() == start {
            self.bar(start);
            self.hex(left);
        }
    }

    /// What parts two flags, unless nothing has been written since `start`.
    pub(super) fn bar(&mut self, start: usize) {
        if self.out.len() > start {
            self.out.push('|');
        }
    }

    /// The signal of a number.
    pub(super) fn signal(&mut self, number: i32) {
        write_signal(self.out, number);
    }

    /// The elements of this size, as [`list`](Self::list); where memory ends before they do, the
    /// address of the first that is not there. Nothing where that is the first of all.
    pub(super) fn array(
        &mut self,
        bytes: Bytes<'_>,
        size: u16,
        each: impl FnMut(&mut Self, Bytes<'_>) -> Option<()>,
    ) -> Option<()> {
        let elements = bytes.elements(size);
        let Some(start) = bytes.broken_at else {
            return self.list(elements, bytes.is_cut, each);
        };
        let there = elements.clone().count();
        if there == 0 {
            return None;
        }
        self.list(elements, false, each)?;
        self.out.pop();
        self.text(", ... /* ");
        // A recording may say any address.
        self.address(start.wrapping_add(there as u64 * u64::from(size)));
        self.text(" */]");
        Some(())
    }

    /// Elements in brackets, parted by commas, and dots where not all are there; nothing where one
    /// of them cannot be written.
    pub(super) fn list<T>(
        &mut self,
        elements: impl IntoIterator<Item = T>,
        is_cut: bool,
        mut each: impl FnMut(&mut Self, T) -> Option<()>,
    ) -> Option<()> {
        self.text("[");
        let start = self.out.len();
        for element in elements {
            if self.out.len() > start {
                self.text(", ");
            }
            each(self, element)?;
        }
        if is_cut {
            if self.out.len() > start {
                self.text(", ");
            }
            self.text("...");
        }
        self.text("]");
        Some(())
    }
}
