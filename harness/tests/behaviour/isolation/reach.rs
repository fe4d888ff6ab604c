//! Files, sockets, processes and secrets of the host are out of reach.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{assert_pass, assert_untouched, attempt, bait, project, script};
use crate::support::leavings::Leavings;
use crate::support::process::{Started, Watched};
use crate::support::require::{require, right_to_trace};

/// Where the hostile program tries to write, and where a private file system must not have been the
/// host's.
const FOLDERS: [&str; 17] = [
    "/",
    "/etc",
    "/home",
    "/root",
    "/var",
    "/var/tmp",
    "/var/lib",
    "/usr/bin",
    "/usr/local/bin",
    "/opt",
    "/srv",
    "/boot",
    "/run",
    "/dev",
    "/dev/shm",
    "/tmp",
    "/sys/fs/cgroup",
];

#[test]
fn nothing_outside_the_directory_can_be_written() {
    require!(right_to_trace());
    let (project, bait) = (project(), bait());
    let path = bait.path().to_str().expect("a path of letters");
    for (name, sandbox) in [
        ("root", "{}"),
        ("nobody", "{ user: nobody }"),
        ("network", "{ network: host }"),
    ] {
        project.scenario(name, &attempt(&["write-everywhere", path], sandbox));
    }
    let before = Leavings::now();
    assert_pass(&project);
    before.assert_no_more();
    assert_untouched(bait.path());
    for name in [
        "harness-hostile",
        "harness-hostile.d",
        "harness-hostile.node",
    ] {
        for folder in FOLDERS.map(Path::new) {
            assert!(
                !folder.join(name).exists(),
                "{name} in {}",
                folder.display()
            );
        }
    }
}

#[test]
fn the_device_nodes_of_the_host_are_used_and_not_changed() {
    require!(right_to_trace());
    let project = project();
    // The mode that they have: nothing is broken where it succeeds.
    let change = "for node in /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /proc/self/fd/0; do \
                  chmod 666 $node 2> /dev/null && echo changed $node; done; head -c 3 /dev/zero | wc -c";
    project.scenario("root", &script(change, "{}", "3\n"));
    project.scenario("nobody", &script(change, "{ user: nobody }", "3\n"));
    assert_pass(&project);
}

#[test]
fn the_keys_of_the_hosts_root_are_not_listed() {
    require!(right_to_trace());
    let project = project();
    let list = "[ $(id -u) != 0 ] || cat /proc/keys";
    project.scenario("root", &script(list, "{}", ""));
    assert_pass(&project);
}

#[test]
fn nobody_who_listens_outside_is_reached() {
    require!(right_to_trace());
    let project = project();
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
    let all = TcpListener::bind("[::]:0").expect("a port");
    let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let word = format!("behaviour-{}", std::process::id());
    let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&word).expect("a name"));
    let hidden = hidden.expect("a socket");
    let run = Path::new("/run").join(&word);
    let named = UnixListener::bind(&run).expect("a socket");
    let _removed = RemovedAtTheEnd(&run);
    let port = |address: std::net::SocketAddr| address.port();
    let (tcp_port, all_port) = (
        port(tcp.local_addr().expect("one")),
        port(all.local_addr().expect("one")),
    );
    let places = [
        format!("tcp:127.0.0.1:{tcp_port}"),
        format!("tcp:127.0.0.1:{all_port}"),
        format!("tcp:[::1]:{all_port}"),
        format!("tcp:{}:{all_port}", own_address()),
        format!("udp:127.0.0.1:{}", port(udp.local_addr().expect("one"))),
        format!("abstract:{word}"),
        format!("unix:{}", run.display()),
    ];
    let mut words = vec!["reach-network"];
    words.extend(places.iter().map(String::as_str));
    project.scenario("it", &attempt(&words, "{}"));
    project.scenario("nobody", &attempt(&words, "{ user: nobody }"));
    // That the way is there, but for the sandbox, and that it would be noticed.
    assert_pass(&project);
    let heard = || {
        let mut heard = Vec::new();
        for (name, listener) in [("tcp", &tcp), ("all", &all)] {
            listener.set_nonblocking(true).expect("fcntl");
            heard.extend(listener.accept().is_ok().then_some(name));
        }
        for (name, listener) in [("abstract", &hidden), ("unix", &named)] {
            listener.set_nonblocking(true).expect("fcntl");
            heard.extend(listener.accept().is_ok().then_some(name));
        }
        udp.set_nonblocking(true).expect("fcntl");
        heard.extend(udp.recv(&mut [0]).is_ok().then_some("udp"));
        heard
    };
    assert_eq!(heard(), [""; 0]);
    let outside = Command::new(crate::support::oracle::example("hostile"))
        .args(&words)
        .output();
    let said = outside.expect("the program").stdout;
    assert_eq!(
        heard(),
        ["tcp", "all", "abstract", "unix", "udp"],
        "{}",
        String::from_utf8_lossy(&said)
    );
}

