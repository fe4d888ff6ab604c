// Makes calls whose arguments point to structures, and prints of each what its pointers pointed to before it and after it.
//
// strace watches from outside and prints what it makes of the same bytes: `ci/capture-structs` puts the two together. The calls are there
// for what they are given; that many of them fail is part of it.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/vm_sockets.h>
#include <mqueue.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef unsigned long word;

/// The largest of what a pointer points to, by call; 64 bytes where it is not here.
static const struct {
    const char *call;
    int size;
} SIZES[] = {
    {"uname", 390},           {"statx", 256},           {"getrusage", 144},     {"wait4", 144},
    {"waitid", 144},          {"fstat", 144},           {"newfstatat", 144},    {"stat", 144},
    {"statfs", 120},          {"fstatfs", 120},         {"sysinfo", 112},       {"connect", 110},
    {"rt_sigqueueinfo", 128}, {"rt_sigtimedwait", 128}, {"select", 128},        {"pselect6", 128},
    {"clone3", 88},           {"sched_getaffinity", 128},
};

static struct {
    word at;
    int size;
    unsigned char bytes[400];
} seen[6];

/// Reads a pointer's target as the kernel would, so that a wrong address is no end.
static int copy(word at, void *to, int size) {
    for (; size > 0; size /= 2) {
        struct iovec here = {to, size}, there = {(void *)at, size};
        if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) == size)
            return size;
    }
    return 0;
}

static void print(const char *moment, int place, const unsigned char *bytes, int size) {
    int end = size;
    while (end > 0 && bytes[end - 1] == 0)
        end--;
    printf("%s %d %d ", moment, place, size);
    for (int i = 0; i < end; i++)
        printf("%02x", bytes[i]);
    printf("\n");
}

/// Makes a call and tells of it; the name is that of its number's constant.
static long make(const char *name, long number, word a, word b, word c, word d, word e, word f) {
    word words[6] = {a, b, c, d, e, f};
    int size = 64;
    name += strlen("SYS_");
    for (unsigned i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++)
        if (strcmp(SIZES[i].call, name) == 0)
            size = SIZES[i].size;
    for (int i = 0; i < 6; i++)
        seen[i].size = words[i] > 65536 && words[i] < 1ul << 47 ? copy(words[i], seen[i].bytes, size) : 0;
    long result = syscall(number, a, b, c, d, e, f);
    long value = result == -1 ? -errno : result;
    printf("call %s %lx %lx %lx %lx %lx %lx = %ld\n", name, a, b, c, d, e, f, value);
    for (int i = 0; i < 6; i++) {
        unsigned char after[400];
        if (seen[i].size == 0)
            continue;
        print("before", i, seen[i].bytes, seen[i].size);
        int left = copy(words[i], after, seen[i].size);
        if (left != seen[i].size || memcmp(after, seen[i].bytes, left) != 0)
            print("after", i, after, left);
    }
    return result;
}

#define SIX(name, number, a, b, c, d, e, f, ...) \
    make(name, number, (word)(a), (word)(b), (word)(c), (word)(d), (word)(e), (word)(f))
#define CALL(number, ...) SIX(#number, number, __VA_ARGS__, 0, 0, 0, 0, 0, 0)

static char room[65536];

