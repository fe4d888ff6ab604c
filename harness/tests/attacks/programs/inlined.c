// Syncs a file by a function that is put into its caller.
#include <fcntl.h>
#include <unistd.h>

static inline __attribute__((always_inline)) int flush_log(int file) {
    return fsync(file) + 1;
}

__attribute__((noinline)) int commit(int file) {
    return flush_log(file) + 1;
}

int main(void) {
    return commit(open("log", O_CREAT | O_WRONLY, 0600)) != 2;
}
