//! What requests of ioctl(2) are given and answer.

use super::netlink::form::Field;
use super::netlink::form::Form::{Named, Number, Padding};
use super::netlink::plain;
use super::pen::Pen;
use super::site::{Bytes, Site};
use crate::constants::{Constants, tables};
use crate::pointers::FS_IOC_FSSETXATTR;
use crate::text::Values;

/// `struct winsize`.
pub(super) fn window<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    let fields = ["{ws_row=", ", ws_col=", ", ws_xpixel=", ", ws_ypixel="];
    for (field, offset) in fields.into_iter().zip([0, 2, 4, 6]) {
        pen.text(field);
        pen.number(bytes.u16(offset)?);
    }
    pen.text("}");
    Some(())
}

/// A group of processes or a session.
pub(super) fn group<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>) -> Option<()> {
    pen.text("[");
    match bytes.i32(0)? {
        id @ 1.. => pen.values.group(id, pen.out),
        none => pen.number(none),
    }
    pen.text("]");
    Some(())
}

/// `struct file_clone_range`.
pub(super) fn clone_range<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.given_first(32)?;
    pen.text("{src_fd=");
    let number = bytes.i64(0)?;
    match i32::try_from(number) {
        Ok(descriptor) => pen.descriptor(descriptor, site.file(descriptor)),
        Err(_) => pen.number(number),
    }
    for (field, offset) in [
        (", src_offset=", 8),
        (", src_length=", 16),
        (", dest_offset=", 24),
    ] {
        pen.text(field);
        pen.number(bytes.u64(offset)?);
    }
    pen.text("}");
    Some(())
}

/// `struct fiemap`: what is asked for, and what the kernel says of it.
pub(super) fn extents<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let given = site.given_first(32)?;
    pen.text("{");
    plain(pen, EXTENTS, given, site)?;
    pen.text("}");
    if let Some(answer) = site.filled_first(32) {
        pen.text(" => {");
        plain(pen, MAPPED, answer, site)?;
        pen.text(", ...}");
    }
    Some(())
}

const EXTENTS: &[Field] = &[
    ("fm_start", Number(8)),
    ("fm_length", Number(8)),
    ("fm_flags", Named(4, &tables::EXTENT_MAP_FLAGS)),
    ("", Padding(4)),
    ("fm_extent_count", Number(4)),
];
const MAPPED: &[Field] = &[
    ("", Padding(16)),
    ("fm_flags", Named(4, &tables::EXTENT_MAP_FLAGS)),
    ("fm_mapped_extents", Number(4)),
];

/// Whether a request reads (`_IOC_READ`): whether the kernel answers it.
const IS_ANSWERED: u32 = 1 << 31;

/// The attributes of a file.
pub(super) fn inode_flags<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let is_answered = site.word(1)? as u32 & IS_ANSWERED != 0;
    let bytes = site.given_or_filled(is_answered, 4)?;
    pen.text("[");
    pen.constants(&tables::INODE_FLAGS, bytes.u32(0)?.into());
    pen.text("]");
    Some(())
}

/// `struct fsxattr`; how many extents there are, only the kernel tells.
pub(super) fn inode_attributes<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let is_answered = u64::from(site.word(1)? as u32) != FS_IOC_FSSETXATTR;
    let bytes = site.given_or_filled(is_answered, 28)?;
    pen.text("{fsx_xflags=");
    pen.constants(&tables::INODE_ATTRIBUTES, bytes.u32(0)?.into());
    let fields = [
        (", fsx_extsize=", 4),
        (", fsx_nextents=", 8),
        (", fsx_projid=", 12),
        (", fsx_cowextsize=", 16),
    ];
    for (field, offset) in fields {
        if is_answered || offset != 8 {
            pen.text(field);
            match offset {
                12 => pen.hex(bytes.u32(offset)?.into()),
                _ => pen.number(bytes.u32(offset)?),
            }
        }
    }
    pen.text("}");
    Some(())
}

/// The modes of a terminal; of `struct termio` each has 16 bits.
pub(super) fn terminal<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let request = u64::from(site.word(1)? as u32);
    let is_answered = matches!(request, libc::TCGETS | libc::TCGETS2 | libc::TCGETA);
    let (size, width) = match request {
        libc::TCGETA..=libc::TCSETAF => (18, 2),
        libc::TCGETS..=libc::TCSETSF => (36, 4),
        _ => (44, 4),
    };
    let bytes = site.given_or_filled(is_answered, size)?;
    let modes: [(&str, &Constants); 4] = [
        ("{c_iflag=", &tables::TERMINAL_INPUT),
        (", c_oflag=", &tables::TERMINAL_OUTPUT),
        (", c_cflag=", &tables::TERMINAL_CONTROL),
        (", c_lflag=", &tables::TERMINAL_LOCAL),
    ];
    for (place, (field, names)) in modes.into_iter().enumerate() {
        pen.text(field);
        let mode = match width {
            2 => bytes.u16(place * width)?.into(),
            _ => bytes.u32(place * width)?,
        };
        // No bit has no name.
        if mode != 0 || matches!(place, 1 | 2) {
            pen.constants(names, mode.into());
        }
    }
    pen.text(", ...}");
    Some(())
}