static void addresses(void) {
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(80)};
    inet_pton(AF_INET, "127.0.0.1", &in.sin_addr);
    for (int length = 0; length <= 16; length += 4)
        CALL(SYS_connect, -1, &in, length);
    CALL(SYS_connect, -1, &in, 2);
    CALL(SYS_connect, -1, NULL, 16);

    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(443), .sin6_flowinfo = htonl(5)};
    static const char *const ADDRESSES[] = {"::",         "::1",          "fe80::1",        "::ffff:1.2.3.4",
                                            "::1.2.3.4", "2001:db8::1:0:0:1", "1:0:2:0:3:0:4:0", "64:ff9b::1.2.3.4"};
    for (unsigned i = 0; i < sizeof ADDRESSES / sizeof ADDRESSES[0]; i++) {
        inet_pton(AF_INET6, ADDRESSES[i], &in6.sin6_addr);
        in6.sin6_scope_id = 4000 * (i % 2);
        CALL(SYS_connect, -1, &in6, 28);
    }
    inet_pton(AF_INET6, "fe80::1", &in6.sin6_addr);
    in6.sin6_scope_id = 1;
    CALL(SYS_connect, -1, &in6, 28);
    CALL(SYS_connect, -1, &in6, 24);
    CALL(SYS_connect, -1, &in6, 20);

    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/run/x"};
    CALL(SYS_connect, -1, &un, 110);
    CALL(SYS_connect, -1, &un, 9);
    CALL(SYS_connect, -1, &un, 6);
    CALL(SYS_connect, -1, &un, 2);
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0x"};
    CALL(SYS_connect, -1, &name, 3);
    CALL(SYS_connect, -1, &name, 4);
    CALL(SYS_connect, -1, &name, 12);

    struct sockaddr_nl nl = {.nl_family = AF_NETLINK, .nl_groups = 5, .nl_pid = 33};
    CALL(SYS_connect, -1, &nl, 12);
    CALL(SYS_connect, -1, &nl, 8);
    nl.nl_groups = nl.nl_pid = 0;
    CALL(SYS_connect, -1, &nl, 12);
    struct sockaddr_vm vm = {.svm_family = AF_VSOCK, .svm_port = 5, .svm_cid = 3};
    CALL(SYS_connect, -1, &vm, 16);
    char other[14] = "\x26\0abcdefghij";
    CALL(SYS_connect, -1, other, 14);
    other[0] = 99;
    CALL(SYS_connect, -1, other, 14);
    for (short family = 0; family < 48; family++)
        CALL(SYS_connect, -1, &family, 2);
}

static void sockets(void) {
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int datagram = socket(AF_INET, SOCK_DGRAM, 0), one = 1, pair[2];
    socklen_t length = 16;
    bind(datagram, (void *)&in, 16);
    CALL(SYS_getsockname, datagram, &in, &length);
    for (length = 0; length < 20; length += 3)
        for (socklen_t given = length; given != 0; given = 0)
            CALL(SYS_getsockname, datagram, room, &given);
    length = 0;
    CALL(SYS_getsockname, datagram, room, &length);
    length = 128;
    CALL(SYS_getpeername, datagram, room, &length);
    CALL(SYS_sendto, datagram, "hi", 2, 0, &in, 16);
    CALL(SYS_recvfrom, datagram, room, 100, 0, room + 200, &length);
    CALL(SYS_sendto, datagram, "hi", 2, 0, &in, 16);
    CALL(SYS_recvfrom, datagram, room, 100, 0, NULL, NULL);
    length = 128;
    CALL(SYS_recvfrom, datagram, room, 100, MSG_DONTWAIT, room + 200, &length);

    int stream = socket(AF_INET, SOCK_STREAM, 0);
    CALL(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, pair);
    CALL(SYS_socketpair, AF_INET, SOCK_STREAM, 0, pair);
    CALL(SYS_setsockopt, stream, SOL_SOCKET, SO_REUSEADDR, &one, 4);
    CALL(SYS_setsockopt, stream, SOL_SOCKET, SO_REUSEADDR, &one, 1);
    CALL(SYS_setsockopt, stream, SOL_SOCKET, SO_LINGER, &((struct linger){1, 5}), 8);
    CALL(SYS_setsockopt, stream, SOL_SOCKET, SO_RCVTIMEO, &((struct timeval){1, 5}), 16);
    CALL(SYS_setsockopt, stream, SOL_SOCKET, SO_ATTACH_FILTER, "abcd", 4);
    CALL(SYS_setsockopt, stream, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3);
    CALL(SYS_setsockopt, stream, IPPROTO_TCP, TCP_NODELAY, &one, 4);
    CALL(SYS_setsockopt, stream, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5);
    CALL(SYS_setsockopt, datagram, IPPROTO_IP, IP_MULTICAST_TTL, "\5", 1);
    CALL(SYS_setsockopt, datagram, IPPROTO_IP, IP_ADD_MEMBERSHIP, "\340\1\1\1\0\0\0\0", 8);
    CALL(SYS_setsockopt, stream, 99, 3, "abcdefgh", 8);
    CALL(SYS_setsockopt, stream, 99, 3, "abcd", 4);
    static const int ASKED[][3] = {{SOL_SOCKET, SO_ERROR, 4},      {SOL_SOCKET, SO_LINGER, 8},
                                   {SOL_SOCKET, SO_TYPE, 128},     {IPPROTO_TCP, TCP_CONGESTION, 16},
                                   {SOL_SOCKET, SO_RCVTIMEO, 16},  {99, 1, 4}};
    for (unsigned i = 0; i < sizeof ASKED / sizeof ASKED[0]; i++) {
        length = ASKED[i][2];
        CALL(SYS_getsockopt, stream, ASKED[i][0], ASKED[i][1], room, &length);
    }
    length = 12;
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    CALL(SYS_getsockopt, pair[0], SOL_SOCKET, SO_PEERCRED, room, &length);
    in.sin_port = htons(1);
    CALL(SYS_connect, stream, &in, 16);
    fcntl(stream, F_SETFL, O_NONBLOCK);
    CALL(SYS_connect, stream, &in, 16);
    length = 4;
    poll(&(struct pollfd){stream, POLLOUT}, 1, 1000);
    CALL(SYS_getsockopt, stream, SOL_SOCKET, SO_ERROR, room, &length);

    int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    in.sin_port = 0;
    CALL(SYS_bind, server, &in, 16);
    CALL(SYS_bind, server, &in, 0);
    listen(server, 5);
    length = 16;
    CALL(SYS_getsockname, server, &in, &length);
    CALL(SYS_connect, client, &in, 16);
    length = 128;
    CALL(SYS_accept, server, room, &length);
    connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&in, 16);
    CALL(SYS_accept4, server, NULL, NULL, SOCK_CLOEXEC);
    fcntl(server, F_SETFL, O_NONBLOCK);
    CALL(SYS_accept4, server, room, &length, 0);
}

