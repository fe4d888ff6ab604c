"""Programs that nobody wrote scenarios for: `harness new` writes one, and then it is repeated."""

from dataclasses import dataclass, field

from lab import FAILURE, INCOMPLETE, Lab, Row, Step, needs

RUNS = 100
REPEAT = 40

THREADS = """import threading
total, lock = 0, threading.Lock()
def work():
    global total
    for _ in range(1000):
        with lock: total += 1
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
open("total", "w").write(str(total))
"""
NODE = """const fs = require('fs');
Promise.all([1, 2, 3, 4].map(n => fs.promises.writeFile('f' + n, 'x'.repeat(n))))
  .then(() => setTimeout(() => fs.rmSync('f1'), 5));
"""
JAVA = """public class Main {
  public static void main(String[] a) throws Exception {
    Thread[] all = new Thread[4];
    for (int i = 0; i < 4; i++) { final int n = i; all[i] = new Thread(() -> {
      try { java.nio.file.Files.writeString(java.nio.file.Path.of("f" + n), "x"); } catch (Exception e) { throw new RuntimeException(e); } });
      all[i].start(); }
    for (Thread one : all) one.join();
  }
}
"""
GO = """package main
import ("os"; "sync")
func main() {
  var all sync.WaitGroup
  for i := 0; i < 8; i++ { all.Add(1); go func(n int) { defer all.Done(); os.WriteFile(string(rune('a'+n)), []byte("x"), 0o644) }(i) }
  all.Wait()
}
"""
SERVER = "python3 -m http.server --bind 127.0.0.1 8123 > /dev/null 2>&1 & until curl -sf -o got http://127.0.0.1:8123/; do :; done; kill $!; wait"
REDIS = ("redis-server --port 0 --unixsocket s --save '' --logfile log & until [ -S s ]; do :; done; redis-cli -s s set a 1; redis-cli -s s get a; "
         "redis-cli -s s shutdown nosave; wait")
POSTGRES = "initdb -D d -U a --no-sync > /dev/null && echo 'select 1' | postgres --single -D d template1 > /dev/null"


@dataclass
class Program:
    """A command of a shell, what it needs, its files, and more options of `new`."""

    name: str
    shell: str
    needs: list[str]
    files: dict[str, str] = field(default_factory=dict)
    options: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)  # made here, outside of the sandbox


PROGRAMS = [
    Program("python-threads", "python3 threads.py", ["python3"], {"threads.py": THREADS}),
    Program("node", "node main.js", ["node"], {"main.js": NODE}),
    Program("java", "java -Xshare:auto -cp . Main", ["java", "javac"], {"Main.java": JAVA}, ["--file", "Main.class"], ["javac", "Main.java"]),
    Program("go", "./go-program", ["go"], {"main.go": GO}, ["--file", "go-program"], ["go", "build", "-o", "go-program", "main.go"]),
    Program("make-j", "make -s -j8", ["make"], {"Makefile": "all: a b c d e f\na b c d e f:\n\t@seq 2000 | tail -1 > $@\n"},
            ["--file", "Makefile"]),
    Program("git-gc", "git init -q . && for i in 1 2 3; do echo $i > f; git add f; git -c user.name=a -c user.email=b commit -qm $i; done; git gc -q",
            ["git"]),
    Program("redis", REDIS, ["redis-server", "redis-cli"]),
    Program("postgres", POSTGRES, ["initdb", "postgres"], {}, ["--user", "nobody"]),
    Program("sqlite3", "sqlite3 db 'create table a (x); insert into a values (1); vacuum; pragma journal_mode=wal; insert into a values (2);'",
            ["sqlite3"]),
    Program("sort-parallel", "seq 200000 | shuf --random-source=/bin/ls > n && sort --parallel=4 -S 2M -o s n", ["sort", "shuf"]),
    Program("tar", "mkdir a && for i in 1 2 3 4; do seq $i > a/$i; done && tar -cJf a.txz a && rm -r a && tar -xf a.txz", ["tar", "xz"]),
    Program("rsync", "mkdir a && seq 100 > a/f && rsync -a a/ b/ && rsync -a a/ b/", ["rsync"]),
    Program("ffmpeg", "ffmpeg -loglevel error -f lavfi -i testsrc=d=1 -threads 4 out.mp4", ["ffmpeg"]),
    Program("nginx", "nginx -t -p . -e log", ["nginx"]),
    Program("curl-loopback", SERVER, ["curl", "python3"]),
    Program("ssh-keygen", "ssh-keygen -q -t ed25519 -N '' -f key", ["ssh-keygen"]),
    Program("gcc", "gcc -O2 -pipe -o main main.c && ./main", ["gcc"], {"main.c": "int main(void) { return 0; }\n"}, ["--file", "main.c"]),
    Program("perl-forks", "perl -e 'for (1..8) { next if fork; open F, \">\", \"f$_\"; exit } 1 while wait > 0'", ["perl"]),
    Program("bash-jobs", "bash -c 'for i in 1 2 3 4; do (sleep 0.0$i; echo $i > $i) & done; wait'", ["bash"]),
    Program("xz-threads", "seq 300000 > n && xz -T4 --block-size=200KiB n", ["xz"]),
]


def ordinary(step: Step) -> None:
    installed = [program for program in PROGRAMS if not needs(*program.needs)]
    program = installed[step.number % len(installed)]
    for path, text in program.files.items():
        step.write(path, text)
    if program.before:
        # Of the real home, where caches are.
        step.sane(step.run(program.before, env={"HOME": "/root", "GOFLAGS": "-mod=mod", "GO111MODULE": "off"}), {0})
    options = ["--timeout", "60", "-n", str(RUNS), *program.options]
    new = step.harness("new", *options, program.name, "--", "sh", "-c", program.shell, timeout=900)
    step.runs += RUNS
    if new.status != 0:
        step.trouble(FAILURE, f"harness new {program.name}: status {new.status}: {new.stderr.strip()}")
    else:
        done = step.harness("run", "--format", "json", "--save", "saved", "--repeat", str(REPEAT), "scenarios", env={"CI": "1"}, timeout=900)
        step.sane(done, {0, 1})
        for report in step.reports(done, REPEAT):
            if report["verdict"] != "pass":
                kind = INCOMPLETE if report["verdict"] == "incomplete" else FAILURE
                step.trouble(kind, f"{program.name}: {report['verdict']}: {'; '.join(report['reasons'])}")
        for file in sorted((step.folder / "saved").rglob("*.data")):
            step.balanced_file(file)
    step.counted[program.name] += 1
    step.survivors()
    step.leavings()


def rows(lab: Lab) -> list[Row]:
    absent = sorted({name for program in PROGRAMS for name in program.needs if needs(name)})
    title = "ordinary programs through `new`, then repeated" + (f" (not there: {', '.join(absent)})" if absent else "")
    return [Row("ordinary", title, ordinary)]
