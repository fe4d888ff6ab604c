//! How structures and attributes are written that tables tell of.

use super::super::pen::Pen;
use super::super::site::{Bytes, Site};
use super::form::{Attributes, Field, Form, Header, size_of_fields};
use super::span::Span;
use crate::constants::tables as names;
use crate::text::Values;

/// The size of `struct nlattr`; its beginning is a multiple of this, too.
const ATTRIBUTE_HEAD: usize = 4;
/// The two highest bits of a type are flags.
const IS_NESTED: u16 = 0x8000;
const IS_NETWORK: u16 = 0x4000;

/// What decides how the parts of a message are written.
#[derive(Default)]
pub(super) struct Scope {
    family: u8,
    /// The kind of the device that the attributes behind it are about.
    pub(super) kind: Vec<u8>,
}

/// Writes a message. What is said to be `Option` of nothing is nothing where not all bytes were
/// there: dots are in the place of the rest then, and all brackets are closed.
pub(super) struct Writer<'a, 'p, V> {
    pub(super) pen: &'a mut Pen<'p, V>,
    pub(super) scope: Scope,
    /// Where a structure stands that is no message.
    pub(super) site: Option<Site<'a>>,
    /// What of it there is after the call.
    pub(super) after: Option<Bytes<'a>>,
}

impl<'a, 'p, V: Values> Writer<'a, 'p, V> {
    /// For a structure that is no message.
    pub(super) fn of(pen: &'a mut Pen<'p, V>, site: Site<'a>) -> Self {
        Self {
            pen,
            scope: Scope::default(),
            site: Some(site),
            after: site.filled(),
        }
    }
}

impl<V: Values> Writer<'_, '_, V> {
    pub(super) fn text(&mut self, text: &str) {
        self.pen.text(text);
    }

