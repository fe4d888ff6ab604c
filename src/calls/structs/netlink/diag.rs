//! What questions about sockets and their answers hold (`linux/inet_diag.h` and its like).

use super::super::Varying;
use super::form::{
    Attributes, Field, Form,
    Form::{
        Address, AnyWidth, At, Bits, Device, Hex, Id, Inner, Interface, Named, Number, Padding,
        Peer, Port, Row, Rows, Structure, Text,
    },
    Header,
};
use crate::constants::tables as names;

const FAMILY: Form = Named(1, &names::ADDRESS_FAMILIES);
const STATE: Form = Named(1, &names::SOCKET_STATES);
const STATES: Form = Named(4, &names::DIAG_STATES);
const PROTOCOL: Form = AnyWidth(&Named(1, &names::INET_PROTOCOLS));
/// The number of a socket's inode.
const INODE: Form = Form::Varying(4, Varying::Machine);
const MEMORY: Form = Rows(
    &Form::Varying(4, Varying::Machine),
    Some(&names::MEMORY_FIGURES),
);
/// What the kernel made for a socket.
const COOKIE: Form = Row(2, &Form::Varying(4, Varying::Machine));
/// How much is on its way.
const QUEUED: Form = Form::Varying(4, Varying::Machine);

/// What a message about a socket of this family begins with.
pub(super) fn header(name: &str, is_request: bool, family: &str) -> Option<&'static Header> {
    let is_old = matches!(name, "TCPDIAG_GETSOCK" | "DCCPDIAG_GETSOCK");
    Some(match (family, is_request) {
        ("AF_UNIX", true) => &UNIX_ASKED,
        ("AF_UNIX", false) => &UNIX,
        ("AF_INET" | "AF_INET6", true) if is_old => &OLD_ASKED,
        ("AF_INET" | "AF_INET6", true) => &ASKED,
        ("AF_INET" | "AF_INET6", false) => &INTERNET,
        ("AF_NETLINK", true) => &NETLINK_ASKED,
        ("AF_NETLINK", false) => &NETLINK,
        ("AF_PACKET", true) => &PACKET_ASKED,
        ("AF_PACKET", false) => &PACKET,
        _ => return None,
    })
}

/// `struct inet_diag_sockid`.
const SOCKET: Form = Inner(&[
    ("idiag_sport", Port),
    ("idiag_dport", Port),
    ("idiag_src", Address),
    ("idiag_dst", Address),
    ("idiag_if", Interface),
    ("idiag_cookie", COOKIE),
]);

/// `struct inet_diag_req`.
static OLD_ASKED: Header = Header {
    fields: &[
        ("idiag_family", FAMILY),
        ("idiag_src_len", Number(1)),
        ("idiag_dst_len", Number(1)),
        ("idiag_ext", Named(1, &names::DIAG_EXTENSIONS)),
        ("id", SOCKET),
        ("idiag_states", STATES),
        ("idiag_dbs", Number(4)),
    ],
    attributes: Some(&ASKED_FOR),
};

/// `struct inet_diag_req_v2`.
static ASKED: Header = Header {
    fields: &[
        ("sdiag_family", FAMILY),
        ("sdiag_protocol", Named(1, &names::INET_PROTOCOLS)),
        ("idiag_ext", Named(1, &names::DIAG_EXTENSIONS)),
        ("", Padding(1)),
        ("idiag_states", STATES),
        ("id", SOCKET),
    ],
    attributes: Some(&ASKED_FOR),
};

static ASKED_FOR: Attributes = Attributes {
    names: &names::DIAG_REQUEST_ATTRIBUTES,
    forms: &[("INET_DIAG_REQ_PROTOCOL", PROTOCOL)],
};

