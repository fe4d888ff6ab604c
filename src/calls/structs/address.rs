//! Addresses of sockets, and what goes with them.

use super::Varying;
use super::families;
use super::names;
use super::options;
use super::pen::Pen;
use super::site::{Bytes, Site};
use crate::constants::tables;
use crate::text::Values;
use core::net::{Ipv4Addr, Ipv6Addr};

/// The size of `struct sockaddr_storage`; the kernel takes no longer address.
const LONGEST: usize = 128;
/// The size of `struct sockaddr_un`: what stands behind it is no part of a name.
const LONGEST_UNIX: usize = 110;

/// An address that the kernel filled in is no longer than the room that the program had for it: the
/// kernel tells the true length.
pub(super) fn address<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = match site.given_part() {
        Some(_) => {
            let length = site.word(site.argument + 1)? as i32;
            let length = usize::try_from(length).ok()?;
            site.given_first(length.min(LONGEST))?
        }
        None => {
            let room = site.further(1).given()?.u32(0)?;
            site.filled_first(usize::try_from(room).ok()?)?
        }
    };
    any_family(pen, bytes.first(LONGEST))
}

pub(super) fn any_family<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    let family = bytes.u16(0)?;
    pen.text("{sa_family=");
    pen.constants(&tables::ADDRESS_FAMILIES, family.into());
    let length = bytes.len();
    match i32::from(family) {
        _ if length == 2 => {}
        libc::AF_UNIX => unix(pen, bytes.first(LONGEST_UNIX).from(2)?),
        libc::AF_INET if length >= 16 => internet(pen, bytes)?,
        libc::AF_INET6 if length >= 24 => internet6(pen, bytes)?,
        libc::AF_NETLINK if length >= 12 => netlink(pen, bytes)?,
        libc::AF_VSOCK if length >= 16 => machine(pen, bytes)?,
        other => match families::write(pen, other, bytes) {
            Some(written) => written?,
            None => {
                pen.text(", sa_data=");
                pen.string(bytes.from(2)?);
            }
        },
    }
    pen.text("}");
    Some(())
}

/// unix(7): a path to its zero byte, or a name that begins with one and has the length of the rest.
fn unix<V: Values>(pen: &mut Pen<'_, V>, path: &[u8]) {
    pen.text(", sun_path=");
    match path.split_first() {
        Some((0, name)) => {
            pen.text("@");
            pen.string(name);
        }
        _ => {
            let end = path.iter().position(|byte| *byte == 0);
            pen.string(path.get(..end.unwrap_or(path.len())).unwrap_or(path));
        }
    }
}

pub(super) fn port<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    pen.text("_port=htons(");
    pen.varying(Varying::Port, u16::from_be_bytes(bytes.array(2)?));
    pen.text(")");
    Some(())
}

pub(super) fn internet<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    pen.text(", sin");
    port(pen, bytes)?;
    pen.text(", sin_addr=");
    internet_address(pen, bytes.array(4)?);
    Some(())
}

/// Four bytes, in the order in which they are written.
pub(super) fn internet_address<V: Values>(pen: &mut Pen<'_, V>, address: [u8; 4]) {
    pen.text("inet_addr(\"");
    pen.text(&Ipv4Addr::from(address).to_string());
    pen.text("\")");
}

pub(super) fn internet6<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    pen.text(", sin6");
    port(pen, bytes)?;
    pen.text(", sin6_flowinfo=htonl(");
    pen.number(u32::from_be_bytes(bytes.array(4)?));
    pen.text("), inet_pton(AF_INET6, \"");
    let address = Ipv6Addr::from(bytes.array::<16>(8)?);
    pen.text(&text_of(address));
    pen.text("\", &sin6_addr)");
    if bytes.len() < 28 {
        return Some(());
    }
    pen.text(", sin6_scope_id=");
    match bytes.u32(24)? {
        index if is_of_link(address) => device(pen, index),
        scope => pen.number(scope),
    }
    Some(())
}

/// The index of a network device. The loopback device is the first in every network namespace
/// (`LOOPBACK_IFINDEX`); the names of others are not known here.
pub(super) fn device<V: Values>(pen: &mut Pen<'_, V>, index: u32) {
    match index {
        1 => pen.text("if_nametoindex(\"lo\")"),
        _ => pen.number(index),
    }
}

/// Whether an address means something only together with a device, of one or of many.
fn is_of_link(address: Ipv6Addr) -> bool {
    let [first, ..] = address.segments();
    address.is_unicast_link_local() || first & 0xff0f == 0xff02
}

/// As inet_ntop(3) writes it, which differs from Rust's form for addresses that embed one of
/// version 4 without a mark.
pub(super) fn text_of(address: Ipv6Addr) -> String {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, high, _] if high != 0 => {
            let [.., a, b, c, d] = address.octets();
            format!("::{}", Ipv4Addr::new(a, b, c, d))
        }
        _ => address.to_string(),
    }
}

/// vsock(7): a machine, and a port of it.
fn machine<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    let reserved = bytes.u16(2)?;
    if reserved != 0 {
        pen.text(", svm_reserved1=");
        pen.hex(reserved.into());
    }
    pen.text(", svm_cid=");
    pen.name(&names::MACHINES, bytes.u32(8)?.into());
    pen.text(", svm_port=");
    pen.name(&names::MACHINE_PORTS, bytes.u32(4)?.into());
    pen.text(", svm_flags=");
    pen.flags(&names::MACHINE_FLAGS, bytes.u8(12)?.into());
    let padding = bytes.array::<3>(13)?;
    if padding != [0; 3] {
        pen.text(", svm_zero=\"");
        for byte in padding {
            pen.text(&format!("\\x{byte:02x}"));
        }
        pen.text("\"");
    }
    Some(())
}

