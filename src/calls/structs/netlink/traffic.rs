//! What messages about the control of traffic hold (`linux/pkt_sched.h`, `linux/gen_stats.h`).

use super::super::Varying;
use super::form::{
    Attributes, Field, Form,
    Form::{Interface, Named, Nested, Number, Padding, Rows, Signed, Structure, Text},
    Header,
};
use crate::constants::tables as names;

const COUNT: Form = Form::Varying(4, Varying::Machine);
const LONG_COUNT: Form = Form::Varying(8, Varying::Machine);

/// `struct tcmsg`.
pub(super) static HEADER: Header = Header {
    fields: &[
        ("tcm_family", Named(1, &names::ADDRESS_FAMILIES)),
        ("", Padding(3)),
        ("tcm_ifindex", Interface),
        ("tcm_handle", Number(4)),
        ("tcm_parent", Number(4)),
        ("tcm_info", Number(4)),
    ],
    attributes: Some(&Attributes {
        names: &names::TRAFFIC_ATTRIBUTES,
        forms: &[
            ("TCA_KIND", Text),
            ("TCA_STATS", Structure(COUNTS, 36)),
            ("TCA_RATE", Structure(ESTIMATOR, 2)),
            ("TCA_FCNT", Number(4)),
            ("TCA_STATS2", Nested(&STATISTICS)),
            ("TCA_STAB", Nested(&SIZES)),
            ("TCA_CHAIN", Number(4)),
            ("TCA_HW_OFFLOAD", Number(1)),
            ("TCA_INGRESS_BLOCK", Number(4)),
            ("TCA_EGRESS_BLOCK", Number(4)),
            ("TCA_DUMP_FLAGS", Number(4)),
        ],
    }),
};

/// `struct tc_stats`.
const COUNTS: &[Field] = &[
    ("bytes", LONG_COUNT),
    ("packets", COUNT),
    ("drops", COUNT),
    ("overlimits", COUNT),
    ("bps", COUNT),
    ("pps", COUNT),
    ("qlen", COUNT),
    ("backlog", COUNT),
];

/// `struct tc_estimator`.
const ESTIMATOR: &[Field] = &[("interval", Signed(1)), ("ewma_log", Number(1))];

static STATISTICS: Attributes = Attributes {
    names: &names::TRAFFIC_STATISTICS,
    forms: &[
        ("TCA_STATS_BASIC", Structure(BASIC, 12)),
        ("TCA_STATS_RATE_EST", Structure(&rates(COUNT), 8)),
        ("TCA_STATS_QUEUE", Structure(QUEUE, 20)),
        ("TCA_STATS_RATE_EST64", Structure(&rates(LONG_COUNT), 16)),
        ("TCA_STATS_BASIC_HW", Structure(BASIC, 12)),
        ("TCA_STATS_PKT64", LONG_COUNT),
    ],
};

/// `struct gnet_stats_basic`.
const BASIC: &[Field] = &[("bytes", LONG_COUNT), ("packets", COUNT)];

/// `struct gnet_stats_rate_est` and `struct gnet_stats_rate_est64`.
const fn rates(form: Form) -> [Field; 2] {
    [("bps", form), ("pps", form)]
}

/// `struct gnet_stats_queue`.
const QUEUE: &[Field] = &[
    ("qlen", COUNT),
    ("backlog", COUNT),
    ("drops", COUNT),
    ("requeues", COUNT),
    ("overlimits", COUNT),
];

static SIZES: Attributes = Attributes {
    names: &names::TRAFFIC_SIZES,
    forms: &[
        ("TCA_STAB_BASE", Structure(SIZE, 24)),
        ("TCA_STAB_DATA", Rows(&Number(2), None)),
    ],
};

/// `struct tc_sizespec`.
const SIZE: &[Field] = &[
    ("cell_log", Number(1)),
    ("size_log", Number(1)),
    ("cell_align", Signed(2)),
    ("overhead", Signed(4)),
    ("linklayer", Number(4)),
    ("mpu", Number(4)),
    ("mtu", Number(4)),
    ("tsize", Number(4)),
];
