//! What messages about addresses, routes and rules hold (`linux/rtnetlink.h` and what
//! belongs to it).

use super::super::Varying;
use super::form::{
    Attributes, Field, Form,
    Form::{
        Address, AnyWidth, Hex, Interface, Named, Nested, Network, Number, Padding, Signed,
        Structure, Text,
    },
    Header,
};
use super::span::Span;
use super::write::Writer;
use super::{link, neighbour, nexthop, only, stats, traffic};
use crate::constants::tables as names;
use crate::text::Values;

pub(super) const FAMILY: Form = Named(1, &names::ADDRESS_FAMILIES);
const PROTOCOL: Form = Named(1, &names::ROUTE_PROTOCOLS);
const TABLE: Form = Named(4, &names::ROUTE_TABLES);
/// A length of time that the kernel measured.
const AGE: Form = Form::Varying(4, Varying::Duration);
/// A point in time.
const TIME: Form = Form::Varying(4, Varying::Time);
/// What came of something on this machine.
const COUNT: Form = Form::Varying(4, Varying::Machine);
pub(super) const LONG_COUNT: Form = Form::Varying(8, Varying::Machine);

/// What the messages of a type begin with, whose name is a verb and what it is about.
pub(super) fn header(name: &str, family: &str) -> Option<&'static Header> {
    let about = ["RTM_NEW", "RTM_DEL", "RTM_GET", "RTM_SET"]
        .iter()
        .find_map(|verb| name.strip_prefix(verb))?;
    Some(match about {
        "LINK" => &link::HEADER,
        "NEIGH" if name == "RTM_GETNEIGH" && family == "AF_BRIDGE" => &link::HEADER,
        "ADDR" | "MULTICAST" | "ANYCAST" => &ADDRESS,
        "ROUTE" => &ROUTE,
        "NEIGH" => &neighbour::HEADER,
        "RULE" => &RULE,
        "NEIGHTBL" => &neighbour::TABLE,
        "NEXTHOP" => &nexthop::HEADER,
        "ADDRLABEL" => &LABEL,
        "NETCONF" => &SETTINGS,
        "NSID" => &NAMESPACE,
        "STATS" => &stats::HEADER,
        "QDISC" | "TCLASS" | "TFILTER" | "CHAIN" => &traffic::HEADER,
        _ => return None,
    })
}

/// `struct ifaddrmsg`.
static ADDRESS: Header = Header {
    fields: &[
        ("ifa_family", FAMILY),
        ("ifa_prefixlen", Number(1)),
        ("ifa_flags", Named(1, &names::ADDRESS_FLAGS)),
        ("ifa_scope", Named(1, &names::ROUTE_SCOPES)),
        ("ifa_index", Interface),
    ],
    attributes: Some(&Attributes {
        names: &names::ADDRESS_ATTRIBUTES,
        forms: &[
            ("IFA_ADDRESS", Address),
            ("IFA_LOCAL", Address),
            ("IFA_LABEL", Text),
            ("IFA_BROADCAST", Address),
            ("IFA_ANYCAST", Address),
            ("IFA_CACHEINFO", Structure(ADDRESS_TIMES, 16)),
            ("IFA_MULTICAST", Address),
            ("IFA_FLAGS", Named(4, &names::ADDRESS_FLAGS)),
            ("IFA_RT_PRIORITY", Number(4)),
            ("IFA_TARGET_NETNSID", Signed(4)),
        ],
    }),
};

/// `struct ifa_cacheinfo`.
const ADDRESS_TIMES: &[Field] = &[
    ("ifa_prefered", AGE),
    ("ifa_valid", AGE),
    ("cstamp", TIME),
    ("tstamp", TIME),
];

/// `struct ifaddrlblmsg`.
static LABEL: Header = Header {
    fields: &[
        ("ifal_family", FAMILY),
        ("", Padding(1)),
        ("ifal_prefixlen", Number(1)),
        ("ifal_flags", Number(1)),
        ("ifal_index", Interface),
        ("ifal_seq", Number(4)),
    ],
    attributes: Some(&Attributes {
        names: &names::LABEL_ATTRIBUTES,
        forms: &[("IFAL_ADDRESS", Address), ("IFAL_LABEL", Number(4))],
    }),
};

