//! What the control calls of System V's queues, semaphores and memory are given and answer.

use super::Varying;
use super::netlink::form::Form::{Number, Padding, Signed, Varying as Varies};
use super::netlink::form::{Field, Form, size_of_fields};
use super::netlink::plain;
use super::pen::Pen;
use super::site::{Bytes, Site};
use crate::names::Abi;
use crate::pointers::{Step, elements};
use crate::text::Values;

/// The bit that asks for the newer structures (linux/ipc.h); `ipc(2)` alone looks at it.
const IPC_64: u32 = 0x100;

/// What a command is given or answers.
#[derive(Clone, Copy)]
enum Told {
    /// What is set of an object (`IPC_SET`).
    Set,
    /// What is known of an object (`IPC_STAT` and those that find it by its place).
    State,
    /// Limits, and how much is in use.
    Figures(&'static Figures),
}

/// A structure of figures.
struct Figures {
    fields: &'static [Field],
    /// What makes it of that of a 32-bit program, and its size there.
    of_narrow: (usize, &'static [Step]),
}

/// By the calls and their commands (linux/ipc.h, msg.h, sem.h, shm.h).
#[rustfmt::skip]
const COMMANDS: &[(&str, &[u32], Told)] = &[
    ("msgctl", &[1], Told::Set), ("msgctl", &[2, 11, 13], Told::State),
    ("msgctl", &[3], Told::Figures(&QUEUE_LIMITS)), ("msgctl", &[12], Told::Figures(&QUEUES_IN_USE)),
    ("semctl", &[1], Told::Set), ("semctl", &[2, 18, 20], Told::State),
    ("semctl", &[3], Told::Figures(&SEMAPHORE_LIMITS)), ("semctl", &[19], Told::Figures(&SEMAPHORES_IN_USE)),
    ("shmctl", &[1], Told::Set), ("shmctl", &[2, 13, 15], Told::State),
    ("shmctl", &[3], Told::Figures(&MEMORY_LIMITS)), ("shmctl", &[14], Told::Figures(&MEMORY_IN_USE)),
];

fn told(call: &str, command: u32) -> Option<Told> {
    let is_it = |(of, commands, _): &&(&str, &[u32], Told)| {
        *of == call && commands.contains(&(command & !IPC_64))
    };
    COMMANDS.iter().find(is_it).map(|(_, _, told)| *told)
}

/// Whether what a command of these calls is given or answers is told.
pub(crate) fn is_told(call: &str, command: u32) -> bool {
    told(call, command).is_some()
}

const COUNT: Form = Signed(4);
const IN_USE: Form = Varies(4, Varying::Machine);
const MUCH_IN_USE: Form = Varies(8, Varying::Machine);

/// `struct msginfo`; of what is in use it has the number in three of its fields.
const fn queues(used: Form) -> [Field; 8] {
    [
        ("msgpool", used),
        ("msgmap", used),
        ("msgmax", COUNT),
        ("msgmnb", COUNT),
        ("msgmni", COUNT),
        ("msgssz", COUNT),
        ("msgtql", used),
        ("msgseg", Number(2)),
    ]
}
const OF_QUEUES: (usize, &[Step]) = (30, &[Step::Keep(30)]);
static QUEUE_LIMITS: Figures = Figures {
    fields: &queues(COUNT),
    of_narrow: OF_QUEUES,
};
static QUEUES_IN_USE: Figures = Figures {
    fields: &queues(IN_USE),
    of_narrow: OF_QUEUES,
};

/// `struct seminfo`; likewise in two.
const fn semaphores(used: Form) -> [Field; 10] {
    [
        ("semmap", COUNT),
        ("semmni", COUNT),
        ("semmns", COUNT),
        ("semmnu", COUNT),
        ("semmsl", COUNT),
        ("semopm", COUNT),
        ("semume", COUNT),
        ("semusz", used),
        ("semvmx", COUNT),
        ("semaem", used),
    ]
}
const OF_SEMAPHORES: (usize, &[Step]) = (40, &[Step::Keep(40)]);
static SEMAPHORE_LIMITS: Figures = Figures {
    fields: &semaphores(COUNT),
    of_narrow: OF_SEMAPHORES,
};
static SEMAPHORES_IN_USE: Figures = Figures {
    fields: &semaphores(IN_USE),
    of_narrow: OF_SEMAPHORES,
};

/// `struct shminfo64`.
static MEMORY_LIMITS: Figures = Figures {
    fields: &[
        ("shmmax", Number(8)),
        ("shmmin", Number(8)),
        ("shmmni", Number(8)),
        ("shmseg", Number(8)),
        ("shmall", Number(8)),
    ],
    of_narrow: (20, &[Step::Words(5)]),
};

/// `struct shm_info`.
static MEMORY_IN_USE: Figures = Figures {
    fields: &[
        ("used_ids", IN_USE),
        ("", Padding(4)),
        ("shm_tot", MUCH_IN_USE),
        ("shm_rss", MUCH_IN_USE),
        ("shm_swp", MUCH_IN_USE),
        ("swap_attempts", MUCH_IN_USE),
        ("swap_successes", MUCH_IN_USE),
    ],
    of_narrow: (24, &[Step::Keep(4), Step::Zero(4), Step::Words(5)]),
};

/// What a structure has behind its permissions.
struct Fields {
    permissions: &'static str,
    all: &'static [(&'static str, usize, Kind)],
    /// What is set with the permissions.
    set: &'static [(&'static str, usize, Kind)],
    /// How long all of it is.
    size: usize,
    /// How long it is in a 32-bit program, and what makes it of that behind the permissions.
    of_narrow: (usize, &'static [Step]),
}

