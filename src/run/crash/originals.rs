//! Large files of states, which share their blocks where the file system can do that.

use super::folder::write;
use crate::crash::{Content, NodeId, Tree};
use perf_live::sys::inode;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A file that holds fewer bytes than this is written.
const LARGE: u64 = 1 << 20;

/// The large files that a run left. A state's are clones of these, in which what differs is
/// written: so that is all that a state takes on the disk, and in time.
#[derive(Debug, Default)]
pub(super) struct Originals(BTreeMap<NodeId, (File, Content)>);

impl Originals {
    /// Makes the large files of a folder, without names, on the file system of a directory; none
    /// where it has no clones.
    ///
    /// # Errors
    /// Those of making files.
    pub(super) fn make(tree: &Tree, directory: &Path) -> io::Result<Self> {
        let mut originals = BTreeMap::new();
        for (id, node) in &tree.nodes {
            let Some(content) = node.content().filter(|content| content.held() >= LARGE) else {
                continue;
            };
            let file = tempfile::tempfile_in(directory)?;
            if originals.is_empty() {
                let clone = tempfile::tempfile_in(directory)?;
                if inode::clone(file.as_fd(), clone.as_fd()).is_err() {
                    break;
                }
            }
            write(&file, content)?;
            originals.insert(*id, (file, content.clone()));
        }
        Ok(Self(originals))
    }

    /// Makes a file, which is there and empty, what `content` is; returns `false` where it is to be
    /// written, as most of it differs from the original, or there is none.
    ///
    /// # Errors
    /// Those of `FICLONE`, and of writing.
    pub(super) fn fill(&self, id: NodeId, content: &Content, file: &File) -> io::Result<bool> {
        let Some((original, held)) = self.0.get(&id) else {
            return Ok(false);
        };
        let pages = held.differing(content, 0..content.size());
        let differs: usize = pages.iter().map(|(_, bytes)| bytes.len()).sum();
        if differs as u64 > content.held() / 2 {
            return Ok(false);
        }
        inode::clone(original.as_fd(), file.as_fd())?;
        file.set_len(content.size())?;
        for (at, bytes) in &pages {
            file.write_all_at(bytes, *at)?;
        }
        Ok(true)
    }
}
