//! What messages about links hold (`linux/if_link.h`, `linux/if_bridge.h`).

use super::super::Varying;
use super::form::{
    Attributes, Field, Form,
    Form::{
        Address6, AnyWidth, Descriptor, Hardware, Hex, Id, Interface, Kind, Mac, Named, Nested,
        Number, OfFamily, OfKind, Padding, Row, Rows, Signed, Structure, Text,
    },
    Header,
};
use crate::constants::tables as names;

/// What the traffic of a device has come to.
const COUNT: Form = Form::Varying(4, Varying::Machine);
const LONG_COUNT: Form = Form::Varying(8, Varying::Machine);
/// A length of time in ticks.
const TICKS: Form = AnyWidth(&Number(8));
/// What is left of one.
const LEFT: Form = AnyWidth(&Form::Varying(8, Varying::Duration));

/// `struct ifinfomsg`.
pub(super) static HEADER: Header = Header {
    fields: &[
        ("ifi_family", Named(1, &names::ADDRESS_FAMILIES)),
        ("", Padding(1)),
        ("ifi_type", Named(2, &names::HARDWARE_TYPES)),
        ("ifi_index", Interface),
        ("ifi_flags", Named(4, &names::INTERFACE_FLAGS)),
        ("ifi_change", Hex(4)),
    ],
    attributes: Some(&LINK),
};

static LINK: Attributes = Attributes {
    names: &names::LINK_ATTRIBUTES,
    forms: &[
        ("IFLA_ADDRESS", Hardware),
        ("IFLA_BROADCAST", Hardware),
        ("IFLA_IFNAME", Text),
        ("IFLA_MTU", Number(4)),
        ("IFLA_LINK", Number(4)),
        ("IFLA_QDISC", Text),
        ("IFLA_STATS", Structure(&counts(COUNT), 92)),
        ("IFLA_MASTER", Number(4)),
        (
            "IFLA_PROTINFO",
            OfFamily(&[("AF_BRIDGE", Nested(&PORT)), ("AF_INET6", Nested(&IPV6))]),
        ),
        ("IFLA_TXQLEN", Number(4)),
        ("IFLA_MAP", Structure(MAP, 28)),
        ("IFLA_WEIGHT", Number(4)),
        ("IFLA_OPERSTATE", Number(1)),
        ("IFLA_LINKMODE", Number(1)),
        ("IFLA_LINKINFO", Nested(&INFORMATION)),
        ("IFLA_NET_NS_PID", Number(4)),
        ("IFLA_IFALIAS", Text),
        ("IFLA_NUM_VF", Number(4)),
        ("IFLA_STATS64", Structure(&counts(LONG_COUNT), 184)),
        (
            "IFLA_AF_SPEC",
            OfFamily(&[("AF_BRIDGE", Nested(&OF_BRIDGE)), ("", Nested(&FAMILIES))]),
        ),
        ("IFLA_GROUP", Number(4)),
        ("IFLA_NET_NS_FD", Descriptor),
        ("IFLA_EXT_MASK", Named(4, &names::LINK_FILTERS)),
        ("IFLA_PROMISCUITY", Number(4)),
        ("IFLA_NUM_TX_QUEUES", Number(4)),
        ("IFLA_NUM_RX_QUEUES", Number(4)),
        ("IFLA_CARRIER", Number(1)),
        ("IFLA_CARRIER_CHANGES", COUNT),
        ("IFLA_LINK_NETNSID", Signed(4)),
        ("IFLA_PHYS_PORT_NAME", Text),
        ("IFLA_PROTO_DOWN", Number(1)),
        ("IFLA_GSO_MAX_SEGS", Number(4)),
        ("IFLA_GSO_MAX_SIZE", Number(4)),
        ("IFLA_XDP", Nested(&XDP)),
        ("IFLA_EVENT", Named(4, &names::LINK_EVENTS)),
        ("IFLA_NEW_NETNSID", Signed(4)),
        ("IFLA_IF_NETNSID", Signed(4)),
        ("IFLA_CARRIER_UP_COUNT", COUNT),
        ("IFLA_CARRIER_DOWN_COUNT", COUNT),
        ("IFLA_NEW_IFINDEX", Interface),
        ("IFLA_MIN_MTU", Number(4)),
        ("IFLA_MAX_MTU", Number(4)),
        ("IFLA_PROP_LIST", Nested(&PROPERTIES)),
        ("IFLA_ALT_IFNAME", Text),
        ("IFLA_PERM_ADDRESS", Hardware),
        ("IFLA_PROTO_DOWN_REASON", Nested(&DOWN)),
        ("IFLA_PARENT_DEV_NAME", Text),
        ("IFLA_PARENT_DEV_BUS_NAME", Text),
        ("IFLA_GRO_MAX_SIZE", Number(4)),
        ("IFLA_TSO_MAX_SIZE", Number(4)),
        ("IFLA_TSO_MAX_SEGS", Number(4)),
        ("IFLA_ALLMULTI", Number(4)),
    ],
};

