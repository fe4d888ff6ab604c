//! How values are written.

use super::super::Varying;
use super::super::address::{any_family, internet_address, text_of};
use super::super::site::{Bytes, Site};
use super::form::{Field, Form, size_of_fields};
use super::route;
use super::span::Span;
use super::write::Writer;
use crate::constants::{Constants, tables as names};
use crate::errno::errno_name;
use crate::files::Lookup;
use crate::memory::Moment;
use crate::names::Abi;
use crate::text::Values;

/// The longest address of hardware (`MAX_ADDR_LEN`).
const LONGEST_HARDWARE: usize = 32;

/// `struct iovec`.
const VECTOR: &[Field] = &[("iov_base", Form::Pointer), ("iov_len", Form::Number(8))];

impl<V: Values> Writer<'_, '_, V> {
    /// A value; its bytes where they are too few.
    pub(super) fn value(&mut self, form: Form, value: Span<'_>) -> Option<()> {
        let size = form.size();
        match form {
            Form::Address => self.address_of(self.family(), value),
            Form::HardwareOf(_) => self.hardware(value),
            _ if value.length() < size => self.hex(value),
            Form::Structure(fields, _) | Form::Inner(fields)
                if value.first(size_of_fields(fields)).unreadable().is_some() =>
            {
                self.dots(value)
            }
            Form::Structure(fields, _) => self.structure(fields, value),
            Form::Rows(form, names) => self.row(value, *form, names),
            Form::Nested(attributes) => self.attributes(attributes, value),
            Form::OfFamily(cases) => {
                let family = self.family();
                let mut found = cases.iter().filter(|(name, _)| *name == family);
                let found = found
                    .next()
                    .or(cases.last().filter(|(name, _)| name.is_empty()));
                self.value(found.map_or(Form::Bytes, |(_, form)| *form), value)
            }
            Form::OfKind(cases) => {
                let found = cases.iter().find(|(kind, _)| *kind == self.scope.kind);
                self.value(found.map_or(Form::Bytes, |(_, form)| *form), value)
            }
            Form::Text => self.string(value),
            Form::Kind => self.kind(value),
            Form::Hardware => self.hardware(value),
            Form::Hops => route::hops(self, value),
            Form::Via => route::via(self, value),
            Form::AnyWidth(_) if value.length() > 8 => self.hex(value),
            Form::AnyWidth(form) => match value.head(value.length()) {
                Some(bytes) => self.scalar(*form, bytes),
                None => self.dots(value),
            },
            Form::Bytes | Form::Padding(_) => self.hex(value),
            _ => match value.head(size) {
                Some(bytes) => self.scalar(form, bytes),
                None => self.dots(value),
            },
        }
    }

    /// An address of a family.
    pub(super) fn address_of(&mut self, family: &str, value: Span<'_>) -> Option<()> {
        match family {
            "AF_INET" => self.value(Form::Address4, value),
            "AF_INET6" => self.value(Form::Address6, value),
            _ => self.hex(value),
        }
    }

    /// A value of which all bytes are there.
    fn scalar(&mut self, form: Form, bytes: Bytes<'_>) -> Option<()> {
        let number = unsigned(bytes);
        let size = bytes.len();
        match form {
            Form::Number(_) => self.pen.number(number),
            Form::Signed(_) => {
                let unused = 64 - 8 * size as u32;
                self.pen.number((number << unused) as i64 >> unused);
            }
            Form::Hex(_) => self.pen.hex(number),
            Form::Digits(_) => self.text(&match number {
                0 => "0".repeat(2 * size),
                _ => format!("{number:#0width$x}", width = 2 * size),
            }),
            Form::Bits(names) => self.bits(number, names),
            Form::Network(_) => {
                let word = if size == 2 { "htons(" } else { "htobe64(" };
                self.text(word);
                self.pen.number(big_endian(bytes));
                self.text(")");
            }
            Form::Port => {
                self.text("htons(");
                self.pen.varying(Varying::Port, big_endian(bytes));
                self.text(")");
            }
            Form::Varying(_, what) => {
                self.pen.varying(what, number);
            }
            Form::Named(_, constants) => self.pen.constants(constants, number),
            // The loopback device is the first in every network namespace (LOOPBACK_IFINDEX); the
            // names of others are not known here.
            Form::Interface if number == 1 => self.text("if_nametoindex(\"lo\")"),
            Form::Interface => self.pen.number(number),
            Form::Id => self.pen.id(bytes.u32(0)?),
            Form::Descriptor => {
                let number = bytes.i32(0)?;
                let file = self.site.map(|site| site.file(number));
                self.pen
                    .descriptor(number, file.unwrap_or(Lookup::Untracked));
            }
            Form::Pointer => self.pen.address(number),
            Form::TextAt(what) => {
                let text = self.site.and_then(|site| site.behind(what, Moment::Enter));
                self.pen.or_address(number, |pen| {
                    let text = text.filter(Bytes::is_readable)?;
                    pen.string(text.whole());
                    pen.text(if text.is_cut { "..." } else { "" });
                    Some(())
                });
            }
            Form::ListAt(what, form) => {
                let site = self.site?;
                let count = site.given_part()?.u32(what.length.into())? as usize;
                let size = form.size();
                self.pen.or_address(number, |pen| {
                    let all = match count {
                        0 if number != 0 => Bytes::of(&[]),
                        _ => site.behind(what, Moment::Enter)?,
                    };
                    let all = all.first(count.saturating_mul(size));
                    pen.array(all, size as u16, |pen, one| {
                        super::value(pen, *form, one, site)
                    })
                });
            }
            Form::Vector => {
                let is_native = |site: &Site<'_>| site.call.abi == Abi::native();
                self.site.filter(is_native)?;
                return self.structure(VECTOR, Span::new(bytes.whole(), size));
            }
            Form::Either(one, name, _) if bytes.u32(0)? == one => self.text(name),
            Form::Either(_, _, form) => return self.scalar(*form, bytes),
            Form::Name(_) => {
                let whole = bytes.whole();
                let end = whole.iter().position(|byte| *byte == 0);
                self.pen.string(whole.get(..end.unwrap_or(size - 1))?);
                self.text(if end.is_none() { "..." } else { "" });
            }
            Form::KernelVersion => {
                let (major, minor, patch) = (number >> 16, number >> 8 & 0xff, number & 0xff);
                self.text(&format!("KERNEL_VERSION({major}, {minor}, {patch})"));
            }
            Form::Socket(_) => return any_family(self.pen, bytes),
            Form::Changed(form) => return self.scalar(*form, bytes),
            // The kernel chooses such ports, which are no processes.
            Form::Peer if bytes.i32(0)? < 0 => self.pen.number(number),
            Form::Task | Form::Peer => self.pen.task(bytes.i32(0)?),
            Form::Device => self.pen.constants(&names::DEVICE, number),
            Form::Row(_, form) => {
                return self.row(Span::new(bytes.whole(), size), *form, None);
            }
            Form::Mac => return self.hardware(Span::new(bytes.whole(), size)),
            Form::Inner(fields) => {
                return self.structure(fields, Span::new(bytes.whole(), size));
            }
            Form::Address4 => internet_address(self.pen, bytes.array(0)?),
            Form::Address6 => self.internet6(bytes.array(0)?, None),
            _ => return self.hex(Span::new(bytes.whole(), size)),
        }
        Some(())
    }

