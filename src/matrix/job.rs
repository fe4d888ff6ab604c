//! The orders for a guest.

use super::kernel::Kernel;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A command that runs in a guest as it would on the host: with the same paths, words and
/// environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// The program, looked up in `PATH` unless it has a slash, and its arguments.
    pub command: Vec<OsString>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The working directory, from the root.
    pub directory: PathBuf,
    /// Files and folders that it works with. A guest has its own `/tmp`; those of these that lie
    /// below the host's are visible in it.
    pub sees: Vec<PathBuf>,
    /// Folders of the host that it may write to. All other writes are lost with the guest.
    pub writes: Vec<PathBuf>,
    /// Whether its standard input is that of this process, read as it comes; if not, it is empty.
    pub has_input: bool,
}

/// The job in bytes, with what the guest must know of itself.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Orders {
    pub(super) command: Vec<Vec<u8>>,
    pub(super) environment: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) directory: Vec<u8>,
    /// Folders and files just below `/tmp` that are bound there.
    pub(super) of_tmp: Vec<Vec<u8>>,
    /// The folders that are written through; the tag of each is its place in the list.
    pub(super) writes: Vec<Vec<u8>>,
    pub(super) has_input: bool,
    /// The folder of the host that is the guest's root; without it the host's own is.
    pub(super) root: Option<Vec<u8>>,
    /// Whether that is a disk.
    pub(super) has_disk: bool,
    /// Whether the initramfs holds the guest's root and what it is lent.
    pub(super) is_packed: bool,
    /// What of the host such a guest sees at the same paths, unless its root has it: the working
    /// directory, and what the command line names.
    pub(super) lent: Vec<Vec<u8>>,
    /// The folder of the host with the modules and the configuration of the guest's kernel.
    pub(super) modules: Option<Vec<u8>>,
    pub(super) config: Option<Vec<u8>>,
    /// When they were given, by the host's clock: since 1970.
    pub(super) given: Duration,
}

/// The time by this machine's clock, since 1970.
pub(super) fn since_1970() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default()
}

/// The tag of a folder that is written through.
pub(super) fn tag(index: usize) -> String {
    format!("write{index}")
}

const TMP: &str = "/tmp";

impl Orders {
    /// Whether the guest has files of its own, and not the host's.
    pub(super) const fn has_files(&self) -> bool {
        self.root.is_some() || self.has_disk
    }

    pub(super) fn new(job: &Job, kernel: &Kernel) -> Self {
        let (modules, config) = (kernel.modules.as_deref(), kernel.config.as_deref());
        let bytes = |text: &OsStr| text.as_bytes().to_vec();
        let path = |path: &Path| bytes(path.as_os_str());
        let named = job.command.iter().map(Path::new);
        let known = [Some(job.directory.as_path()), modules, config];
        let seen = job.sees.iter().chain(&job.writes).map(PathBuf::as_path);
        let lent = named.clone().chain(known.into_iter().flatten());
        let is_lent =
            |path: &&Path| path.is_absolute() && path.parent().is_some() && !path.starts_with(TMP);
        let lent = lent.filter(is_lent);
        let lent: Vec<Vec<u8>> = lent.map(path).collect();
        let all = named.chain(seen).chain(known.into_iter().flatten());
        let mut of_tmp: Vec<Vec<u8>> = all.filter_map(entry_of_tmp).collect();
        of_tmp.sort_unstable();
        of_tmp.dedup();
        Self {
            command: job.command.iter().map(|word| bytes(word)).collect(),
            environment: job
                .environment
                .iter()
                .map(|(name, value)| (bytes(name), bytes(value)))
                .collect(),
            directory: path(&job.directory),
            of_tmp,
            writes: job.writes.iter().map(|folder| path(folder)).collect(),
            has_input: job.has_input,
            lent: if kernel.has_files() { lent } else { Vec::new() },
            root: kernel.root.as_deref().map(path),
            has_disk: kernel.disk.is_some(),
            is_packed: false,
            modules: modules.map(path),
            config: config.map(path),
            given: since_1970(),
        }
    }
}

/// Returns what of the host a guest with a root of its own sees and that root does not have. What a
/// disk has is not known.
pub(super) fn lent_to<'a>(job: &'a Job, kernel: &'a Kernel) -> Vec<&'a Path> {
    let named = job.command.iter().map(Path::new);
    let known = [Some(job.directory.as_path()), kernel.config.as_deref()];
    let is_lent = |path: &&Path| {
        let has = |below: &Path| {
            let there = kernel.root.as_ref().map(|root| root.join(below));
            there.is_some_and(|there| there.symlink_metadata().is_ok())
        };
        let below = path.strip_prefix("/").ok();
        let is_there = below.is_some_and(has) && !path.starts_with(TMP);
        path.is_absolute() && path.parent().is_some() && (!is_there || *path == job.directory)
    };
    let all = named.chain(known.into_iter().flatten());
    all.filter(is_lent).collect()
}

/// Returns the name in `/tmp` that a path lies below.
fn entry_of_tmp(path: &Path) -> Option<Vec<u8>> {
    let below = path.strip_prefix(TMP).ok()?;
    let first = below.components().next()?.as_os_str();
    (first != "." && first != "..").then(|| first.as_bytes().to_vec())
}

pub(super) fn os(bytes: Vec<u8>) -> OsString {
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_below_tmp_is_seen_there() {
        let job = Job {
            command: vec!["/tmp/a/bin/x".into(), "relative".into(), "/tmp".into()],
            directory: "/tmp/b/c".into(),
            sees: vec!["/tmp/a/y".into(), "/tmpfs/z".into(), "/tmp/../etc".into()],
            writes: vec!["/tmp/out".into()],
            has_input: false,
            environment: Vec::new(),
        };
        let kernel = Kernel::of_image("k", "/image", Some("/tmp/cache/m"));
        let orders = Orders::new(&job, &kernel);
        let seen: Vec<String> = orders
            .of_tmp
            .iter()
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect();
        assert_eq!(seen, ["a", "b", "cache", "out"]);
        assert_eq!(orders.lent, Vec::<Vec<u8>>::new());
    }

    #[test]
    fn a_guest_with_a_root_of_its_own_is_lent_what_the_command_line_names() {
        let job = Job {
            command: ["/opt/harness", "run", "/srv/scenarios", "/tmp/x"]
                .map(OsString::from)
                .to_vec(),
            environment: vec![("PATH".into(), "/usr/local/go/bin".into())],
            directory: "/srv".into(),
            sees: vec!["/usr/local/go/bin".into()],
            ..Job::default()
        };
        let mut kernel = Kernel::of_image("k", "/image", Some("/cache/modules"));
        kernel.root = Some("/roots/arm64".into());
        let orders = Orders::new(&job, &kernel);
        let lent: Vec<String> = orders
            .lent
            .iter()
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect();
        // Not the programs of the host's PATH, which may be for another processor.
        assert_eq!(
            lent,
            ["/opt/harness", "/srv/scenarios", "/srv", "/cache/modules"]
        );
        assert_eq!(orders.root.as_deref(), Some(b"/roots/arm64".as_slice()));
    }

    #[test]
    fn words_that_are_no_text_come_through() {
        let job = Job {
            command: vec![OsString::from_vec(vec![b'x', 0xff])],
            ..Job::default()
        };
        let orders = Orders::new(&job, &Kernel::of_image("k", "/image", None));
        let text = serde_json::to_string(&orders).unwrap();
        let read: Orders = serde_json::from_str(&text).unwrap();
        assert_eq!(read, orders);
        assert_eq!(os(read.command[0].clone()), job.command[0]);
    }
}
