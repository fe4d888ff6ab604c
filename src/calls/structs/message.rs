//! Messages of sockets, and vectors that say where contents are.

use super::address::{any_family, internet_address};
use super::names;
use super::netlink::form::Form;
use super::netlink::{self, Beginning, Speaks};
use super::pen::Pen;
use super::site::{Bytes, Site};
use super::time::{self, Sense, Unit};
use crate::constants::tables;
use crate::memory::{Behind, Moment};
use crate::names::Abi;
use crate::pointers::LONGER_HEAD;
use crate::text::Values;

/// The size of `struct cmsghdr`, and what its beginning is a multiple of.
const CONTROL_HEAD: usize = 16;
const CONTROL_UNIT: usize = 8;
/// The kernel takes no longer name.
const LONGEST_NAME: i32 = 128;
/// `SCM_PIDFD` of linux/socket.h, from Linux 6.5 on.
const SCM_PIDFD: i32 = 4;

/// `struct msghdr`, with what its parts point to. recvmsg(2) shows what the kernel left there, as
/// strace does.
pub(super) fn message<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let given = site.given()?;
    let room = given.i32(8)?;
    let is_received = site.name() == "recvmsg";
    if is_received && site.result().is_none() {
        pen.text("{msg_namelen=");
        pen.number(room);
        pen.text("}");
        return Some(());
    }
    let (bytes, moment) = match is_received {
        true => (site.filled()?, Moment::Exit),
        false => (given, Moment::Enter),
    };
    let filled = site.result().map_or(0, |result| result as u64);
    header(pen, bytes, room, (site, moment, filled))
}

/// `struct mmsghdr[]`: each message, and of those that were sent or came how long they are.
pub(super) fn messages<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    const SIZE: usize = 64;
    let given = site.given_part()?;
    let done = usize::try_from(site.result().unwrap_or(0)).unwrap_or(0);
    let after = site.filled_first(done.saturating_mul(SIZE));
    let (bytes, moment) = match site.name() == "recvmmsg" {
        true => (after?, Moment::Exit),
        false => {
            let count = site.word(2)? as u32 as usize;
            (given.first(count.saturating_mul(SIZE)), Moment::Enter)
        }
    };
    let mut place = 0;
    pen.array(bytes, SIZE as u16, |pen, one| {
        pen.text("{msg_hdr=");
        let length = after.and_then(|after| after.u32(place * SIZE + 56));
        let length = length.filter(|_| place < done);
        let filled = length.unwrap_or(0).into();
        let room = given.i32(place * SIZE + 8)?;
        header(pen, one, room, (site.one(place), moment, filled))?;
        if let Some(length) = length {
            pen.text(", msg_len=");
            pen.number(length);
        }
        pen.text("}");
        place += 1;
        Some(())
    })
}

/// `struct msghdr`, with the room that there was for a name, and how many bytes of it came.
fn header<V: Values>(
    pen: &mut Pen<'_, V>,
    bytes: Bytes<'_>,
    room: i32,
    (site, now, filled): (Site<'_>, Moment, u64),
) -> Option<()> {
    let behind = |what: Behind, moment| site.behind(of_site(what, site), moment);
    let length = bytes.i32(8)?;
    pen.text("{msg_name=");
    let name = behind(Behind::NAME, now).filter(Bytes::is_readable);
    pen.or_address(bytes.u64(0)?, |pen| {
        let told = length.min(room).clamp(0, LONGEST_NAME);
        any_family(pen, name?.first(usize::try_from(told).ok()?))
    });
    pen.text(", msg_namelen=");
    pen.number(room);
    if length != room {
        pen.text(" => ");
        pen.number(length);
    }
    pen.text(", msg_iov=");
    let count = bytes.u64(24)?;
    pen.or_address(bytes.u64(16)?, |pen| match count {
        0 if bytes.u64(16)? != 0 => {
            pen.text("[]");
            Some(())
        }
        _ => {
            let all = behind(Behind::VECTORS, Moment::Enter)?;
            let contents = |place| match place {
                0 => behind(Behind::CONTENTS, now),
                _ => None,
            };
            vectors(pen, all, (site, now, filled), contents)
        }
    });
    pen.text(", msg_iovlen=");
    pen.number(count);
    let length = bytes.u64(40)?;
    if length != 0 {
        pen.text(", msg_control=");
        let all = behind(Behind::CONTROL, now);
        pen.or_address(bytes.u64(32)?, |pen| {
            control(pen, all?, site, bytes.u64(32)?)
        });
    }
    pen.text(", msg_controllen=");
    pen.number(length);
    pen.text(", msg_flags=");
    pen.constants(&tables::MESSAGE_FLAGS, bytes.u32(48)?.into());
    pen.text("}");
    Some(())
}

/// `struct iovec[]`.
pub(super) fn iovecs<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let count = site.word(site.argument + 1)?;
    if count == 0 {
        pen.text("[]");
        return Some(());
    }
    let moment = match site.name() {
        "readv" | "preadv" | "preadv2" => Moment::Exit,
        _ => Moment::Enter,
    };
    let filled = site.result().map_or(0, |result| result as u64);
    let contents = |place| site.one(place).behind(Behind::of_vectors(2), moment);
    vectors(pen, site.given_part()?, (site, moment, filled), contents)
}

