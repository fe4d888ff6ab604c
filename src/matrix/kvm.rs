//! Finds out whether guests can use KVM.

use super::cache;
use perf_live::host::Host;
use std::fs::File;
use std::path::PathBuf;

/// Whether KVM works. On some machines it can be opened, and guests never come up.
pub(super) struct Kvm {
    boot: Option<String>,
    mark: Option<PathBuf>,
}

impl Kvm {
    pub(super) fn of_machine() -> Self {
        Self {
            boot: Host::running().boot_id(),
            mark: cache::folder().ok().map(|folder| folder.join("kvm-fails")),
        }
    }

    pub(super) fn is_worth_a_try(&self) -> bool {
        let opens = File::options().read(true).write(true).open("/dev/kvm");
        let told = self.mark.as_ref().map(std::fs::read_to_string);
        let has_failed = told.is_some_and(|told| told.ok() == self.boot);
        opens.is_ok() && !has_failed
    }

    /// Remembers that it fails, until the machine boots again.
    pub(super) fn fails(&self) {
        if let (Some(mark), Some(boot)) = (&self.mark, &self.boot) {
            std::fs::write(mark, boot).ok();
        }
    }
}
