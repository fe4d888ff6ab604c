//! Calls that change extended attributes.

use super::of_call::OfCall;
use crate::crash::{Act, Attributes, Target};
use std::io;

/// The largest value: `XATTR_SIZE_MAX`, include/uapi/linux/limits.h.
const LARGEST: u64 = 64 << 10;

/// `XATTR_NAME_POSIX_ACL_ACCESS` and `_DEFAULT`, include/uapi/linux/xattr.h.
const ACCESS: &[u8] = b"system.posix_acl_access";
const DEFAULT: &[u8] = b"system.posix_acl_default";

/// The permission bits that a list of access stands for; `None` for one that says more.
///
/// `struct posix_acl_xattr_header` and `_entry`, include/uapi/linux/posix_acl_xattr.h.
fn permissions(list: &[u8]) -> Option<u32> {
    let (version, entries) = list.split_first_chunk()?;
    if u32::from_le_bytes(*version) != 2 || entries.len() != 3 * 8 {
        return None;
    }
    let (mut mode, mut known) = (0, 0);
    for entry in entries.chunks_exact(8) {
        let (tag, rest) = entry.split_first_chunk()?;
        let tag = u16::from_le_bytes(*tag);
        // ACL_USER_OBJ, ACL_GROUP_OBJ, ACL_OTHER.
        let shift = [(1, 6), (4, 3), (0x20, 0)];
        let (_, shift) = shift.into_iter().find(|(known, _)| *known == tag)?;
        let bits = u32::from(u16::from_le_bytes(*rest.first_chunk()?));
        mode |= (bits & 7) << shift;
        known |= tag;
    }
    (known == 0x25).then_some(mode)
}

impl OfCall<'_> {
    /// Calls that set or remove an extended attribute.
    pub(super) fn xattr(&mut self, name: &str) -> io::Result<Act> {
        let is_at = name.ends_with("at");
        let Some(file) = self.labelled(name, is_at)? else {
            return Ok(Act::Nothing);
        };
        let label = self.look.string(self.word(if is_at { 3 } else { 1 }))?;
        if label == ACCESS || label == DEFAULT {
            return self.access(name, file, &label);
        }
        if !Attributes::are_in_states(&label) {
            let label = String::from_utf8_lossy(&label).escape_debug().to_string();
            return Ok(Act::Unknown(format!(
                "`{name}` of `{label}`: attributes of this kind are in no state"
            )));
        }
        if name.contains("remove") {
            let value = None;
            return Ok(Act::Xattr {
                file,
                name: label,
                value,
            });
        }
        let value = self.value(is_at)?;
        Ok(match value {
            None => Act::Unknown(format!("`{name}` of a value above 64 KiB")),
            value => Act::Xattr {
                file,
                name: label,
                value,
            },
        })
    }

    /// The value that is set; `None` for one that is too large.
    fn value(&self, is_at: bool) -> io::Result<Option<Vec<u8>>> {
        let (at, size) = match is_at {
            false => (self.word(2), self.word(3)),
            // struct xattr_args: value, size, flags.
            true => {
                let arguments = self.word(4);
                let size = self.look.word(arguments.wrapping_add(8))?;
                (self.look.word(arguments)?, size & u64::from(u32::MAX))
            }
        };
        match size > LARGEST {
            true => Ok(None),
            false => self.look.bytes(at, size as usize).map(Some),
        }
    }

    /// Sets or removes a list of access. No file in states has one that says more than its mode:
    /// so a list of the owner, the group and others is another way to say chmod(2)
    /// (`posix_acl_update_mode()`, fs/posix_acl.c), and removing one changes nothing.
    fn access(&mut self, name: &str, file: Target, label: &[u8]) -> io::Result<Act> {
        if name.contains("remove") {
            return Ok(Act::Nothing);
        }
        let value = self.value(name.ends_with("at"))?;
        let mode = value.and_then(|value| permissions(&value));
        Ok(match mode {
            Some(mode) if label == ACCESS => Act::Permissions { file, mode },
            _ => Act::Unknown(format!(
                "`{name}`: access control lists that say more than a mode are in no state"
            )),
        })
    }

    /// The file that such a call is about.
    fn labelled(&mut self, name: &str, is_at: bool) -> io::Result<Option<Target>> {
        let of_descriptor = |this: &mut Self, number| -> io::Result<Option<Target>> {
            let file = this.look.descriptor(number)?;
            let opened = this.opened_of(file)?;
            Ok(opened.map(Target::Opened))
        };
        if name.starts_with('f') {
            return of_descriptor(self, self.number(0));
        }
        let (folder, path) = match is_at {
            true => (self.number(0), self.word(1)),
            false => (libc::AT_FDCWD, self.word(0)),
        };
        let flags = if is_at { self.bits(2) as i32 } else { 0 };
        // Without a path it is the descriptor's file (getname_maybe_null(), fs/namei.c).
        if flags & libc::AT_EMPTY_PATH != 0 && (path == 0 || self.look.string(path)?.is_empty()) {
            return match folder {
                libc::AT_FDCWD => Ok(None),
                number => of_descriptor(self, number),
            };
        }
        let follows = !name.starts_with('l') && flags & libc::AT_SYMLINK_NOFOLLOW == 0;
        self.target_at(folder, path, follows)
    }
}

#[cfg(test)]
mod tests {
    use super::permissions;

    #[test]
    fn a_list_of_access_is_a_mode_if_it_says_no_more() {
        let entry = |tag: u16, bits: u16| {
            let id = u32::MAX.to_le_bytes();
            [&tag.to_le_bytes()[..], &bits.to_le_bytes(), &id].concat()
        };
        let list = |version: u32, entries: &[Vec<u8>]| {
            [&version.to_le_bytes()[..], &entries.concat()].concat()
        };
        let three = [entry(1, 6), entry(4, 4), entry(0x20, 0)];
        assert_eq!(permissions(&list(2, &three)), Some(0o640));
        assert_eq!(permissions(&list(3, &three)), None);
        assert_eq!(permissions(&list(2, &three[..2])), None);
        let twice = [entry(1, 6), entry(1, 4), entry(0x20, 0)];
        assert_eq!(permissions(&list(2, &twice)), None);
        // Another user, and the mask that comes with one.
        let named = [entry(1, 6), entry(2, 7), entry(0x20, 0)];
        assert_eq!(permissions(&list(2, &named)), None);
        let more = [three.to_vec(), vec![entry(0x10, 7)]].concat();
        assert_eq!(permissions(&list(2, &more)), None);
        assert_eq!(permissions(b""), None);
    }
}
