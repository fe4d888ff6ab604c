//! Filters of calls that a workload installs itself: their stricter answers come before a fault, so
//! that a call which they answered, refused or ended a thread at was never failed.

use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};

/// `it HOW WHERE GATE`: syncs a file, has a child install a filter and sync it, and syncs it again.
/// The child does so in its only thread, or in a second one, for which the first waits.
const CODE: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
static int fd, is_gate;
static const char *how;
static long sync_file(void) {
    if (!is_gate) return syscall(SYS_fsync, fd);
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(118), "b"(fd)
                     : "memory", "r8", "r9", "r10", "r11");
    return result;
}
/* Whether calls are given back (`SYSCALL_DISPATCH_FILTER_BLOCK`). */
static volatile char selector;
static void answer(int signal) {
    selector = 0;
    (void)signal;
}
static unsigned action(void) {
    if (strstr(how, "kill")) return SECCOMP_RET_KILL_THREAD;
    if (strstr(how, "process")) return SECCOMP_RET_KILL_PROCESS;
    if (strstr(how, "trap")) return SECCOMP_RET_TRAP;
    if (strstr(how, "errno")) return SECCOMP_RET_ERRNO | 1;
    if (strstr(how, "zero")) return SECCOMP_RET_ERRNO;
    return SECCOMP_RET_LOG;
}
static void *work(void *nothing) {
    int nr = strstr(how, "other") ? SYS_sethostname : is_gate ? 118 : SYS_fsync;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, is_gate ? 0x40000003 : 0xc000003e, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action()),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    /* As libraries ask what the kernel knows. */
    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, 0);
    if (strstr(how, "prctl"))
        syscall(SYS_prctl, 1UL << 32 | PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    else
        syscall(SYS_seccomp, 1UL << 32 | SECCOMP_SET_MODE_FILTER, 0UL, &program);
    if (!strstr(how, "unused")) sync_file();
    if (strstr(how, "signal")) kill(getpid(), SIGTERM);
    return nothing;
}
int main(int argc, char **argv) {
    how = argv[1];
    is_gate = argc > 3;
    fd = open("log", O_RDWR | O_CREAT, 0600);
    sync_file();
    if (!strcmp(how, "dispatch")) {
        struct sigaction caught = {.sa_handler = answer};
        sigaction(SIGSYS, &caught, 0);
        syscall(SYS_prctl, 1UL << 32 | PR_SET_SYSCALL_USER_DISPATCH, 1UL, 0UL, 0UL, &selector);
        selector = 1;
        sync_file();
        return 0;
    }
    if (fork() == 0) {
        if (!strcmp(argv[2], "thread")) {
            pthread_t one;
            pthread_create(&one, 0, work, 0);
            pthread_join(one, 0);
        } else {
            work(0);
        }
        _exit(0);
    }
    wait(0);
    sync_file();
    return 0;
}
"#;

/// A filter that ends a thread.
const ENDED: &str = "ended without a call that ends threads";
/// A filter whose answer a record tells: on old kernels none does of one that ends the process.
const ANSWERED: &str = "answered or refused 1 call that the fault for `fsync` may be meant for";

fn run(words: &str, fault: &str) -> (Project, Run) {
    let project = Project::with(
        "it",
        &format!(
            "workload: {{ run: [./it, {words}], timeout: 120s, \
             files: {{ it: {{ from: ../it, mode: \"0755\" }} }} }}\n\
             trace: {{ events: [{{ syscalls: [fsync] }}] }}\n\
             faults: [{{ fsync: {{ {fault}, error: EIO }} }}]\nsnapshot: false"
        ),
    );
    project.write("it.c", CODE);
    let compile = ["gcc", "-O1", "-o", "it", "it.c", "-pthread"];
    project.run(&[], &compile).assert_status(0);
    let words = ["run", "--format", "json", "--save", "saved", "scenarios"];
    let run = project.harness(&words);
    (project, run)
}

fn verdict(run: &Run) -> (String, String) {
    let told = &run.json()[0];
    (told["verdict"].to_string(), told["reasons"].to_string())
}

#[track_caller]
fn is_unknown(words: &str, fault: &str, says: &str) {
    let (project, live) = run(words, fault);
    let again = ["run", "--format", "json", "--from", "saved/it.data"];
    let again = project.harness(&[&again[..], &["scenarios/it.yaml"]].concat());
    for run in [live, again] {
        let (verdict, why) = verdict(&run);
        assert_eq!(verdict, "\"incomplete\"", "{words} {fault}: {why}");
        let is_told = why.contains(says) || says == ANSWERED && why.contains(ENDED);
        assert!(is_told, "{words} {fault}: {why}");
    }
}

#[track_caller]
fn passes(words: &str) {
    let (_, run) = run(words, "when: \"1..\"");
    let (verdict, why) = verdict(&run);
    assert_eq!(verdict, "\"pass\"", "{words}: {why}");
}

#[test]
fn a_thread_that_its_own_filter_ends_at_a_call_leaves_it_unknown_whether_every_call_failed() {
    require!(right_to_trace());
    require!(program("gcc"));
    for words in ["kill, thread", "kill-prctl, thread"] {
        for fault in ["when: \"1..\"", "when: 2", "when: \"1..\", per: process"] {
            is_unknown(words, fault, ENDED);
        }
    }
    if cfg!(target_arch = "x86_64") {
        is_unknown("kill, thread, i386", "when: \"1..\"", ENDED);
        is_unknown("kill, process, i386", "when: \"1..\"", ANSWERED);
    }
}

#[test]
fn a_call_that_an_own_filter_answers_or_refuses_by_a_signal_was_not_failed() {
    require!(right_to_trace());
    require!(program("gcc"));
    for how in ["process", "trap", "errno", "zero"] {
        is_unknown(&format!("{how}, thread"), "when: \"2..\"", ANSWERED);
    }
    is_unknown("kill, process", "when: 1, per: process", ANSWERED);
    is_unknown(
        "errno, process",
        "when: 3",
        "never fired: 2 calls matched it",
    );
}

#[test]
fn a_trace_with_injections_says_that_a_call_may_be_missing_in_it() {
    require!(right_to_trace());
    require!(program("gcc"));
    let (project, _) = run("log, process", "when: 1");
    let said = |how: &str| {
        let inject = "inject=fsync:error=EIO";
        let words = ["trace", "-e", "fsync", "-e", inject, "--", "./it", how];
        let run = project.harness(&[&words[..], &["thread"]].concat());
        run.assert_status(0);
        run.stderr
            .contains("may end a thread (SECCOMP_RET_KILL_THREAD)")
    };
    assert!(said("kill") && said("process") && !said("kill-other"));
}

#[test]
fn calls_that_are_given_back_to_the_program_leave_it_unknown_whether_every_call_failed() {
    require!(right_to_trace());
    require!(program("gcc"));
    is_unknown(
        "dispatch, process",
        "when: \"1..\"",
        "PR_SET_SYSCALL_USER_DISPATCH",
    );
}

#[test]
fn a_filter_that_ends_threads_at_no_call_of_a_fault_or_that_ended_none_leaves_nothing_unknown() {
    require!(right_to_trace());
    require!(program("gcc"));
    for words in [
        "kill-other, thread",
        "kill-unused, thread",
        "kill-other-signal, thread",
        "log, thread",
        "log, process",
    ] {
        passes(words);
    }
}
