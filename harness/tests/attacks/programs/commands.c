/* Calls whose structures depend on a command, or of which there are several, with real values and with none. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/fiemap.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/if_packet.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <mqueue.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* What ends where a page does. */
static char *end;
static void *at_end(const void *bytes, int size) {
	return memcpy(end - size, bytes, size);
}

static char room[4096];

static void of_system_v(void) {
	int queue = msgget(IPC_PRIVATE, 0600), set = semget(IPC_PRIVATE, 3, 0640), memory = shmget(IPC_PRIVATE, 5000, 0600);
	static const int COMMANDS[] = {IPC_STAT, IPC_SET, IPC_INFO, 11, 12, 13, 14, 15, 18, 19, 20};
	for (int i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
		int command = COMMANDS[i];
		syscall(SYS_msgctl, command < 3 ? queue : 0, command, room);
		syscall(SYS_semctl, command < 3 ? set : 0, 0, command, room);
		syscall(SYS_shmctl, command < 3 ? memory : 0, command, room);
		syscall(SYS_msgctl, -1, command, NULL);
		syscall(SYS_semctl, -1, 0, command, 8);
		syscall(SYS_shmctl, -1, command, 8);
	}
	syscall(SYS_semctl, set, 0, IPC_STAT, end - 104);
	syscall(SYS_shmctl, memory, IPC_STAT, end - 112);
	msgctl(queue, IPC_RMID, NULL);
	semctl(set, 0, IPC_RMID);
	shmctl(memory, IPC_RMID, NULL);
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 7};
	syscall(SYS_mq_notify, -1, &event);
	syscall(SYS_mq_notify, -1, NULL);
}

static void messages(void) {
	int from = socket(AF_INET, SOCK_DGRAM, 0), to = socket(AF_INET, SOCK_DGRAM, 0), one = 1, pair[2];
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, names[4];
	socklen_t length = sizeof in;
	bind(to, (struct sockaddr *)&in, sizeof in);
	getsockname(to, (struct sockaddr *)&in, &length);
	setsockopt(to, SOL_IP, IP_PKTINFO, &one, sizeof one);
	struct iovec given[] = {{"first", 5}, {"the second", 10}, {"", 0}, {"a fourth", 8}}, taken[4];
	struct mmsghdr sent[4] = {0}, came[4] = {0};
	char rooms[4][20], control[4][64];
	for (int i = 0; i < 4; i++) {
		taken[i] = (struct iovec){rooms[i], sizeof rooms[i]};
		sent[i].msg_hdr = (struct msghdr){.msg_name = &in, .msg_namelen = sizeof in, .msg_iov = given + i, .msg_iovlen = 1};
		came[i].msg_hdr = (struct msghdr){.msg_name = i % 2 ? names + i : NULL, .msg_namelen = 16, .msg_iov = taken + i,
			.msg_iovlen = 1, .msg_control = i > 1 ? control[i] : NULL, .msg_controllen = i > 1 ? 64 : 0};
	}
	sent[3].msg_hdr.msg_iovlen = 0;
	sendmmsg(from, sent, 4, 0);
	sendmmsg(from, at_end(sent, 2 * sizeof *sent), 3, 0);
	sendmmsg(from, sent, 0, 0);
	sendmmsg(-1, sent, 2, MSG_DONTWAIT);
	sendmmsg(from, NULL, 2, 0);
	sendmmsg(from, (void *)8, 2, 0);
	recvmmsg(to, came, 2, 0, NULL);
	recvmmsg(to, at_end(came, 4 * sizeof *came), 4, MSG_DONTWAIT, NULL);
	recvmmsg(to, came, 4, MSG_DONTWAIT, NULL);
	recvmmsg(-1, came, 4, 0, NULL);
	recvmmsg(to, NULL, 4, 0, NULL);
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	static struct { struct cmsghdr head; int fd; } passed = {{20, SOL_SOCKET, SCM_RIGHTS}, 1};
	for (int i = 0; i < 3; i++)
		sent[i].msg_hdr = (struct msghdr){.msg_iov = given + i, .msg_iovlen = 1, .msg_control = i ? &passed : NULL,
			.msg_controllen = i ? sizeof passed : 0};
	sendmmsg(pair[0], sent, 3, 0);
	recvmmsg(pair[1], came + 1, 3, 0, NULL);
}

