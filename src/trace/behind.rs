//! Parts of a call that stand behind pointers and are no arguments by themselves.

use super::render::Writer;
use super::{Part, Value};
use core::net::IpAddr;
use std::sync::Arc;
use syscall_model::constants::{Constants, tables, write_constants};
use syscall_model::files::{Code, CodeRole, FileKind, Lookup};
use syscall_model::{
    Addressed, Call, Outcome, Shown, SocketAddress, address_place, addressed, core_limit_behind,
    flags_behind, gives_by_handed, modes_behind, names_of_flags_behind, native_calls, received,
};

/// The parts of a socket's address.
pub const OF_SOCKETS: [&str; 4] = ["family", "ip", "port", "unix"];

/// The part of a call that limits core dumps: to how many bytes.
pub const OF_CORES: &str = "core_limit";

/// The parts of a call that executed a program: what the kernel executed in its place, and what it
/// started first. Where neither was recorded the first one was not read.
pub const INTERPRETER: &str = "interpreter";
/// The other of these.
pub const LOADER: &str = "loader";

/// The parts of what was received: how many descriptors came, and whether by one of a pair of
/// sockets, or by a socket that the workload was started with.
const OF_MESSAGES: [&str; 3] = ["descriptors", "of_pair", "handed"];

impl Writer<'_> {
    /// Returns the parts of a call of this name.
    pub(super) fn behind(&self, call: &Call, name: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        // One that may be any of several has none that are known.
        let &[name] = native_calls(name).as_slice() else {
            return parts;
        };
        if let (Some(flags), Some(constants)) =
            (flags_behind(call, name), names_of_flags_behind(name))
        {
            let value = flags.map_or(Value::Unread, |flags| constant(constants, flags));
            parts.push(part("flags", value));
        }
        if let Some(modes) = modes_behind(call, name) {
            let value = modes.map_or(Value::Unread, |modes| Value::Number(modes.into()));
            parts.push(part("modes", value));
        }
        if let Some(limit) = core_limit_behind(call, name) {
            let value = limit.map_or(Value::Unread, |limit| Value::Number(limit.into()));
            parts.push(part(OF_CORES, value));
        }
        if let Some(addressed) = addressed(call, name) {
            let values = match addressed {
                Addressed::Nothing => [(); 4].map(|()| Value::Nothing),
                Addressed::Unread => unread(call),
                Addressed::At(address) => {
                    let place = address_place(name).unwrap_or_default();
                    self.of_address(call, place, address)
                }
            };
            let named = OF_SOCKETS.into_iter().zip(values);
            parts.extend(named.map(|(name, value)| part(name, value)));
        }
        if name == "socket" && call.is_untold() {
            let all = ["family", "type", "protocol"].into_iter();
            parts.extend(all.map(|name| part(name, Value::Unread)));
        }
        if matches!(name, "execve" | "execveat")
            && matches!(call.outcome, Outcome::Returned { value: 0, .. })
        {
            parts.extend(self.executed(call));
        }
        if gives_by_handed(call, name) {
            parts.push(part("handed", Value::Number(1)));
        }
        if let Some(received) = received(call, name) {
            let number = |number: usize| match number {
                0 => Value::Nothing,
                _ => Value::Number(number as i128),
            };
            let came = received.descriptors.map_or(Value::Unread, number);
            let of_pair = number(received.is_of_pair.into());
            let handed = number(received.is_handed.into());
            let named = OF_MESSAGES.into_iter().zip([came, of_pair, handed]);
            parts.extend(named.map(|(name, value)| part(name, value)));
        }
        parts
    }

    /// What the kernel executed beside the program that a call names.
    fn executed(&self, call: &Call) -> Vec<Part> {
        let code = call.files.code();
        if code.is_empty() {
            return vec![part(INTERPRETER, Value::Unread)];
        }
        let beside = |code: &Code| {
            let name = match code.role {
                CodeRole::Program => return None,
                CodeRole::Interpreter => INTERPRETER,
                CodeRole::Loader => LOADER,
            };
            let path = self.path_in_directory(&code.path);
            let value = Value::Path {
                given: path.clone(),
                absolute: Some(path),
                reached: self.reached(&code.reached),
            };
            Some(part(name, value))
        };
        code.iter().filter_map(beside).collect()
    }

    fn of_address(&self, call: &Call, place: usize, address: SocketAddress) -> [Value; 4] {
        let family = constant(&tables::ADDRESS_FAMILIES, address.family().into());
        let nothing = || Value::Nothing;
        match address {
            SocketAddress::Internet { ip, port, .. } => [
                family,
                // The kernel takes one of IPv4 that is written as IPv6 for what it is.
                text(ip.to_canonical().to_string().into_bytes()),
                Value::Number(port.into()),
                nothing(),
            ],
            SocketAddress::Path(path) => {
                let given = self.path_in_directory(&path);
                let absolute = path.starts_with(b"/");
                let absolute = absolute.then(|| self.path_in_directory(&path));
                let reached = self.reached(call.files.reached(place));
                let unix = Value::Path {
                    given,
                    absolute,
                    reached,
                };
                [family, nothing(), nothing(), unix]
            }
            SocketAddress::Abstract(name) => {
                let name = self.in_directory(&name);
                [family, nothing(), nothing(), text([b"@", &*name].concat())]
            }
            SocketAddress::Other(_) => [family, nothing(), nothing(), nothing()],
        }
    }
}

/// The parts of an address that was not read. A socket of one of these families sends to an address
/// of its own, or not at all.
fn unread(call: &Call) -> [Value; 4] {
    const NETLINK: i32 = 16;
    const PACKET: i32 = 17;
    const ALG: i32 = 38;
    const VSOCK: i32 = 40;
    let family = match call.files.argument(0) {
        Lookup::Open(file) => match &file.kind {
            FileKind::Socket(socket) => socket.family,
            _ => None,
        },
        _ => None,
    };
    match family {
        Some(family @ (NETLINK | PACKET | ALG | VSOCK)) => {
            let family = constant(&tables::ADDRESS_FAMILIES, family as u64);
            [family, Value::Nothing, Value::Nothing, Value::Nothing]
        }
        _ => [(); 4].map(|()| Value::Unread),
    }
}

/// The IP address that a part says, one of version 4 as that in whatever form it stands there.
#[must_use]
pub fn ip_of(part: &Part) -> Option<IpAddr> {
    match &part.value {
        Value::Bytes { bytes, .. } => {
            let text = std::str::from_utf8(bytes).ok()?;
            text.parse().ok().map(|ip: IpAddr| ip.to_canonical())
        }
        _ => None,
    }
}

fn text(bytes: Vec<u8>) -> Value {
    Value::Bytes {
        bytes,
        is_cut: false,
    }
}

fn constant(constants: &'static Constants, bits: u64) -> Value {
    let mut text = String::new();
    write_constants(&mut text, constants, bits, &mut Shown);
    Value::Names(text.split('|').map(Into::into).collect(), bits)
}

fn part(name: &str, value: Value) -> Part {
    let text = match &value {
        Value::Bytes { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
        Value::Path { given, .. } => String::from_utf8_lossy(given).into_owned(),
        Value::Number(number) => number.to_string(),
        Value::Names(names, _) => names.join("|"),
        Value::Unread => "<unread>".to_owned(),
        _ => "?".to_owned(),
    };
    Part {
        name: Arc::from(name),
        alias: None,
        text,
        value,
    }
}
