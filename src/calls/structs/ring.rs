//! What `io_uring_setup` and `io_uring_register` are given and answer (`linux/io_uring.h`).

use super::file;
use super::netlink::form::Form::{
    self, Descriptor, Either, Hex, Id, Inner, ListAt, Named, NotZero, Number, Padding, Pointer,
    Row, Vector, With,
};
use super::netlink::form::{Field, size_of_fields};
use super::netlink::plain;
use super::pen::Pen;
use super::site::{Bytes, Site};
use crate::Call;
use crate::constants::tables as names;
use crate::memory::{Behind, Moment};
use crate::text::Values;

/// `struct io_uring_params`, as the program gives it.
const GIVEN: &[Field] = &[
    ("", Padding(8)),
    ("flags", Named(4, &names::IO_URING_SETUP_FLAGS)),
    ("sq_thread_cpu", Hex(4)),
    ("sq_thread_idle", Number(4)),
    ("", Padding(4)),
    ("wq_fd", With(8, ATTACHES, &Descriptor)),
    ("resv", NotZero(&Row(3, &Hex(4)))),
];
/// `IORING_SETUP_ATTACH_WQ`.
const ATTACHES: u32 = 1 << 5;

/// What the kernel adds to it.
const ANSWERED: &[Field] = &[
    ("sq_entries", Number(4)),
    ("cq_entries", Number(4)),
    ("", Padding(12)),
    ("features", Named(4, &names::IO_URING_FEATURES)),
    ("", Padding(16)),
    ("sq_off", Inner(&places(["flags", "dropped", "array"]))),
    ("cq_off", Inner(&places(["overflow", "cqes", "flags"]))),
];

/// `struct io_sqring_offsets` and `struct io_cqring_offsets`.
const fn places([fifth, sixth, seventh]: [&'static str; 3]) -> [Field; 9] {
    [
        ("head", Number(4)),
        ("tail", Number(4)),
        ("ring_mask", Number(4)),
        ("ring_entries", Number(4)),
        (fifth, Number(4)),
        (sixth, Number(4)),
        (seventh, Number(4)),
        ("resv1", NotZero(&Hex(4))),
        ("user_addr", NotZero(&Pointer)),
    ]
}

/// `struct io_uring_params`.
pub(super) fn parameters<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    pen.text("{");
    plain(pen, GIVEN, site.given()?, site)?;
    if let Some(answer) = site.filled() {
        pen.text(", ");
        plain(pen, ANSWERED, answer, site)?;
    }
    pen.text("}");
    Some(())
}

