//! Calls that the harness makes for a thread, so that their return can be held: they are made once,
//! and others see what they did before their thread goes on.

use super::{passes, python};
use crate::support::project::{Project, verdict};
use crate::support::require::{program, require, right_to_trace};

/// A fault that holds the returns of all these calls for 200 ms.
fn held(call: &str, more: &str) -> String {
    format!("{{ {call}: {{ {more}delay: {{ after: 200ms }} }} }}")
}

#[test]
fn each_call_is_made_once_as_its_thread_would_have_made_it() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, signal\n\
                  signals = []\n\
                  signal.signal(signal.SIGPIPE, lambda *_: signals.append('SIGPIPE'))\n\
                  file = os.open('file', os.O_CREAT | os.O_RDWR)\n\
                  print(os.write(file, b'abc'), os.write(file, b'def'), os.pwrite(file, b'g', 6))\n\
                  os.fsync(file), os.fdatasync(file)\n\
                  print(os.lseek(file, 1, os.SEEK_SET), os.read(file, 3), os.pread(file, 9, 5), os.read(file, 9))\n\
                  reader, writer = os.pipe()\n\
                  os.close(reader)\n\
                  for call in (lambda: os.fsync(writer), lambda: os.write(writer, b'a'), \
                  lambda: os.read(writer, 1), lambda: os.fsync(99)):\n  \
                  try: call()\n  \
                  except OSError as error: print(error.errno)\n\
                  print(signals)";
    let calls = ["write", "read", "pread64", "pwrite64", "fsync", "fdatasync"];
    let fault = |call| format!("{{ {call}: {{ fd: [file, pipe, 99], delay: {{ after: 2ms }} }} }}");
    passes(&python(
        script,
        &calls.join(", "),
        &calls.map(fault).join(", "),
        "files_after: { file: abcdefg }, stdout: \
         \"3 3 1\\n1 b'bcd' b'fg' b'efg'\\n22\\n32\\n9\\n9\\n['SIGPIPE']\\n\"",
    ));
}

#[test]
fn the_signal_that_comes_with_a_broken_pipe_ends_the_thread_that_writes() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, signal\n\
                  signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n\
                  reader, writer = os.pipe()\n\
                  os.close(reader)\n\
                  os.write(writer, b'0123')";
    for fault in ["delay: { after: 2ms }", "short: 2"] {
        passes(&python(
            script,
            "write",
            &format!("{{ write: {{ fd: pipe, {fault} }} }}"),
            "exit: { signal: SIGPIPE }, sequence: [{ write: { fd: pipe, returns: EPIPE } }]",
        ));
    }
}

#[test]
fn a_shorter_call_may_be_held_at_its_return_as_well() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, time\n\
                  file = os.open('file', os.O_CREAT | os.O_RDWR)\n\
                  begin = time.monotonic()\n\
                  print(os.write(file, b'0123456789'), time.monotonic() - begin >= 0.2)";
    let yaml = python(
        script,
        "write",
        &held("write", "fd: file, short: 4, "),
        "stdout: \"4 True\\n\", files_after: { file: \"0123\" }",
    );
    let project = Project::with("it", &yaml);
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    let fault = &super::told::faults(&run)[0];
    let injected = serde_json::json!({ "short": 4, "delay_after_ns": 200_000_000 });
    assert_eq!(
        (&fault["injected"], &fault["done"]),
        (&injected, &1.into()),
        "{run:?}"
    );
    run.assert_status(0);
}

#[test]
fn a_call_that_only_its_thread_can_make_right_is_left_to_it_and_told() {
    require!(right_to_trace());
    require!(program("python3"));
    let own_name = "import os\n\
                    os.write(os.open('/proc/self/comm', os.O_WRONLY), b'milk')";
    let yaml = python(own_name, "write", &held("write", "when: 1, "), "exit: 0");
    let limited = "import os, resource\n\
                   resource.setrlimit(resource.RLIMIT_FSIZE, (4, 4))\n\
                   print(os.write(os.open('file', os.O_CREAT | os.O_WRONLY), b'0123456789'))";
    let fault = held("write", "fd: file, ");
    let limited = python(limited, "write", &fault, "stdout: \"4\\n\"");
    for yaml in [yaml, limited] {
        let project = Project::with("it", &yaml);
        let run = project.harness(&["run", "--format", "json", "scenarios"]);
        assert_eq!(run.verdicts()["it"].0, "incomplete", "{run:?}");
        let why = "a call could not be made for the workload";
        assert!(run.stdout.contains(why), "{run:?}");
    }
}

#[test]
fn a_workload_that_ends_while_a_return_is_held_waits_for_nothing() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, threading, time\n\
                  file = os.open('script.py', os.O_RDWR)\n\
                  threading.Thread(target=os.fsync, args=(file,), daemon=True).start()\n\
                  os.mkdir('a')\n\
                  os._exit(0)";
    let yaml = python(
        script,
        "fsync, mkdir",
        "{ fsync: { delay: { after: 50m } } }, { mkdir: { block: { until: fsync } } }",
        "exit: 0",
    );
    let (verdict, why) = verdict(&yaml);
    // It was made, and others went on behind it.
    assert_eq!(verdict, "pass", "{why}");
}

