//! The socket addresses that calls name and are told, by their parts.

use super::constants::{Constants, tables};
use super::memory::{Behind, Memory, Moment, Piece, State};
use super::{Call, Outcome};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The address of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketAddress {
    /// Of IPv4 or IPv6.
    Internet {
        /// `AF_INET` or `AF_INET6`.
        family: u16,
        /// The address, as it stands there.
        ip: IpAddr,
        /// The port.
        port: u16,
    },
    /// A path of `AF_UNIX`.
    Path(Vec<u8>),
    /// A name of `AF_UNIX` that is no file's; empty where the kernel chooses it or there is none.
    Abstract(Vec<u8>),
    /// Of this family; its parts are not taken apart, or it is too short for them.
    Other(u16),
}

impl SocketAddress {
    /// Takes a `struct sockaddr` apart; `None` without a family.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let (family, rest) = bytes.split_first_chunk()?;
        let family = u16::from_le_bytes(*family);
        let known = match i32::from(family) {
            libc::AF_UNIX => Some(unix(rest)),
            libc::AF_INET => internet(rest).map(|(ip, port)| Self::Internet { family, ip, port }),
            libc::AF_INET6 => internet6(rest).map(|(ip, port)| Self::Internet { family, ip, port }),
            _ => None,
        };
        Some(known.unwrap_or(Self::Other(family)))
    }

    /// The family (`AF_*`).
    #[must_use]
    pub fn family(&self) -> u16 {
        match self {
            Self::Internet { family, .. } | Self::Other(family) => *family,
            Self::Path(_) | Self::Abstract(_) => libc::AF_UNIX as u16,
        }
    }
}

fn internet(rest: &[u8]) -> Option<(IpAddr, u16)> {
    let port = u16::from_be_bytes(*rest.first_chunk()?);
    // `struct sockaddr_in` has eight bytes behind the address, and a shorter one is refused.
    let ip: &[u8; 4] = rest.get(2..)?.first_chunk().filter(|_| rest.len() >= 14)?;
    Some((Ipv4Addr::from(*ip).into(), port))
}

fn internet6(rest: &[u8]) -> Option<(IpAddr, u16)> {
    let port = u16::from_be_bytes(*rest.first_chunk()?);
    let ip: &[u8; 16] = rest.get(6..)?.first_chunk()?;
    Some((Ipv6Addr::from(*ip).into(), port))
}

/// unix(7): a path to its zero byte, or a name that begins with one and has the length of the rest.
fn unix(rest: &[u8]) -> SocketAddress {
    match rest.split_first() {
        None => SocketAddress::Abstract(Vec::new()),
        Some((0, name)) => SocketAddress::Abstract(name.to_vec()),
        Some(_) => {
            let end = rest.iter().position(|byte| *byte == 0);
            SocketAddress::Path(rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest).into())
        }
    }
}

/// What is known of the address of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Addressed {
    /// It has none.
    Nothing,
    /// It may have one, which was not read.
    Unread,
    /// This one.
    At(SocketAddress),
}

/// Where the calls have an address, by their native names: the argument, and whether the kernel
/// tells it.
const PLACES: &[(&str, usize, bool)] = &[
    ("accept", 1, true),
    ("accept4", 1, true),
    ("bind", 1, false),
    ("connect", 1, false),
    ("getpeername", 1, true),
    ("getsockname", 1, true),
    ("recvfrom", 4, true),
    ("sendmsg", 1, false),
    ("sendmmsg", 1, false),
    ("sendto", 4, false),
];

/// The argument of a native call that is an address or holds one; `None` for a call without.
#[must_use]
pub fn address_place(name: &str) -> Option<usize> {
    let found = PLACES.iter().find(|(known, ..)| *known == name);
    found.map(|(_, place, _)| *place)
}

/// Whether the kernel tells a native call an address, which it does only where it succeeds.
#[must_use]
pub fn is_told_address(name: &str) -> bool {
    PLACES
        .iter()
        .any(|(known, _, is_told)| *known == name && *is_told)
}

/// The bytes of `struct mmsghdr` on a machine of 64 bits.
const MESSAGE_OF_SEVERAL: usize = 64;

