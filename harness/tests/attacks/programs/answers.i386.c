/* Calls of the 32-bit table whose structures depend on a command, on a signal, or on the width of ids. */
static int call6(int nr, int a, int b, int c, int d, int e, int f) {
	int result;
	int words[2] = {nr, f};
	__asm__ volatile("push %%ebp\n\tmov 4(%%eax), %%ebp\n\tmov (%%eax), %%eax\n\tint $0x80\n\tpop %%ebp"
			 : "=a"(result)
			 : "a"(words), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory");
	return result;
}
#define C(nr, a, b, c, d, e) call6(nr, (int)(a), (int)(b), (int)(c), (int)(d), (int)(e), 0)

static char buffer[256];

void _start(void) {
	int fd = C(5, "locked", 0102, 0600, 0, 0);      /* open */
	int inet = C(359, 2, 2, 0, 0, 0);               /* socket */
	static struct __attribute__((packed)) { short type, whence; int start, len, pid; } lock = {1, 0, 5, -3, 0};
	C(55, fd, 6, &lock, 0, 0);                      /* fcntl, F_SETLK */
	C(55, fd, 5, &lock, 0, 0);                      /* F_GETLK */
	static struct __attribute__((packed)) { short type, whence; long long start, len; int pid; } wide_lock = {0, 1, 5, 1LL << 40, 0};
	C(221, fd, 13, &wide_lock, 0, 0);               /* fcntl64, F_SETLK64 */
	C(221, fd, 12, &wide_lock, 0, 0);               /* F_GETLK64 */
	wide_lock.pid = 0;
	C(221, fd, 37, &wide_lock, 0, 0);               /* F_OFD_SETLK */
	C(221, fd, 36, &wide_lock, 0, 0);               /* F_OFD_GETLK */
	C(221, fd, 6, &lock, 0, 0);                     /* F_SETLK */
	C(221, fd, 6, 0, 0, 0);
	C(221, fd, 7, 8, 0, 0);
	static int owner[2] = {1, 0};
	C(221, fd, 15, owner, 0, 0);                    /* F_SETOWN_EX */
	C(221, fd, 16, owner, 0, 0);                    /* F_GETOWN_EX */
	static unsigned short groups[] = {5, 0xffff, 7};
	C(81, 3, groups, 0, 0, 0);                      /* setgroups */
	groups[1] = 6;
	C(81, 3, groups, 0, 0, 0);
	C(80, 3, buffer, 0, 0, 0);                      /* getgroups */
	C(165, buffer, buffer + 4, buffer + 8, 0, 0);   /* getresuid */
	int self = C(20, 0, 0, 0, 0, 0);                /* getpid */
	static int signals[2] = {0x10200, 0};
	C(175, 0, signals, 0, 8, 0);                    /* rt_sigprocmask: SIGUSR1, SIGCHLD */
	static int info[32] = {0, 0, -1, 70, 8, -9};
	C(178, self, 10, info, 0, 0);                   /* rt_sigqueueinfo */
	C(177, signals, buffer, 0, 8, 0);               /* rt_sigtimedwait */
	C(37, self, 10, 0, 0, 0);                       /* kill */
	C(177, signals, buffer, 0, 8, 0);
	int child = C(2, 0, 0, 0, 0, 0);                /* fork */
	if (child == 0)
		C(1, 3, 0, 0, 0, 0);                    /* exit */
	C(284, 1, child, buffer, 4, 0);                 /* waitid */
	C(177, signals, buffer, 0, 8, 0);
	C(172, 15, "a name", 0, 0, 0);                  /* prctl, PR_SET_NAME */
	C(172, 16, buffer, 0, 0, 0);                    /* PR_GET_NAME */
	C(54, fd, 0x5401, buffer, 0, 0);                /* ioctl, TCGETS */
	static char device[32] = "lo";
	C(54, inet, 0x8913, device, 0, 0);              /* SIOCGIFFLAGS */
	C(54, inet, 0x8915, device, 0, 0);              /* SIOCGIFADDR */
	C(54, inet, 0x8914, (char *)8, 0, 0);           /* SIOCSIFFLAGS */
	int queue = C(399, 0, 0600, 0, 0, 0);           /* msgget */
	static struct { int type; char text[8]; } sent = {7, "message"};
	C(400, queue, &sent, 7, 0, 0);                  /* msgsnd */
	C(401, queue, buffer, 7, 0, 0);                 /* msgrcv */
	C(402, queue, 2, buffer, 0, 0);                 /* msgctl, IPC_STAT */
	C(402, queue, 1, buffer, 0, 0);                 /* IPC_SET */
	C(402, 0, 3, buffer, 0, 0);                     /* IPC_INFO */
	C(402, 0, 12, buffer, 0, 0);                    /* MSG_INFO */
	C(402, queue, 2, (char *)8, 0, 0);
	C(402, queue, 0, 0, 0, 0);                      /* IPC_RMID */
	int set = C(393, 0, 3, 0600, 0, 0);             /* semget */
	C(394, set, 0, 2, buffer, 0);                   /* semctl, IPC_STAT */
	C(394, set, 0, 1, buffer, 0);                   /* IPC_SET */
	C(394, 0, 0, 3, buffer, 0);                     /* IPC_INFO */
	C(394, 0, 0, 19, buffer, 0);                    /* SEM_INFO */
	C(394, set, 0, 0, 0, 0);                        /* IPC_RMID */
	int memory = C(395, 0, 5000, 0640, 0, 0);       /* shmget */
	C(396, memory, 2, buffer, 0, 0);                /* shmctl, IPC_STAT */
	C(396, memory, 1, buffer, 0, 0);                /* IPC_SET */
	C(396, 0, 3, buffer, 0, 0);                     /* IPC_INFO */
	C(396, 0, 14, buffer, 0, 0);                    /* SHM_INFO */
	C(396, memory, 0, 0, 0, 0);                     /* IPC_RMID */
	static int event[16] = {-7, 10, 0, 0}, timer;
	C(259, 1, event, &timer, 0, 0);                 /* timer_create, SIGEV_SIGNAL */
	event[2] = 4, event[3] = self;
	C(259, 1, event, &timer, 0, 0);                 /* SIGEV_THREAD_ID */
	event[2] = 2, event[3] = 0x1234, event[4] = 0x5678;
	C(259, 99, event, &timer, 0, 0);                /* SIGEV_THREAD */
	C(259, 1, 0, (char *)8, 0, 0);
	C(281, 0, event, 0, 0, 0);                      /* mq_notify */
	static unsigned char address[16] = {2, 0, 50099 >> 8, 50099 & 255, 127, 0, 0, 1};
	static struct { const void *base; unsigned length; } body = {"in one of many", 14};
	static struct { void *name; int namelen; void *iov; unsigned iovlen; void *control; unsigned controllen, flags, length; } many = {address, 16, &body, 1, 0, 0, 0, 0};
	C(345, inet, &many, 1, 0, 0);                   /* sendmmsg */
	C(10, "locked", 0, 0, 0, 0);                    /* unlink */
	C(1, 0, 0, 0, 0, 0);
}