/// `struct inet_diag_msg`.
static INTERNET: Header = Header {
    fields: &[
        ("idiag_family", FAMILY),
        ("idiag_state", STATE),
        ("idiag_timer", Number(1)),
        ("idiag_retrans", Number(1)),
        ("id", SOCKET),
        ("idiag_expires", Form::Varying(4, Varying::Duration)),
        ("idiag_rqueue", QUEUED),
        ("idiag_wqueue", QUEUED),
        ("idiag_uid", Number(4)),
        ("idiag_inode", INODE),
    ],
    attributes: Some(&Attributes {
        names: &names::DIAG_ATTRIBUTES,
        forms: &[
            ("INET_DIAG_MEMINFO", Structure(BUFFERS, 16)),
            ("INET_DIAG_VEGASINFO", Structure(VEGAS, 16)),
            ("INET_DIAG_CONG", Text),
            ("INET_DIAG_TOS", Number(1)),
            ("INET_DIAG_TCLASS", Number(1)),
            ("INET_DIAG_SKMEMINFO", MEMORY),
            ("INET_DIAG_SHUTDOWN", Hex(1)),
            ("INET_DIAG_DCTCPINFO", Structure(DATA_CENTRE, 16)),
            ("INET_DIAG_PROTOCOL", PROTOCOL),
            ("INET_DIAG_SKV6ONLY", Number(1)),
            ("INET_DIAG_MARK", Number(4)),
            ("INET_DIAG_BBRINFO", Structure(BOTTLENECK, 20)),
            ("INET_DIAG_CLASS_ID", Number(4)),
            ("INET_DIAG_CGROUP_ID", Form::Varying(8, Varying::Machine)),
            ("INET_DIAG_SOCKOPT", Bits(SETTINGS)),
        ],
    }),
};

/// `struct inet_diag_meminfo`.
const BUFFERS: &[Field] = &[
    ("idiag_rmem", QUEUED),
    ("idiag_wmem", QUEUED),
    ("idiag_fmem", QUEUED),
    ("idiag_tmem", QUEUED),
];

/// `struct inet_diag_sockopt`.
const SETTINGS: &[&str] = &[
    "recverr",
    "is_icsk",
    "freebind",
    "hdrincl",
    "mc_loop",
    "transparent",
    "mc_all",
    "nodefrag",
    "bind_address_no_port",
    "recverr_rfc4884",
    "defer_connect",
];

/// `struct tcpvegas_info`.
const VEGAS: &[Field] = &[
    ("tcpv_enabled", Number(4)),
    ("tcpv_rttcnt", QUEUED),
    ("tcpv_rtt", QUEUED),
    ("tcpv_minrtt", QUEUED),
];

/// `struct tcp_dctcp_info`.
const DATA_CENTRE: &[Field] = &[
    ("dctcp_enabled", Number(2)),
    ("dctcp_ce_state", Number(2)),
    ("dctcp_alpha", QUEUED),
    ("dctcp_ab_ecn", QUEUED),
    ("dctcp_ab_tot", QUEUED),
];

/// `struct tcp_bbr_info`.
const BOTTLENECK: &[Field] = &[
    ("bbr_bw_lo", Hex(4)),
    ("bbr_bw_hi", Hex(4)),
    ("bbr_min_rtt", QUEUED),
    ("bbr_pacing_gain", QUEUED),
    ("bbr_cwnd_gain", QUEUED),
];

/// `struct unix_diag_req`.
static UNIX_ASKED: Header = Header {
    fields: &[
        ("sdiag_family", FAMILY),
        ("sdiag_protocol", Number(1)),
        ("", Padding(2)),
        ("udiag_states", STATES),
        ("udiag_ino", INODE),
        ("udiag_show", Named(4, &names::DIAG_UNIX_PARTS)),
        ("udiag_cookie", COOKIE),
    ],
    attributes: None,
};

/// `struct unix_diag_msg`.
static UNIX: Header = Header {
    fields: &[
        ("udiag_family", FAMILY),
        ("udiag_type", Named(1, &names::SOCKET_TYPES)),
        ("udiag_state", STATE),
        ("", Padding(1)),
        ("udiag_ino", INODE),
        ("udiag_cookie", COOKIE),
    ],
    attributes: Some(&Attributes {
        names: &names::DIAG_UNIX_ATTRIBUTES,
        forms: &[
            ("UNIX_DIAG_NAME", Text),
            ("UNIX_DIAG_VFS", Structure(FILE, 8)),
            ("UNIX_DIAG_PEER", INODE),
            ("UNIX_DIAG_ICONS", Rows(&INODE, None)),
            ("UNIX_DIAG_RQLEN", Structure(QUEUES, 8)),
            ("UNIX_DIAG_MEMINFO", MEMORY),
            ("UNIX_DIAG_SHUTDOWN", Number(1)),
            ("UNIX_DIAG_UID", Id),
        ],
    }),
};

/// `struct unix_diag_vfs`, told the other way round.
const FILE: &[Field] = &[
    ("udiag_vfs_dev", At(4, &Device)),
    ("udiag_vfs_ino", INODE),
    ("", Padding(4)),
];

