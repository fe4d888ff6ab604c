/* Writes to a file and syncs it by io_submit: `aio FILE`; with a second word it only opens the file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

static aio_context_t context;

static int submit(struct iocb *block) {
	struct io_event event;
	return syscall(SYS_io_submit, context, 1, &block) == 1 &&
	       syscall(SYS_io_getevents, context, 1, 1, &event, 0) == 1;
}

int main(int argc, char **argv) {
	int file = open(argv[1], O_CREAT | O_RDWR, 0644);
	struct iocb block = {.aio_fildes = file, .aio_lio_opcode = IOCB_CMD_PWRITE};
	block.aio_buf = (unsigned long)"new", block.aio_nbytes = 3;
	struct iocb sync = {.aio_fildes = file, .aio_lio_opcode = IOCB_CMD_FSYNC};
	if (argc > 2)
		return file < 0;
	if (syscall(SYS_io_setup, 4, &context) != 0)
		return 1;
	return !(submit(&block) && submit(&sync));
}
