//! Descriptors that come with messages: from elsewhere, and from the command's own processes.

use super::{Project, ruled, summary};
use crate::gate::calls_of_32_bits;
use crate::support::project::OF_32;
use crate::support::require::{program, require, right_to_trace};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::process::{Child, Command};

/// Gives a file, open for writing, to each client of the socket on standard input.
const GIVES: &str = "\
import os, socket
door = socket.socket(fileno=0)
given = os.open('given', os.O_WRONLY | os.O_CREAT)
while True:
    client, _ = door.accept()
    socket.send_fds(client, [b'here'], [given])
";

/// Writes to the file that comes by the socket `door`.
const TAKES: &str = "\
import os, socket, sys
client = socket.socket(socket.AF_UNIX)
client.connect('door')
for number in socket.recv_fds(client, 9, 1)[1]: os.write(number, b'x')
";

/// A process outside of the command that gives.
struct Giver(Child);

impl Giver {
    fn of(project: &Project) -> Self {
        let door = UnixListener::bind(project.join("door")).expect("a socket");
        Self::by(project, door.into(), GIVES)
    }

    /// One that does this with the socket on standard input.
    fn by(project: &Project, door: OwnedFd, script: &str) -> Self {
        let giver = Command::new("python3")
            .args(["-I", "-S", "-B", "-c", script])
            .current_dir(project.path())
            .stdin(door)
            .spawn();
        Self(giver.expect("python3"))
    }
}

impl Drop for Giver {
    fn drop(&mut self) {
        self.0.kill().expect("an end");
        self.0.wait().expect("an end");
    }
}

#[test]
fn a_descriptor_that_another_process_gives_is_not_known_and_no_pass() {
    require!(right_to_trace());
    require!(program("python3"));
    for rules in [
        "writes: ['made*']",
        "reads: ['/**']",
        "network: ['unix:door']",
    ] {
        let project = ruled(&format!("expect: {{ confined: {{ {rules} }} }}\n"));
        project.write("takes.py", TAKES);
        let _giver = Giver::of(&project);
        let run = project.checked("python3 -I -S -B takes.py");
        run.assert_status(1);
        assert!(run.stderr.contains("recvmsg("), "{rules}: {}", run.stderr);
        for said in ["incomplete", "another process gave a descriptor"] {
            assert!(run.stderr.contains(said), "{rules}: {}", run.stderr);
        }
    }
    let project = ruled("expect: { confined: { writes: [] } }\n");
    project.write("takes.py", TAKES);
    let _giver = Giver::of(&project);
    let lines = project.stated("python3 -I -S -B takes.py");
    assert_eq!(summary(&lines)["complete"], false);
}

/// Gives a file, open for writing, to each that sends to the socket on standard input.
const ANSWERS: &str = "\
import os, socket, struct
door = socket.socket(fileno=0)
given = struct.pack('i', os.open('given', os.O_WRONLY | os.O_CREAT))
while True:
    _, _, _, sender = door.recvmsg(9)
    door.sendmsg([b'here'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, given)], 0, sender)
";

#[test]
fn a_descriptor_that_comes_by_a_socket_without_a_peer_is_not_known_and_no_pass() {
    require!(right_to_trace());
    require!(program("python3"));
    for (name, makes) in [
        (
            "sent to",
            "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)",
        ),
        (
            "of a pair that has another peer",
            "s, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\ns.connect('door')",
        ),
    ] {
        let project = ruled("expect: { confined: { writes: [] } }\n");
        let door = UnixDatagram::bind(project.join("door")).expect("a socket");
        let _giver = Giver::by(&project, door.into(), ANSWERS);
        let takes = format!(
            "import os, socket\n{makes}\n\
             s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)\n\
             s.sendto(b'x', 'door')\n\
             s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)\n\
             os.write(socket.recv_fds(s, 9, 1)[1][0], b'x')\n"
        );
        project.write("takes.py", &takes);
        let run = project.checked("python3 -I -S -B takes.py");
        assert_eq!(project.read("given"), "x", "{name}: {}", run.stderr);
        run.assert_status(1);
        for said in ["incomplete", "another process gave a descriptor"] {
            assert!(run.stderr.contains(said), "{name}: {}", run.stderr);
        }
    }
}

