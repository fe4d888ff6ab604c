//! What the control calls of System V's queues, semaphores and memory are given and answer.

use super::Varying;
use super::pen::Pen;
use super::site::{Bytes, Site};
use crate::names::Abi;
use crate::text::Values;

/// `IPC_SET` and `IPC_STAT` of linux/ipc.h, and the bit that asks for the newer structures.
pub(crate) const SET: u32 = 1;
pub(crate) const STAT: u32 = 2;
pub(crate) const IPC_64: u32 = 0x100;

/// What a structure has behind its permissions.
struct Fields {
    permissions: &'static str,
    all: &'static [(&'static str, usize, Kind)],
    /// What is set with the permissions.
    set: &'static [(&'static str, usize, Kind)],
}

#[derive(Clone, Copy)]
enum Kind {
    Number,
    Time,
    Task,
}

/// `struct msqid64_ds`.
const QUEUE: Fields = Fields {
    permissions: "msg_perm",
    all: &[
        ("msg_stime", 48, Kind::Time),
        ("msg_rtime", 56, Kind::Time),
        ("msg_ctime", 64, Kind::Time),
        ("msg_qnum", 80, Kind::Number),
        ("msg_qbytes", 88, Kind::Number),
        ("msg_lspid", 96, Kind::Task),
        ("msg_lrpid", 100, Kind::Task),
    ],
    set: &[("msg_qbytes", 88, Kind::Number)],
};

/// Whether each time has a word behind it that means nothing, as in 32-bit programs.
const APART: usize = if cfg!(target_arch = "x86_64") { 16 } else { 8 };

/// `struct semid64_ds`.
const SEMAPHORES: Fields = Fields {
    permissions: "sem_perm",
    all: &[
        ("sem_otime", 48, Kind::Time),
        ("sem_ctime", 48 + APART, Kind::Time),
        ("sem_nsems", 48 + 2 * APART, Kind::Number),
    ],
    set: &[],
};

/// `struct shmid64_ds`.
const MEMORY: Fields = Fields {
    permissions: "shm_perm",
    all: &[
        ("shm_segsz", 48, Kind::Number),
        ("shm_cpid", 80, Kind::Task),
        ("shm_lpid", 84, Kind::Task),
        ("shm_nattch", 88, Kind::Number),
        ("shm_atime", 56, Kind::Time),
        ("shm_dtime", 64, Kind::Time),
        ("shm_ctime", 72, Kind::Time),
    ],
    set: &[],
};

/// The structure of `msgctl`, `semctl` or `shmctl`.
pub(super) fn control<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let (fields, command) = match site.name() {
        "msgctl" => (&QUEUE, 1),
        "semctl" => (&SEMAPHORES, 2),
        "shmctl" => (&MEMORY, 1),
        _ => return None,
    };
    let is_set = site.word(command)? as u32 & !IPC_64 == SET;
    let bytes = if is_set {
        site.given()?
    } else {
        site.filled()?
    };
    pen.text("{");
    pen.text(fields.permissions);
    pen.text("={uid=");
    pen.id(bytes.u32(4)?);
    pen.text(", gid=");
    pen.id(bytes.u32(8)?);
    pen.text(", mode=");
    pen.octal(bytes.u32(20)?.into());
    if !is_set {
        pen.text(", key=");
        pen.number(bytes.u32(0)?);
        pen.text(", cuid=");
        pen.id(bytes.u32(12)?);
        pen.text(", cgid=");
        pen.id(bytes.u32(16)?);
    }
    pen.text("}");
    for (name, offset, kind) in if is_set { fields.set } else { fields.all } {
        pen.text(", ");
        pen.text(name);
        pen.text("=");
        field(pen, bytes, *offset, *kind)?;
    }
    pen.text("}");
    Some(())
}

/// The type of a message and the message itself: what the program gives, or what the kernel had.
pub(super) fn message<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    const TYPE: usize = 8;
    let is_received = site.name() == "msgrcv";
    let length = match is_received {
        true => site.result()? as u64,
        false => site.word(2)?,
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let shown = length.min(pen.values.contents());
    let bytes = site.given_or_filled(is_received, TYPE + shown)?;
    pen.text("{mtype=");
    pen.number(bytes.i64(0)?);
    pen.text(", mtext=");
    if shown == 0 && length > 0 {
        let behind = if site.call.abi == Abi::native() { 8 } else { 4 };
        pen.address(site.word(1)?.wrapping_add(behind));
    } else {
        let text = bytes.from(TYPE)?;
        let text = text.get(..shown).unwrap_or(text);
        pen.string(text);
        if text.len() < length {
            pen.text("...");
        }
    }
    pen.text("}");
    Some(())
}

fn field<V: Values>(
    pen: &mut Pen<'_, V>,
    bytes: Bytes<'_>,
    offset: usize,
    kind: Kind,
) -> Option<()> {
    match kind {
        Kind::Number => pen.number(bytes.u64(offset)?),
        Kind::Task => pen.task(bytes.i32(offset)?),
        Kind::Time => match bytes.i64(offset)? {
            0 => pen.text("0"),
            time => {
                pen.varying(Varying::Time, time);
            }
        },
    }
    Some(())
}
