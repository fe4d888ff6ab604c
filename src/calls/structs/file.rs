//! Files: what they are, how they are opened, where in them.

use super::Varying;
use super::file_names as file;
use super::names;
use super::pen::Pen;
use super::site::{Bytes, Site};
use crate::constants::tables;
use crate::text::Values;

/// `struct stat`: its type, its mode and its size, as strace abbreviates it.
pub(super) fn stat<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let is_x86 = cfg!(target_arch = "x86_64");
    let bytes = site.filled()?;
    let mode = bytes.u32(if is_x86 { 24 } else { 16 })?;
    pen.text("{st_mode=");
    write_mode(pen, mode);
    match mode & libc::S_IFMT {
        libc::S_IFCHR | libc::S_IFBLK => {
            let device = bytes.u64(if is_x86 { 40 } else { 32 })?;
            pen.text(", st_rdev=makedev(");
            pen.hex(libc::major(device).into());
            pen.text(", ");
            pen.hex(libc::minor(device).into());
            pen.text(")");
        }
        _ => {
            pen.text(", st_size=");
            pen.varying(Varying::Size, bytes.i64(48)?);
        }
    }
    pen.text(", ...}");
    Some(())
}

fn write_mode<V: Values>(pen: &mut Pen<'_, V>, mode: u32) {
    const TYPE: u32 = libc::S_IFMT;
    let start = pen.out.len();
    match names::FILE_TYPES.name((mode & TYPE).into()) {
        Some(name) => pen.text(name),
        None if mode & TYPE != 0 => return pen.octal(mode.into()),
        None => {}
    }
    let special = [
        (libc::S_ISUID, "S_ISUID"),
        (libc::S_ISGID, "S_ISGID"),
        (libc::S_ISVTX, "S_ISVTX"),
    ];
    for (bit, name) in special {
        if mode & bit != 0 {
            pen.bar(start);
            pen.text(name);
        }
    }
    pen.bar(start);
    pen.octal((mode & 0o777).into());
}

/// `struct statx`, likewise.
pub(super) fn statx<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.filled()?;
    pen.text("{stx_mask=");
    pen.constants(&tables::STATX_MASK, bytes.u32(0)?.into());
    pen.text(", stx_attributes=");
    pen.flags(&names::STATX_ATTRIBUTES, bytes.u64(8)?);
    pen.text(", stx_mode=");
    write_mode(pen, bytes.u16(28)?.into());
    pen.text(", stx_size=");
    pen.varying(Varying::Size, bytes.u64(40)?);
    pen.text(", ...}");
    Some(())
}

/// `struct statfs`.
pub(super) fn statfs<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.filled()?;
    pen.text("{f_type=");
    pen.name(&file::FILE_SYSTEMS, bytes.u64(0)?);
    pen.text(", f_bsize=");
    pen.number(bytes.u64(8)?);
    let counts = [
        (", f_blocks=", 16),
        (", f_bfree=", 24),
        (", f_bavail=", 32),
        (", f_files=", 40),
        (", f_ffree=", 48),
    ];
    for (field, offset) in counts {
        pen.text(field);
        pen.varying(Varying::Machine, bytes.u64(offset)?);
    }
    pen.text(", f_fsid={val=[");
    for (before, offset) in [("", 56), (", ", 60)] {
        pen.text(before);
        let id = bytes.u32(offset)?;
        pen.values.varying_hex(Varying::Machine, id.into(), pen.out);
    }
    pen.text("]}, f_namelen=");
    pen.number(bytes.u64(64)?);
    pen.text(", f_frsize=");
    pen.number(bytes.u64(72)?);
    pen.text(", f_flags=");
    pen.flags(&file::MOUNT_STATE, bytes.u64(80)?);
    pen.text("}");
    Some(())
}

/// `struct open_how`; a mode where there is one or should be one, and what a newer kernel may know
/// as bytes.
pub(super) fn open_how<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    // OPEN_HOW_SIZE_VER0.
    let bytes = site.given_part()?;
    let (flags, mode, resolve) = (bytes.u64(0)?, bytes.u64(8)?, bytes.u64(16)?);
    pen.text("{flags=");
    pen.constants(&tables::OPEN_HOW_FLAGS, flags);
    // A file without a name is made too: O_TMPFILE without its O_DIRECTORY.
    let makes = libc::O_CREAT | libc::O_TMPFILE & !libc::O_DIRECTORY;
    if mode != 0 || flags & makes as u64 != 0 {
        pen.text(", mode=");
        pen.octal(mode);
    }
    pen.text(", resolve=");
    pen.flags(&names::RESOLVE, resolve);
    rest(pen, bytes, 24);
    pen.text("}");
    Some(())
}

