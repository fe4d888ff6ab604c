/* Hands one operation to an io_uring: submits OPCODE FD OFFSET. */
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
	struct io_uring_params params;
	memset(&params, 0, sizeof params);
	int ring = syscall(__NR_io_uring_setup, 4, &params);
	if (ring < 0 || argc < 4)
		return 1;
	size_t length = params.sq_off.array + params.sq_entries * sizeof(unsigned);
	char *queue = mmap(0, length, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	struct io_uring_sqe *entry = mmap(0, params.sq_entries * sizeof *entry, PROT_READ | PROT_WRITE,
	                                  MAP_SHARED, ring, IORING_OFF_SQES);
	if (queue == MAP_FAILED || entry == MAP_FAILED)
		return 1;
	memset(entry, 0, sizeof *entry);
	entry->opcode = atoi(argv[1]);
	entry->fd = atoi(argv[2]);
	entry->off = atoi(argv[3]);
	*(unsigned *)(queue + params.sq_off.array) = 0;
	__atomic_store_n((unsigned *)(queue + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	return syscall(__NR_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, 0, 0) != 1;
}