/// `struct rtnl_link_stats` and `struct rtnl_link_stats64`.
pub(super) const fn counts(form: Form) -> [Field; 25] {
    [
        ("rx_packets", form),
        ("tx_packets", form),
        ("rx_bytes", form),
        ("tx_bytes", form),
        ("rx_errors", form),
        ("tx_errors", form),
        ("rx_dropped", form),
        ("tx_dropped", form),
        ("multicast", form),
        ("collisions", form),
        ("rx_length_errors", form),
        ("rx_over_errors", form),
        ("rx_crc_errors", form),
        ("rx_frame_errors", form),
        ("rx_fifo_errors", form),
        ("rx_missed_errors", form),
        ("tx_aborted_errors", form),
        ("tx_carrier_errors", form),
        ("tx_fifo_errors", form),
        ("tx_heartbeat_errors", form),
        ("tx_window_errors", form),
        ("rx_compressed", form),
        ("tx_compressed", form),
        ("rx_nohandler", form),
        // Of 64 bits alone.
        ("rx_otherhost_dropped", LONG_COUNT),
    ]
}

/// `struct rtnl_link_ifmap`.
const MAP: &[Field] = &[
    ("mem_start", Hex(8)),
    ("mem_end", Hex(8)),
    ("base_addr", Hex(8)),
    ("irq", Number(2)),
    ("dma", Number(1)),
    ("port", Number(1)),
];

static PROPERTIES: Attributes = Attributes {
    names: &names::LINK_ATTRIBUTES,
    forms: &[("IFLA_ALT_IFNAME", Text)],
};

static DOWN: Attributes = Attributes {
    names: &names::LINK_DOWN_REASONS,
    forms: &[
        ("IFLA_PROTO_DOWN_REASON_MASK", Hex(4)),
        ("IFLA_PROTO_DOWN_REASON_VALUE", Hex(4)),
    ],
};

static XDP: Attributes = Attributes {
    names: &names::LINK_XDP,
    forms: &[
        ("IFLA_XDP_FD", Descriptor),
        ("IFLA_XDP_ATTACHED", Named(1, &names::XDP_ATTACHED)),
        ("IFLA_XDP_FLAGS", Named(4, &names::XDP_FLAGS)),
        ("IFLA_XDP_PROG_ID", Number(4)),
        ("IFLA_XDP_DRV_PROG_ID", Number(4)),
        ("IFLA_XDP_SKB_PROG_ID", Number(4)),
        ("IFLA_XDP_HW_PROG_ID", Number(4)),
        ("IFLA_XDP_EXPECTED_FD", Descriptor),
    ],
};

static FAMILIES: Attributes = Attributes {
    names: &names::ADDRESS_FAMILIES,
    forms: &[
        ("AF_INET", Nested(&IPV4)),
        ("AF_INET6", Nested(&IPV6)),
        ("AF_MCTP", Nested(&MCTP)),
    ],
};

static IPV4: Attributes = Attributes {
    names: &names::LINK_IPV4,
    forms: &[(
        "IFLA_INET_CONF",
        Rows(&Signed(4), Some(&names::IPV4_SETTINGS)),
    )],
};

static IPV6: Attributes = Attributes {
    names: &names::LINK_IPV6,
    forms: &[
        ("IFLA_INET6_FLAGS", Named(4, &names::IPV6_FLAGS)),
        (
            "IFLA_INET6_CONF",
            Rows(&Signed(4), Some(&names::IPV6_SETTINGS)),
        ),
        // The order of them is not the same in all kernels (`IPSTATS_MIB_NUM`).
        ("IFLA_INET6_STATS", Rows(&LONG_COUNT, None)),
        ("IFLA_INET6_CACHEINFO", Structure(IPV6_TIMES, 16)),
        (
            "IFLA_INET6_ICMP6STATS",
            Rows(&LONG_COUNT, Some(&names::ICMP6_STATISTICS)),
        ),
        ("IFLA_INET6_TOKEN", Address6),
        ("IFLA_INET6_ADDR_GEN_MODE", Named(1, &names::IPV6_MODES)),
        ("IFLA_INET6_RA_MTU", Number(4)),
    ],
};

/// `struct ifla_cacheinfo`. The kernel chooses the time of reachability at random.
const IPV6_TIMES: &[Field] = &[
    ("max_reasm_len", Number(4)),
    ("tstamp", Form::Varying(4, Varying::Time)),
    ("reachable_time", Form::Varying(4, Varying::Duration)),
    ("retrans_time", Number(4)),
];

