//! Addresses of the networks before the Internet's: AX.25, IPX and X.25.

use super::super::address::port;
use super::super::pen::Pen;
use super::super::site::Bytes;
use super::{byte_of, bytes_of, named};
use crate::text::Values;

/// The size of `struct sockaddr_ax25`, behind which others of the way stand.
pub(super) const RADIO: usize = 16;

/// `linux/ax25.h`: a station, and those that pass on what is sent to it.
pub(super) fn radio<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    const STATION: usize = 7;
    const MOST: usize = 8;
    let n_told = bytes.i32(12)?;
    let is_full = n_told != 0 || bytes.len() > RADIO;
    pen.text(if is_full { ", fsa_ax25={" } else { ", " });
    pen.text("sax25_call=");
    station(pen, &bytes.array(2)?);
    pen.text(", sax25_ndigis=");
    pen.number(n_told);
    if !is_full {
        return Some(());
    }
    pen.text("}");
    let (stations, _) = bytes.from(RADIO)?.as_chunks::<STATION>();
    let n_there = stations.len().min(MOST);
    let n_told = usize::try_from(n_told).unwrap_or(0).min(MOST);
    if n_told > 0 {
        pen.text(", fsa_digipeater=");
        let shown = stations.iter().take(n_told);
        pen.list(shown, n_told > n_there, |pen, each| {
            station(pen, each);
            Some(())
        })?;
    }
    if bytes.len() > RADIO + n_there * STATION {
        pen.text(", ...");
    }
    Some(())
}

/// A call sign, each byte of which stands one bit to the left, and a number of the station.
fn station<V: Values>(pen: &mut Pen<'_, V>, address: &[u8; 7]) {
    let [sign @ .., number] = address;
    let letters = sign.map(|byte| byte >> 1);
    let end = letters.iter().rposition(|byte| *byte != b' ');
    let sign_of = letters.get(..end.map_or(0, |end| end + 1)).unwrap_or(&[]);
    let is_letter = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    let is_sane = sign.iter().all(|byte| byte & 1 == 0)
        && sign_of.iter().all(is_letter)
        && number & !0x1e == 0
        && (!sign_of.is_empty() || *number == 0);
    if !is_sane {
        pen.text("{ax25_call=\"");
        for byte in address {
            pen.text(&format!("\\x{byte:02x}"));
        }
        pen.text("\"}");
    } else if sign_of.is_empty() {
        pen.text("*");
    } else {
        pen.text(&String::from_utf8_lossy(sign_of));
        pen.text("-");
        pen.number(number >> 1);
    }
}

/// `linux/ipx.h`, until Linux 5.15.
pub(super) fn exchange<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    pen.text(", sipx");
    port(pen, bytes)?;
    pen.text(", sipx_network=htonl(");
    pen.hex(u32::from_be_bytes(bytes.array(4)?).into());
    pen.text("), sipx_node=");
    bytes_of(pen, &bytes.array::<6>(8)?, false)?;
    pen.text(", sipx_type=");
    byte_of(pen, bytes.u8(14)?);
    let zero = bytes.u8(15)?;
    if zero != 0 {
        pen.text(", sipx_zero=");
        pen.hex(zero.into());
    }
    Some(())
}

/// `linux/x25.h`.
pub(super) fn x25<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    pen.text(", sx25_addr={x25_addr=");
    named(pen, &bytes.array::<16>(2)?);
    pen.text("}");
    Some(())
}