static void processes(void) {
    char memory[16];
    struct clone_args arguments = {.flags = CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID, .exit_signal = SIGCHLD};
    arguments.child_tid = arguments.parent_tid = (word)memory;
    struct rusage usage;
    int status;
    fflush(stdout);
    long child = CALL(SYS_clone3, &arguments, 88);
    if (child == 0)
        _exit(3);
    CALL(SYS_wait4, child, &status, 0, &usage);
    arguments = (struct clone_args){.flags = ~0ul};
    CALL(SYS_clone3, &arguments, 88);
    arguments = (struct clone_args){.flags = 0xffffff00};
    CALL(SYS_clone3, &arguments, 64);
    arguments = (struct clone_args){.flags = CLONE_VM | CLONE_VFORK, .exit_signal = 99, .stack = 1, .stack_size = 0x9000};
    CALL(SYS_clone3, &arguments, 64);
    CALL(SYS_clone3, &arguments, 3);
    arguments = (struct clone_args){.set_tid = 0x1234, .set_tid_size = 2};
    CALL(SYS_clone3, &arguments, 88);
    CALL(SYS_wait4, -1, &status, WNOHANG, &usage);
    fflush(stdout);
    child = fork();
    if (child == 0)
        _exit(raise(SIGSTOP));
    CALL(SYS_wait4, child, &status, WUNTRACED, 0);
    CALL(SYS_wait4, child, &status, WNOHANG, &usage);
    kill(child, SIGCONT);
    CALL(SYS_wait4, child, &status, WCONTINUED, 0);
    CALL(SYS_wait4, child, &status, 0, 0);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        raise(SIGKILL);
    }
    CALL(SYS_wait4, child, &status, 0, 0);
    CALL(SYS_getrusage, RUSAGE_SELF, &usage);
    CALL(SYS_getrusage, 1000, &usage);
    CALL(SYS_times, room);

    struct rlimit limits;
    CALL(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limits);
    CALL(SYS_prlimit64, 0, RLIMIT_CORE, &((struct rlimit){1000, 4096}), &limits);
    CALL(SYS_getrlimit, RLIMIT_NOFILE, &limits);
    CALL(SYS_getrlimit, 99, &limits);
    CALL(SYS_setrlimit, RLIMIT_CORE, &((struct rlimit){1024, 1536}));
    CALL(SYS_setrlimit, RLIMIT_CORE, &((struct rlimit){-1, 2048}));

    CALL(SYS_sched_setscheduler, 0, SCHED_OTHER, &((struct sched_param){0}));
    CALL(SYS_sched_getparam, 0, room);
    memset(room, 0, 256);
    CALL(SYS_sched_getaffinity, 0, 128, room);
    word mask[2] = {0x8000000000000005, 1};
    CALL(SYS_sched_setaffinity, 0, 16, mask);
    CALL(SYS_sched_getattr, 0, room, 56, 0);
    CALL(SYS_sched_setattr, 0, room, 0);
    CALL(SYS_sched_getattr, 0, room, 48, 0);
    CALL(SYS_sched_rr_get_interval, 0, room);
    int version_3[2] = {_LINUX_CAPABILITY_VERSION_3, 0}, version_1[2] = {_LINUX_CAPABILITY_VERSION_1, 0};
    CALL(SYS_capget, version_3, room);
    CALL(SYS_capget, version_3, NULL);
    int some[6] = {1, 3, 7, 0, 0, 0}, all[6] = {-1, 1, 0, 0x1ff, 0, 0};
    version_3[1] = version_1[1] = 5;
    CALL(SYS_capset, version_3, some);
    CALL(SYS_capset, version_3, all);
    CALL(SYS_capset, version_1, all);
    CALL(SYS_getgroups, 100, room);
    CALL(SYS_getgroups, 0, NULL);
    CALL(SYS_setgroups, 2, ((int[]){1, 2}));
    CALL(SYS_getgroups, 1, room);
    CALL(SYS_getresuid, room, room + 4, room + 8);
}

