//! Faults that are meant by the functions that led to a call: done below these and nowhere else,
//! and never passed over where the functions are not known.

use super::told::faults;
use crate::support::project::{Project, Run};
use crate::support::require::{program, require, right_to_trace};

/// Functions that each make calls, and say how these ended.
const HEAD: &str = "#define _GNU_SOURCE\n\
                    #include <fcntl.h>\n#include <pthread.h>\n#include <signal.h>\n#include <stdio.h>\n\
                    #include <string.h>\n#include <sys/stat.h>\n#include <sys/wait.h>\n\
                    #include <unistd.h>\n\
                    #define KEPT __attribute__((noinline, noclone))\n\
                    static int fd;\n\
                    KEPT int flush_wal(void) { volatile int failed = fsync(fd); return failed; }\n\
                    KEPT int flush_log(void) { volatile int failed = fsync(fd); return failed; }\n";

const EACH_TWICE: &str = "int main(void) {\n    \
                          fd = open(\"log\", O_RDWR | O_CREAT, 0600);\n    \
                          for (int i = 0; i < 2; i++) {\n        \
                          int log = flush_log(), wal = flush_wal();\n        \
                          printf(\"%d %d\\n\", log, wal);\n    }\n    return 0;\n}\n";

/// A program of ours, with a scenario for it.
fn project(options: &[&str], code: &str, faults: &str, more: &str) -> Project {
    let project = Project::with(
        "it",
        &format!(
            "workload: {{ run: [./it], timeout: 120s, \
             files: {{ it: {{ from: ../it, mode: \"0755\" }} }} }}\n\
             trace: {{ events: [{{ syscalls: [fsync, mkdir] }}] }}\n\
             faults: [{faults}]\nsnapshot: false\n{more}"
        ),
    );
    project.write("it.c", &format!("{HEAD}{code}"));
    let compile = [&["gcc", "-o", "it", "it.c", "-pthread"], options].concat();
    project.run(&[], &compile).assert_status(0);
    project
}

fn run(project: &Project) -> Run {
    project.harness(&["run", "--format", "json", "scenarios"])
}

#[track_caller]
fn passes(options: &[&str], code: &str, faults: &str, stdout: &str) -> Run {
    let more = format!("expect: {{ stdout: \"{stdout}\" }}");
    let run = run(&project(options, code, faults, &more));
    let (verdict, why) = &run.verdicts()["it"];
    assert_eq!(verdict, "pass", "{why}\n{faults} {options:?}");
    run
}

/// The verdict and all its reasons.
fn judged(options: &[&str], code: &str, faults: &str, more: &str) -> (String, String) {
    let run = run(&project(options, code, faults, more));
    let told = &run.json()[0];
    (told["verdict"].to_string(), told["reasons"].to_string())
}

const WAL: &str = "{ fsync: { stack: flush_wal, error: EIO } }";

#[test]
fn a_call_fails_below_the_function_and_nowhere_else() {
    require!(right_to_trace());
    require!(program("gcc"));
    let only_wal = "0 -1\\n0 -1\\n";
    for options in [
        &["-O0"][..],
        &["-O2", "-fomit-frame-pointer"],
        &["-O2", "-fno-omit-frame-pointer"],
        &["-O1", "-g"],
        &["-O1", "-static"],
    ] {
        let run = passes(options, EACH_TWICE, WAL, only_wal);
        let told = &faults(&run)[0];
        assert_eq!((&told["matched"], &told["done"]), (&2.into(), &2.into()));
        let stack = told["done_to"][1]["stack"].to_string();
        assert!(
            stack.contains("\"flush_wal\",\"main\""),
            "{options:?} {stack}"
        );
    }
    for (fault, stdout) in [
        ("stack: [flush_wal, main], when: 2", "0 0\\n0 -1\\n"),
        ("stack: \"flush_*\", when: \"2..=3\"", "0 -1\\n-1 0\\n"),
        ("stack: { not: flush_wal }", "-1 0\\n-1 0\\n"),
        ("from: { prefix: flush_w }, fd: log", only_wal),
    ] {
        let fault = format!("{{ fsync: {{ {fault}, error: EIO }} }}");
        passes(&["-O1"], EACH_TWICE, &fault, stdout);
    }
}

