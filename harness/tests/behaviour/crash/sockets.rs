//! Promises that are made to a peer.

use super::{crash, is_unknown, python};
use crate::support::project::Project;
use crate::support::require::{program, require, right_to_trace};

/// What was promised is there; the promise is read as a number of bytes alone.
fn held(acknowledged: &str) -> String {
    let recovery = "recovers: { shell: '[ ! -s acknowledged ] || grep -q NEW old' }";
    format!("acknowledged: {acknowledged}, {recovery}")
}

/// A server that saves what its client sends, and says so by `says`.
fn server(family: &str, address: &str, sync: &str, says: &str) -> String {
    format!(
        "import os, socket, threading\n\
         listener = socket.socket(socket.{family})\nlistener.bind({address})\n\
         listener.listen()\n\
         def client():\n  peer = socket.socket(socket.{family})\n  \
         peer.connect({address})\n  peer.sendall(b'NEW')\n  assert peer.recv(9) == b'saved'\n\
         thread = threading.Thread(target=client)\nthread.start()\n\
         peer = listener.accept()[0]\nfile = os.open('old', os.O_RDWR)\n\
         os.write(file, peer.recv(9))\n{sync}\n{says}\nthread.join()"
    )
}

const SENDS: &str = "peer.sendall(b'saved')";

#[test]
fn what_a_server_has_said_to_its_client_was_promised() {
    require!(right_to_trace());
    require!(program("python3"));
    for (family, address, acknowledged) in [
        ("AF_INET", "('127.0.0.1', 7001)", "{ port: 7001 }"),
        ("AF_UNIX", "'kv.sock'", "{ socket: kv.sock }"),
        (
            "AF_UNIX",
            "os.path.abspath('kv.sock')",
            "{ socket: kv.sock }",
        ),
        ("AF_UNIX", "'\\0kv'", "{ socket: '@kv' }"),
    ] {
        let held = held(acknowledged);
        let script = |sync: &str| server(family, address, sync, SENDS);
        crash(&python(&script("os.fsync(file)"), &held), 0, &[]);
        crash(&python(&script(""), &held), 1, &[]);
    }
}

#[test]
fn each_call_that_sends_is_a_promise() {
    require!(right_to_trace());
    require!(program("python3"));
    for says in [
        "os.write(peer.fileno(), b'saved')",
        "os.writev(peer.fileno(), [b'sav', b'ed'])",
        "os.pwritev(peer.fileno(), [b'saved'], -1) if False else peer.send(b'saved')",
        "peer.sendmsg([b'sav', b'ed'])",
        "open('/tmp/said', 'w').write('saved'); \
         os.sendfile(peer.fileno(), os.open('/tmp/said', os.O_RDONLY), 0, 5)",
    ] {
        let script = |sync: &str| server("AF_INET", "('127.0.0.1', 7001)", sync, says);
        let held = held("{ port: 7001 }");
        crash(&python(&script("os.fsync(file)"), &held), 0, &[]);
        crash(&python(&script(""), &held), 1, &[]);
    }
}

#[test]
fn what_the_client_says_and_what_other_sockets_say_is_no_promise() {
    require!(right_to_trace());
    require!(program("python3"));
    // The client's own words would be a promise that nothing has kept.
    let script = server("AF_INET", "('127.0.0.1', 7001)", "os.fsync(file)", SENDS);
    crash(&python(&script, &held("{ port: 7001 }")), 0, &[]);
    // Of the wrong name nothing is promised, so that all would pass.
    let script = server("AF_INET", "('127.0.0.1', 7001)", "", SENDS);
    for wrong in ["{ port: 7002 }", "{ socket: kv.sock }", "{ socket: '@kv' }"] {
        is_unknown(&python(&script, &held(wrong)), "no promise was made by");
    }
    let script = server("AF_UNIX", "'other.sock'", "", SENDS);
    let wrong = held("{ socket: kv.sock }");
    is_unknown(&python(&script, &wrong), "no promise was made by");
}

