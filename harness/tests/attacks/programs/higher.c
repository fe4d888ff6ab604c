/* socket(2) by a number whose upper half is not zero. */
int main(void) {
	register long result __asm__("rax") = 0x700000029;
	__asm__ volatile("syscall" : "+r"(result) : "D"(2L), "S"(1L), "d"(0L) : "rcx", "r11", "memory");
	return result < 0;
}
