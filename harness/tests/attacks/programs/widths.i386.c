/* A 32-bit program that opens "first", then "second" by a native call from 64-bit code, then "third". */
static int opens(const char *path) {
	int result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(5), "b"(path), "c"(0), "d"(0) : "memory");
	return result;
}

static int natively(const char *path) {
	int result;
	/* open(2) is 2 there. A far jump to the segment of 64-bit code, and a far return. */
	__asm__ volatile("ljmp $0x33, $1f\n"
			 ".code64\n"
			 "1: mov $2, %%eax\n\t"
			 "xor %%esi, %%esi\n\t"
			 "xor %%edx, %%edx\n\t"
			 "syscall\n\t"
			 "push $0x23\n\t"
			 "mov $2f, %%ecx\n\t"
			 "push %%rcx\n\t"
			 "lretq\n"
			 ".code32\n"
			 "2:"
			 : "=a"(result)
			 : "D"(path)
			 : "ecx", "edx", "esi", "memory");
	return result;
}

void _start(void) {
	opens("first");
	natively("second");
	opens("third");
	__asm__ volatile("int $0x80" : : "a"(1), "b"(0));
}