/// `struct rtmsg`.
static ROUTE: Header = Header {
    fields: &[
        ("rtm_family", FAMILY),
        ("rtm_dst_len", Number(1)),
        ("rtm_src_len", Number(1)),
        ("rtm_tos", Named(1, &names::TYPE_OF_SERVICE)),
        ("rtm_table", Named(1, &names::ROUTE_TABLES)),
        ("rtm_protocol", PROTOCOL),
        ("rtm_scope", Named(1, &names::ROUTE_SCOPES)),
        ("rtm_type", Named(1, &names::ROUTE_TYPES)),
        ("rtm_flags", Named(4, &names::ROUTE_FLAGS)),
    ],
    attributes: Some(&ROUTE_ATTRIBUTES),
};

static ROUTE_ATTRIBUTES: Attributes = Attributes {
    names: &names::ROUTE_ATTRIBUTES,
    forms: &[
        ("RTA_DST", Address),
        ("RTA_SRC", Address),
        ("RTA_IIF", Interface),
        ("RTA_OIF", Interface),
        ("RTA_GATEWAY", Address),
        ("RTA_PRIORITY", Number(4)),
        ("RTA_PREFSRC", Address),
        ("RTA_METRICS", Nested(&METRICS)),
        ("RTA_MULTIPATH", Form::Hops),
        ("RTA_PROTOINFO", Number(4)),
        ("RTA_FLOW", Number(4)),
        ("RTA_CACHEINFO", Structure(ROUTE_TIMES, 32)),
        ("RTA_MP_ALGO", Number(4)),
        ("RTA_TABLE", TABLE),
        ("RTA_MARK", Number(4)),
        ("RTA_MFC_STATS", Structure(FORWARDED, 24)),
        ("RTA_VIA", Form::Via),
        ("RTA_NEWDST", Address),
        ("RTA_PREF", Number(1)),
        ("RTA_ENCAP_TYPE", Named(2, &names::TUNNEL_TYPES)),
        ("RTA_EXPIRES", Form::Varying(8, Varying::Duration)),
        ("RTA_UID", Number(4)),
        ("RTA_TTL_PROPAGATE", Number(1)),
        ("RTA_IP_PROTO", Number(1)),
        ("RTA_SPORT", Number(2)),
        ("RTA_DPORT", Number(2)),
    ],
};

static METRICS: Attributes = Attributes {
    names: &names::ROUTE_METRICS,
    forms: &[
        ("RTAX_LOCK", Number(4)),
        ("RTAX_MTU", Number(4)),
        ("RTAX_WINDOW", Number(4)),
        ("RTAX_RTT", Number(4)),
        ("RTAX_RTTVAR", Number(4)),
        ("RTAX_SSTHRESH", Number(4)),
        ("RTAX_CWND", Number(4)),
        ("RTAX_ADVMSS", Number(4)),
        ("RTAX_REORDERING", Number(4)),
        ("RTAX_HOPLIMIT", Number(4)),
        ("RTAX_INITCWND", Number(4)),
        ("RTAX_FEATURES", Number(4)),
        ("RTAX_RTO_MIN", Number(4)),
        ("RTAX_INITRWND", Number(4)),
        ("RTAX_QUICKACK", Number(4)),
        ("RTAX_CC_ALGO", Text),
    ],
};

/// `struct rta_cacheinfo`.
const ROUTE_TIMES: &[Field] = &[
    ("rta_clntref", COUNT),
    ("rta_lastuse", AGE),
    ("rta_expires", AGE),
    ("rta_error", Number(4)),
    ("rta_used", COUNT),
    ("rta_id", Hex(4)),
    ("rta_ts", TIME),
    ("rta_tsage", AGE),
];

/// `struct rta_mfc_stats`.
const FORWARDED: &[Field] = &[
    ("mfcs_packets", LONG_COUNT),
    ("mfcs_bytes", LONG_COUNT),
    ("mfcs_wrong_if", LONG_COUNT),
];

/// `struct rtnexthop`.
static HOP: Header = Header {
    fields: &[
        ("rtnh_len", Number(2)),
        ("rtnh_flags", Named(1, &names::NEXTHOP_FLAGS)),
        ("rtnh_hops", Number(1)),
        ("rtnh_ifindex", Interface),
    ],
    attributes: Some(&ROUTE_ATTRIBUTES),
};

