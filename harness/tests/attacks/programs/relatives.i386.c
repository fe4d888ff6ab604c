/* A 32-bit program without a library: calls of the i386 table that have names of their own. Its first argument says which. */
static int call(int nr, int a, int b, int c, int d) {
	int result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d) : "memory");
	return result;
}

static int open_file(const char *path) { return call(5, (int)path, 0102, 0600, 0); }

__attribute__((used)) static void run(int *stack) {
	const char *word = (const char *)stack[2];
	static int words[7];
	int fd;
	switch (stack[0] > 1 ? word[0] : 0) {
	case 's': /* socketcall(SYS_SOCKET, {AF_UNIX, SOCK_STREAM, 0}) */
		words[0] = 1, words[1] = 1;
		call(102, 1, (int)words, 0, 0);
		break;
	case 'b': /* socketcall of no such operation, then SYS_BIND of a bad descriptor */
		call(102, 77, (int)words, 0, 0);
		words[0] = -1;
		call(102, 2, (int)words, 0, 0);
		break;
	case 'u': /* setuid32 */
		call(213, 0, 0, 0, 0);
		break;
	case 'U': /* setuid of 16 bits: 65536 is 0 */
		call(23, 0x10000, 0, 0, 0);
		break;
	case 'f': /* ftruncate64(fd, 5) */
		fd = open_file("file");
		call(194, fd, 5, 0, 0);
		break;
	case 't': /* truncate64("file", 5) */
		open_file("file");
		call(193, (int)"file", 5, 0, 0);
		break;
	case 'c': /* chown32("file", -1, -1) */
		open_file("file");
		call(212, (int)"file", -1, -1, 0);
		break;
	case 'm': /* umount, without flags */
		call(22, (int)"nowhere", 0, 0, 0);
		break;
	case 'i': /* ipc(MSGGET, IPC_PRIVATE, 0600) */
		call(117, 13, 0, 0600, 0);
		break;
	case 'S': /* oldstat, stat64, lstat64, fstatat64 */
		call(18, (int)"file", (int)words, 0, 0);
		break;
	case 'o': /* select of old: its arguments are in memory */
		words[0] = 7, words[4] = (int)(words + 5);
		call(82, (int)words, 0, 0, 0);
		break;
	case 'w': /* waitpid */
		call(7, -1, 0, 1, 0);
		break;
	case 'd': /* fcntl64(0, F_DUPFD, 9) */
		call(221, 0, 0, 9, 0);
		break;
	case 'e': /* sendfile64 of bad descriptors */
		call(239, -1, -1, 0, 0);
		break;
	}
	call(1, 0, 0, 0, 0);
}

__asm__(".globl _start\n_start:\n\tmov %esp, %eax\n\tpush %eax\n\tcall run\n");
