/* The floor: the least that following every system call of a process tree through perf events can cost.
 *
 * A peer of the benchmark, not a part of the product: it shares no code with it, decodes nothing and writes
 * nothing. It corks the command behind a pipe, opens raw_syscalls:sys_enter and sys_exit on it, once per CPU,
 * with inherit and enable-on-exec, sends both into one ring per CPU, and only ever advances the tail.
 *
 *   floor [-m KIB] [-f FIELDS] [-d] [-w] [-o FILE] -- CMD...
 *     -m KIB     size of each CPU's ring, a power of two of pages (4096: smaller ones lose); 0 only counts, without a ring
 *     -f FIELDS  letters: r raw, t time, p pid and tid, c cpu, i identifier, u two user registers on entry (rtpci)
 *     -d         one more inherited event, a dummy that reports comm, fork and exit
 *     -w         do the last close of the events itself instead of leaving it to a detached child
 *     -o FILE    where the result goes (standard error): one line of JSON
 *
 * The result: "setup_ns" from the start to the uncorking, "drained_ns" from the start until the tree has ended and
 * the rings are empty, "total_ns" from the start until nothing is left to do, the events counted, those lost.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4)
#endif

enum { MAX_CPUS = 1024, EVENTS = 2 };

struct options {
	size_t ring_kib;
	const char *fields;
	int dummy, wait_for_close;
	const char *output;
};

struct rings {
	int n;
	size_t bytes;
	int fds[MAX_CPUS][EVENTS];
	int dummies[MAX_CPUS];
	struct perf_event_mmap_page *pages[MAX_CPUS];
	struct pollfd polled[MAX_CPUS];
};

static struct rings rings;

static void die(const char *what)
{
	fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
	exit(125);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A tracefs of our own, attached nowhere: neither the machine nor the workload sees it. */
static int detached_tracefs(void)
{
	int context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);

	if (context < 0 || syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		die("tracefs");
	int mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);

	if (mount < 0)
		die("fsmount");
	close(context);
	return mount;
}

static uint64_t tracepoint_id(int tracefs, const char *name)
{
	char path[128], text[32] = "";

	snprintf(path, sizeof path, "events/%s/id", name);
	int fd = openat(tracefs, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
		die(path);
	close(fd);
	return strtoull(text, NULL, 10);
}

static uint64_t sample_type(const char *fields)
{
	uint64_t type = 0;

	for (; *fields; fields++)
		switch (*fields) {
		case 'r': type |= PERF_SAMPLE_RAW; break;
		case 't': type |= PERF_SAMPLE_TIME; break;
		case 'p': type |= PERF_SAMPLE_TID; break;
		case 'c': type |= PERF_SAMPLE_CPU; break;
		case 'i': type |= PERF_SAMPLE_IDENTIFIER; break;
		case 'u': case '-': break;
		default: errno = EINVAL; die("-f");
		}
	return type;
}

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EINVAL && attr->read_format) { /* before Linux 6.0: losses are not counted */
		attr->read_format = 0;
		fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (fd < 0)
		die("perf_event_open");
	return fd;
}

static void map_ring(int cpu, size_t ring_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, ring_bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED, rings.fds[cpu][0], 0);

	if (at == MAP_FAILED)
		die("mmap of a ring");
	rings.pages[cpu] = at;
	rings.polled[cpu] = (struct pollfd){ .fd = rings.fds[cpu][0], .events = POLLIN };
}

static int open_all(const struct options *options, pid_t pid)
{
	static const char *const names[EVENTS] = { "raw_syscalls/sys_enter", "raw_syscalls/sys_exit" };
	int tracefs = detached_tracefs(), counts_losses = 1;
	struct perf_event_attr attr = { .size = sizeof attr, .type = PERF_TYPE_TRACEPOINT, .disabled = 1, .inherit = 1,
		.enable_on_exec = 1, .sample_period = 1, .sample_id_all = 1, .watermark = 1,
		.read_format = PERF_FORMAT_LOST };

	rings.bytes = options->ring_kib * 1024;
	if (rings.bytes) {
		attr.sample_type = sample_type(options->fields);
		attr.wakeup_watermark = (uint32_t)(rings.bytes / 2);
	} else {
		attr.sample_period = 0;
	}
	rings.n = (int)sysconf(_SC_NPROCESSORS_ONLN);
	if (rings.n > MAX_CPUS)
		rings.n = MAX_CPUS;
	for (int event = 0; event < EVENTS; event++) {
		attr.config = tracepoint_id(tracefs, names[event]);
		if (rings.bytes && event == 0 && strchr(options->fields, 'u')) {
			attr.sample_type |= PERF_SAMPLE_REGS_USER;
			attr.sample_regs_user = 1u << 8 | 1u << 2; /* x86: ip and cx */
		} else {
			attr.sample_type &= ~(uint64_t)PERF_SAMPLE_REGS_USER;
			attr.sample_regs_user = 0;
		}
		for (int cpu = 0; cpu < rings.n; cpu++) {
			rings.fds[cpu][event] = open_event(&attr, pid, cpu);
			if (rings.bytes && event == 0)
				map_ring(cpu, rings.bytes);
			else if (rings.bytes && ioctl(rings.fds[cpu][event], PERF_EVENT_IOC_SET_OUTPUT, rings.fds[cpu][0]) < 0)
				die("SET_OUTPUT");
		}
		counts_losses &= attr.read_format != 0;
	}
	if (options->dummy) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_DUMMY;
		attr.comm = attr.comm_exec = attr.task = 1;
		for (int cpu = 0; cpu < rings.n; cpu++) {
			rings.dummies[cpu] = open_event(&attr, pid, cpu);
			if (rings.bytes && ioctl(rings.dummies[cpu], PERF_EVENT_IOC_SET_OUTPUT, rings.fds[cpu][0]) < 0)
				die("SET_OUTPUT of the dummy");
		}
	}
	close(tracefs);
	return counts_losses;
}