#[test]
fn a_function_is_found_by_whom_the_next_fault_asks_too() {
    require!(right_to_trace());
    require!(program("gcc"));
    let both = "{ fsync: { stack: flush_wal, when: 2, error: EIO } }, \
                { fsync: { stack: flush_log, when: 1, returns: 7 } }, \
                { fsync: { stack: main, when: 2, delay: 1ms } }";
    let run = passes(&["-O1"], EACH_TWICE, both, "7 0\\n0 -1\\n");
    let told = faults(&run);
    let matched: Vec<_> = (0..3).map(|it| told[it]["matched"].clone()).collect();
    assert_eq!(matched, [2, 2, 4]);
    assert_eq!(told[1]["done_to"][0]["stack"][1], "flush_log");
}

#[test]
fn of_two_threads_that_make_the_same_call_the_one_in_the_function_fails() {
    require!(right_to_trace());
    require!(program("gcc"));
    let code = "#define ROUNDS 200\n\
                static void *wal(void *n) { for (int i = 0; i < ROUNDS; i++) *(int *)n -= flush_wal(); return 0; }\n\
                static void *log_(void *n) { for (int i = 0; i < ROUNDS; i++) *(int *)n -= flush_log(); return 0; }\n\
                int main(void) {\n    pthread_t one, two;\n    int failed[2] = {0, 0};\n    \
                fd = open(\"log\", O_RDWR | O_CREAT, 0600);\n    \
                pthread_create(&one, 0, wal, &failed[0]);\n    \
                pthread_create(&two, 0, log_, &failed[1]);\n    \
                pthread_join(one, 0);\n    pthread_join(two, 0);\n    \
                printf(\"%d %d\\n\", failed[0], failed[1]);\n    return 0;\n}\n";
    passes(&["-O1"], code, WAL, "200 0\\n");
    let some = "{ fsync: { stack: flush_wal, when: \"3..=7\", per: thread, error: EIO } }";
    passes(&["-O1"], code, some, "5 0\\n");
}

#[test]
fn each_process_is_counted_by_itself_and_a_child_has_the_functions_of_its_parent() {
    require!(right_to_trace());
    require!(program("gcc"));
    let code = "int main(void) {\n    fd = open(\"log\", O_RDWR | O_CREAT, 0600);\n    \
                for (int i = 0; i < 2; i++) {\n        \
                if (!fork()) { flush_log(); int first = flush_wal();\n            \
                printf(\"%d %d\\n\", first, flush_wal()); fflush(stdout); _exit(0); }\n        \
                wait(0);\n    }\n    return 0;\n}\n";
    let fault = "{ fsync: { stack: flush_wal, when: 2, per: process, error: EIO } }";
    passes(&["-O1"], code, fault, "0 -1\\n0 -1\\n");
}

#[test]
fn a_function_is_found_from_a_signals_handler_and_from_far_below() {
    require!(right_to_trace());
    require!(program("gcc"));
    let handler = "static void handle(int it) { (void)it; volatile int failed = fsync(fd); (void)failed; \
                   printf(\"%d\\n\", failed); }\n\
                   KEPT int flush_all(void) { volatile int r = raise(SIGUSR1); return r; }\n\
                   int main(void) {\n    fd = open(\"log\", O_RDWR | O_CREAT, 0600);\n    \
                   signal(SIGUSR1, handle);\n    raise(SIGUSR1);\n    return flush_all();\n}\n";
    let fault = "{ fsync: { stack: [handle, flush_all], error: EIO } }";
    passes(&["-O1"], handler, fault, "0\\n-1\\n");
    // More functions, and more bytes of stack, than a recorded chain has.
    let deep = "KEPT int down(int n) { volatile char room[4096]; room[0] = 1;\n    \
                volatile int r = n ? down(n - 1) : flush_wal(); return r; }\n\
                KEPT int from_wal(void) { volatile int r = down(300); return r; }\n\
                int main(void) {\n    fd = open(\"log\", O_RDWR | O_CREAT, 0600);\n    \
                int near = flush_wal(), far = from_wal();\n    \
                printf(\"%d %d\\n\", near, far);\n    return 0;\n}\n";
    let fault = "{ fsync: { stack: from_wal, error: EIO } }";
    passes(&["-O1"], deep, fault, "0 -1\\n");
}

#[test]
fn a_call_that_is_made_all_the_same_is_told_with_the_functions_that_led_to_it() {
    require!(right_to_trace());
    require!(program("gcc"));
    for chain in ["", ", callchain: dwarf", ", callchain: fp"] {
        let fault = "{ fsync: { stack: flush_wal, when: 1, delay: 1ms } }";
        let project = project(&["-O1"], EACH_TWICE, fault, "");
        let yaml = project.read("scenarios/it.yaml");
        let with_chain = yaml.replace("mkdir] }", &format!("mkdir]{chain} }}"));
        project.write("scenarios/it.yaml", &with_chain);
        let run = run(&project);
        assert_eq!(run.verdicts()["it"].0, "pass", "{chain} {run:?}");
        let done = &faults(&run)[0]["done_to"];
        assert!(done.to_string().contains("(DELAYED)"), "{chain} {done}");
        assert_eq!(done[0]["stack"][1], "flush_wal", "{chain}");
    }
}

