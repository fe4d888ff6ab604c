/* Writes to the file that comes by the socket `door`, all by socketcall(2). */
static int call(int nr, int a, const void *b, int c) {
	int result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

void _start(void) {
	static unsigned char door[] = {1, 0, 'd', 'o', 'o', 'r'};
	static char byte;
	static int control[16], buffer[2];
	static int message[7];
	buffer[0] = (int)&byte;
	buffer[1] = 1;
	message[2] = (int)buffer;
	message[3] = 1;
	message[4] = (int)control;
	message[5] = sizeof control;
	int fd = call(102, 1, (int[]){1, 1, 0}, 0);             /* SYS_SOCKET */
	call(102, 3, (int[]){fd, (int)door, sizeof door}, 0);   /* SYS_CONNECT */
	int came = call(102, 17, (int[]){fd, (int)message, 0}, 0); /* SYS_RECVMSG */
	int wrote = came == 1 ? call(4, control[3], "x", 1) : -1;
	call(1, wrote == 1 ? 0 : 1, 0, 0);
}
