//! What requests of ioctl(2) are given and answer.

use super::pen::Pen;
use super::site::{Bytes, Site};
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
    let bytes = site.given()?;
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
