//! `prctl`, by its option.

use super::{ArgKind, Case, Commands, ReturnKind, case};
use crate::constants::tables as names;
use ArgKind::{Address, Constants as Of, Hex, Long, Pid, Pointer, Size};

const fn option(name: &str, arguments: &'static [ArgKind]) -> Case {
    case(&names::PRCTL_OPTIONS, name, arguments)
}

const NONE: &[ArgKind] = &[];
const NUMBER: &[ArgKind] = &[Size];
const POINTER: &[ArgKind] = &[Pointer];
/// Options that are refused where the other arguments are not 0.
const ONLY_NUMBER: &[ArgKind] = &[Size, Hex, Hex, Hex];
const ONLY_ZEROS: &[ArgKind] = &[Hex, Hex, Hex, Hex];

/// The options whose arguments are known.
pub(super) static PRCTL: Commands = Commands::at(
    0,
    &[
        option("PR_SET_PDEATHSIG", &[Of(&names::WIDE_SIGNALS)]),
        option("PR_GET_PDEATHSIG", POINTER),
        option("PR_GET_DUMPABLE", NONE).returning(ReturnKind::Constants(&names::DUMPABLE)),
        option("PR_SET_DUMPABLE", &[Of(&names::DUMPABLE)]),
        option("PR_GET_UNALIGN", POINTER),
        option("PR_SET_UNALIGN", &[Of(&names::ALIGNMENTS)]),
        option("PR_GET_KEEPCAPS", NONE),
        option("PR_SET_KEEPCAPS", NUMBER),
        option("PR_GET_FPEMU", POINTER),
        option("PR_SET_FPEMU", NUMBER),
        option("PR_GET_FPEXC", POINTER),
        option("PR_SET_FPEXC", NUMBER),
        option("PR_GET_TIMING", NONE),
        option("PR_SET_TIMING", NUMBER),
        option("PR_SET_NAME", POINTER),
        option("PR_GET_NAME", POINTER),
        option("PR_GET_ENDIAN", POINTER),
        option("PR_SET_ENDIAN", NUMBER),
        option("PR_GET_SECCOMP", NONE),
        option(
            "PR_SET_SECCOMP",
            &[Of(&names::SECCOMP_MODES), Hex, Hex, Hex],
        )
        .then(&SECCOMP),
        option("PR_CAPBSET_READ", &[Of(&names::CAPABILITIES)]),
        option("PR_CAPBSET_DROP", &[Of(&names::CAPABILITIES)]),
        option("PR_GET_TSC", POINTER),
        option("PR_SET_TSC", &[Of(&names::TIME_STAMP_COUNTER)]),
        option("PR_GET_SECUREBITS", NONE).returning(ReturnKind::Constants(&names::SECURE_BITS)),
        option("PR_SET_SECUREBITS", &[Of(&names::SECURE_BITS)]),
        option("PR_SET_TIMERSLACK", &[Long]),
        option("PR_GET_TIMERSLACK", NONE),
        option("PR_TASK_PERF_EVENTS_DISABLE", NONE),
        option("PR_TASK_PERF_EVENTS_ENABLE", NONE),
        option(
            "PR_MCE_KILL",
            &[Of(&names::MACHINE_CHECK_ACTIONS), Hex, Hex, Hex],
        )
        .then(&MACHINE_CHECK),
        option("PR_SET_MM", &[Of(&names::MEMORY_FIELDS), Address, Hex, Hex]),
        option("PR_SET_CHILD_SUBREAPER", NUMBER),
        option("PR_GET_CHILD_SUBREAPER", POINTER),
        option("PR_SET_NO_NEW_PRIVS", ONLY_NUMBER),
        option("PR_GET_NO_NEW_PRIVS", ONLY_ZEROS),
        option("PR_GET_TID_ADDRESS", POINTER),
        option("PR_SET_THP_DISABLE", ONLY_NUMBER),
        option("PR_GET_THP_DISABLE", ONLY_ZEROS),
        option(
            "PR_CAP_AMBIENT",
            &[Of(&names::AMBIENT_OPERATIONS), Hex, Hex, Hex],
        )
        .then(&AMBIENT),
        option("PR_GET_SPECULATION_CTRL", &[Of(&names::SPECULATION)]),
        option("PR_SET_SPECULATION_CTRL", &[Of(&names::SPECULATION), Hex]).then(&SPECULATION),
        option("PR_SVE_SET_VL", &[Of(&names::VECTOR_LENGTHS)]),
        option("PR_SVE_GET_VL", NONE),
        option("PR_SME_SET_VL", &[Of(&names::MATRIX_LENGTHS)]),
        option("PR_SME_GET_VL", NONE),
        option("PR_SET_FP_MODE", &[Hex]),
        option("PR_GET_FP_MODE", NONE),
        option(
            "PR_PAC_RESET_KEYS",
            &[Of(&names::POINTER_KEYS), Hex, Hex, Hex],
        ),
        option(
            "PR_PAC_SET_ENABLED_KEYS",
            &[
                Of(&names::POINTER_KEY_SWITCHES),
                Of(&names::POINTER_KEY_SWITCHES),
                Hex,
                Hex,
            ],
        ),
        option("PR_SET_IO_FLUSHER", ONLY_NUMBER),
        option("PR_GET_IO_FLUSHER", ONLY_ZEROS),
        option(
            "PR_SET_SYSCALL_USER_DISPATCH",
            &[Of(&names::DISPATCH_OPERATIONS), Hex, Hex, Pointer],
        ),
        option(
            "PR_SCHED_CORE",
            &[
                Of(&names::CORE_COMMANDS),
                Pid,
                Of(&names::CORE_SCOPES),
                Pointer,
            ],
        ),
        option(
            "PR_SET_MDWE",
            &[Of(&names::WRITE_EXECUTE_FLAGS), Hex, Hex, Hex],
        ),
        option("PR_SET_VMA", &[Of(&names::MEMORY_NAMES), Hex, Hex, Hex]).then(&MEMORY_NAME),
        option("PR_SET_PTRACER", &[Of(&names::TRACERS)]),
    ],
    Some(ONLY_ZEROS),
);

