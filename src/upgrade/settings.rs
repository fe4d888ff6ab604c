//! Knows which settings decide how which calls end.

use super::{Facts, lines::Line};
use std::collections::BTreeSet;

/// A setting that differs between two kernels.
#[derive(Debug)]
pub(super) struct Differing<'a> {
    name: &'a str,
    /// Its values; `None` if a kernel lacks it.
    values: (Option<&'a str>, Option<&'a str>),
}

/// The ends of a call on the two kernels: the texts of its line, if it has one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends<'t> {
    pub(super) call: &'t str,
    pub(super) texts: (Option<&'t str>, Option<&'t str>),
    /// Of these what tells how it ended: the result of a call, all of an event.
    pub(super) results: (Option<&'t str>, Option<&'t str>),
}

impl<'t> Ends<'t> {
    /// Of the lines that the two kernels have of a call or event.
    pub(super) fn of(call: &'t str, lines: (Option<&Line<'t>>, Option<&Line<'t>>)) -> Self {
        let text = |line: Option<&Line<'t>>| line.map(|line| line.text);
        let result = |line: Option<&Line<'t>>| line.map(|line| line.result().unwrap_or(line.text));
        Self {
            call,
            texts: (text(lines.0), text(lines.1)),
            results: (result(lines.0), result(lines.1)),
        }
    }
}

impl<'a> Differing<'a> {
    /// Returns all settings that differ.
    pub(super) fn between(base: &'a Facts, other: &'a Facts) -> Vec<Self> {
        let names: BTreeSet<&String> = base.settings.keys().chain(other.settings.keys()).collect();
        let of = |facts: &'a Facts, name: &String| facts.settings.get(name).map(String::as_str);
        let differing = |name: &'a String| {
            let values = (of(base, name), of(other, name));
            (values.0 != values.1).then_some(Self { name, values })
        };
        names.into_iter().filter_map(differing).collect()
    }

    /// Whether it decides how this call ends.
    pub(super) fn decides(&self, ends: Ends<'_>) -> bool {
        let mut limits = LIMITS.iter().filter(|(name, _)| self.name == *name);
        let texts = [ends.texts.0, ends.texts.1];
        if limits.any(|(_, word)| texts.iter().flatten().any(|text| text.contains(word))) {
            return true;
        }
        let is_about = |rule: &&Rule| {
            let Rule(setting, calls, _) = rule;
            self.name.starts_with(setting) && (calls.is_empty() || calls.contains(&ends.call))
        };
        RULES.iter().filter(is_about).any(|rule| {
            let shows = (rule.fits(ends.results.0), rule.fits(ends.results.1));
            match self.values {
                (Some(old), Some(new)) => {
                    (shows.0 && !is_wider(old, new)) || (shows.1 && !is_wider(new, old))
                }
                // A setting that only one kernel has is new there; it is to blame if it is set and
                // the call fails there.
                (Some(value), None) => shows.0 && is_set(value),
                (None, Some(value)) => shows.1 && is_set(value),
                (None, None) => false,
            }
        })
    }

    /// Describes it for a report.
    pub(super) fn said(&self) -> String {
        let [old, new] = [self.values.0, self.values.1].map(|value| value.unwrap_or("not there"));
        format!("{} is {new} instead of {old}", self.name)
    }
}

/// Limits as `/proc/self/limits` and as calls have them.
const LIMITS: &[(&str, &str)] = &[
    ("limit Max address space", "RLIMIT_AS"),
    ("limit Max core file size", "RLIMIT_CORE"),
    ("limit Max cpu time", "RLIMIT_CPU"),
    ("limit Max data size", "RLIMIT_DATA"),
    ("limit Max file size", "RLIMIT_FSIZE"),
    ("limit Max locked memory", "RLIMIT_MEMLOCK"),
    ("limit Max nice priority", "RLIMIT_NICE"),
    ("limit Max open files", "RLIMIT_NOFILE"),
    ("limit Max pending signals", "RLIMIT_SIGPENDING"),
    ("limit Max processes", "RLIMIT_NPROC"),
    ("limit Max stack size", "RLIMIT_STACK"),
];

fn is_set(value: &str) -> bool {
    !matches!(value, "" | "0" | "-1")
}

/// Whether the limit is about as high as on the other kernel: many settings come from the size of
/// the memory, which no two kernels compute alike.
fn is_wider(value: &str, other: &str) -> bool {
    let number = |text: &str| -> Option<u64> { text.split(' ').next()?.parse().ok() };
    match (number(value), number(other)) {
        // A smaller number is a choice and no amount.
        (Some(value), Some(other)) if value.min(other) >= 16 => value >= other / 10 * 9,
        _ => false,
    }
}

impl Rule {
    fn fits(&self, text: Option<&str>) -> bool {
        let Self(_, _, shown) = self;
        let says = |text: &str| shown.iter().any(|word| text.contains(word));
        shown.is_empty() || text.is_some_and(says)
    }
}

