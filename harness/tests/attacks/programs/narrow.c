/* A 64-bit program that makes 32-bit calls: `narrow high | mixed | disguised | cold | late`. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPEN = 5, READLINK = 85 };

static long call(long nr, long a, long b, long c) {
	long result;
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}

/* The register that `syscall` leaves the next instruction's address in has that of int 0x80. */
static long disguised(long nr, long a) {
	long result;
	__asm__ volatile("lea 1f(%%rip), %%rcx\n\tint $0x80\n1:"
			 : "=a"(result)
			 : "a"(nr), "b"(a), "d"(0), "D"("of di")
			 : "rcx", "memory", "r8", "r9", "r10", "r11");
	return result;
}

static char *mapped(unsigned long at, int flags, int fd) {
	return mmap((void *)at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | flags, fd, 0);
}

/* A page of a file with "link" in it that this process has not touched. */
static char *cold(void) {
	char page[4096] = "link";
	int fd = open("page", O_RDWR | O_CREAT, 0600);
	if (write(fd, page, sizeof page) != sizeof page)
		_exit(2);
	return mapped(0, MAP_32BIT, fd);
}

int main(int argc, char **argv) {
	char *low = mapped(0x20000, MAP_ANONYMOUS | MAP_FIXED, -1);
	char *high = mapped(0x700020000, MAP_ANONYMOUS | MAP_FIXED, -1);
	const char *what = argv[argc - 1];
	strcpy(low, "by-the-lower-half");
	strcpy(high, "by-all-of-it");
	if (!strcmp(what, "high"))
		call(OPEN, (long)high, 0xdead00000000, 0);
	/* Each number is another call of the other table: 5 is fstat, 2 is fork. */
	if (!strcmp(what, "mixed"))
		for (int i = 0; i < 3; i++) {
			syscall(SYS_open, high, 0);
			call(OPEN, (long)low, 0, 0);
			syscall(SYS_fstat, 99, high);
		}
	if (!strcmp(what, "disguised"))
		disguised(OPEN, (long)low);
	if (!strcmp(what, "cold"))
		call(OPEN, (long)cold(), 0, 0);
	/* The link's target takes the place of the path, in memory that was not there before. */
	if (!strcmp(what, "late")) {
		char *page = cold();
		symlink("another", "link");
		call(READLINK, (long)page, (long)page, 100);
	}
	return 0;
}
