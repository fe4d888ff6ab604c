//! Tells the ports that the kernel chose from those that the program chose.
//!
//! A socket that is bound to port 0, or that connects, listens or sends without being bound, gets a
//! port that differs from run to run. The program learns it from the kernel (`getsockname(2)`,
//! `accept(2)`, ...) before it can name it. So a port is the kernel's if the kernel told it before
//! a program named it, and the program's own otherwise. After a call whose memory was not read a
//! port may be the program's own, and is shown as it is.

use perf_records::units::Nanos;
use std::collections::HashMap;
use syscall_model::memory::Moment;
use syscall_model::names;
use syscall_model::{Call, Entry};

/// The ports that Linux gives to sockets that ask for none (`net.ipv4.ip_local_port_range`), by
/// default.
const CHOSEN: std::ops::RangeInclusive<u16> = 32768..=60999;

/// When each port was first named by a program, and first told by the kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct Ports {
    named: HashMap<u16, Nanos>,
    told: HashMap<u16, Nanos>,
    /// The time from which a program may have bound a socket to any port.
    is_any_since: Option<Nanos>,
}

/// What a call does with the socket address in this argument.
enum Use {
    Binds(usize),
    Names(usize),
    Tells(usize),
    /// It makes a ring, through which sockets may be bound without a call.
    Rings,
}

impl Ports {
    /// Takes a call with the time of its end; its program may be the first to name a port.
    pub(super) fn take(&mut self, call: &Call, left: Nanos) {
        let Some(what) = use_of(call) else { return };
        let entered = match call.entry {
            Entry::Seen { time, .. } => time,
            Entry::UnderWay { .. } | Entry::Uncorking | Entry::Missing => Nanos(0),
        };
        let first = |times: &mut HashMap<u16, Nanos>, port, time| {
            let known = times.entry(port).or_insert(time);
            *known = time.min(*known);
        };
        match what {
            Use::Binds(place) | Use::Names(place) => match given(call, place) {
                Some(bytes) => {
                    if let Some(port) = port(bytes) {
                        first(&mut self.named, port, entered);
                    }
                }
                None if matches!(what, Use::Binds(_)) => self.is_any_from(entered),
                None => {}
            },
            Use::Tells(place) if call.error().is_none() => {
                if let Some(port) = filled(call, place).and_then(port) {
                    first(&mut self.told, port, left);
                }
            }
            Use::Rings if call.error().is_none() => self.is_any_from(entered),
            Use::Tells(_) | Use::Rings => {}
        }
    }

    fn is_any_from(&mut self, time: Nanos) {
        let since = self.is_any_since.get_or_insert(time);
        *since = time.min(*since);
    }

    /// Whether the kernel chose the port.
    pub(super) fn is_the_kernels(&self, port: u16) -> bool {
        let is_before = |told: &Nanos, time: Option<&Nanos>| time.is_none_or(|time| told <= time);
        CHOSEN.contains(&port)
            && self.told.get(&port).is_some_and(|told| {
                is_before(told, self.named.get(&port))
                    && is_before(told, self.is_any_since.as_ref())
            })
    }
}

fn use_of(call: &Call) -> Option<Use> {
    let what = match names::name_of(call.abi, call.number)? {
        "bind" => Use::Binds(1),
        // Its arguments are not known, and it may be this one.
        "socketcall" if call.operation().is_none_or(|it| it == "socketcall.bind") => Use::Binds(1),
        "connect" => Use::Names(1),
        "sendto" => Use::Names(4),
        "accept" | "accept4" | "getsockname" | "getpeername" => Use::Tells(1),
        "recvfrom" => Use::Tells(4),
        "io_uring_setup" => Use::Rings,
        _ => return None,
    };
    Some(what)
}

fn given(call: &Call, place: usize) -> Option<&[u8]> {
    let piece = call.memory.piece(place, Moment::Enter);
    piece.filter(|_| !call.is_untold())?.read()
}

/// Returns the bytes that the kernel wrote there: no more than there was room for; the program's
/// own bytes follow.
fn filled(call: &Call, place: usize) -> Option<&[u8]> {
    let room = given(call, place + 1)?.first_chunk()?;
    let piece = call.memory.piece(place, Moment::Exit)?;
    piece.read_first(usize::try_from(u32::from_ne_bytes(*room)).ok()?)
}

