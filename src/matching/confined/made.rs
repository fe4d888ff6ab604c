//! Files that calls make whose path none of their arguments is.

use super::acts::{Doer, Thing};
use super::handed::file;
use crate::trace::{Reached, Value};
use std::borrow::Cow;

impl<'d> Doer<'d, '_> {
    /// The file that a message queue is, where its file system is mounted (`mq_overview(7)`). The
    /// call has the name without the slash that the C library takes.
    pub(super) fn queue(&self) -> Thing<'d> {
        const MOST: usize = 255;
        let name = self.part("u_name");
        let Some(Value::Bytes {
            bytes: name,
            is_cut: false,
        }) = name.as_deref().map(|part| &part.value)
        else {
            return Thing::Unread;
        };
        // The kernel takes no other.
        let is_name = (1..=MOST).contains(&name.len()) && !name.contains(&b'/');
        match is_name && !matches!(name.as_slice(), b"." | b"..") {
            true => file(&[b"/dev/mqueue/", name.as_slice()].concat()),
            false => Thing::Unread,
        }
    }

    /// The file that a socket is bound to; `None` where it is bound to none.
    pub(super) fn socket_file(&self) -> Option<Thing<'d>> {
        match self.part("unix") {
            Some(part) => match part.value {
                // A name that is no file's.
                Value::Bytes { .. } | Value::Nothing => None,
                Value::Unread => Some(Thing::Unread),
                _ => Some(Thing::File(part)),
            },
            None => Some(Thing::Unread),
        }
    }
}

/// The file without a name that is made in a folder: it lies in it, and is called as its
/// descriptor is.
pub(super) fn nameless(folder: Thing<'_>) -> Thing<'_> {
    let Thing::File(part) = folder else {
        return folder;
    };
    let within = |path: &mut Vec<u8>| match path.as_slice() {
        b"." | b"./" => *path = b"#".to_vec(),
        [.., b'/', b'.'] => {
            path.pop();
            path.push(b'#');
        }
        _ => {
            let end = path.iter().rposition(|byte| *byte != b'/');
            path.truncate(end.map_or(0, |end| end + 1));
            path.extend(b"/#");
        }
    };
    let mut part = part.into_owned();
    if let Value::Path {
        given,
        absolute,
        reached,
    } = &mut part.value
    {
        within(given);
        absolute.iter_mut().for_each(within);
        if let Reached::Known { names, .. } = reached {
            names.iter_mut().for_each(within);
        }
    }
    Thing::File(Cow::Owned(part))
}
