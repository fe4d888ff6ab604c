/* Opens two files; reads from the second opening of `c`, or from one whose name is `c:2`. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
	char letter;
	int one = open("c", O_RDONLY);
	int other = open(argc > 1 ? argv[1] : "c", O_RDONLY);
	read(other, &letter, 1);
	return one < 0;
}
