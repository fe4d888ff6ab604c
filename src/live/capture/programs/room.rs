//! Where a record of a call goes in the ring of its CPU.

use super::super::asm::{Asm, Helper, If, Label, Op, R0, R1, R2, R7, R8, R9, STACK, Width};
use super::calls::{Contents, PIECE, PLACE, Recording, length};
use crate::ring::calls::{CHUNK, SHORTEST, control};

/// The search for a record's place. What is rare stands behind what is common, for the verifier
/// too, which follows no way that is a case of one that it has followed.
pub(super) struct Room {
    is_short: Label,
    fits: Label,
}

impl Room {
    pub(super) fn new(a: &mut Asm) -> Self {
        let (is_short, fits) = (a.label(), a.label());
        Self { is_short, fits }
    }

    /// `R9 = ` where the record starts in the ring of the control block `R8`, `R7 = ` its memory.
    pub(super) fn find(&self, a: &mut Asm, recording: &Recording, contents: Contents, lost: Label) {
        let longest = contents.longest();
        a.load(Width::D, R9, R8, control::HEAD as i16);
        a.mov_reg(R1, R9);
        a.op(Op::And, R1, CHUNK as i32 - 1);
        a.jump_if(If::Gt, R1, CHUNK as i32 - longest, self.is_short);
        a.here(self.fits);
        a.mov_reg(R1, R9);
        a.op(Op::Add, R1, SHORTEST as i32);
        if contents == Contents::InBuffer {
            length(a, R2);
            a.op_reg(Op::Add, R1, R2);
        }
        a.load(Width::D, R2, R8, control::TAIL as i16);
        a.op_reg(Op::Sub, R1, R2);
        a.load(Width::D, R2, R8, control::CAPACITY as i16);
        a.jump_if_reg(If::Gt, R1, R2, lost);
        memory(a, recording, longest, lost);
    }

    /// Goes on in the next chunk.
    pub(super) fn go_on(
        &self,
        a: &mut Asm,
        recording: &Recording,
        contents: Contents,
        lost: Label,
    ) {
        let marked = a.label();
        a.here(self.is_short);
        if contents == Contents::InBuffer {
            // Where a shorter record would have had room the reader is told that none lies there.
            a.jump_if(If::Gt, R1, (CHUNK - SHORTEST) as i32, marked);
            memory(a, recording, SHORTEST as i32, lost);
            a.store_number(Width::D, R7, 0, 0);
            a.here(marked);
        }
        a.op(Op::Or, R9, CHUNK as i32 - 1);
        a.op(Op::Add, R9, 1);
        a.jump(self.fits);
    }
}

/// `R7 = ` the memory of the ring at `R9`, with room for so many bytes.
fn memory(a: &mut Asm, recording: &Recording, room: i32, none: Label) {
    let chunk = CHUNK as i32;
    a.mov_reg(R1, R9);
    a.op(Op::Rsh, R1, CHUNK.trailing_zeros() as i32);
    a.load(Width::D, R2, R8, control::CHUNK_MASK as i16);
    a.op_reg(Op::And, R1, R2);
    a.store(Width::W, STACK, PIECE, R1);
    a.map(R1, recording.rings);
    a.lea(R2, STACK, PLACE.into());
    a.call(Helper::MapLookup);
    a.jump_if(If::Eq, R0, 0, none);
    a.mov_reg(R1, R0);
    a.lea(R2, STACK, PIECE.into());
    a.call(Helper::MapLookup);
    a.jump_if(If::Eq, R0, 0, none);
    a.mov_reg(R1, R9);
    a.op(Op::And, R1, chunk - 1);
    // For the verifier, which does not know what was found out about `R9`.
    a.jump_if(If::Gt, R1, chunk - room, none);
    a.mov_reg(R7, R0);
    a.op_reg(Op::Add, R7, R1);
}
