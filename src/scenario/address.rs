//! Addresses of sockets, as a scenario writes them.

use core::net::IpAddr;
use std::fmt;

use super::confined::fault_of_glob;
use super::flexible::{Text, deserialize_flexible};

/// Addresses of sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressPattern {
    /// Of IPv4 or IPv6.
    Internet {
        /// The network, and the length of its prefix; `None` for every address.
        net: Option<(IpAddr, u8)>,
        /// The port; `None` for every one.
        port: Option<u16>,
    },
    /// Sockets of `AF_UNIX` with a path, by a glob.
    Path(String),
    /// Those with a name that is no file's, by a glob, without the `@`.
    Abstract(String),
    /// Every socket of a family, by the kernel's word without `AF_`, in lower case.
    Family(String),
    /// Sockets of IPv4 and IPv6 that are not of TCP, UDP or ICMP echo.
    Raw,
}

impl AddressPattern {
    /// Whether it takes this address of IPv4 or IPv6.
    #[must_use]
    pub fn takes(&self, ip: IpAddr, port: u16) -> bool {
        let Self::Internet { net, port: wanted } = self else {
            return false;
        };
        wanted.is_none_or(|wanted| wanted == port)
            && net.is_none_or(|(net, length)| is_within(ip.to_canonical(), net, length))
    }
}

fn is_within(ip: IpAddr, net: IpAddr, length: u8) -> bool {
    let differs = match (ip, net) {
        (IpAddr::V4(ip), IpAddr::V4(net)) => u128::from(ip.to_bits() ^ net.to_bits()) << 96,
        (IpAddr::V6(ip), IpAddr::V6(net)) => ip.to_bits() ^ net.to_bits(),
        _ => return false,
    };
    differs.leading_zeros() >= u32::from(length)
}

impl fmt::Display for AddressPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Internet { net, port } => {
                match net {
                    None => f.write_str("*")?,
                    Some((ip, length)) => {
                        let is_one = *length == most(*ip);
                        let prefix = if is_one {
                            String::new()
                        } else {
                            format!("/{length}")
                        };
                        match ip {
                            IpAddr::V4(ip) => write!(f, "{ip}{prefix}")?,
                            IpAddr::V6(ip) => write!(f, "[{ip}{prefix}]")?,
                        }
                    }
                }
                match port {
                    None => f.write_str(":*"),
                    Some(port) => write!(f, ":{port}"),
                }
            }
            Self::Path(glob) => write!(f, "unix:{glob}"),
            Self::Abstract(glob) => write!(f, "unix:@{glob}"),
            Self::Family(family) => write!(f, "family:{family}"),
            Self::Raw => f.write_str("raw"),
        }
    }
}

