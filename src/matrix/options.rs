//! The options of a kernel's configuration that a guest and scenarios take, with those that they
//! depend on: the one source of hints and of the fragment that `harness doctor` prints.
//!
//! What Kconfig selects by itself is left out. An option that depends on another is dropped without
//! a word where that one is not set, so each stands here with what it depends on.

use crate::scenario::Architecture;
use std::fmt::Write;

/// An option, and what it is for.
pub(super) type Wanted = (&'static str, &'static str);

/// What a guest takes to run a command.
pub(super) const TO_BOOT: &[Wanted] = &[
    ("BLK_DEV_INITRD", "an initramfs"),
    ("BINFMT_ELF", "programs"),
    ("UNIX", "starts of programs"),
    ("NET", "sockets"),
    ("INET", "sockets"),
    ("PRINTK", "the console"),
    ("TTY", "the console"),
    ("UNIX98_PTYS", "terminals"),
    ("PROC_FS", "facts of processes"),
    ("SYSFS", "facts of devices"),
    ("SHMEM", "writes that stay in the guest"),
    ("TMPFS", "writes that stay in the guest"),
    ("DEVTMPFS", "device files"),
    ("PCI", "devices"),
    ("VIRTIO_MENU", "devices"),
    ("VIRTIO_PCI", "devices"),
    ("VIRTIO_CONSOLE", "the line to the host"),
];

/// What it takes beside in a guest of an architecture: the machine's bus, and the console, which
/// tells why a guest does not come up.
pub(super) const fn of_machine(arch: Architecture) -> &'static [Wanted] {
    match arch {
        // `make tinyconfig` is for 32 bits.
        Architecture::Amd64 => &[
            ("64BIT", "64-bit programs"),
            ("SERIAL_8250", "the console"),
            ("SERIAL_8250_CONSOLE", "the console"),
        ],
        Architecture::Arm64 => &[
            ("PCI_HOST_GENERIC", "devices"),
            ("SERIAL_AMBA_PL011", "the console"),
            ("SERIAL_AMBA_PL011_CONSOLE", "the console"),
        ],
    }
}

/// What it takes to read the host's files.
pub(super) const TO_SHARE: &[Wanted] = &[
    ("NETWORK_FILESYSTEMS", "the host's files"),
    ("NET_9P", "the host's files"),
    ("NET_9P_VIRTIO", "the host's files"),
    ("9P_FS", "the host's files"),
    ("OVERLAY_FS", "writes that stay in the guest"),
];

/// What it takes to read files of its own on a disk.
pub(super) const TO_READ_DISK: &[Wanted] = &[
    ("BLOCK", "the disk with its files"),
    ("BLK_DEV", "the disk with its files"),
    ("VIRTIO_BLK", "the disk with its files"),
    ("EXT4_FS", "the files on the disk"),
    ("OVERLAY_FS", "writes that stay in the guest"),
];

/// What scenarios take beside.
pub(super) const TO_TRACE: &[Wanted] = &[
    ("PERF_EVENTS", "events"),
    ("FTRACE", "tracepoints"),
    ("FTRACE_SYSCALLS", "the tracepoints of calls"),
    ("BPF_SYSCALL", "what calls read and write"),
    ("NAMESPACES", "a world of its own"),
    ("USER_NS", "a world of its own"),
];

