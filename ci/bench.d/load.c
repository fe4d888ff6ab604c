/* The workloads of the benchmark that no ordinary program is.
 *
 *   load getppid N      N calls of getppid in a tight loop; with a file behind it, the nanoseconds that they took are
 *                       written there: without the start and the end of whatever traces them
 *   load access N       N calls of faccessat with one and the same path
 *   load fork-exec N    N times fork, exec of true, wait
 *   load forks N        N times fork and wait, the child exits at once
 *   load busy           keeps one CPU busy until its parent is gone
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int getppids(long n, const char *path)
{
	long long start = now();

	while (n-- > 0)
		syscall(SYS_getppid);
	long long took = now() - start;
	FILE *file = path ? fopen(path, "w") : NULL;

	if (path && (!file || fprintf(file, "%lld\n", took) < 0 || fclose(file))) {
		perror(path);
		return 1;
	}
	return 0;
}

static void fork_and_wait(int executes)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (executes)
			execlp("true", "true", (char *)NULL);
		_exit(executes ? 127 : 0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid) {
		perror("load: fork");
		exit(1);
	}
}

static void busy(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == 1)
		return;
	for (volatile unsigned long turns = 0;; turns++)
		;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 1;

	if (!strcmp(what, "getppid"))
		return getppids(n, argc > 3 ? argv[3] : NULL);
	else if (!strcmp(what, "access"))
		while (n-- > 0)
			syscall(SYS_faccessat, AT_FDCWD, "/etc/hostname", 0);
	else if (!strcmp(what, "fork-exec") || !strcmp(what, "forks"))
		while (n-- > 0)
			fork_and_wait(what[4] == '-');
	else if (!strcmp(what, "busy"))
		busy();
	else
		return fputs("usage: load getppid|access|fork-exec|forks N | busy\n", stderr), 2;
	return 0;
}