fn netlink<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    let padding = bytes.u16(2)?;
    if padding != 0 {
        pen.text(", nl_pad=");
        pen.hex(padding.into());
    }
    pen.text(", nl_pid=");
    // Mostly, but not always, the id of the process that opened the socket.
    pen.task(bytes.i32(4)?);
    pen.text(", nl_groups=");
    let groups = bytes.u32(8)?;
    pen.text(&match groups {
        0 => "00000000".to_owned(),
        _ => format!("{groups:#08x}"),
    });
    Some(())
}

/// `[128 => 16]`: the room that there was, and the length of what the kernel had for it.
pub(super) fn length<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let room = site.given()?.i32(0)?;
    pen.text("[");
    pen.number(room);
    let filled = site.filled().and_then(|bytes| bytes.i32(0));
    if let Some(length) = filled.filter(|length| *length != room) {
        pen.text(" => ");
        pen.number(length);
    }
    pen.text("]");
    Some(())
}

/// The value of a socket's option: a number where it has the size of one, else bytes.
pub(super) fn option<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let is_asked = site.name() == "getsockopt";
    let bytes = if is_asked {
        // For some options the kernel tells a length that there was no room for.
        let room = site.further(1).given()?.i32(0)?;
        let room = usize::try_from(room).ok().filter(|room| *room > 0)?;
        site.filled_first(room).filter(|bytes| bytes.len() > 0)?
    } else {
        let length = site.word(4)? as i32;
        let bytes = site.given_part()?;
        bytes.first(usize::try_from(length).ok()?)
    };
    let (level, name) = (site.word(1)? as i32, site.word(2)? as i32);
    if let Some(written) = options::structure(pen, bytes, (level, name, is_asked), site) {
        return written;
    }
    match (level, name, bytes.len()) {
        // Of these the kernel takes no more than a number.
        (libc::SOL_NETLINK, _, 4..) if !is_asked => {
            pen.text("[");
            pen.number(bytes.i32(0)?);
            pen.text("]");
        }
        (libc::SOL_SOCKET, _, 4..) if !is_asked && NUMBERS.contains(&name) => {
            pen.text("[");
            pen.number(bytes.i32(0)?);
            pen.text("]");
        }
        _ if !bytes.is_readable() => return None,
        (libc::SOL_NETLINK, libc::NETLINK_LIST_MEMBERSHIPS, _) if is_asked => {
            return pen.list(bytes.elements(4), bytes.is_cut, |pen, groups| {
                pen.number(groups.u32(0)?);
                Some(())
            });
        }
        (libc::SOL_NETLINK, _, _) => {
            let number = bytes.i32(0)?;
            pen.text("[");
            pen.number(number);
            pen.text("]");
        }
        // Programs, whose instructions are elsewhere.
        (libc::SOL_SOCKET, libc::SO_ATTACH_FILTER | libc::SO_ATTACH_REUSEPORT_CBPF, _) => {
            return None;
        }
        (libc::SOL_SOCKET, libc::SO_ERROR, 4) if is_asked => {
            pen.text("[");
            let number = bytes.i32(0)?;
            match crate::errno::errno_name(number) {
                Some(name) if number != 0 => pen.text(name),
                _ => pen.number(number),
            }
            pen.text("]");
        }
        // Names may have four letters.
        (libc::IPPROTO_TCP, libc::TCP_CONGESTION | libc::TCP_ULP, _)
        | (libc::SOL_SOCKET, libc::SO_BINDTODEVICE, _) => pen.string(bytes.whole()),
        (_, _, 4) => {
            pen.text("[");
            pen.number(bytes.i32(0)?);
            pen.text("]");
        }
        // The kernel takes no number of less than 32 bits there.
        (libc::SOL_SOCKET, _, 0..4) if !is_asked => return None,
        _ => pen.string(bytes.whole()),
    }
    Some(())
}

/// The options of every socket of which the kernel takes a number, however long the value is.
#[rustfmt::skip]
const NUMBERS: &[i32] = &[
    libc::SO_ACCEPTCONN, libc::SO_BROADCAST, libc::SO_BSDCOMPAT, libc::SO_BUSY_POLL, libc::SO_BUSY_POLL_BUDGET,
    libc::SO_DEBUG, libc::SO_DETACH_FILTER, libc::SO_DONTROUTE, libc::SO_INCOMING_CPU, libc::SO_KEEPALIVE,
    libc::SO_LOCK_FILTER, libc::SO_MARK, libc::SO_NOFCS, libc::SO_NO_CHECK, libc::SO_OOBINLINE, libc::SO_PASSCRED,
    libc::SO_PASSSEC, libc::SO_PEEK_OFF, libc::SO_PREFER_BUSY_POLL, libc::SO_PRIORITY, libc::SO_RCVBUF,
    libc::SO_RCVBUFFORCE, libc::SO_RCVLOWAT, libc::SO_REUSEADDR, libc::SO_REUSEPORT, libc::SO_RXQ_OVFL,
    libc::SO_SELECT_ERR_QUEUE, libc::SO_SNDBUF, libc::SO_SNDBUFFORCE, libc::SO_SNDLOWAT,
];
