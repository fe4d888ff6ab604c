/* Makes calls of the 32-bit table from 64-bit code, in a second thread: `gate32 setuid32 | ftruncate64 | socketcall | x32 | high`. */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char **words;

static long call(long nr, long a, long b, long c) {
	long result;
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}

static void *work(void *nothing) {
	int *low = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (!strcmp(words[1], "setuid32"))
		call(213, 0, 0, 0);
	if (!strcmp(words[1], "ftruncate64"))
		call(194, open("secret", O_RDWR), 0, 0);
	if (!strcmp(words[1], "socketcall")) {
		low[0] = 1, low[1] = 1;
		call(102, 1, (long)low, 0);
	}
	if (!strcmp(words[1], "x32"))
		syscall(0x40000029, 1, 1, 0);
	/* The kernel looks at the lower half of a register alone: close(7) */
	if (!strcmp(words[1], "high"))
		call(6, (9L << 32) | dup2(0, 7), 0, 0);
	return nothing;
}

int main(int argc, char **argv) {
	pthread_t thread;
	words = argv;
	pthread_create(&thread, 0, work, 0);
	pthread_join(thread, 0);
	return argc < 2;
}