#[test]
fn a_call_waits_until_one_has_come_from_the_function() {
    require!(right_to_trace());
    require!(program("gcc"));
    let code = "static void *make(void *n) { (void)n; mkdir(\"a\", 0700); return 0; }\n\
                int main(void) {\n    pthread_t one;\n    fd = open(\"log\", O_RDWR | O_CREAT, 0600);\n    \
                pthread_create(&one, 0, make, 0);\n    flush_log();\n    usleep(50000);\n    \
                struct stat it;\n    printf(\"%d\\n\", stat(\"a\", &it));\n    flush_wal();\n    \
                pthread_join(one, 0);\n    printf(\"%d\\n\", stat(\"a\", &it));\n    return 0;\n}\n";
    let fault = "{ mkdir: { block: { until: { fsync: { stack: flush_wal } } } } }";
    passes(&["-O1"], code, fault, "-1\\n0\\n");
}

#[test]
fn a_fault_whose_function_makes_no_such_call_never_fires_and_says_who_did() {
    require!(right_to_trace());
    require!(program("gcc"));
    let code = format!("KEPT int flush_all(void) {{ return 0; }}\n{EACH_TWICE}");
    let fault = "{ fsync: { stack: flush_all, error: EIO } }";
    let (verdict, why) = judged(&["-O1"], &code, fault, "");
    assert_eq!(verdict, "\"fail\"", "{why}");
    assert!(why.contains("never fired: no call matched it"), "{why}");
    for called in ["flush_log < main", "flush_wal < main"] {
        assert!(why.contains(called), "{why}");
    }
}

#[test]
fn functions_without_names_and_chains_that_break_off_make_the_run_incomplete() {
    require!(right_to_trace());
    require!(program("gcc"));
    let no_file = "no file of the process has a function that is asked for";
    let without_tables = [
        "-O1",
        "-fno-asynchronous-unwind-tables",
        "-fno-unwind-tables",
    ];
    for (options, says) in [
        (&["-O1", "-s"][..], no_file),
        (
            &without_tables,
            "/it` has no table of the caller of `flush_log`",
        ),
    ] {
        let (verdict, why) = judged(options, EACH_TWICE, WAL, "");
        assert_eq!(verdict, "\"incomplete\"", "{options:?} {why}");
        assert!(why.contains(says), "{options:?} {why}");
    }
    // What the compiler put into its caller is known by debug information alone.
    let inlined = "static inline __attribute__((always_inline)) int put_in(void) { \
                   volatile int r = fsync(fd); return r; }\n\
                   int main(void) { fd = open(\"log\", O_RDWR | O_CREAT, 0600); \
                   printf(\"%d\\n\", put_in()); return 0; }\n";
    for test in ["put_in", "{ not: put_in }", "[fsync, put_in]"] {
        let fault = format!("{{ fsync: {{ stack: {test}, error: EIO }} }}");
        let (verdict, why) = judged(&["-O2"], inlined, &fault, "");
        assert_eq!(verdict, "\"incomplete\"", "{test} {why}");
        assert!(why.contains(no_file), "{test} {why}");
    }
    let fault = "{ fsync: { stack: put_in, error: EIO } }";
    passes(&["-O2", "-g"], inlined, fault, "-1\\n");
}

#[test]
fn a_recording_is_judged_by_the_functions_of_its_run() {
    require!(right_to_trace());
    require!(program("gcc"));
    let more = "expect: { stdout: \"0 -1\\n0 -1\\n\" }";
    let project = project(&["-O1"], EACH_TWICE, WAL, more);
    let words = ["run", "--format", "json", "--save", "saved", "scenarios"];
    let live = project.harness(&words);
    assert_eq!(live.verdicts()["it"].0, "pass", "{live:?}");
    let words = ["run", "--format", "json", "--from", "saved/it.data"];
    let again = project.harness(&[&words[..], &["scenarios/it.yaml"]].concat());
    assert_eq!(again.verdicts()["it"].0, "pass", "{again:?}");
    assert_eq!(faults(&again), faults(&live));
}