/// What stands behind the fields that are known, unless it is nothing but zeros; `???` where it
/// cannot be read.
pub(super) fn rest<V: Values>(pen: &mut Pen<'_, V>, bytes: Bytes<'_>, known: usize) {
    if !bytes.is_readable() {
        return pen.text(", ???");
    }
    let rest = bytes.from(known).unwrap_or_default();
    if rest.iter().all(|byte| *byte == 0) {
        return;
    }
    pen.text(", /* bytes ");
    pen.number(known);
    pen.text("..");
    pen.number(bytes.len() - 1);
    pen.text(" */ \"");
    for byte in rest {
        pen.text(&format!("\\x{byte:02x}"));
    }
    pen.text("\"");
}

/// `struct mount_attr`.
pub(super) fn mount<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.given_part()?;
    pen.text("{attr_set=");
    pen.constants(&tables::MOUNT_ATTRIBUTE_CHANGES, bytes.u64(0)?);
    pen.text(", attr_clr=");
    pen.constants(&tables::MOUNT_ATTRIBUTE_CHANGES, bytes.u64(8)?);
    pen.text(", propagation=");
    pen.name(&file::PROPAGATION, bytes.u64(16)?);
    pen.text(", userns_fd=");
    match i32::try_from(bytes.u64(24)?) {
        Ok(descriptor) => pen.descriptor(descriptor, site.file(descriptor)),
        Err(_) => pen.number(bytes.u64(24)?),
    }
    rest(pen, bytes, 32);
    pen.text("}");
    Some(())
}

/// `[0] => [5]`: a place in a file, and where the call left it. Only sendfile(2) shows the latter,
/// as in strace.
pub(super) fn offset<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let given = site.given()?;
    pen.text("[");
    // sendfile(2) takes one without a sign to be one beyond all files.
    if site.name() == "sendfile" {
        pen.number(given.u64(0)?);
    } else {
        pen.number(given.i64(0)?);
    }
    pen.text("]");
    if let Some(after) = site.filled().and_then(|bytes| bytes.u64(0)) {
        pen.text(" => [");
        pen.number(after);
        pen.text("]");
    }
    Some(())
}

/// Bytes that are mostly text, as many as there are and as the program had room for, and whether
/// there were more.
pub(super) fn text(site: Site<'_>) -> Option<(&[u8], bool)> {
    let name = site.name();
    let room = match (site.word(site.argument + 1)?, name) {
        (room, "sethostname" | "setdomainname") => usize::try_from(room as i32).ok()?,
        (room, _) => usize::try_from(room).ok()?,
    };
    let bytes = match site.given_part() {
        _ if room == 0 => return None,
        Some(_) => site.given_first(room)?,
        None => site.filled()?.first(room),
    };
    let whole = bytes.whole();
    // Values of attributes often end with the zero byte of a C string.
    let is_value = name.ends_with("getxattr") || name.ends_with("setxattr");
    let without_zero = whole.strip_suffix(b"\0").filter(|_| is_value);
    Some((without_zero.unwrap_or(whole), bytes.is_cut))
}

/// What getcwd(2) gives: its zero byte counts.
pub(super) fn directory(site: Site<'_>) -> Option<(&[u8], bool)> {
    let bytes = site.filled()?;
    let whole = bytes.whole();
    Some((whole.strip_suffix(b"\0").unwrap_or(whole), bytes.is_cut))
}

/// Writes bytes that are mostly text.
pub(super) fn string<V: Values>(
    pen: &mut Pen<'_, V>,
    (bytes, is_cut): (&[u8], bool),
) -> Option<()> {
    pen.string(bytes);
    if is_cut {
        pen.text("...");
    }
    Some(())
}

/// Two descriptors that the kernel has opened.
pub(super) fn descriptors<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    let bytes = site.filled()?;
    pen.list([0, 4], false, |pen, offset| {
        let number = bytes.i32(offset)?;
        pen.descriptor(number, site.file(number));
        Some(())
    })
}
