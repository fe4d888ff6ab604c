//! A file is told from another that has the same number or the same name in some place.

use super::{crash, is_unknown, python};
use crate::support::require::{program, require, right_to_trace};

/// What was promised is there.
const HELD: &str = "recovers: { shell: '[ ! -s acknowledged ] || grep -q NEW old' }";

#[test]
fn a_thread_with_descriptors_of_its_own_has_its_own_open_files() {
    require!(right_to_trace());
    require!(program("python3"));
    // CLONE_FILES
    let script = |first: &str, own: &str| {
        format!(
            "import ctypes, os, threading\nnumber = os.open('old', os.O_WRONLY | {first})\n\
             def work():\n  ctypes.CDLL(None).unshare(0x400)\n  os.close(number)\n  \
             assert os.open('old', os.O_WRONLY | {own}) == number\n  os.write(number, b'NEW')\n\
             thread = threading.Thread(target=work)\nthread.start()\nthread.join()\n\
             os.write(1, b'saved')"
        )
    };
    crash(&python(&script("os.O_DSYNC", "0"), HELD), 1, &[]);
    let project = python(&script("0", "os.O_DSYNC"), HELD);
    let run = project.harness(&["run", "scenarios/it.yaml"]);
    // Before Linux 6.9 its descriptor cannot be taken.
    assert!(
        run.status == 0 || run.stdout.contains("descriptors of its own"),
        "{}",
        run.stdout
    );
}

#[test]
fn what_threads_write_behind_the_end_of_the_first_is_seen() {
    require!(right_to_trace());
    require!(program("python3"));
    // exit(2) of the first thread alone.
    let script = "import ctypes, os, platform, threading, time\n\
                  first = threading.main_thread().native_id\n\
                  def work():\n  \
                  while ' Z' not in open(f'/proc/self/task/{first}/stat').read(): time.sleep(0)\n  \
                  file = os.open('old', os.O_WRONLY)\n  os.write(file, b'bad')\n  os.fsync(file)\n  \
                  os.pwrite(file, b'old', 0)\n  os.fsync(file)\n  os._exit(0)\n\
                  threading.Thread(target=work).start()\n\
                  ctypes.CDLL(None).syscall(93 if platform.machine() == 'aarch64' else 60, 0)";
    let project = python(script, "recovers: { shell: 'grep -q old old' }");
    let run = project.harness(&["run", "scenarios/it.yaml"]);
    run.assert_status(1);
    // Before Linux 6.9 no descriptor can be taken then.
    assert!(
        run.stdout.contains("power cuts") || run.stdout.contains("descriptors of its own"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_mapped_file_with_a_newline_in_its_name_is_not_the_one_that_is_shown_like_it() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = |synced: &str| {
        format!(
            "import mmap, os\n\
             def new(name):\n  file = os.open(name, os.O_RDWR | os.O_CREAT)\n  \
             os.ftruncate(file, 4096)\n  os.fsync(file)\n  return mmap.mmap(file, 4096)\n\
             newline, backslash = new('d\\n'), new('d\\\\012')\nold = new('old')\n\
             os.fsync(os.open('.', os.O_RDONLY))\n\
             newline[0:3] = backslash[0:3] = old[0:3] = b'NEW'\n{synced}.flush()\n\
             os.write(1, b'saved')"
        )
    };
    for (name, file) in [("newline", "d?"), ("backslash", "d*012"), ("old", "old")] {
        for synced in ["newline", "backslash", "old"] {
            let held = format!(
                "model: {{ base: posix, torn: 4096 }}, \
                 recovers: {{ shell: '[ ! -s acknowledged ] || grep -q NEW {file}' }}"
            );
            let status = i32::from(name != synced);
            crash(&python(&script(synced), &held), status, &[]);
        }
    }
}

#[test]
fn a_nameless_file_is_not_taken_for_a_removed_one_that_had_its_inode() {
    require!(right_to_trace());
    require!(program("python3"));
    // File systems give the number of an inode away again; linkat with AT_SYMLINK_FOLLOW.
    let script = |synced: &str| {
        format!(
            "import ctypes, os\nfolder = os.open('.', os.O_RDONLY)\n\
             first = os.open('first', os.O_RDWR | os.O_CREAT)\nos.write(first, b'NEW')\n\
             os.fsync(first)\nos.fsync(folder)\nos.close(first)\nos.unlink('first')\n\
             os.fsync(folder)\nfile = os.open('.', os.O_TMPFILE | os.O_RDWR)\n\
             os.write(file, b'NEW')\n{synced}\n\
             path = f'/proc/self/fd/{{file}}'.encode()\n\
             assert ctypes.CDLL(None).linkat(-100, path, -100, b'new', 0x400) == 0\n\
             os.fsync(folder)\nos.write(1, b'saved')"
        )
    };
    let held = "recovers: { shell: '[ ! -s acknowledged ] || grep -q NEW new' }";
    crash(&python(&script("os.fsync(file)"), held), 0, &[]);
    crash(&python(&script("pass"), held), 1, &[]);
}

#[test]
fn a_file_whose_name_reads_like_that_of_a_removed_one_is_known_by_it() {
    require!(right_to_trace());
    require!(program("python3"));
    // What is written and written back is in no folder at the end.
    let script = |name: &str| {
        format!(
            "import os\nfile = os.open('{name}', os.O_RDWR | os.O_CREAT)\nos.write(file, b'old')\n\
             os.close(file)\nos.sync()\nfile = os.open('{name}', os.O_RDWR)\n\
             os.write(file, b'bad')\nos.fsync(file)\nos.pwrite(file, b'old', 0)\nos.fsync(file)"
        )
    };
    let held = "recovers: { shell: '! grep -q bad *' }";
    for name in ["x", "x (deleted)"] {
        crash(&python(&script(name), held), 1, &[]);
    }
}

#[test]
fn a_descriptor_that_another_thread_replaces_while_a_call_is_held_makes_the_run_incomplete() {
    require!(right_to_trace());
    require!(program("python3"));
    // A mapped file takes its time to be looked at; the other thread goes on meanwhile.
    let script = "import mmap, os, threading\n\
                  new = lambda name: os.open(name, os.O_RDWR | os.O_CREAT)\n\
                  one, other, big = new('one'), new('other'), new('big')\n\
                  os.write(big, bytes(8 << 20))\nmapped = mmap.mmap(big, 8 << 20)\n\
                  os.dup2(one, 99)\nis_over = False\n\
                  def work():\n  \
                  while not is_over:\n    os.dup2(other, 99)\n    os.dup2(one, 99)\n\
                  thread = threading.Thread(target=work)\nthread.start()\n\
                  for _ in range(30): os.fsync(99)\n\
                  is_over = True\nthread.join()";
    let why = "what `fsync` is about was changed while it was held";
    is_unknown(&python(script, "recovers: { run: ['true'] }"), why);
}
