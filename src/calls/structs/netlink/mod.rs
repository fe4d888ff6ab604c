//! Messages of netlink: lists of headers, each with what its type says.
//!
//! The form is strace's. Of a message of which only the beginning was read, that beginning is
//! written, and dots in the place of all that is behind it; where no more of it can be read, the
//! address of what cannot.

use super::pen::Pen;
use super::site::{Bytes, Site};
use crate::Call;
use crate::constants::{Constants, tables as names};
use crate::files::{FileKind, Lookup};
use crate::text::Values;
use form::{Field, Form, Header};
use span::Span;
use write::{Scope, Writer};

mod diag;
pub(super) mod form;
mod link;
mod neighbour;
mod nexthop;
mod route;
mod span;
mod stats;
mod traffic;
mod value;
mod write;

/// The size of `struct nlmsghdr`, and what its beginning is a multiple of.
const HEAD: usize = 16;
/// Below this, types mean the same in every protocol (`NLMSG_MIN_TYPE`).
const LEAST_TYPE: u16 = 16;

/// What a socket's messages are like: its protocol (`NETLINK_ROUTE`), where that is known.
#[derive(Clone, Copy)]
pub(crate) struct Speaks(pub(crate) Option<i32>);

impl Speaks {
    /// What is sent or received by an argument of a call that says where contents are.
    pub(crate) fn of_buffer(call: &Call, place: usize) -> Option<Self> {
        match (call.name()?, place) {
            ("sendto" | "recvfrom", 1) => Self::of(call),
            _ => None,
        }
    }

    /// What the socket speaks that is a call's first argument; `None` where that is not known to be
    /// a socket of netlink.
    pub(crate) fn of(call: &Call) -> Option<Self> {
        let Lookup::Open(file) = call.files.argument(0) else {
            return None;
        };
        match &file.kind {
            FileKind::Socket(socket) if socket.family == Some(libc::AF_NETLINK) => {
                Some(Self(socket.protocol))
            }
            _ => None,
        }
    }
}

/// What was read of messages.
#[derive(Clone, Copy)]
pub(crate) struct Beginning<'a> {
    pub(crate) bytes: &'a [u8],
    /// How long they are together.
    pub(crate) length: usize,
    /// Where they stand, if those that follow the bytes cannot be read.
    pub(crate) broken_at: Option<u64>,
}

/// For `harness/fuzz`: what is written for these bytes of messages of so many more.
#[cfg(fuzzing)]
pub fn fuzzed(protocol: u8, bytes: &[u8], more: u16) -> String {
    let mut out = String::new();
    let beginning = Beginning {
        bytes,
        length: bytes.len() + usize::from(more >> 1),
        broken_at: (more & 1 == 1).then_some(0x1000),
    };
    let speaks = Speaks(Some(protocol.into()));
    messages(&mut out, &mut crate::Shown, speaks, beginning);
    out
}

/// Writes messages; `None`, and nothing written, where not even the first header is there.
pub(crate) fn messages<V: Values>(
    out: &mut String,
    values: &mut V,
    speaks: Speaks,
    beginning: Beginning<'_>,
) -> Option<()> {
    let Beginning { bytes, length, .. } = beginning;
    if length >= HEAD && bytes.len() < HEAD || speaks.0 == Some(libc::NETLINK_KOBJECT_UEVENT) {
        return None;
    }
    let all = Span::new(bytes, length).broken(beginning.broken_at);
    let mut writer = Writer {
        pen: &mut Pen { out, values },
        scope: Scope::default(),
        site: None,
        after: None,
    };
    let _is_all_there = writer.sequence(all, HEAD, length_of, |writer, one| {
        message(writer, speaks, one)
    });
    Some(())
}

/// Writes the fields of a structure that is no message, without braces; of what the kernel changes
/// what it left there, if it did.
pub(super) fn plain<V: Values>(
    pen: &mut Pen<'_, V>,
    fields: &[Field],
    bytes: Bytes<'_>,
    site: Site<'_>,
) -> Option<()> {
    let all = Span::new(bytes.whole(), bytes.len());
    Writer::of(pen, site).fields(fields, all)
}

/// Writes a value that is no part of a message.
pub(super) fn value<V: Values>(
    pen: &mut Pen<'_, V>,
    form: Form,
    bytes: Bytes<'_>,
    site: Site<'_>,
) -> Option<()> {
    Writer::of(pen, site).value(form, Span::new(bytes.whole(), bytes.len()))
}