/// What a message of a call points to, of one that has several of one of these.
fn of_site(what: Behind, site: Site<'_>) -> Behind {
    match site.name() {
        "recvmmsg" | "sendmmsg" => what.of_messages(2),
        _ => what,
    }
}

/// The vectors, and what they point to as far as it was read: of those that the kernel fills so
/// many bytes.
pub(super) fn vectors<'a, V: Values>(
    pen: &mut Pen<'_, V>,
    all: Bytes<'_>,
    (site, moment, filled): (Site<'_>, Moment, u64),
    contents: impl Fn(usize) -> Option<Bytes<'a>>,
) -> Option<()> {
    // The kernel fills one behind the other.
    let mut filled = match moment {
        Moment::Enter => u64::MAX,
        Moment::Exit => filled,
    };
    // The vectors of calls that know no messages are shown as strace shows them.
    let speaks = match site.name() {
        "recvmmsg" | "recvmsg" | "sendmmsg" | "sendmsg" => Speaks::of(site.call),
        _ => None,
    };
    let mut place = 0;
    pen.array(all, 16, |pen, vector| {
        let (address, length) = (vector.u64(0)?, vector.u64(8)?);
        pen.text("{iov_base=");
        let bytes = contents(place);
        let there = length.min(filled);
        pen.or_address(address, |pen| buffer(pen, bytes?, there, speaks));
        pen.text(", iov_len=");
        pen.number(length);
        pen.text("}");
        filled -= there;
        place += 1;
        Some(())
    })
}

/// The beginning of contents of this length.
fn buffer<V: Values>(
    pen: &mut Pen<'_, V>,
    bytes: Bytes<'_>,
    length: u64,
    speaks: Option<Speaks>,
) -> Option<()> {
    let shown = pen.values.contents();
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let first = bytes.first(shown.min(length));
    if shown == 0 || !first.is_readable() {
        return None;
    }
    let beginning = Beginning {
        bytes: first.whole(),
        length,
        broken_at: None,
    };
    let told = speaks.and_then(|it| netlink::messages(pen.out, pen.values, it, beginning));
    if told.is_some() {
        return Some(());
    }
    pen.string(first.whole());
    if first.len() < length {
        pen.text("...");
    }
    Some(())
}

/// The descriptors that control messages pass.
pub(crate) fn passed(control: &[u8]) -> Vec<i32> {
    let mut numbers = Vec::new();
    each_control(Bytes::of(control), |_, head, data| {
        if (head.i32(8), head.i32(12)) == (Some(libc::SOL_SOCKET), Some(libc::SCM_RIGHTS)) {
            numbers.extend(data.elements(4).filter_map(|one| one.i32(0)));
        }
        Some(())
    });
    numbers
}

/// Goes over control messages: the place of each, its head, and its data as far as there are any.
/// Returns where something stands that is none.
fn each_control(
    all: Bytes<'_>,
    mut each: impl FnMut(usize, Bytes<'_>, Bytes<'_>) -> Option<()>,
) -> Option<usize> {
    let mut place = 0;
    loop {
        let rest = all.from(place)?;
        if rest.len() < CONTROL_HEAD {
            return Some(place);
        }
        let head = Bytes::of(rest);
        let length = usize::try_from(head.u64(0)?).unwrap_or(usize::MAX);
        let data = rest.get(CONTROL_HEAD..length.min(rest.len()));
        each(place, head, Bytes::of(data.unwrap_or_default()))?;
        if length < CONTROL_HEAD {
            return Some(place + CONTROL_HEAD);
        }
        let next = length.checked_next_multiple_of(CONTROL_UNIT);
        place = next
            .and_then(|length| place.checked_add(length))
            .filter(|place| *place <= all.len())
            .unwrap_or(all.len());
    }
}

