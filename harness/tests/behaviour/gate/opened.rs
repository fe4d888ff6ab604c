//! Faults are meant for descriptors by what they refer to, also where that has no path.

use super::{passes, python};
use crate::support::project::{Project, verdict};
use crate::support::require::{program, require, right_to_trace};

#[test]
fn what_has_no_path_is_meant_by_its_kind() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import ctypes, os, socket\n\
                  writer = os.pipe()[1]\n\
                  pair = socket.socketpair()\n\
                  server = socket.create_server(('127.0.0.1', 0))\n\
                  client = socket.create_connection(server.getsockname())\n\
                  accepted = server.accept()[0]\n\
                  datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
                  event = ctypes.CDLL(None).eventfd(0, 0)\n\
                  memory = os.memfd_create('cache')\n\
                  for number in (writer, pair[1].fileno(), client.fileno(), accepted.fileno(), \
                  datagrams.fileno(), event, memory):\n  \
                  try: print(os.write(number, b'01234567'))\n  \
                  except OSError as error: print(error.errno)";
    passes(&python(
        script,
        "write",
        "{ write: { fd: pipe, error: EIO } }, { write: { fd: unix, error: ENOMEM } }, \
         { write: { fd: tcp, when: 2, error: EPERM } }, { write: { fd: udp, error: ENXIO } }, \
         { write: { fd: eventfd, error: EBADF } }, { write: { fd: \"memfd:cache\", error: EFBIG } }",
        "stdout: \"5\\n12\\n8\\n1\\n6\\n9\\n27\\n\"",
    ));
}

#[test]
fn the_pipe_between_two_programs_is_told_from_the_output_of_the_last() {
    require!(right_to_trace());
    let run = |fault: &str, expect: &str| {
        passes(&format!(
            "workload: {{ shell: \"(echo a; echo b) | cat\" }}\n\
             trace: {{ events: [{{ syscalls: [write] }}] }}\n\
             faults: [{{ write: {{ {fault} }} }}]\nexpect: {{ {expect} }}\nsnapshot: false"
        ));
    };
    run("fd: stdout, error: EIO", "exit: 1, stdout: \"\"");
    run("fd: pipe, when: 1, error: EIO", "exit: 0, stdout: \"b\\n\"");
}

#[test]
fn what_the_workload_was_started_with_is_meant_at_whatever_number() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\n\
                  for number, move in ((os.dup(1), os.write), (os.dup(0), lambda n, _: os.read(n, 9))):\n  \
                  try: print(move(number, b'a'))\n  \
                  except OSError as error: print(error.errno)";
    let yaml = python(
        script,
        "read, write",
        "{ write: { fd: stdout, when: 1, error: EIO } }, { read: { fd: stdin, error: EPERM } }",
        "stdout: \"5\\n1\\n\"",
    );
    passes(&yaml.replacen("workload:\n", "workload:\n  stdin: milk\n", 1));
}

#[test]
fn a_file_that_was_removed_is_meant_by_the_name_that_it_had() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\n\
                  for name in ('x', 'y (deleted)'):\n  \
                  number = os.open(name, os.O_CREAT | os.O_WRONLY)\n  \
                  if name == 'x': os.unlink(name)\n  \
                  try: os.write(number, b'a')\n  \
                  except OSError as error: print(error.errno)";
    passes(&python(
        script,
        "write, openat, \"unlink*\"",
        "{ write: { fd: x, error: EIO } }, { write: { fd: y (deleted), error: EPERM } }",
        "stdout: \"5\\n1\\n\"",
    ));
}

/// Runs a thread that has descriptors of its own, and where a number is another open file than that
/// of the other threads.
fn with_own_descriptors(script: &str, events: &str, faults: &str, expect: &str) {
    let script = format!(
        "import ctypes, os, threading\n\
         number = os.open('a', os.O_CREAT | os.O_RDWR)\n\
         os.write(number, b'0123456789')\nos.lseek(number, 8, 0)\n\
         def work():\n  ctypes.CDLL(None).unshare(0x400)\n  os.close(number)\n  {script}\n\
         thread = threading.Thread(target=work)\nthread.start()\nthread.join()\n\
         print(os.lseek(number, 0, 1))"
    );
    let yaml = python(&script, events, faults, expect);
    let project = Project::with("it", &yaml);
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    // Before Linux 6.9 its descriptor cannot be taken.
    match run.verdicts()["it"].0.as_str() {
        "pass" => {}
        "incomplete" => assert!(run.stdout.contains("descriptors of its own"), "{run:?}"),
        other => panic!("{other}: {run:?}"),
    }
}

#[test]
fn bytes_go_to_the_open_file_of_a_thread_that_has_descriptors_of_its_own() {
    require!(right_to_trace());
    require!(program("python3"));
    with_own_descriptors(
        "assert os.open('b', os.O_CREAT | os.O_WRONLY) == number\n  \
         os.write(number, b'0123456789')",
        "write, openat",
        "{ write: { fd: b, short: 4 } }",
        "exit: 0, stdout: \"8\\n\", files_after: { a: \"0123456789\", b: \"0123\" }",
    );
    // Another open file of the same inode, at another offset.
    with_own_descriptors(
        "assert os.open('a', os.O_RDONLY) == number\n  print(os.read(number, 9))",
        "read, openat",
        "{ read: { fd: a, short: 2 } }",
        "exit: 0, stdout: \"b'01'\\n8\\n\"",
    );
}

#[test]
fn a_descriptor_that_came_from_elsewhere_is_not_known_to_be_meant() {
    require!(right_to_trace());
    require!(program("python3"));
    // The trace does not follow what comes through a socket.
    let script = "import os, socket\n\
                  one, other = socket.socketpair()\n\
                  socket.send_fds(one, [b'a'], [os.pipe()[1]])\n\
                  number = socket.recv_fds(other, 1, 1)[1][0]\n\
                  try: os.write(number, b'a')\n\
                  except OSError as error: print(error.errno)";
    let yaml = python(
        script,
        "write",
        "{ write: { fd: pipe, error: EIO } }",
        "stdout: \"5\\n\"",
    );
    let (verdict, why) = verdict(&yaml);
    assert_eq!(verdict, "incomplete", "{why}");
}

#[test]
fn a_path_whose_folder_is_its_root_is_meant_by_where_it_leads() {
    require!(right_to_trace());
    require!(program("python3"));
    // openat2, RESOLVE_IN_ROOT
    let script = "import ctypes, os\n\
                  open('it', 'w').close()\n\
                  libc = ctypes.CDLL(None, use_errno=True)\n\
                  how = (ctypes.c_uint64 * 3)(os.O_WRONLY, 0, 0x10)\n\
                  number = libc.syscall(437, os.open('.', os.O_RDONLY), b'/it', how, 24)\n\
                  print(number, ctypes.get_errno())";
    passes(&python(
        script,
        "openat2",
        "{ openat2: { path: it, error: EIO } }",
        "stdout: \"-1 5\\n\"",
    ));
}
