//! What the pointers of a 32-bit call point to: what is to be read of it, and how what was read
//! stands in the native layouts.
//!
//! A row of the native call is also that of its 32-bit forms. All that looks at memory knows native
//! layouts alone: what is read in another is widened.

use super::super::layout::raw_place;
use super::super::many;
use super::super::names::{self, Abi};
use super::super::relatives;
use super::super::structs::StructKind as S;
use super::shapes::{Shape, control, elements, form, signal};
use super::{Target, each, table};
use crate::memory::{Extent, Fetch, Memory, Moment, Piece, Several, State};
use std::sync::LazyLock;

/// The convention of 32-bit calls that this kernel serves.
const ABI: Abi = match Abi::native().compat() {
    Some(abi) => abi,
    None => panic!("the native convention is one of 64 bits"),
};

/// A call of it of whose pointers something is known.
struct Row {
    call: &'static str,
    number: i32,
    targets: &'static [(u8, Target)],
}

impl Row {
    /// In which register an argument of the native call is.
    fn register(&self, argument: u8) -> Option<u8> {
        raw_place(ABI, self.number, argument)
    }
}

fn row(number: u32) -> Option<&'static Row> {
    static ROWS: LazyLock<Vec<Option<Row>>> = LazyLock::new(|| {
        let mut rows = Vec::new();
        let told = (0..many::TOLD).filter_map(|place| {
            let (abi, number) = many::at(place);
            Some((
                number as u32,
                names::name_of(abi, number).filter(|_| abi == ABI)?,
            ))
        });
        for (number, call) in names::all(ABI).chain(told) {
            let natives = relatives::natives(Abi::native(), call);
            let targets = table::targets(natives.first().copied().unwrap_or(call));
            let place = place(number);
            if !targets.is_empty() {
                rows.resize_with(rows.len().max(place + 1), || None);
                rows[place] = Some(Row {
                    call,
                    number: number as i32,
                    targets,
                });
            }
        }
        rows
    });
    ROWS.get(place(number))?.as_ref()
}

/// Where a number stands: those by which calls are told come first.
fn place(number: u32) -> usize {
    match many::place(ABI, number as i32) {
        Some(place) => place as usize,
        None => (many::TOLD as usize).saturating_add(number as usize),
    }
}

/// What is to be read for a call: the arguments are the registers that they are in.
pub(super) fn fetches(number: u32, contents: u16) -> Vec<Fetch> {
    if let Some(fetches) = many::fetches(ABI, number) {
        return fetches;
    }
    let Some(row) = row(number) else {
        return Vec::new();
    };
    let mut fetches = Vec::new();
    for (argument, target) in row.targets {
        let size = |kind| form(row.call, kind).map(|form| form.size);
        each(*target, contents, size, |moment, extent, limit| {
            let extent = match extent {
                Extent::Counted { count, unit } => Extent::Counted {
                    count: row.register(count)?,
                    unit,
                },
                Extent::Sized { at } => Extent::Sized {
                    at: row.register(at)?,
                },
                Extent::Behind(what) => {
                    let of = match what.of {
                        Some(several) if several.count != Several::RESULT => Some(Several {
                            count: row.register(several.count)?,
                            ..several
                        }),
                        of => of,
                    };
                    Extent::Behind(super::Behind {
                        of,
                        ..what.narrow()
                    })
                }
                other => other,
            };
            fetches.push(Fetch {
                argument: row.register(*argument)?,
                moment,
                extent,
                limit,
            });
            Some(())
        });
    }
    fetches
}

