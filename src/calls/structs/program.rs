//! What commands of `bpf(2)` are given: parts of `union bpf_attr` (`linux/bpf.h`).

use super::netlink::form::Form::{
    Changed, Descriptor, Hex, KernelVersion, Name, Named, Number, Padding, Pointer, Signed, Task,
    TextAt, With,
};
use super::netlink::form::{Field, Form, size_of_fields};
use super::netlink::plain;
use super::pen::Pen;
use super::site::{Bytes, Site};
use crate::constants::tables as names;
use crate::memory::Behind;
use crate::text::Values;

/// What a command is given: the name of the part of the union, empty where its fields stand in the
/// union itself; so many bytes that are told in any case, as the kernel takes zeros for those that
/// the program does not give; and the fields, of which those behind these bytes are told if the
/// program gives something of them.
type Attributes = (&'static str, usize, &'static [Field]);

const CREATE: Attributes = (
    "",
    16,
    &[
        ("map_type", Named(4, &names::BPF_MAP_TYPES)),
        ("key_size", Number(4)),
        ("value_size", Number(4)),
        ("max_entries", Number(4)),
        ("map_flags", Named(4, &names::BPF_MAP_FLAGS)),
        ("inner_map_fd", Descriptor),
        ("numa_node", With(16, ON_A_NODE, &Number(4))),
        ("map_name", Name(16)),
        ("map_ifindex", Number(4)),
        ("btf_fd", Descriptor),
        ("btf_key_type_id", Number(4)),
        ("btf_value_type_id", Number(4)),
        ("btf_vmlinux_value_type_id", Number(4)),
        ("map_extra", Number(8)),
    ],
);
/// An element of a map, with the flags of a command.
const fn element(flags: Form) -> [Field; 5] {
    [
        ("map_fd", Descriptor),
        ("", Padding(4)),
        ("key", Pointer),
        ("value", Pointer),
        ("flags", flags),
    ]
}
const LOOK_UP: Attributes = ("", 24, &element(Named(8, &names::BPF_LOOKUP_FLAGS)));
const UPDATE: Attributes = ("", 32, &element(Named(8, &names::BPF_ELEMENT_FLAGS)));
const DELETE: Attributes = (
    "",
    16,
    &[("map_fd", Descriptor), ("", Padding(4)), ("key", Pointer)],
);
const NEXT_KEY: Attributes = (
    "",
    24,
    &[
        ("map_fd", Descriptor),
        ("", Padding(4)),
        ("key", Pointer),
        ("next_key", Pointer),
    ],
);
const LOAD: Attributes = (
    "",
    24,
    &[
        ("prog_type", Named(4, &names::BPF_PROGRAM_TYPES)),
        ("insn_cnt", Number(4)),
        ("insns", Pointer),
        ("license", TextAt(Behind::LICENSE)),
        ("log_level", Number(4)),
        ("log_size", Number(4)),
        ("log_buf", Pointer),
        ("kern_version", KernelVersion),
        ("prog_flags", Named(4, &names::BPF_PROGRAM_FLAGS)),
        ("prog_name", Name(16)),
        ("prog_ifindex", Number(4)),
        ("expected_attach_type", Named(4, &names::BPF_ATTACH_TYPES)),
        ("prog_btf_fd", Descriptor),
        ("func_info_rec_size", Number(4)),
        ("func_info", Pointer),
        ("func_info_cnt", Number(4)),
        ("line_info_rec_size", Number(4)),
        ("line_info", Pointer),
        ("line_info_cnt", Number(4)),
        ("attach_btf_id", Number(4)),
        ("attach_prog_fd", Descriptor),
        ("", Padding(4)),
        ("fd_array", Pointer),
    ],
);
const PIN: Attributes = (
    "",
    12,
    &[
        ("pathname", TextAt(Behind::PATH)),
        ("bpf_fd", Descriptor),
        ("file_flags", Named(4, &names::BPF_FILE_FLAGS)),
    ],
);
const ATTACH: Attributes = (
    "",
    16,
    &[
        ("target_fd", Descriptor),
        ("attach_bpf_fd", Descriptor),
        ("attach_type", Named(4, &names::BPF_ATTACH_TYPES)),
        ("attach_flags", Named(4, &names::BPF_ATTACH_FLAGS)),
        ("replace_bpf_fd", Descriptor),
    ],
);
const DETACH: Attributes = (
    "",
    12,
    &[
        ("target_fd", Descriptor),
        ("", Padding(4)),
        ("attach_type", Named(4, &names::BPF_ATTACH_TYPES)),
    ],
);
const TEST: Attributes = (
    "test",
    40,
    &[
        ("prog_fd", Descriptor),
        ("retval", Number(4)),
        ("data_size_in", Number(4)),
        ("data_size_out", Number(4)),
        ("data_in", Pointer),
        ("data_out", Pointer),
        ("repeat", Number(4)),
        ("duration", Number(4)),
        ("ctx_size_in", Number(4)),
        ("ctx_size_out", Number(4)),
        ("ctx_in", Pointer),
        ("ctx_out", Pointer),
        ("flags", Named(4, &names::BPF_TEST_FLAGS)),
        ("cpu", Number(4)),
        ("batch_size", Number(4)),
    ],
);
const NEXT_ID: Attributes = (
    "",
    8,
    &[
        ("start_id", Number(4)),
        ("next_id", Changed(&Number(4))),
        ("open_flags", Named(4, &names::BPF_FILE_FLAGS)),
    ],
);
const PROGRAM_BY_ID: Attributes = (
    "",
    8,
    &[
        ("prog_id", Number(4)),
        ("next_id", Number(4)),
        ("open_flags", Named(4, &names::BPF_FILE_FLAGS)),
    ],
);
const MAP_BY_ID: Attributes = (
    "",
    8,
    &[
        ("map_id", Number(4)),
        ("next_id", Number(4)),
        ("open_flags", Named(4, &names::BPF_FILE_FLAGS)),
    ],
);
const INFORMATION: Attributes = (
    "info",
    16,
    &[
        ("bpf_fd", Descriptor),
        ("info_len", Changed(&Number(4))),
        ("info", Pointer),
    ],
);
const QUERY: Attributes = (
    "query",
    28,
    &[
        ("target_fd", Descriptor),
        ("attach_type", Named(4, &names::BPF_ATTACH_TYPES)),
        ("query_flags", Named(4, &names::BPF_QUERY_FLAGS)),
        ("attach_flags", Changed(&Named(4, &names::BPF_ATTACH_FLAGS))),
        ("prog_ids", Pointer),
        ("prog_cnt", Changed(&Number(4))),
    ],
);
const TRACEPOINT: Attributes = (
    "raw_tracepoint",
    12,
    &[("name", TextAt(Behind::PATH)), ("prog_fd", Descriptor)],
);
const TYPES: Attributes = (
    "",
    28,
    &[
        ("btf", Pointer),
        ("btf_log_buf", Pointer),
        ("btf_size", Number(4)),
        ("btf_log_size", Number(4)),
        ("btf_log_level", Number(4)),
    ],
);
const TYPES_BY_ID: Attributes = ("", 4, &[("btf_id", Number(4))]);
const FREEZE: Attributes = ("", 4, &[("map_fd", Descriptor)]);
const OF_TASK: Attributes = (
    "task_fd_query",
    48,
    &[
        ("pid", Task),
        // A descriptor of that process.
        ("fd", Signed(4)),
        ("flags", Number(4)),
        ("buf_len", Changed(&Number(4))),
        ("buf", Pointer),
        ("prog_id", Changed(&Number(4))),
        ("fd_type", Changed(&Named(4, &names::BPF_DESCRIPTOR_TYPES))),
        ("probe_offset", Changed(&Hex(8))),
        ("probe_addr", Changed(&Hex(8))),
    ],
);
const BATCH: Attributes = (
    "batch",
    56,
    &[
        ("in_batch", Pointer),
        ("out_batch", Pointer),
        ("keys", Pointer),
        ("values", Pointer),
        ("count", Changed(&Number(4))),
        ("map_fd", Descriptor),
        ("elem_flags", Named(8, &names::BPF_LOOKUP_FLAGS)),
        ("flags", Hex(8)),
    ],
);
const UPDATE_BATCH: Attributes = (
    "batch",
    56,
    &[
        ("", Padding(16)),
        ("keys", Pointer),
        ("values", Pointer),
        ("count", Changed(&Number(4))),
        ("map_fd", Descriptor),
        ("elem_flags", Named(8, &names::BPF_LOOKUP_FLAGS)),
        ("flags", Hex(8)),
    ],
);
const DELETE_BATCH: Attributes = (
    "batch",
    56,
    &[
        ("", Padding(16)),
        ("keys", Pointer),
        ("", Padding(8)),
        ("count", Changed(&Number(4))),
        ("map_fd", Descriptor),
        ("elem_flags", Named(8, &names::BPF_LOOKUP_FLAGS)),
        ("flags", Hex(8)),
    ],
);
const LINK: Attributes = (
    "link_create",
    16,
    &[
        ("prog_fd", Descriptor),
        ("target_fd", Descriptor),
        ("attach_type", Named(4, &names::BPF_ATTACH_TYPES)),
        ("flags", Hex(4)),
    ],
);
const UPDATE_LINK: Attributes = (
    "link_update",
    12,
    &[
        ("link_fd", Descriptor),
        ("new_prog_fd", Descriptor),
        ("flags", Named(4, &names::BPF_ATTACH_FLAGS)),
        ("old_prog_fd", With(8, REPLACES, &Descriptor)),
    ],
);
const LINK_BY_ID: Attributes = ("", 4, &[("link_id", Number(4))]);

