/* A path on a page that is not there when the call is entered, and is overwritten while the call waits. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *path;
static volatile int waiter;

static void nothing(int number) { (void)number; }

static void *waits(void *unused) {
	waiter = syscall(SYS_gettid);
	/* No process opens it for writing. */
	open(path, O_RDONLY);
	return unused;
}

/* Until the other thread sleeps, which it does nowhere else. */
static void until_it_waits(void) {
	char name[64], state[512];
	do {
		snprintf(name, sizeof name, "/proc/self/task/%d/stat", waiter);
		int file = syscall(SYS_open, name, O_RDONLY);
		int length = read(file, state, sizeof state - 1);
		close(file);
		state[length < 0 ? 0 : length] = 0;
	} while (!strrchr(state, ')') || strrchr(state, ')')[2] != 'S');
}

int main(void) {
	struct sigaction action = {.sa_handler = nothing};
	pthread_t other;
	int names = syscall(SYS_open, "names", O_RDONLY);
	path = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, names, 0);
	mkfifo("secret", 0600);
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&other, NULL, waits, NULL);
	while (!waiter)
		;
	until_it_waits();
	strcpy(path, "innocent");
	pthread_kill(other, SIGUSR1);
	pthread_join(other, NULL);
	return 0;
}