/// The length of a message, as its header says it.
fn length_of(head: Span<'_>) -> Option<usize> {
    usize::try_from(head.head(4)?.u32(0)?).ok()
}

/// A message, with its header at least.
fn message<V: Values>(writer: &mut Writer<'_, '_, V>, speaks: Speaks, one: Span<'_>) -> Option<()> {
    let has_more = one.length() > HEAD;
    if has_more {
        writer.text("[");
    }
    let whole = header(writer, speaks, one);
    if !has_more {
        return whole.map(|_| ());
    }
    let whole = match whole {
        Some(told) => {
            writer.text(", ");
            payload(writer, speaks, told, one.from(HEAD))
        }
        None => None,
    };
    writer.text("]");
    whole
}

/// What a header says that decides what is behind it.
#[derive(Clone, Copy)]
struct Told {
    kind: u16,
    flags: u16,
}

fn header<V: Values>(
    writer: &mut Writer<'_, '_, V>,
    speaks: Speaks,
    one: Span<'_>,
) -> Option<Told> {
    let Some(bytes) = one.head(HEAD) else {
        writer.text("...");
        return None;
    };
    let told = Told {
        kind: bytes.u16(4)?,
        flags: bytes.u16(6)?,
    };
    let pen = &mut *writer.pen;
    pen.text("{nlmsg_len=");
    pen.number(bytes.u32(0)?);
    pen.text(", nlmsg_type=");
    pen.constants(types(speaks, told.kind), told.kind.into());
    pen.text(", nlmsg_flags=");
    pen.constants(flags(speaks, told.kind), told.flags.into());
    pen.text(", nlmsg_seq=");
    match bytes.u32(8)? {
        // What the kernel says unasked.
        0 => pen.text("0"),
        number => {
            pen.varying(super::Varying::Cookie, number);
        }
    }
    pen.text(", nlmsg_pid=");
    pen.task(bytes.i32(12)?);
    pen.text("}");
    Some(told)
}

/// The names of the types of messages.
fn types(speaks: Speaks, kind: u16) -> &'static Constants {
    match speaks.0 {
        _ if kind < LEAST_TYPE => &names::NETLINK_TYPES,
        Some(libc::NETLINK_ROUTE) => &names::NETLINK_ROUTE_TYPES,
        Some(libc::NETLINK_SOCK_DIAG) => &names::NETLINK_DIAG_TYPES,
        Some(libc::NETLINK_AUDIT) => &names::NETLINK_AUDIT_TYPES,
        Some(libc::NETLINK_GENERIC) => &names::NETLINK_GENERIC_TYPES,
        Some(libc::NETLINK_XFRM) => &names::NETLINK_XFRM_TYPES,
        Some(libc::NETLINK_CRYPTO) => &names::NETLINK_CRYPTO_TYPES,
        Some(libc::NETLINK_SELINUX) => &names::NETLINK_SELINUX_TYPES,
        _ => &names::NETLINK_TYPES,
    }
}

/// The names of the flags, some of which mean something else in each kind of request: one that
/// makes, takes away or gets. The number of the type says it, or its name.
fn flags(speaks: Speaks, kind: u16) -> &'static Constants {
    const KINDS: [(&str, &Constants); 4] = [
        ("_NEW", &names::NETLINK_NEW_FLAGS),
        ("_DEL", &names::NETLINK_DELETE_FLAGS),
        ("_GET", &names::NETLINK_GET_FLAGS),
        ("", &names::NETLINK_FLAGS),
    ];
    let name = types(speaks, kind).find(kind.into()).unwrap_or_default();
    let found = match speaks.0 {
        _ if name == "NLMSG_ERROR" => return &names::NETLINK_ACK_FLAGS,
        _ if kind < LEAST_TYPE => None,
        // It takes away all that there are, with the flag of a request for all.
        Some(libc::NETLINK_ROUTE) if name == "RTM_DELACTION" => KINDS.get(2),
        Some(libc::NETLINK_ROUTE) => KINDS.get(usize::from(kind & 3)),
        Some(libc::NETLINK_SOCK_DIAG) => KINDS.get(2),
        Some(libc::NETLINK_XFRM | libc::NETLINK_CRYPTO) => {
            KINDS.iter().find(|(verb, _)| name.contains(verb))
        }
        _ => None,
    };
    found.map_or(&names::NETLINK_FLAGS, |(_, flags)| flags)
}

