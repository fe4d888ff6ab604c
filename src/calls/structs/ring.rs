//! What `io_uring_setup` and `io_uring_register` are given and answer (`linux/io_uring.h`).

use super::message;
use super::netlink::form::Form::{
    self, Descriptor, Hex, Id, Inner, Named, NotZero, Number, Padding, Pointer, Row, With,
};
use super::netlink::form::{Field, size_of_fields};
use super::netlink::plain;
use super::pen::Pen;
use super::site::Site;
use crate::Call;
use crate::constants::tables as names;
use crate::memory::Moment;
use crate::names::Abi;
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
    /// `struct iovec[]`.
    Vectors,
    /// As many of these as the last argument says.
    Each(Form),
    /// One, whatever the last argument is.
    One(&'static [Field]),
}

const FILES: Given = Given::Each(Descriptor);
const RING: Given = Given::One(&[
    ("ring_addr", Pointer),
    ("ring_entries", Number(4)),
    ("bgid", Number(2)),
    ("flags", NotZero(&Hex(2))),
    ("resv", NotZero(&Row(3, &Hex(8)))),
]);
const UPDATE: Given = Given::One(&[
    ("offset", Number(4)),
    ("resv", NotZero(&Hex(4))),
    ("fds", Pointer),
]);
const RESOURCES: Given = Given::One(&[
    ("nr", Number(4)),
    ("flags", Hex(4)),
    ("resv2", NotZero(&Hex(8))),
    ("data", Pointer),
    ("tags", Pointer),
]);
const RESOURCES_UPDATE: Given = Given::One(&[
    ("offset", Number(4)),
    ("resv", NotZero(&Hex(4))),
    ("data", Pointer),
    ("tags", Pointer),
    ("nr", Number(4)),
    ("resv2", NotZero(&Hex(4))),
]);
/// `struct io_uring_rsrc_update`, whose offset the kernel chooses where it is -1.
const DESCRIPTORS: Given = Given::Each(Inner(&[
    ("offset", Id),
    ("resv", NotZero(&Hex(4))),
    ("data", Descriptor),
    ("", Padding(4)),
]));

/// The operations whose arguments are told, by their numbers; the others show an address.
const OPERATIONS: &[(u32, Given)] = &[
    (0, Given::Vectors),
    (2, FILES),
    (4, FILES),
    (6, UPDATE),
    (7, FILES),
    (13, RESOURCES),
    (14, RESOURCES_UPDATE),
    (15, RESOURCES),
    (16, RESOURCES_UPDATE),
    (20, DESCRIPTORS),
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
    let operation = site.word(1).and_then(of);
    let all = site.given_part().zip(site.word(3));
    let all = all.filter(|_| matches!(operation, Some(Given::Each(Descriptor))));
    all.map_or_else(Vec::new, |(bytes, count)| {
        let numbers = bytes.elements(4).filter_map(|one| one.i32(0));
        numbers.take(count as u32 as usize).collect()
    })
}

/// What an operation of `io_uring_register` is given.
pub(super) fn registration<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let count = site.word(3)? as u32 as usize;
    match of(site.word(1)?)? {
        Given::Vectors if site.call.abi != Abi::native() => None,
        Given::Vectors => {
            let all = site.given_part()?.first(count.saturating_mul(16));
            message::vectors(pen, all, (site, Moment::Enter, 0), |_| None)
        }
        Given::One(fields) => {
            pen.text("{");
            plain(pen, fields, site.given_first(size_of_fields(fields))?, site)?;
            pen.text("}");
            Some(())
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
