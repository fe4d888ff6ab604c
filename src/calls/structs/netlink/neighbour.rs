//! What messages about neighbours hold, and about the tables of them (`linux/neighbour.h`).

use super::super::Varying;
use super::form::{
    Attributes, Field, Form,
    Form::{
        Address, AnyWidth, Digits, Hardware, Interface, Named, Nested, Network, Number, Padding,
        Structure, Text,
    },
    Header,
};
use super::only;
use crate::constants::tables as names;

const FAMILY: Form = Named(1, &names::ADDRESS_FAMILIES);
/// A length of time that the kernel measured.
const AGE: Form = Form::Varying(4, Varying::Duration);
/// What came of something on this machine.
const COUNT: Form = Form::Varying(4, Varying::Machine);
const LONG_COUNT: Form = Form::Varying(8, Varying::Machine);

/// `struct ndmsg`.
pub(super) static HEADER: Header = Header {
    fields: &[
        ("ndm_family", FAMILY),
        ("", Padding(3)),
        ("ndm_ifindex", Interface),
        ("ndm_state", Named(2, &names::NEIGHBOUR_STATES)),
        ("ndm_flags", Named(1, &names::NEIGHBOUR_FLAGS)),
        ("ndm_type", Named(1, &names::ROUTE_TYPES)),
    ],
    attributes: Some(&Attributes {
        names: &names::NEIGHBOUR_ATTRIBUTES,
        forms: &[
            ("NDA_DST", Address),
            ("NDA_LLADDR", Hardware),
            ("NDA_CACHEINFO", Structure(NEIGHBOUR_TIMES, 16)),
            ("NDA_PROBES", COUNT),
            ("NDA_VLAN", Number(2)),
            ("NDA_PORT", Network(2)),
            ("NDA_VNI", Number(4)),
            ("NDA_IFINDEX", Interface),
            ("NDA_MASTER", Interface),
            ("NDA_LINK_NETNSID", Number(4)),
            ("NDA_SRC_VNI", Number(4)),
            ("NDA_PROTOCOL", AnyWidth(&Named(1, &names::INET_PROTOCOLS))),
            ("NDA_NH_ID", Number(4)),
            ("NDA_FDB_EXT_ATTRS", Nested(&FORWARDING)),
            ("NDA_FLAGS_EXT", Named(4, &names::NEIGHBOUR_FURTHER_FLAGS)),
            ("NDA_NDM_STATE_MASK", Named(2, &names::NEIGHBOUR_STATES)),
            ("NDA_NDM_FLAGS_MASK", Named(1, &names::NEIGHBOUR_FLAGS)),
        ],
    }),
};

static FORWARDING: Attributes = Attributes {
    names: &names::NEIGHBOUR_EXTENSIONS,
    forms: &[("NFEA_ACTIVITY_NOTIFY", Named(1, &names::NEIGHBOUR_NOTICES))],
};

/// `struct nda_cacheinfo`.
const NEIGHBOUR_TIMES: &[Field] = &[
    ("ndm_confirmed", AGE),
    ("ndm_used", AGE),
    ("ndm_updated", AGE),
    ("ndm_refcnt", COUNT),
];

/// `struct ndtmsg`.
pub(super) static TABLE: Header = only(
    &[("ndtm_family", FAMILY)],
    &Attributes {
        names: &names::NEIGHBOUR_TABLES,
        forms: &[
            ("NDTA_NAME", Text),
            ("NDTA_THRESH1", Number(4)),
            ("NDTA_THRESH2", Number(4)),
            ("NDTA_THRESH3", Number(4)),
            ("NDTA_CONFIG", Structure(TABLE_SETTINGS, 32)),
            ("NDTA_PARMS", Nested(&PARAMETERS)),
            ("NDTA_STATS", Structure(TABLE_COUNTS, 80)),
            ("NDTA_GC_INTERVAL", Number(8)),
        ],
    },
);

/// `struct ndt_config`.
const TABLE_SETTINGS: &[Field] = &[
    ("ndtc_key_len", Number(2)),
    ("ndtc_entry_size", Number(2)),
    ("ndtc_entries", COUNT),
    ("ndtc_last_flush", AGE),
    ("ndtc_last_rand", AGE),
    ("ndtc_hash_rnd", COUNT),
    ("ndtc_hash_mask", Digits(4)),
    ("ndtc_hash_chain_gc", Number(4)),
    ("ndtc_proxy_qlen", Number(4)),
];

/// `struct ndt_stats`.
const TABLE_COUNTS: &[Field] = &[
    ("ndts_allocs", LONG_COUNT),
    ("ndts_destroys", LONG_COUNT),
    ("ndts_hash_grows", LONG_COUNT),
    ("ndts_res_failed", LONG_COUNT),
    ("ndts_lookups", LONG_COUNT),
    ("ndts_hits", LONG_COUNT),
    ("ndts_rcv_probes_mcast", LONG_COUNT),
    ("ndts_rcv_probes_ucast", LONG_COUNT),
    ("ndts_periodic_gc_runs", LONG_COUNT),
    ("ndts_forced_gc_runs", LONG_COUNT),
    ("ndts_table_fulls", LONG_COUNT),
];

static PARAMETERS: Attributes = Attributes {
    names: &names::NEIGHBOUR_PARAMETERS,
    forms: &[
        ("NDTPA_IFINDEX", Interface),
        ("NDTPA_REFCNT", COUNT),
        ("NDTPA_REACHABLE_TIME", Form::Varying(8, Varying::Duration)),
        ("NDTPA_BASE_REACHABLE_TIME", Number(8)),
        ("NDTPA_RETRANS_TIME", Number(8)),
        ("NDTPA_GC_STALETIME", Number(8)),
        ("NDTPA_DELAY_PROBE_TIME", Number(8)),
        ("NDTPA_QUEUE_LEN", Number(4)),
        ("NDTPA_APP_PROBES", Number(4)),
        ("NDTPA_UCAST_PROBES", Number(4)),
        ("NDTPA_MCAST_PROBES", Number(4)),
        ("NDTPA_ANYCAST_DELAY", Number(8)),
        ("NDTPA_PROXY_DELAY", Number(8)),
        ("NDTPA_PROXY_QLEN", Number(4)),
        ("NDTPA_LOCKTIME", Number(8)),
        ("NDTPA_QUEUE_LENBYTES", Number(4)),
        ("NDTPA_MCAST_REPROBES", Number(4)),
        ("NDTPA_INTERVAL_PROBE_TIME_MS", Number(8)),
    ],
};
