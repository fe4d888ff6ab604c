//! What the kernel executed beside programs, as a recording holds it.

use super::bytes::Bytes;
use crate::policy::landlock::Programs;

/// Each program, and what was executed beside it or why that is not known.
pub(super) type Executed = Vec<(Bytes, Result<Vec<Bytes>, String>)>;

pub(super) fn keep(programs: &Programs) -> Executed {
    let bytes = |path: &Vec<u8>| Bytes::from(path.as_slice());
    let programs = programs.iter();
    let keep = programs.map(|(path, beside)| {
        let beside = beside.as_ref().map(|all| all.iter().map(bytes).collect());
        (bytes(path), beside.map_err(String::clone))
    });
    keep.collect()
}

pub(super) fn kept(executed: &Executed) -> Programs {
    let programs = executed.iter().map(|(path, beside)| {
        let beside = beside
            .as_ref()
            .map(|all| all.iter().map(Bytes::to_vec).collect());
        (path.to_vec(), beside.map_err(String::clone))
    });
    programs.collect()
}