/// `BPF_F_NUMA_NODE`.
const ON_A_NODE: u32 = 1 << 2;
/// `BPF_F_REPLACE`.
const REPLACES: u32 = 1 << 2;

/// By the numbers of the commands, from the first on.
#[rustfmt::skip]
const COMMANDS: &[Attributes] = &[
    CREATE, LOOK_UP, UPDATE, DELETE, NEXT_KEY, LOAD, PIN, PIN, ATTACH, DETACH, TEST, NEXT_ID, NEXT_ID,
    PROGRAM_BY_ID, MAP_BY_ID, INFORMATION, QUERY, TRACEPOINT, TYPES, TYPES_BY_ID, OF_TASK, LOOK_UP, FREEZE,
    NEXT_ID, BATCH, BATCH, UPDATE_BATCH, DELETE_BATCH, LINK, UPDATE_LINK, LINK_BY_ID, NEXT_ID,
    ("enable_stats", 4, &[("type", Named(4, &names::BPF_STATISTICS))]),
    ("iter_create", 8, &[("link_fd", Descriptor), ("flags", Hex(4))]),
    ("link_detach", 4, &[("link_fd", Descriptor)]),
    ("prog_bind_map", 12, &[("prog_fd", Descriptor), ("map_fd", Descriptor), ("flags", Hex(4))]),
];