/// Returns what is known of the address of a call, which does what the native call `name` does;
/// `None` for a call without.
#[must_use]
pub fn addressed(call: &Call, name: &str) -> Option<Addressed> {
    let (_, place, is_told) = PLACES.iter().find(|(known, ..)| *known == name)?;
    let Some(args) = call.entry.args() else {
        return Some(Addressed::Unread);
    };
    // The words of such a call are the operation and where its arguments are.
    if call.is_untold() {
        return Some(Addressed::Unread);
    }
    if args.get(*place).is_none_or(|word| *word == 0) {
        return Some(Addressed::Nothing);
    }
    let bytes = |moment| {
        let piece = call.memory.piece(*place, moment)?;
        (piece.state == State::Whole).then_some(&*piece.bytes)
    };
    if *is_told && !matches!(call.outcome, Outcome::Returned { value, .. } if value >= 0) {
        return Some(Addressed::Nothing);
    }
    Some(match name {
        "sendmsg" => match bytes(Moment::Enter) {
            Some(message) if is_without_name(message) => Addressed::Nothing,
            Some(message) => named_by(&call.memory, *place, message),
            None => Addressed::Unread,
        },
        "sendmmsg" if args[2] as u32 == 0 => Addressed::Nothing,
        "sendmmsg" => match bytes(Moment::Enter) {
            Some(messages) if messages.chunks(MESSAGE_OF_SEVERAL).all(is_without_name) => {
                Addressed::Nothing
            }
            _ => Addressed::Unread,
        },
        // The kernel told it in no more room than there was.
        _ if *is_told => {
            let length = call.memory.piece(*place + 1, Moment::Enter);
            let length = length.and_then(|piece| piece.bytes.first_chunk());
            let length = length.map(|bytes| u32::from_le_bytes(*bytes) as usize);
            match (length, bytes(Moment::Exit)) {
                (Some(length), Some(bytes)) => told(bytes.get(..length).unwrap_or(bytes)),
                _ => Addressed::Unread,
            }
        }
        _ => match bytes(Moment::Enter) {
            Some([]) => Addressed::Nothing,
            Some(bytes) => SocketAddress::of(bytes).map_or(Addressed::Unread, Addressed::At),
            None if args
                .get(*place + 1)
                .is_some_and(|length| *length as u32 == 0) =>
            {
                Addressed::Nothing
            }
            None => Addressed::Unread,
        },
    })
}

fn told(bytes: &[u8]) -> Addressed {
    SocketAddress::of(bytes).map_or(Addressed::Nothing, Addressed::At)
}

/// The address that a message names; what was read of it must be all, and of that message.
fn named_by(memory: &Memory, place: usize, message: &[u8]) -> Addressed {
    let name = memory.behind(place, Behind::NAME, Moment::Enter);
    let pointer = message
        .first_chunk()
        .map(|bytes| u64::from_ne_bytes(*bytes));
    let length = message.get(8..).and_then(|rest| rest.first_chunk());
    let length = length.map(|bytes| u32::from_ne_bytes(*bytes) as usize);
    let is_whole = |name: &&Piece| {
        let is_all = Some(name.bytes.len()) == length && name.state == State::Whole;
        is_all && Some(name.address) == pointer
    };
    let name = name.filter(is_whole);
    let address = name.and_then(|name| SocketAddress::of(&name.bytes));
    address.map_or(Addressed::Unread, Addressed::At)
}

/// `struct msghdr`: whether it names no address.
fn is_without_name(message: &[u8]) -> bool {
    let pointer: Option<&[u8; 8]> = message.first_chunk();
    let length: Option<&[u8; 4]> = message.get(8..).and_then(|rest| rest.first_chunk());
    pointer.is_some_and(|bytes| *bytes == [0; 8]) || length.is_some_and(|bytes| *bytes == [0; 4])
}

/// The first bytes of what an argument of a native call points to, at its entry; `None` where they
/// were not read.
fn first_bytes<const N: usize>(call: &Call, place: usize) -> Option<[u8; N]> {
    let piece = call.memory.piece(place, Moment::Enter);
    piece?.read()?.first_chunk().copied()
}

/// What a call that sets a clock changes of it (`timex.modes`): `adjtimex` and `clock_adjtime`.
/// `None` for another call, an error where that was not read.
#[must_use]
pub fn modes_behind(call: &Call, name: &str) -> Option<Result<u32, ()>> {
    let place = match name {
        "adjtimex" => 0,
        "clock_adjtime" => 1,
        _ => return None,
    };
    Some(first_bytes(call, place).map(u32::from_ne_bytes).ok_or(()))
}

