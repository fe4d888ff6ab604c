//! Every call of the kernel has a place in the tables of `confined`, or was found to need none.

use crate::matching::confined::all_calls;
use std::collections::BTreeSet;
use syscall_model::names::{self, Abi};
use syscall_model::native_calls;

/// Calls that change no file, read none that they name, reach no address, execute nothing and give
/// no privilege: by themselves, or as what they work on was opened, connected or asked for by a
/// call that has a place. Kernel objects without a path (segments, semaphores and queues of System
/// V) are none of these, and neither are limits, priorities and signals. Some are not there any
/// more. `ipc` stands for calls on such objects, and `socketcall` has a place of its own.
const HARMLESS: &str = "\
    ipc socketcall \
    _sysctl access afs_syscall alarm arch_prctl bdflush break breakpoint brk cacheflush \
    cachestat capget chdir clock_getres clock_gettime clock_nanosleep close close_range \
    copy_file_range create_module dup dup2 dup3 epoll_create epoll_create1 epoll_ctl \
    epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 exit \
    exit_group faccessat faccessat2 fadvise64 fanotify_mark fchdir fcntl fdatasync fgetxattr \
    file_getattr flistxattr flock fork fstat fstatfs fsync ftime futex futex_requeue futex_wait \
    futex_waitv futex_wake get_kernel_syms get_mempolicy get_robust_list get_thread_area get_tls \
    getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer getpeername \
    getpgid getpgrp getpid getpmsg getppid getpriority getrandom getresgid getresuid getrlimit \
    getrusage getsid getsockname getsockopt gettid gettimeofday getuid getxattr getxattrat gtty \
    idle inotify_add_watch inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy \
    io_getevents io_pgetevents io_setup io_submit io_uring_enter io_uring_register \
    io_uring_setup ioprio_get ioprio_set kcmp kill landlock_add_rule landlock_create_ruleset \
    lgetxattr listmount listns listxattr listxattrat llistxattr lock \
    lookup_dcookie lseek lsm_get_self_attr lsm_list_modules lstat madvise map_shadow_stack mbind \
    membarrier memfd_create memfd_secret migrate_pages mincore mlock mlock2 mlockall mmap \
    modify_ldt move_pages mprotect mpx mq_getsetattr mq_notify mq_timedreceive mq_timedsend \
    mremap mseal msgctl msgget msgrcv msgsnd msync munlock munlockall munmap name_to_handle_at \
    nanosleep newfstatat nfsservctl pause pciconfig_iobase pciconfig_read pciconfig_write \
    personality pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll \
    ppoll pread64 preadv preadv2 process_mrelease prof profil pselect6 putpmsg \
    pwrite64 pwritev pwritev2 query_module read readahead readlink readlinkat readv recvfrom \
    remap_file_pages restart_syscall rseq rseq_slice_yield rt_sigaction \
    rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait \
    rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity \
    sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity \
    sched_setattr sched_setparam sched_setscheduler sched_yield seccomp security select semctl \
    semget semop semtimedop sendfile set_mempolicy set_mempolicy_home_node set_robust_list \
    set_thread_area set_tid_address set_tls setitimer setpgid setpriority setsid \
    setsockopt shmat shmctl shmdt shmget shutdown sigaltstack signalfd signalfd4 socketpair \
    splice stat statfs statmount statx stty sync sync_file_range syncfs sysfs sysinfo tee tgkill \
    time timer_create timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create \
    timerfd_gettime timerfd_settime times tkill tuxcall ulimit umask uname uprobe uretprobe \
    userfaultfd usr26 usr32 ustat vfork vm86 vm86old vmsplice vserver wait4 waitid write writev";

#[test]
fn every_call_is_in_a_table_or_was_found_harmless() {
    let harmless: BTreeSet<&str> = HARMLESS.split_whitespace().collect();
    let tables = all_calls();
    let all = [Abi::X86_64, Abi::I386, Abi::X32, Abi::Aarch64, Abi::Arm];
    let known: BTreeSet<&str> = all
        .into_iter()
        .flat_map(names::all)
        .map(|it| it.1)
        .collect();
    let lost: Vec<&str> = known
        .iter()
        .flat_map(|name| match native_calls(name) {
            natives if natives.is_empty() => vec![*name],
            natives => natives,
        })
        .filter(|name| !tables.contains(name) && !harmless.contains(name))
        .collect();
    assert!(lost.is_empty(), "not reviewed: {lost:?}");
    let both: Vec<_> = harmless.intersection(&tables).collect();
    assert!(both.is_empty(), "in a table, and harmless: {both:?}");
    let gone: Vec<_> = harmless
        .union(&tables)
        .filter(|it| !known.contains(*it))
        .collect();
    assert!(gone.is_empty(), "no calls: {gone:?}");
}
