//! Addresses of sockets of the families that few programs use.
//!
//! The layouts are those of the kernel's headers of each; numbers that they name and give to no
//! program are in `names`.

mod stations;

use self::stations::{RADIO, exchange, radio, x25};
use super::address::{device, internet, internet6};
use super::names;
use super::pen::Pen;
use super::site::Bytes;
use crate::constants::tables;
use crate::files::Lookup;
use crate::text::Values;

/// Writes what follows the family; `None` for families and lengths of which no layout is known.
pub(super) fn write<V: Values>(
    pen: &mut Pen<'_, V>,
    family: i32,
    bytes: Bytes<'_>,
) -> Option<Option<()>> {
    let length = bytes.len();
    Some(match family {
        libc::AF_AX25 if length >= RADIO => radio(pen, bytes),
        libc::AF_IPX if length >= 16 => exchange(pen, bytes),
        libc::AF_X25 if length >= 18 => x25(pen, bytes),
        libc::AF_PACKET if length >= 20 => packet(pen, bytes),
        libc::AF_BLUETOOTH => bluetooth(pen, bytes)?,
        libc::AF_RXRPC if length >= 36 => remote(pen, bytes),
        libc::AF_IEEE802154 if length >= 20 => personal(pen, bytes),
        libc::AF_ALG if length > ALGORITHM => algorithm(pen, bytes),
        libc::AF_NFC if length >= 16 => near(pen, bytes),
        AF_QIPCRTR if length >= 12 => router(pen, bytes),
        libc::AF_XDP if length >= 16 => express(pen, bytes),
        AF_MCTP if length >= 12 => management(pen, bytes),
        _ => return None,
    })
}

/// `linux/socket.h`.
const AF_QIPCRTR: i32 = 42;
/// The same.
const AF_MCTP: i32 = 45;

/// `[0x1, 00, 0xff]`: bytes as strace's `%#02x` has them.
fn bytes_of<V: Values>(pen: &mut Pen<'_, V>, bytes: &[u8], is_cut: bool) -> Option<()> {
    pen.list(bytes, is_cut, |pen, byte| {
        byte_of(pen, *byte);
        Some(())
    })
}

fn byte_of<V: Values>(pen: &mut Pen<'_, V>, byte: u8) {
    match byte {
        0 => pen.text("00"),
        _ => pen.hex(byte.into()),
    }
}

/// `01:23:45:67:89:ab`.
fn hardware<V: Values>(pen: &mut Pen<'_, V>, address: &[u8]) {
    for (place, byte) in address.iter().enumerate() {
        let part = if place == 0 { "" } else { ":" };
        pen.text(&format!("{part}{byte:02x}"));
    }
}

/// packet(7).
fn packet<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    const ADDRESS: usize = 12;
    pen.text(", sll_protocol=htons(");
    let protocol = u16::from_be_bytes(bytes.array(2)?);
    pen.constants(&tables::ETHER_TYPES, protocol.into());
    pen.text("), sll_ifindex=");
    device(pen, bytes.u32(4)?);
    pen.text(", sll_hatype=");
    pen.constants(&tables::HARDWARE_TYPES, bytes.u16(8)?.into());
    pen.text(", sll_pkttype=");
    pen.constants(&tables::PACKET_TYPES, bytes.u8(10)?.into());
    pen.text(", sll_halen=");
    let length = bytes.u8(11)?;
    pen.number(length);
    if length != 0 {
        pen.text(", sll_addr=");
        let there = bytes.from(ADDRESS)?;
        let address = there.get(..usize::from(length));
        bytes_of(pen, address.unwrap_or(there), address.is_none())?;
    }
    Some(())
}

/// One of several structures, told apart by their lengths: `struct sockaddr_hci`, `sockaddr_sco`,
/// `sockaddr_rc` and `sockaddr_l2` of the kernel's net/bluetooth/*.h.
fn bluetooth<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<Option<()>> {
    Some(match bytes.len() {
        4 | 6 => controller(pen, bytes),
        8 => {
            pen.text(", sco_bdaddr=");
            bytes.from(2).map(|address| hardware(pen, address))
        }
        10 => serial_line(pen, bytes),
        12 | 14 => logical_link(pen, bytes),
        _ => return None,
    })
}

