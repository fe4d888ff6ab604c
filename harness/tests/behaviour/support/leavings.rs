//! What a run could leave on the machine beside processes and files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::PATIENCE;

/// What there is at one moment.
#[derive(Debug)]
pub(crate) struct Leavings {
    mounts: BTreeSet<String>,
    groups: BTreeSet<PathBuf>,
    objects: BTreeSet<String>,
}

impl Leavings {
    /// What there is now.
    pub(crate) fn now() -> Self {
        Self {
            mounts: lines("/proc/self/mountinfo"),
            groups: groups(),
            objects: objects(),
        }
    }

    /// Nothing has come since: no mount, no object of System V's interprocess communication, no
    /// key, no name of a socket, no control group. Another test's control group goes away in the
    /// end.
    pub(crate) fn assert_no_more(&self) {
        let now = Self::now();
        assert_eq!(now.mounts, self.mounts, "mounts");
        let objects: Vec<_> = now.objects.difference(&self.objects).collect();
        assert!(objects.is_empty(), "left behind: {objects:?}");
        let end = Instant::now() + PATIENCE;
        // Those that came later belong to tests that are still at work.
        let mut left: BTreeSet<_> = now.groups.difference(&self.groups).cloned().collect();
        while !left.is_empty() {
            assert!(Instant::now() < end, "control groups stay: {left:?}");
            std::thread::yield_now();
            left.retain(|group| group.exists());
        }
    }
}

fn lines(path: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines().map(str::to_owned).collect()
}

/// The control groups that a harness made, in all hierarchies.
fn groups() -> BTreeSet<PathBuf> {
    let mounts = lines("/proc/mounts");
    let points = mounts.iter().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let point = words.next()?;
        words.next()?.starts_with("cgroup").then_some(point)
    });
    let mut folders: Vec<PathBuf> = points.map(PathBuf::from).collect();
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        // One that is gone by now has nothing in it.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if is_ours(&entry.path()) {
                found.insert(entry.path());
            }
            folders.push(entry.path());
        }
    }
    found
}

fn is_ours(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("harness-")
}

/// What the hostile programs make: each has the same name wherever it is made.
fn objects() -> BTreeSet<String> {
    let listed = [
        "sysvipc/shm",
        "sysvipc/msg",
        "sysvipc/sem",
        "keys",
        "net/unix",
    ];
    let ours = |line: &String| line.contains("harness-hostile") || line.contains("1751216750");
    let mut found = BTreeSet::new();
    for list in listed {
        // Not every kernel is built with each of them.
        let text = fs::read(format!("/proc/{list}")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        found.extend(text.lines().map(str::to_owned).filter(ours));
    }
    let memory = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    found.extend(
        memory
            .map(|entry| entry.path().display().to_string())
            .filter(ours),
    );
    found
}