#[test]
fn a_recording_of_a_call_whose_return_was_held_is_judged_as_the_run_was() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os\nos.fsync(os.open('script.py', os.O_RDWR))";
    let fault = "{ fsync: { delay: { before: 1ms, after: 2ms } } }";
    let expect = "sequence: [{ fsync: { returns: 0 } }]";
    let project = Project::with("it", &python(script, "fsync", fault, expect));
    let json = ["--format", "json", "scenarios"];
    let live = project.harness(&[&["run", "--save", "saved"], &json[..]].concat());
    live.assert_status(0);
    let again = project.harness(&[&["run", "--from", "saved/it.data"], &json[..]].concat());
    again.assert_status(0);
    let told = super::told::faults(&live);
    assert_eq!(super::told::faults(&again), told);
    let line = "fsync(<$DIR/script.py>) = 0 (DELAYED)";
    assert_eq!(told[0]["done_to"][0]["line"], line);
}

#[test]
fn a_call_of_a_file_that_bypasses_the_cache_is_made_for_its_thread_as_it_is() {
    require!(right_to_trace());
    require!(program("python3"));
    // Where the file system has no O_DIRECT, it is an ordinary file.
    let script = "import ctypes, mmap, os\n\
                  pages = mmap.mmap(-1, 8192)\n\
                  flags = os.O_RDWR | os.O_CREAT\n\
                  try: file = os.open('it', flags | os.O_DIRECT)\n\
                  except OSError: file = os.open('it', flags)\n\
                  print(sum(os.write(file, pages) for _ in range(20)))\n\
                  libc = ctypes.CDLL(None)\n\
                  here = ctypes.addressof(ctypes.c_char.from_buffer(pages))\n\
                  read = lambda: libc.pread(file, ctypes.c_void_p(here), 8192, 0)\n\
                  print(sum(read() for _ in range(20)))";
    passes(&python(
        script,
        "write, pread64",
        "{ write: { fd: it, delay: { after: 1ms } } }, \
         { pread64: { fd: it, delay: { after: 1ms } } }",
        "stdout: \"163840\\n163840\\n\"",
    ));
}

#[test]
fn fewer_bytes_than_a_block_of_a_file_that_bypasses_the_cache_are_no_shorter_call() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import mmap, os\n\
                  pages = mmap.mmap(-1, 8192)\n\
                  flags = os.O_RDWR | os.O_CREAT\n\
                  try: file = os.open('it', flags | os.O_DIRECT)\n\
                  except OSError: file = os.open('it', flags)\n\
                  written = os.write(file, pages)\n\
                  assert written in (2, 8192)\nassert os.stat('it').st_size == written";
    let fault = "{ write: { fd: it, short: 2 } }";
    let project = Project::with("it", &python(script, "write", fault, "exit: 0"));
    let run = project.harness(&["run", "--format", "json", "scenarios"]);
    // A file system that takes any bytes writes them.
    match run.verdicts()["it"].0.as_str() {
        "pass" => {}
        "incomplete" => assert!(run.stdout.contains("whole blocks"), "{run:?}"),
        other => panic!("{other}: {run:?}"),
    }
}

#[test]
fn pieces_and_messages_are_moved_as_far_as_a_shorter_call_says_and_no_further() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, socket\n\
                  file = os.open('file', os.O_CREAT | os.O_RDWR)\n\
                  at = lambda: os.lseek(file, 0, os.SEEK_CUR)\n\
                  print(os.writev(file, [b'abc', b'', b'defg', b'hi']), at())\n\
                  print(os.writev(file, [b'e']), at())\n\
                  print(os.pwritev(file, [b'12', b'345'], 5), at())\n\
                  os.lseek(file, 0, os.SEEK_SET)\n\
                  room = [bytearray(b'..'), bytearray(b'.....')]\n\
                  print(os.readv(file, room), room, at())\n\
                  print(os.preadv(file, room, 3), room, at())\n\
                  here, there = socket.socketpair()\n\
                  print(here.send(b'0123456789'), there.recv(9, socket.MSG_PEEK), there.recv(9))\n\
                  there.close()\n\
                  try: here.send(b'0123456789')\n\
                  except OSError as error: print(error.errno)";
    let names = [
        "writev",
        "readv",
        "\"pwritev*\"",
        "\"preadv*\"",
        "sendto",
        "recvfrom",
    ];
    let short = |name| format!("{{ {name}: {{ short: 4 }} }}");
    let stdout = "4 4\\n1 5\\n4 5\\n\
                  4 [bytearray(b'ab'), bytearray(b'cd...')] 4\\n\
                  4 [bytearray(b'de'), bytearray(b'12...')] 4\\n\
                  4 b'0123' b'0123'\\n32\\n";
    passes(&python(
        script,
        &names.join(", "),
        &names.map(short).join(", "),
        &format!("stdout: \"{stdout}\", files_after: {{ file: abcde1234 }}"),
    ));
}

