//! What the kernel or a loader does by itself, which no call names: core dumps, loaded programs.

use super::acts::{Doer, Thing};
use super::is_start;
use crate::matching::answer::Answer;
use crate::trace::{INTERPRETER, LOADER, OF_CORES, Part, Reached, Value};
use std::borrow::Cow;

impl<'d> Doer<'d, '_> {
    /// What the kernel executed beside the program that the call names. Of the workload's own start
    /// nothing need be known.
    pub(super) fn beside(&self) -> Vec<Thing<'d>> {
        let parts = self.deed.fields.iter().chain(&self.deed.behind);
        let beside = parts.filter_map(|part| match (role_of(part), &part.value) {
            (None, _) => None,
            (Some(_), Value::Unread) => (!is_start(self.deed)).then_some(Thing::Untold),
            (Some(_), _) => Some(Thing::File(Cow::Borrowed(part))),
        });
        beside.collect()
    }

    /// Whether it limits core dumps to more than none. With one byte no file has room.
    pub(super) fn dumps_core(&self) -> Answer {
        match self.part(OF_CORES).map(|part| part.value.clone()) {
            None => Answer::No,
            Some(Value::Number(bytes)) => (bytes > 1).into(),
            Some(_) => Answer::Unknown,
        }
    }
}

/// What a file of code is to the program that a call executed; `None` for other parts.
pub(super) fn role_of(part: &Part) -> Option<&'static str> {
    let roles = [(INTERPRETER, "the interpreter"), (LOADER, "the loader")];
    let mut roles = roles.into_iter();
    let found = roles.find(|(name, _)| *part.name == **name);
    found.map(|(_, role)| role)
}

/// Whether a program is a loader by one of its names (`ld.so(8)`): executed by itself, it executes
/// what its arguments name.
pub(super) fn is_loader(program: &Part) -> bool {
    let Value::Path {
        given,
        absolute,
        reached,
    } = &program.value
    else {
        return false;
    };
    let reached = match reached {
        Reached::Known { names, .. } => names.as_slice(),
        _ => &[],
    };
    let mut names = reached.iter().chain(absolute).chain([given]);
    names.any(|name| is_loaders_name(name))
}

/// `ld-linux-x86-64.so.2`, `ld-2.31.so`, `ld-musl-x86_64.so.1`, `ld64.so.2`, `ld.so`.
fn is_loaders_name(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let Some(rest) = name.strip_prefix(b"ld") else {
        return false;
    };
    let mut words = rest.split(|byte| *byte == b'.').skip(1);
    let is_of_loader = matches!(rest.first(), Some(b'-' | b'.')) || rest.starts_with(b"64.so");
    is_of_loader && words.any(|word| word == b"so")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loader_is_known_by_its_name() {
        for path in [
            "/lib64/ld-linux-x86-64.so.2",
            "/lib/ld-linux-aarch64.so.1",
            "/lib/x86_64-linux-gnu/ld-2.31.so",
            "/lib/ld-musl-x86_64.so.1",
            "/lib64/ld64.so.2",
            "/lib/ld.so.1",
            "/usr/bin/ld.so",
        ] {
            assert!(is_loaders_name(path.as_bytes()), "{path}");
        }
        for path in [
            "/usr/bin/ld",
            "/usr/bin/ld.bfd",
            "/usr/bin/ldd",
            "/lib/libc.so.6",
            "ld-x/a",
        ] {
            assert!(!is_loaders_name(path.as_bytes()), "{path}");
        }
    }
}
