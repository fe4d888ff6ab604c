//! What a process runs that executed a file.

use super::node::{Kind, NodeId, Rest, Tree};

impl Tree {
    /// Whether a file is known to be a program of the machine's own, which the kernel itself loads,
    /// so that a process that executes it runs it, and no interpreter (`load_elf_binary()`).
    pub(crate) fn is_program(&mut self, node: NodeId) -> bool {
        let Some((folder, name)) = &self.node(node).origin else {
            return false;
        };
        let Kind::Folder {
            rest: Rest::Ground(folder),
            ..
        } = &self.node(*folder).kind
        else {
            return false;
        };
        let path = [folder, &b"/"[..], name].concat();
        self.ground.is_program(&path)
    }
}
