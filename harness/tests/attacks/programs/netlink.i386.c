/* Makes a socket of netlink by socketcall(2). */
void _start(void) {
	static int array[3] = {16, 3, 0};
	int result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(102), "b"(1), "c"(array) : "memory"); /* SYS_SOCKET */
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(1), "b"(0) : "memory");
}
