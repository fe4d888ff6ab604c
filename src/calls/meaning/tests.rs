use super::commands::ALL;
use super::*;
use crate::Signature;
use crate::constants::tables as names;
use crate::kinds::{arg_kind, return_kind};
use crate::text::{Shown, write_word};

/// One call a line: its name, then its arguments, each `index kind type name`, parted by ` | `.
const REVIEWED: &str = include_str!("../../../harness/fixtures/syscall-argument-kinds.txt");

/// The signature of a call by the review of all kernels, as the running kernel's format would give
/// it.
fn signature(call: &str) -> Signature {
    let mut lines = REVIEWED.lines().filter_map(|line| line.split_once(": "));
    let (_, line) = lines.find(|(name, _)| *name == call).expect("a call");
    let mut arguments: Vec<Argument> = Vec::new();
    for argument in line.split(" | ") {
        let (place, declaration) = argument.split_once(' ').expect("a place");
        let (c_type, name) = declaration.rsplit_once(' ').expect("a type and a name");
        let c_type = c_type.split_once(' ').map_or("", |(_, c_type)| c_type);
        let place: usize = place.parse().expect("a number");
        if place == arguments.len() {
            arguments.push(Argument {
                alias: None,
                is_implied: false,
                name: name.into(),
                kind: arg_kind(call, place, name, c_type),
            });
        }
    }
    Signature {
        hides: false,
        hides_result: false,
        name: "",
        by_command: Vec::new(),
        depends: depends(call, &arguments),
        arguments,
        returns: return_kind(call),
    }
}

fn text(call: &str, words: [u64; 6]) -> String {
    let meanings = signature(call).meanings(&words);
    let mut texts = Vec::new();
    for (place, kind) in meanings.shown() {
        let mut out = String::new();
        write_word(&mut out, kind, words[place], &mut Shown);
        texts.push(out);
    }
    texts.join(", ")
}

#[track_caller]
fn check(call: &str, words: &[u64], expected: &str) {
    let mut all = [0x5bad_c0de; 6];
    for (to, word) in all.iter_mut().zip(words) {
        *to = *word;
    }
    assert_eq!(text(call, all), expected, "{call}{words:x?}");
}

#[test]
fn what_the_kernel_does_not_look_at_is_not_shown() {
    check("openat", &[0xffff_ff9c, 0, 0], "AT_FDCWD, NULL, O_RDONLY");
    check(
        "openat",
        &[0xffff_ff9c, 0, 0x41, 0o644],
        "AT_FDCWD, NULL, O_WRONLY|O_CREAT, 0644",
    );
    check("mremap", &[0x1000, 1, 2, 1], "0x1000, 1, 2, MREMAP_MAYMOVE");
    check(
        "mremap",
        &[0x1000, 1, 2, 3, 0x2000],
        "0x1000, 1, 2, MREMAP_MAYMOVE|MREMAP_FIXED, 0x2000",
    );
    check("mknod", &[0, 0o010_600], "NULL, S_IFIFO|0600");
    check(
        "mknod",
        &[0, 0o060_600, 0x801],
        "NULL, S_IFBLK|0600, makedev(0x8, 0x1)",
    );
    check("preadv2", &[3, 0, 1, 8, 9, 8], "3, NULL, 1, 8, RWF_NOWAIT");
    check("membarrier", &[0, 0], "MEMBARRIER_CMD_QUERY, 0");
}

#[test]
fn a_command_decides_what_follows_it() {
    check("fcntl", &[3, 1], "3, F_GETFD");
    check("fcntl", &[3, 2, 1], "3, F_SETFD, FD_CLOEXEC");
    check("fcntl", &[3, 0, 10], "3, F_DUPFD, 10");
    check("fcntl", &[3, 10, 34], "3, F_SETSIG, SIGRT_2");
    check("fcntl", &[3, 77, 16], "3, 0x4d, 0x10");
    check(
        "futex",
        &[0, 128, 2, 0],
        "NULL, FUTEX_WAIT_PRIVATE, 2, NULL",
    );
    check("futex", &[0, 1, 2], "NULL, FUTEX_WAKE, 2");
    // Of one that there is not the kernel takes no more bits either.
    check(
        "futex",
        &[0, 0x7e, 2, 3, 4, 0x5_0000_0006],
        "NULL, 0x7e, 2, 0x3, 0x4, 0x6",
    );
    check(
        "futex",
        &[0, 393, 0, 0, 0, 0xffff_ffff],
        "NULL, FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, 0, NULL, FUTEX_BITSET_MATCH_ANY",
    );
    check(
        "prctl",
        &[38, 1, 0, 0, 0],
        "PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0",
    );
    check("prctl", &[1, 9], "PR_SET_PDEATHSIG, SIGKILL");
    check("socket", &[16, 3, 0], "AF_NETLINK, SOCK_RAW, NETLINK_ROUTE");
    check("socket", &[2, 1, 6], "AF_INET, SOCK_STREAM, IPPROTO_TCP");
    check(
        "setsockopt",
        &[3, 1, 2, 0, 4],
        "3, SOL_SOCKET, SO_REUSEADDR, NULL, 4",
    );
    check("kcmp", &[0, 0, 1], "0, 0, KCMP_VM");
    check("ioctl", &[3, 0x5451], "3, FIOCLEX");
    check(
        "quotactl",
        &[0xffff_ffff_8000_0101, 0],
        "QCMD(Q_SYNC, GRPQUOTA), NULL",
    );
}