/// The length of the prefix of a single address.
fn most(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

const FORMS: &str = "an address is 127.0.0.1:8123, \"[::1]:*\", 10.0.0.0/8:443, \"*:53\", \
    unix:/run/x, unix:@name, family:netlink or raw";

impl Text for AddressPattern {
    const EXPECTED: &'static str = "an address such as \"127.0.0.1:8123\"";

    fn read(text: &str) -> Option<Result<Self, String>> {
        let glob = text
            .strip_prefix("unix:")
            .filter(|rest| !rest.is_empty() && !rest.starts_with('@'));
        Some(match glob.and_then(fault_of_glob) {
            Some(fault) => Err(fault),
            None => address(text).map_err(|fault| format!("{fault}\n{FORMS}")),
        })
    }
}

fn address(text: &str) -> Result<AddressPattern, String> {
    let shown = text.escape_debug();
    if text == "raw" {
        return Ok(AddressPattern::Raw);
    }
    if let Some(rest) = text.strip_prefix("unix:") {
        return match rest.strip_prefix('@') {
            Some(name) if !name.is_empty() => Ok(AddressPattern::Abstract(name.to_owned())),
            None if !rest.is_empty() => Ok(AddressPattern::Path(rest.to_owned())),
            _ => Err(format!("`{shown}` names no socket")),
        };
    }
    if let Some(family) = text.strip_prefix("family:") {
        let is_word = !family.is_empty() && family.bytes().all(|it| it.is_ascii_lowercase());
        return match family {
            "unix" | "inet" | "inet6" => Err(format!(
                "sockets of `{family}` are named by their addresses"
            )),
            _ if is_word => Ok(AddressPattern::Family(family.to_owned())),
            _ => Err(format!("`{shown}` names no family of sockets")),
        };
    }
    let no_port = || format!("`{shown}` has no port");
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => rest.split_once("]:").ok_or_else(no_port)?,
        None => text.rsplit_once(':').ok_or_else(no_port)?,
    };
    let port = match port {
        "*" => None,
        port => Some(port.parse().map_err(|_| {
            format!(
                "`{}` is no port from 0 to 65535, and not `*`",
                port.escape_debug()
            )
        })?),
    };
    if host == "*" {
        return Ok(AddressPattern::Internet { net: None, port });
    }
    let (ip, length) = match host.split_once('/') {
        Some((ip, length)) => (ip, Some(length)),
        None => (host, None),
    };
    let parsed: Option<IpAddr> = ip.parse().ok();
    let ip = parsed.ok_or_else(|| format!("`{}` is no IP address", ip.escape_debug()))?;
    if ip.is_ipv6() && !text.starts_with('[') {
        return Err("an address of IPv6 stands in brackets".to_owned());
    }
    let length = match length {
        None => most(ip),
        Some(length) => length
            .parse()
            .ok()
            .filter(|length| *length <= most(ip))
            .ok_or_else(|| {
                format!(
                    "`/{}` is no length from 0 to {}",
                    length.escape_debug(),
                    most(ip)
                )
            })?,
    };
    if ip.to_canonical() != ip {
        return Err(format!("write `{ip}` as an address of IPv4"));
    }
    let net = Some((ip, length));
    Ok(AddressPattern::Internet { net, port })
}

deserialize_flexible!(AddressPattern = "Address");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_and_written_alike() {
        for text in [
            "127.0.0.1:8123",
            "10.0.0.0/8:443",
            "[::1]:*",
            "[fd00::/8]:443",
            "*:53",
            "unix:/run/*.sock",
            "unix:@name",
            "family:netlink",
            "raw",
        ] {
            let read = address(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
            assert_eq!(read.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_its_fault() {
        for (text, said) in [
            ("127.0.0.1", "has no port"),
            ("localhost:80", "`localhost` is no IP address"),
            ("127.0.0.1:x", "`x` is no port"),
            ("127.0.0.1:70000", "`70000` is no port"),
            ("10.0.0.0/33:*", "`/33` is no length from 0 to 32"),
            ("::1:80", "in brackets"),
            ("[::ffff:1.2.3.4]:80", "as an address of IPv4"),
            ("unix:", "names no socket"),
            ("unix:a/../b", "has `..`"),
            ("unix:$XDG_RUNTIME_DIR/bus", "the `$` stands for itself"),
            ("family:inet", "named by their addresses"),
        ] {
            let read = AddressPattern::read(text).expect("a text");
            let fault = read.expect_err(text);
            assert!(fault.contains(said), "{text}: {fault}");
        }
    }

    #[test]
    fn an_address_is_within_its_network() {
        let takes = |pattern: &str, ip: &str, port| {
            let ip: IpAddr = ip.parse().expect("an address");
            address(pattern).expect("a pattern").takes(ip, port)
        };
        assert!(takes("10.0.0.0/8:443", "10.255.0.1", 443));
        assert!(!takes("10.0.0.0/8:443", "11.0.0.1", 443));
        assert!(!takes("10.0.0.0/8:443", "10.0.0.1", 80));
        assert!(takes("127.0.0.1:*", "::ffff:127.0.0.1", 1));
        assert!(!takes("127.0.0.1:*", "::1", 1));
        assert!(takes("[fd00::/8]:*", "fdab::1", 1));
        assert!(takes("0.0.0.0/0:*", "1.2.3.4", 1) && !takes("0.0.0.0/0:*", "::1", 1));
        assert!(takes("*:53", "::1", 53) && !takes("*:53", "::1", 54));
    }
}
