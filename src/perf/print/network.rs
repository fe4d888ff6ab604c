//! Addresses and ids, as `lib/vsprintf.c` writes them.

use super::conversion::Kind;
use super::digits;
use std::io::Write;

/// Bytes as two digits each.
pub(super) fn pairs(bytes: &[u8], between: Option<u8>, upper: bool, out: &mut Vec<u8>) {
    for (at, byte) in bytes.iter().enumerate() {
        if at > 0 {
            out.extend(between);
        }
        for digit in [byte / 16, byte % 16] {
            let digit = char::from_digit(u32::from(digit), 16).map_or(b'0', |digit| digit as u8);
            out.push(if upper {
                digit.to_ascii_uppercase()
            } else {
                digit
            });
        }
    }
}

/// The address that `bytes` hold; where they do not, what libtraceevent says then.
pub(super) fn write(kind: Kind, bytes: &[u8], out: &mut Vec<u8>) {
    let written = match kind {
        Kind::Mac {
            between,
            is_reversed,
        } => mac(bytes, between, is_reversed, out).ok_or("INVALIDMAC"),
        Kind::Ip4 {
            is_padded,
            is_reversed,
        } => ip4(bytes, is_padded, is_reversed, out).ok_or("INVALIDIPv4"),
        Kind::Ip6 {
            has_colons,
            is_compressed,
        } => ip6(bytes, has_colons, is_compressed, out).ok_or("INVALIDIPv6"),
        Kind::Uuid { is_little, upper } => uuid(bytes, is_little, upper, out).ok_or("INVALIDUUID"),
        Kind::Socket {
            has_colons,
            is_compressed,
            has_port,
        } => socket(bytes, has_colons, is_compressed, has_port, out),
        _ => Ok(()),
    };
    if let Err(complaint) = written {
        out.extend_from_slice(complaint.as_bytes());
    }
}

fn mac(bytes: &[u8], between: Option<u8>, is_reversed: bool, out: &mut Vec<u8>) -> Option<()> {
    let mut mac: [u8; 6] = *bytes.first_chunk()?;
    if is_reversed {
        mac.reverse();
    }
    pairs(&mac, between, false, out);
    Some(())
}

fn ip4(bytes: &[u8], is_padded: bool, is_reversed: bool, out: &mut Vec<u8>) -> Option<()> {
    let mut address: [u8; 4] = *bytes.first_chunk()?;
    if is_reversed {
        address.reverse();
    }
    for (at, byte) in address.into_iter().enumerate() {
        if at > 0 {
            out.push(b'.');
        }
        if is_padded {
            out.extend_from_slice(match byte {
                0..=9 => b"00",
                10..=99 => b"0",
                100.. => b"",
            });
        }
        digits::number(out, byte);
    }
    Some(())
}

fn ip6(bytes: &[u8], has_colons: bool, is_compressed: bool, out: &mut Vec<u8>) -> Option<()> {
    let address: &[u8; 16] = bytes.first_chunk()?;
    if is_compressed {
        compressed(address, out);
        return Some(());
    }
    for (at, pair) in address.chunks(2).enumerate() {
        if at > 0 && has_colons {
            out.push(b':');
        }
        pairs(pair, None, false, out);
    }
    Some(())
}

/// As RFC 5952 has it, with the last four bytes as those of IPv4 in mapped and ISATAP addresses
/// (`ip6_compressed_string()`).
fn compressed(address: &[u8; 16], out: &mut Vec<u8>) {
    let mut words = [0_u16; 8];
    for (word, pair) in words.iter_mut().zip(address.chunks_exact(2)) {
        *word = pair
            .first_chunk()
            .map_or(0, |pair| u16::from_be_bytes(*pair));
    }
    let is_mapped = matches!(words, [0, 0, 0, 0, 0, 0xffff, ..]);
    let is_isatap = matches!(words, [.., 0x0000 | 0x0200, 0x5efe, _, _]);
    let range = if is_mapped || is_isatap { 6 } else { 8 };
    let words = words.get(..range).unwrap_or_default();
    let zeros = |at: usize| words.iter().skip(at).take_while(|word| **word == 0).count();
    // Of runs of one length the first, which `max_by_key` finds last in reverse; a single zero is
    // written out.
    let longest = (0..range)
        .rev()
        .max_by_key(|at| zeros(*at))
        .filter(|at| zeros(*at) > 1);
    let mut needs_colon = false;
    let mut at = 0_usize;
    while let Some(word) = words.get(at) {
        if longest == Some(at) {
            if needs_colon || at == 0 {
                out.push(b':');
            }
            out.push(b':');
            needs_colon = false;
            at = at.saturating_add(zeros(at));
            continue;
        }
        if needs_colon {
            out.push(b':');
        }
        // Writing to a vector cannot fail.
        let _infallible = write!(out, "{word:x}");
        needs_colon = true;
        at = at.saturating_add(1);
    }
    if range == 6 {
        if needs_colon {
            out.push(b':');
        }
        ip4(address.get(12..).unwrap_or_default(), false, false, out);
    }
}

fn uuid(bytes: &[u8], is_little: bool, upper: bool, out: &mut Vec<u8>) -> Option<()> {
    let mut uuid: [u8; 16] = *bytes.first_chunk()?;
    if is_little {
        for range in [0..4, 4..6, 6..8] {
            uuid.get_mut(range)?.reverse();
        }
    }
    for (at, range) in [0..4, 4..6, 6..8, 8..10, 10..16].into_iter().enumerate() {
        if at > 0 {
            out.push(b'-');
        }
        pairs(uuid.get(range)?, None, upper, out);
    }
    Some(())
}

/// A `struct sockaddr`: the family's number, the port in network order, the address.
fn socket(
    bytes: &[u8],
    has_colons: bool,
    is_compressed: bool,
    has_port: bool,
    out: &mut Vec<u8>,
) -> Result<(), &'static str> {
    const IP4: u16 = 2;
    const IP6: u16 = 10;
    let family = bytes
        .first_chunk()
        .map(|family| u16::from_ne_bytes(*family));
    let port = bytes
        .get(2..)
        .and_then(|bytes| bytes.first_chunk())
        .map_or(0, |port| u16::from_be_bytes(*port));
    let shown_port = |out: &mut Vec<u8>| {
        if has_port {
            out.push(b':');
            digits::number(out, port);
        }
    };
    match family {
        Some(IP4) => {
            let address = bytes
                .get(4..)
                .filter(|_| bytes.len() >= 16)
                .ok_or("INVALIDIPv4")?;
            ip4(address, !has_colons, false, out).ok_or("INVALIDIPv4")?;
            shown_port(out);
        }
        Some(IP6) => {
            let address = bytes
                .get(8..)
                .filter(|_| bytes.len() >= 28)
                .ok_or("INVALIDIPv6")?;
            if has_port {
                out.push(b'[');
            }
            ip6(address, has_colons, is_compressed, out).ok_or("INVALIDIPv6")?;
            if has_port {
                out.push(b']');
            }
            shown_port(out);
        }
        // What the kernel writes for another family (`ip_addr_string()`); libtraceevent writes
        // nothing.
        Some(_) => out.extend_from_slice(b"(einval)"),
        None => return Err("INVALIDADDRESS"),
    }
    Ok(())
}