static void times(void) {
    struct timespec left;
    CALL(SYS_nanosleep, &((struct timespec){0, 1000}), NULL);
    CALL(SYS_nanosleep, &((struct timespec){-1, 2000000000}), &left);
    CALL(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &((struct timespec){1, 5}), &left);
    CALL(SYS_clock_gettime, CLOCK_REALTIME, &left);
    CALL(SYS_clock_getres, CLOCK_REALTIME, &left);
    CALL(SYS_clock_settime, 99, &left);
    CALL(SYS_gettimeofday, room, NULL);
    static const struct timespec TIMES[][2] = {
        {{1, 2}, {0, UTIME_OMIT}}, {{0, UTIME_NOW}, {0, UTIME_NOW}},          {{0, UTIME_OMIT}, {1000000000, 5}},
        {{0, 0}, {0, 5}},          {{5, 0}, {-5, 5}},                         {{5, 2000000000}, {5000000000, 5}},
        {{951782400, 0}, {951868799, 0}}, {{-2203891200, 0}, {4107542400, 0}}, {{1709164800, 1}, {253402300799, 0}},
    };
    for (unsigned i = 0; i < sizeof TIMES / sizeof TIMES[0]; i++)
        CALL(SYS_utimensat, AT_FDCWD, "file", TIMES[i], 0);
    CALL(SYS_utimes, "file", ((struct timeval[]){{1, 2}, {1000000000, 0}}));
    CALL(SYS_utime, "file", ((long[]){1000000000, 0}));
    CALL(SYS_setitimer, ITIMER_REAL, &((struct itimerval){{0, 5}, {100, 0}}), room);
    CALL(SYS_getitimer, ITIMER_REAL, room);
    CALL(SYS_setitimer, ITIMER_REAL, &((struct itimerval){{0, 0}, {0, 0}}), NULL);
    int timer = syscall(SYS_timerfd_create, CLOCK_MONOTONIC, 0), id;
    CALL(SYS_timerfd_settime, timer, 0, &((struct itimerspec){{0, 5}, {100, 0}}), room);
    CALL(SYS_timerfd_gettime, timer, room);
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    CALL(SYS_timer_create, CLOCK_REALTIME, &event, &id);
    event.sigev_value.sival_int = 7;
    event.sigev_signo = SIGUSR1;
    for (int notify = 0; notify < 6; notify++) {
        event.sigev_notify = notify;
        CALL(SYS_timer_create, CLOCK_REALTIME, &event, &id);
    }
    CALL(SYS_timer_settime, 0, 0, &((struct itimerspec){{0, 0}, {0, 0}}), room);
    CALL(SYS_timer_gettime, 0, room);
    CALL(SYS_futex_waitv, ((word[]){5, 0x1234, 2}), 1, 0, &((struct timespec){1, 0}), CLOCK_MONOTONIC);
    CALL(SYS_futex_waitv, ((word[]){5, 0, 0x82, 6, 7, 2}), 2, 0, NULL, 0);
    CALL(SYS_mq_open, "queue", O_CREAT | O_RDWR, 0600, ((long[]){O_NONBLOCK, 5, 6, 7}));
    CALL(SYS_semtimedop, -1, ((short[]){0, -1, IPC_NOWAIT}), 1, &((struct timespec){1, 0}));
    CALL(SYS_semop, -1, ((short[]){0, 0, -1, 1, 2, 0}), 2);
}

