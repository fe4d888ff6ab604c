// Reads a file by a way that does not say its name: which is the first argument. It must print what is in the file.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(long result, const char *what) {
    if (result < 0) {
        perror(what);
        exit(1);
    }
}

static int show(int fd) {
    char bytes[64];
    check(fd, "open");
    ssize_t n = read(fd, bytes, sizeof bytes);
    check(n, "read");
    return write(1, bytes, n) == n ? 0 : 1;
}

static int into_d(void *unused) {
    (void)unused;
    return chdir("d");
}

static void *go_into_d(void *unused) {
    (void)unused;
    check(chdir("d"), "chdir");
    return NULL;
}

static char stack[1 << 16];

static int child_shares_directory(void) {
    pid_t child = clone(into_d, stack + sizeof stack, CLONE_FS | SIGCHLD, NULL);
    check(child, "clone");
    check(waitpid(child, NULL, 0), "waitpid");
    return show(open("../secret", O_RDONLY));
}

static int thread_shares_directory(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, go_into_d, NULL) || pthread_join(thread, NULL)) return 1;
    return show(open("../secret", O_RDONLY));
}

static int open_in_root(const char *path) {
    struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_IN_ROOT};
    int folder = open(".", O_PATH | O_DIRECTORY);
    return show(syscall(SYS_openat2, folder, path, &how, sizeof how));
}

static void own_mounts(void) { check(unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare"); }

static int passed(void) {
    int ends[2], given = open("link", O_RDONLY);
    char byte = 'x', room[CMSG_SPACE(sizeof given)] = {0};
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof given);
    memcpy(CMSG_DATA(header), &given, sizeof given);
    check(sendmsg(ends[0], &message, 0), "sendmsg");
    check(recvmsg(ends[1], &message, 0), "recvmsg");
    int got;
    memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof got);
    return show(got);
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
#define IS(name) (strcmp(way, name) == 0)
    if (IS("nothing")) return 0;
    if (IS("child-shares-directory")) return child_shares_directory();
    if (IS("thread-shares-directory")) return thread_shares_directory();
    if (IS("in-root")) return open_in_root("/secret");
    if (IS("in-root-above")) return open_in_root("/../../secret");
    if (IS("folder")) return show(openat(open("d", O_PATH), "../secret", O_RDONLY));
    if (IS("fchdir")) {
        check(fchdir(open("d", O_RDONLY)), "fchdir");
        return show(open("../secret", O_RDONLY));
    }
    if (IS("chroot")) {
        check(unshare(CLONE_NEWUSER), "unshare");
        check(chroot("."), "chroot");
        return show(open("/secret", O_RDONLY));
    }
    if (IS("bind")) {
        own_mounts();
        check(mount("secret", "other", NULL, MS_BIND, NULL), "mount");
        return show(open("other", O_RDONLY));
    }
    if (IS("bind-private")) {
        own_mounts();
        check(mount("secret", "other", NULL, MS_BIND | MS_PRIVATE, NULL), "mount");
        return show(open("other", O_RDONLY));
    }
    if (IS("bind-folder")) {
        own_mounts();
        check(mount(".", "d", NULL, MS_BIND, NULL), "mount");
        return show(open("d/secret", O_RDONLY));
    }
    if (IS("bind-peer")) {
        own_mounts();
        check(mount("a", "b", NULL, MS_BIND, NULL), "mount");
        check(mount(NULL, "b", NULL, MS_SHARED, NULL), "mount");
        check(mount("b", "c", NULL, MS_BIND, NULL), "mount");
        check(mount("d", "c/m", NULL, MS_BIND, NULL), "mount");
        return show(open("b/m/secret", O_RDONLY));
    }
    if (IS("open-tree")) {
        own_mounts();
        int tree = syscall(SYS_open_tree, AT_FDCWD, "secret", 1 /* OPEN_TREE_CLONE */);
        check(tree, "open_tree");
        check(syscall(SYS_move_mount, tree, "", AT_FDCWD, "other", 4 /* MOVE_MOUNT_F_EMPTY_PATH */), "move_mount");
        return show(open("other", O_RDONLY));
    }
    if (IS("uncovered")) {
        own_mounts();
        check(mount("e", "d", NULL, MS_BIND, NULL), "mount");
        check(umount2("d", MNT_DETACH), "umount2");
        return show(open("d/link", O_RDONLY));
    }
    if (IS("exec")) {
        char *arguments[] = {"secret", "nothing", NULL}, *environment[] = {NULL};
        int fd = open("link", O_PATH);
        check(syscall(SYS_execveat, fd, "", arguments, environment, AT_EMPTY_PATH), "execveat");
    }
    if (IS("reopen")) {
        char name[64];
        snprintf(name, sizeof name, "/proc/self/fd/%d", open("link", O_PATH));
        return show(open(name, O_RDONLY));
    }
    if (IS("renamed-later")) {
        int fd = open("other", O_RDONLY);
        check(rename("other", "secret"), "rename");
        return show(fd);
    }
    if (IS("exchanged")) {
        check(renameat2(AT_FDCWD, "secret", AT_FDCWD, "other", RENAME_EXCHANGE), "renameat2");
        return show(open("other", O_RDONLY));
    }
    if (IS("linked-later")) {
        int fd = open("other", O_RDONLY);
        check(link("other", "secret"), "link");
        return show(fd);
    }
    if (IS("unnamed")) {
        char name[64];
        int fd = open(".", O_TMPFILE | O_RDWR, 0600);
        check(fd, "open");
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        check(write(fd, "s", 1), "write");
        check(linkat(AT_FDCWD, name, AT_FDCWD, "secret", AT_SYMLINK_FOLLOW), "linkat");
        check(lseek(fd, 0, SEEK_SET), "lseek");
        return show(fd);
    }
    if (IS("removed-while-open")) {
        int fd = open("link", O_RDONLY);
        check(unlink("secret"), "unlink");
        check(unlink("link"), "unlink");
        return show(fd);
    }
    if (IS("folder-moved")) {
        int folder = open("d", O_PATH);
        check(rename("d", "e"), "rename");
        return show(openat(folder, "secret", O_RDONLY));
    }
    if (IS("passed")) return passed();
    fprintf(stderr, "no such way: %s\n", way);
    return 2;
}