fn controller<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    pen.text(", hci_dev=htobs(");
    pen.number(bytes.u16(2)?);
    pen.text(")");
    if let Some(channel) = bytes.u16(4) {
        pen.text(", hci_channel=");
        pen.name(&names::CONTROLLER_CHANNELS, channel.into());
    }
    Some(())
}

fn serial_line<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    pen.text(", rc_bdaddr=");
    hardware(pen, &bytes.array::<6>(2)?);
    pen.text(", rc_channel=");
    pen.number(bytes.u8(8)?);
    Some(())
}

fn logical_link<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    const SERVICES: &[(u16, u16, &str)] = &[
        (0x80, 0xff, "L2CAP_PSM_LE_DYN_START"),
        (0x1001, u16::MAX, "L2CAP_PSM_DYN_START"),
    ];
    const CHANNELS: &[(u16, u16, &str)] = &[(0x40, u16::MAX, "L2CAP_CID_DYN_START")];
    pen.text(", l2_psm=htobs(");
    in_range(pen, &names::LINK_SERVICES, SERVICES, bytes.u16(2)?);
    pen.text("), l2_bdaddr=");
    hardware(pen, &bytes.array::<6>(4)?);
    pen.text(", l2_cid=htobs(");
    in_range(pen, &names::LINK_CHANNELS, CHANNELS, bytes.u16(10)?);
    pen.text(")");
    if let Some(kind) = bytes.u8(12) {
        pen.text(", l2_bdaddr_type=");
        pen.name(&names::BLUETOOTH_ADDRESSES, kind.into());
    }
    Some(())
}

/// A number by its name, or by how far it is in the range that it is of.
fn in_range<V: Values>(
    pen: &mut Pen<'_, V>,
    names: &names::Names,
    ranges: &[(u16, u16, &str)],
    number: u16,
) {
    let mut of = ranges.iter();
    match of.find(|(first, last, _)| (*first..=*last).contains(&number)) {
        Some((first, _, range)) if names.name(number.into()).is_none() => {
            pen.text(range);
            pen.text("+");
            pen.number(number - first);
        }
        _ => pen.name(names, number.into()),
    }
}

/// `linux/rxrpc.h`: a service, and the address of a machine.
fn remote<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    const TRANSPORT: usize = 8;
    pen.text(", srx_service=");
    pen.name(&names::REMOTE_SERVICES, bytes.u16(2)?.into());
    pen.text(", transport_type=");
    match bytes.u16(4)? {
        kind @ 0..=0xf => pen.constants(&tables::SOCKET_TYPES, kind.into()),
        other => pen.hex(other.into()),
    }
    let told = bytes.u16(6)?;
    pen.text(", transport_len=");
    pen.number(told);
    let told = usize::from(told);
    let there = Bytes::of(bytes.from(TRANSPORT)?);
    let family = there.u16(0)?;
    let address = there.first(told.max(2));
    pen.text(", transport={");
    let (inner, is_known) = match i32::from(family) {
        libc::AF_INET => ("sin", told >= 16),
        libc::AF_INET6 => ("sin6", told >= 24),
        _ => ("", false),
    };
    if !inner.is_empty() {
        pen.text(inner);
        pen.text("={");
        pen.text(inner);
        pen.text("_");
    }
    pen.text("family=");
    pen.constants(&tables::ADDRESS_FAMILIES, family.into());
    match i32::from(family) {
        libc::AF_INET if is_known => internet(pen, address)?,
        libc::AF_INET6 if is_known => internet6(pen, address)?,
        _ if address.len() > 2 => {
            pen.text(", ");
            pen.string(address.from(2)?);
        }
        _ => {}
    }
    pen.text(if inner.is_empty() { "}" } else { "}}" });
    Some(())
}

/// `struct sockaddr_ieee802154` of the kernel's net/af_ieee802154.h.
fn personal<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    let kind = bytes.u32(4)?;
    pen.text(", addr={addr_type=");
    pen.name(&names::PERSONAL_ADDRESSES, kind.into());
    pen.text(", pan_id=");
    pen.name(&names::PERSONAL_NETWORKS, bytes.u16(8)?.into());
    match kind {
        0 => {}
        2 => {
            pen.text(", short_addr=");
            pen.name(&names::PERSONAL_SHORT, bytes.u16(10)?.into());
        }
        _ => {
            pen.text(", hwaddr=");
            hardware(pen, &bytes.array::<8>(10)?);
        }
    }
    pen.text("}");
    Some(())
}