/// `struct compat_ipc64_perm`.
const PERMISSIONS: &[Step] = &[
    Step::Keep(20),
    Step::Grow(2, 4),
    Step::At(24),
    Step::Keep(4),
    Step::Zero(4),
    Step::Words(2),
];

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
    size: 120,
    of_narrow: (
        88,
        &[
            Step::Keep(24),
            Step::Words(3),
            Step::Keep(8),
            Step::Zero(16),
        ],
    ),
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
    size: 72 + 2 * APART,
    of_narrow: (
        64,
        &[
            Step::Keep(8),
            Step::Zero(APART - 8),
            Step::Keep(8),
            Step::Zero(APART - 8),
            Step::Words(3),
        ],
    ),
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
    size: 112,
    of_narrow: (84, &[Step::Words(1), Step::Keep(32), Step::Words(3)]),
};

/// The structure of `msgctl`, `semctl` or `shmctl`.
pub(super) fn control<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let (fields, place) = match site.name() {
        "msgctl" => (&QUEUE, 1),
        "semctl" => (&SEMAPHORES, 2),
        "shmctl" => (&MEMORY, 1),
        _ => return None,
    };
    let command = site.word(place)? as u32;
    let is_narrow = site.call.abi != Abi::native();
    // The older structures.
    if is_narrow && site.call.operation().is_some() && command & IPC_64 == 0 {
        return None;
    }
    let told = told(site.name(), command)?;
    let is_set = matches!(told, Told::Set);
    let (size, (of_narrow, steps)) = match told {
        Told::Figures(figures) => (size_of_fields(figures.fields), figures.of_narrow),
        _ => (fields.size, fields.of_narrow),
    };
    let size_there = if is_narrow { of_narrow } else { size };
    let read = site.given_or_filled(!is_set, size_there)?;
    let wide = match (is_narrow, told) {
        (false, _) => None,
        (_, Told::Figures(_)) => Some(elements(read.whole(), of_narrow, steps)),
        _ => Some(elements(
            read.whole(),
            of_narrow,
            &[PERMISSIONS, steps].concat(),
        )),
    };
    let bytes = wide.as_deref().map_or(read, Bytes::of);
    if let Told::Figures(figures) = told {
        pen.text("{");
        plain(pen, figures.fields, bytes, site)?;
        pen.text("}");
        return Some(());
    }
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
