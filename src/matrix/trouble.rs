//! Why a command in a guest has no end, with the guest's last words.

use super::config::Config;
use super::hardware;
use super::initramfs::OwnFileError;
use super::kernel::Kernel;
use super::modules::ModuleError;
use super::pack::PackError;
use crate::scenario::Share;
use perf_live::sys::temporary;
use std::fs::File;
use std::io::{self, Seek};
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// What a guest's console and its QEMU say: files without names, which go with the last process
/// that has them, however it ends.
#[derive(Debug)]
pub(super) struct Said {
    /// The output on its serial line.
    pub(super) console: File,
    pub(super) qemu: File,
}

impl Said {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            console: temporary::file()?,
            qemu: temporary::file()?,
        })
    }

    /// Makes both empty.
    pub(super) fn forget(&self) -> io::Result<()> {
        [&self.console, &self.qemu]
            .into_iter()
            .try_for_each(|mut file| {
                file.set_len(0)?;
                file.rewind()
            })
    }
}

/// Reads a file from a place to its end; whoever writes it has a place of its own.
fn read_from(file: &File, at: u64) -> io::Result<Vec<u8>> {
    let mut bytes =
        vec![0; usize::try_from(file.metadata()?.len().saturating_sub(at)).unwrap_or(0)];
    let mut n_read = 0;
    while let Some(rest) = bytes.get_mut(n_read..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, at + n_read as u64)? {
            0 => break,
            n => n_read += n,
        }
    }
    bytes.truncate(n_read);
    Ok(bytes)
}

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
    /// The guest's files cannot be put into its memory.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// A file of the guest cannot be written or read here.
    #[error("cannot {what}")]
    Here {
        /// What was to be done.
        what: &'static str,
        /// The error of starting it.
        source: io::Error,
    },
    /// The kernel's console says that it will not come up.
    #[error("the kernel did not come up: {cause} (after {:.1} s)", after.as_secs_f64())]
    NotBooted {
        /// The line of its console that says so.
        cause: String,
        /// How long that took.
        after: Duration,
        /// The last lines of its console.
        console: Console,
    },
    /// The guest never came up.
    #[error("the guest did not come up within {} s", after.as_secs())]
    NotUp {
        /// How long the harness waited.
        after: Duration,
        /// The last lines of its console.
        console: Console,
    },
    /// The guest did not end in time.
    #[error("the guest was ended as its command took longer than {} s", after.as_secs())]
    Late {
        /// The limit.
        after: Duration,
        /// The last lines of its console.
        console: Console,
    },
    /// The guest ended before its command did: a panic, or no memory left.
    #[error("the guest ended before its command did")]
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
    #[error("the guest could not make itself ready: {why}")]
    Trouble {
        /// The reason.
        why: String,
        /// The last lines of its console.
        console: Console,
    },
    /// The same, of a file system that its kernel may lack.
    #[error("the guest could not make itself ready: {why}")]
    Lack {
        /// The reason.
        why: String,
        /// The last lines of its console.
        console: Console,
    },
}

/// What a guest needs of its kernel.
const NEEDED: &str = "VIRTIO_PCI, VIRTIO_CONSOLE, 9P_FS, NET_9P_VIRTIO, OVERLAY_FS, DEVTMPFS";

/// What goes without 9p.
const INSTEAD: &str =
    "without 9p and overlays, name the guest's own files, `root`, and say `share: initramfs`";

