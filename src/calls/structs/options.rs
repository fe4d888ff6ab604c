//! Options of sockets whose values are structures.

use super::Varying;
use super::netlink::form::Field;
use super::netlink::form::Form::{
    Address4, HardwareOf, Id, Interface, Named, NamedAddress6, Number, Padding, Pointer, Signed,
    Socket, Task, Varying as Varies,
};
use super::netlink::plain;
use super::pen::Pen;
use super::site::{Bytes, Site};
use crate::constants::tables as names;
use crate::names::Abi;
use crate::text::Values;

/// A structure that options of a level have.
struct Value {
    level: i32,
    options: &'static [i32],
    /// Whether it is what is asked for or what is set; `None` for both.
    is_asked: Option<bool>,
    /// How long the value is at least and at most, in bytes.
    sizes: (usize, usize),
    fields: &'static [Field],
    /// Whether it has another layout in a 32-bit program.
    is_wide: bool,
}

const ANY: usize = usize::MAX;

const fn value(
    (level, options): (i32, &'static [i32]),
    is_asked: Option<bool>,
    sizes: (usize, usize),
    fields: &'static [Field],
) -> Value {
    Value {
        level,
        options,
        is_asked,
        sizes,
        fields,
        is_wide: false,
    }
}

const fn wide(value: Value) -> Value {
    Value {
        is_wide: true,
        ..value
    }
}

const LINGER: &[Field] = &[("l_onoff", Signed(4)), ("l_linger", Signed(4))];
/// `SO_RCVTIMEO` and `SO_SNDTIMEO`, and those of programs whose times have 64 bits.
const TIMES: &[i32] = &[20, 21];
const NEWER_TIMES: &[i32] = &[66, 67];
const TIME: &[Field] = &[("tv_sec", Signed(8)), ("tv_usec", Number(8))];
const IN_GROUP: &[i32] = &[
    libc::IP_ADD_MEMBERSHIP,
    libc::IP_DROP_MEMBERSHIP,
    libc::IP_MULTICAST_IF,
];
const OF_SOURCE: &[i32] = &[
    libc::IP_ADD_SOURCE_MEMBERSHIP,
    libc::IP_DROP_SOURCE_MEMBERSHIP,
    libc::IP_BLOCK_SOURCE,
    libc::IP_UNBLOCK_SOURCE,
];
/// `MCAST_JOIN_GROUP` and `MCAST_LEAVE_GROUP` of linux/in.h.
const GROUPS: &[i32] = &[42, 45];
const GROUP: &[Field] = &[
    ("gr_interface", Interface),
    ("", Padding(4)),
    ("gr_group", Socket(128)),
];
/// `MCAST_BLOCK_SOURCE`, `MCAST_UNBLOCK_SOURCE`, `MCAST_JOIN_SOURCE_GROUP` and
/// `MCAST_LEAVE_SOURCE_GROUP`.
const SOURCES: &[i32] = &[43, 44, 46, 47];
const SOURCE: &[Field] = &[
    ("gsr_interface", Interface),
    ("", Padding(4)),
    ("gsr_group", Socket(128)),
    ("gsr_source", Socket(128)),
];
/// The options of IPv6 with a `struct ipv6_mreq`.
const MEMBERSHIPS: &[i32] = &[
    libc::IPV6_ADD_MEMBERSHIP,
    libc::IPV6_DROP_MEMBERSHIP,
    IPV6_JOIN_ANYCAST,
    IPV6_LEAVE_ANYCAST,
];
const IPV6_JOIN_ANYCAST: i32 = 27;
const IPV6_LEAVE_ANYCAST: i32 = 28;

const GIVEN: Option<bool> = Some(false);
const ASKED: Option<bool> = Some(true);

/// The first that fits.
#[rustfmt::skip]
static VALUES: &[Value] = &[
    value((libc::SOL_SOCKET, &[libc::SO_LINGER]), GIVEN, (8, ANY), LINGER),
    value((libc::SOL_SOCKET, &[libc::SO_LINGER]), ASKED, (8, 8), LINGER),
    value((libc::SOL_SOCKET, &[libc::SO_PEERCRED]), None, (12, 12), &[("pid", Task), ("uid", Id), ("gid", Id)]),
    wide(value((libc::SOL_SOCKET, TIMES), None, (16, ANY), TIME)),
    value((libc::SOL_SOCKET, NEWER_TIMES), None, (16, ANY), TIME),
    wide(value((libc::SOL_SOCKET, &[libc::SO_ATTACH_FILTER, libc::SO_ATTACH_REUSEPORT_CBPF]), GIVEN, (16, 16), &[
        ("len", Number(2)), ("", Padding(6)), ("filter", Pointer),
    ])),
    value((libc::SOL_IP, IN_GROUP), GIVEN, (12, ANY), &[
        ("imr_multiaddr", Address4), ("imr_address", Address4), ("imr_ifindex", Interface),
    ]),
    value((libc::SOL_IP, IN_GROUP), GIVEN, (8, 11), &[("imr_multiaddr", Address4), ("imr_interface", Address4)]),
    value((libc::SOL_IP, OF_SOURCE), GIVEN, (12, 12), &[
        ("imr_multiaddr", Address4), ("imr_interface", Address4), ("imr_sourceaddr", Address4),
    ]),
    wide(value((libc::SOL_IP, GROUPS), GIVEN, (136, ANY), GROUP)),
    wide(value((libc::SOL_IPV6, GROUPS), GIVEN, (136, ANY), GROUP)),
    wide(value((libc::SOL_IP, SOURCES), GIVEN, (264, 264), SOURCE)),
    wide(value((libc::SOL_IPV6, SOURCES), GIVEN, (264, ANY), SOURCE)),
    value((libc::SOL_IPV6, MEMBERSHIPS), GIVEN, (20, ANY), &[
        ("ipv6mr_multiaddr", NamedAddress6), ("ipv6mr_interface", Interface),
    ]),
    value((libc::SOL_PACKET, &[libc::PACKET_ADD_MEMBERSHIP, libc::PACKET_DROP_MEMBERSHIP]), GIVEN, (16, ANY), &[
        ("mr_ifindex", Interface), ("mr_type", Named(2, &names::PACKET_MEMBERSHIPS)), ("mr_alen", Number(2)),
        ("mr_address", HardwareOf(8)),
    ]),
    value((libc::SOL_PACKET, &[libc::PACKET_RX_RING, libc::PACKET_TX_RING]), GIVEN, (16, 28), &[
        ("tp_block_size", Number(4)), ("tp_block_nr", Number(4)), ("tp_frame_size", Number(4)),
        ("tp_frame_nr", Number(4)), ("tp_retire_blk_tov", Number(4)), ("tp_sizeof_priv", Number(4)),
        ("tp_feature_req_word", Number(4)),
    ]),
    value((libc::SOL_PACKET, &[libc::PACKET_STATISTICS]), ASKED, (4, 12), &[
        ("tp_packets", Varies(4, Varying::Machine)), ("tp_drops", Varies(4, Varying::Machine)),
        ("tp_freeze_q_cnt", Varies(4, Varying::Machine)),
    ]),
];

/// The value of such an option: `None` where it is none, and nothing in it where it cannot be
/// written.
pub(super) fn structure<V: Values>(
    pen: &mut Pen<'_, V>,
    bytes: Bytes<'_>,
    (level, option, is_asked): (i32, i32, bool),
    site: Site<'_>,
) -> Option<Option<()>> {
    let length = match is_asked {
        true => bytes.len(),
        false => site.word(4)? as u32 as usize,
    };
    let is_it = |value: &&Value| {
        let (least, most) = value.sizes;
        value.level == level
            && value.options.contains(&option)
            && value.is_asked.is_none_or(|of| of == is_asked)
            && (least..=most).contains(&length)
            && !(value.is_wide && site.call.abi != Abi::native())
    };
    let found = VALUES.iter().find(is_it)?;
    if bytes.len() < found.sizes.0 {
        return Some(None);
    }
    pen.text("{");
    let written = plain(pen, found.fields, bytes, site);
    pen.text("}");
    Some(written)
}
