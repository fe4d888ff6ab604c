/* Runs a command and says what it cost: the benchmark's stopwatch.
 *
 *   spawn [-s] [-t] [-n TIMES] -- CMD...
 *     -s        first, unmeasured, waits until no tracepoint's handler is being taken out: a tracer that leaves its last
 *               close to another process would slow down the next run, the untraced one included
 *     -t        in a mount namespace of its own where tracefs is mounted at its usual place, for the tools that would
 *               otherwise mount it for the whole machine
 *     -n TIMES  so many runs, one after the other (1)
 *
 * Standard output gets one line of JSON: nanoseconds of each run from fork to wait, those that all runs used of the CPUs, the
 * largest resident set in KiB, the status of the last run as a shell has it. The command's own standard output goes to /dev/null. Small, so that the fork
 * is cheap and the command's peak memory is not that of its parent.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(125);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t nanoseconds(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static void mount_tracefs_privately(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		die("mount namespace");
	if (mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL) < 0 && access("/sys/kernel/tracing/events", F_OK) < 0)
		die("mount of tracefs");
}

/* Opening a tracepoint that does not exist takes the mutex under which handlers are put in and taken out, and nothing
 * else. Between two closes in a row the mutex is free for a moment, hence several quick answers in a row. */
static void wait_until_settled(void)
{
	struct perf_event_attr attr = { .size = sizeof attr, .type = PERF_TYPE_TRACEPOINT, .config = 0x7fffffff };
	uint64_t give_up = now() + 60 * 1000000000ull;

	for (int quick = 0; quick < 10 && now() < give_up;) {
		usleep(10000);
		uint64_t start = now();

		syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		quick = now() - start < 5000000 ? quick + 1 : 0;
	}
}

int main(int argc, char **argv)
{
	long times = 1, peak_kib = 0;
	uint64_t cpu = 0;
	int option, status = 0;

	while ((option = getopt(argc, argv, "+stn:")) >= 0)
		switch (option) {
		case 's': wait_until_settled(); break;
		case 't': mount_tracefs_privately(); break;
		case 'n': times = strtol(optarg, NULL, 10); break;
		default: return 125;
		}
	if (optind >= argc)
		return 125;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	printf("{\"wall_ns\":[");
	for (long run = 0; run < times; run++) {
		fflush(stdout);
		uint64_t start = now();
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			dup2(null, 0);
			dup2(null, 1);
			execvp(argv[optind], argv + optind);
			perror(argv[optind]);
			_exit(127);
		}
		struct rusage usage;

		if (wait4(pid, &status, 0, &usage) < 0)
			die("wait4");
		printf("%s%llu", run ? "," : "", (unsigned long long)(now() - start));
		cpu += nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
		if (usage.ru_maxrss > peak_kib)
			peak_kib = usage.ru_maxrss;
	}
	printf("],\"cpu_ns\":%llu,\"peak_kib\":%ld,\"status\":%d}\n", (unsigned long long)cpu, peak_kib,
		WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	return 0;
}
