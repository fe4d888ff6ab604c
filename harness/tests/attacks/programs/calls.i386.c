/* Calls of the 32-bit table that have other names than the native ones. */
static int call(int nr, int a, int b, int c) {
	int result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

void _start(void) {
	static unsigned long socket[] = {2, 1, 0};
	call(102, 1, (int)socket, 0); /* socketcall(SYS_SOCKET) */
	call(213, 0, 0, 0);           /* setuid32 */
	call(1, 0, 0, 0);             /* exit */
}
