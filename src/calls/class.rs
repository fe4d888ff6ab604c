//! strace's classes of system calls: `%file`, `%network` and their like.
//!
//! Membership is measured, not copied: a program issues every number of x86_64, i386 and x32 behind
//! a seccomp filter that answers `ENOSYS` to any call whose sixth argument is a marker (so that
//! none of them is executed), under `strace -f -e trace=%CLASS` (strace 6.1), and the names that
//! strace prints are the members. The three conventions agree on every name. Calls that strace 6.1
//! does not know stand apart, in the classes of their nearest relative: `openat` for a call with a
//! directory descriptor and a path, `madvise` for `mseal`, `sendto` for `send`.

use super::names;

/// The members of strace's class `name` (without its leading `%`), or nothing if there is no such
/// class.
///
/// A member is a name of some convention, not always of the native one: `%file` has `stat64` too.
pub fn class_members(name: &str) -> Option<impl Iterator<Item = &'static str>> {
    let name = if name == "net" { "network" } else { name };
    let (_, measured) = MEASURED.iter().find(|(class, _)| *class == name)?;
    let newer = NEWER
        .iter()
        .filter(move |(class, _)| *class == name)
        .map(|(_, members)| *members);
    Some(
        std::iter::once(*measured)
            .chain(newer)
            .flat_map(str::split_ascii_whitespace),
    )
}

/// The names of the classes, without the leading `%`: `file`, `%stat` for `%%stat`, and so on.
pub fn class_names() -> impl Iterator<Item = &'static str> {
    MEASURED
        .iter()
        .map(|(class, _)| *class)
        .chain(std::iter::once("net"))
}

/// The rows of the members in the table of names.
pub(super) fn class_rows(name: &str) -> Option<impl Iterator<Item = usize>> {
    Some(class_members(name)?.filter_map(names::row_of))
}

/// What strace 6.1 printed for each class.
const MEASURED: &[(&str, &str)] = &[
    (
        "file",
        "access acct chdir chmod chown chown32 chroot creat execve execveat faccessat faccessat2 \
         fanotify_mark fchmodat fchownat fsconfig fspick fstatat64 futimesat getcwd getxattr \
         inotify_add_watch lchown lchown32 lgetxattr link linkat listxattr llistxattr lremovexattr \
         lsetxattr lstat lstat64 mkdir mkdirat mknod mknodat mount mount_setattr move_mount \
         name_to_handle_at newfstatat oldlstat oldstat open open_tree openat openat2 pivot_root \
         quotactl readlink readlinkat removexattr rename renameat renameat2 rmdir setxattr stat \
         stat64 statfs statfs64 statx swapoff swapon symlink symlinkat truncate truncate64 umount \
         umount2 unlink unlinkat uselib utime utimensat utimensat_time64 utimes",
    ),
    (
        "process",
        "clone clone3 execve execveat exit exit_group fork kill pidfd_send_signal rt_sigqueueinfo \
         rt_tgsigqueueinfo tgkill tkill vfork wait4 waitid waitpid",
    ),
    (
        "network",
        "accept accept4 bind connect getpeername getpmsg getsockname getsockopt listen putpmsg \
         recvfrom recvmmsg recvmmsg_time64 recvmsg sendfile sendfile64 sendmmsg sendmsg sendto \
         setsockopt shutdown socket socketpair",
    ),
    (
        "signal",
        "io_uring_enter kill pause pidfd_send_signal rt_sigaction rt_sigpending rt_sigprocmask \
         rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 \
         rt_tgsigqueueinfo sgetmask sigaction sigaltstack signal signalfd signalfd4 sigpending \
         sigprocmask sigreturn sigsuspend ssetmask tgkill tkill",
    ),
    (
        "ipc",
        "ipc msgctl msgget msgrcv msgsnd semctl semget semop semtimedop semtimedop_time64 shmat \
         shmctl shmdt shmget",
    ),
    (
        "desc",
        "_llseek _newselect bpf close copy_file_range creat dup dup2 dup3 epoll_create epoll_create1 \
         epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 execveat faccessat faccessat2 \
         fadvise64 fadvise64_64 fallocate fanotify_init fanotify_mark fchdir fchmod fchmodat fchown \
         fchown32 fchownat fcntl fcntl64 fdatasync fgetxattr finit_module flistxattr flock \
         fremovexattr fsconfig fsetxattr fsmount fsopen fspick fstat fstat64 fstatat64 fstatfs \
         fstatfs64 fsync ftruncate ftruncate64 futimesat getdents getdents64 inotify_add_watch \
         inotify_init inotify_init1 inotify_rm_watch io_uring_enter io_uring_register io_uring_setup \
         ioctl kexec_file_load landlock_add_rule landlock_create_ruleset landlock_restrict_self \
         linkat lseek memfd_create memfd_secret mkdirat mknodat mmap mmap2 mount_setattr move_mount \
         mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedreceive_time64 mq_timedsend \
         mq_timedsend_time64 name_to_handle_at newfstatat oldfstat open open_by_handle_at open_tree \
         openat openat2 perf_event_open pidfd_getfd pidfd_open pidfd_send_signal pipe pipe2 poll \
         ppoll ppoll_time64 pread64 preadv preadv2 process_madvise process_mrelease pselect6 \
         pselect6_time64 pwrite64 pwritev pwritev2 quotactl_fd read readahead readdir readlinkat \
         readv renameat renameat2 select sendfile sendfile64 setns signalfd signalfd4 socketcall \
         splice statx symlinkat sync_file_range syncfs tee timerfd_create timerfd_gettime \
         timerfd_gettime64 timerfd_settime timerfd_settime64 unlinkat userfaultfd utimensat \
         utimensat_time64 vmsplice write writev",
    ),
    (
        "memory",
        "break brk get_mempolicy io_destroy io_setup io_uring_register madvise mbind migrate_pages \
         mincore mlock mlock2 mlockall mmap mmap2 move_pages mprotect mremap msync munlock munlockall \
         munmap pkey_mprotect remap_file_pages set_mempolicy set_mempolicy_home_node shmat shmdt",
    ),
    (
        "creds",
        "capget capset getegid getegid32 geteuid geteuid32 getgid getgid32 getgroups getgroups32 \
         getresgid getresgid32 getresuid getresuid32 getuid getuid32 prctl setfsgid setfsgid32 \
         setfsuid setfsuid32 setgid setgid32 setgroups setgroups32 setregid setregid32 setresgid \
         setresgid32 setresuid setresuid32 setreuid setreuid32 setuid setuid32",
    ),
    ("stat", "oldstat stat stat64"),
    ("lstat", "lstat lstat64 oldlstat"),
    ("fstat", "fstat fstat64 fstatat64 newfstatat oldfstat statx"),
    (
        "%stat",
        "fstat fstat64 fstatat64 lstat lstat64 newfstatat oldfstat oldlstat oldstat stat stat64 statx",
    ),
    ("statfs", "statfs statfs64"),
    ("fstatfs", "fstatfs fstatfs64"),
    ("%statfs", "fstatfs fstatfs64 statfs statfs64 ustat"),
    (
        "clock",
        "adjtimex clock_adjtime clock_adjtime64 clock_getres clock_getres_time64 clock_gettime \
         clock_gettime64 clock_settime clock_settime64 gettimeofday settimeofday time",
    ),
    (
        "pure",
        "getegid getegid32 geteuid geteuid32 getgid getgid32 getpgrp getpid getppid gettid getuid \
         getuid32",
    ),
];