impl GuestError {
    /// The last lines of the guest's console, if it had one.
    #[must_use]
    pub fn console(&self) -> Option<&Console> {
        match self {
            Self::NotBooted { console, .. }
            | Self::NotUp { console, .. }
            | Self::Late { console, .. }
            | Self::Died { console, .. }
            | Self::Trouble { console, .. }
            | Self::Lack { console, .. } => Some(console),
            Self::Qemu { .. }
            | Self::OwnFile(_)
            | Self::Module(_)
            | Self::Pack(_)
            | Self::Here { .. }
            | Self::Stopped => None,
        }
    }

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
        if let Self::Pack(error) = self {
            return error.hint();
        }
        let kernel = kernel?;
        // Without 9p, what has files of its own has them in its memory.
        let shares = match kernel.share {
            Some(share) => share == Share::Plan9,
            None => !kernel.has_files(),
        };
        let is_of_kernel = match self {
            Self::Lack { .. } | Self::NotUp { .. } | Self::NotBooted { .. } => true,
            Self::Died { was_up, .. } => !was_up,
            _ => false,
        };
        if let Some(config) = Config::of(kernel).filter(|_| is_of_kernel) {
            // If it has all that is needed, that is not why.
            let has_modules = kernel.modules.is_some();
            let lacks = config.lacks_to_boot(has_modules, shares, kernel.disk.is_some());
            let boots = config.lacks_to_boot(has_modules, false, false).is_none();
            return lacks.map(|lacks| match shares && boots {
                true => format!("{lacks}; {INSTEAD}"),
                false => lacks,
            });
        }
        match (self, &kernel.modules) {
            (Self::Lack { .. } | Self::NotUp { .. }, Some(_)) => Some(format!(
                "the kernel must have, built in or in its folder of modules: {NEEDED}. Kernels for clouds \
                 (linux-image-cloud-{}) have no 9P_FS; {INSTEAD}",
                kernel.arch.word()
            )),
            (
                Self::Lack { .. }
                | Self::NotUp { .. }
                | Self::NotBooted { .. }
                | Self::Died { was_up: false, .. },
                None,
            ) => Some(format!(
                "the list names no `modules` for `{}`, so it must have all that is needed built in: {NEEDED}; or name its \
                     folder of modules, lib/modules/RELEASE; {INSTEAD}",
                kernel.name
            )),
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

/// What says on a console that a kernel will not come up: `panic()` of `kernel/panic.c`,
/// `kernel_halt()` and `kernel_power_off()` of `kernel/reboot.c`, and our own pid 1, which tells
/// the host in no other way without a port.
const OVER: [&str; 4] = [
    "Kernel panic - not syncing",
    "reboot: System halted",
    "reboot: Power down",
    OF_INIT,
];

/// What pid 1 of a guest begins with on the console.
pub(super) const OF_INIT: &str = "harness: ";

/// Looks at the console of a guest that has not come up.
#[derive(Debug)]
pub(super) struct Boot<'a> {
    file: &'a File,
    /// How much of it has been looked at, up to the end of a line.
    seen: u64,
    cause: Option<String>,
}

impl<'a> Boot<'a> {
    pub(super) fn of(said: &'a Said) -> Self {
        Self {
            file: &said.console,
            seen: 0,
            cause: None,
        }
    }

    /// Whether its console says that it will not come up.
    pub(super) fn is_over(&mut self) -> bool {
        if self.cause.is_none() {
            // What cannot be read now is looked at the next time.
            self.look().ok();
        }
        self.cause.is_some()
    }

    /// Returns the line that says so, of all that there is by now.
    pub(super) fn cause(&mut self) -> Option<String> {
        self.is_over();
        self.cause.clone()
    }