static MCTP: Attributes = Attributes {
    names: &names::LINK_MCTP,
    forms: &[("IFLA_MCTP_NET", Number(4))],
};

static INFORMATION: Attributes = Attributes {
    names: &names::LINK_INFORMATION,
    forms: &[
        ("IFLA_INFO_KIND", Kind),
        (
            "IFLA_INFO_DATA",
            OfKind(&[(b"bridge", Nested(&BRIDGE)), (b"tun", Nested(&TUN))]),
        ),
        ("IFLA_INFO_SLAVE_KIND", Kind),
        (
            "IFLA_INFO_SLAVE_DATA",
            OfKind(&[(b"bridge", Nested(&PORT))]),
        ),
    ],
};

static TUN: Attributes = Attributes {
    names: &names::LINK_TUN,
    forms: &[
        ("IFLA_TUN_OWNER", Id),
        ("IFLA_TUN_GROUP", Id),
        ("IFLA_TUN_TYPE", Named(1, &names::TUN_TYPES)),
        ("IFLA_TUN_PI", Number(1)),
        ("IFLA_TUN_VNET_HDR", Number(1)),
        ("IFLA_TUN_PERSIST", Number(1)),
        ("IFLA_TUN_MULTI_QUEUE", Number(1)),
        ("IFLA_TUN_NUM_QUEUES", Number(4)),
        ("IFLA_TUN_NUM_DISABLED_QUEUES", Number(4)),
    ],
};

/// `struct ifla_bridge_id`.
const BRIDGE_ID: Form = Structure(&[("prio", Row(2, &Number(1))), ("addr", Mac)], 8);

static BRIDGE: Attributes = Attributes {
    names: &names::LINK_BRIDGE,
    forms: &[
        ("IFLA_BR_FORWARD_DELAY", TICKS),
        ("IFLA_BR_HELLO_TIME", TICKS),
        ("IFLA_BR_MAX_AGE", TICKS),
        ("IFLA_BR_AGEING_TIME", TICKS),
        ("IFLA_BR_STP_STATE", Number(4)),
        ("IFLA_BR_PRIORITY", Number(2)),
        ("IFLA_BR_VLAN_FILTERING", Number(1)),
        ("IFLA_BR_VLAN_PROTOCOL", Named(2, &names::PACKET_PROTOCOLS)),
        ("IFLA_BR_GROUP_FWD_MASK", Hex(2)),
        ("IFLA_BR_ROOT_ID", BRIDGE_ID),
        ("IFLA_BR_BRIDGE_ID", BRIDGE_ID),
        ("IFLA_BR_ROOT_PORT", Number(2)),
        ("IFLA_BR_ROOT_PATH_COST", Number(4)),
        ("IFLA_BR_TOPOLOGY_CHANGE", Number(1)),
        ("IFLA_BR_TOPOLOGY_CHANGE_DETECTED", Number(1)),
        ("IFLA_BR_HELLO_TIMER", LEFT),
        ("IFLA_BR_TCN_TIMER", LEFT),
        ("IFLA_BR_TOPOLOGY_CHANGE_TIMER", LEFT),
        ("IFLA_BR_GC_TIMER", LEFT),
        ("IFLA_BR_GROUP_ADDR", Hardware),
        ("IFLA_BR_MCAST_ROUTER", Number(1)),
        ("IFLA_BR_MCAST_SNOOPING", Number(1)),
        ("IFLA_BR_MCAST_QUERY_USE_IFADDR", Number(1)),
        ("IFLA_BR_MCAST_QUERIER", Number(1)),
        ("IFLA_BR_MCAST_HASH_ELASTICITY", Number(4)),
        ("IFLA_BR_MCAST_HASH_MAX", Number(4)),
        ("IFLA_BR_MCAST_LAST_MEMBER_CNT", Number(4)),
        ("IFLA_BR_MCAST_STARTUP_QUERY_CNT", Number(4)),
        ("IFLA_BR_MCAST_LAST_MEMBER_INTVL", TICKS),
        ("IFLA_BR_MCAST_MEMBERSHIP_INTVL", TICKS),
        ("IFLA_BR_MCAST_QUERIER_INTVL", TICKS),
        ("IFLA_BR_MCAST_QUERY_INTVL", TICKS),
        ("IFLA_BR_MCAST_QUERY_RESPONSE_INTVL", TICKS),
        ("IFLA_BR_MCAST_STARTUP_QUERY_INTVL", TICKS),
        ("IFLA_BR_NF_CALL_IPTABLES", Number(1)),
        ("IFLA_BR_NF_CALL_IP6TABLES", Number(1)),
        ("IFLA_BR_NF_CALL_ARPTABLES", Number(1)),
        ("IFLA_BR_VLAN_DEFAULT_PVID", Number(2)),
        ("IFLA_BR_VLAN_STATS_ENABLED", Number(1)),
        ("IFLA_BR_MCAST_STATS_ENABLED", Number(1)),
        ("IFLA_BR_MCAST_IGMP_VERSION", Number(1)),
        ("IFLA_BR_MCAST_MLD_VERSION", Number(1)),
        ("IFLA_BR_VLAN_STATS_PER_PORT", Number(1)),
        ("IFLA_BR_MULTI_BOOLOPT", Structure(OPTIONS, 8)),
    ],
};

