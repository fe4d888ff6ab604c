//! A path that goes through links of procfs is gone as the kernel goes it for the program.

use super::{crash, python, shell};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// What is looked at here is that the log ends in the folder that the run left.
const ANY: &str = "recovers: { run: ['true'] }, states: 4";

/// What a program does to what is in `d`, by paths that begin with `at(folder)` or are `it(file)`.
const CHANGES: &str = "import ctypes, os, stat\n\
    libc = ctypes.CDLL(None, use_errno=True)\n\
    def to(change, *words):\n  \
    if change(*words) < 0: raise OSError(ctypes.get_errno(), change.__name__)\n\
    folder = lambda path: os.open(path, os.O_PATH)\n\
    os.mkdir('d')\nd, old = folder('d'), folder('old')\n\
    BEFORE\n\
    it = lambda number: f'/proc/self/fd/{number}'\n\
    os.mkdir(at(d) + '/in')\nos.symlink('to', at(d) + '/link')\n\
    os.mknod(at(d) + '/pipe', stat.S_IFIFO | 0o600)\n\
    os.close(os.open(at(d) + '/new', os.O_CREAT | os.O_WRONLY))\n\
    os.link('old', at(d) + '/more')\nos.rename(at(d) + '/new', at(d) + '/in/it')\n\
    os.unlink(at(d) + '/more')\nos.chmod(at(d) + '/in/it', 0o600)\n\
    os.mkdir('d/gone')\nos.rmdir(at(d) + '/gone')\n\
    os.chmod(it(d), 0o711)\nos.chmod(it(old), 0o604)\n\
    if os.geteuid() == 0:\n  os.chown(it(old), 3, 4)\n  os.chown(it(d), 5, 6)\n\
    os.truncate(it(old), 3)\n\
    file = os.open(it(old), os.O_WRONLY)\nos.write(file, b'longer')\nos.close(file)\n\
    os.close(os.open(it(folder('d/in/it')), os.O_CREAT | os.O_TRUNC | os.O_WRONLY))\n\
    libc.linkat.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int]\n\
    to(libc.linkat, -100, it(old).encode(), -100, b'd/linked', 0x400)\n\
    os.symlink(it(d), 'by')\nos.mkdir('by/far')\nos.chmod('by', 0o755)\n\
    os.symlink('by/made', 'nowhere')\nos.close(os.open('nowhere', os.O_CREAT | os.O_WRONLY))\n\
    try:\n  os.setxattr(it(old), 'user.k', b'v')\n  os.removexattr(it(old), 'user.k')\n\
    except OSError: pass";

#[test]
fn what_a_link_of_procfs_leads_to_is_known_in_each_call() {
    require!(right_to_trace());
    require!(program("python3"));
    for at in [
        "at = lambda number: f'/proc/self/fd/{number}'",
        "at = lambda number: f'/dev/fd/{number}'",
        "at = lambda number: f'/proc/{os.getpid()}/fd/{number}'",
        "at = lambda number: f'/proc/thread-self/fd/{number}'",
        "at = lambda number: '/proc/self/cwd/d'",
        "at = lambda number: f'/proc/{os.getpid()}/task/{os.getpid()}/cwd/d'",
        "at = lambda number: '/proc/self/root/proc/self/root' + os.getcwd() + '/d'",
        "os.chdir('/proc/self/fd'); os.chdir(f'{d}'); os.chdir('..'); \
         at = lambda number: f'/proc/self/task/../../self/fd/{number}'",
    ] {
        let lines = crash(&python(&CHANGES.replace("BEFORE", at), ANY), 0, &[]);
        let calls = lines[0]["calls"].to_string();
        for call in [
            "(d/in)",
            "(d/link)",
            "(d/pipe)",
            "(d/new)",
            "(old, d/more)",
            "(d/new, d/in/it)",
            "(d/more)",
            "(d/in/it, 0o600)",
            "(d/gone)",
            "(d, 0o711)",
            "(old, 0o604)",
            "(old, 3)",
            "(old, 6 bytes at 0)",
            "(old, d/linked)",
            "(d/far)",
            "(d, 0o755)",
            "(d/made)",
        ] {
            assert!(calls.contains(call), "{at}: {call}: {calls}");
        }
    }
}

#[test]
fn a_file_that_has_no_name_any_more_is_known_by_a_link_of_procfs() {
    require!(right_to_trace());
    require!(program("python3"));
    // What is written there is in no folder, and what is linked is.
    let script = "import ctypes, os\nfile = os.open('old', os.O_RDWR)\n\
                  it = f'/proc/self/fd/{file}'\nos.unlink('old')\nos.chmod(it, 0o640)\n\
                  os.truncate(it, 2)\nmade = os.open('.', os.O_TMPFILE | os.O_RDWR)\n\
                  os.write(made, b'it')\nit = f'/proc/self/fd/{made}'\nos.chmod(it, 0o604)\n\
                  assert ctypes.CDLL(None).linkat(-100, it.encode(), -100, b'new', 0x400) == 0";
    let lines = crash(&python(script, ANY), 0, &[]);
    let calls = lines[0]["calls"].to_string();
    assert!(calls.contains("(a removed file, 2)"), "{calls}");
}

#[test]
fn a_number_in_procfs_is_that_of_the_namespace_that_the_procfs_is_of() {
    require!(right_to_trace());
    require!(program("python3"));
    // Another process' working directory is the folder, and its own is not.
    let script = "import os\nd = os.open('.', os.O_RDONLY)\nhere = os.getcwd()\n\
                  first, other = os.pipe(), os.pipe()\nchild = os.fork()\n\
                  if child == 0:\n  os.close(other[1])\n  os.read(other[0], 1)\n  os._exit(0)\n\
                  os.chdir('/')\nos.mkdir(f'/proc/{child}/cwd/made')\n\
                  os.chmod(f'/proc/{child}/fd/{d}/old', 0o604)\nos.close(other[1])\nos.wait()";
    let lines = crash(&python(script, ANY), 0, &[]);
    let calls = lines[0]["calls"].to_string();
    assert!(
        calls.contains("(made)") && calls.contains("(old, 0o604)"),
        "{calls}"
    );
}

#[test]
fn what_tar_extracts_is_known_with_the_modes_of_its_folders() {
    require!(right_to_trace());
    require!(program("tar"));
    // It sets the mode of a folder by the path of a descriptor in procfs.
    let script = "mkdir -p src/a/b && echo it > src/a/b/file && ln -s b src/a/link && \
                  chmod 700 src/a && chmod 555 src/a/b && tar cf x.tar src && mkdir out && \
                  tar xpf x.tar -C out && cmp src/a/b/file out/src/a/b/file && chmod 755 src/a/b";
    crash(&shell(script, ANY), 0, &[]);
}

#[test]
fn a_recording_has_what_the_links_of_procfs_led_to() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\nfile = os.open('old', os.O_PATH)\n\
                  os.chmod(f'/proc/self/fd/{file}', 0o604)\nos.truncate(f'/dev/fd/{file}', 1)";
    let project: Project = python(script, ANY);
    let run = project.harness(&["run", "--save", "saved", "scenarios/it.yaml"]);
    run.assert_status(0);
    let run = project.harness(&["run", "--from", "saved/it.data", "scenarios/it.yaml"]);
    run.assert_status(0);
    assert!(run.stdout.contains("power cut"), "{}", run.stdout);
}
