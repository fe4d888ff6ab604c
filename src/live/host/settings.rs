//! What a kernel is set to, and what the calling user may do with it.

use super::Host;
use std::collections::BTreeMap;

/// Folders of `/proc/sys`, and whether those below them are meant too: of a network there is one
/// for each of its devices.
const FOLDERS: &[(&str, bool)] = &[
    ("fs", true),
    ("kernel", true),
    ("user", true),
    ("vm", true),
    ("net/core", false),
    ("net/ipv4", false),
];

/// What tells how the machine is doing and not what it is set to; and what does something when it
/// is read.
const NO_SETTINGS: &[&str] = &[
    "fs.aio-nr",
    "fs.binfmt_misc.",
    "fs.dentry-state",
    "fs.file-nr",
    "fs.inode-",
    "fs.quota.",
    "kernel.ns_last_pid",
    "kernel.pty.nr",
    "kernel.random.",
    "kernel.tainted",
    "kernel.usermodehelper.",
    "vm.stat_refresh",
];

/// What `/proc/self/status` says of rights and of filters.
const OF_STATUS: &[&str] = &[
    "CapBnd",
    "CapEff",
    "NoNewPrivs",
    "Seccomp",
    "Seccomp_filters",
    "Umask",
];

/// No setting is longer; `vm.` and `kernel.` have tables that are.
const LONGEST: usize = 200;

impl Host {
    /// Settings by their names: those of `sysctl(8)`; rights and filters of the asking process as
    /// `proc_pid_status(5)` calls them; its limits as in `limit Max open files`, soft and hard; and
    /// `lsm`, the security modules. What cannot be read is left out.
    #[must_use]
    pub fn settings(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for (folder, is_deep) in FOLDERS {
            self.sysctls(folder, *is_deep, &mut found);
        }
        let text = |path| self.read(path).unwrap_or_default();
        let status = text("proc/self/status");
        for name in OF_STATUS {
            if let Some(value) = super::process::value(&status, &format!("{name}:")) {
                found.insert((*name).to_owned(), value.to_owned());
            }
        }
        for line in text("proc/self/limits").lines().skip(1) {
            // Columns of a fixed width: the names have blanks.
            let (name, rest) = line.split_at_checked(26).unwrap_or_default();
            let mut values = rest.split_whitespace();
            if let (Some(soft), Some(hard)) = (values.next(), values.next()) {
                found.insert(format!("limit {}", name.trim()), format!("{soft} {hard}"));
            }
        }
        let modules = text("sys/kernel/security/lsm");
        if !modules.is_empty() {
            found.insert("lsm".to_owned(), modules.trim().to_owned());
        }
        found
    }

    fn sysctls(&self, folder: &str, is_deep: bool, found: &mut BTreeMap<String, String>) {
        let entries = std::fs::read_dir(self.root.join("proc/sys").join(folder));
        for entry in entries.into_iter().flatten().flatten() {
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            let name = path.replace('/', ".");
            if NO_SETTINGS.iter().any(|start| name.starts_with(start)) {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if is_deep {
                    self.sysctls(&path, is_deep, found);
                }
                continue;
            }
            let Ok(text) = self.read(&format!("proc/sys/{path}")) else {
                continue;
            };
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if text.len() <= LONGEST {
                found.insert(name, text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_of_sysctl_and_of_the_process() {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in [
            ("proc/sys/fs/protected_symlinks", "1\n"),
            ("proc/sys/fs/dentry-state", "1\t2\n"),
            ("proc/sys/kernel/yama/ptrace_scope", "0\n"),
            ("proc/sys/net/ipv4/ping_group_range", "1\t0\n"),
            ("proc/sys/net/ipv4/conf/lo/forwarding", "1\n"),
            (
                "proc/self/status",
                "Name:\tx\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n",
            ),
            (
                "proc/self/limits",
                "Limit                     Soft Limit           Hard Limit           Units     \n\
                 Max cpu time              unlimited            unlimited            seconds   \n\
                 Max open files            1024                 524288               files     \n",
            ),
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        let settings = Host::at(root.path()).settings();
        let shown: Vec<String> = settings
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        assert_eq!(
            shown,
            [
                "NoNewPrivs = 1",
                "Seccomp = 2",
                "Seccomp_filters = 1",
                "fs.protected_symlinks = 1",
                "kernel.yama.ptrace_scope = 0",
                "limit Max cpu time = unlimited unlimited",
                "limit Max open files = 1024 524288",
                "net.ipv4.ping_group_range = 1 0",
            ]
        );
    }
}
