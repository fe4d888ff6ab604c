/* Makes a socket, connects to port 50099 of the machine itself and sends to port 50098, by socketcall(2). */
static int call(int nr, int a, const void *b) {
	int result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(nr), "b"(a), "c"(b), "d"(0) : "memory");
	return result;
}

void _start(void) {
	static unsigned char to[16] = {2, 0, 50099 >> 8, 50099 & 255, 127, 0, 0, 1};
	static unsigned char other[16] = {2, 0, 50098 >> 8, 50098 & 255, 127, 0, 0, 1};
	int fd = call(102, 1, (int[]){2, 2, 0});                    /* SYS_SOCKET */
	call(102, 3, (int[]){fd, (int)to, 16});                     /* SYS_CONNECT */
	call(102, 11, (int[]){fd, (int)"x", 1, 0, (int)other, 16}); /* SYS_SENDTO */
	call(1, 0, 0);
}
