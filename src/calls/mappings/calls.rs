//! Which calls have addresses for arguments, and which change an address space: by name, once.

use super::super::by_row::ByRow;
use super::super::many;
use super::super::names::{self, Abi};
use std::sync::LazyLock;

/// What is to be done about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) effect: Effect,
    /// A bit for each argument that is an address for its own sake.
    pub(super) addresses: u8,
}

/// What a call does to an address space, if it succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    None,
    /// `mmap`, `mmap2`.
    Maps,
    Unmaps,
    Remaps,
    /// `brk`.
    Breaks,
    /// `shmat`.
    Attaches,
    /// `shmdt`.
    Detaches,
    /// `map_shadow_stack`.
    MapsShadowStack,
    /// `clone`, whose stack and thread area are addresses.
    MakesTask,
    /// `ipc`, which is all calls of System V in one.
    Ipc,
    /// What it maps is in memory: the old `mmap`.
    Anything,
}

const NOTHING: Plan = Plan {
    effect: Effect::None,
    addresses: 0,
};

static PLANS: LazyLock<ByRow<Plan>> = LazyLock::new(|| {
    ByRow::new(|name| Plan {
        effect: effect(name),
        addresses: addresses(name),
    })
});

static NEEDED: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| PLANS.names(|plan| !matches!(plan.effect, Effect::None | Effect::MakesTask)));

/// The calls that must be recorded for the places to be right, beside those that tasks are followed
/// by; sorted by name.
#[must_use]
pub fn needed() -> &'static [&'static str] {
    &NEEDED
}

/// What is to be done about a call.
pub(super) fn plan(abi: Abi, number: i32) -> Plan {
    let Some((row, plan)) = PLANS.get(abi, number) else {
        return NOTHING;
    };
    let is_x86_64 = matches!(abi, Abi::X86_64 | Abi::X32);
    match plan.effect {
        // Where `ipc` attaches is in memory.
        Effect::Attaches if many::place(abi, number).is_some() => Plan {
            effect: Effect::Anything,
            ..plan
        },
        _ if many::place(abi, number).is_some() => plan,
        // Its arguments are in memory (sys_old_mmap() of i386); the others have mmap2().
        Effect::Maps if matches!(abi, Abi::I386 | Abi::Arm) && Some(row) == row_of_mmap() => Plan {
            effect: Effect::Anything,
            addresses: 0,
        },
        // The thread area stands before the address of the child's id (CONFIG_CLONE_BACKWARDS).
        Effect::MakesTask if !is_x86_64 => Plan {
            addresses: 0b0_1010,
            ..plan
        },
        _ => plan,
    }
}

fn row_of_mmap() -> Option<usize> {
    static ROW: LazyLock<Option<usize>> = LazyLock::new(|| names::row_of("mmap"));
    *ROW
}

fn effect(name: &str) -> Effect {
    match name {
        "mmap" | "mmap2" => Effect::Maps,
        "munmap" => Effect::Unmaps,
        "mremap" => Effect::Remaps,
        "brk" => Effect::Breaks,
        "shmat" => Effect::Attaches,
        "shmdt" => Effect::Detaches,
        "map_shadow_stack" => Effect::MapsShadowStack,
        "clone" => Effect::MakesTask,
        "ipc" => Effect::Ipc,
        _ => Effect::None,
    }
}

fn addresses(name: &str) -> u8 {
    match name {
        "brk"
        | "madvise"
        | "map_shadow_stack"
        | "mbind"
        | "mincore"
        | "mlock"
        | "mlock2"
        | "mmap"
        | "mmap2"
        | "mprotect"
        | "mseal"
        | "msync"
        | "munlock"
        | "munmap"
        | "pkey_mprotect"
        | "remap_file_pages"
        | "set_mempolicy_home_node"
        | "shmdt" => 0b1,
        "shmat" => 0b10,
        "get_mempolicy" => 0b1000,
        // The stack and the thread area.
        "clone" => 0b1_0010,
        "mremap" => 0b1_0001,
        _ => 0,
    }
}
