//! The descriptors that stand in what a call's pointers lead to.
//!
//! What a program gives there is read beside the call, and comes with its end. So they are looked
//! up then, and what another thread changed since the call was entered is not known.

use super::super::Call;
use super::super::memory::{Behind, Moment, Several};
use super::super::pointers::FICLONERANGE;
use super::super::structs::{passed, ring};
use super::super::waiting;
use super::effects::Over;
use super::lookup::State;
use super::table::Range;
use super::tables::Tables;

/// Whether calls of this name are given descriptors in memory.
pub(super) fn has_some(name: &str) -> bool {
    let may_have = ["io_uring_register", "ioctl", "sendmmsg", "sendmsg"];
    waiting::waits(name) || may_have.contains(&name) || place(name).is_some()
}

/// Where a structure has a descriptor: the argument that points to it, and the offset.
fn place(name: &str) -> Option<(usize, usize)> {
    match name {
        // `cgroup` of `struct clone_args`.
        "clone3" => Some((0, 80)),
        // `userns_fd` of `struct mount_attr`.
        "mount_setattr" | "open_tree_attr" => Some((3, 24)),
        _ => None,
    }
}

/// Those that were read.
fn numbers(call: &Call) -> Vec<i32> {
    let control = match call.name() {
        Some("sendmsg") => Some(Behind::CONTROL),
        Some("sendmmsg") => Some(Behind::CONTROL.of_messages(2)),
        _ => None,
    };
    if let Some(control) = control {
        let of_each = |place| call.memory.behind_one(1, (control, place), Moment::Enter);
        let pieces = (0..Several::MOST).filter_map(of_each);
        return pieces.flat_map(|piece| passed(&piece.bytes)).collect();
    }
    let request = call.entry.args().map(|args| u64::from(args[1] as u32));
    let place = match call.name() {
        // `src_fd` of `struct file_clone_range`.
        Some("ioctl") if request == Some(FICLONERANGE) => Some((2, 0)),
        Some("ioctl") => return Vec::new(),
        Some("io_uring_register") => return ring::descriptors(call),
        name => name.and_then(place),
    };
    let Some((argument, offset)) = place else {
        return waiting::read_of(call);
    };
    let piece = call.memory.piece(argument, Moment::Enter);
    let rest = piece.and_then(|piece| piece.bytes.get(offset..));
    let number = rest.and_then(|rest| rest.first_chunk());
    let number = number.and_then(|number| i32::try_from(u64::from_le_bytes(*number)).ok());
    number.into_iter().collect()
}

impl Tables {
    /// Puts into a call what the descriptors in its memory refer to.
    pub(super) fn look_into_memory(&self, over: Over<'_>, call: &mut Call) {
        for number in numbers(call) {
            let Ok(of_table) = u32::try_from(number) else {
                continue;
            };
            let is_disturbed = |range: &Range| range.contains(of_table);
            let state = match over.disturbed.iter().any(is_disturbed) {
                true => State::Unknown,
                false => self.look(over.at, of_table).state(),
            };
            call.files.add_in_memory(number, state);
        }
    }
}

/// Of a call whose table is not known, nor are these.
pub(super) fn unknown(call: &mut Call) {
    for number in numbers(call).into_iter().filter(|number| *number >= 0) {
        call.files.add_in_memory(number, State::Unknown);
    }
}