/// The longest `union bpf_attr` of which something is told.
const LONGEST: usize = 256;

/// What the command is given, with zeros for what is not there; dots where there is more than is
/// told, and that is not nothing.
pub(super) fn attributes<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let command = site.word(0)? as u32 & !COMMON;
    let (part, least, told) = *COMMANDS.get(usize::try_from(command).ok()?)?;
    let length = usize::try_from(site.word(2)? as u32)
        .ok()
        .filter(|it| *it > 0)?;
    let known = size_of_fields(told);
    let given = site.given_first(length.min(LONGEST))?.whole();
    // To the end of a field.
    let mut end = 0;
    for (_, form) in told {
        if end < least.max(given.len()) {
            end += form.size();
        }
    }
    let mut bytes = given.to_vec();
    bytes.resize(known.max(bytes.len()), 0);
    let (fields, rest) = bytes.split_at_checked(end)?;
    pen.text("{");
    if !part.is_empty() {
        pen.text(part);
        pen.text("={");
    }
    plain(pen, told, Bytes::of(fields), site)?;
    if !part.is_empty() {
        pen.text("}");
    }
    if rest.iter().any(|byte| *byte != 0) || length > LONGEST {
        pen.text(", ...");
    }
    pen.text("}");
    Some(())
}

/// `BPF_COMMON_ATTRS`, a flag among the bits of the command.
const COMMON: u32 = 1 << 16;