#[test]
fn a_broken_stream_sends_a_signal_and_a_broken_message_none() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import signal, socket\n\
                  signals = []\n\
                  signal.signal(signal.SIGPIPE, lambda *_: signals.append('SIGPIPE'))\n\
                  for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):\n  \
                  for flags in (0, socket.MSG_NOSIGNAL):\n    \
                  here, there = socket.socketpair(type=kind)\n    \
                  here.shutdown(socket.SHUT_WR)\n    \
                  signals.clear()\n    \
                  try: here.send(b'0123', flags)\n    \
                  except OSError as error: print(error.errno, signals)";
    let expect = "stdout: \"32 ['SIGPIPE']\\n32 []\\n32 []\\n32 []\\n32 []\\n32 []\\n\"";
    for fault in [
        // Held for a moment and let go on, the thread makes the call by itself.
        "{ sendto: { delay: 1ms } }",
        "{ sendto: { short: 2 } }",
        "{ sendto: { delay: { after: 2ms } } }",
    ] {
        passes(&python(script, "sendto", fault, expect));
    }
}

#[test]
fn a_copy_between_files_is_made_as_far_as_a_shorter_call_says_with_the_positions_of_both() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, socket\n\
                  at = lambda file: os.lseek(file, 0, os.SEEK_CUR)\n\
                  one = os.open('one', os.O_RDONLY)\n\
                  two = os.open('two', os.O_CREAT | os.O_RDWR)\n\
                  copy = os.copy_file_range\n\
                  print(copy(one, two, 9), at(one), at(two))\n\
                  print(copy(one, two, 9, offset_src=2), at(one), at(two))\n\
                  print(copy(one, two, 9, offset_dst=8), at(one), at(two))\n\
                  print(copy(one, two, 3), at(one), at(two))\n\
                  print(os.sendfile(two, one, None, 9), at(one), at(two))\n\
                  print(os.sendfile(two, one, 1, 9), at(one), at(two))\n\
                  here, there = socket.socketpair()\n\
                  print(os.sendfile(here.fileno(), one, 0, 9), there.recv(9), at(one))\n\
                  there.close()\n\
                  for calls in (lambda: os.sendfile(here.fileno(), one, 0, 9), lambda: copy(one, 99, 9), \
                  lambda: os.sendfile(two, 99, 0, 9)):\n  \
                  try: calls()\n  \
                  except OSError as error: print(error.errno)\n\
                  os.lseek(one, 0, os.SEEK_END)\n\
                  print(copy(one, two, 9))";
    let stdout =
        "4 4 4\\n4 4 8\\n4 8 8\\n3 11 11\\n4 15 15\\n4 15 19\\n4 b'0123' 15\\n32\\n9\\n9\\n0\\n";
    let expect = format!("stdout: \"{stdout}\", files_after: {{ two: \"0123234589abcde1234\" }}");
    let faults = ["copy_file_range", "sendfile"];
    let yaml = python(
        script,
        &faults.join(", "),
        &faults
            .map(|name| format!("{{ {name}: {{ short: 4 }} }}"))
            .join(", "),
        &expect,
    );
    passes(&yaml.replacen("files:\n", "files:\n    one: 0123456789abcdefgh\n", 1));
}

#[test]
fn what_goes_through_a_pipe_is_spliced_as_far_as_a_shorter_call_says() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import ctypes, os, socket, threading\n\
                  libc = ctypes.CDLL(None, use_errno=True)\n\
                  place = ctypes.c_longlong(2)\n\
                  def splice(one, two, at=None, flags=0):\n  \
                  n = libc.splice(one, at, two, None, ctypes.c_size_t(9), flags)\n  \
                  return n if n >= 0 else os.strerror(ctypes.get_errno())\n\
                  one = os.open('one', os.O_RDONLY)\n\
                  reader, writer = os.pipe()\n\
                  print(splice(one, writer), splice(one, writer, ctypes.byref(place)), place.value)\n\
                  two = os.open('two', os.O_CREAT | os.O_RDWR)\n\
                  print(splice(reader, two), os.read(reader, 9), splice(reader, two, None, 2))\n\
                  here, there = socket.socketpair()\n\
                  later = threading.Timer(0.05, lambda: there.send(b'abcdefg'))\n\
                  later.start()\n\
                  print(splice(here.fileno(), writer), os.read(reader, 9), here.recv(9))\n\
                  later.join()\n\
                  print(splice(here.fileno(), two), splice(99, two), splice(reader, two, ctypes.byref(place)))\n\
                  os.close(writer)\n\
                  print(splice(reader, two))\n\
                  os.close(reader)";
    let expect = "stdout: \"4 4 6\\n4 b'2345' Resource temporarily unavailable\\n\
                  4 b'abcd' b'efg'\\nInvalid argument Bad file descriptor Illegal seek\\n0\\n\", \
                  files_after: { two: \"0123\" }";
    let yaml = python(script, "splice", "{ splice: { short: 4 } }", expect);
    passes(&yaml.replacen("files:\n", "files:\n    one: 0123456789abcdefgh\n", 1));
}
