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

/// Calls a function twice.
const TWICE: &str = "
__attribute__((noinline, noclone)) int f(int n) { return n + 1; }
int (*volatile by_address)(int) = f;
int main(void) { return by_address(1) + by_address(2) != 5; }
";

/// A folder that a sandbox sees, with a program in it.
fn visible(project: &Project) -> Result<tempfile::TempDir, String> {
    program("cc")?;
    let folder = tempfile::tempdir_in("/var/tmp").map_err(|error| error.to_string())?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), mode).expect("permissions");
    project.write("twice.c", TWICE);
    let path = folder.path().join("twice");
    let path = path.to_str().expect("letters");
    let words = ["cc", "-O1", "-g", "-o", path, "twice.c"];
    project.run(&[], &words).assert_status(0);
    Ok(folder)
}

#[test]
fn a_file_with_several_names_has_its_probes_under_all_of_these() {
    require!(uprobes());
    let project = Project::new();
    let folder = require!(visible(&project));
    let [one, two] = ["twice", "link"].map(|name| folder.path().join(name));
    std::fs::hard_link(&one, &two).expect("a link");
    let (one, two) = (one.display(), two.display());
    let yaml = format!(
        "workload: {{ shell: '{one}; {two}' }}\n\
         trace: {{ events: [{{ uprobe: '{one}:f' }}, {{ uprobe: '{two}:main', name: main }}] }}\n\
         expect: {{ count: {{ 'uprobe:f': 4, 'uprobe:main': 2 }} }}\nsnapshot: false"
    );
    project.scenario("it", &yaml);
    assert_eq!(both(&project), ("pass".to_owned(), Vec::new()));
    // The other one has no copy, and so no probe.
    let other = format!(", {{ uprobe: '{two}:main', name: main }}");
    let yaml = yaml.replace(&other, "").replace(", 'uprobe:main': 2", "");
    project.scenario("it", &yaml);
    let (verdict, findings) = both(&project);
    assert_eq!(verdict, "incomplete", "{findings:?}");
    let is_it = |it: &Value| is_lost(it, "uprobe:f", "mapped another file");
    assert!(findings.iter().any(is_it), "{findings:?}");
}

#[test]
fn debugging_information_beside_a_probed_file_of_the_machine_is_found() {
    require!(uprobes());
    require!(program("objcopy"));
    let project = Project::new();
    let folder = require!(visible(&project));
    let path = folder.path().join("twice");
    let path = path.to_str().expect("letters");
    let debug = format!("{path}.debug");
    let link = format!("--add-gnu-debuglink={debug}");
    let keep = ["objcopy", "--only-keep-debug", path, &debug];
    for words in [&keep[..], &["strip", path], &["objcopy", &link, path]] {
        project.run(&[], words).assert_status(0);
    }
    let yaml = format!(
        "workload: {{ run: ['{path}'] }}\n\
         trace: {{ events: [{{ uprobe: '{path}:f', args: [n] }}] }}\n\
         expect: {{ any_order: [{{ 'uprobe:f': {{ n: 2 }} }}] }}\nsnapshot: false"
    );
    project.scenario("it", &yaml);
    assert_eq!(both(&project), ("pass".to_owned(), Vec::new()));
}

#[test]
fn a_probed_file_is_executed_by_who_may_and_where_it_can_be() {
    require!(uprobes());
    require!(program("unshare"));
    let project = Project::new();
    let folder = require!(visible(&project));
    let path = folder.path().join("twice");
    let yaml = |sandbox: &str| {
        format!(
            "workload: {{ run: ['{path}'] }}\nsandbox: {sandbox}\n\
             trace: {{ events: [{{ uprobe: '{path}:f' }}] }}\n\
             expect: {{ count: {{ 'uprobe:f': 2 }} }}\nsnapshot: false",
            path = path.display()
        )
    };
    if nix::unistd::geteuid().is_root() {
        let nobody = nix::unistd::User::from_name("nobody").expect("the users");
        let group = nobody.expect("a user").gid;
        nix::unistd::chown(&path, None, Some(group)).expect("chown");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o750);
        std::fs::set_permissions(&path, mode).expect("permissions");
        project.scenario("it", &yaml("{ user: nobody }"));
        let (verdict, findings) = both(&project);
        assert_eq!(verdict, "pass", "{findings:?}");
        // The folder of the runs lies where nothing can be executed.
        project.scenario("it", &yaml("{}"));
        let script = "mkdir runs && mount -t tmpfs -o noexec none runs && TMPDIR=$PWD/runs exec \
                      \"$0\" run scenarios";
        let harness = env!("CARGO_BIN_EXE_harness");
        let words = ["unshare", "--mount", "sh", "-c", script, harness];
        project.run(&[], &words).assert_status(0);
    }
}

#[test]
fn events_that_are_counted_for_a_group_are_not_forgotten() {
    require!(uprobes());
    require!(program("cc"));
    if !nix::unistd::geteuid().is_root() {
        return crate::support::require::skip("another user takes root");
    }
    let function = require!(library());
    let project = Project::new();
    let text = format!(
        "workload: {{ shell: '(sleep 0 & sleep 0; wait); true' }}\n\
         sandbox: {{ root: host, user: nobody }}\n\
         trace: {{ events: [{{ uprobe: '{function}' }}] }}\n\
         expect: {{ count: {{ 'uprobe:getenv': '1..' }} }}\nsnapshot: false"
    );
    project.scenario("it", &text);
    let (verdict, findings) = both(&project);
    assert_eq!(verdict, "pass", "{findings:?}");
}