/// What is behind the header of a message.
fn payload<V: Values>(
    writer: &mut Writer<'_, '_, V>,
    speaks: Speaks,
    told: Told,
    rest: Span<'_>,
) -> Option<()> {
    let name = types(speaks, told.kind)
        .find(told.kind.into())
        .unwrap_or_default();
    match name {
        "NLMSG_ERROR" => return error(writer, speaks, told, rest),
        "NLMSG_DONE" if rest.length() == 4 => return writer.value(Form::Signed(4), rest),
        _ if told.kind < LEAST_TYPE => return writer.hex(rest),
        _ => {}
    }
    let head = match speaks.0 {
        Some(libc::NETLINK_ROUTE) => |name, _, family| route::header(name, family),
        Some(libc::NETLINK_SOCK_DIAG) => diag::header,
        _ => return writer.hex(rest),
    };
    let Some(family) = rest.head(1).and_then(|bytes| bytes.u8(0)) else {
        return writer.dots(rest);
    };
    let is_bare = rest.length() == 1 && speaks.0 == Some(libc::NETLINK_SOCK_DIAG);
    let is_request = told.flags & libc::NLM_F_REQUEST as u16 != 0;
    let family = writer.enter(family);
    match head(name, is_request, family) {
        Some(header) if !is_bare => writer.header(header, rest),
        _ => unknown(writer, rest),
    }
}

/// What begins with a family, of which no more is known.
fn unknown<V: Values>(writer: &mut Writer<'_, '_, V>, rest: Span<'_>) -> Option<()> {
    writer.text("{family=");
    writer.value(Form::Named(1, &names::ADDRESS_FAMILIES), rest)?;
    let whole = match rest.length() {
        1 => Some(()),
        _ => {
            writer.text(", data=");
            writer.hex(rest.from(1))
        }
    };
    writer.text("}");
    whole
}

/// `struct nlmsgerr`: an error, the message that it is about, and attributes.
fn error<V: Values>(
    writer: &mut Writer<'_, '_, V>,
    speaks: Speaks,
    told: Told,
    rest: Span<'_>,
) -> Option<()> {
    if rest.length() < 4 + HEAD {
        return writer.hex(rest);
    }
    let Some(bytes) = rest.head(4 + HEAD) else {
        return writer.dots(rest);
    };
    let about = rest.from(4);
    let is_capped = told.flags & NLM_F_CAPPED != 0;
    let length = usize::try_from(bytes.u32(4)?).unwrap_or(usize::MAX);
    let length = if is_capped { HEAD } else { length.max(HEAD) };
    let attributes = about.from(length);
    if attributes.length() > 0 {
        writer.text("[");
    }
    writer.text("{error=");
    writer.error(bytes.i32(0)?);
    writer.text(", msg=");
    // No more of it is there than its own length says.
    let about = about.first(length);
    let itself = about.first(length_of(about).unwrap_or(HEAD).max(HEAD));
    let whole = message(writer, speaks, itself);
    writer.text("}");
    if attributes.length() == 0 {
        return whole;
    }
    let whole = match whole {
        Some(()) => {
            writer.text(", ");
            writer.attributes(&ERROR, attributes)
        }
        None => {
            writer.text(", ...");
            None
        }
    };
    writer.text("]");
    whole
}

/// `NLM_F_CAPPED` of linux/netlink.h: of the message that an error is about, the header alone is
/// there.
const NLM_F_CAPPED: u16 = 0x100;

/// What is said of an error.
static ERROR: form::Attributes = form::Attributes {
    names: &names::NETLINK_ERROR_ATTRIBUTES,
    forms: &[
        ("NLMSGERR_ATTR_MSG", Form::Text),
        ("NLMSGERR_ATTR_OFFS", Form::Number(4)),
        ("NLMSGERR_ATTR_COOKIE", Form::Rows(&Form::Number(1), None)),
    ],
};

/// The header of messages that say nothing but a family.
const fn only(family: &'static [form::Field], attributes: &'static form::Attributes) -> Header {
    Header {
        fields: family,
        attributes: Some(attributes),
    }
}

#[cfg(test)]
mod tests;