static void options(void) {
	int socket_of[] = {socket(AF_INET, SOCK_DGRAM, 0), socket(AF_INET6, SOCK_DGRAM, 0), socket(AF_PACKET, SOCK_RAW, htons(3))};
	int s = socket_of[0], packets = socket_of[2], one = 1;
	struct sock_filter filter[] = {{6, 0, 0, 0xffff}};
	struct sock_fprog program = {1, filter};
	setsockopt(s, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
	setsockopt(s, SOL_SOCKET, SO_ATTACH_FILTER, at_end(&program, 16), 20);
	setsockopt(s, SOL_SOCKET, SO_ATTACH_FILTER, at_end(&program, 15), 16);
	setsockopt(s, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program);
	struct linger linger = {1, -2};
	socklen_t length = sizeof linger;
	setsockopt(s, SOL_SOCKET, SO_LINGER, at_end(&linger, 8), 8);
	getsockopt(s, SOL_SOCKET, SO_LINGER, &linger, &length);
	struct ip_mreq group = {{inet_addr("224.0.0.251")}, {0}};
	setsockopt(s, SOL_IP, IP_ADD_MEMBERSHIP, &group, sizeof group);
	setsockopt(s, SOL_IP, IP_DROP_MEMBERSHIP, at_end(&group, 8), 8);
	struct group_req request = {1};
	memcpy(&request.gr_group, &(struct sockaddr_in){AF_INET, 0, {inet_addr("224.0.0.9")}}, 16);
	setsockopt(s, SOL_IP, MCAST_JOIN_GROUP, at_end(&request, sizeof request), sizeof request);
	setsockopt(s, SOL_IPV6, MCAST_JOIN_GROUP, &request, sizeof request);
	struct ipv6_mreq six = {{{{0xff, 2, [15] = 0xfb}}}, 1};
	for (int option = IPV6_ADD_MEMBERSHIP; option <= IPV6_LEAVE_ANYCAST; option++)
		if (option < 22 || option > 26)
			setsockopt(socket_of[1], SOL_IPV6, option, at_end(&six, sizeof six), sizeof six);
	struct packet_mreq member = {1, PACKET_MR_MULTICAST, 6, "\xff\xff\xff\xff\xff\xff"};
	setsockopt(packets, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &member, sizeof member);
	struct tpacket_req ring = {4096, 1, 2048, 2};
	setsockopt(packets, SOL_PACKET, PACKET_RX_RING, &ring, sizeof ring);
	for (length = 4; length < 13; length += 4)
		getsockopt(packets, SOL_PACKET, PACKET_STATISTICS, room, (socklen_t[]){length});
	/* Of devices and extents. */
	struct ifconf devices = {.ifc_len = 7};
	ioctl(s, SIOCGIFCONF, &devices);
	ioctl(s, SIOCGIFCONF, NULL);
	int file = open("a.txt", O_RDONLY);
	struct { struct fiemap map; struct fiemap_extent extents[2]; } extents = {{.fm_length = ~0ull, .fm_extent_count = 2}};
	ioctl(file, FS_IOC_FIEMAP, &extents);
	extents.map.fm_flags = FIEMAP_FLAG_SYNC, extents.map.fm_extent_count = 0;
	ioctl(file, FS_IOC_FIEMAP, at_end(&extents, 32));
	ioctl(-1, FS_IOC_FIEMAP, &extents);
	ioctl(file, FS_IOC_FIEMAP, 8);
}

static void rings(void) {
	struct io_uring_params parameters = {.flags = IORING_SETUP_CQSIZE, .cq_entries = 64};
	int ring = syscall(SYS_io_uring_setup, 8, &parameters);
	parameters = (struct io_uring_params){.flags = IORING_SETUP_ATTACH_WQ, .wq_fd = ring};
	syscall(SYS_io_uring_setup, 8, at_end(&parameters, 120));
	parameters.flags |= 1 << 31, parameters.resv[1] = 7;
	syscall(SYS_io_uring_setup, 8, &parameters);
	syscall(SYS_io_uring_setup, 8, NULL);
	syscall(SYS_io_uring_setup, 8, at_end(&parameters, 119));
	struct iovec vectors[] = {{room, 4096}, {room, 100}};
	int files[] = {0, -1, 2};
	syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, vectors, 2);
	syscall(SYS_io_uring_register, ring, IORING_UNREGISTER_BUFFERS, NULL, 0);
	syscall(SYS_io_uring_register, -1, IORING_REGISTER_BUFFERS, at_end(vectors, 16), 2);
	syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, files, 3);
	syscall(SYS_io_uring_register, ring, IORING_UNREGISTER_FILES, NULL, 0);
	syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, at_end(files, 8), 3);
	syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, NULL, 3);
	syscall(SYS_io_uring_register, ring, IORING_REGISTER_EVENTFD, files, 1);
	syscall(SYS_io_uring_register, ring, IORING_REGISTER_EVENTFD_ASYNC, 8, 1);
	struct io_uring_rsrc_update update = {-1, 0, ring};
	syscall(SYS_io_uring_register, ring, IORING_REGISTER_RING_FDS, &update, 1);
	struct io_uring_buf_reg buffers = {(unsigned long)room, 8, 1};
	syscall(SYS_io_uring_register, -1, IORING_REGISTER_PBUF_RING, at_end(&buffers, sizeof buffers), 1);
	syscall(SYS_io_uring_register, -1, IORING_UNREGISTER_PBUF_RING, &buffers, 1);
}

