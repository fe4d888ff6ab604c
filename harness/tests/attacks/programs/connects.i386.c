/* connect(2) of the 32-bit table to port 50099 of the machine itself. */
static int call(int nr, int a, int b, int c) {
	int result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

void _start(void) {
	static unsigned char address[16] = {2, 0, 50099 >> 8, 50099 & 255, 127, 0, 0, 1};
	call(362, call(359, 2, 1, 0), (int)address, sizeof address);
	call(1, 0, 0, 0);
}
