//! How `harness trace` writes values: as they are, and buffers with their first bytes if asked to.

use syscall_model::files::Lookup;
use syscall_model::{Shown, Values};

/// Values as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain {
    /// How much of a buffer's contents is shown, in bytes; 0 for its address only.
    pub contents: usize,
    /// Whether of a descriptor only its number is shown.
    pub bare_descriptors: bool,
}

impl Values for Plain {
    fn task(&mut self, id: i32, out: &mut String) {
        Shown.task(id, out);
    }
    fn address(&mut self, address: u64, out: &mut String) {
        Shown.address(address, out);
    }
    fn descriptor(&mut self, number: i32, file: Lookup<'_>, out: &mut String) {
        let shown = match self.bare_descriptors {
            true => Lookup::Untracked,
            false => file,
        };
        Shown.descriptor(number, shown, out);
    }
    fn contents(&self) -> usize {
        self.contents
    }
}
