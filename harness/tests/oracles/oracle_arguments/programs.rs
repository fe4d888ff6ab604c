//! The programs that are watched, in the folder that [`Place`](super::Place) lays out.

use super::oracle;

/// A program.
pub(super) struct Program {
    pub(super) name: &'static str,
    /// The programs that must be installed, between blanks.
    pub(super) needs: &'static str,
    /// What a shell does in the folder before, unwatched.
    pub(super) prepare: &'static str,
    /// What runs.
    pub(super) run: Run,
    /// What it ends with.
    pub(super) status: i32,
}

/// What runs.
#[derive(Clone, Copy)]
pub(super) enum Run {
    /// A command of words without blanks.
    Words(&'static str),
    /// A script of `sh`.
    Shell(&'static str),
    /// A script of `bash`.
    Bash(&'static str),
    /// A script of `perl`.
    Perl(&'static str),
    /// A script of `python3`.
    Python(&'static str),
    /// A subcommand of the tests' own workload.
    Oracle(&'static str),
}

impl Run {
    /// The words of the command.
    pub(super) fn command(self) -> Vec<String> {
        let (interpreter, script) = match self {
            Self::Words(words) => (words, None),
            Self::Shell(script) => ("sh -c", Some(script)),
            Self::Bash(script) => ("bash -c", Some(script)),
            Self::Perl(script) => ("perl -e", Some(script)),
            Self::Python(script) => ("python3 -I -S -B -c", Some(script)),
            Self::Oracle(words) => {
                let words = words.split_whitespace().map(str::to_owned);
                return [oracle::path()].into_iter().chain(words).collect();
            }
        };
        let words = interpreter.split_whitespace().chain(script);
        words.map(str::to_owned).collect()
    }
}

impl Program {
    const fn new(name: &'static str, needs: &'static str, run: Run) -> Self {
        Self {
            name,
            needs,
            prepare: "",
            run,
            status: 0,
        }
    }

    const fn words(name: &'static str, words: &'static str) -> Self {
        Self::new(name, "", Run::Words(words))
    }

    const fn after(mut self, prepare: &'static str) -> Self {
        self.prepare = prepare;
        self
    }

    const fn ends_with(mut self, status: i32) -> Self {
        self.status = status;
        self
    }
}

const REPOSITORY: &str = "git init -q . && git config user.name n && git config user.email e && \
                          git add a.txt sub && git commit -q -m m";

/// Structures and arrays at the end of a page, some of which go on behind it.
pub(super) const PAGE_ENDS: Program = Program::new("page ends", "", Run::Oracle("page-ends"));

/// All of them.
pub(super) const PROGRAMS: &[Program] = &[
    Program::words("true", "true"),
    Program::words("cat", "cat a.txt missing.txt").ends_with(1),
    Program::words("ls", "ls -laR --time-style=full-iso ."),
    Program::words("cp", "cp -a sub copy"),
    Program::words("mv", "mv -v a.txt b.txt sub/deeper"),
    Program::words("ln, hard", "ln a.txt hard"),
    Program::words("ln, symbolic", "ln -sfn a.txt soft"),
    Program::words("readlink", "readlink -f soft").after("ln -s sub/c.txt soft"),
    Program::words("rm", "rm -rv sub missing").ends_with(1),
    Program::words("mkdir", "mkdir -m 750 -p x/y/z"),
    Program::words("rmdir", "rmdir x sub")
        .after("mkdir x")
        .ends_with(1),
    Program::words("mkfifo", "mkfifo -m 640 pipe"),
    Program::words("mktemp", "mktemp -d -p ."),
    Program::words("find", "find . -name *.txt -newer a.txt -size +1k"),
    Program::words("find, executing", "find sub -type f -exec wc -l {} +"),
    Program::words("grep", "grep -rn needle ."),
    Program::words("sort", "sort -n -S 1M -o sorted.txt sub/deeper/d.txt"),
    Program::words("sed", "sed -i s/needle/thread/ b.txt").after("which sed"),
    Program::words(
        "dd",
        "dd if=a.txt of=d.bin bs=64 count=3 conv=fsync,notrunc",
    ),
    Program::words("stat", "stat a.txt sub /dev/null"),
    Program::words("touch", "touch -d 2020-01-02T03:04:05.6 a.txt new.txt"),
    Program::words("truncate", "truncate -s 12345 a.txt"),
    Program::words("chmod", "chmod -R u=rwX,go= sub"),
    Program::words("chown", "chown -h 12:34 a.txt"),
    Program::words("df", "df -k . /proc"),
    Program::words("du", "du -a ."),
    Program::words("ps", "ps -p 1 -o pid,comm,args"),
    Program::words("id", "id"),
    Program::words("date", "date -u +%F"),
    Program::words("uname", "uname -a"),
    Program::words("sleep", "sleep 0.01"),
    Program::words("timeout", "timeout -s INT 0.05 sleep 9").ends_with(124),
    Program::words("env", "env -i A=1 env"),
    Program::words("nice", "nice -n 5 true"),
    Program::words("setsid", "setsid -w true"),
    Program::words("flock", "flock -n lock true"),
    Program::words("tee", "tee -a x.txt y.txt"),
    Program::words("install", "install -m 755 -D a.txt bin/tool"),
    Program::words("cmp", "cmp a.txt b.txt").ends_with(1),
    Program::words("tar, creating", "tar -czf all.tar.gz sub a.txt"),
    Program::words("tar, extracting", "tar -xpf all.tar -C x")
        .after("mkdir x && tar -cf all.tar sub a.txt"),
    Program::words("gzip", "gzip -9 --synchronous a.txt"),
    Program::words("git init", "git init -q new"),
    Program::words("git add", "git add a.txt b.txt sub").after("git init -q ."),
    Program::words("git commit", "git commit -q -a -m second").after(
        "git init -q . && git config user.name n && git config user.email e && git add a.txt && \
         git commit -q -m m && echo more >> a.txt",
    ),
    Program::words("git log", "git log --stat --oneline").after(REPOSITORY),
    Program::words("git status", "git status --short").after(REPOSITORY),
    Program::words("git gc", "git gc -q").after(REPOSITORY),
    Program::new(
        "sqlite3",
        "sqlite3",
        Run::Shell(
            "sqlite3 new.db 'create table t(a); insert into t values (1), (2); select sum(a) from t;'",
        ),
    ),
    Program::new(
        "sqlite3, write-ahead",
        "sqlite3",
        Run::Shell(
            "sqlite3 new.db 'pragma journal_mode=wal; create table t(a); insert into t values (3);'",
        ),
    ),
    Program::new(
        "pipeline",
        "sort",
        Run::Shell("cat a.txt | sort -n | uniq -c | head -3 | tail -1 | wc -c"),
    ),
    Program::new(
        "redirections",
        "",
        Run::Shell(
            "exec 3>log 4<&0; echo a >&3; cat <<END 2>&1 >> log\nhere $HOME\nEND\nread x < b.txt; exec 3>&-; ! cd missing",
        ),
    ),
    Program::new("xargs", "", Run::Shell("ls *.txt | xargs -n 1 -P 2 wc -c")),
    Program::new(
        "bash",
        "bash",
        Run::Bash(
            "trap 'echo hup' HUP; kill -HUP $$; sleep 0.01 & wait; echo $(< b.txt) <(true); umask 077; ulimit -n 99; [[ -x /bin/sh ]]",
        ),
    ),
    Program::new(
        "perl",
        "perl",
        Run::Perl(
            "open(F, '>', 'new') or die; flock(F, 2); print F 'x' x 9; close F; rename 'new', 'old'; \
                   print -s 'old'; utime 1, 2, 'old'; opendir(D, '.'); readdir D; system('true'); $SIG{ALRM} = sub {}; alarm 1",
        ),
    ),
    Program::new("python3, threads", "python3", Run::Python(python::THREADS)),
    Program::new(
        "python3, processes",
        "python3",
        Run::Python(python::PROCESSES),
    ),
    Program::new(
        "python3, descriptors",
        "python3",
        Run::Python(python::DESCRIPTORS),
    ),
    Program::new("python3, files", "python3", Run::Python(python::FILES)),
    Program::new("python3, polling", "python3", Run::Python(python::POLLING)),
    Program::new("python3, signals", "python3", Run::Python(python::SIGNALS)),
    Program::new("python3, limits", "python3", Run::Python(python::LIMITS)),
    Program::new(
        "python3, unix sockets",
        "python3",
        Run::Python(python::UNIX),
    ),
    Program::new(
        "python3, messages",
        "python3",
        Run::Python(python::MESSAGES),
    ),
    Program::new(
        "python3, terminals",
        "python3",
        Run::Python(python::TERMINALS),
    ),
    Program::new(
        "python3, objects of System V",
        "python3",
        Run::Python(python::SYSTEM_V),
    ),
    Program::new("python3, tcp", "python3", Run::Python(python::TCP)),
    Program::new("python3, udp", "python3", Run::Python(python::UDP)),
    Program::new(
        "python3, server process",
        "python3",
        Run::Python(python::SERVER),
    ),
    Program::new(
        "make",
        "make",
        Run::Shell("printf 'all: x\\nx: a.txt\\n\\tcp a.txt x\\n' > Makefile; make -s -j2"),
    ),
    Program::new(
        "gcc",
        "gcc",
        Run::Shell("echo 'int f(void) { return 1; }' > f.c; gcc -O -c f.c && ar rc lib.a f.o"),
    ),
    Program::new("io_uring", "", Run::Oracle("io-uring")),
    Program::new("threads", "", Run::Oracle("threads 3")),
    Program::new("signals", "", Run::Oracle("sigreturn 5")),
    Program::new("a child by clone3", "", Run::Oracle("clone3")),
    Program::new("generations", "", Run::Oracle("fork-tree")),
    Program::new("interrupted calls", "", Run::Oracle("restart")),
];

/// Scripts of python3.
mod python {
    pub(super) const THREADS: &str = "
import threading, queue
q = queue.Queue()
ts = [threading.Thread(target=lambda i=i: q.put(i)) for i in range(4)]
for t in ts: t.start()
for t in ts: t.join()
print(sorted(q.get() for _ in ts))
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
import fcntl, os, struct
if os.fork() == 0:
    os.setsid(); m = os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)
    ask = lambda it, request, given: fcntl.ioctl(it, request, given)
    ask(m, 0x40045431, struct.pack('i', 0)); n = struct.unpack('i', ask(m, 0x80045430, bytes(4)))[0]
    t = os.open(f'/dev/pts/{n}', os.O_RDWR | os.O_NOCTTY); ask(t, 0x540e, 0)
    ask(t, 0x5414, struct.pack('HHHH', 24, 80, 7, 65535)); ask(m, 0x5413, bytes(8))
    ask(t, 0x540f, bytes(4)); ask(t, 0x5410, struct.pack('i', os.getpid())); ask(t, 0x5429, bytes(4)); ask(m, 0x5411, bytes(4))
    os._exit(0)
os.wait(); a = os.open('a.txt', os.O_RDONLY); b = os.open('clone', os.O_RDWR | os.O_CREAT)
for request, given in (0x4020940d, struct.pack('qQQQ', a, 1, 2, 3)), (0x4020940d, struct.pack('qQQQ', -1, 0, 0, 1 << 63)), (0x5413, bytes(8)), (0x540f, bytes(4)):
    try: fcntl.ioctl(b, request, given)
    except OSError: pass
";

    pub(super) const SYSTEM_V: &str = "
import ctypes
c = ctypes.CDLL(None); b = ctypes.create_string_buffer(256)
q = c.msgget(0, 0o600); s = c.semget(0, 2, 0o640); m = c.shmget(0, 8192, 0o604)
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
}