struct RemovedAtTheEnd<'a>(&'a Path);

impl Drop for RemovedAtTheEnd<'_> {
    fn drop(&mut self) {
        // If it stays, it does no harm.
        let _stays = fs::remove_file(self.0);
    }
}

/// An address of this machine that others would use, or the loopback's where it has none.
fn own_address() -> String {
    // To connect a datagram socket sends nothing; it only chooses the way.
    let socket = UdpSocket::bind("0.0.0.0:0").expect("a port");
    match socket.connect("192.0.2.1:9") {
        Ok(()) => socket.local_addr().expect("an address").ip().to_string(),
        Err(_) => "127.0.0.1".to_owned(),
    }
}

#[test]
fn no_process_outside_is_reached_by_its_number() {
    require!(right_to_trace());
    let project = project();
    let victim = Started::new(Command::new("sleep").arg("infinity"));
    let pid = victim.id().to_string();
    let own = std::process::id().to_string();
    for (name, sandbox) in [("root", "{}"), ("network", "{ network: host, root: host }")] {
        project.scenario(name, &attempt(&["reach-processes", &pid, &own], sandbox));
    }
    assert_pass(&project);
    let watched = Watched::new(victim.id().cast_signed()).expect("it lives");
    assert!(!watched.ends_within(Duration::ZERO));
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("procfs");
    assert!(stat.contains(") S "), "not stopped: {stat}");
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).expect("procfs");
    let cpu = limits
        .lines()
        .find(|line| line.starts_with("Max cpu time"))
        .expect("a limit");
    assert!(cpu.contains("unlimited"), "{cpu}");
}

#[test]
fn environment_arguments_and_descriptors_of_the_harness_are_not_seen() {
    require!(right_to_trace());
    let (project, folder) = (project(), bait());
    let (environment, argument) = ("dZq3vJ0xW-environment", "dZq3vJ0xW-argument");
    let descriptor = "dZq3vJ0xW-descriptor";
    let backwards = |word: &str| -> String { word.chars().rev().collect() };
    let words = [environment, argument, descriptor].map(backwards);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = [&["look-for"], &words[..]].concat();
    for (name, sandbox) in [
        ("root", "{}"),
        ("nobody", "{ user: nobody }"),
        ("host", "{ root: host, network: host }"),
    ] {
        project.scenario(name, &attempt(&words, sandbox));
    }
    let open = fs::File::create(folder.path().join(descriptor)).expect("a file");
    nix::fcntl::fcntl(
        &open,
        nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty()),
    )
    .expect("fcntl");
    let filter = format!("{argument}|root|nobody|host");
    let run = project.harness_with(
        &[("SECRET", environment)],
        &["run", "--format", "json", "--filter", &filter, "scenarios"],
    );
    let all = run.verdicts();
    assert_eq!(all.len(), 3, "{run:?}");
    assert!(
        all.values().all(|(verdict, _)| verdict == "pass"),
        "{all:#?}"
    );
    project.assert_nothing_left();
}