#[test]
fn what_was_sent_in_a_way_that_is_not_looked_at_makes_the_run_incomplete() {
    require!(right_to_trace());
    require!(program("python3"));
    let address = "('127.0.0.1', 7001)";
    // sendmmsg(peer, messages, 1, 0): struct mmsghdr is a msghdr and how much was sent.
    let many = "import ctypes\nbytes_ = ctypes.create_string_buffer(b'saved', 5)\n\
                buffer = (ctypes.c_uint64 * 2)(ctypes.addressof(bytes_), 5)\n\
                message = (ctypes.c_uint64 * 8)(0, 0, ctypes.addressof(buffer), 1, 0, 0, 0, 0)\n\
                assert ctypes.CDLL(None).sendmmsg(peer.fileno(), message, 1, 0) == 1";
    let script = server("AF_INET", address, "", many);
    let held = held("{ port: 7001 }");
    is_unknown(&python(&script, &held), "promises were made by `sendmmsg`");
    let copied = "peer.setsockopt(socket.SOL_SOCKET, 60, 1); \
                  peer.send(b'saved', 0x4000000)";
    let script = server("AF_INET", address, "", copied);
    is_unknown(&python(&script, &held), "MSG_ZEROCOPY");
    let spliced = "read, write = os.pipe(); os.write(write, b'saved'); \
                   os.splice(read, peer.fileno(), 5) if hasattr(os, 'splice') else \
                   __import__('ctypes').CDLL(None).splice(read, None, peer.fileno(), None, 5, 0)";
    let script = server("AF_INET", address, "", spliced);
    is_unknown(&python(&script, &held), "came from no file");
}

#[test]
fn a_send_that_takes_a_part_promises_that_part() {
    require!(right_to_trace());
    require!(program("python3"));
    // The second is not taken: nobody reads, and the buffer is full.
    let says = "peer.sendall(b'saved'); thread.join(); peer.setblocking(False)\n\
                try:\n  while True: peer.send(b'x' * 100000)\nexcept BlockingIOError: pass\n\
                print(os.path.getsize('old'))";
    let script = server("AF_INET", "('127.0.0.1', 7001)", "os.fsync(file)", says);
    let script = script.replace(
        "assert peer.recv(9) == b'saved'",
        "client.kept = peer; peer.recv(5)",
    );
    let recovery = "recovers: { shell: '[ $(wc -c < acknowledged) -lt 100000000 ]' }";
    let crash_keys = format!("acknowledged: {{ port: 7001 }}, {recovery}");
    crash(&python(&script, &crash_keys), 0, &[]);
}

#[test]
fn a_recording_of_other_promises_says_nothing_of_these() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = server("AF_INET", "('127.0.0.1', 7001)", "", SENDS);
    let again = |project: &Project, status| {
        let run = project.harness(&["run", "--from", "saved/it.data", "scenarios/it.yaml"]);
        run.assert_status(status);
        run.stdout
    };
    let project = python(&script, &held("{ port: 7001 }"));
    let run = project.harness(&["run", "--save", "saved", "scenarios/it.yaml"]);
    run.assert_status(1);
    assert!(again(&project, 1).contains("the recovery fails after"));
    let path = project.path().join("scenarios/it.yaml");
    let text = std::fs::read_to_string(&path).expect("a scenario");
    std::fs::write(&path, text.replace("{ port: 7001 }", "{ port: 7002 }")).expect("written");
    let said = again(&project, 1);
    assert!(said.contains("incomplete"), "{said}");
    assert!(
        said.contains("a run with another `crash.acknowledged`"),
        "{said}"
    );
    std::fs::write(&path, text.replace("{ port: 7001 }", "stdout")).expect("written");
    let said = again(&project, 1);
    assert!(said.contains("incomplete"), "{said}");
}

#[test]
fn a_socket_that_was_bound_in_the_folder_is_in_states() {
    require!(right_to_trace());
    require!(program("python3"));
    let script = "import os, socket\nos.umask(0o27)\nit = socket.socket(socket.AF_UNIX)\n\
                  it.bind('s')\nassert os.stat('s').st_mode & 0o777 == 0o750\n\
                  os.write(1, b'bound')\nos.unlink('s')\nsocket.socket(socket.AF_UNIX).bind('t')";
    let recovers = "recovers: { shell: '[ ! -e ended ] || [ -S t ]' }";
    let lines = crash(&python(script, recovers), 1, &[]);
    let lost = super::lost(&lines);
    assert!(lost.iter().all(|it| it.contains("bind(t)")), "{lost:?}");
}
