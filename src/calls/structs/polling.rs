//! Waiting for descriptors: sets of them, what is waited for, what happened.

use super::Varying;
use super::names;
use super::pen::Pen;
use super::site::{Bytes, Site};
use super::time::{self, Sense, Unit};
use super::{StructKind, file_names};
use crate::text::Values;

/// `struct pollfd[]`, as the program gives it.
pub(super) fn poll<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let count = site.word(1)? as u32;
    if count == 0 {
        pen.text("[]");
        return Some(());
    }
    let bytes = site.given_part()?.first(count as usize * 8);
    pen.array(bytes, 8, |pen, one| {
        pen.text("{fd=");
        let descriptor = one.i32(0)?;
        pen.descriptor(descriptor, site.file(descriptor));
        // The kernel does not look at those that are negative.
        if descriptor >= 0 {
            pen.text(", events=");
            pen.flags(&names::POLL, one.u16(4)?.into());
        }
        pen.text("}");
        Some(())
    })
}

/// `struct epoll_event[]`: what happened, as many as the result says.
pub(super) fn epoll_events<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    if site.result()? == 0 {
        pen.text("[]");
        return Some(());
    }
    let bytes = site.filled()?;
    let size = StructKind::EpollEvent.size();
    pen.list(bytes.elements(size), bytes.is_cut, epoll_event)
}

/// What is to be waited for; the kernel does not look where a descriptor is taken out.
pub(super) fn epoll_control<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let is_deleted = site.word(1)? as i32 == libc::EPOLL_CTL_DEL;
    epoll_event(pen, site.given().filter(|_| !is_deleted)?)
}

/// `{events=EPOLLIN, data={u32=7, u64=7}}`. What the program puts into the data is its own: a
/// descriptor, or an address.
fn epoll_event<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    let offset = usize::from(StructKind::EpollEvent.size() - 8);
    pen.text("{events=");
    pen.flags(&names::EPOLL, bytes.u32(0)?.into());
    let data = bytes.u64(offset)?;
    pen.text(", data={u32=");
    // An upper half is part of an address, or what the stack held before: 32 bits are often all
    // that was set.
    if data > u64::from(u32::MAX) {
        pen.varying(Varying::Cookie, data as u32);
        pen.text(", u64=");
        pen.varying(Varying::Cookie, data);
    } else {
        pen.number(data);
        pen.text(", u64=");
        pen.number(data);
    }
    pen.text("}}");
    Some(())
}

/// `fd_set`: the descriptors below the first argument.
pub(super) fn set<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let mut members = members(site, site.given_part()?)?;
    write_members(pen, site, &mut members);
    Some(())
}

/// How many bytes the kernel takes of a set: words of 64 bits, and no more than there are in
/// `fd_set`.
fn size_of_set(site: Site<'_>) -> Option<usize> {
    let bound = usize::try_from(site.word(0)? as i32).ok()?;
    Some((bound.div_ceil(64) * 8).min(usize::from(StructKind::FdSet.size())))
}

fn members<'a>(site: Site<'a>, bytes: Bytes<'a>) -> Option<impl Iterator<Item = i32> + 'a> {
    let bound = usize::try_from(site.word(0)? as i32).ok()?;
    if bound == 0 || size_of_set(site)? > bytes.len() {
        return None;
    }
    let bits = bytes.whole().iter().enumerate().flat_map(|(place, byte)| {
        (0..8)
            .filter(move |bit| byte >> bit & 1 == 1)
            .map(move |bit| place * 8 + bit)
    });
    let below = bits.take_while(move |number| *number < bound);
    Some(below.filter_map(|number| i32::try_from(number).ok()))
}

fn write_members<V: Values>(
    pen: &mut Pen<'_, V>,
    site: Site<'_>,
    members: &mut dyn Iterator<Item = i32>,
) {
    pen.text("[");
    let start = pen.out.len();
    for number in members {
        if pen.out.len() > start {
            pen.text(" ");
        }
        pen.descriptor(number, site.file(number));
    }
    pen.text("]");
}

