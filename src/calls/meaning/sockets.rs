//! Sockets: the protocol by the family, the option by the level.

use super::{ArgKind, Case, Commands, case};
use crate::constants::tables as names;
use ArgKind::{Constants as Of, Uint32};

const fn family(name: &str, protocols: &'static [ArgKind]) -> Case {
    case(&names::ADDRESS_FAMILIES, name, protocols)
}

/// `socket`; the pairs of `socketpair` are of families with one protocol.
pub(super) static PROTOCOL: Commands = Commands::of_some(
    0,
    2,
    &[
        family("AF_INET", &[Of(&names::INET_PROTOCOLS)]),
        family("AF_INET6", &[Of(&names::INET_PROTOCOLS)]),
        family("AF_NETLINK", &[Of(&names::NETLINK_PROTOCOLS)]),
        family("AF_BLUETOOTH", &[Of(&names::BLUETOOTH_PROTOCOLS)]),
        family("AF_PACKET", &[Of(&names::PACKET_PROTOCOLS)]),
    ],
    None,
);

const fn level(name: &str, options: &'static [ArgKind]) -> Case {
    case(&names::SOCKET_LEVELS, name, options)
}

/// The options of each level, with these of sockets of all kinds.
macro_rules! options {
    ($of_all:ident) => {
        &[
            level("SOL_SOCKET", &[Of(&names::$of_all)]),
            level("SOL_IP", &[Of(&names::IP_OPTIONS)]),
            level("SOL_IPV6", &[Of(&names::IPV6_OPTIONS)]),
            level("SOL_TCP", &[Of(&names::TCP_OPTIONS)]),
            level("SOL_UDP", &[Of(&names::UDP_OPTIONS)]),
            level("SOL_RAW", &[Of(&names::RAW_OPTIONS)]),
            level("SOL_NETLINK", &[Of(&names::NETLINK_OPTIONS)]),
            level("SOL_PACKET", &[Of(&names::PACKET_OPTIONS)]),
            level("SOL_ALG", &[Of(&names::ALG_OPTIONS)]),
            level("SOL_TLS", &[Of(&names::TLS_OPTIONS)]),
            level("AF_VSOCK", &[Of(&names::VSOCK_OPTIONS)]),
        ]
    };
}

/// `setsockopt`.
pub(super) static OPTION_SET: Commands =
    Commands::of_some(1, 2, options!(SOCKET_OPTIONS), Some(&[Uint32]));

/// `getsockopt`, which has another name for one of the numbers.
pub(super) static OPTION_GOT: Commands =
    Commands::of_some(1, 2, options!(SOCKET_OPTIONS_GOT), Some(&[Uint32]));
