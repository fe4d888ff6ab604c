/* Does one thing that a confined run must not do; its name is the first argument. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static int is(const char *what, const char *name) {
    return strcmp(what, name) == 0;
}

static struct sockaddr_in four(int family, int port) {
    struct sockaddr_in address = {.sin_family = family, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static void writes(const char *what) {
    if (is(what, "openat2")) {
        struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 0600};
        syscall(SYS_openat2, AT_FDCWD, "out", &how, sizeof how);
    } else if (is(what, "folder")) {
        int folder = open("data", O_RDONLY | O_DIRECTORY);
        rename("data", "other");
        openat(folder, "x", O_WRONLY | O_CREAT, 0600);
    } else if (is(what, "link")) {
        link("out", "data/l");
        open("data/l", O_WRONLY);
    } else if (is(what, "again")) {
        int fd = open("out", O_RDONLY);
        char name[64];
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        open(name, O_WRONLY);
    } else if (is(what, "unnamed")) {
        int fd = open("data", O_TMPFILE | O_WRONLY, 0600);
        char name[64];
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        linkat(AT_FDCWD, name, AT_FDCWD, "out2", AT_SYMLINK_FOLLOW);
    } else if (is(what, "mode")) {
        fchmod(open("out", O_RDONLY), 0600);
    } else if (is(what, "times")) {
        futimens(open("out", O_RDONLY), NULL);
    } else if (is(what, "climb")) {
        open("data/../out", O_WRONLY);
    } else if (is(what, "bind")) {
        struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
        bind(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&address, sizeof address);
    } else if (is(what, "removed")) {
        unlink("out");
    } else if (is(what, "tree")) {
        int tree = syscall(SYS_open_tree, AT_FDCWD, ".", 1);
        if (tree < 0)
            exit(1);
        openat(tree, "out", O_WRONLY);
    } else if (is(what, "mounted")) {
        if (mount(".", "data", NULL, MS_BIND, NULL) != 0)
            exit(1);
        open("data/out", O_WRONLY);
    } else if (is(what, "mapped")) {
        int fd = open("out", O_RDWR);
        char *at = mmap(NULL, 1, PROT_WRITE, MAP_SHARED, fd, 0);
        *at = 'x';
    }
}

static void reaches(const char *what) {
    struct sockaddr_in local = four(AF_INET, 9);
    if (is(what, "sendto")) {
        sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (void *)&local, sizeof local);
    } else if (is(what, "sendmsg") || is(what, "sendmmsg")) {
        struct iovec piece = {.iov_base = "x", .iov_len = 1};
        struct mmsghdr message = {.msg_hdr = {.msg_name = &local, .msg_namelen = sizeof local,
                                              .msg_iov = &piece, .msg_iovlen = 1}};
        int fd = socket(AF_INET, SOCK_DGRAM, 0);
        if (is(what, "sendmsg"))
            sendmsg(fd, &message.msg_hdr, 0);
        else
            sendmmsg(fd, &message, 1, 0);
    } else if (is(what, "unspecified")) {
        struct sockaddr_in other = four(AF_UNSPEC, 9);
        sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (void *)&other, sizeof other);
    } else if (is(what, "fast")) {
        sendto(socket(AF_INET, SOCK_STREAM, 0), "x", 1, MSG_FASTOPEN, (void *)&local,
               sizeof local);
    } else if (is(what, "mapped")) {
        struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
        inet_pton(AF_INET6, "::ffff:127.0.0.1", &six.sin6_addr);
        connect(socket(AF_INET6, SOCK_STREAM, 0), (void *)&six, sizeof six);
    } else if (is(what, "netlink")) {
        socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    } else if (is(what, "listen")) {
        listen(socket(AF_INET, SOCK_STREAM, 0), 1);
    } else if (is(what, "refused")) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in allowed = four(AF_INET, 9);
        allowed.sin_addr.s_addr = htonl(0x0a000001);
        if (bind(fd, (void *)&allowed, sizeof allowed) == 0)
            exit(1);
        listen(fd, 1);
    } else if (is(what, "fault")) {
        sendto(socket(AF_INET, SOCK_STREAM, 0), (void *)8, 1, MSG_FASTOPEN, (void *)&local,
               sizeof local);
    } else if (is(what, "inherited")) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in any = four(AF_INET, 9);
        if (fork() == 0) {
            connect(fd, (void *)&any, sizeof any);
            _exit(0);
        }
        wait(NULL);
    } else if (is(what, "abstract")) {
        struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "\0secret"};
        socklen_t length = offsetof(struct sockaddr_un, sun_path) + 7;
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        bind(fd, (void *)&address, length);
    } else if (is(what, "linked")) {
        struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "hidden"};
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        bind(fd, (void *)&address, sizeof address);
        listen(fd, 1);
        symlink("hidden", "open");
        strcpy(address.sun_path, "open");
        connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&address, sizeof address);
    }
}

static void executes(const char *what, char **environment) {
    char *arguments[] = {"true", NULL};
    if (is(what, "descriptor")) {
        int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
        syscall(SYS_execveat, fd, "", arguments, environment, AT_EMPTY_PATH);
    } else if (is(what, "memory")) {
        int from = open("/proc/self/exe", O_RDONLY), fd = memfd_create("x", 0);
        char bytes[4096];
        for (ssize_t n; (n = read(from, bytes, sizeof bytes)) > 0;)
            write(fd, bytes, n);
        syscall(SYS_execveat, fd, "", arguments, environment, AT_EMPTY_PATH);
    }
}

int main(int count, char **arguments, char **environment) {
    if (count < 3)
        return 0;
    const char *kind = arguments[1], *what = arguments[2];
    if (is(kind, "writes"))
        writes(what);
    else if (is(kind, "network"))
        reaches(what);
    else if (is(kind, "programs"))
        executes(what, environment);
    else if (is(what, "wide"))
        syscall(SYS_prctl, 0x100000008, 1, 0, 0, 0);
    else if (is(kind, "privileges"))
        unshare(CLONE_NEWUTS);
    return 0;
}