static void signals(void) {
    static const word SETS[] = {0, 1 << 16, 3, -1, ~(3ul << 31), 0x5aa5a55a5aa5, 15ul << 30, 0xffffffff, 1ul << 63, 0x3ffffffffff,
                                0x1ffffffffff};
    for (unsigned i = 0; i < sizeof SETS / sizeof SETS[0]; i++)
        CALL(SYS_rt_sigprocmask, SIG_SETMASK, &SETS[i], room, 8);
    CALL(SYS_rt_sigprocmask, SIG_SETMASK, &SETS[0], NULL, 8);
    word action[4] = {0};
    CALL(SYS_rt_sigaction, SIGUSR1, action, room, 8);
    action[0] = 1;
    CALL(SYS_rt_sigaction, SIGUSR1, action, room, 8);
    action[0] = 0x1234;
    action[1] = 0x04000000 | SA_RESTART | SA_SIGINFO;
    action[2] = 0x4567;
    action[3] = 1;
    CALL(SYS_rt_sigaction, SIGUSR1, action, room, 8);
    CALL(SYS_rt_sigaction, SIGUSR1, NULL, room, 8);
    action[1] = SA_NODEFER;
    CALL(SYS_rt_sigaction, SIGKILL, action, room, 8);
    action[1] = ~0ul;
    CALL(SYS_rt_sigaction, SIGKILL, action, room, 8);
    stack_t stack = {(void *)0x5000, 0, 8192};
    CALL(SYS_sigaltstack, &stack, room);
    stack.ss_flags = -1;
    CALL(SYS_sigaltstack, &stack, room);
    stack.ss_flags = SS_DISABLE;
    CALL(SYS_sigaltstack, &stack, room);
    static const int CODES[] = {-60, -7, -6, -5, -4, -3, -2, -1, 0, 0x80, 1, 2, 3, 4, 5, 6, 7, 8, 77};
    static const int SIGNALS[] = {SIGUSR1, SIGCHLD, SIGPOLL, SIGSEGV, SIGBUS, SIGFPE, SIGILL, 34};
    for (unsigned s = 0; s < sizeof SIGNALS / sizeof SIGNALS[0]; s++)
        for (unsigned c = 0; c < sizeof CODES / sizeof CODES[0]; c++) {
            siginfo_t info = {.si_signo = SIGNALS[s], .si_code = CODES[c]};
            info.si_pid = 5;
            info.si_uid = 6;
            info.si_value.sival_int = 7;
            CALL(SYS_rt_sigqueueinfo, -1, SIGNALS[s], &info);
        }
    siginfo_t info = {.si_signo = SIGUSR1, .si_errno = ENOENT};
    CALL(SYS_rt_sigqueueinfo, -1, SIGUSR1, &info);
    word set = 1 << 11;
    CALL(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, 8);
    raise(SIGUSR2);
    CALL(SYS_rt_sigpending, room, 8);
    CALL(SYS_rt_sigtimedwait, &set, &info, &((struct timespec){1, 0}), 8);
    CALL(SYS_rt_sigtimedwait, &set, &info, &((struct timespec){0, 5}), 8);
}