    pub(super) fn internet6(&mut self, address: [u8; 16], name: Option<&str>) {
        self.text("inet_pton(AF_INET6, \"");
        self.text(&text_of(address.into()));
        self.text("\"");
        if let Some(name) = name {
            self.text(", &");
            self.text(name);
        }
        self.text(")");
    }

    /// Values of one form behind each other, with the names of their places.
    fn row(&mut self, all: Span<'_>, form: Form, places: Option<&'static Constants>) -> Option<()> {
        let size = form.size();
        let count = all.length().checked_div(size)?;
        if all.first(size).unreadable().is_some() {
            return self.dots(all);
        }
        let mut whole = Some(());
        self.text("[");
        for place in 0..count {
            if place > 0 {
                self.text(", ");
            }
            let one = all.from(place * size).first(size);
            if one.head(size).is_none() {
                whole = self.rest(one);
                break;
            }
            if let Some(places) = places {
                self.text("[");
                match places.find(place as u64) {
                    Some(name) => self.text(name),
                    None => self.pen.number(place),
                }
                self.text("]=");
            }
            self.value(form, one)?;
        }
        self.text("]");
        whole
    }

    /// The bits that are set.
    fn bits(&mut self, number: u64, names: &[&str]) {
        let set = names.iter().enumerate();
        let set = set.filter(|(place, _)| number >> place & 1 != 0);
        let set: Vec<String> = set.map(|(_, name)| format!("{name}=1")).collect();
        self.text(&format!("{{{}}}", set.join(", ")));
    }

    /// A string, of which the zero byte is no part; dots where it has none.
    fn string(&mut self, value: Span<'_>) -> Option<()> {
        if value.unreadable().is_some() {
            return self.dots(value);
        }
        let (bytes, is_whole) = value.read();
        let text = bytes.strip_suffix(&[0]).filter(|_| is_whole);
        self.pen.string(text.unwrap_or(bytes));
        if text.is_none() {
            self.text("...");
        }
        is_whole.then_some(())
    }

    fn kind(&mut self, value: Span<'_>) -> Option<()> {
        if value.unreadable().is_some() {
            return self.dots(value);
        }
        let (bytes, is_whole) = value.read();
        let end = bytes.iter().position(|byte| *byte == 0);
        let text = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or(bytes);
        self.pen.string(text);
        self.scope.kind = end.map_or(Vec::new(), |_| text.to_vec());
        if end.is_none() {
            self.text("...");
        }
        is_whole.then_some(())
    }

    /// Six bytes of which a device's maker or the kernel chose some, or all of one value.
    fn hardware(&mut self, value: Span<'_>) -> Option<()> {
        let (bytes, is_whole) = value.read();
        if value.length() > LONGEST_HARDWARE {
            return self.hex(value);
        }
        if !is_whole {
            return self.dots(value);
        }
        let is_common =
            bytes.iter().all(|byte| *byte == 0) || bytes.iter().all(|byte| *byte == 255);
        let start = self.pen.out.len();
        if is_common || self.pen.varying(Varying::Machine, 0) {
            self.pen.out.truncate(start);
            let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            self.text(&digits.join(":"));
        }
        Some(())
    }

    /// Bytes in hex.
    pub(super) fn hex(&mut self, value: Span<'_>) -> Option<()> {
        if value.unreadable().is_some() {
            return self.dots(value);
        }
        let (bytes, is_whole) = value.read();
        self.text("\"");
        for byte in bytes {
            self.text(&format!("\\x{byte:02x}"));
        }
        self.text("\"");
        if !is_whole {
            self.text("...");
        }
        is_whole.then_some(())
    }

    /// The negative number of an error.
    pub(super) fn error(&mut self, number: i32) {
        match number.checked_neg().and_then(errno_name) {
            Some(name) if number < 0 => {
                self.text("-");
                self.text(name);
            }
            _ => self.pen.number(number),
        }
    }
}

fn unsigned(bytes: Bytes<'_>) -> u64 {
    let bytes = bytes.whole().iter().take(8).rev();
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn big_endian(bytes: Bytes<'_>) -> u64 {
    let bytes = bytes.whole().iter().take(8);
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}
