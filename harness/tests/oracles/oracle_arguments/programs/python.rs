//! Scripts of python3.

pub(super) const THREADS: &str = "
import threading, queue
q = queue.Queue()
ts = [threading.Thread(target=lambda i=i: q.put(i)) for i in range(4)]
for t in ts: t.start()
for t in ts: t.join()
print(sorted(q.get() for _ in ts))
";

pub(super) const ENDED: &str = "
import os, threading, time
def calls():
    while True: os.getppid(); os.stat('a.txt')
for i in range(3): threading.Thread(target=calls, daemon=True).start()
time.sleep(0.05)
os._exit(0)
";

pub(super) const PROCESSES: &str = "
import os, subprocess, multiprocessing
subprocess.run(['cat', 'b.txt'], stdout=subprocess.DEVNULL, check=True)
print(subprocess.Popen(['wc', '-l'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd='sub', env={'A': '1'}).communicate(b'x')[0])
subprocess.run('exit 3', shell=True)
p = os.fork()
if p == 0: os._exit(5)
print(os.waitpid(p, 0)[1])
p = os.posix_spawnp('true', ['true'], {})
print(os.waitid(os.P_PID, p, os.WEXITED))
";

pub(super) const DESCRIPTORS: &str = "
import os, fcntl
a = os.open('new', os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_APPEND, 0o640)
b = os.dup(a); os.dup2(a, 9); os.dup2(a, 10, inheritable=False)
fcntl.fcntl(a, fcntl.F_SETFD, 0); fcntl.fcntl(a, fcntl.F_GETFL); fcntl.fcntl(a, fcntl.F_DUPFD_CLOEXEC, 20)
fcntl.fcntl(a, fcntl.F_SETFL, os.O_NONBLOCK); fcntl.lockf(a, fcntl.LOCK_EX); fcntl.flock(a, fcntl.LOCK_SH)
os.pwrite(a, b'hello', 3); os.pread(a, 4, 1); os.lseek(a, -2, os.SEEK_END); os.ftruncate(a, 100); os.fsync(a); os.fdatasync(b)
os.writev(a, [b'1', b'23']); os.preadv(a, [bytearray(3), bytearray(4)], 0)
os.posix_fallocate(a, 0, 4096); os.posix_fadvise(a, 0, 0, os.POSIX_FADV_SEQUENTIAL)
r, w = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK); os.set_blocking(r, True)
os.write(w, b'z'); os.read(r, 9); r, w = os.pipe()
os.closerange(9, 12); d = os.open('sub', os.O_RDONLY | os.O_DIRECTORY)
os.open('c.txt', os.O_RDONLY, dir_fd=d); os.stat('c.txt', dir_fd=d, follow_symlinks=False); os.mkdir('n', 0o700, dir_fd=d)
os.sendfile(w, a, 0, 10); os.copy_file_range(os.open('a.txt', os.O_RDONLY), os.open('copy', os.O_WRONLY | os.O_CREAT), 30); os.isatty(0)
os.memfd_create('mem', os.MFD_CLOEXEC); os.eventfd(3, os.EFD_NONBLOCK); os.fchdir(d); os.getcwd()
";

pub(super) const FILES: &str = "
import os, pathlib, tempfile, mmap, shutil
p = pathlib.Path('x'); p.mkdir(mode=0o755, parents=True); (p / 'f').write_text('hello'); (p / 'f').chmod(0o600)
(p / 'l').symlink_to('f'); (p / 'f').rename(p / 'g'); print((p / 'l').exists(), os.readlink(p / 'l'), (p / 'l').is_symlink())
os.link('a.txt', 'hard'); os.replace('hard', 'h'); os.utime('h', (1, 2)); os.utime('h', ns=(5, 6)); os.unlink('h')
try: os.mkdir('sub')
except FileExistsError: pass
with tempfile.TemporaryDirectory(dir='.') as d: open(os.path.join(d, 'z'), 'wb').write(b'0' * 9000)
with tempfile.NamedTemporaryFile(dir='.') as f: f.write(b'1')
with tempfile.TemporaryFile(dir='.') as f: f.truncate(8192); m = mmap.mmap(f.fileno(), 8192); m[0] = 1; m.flush(); m.madvise(mmap.MADV_DONTNEED); m.resize(16384); m.close()
try: os.setxattr('a.txt', 'user.name', b'value'); os.getxattr('a.txt', 'user.name'); os.listxattr('a.txt'); os.removexattr('a.txt', 'user.name')
except OSError: pass  # not on every file system
os.mkfifo('fifo', 0o600); os.mknod('node', 0o600 | 0o010000); os.access('a.txt', os.W_OK | os.X_OK, effective_ids=True)
os.chdir('sub'); os.umask(0o027); os.statvfs('.'); os.sync; os.truncate('c.txt', 1); os.chown('c.txt', -1, 5); os.lchown('c.txt', 1, -1)
shutil.rmtree('../x'); list(os.scandir('.'))
";