/// To how many bytes a call limits core dumps (`rlim_cur`): `prlimit64` and `setrlimit`. `None` for
/// a call that does not, an error where that was not read.
#[must_use]
pub fn core_limit_behind(call: &Call, name: &str) -> Option<Result<u64, ()>> {
    const RLIMIT_CORE: u32 = 4;
    let (resource, place) = match name {
        "prlimit64" => (1, 2),
        "setrlimit" => (0, 1),
        _ => return None,
    };
    let Some(args) = call.entry.args() else {
        return Some(Err(()));
    };
    let word = |place: usize| args.get(place).copied().unwrap_or_default();
    if word(resource) as u32 != RLIMIT_CORE || word(place) == 0 {
        return None;
    }
    Some(first_bytes(call, place).map(u64::from_ne_bytes).ok_or(()))
}

/// The argument behind which a call has its flags, and their names.
fn place_of_flags(name: &str) -> Option<(usize, &'static Constants)> {
    match name {
        "openat2" => Some((2, &tables::OPEN_FLAGS)),
        "clone3" => Some((0, &tables::CLONE_FLAGS)),
        _ => None,
    }
}

/// The names of the flags that a call has in a structure: `openat2` and `clone3`. `None` for
/// another call.
#[must_use]
pub fn names_of_flags_behind(name: &str) -> Option<&'static Constants> {
    place_of_flags(name).map(|(_, names)| names)
}

/// The flags of a call that has them in a structure. `None` for another call, an error where they
/// were not read.
#[must_use]
pub fn flags_behind(call: &Call, name: &str) -> Option<Result<u64, ()>> {
    let (place, _) = place_of_flags(name)?;
    Some(first_bytes(call, place).map(u64::from_ne_bytes).ok_or(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart_by_its_family() {
        let of = |bytes: &[u8]| SocketAddress::of(bytes).expect("a family");
        let mut four = vec![2, 0, 0x1f, 0xbb, 127, 0, 0, 1];
        assert_eq!(
            of(&four),
            SocketAddress::Other(2),
            "too short for the kernel"
        );
        four.extend([0; 8]);
        let ip = IpAddr::from([127, 0, 0, 1]);
        let (family, port) = (2, 8123);
        assert_eq!(of(&four), SocketAddress::Internet { family, ip, port });
        assert_eq!(of(b"\x01\0a/b\0c"), SocketAddress::Path(b"a/b".to_vec()));
        assert_eq!(
            of(b"\x01\0\0a\0b"),
            SocketAddress::Abstract(b"a\0b".to_vec())
        );
        assert_eq!(of(b"\x01\0"), SocketAddress::Abstract(Vec::new()));
        assert_eq!(of(b"\x10\0\0\0").family(), 16);
        assert_eq!(SocketAddress::of(b"\x01"), None);
    }

    #[test]
    fn a_message_names_what_was_read_whole_at_its_pointer_alone() {
        let mut message = vec![0; 56];
        message[..8].copy_from_slice(&0x2000_u64.to_ne_bytes());
        message[8..12].copy_from_slice(&4_u32.to_ne_bytes());
        let piece = |element, address, state, bytes: &[u8]| Piece {
            argument: 1,
            element,
            moment: Moment::Enter,
            address,
            state,
            bytes: bytes.into(),
        };
        let of = |name: Option<Piece>| {
            let first = piece(0, 0x1000, State::Whole, &message);
            let memory = Memory::new([Some(first), name].into_iter().flatten().collect());
            named_by(&memory, 1, &message)
        };
        let name = |address, state, bytes| of(Some(piece(1, address, state, bytes)));
        let whole = SocketAddress::Path(b"a".to_vec());
        let known = Addressed::At(whole);
        assert_eq!(name(0x2000, State::Whole, b"\x01\0a\0"), known);
        assert_eq!(name(0x2008, State::Whole, b"\x01\0a\0"), Addressed::Unread);
        assert_eq!(name(0x2000, State::Part, b"\x01\0a\0"), Addressed::Unread);
        assert_eq!(name(0x2000, State::Whole, b"\x01\0a"), Addressed::Unread);
        assert_eq!(of(None), Addressed::Unread);
    }
}