static SECCOMP: Commands = Commands::at(
    1,
    &[
        case(&names::SECCOMP_MODES, "SECCOMP_MODE_STRICT", NONE),
        case(&names::SECCOMP_MODES, "SECCOMP_MODE_FILTER", POINTER),
    ],
    None,
)
.wide();

static MACHINE_CHECK: Commands = Commands::of_some(
    1,
    2,
    &[case(
        &names::MACHINE_CHECK_ACTIONS,
        "PR_MCE_KILL_SET",
        &[Of(&names::MACHINE_CHECK_POLICIES)],
    )],
    None,
)
.wide();

const CAPABILITY: &[ArgKind] = &[Of(&names::CAPABILITIES)];

const fn ambient(name: &str) -> Case {
    case(&names::AMBIENT_OPERATIONS, name, CAPABILITY)
}

static AMBIENT: Commands = Commands::of_some(
    1,
    2,
    &[
        ambient("PR_CAP_AMBIENT_RAISE"),
        ambient("PR_CAP_AMBIENT_LOWER"),
        ambient("PR_CAP_AMBIENT_IS_SET"),
    ],
    None,
)
.wide();

const CONTROL: &[ArgKind] = &[Of(&names::SPECULATION_CONTROLS)];

const fn speculation(name: &str) -> Case {
    case(&names::SPECULATION, name, CONTROL)
}

static SPECULATION: Commands = Commands::of_some(
    1,
    2,
    &[
        speculation("PR_SPEC_STORE_BYPASS"),
        speculation("PR_SPEC_INDIRECT_BRANCH"),
        speculation("PR_SPEC_L1D_FLUSH"),
    ],
    None,
)
.wide();

static MEMORY_NAME: Commands = Commands::of_some(
    1,
    2,
    &[case(
        &names::MEMORY_NAMES,
        "PR_SET_VMA_ANON_NAME",
        &[Address, Size, Pointer],
    )],
    None,
)
.wide();