#[test]
fn a_descriptor_that_comes_by_a_pair_whose_other_end_was_given_away_is_not_known_and_no_pass() {
    require!(right_to_trace());
    require!(program("python3"));
    let takes = "import os, socket\n\
                 one, other = socket.socketpair()\n\
                 door = socket.socket(socket.AF_UNIX)\n\
                 door.connect('door')\n\
                 socket.send_fds(door, [b'x'], [one.fileno()])\n\
                 os.write(socket.recv_fds(other, 9, 1)[1][0], b'x')\n";
    let gives = "import os, socket\n\
                 client, _ = socket.socket(fileno=0).accept()\n\
                 came = socket.socket(fileno=socket.recv_fds(client, 9, 1)[1][0])\n\
                 given = os.open('given', os.O_WRONLY | os.O_CREAT)\n\
                 socket.send_fds(came, [b'here'], [given])\n\
                 client.recv(1)\n";
    let project = ruled("expect: { confined: { writes: [] } }\n");
    let door = UnixListener::bind(project.join("door")).expect("a socket");
    let _giver = Giver::by(&project, door.into(), gives);
    project.write("takes.py", takes);
    let run = project.checked("python3 -I -S -B takes.py");
    assert_eq!(project.read("given"), "x", "{}", run.stderr);
    run.assert_status(1);
    for said in ["incomplete", "another process gave a descriptor"] {
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

#[test]
fn a_descriptor_that_comes_by_a_pair_is_not_known_where_one_was_given_away_without_a_connection() {
    require!(right_to_trace());
    require!(program("python3"));
    let gives = "import os, socket\n\
                 door = socket.socket(fileno=0)\n\
                 came = socket.socket(fileno=socket.recv_fds(door, 9, 1)[1][0])\n\
                 given = os.open('given', os.O_WRONLY | os.O_CREAT)\n\
                 socket.send_fds(came, [b'here'], [given])\n\
                 came.recv(1)\n";
    let gives_away = [
        "socket.send_fds(socket.socket(fileno=0), [b'x'], [one.fileno()])",
        "by, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n\
         one_now = struct.pack('i', one.fileno())\n\
         by.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, one_now)], 0, 'door')",
    ];
    for (by_name, away) in [false, true].into_iter().zip(gives_away) {
        let project = ruled("expect: { confined: { writes: [] } }\n");
        let (near, far) = UnixStream::pair().expect("a pair");
        let door: OwnedFd = match by_name {
            true => UnixDatagram::bind(project.join("door"))
                .expect("a socket")
                .into(),
            false => near.into(),
        };
        let _giver = Giver::by(&project, door, gives);
        let takes = format!(
            "import os, socket, struct\n\
             one, other = socket.socketpair()\n\
             {away}\n\
             os.write(socket.recv_fds(other, 9, 1)[1][0], b'x')\n"
        );
        let python = [
            "check",
            "rules.yaml",
            "--",
            "python3",
            "-I",
            "-S",
            "-B",
            "-c",
        ];
        let mut check = project.program(&[&python[..], &[&takes]].concat());
        let run = check
            .stdin(OwnedFd::from(far))
            .output()
            .expect("the harness");
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!(project.read("given"), "x", "{away}: {said}");
        assert_eq!(run.status.code(), Some(1), "{away}: {said}");
        assert!(
            said.contains("another process gave a descriptor"),
            "{away}: {said}"
        );
    }
}

#[test]
fn a_descriptor_that_comes_by_a_socket_that_the_command_was_started_with_is_not_known() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = ruled("expect: { confined: { writes: [] } }\n");
    let (near, far) = UnixStream::pair().expect("a pair");
    let gives = "import os, socket\n\
                 given = os.open('given', os.O_WRONLY | os.O_CREAT)\n\
                 socket.send_fds(socket.socket(fileno=0), [b'here'], [given])\n";
    let takes = "import os, socket\n\
                 os.write(socket.recv_fds(socket.socket(fileno=0), 9, 1)[1][0], b'x')\n";
    let python = ["python3", "-I", "-S", "-B", "-c"];
    let mut giver = Command::new("python3");
    giver
        .args(&python[1..])
        .arg(gives)
        .current_dir(project.path());
    let given = giver.stdin(OwnedFd::from(near)).status().expect("python3");
    assert!(given.success());
    let words = [&["check", "rules.yaml", "--"], &python[..], &[takes]].concat();
    let mut check = project.program(&words);
    let run = check
        .stdin(OwnedFd::from(far))
        .output()
        .expect("the harness");
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{said}");
    assert!(
        said.contains("incomplete") && said.contains("recvmsg("),
        "{said}"
    );
    assert_eq!(project.read("given"), "x");
}

#[test]
fn descriptors_that_a_commands_own_processes_give_each_other_are_known() {
    require!(right_to_trace());
    require!(program("python3"));
    let project = ruled("expect: { confined: { writes: [made, own], reads: ['/**'] } }\n");
    for (name, script) in [
        (
            "by a pair",
            "import os, socket\n\
             one, other = socket.socketpair()\n\
             if os.fork() == 0:\n\
             \x20   number = socket.recv_fds(other, 9, 1)[1][0]\n\
             \x20   os.write(number, b'x')\n\
             \x20   os._exit(0)\n\
             socket.send_fds(one, [b'here'], [os.open('made', os.O_WRONLY | os.O_CREAT)])\n\
             os.wait()\n",
        ),
        (
            "by a connection, both ways",
            "import os, socket\n\
             door = socket.socket(socket.AF_UNIX)\n\
             door.bind('own')\n\
             door.listen()\n\
             made = os.open('made', os.O_WRONLY | os.O_CREAT)\n\
             if os.fork() == 0:\n\
             \x20   client = socket.socket(socket.AF_UNIX)\n\
             \x20   client.connect('own')\n\
             \x20   socket.send_fds(client, [b'here'], [made])\n\
             \x20   os.write(socket.recv_fds(client, 9, 1)[1][0], b'x')\n\
             \x20   os._exit(0)\n\
             client, _ = door.accept()\n\
             os.write(socket.recv_fds(client, 9, 1)[1][0], b'x')\n\
             socket.send_fds(client, [b'here'], [made])\n\
             os.wait()\n\
             os.unlink('own')\n",
        ),
        (
            "by a socket that came itself",
            "import os, socket\n\
             one, other = socket.socketpair()\n\
             if os.fork() == 0:\n\
             \x20   came = socket.socket(fileno=socket.recv_fds(other, 9, 1)[1][0])\n\
             \x20   os.write(socket.recv_fds(came, 9, 1)[1][0], b'x')\n\
             \x20   os._exit(0)\n\
             near, far = socket.socketpair()\n\
             socket.send_fds(one, [b'here'], [far.fileno()])\n\
             socket.send_fds(near, [b'here'], [os.open('made', os.O_WRONLY | os.O_CREAT)])\n\
             os.wait()\n",
        ),
        (
            "a message without descriptors",
            "import socket\n\
             one, other = socket.socketpair()\n\
             one.send(b'x')\n\
             socket.recv_fds(other, 9, 1)\n",
        ),
    ] {
        project.write("passes.py", script);
        let run = project.checked("python3 -I -S -B passes.py");
        assert!(run.stderr.contains("pass"), "{name}: {}", run.stderr);
        run.assert_status(0);
        let lines = project.stated("python3 -I -S -B passes.py");
        assert_eq!(summary(&lines)["complete"], true, "{name}: {lines:?}");
    }
}

#[test]
fn a_descriptor_that_comes_to_a_32_bit_program_is_not_known_and_no_pass() {
    require!(right_to_trace());
    require!(program("cc"));
    require!(program("python3"));
    require!(calls_of_32_bits());
    let project = ruled("expect: { confined: { writes: [] } }\n");
    project.compile(OF_32, "takes.i386.c", "takes");
    let _giver = Giver::of(&project);
    let run = project.harness(&["check", "rules.yaml", "--", "./takes"]);
    run.assert_status(1);
    for said in ["incomplete", "socketcall.recvmsg("] {
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    let lines = project.stated("exec ./takes");
    assert_eq!(summary(&lines)["complete"], false);
    let connected = super::done(&lines, "connected");
    assert!(connected.contains(&"unix:door"), "{connected:?}");
    assert_eq!(super::done(&lines, "bound"), [""; 0]);
}

#[test]
fn what_a_32_bit_program_does_by_socketcall_is_decided() {
    require!(right_to_trace());
    require!(program("cc"));
    require!(calls_of_32_bits());
    let checked = |rules: &str| {
        let project = ruled(&format!("expect: {{ confined: {{ {rules} }} }}\n"));
        project.compile(OF_32, "socketcall.i386.c", "connects");
        project.harness(&["check", "rules.yaml", "--", "./connects"])
    };
    let run =
        checked("reads: ['./**'], writes: [], network: ['127.0.0.1:50098', '127.0.0.1:50099']");
    run.assert_status(0);
    assert!(!run.stderr.contains("incomplete"), "{}", run.stderr);
    let run = checked("network: ['127.0.0.1:50099']");
    run.assert_status(1);
    assert!(run.stderr.contains("socketcall.sendto("), "{}", run.stderr);
    assert!(!run.stderr.contains("incomplete"), "{}", run.stderr);
}
