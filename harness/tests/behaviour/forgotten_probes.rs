//! What the kernel forgets of a probe where tasks swap their events.

use serde_json::Value;

use crate::probes::uprobes;
use crate::support::project::Project;
use crate::support::require::{program, require};
use crate::untold_probes::{both, is_lost, judged};

/// Calls a function from two threads, and when these have ended from the first.
const THREADS: &str = "
#include <pthread.h>
__attribute__((noinline, noclone)) int f(long n) { volatile int r = n ? f(n - 1) : 0; return r + 1; }
static void *thread(void *depth) { f((long)depth); return 0; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, thread, (void *)70);
    pthread_create(&b, 0, thread, (void *)80);
    pthread_join(a, 0);
    pthread_join(b, 0);
    f(10);
    return 0;
}
";

#[test]
fn what_a_task_calls_behind_the_end_of_another_that_had_its_events_is_told() {
    require!(uprobes());
    require!(program("cc"));
    let project = Project::new();
    project.write("threads.c", THREADS);
    let words = ["cc", "-O1", "-pthread", "-o", "threads", "threads.c"];
    project.run(&[], &words).assert_status(0);
    let text = "workload: { run: [./threads], files: { threads: { from: ../threads } } }\n\
                trace: { events: [{ uprobe: './threads:f' }] }\n\
                expect: { count: { 'uprobe:f': 163 } }\nsnapshot: false";
    project.scenario("it", text);
    // Without more it was 152 in one run of five to forty.
    let run = project.harness(&["run", "scenarios", "--repeat", "40"]);
    run.assert_status(0);
}

/// A function of the C library: which file of the machine that is this process knows.
fn library() -> Result<String, String> {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the mappings");
    let mut paths = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5));
    let is_it = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        name.starts_with("libc.so") || name.starts_with("ld-musl")
    };
    let found = paths.find(is_it);
    found
        .map(|path| format!("{path}:getenv"))
        .ok_or_else(|| "the tests are linked statically".to_owned())
}

/// Calls a function of the C library in a child and its thread, and behind the thread's end. With
/// `apart` another child ends beside it.
const FAMILY: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *thread(void *n) { for (long i = 0; i < (long)n; i++) getenv("A"); return 0; }
int main(void)
{
    if (!fork()) {
        pthread_t a;
        pthread_create(&a, 0, thread, (void *)70);
        pthread_join(a, 0);
        thread((void *)30);
        _exit(0);
    }
    wait(NULL);
    thread((void *)10);
    return 0;
}
"#;

#[test]
fn a_probe_in_a_library_of_the_machine_tells_all_calls_in_a_sandbox() {
    require!(uprobes());
    require!(program("cc"));
    let function = require!(library());
    let project = Project::new();
    project.write("family.c", FAMILY);
    let words = [
        "cc",
        "-O1",
        "-fno-builtin",
        "-pthread",
        "-o",
        "family",
        "family.c",
    ];
    project.run(&[], &words).assert_status(0);
    for (kind, sandbox, words, verdict) in [
        ("uprobe", "root: readonly", &["--repeat", "20"][..], "pass"),
        ("uretprobe", "root: readonly", &["--repeat", "20"], "pass"),
        ("uprobe", "root: host", &[], "incomplete"),
        ("uretprobe", "root: host", &[], "incomplete"),
    ] {
        let text = format!(
            "workload: {{ run: [./family], files: {{ family: {{ from: ../family }} }} }}\n\
             sandbox: {{ {sandbox} }}\ntrace: {{ events: [{{ {kind}: '{function}' }}] }}\n\
             expect: {{ count: {{ '{kind}:getenv': '110..' }} }}\nsnapshot: false"
        );
        project.scenario("it", &text);
        let line = judged(&project, &[words, &["scenarios"]].concat());
        assert_eq!(line["verdict"], verdict, "{kind} {sandbox}: {line}");
        if verdict == "incomplete" {
            let findings = line["findings"].as_array().expect("findings");
            let is_it = |it: &Value| is_lost(it, &format!("{kind}:getenv"), "may have forgotten");
            assert!(findings.iter().any(is_it), "{line}");
            assert_eq!(both(&project).0, "incomplete");
        }
    }
}

#[test]
fn a_trace_says_where_the_kernel_may_have_forgotten_a_probe() {
    require!(uprobes());
    let function = require!(library());
    let project = Project::new();
    let traced = |script: &str| {
        let event = format!("uprobe:{function}");
        project.harness(&["trace", "-o", "trace", "-e", &event, "sh", "-c", script])
    };
    let said = "the kernel may have forgotten the probe in `";
    let run = traced("(sleep 0 & sleep 0; wait); true");
    assert!(run.stderr.contains(said), "{run:?}");
    run.assert_status(125);
    // The shell's own events stay, and each child has ended before the next one.
    for script in [":", "ls > /dev/null; ls > /dev/null; :"] {
        traced(script).assert_status(0);
    }
}