/// The prefix of settings, the calls whose ends they decide (empty for any), and what the calls'
/// results then show (empty for anything else).
struct Rule(
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const OPENING: &[&str] = &["open", "openat", "openat2", "creat"];
const MAKING_TASKS: &[&str] = &["clone", "clone3", "fork", "vfork", "unshare"];
const MAPPING: &[&str] = &[
    "brk",
    "clone",
    "clone3",
    "fork",
    "mmap",
    "mprotect",
    "mremap",
    "munmap",
    "remap_file_pages",
];
const LOCKING: &[&str] = &[
    "bpf",
    "io_uring_register",
    "io_uring_setup",
    "mlock",
    "mlock2",
    "mlockall",
    "mmap",
    "perf_event_open",
    "shmctl",
];
const REFUSED: &[&str] = &["EACCES", "EPERM"];

// The names of sysctl(8) by Documentation/admin-guide/sysctl of Linux 7.2, each with the place in
// the kernel that checks it.
const RULES: &[Rule] = &[
    // seccomp(2): a filter may give any error; these are the usual ones, and the signal.
    Rule(
        "Seccomp",
        &[],
        &[
            "EACCES",
            "EINVAL",
            "ENOSYS",
            "EOPNOTSUPP",
            "EPERM",
            "SIGSYS",
        ],
    ),
    Rule("NoNewPrivs", &["execve", "execveat"], &[]),
    Rule("Cap", &["capget", "capset", "prctl"], &[]),
    Rule("Cap", &[], REFUSED),
    Rule("limit Max address space", MAPPING, &["ENOMEM"]),
    Rule("limit Max file size", &[], &["EFBIG", "SIGXFSZ"]),
    Rule(
        "limit Max locked memory",
        LOCKING,
        &["EAGAIN", "ENOMEM", "EPERM"],
    ),
    Rule("limit Max open files", &[], &["EMFILE"]),
    Rule("limit Max processes", MAKING_TASKS, &["EAGAIN"]),
    // may_follow_link(), may_create_in_sticky(), may_linkat().
    Rule("fs.protected_symlinks", &[], &["EACCES"]),
    Rule("fs.protected_hardlinks", &["link", "linkat"], &["EPERM"]),
    Rule("fs.protected_fifos", OPENING, &["EACCES"]),
    Rule("fs.protected_regular", OPENING, &["EACCES"]),
    Rule(
        "fs.nr_open",
        &["dup2", "dup3", "fcntl", "prlimit64", "setrlimit"],
        &["EBADF", "EINVAL", "EMFILE", "EPERM"],
    ),
    Rule("fs.file-max", &[], &["ENFILE"]),
    Rule(
        "fs.pipe-",
        &["fcntl", "pipe", "pipe2"],
        &["EAGAIN", "ENFILE", "EPERM"],
    ),
    Rule(
        "fs.inotify.",
        &["inotify_add_watch", "inotify_init", "inotify_init1"],
        &["EMFILE", "ENOSPC"],
    ),
    Rule("fs.mqueue.", &["mq_open"], &["EINVAL", "EMFILE", "ENOSPC"]),
    Rule("fs.aio-max-nr", &["io_setup"], &["EAGAIN"]),
    Rule(
        "kernel.io_uring_",
        &["io_uring_enter", "io_uring_register", "io_uring_setup"],
        &["EPERM"],
    ),
    Rule("kernel.unprivileged_userns_", MAKING_TASKS, &["EPERM"]),
    Rule(
        "kernel.apparmor_restrict_unprivileged_userns",
        MAKING_TASKS,
        REFUSED,
    ),
    Rule("kernel.unprivileged_bpf_disabled", &["bpf"], &["EPERM"]),
    Rule(
        "kernel.yama.",
        &[
            "kcmp",
            "pidfd_getfd",
            "process_vm_readv",
            "process_vm_writev",
            "ptrace",
        ],
        &["EPERM"],
    ),
    Rule("kernel.perf_event_", &["perf_event_open"], REFUSED),
    Rule("kernel.dmesg_restrict", &["syslog"], &["EPERM"]),
    Rule(
        "kernel.kexec_load_",
        &["kexec_file_load", "kexec_load"],
        &["EPERM"],
    ),
    Rule(
        "kernel.modules_disabled",
        &["delete_module", "finit_module", "init_module"],
        &["EPERM"],
    ),
    Rule("kernel.pid_max", MAKING_TASKS, &["EAGAIN"]),
    Rule("kernel.threads-max", MAKING_TASKS, &["EAGAIN"]),
    Rule(
        "kernel.keys.",
        &["add_key", "keyctl", "request_key"],
        &["EDQUOT"],
    ),
    Rule("kernel.msg", &["msgget", "msgsnd"], &["EINVAL", "ENOSPC"]),
    Rule(
        "kernel.sem",
        &["semget", "semop", "semtimedop"],
        &["E2BIG", "EINVAL", "ENOSPC", "ERANGE"],
    ),
    Rule("kernel.shm", &["shmget"], &["EINVAL", "ENOSPC"]),
    Rule("user.max_user_namespaces", MAKING_TASKS, &["ENOSPC"]),
    Rule(
        "user.max_inotify_",
        &["inotify_add_watch", "inotify_init", "inotify_init1"],
        &["EMFILE", "ENOSPC"],
    ),
    Rule(
        "user.max_fanotify_",
        &["fanotify_init", "fanotify_mark"],
        &["EMFILE", "ENOSPC"],
    ),
    Rule("user.max_", MAKING_TASKS, &["ENOSPC"]),
    Rule("vm.overcommit_", MAPPING, &["ENOMEM"]),
    Rule("vm.max_map_count", MAPPING, &["ENOMEM"]),
    Rule("vm.mmap_min_addr", &["mmap", "mremap"], REFUSED),
    Rule("vm.unprivileged_userfaultfd", &["userfaultfd"], &["EPERM"]),
    Rule("net.core.", &["getsockopt", "setsockopt"], &[]),
    Rule("net.ipv4.ping_group_range", &["socket"], REFUSED),
    Rule(
        "net.ipv4.ip_unprivileged_port_start",
        &["bind"],
        &["EACCES"],
    ),
    Rule("net.ipv4.ip_nonlocal_bind", &["bind"], &["EADDRNOTAVAIL"]),
];
