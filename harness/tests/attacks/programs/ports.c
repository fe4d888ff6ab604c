/* Sockets and ports, by the word of the first argument. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in at(int port) {
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

static int bound(int port) {
	struct sockaddr_in address = at(port);
	int made = socket(AF_INET, SOCK_STREAM, 0);
	bind(made, (void *)&address, sizeof address);
	return made;
}

static struct sockaddr_in own(int made) {
	struct sockaddr_in address;
	socklen_t length = sizeof address;
	getsockname(made, (void *)&address, &length);
	return address;
}

static void connects(struct sockaddr_in address) {
	connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&address, sizeof address);
}

/* bind(2) by the 32-bit table: what the address is has to lie below 4 GiB. */
static void binds_by_the_32_bit_table(int made, int port) {
	static struct sockaddr_in address;
	int result;
	address = at(port);
	__asm__ volatile("int $0x80"
	                 : "=a"(result)
	                 : "a"(361), "b"(made), "c"((int)(long)&address), "d"((int)sizeof address)
	                 : "memory");
}

int main(int argc, char **argv) {
	struct sockaddr_in address = at(50099);
	char *word = argv[argc > 1];
	if (!strcmp(word, "connects")) {
		connects(address);
	} else if (!strcmp(word, "binds")) {
		bound(50099);
	} else if (!strcmp(word, "sends")) {
		int made = socket(AF_INET, SOCK_DGRAM, 0);
		sendto(made, "x", 1, 0, (void *)&address, sizeof address);
	} else if (!strcmp(word, "others")) {
		/* The address of one socket is asked for, and another is connected to. */
		int one = bound(0), other = bound(0);
		own(one);
		connects(own(other));
	} else if (!strcmp(word, "named-before")) {
		connects(own(bound(50099)));
	} else if (!strcmp(word, "named-by-32-bit")) {
		int made = socket(AF_INET, SOCK_STREAM, 0);
		binds_by_the_32_bit_table(made, 50099);
		connects(own(made));
	}
	return 0;
}