/// The size of `struct sockaddr_alg_new`, behind which the name stands.
const ALGORITHM: usize = 24;

/// `linux/if_alg.h`.
fn algorithm<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    pen.text(", salg_type=");
    named(pen, &bytes.array::<14>(2)?);
    for (field, at) in [(", salg_feat=", 16), (", salg_mask=", 20)] {
        pen.text(field);
        pen.flags(&names::ALGORITHM_FLAGS, bytes.u32(at)?.into());
    }
    pen.text(", salg_name=");
    named(pen, bytes.from(ALGORITHM)?);
    Some(())
}

/// A string up to its zero byte; dots in place of the last byte of one that has none.
fn named<V: Values>(pen: &mut Pen<'_, V>, bytes: &[u8]) {
    match (bytes.iter().position(|byte| *byte == 0), bytes) {
        (Some(end), _) => pen.string(bytes.get(..end).unwrap_or(bytes)),
        (None, [known @ .., _]) => {
            pen.string(known);
            pen.text("...");
        }
        (None, []) => pen.string(bytes),
    }
}

/// `linux/nfc.h`: `struct sockaddr_nfc`, which `struct sockaddr_nfc_llcp` begins with.
fn near<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    const SERVICE: usize = 18;
    const LONGEST: usize = 63;
    pen.text(", dev_idx=");
    device(pen, bytes.u32(4)?);
    pen.text(", target_idx=");
    pen.hex(bytes.u32(8)?.into());
    pen.text(", nfc_protocol=");
    pen.name(&names::NEAR_PROTOCOLS, bytes.u32(12)?.into());
    let Some(length) = bytes.u64(88) else {
        if bytes.len() > 16 {
            pen.text(", ...");
        }
        return Some(());
    };
    for (field, at) in [(", dsap=", 16), (", ssap=", 17)] {
        pen.text(field);
        pen.name(&names::NEAR_SERVICES, bytes.u8(at)?.into());
    }
    pen.text(", service_name=");
    let told = usize::try_from(length).unwrap_or(LONGEST).min(LONGEST);
    pen.string(bytes.from(SERVICE)?.get(..told)?);
    pen.text(", service_name_len=");
    pen.number(length);
    Some(())
}

/// `linux/qrtr.h`.
fn router<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    pen.text(", sq_node=");
    pen.name(&names::ROUTER_NODES, bytes.u32(4)?.into());
    pen.text(", sq_port=");
    pen.name(&names::ROUTER_PORTS, bytes.u32(8)?.into());
    Some(())
}

/// `linux/if_xdp.h`.
fn express<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    const SHARED: u16 = 1;
    let flags = bytes.u16(2)?;
    pen.text(", sxdp_flags=");
    pen.flags(&names::EXPRESS_FLAGS, flags.into());
    pen.text(", sxdp_ifindex=");
    device(pen, bytes.u32(4)?);
    pen.text(", sxdp_queue_id=");
    pen.number(bytes.u32(8)?);
    let shared = bytes.u32(12)?;
    if flags & SHARED != 0 {
        pen.text(", sxdp_shared_umem_fd=");
        pen.descriptor(shared as i32, Lookup::Untracked);
    } else if shared != 0 {
        pen.text(", sxdp_shared_umem_fd=");
        pen.hex(shared.into());
    }
    Some(())
}

/// `linux/mctp.h`.
fn management<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    let padding = bytes.u16(2)?;
    if padding != 0 {
        pen.text(", __smctp_pad0=");
        pen.hex(padding.into());
    }
    pen.text(", smctp_network=");
    pen.name(&names::MANAGEMENT_NETWORKS, bytes.u32(4)?.into());
    pen.text(", smctp_addr={s_addr=");
    pen.name(&names::MANAGEMENT_ADDRESSES, bytes.u8(8)?.into());
    pen.text("}, smctp_type=");
    pen.hex(bytes.u8(9)?.into());
    pen.text(", smctp_tag=");
    pen.hex(bytes.u8(10)?.into());
    let padding = bytes.u8(11)?;
    if padding != 0 {
        pen.text(", __smctp_pad1=");
        pen.hex(padding.into());
    }
    Some(())
}
