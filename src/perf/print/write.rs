//! Conversions of one record, written.

use super::bits;
use super::conversion::{Conversion, Flags, Kind, Measure};
use super::digits;
use super::evaluate::{bytes, chosen, number, one};
use super::expression::{Expression, Names};
use super::network;
use super::number::{Number, Type, extend};
use super::text::Functions;

/// The longest padding: a width may come from the record.
const WIDEST: usize = 1024;

/// A record, and the names of the kernel's functions if they are known.
#[derive(Clone, Copy)]
pub(super) struct Record<'a, 'f> {
    pub(super) payload: &'a [u8],
    pub(super) functions: Option<&'f Functions<'f>>,
}

/// Digits of a number, and how they are written.
#[derive(Clone, Copy)]
enum Radix {
    Eight,
    Ten,
    Sixteen { upper: bool },
}

impl Record<'_, '_> {
    /// Nothing where the record is too short.
    pub(super) fn convert(self, conversion: &Conversion, out: &mut Vec<u8>) -> Option<()> {
        let Conversion { kind, of, .. } = conversion;
        let of_bytes =
            |bytes: u8, signed: bool| Some(extend(number(of, self.payload)?.bits, bytes, signed));
        if conversion.is_bare {
            match *kind {
                Kind::Signed(bytes) => digits::number(out, of_bytes(bytes, true)?.cast_signed()),
                Kind::Unsigned(bytes) => digits::number(out, of_bytes(bytes, false)?),
                Kind::Hexadecimal {
                    bytes,
                    upper: false,
                } => digits::hex(out, of_bytes(bytes, false)?, 0),
                _ => return self.convert_laid_out(conversion, out),
            }
            return Some(());
        }
        self.convert_laid_out(conversion, out)
    }

    fn convert_laid_out(self, conversion: &Conversion, out: &mut Vec<u8>) -> Option<()> {
        let Conversion { kind, of, .. } = conversion;
        let mut flags = conversion.flags;
        let width = self.measure(&conversion.width)?;
        if width.is_some_and(|width| width < 0) {
            flags.left = true;
        }
        let precision = self
            .measure(&conversion.precision)?
            .and_then(|value| usize::try_from(value).ok());
        let layout = Layout {
            flags,
            width: width.map_or(0, i64::unsigned_abs).min(WIDEST as u64) as usize,
            precision,
        };
        let of_bytes =
            |bytes: u8, signed: bool| Some(extend(number(of, self.payload)?.bits, bytes, signed));
        match *kind {
            Kind::Signed(bytes) => {
                let value = of_bytes(bytes, true)?.cast_signed();
                layout.number(value.unsigned_abs(), value < 0, true, Radix::Ten, out);
            }
            Kind::Unsigned(bytes) => {
                layout.number(of_bytes(bytes, false)?, false, false, Radix::Ten, out)
            }
            Kind::Hexadecimal { bytes, upper } => layout.number(
                of_bytes(bytes, false)?,
                false,
                false,
                Radix::Sixteen { upper },
                out,
            ),
            Kind::Octal(bytes) => {
                layout.number(of_bytes(bytes, false)?, false, false, Radix::Eight, out)
            }
            Kind::Character => {
                let start = out.len();
                out.push(of_bytes(1, false)? as u8);
                layout.pad(start, out);
            }
            Kind::Text => {
                let start = out.len();
                self.text(of, out)?;
                if let Some(precision) = layout.precision {
                    out.truncate(start.saturating_add(precision).min(out.len()));
                }
                layout.pad(start, out);
            }
            Kind::Bits { is_list } => {
                let bits = width
                    .and_then(|bits| usize::try_from(bits).ok())
                    .unwrap_or(0);
                bits::write(bytes(of, self.payload)?, bits, is_list, out);
            }
            Kind::Buffer { between } => {
                let length = width
                    .and_then(|length| usize::try_from(length).ok())
                    .unwrap_or(1);
                let bytes = bytes(of, self.payload)?;
                network::pairs(bytes.get(..length).unwrap_or(bytes), between, false, out);
            }
            Kind::Address => self.address(of, layout, out)?,
            Kind::Function { has_offset } => {
                self.function(number(of, self.payload)?.bits, has_offset, out)
            }
            _ => network::write(*kind, bytes(of, self.payload)?, out),
        }
        Some(())
    }

