//! 32-bit calls that stand for others: `socketcall(2)`, `ipc(2)`, the old `mmap` and `select`.

use super::narrow::{lines, narrow, needs, project, sources};
use crate::support::project::OF_32;
use crate::support::require::require;

/// How the calls of a program begin and end that stand for others.
const TOLD: &[(&str, &str)] = &[
    (
        "socketcall.socket(AF_INET, SOCK_STREAM, IPPROTO_IP)",
        "<tcp:1>",
    ),
    (
        "socketcall.setsockopt(",
        "<tcp:1>, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0",
    ),
    (
        "socketcall.bind(",
        "<tcp:1>, {sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr(\"127.0.0.1\")}, 16) = 0",
    ),
    ("socketcall.listen(", "<tcp:1>, 5) = 0"),
    (
        "socketcall.connect(",
        ", sin_addr=inet_addr(\"127.0.0.1\")}, 16) = 0",
    ),
    ("socketcall.accept(", "<tcp:3>"),
    (
        "socketcall.getsockname(",
        ", sin_addr=inet_addr(\"127.0.0.1\")}, [16]) = 0",
    ),
    (
        "socketcall.getpeername(",
        ", sin_addr=inet_addr(\"127.0.0.1\")}, [16]) = 0",
    ),
    ("socketcall.send(", "<tcp:2>, \"sent\", 4, 0) = 4"),
    ("socketcall.recv(", "<tcp:3>, \"sent\", 16, 0) = 4"),
    (
        "socketcall.sendto(",
        "<tcp:2>, \"to none\", 7, 0, NULL, 0) = 7",
    ),
    (
        "socketcall.recvfrom(",
        "<tcp:3>, \"to none\", 16, 0, NULL, NULL) = 7",
    ),
    (
        "socketcall.getsockopt(",
        "<tcp:1>, SOL_SOCKET, SO_REUSEADDR, [1], [4]) = 0",
    ),
    ("socketcall.shutdown(", "<tcp:2>, SHUT_WR) = 0"),
    (
        "socketcall.accept4(-1, NULL, NULL, SOCK_NONBLOCK)",
        " = -1 EBADF (Bad file descriptor)",
    ),
    (
        "socketcall.socketpair(AF_UNIX, SOCK_DGRAM, 0, [",
        "<unix:2>]) = 0",
    ),
    (
        "socketcall.sendmsg(",
        ", msg_iovlen=1, msg_control=[{cmsg_len=16, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, \
         cmsg_data=[1",
    ),
    (
        "socketcall.recvmsg(",
        "<unix:2>, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base=\"by message\", iov_len=16}]",
    ),
    ("socketcall.sendmmsg(", ", msg_len=10}], 1, 0) = 1"),
    ("socketcall.recvmmsg(", ", 1, 0, NULL) = 1"),
    ("ipc.semget(IPC_PRIVATE, 1, 0600)", ""),
    ("ipc.semctl(", ", 0, SETVAL, ...) = 0"),
    ("ipc.semop(", ", [{sem_num=0, sem_op=1, sem_flg=0}], 1) = 0"),
    (
        "ipc.semtimedop(",
        ", [{sem_num=0, sem_op=1, sem_flg=0}], 1, {tv_sec=1, tv_nsec=0}) = 0",
    ),
    ("ipc.msgget(IPC_PRIVATE, 0600)", ""),
    ("ipc.msgsnd(", ", 4, IPC_NOWAIT) = 0"),
    ("ipc.msgrcv(", ", 4, 7, IPC_NOWAIT) = 4"),
    ("ipc.msgctl(", ", IPC_RMID, NULL) = 0"),
    ("ipc.shmget(IPC_PRIVATE, 4096, 0600)", ""),
    ("ipc.shmat(", ", NULL, 0) = 0"),
    ("ipc.shmdt(0x", ") = 0"),
    ("ipc.shmctl(", ", IPC_RMID, NULL) = 0"),
    (
        "mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x",
        "",
    ),
    ("select(2, NULL, [1", "}) = 1 (out [1"),
    ("socketcall(...)", " = -1 EINVAL (Invalid argument)"),
    (
        "socketcall.connect(1073741824<?>, 0x8, 16)",
        " = -1 EBADF (Bad file descriptor)",
    ),
    ("socketcall.socket(...)", " = -1 EFAULT (Bad address)"),
];

