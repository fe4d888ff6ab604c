//! What a run opened that is no file of a disk.

use crate::sweep::opened_where;
use crate::verdict::Run;
use perf_live::sandbox::FileType;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::FileTypeExt;

/// Returns the devices, named pipes and sockets among the files that a run opened, as scenarios
/// name them: by the machine, whose devices are those of a sandbox, and by what the run left in its
/// folder. No open makes any of these.
pub(super) fn special(run: &Run) -> BTreeSet<String> {
    let left = run.left.yes();
    let is_left = |name: &str| {
        // What may be meant otherwise has that in front.
        let name = name.strip_prefix("./").unwrap_or(name);
        let found = left.and_then(|left| left.files.get(name.as_bytes()));
        let is_special =
            |kind| matches!(kind, FileType::Fifo | FileType::Socket | FileType::Device);
        found.is_some_and(|file| is_special(file.kind))
    };
    opened_where(&run.trace, &|name| match name.starts_with('/') {
        // What lies elsewhere in a sandbox may be its own.
        true => name.starts_with("/dev/") && is_special(name),
        false => is_left(name),
    })
}

fn is_special(path: &str) -> bool {
    fs::metadata(path).is_ok_and(|found| {
        let kind = found.file_type();
        kind.is_char_device() || kind.is_block_device() || kind.is_fifo() || kind.is_socket()
    })
}
