//! Programs of another C library than glibc: musl, whose loader is the library itself.

use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// A library of the program's own: its constructor opens a file and asks for memory.
const LIBRARY: &str = r#"
#include <fcntl.h>
#include <stdlib.h>
void *room;
int from_library(void) { return 0; }
__attribute__((constructor)) static void begins(void)
{
    open("of-library", O_RDONLY | O_CLOEXEC);
    room = malloc(1 << 20);
}
"#;

/// Opens a file first, as a loader would; `LARGE` is memory of each thread's own.
const PROGRAM: &str = r#"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
int from_library(void);
#ifdef LARGE
_Thread_local char own[LARGE] = "x";
#endif
int main(void)
{
#ifdef WITH_LIBRARY
    from_library();
#endif
#ifdef LARGE
    own[1] = 'y';
#endif
    open("of-program", O_RDONLY | O_CLOEXEC);
    mprotect((void *)0x10000, 0x1000, PROT_READ);
    getppid();
    return 0;
}
"#;

/// The lines of a trace `since: main` of the program, from its `execve` on, without it.
fn behind_exec(project: &Project, files: &str) -> Vec<String> {
    let yaml = format!(
        "workload: {{ shell: 'exec env -i ./it', files: {{ {files} }} }}\ntrace: {{ since: main }}"
    );
    project.scenario("it", &yaml);
    let run = project.harness(&["run", "--update", "scenarios"]);
    run.assert_status(0);
    let text = project.read("snapshots/it.snap");
    let mut lines = text.lines().map(|line| line.trim().to_owned());
    let is_exec = |line: &String| line.starts_with("execve(\"./it\"");
    lines
        .find(is_exec)
        .unwrap_or_else(|| panic!("no program: {text}"));
    lines.collect()
}

fn compile(project: &Project, options: &[&str]) {
    let words = [&["musl-gcc", "-o", "it", "it.c"], options].concat();
    project.run(&[], &words).assert_status(0);
}

/// A folder with the program and its library, as sources; the library is made.
fn sources() -> Project {
    let project = Project::new();
    project.write("it.c", PROGRAM);
    project.write("lib.c", LIBRARY);
    let words = ["musl-gcc", "-shared", "-fPIC", "-o", "libit.so", "lib.c"];
    project.run(&[], &words).assert_status(0);
    project
}

const OF_PROGRAM: [&str; 4] = [
    "open(\"of-program\", O_RDONLY|O_LARGEFILE|O_CLOEXEC) = -1 ENOENT",
    "mprotect(<addr>, 4096, PROT_READ) = -1 ENOMEM",
    "getppid() = <pid>",
    "exit_group(0) = ?",
];

#[test]
fn musls_loader_is_left_out_though_it_makes_its_calls_where_the_program_does() {
    require!(right_to_trace());
    require!(program("musl-gcc"));
    let project = sources();
    for options in [
        &[][..],
        &["-s"],
        &["-O2", "-DLARGE=100000"],
        &["-Wl,-z,norelro"],
        &["-Wl,-z,norelro", "-DLARGE=100000"],
    ] {
        compile(&project, options);
        let lines = behind_exec(&project, "it: { from: ../it }");
        assert_eq!(lines, OF_PROGRAM, "{options:?}");
    }
}

#[test]
fn what_musls_loader_does_for_a_library_is_left_out_and_its_constructor_is_not() {
    require!(right_to_trace());
    require!(program("musl-gcc"));
    let project = sources();
    let common = ["-DWITH_LIBRARY", "-L.", "-lit", "-Wl,-rpath,$ORIGIN"];
    for options in [&[][..], &["-s"], &["-Wl,-z,norelro"], &["-DLARGE=100000"]] {
        compile(&project, &[&common, options].concat());
        let files = "it: { from: ../it }, libit.so: { from: ../libit.so }";
        let lines = behind_exec(&project, files);
        let constructor = "open(\"of-library\", O_RDONLY|O_LARGEFILE|O_CLOEXEC) = -1 ENOENT";
        assert_eq!(lines[0], constructor, "{options:?}: {lines:?}");
        assert!(
            lines[1].starts_with("mmap(NULL, "),
            "{options:?}: {lines:?}"
        );
        assert_eq!(lines[2..], OF_PROGRAM, "{options:?}");
    }
}

#[test]
fn a_library_that_musls_loader_does_not_find_leaves_all_its_calls_in_the_trace() {
    require!(right_to_trace());
    require!(program("musl-gcc"));
    let project = sources();
    compile(&project, &["-DWITH_LIBRARY", "-L.", "-lit"]);
    let yaml = "workload: { run: [./it], files: { it: { from: ../it } } }\n\
                trace: { since: main }\nsnapshot: false\n\
                expect: { exit: 127, any_order: [{ open: { path: { glob: \"**/libit.so\" } } }] }";
    project.scenario("it", yaml);
    project.harness(&["run", "scenarios"]).assert_status(0);
}

#[test]
fn a_static_program_of_musl_has_no_loader_and_loses_nothing() {
    require!(right_to_trace());
    require!(program("musl-gcc"));
    let project = sources();
    for options in [&["-static"][..], &["-static", "-s"]] {
        compile(&project, options);
        let lines = behind_exec(&project, "it: { from: ../it }");
        let expected = [
            &[
                "arch_prctl(ARCH_SET_FS, <addr>) = 0",
                "set_tid_address(<addr>) = P1",
            ][..],
            &OF_PROGRAM,
        ]
        .concat();
        assert_eq!(lines, expected, "{options:?}");
    }
}