#[test]
fn a_call_that_stands_for_others_is_told_as_that_one_with_its_arguments() {
    require!(needs());
    let project = project(OF_32, "many.i386.c");
    for source in sources() {
        let lines = lines(&project, source, "all", &[]);
        let calls = narrow(&lines);
        for (start, part) in TOLD {
            let is_it = |call: &&&str| call.starts_with(start) && call.contains(part);
            assert!(
                calls.iter().any(|it| is_it(&it)),
                "{source}: {start}: {calls:#?}"
            );
        }
    }
}

#[test]
fn what_a_call_stands_for_is_known_of_words_in_the_last_bytes_of_a_page_and_in_no_page_yet() {
    require!(needs());
    let project = project(OF_32, "told.i386.c");
    for source in sources() {
        let told = |mode: &str| {
            let lines = lines(&project, source, "all", &[mode]);
            let calls = narrow(&lines);
            let told = calls.iter().find(|it| it.starts_with("socketcall"));
            told.expect("a socketcall").to_string()
        };
        let ends = told("end");
        assert!(
            ends.starts_with(
                "socketcall.connect(3<udp:1>, {sa_family=AF_INET, sin_port=htons(50099)"
            ),
            "{ends}"
        );
        let late = told("late");
        assert!(
            late.starts_with("socketcall.socket(AF_UNIX, SOCK_DGRAM, 0) = "),
            "{late}"
        );
        // The call has written over its words by then.
        assert_eq!(told("over"), "socketcall.recv(...) = 12");
    }
}

/// A scenario of the program that makes a socket, connects it and sends by `socketcall`.
fn scenario(rest: &str) -> String {
    format!(
        "description: sockets of a 32-bit program\n\
         workload: {{ run: [./program], files: {{ program: {{ from: program, mode: \"0755\" }} }} }}\n\
         trace: {{ events: [{{ syscalls: [socket, connect, sendto] }}] }}\n\
         snapshot: false\n{rest}\n"
    )
}

#[test]
fn a_fault_for_a_call_is_done_to_its_operation_of_socketcall_and_to_no_other() {
    require!(needs());
    let project = project(OF_32, "socketcall.i386.c");
    for (fault, status) in [
        ("socket: { error: EACCES }", 0),
        ("socket: { family: AF_INET, error: EACCES }", 0),
        ("socket: { family: AF_INET6, error: EACCES }", 1),
    ] {
        let expect = "expect: { sequence: [{ socket: { returns: EACCES } }, { connect: { returns: EBADF } }] }";
        let expect = if status == 0 { expect } else { "" };
        project.write(
            "fault.yaml",
            &scenario(&format!("faults: [{{ {fault} }}]\n{expect}")),
        );
        let run = project.harness(&["run", "fault.yaml"]);
        run.assert_status(status);
        assert!(
            !run.stdout.contains("incomplete"),
            "{fault}: {}",
            run.stdout
        );
    }
}

#[test]
fn a_policy_names_the_call_that_was_made_and_not_what_it_stands_for() {
    require!(needs());
    let project = project(OF_32, "socketcall.i386.c");
    project.write("sockets.yaml", &scenario(""));
    let policy = project.harness(&["policy", "--format", "oci", "sockets.yaml"]);
    policy.assert_status(0);
    assert!(
        policy.stdout.contains("\"socketcall\""),
        "{}",
        policy.stdout
    );
    assert!(!policy.stdout.contains("\"connect\""), "{}", policy.stdout);
}
