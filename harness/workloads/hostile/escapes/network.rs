//! Reaches a server that listens outside.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{self, UnixStream};
use std::time::Duration;

use nix::libc;

use super::{achieved, status};
use crate::kernel::call;

/// Any answer comes at once.
const PATIENCE: Duration = Duration::from_millis(500);

/// Tries each place: `tcp:ADDRESS`, `udp:ADDRESS`, `unix:PATH`, `abstract:NAME`.
pub(crate) fn reach(places: &[&str]) -> i32 {
    for place in places {
        let done = match place.split_once(':') {
            Some(("tcp", address)) => TcpStream::connect_timeout(&parsed(address), PATIENCE)
                .and_then(|mut stream| stream.write_all(b"x")),
            // That it could be sent says nothing of whether anybody got it.
            Some(("udp", address)) => {
                let socket = UdpSocket::bind("0.0.0.0:0").expect("a port");
                let _lost = socket.send_to(b"x", parsed(address));
                continue;
            }
            Some(("unix", path)) => {
                UnixStream::connect(path).and_then(|mut stream| stream.write_all(b"x"))
            }
            Some(("abstract", name)) => net::SocketAddr::from_abstract_name(name)
                .and_then(|name| UnixStream::connect_addr(&name))
                .and_then(|mut stream| stream.write_all(b"x")),
            _ => panic!("`{place}` is no place"),
        };
        if done.is_ok() {
            achieved(format_args!("reached {place}"));
        }
    }
    raw();
    status()
}

fn parsed(address: &str) -> SocketAddr {
    address.parse().expect("an address")
}

/// Sends a frame from every interface but the loopback.
fn raw() {
    let interfaces = std::fs::read_to_string("/proc/net/dev").expect("procfs");
    let names = interfaces
        .lines()
        .skip(2)
        .filter_map(|line| line.split(':').next());
    for name in names.map(str::trim).filter(|name| *name != "lo") {
        achieved(format_args!("has the interface {name}"));
    }
    // The kernel log of the network of the host: a netlink socket of uevents is told of its
    // devices.
    let (family, kind) = (libc::AF_PACKET as usize, libc::SOCK_RAW as usize);
    if let Ok(socket) = call(libc::SYS_socket, &[family, kind, 0x0300]) {
        // `struct sockaddr_ll`: family, protocol, index 2, the first that is not the loopback.
        let address = [
            libc::AF_PACKET as u8,
            0,
            0,
            3,
            2,
            0,
            0,
            0,
            0,
            0,
            0,
            6,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ];
        let frame = [0xff_u8; 60];
        let to = [
            socket,
            frame.as_ptr() as usize,
            frame.len(),
            0,
            address.as_ptr() as usize,
            address.len(),
        ];
        if call(libc::SYS_sendto, &to).is_ok() {
            achieved("sent a frame");
        }
    }
}

/// A server and a client of its own, by both versions of the protocol.
pub(crate) fn talks_to_itself() -> i32 {
    for address in ["127.0.0.1:4242", "[::1]:4242"] {
        let server = TcpListener::bind(address).expect("a port of its own");
        let client = std::thread::spawn(move || {
            let mut stream = TcpStream::connect(address).expect("a connection");
            stream.write_all(b"hello").expect("a write");
            stream.shutdown(Shutdown::Write).expect("shutdown");
        });
        let mut said = String::new();
        let (mut stream, _) = server.accept().expect("a client");
        stream.read_to_string(&mut said).expect("text");
        client.join().expect("the client");
        assert_eq!(said, "hello");
    }
    0
}
