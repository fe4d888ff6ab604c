//! Captured machines for tests: the sources of events that their kernels list.

use perf_live::host::Host;

pub(crate) const AARCH64: &str = include_str!("../../harness/fixtures/sources/6.1.0-56-arm64.txt");
pub(crate) const X86_64: &str = include_str!("../../harness/fixtures/sources/6.18.44-fc-v669.txt");

/// A machine with these sources, and the folder that it lies in.
pub(crate) fn machine(captured: &str) -> (tempfile::TempDir, Host) {
    let root = tempfile::tempdir().unwrap();
    for line in captured.lines() {
        let (path, content) = line.split_once('=').unwrap();
        let path = root.path().join("sys/bus/event_source/devices").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{content}\n")).unwrap();
    }
    let host = Host::at(root.path());
    (root, host)
}