/// What strace writes behind the result of calls that wait for descriptors, in parentheses; nothing
/// where that was not read.
pub(super) fn outcome<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let result = site.result()?;
    let is_select = matches!(site.name(), "select" | "pselect6");
    if !is_select && !matches!(site.name(), "poll" | "ppoll") {
        return None;
    }
    if result == 0 {
        pen.text(" (Timeout)");
        return Some(());
    }
    pen.text(" (");
    let start = pen.out.len();
    let timeout = if is_select {
        for (place, word) in [(1, "in "), (2, "out "), (3, "except ")] {
            let set = Site {
                argument: place,
                ..site
            };
            if site.word(place)? == 0 {
                continue;
            }
            let mut members = members(set, set.filled_first(size_of_set(set)?)?)?.peekable();
            if members.peek().is_some() {
                part(pen, start);
                pen.text(word);
                write_members(pen, site, &mut members);
            }
        }
        4
    } else {
        happened(
            pen,
            Site {
                argument: 0,
                ..site
            },
        )?;
        2
    };
    let unit = match site.name() {
        "select" => Some(Unit::Micro),
        "poll" => None,
        _ => Some(Unit::Nano),
    };
    let left = Site {
        argument: timeout,
        ..site
    };
    if let (Some(unit), Some(bytes)) = (unit, left.filled()) {
        part(pen, start);
        pen.text("left ");
        time::pair(pen, bytes, 0, (unit, Sense::Measured))?;
    }
    pen.text(")");
    Some(())
}

fn part<V: Values>(pen: &mut Pen<'_, V>, start: usize) {
    if pen.out.len() > start {
        pen.text(", ");
    }
}

/// The descriptors at which something happened, and what.
fn happened<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let count = site.word(1)? as u32;
    let bytes = site.filled_first(count as usize * 8)?;
    let events = bytes
        .elements(8)
        .filter(|one| one.u16(6).is_some_and(|events| events != 0));
    pen.list(events, bytes.is_cut, |pen, one| {
        pen.text("{fd=");
        let descriptor = one.i32(0)?;
        pen.descriptor(descriptor, site.file(descriptor));
        pen.text(", revents=");
        pen.flags(&names::POLL, one.u16(6)?.into());
        pen.text("}");
        Some(())
    })
}

/// `struct futex_waitv[]`.
pub(super) fn futexes<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let count = site.word(1)? as u32;
    let bytes = site.given_part()?.first(count as usize * 24);
    pen.array(bytes, 24, |pen, one| {
        pen.text("{val=");
        pen.hex(one.u64(0)?);
        pen.text(", uaddr=");
        pen.address(one.u64(8)?);
        pen.text(", flags=");
        pen.flags(&file_names::FUTEX, one.u32(16)?.into());
        let reserved = one.u32(20)?;
        if reserved != 0 {
            pen.text(", __reserved=");
            pen.hex(reserved.into());
        }
        pen.text("}");
        Some(())
    })
}

/// `struct sembuf[]`.
pub(super) fn semaphores<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let count = site.word(2)? as u32;
    let bytes = site.given_part()?.first(count as usize * 6);
    pen.array(bytes, 6, |pen, one| {
        pen.text("{sem_num=");
        pen.number(one.u16(0)?);
        pen.text(", sem_op=");
        pen.number(one.i16(2)?);
        pen.text(", sem_flg=");
        pen.flags(&file_names::SEMAPHORE, one.u16(4)?.into());
        pen.text("}");
        Some(())
    })
}

/// `struct mq_attr`.
pub(super) fn queue<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.known()?;
    pen.text("{mq_flags=");
    match bytes.u64(0)? {
        // The kernel takes them from the flags of the call.
        flags if site.name() == "mq_open" => pen.hex(flags),
        flags => pen.flags(&file_names::QUEUE, flags),
    }
    for (field, offset) in [
        (", mq_maxmsg=", 8),
        (", mq_msgsize=", 16),
        (", mq_curmsgs=", 24),
    ] {
        pen.text(field);
        pen.number(bytes.i64(offset)?);
    }
    pen.text("}");
    Some(())
}