static int bpf(int command, const union bpf_attr *attributes, int size) {
	int result = syscall(SYS_bpf, command, attributes, size);
	syscall(SYS_bpf, command, at_end(attributes, size), size + 1);
	return result;
}

static void programs(void) {
	unsigned key = 1;
	char value[8] = "a value";
	union bpf_attr map = {.map_type = BPF_MAP_TYPE_HASH, .key_size = 4, .value_size = 8, .max_entries = 5, .map_name = "a_map"};
	int file = bpf(BPF_MAP_CREATE, &map, 48);
	union bpf_attr element = {.map_fd = file, .key = (unsigned long)&key, .value = (unsigned long)value};
	bpf(BPF_MAP_UPDATE_ELEM, &element, 32);
	bpf(BPF_MAP_LOOKUP_ELEM, &element, 32);
	bpf(BPF_MAP_GET_NEXT_KEY, &element, 24);
	bpf(BPF_MAP_DELETE_ELEM, &element, 16);
	struct bpf_insn code[] = {{0xb7, 0, 0, 0, 0}, {0x95}};
	union bpf_attr program = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER, .insn_cnt = 2, .insns = (unsigned long)code,
		.license = (unsigned long)"GPL", .prog_name = "a_program"};
	bpf(BPF_PROG_LOAD, &program, 72);
	bpf(BPF_PROG_LOAD, &program, 128);
	program.license = 8;
	bpf(BPF_PROG_LOAD, &program, 48);
	union bpf_attr pinned = {.pathname = (unsigned long)"/nowhere/at all", .bpf_fd = file};
	bpf(BPF_OBJ_PIN, &pinned, 16);
	bpf(BPF_OBJ_GET, &pinned, 8);
	union bpf_attr traced = {.raw_tracepoint = {.name = (unsigned long)"no_such_event", .prog_fd = -1}};
	bpf(BPF_RAW_TRACEPOINT_OPEN, &traced, 12);
	union bpf_attr next = {.start_id = ~0u};
	bpf(BPF_PROG_GET_NEXT_ID, &next, 12);
	bpf(BPF_LINK_GET_NEXT_ID, &next, 8);
	bpf(BPF_MAP_GET_FD_BY_ID, &next, 12);
	union bpf_attr attached = {.target_fd = 1, .attach_bpf_fd = -1, .attach_type = BPF_CGROUP_DEVICE};
	bpf(BPF_PROG_ATTACH, &attached, 20);
	bpf(BPF_PROG_DETACH, &attached, 16);
	bpf(BPF_PROG_QUERY, &(union bpf_attr){.query = {.target_fd = -1, .attach_type = BPF_CGROUP_DEVICE}}, 28);
	bpf(BPF_LINK_CREATE, &(union bpf_attr){.link_create = {.prog_fd = -1, .target_fd = 1}}, 16);
	bpf(BPF_MAP_FREEZE, &(union bpf_attr){.map_fd = file}, 4);
	syscall(SYS_bpf, BPF_MAP_CREATE, NULL, 48);
	syscall(SYS_bpf, BPF_MAP_CREATE, &map, 0);
	syscall(SYS_bpf, BPF_MAP_CREATE, 8, 48);
}

