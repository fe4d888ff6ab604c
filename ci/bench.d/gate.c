/* What holding a call costs at the least: a child makes calls of getppid that are held by seccomp's user notification, and its
 * parent does nothing but let each go on, with synchronous wake-up where the kernel has it.
 *
 *   gate CALLS FILE      writes the nanoseconds of all calls to FILE
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void send_descriptor(int socket, int descriptor)
{
    char byte = 0, room[CMSG_SPACE(sizeof(int))] = { 0 };
    struct iovec vector = { &byte, 1 };
    struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room };
    struct cmsghdr *parcel = CMSG_FIRSTHDR(&message);
    parcel->cmsg_level = SOL_SOCKET;
    parcel->cmsg_type = SCM_RIGHTS;
    parcel->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(parcel), &descriptor, sizeof(int));
    if (sendmsg(socket, &message, 0) != 1)
        die("sendmsg");
}

static int receive_descriptor(int socket)
{
    char byte, room[CMSG_SPACE(sizeof(int))];
    struct iovec vector = { &byte, 1 };
    struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room };
    int descriptor;
    if (recvmsg(socket, &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
        die("recvmsg");
    memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
    return descriptor;
}

static void child(int socket, long calls, const char *path)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { sizeof program / sizeof *program, program };
    struct timespec begin, end;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        die("prctl");
    int listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
    if (listener < 0)
        die("seccomp");
    send_descriptor(socket, listener);
    close(listener);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (long call = 0; call < calls; call++)
        syscall(SYS_getppid);
    clock_gettime(CLOCK_MONOTONIC, &end);
    FILE *file = fopen(path, "w");
    if (!file)
        die(path);
    fprintf(file, "%ld\n", (end.tv_sec - begin.tv_sec) * 1000000000L + end.tv_nsec - begin.tv_nsec);
    exit(fclose(file) ? 1 : 0);
}

static void nothing(int signal)
{
    (void)signal;
}

int main(int count, char **words)
{
    int pair[2], status;
    struct seccomp_notif call;
    if (count != 3 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        die("usage: gate CALLS FILE");
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        child(pair[1], atol(words[1]), words[2]);
    }
    /* The end of the child ends the wait for its next call, also where the kernel would wait for ever. */
    struct sigaction ended = { .sa_handler = nothing };
    sigaction(SIGCHLD, &ended, NULL);
    int listener = receive_descriptor(pair[0]);
    /* Linux 6.6 and later; others wake the slower way. */
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, 1UL);
    for (;;) {
        memset(&call, 0, sizeof call);
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call)) {
            if (waitpid(pid, &status, errno == EINTR ? WNOHANG : 0) == pid)
                return !WIFEXITED(status) || WEXITSTATUS(status);
            continue;
        }
        struct seccomp_notif_resp answer = { .id = call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer))
            die("the answer");
    }
}
