/* Installs a filter that refuses a call, and makes it: `filtered ACTION CALL [i386]`. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int listener;
static long value;
static int error;
static int goes_on;
static int adds;

static void ignore(int signal, siginfo_t *info, void *context) { (void)signal, (void)info, (void)context; }

static void *answer(void *nothing) {
	struct seccomp_notif asked = {0};
	struct seccomp_notif_resp said = {0};
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) == 0) {
		said.id = asked.id;
		said.val = value;
		said.error = error;
		said.flags = goes_on ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
		struct seccomp_notif_addfd added = {.id = asked.id, .flags = SECCOMP_ADDFD_FLAG_SEND};
		if (adds)
			ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &added);
		else
			ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &said);
	}
	return nothing;
}

static long gate(long nr, long a, long b, long c) {
	long result;
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}

int main(int argc, char **argv) {
	const char *how = argv[1];
	unsigned action = SECCOMP_RET_ALLOW;
	int nr = atoi(argv[2]), is_gate = argc > 3;
	struct sigaction handler = {.sa_sigaction = ignore, .sa_flags = SA_SIGINFO};
	pthread_t thread;
	if (!strcmp(how, "trap"))
		action = SECCOMP_RET_TRAP;
	if (!strcmp(how, "errno"))
		action = SECCOMP_RET_ERRNO | EPERM;
	if (!strcmp(how, "answered"))
		action = SECCOMP_RET_ERRNO;
	if (!strcmp(how, "trace"))
		action = SECCOMP_RET_TRACE;
	if (!strcmp(how, "thread"))
		action = SECCOMP_RET_KILL_THREAD;
	if (!strcmp(how, "process"))
		action = SECCOMP_RET_KILL_PROCESS;
	if (!strcmp(how, "log"))
		action = SECCOMP_RET_LOG;
	if (!strncmp(how, "notify", 6)) {
		action = SECCOMP_RET_USER_NOTIF;
		value = atol(how + 6);
		if (value < 0)
			error = value, value = 0;
	}
	goes_on = !strcmp(how, "continue");
	adds = !strcmp(how, "add");
	if (goes_on || adds)
		action = SECCOMP_RET_USER_NOTIF;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, is_gate ? 0x40000003 : 0xc000003e, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
	sigaction(SIGSYS, &handler, 0);
	if (fork() == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		int flags = action == SECCOMP_RET_USER_NOTIF ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
		listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
		if (flags)
			pthread_create(&thread, 0, answer, 0);
		long result = is_gate ? gate(nr, 1, 1, 0) : syscall(nr, 1, 1, 0);
		(void)result;
		if (flags)
			pthread_join(thread, 0);
		_exit(0);
	}
	wait(0);
	return 0;
}