/* Addresses of every family, of the lengths that some family has and of others. */
static void addresses(void) {
	static const unsigned char LENGTHS[] = {2, 3, 4, 6, 8, 9, 10, 12, 14, 16, 18, 20, 23, 24, 28, 30, 36, 72, 88, 96, 110, 128};
	static const char STATION[] = "\x82\x84\x86\x88\x40\x40\x1a";
	unsigned char address[128];
	for (int family = 0; family < 48; family++)
		for (int fill = 0; fill < 5; fill++)
			for (int i = 0; i < sizeof LENGTHS; i++) {
				for (int at = 0; at < sizeof address; at++)
					address[at] = fill == 0 ? 0 : fill == 1 ? (at & 3) == 0 : fill == 2 ? 'A' + at % 26 : fill == 3 ? 0xef : STATION[(at + 5) % 7];
				memcpy(address, &(short){family}, 2);
				syscall(SYS_connect, -1, at_end(address, LENGTHS[i]), LENGTHS[i]);
			}
}

/* Events of every kind, of sizes that a kernel had and of others. */
static void events(void) {
	static const unsigned SIZES[] = {0, 1, 63, 64, 72, 112, 120, 4096};
	union {
		struct perf_event_attr attributes;
		unsigned long words[512];
	} all;
	for (int type = 0; type < 8; type++)
		for (int i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
			for (int fill = 0; fill < 4; fill++) {
				memset(&all, fill == 3 ? 0xef : fill * 0x11, sizeof all);
				/* Flags that some kernels know and some do not. */
				all.words[5] &= (1ul << 38) - 1;
				all.attributes.type = type;
				all.attributes.size = SIZES[i];
				all.attributes.config = fill == 0 ? i : fill == 1 ? 0x5000000a : 0x1234000000010102;
				syscall(SYS_perf_event_open, at_end(&all, 48), 0, -1, -5, 0);
				syscall(SYS_perf_event_open, at_end(&all, 47), 0, -1, -5, 0);
				/* It may write the size that it expects. */
				syscall(SYS_perf_event_open, &all, 0, -1, -5, 0);
			}
}

static void tasks(void) {
	static const int FLAGS[] = {0, CLONE_PARENT_SETTID, CLONE_PIDFD};
	for (int i = 0; i < 3; i++)
		for (int is_there = 0; is_there < 2; is_there++) {
			int told = -1;
			pid_t child = syscall(SYS_clone, FLAGS[i] | SIGCHLD, 0, is_there ? (long)&told : 8, 0, 0);
			if (child == 0)
				_exit(0);
			if (child > 0)
				waitpid(child, NULL, 0);
			if (FLAGS[i] == CLONE_PIDFD)
				close(told);
		}
}

int main(void) {
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	memset(page, 0, 4096);
	end = page + 4096;
	of_system_v();
	messages();
	options();
	rings();
	programs();
	addresses();
	events();
	tasks();
	return 0;
}