/// Puts what was read for a 32-bit call where the native call has it, in the native layouts.
pub(super) fn widen(number: i32, memory: &mut Memory) {
    let is_told_later = |number| many::which(ABI, number).is_some();
    let number = u32::try_from(number).ok();
    let Some(row) = number.filter(|it| !is_told_later(*it)).and_then(row) else {
        return;
    };
    for piece in memory.pieces_mut() {
        let mut targets = row.targets.iter();
        let Some((argument, _)) =
            targets.find(|(argument, _)| row.register(*argument) == Some(piece.argument))
        else {
            continue;
        };
        let at = row.targets.iter().filter(|(other, _)| other == argument);
        let mut what = at.filter_map(|(_, target)| what_of(row.call, *target, piece));
        if let Some(what) = what.next() {
            what.apply(piece);
        }
        piece.argument = *argument;
    }
}

/// What a piece has in it.
enum What {
    Structure(Shape),
    /// `struct compat_cmsghdr[]`.
    Control,
}

/// What of a target a piece holds, if that is no string and no contents.
fn what_of(call: &str, target: Target, piece: &Piece) -> Option<What> {
    use super::Behind;
    let structure = |kind| form(call, kind).map(|form| What::Structure(form.shape));
    let is_first = piece.element == 0;
    match target {
        Target::In(kind, _) | Target::Out(kind, _) | Target::InOut(kind, _) if is_first => {
            structure(kind)
        }
        Target::MaybeIn(kind) | Target::MaybeOut(kind) | Target::MaybeInOut(kind) if is_first => {
            structure(kind)
        }
        Target::InFront(kind) | Target::OutFront(kind) if is_first => structure(kind),
        Target::VectorsRead(_) if is_first && piece.moment == Moment::Exit => structure(S::Iovecs),
        Target::Further(what) | Target::Filled(what) if is_of(what, piece) => {
            match (Behind { of: None, ..what }) {
                Behind::VECTORS => structure(S::Iovecs),
                Behind::CONTROL => Some(What::Control),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a piece is what such a structure points to.
fn is_of(what: super::Behind, piece: &Piece) -> bool {
    (0..Several::MOST).any(|place| what.element_of(place) == Some(piece.element))
}

impl What {
    fn apply(&self, piece: &mut Piece) {
        let bytes = match self {
            Self::Structure(Shape::Same) => return,
            Self::Structure(Shape::Steps(size, steps)) => elements(&piece.bytes, *size, steps),
            Self::Structure(Shape::Front(size, steps)) => match piece.bytes.split_at_checked(*size)
            {
                Some((head, rest)) => [elements(head, *size, steps), rest.to_vec()].concat(),
                None => Vec::new(),
            },
            Self::Structure(Shape::Signal) => signal(&piece.bytes),
            Self::Control => control(&piece.bytes),
        };
        let is_known = !matches!(piece.state, State::Unread | State::End);
        if is_known && bytes.is_empty() && !piece.bytes.is_empty() {
            piece.state = State::Unread;
        }
        piece.bytes = bytes.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Behind;

    fn number(call: &str) -> u32 {
        names::number(Abi::I386, call).expect("a call of i386")
    }

    fn widened(call: &str, argument: u8, moment: Moment, bytes: &[u8]) -> Piece {
        let piece = Piece {
            argument,
            element: 0,
            moment,
            address: 0x1000,
            state: State::Whole,
            bytes: bytes.into(),
        };
        let mut memory = Memory::new(vec![piece]);
        widen(number(call) as i32, &mut memory);
        let piece = memory.pieces_mut().next().expect("a piece");
        piece.clone()
    }

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// The numbers of calls, and those by which calls are told.
    fn numbers() -> impl Iterator<Item = u32> {
        (0..512).chain((0..many::TOLD).map(|place| many::at(place).1 as u32))
    }

    #[test]
    fn every_structure_becomes_as_long_as_the_native_one() {
        let rows = numbers().filter_map(row);
        let mut n_widened = 0;
        for row in rows {
            for (_, target) in row.targets {
                let (Target::In(kind, _) | Target::Out(kind, _) | Target::InOut(kind, _)) = target
                else {
                    continue;
                };
                let Some(form) = form(row.call, *kind) else {
                    continue;
                };
                let given = vec![0xff; usize::from(form.size)];
                let wide = match form.shape {
                    Shape::Same => given,
                    Shape::Steps(size, steps) | Shape::Front(size, steps) => {
                        elements(&given, size, steps)
                    }
                    Shape::Signal => signal(&given),
                };
                assert_eq!(
                    wide.len(),
                    usize::from(kind.size()),
                    "{} {kind:?}",
                    row.call
                );
                n_widened += 1;
            }
        }
        assert!(n_widened > 100, "{n_widened}");
    }

    #[test]
    fn no_call_needs_more_fetches_than_programs_make() {
        for number in numbers() {
            let fetches = fetches(number, 64);
            for (moment, most) in [(Moment::Enter, 5), (Moment::Exit, 4)] {
                let at = fetches.iter().filter(|fetch| fetch.moment == moment);
                assert!(at.count() <= most, "{number}");
            }
        }
    }

    #[test]
    fn numbers_of_32_bits_keep_their_signs_and_limits_their_meaning() {
        let time = widened("nanosleep", 0, Moment::Enter, &bytes(&[u32::MAX, 7]));
        assert_eq!(
            *time.bytes,
            [(-1_i64).to_le_bytes(), 7_i64.to_le_bytes()].concat()
        );
        let limits = widened("setrlimit", 1, Moment::Enter, &bytes(&[5, u32::MAX]));
        assert_eq!(
            *limits.bytes,
            [5_u64.to_le_bytes(), u64::MAX.to_le_bytes()].concat()
        );
    }

    #[test]
    fn of_the_nanoseconds_of_a_time_of_64_bits_the_lower_half_counts() {
        let given = bytes(&[1, 0, 5, 0xdead_beef]);
        let time = widened("clock_nanosleep_time64", 2, Moment::Enter, &given);
        assert_eq!(
            *time.bytes,
            [1_i64.to_le_bytes(), 5_i64.to_le_bytes()].concat()
        );
    }

    #[test]
    fn ids_of_16_bits_have_32_and_all_ones_stay_none() {
        let groups = widened(
            "setgroups",
            1,
            Moment::Enter,
            &[5, 0, 0xff, 0xff, 0xfe, 0xff],
        );
        assert_eq!(*groups.bytes, bytes(&[5, u32::MAX, 0xfffe]));
        let groups = widened("setgroups32", 1, Moment::Enter, &bytes(&[5, 0xffff]));
        assert_eq!(*groups.bytes, bytes(&[5, 0xffff]));
    }

    #[test]
    fn a_message_keeps_what_stands_behind_its_type() {
        let sent = widened("msgsnd", 1, Moment::Enter, b"\xff\xff\xff\xfftext");
        assert_eq!(*sent.bytes, [&(-1_i64).to_le_bytes()[..], b"text"].concat());
        let cut = widened("msgrcv", 1, Moment::Exit, b"\x01\0\0");
        assert_eq!((cut.state, cut.bytes.len()), (State::Unread, 0));
    }

    #[test]
    fn what_comes_with_a_signal_stands_where_64_bit_programs_have_it() {
        let told = |call: &str, place, moment, words: &[u32]| {
            let mut given = bytes(words);
            given.resize(128, 0);
            let wide = widened(call, place, moment, &given);
            assert_eq!((wide.state, wide.bytes.len()), (State::Whole, 128));
            let words = wide.bytes.chunks_exact(4);
            let words = words.map(|it| u32::from_le_bytes([it[0], it[1], it[2], it[3]]));
            words.take(12).collect::<Vec<_>>()
        };
        let child = told("waitid", 2, Moment::Exit, &[17, 0, 1, 70, 8, 3, 4, 5]);
        assert_eq!(child, [17, 0, 1, 0, 70, 8, 3, 0, 4, 0, 5, 0]);
        let queued = [10, 0, -1_i32 as u32, 70, 8, 0xffff_fff7];
        let queued = told("rt_sigqueueinfo", 2, Moment::Enter, &queued);
        assert_eq!(queued[3..], [0, 70, 8, 0xffff_fff7, 0, 0, 0, 0, 0]);
        let fault = [11, 0, 3, 0xf000_0000, 7, 0x1000, 0x2000];
        let fault = told("rt_sigtimedwait", 1, Moment::Exit, &fault);
        assert_eq!(fault[3..], [0, 0xf000_0000, 0, 7, 0, 0x1000, 0, 0x2000, 0]);
        let polled = [29, 0, 1, 0x41, 9];
        let polled = told("rt_sigtimedwait", 1, Moment::Exit, &polled);
        assert_eq!(polled[3..8], [0, 0x41, 0, 9, 0]);
        let cut = widened("waitid", 2, Moment::Exit, &[17, 0, 0, 0, 0]);
        assert_eq!((cut.state, cut.bytes.len()), (State::Unread, 0));
    }

    #[test]
    fn an_argument_stands_where_the_native_call_has_it() {
        let path = widened("fanotify_mark", 5, Moment::Enter, b"/a");
        assert_eq!((path.argument, &*path.bytes), (4, &b"/a"[..]));
        let arguments = |call| {
            let fetches = fetches(number(call), 0);
            fetches.iter().map(|it| it.argument).collect::<Vec<_>>()
        };
        assert_eq!(arguments("fanotify_mark"), [5]);
        // The size stands between the path and the structure.
        assert_eq!(arguments("statfs64"), [0, 2]);
        assert_eq!(arguments("waitpid"), [1]);
    }

    #[test]
    fn what_is_in_no_register_is_not_read() {
        for call in ["ipc", "sigsuspend", "read"] {
            assert_eq!(fetches(number(call), 0), [], "{call}");
        }
        // Of these the words alone, as long as it is not known for which call they are.
        for (call, length) in [("select", 20), ("mmap", 24), ("socketcall", 24)] {
            let extents = fetches(number(call), 0);
            let extents: Vec<_> = extents.iter().map(|it| it.extent).collect();
            assert_eq!(extents, [Extent::Fixed(length)], "{call}");
        }
        // The kernel's older structures.
        for call in ["oldolduname", "oldfstat"] {
            assert_eq!(fetches(number(call), 0), [], "{call}");
        }
    }

    #[test]
    fn a_structure_that_is_not_all_there_is_unread() {
        let time = widened("nanosleep", 0, Moment::Enter, &[1, 2, 3]);
        assert_eq!((time.state, time.bytes.len()), (State::Unread, 0));
    }

    #[test]
    fn parts_of_a_message_have_the_places_of_the_native_ones() {
        for what in [
            Behind::NAME,
            Behind::VECTORS,
            Behind::CONTENTS,
            Behind::CONTROL,
        ] {
            assert_eq!(what.narrow().element(), what.element());
        }
        let vectors = Behind::of_vectors(2);
        assert_eq!(vectors.narrow().element_of(3), vectors.element_of(3));
        let narrow = Behind::VECTORS.narrow();
        assert_eq!((narrow.pointer, narrow.length, narrow.unit), (8, 12, 8));
    }

    #[test]
    fn control_messages_are_as_a_64_bit_program_has_them() {
        let rights = [16, libc::SOL_SOCKET as u32, libc::SCM_RIGHTS as u32, 7];
        let wide = control(&bytes(&[rights, rights].concat()));
        assert_eq!(crate::structs::passed(&wide), [7, 7]);
        // Cut within the data, and within a head.
        for length in [14, 20] {
            let mut cut = bytes(&[rights, rights].concat());
            cut.truncate(length);
            assert!(
                crate::structs::passed(&control(&cut)).len() <= 1,
                "{length}"
            );
        }
        for length in [0, 11, u32::MAX] {
            control(&bytes(&[length, 1, 1, 7]));
        }
    }
}