/// `struct cmsghdr[]`, each with its data.
fn control<V: Values>(
    pen: &mut Pen<'_, V>,
    all: Bytes<'_>,
    site: Site<'_>,
    address: u64,
) -> Option<()> {
    if !all.is_readable() || all.is_cut || all.len() < CONTROL_HEAD {
        return None;
    }
    // As the program counts it, whose head is shorter.
    let longer = match site.call.abi == Abi::native() {
        true => 0,
        false => LONGER_HEAD as u64,
    };
    pen.text("[");
    let end = each_control(all, |place, head, data| {
        if place > 0 {
            pen.text(", ");
        }
        pen.text("{cmsg_len=");
        pen.number(head.u64(0)?.saturating_sub(longer));
        pen.text(", cmsg_level=");
        pen.constants(&tables::SOCKET_LEVELS, head.u32(8)?.into());
        pen.text(", cmsg_type=");
        kind(pen, (head.i32(8)?, head.i32(12)?), data, site)?;
        pen.text("}");
        Some(())
    })?;
    if end < all.len() {
        pen.text(", ... /* ");
        pen.address(address.wrapping_add(end as u64));
        pen.text(" */");
    }
    pen.text("]");
    Some(())
}

/// The type of a control message, and its data.
fn kind<V: Values>(
    pen: &mut Pen<'_, V>,
    (level, kind): (i32, i32),
    data: Bytes<'_>,
    site: Site<'_>,
) -> Option<()> {
    let word = u64::from(kind as u32);
    match level {
        libc::SOL_SOCKET => pen.name(&names::SOCKET_CONTROLS, word),
        libc::SOL_IP => pen.name(&names::INTERNET_CONTROLS, word),
        _ => pen.hex(word),
    }
    let length = data.len();
    let start = pen.out.len();
    pen.text(", cmsg_data=");
    let is_written = match (level, kind) {
        (libc::SOL_SOCKET, libc::SCM_RIGHTS) if length >= 4 => {
            pen.list(data.elements(4), false, |pen, one| {
                let descriptor = one.i32(0)?;
                pen.descriptor(descriptor, site.file(descriptor));
                Some(())
            })
        }
        (libc::SOL_SOCKET, SCM_PIDFD) if length >= 4 => {
            pen.text("[");
            pen.descriptor(data.i32(0)?, site.file(data.i32(0)?));
            pen.text("]");
            Some(())
        }
        (libc::SOL_SOCKET, libc::SCM_CREDENTIALS) if length >= 12 => {
            pen.text("{pid=");
            pen.task(data.i32(0)?);
            pen.text(", uid=");
            pen.id(data.u32(4)?);
            pen.text(", gid=");
            pen.id(data.u32(8)?);
            pen.text("}");
            Some(())
        }
        (libc::SOL_SOCKET | libc::SOL_IP, names::SCM_SECURITY) if length > 0 => {
            pen.string(data.whole());
            Some(())
        }
        // Both for the old layout and for that of times of 64 bits.
        (libc::SOL_SOCKET, 29 | 63) if length >= 16 => {
            time::pair(pen, data, 0, (Unit::Micro, Sense::Point))
        }
        (libc::SOL_SOCKET, 35 | 64) if length >= 16 => {
            time::pair(pen, data, 0, (Unit::Nano, Sense::Point))
        }
        (libc::SOL_IP, libc::IP_PKTINFO) if length >= 12 => {
            pen.text("{ipi_ifindex=");
            netlink::value(pen, Form::Interface, data.first(4), site)?;
            pen.text(", ipi_spec_dst=");
            internet_address(pen, data.array(4)?);
            pen.text(", ipi_addr=");
            internet_address(pen, data.array(8)?);
            pen.text("}");
            Some(())
        }
        (libc::SOL_IP, libc::IP_TOS | libc::IP_RECVOPTS | libc::IP_RETOPTS) if length > 0 => pen
            .list(data.whole(), false, |pen, byte| {
                pen.hex((*byte).into());
                Some(())
            }),
        (libc::SOL_IP, libc::IP_TTL | names::IP_CHECKSUM) if length >= 4 => {
            pen.list(data.elements(4), false, |pen, one| {
                pen.number(one.u32(0)?);
                Some(())
            })
        }
        (libc::SOL_IP, libc::IP_ORIGDSTADDR) if length > 2 => any_family(pen, data),
        _ => None,
    };
    if is_written.is_none() {
        pen.out.truncate(start);
    }
    Some(())
}