static void files(void) {
    int file = open("file", O_RDWR), pipes[2];
    CALL(SYS_pipe, pipes);
    CALL(SYS_pipe2, pipes, O_CLOEXEC);
    CALL(SYS_pipe, NULL);
    static const struct open_how HOWS[] = {
        {O_RDONLY | O_CLOEXEC, 0, RESOLVE_BENEATH}, {O_CREAT | O_WRONLY, 0644, 0}, {0, ~0ul, ~0ul}, {0x1ffffc, 0, 0},
        {020000000 | O_DIRECTORY, 0, 0},            {O_SYNC | 3, 5, 0x1f},         {O_DSYNC, 0, 0},
    };
    for (unsigned i = 0; i < sizeof HOWS / sizeof HOWS[0]; i++)
        CALL(SYS_openat2, AT_FDCWD, "file", &HOWS[i], 24);
    CALL(SYS_openat2, AT_FDCWD, "file", &HOWS[0], 20);
    word longer[4] = {O_RDONLY, 0, 0, 0x55};
    CALL(SYS_openat2, AT_FDCWD, "file", longer, 32);
    longer[3] = 0;
    CALL(SYS_openat2, AT_FDCWD, "file", longer, 32);

    static const char *const PATHS[] = {"file", "/dev/null", "/tmp", "/absent", "/dev/loop0"};
    for (unsigned i = 0; i < sizeof PATHS / sizeof PATHS[0]; i++) {
        CALL(SYS_newfstatat, AT_FDCWD, PATHS[i], room, 0);
        CALL(SYS_stat, PATHS[i], room);
        CALL(SYS_statx, AT_FDCWD, PATHS[i], 0, STATX_ALL, room);
        CALL(SYS_statfs, PATHS[i], room);
    }
    static const unsigned MODES[] = {0, 07, 044, 0644, 04755, 02711, 01777, 07777};
    for (unsigned i = 0; i < sizeof MODES / sizeof MODES[0]; i++) {
        fchmod(file, MODES[i]);
        CALL(SYS_fstat, file, room);
    }
    CALL(SYS_fstat, pipes[0], room);
    CALL(SYS_fstat, epoll_create1(0), room);
    CALL(SYS_statx, AT_FDCWD, "/proc", 0, STATX_TYPE, room);
    CALL(SYS_statfs, "/proc", room);
    CALL(SYS_statfs, "/dev/shm", room);
    CALL(SYS_fstatfs, pipes[0], room);
    CALL(SYS_uname, room);
    CALL(SYS_sysinfo, room);

    long offset = 0;
    CALL(SYS_sendfile, pipes[1], file, &offset, 5);
    CALL(SYS_sendfile, pipes[1], -1, &offset, 5);
    CALL(SYS_copy_file_range, file, &offset, file, NULL, 0, 0);
    CALL(SYS_splice, file, &offset, pipes[1], NULL, 3, 0);
    CALL(SYS_setxattr, "file", "user.a", "val", 3, 0);
    CALL(SYS_setxattr, "file", "user.b", "v\0\1l", 4, 0);
    CALL(SYS_setxattr, "file", "user.c", "val", 4, 0);
    CALL(SYS_getxattr, "file", "user.a", room, 100);
    CALL(SYS_getxattr, "file", "user.b", room, 100);
    CALL(SYS_getxattr, "file", "user.c", room, 100);
    CALL(SYS_getxattr, "file", "user.d", room, 100);
    CALL(SYS_listxattr, "file", room, 60);
    CALL(SYS_listxattr, "file", room, 0);
    CALL(SYS_readlink, "link", room, 100);
    CALL(SYS_readlink, "link", room, 3);
    CALL(SYS_readlink, "file", room, 3);
    CALL(SYS_getcwd, room, 100);
    CALL(SYS_getcwd, room, 1);
    CALL(SYS_mount_setattr, -1, "", 0, ((long[]){1, 0x70, 1 << 18, 4}), 32);
    CALL(SYS_mount_setattr, -1, "", 0, ((long[]){0xffffffff, 0x20, 3, 0}), 32);

    struct flock lock = {F_WRLCK, SEEK_SET, 0, 0};
    CALL(SYS_fcntl, file, F_SETLK, &lock);
    CALL(SYS_fcntl, file, F_GETLK, &lock);
    lock = (struct flock){F_UNLCK, SEEK_CUR, 5, -1};
    CALL(SYS_fcntl, file, F_SETLKW, &lock);
    lock = (struct flock){F_RDLCK, SEEK_SET, 5, 1073741826};
    CALL(SYS_fcntl, file, F_OFD_SETLK, &lock);
    CALL(SYS_fcntl, file, F_OFD_GETLK, &lock);
    CALL(SYS_fcntl, -1, F_GETLK, &lock);
    CALL(SYS_fcntl, -1, F_SETLK, ((short[12]){9, 9}));
    int one = 1;
    CALL(SYS_ioctl, pipes[0], FIONBIO, &one);
    CALL(SYS_ioctl, pipes[0], FIONREAD, &one);
    CALL(SYS_futex, &one, FUTEX_WAIT_PRIVATE, 5, &((struct timespec){1, 0}), NULL, 0);
}