/// What a part of scenarios takes: those are skipped without it, or their programs find less.
const TO_TRACE_ALL: &[Wanted] = &[
    ("MODULES", "probes"),
    ("KALLSYMS", "probes, names of the kernel's functions"),
    ("KPROBES", "probes"),
    ("KPROBE_EVENTS", "probes"),
    ("UPROBE_EVENTS", "probes"),
    ("BPF_EVENTS", "what calls read and write"),
    ("BPF_JIT", "what calls read and write"),
    ("SECCOMP", "faults"),
    ("SECCOMP_FILTER", "faults"),
    ("CROSS_MEMORY_ATTACH", "faults and power cuts"),
    ("FHANDLE", "power cuts, of files that were removed"),
    ("UTS_NS", "a world of its own"),
    ("SYSVIPC", "a world of its own"),
    ("POSIX_MQUEUE", "a world of its own"),
    ("IPC_NS", "a world of its own"),
    ("PID_NS", "a world of its own"),
    ("NET_NS", "a world of its own"),
    ("CGROUPS", "limits"),
    ("CGROUP_PERF", "many events at once"),
    ("CGROUP_PIDS", "limits"),
    ("MEMCG", "limits"),
    ("PROC_SYSCTL", "settings"),
    ("CHECKPOINT_RESTORE", "processes that are left"),
    ("SECURITY", "Landlock"),
    ("SECURITYFS", "Landlock"),
    ("SECURITY_LANDLOCK", "Landlock"),
];

/// What ordinary programs call, and what a configuration for small machines leaves out.
const TO_RUN: &[Wanted] = &[
    ("SMP", "several CPUs"),
    ("HIGH_RES_TIMERS", "times"),
    ("MULTIUSER", "users"),
    ("BINFMT_SCRIPT", "scripts"),
    ("FUTEX", "calls"),
    ("EPOLL", "calls"),
    ("EVENTFD", "calls"),
    ("SIGNALFD", "calls"),
    ("TIMERFD", "calls"),
    ("POSIX_TIMERS", "calls"),
    ("AIO", "calls"),
    ("IO_URING", "calls"),
    ("ADVISE_SYSCALLS", "calls"),
    ("MEMBARRIER", "calls"),
    ("RSEQ", "calls"),
    ("FILE_LOCKING", "calls"),
    ("TMPFS_XATTR", "attributes"),
    ("TMPFS_POSIX_ACL", "access lists"),
    ("IPV6", "addresses"),
    ("INOTIFY_USER", "calls"),
    ("FANOTIFY", "calls"),
];

/// What is set by default with these options and is better left out: it adds an interface (`sit0`)
/// to each network, and programs show it that list interfaces.
const LEFT_OUT: &str = "IPV6_SIT";

/// Returns all of it as a fragment of a configuration, as the kernel's own
/// `scripts/kconfig/merge_config.sh` takes.
#[must_use]
pub fn fragment(arch: Architecture) -> String {
    let parts = [
        ("a guest comes up", TO_BOOT),
        ("a guest comes up, of its machine", of_machine(arch)),
        ("its files are the host's, by 9p", TO_SHARE),
        ("its files are on a disk", TO_READ_DISK),
        ("scenarios run", TO_TRACE),
        ("all scenarios run", TO_TRACE_ALL),
        ("programs find what they call", TO_RUN),
    ];
    let mut text = String::new();
    for (what, options) in parts {
        // It cannot fail: it writes into memory.
        writeln!(text, "# {what}").ok();
        for (option, _) in options {
            let line = format!("CONFIG_{option}=y\n");
            if !text.contains(&line) {
                text.push_str(&line);
            }
        }
    }
    writeln!(text, "# CONFIG_{LEFT_OUT} is not set").ok();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_has_each_option_once_and_those_of_its_machine() {
        for (arch, own, other) in [
            (Architecture::Amd64, "64BIT", "PCI_HOST_GENERIC"),
            (Architecture::Arm64, "PCI_HOST_GENERIC", "64BIT"),
        ] {
            let text = fragment(arch);
            let mut options: Vec<&str> =
                text.lines().filter(|line| !line.starts_with('#')).collect();
            assert!(options.contains(&format!("CONFIG_{own}=y").as_str()));
            assert!(!options.contains(&format!("CONFIG_{other}=y").as_str()));
            let n_options = options.len();
            options.sort_unstable();
            options.dedup();
            assert_eq!(options.len(), n_options, "{text}");
        }
    }
}
