//! What messages about statistics hold (`linux/if_link.h`, `linux/if_bridge.h`,
//! `linux/if_bonding.h`, `linux/mpls.h`).

use super::form::Form::{Hex, Interface, Named, Nested, NotZero, Number, Row, Structure};
use super::form::{Attributes, Field, Form, Header};
use super::link::counts;
use super::route::{FAMILY, LONG_COUNT};
use crate::constants::tables as names;

/// `struct if_stats_msg`.
pub(super) static HEADER: Header = Header {
    fields: &[
        ("family", FAMILY),
        ("pad1", NotZero(&Hex(1))),
        ("pad2", NotZero(&Hex(2))),
        ("ifindex", Interface),
        ("filter_mask", Named(4, &names::STATISTICS_FILTERS)),
    ],
    attributes: Some(&Attributes {
        names: &names::STATISTICS_ATTRIBUTES,
        forms: &[
            ("IFLA_STATS_LINK_64", OF_LINK),
            ("IFLA_STATS_LINK_XSTATS", Nested(&FURTHER)),
            ("IFLA_STATS_LINK_XSTATS_SLAVE", Nested(&FURTHER)),
            ("IFLA_STATS_LINK_OFFLOAD_XSTATS", Nested(&OFFLOADED)),
            ("IFLA_STATS_AF_SPEC", Nested(&FAMILIES)),
        ],
    }),
};

/// `struct rtnl_link_stats64`, with what has been added to it or without.
const OF_LINK: Form = Structure(&counts(LONG_COUNT), 184);

static FURTHER: Attributes = Attributes {
    names: &names::STATISTICS_TYPES,
    forms: &[
        ("LINK_XSTATS_TYPE_BRIDGE", Nested(&BRIDGE)),
        ("LINK_XSTATS_TYPE_BOND", Nested(&BOND)),
    ],
};

static BRIDGE: Attributes = Attributes {
    names: &names::STATISTICS_OF_BRIDGE,
    forms: &[
        ("BRIDGE_XSTATS_VLAN", Structure(VLAN, 40)),
        ("BRIDGE_XSTATS_MCAST", Structure(MULTICAST, 240)),
        ("BRIDGE_XSTATS_STP", Structure(SPANNING_TREE, 48)),
    ],
};

/// `struct bridge_vlan_xstats`.
const VLAN: &[Field] = &[
    ("rx_bytes", LONG_COUNT),
    ("rx_packets", LONG_COUNT),
    ("tx_bytes", LONG_COUNT),
    ("tx_packets", LONG_COUNT),
    ("vid", Number(2)),
    ("flags", Named(2, &names::BRIDGE_VLAN_FLAGS)),
    ("pad2", NotZero(&Hex(4))),
];

/// What was received and what was sent.
const BOTH_WAYS: Form = Row(2, &LONG_COUNT);

/// `struct br_mcast_stats`.
const MULTICAST: &[Field] = &[
    ("igmp_v1queries", BOTH_WAYS),
    ("igmp_v2queries", BOTH_WAYS),
    ("igmp_v3queries", BOTH_WAYS),
    ("igmp_leaves", BOTH_WAYS),
    ("igmp_v1reports", BOTH_WAYS),
    ("igmp_v2reports", BOTH_WAYS),
    ("igmp_v3reports", BOTH_WAYS),
    ("igmp_parse_errors", LONG_COUNT),
    ("mld_v1queries", BOTH_WAYS),
    ("mld_v2queries", BOTH_WAYS),
    ("mld_leaves", BOTH_WAYS),
    ("mld_v1reports", BOTH_WAYS),
    ("mld_v2reports", BOTH_WAYS),
    ("mld_parse_errors", LONG_COUNT),
    ("mcast_bytes", BOTH_WAYS),
    ("mcast_packets", BOTH_WAYS),
];

/// `struct bridge_stp_xstats`.
const SPANNING_TREE: &[Field] = &[
    ("transition_blk", LONG_COUNT),
    ("transition_fwd", LONG_COUNT),
    ("rx_bpdu", LONG_COUNT),
    ("tx_bpdu", LONG_COUNT),
    ("rx_tcn", LONG_COUNT),
    ("tx_tcn", LONG_COUNT),
];

static BOND: Attributes = Attributes {
    names: &names::STATISTICS_OF_BOND,
    forms: &[("BOND_XSTATS_3AD", Nested(&AGGREGATION))],
};

static AGGREGATION: Attributes = Attributes {
    names: &names::STATISTICS_OF_AGGREGATION,
    forms: &[
        ("BOND_3AD_STAT_LACPDU_RX", LONG_COUNT),
        ("BOND_3AD_STAT_LACPDU_TX", LONG_COUNT),
        ("BOND_3AD_STAT_LACPDU_UNKNOWN_RX", LONG_COUNT),
        ("BOND_3AD_STAT_LACPDU_ILLEGAL_RX", LONG_COUNT),
        ("BOND_3AD_STAT_MARKER_RX", LONG_COUNT),
        ("BOND_3AD_STAT_MARKER_TX", LONG_COUNT),
        ("BOND_3AD_STAT_MARKER_RESP_RX", LONG_COUNT),
        ("BOND_3AD_STAT_MARKER_RESP_TX", LONG_COUNT),
        ("BOND_3AD_STAT_MARKER_UNKNOWN_RX", LONG_COUNT),
    ],
};

static OFFLOADED: Attributes = Attributes {
    names: &names::STATISTICS_OF_OFFLOAD,
    forms: &[("IFLA_OFFLOAD_XSTATS_CPU_HIT", OF_LINK)],
};

static FAMILIES: Attributes = Attributes {
    names: &names::ADDRESS_FAMILIES,
    forms: &[("AF_MPLS", Nested(&LABELS))],
};

static LABELS: Attributes = Attributes {
    names: &names::STATISTICS_OF_LABELS,
    forms: &[("MPLS_STATS_LINK", Structure(OF_LABELS, 72))],
};

/// `struct mpls_link_stats`.
const OF_LABELS: &[Field] = &[
    ("rx_packets", LONG_COUNT),
    ("tx_packets", LONG_COUNT),
    ("rx_bytes", LONG_COUNT),
    ("tx_bytes", LONG_COUNT),
    ("rx_errors", LONG_COUNT),
    ("tx_errors", LONG_COUNT),
    ("rx_dropped", LONG_COUNT),
    ("tx_dropped", LONG_COUNT),
    ("rx_noroute", LONG_COUNT),
];