/// `struct unix_diag_rqlen`.
const QUEUES: &[Field] = &[("udiag_rqueue", QUEUED), ("udiag_wqueue", QUEUED)];

/// `struct netlink_diag_req`.
static NETLINK_ASKED: Header = Header {
    fields: &[
        ("sdiag_family", FAMILY),
        ("sdiag_protocol", Named(1, &names::NETLINK_PROTOCOLS_ASKED)),
        ("", Padding(2)),
        ("ndiag_ino", INODE),
        ("ndiag_show", Named(4, &names::DIAG_NETLINK_PARTS)),
        ("ndiag_cookie", COOKIE),
    ],
    attributes: None,
};

/// `struct netlink_diag_msg`.
static NETLINK: Header = Header {
    fields: &[
        ("ndiag_family", FAMILY),
        ("ndiag_type", Named(1, &names::SOCKET_TYPES)),
        ("ndiag_protocol", Named(1, &names::NETLINK_PROTOCOLS)),
        ("ndiag_state", Named(1, &names::NETLINK_STATES)),
        ("ndiag_portid", Peer),
        ("ndiag_dst_portid", Peer),
        ("ndiag_dst_group", Number(4)),
        ("ndiag_ino", INODE),
        ("ndiag_cookie", COOKIE),
    ],
    attributes: Some(&Attributes {
        names: &names::DIAG_NETLINK_ATTRIBUTES,
        forms: &[
            ("NETLINK_DIAG_MEMINFO", MEMORY),
            ("NETLINK_DIAG_GROUPS", Rows(&Form::Digits(8), None)),
            ("NETLINK_DIAG_RX_RING", Structure(RING, 16)),
            ("NETLINK_DIAG_TX_RING", Structure(RING, 16)),
            ("NETLINK_DIAG_FLAGS", Named(4, &names::DIAG_NETLINK_FLAGS)),
        ],
    }),
};

/// `struct netlink_diag_ring`.
const RING: &[Field] = &[
    ("ndr_block_size", Number(4)),
    ("ndr_block_nr", Number(4)),
    ("ndr_frame_size", Number(4)),
    ("ndr_frame_nr", Number(4)),
];

/// `struct packet_diag_req`.
static PACKET_ASKED: Header = Header {
    fields: &[
        ("sdiag_family", FAMILY),
        ("sdiag_protocol", Hex(1)),
        ("", Padding(2)),
        ("pdiag_ino", INODE),
        ("pdiag_show", Named(4, &names::DIAG_PACKET_PARTS)),
        ("pdiag_cookie", COOKIE),
    ],
    attributes: None,
};

/// `struct packet_diag_msg`.
static PACKET: Header = Header {
    fields: &[
        ("pdiag_family", FAMILY),
        ("pdiag_type", Named(1, &names::SOCKET_TYPES)),
        ("pdiag_num", Named(2, &names::ETHER_TYPES)),
        ("pdiag_ino", INODE),
        ("pdiag_cookie", COOKIE),
    ],
    attributes: Some(&Attributes {
        names: &names::DIAG_PACKET_ATTRIBUTES,
        forms: &[
            ("PACKET_DIAG_INFO", Structure(PACKET_INFORMATION, 24)),
            ("PACKET_DIAG_RX_RING", Structure(PACKET_RING, 28)),
            ("PACKET_DIAG_TX_RING", Structure(PACKET_RING, 28)),
            ("PACKET_DIAG_FANOUT", Number(4)),
            ("PACKET_DIAG_UID", Id),
            ("PACKET_DIAG_MEMINFO", MEMORY),
        ],
    }),
};

/// `struct packet_diag_info`.
const PACKET_INFORMATION: &[Field] = &[
    ("pdi_index", Interface),
    ("pdi_version", Named(4, &names::PACKET_VERSIONS)),
    ("pdi_reserve", Number(4)),
    ("pdi_copy_thresh", Number(4)),
    ("pdi_tstamp", Number(4)),
    ("pdi_flags", Named(4, &names::PACKET_FLAGS)),
];

/// `struct packet_diag_ring`.
const PACKET_RING: &[Field] = &[
    ("pdr_block_size", Number(4)),
    ("pdr_block_nr", Number(4)),
    ("pdr_frame_size", Number(4)),
    ("pdr_frame_nr", Number(4)),
    ("pdr_retire_tmo", Number(4)),
    ("pdr_sizeof_priv", Number(4)),
    ("pdr_features", Number(4)),
];