/// What an operation is given.
enum Given {
    /// As many of these as the last argument says.
    Each(Form),
    /// One, whatever the last argument is.
    One(&'static [Field]),
    /// One, of whose bytes the last argument has the number.
    Sized(&'static [Field]),
    /// `struct io_uring_restriction[]`.
    Restrictions,
}

const FILES: Given = Given::Each(Descriptor);
const RING: Given = Given::One(&[
    ("ring_addr", Pointer),
    ("ring_entries", Number(4)),
    ("bgid", Number(2)),
    (
        "flags",
        NotZero(&Named(2, &names::IO_URING_BUFFER_RING_FLAGS)),
    ),
    ("resv", NotZero(&Row(3, &Hex(8)))),
]);
const UPDATE: Given = Given::One(&[
    ("offset", Number(4)),
    ("resv", NotZero(&Hex(4))),
    ("fds", Pointer),
]);
/// `struct io_uring_rsrc_register`.
const fn registered(data: Form) -> [Field; 5] {
    [
        ("nr", Number(4)),
        ("flags", Named(4, &names::IO_URING_RESOURCE_FLAGS)),
        ("resv2", NotZero(&Hex(8))),
        ("data", data),
        ("tags", ListAt(Behind::REGISTERED_TAGS, &Hex(8))),
    ]
}
/// `struct io_uring_rsrc_update2`.
const fn updated(data: Form) -> [Field; 6] {
    [
        ("offset", Number(4)),
        ("resv", NotZero(&Hex(4))),
        ("data", data),
        ("tags", ListAt(Behind::UPDATED_TAGS, &Hex(8))),
        ("nr", Number(4)),
        ("resv2", NotZero(&Hex(4))),
    ]
}
/// A file in the place of another, or none.
const UPDATED_FILE: Form = Either(-2i32 as u32, "IORING_REGISTER_FILES_SKIP", &Descriptor);
/// `struct io_uring_rsrc_update`, whose offset the kernel chooses where it is -1.
const DESCRIPTORS: Given = Given::Each(Inner(&[
    ("offset", Id),
    ("resv", NotZero(&Hex(4))),
    ("data", Descriptor),
    ("", Padding(4)),
]));

/// The same, of which the kernel reads the offset alone.
const NO_DESCRIPTORS: Given = Given::Each(Inner(&[
    ("offset", Number(4)),
    ("resv", NotZero(&Hex(4))),
    ("data", NotZero(&Hex(8))),
]));

/// `struct io_uring_restriction`.
const fn restriction(name: &'static str, form: Form) -> [Field; 4] {
    [
        ("opcode", Named(2, &names::IO_URING_RESTRICTIONS)),
        (name, form),
        ("resv", NotZero(&Hex(1))),
        ("resv2", NotZero(&Row(3, &Hex(4)))),
    ]
}

/// The same by its first field: what it restricts.
const RESTRICTIONS: [[Field; 4]; 4] = [
    restriction("register_op", Named(1, &names::IO_URING_REGISTER_OPCODES)),
    restriction("sqe_op", Named(1, &names::IO_URING_OPERATIONS)),
    SUBMISSION_FLAGS,
    SUBMISSION_FLAGS,
];
const SUBMISSION_FLAGS: [Field; 4] =
    restriction("sqe_flags", Named(1, &names::IO_URING_SUBMISSION_FLAGS));
const UNKNOWN_RESTRICTION: [Field; 4] = restriction("register_op", Hex(1));

/// The operations whose arguments are told, by their numbers; the others show an address.
const OPERATIONS: &[(u32, Given)] = &[
    (0, Given::Each(Vector)),
    (2, FILES),
    (4, FILES),
    (6, UPDATE),
    (7, FILES),
    (11, Given::Restrictions),
    (
        13,
        Given::Sized(&registered(ListAt(Behind::REGISTERED, &Descriptor))),
    ),
    (
        14,
        Given::Sized(&updated(ListAt(Behind::UPDATED, &UPDATED_FILE))),
    ),
    (
        15,
        Given::Sized(&registered(ListAt(Behind::REGISTERED, &Vector))),
    ),
    (16, Given::Sized(&updated(ListAt(Behind::UPDATED, &Vector)))),
    (20, DESCRIPTORS),
    (21, NO_DESCRIPTORS),
    (22, RING),
    (23, RING),
];

/// The operation without `IORING_REGISTER_USE_REGISTERED_RING`.
fn of(operation: u64) -> Option<&'static Given> {
    let operation = operation as u32 & 0x7fff_ffff;
    let mut all = OPERATIONS.iter();
    all.find(|(of, _)| *of == operation).map(|(_, given)| given)
}

/// Whether what an operation is given is told.
pub(crate) fn is_told(operation: u32) -> bool {
    of(operation.into()).is_some()
}

/// The descriptors that an operation is given in a list.
pub(crate) fn descriptors(call: &Call) -> Vec<i32> {
    let site = Site::new(call, 2);
    let all = match site.word(1).and_then(of) {
        Some(Given::Each(Descriptor)) => site.given_part().zip(site.word(3)),
        Some(Given::Sized(fields)) => listed(fields, site),
        _ => None,
    };
    all.map_or_else(Vec::new, |(bytes, count)| {
        let numbers = bytes.elements(4).filter_map(|one| one.i32(0));
        numbers.take(count as u32 as usize).collect()
    })
}

/// The list of descriptors to which a field leads, and how many there are.
fn listed<'a>(fields: &[Field], site: Site<'a>) -> Option<(Bytes<'a>, u64)> {
    let what = fields.iter().find_map(|(_, form)| match form {
        ListAt(what, Descriptor | Either(..)) => Some(*what),
        _ => None,
    })?;
    let count = site.given_part()?.u32(what.length.into())?;
    Some((site.behind(what, Moment::Enter)?, count.into()))
}

/// What an operation of `io_uring_register` is given.
pub(super) fn registration<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let count = site.word(3)? as u32 as usize;
    match of(site.word(1)?)? {
        Given::One(fields) => {
            pen.text("{");
            plain(pen, fields, site.given_first(size_of_fields(fields))?, site)?;
            pen.text("}");
            Some(())
        }
        Given::Sized(fields) => {
            let known = size_of_fields(fields);
            let all = site.given_part()?.first(count);
            if count < known || all.len() < known {
                return None;
            }
            pen.text("{");
            plain(pen, fields, all.first(known), site)?;
            file::rest(pen, all, known);
            pen.text("}");
            Some(())
        }
        Given::Restrictions => {
            let size = size_of_fields(&UNKNOWN_RESTRICTION);
            let all = site.given_part()?.first(count.saturating_mul(size));
            pen.array(all, size as u16, |pen, one| {
                let known = RESTRICTIONS.get(usize::from(one.u16(0)?));
                pen.text("{");
                plain(pen, known.unwrap_or(&UNKNOWN_RESTRICTION), one, site)?;
                pen.text("}");
                Some(())
            })
        }
        Given::Each(form) => {
            let size = form.size();
            let all = site.given_part()?.first(count.saturating_mul(size));
            pen.array(all, size as u16, |pen, one| {
                super::netlink::value(pen, *form, one, site)
            })
        }
    }
}