static void drain(void)
{
	for (int cpu = 0; cpu < rings.n; cpu++) {
		struct perf_event_mmap_page *page = rings.pages[cpu];
		uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

		__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	}
}

/* The hang-up of every ring is the end of the whole tree, daemonised grandchildren included. */
static void drain_until_hung_up(void)
{
	int left = rings.n;

	while (left > 0) {
		if (poll(rings.polled, (nfds_t)rings.n, -1) < 0 && errno != EINTR)
			die("poll");
		drain();
		for (int cpu = 0; cpu < rings.n; cpu++)
			if (rings.polled[cpu].fd >= 0 && rings.polled[cpu].revents & POLLHUP) {
				rings.polled[cpu].fd = -1;
				left--;
			}
	}
	drain();
}

static pid_t cork(char **argv, int *go)
{
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC) < 0)
		die("pipe");
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		char byte;

		close(pipes[1]);
		if (read(pipes[0], &byte, 1) != 1)
			_exit(125);
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	close(pipes[0]);
	*go = pipes[1];
	return pid;
}

/* Keeps the events open until this process is gone, so that the last close, which waits tens of milliseconds for
 * the kernel to take the tracepoint's handler out, keeps no reader waiting. */
static void leave_the_close_to_a_child(void)
{
	int alive[2];

	if (pipe2(alive, O_CLOEXEC) < 0)
		die("pipe");
	if (fork() == 0) {
		char byte;

		setsid();
		close(alive[1]);
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		_exit(read(alive[0], &byte, 1) != 0);
	}
}

static void close_all(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (int cpu = 0; cpu < rings.n; cpu++) {
		if (rings.pages[cpu])
			munmap(rings.pages[cpu], rings.bytes + page);
		for (int event = 0; event < EVENTS; event++)
			close(rings.fds[cpu][event]);
	}
}

int main(int argc, char **argv)
{
	uint64_t start = now(), count = 0;
	int64_t lost = 0;
	struct options options = { .ring_kib = 4096, .fields = "rtpci" };
	int option, go, status;

	while ((option = getopt(argc, argv, "+m:f:dwo:")) >= 0)
		switch (option) {
		case 'm': options.ring_kib = strtoul(optarg, NULL, 10); break;
		case 'f': options.fields = optarg; break;
		case 'd': options.dummy = 1; break;
		case 'w': options.wait_for_close = 1; break;
		case 'o': options.output = optarg; break;
		default: return 125;
		}
	if (optind >= argc) {
		fputs("usage: floor [-m KIB] [-f FIELDS] [-d] [-w] [-o FILE] -- CMD...\n", stderr);
		return 125;
	}
	pid_t pid = cork(argv + optind, &go);
	int counts_losses = open_all(&options, pid);
	uint64_t uncorked = now();

	if (write(go, "", 1) != 1)
		die("uncork");
	close(go);
	if (rings.bytes)
		drain_until_hung_up();
	if (waitpid(pid, &status, 0) < 0)
		die("waitpid");
	uint64_t drained = now();

	for (int cpu = 0; cpu < rings.n; cpu++)
		for (int event = 0; event < EVENTS; event++) {
			uint64_t value[2] = { 0, 0 };

			if (read(rings.fds[cpu][event], value, sizeof value) < 8)
				die("read of a counter");
			count += value[0];
			lost += (int64_t)value[1];
		}
	if (options.wait_for_close)
		close_all();
	else
		leave_the_close_to_a_child();
	FILE *out = options.output ? fopen(options.output, "we") : stderr;

	if (!out)
		die(options.output);
	fprintf(out, "{\"setup_ns\":%llu,\"drained_ns\":%llu,\"total_ns\":%llu,\"events\":%llu,\"lost\":%lld}\n",
		(unsigned long long)(uncorked - start), (unsigned long long)(drained - start),
		(unsigned long long)(now() - start), (unsigned long long)count,
		counts_losses ? (long long)lost : -1LL);
	fflush(out);
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status);
}
