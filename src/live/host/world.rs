//! What a sandbox must know of the machine that it is made on.

use super::{Host, HostError};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A mount, as far as its place and its flags go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mounted {
    /// The mount point.
    pub at: PathBuf,
    /// The words for its flags: `ro`, `nosuid`, `relatime`.
    pub flags: Vec<String>,
    /// The groups of mounts that it shares what is mounted on it with, or gets it from.
    pub groups: Vec<u32>,
}

/// The maps of a user namespace in which all ids are those of the harness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdMaps {
    /// For users, a line each: first id there, first id here, how many.
    pub users: String,
    /// For groups.
    pub groups: String,
}

impl Host {
    /// Everything that is mounted, in order.
    ///
    /// # Errors
    /// [`HostError`].
    ///
    /// # References
    /// `proc_pid_mountinfo(5)`.
    pub fn mounts(&self) -> Result<Vec<Mounted>, HostError> {
        let text = self.read("proc/self/mountinfo")?;
        let line = |line: &str| {
            let mut words = line.split(' ').skip(4);
            Some(Mounted {
                at: unescaped(words.next()?).into(),
                flags: words.next()?.split(',').map(str::to_owned).collect(),
                groups: words
                    .take_while(|word| *word != "-")
                    .filter_map(group)
                    .collect(),
            })
        };
        Ok(text.lines().filter_map(line).collect())
    }

    /// Where the machine's control groups are, by convention (cgroups(7), "/sys/fs/cgroup").
    #[must_use]
    pub fn control_groups(&self) -> Option<PathBuf> {
        let is_there = self.root.join("sys/fs/cgroup").is_dir();
        is_there.then(|| PathBuf::from("/sys/fs/cgroup"))
    }

    /// What procfs holds beside the processes and the links: the parts by which root changes the
    /// machine.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn machine_wide_proc(&self) -> Result<Vec<PathBuf>, HostError> {
        let folder = self.root.join("proc");
        let failed = |source: io::Error| HostError::Read {
            path: folder.clone(),
            source: source.into(),
        };
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            if name.as_bytes().iter().all(u8::is_ascii_digit) {
                continue;
            }
            // One that went away in between is none of the machine's.
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let is_writable =
                std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o222 != 0;
            if metadata.is_dir() || (metadata.is_file() && is_writable) {
                found.push(Path::new("/proc").join(name));
            }
        }
        found.sort();
        Ok(found)
    }

    /// The maps by which a new user namespace has the ids of the one that the harness is in.
    ///
    /// # Errors
    /// [`HostError`].
    pub fn identity(&self) -> Result<IdMaps, HostError> {
        let same = |path| {
            let text = self.read(path)?;
            let line = |line: &str| {
                let mut words = line.split_ascii_whitespace();
                let (first, _, count) = (words.next()?, words.next()?, words.next()?);
                Some(format!("{first} {first} {count}\n"))
            };
            Ok::<String, HostError>(text.lines().filter_map(line).collect())
        };
        Ok(IdMaps {
            users: same("proc/self/uid_map")?,
            groups: same("proc/self/gid_map")?,
        })
    }

    /// Where the words of the harness' command line and of its environment lie in its memory: first
    /// address and length in bytes.
    ///
    /// # References
    /// `arg_start` and `env_end` in `proc_pid_stat(5)`.
    #[must_use]
    pub fn own_words(&self) -> Option<(usize, usize)> {
        const ARG_START: usize = 48;
        const ENV_END: usize = 51;
        let text = self.read("proc/self/stat").ok()?;
        // The second field is a name in brackets, in which everything is allowed.
        let (_, rest) = text.rsplit_once(") ")?;
        let field = |number: usize| rest.split(' ').nth(number - 3)?.trim().parse().ok();
        let (start, end): (usize, usize) = (field(ARG_START)?, field(ENV_END)?);
        (start != 0).then(|| Some((start, end.checked_sub(start)?)))?
    }
}

/// Maps the ids of the user namespace of a process.
///
/// # Errors
/// Those of `write(2)`: `EPERM` where ids are mapped that the harness has not, or already.
///
/// # References
/// `user_namespaces(7)`.
pub fn map_ids(pid: perf_records::units::Pid, maps: &IdMaps) -> io::Result<()> {
    std::fs::write(format!("/proc/{pid}/uid_map"), &maps.users)?;
    std::fs::write(format!("/proc/{pid}/gid_map"), &maps.groups)
}

/// The group that a field of mountinfo names: one that the mount is in, or gets mounts from.
fn group(field: &str) -> Option<u32> {
    let number = field
        .strip_prefix("shared:")
        .or(field.strip_prefix("master:"));
    number?.parse().ok()
}

/// A path of mountinfo, where blanks, tabs, line feeds and backslashes stand as three octal digits.
fn unescaped(word: &str) -> String {
    let mut parts = word.split('\\');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part
            .get(..3)
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => {
                out.push(code.into());
                out.push_str(part.get(3..).unwrap_or_default());
            }
            None => {
                out.push('\\');
                out.push_str(part);
            }
        }
    }
    out
}

/// Opens the namespace of mounts that a process is in, which stays for as long as this is open.
///
/// # Errors
/// `EACCES` for a process that this user may not look into.
pub(crate) fn mounts_of(pid: perf_records::units::Pid) -> io::Result<File> {
    File::open(format!("/proc/{pid}/ns/mnt"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_in_the_paths_of_mounts_are_read() {
        assert_eq!(unescaped(r"/a\040b\011\134c"), "/a b\t\\c");
        assert_eq!(unescaped(r"/a\b"), r"/a\b");
    }

    #[test]
    fn the_running_host_has_its_mounts_ids_and_words() {
        let host = Host::running();
        let mounts = host.mounts().unwrap();
        assert!(mounts.iter().any(|mount| mount.at == Path::new("/")));
        let parts = host.machine_wide_proc().unwrap();
        assert!(parts.contains(&PathBuf::from("/proc/sys")));
        assert!(!parts.contains(&PathBuf::from("/proc/self")));
        assert!(host.identity().unwrap().users.lines().count() > 0);
        let (_, length) = host.own_words().unwrap();
        let words: usize = std::env::args().map(|word| word.len() + 1).sum();
        assert!(length >= words);
    }
}