pub(super) const POLLING: &str = "
import os, select, time, selectors
r, w = os.pipe()
select.select([r], [w], [], 0.01); select.select([r], [], [], 0)
p = select.poll(); p.register(r, select.POLLIN | select.POLLPRI); p.register(w, select.POLLOUT); p.poll(10)
e = select.epoll(); e.register(r, select.EPOLLIN | select.EPOLLET); e.modify(r, select.EPOLLIN | select.EPOLLONESHOT); e.poll(0.01)
os.write(w, b'x'); e.poll(); e.unregister(r); e.close()
time.sleep(0.001); time.clock_getres(time.CLOCK_MONOTONIC); time.process_time(); time.thread_time()
";

pub(super) const SIGNALS: &str = "
import os, signal, time
seen = []
signal.signal(signal.SIGUSR1, lambda s, f: seen.append(s)); signal.siginterrupt(signal.SIGUSR1, False)
os.kill(os.getpid(), signal.SIGUSR1); signal.signal(signal.SIGPIPE, signal.SIG_DFL); signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGTERM, signal.SIGRTMIN + 2]); signal.raise_signal(signal.SIGUSR2)
print(signal.sigpending(), signal.sigwait([signal.SIGUSR2])); signal.sigtimedwait([signal.SIGTERM], 0.001)
signal.signal(signal.SIGALRM, lambda s, f: seen.append(s)); signal.setitimer(signal.ITIMER_REAL, 0.01, 0.5); signal.pause()
signal.setitimer(signal.ITIMER_REAL, 0); signal.alarm(0); signal.getitimer(signal.ITIMER_PROF)
signal.pthread_sigmask(signal.SIG_SETMASK, []); time.sleep(0); print(seen)
";

pub(super) const LIMITS: &str = "
import os, resource, sys
resource.getrlimit(resource.RLIMIT_NOFILE); resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); resource.getrusage(resource.RUSAGE_CHILDREN)
resource.prlimit(0, resource.RLIMIT_CPU); os.getpriority(os.PRIO_PROCESS, 0); os.setpriority(os.PRIO_PROCESS, 0, 3); os.nice(1)
os.sched_getaffinity(0); os.sched_yield(); os.sched_getscheduler(0); os.sched_get_priority_max(os.SCHED_RR); os.sched_getparam(0)
os.getgroups(); os.getresuid(); os.getresgid(); os.getpgid(0); os.getsid(0); os.setpgid(0, 0); os.uname(); os.times(); os.getloadavg()
os.setgroups([1, 2]); os.setresgid(3, 3, 3); os.setresuid(4, 5, 6)
try: os.setuid(0)
except PermissionError: pass
";

pub(super) const UNIX: &str = "
import socket, os, array
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET); a.send(b'hi'); b.recv(9); a.sendmsg([b'x', b'yz']); b.recvmsg(10, 100)
a.sendmsg([b'f'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0]))]); b.recvmsg(10, socket.CMSG_SPACE(4))
s = socket.socket(socket.AF_UNIX); s.bind('server'); s.listen(4); c = socket.socket(socket.AF_UNIX); c.connect('server')
n, _ = s.accept(); n.sendall(b'hello'); c.recv(3, socket.MSG_PEEK); c.shutdown(socket.SHUT_WR); n.getsockname(); c.getpeername()
d = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); d.bind('\\0abstract-of-the-oracle'); d.sendto(b'q', '\\0abstract-of-the-oracle'); d.recvfrom(5)
try: socket.socket(socket.AF_UNIX).connect('missing')
except FileNotFoundError: pass
n.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12); n.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 9999)
";

