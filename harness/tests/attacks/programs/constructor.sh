#!/bin/sh
# A library whose constructor, or whose resolver, calls by an instruction of the dynamic loader's, and a program that has it.
cat > it.c <<'C'
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <fcntl.h>
#include <unistd.h>

static long by(unsigned char *at, long number, long a, long b, long c) {
	long result;
	__asm__ volatile("call *%1" : "=a"(result) : "r"(at), "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}

/* `syscall; cmp $-4095, %rax; jae ...; ret`, or any other that comes to a return where the call succeeded. */
static int find(struct dl_phdr_info *one, size_t size, void *found) {
	(void)size;
	if (!strstr(one->dlpi_name, "ld-linux"))
		return 0;
	for (int part = 0; part < one->dlpi_phnum; part++) {
		const ElfW(Phdr) *it = &one->dlpi_phdr[part];
		if (it->p_type != PT_LOAD || !(it->p_flags & PF_X))
			continue;
		unsigned char *code = (void *)(one->dlpi_addr + it->p_vaddr);
		for (unsigned char *at = code; at + 16 < code + it->p_memsz; at++)
			if (at[0] == 0x0f && at[1] == 0x05 && (at[2] == 0xc3 || (at[2] == 0x48 && at[3] == 0x3d && at[8] == 0x77 && at[10] == 0xc3) || (at[2] == 0x48 && at[3] == 0x3d && at[8] == 0x73 && at[10] == 0xc3))) {
				*(unsigned char **)found = at;
				return 1;
			}
	}
	return 0;
}

__attribute__((constructor)) static void early(void) {
	unsigned char *at = 0;
	dl_iterate_phdr(find, &at);
	if (at) {
		int file = by(at, SYS_openat, AT_FDCWD, (long)"secret", O_RDONLY);
		by(at, SYS_close, file, 0, 0);
	}
	else
		write(2, "no instruction\n", 15);
}

int main(void) { return getppid() < 0; }
C
PATH=/usr/bin:/bin cc -O1 -o it it.c && ./it
