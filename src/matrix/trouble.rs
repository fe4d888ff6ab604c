//! Why a command in a guest has no end, with the guest's last words.

use super::hardware;
use super::initramfs::OwnFileError;
use super::kernel::Kernel;
use super::modules::ModuleError;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Files of a guest: the output on its serial line, and that of QEMU.
pub(super) const CONSOLE: &str = "console";
pub(super) const SAID: &str = "qemu";

/// Why the end of the command is not known.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// QEMU cannot be run.
    #[error("cannot run `{program}`, in which kernels are booted")]
    Qemu {
        /// The program.
        program: &'static str,
        /// The error of starting it.
        source: io::Error,
    },
    /// The harness cannot be put into the guest.
    #[error(transparent)]
    OwnFile(#[from] OwnFileError),
    /// The kernel's modules cannot be read.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// A file of the guest cannot be written or read here.
    #[error("cannot {what}")]
    Here {
        /// What was to be done.
        what: &'static str,
        /// The error of starting it.
        source: io::Error,
    },
    /// The guest never came up.
    #[error("the guest did not come up within {} s{}", after.as_secs(), console.shown())]
    NotUp {
        /// How long the harness waited.
        after: Duration,
        /// The last lines of its console.
        console: Console,
    },
    /// The guest did not end in time.
    #[error("the guest was ended as its command took longer than {} s{}", after.as_secs(), console.shown())]
    Late {
        /// The limit.
        after: Duration,
        /// The last lines of its console.
        console: Console,
    },
    /// The guest ended before its command did: a panic, or no memory left.
    #[error("the guest ended before its command did{}", console.shown())]
    Died {
        /// Whether the command had begun.
        was_up: bool,
        /// The last lines of its console.
        console: Console,
    },
    /// The user asked for its end.
    #[error("the guest was ended by a signal")]
    Stopped,
    /// The guest reported why it could not run the command.
    #[error("the guest could not make itself ready: {why}{}", console.shown())]
    Trouble {
        /// The reason.
        why: String,
        /// The last lines of its console.
        console: Console,
    },
    /// The same, of a file system that its kernel may lack.
    #[error("the guest could not make itself ready: {why}{}", console.shown())]
    Lack {
        /// The reason.
        why: String,
        /// The last lines of its console.
        console: Console,
    },
}

/// What a guest needs of its kernel.
const NEEDED: &str = "VIRTIO_PCI, VIRTIO_CONSOLE, 9P_FS, NET_9P_VIRTIO, OVERLAY_FS, DEVTMPFS";

impl GuestError {
    /// Returns what can be done about it, if anything, where this kernel was to be booted.
    #[must_use]
    pub fn hint(&self, kernel: Option<&Kernel>) -> Option<String> {
        if let Self::Qemu { program, .. } = self {
            let package = hardware::package(program);
            return Some(format!("install it: apt-get install {package}"));
        }
        if let Self::OwnFile(error) = self {
            return error.hint();
        }
        let kernel = kernel?;
        match (self, &kernel.modules) {
            (Self::Lack { .. } | Self::NotUp { .. }, Some(_)) => Some(format!(
                "the kernel must have, built in or in its folder of modules: {NEEDED}. Kernels for clouds \
                 (linux-image-cloud-{}) have no 9P_FS",
                kernel.arch.word()
            )),
            (Self::Lack { .. } | Self::NotUp { .. } | Self::Died { was_up: false, .. }, None) => {
                Some(format!(
                    "the list names no `modules` for `{}`, so it must have all that is needed built in: {NEEDED}; or name its \
                     folder of modules, lib/modules/RELEASE",
                    kernel.name
                ))
            }
            _ => None,
        }
    }
}

/// The last lines of a guest's console and of QEMU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Console(Vec<String>);

/// How many lines are shown.
const LAST_LINES: usize = 20;

/// `panic()`, `kernel/panic.c`, and `out_of_memory()`, `mm/oom_kill.c`.
fn is_cause(line: &str) -> bool {
    ["Kernel panic", "Out of memory"]
        .iter()
        .any(|cause| line.contains(cause))
}

impl Console {
    pub(super) fn of(folder: &Path) -> Self {
        let mut lines = Vec::new();
        for name in [CONSOLE, SAID] {
            let bytes = std::fs::read(folder.join(name)).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let plain = |line: &str| perf_records::units::shown(line).into_owned();
            let said: Vec<String> = text
                .lines()
                .map(plain)
                .filter(|line| !line.is_empty())
                .collect();
            let first = said.len().saturating_sub(LAST_LINES);
            // The cause stands above the registers and calls that follow it.
            let cause = said.iter().take(first).rfind(|line| is_cause(line));
            lines.extend(cause.cloned());
            lines.extend(said.into_iter().skip(first));
        }
        Self(lines)
    }

    /// The lines, none of them empty.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.0
    }

    fn shown(&self) -> String {
        if self.0.is_empty() {
            return "; its console is empty".to_owned();
        }
        let lines: String = self.0.iter().map(|line| format!("\n    {line}")).collect();
        format!("; the end of its console:{lines}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(modules: Option<&str>) -> Kernel {
        Kernel::of_image("own", "bzImage", modules)
    }

    #[test]
    fn a_kernel_without_a_folder_of_modules_is_told_that_the_list_names_none() {
        let console = || Console(Vec::new());
        let died = |was_up| GuestError::Died {
            was_up,
            console: console(),
        };
        let lack = || GuestError::Lack {
            why: String::new(),
            console: console(),
        };
        for error in [died(false), lack()] {
            let hint = error.hint(Some(&kernel(None))).unwrap();
            let said = "the list names no `modules` for `own`";
            assert!(hint.contains(said) && hint.contains("9P_FS"), "{hint}");
        }
        let hint = lack()
            .hint(Some(&kernel(Some("/lib/modules/6.1"))))
            .unwrap();
        assert!(
            hint.contains("in its folder of modules: VIRTIO_PCI"),
            "{hint}"
        );
        // A command that took the guest down, or a kernel that panics with all its modules.
        assert_eq!(died(true).hint(Some(&kernel(None))), None);
        assert_eq!(
            died(false).hint(Some(&kernel(Some("/lib/modules/6.1")))),
            None
        );
    }

    #[test]
    fn of_a_console_the_last_lines_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let mut lines: Vec<String> = (0..100).map(|n| format!("line {n}\r")).collect();
        lines.insert(7, "[1.0] Kernel panic - not syncing: x".to_owned());
        std::fs::write(folder.path().join(CONSOLE), lines.join("\n")).unwrap();
        std::fs::write(folder.path().join(SAID), "qemu: \u{1b}[31mno\n").unwrap();
        let console = Console::of(folder.path());
        let [cause, first, ..] = console.lines() else {
            panic!("{console:?}");
        };
        assert_eq!(
            (cause.as_str(), first.as_str()),
            ("[1.0] Kernel panic - not syncing: x", "line 80")
        );
        assert_eq!(console.lines().len(), LAST_LINES + 2);
        assert_eq!(console.lines().last().unwrap(), "qemu: \\u{1b}[31mno");
    }
}