#[test]
fn no_half_of_a_register_is_dropped_that_the_kernel_takes() {
    const HIGH: u64 = 1 << 32;
    check(
        "mbind",
        &[0x1000, 1, HIGH | 4, 0, 0, 0],
        "0x1000, 1, 0x100000004, NULL, 0, 0",
    );
    check(
        "futex_wake",
        &[0, HIGH | 1, 2, 2],
        "NULL, 0x100000001, 2, FUTEX2_SIZE_U32",
    );
    check(
        "futex_wait",
        &[0, 1, HIGH | 0xffff_ffff, 2, 0, 0],
        "NULL, 1, 0x1ffffffff, FUTEX2_SIZE_U32, NULL, CLOCK_REALTIME",
    );
    check("fcntl", &[3, 0, HIGH | 10], "3, F_DUPFD, 4294967306");
    check("prctl", &[1, HIGH | 9], "PR_SET_PDEATHSIG, 4294967305");
    check("ioctl", &[3, 0x540a, HIGH], "3, TCXONC, 0x100000000");
    // Neither is the command that the lower half names.
    check("ptrace", &[HIGH, 1, 0, 0], "0x100000000, 1, NULL, NULL");
    check(
        "prctl",
        &[22, HIGH | 1, 0, 0, 0],
        "PR_SET_SECCOMP, 0x100000001, 0, 0, 0",
    );
}

#[test]
fn a_name_is_that_of_its_call() {
    check("membarrier", &[3, 0], "0x3, 0");
    check(
        "fanotify_mark",
        &[3, 0x111, 2, 4, 0],
        "3, FAN_MARK_ADD|FAN_MARK_MNTNS, FAN_MODIFY, 4, NULL",
    );
    check(
        "getsockopt",
        &[3, 1, 26, 0, 0],
        "3, SOL_SOCKET, SO_GET_FILTER, NULL, NULL",
    );
    check(
        "setsockopt",
        &[3, 1, 26, 0, 0],
        "3, SOL_SOCKET, SO_ATTACH_FILTER, NULL, 0",
    );
    // 0x200 and 0x400 are flags of calls that remove and link.
    check(
        "fchmodat2",
        &[3, 0, 0o644, 0x300],
        "3, NULL, 0644, AT_SYMLINK_NOFOLLOW|0x200",
    );
    for call in ["setxattrat", "getxattrat"] {
        check(
            call,
            &[3, 0, 0x1400, 0, 0, 0],
            "3, NULL, AT_EMPTY_PATH|0x400, NULL, NULL, 0",
        );
    }
    for call in ["file_getattr", "file_setattr"] {
        check(
            call,
            &[3, 0, 0, 24, 0x900],
            "3, NULL, NULL, 24, AT_SYMLINK_NOFOLLOW|0x800",
        );
    }
    check(
        "prctl",
        &[60, 0x1f, 0x10, 0, 0],
        "PR_PAC_SET_ENABLED_KEYS, \
         PR_PAC_APIAKEY|PR_PAC_APIBKEY|PR_PAC_APDAKEY|PR_PAC_APDBKEY|0x10, 0x10, 0, 0",
    );
    check("sched_get_priority_max", &[0x4000_0001], "0x40000001");
}

/// The order of clone's last two arguments is that of `CONFIG_CLONE_BACKWARDS` on aarch64, as its
/// `format` file shows.
#[test]
fn clone_is_read_in_the_order_of_its_kernel() {
    check("clone", &[0x11, 0], "SIGCHLD, NULL");
    let words = [0x0120_0011, 0, 1, 2, 3, 4];
    let on_x86_64 = signature("clone");
    assert_eq!(on_x86_64.meanings(&words).shown, 4);
    let mut on_aarch64 = on_x86_64;
    on_aarch64.arguments.swap(3, 4);
    on_aarch64.depends = depends("clone", &on_aarch64.arguments);
    assert_eq!(on_aarch64.meanings(&words).shown, 5);
}

#[test]
fn a_result_is_what_the_command_says() {
    let returns = |call: &str, command: u64| {
        let words = [3, command, 0, 0, 0, 0];
        signature(call).meanings(&words).returns
    };
    assert_eq!(returns("fcntl", 0), ReturnKind::Fd);
    assert_eq!(
        returns("fcntl", 3),
        ReturnKind::Constants(&names::OPEN_FLAGS)
    );
    assert_eq!(returns("fcntl", 2), ReturnKind::Number);
}

/// A misspelt command would never be found.
#[test]
fn every_command_of_a_case_has_a_value() {
    let tables = [
        &sockets::PROTOCOL,
        &sockets::OPTION_SET,
        &sockets::OPTION_GOT,
        &prctl::PRCTL,
        &ioctl::IOCTL,
    ];
    for commands in ALL.iter().chain(&tables) {
        for (number, case) in commands.cases.iter().enumerate() {
            // Requests of single architectures.
            let is_known = case.command != NO_VALUE || cfg!(not(target_arch = "x86_64"));
            assert!(is_known, "{number}: {case:?}");
        }
    }
}