    /// Begins what is about a family, and returns its name.
    pub(super) fn enter(&mut self, family: u8) -> &'static str {
        self.scope = Scope {
            family,
            ..Scope::default()
        };
        self.family()
    }

    pub(super) fn family(&self) -> &'static str {
        let family = self.scope.family.into();
        names::ADDRESS_FAMILIES.find(family).unwrap_or_default()
    }

    /// The end of what was read: dots in the place of a value, or its address where it cannot be
    /// read.
    pub(super) fn dots(&mut self, value: Span<'_>) -> Option<()> {
        match value.unreadable() {
            Some(address) => self.pen.address(address),
            None => self.text("..."),
        }
        None
    }

    /// The same in the place of all further elements of a list.
    pub(super) fn rest(&mut self, value: Span<'_>) -> Option<()> {
        self.text("...");
        if let Some(address) = value.unreadable() {
            self.text(" /* ");
            self.pen.address(address);
            self.text(" */");
        }
        None
    }

    /// What stands one behind the other, each with a head in front that says its length; in
    /// brackets where there are several.
    pub(super) fn sequence(
        &mut self,
        all: Span<'_>,
        head: usize,
        length_of: impl Fn(Span<'_>) -> Option<usize>,
        mut one: impl FnMut(&mut Self, Span<'_>) -> Option<()>,
    ) -> Option<()> {
        let (mut rest, mut is_list) = (all, false);
        let whole = loop {
            if rest.length() < head {
                break self.hex(rest);
            }
            if rest.head(head).is_none() {
                break match is_list {
                    true => self.rest(rest),
                    false => self.dots(rest),
                };
            }
            let length = length_of(rest).unwrap_or(usize::MAX);
            let behind = rest.from(length.checked_next_multiple_of(4).unwrap_or(usize::MAX));
            let has_next = length >= head && behind.length() > 0;
            if has_next && !is_list {
                self.text("[");
                is_list = true;
            }
            let is_whole = one(self, rest.first(length.max(head)));
            match (is_whole, has_next) {
                (Some(()), true) => self.text(", "),
                (None, true) => {
                    self.text(", ");
                    break self.rest(behind);
                }
                (whole, false) => break whole,
            }
            rest = behind;
        };
        if is_list {
            self.text("]");
        }
        whole
    }

    /// A header, and what follows it.
    pub(super) fn header(&mut self, header: &Header, all: Span<'_>) -> Option<()> {
        let size = size_of_fields(header.fields);
        if all.length() < size {
            let family = header.fields.first().map_or(&[][..], std::slice::from_ref);
            self.text("{");
            self.fields(family, all)?;
            self.text(", ...}");
            return Some(());
        }
        if all.first(size).unreadable().is_some() {
            let ([family, ..], behind) = (header.fields, all.from(1)) else {
                return self.dots(all);
            };
            self.text("{");
            self.fields(std::slice::from_ref(family), all)?;
            self.text(", ");
            self.dots(behind);
            self.text("}");
            return None;
        }
        let whole = self.structure(header.fields, all.first(size));
        let rest = all.from(size.next_multiple_of(ATTRIBUTE_HEAD));
        match header.attributes {
            Some(attributes) if rest.length() > 0 => {
                self.text(", ");
                match whole {
                    Some(()) => self.attributes(attributes, rest),
                    None => self.dots(rest),
                }
            }
            _ => whole,
        }
    }

    pub(super) fn structure(&mut self, fields: &[Field], all: Span<'_>) -> Option<()> {
        self.text("{");
        let whole = self.fields(fields, all);
        self.text("}");
        whole
    }

    /// The fields that there are.
    pub(super) fn fields(&mut self, fields: &[Field], all: Span<'_>) -> Option<()> {
        let (mut rest, start) = (all, self.pen.out.len());
        for (name, form) in fields {
            if let Form::At(offset, form) = form {
                let there = all.from(usize::from(*offset)).first(form.size());
                self.field(name, **form, there)?;
                continue;
            }
            let (size, place) = (form.size(), all.length() - rest.length());
            if rest.length() < size {
                break;
            }
            if let Some(form) = told(*form, all, rest) {
                if self.pen.out.len() > start {
                    self.text(", ");
                }
                if rest.head(size).is_none() {
                    return self.dots(rest);
                }
                let length = match form {
                    Form::HardwareOf(_) => all.from(place - 2).head(2)?.u16(0)?.into(),
                    _ => size,
                };
                self.field(name, form, rest.first(size.min(length)))?;
                if let Form::Changed(form) = form {
                    self.changed(*form, (place, rest))?;
                }
            }
            rest = rest.from(size);
        }
        Some(())
    }

    /// What the kernel left at this place, where that is not what it was given.
    fn changed(&mut self, form: Form, (place, given): (usize, Span<'_>)) -> Option<()> {
        let size = form.size();
        let left = self.after.and_then(|after| after.from(place)?.get(..size));
        match left {
            Some(left) if given.head(size).is_some_and(|given| given.whole() != left) => {
                self.text(" => ");
                self.value(form, Span::new(left, size))
            }
            _ => Some(()),
        }
    }

    /// A field with its name, which stands within the address where that is one of IPv6.
    fn field(&mut self, name: &str, form: Form, value: Span<'_>) -> Option<()> {
        match form {
            Form::Address => return self.named_address(self.family(), name, value),
            Form::NamedAddress6 => return self.named_address("AF_INET6", name, value),
            _ => {}
        }
        self.text(name);
        self.text("=");
        self.value(form, value)
    }

    /// An address of a family with its name.
    pub(super) fn named_address(
        &mut self,
        family: &str,
        name: &str,
        value: Span<'_>,
    ) -> Option<()> {
        if family == "AF_INET6" && value.length() >= 16 {
            let Some(bytes) = value.head(16) else {
                return self.dots(value);
            };
            self.internet6(bytes.array(0)?, Some(name));
            return Some(());
        }
        self.text(name);
        self.text("=");
        self.address_of(family, value)
    }

    pub(super) fn attributes(&mut self, attributes: &Attributes, all: Span<'_>) -> Option<()> {
        let length_of = |head: Span<'_>| head.head(2)?.u16(0).map(usize::from);
        self.sequence(all, ATTRIBUTE_HEAD, length_of, |writer, one| {
            writer.attribute(attributes, one)
        })
    }

    fn attribute(&mut self, attributes: &Attributes, one: Span<'_>) -> Option<()> {
        let head = one.head(ATTRIBUTE_HEAD)?;
        let (length, kind) = (head.u16(0)?, head.u16(2)?);
        let has_value = one.length() > ATTRIBUTE_HEAD;
        if has_value {
            self.text("[");
        }
        self.text("{nla_len=");
        self.pen.number(length);
        self.text(", nla_type=");
        for (flag, name) in [
            (IS_NESTED, "NLA_F_NESTED|"),
            (IS_NETWORK, "NLA_F_NET_BYTEORDER|"),
        ] {
            if kind & flag != 0 {
                self.text(name);
            }
        }
        let kind = kind & !(IS_NESTED | IS_NETWORK);
        self.pen.constants(attributes.names, kind.into());
        self.text("}");
        if !has_value {
            return Some(());
        }
        self.text(", ");
        let whole = self.value(attributes.form(kind), one.from(ATTRIBUTE_HEAD));
        self.text("]");
        whole
    }
}

/// The form of a field, of those that are told.
fn told(form: Form, all: Span<'_>, rest: Span<'_>) -> Option<Form> {
    match form {
        Form::Padding(_) => None,
        // The kernel does not look at one of no bytes.
        Form::HardwareOf(_) => {
            let before = (all.length() - rest.length()).checked_sub(2)?;
            (all.from(before).head(2)?.u16(0)? > 0).then_some(form)
        }
        Form::NotZero(form) => {
            let is_zero = |bytes: Bytes<'_>| bytes.whole().iter().all(|byte| *byte == 0);
            (!rest.head(form.size()).is_some_and(is_zero)).then_some(*form)
        }
        Form::With(place, bits, form) => {
            let word = all.from(place.into()).head(4)?.u32(0)?;
            (word & bits != 0).then_some(*form)
        }
        _ => Some(form),
    }
}
