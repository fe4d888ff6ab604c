//! Writes the steps by which a world is laid out.

use crate::sys::process::Step;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub(super) const GUARDED: libc::c_ulong = libc::MS_NOSUID | libc::MS_NODEV;
pub(super) const PLAIN: libc::c_ulong = GUARDED | libc::MS_NOEXEC;

/// The steps so far.
pub(super) struct Steps(pub(super) Vec<Step>);

impl Steps {
    pub(super) fn mount(&mut self, kind: &str, target: &str, flags: libc::c_ulong, options: &str) {
        self.mount_from(kind, kind, target.as_ref(), flags, options);
    }

    pub(super) fn mount_from(
        &mut self,
        kind: &str,
        source: impl AsRef<OsStr>,
        target: &OsStr,
        flags: libc::c_ulong,
        options: &str,
    ) {
        self.0.push(Step::Mount {
            kind: text(kind),
            source: text(source),
            target: text(target),
            flags,
            options: text(options),
        });
    }

    pub(super) fn bind(&mut self, source: &Path, target: &Path) {
        let flags = libc::MS_BIND | libc::MS_REC;
        self.mount_from("", source, target.as_os_str(), flags, "");
    }

    pub(super) fn write(&mut self, path: &str, what: &str) {
        self.0.push(Step::Write(text(path), text(what)));
    }

    pub(super) fn take(&mut self, slot: u8, source: &OsStr) {
        let source = text(source);
        self.0.push(Step::Take { slot, source });
    }

    pub(super) fn open(&mut self, slot: u8, folder: &str) {
        let folder = text(folder);
        self.0.push(Step::Open { slot, folder });
    }

    pub(super) fn place(&mut self, slot: u8, target: impl AsRef<OsStr>) {
        let target = text(target);
        self.0.push(Step::Place { slot, target });
    }
}

/// A path or a word that the kernel gave or the scenario's reader has let pass: it holds no zero
/// byte.
pub(super) fn text(words: impl AsRef<OsStr>) -> CString {
    CString::new(words.as_ref().as_bytes()).unwrap_or_default()
}
