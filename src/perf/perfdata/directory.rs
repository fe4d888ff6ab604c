//! What `perf record` leaves by the name that it is told: a file, or a directory (`--threads`,
//! `--kcore`; `tools/perf/util/data.c`).
//!
//! In a directory the file `data` is a recording, and each `data.N` has the records that a thread
//! of perf's has read besides, and nothing else: no header, and no ends of rounds.

use std::fs::File;
use std::path::PathBuf;

/// The files of a recording, open. perf-live's `files::recording` opens them by their name.
#[derive(Debug)]
pub struct Files {
    /// The recording.
    pub first: File,
    /// The files of perf's threads, with their numbers, in the order of these.
    pub threads: Vec<(u32, File)>,
    /// The path of `first`.
    pub name: PathBuf,
    /// Whether they lie in a directory: then a recording that speaks of files of threads is whole.
    pub is_directory: bool,
}
