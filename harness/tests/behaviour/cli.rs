//! The command line: what it ends with, what it says, what it writes, and what it refuses.

mod bad_input;
mod calibrate;
mod consumers;
mod diff;
mod editors;
mod ends;
mod help;
mod helpers;
mod kcidb;
mod matrix_reports;
mod mutate;
mod new;
mod reports;
mod rights;
mod roots;
mod selection;
mod shards;
mod snapshots;
mod statuses;
mod stored;
mod summary;
mod variants;
mod waits;
mod written;

use nix::sys::stat::Mode;

use crate::support::project::Project;

/// A scenario that passes, without a snapshot.
pub(crate) const PASSES: &str = "workload: { run: [\"true\"] }\nsnapshot: false";
/// One that fails.
pub(crate) const FAILS: &str = "workload: { run: [\"false\"] }\nsnapshot: false";
/// One whose requirement no machine meets.
pub(crate) const SKIPPED: &str =
    "workload: { run: [\"true\"] }\nrequires: { commands: [no-such-command] }";
/// One that the harness cannot lay out: no file system has names of 258 bytes.
pub(crate) const BROKEN: &str = "workload: { run: [\"true\"], files: { \
    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\
    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\
    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: x } }\nsnapshot: false";
/// One that has to be ended.
pub(crate) const ENDLESS: &str =
    "workload: { run: [sleep, infinity], timeout: 200ms }\nsnapshot: false";
/// One that fails, as is known.
pub(crate) const KNOWN: &str =
    "workload: { run: [\"false\"] }\nsnapshot: false\nexpect_failure: it is false";
/// One that passes, which is not known.
pub(crate) const UNEXPECTED: &str =
    "workload: { run: [\"true\"] }\nsnapshot: false\nexpect_failure: it was";
/// One that loses a record: what it opens is longer than a ring, however fast that is read.
pub(crate) const LOSES: &str = "workload: { run: [perl, -e, \"open F, '<', 'x' x 4090\"] }\n\
                     trace: { ring: { size: 4KiB } }\nsnapshot: false";

/// Two scenarios that wait for each other, so long: each opens one end of a pipe.
pub(crate) fn needing_each_other(timeout: &str) -> Project {
    let project = Project::new();
    let path = project.join("pipe");
    nix::unistd::mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR).expect("mkfifo");
    for (name, end) in [("reads", "<"), ("writes", ">")] {
        project.scenario(
            name,
            &format!(
                "sandbox: {{ root: host }}\nworkload:\n  shell: \": {end} '{}'\"\n  timeout: {timeout}\nsnapshot: false",
                path.display()
            ),
        );
    }
    project
}
