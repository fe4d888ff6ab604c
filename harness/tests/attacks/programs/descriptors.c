/* ftruncate(2) of a file by a descriptor that came by the way that the first argument names. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static int secret(void) { return open("secret", O_RDWR); }
static int decoy(void) { return open("decoy", O_RDWR | O_CREAT, 0600); }

/* Through a second descriptor of the process' own, as pidfd_getfd(2) makes it. */
static int by_pidfd(void) {
	int process = syscall(SYS_pidfd_open, getpid(), 0);
	return syscall(SYS_pidfd_getfd, process, secret(), 0);
}

static union {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
} control;

static int sent(void) {
	int pair[2], file = secret();
	struct iovec letter = {"x", 1};
	struct msghdr message = {.msg_iov = &letter, .msg_iovlen = 1};
	message.msg_control = &control;
	message.msg_controllen = sizeof control;
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &file, sizeof file);
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	sendmsg(pair[1], &message, 0);
	close(file);
	close(pair[1]);
	memset(&control, 0, sizeof control);
	return pair[0];
}

static int received(struct msghdr *message) {
	int file = -1;
	struct cmsghdr *head = CMSG_FIRSTHDR(message);
	memcpy(&file, CMSG_DATA(head), sizeof file);
	return file;
}

static int by_message(int many) {
	static char letter;
	static struct iovec room = {&letter, 1};
	struct mmsghdr messages[1] = {{.msg_hdr = {.msg_iov = &room, .msg_iovlen = 1}}};
	struct msghdr *message = &messages[0].msg_hdr;
	int from = sent();
	message->msg_control = &control;
	message->msg_controllen = sizeof control;
	if (many)
		recvmmsg(from, messages, 1, 0, NULL);
	else
		recvmsg(from, message, 0);
	return received(message);
}

/* The kernel installs the descriptors, and fails when it tells how long the message's control part is. */
static int by_failed_message(void) {
	static char letter;
	static struct iovec room = {&letter, 1};
	struct msghdr *message = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int from = sent();
	message->msg_iov = &room;
	message->msg_iovlen = 1;
	message->msg_control = &control;
	message->msg_controllen = sizeof control;
	mprotect(message, 4096, PROT_READ);
	recvmsg(from, message, 0);
	int file;
	memcpy(&file, CMSG_DATA(&control.align), sizeof file);
	return file;
}

/* seccomp(2): another thread answers a call of this one, and puts a file in the place of an open one. */
static int supervised(void) {
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, rules};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static void answers(int listener, int from, int over) {
	struct seccomp_notif asked;
	memset(&asked, 0, sizeof asked);
	ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked);
	struct seccomp_notif_addfd file = {
		.id = asked.id, .flags = SECCOMP_ADDFD_FLAG_SETFD, .srcfd = from, .newfd = over};
	struct seccomp_notif_resp answer = {.id = asked.id};
	ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &file);
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

static int listener = -1, source = -1, target = -1;
static pthread_barrier_t ready;

static void *supervisor(void *nothing) {
	pthread_barrier_wait(&ready);
	answers(listener, source, target);
	return nothing;
}

static int by_own_supervisor(void) {
	pthread_t other;
	pthread_barrier_init(&ready, NULL, 2);
	pthread_create(&other, NULL, supervisor, NULL);
	source = secret();
	target = decoy();
	listener = supervised();
	pthread_barrier_wait(&ready);
	syscall(SYS_getppid);
	return target;
}

/* The same by another process, which takes the listener by `pidfd_getfd(2)`. */
static int by_other_supervisor(void) {
	int line[2], pid = getpid(), number = -1;
	socketpair(AF_UNIX, SOCK_STREAM, 0, line);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	target = decoy();
	if (fork() == 0) {
		source = secret();
		read(line[1], &number, sizeof number);
		int process = syscall(SYS_pidfd_open, pid, 0);
		answers(syscall(SYS_pidfd_getfd, process, number, 0), source, target);
		_exit(0);
	}
	listener = supervised();
	write(line[0], &listener, sizeof listener);
	syscall(SYS_getppid);
	return target;
}

/* io_uring: a direct descriptor is opened, and made an ordinary one. */
static int by_ring(void) {
	struct io_uring_params with;
	memset(&with, 0, sizeof with);
	int ring = syscall(SYS_io_uring_setup, 4, &with), none = -1;
	if (ring < 0)
		return -1;
	char *queue = mmap(NULL, with.sq_off.array + 64, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	struct io_uring_sqe *entries = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
	unsigned *array = (void *)(queue + with.sq_off.array);
	syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, &none, 1);
	for (int step = 0; step < 2; step++) {
		struct io_uring_sqe *entry = &entries[step];
		memset(entry, 0, sizeof *entry);
		if (step == 0) {
			entry->opcode = IORING_OP_OPENAT;
			entry->fd = AT_FDCWD;
			entry->addr = (unsigned long)"secret";
			entry->open_flags = O_RDWR;
			entry->file_index = 1;
		} else {
			entry->opcode = 54; /* IORING_OP_FIXED_FD_INSTALL */
			entry->flags = IOSQE_FIXED_FILE;
			entry->fd = 0;
		}
		array[step] = step;
		__atomic_add_fetch((unsigned *)(queue + with.sq_off.tail), 1, __ATOMIC_RELEASE);
		syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	}
	return ring + 1;
}

/* A child with the same table puts the file there, while the parent knows nothing. */
static char stack[65536];
static int replaces(void *over) { return dup2(secret(), (int)(long)over) < 0; }

static int by_sharing(void) {
	int file = decoy();
	int child = clone(replaces, stack + sizeof stack, CLONE_FILES | SIGCHLD, (void *)(long)file);
	waitpid(child, NULL, 0);
	return file;
}

/* A tracer makes another call of one that its task makes. */
static int by_tracer(void) {
	int from = secret(), over = decoy(), status;
	int child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		syscall(SYS_getppid, from, over);
		_exit(ftruncate(over, 0) ? 3 : 0);
	}
	waitpid(child, &status, 0);
	for (;;) {
		ptrace(PTRACE_SYSCALL, child, NULL, NULL);
		waitpid(child, &status, 0);
		if (!WIFSTOPPED(status))
			break;
		long number = ptrace(PTRACE_PEEKUSER, child, offsetof(struct user_regs_struct, orig_rax), NULL);
		if (number == SYS_getppid)
			ptrace(PTRACE_POKEUSER, child, offsetof(struct user_regs_struct, orig_rax), (long)SYS_dup2);
	}
	return over;
}

int main(int argc, char **argv) {
	char *word = argv[argc > 1];
	int file = -1;
	if (!strcmp(word, "pidfd")) file = by_pidfd();
	else if (!strcmp(word, "message")) file = by_message(0);
	else if (!strcmp(word, "messages")) file = by_message(1);
	else if (!strcmp(word, "failed-message")) file = by_failed_message();
	else if (!strcmp(word, "supervisor")) file = by_own_supervisor();
	else if (!strcmp(word, "other-supervisor")) file = by_other_supervisor();
	else if (!strcmp(word, "ring")) file = by_ring();
	else if (!strcmp(word, "sharing")) file = by_sharing();
	else if (!strcmp(word, "tracer")) return by_tracer() < 0;
	return ftruncate(file, 0) ? 3 : 0;
}
