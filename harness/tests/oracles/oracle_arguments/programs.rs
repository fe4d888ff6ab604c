//! The programs that are watched, in the folder that [`Place`](super::Place) lays out.

mod python;

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
#[cfg(target_arch = "x86_64")]
pub(super) const PAGE_ENDS: Program = Program::new("page ends", "", Run::Oracle("page-ends"));

/// Calls whose structures depend on a command, and those with several.
pub(super) const COMMANDS: Program = Program::new("commands", "cc", Run::Shell("exec ./commands"))
    .after(concat!(
        "cc -O1 -w -o commands ",
        env!("CARGO_MANIFEST_DIR"),
        "/tests/attacks/programs/commands.c"
    ));

/// A program of 32 bits.
#[cfg(target_arch = "x86_64")]
pub(super) const NARROW: Program = Program::new("points", "cc", Run::Shell("exec ./points")).after(concat!(
    "cc -O1 -static -m32 -nostdlib -ffreestanding -fno-pic -no-pie -fno-stack-protector -o points ",
    env!("CARGO_MANIFEST_DIR"),
    "/tests/attacks/programs/points.i386.c"
));

/// Another, whose structures depend on a command, on a signal, or on the width of ids.
#[cfg(target_arch = "x86_64")]
pub(super) const NARROW_ANSWERS: Program = Program::new("answers", "cc", Run::Shell("exec ./answers")).after(concat!(
    "cc -O1 -static -m32 -nostdlib -ffreestanding -fno-pic -no-pie -fno-stack-protector -o answers ",
    env!("CARGO_MANIFEST_DIR"),
    "/tests/attacks/programs/answers.i386.c"
));

/// Those that speak netlink, for a network of their own.
pub(super) const NETLINK: &[Program] = &[
    Program::new(
        "ip",
        "ip",
        Run::Shell(
            "ip link set lo up; ip address add 10.1.2.3/8 dev lo; ip route add 10.9.0.0/16 dev lo metric 7 mtu 1400; \
             ip rule add from 10.1.0.0/16 table 99; ip link; ip -s -d link show lo; ip address; ip route; \
             ip route show table all; ip rule; ip neighbour; ip netconf; ip addrlabel; ip nexthop add id 1 dev lo; ip nexthop; ip ntable show dev lo; \
             ip route get 10.9.1.1; ip route add 11.0.0.0/8 via 12.1.1.1; true",
        ),
    ),
    Program::new("ss", "ss", Run::Shell("ss -tln; ss -a; ss -s")),
    Program::new(
        "ss, with sockets",
        "python3 ss",
        Run::Python(python::SOCKETS),
    ),
    Program::new(
        "tc",
        "tc",
        Run::Shell("tc qdisc; tc -s qdisc; tc filter show dev lo"),
    ),
    Program::new("genl", "genl", Run::Shell("genl ctrl list")),
    Program::new(
        "python3, names of devices",
        "python3",
        Run::Python("import socket; socket.if_nameindex()"),
    ),
];

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
    Program::words("sed", "sed -i s/needle/thread/ b.txt"),
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
        "python3, ended threads",
        "python3",
        Run::Python(python::ENDED),
    ),
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
        "python3, requests",
        "python3",
        Run::Python(python::REQUESTS),
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
    Program::new("registered", "", Run::Oracle("io-uring-registered")),
    Program::new("threads", "", Run::Oracle("threads 3")),
    Program::new("signals", "", Run::Oracle("sigreturn 5")),
    Program::new("a child by clone3", "", Run::Oracle("clone3")),
    Program::new("generations", "", Run::Oracle("fork-tree")),
    Program::new("interrupted calls", "", Run::Oracle("restart")),
];