/// Hops, each with attributes behind it.
pub(super) fn hops<V: Values>(writer: &mut Writer<'_, '_, V>, all: Span<'_>) -> Option<()> {
    const SIZE: usize = 8;
    let length_of = |head: Span<'_>| head.head(2)?.u16(0).map(usize::from);
    writer.sequence(all, SIZE, length_of, |writer, one| {
        let has_more = one.length() > SIZE;
        if has_more {
            writer.text("[");
        }
        let whole = writer.header(&HOP, one);
        if has_more {
            writer.text("]");
        }
        whole
    })
}

/// `struct rtvia`: an address of a family of its own.
pub(super) fn via<V: Values>(writer: &mut Writer<'_, '_, V>, all: Span<'_>) -> Option<()> {
    let Some(family) = all.head(2).and_then(|bytes| bytes.u16(0)) else {
        return writer.dots(all);
    };
    writer.text("{rtvia_family=");
    writer
        .pen
        .constants(&names::ADDRESS_FAMILIES, family.into());
    if all.length() == 2 {
        writer.text("}");
        return Some(());
    }
    writer.text(", ");
    let family = names::ADDRESS_FAMILIES
        .find(family.into())
        .unwrap_or_default();
    let whole = writer.named_address(family, "rtvia_addr", all.from(2));
    writer.text("}");
    whole
}

/// `struct fib_rule_hdr`.
static RULE: Header = Header {
    fields: &[
        ("family", FAMILY),
        ("dst_len", Number(1)),
        ("src_len", Number(1)),
        ("tos", Named(1, &names::TYPE_OF_SERVICE)),
        ("table", Named(1, &names::ROUTE_TABLES)),
        ("", Padding(2)),
        ("action", Named(1, &names::RULE_ACTIONS)),
        ("flags", Named(4, &names::RULE_FLAGS)),
    ],
    attributes: Some(&Attributes {
        names: &names::RULE_ATTRIBUTES,
        forms: &[
            ("FRA_DST", Address),
            ("FRA_SRC", Address),
            ("FRA_IIFNAME", Text),
            ("FRA_GOTO", Number(4)),
            ("FRA_PRIORITY", Number(4)),
            ("FRA_FWMARK", Number(4)),
            ("FRA_FLOW", Number(4)),
            ("FRA_TUN_ID", Network(8)),
            ("FRA_SUPPRESS_IFGROUP", Number(4)),
            ("FRA_SUPPRESS_PREFIXLEN", Number(4)),
            ("FRA_TABLE", TABLE),
            ("FRA_FWMASK", Number(4)),
            ("FRA_OIFNAME", Text),
            ("FRA_L3MDEV", Number(1)),
            ("FRA_UID_RANGE", Structure(&range(Number(4)), 8)),
            ("FRA_PROTOCOL", PROTOCOL),
            ("FRA_IP_PROTO", AnyWidth(&Named(1, &names::INET_PROTOCOLS))),
            ("FRA_SPORT_RANGE", Structure(&range(Number(2)), 4)),
            ("FRA_DPORT_RANGE", Structure(&range(Number(2)), 4)),
        ],
    }),
};

const fn range(form: Form) -> [Field; 2] {
    [("start", form), ("end", form)]
}

/// `struct netconfmsg`.
static SETTINGS: Header = only(
    &[("ncm_family", FAMILY)],
    &Attributes {
        names: &names::NETCONF_ATTRIBUTES,
        forms: &[
            ("NETCONFA_IFINDEX", Interface),
            ("NETCONFA_FORWARDING", Signed(4)),
            ("NETCONFA_RP_FILTER", Signed(4)),
            ("NETCONFA_MC_FORWARDING", Signed(4)),
            ("NETCONFA_PROXY_NEIGH", Signed(4)),
            ("NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN", Signed(4)),
            ("NETCONFA_INPUT", Signed(4)),
            ("NETCONFA_BC_FORWARDING", Signed(4)),
        ],
    },
);

/// `struct rtgenmsg`.
static NAMESPACE: Header = only(
    &[("rtgen_family", FAMILY)],
    &Attributes {
        names: &names::NAMESPACE_ATTRIBUTES,
        forms: &[
            ("NETNSA_NSID", Signed(4)),
            ("NETNSA_PID", Number(4)),
            ("NETNSA_FD", Form::Descriptor),
            ("NETNSA_TARGET_NSID", Signed(4)),
            ("NETNSA_CURRENT_NSID", Signed(4)),
        ],
    },
);