    fn look(&mut self) -> io::Result<()> {
        let mut bytes = read_from(self.file, self.seen)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = whole.map_or(0, |at| at.saturating_add(1));
        bytes.truncate(whole);
        self.seen = self.seen.saturating_add(u64::try_from(whole).unwrap_or(0));
        let text = String::from_utf8_lossy(&bytes);
        let over = |line: &&str| OVER.iter().any(|it| line.contains(it));
        let line = text.lines().find(over);
        self.cause = line.map(|line| perf_records::units::shown(line.trim_end()).into_owned());
        Ok(())
    }
}

impl Console {
    pub(super) fn of(said: &Said) -> Self {
        let mut lines = Vec::new();
        for file in [&said.console, &said.qemu] {
            let bytes = read_from(file, 0).unwrap_or_default();
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

    #[cfg(test)]
    pub(super) fn of_lines(lines: Vec<String>) -> Self {
        Self(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::fragment;
    use super::*;
    use crate::scenario::Architecture;

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
    fn a_boot_is_over_once_a_whole_line_says_so_and_not_before() {
        let said = Said::new().unwrap();
        let mut boot = Boot::of(&said);
        assert!(!boot.is_over(), "it has said nothing yet");
        let mut file = &said.console;
        for (piece, cause) in [
            ("[0.1] quiet\r\n[0.2] Kernel panic - not syn", None),
            ("cing: VFS: no root", None),
            (
                "\u{1b}\r\n[0.3] end\r\n",
                Some("[0.2] Kernel panic - not syncing: VFS: no root\\u{1b}"),
            ),
            (
                "reboot: System halted\n",
                Some("[0.2] Kernel panic - not syncing: VFS: no root\\u{1b}"),
            ),
        ] {
            io::Write::write_all(&mut file, piece.as_bytes()).unwrap();
            assert_eq!(boot.cause().as_deref(), cause, "{piece:?}");
        }
    }

    #[test]
    fn what_a_configuration_lacks_is_the_hint_and_a_whole_one_blames_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("vmlinuz-own");
        let kernel = Kernel::of_image("own", image.to_str().unwrap(), Some("/lib/modules/6.1"));
        let not_booted = GuestError::NotBooted {
            cause: "Kernel panic".to_owned(),
            after: Duration::from_secs(1),
            console: Console(Vec::new()),
        };
        let hint = |config: &str| {
            std::fs::write(folder.path().join("config-own"), config).unwrap();
            not_booted.hint(Some(&kernel))
        };
        let all = fragment(kernel.arch);
        assert_eq!(hint(&all), None);
        let named = |said: &str| {
            let lacks = said.split_once("lacks ").unwrap().1.to_owned();
            lacks
                .split_once("; all that it takes")
                .unwrap()
                .0
                .to_owned()
        };
        // A 32-bit kernel boots as any other, and no program of the guest runs on it.
        for (option, what) in [
            ("64BIT", "64-bit programs"),
            ("UNIX", "starts of programs"),
            ("TTY", "the console"),
            ("SERIAL_8250_CONSOLE", "the console"),
            ("PCI", "devices"),
        ] {
            let said = hint(&all.replace(&format!("CONFIG_{option}=y\n"), "")).unwrap();
            assert_eq!(named(&said), format!("CONFIG_{option} ({what})"));
            assert!(
                said.ends_with("harness doctor --kernel-config amd64"),
                "{said}"
            );
        }
        // Another machine has another console.
        let mut arm = kernel.clone();
        arm.arch = Architecture::Arm64;
        let said = not_booted.hint(Some(&arm)).unwrap();
        assert!(
            said.contains("CONFIG_SERIAL_AMBA_PL011_CONSOLE (the console)"),
            "{said}"
        );
        std::fs::write(folder.path().join("config-own"), fragment(arm.arch)).unwrap();
        assert_eq!(not_booted.hint(Some(&arm)), None);
        let said = hint(&all.replace("CONFIG_NET_9P_VIRTIO=y\n", "")).unwrap();
        assert_eq!(named(&said), "CONFIG_NET_9P_VIRTIO (the host's files)");
        assert!(said.contains("; without 9p and overlays, name "), "{said}");
    }

    #[test]
    fn of_a_console_the_last_lines_are_shown() {
        let said = Said::new().unwrap();
        let mut lines: Vec<String> = (0..100).map(|n| format!("line {n}\r")).collect();
        lines.insert(7, "[1.0] Kernel panic - not syncing: x".to_owned());
        let console = lines.join("\n");
        said.console.write_all_at(console.as_bytes(), 0).unwrap();
        said.qemu.write_all_at(b"qemu: \x1b[31mno\n", 0).unwrap();
        let console = Console::of(&said);
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