pub(super) const TCP: &str = "
import socket
for family, address in (socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1'):
    try: s = socket.socket(family, socket.SOCK_STREAM); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind((address, 0))
    except OSError: continue
    s.listen(); c = socket.socket(family); c.connect(s.getsockname()); n, peer = s.accept()
    n.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1); n.sendall(b'x' * 300); c.recv(1000); c.settimeout(0.01)
    try: c.recv(1)
    except TimeoutError: pass
    n.shutdown(socket.SHUT_RDWR); c.getpeername(); c.close(); n.close(); c = socket.socket(family); c.setblocking(False); c.connect_ex(s.getsockname()); s.close()
    c.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR); c.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)
";

pub(super) const UDP: &str = "
import socket
for family, address in (socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1'):
    try: s = socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, socket.IPPROTO_UDP); s.bind((address, 0))
    except OSError: continue
    s.sendto(b'hello', s.getsockname()); s.recvfrom(100); s.connect(s.getsockname()); s.send(b'a', socket.MSG_DONTWAIT); s.recvfrom_into(bytearray(9))
    s.sendmsg([b'1', b'2'], [], 0, s.getsockname()); s.recvmsg(9)
n = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE); n.bind((0, 0)); n.getsockname(); socket.if_nameindex()
";

pub(super) const MESSAGES: &str = "
import array, os, socket, struct
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); b.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
b.setsockopt(socket.SOL_SOCKET, 35, 1)
files = array.array('i', [os.open('a.txt', os.O_RDONLY), 0])
a.sendmsg([b'with two'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
a.sendmsg([b'x' * 300], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, struct.pack('iii', os.getpid(), 0, 0))])
b.recvmsg(100, 200); b.recvmsg(20, 20); a.sendmsg([b'']); b.recvmsg(5)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(('127.0.0.1', 0)); u.setsockopt(socket.IPPROTO_IP, 8, 1); u.setsockopt(socket.IPPROTO_IP, 12, 1)
u.sendmsg([b'to itself'], [(socket.IPPROTO_IP, 2, struct.pack('i', 9))], 0, u.getsockname()); u.recvmsg(99, 99)
f = os.open('vectors', os.O_RDWR | os.O_CREAT); os.writev(f, [b'one', b'', b'three', b'y' * 300]); os.pwritev(f, [b'0'], 1)
os.preadv(f, [bytearray(2), bytearray(500), bytearray(3)], 0); os.lseek(f, 0, 0); os.readv(f, [bytearray(4)])
try: os.writev(0x7fff, [b'nowhere'])
except OSError: pass
";

pub(super) const TERMINALS: &str = "
import fcntl, os, struct, termios
if os.fork() == 0:
    os.setsid(); m = os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)
    ask = lambda it, request, given: fcntl.ioctl(it, request, given)
    ask(m, 0x40045431, struct.pack('i', 0)); n = struct.unpack('i', ask(m, 0x80045430, bytes(4)))[0]
    t = os.open(f'/dev/pts/{n}', os.O_RDWR | os.O_NOCTTY); ask(t, 0x540e, 0)
    ask(t, 0x5414, struct.pack('HHHH', 24, 80, 7, 65535)); ask(m, 0x5413, bytes(8))
    ask(t, 0x5401, bytes(60)); ask(t, 0x802c542a, bytes(44)); ask(t, 0x5405, bytes(18)); modes = termios.tcgetattr(t)
    for when in termios.TCSANOW, termios.TCSADRAIN, termios.TCSAFLUSH: modes[3] ^= termios.ECHO | termios.IEXTEN; termios.tcsetattr(t, when, modes)
    for request in 0x5420, 0x5423, 0x5424, 0x80045440, 0x5419, 0x5452: ask(m if request == 0x5420 else t, request, bytes(4))
    ask(t, 0x540f, bytes(4)); ask(t, 0x5410, struct.pack('i', os.getpid())); ask(t, 0x5429, bytes(4)); ask(m, 0x5411, bytes(4))
    os._exit(0)
os.wait(); a = os.open('a.txt', os.O_RDONLY); b = os.open('clone', os.O_RDWR | os.O_CREAT)
for request, given in (0x4020940d, struct.pack('qQQQ', a, 1, 2, 3)), (0x4020940d, struct.pack('qQQQ', -1, 0, 0, 1 << 63)), (0x5413, bytes(8)), (0x540f, bytes(4)):
    try: fcntl.ioctl(b, request, given)
    except OSError: pass
";