    fn measure(self, measure: &Measure) -> Option<Option<i64>> {
        Some(match measure {
            Measure::Absent => None,
            Measure::Fixed(value) => i64::try_from(*value).ok(),
            Measure::Of(of) => Some(number(of, self.payload)?.cast(Type::INT).bits.cast_signed()),
        })
    }

    /// What `%s` shows.
    fn text(self, of: &Expression, out: &mut Vec<u8>) -> Option<()> {
        match of {
            Expression::Literal(text) => out.extend_from_slice(text),
            Expression::Bytes(..) => {
                let bytes = bytes(of, self.payload)?;
                let end = bytes
                    .iter()
                    .position(|byte| *byte == 0)
                    .unwrap_or(bytes.len());
                out.extend_from_slice(bytes.get(..end)?);
            }
            Expression::Choice(three) => self.text(chosen(three, self.payload)?, out)?,
            Expression::Names(names) => named(names, number(&names.of, self.payload)?, out),
            Expression::Hex { is_spaced, of } => {
                let [of, length] = &**of;
                let length = self.count(length)?;
                let bytes = bytes(of, self.payload)?;
                network::pairs(
                    bytes.get(..length).unwrap_or(bytes),
                    is_spaced.then_some(b' '),
                    false,
                    out,
                );
            }
            Expression::Array(three) => {
                let [of, count, size] = &**three;
                let count = self.count(count)?;
                array(bytes(of, self.payload)?, count, self.count(size)?, out);
            }
            Expression::WholeArray(two) => {
                let [of, size] = &**two;
                array(bytes(of, self.payload)?, usize::MAX, self.count(size)?, out);
            }
            Expression::Bitmask(of) => {
                let bytes = bytes(of, self.payload)?;
                bits::write(bytes, bytes.len().saturating_mul(8), false, out);
            }
            // A pointer to a string that is not in the record.
            _ => digits::hex(out, number(of, self.payload)?.bits, 0),
        }
        Some(())
    }

    /// How many there are, as an `int`: nothing where that is negative.
    fn count(self, of: &Expression) -> Option<usize> {
        let count = number(of, self.payload)?.cast(Type::INT).bits.cast_signed();
        Some(usize::try_from(count).unwrap_or(0))
    }

    /// Writes an address as the C library does. The kernel prints a hash in its place, which cannot
    /// be computed outside of the kernel.
    fn address(self, of: &Expression, layout: Layout, out: &mut Vec<u8>) -> Option<()> {
        let start = out.len();
        match number(of, self.payload)?.bits {
            0 => out.extend_from_slice(b"(nil)"),
            address => hexadecimal(address, out),
        }
        layout.pad(start, out);
        Some(())
    }

    fn function(self, address: u64, has_offset: bool, out: &mut Vec<u8>) {
        match self.functions.and_then(|functions| functions(address)) {
            Some((name, offset)) => {
                out.extend_from_slice(name.as_bytes());
                if has_offset {
                    out.push(b'+');
                    hexadecimal(offset, out);
                }
            }
            None => hexadecimal(address, out),
        }
    }
}

/// `trace_print_flags_seq()` and `trace_print_symbols_seq()` of `kernel/trace/trace_output.c`.
fn named(names: &Names, value: Number, out: &mut Vec<u8>) {
    let Some(delimiter) = &names.delimiter else {
        match names
            .entries
            .iter()
            .find(|(number, _)| *number == value.bits)
        {
            Some((_, name)) => out.extend_from_slice(name),
            None => hexadecimal(value.bits, out),
        }
        return;
    };
    let start = out.len();
    let mut rest = value.bits;
    for (mask, name) in &names.entries {
        if rest == 0 {
            break;
        }
        if rest & mask == *mask {
            if out.len() > start {
                out.extend_from_slice(delimiter);
            }
            out.extend_from_slice(name);
            rest &= !mask;
        }
    }
    if rest != 0 {
        if out.len() > start {
            out.extend_from_slice(delimiter);
        }
        hexadecimal(rest, out);
    }
}

