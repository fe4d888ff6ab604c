/* Writes in a thread when the first one of the process has ended. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_t first;

static void *writes(void *unused)
{
	int log = open("log", O_WRONLY | O_CREAT, 0644);

	pthread_join(first, NULL);
	exit(write(log, "0123456789", 10) != 10);
	return unused;
}

int main(void)
{
	pthread_t thread;

	first = pthread_self();
	if (pthread_create(&thread, NULL, writes, NULL))
		return 2;
	pthread_exit(NULL);
}