/// Returns the port of an Internet `struct sockaddr`; 0 asks for any.
fn port(bytes: &[u8]) -> Option<u16> {
    let (family, rest) = bytes.split_first_chunk()?;
    let port = u16::from_be_bytes(*rest.first_chunk()?);
    let is_internet = matches!(
        i32::from(u16::from_ne_bytes(*family)),
        libc::AF_INET | libc::AF_INET6
    );
    (is_internet && port != 0).then_some(port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_records::units::{Pid, Tid};
    use syscall_model::files::Files;
    use syscall_model::memory::{Memory, Piece, State};
    use syscall_model::names::Abi;
    use syscall_model::{Actor, Outcome, ShortName, ThreadId};

    const PORT: u16 = 50099;

    fn address(port: u16) -> Vec<u8> {
        [
            &2u16.to_ne_bytes()[..],
            &port.to_be_bytes(),
            &[127, 0, 0, 1],
        ]
        .concat()
    }

    fn piece(argument: u8, moment: Moment, bytes: Vec<u8>) -> Piece {
        Piece {
            argument,
            element: 0,
            moment,
            address: 0x1000,
            state: State::Whole,
            bytes: bytes.into(),
        }
    }

    /// A call from `time` to the next moment.
    fn call(name: &str, abi: Abi, time: u64, result: i64, pieces: Vec<Piece>) -> (Call, Nanos) {
        let call = Call {
            actor: Actor {
                thread: ThreadId(1),
                pid: Pid(1),
                tid: Tid(1),
                comm: ShortName::default(),
            },
            abi,
            number: names::number(abi, name).unwrap() as i32,
            entry: Entry::Seen {
                time: Nanos(time),
                args: [3, 0x1000, 16, 0, 0x1000, 0],
            },
            outcome: Outcome::Returned {
                time: Nanos(time + 1),
                value: result,
            },
            memory: Memory::new(pieces),
            files: Files::default(),
            places: Default::default(),
            injected: Default::default(),
        };
        (call, Nanos(time + 1))
    }

    fn names_it(name: &str, time: u64) -> (Call, Nanos) {
        let given = piece(1, Moment::Enter, address(PORT));
        call(name, Abi::native(), time, 0, vec![given])
    }

    fn tells_it(room: u32, time: u64, result: i64) -> (Call, Nanos) {
        let pieces = vec![
            piece(2, Moment::Enter, room.to_ne_bytes().to_vec()),
            piece(1, Moment::Exit, address(PORT)),
        ];
        call("getsockname", Abi::native(), time, result, pieces)
    }

    fn is_the_kernels(calls: &[(Call, Nanos)]) -> bool {
        let mut ports = Ports::default();
        for (call, left) in calls {
            ports.take(call, *left);
        }
        ports.is_the_kernels(PORT)
    }

    #[test]
    fn a_port_is_the_kernels_where_it_was_told_before_a_program_named_it() {
        assert!(!is_the_kernels(&[names_it("connect", 1)]));
        assert!(is_the_kernels(&[tells_it(16, 1, 0)]));
        let learnt = [tells_it(16, 1, 0), names_it("connect", 3)];
        assert!(is_the_kernels(&learnt));
        let chosen = [names_it("bind", 1), tells_it(16, 3, 0)];
        assert!(!is_the_kernels(&chosen));
        // The order of observation does not matter.
        let chosen = [tells_it(16, 3, 0), names_it("bind", 1)];
        assert!(!is_the_kernels(&chosen));
    }

    #[test]
    fn what_the_kernel_did_not_write_is_not_told_by_it() {
        assert!(!is_the_kernels(&[tells_it(2, 1, 0)]), "no room for it");
        assert!(!is_the_kernels(&[tells_it(16, 1, -9)]));
    }

    #[test]
    fn behind_a_bind_that_was_not_read_no_port_is_the_kernels() {
        let unread = call("bind", Abi::native(), 1, 0, Vec::new());
        assert!(!is_the_kernels(&[unread.clone(), tells_it(16, 3, 0)]));
        assert!(is_the_kernels(&[tells_it(16, 0, 0), unread]));
        let ring = call("io_uring_setup", Abi::native(), 1, 3, Vec::new());
        assert!(!is_the_kernels(&[ring, tells_it(16, 3, 0)]));
        let other = call("bind", Abi::I386, 1, 0, Vec::new());
        assert!(!is_the_kernels(&[other, tells_it(16, 3, 0)]));
    }
}