/// Calls younger than strace 6.1, and those that only 32-bit ARM has.
const NEWER: &[(&str, &str)] = &[
    (
        "file",
        "fchmodat2 file_getattr file_setattr getxattrat listxattrat open_tree_attr removexattrat \
         setxattrat",
    ),
    ("network", "recv send"),
    (
        "desc",
        "arm_fadvise64_64 cachestat fchmodat2 file_getattr file_setattr getxattrat listxattrat \
         open_tree_attr removexattrat setxattrat sync_file_range2",
    ),
    ("memory", "map_shadow_stack mseal"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn members(class: &str) -> Vec<&'static str> {
        class_members(class).expect("a known class").collect()
    }

    #[test]
    fn every_member_is_a_name_of_the_table() {
        for class in class_names() {
            for member in members(class) {
                assert!(names::row_of(member).is_some(), "%{class}: {member}");
            }
            assert_eq!(
                class_rows(class).expect("a known class").count(),
                members(class).len()
            );
        }
    }

    #[test]
    fn no_member_is_listed_twice() {
        for class in class_names() {
            let mut sorted = members(class);
            sorted.sort_unstable();
            assert!(sorted.is_sorted_by(|a, b| a < b), "%{class}");
        }
    }

    #[test]
    fn classes_hold_what_strace_showed() {
        assert!(members("file").contains(&"openat"));
        assert!(members("desc").contains(&"openat"));
        assert!(members("process").contains(&"kill"));
        assert_eq!(members("lstat"), ["lstat", "lstat64", "oldlstat"]);
        assert_eq!(members("net"), members("network"));
        assert!(members("%stat").contains(&"statx"));
        assert!(!members("stat").contains(&"statx"));
    }

    #[test]
    fn an_unknown_class_is_nothing() {
        assert!(class_members("files").is_none());
        assert!(class_members("%file").is_none());
        assert!(class_members("").is_none());
    }
}
