//! Locks of files, and what is sent signals about a file: what `fcntl` is given and answers.

use super::file_names as file;
use super::pen::Pen;
use super::site::Site;
use crate::constants::tables;
use crate::names::Abi;
use crate::text::Values;

/// `F_GETLK64` and `F_SETLKW64` of 32-bit programs, with `F_SETLK64` between them.
const F_GETLK64: u32 = 12;
const F_SETLKW64: u32 = 14;

/// Where the fields of a lock stand behind its type and its `l_whence`.
struct Layout {
    /// Of places and lengths, in bytes.
    width: usize,
    start: usize,
    length: usize,
    owner: usize,
    size: usize,
}

/// `struct flock` of a 64-bit program, and `struct compat_flock64` of arm.
const NATIVE: Layout = Layout {
    width: 8,
    start: 8,
    length: 16,
    owner: 24,
    size: 32,
};

/// `struct compat_flock`.
const NARROW: Layout = Layout {
    width: 4,
    start: 4,
    length: 8,
    owner: 12,
    size: 16,
};

/// `struct compat_flock64`, which is packed on x86.
const NARROW_OF_64: Layout = Layout {
    width: 8,
    start: 4,
    length: 12,
    owner: 20,
    size: 24,
};

/// The layout by the convention and the command; `None` for a command that the kernel does not
/// have there.
fn layout(site: Site<'_>) -> Option<&'static Layout> {
    let command = site.word(1)? as u32;
    let is_of_64 = matches!(command, F_GETLK64..=F_SETLKW64);
    match site.call.abi {
        Abi::I386 | Abi::Arm if command as i32 <= libc::F_SETLKW => Some(&NARROW),
        Abi::I386 => Some(&NARROW_OF_64),
        Abi::X86_64 | Abi::X32 | Abi::Aarch64 if is_of_64 => None,
        _ => Some(&NATIVE),
    }
}

/// `struct flock`, as the program gives it or as the kernel answers; whose lock it is, only the
/// kernel tells.
pub(super) fn lock<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>, is_told: bool) -> Option<()> {
    let layout = layout(site)?;
    let bytes = site.given_or_filled(is_told, layout.size)?;
    let number = |offset| match layout.width {
        4 => bytes.i32(offset).map(i64::from),
        _ => bytes.i64(offset),
    };
    pen.text("{l_type=");
    pen.name(&file::LOCKS, bytes.u16(0)?.into());
    pen.text(", l_whence=");
    pen.constants(&tables::WHENCE, bytes.u16(2)?.into());
    pen.text(", l_start=");
    pen.number(number(layout.start)?);
    pen.text(", l_len=");
    pen.number(number(layout.length)?);
    let owner = bytes.i32(layout.owner)?;
    if is_told {
        pen.text(", l_pid=");
        pen.task(owner);
    }
    pen.text("}");
    Some(())
}

/// `struct f_owner_ex`: what is sent signals about a file.
pub(super) fn owner<V: Values>(pen: &mut Pen<'_, V>, site: Site<'_>) -> Option<()> {
    const F_GETOWN_EX: u32 = 16;
    let is_answered = site.word(1)? as u32 == F_GETOWN_EX;
    let bytes = site.given_or_filled(is_answered, 8)?;
    let kind = bytes.u32(0)?;
    pen.text("{type=");
    pen.name(&file::OWNERS, kind.into());
    pen.text(", pid=");
    pen.task(bytes.i32(4)?);
    pen.text("}");
    Some(())
}
