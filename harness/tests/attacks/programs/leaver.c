/* A set-user-ID program: it leaves the control group that it is in, unlinks `secret`, and may have a child put it back. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The folder of the version 2 hierarchy, with what comes behind it. */
static int group(const char *name) {
	static char line[4096], folder[4096], path[8192];
	FILE *mounts = fopen("/proc/mounts", "r");
	folder[0] = 0;
	while (fgets(line, sizeof line, mounts))
		if (strstr(line, " cgroup2 "))
			sscanf(line, "%*s %4000s", folder);
	fclose(mounts);
	snprintf(path, sizeof path, "%s%s/cgroup.procs", folder, name);
	return open(path, O_WRONLY);
}

int main(int argc, char **argv) {
	static char own[4096], number[32];
	FILE *groups = fopen("/proc/self/cgroup", "r");
	while (fgets(own, sizeof own, groups))
		if (!strncmp(own, "0::", 3))
			break;
	own[strcspn(own, "\n")] = 0;
	if (setuid(0) || write(group(""), "0", 1) != 1)
		return 9;
	unlink("secret");
	if (argc > 1) {
		snprintf(number, sizeof number, "%d", getpid());
		int back = group(own + 3);
		if (fork() == 0)
			_exit(write(back, number, strlen(number)) < 0);
		wait(NULL);
	}
	return 0;
}