/// `struct br_boolopt_multi`.
const OPTIONS: &[Field] = &[
    ("optval", Named(4, &names::BRIDGE_OPTIONS)),
    ("optmask", Named(4, &names::BRIDGE_OPTIONS)),
];

/// What a port of a bridge is like.
static PORT: Attributes = Attributes {
    names: &names::LINK_BRIDGE_PORT,
    forms: &[
        ("IFLA_BRPORT_STATE", Number(1)),
        ("IFLA_BRPORT_PRIORITY", Number(2)),
        ("IFLA_BRPORT_COST", Number(4)),
        ("IFLA_BRPORT_MODE", Number(1)),
        ("IFLA_BRPORT_GUARD", Number(1)),
        ("IFLA_BRPORT_PROTECT", Number(1)),
        ("IFLA_BRPORT_FAST_LEAVE", Number(1)),
        ("IFLA_BRPORT_LEARNING", Number(1)),
        ("IFLA_BRPORT_UNICAST_FLOOD", Number(1)),
        ("IFLA_BRPORT_PROXYARP", Number(1)),
        ("IFLA_BRPORT_LEARNING_SYNC", Number(1)),
        ("IFLA_BRPORT_PROXYARP_WIFI", Number(1)),
        ("IFLA_BRPORT_ROOT_ID", BRIDGE_ID),
        ("IFLA_BRPORT_BRIDGE_ID", BRIDGE_ID),
        ("IFLA_BRPORT_DESIGNATED_PORT", Number(2)),
        ("IFLA_BRPORT_DESIGNATED_COST", Number(2)),
        ("IFLA_BRPORT_ID", Number(2)),
        ("IFLA_BRPORT_NO", Number(2)),
        ("IFLA_BRPORT_TOPOLOGY_CHANGE_ACK", Number(1)),
        ("IFLA_BRPORT_CONFIG_PENDING", Number(1)),
        ("IFLA_BRPORT_MESSAGE_AGE_TIMER", LEFT),
        ("IFLA_BRPORT_FORWARD_DELAY_TIMER", LEFT),
        ("IFLA_BRPORT_HOLD_TIMER", LEFT),
        ("IFLA_BRPORT_MULTICAST_ROUTER", Number(1)),
        ("IFLA_BRPORT_MCAST_FLOOD", Number(1)),
        ("IFLA_BRPORT_MCAST_TO_UCAST", Number(1)),
        ("IFLA_BRPORT_VLAN_TUNNEL", Number(1)),
        ("IFLA_BRPORT_BCAST_FLOOD", Number(1)),
        ("IFLA_BRPORT_GROUP_FWD_MASK", Hex(2)),
        ("IFLA_BRPORT_NEIGH_SUPPRESS", Number(1)),
        ("IFLA_BRPORT_ISOLATED", Number(1)),
        ("IFLA_BRPORT_BACKUP_PORT", Interface),
        ("IFLA_BRPORT_MRP_RING_OPEN", Number(1)),
        ("IFLA_BRPORT_MRP_IN_OPEN", Number(1)),
        ("IFLA_BRPORT_MCAST_EHT_HOSTS_LIMIT", Number(4)),
        ("IFLA_BRPORT_MCAST_EHT_HOSTS_CNT", Number(4)),
        ("IFLA_BRPORT_LOCKED", Number(1)),
    ],
};

/// `IFLA_AF_SPEC` of a bridge.
static OF_BRIDGE: Attributes = Attributes {
    names: &names::LINK_OF_BRIDGE,
    forms: &[
        ("IFLA_BRIDGE_FLAGS", Named(2, &names::BRIDGE_FLAGS)),
        ("IFLA_BRIDGE_MODE", Named(2, &names::BRIDGE_MODES)),
        ("IFLA_BRIDGE_VLAN_INFO", Structure(VLAN, 4)),
    ],
};

/// `struct bridge_vlan_info`.
const VLAN: &[Field] = &[
    ("flags", Named(2, &names::BRIDGE_VLAN_FLAGS)),
    ("vid", Number(2)),
];
