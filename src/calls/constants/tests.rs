use super::tables;
use super::*;
use crate::text::Shown;
use std::collections::BTreeSet;

fn text(constants: &Constants, word: u64) -> String {
    let mut out = String::new();
    write_constants(&mut out, constants, word, &mut Shown);
    out
}

#[test]
fn values_are_written_by_their_names() {
    let cases: &[(&Constants, u64, &str)] = &[
        (&tables::OPEN_FLAGS, 0, "O_RDONLY"),
        (&tables::OPEN_FLAGS, 0x80000, "O_RDONLY|O_CLOEXEC"),
        (
            &tables::OPEN_FLAGS,
            0xdead_0008_0241,
            "O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC",
        ),
        (&tables::OPEN_FLAGS, 0x4000_0000, "O_RDONLY|0x40000000"),
        (&tables::PROTECTIONS, 0, "PROT_NONE"),
        (&tables::PROTECTIONS, 7, "PROT_READ|PROT_WRITE|PROT_EXEC"),
        (
            &tables::MAPPING_FLAGS,
            0x812,
            "MAP_PRIVATE|MAP_FIXED|MAP_DENYWRITE",
        ),
        (&tables::MAPPING_FLAGS, 0x20, "MAP_FILE|MAP_ANONYMOUS"),
        (
            &tables::MAPPING_FLAGS,
            0x5404_0022,
            "MAP_PRIVATE|MAP_ANONYMOUS|MAP_HUGETLB|21<<MAP_HUGE_SHIFT",
        ),
        (
            &tables::CLONE_FLAGS,
            0x0120_0011,
            "CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD",
        ),
        (&tables::CLONE_FLAGS, 0x11, "SIGCHLD"),
        (&tables::CLONE_FLAGS, 0, "0"),
        (
            &tables::SOCKET_TYPES,
            0x80801,
            "SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK",
        ),
        (&tables::FILE_MODE, 0o100_644, "S_IFREG|0644"),
        (&tables::FILE_MODE, 0o4755, "S_ISUID|0755"),
        (&tables::IPC_GET_FLAGS, 0o1600, "IPC_CREAT|0600"),
        (&tables::IPC_GET_FLAGS, 0o600, "0600"),
        (&tables::KEYS, 0xffff_fffd, "KEY_SPEC_SESSION_KEYRING"),
        (&tables::KEYS, 0xffff_ff00, "-256"),
        (&tables::RUSAGE_WHO, 0xffff_ffff, "RUSAGE_CHILDREN"),
        (&tables::WHENCE, 9, "0x9"),
        (&tables::DEVICE, 0x801, "makedev(0x8, 0x1)"),
        (
            &tables::QUOTA_COMMANDS,
            0xffff_ffff_8000_0700,
            "QCMD(Q_GETQUOTA, USRQUOTA)",
        ),
        (
            &tables::PERSONALITIES,
            0x4_0000,
            "PER_LINUX|ADDR_NO_RANDOMIZE",
        ),
        (&tables::PERSONALITIES, 0xffff_ffff, "0xffffffff"),
        (&tables::IOCTL_COMMANDS, 0x5401, "TCGETS"),
        (
            &tables::IOCTL_COMMANDS,
            0xc008_ee07,
            "_IOC(_IOC_READ|_IOC_WRITE, 0xee, 0x7, 0x8)",
        ),
        // clock_getcpuclockid(41) and the clock of a descriptor 3.
        (
            &tables::CLOCKS,
            0xffff_feb2,
            "MAKE_PROCESS_CPUCLOCK(41, CPUCLOCK_SCHED)",
        ),
        (&tables::CLOCKS, 0xffff_ffe3, "FD_TO_CLOCKID(3)"),
    ];
    for (constants, word, expected) in cases {
        assert_eq!(text(constants, *word), *expected, "{constants:?} {word:#x}");
    }
}

#[test]
fn signals_are_written_by_name() {
    let text = |number| {
        let mut out = String::new();
        write_signal(&mut out, number);
        out
    };
    let texts = [0, 9, 17, 31, 32, 34, 64, 65, -1].map(text);
    let expected = [
        "0", "SIGKILL", "SIGCHLD", "SIGSYS", "SIGRTMIN", "SIGRT_2", "SIGRT_32", "65", "-1",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn no_name_stands_twice_and_no_flag_is_hidden_by_one_before_it() {
    for set in tables::ALL {
        let names: Vec<_> = set.names().map(|(name, _)| name).collect();
        let distinct: BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{set:?}");
        for part in set.parts {
            let Part::Bits(rows) = part else { continue };
            for (at, (name, bits)) in rows.iter().enumerate() {
                let hidden = rows
                    .iter()
                    .take(at)
                    .find(|row| row.1 != 0 && row.1 | bits == row.1);
                // Groups of bits stand in front of those that they are made of.
                let is_part = hidden.is_some_and(|row| row.1 == *bits);
                assert!(!is_part, "{set:?}: {name} after {hidden:?}");
            }
        }
    }
}