/// `trace_print_array_seq()`.
fn array(bytes: &[u8], count: usize, size: usize, out: &mut Vec<u8>) {
    out.push(b'{');
    if let of @ (1 | 2 | 4 | 8) = size {
        let of = Type {
            bytes: of as u8,
            signed: false,
        };
        for (at, element) in bytes.chunks_exact(size).take(count).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            hexadecimal(one(element, of).map_or(0, |number| number.bits), out);
        }
    }
    out.push(b'}');
}

/// With `0x` in front, of 0 as well: as the kernel does and unlike `%#x` of printf(3).
pub(super) fn hexadecimal(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"0x");
    digits::hex(out, value, 0);
}

/// How much room a conversion takes.
#[derive(Clone, Copy)]
struct Layout {
    flags: Flags,
    width: usize,
    precision: Option<usize>,
}

impl Layout {
    /// Fills up to the width what was written from `start` on.
    fn pad(self, start: usize, out: &mut Vec<u8>) {
        let missing = self.width.saturating_sub(out.len().saturating_sub(start));
        if missing > 0 {
            out.resize(out.len().saturating_add(missing), b' ');
            if !self.flags.left
                && let Some(written) = out.get_mut(start..)
            {
                written.rotate_right(missing);
            }
        }
    }

    fn number(
        self,
        value: u64,
        is_negative: bool,
        is_signed: bool,
        radix: Radix,
        out: &mut Vec<u8>,
    ) {
        let mut buffer = [b'0'; 24];
        let digits = digits_of(value, radix, &mut buffer);
        let sign: &[u8] = match (is_negative, radix, is_signed) {
            (true, ..) => b"-",
            (_, _, true) if self.flags.plus => b"+",
            (_, _, true) if self.flags.blank => b" ",
            (_, Radix::Sixteen { upper: false }, _) if self.flags.alternate => b"0x",
            (_, Radix::Sixteen { upper: true }, _) if self.flags.alternate => b"0X",
            (_, Radix::Eight, _) if self.flags.alternate && value != 0 => b"0",
            _ => b"",
        };
        let missing = self.width.saturating_sub(sign.len());
        let least = match self.precision {
            Some(precision) => precision.min(WIDEST),
            None if self.flags.zero && !self.flags.left => missing,
            None => 0,
        };
        let zeros = least.saturating_sub(digits.len());
        let blanks = missing.saturating_sub(digits.len().saturating_add(zeros));
        if !self.flags.left {
            out.resize(out.len().saturating_add(blanks), b' ');
        }
        out.extend_from_slice(sign);
        out.resize(out.len().saturating_add(zeros), b'0');
        out.extend_from_slice(digits);
        if self.flags.left {
            out.resize(out.len().saturating_add(blanks), b' ');
        }
    }
}

fn digits_of(value: u64, radix: Radix, buffer: &mut [u8; 24]) -> &[u8] {
    let base = match radix {
        Radix::Eight => 8,
        Radix::Ten => 10,
        Radix::Sixteen { upper } => {
            let (digits, length) = digits::hexadecimal(value, upper);
            if let Some(start) = buffer.first_chunk_mut() {
                *start = digits;
            }
            return buffer.get(..length).unwrap_or_default();
        }
    };
    let mut rest = value;
    let mut used = 0_usize;
    for place in buffer.iter_mut().rev() {
        *place = b'0'.wrapping_add(rest.checked_rem(base).unwrap_or(0) as u8);
        rest = rest.checked_div(base).unwrap_or(0);
        used = used.saturating_add(1);
        if rest == 0 {
            break;
        }
    }
    buffer
        .get(buffer.len().saturating_sub(used)..)
        .unwrap_or_default()
}
