/* Makes every operation of socketcall(2) and ipc(2), and the old mmap(2) and select(2), whose arguments are in memory. */
typedef unsigned int word;

static int call(word nr, word a, word b, word c, word d, word e) {
	int result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e) : "memory");
	return result;
}

#define SOCKET(operation, ...) call(102, operation, (word)(word[]){__VA_ARGS__}, 0, 0, 0)
#define TEXT(text) (word)text, sizeof text - 1

/* By ipc(2) the sixth word is in the register that the compiler may keep its frame in. */
static int sixth(word a, word b, word c, word d, word e, word f) {
	int result;
	word words[6] = {a, b, c, d, e, f};
	__asm__ volatile("pushl %%ebp\n\tmovl 4(%%eax), %%ecx\n\tmovl 8(%%eax), %%edx\n\tmovl 12(%%eax), %%esi\n\t"
			 "movl 16(%%eax), %%edi\n\tmovl 20(%%eax), %%ebp\n\tmovl (%%eax), %%ebx\n\tmovl $117, %%eax\n\t"
			 "int $0x80\n\tpopl %%ebp"
			 : "=a"(result) : "a"(words) : "ebx", "ecx", "edx", "esi", "edi", "memory");
	return result;
}

/* The kernel chooses a port, and tells it. */
static unsigned char port[16] = {2, 0, 0, 0, 127, 0, 0, 1};

static void sockets(void) {
	unsigned char peer[16];
	word length = sizeof peer, on = 1, pair[2];
	char got[16];
	int waits = SOCKET(1, 2, 1, 0);
	SOCKET(14, waits, 1, 2, (word)&on, 4);
	SOCKET(2, waits, (word)port, 16);
	SOCKET(4, waits, 5);
	SOCKET(6, waits, (word)port, (word)&length);
	int to = SOCKET(1, 2, 1, 0);
	SOCKET(3, to, (word)port, 16);
	int by = SOCKET(5, waits, 0, 0);
	SOCKET(6, by, (word)peer, (word)&length);
	SOCKET(7, to, (word)peer, (word)&length);
	SOCKET(9, to, TEXT("sent"), 0);
	SOCKET(10, by, (word)got, sizeof got, 0);
	SOCKET(11, to, TEXT("to none"), 0, 0, 0);
	SOCKET(12, by, (word)got, sizeof got, 0, 0, 0);
	length = 4;
	SOCKET(15, waits, 1, 2, (word)&on, (word)&length);
	SOCKET(13, to, 1);
	SOCKET(18, -1, 0, 0, 04000);
	SOCKET(8, 1, 2, 0, (word)pair);
	word piece[2] = {TEXT("by message")};
	word control[4] = {16, 1, 1, 1};
	word message[8] = {0, 0, (word)piece, 1, (word)control, 16, 0, 0};
	SOCKET(16, pair[0], (word)message, 0);
	word room[2] = {(word)got, sizeof got};
	word taken[8] = {0, 0, (word)room, 1, (word)control, 16, 0, 0};
	SOCKET(17, pair[1], (word)taken, 0);
	message[5] = 0;
	SOCKET(20, pair[0], (word)message, 1, 0);
	SOCKET(19, pair[1], (word)taken, 1, 0, 0);
}

static void objects(void) {
	struct { word type; char text[4]; } message = {7, "mes"};
	unsigned short operation[3] = {0, 1, 0};
	word value = 3, time[2] = {1, 0}, place;
	int of_semaphores = sixth(2, 0, 1, 0600, 0, 0);
	sixth(3, of_semaphores, 0, 16, (word)&value, 0);
	sixth(1, of_semaphores, 1, 0, (word)operation, 0);
	sixth(4, of_semaphores, 1, 0, (word)operation, (word)time);
	sixth(3, of_semaphores, 0, 0, (word)&value, 0);
	int queue = sixth(13, 0, 0600, 0, 0, 0);
	sixth(11, queue, 4, 04000, (word)&message, 0);
	sixth(1 << 16 | 12, queue, 4, 04000, (word)&message, 7);
	sixth(14, queue, 0, 0, 0, 0);
	int memory = sixth(23, 0, 4096, 0600, 0, 0);
	sixth(21, memory, 0, (word)&place, 0, 0);
	sixth(22, 0, 0, 0, place, 0);
	sixth(24, memory, 0, 0, 0, 0);
}

void _start(void) {
	sockets();
	objects();
	call(90, (word)(word[]){0, 8192, 3, 0x22, -1, 0}, 0, 0, 0, 0);
	word set[32] = {2}, time[2] = {0, 1000};
	call(82, (word)(word[]){2, 0, (word)set, 0, (word)time}, 0, 0, 0, 0);
	call(102, 21, (word)(word[]){0}, 0, 0, 0);
	SOCKET(3, 1 << 30, 8, 16);
	call(102, 1, 8, 0, 0, 0);
	call(1, 0, 0, 0, 0, 0);
}
