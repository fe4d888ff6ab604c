//! The files of tracefs by which probes are made.
//!
//! Opening such a file for writing without `O_APPEND`, as the shell's `>` does, removes the probes
//! of all users.

use super::{Grant, Host, HostError, tracefs};
use crate::sys::rights::{self, Right};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const ALL: &str = "dynamic_events";

/// Which of the kernel's parts takes a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeList {
    /// `uprobe_events`.
    User,
    /// `kprobe_events`.
    Kernel,
}

impl ProbeList {
    /// The file's name.
    #[must_use]
    pub const fn file(self) -> &'static str {
        match self {
            Self::User => "uprobe_events",
            Self::Kernel => "kprobe_events",
        }
    }
}

impl Host {
    /// The list of all probes that there are, to be read and to be added to.
    ///
    /// # Errors
    /// [`HostError::NoProbes`], [`HostError::Tracefs`], [`HostError::Read`].
    pub fn probes(&self) -> Result<File, HostError> {
        self.open_list(ALL)
    }

    /// Adds a line to a list.
    ///
    /// # Errors
    /// [`HostError::NoProbes`], [`HostError::Tracefs`], [`HostError::Read`]; and, within, what the
    /// kernel says to the line.
    pub fn add_probe(&self, list: ProbeList, line: &str) -> Result<io::Result<()>, HostError> {
        let mut file = self.open_list(list.file())?;
        // As it is written before Linux 6.6 the kernel makes the event's folder, and looks for its
        // place with the writer's rights (`tracefs_create_dir()`). The probed file is a descriptor.
        let written = rights::with(&[Right::DacOverride], || file.write_all(line.as_bytes()));
        Ok(written)
    }

    /// What the kernel complained of a line: what it said, and how many characters of the line
    /// stand before the place.
    #[must_use]
    pub fn probe_complaint(&self, line: &str) -> Option<(String, usize)> {
        let log = tracefs::text(&self.trace_file("error_log").ok()?).ok()?;
        complaint(&log, line)
    }

    /// Whether the kernel has a function, its modules included.
    #[must_use]
    pub fn has_kernel_function(&self, name: &str) -> bool {
        let symbols = self.read("proc/kallsyms").unwrap_or_default();
        let mut lines = symbols.lines();
        lines.any(|line| line.split_whitespace().nth(2) == Some(name))
    }

    /// The text of the `format` file of a probe's event.
    ///
    /// # Errors
    /// [`HostError::Tracefs`], [`HostError::Read`].
    pub fn probe_format(&self, group: &str, event: &str) -> Result<String, HostError> {
        let path = self.tracefs()?.events().join(group).join(event);
        let path = path.join("format");
        tracefs::text(&path).map_err(|source| HostError::Read {
            path,
            source: Arc::new(source),
        })
    }

    /// The path by which the kernel finds the file of a descriptor of this process, whatever its
    /// name.
    #[must_use]
    pub fn path_of_descriptor(number: i32) -> PathBuf {
        Path::new("/proc/self/fd").join(number.to_string())
    }

    fn trace_file(&self, name: &str) -> Result<PathBuf, HostError> {
        Ok(self.tracefs()?.root().join(name))
    }

    fn open_list(&self, name: &'static str) -> Result<File, HostError> {
        let path = self.trace_file(name)?;
        if rights::are_lent() && !self.grants(Grant::Probes) {
            let source = Arc::new(io::ErrorKind::PermissionDenied.into());
            return Err(HostError::Read { path, source });
        }
        let options = &mut File::options();
        let options = options.read(true).append(true);
        let opened = tracefs::open(&path, options, &[Right::DacOverride]);
        opened.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => HostError::NoProbes { list: name },
            _ => HostError::Read {
                path,
                source: Arc::new(source),
            },
        })
    }
}

/// Looks for the complaint about a line, which the log repeats between words that are each behind
/// one blank, with a caret below the place:
///
/// ```text
/// [57637.911255] trace_uprobe: error: Invalid register name
///   Command: p:group/event /bin/x:0x1139 path=+0(%xx):ustring
///                                                  ^
/// ```
fn complaint(log: &str, line: &str) -> Option<(String, usize)> {
    const BEFORE: &str = "  Command: ";
    let lines: Vec<&str> = log.lines().collect();
    let found = lines.windows(3).rev().find_map(|entry| match entry {
        [said, command, caret] if command.strip_prefix(BEFORE) == Some(line.trim_end()) => {
            Some((said, caret))
        }
        _ => None,
    });
    let (said, caret) = found?;
    let (_, said) = said.split_once(": error: ")?;
    let at = caret.find('^')?.checked_sub(BEFORE.len())?;
    Some((said.to_owned(), at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_complaint_about_a_line_is_found_with_its_place() {
        let log = "[5.1] trace_uprobe: error: Event does not exist\n  Command: -:a/b\n             ^\n\
                   [5.2] trace_uprobe: error: Invalid register name\n  Command: p:a/b /x:0x10 p=+0(%xx):ustring\n                                  ^\n";
        let found = complaint(log, "p:a/b /x:0x10 p=+0(%xx):ustring\n");
        assert_eq!(found, Some(("Invalid register name".to_owned(), 23)));
        assert_eq!(complaint(log, "p:a/c /x:0x10"), None);
    }
}
