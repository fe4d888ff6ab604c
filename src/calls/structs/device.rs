//! What is asked of a network device (netdevice(7)).

use super::Varying;
use super::address::any_family;
use super::pen::Pen;
use super::site::{Bytes, Site};
use crate::constants::tables;
use crate::names::Abi;
use crate::text::Values;

/// A request with a `struct ifreq`.
struct Request {
    number: u32,
    /// The field that it is about, as the kernel's header has it.
    field: &'static str,
    kind: Kind,
    /// Whether the program gives it.
    is_set: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Address,
    Flags,
    Hardware,
    Name,
    Number,
}

const fn asked(number: u32, field: &'static str, kind: Kind) -> Request {
    Request {
        number,
        field,
        kind,
        is_set: false,
    }
}

const fn set(number: u32, field: &'static str, kind: Kind) -> Request {
    Request {
        is_set: true,
        ..asked(number, field, kind)
    }
}

/// `linux/sockios.h`.
const REQUESTS: &[Request] = &[
    asked(0x8910, "ifr_name", Kind::Name),
    asked(0x8913, "ifr_flags", Kind::Flags),
    set(0x8914, "ifr_flags", Kind::Flags),
    asked(0x8915, "ifr_addr", Kind::Address),
    set(0x8916, "ifr_addr", Kind::Address),
    asked(0x8917, "ifr_dstaddr", Kind::Address),
    set(0x8918, "ifr_dstaddr", Kind::Address),
    asked(0x8919, "ifr_broadaddr", Kind::Address),
    set(0x891a, "ifr_broadaddr", Kind::Address),
    asked(0x891b, "ifr_netmask", Kind::Address),
    set(0x891c, "ifr_netmask", Kind::Address),
    asked(0x891d, "ifr_metric", Kind::Number),
    set(0x891e, "ifr_metric", Kind::Number),
    asked(0x8921, "ifr_mtu", Kind::Number),
    set(0x8922, "ifr_mtu", Kind::Number),
    set(0x8924, "ifr_hwaddr", Kind::Hardware),
    asked(0x8927, "ifr_hwaddr", Kind::Hardware),
    asked(0x8933, "ifr_ifindex", Kind::Number),
    asked(0x8942, "ifr_qlen", Kind::Number),
    set(0x8943, "ifr_qlen", Kind::Number),
];

/// The length of a name (`IFNAMSIZ`); what the request is about stands behind it.
const NAME: usize = 16;

fn of(number: u32) -> Option<&'static Request> {
    REQUESTS.iter().find(|request| request.number == number)
}

/// Whether a request of ioctl(2) is one with a `struct ifreq`.
pub(crate) fn is_one(number: u32) -> bool {
    of(number).is_some()
}

/// `struct ifreq`: the device, and what is set or what the kernel answers.
pub(super) fn request<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let request = of(site.word(1)? as u32)?;
    // The longest of what the union holds has pointers.
    let size = if site.call.abi == Abi::native() {
        40
    } else {
        32
    };
    let given = site.given_first(size)?;
    let told = match request.is_set {
        true => Some(given),
        false => site.filled_first(size),
    };
    pen.text("{");
    if request.kind == Kind::Name {
        pen.text("ifr_ifindex=");
        pen.number(given.i32(NAME)?);
    } else {
        pen.text("ifr_name=");
        name(pen, given)?;
    }
    if let Some(told) = told {
        pen.text(", ");
        pen.text(request.field);
        pen.text("=");
        value(pen, request.kind, told)?;
    }
    pen.text("}");
    Some(())
}

/// `struct ifconf`: how much room there is, how much of it the kernel used, and where it is.
pub(super) fn all<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let (size, one) = match site.call.abi == Abi::native() {
        true => (16, 40),
        false => (8, 32),
    };
    let given = site.given_first(size)?;
    let length = |pen: &mut Pen<'_, V>, length: i32| {
        pen.number(length);
        if length > 0 && length % one == 0 {
            pen.text(" /* ");
            pen.number(length / one);
            pen.text(" * sizeof(struct ifreq) */");
        }
    };
    let address = match size {
        16 => given.u64(8)?,
        _ => given.u32(4)?.into(),
    };
    let used = site.filled_first(size).and_then(|answer| answer.i32(0));
    pen.text("{ifc_len=");
    // Without room the kernel looks at no length.
    let (room, used) = match used {
        Some(used) if address == 0 => (used, None),
        used => (given.i32(0)?, used),
    };
    length(pen, room);
    if let Some(used) = used.filter(|used| *used != room) {
        pen.text(" => ");
        length(pen, used);
    }
    pen.text(", ifc_buf=");
    pen.address(address);
    pen.text("}");
    Some(())
}

fn name<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    let all = bytes.whole().get(..NAME)?;
    let end = all.iter().position(|byte| *byte == 0);
    // The kernel takes the last byte of the room for a zero byte (`dev_ioctl()`).
    pen.string(all.get(..end.unwrap_or(NAME - 1))?);
    if end.is_none() {
        pen.text("...");
    }
    Some(())
}

fn value<V: Values>(pen: &mut Pen<'_, V>, kind: Kind, bytes: Bytes<'_>) -> Option<()> {
    match kind {
        Kind::Name => name(pen, bytes)?,
        Kind::Number => pen.number(bytes.i32(NAME)?),
        Kind::Flags => pen.constants(&tables::INTERFACE_FLAGS, bytes.u16(NAME)?.into()),
        Kind::Address => any_family(pen, Bytes::of(&bytes.array::<16>(NAME)?))?,
        Kind::Hardware => {
            pen.text("{sa_family=");
            pen.constants(&tables::HARDWARE_TYPES, bytes.u16(NAME)?.into());
            pen.text(", sa_data=");
            hardware(pen, bytes.array::<6>(NAME + 2)?);
            pen.text("}");
        }
    }
    Some(())
}

/// Six bytes of which a device's maker or the kernel chose some, or all of one value.
fn hardware<V: Values>(pen: &mut Pen<'_, V>, bytes: [u8; 6]) {
    let start = pen.out.len();
    let is_common = bytes == [0; 6] || bytes == [255; 6];
    if is_common || pen.varying(Varying::Machine, 0) {
        pen.out.truncate(start);
        let digits = bytes.map(|byte| format!("{byte:02x}"));
        pen.text(&digits.join(":"));
    }
}