static void polling(void) {
    int file = open("file", O_RDWR), pipes[2];
    struct pollfd polled[] = {{file, POLLIN}, {file, POLLOUT | POLLERR}, {-1, POLLIN}};
    struct timespec second;
    pipe(pipes);
    CALL(SYS_poll, polled, 3, 0);
    CALL(SYS_poll, polled, 0, 1);
    polled[0].fd = 99;
    polled[1].events = -1;
    CALL(SYS_poll, polled, 2, 0);
    polled[0] = (struct pollfd){pipes[0], POLLIN | POLLPRI};
    CALL(SYS_poll, polled, 1, 0);
    CALL(SYS_poll, NULL, 1, 0);
    second = (struct timespec){1, 0};
    word set = 1 << 16;
    CALL(SYS_ppoll, polled, 2, &second, &set, 8);
    second = (struct timespec){0, 50};
    CALL(SYS_ppoll, polled, 1, &second, NULL, 8);

    int epoll = epoll_create1(0);
    struct epoll_event event = {EPOLLIN | EPOLLET, {.u64 = 7}};
    CALL(SYS_epoll_ctl, epoll, EPOLL_CTL_ADD, pipes[1], &event);
    event = (struct epoll_event){EPOLLOUT, {.u64 = 0x7fff12345678}};
    CALL(SYS_epoll_ctl, epoll, EPOLL_CTL_MOD, pipes[1], &event);
    CALL(SYS_epoll_wait, epoll, room, 4, 0);
    event = (struct epoll_event){~0u, {.u64 = 0xffffffff}};
    CALL(SYS_epoll_ctl, -1, EPOLL_CTL_ADD, pipes[1], &event);
    CALL(SYS_epoll_ctl, epoll, EPOLL_CTL_DEL, pipes[1], &event);
    CALL(SYS_epoll_wait, epoll, room, 4, 0);
    CALL(SYS_epoll_wait, -1, room, 4, 0);
    CALL(SYS_epoll_pwait, epoll, room, 4, 0, &set, 8);
    CALL(SYS_epoll_pwait2, epoll, room, 4, &second, NULL, 8);

    fd_set in, out;
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_SET(pipes[0], &in);
    FD_SET(file, &in);
    FD_SET(pipes[1], &out);
    struct timeval timeout = {1, 5};
    CALL(SYS_select, 16, &in, &out, NULL, &timeout);
    FD_ZERO(&in);
    FD_SET(pipes[0], &in);
    CALL(SYS_select, 16, &in, NULL, NULL, &((struct timeval){0, 5}));
    CALL(SYS_pselect6, 16, &in, NULL, NULL, &((struct timespec){0, 5}), ((word[]){0, 8}));
    FD_SET(file, &in);
    CALL(SYS_pselect6, 16, &in, NULL, &in, NULL, NULL);
    CALL(SYS_select, 0, &in, NULL, NULL, &((struct timeval){0, 5}));
    FD_SET(200, &in);
    CALL(SYS_select, 1024, &in, NULL, NULL, &((struct timeval){0, 5}));
    CALL(SYS_select, -1, &in, NULL, NULL, &((struct timeval){0, 5}));
}

int main(void) {
    static char buffer[1 << 22];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    int file = open("file", O_RDWR | O_CREAT, 0644);
    write(file, "hello world\n", 12);
    symlink("target", "link");
    // Those that change the process come last.
    addresses();
    files();
    polling();
    times();
    signals();
    sockets();
    processes();
    return 0;
}
