/* Calls of the 32-bit table with something behind each kind of pointer. */
static int call6(int nr, int a, int b, int c, int d, int e, int f) {
	int result;
	int words[2] = {nr, f};
	__asm__ volatile("push %%ebp\n\tmov 4(%%eax), %%ebp\n\tmov (%%eax), %%eax\n\tint $0x80\n\tpop %%ebp"
			 : "=a"(result)
			 : "a"(words), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory");
	return result;
}
#define C(nr, a, b, c, d, e) call6(nr, (int)(a), (int)(b), (int)(c), (int)(d), (int)(e), 0)

struct iovec { const void *base; unsigned length; };
struct message { void *name; int namelen; struct iovec *iov; unsigned iovlen; void *control; unsigned controllen; unsigned flags; };

static char buffer[256];
static int pair[2], sockets[2];

void _start(void) {
	static long longs[2], old[2] = {0, 1000};
	static long long wide[4];
	C(39, "folder", 0700, 0, 0, 0);                 /* mkdir */
	int fd = C(5, "folder/file", 0102, 0600, 0, 0); /* open */
	C(4, fd, "twelve bytes", 12, 0, 0);             /* write */
	static struct iovec vectors[] = {{"one", 3}, {"three", 5}};
	C(146, fd, vectors, 2, 0, 0);                   /* writev */
	C(334, fd, vectors, 2, 0, 0);                   /* pwritev */
	C(181, fd, "zero", 4, 1, 0);                    /* pwrite64 */
	C(180, fd, buffer, 5, 0, 0);                    /* pread64 */
	static struct iovec into[] = {{buffer, 3}, {buffer + 16, 2}};
	C(333, fd, into, 2, 0, 0);                      /* preadv */
	C(195, "folder/file", buffer, 0, 0, 0);         /* stat64 */
	C(197, fd, buffer, 0, 0, 0);                    /* fstat64 */
	C(106, "folder/file", buffer, 0, 0, 0);         /* stat */
	C(99, "folder", buffer, 0, 0, 0);               /* statfs */
	C(38, "folder/file", "folder/other", 0, 0, 0);  /* rename */
	C(83, "other", "folder/link", 0, 0, 0);         /* symlink */
	C(85, "folder/link", buffer, 100, 0, 0);        /* readlink */
	C(183, buffer, 256, 0, 0, 0);                   /* getcwd */
	C(42, pair, 0, 0, 0, 0);                        /* pipe */
	C(4, pair[1], "through", 7, 0, 0);
	C(3, pair[0], buffer, 100, 0, 0);               /* read */
	C(162, old, 0, 0, 0, 0);                        /* nanosleep */
	wide[1] = 1000;
	C(407, 1, 0, wide, 0, 0);                       /* clock_nanosleep_time64 */
	C(265, 1, longs, 0, 0, 0);                      /* clock_gettime */
	C(403, 1, wide, 0, 0, 0);                       /* clock_gettime64 */
	C(122, buffer, 0, 0, 0, 0);                     /* uname */
	C(116, buffer, 0, 0, 0, 0);                     /* sysinfo */
	longs[0] = 100, longs[1] = -1;
	C(191, 4, longs, 0, 0, 0);                      /* ugetrlimit */
	C(75, 4, longs, 0, 0, 0);                       /* setrlimit */
	static int set[2] = {0x200, 0}, action[5];
	C(175, 0, set, 0, 8, 0);                        /* rt_sigprocmask */
	action[0] = 1;
	C(174, 10, action, 0, 8, 0);                    /* rt_sigaction */
	static struct { int fd; short events, revents; } polled = {0, 1, 0};
	polled.fd = pair[0];
	C(168, &polled, 1, 0, 0, 0);                    /* poll */
	C(360, 1, 2, 0, sockets, 0);                    /* socketpair */
	static int control[] = {16, 1, 1, 0};
	control[3] = pair[0];
	static struct iovec body = {"body", 4};
	static struct message message = {0, 0, &body, 1, control, 16, 0};
	C(370, sockets[0], &message, 0, 0, 0);          /* sendmsg */
	static int received[8];
	static struct iovec room = {buffer, 100};
	static struct message empty = {0, 0, &room, 1, received, 32, 0};
	C(372, sockets[1], &empty, 0, 0, 0);            /* recvmsg */
	static unsigned char address[16] = {2, 0, 50099 >> 8, 50099 & 255, 127, 0, 0, 1};
	int inet = C(359, 2, 2, 0, 0, 0);               /* socket */
	C(362, inet, address, 16, 0, 0);                /* connect */
	static int length = 128;
	C(367, inet, buffer, &length, 0, 0);            /* getsockname */
	call6(369, inet, (int)"datagram", 8, 0, (int)address, 16); /* sendto */
	static long times[4] = {1, 2, 3, 4};
	C(320, -100, "folder/other", times, 0, 0);      /* utimensat */
	C(301, -100, "folder/other", 0, 0, 0);          /* unlinkat */
	C(10, "folder/link", 0, 0, 0, 0);               /* unlink */
	C(40, "folder", 0, 0, 0, 0);                    /* rmdir */
	C(5, (char *)8, 0, 0, 0, 0);
	static char *const words[] = {"true", "and", "more", 0};
	C(11, "/bin/true", words, 0, 0, 0);             /* execve */
	C(1, 1, 0, 0, 0, 0);
}