/// What is asked of devices and of files, and what a thread asks of itself.
pub(super) const REQUESTS: &str = "
import ctypes, fcntl, os, signal, socket, struct
def ask(it, request, given):
    try: return fcntl.ioctl(it, request, given)
    except OSError: pass
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); lo = struct.pack('16s24x', b'lo'); there = struct.pack('16si20x', b'', 1)
for request in 0x8913, 0x8915, 0x8919, 0x891b, 0x891d, 0x8921, 0x8927, 0x8933, 0x8942: ask(s, request, lo); ask(s, request, bytes(40)); ask(s, request, b'z' * 40)
ask(s, 0x8910, there); ask(s, 0x8910, bytes(40)); ask(s, 0x8913, struct.pack('16s24x', b'missing'))
for request in 0x8914, 0x8916, 0x891c, 0x8922, 0x8943: ask(s, request, struct.pack('16sHH4B16x', b'missing', 2, 9, 127, 0, 0, 1))
a = os.open('a.txt', os.O_RDWR)
for request in 0x80086601, 0x801c581f: ask(a, request, bytes(28)); ask(s, request, bytes(28))
for number in 0x40, 0x80000, 0x12345678: ask(s, 0x40086602, struct.pack('q', number)); ask(s, 0x401c5820, struct.pack('7I', number, 1, 2, 3, 4, 5, 6))
for request in 0x8913, 0x8914, 0x5401, 0x5402, 0x80086601, 0x401c5820, 0x5452: ctypes.CDLL(None).ioctl(s.fileno(), ctypes.c_ulong(request), ctypes.c_void_p(16))
F_SETOWN_EX, F_GETOWN_EX = 15, 16; fcntl.fcntl(s, F_SETOWN_EX, struct.pack('ii', 1, os.getpid())); fcntl.fcntl(s, F_GETOWN_EX, bytes(8))
c = ctypes.CDLL(None); b = ctypes.create_string_buffer(32); c.prctl(15, b'a name'); c.prctl(16, b); c.prctl(16, ctypes.c_void_p(16)); c.prctl(1, 10); c.prctl(2, b); c.prctl(36, 1); c.prctl(37, b)
";

pub(super) const SYSTEM_V: &str = "
import ctypes, struct
c = ctypes.CDLL(None); b = ctypes.create_string_buffer(256); q = c.msgget(0, 0o600)
sent = struct.pack('q9s', 7, b'a message')
for length in 9, 0, 3: c.msgsnd(q, sent, length, 0)
c.msgrcv(q, b, 100, 0, 0); c.msgrcv(q, b, 100, -9, 0); c.msgrcv(q, b, 1, 0, 0o10000); c.msgrcv(q, b, 1, 0, 0o4000)
c.msgsnd(q, None, 5, 0); c.msgsnd(q, ctypes.c_void_p(16), 5, 0); c.msgsnd(q, bytes(8), 0, 0); c.msgsnd(-1, sent, 9, 0)
s = c.semget(0, 2, 0o640); m = c.shmget(0, 8192, 0o604)
for call, it in (c.msgctl, q), (c.shmctl, m):
    call(it, 2, b); call(it, 1, b); call(it, 2, None); call(it, 2, ctypes.c_void_p(16)); call(it, 0, None); call(it, 2, b)
c.semctl(s, 0, 2, b); c.semctl(s, 0, 1, b); c.semctl(s, 7, 2, None); c.semctl(s, 0, 0, None); c.semctl(s, 0, 2, b)
";

pub(super) const SERVER: &str = "
import socket, os, threading, selectors
s = socket.create_server(('127.0.0.1', 0)); port = s.getsockname()[1]
if os.fork() == 0:
    with socket.create_connection(('127.0.0.1', port)) as c: c.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n'); c.makefile('rb').read()
    os._exit(0)
n, _ = s.accept(); n.recv(100); n.sendall(b'HTTP/1.0 200 OK\\r\\n\\r\\nhello'); n.close(); os.wait()
";

/// Sockets of all kinds, of which the kernel is asked.
pub(super) const SOCKETS: &str = "\
import socket, subprocess
subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=True)
server = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(server.getsockname())
both = socket.create_server(('::', 0), family=socket.AF_INET6)
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); datagrams.bind(('127.0.0.1', 0))
pair = socket.socketpair()
named = socket.socket(socket.AF_UNIX); named.bind('\\0oracle'); named.listen()
packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
subprocess.run(['ss', '-a', '-m', '-i', '-o', '-n'], check=True)
";
