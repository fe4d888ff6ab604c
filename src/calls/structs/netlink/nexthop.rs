//! What messages about next hops hold (`linux/nexthop.h`).

use super::super::Varying;
use super::form::{
    Attributes, Form,
    Form::{Address, AnyWidth, Inner, Interface, Named, Nested, Number, Padding, Rows},
    Header,
};
use crate::constants::tables as names;

/// A length of time in ticks.
const TICKS: Form = AnyWidth(&Number(8));
/// One that the kernel measured.
const AGE: Form = AnyWidth(&Form::Varying(8, Varying::Duration));

/// `struct nhmsg`.
pub(super) static HEADER: Header = Header {
    fields: &[
        ("nh_family", Named(1, &names::ADDRESS_FAMILIES)),
        ("nh_scope", Named(1, &names::ROUTE_SCOPES)),
        ("nh_protocol", Named(1, &names::ROUTE_PROTOCOLS)),
        ("", Padding(1)),
        ("nh_flags", Named(4, &names::NEXTHOP_FLAGS)),
    ],
    attributes: Some(&Attributes {
        names: &names::NEXTHOP_ATTRIBUTES,
        forms: &[
            ("NHA_ID", Number(4)),
            ("NHA_GROUP", Rows(&MEMBER, None)),
            ("NHA_GROUP_TYPE", Named(2, &names::NEXTHOP_GROUPS)),
            ("NHA_BLACKHOLE", Number(4)),
            ("NHA_OIF", Interface),
            ("NHA_GATEWAY", Address),
            ("NHA_ENCAP_TYPE", Named(2, &names::TUNNEL_TYPES)),
            ("NHA_GROUPS", Number(4)),
            ("NHA_MASTER", Interface),
            ("NHA_FDB", Number(4)),
            ("NHA_RES_GROUP", Nested(&GROUP)),
            ("NHA_RES_BUCKET", Nested(&BUCKET)),
        ],
    }),
};

/// `struct nexthop_grp`.
const MEMBER: Form = Inner(&[("id", Number(4)), ("weight", Number(1)), ("", Padding(3))]);

static GROUP: Attributes = Attributes {
    names: &names::NEXTHOP_GROUP_ATTRIBUTES,
    forms: &[
        ("NHA_RES_GROUP_BUCKETS", Number(2)),
        ("NHA_RES_GROUP_IDLE_TIMER", TICKS),
        ("NHA_RES_GROUP_UNBALANCED_TIMER", TICKS),
        ("NHA_RES_GROUP_UNBALANCED_TIME", AGE),
    ],
};

static BUCKET: Attributes = Attributes {
    names: &names::NEXTHOP_BUCKET_ATTRIBUTES,
    forms: &[
        ("NHA_RES_BUCKET_INDEX", Number(2)),
        ("NHA_RES_BUCKET_IDLE_TIME", AGE),
        ("NHA_RES_BUCKET_NH_ID", Number(4)),
    ],
};
