//! Changes of many bytes at once: `fallocate(2)`, and stores into mappings.

use super::making::Builder;
use super::seen::Opened;
use super::{Change, Content, NodeId, Step};

/// `FALLOC_FL_*`, include/uapi/linux/falloc.h.
mod allocate {
    pub(super) const KEEP_SIZE: u32 = 0x01;
    pub(super) const PUNCH_HOLE: u32 = 0x02;
    pub(super) const COLLAPSE: u32 = 0x08;
    pub(super) const ZERO: u32 = 0x10;
    pub(super) const INSERT: u32 = 0x20;
    pub(super) const UNSHARE: u32 = 0x40;
    pub(super) const KNOWN: u32 = KEEP_SIZE | PUNCH_HOLE | COLLAPSE | ZERO | INSERT | UNSHARE;
}

/// What a page of memory has, in which stores into mappings are told apart.
pub(super) const PAGE: usize = 4096;

/// No file that is looked at is larger.
pub(super) const LARGEST: u64 = 1 << 30;

impl Builder {
    pub(super) fn allocate(
        &mut self,
        node: NodeId,
        mode: u32,
        (at, length): (u64, u64),
        call: &str,
    ) {
        let Some(content) = self.content(node).map(Content::to_vec) else {
            return;
        };
        let (old, end) = (content.len() as u64, at.saturating_add(length));
        if end > LARGEST || old.saturating_add(length) > LARGEST {
            self.doubt(format!("`{call}` makes a file too large to be kept"));
            return;
        }
        if mode & !allocate::KNOWN != 0 {
            self.doubt(format!("what `{call}` does in mode {mode:#x} is not known"));
            return;
        }
        let has = |flag: u32| mode & flag != 0;
        let mut new = content.clone();
        let (from, to) = (at as usize, end as usize);
        if has(allocate::COLLAPSE) {
            new.drain(from.min(new.len())..to.min(new.len()));
        } else if has(allocate::INSERT) {
            let from = from.min(new.len());
            new.splice(from..from, std::iter::repeat_n(0, to - from));
        } else {
            if !has(allocate::KEEP_SIZE) && end > old {
                new.resize(to, 0);
            }
            if has(allocate::PUNCH_HOLE) || has(allocate::ZERO) {
                let end = to.min(new.len());
                if let Some(part) = new.get_mut(from.min(end)..end) {
                    part.fill(0);
                }
            }
        }
        if new == content {
            return;
        }
        let from = from.min(new.len());
        let change = Change::Range {
            node,
            at: from as u64,
            bytes: new.get(from..).unwrap_or_default().into(),
            size: new.len() as u64,
        };
        self.step(Step::Change(change), call);
    }

    /// Takes what a mapped file holds: what differs from the log was stored into it.
    pub(super) fn mapped(&mut self, file: &Opened, content: &[u8]) {
        let Some(node) = self.inodes.get(&file.id()).copied() else {
            self.doubt("a mapped file is not known to the log".to_owned());
            return;
        };
        self.stored(node, content);
    }

    fn stored(&mut self, node: NodeId, content: &[u8]) {
        let Some(old) = self.content(node).map(Content::to_vec) else {
            return;
        };
        if old.len() != content.len() {
            self.doubt("a mapped file has another size than by the log".to_owned());
            return;
        }
        let pages = old.chunks(PAGE).zip(content.chunks(PAGE)).enumerate();
        for (page, (_, new)) in pages.filter(|(_, (old, new))| old != new) {
            let change = Change::Write {
                node,
                at: (page * PAGE) as u64,
                bytes: new.into(),
            };
            self.step(Step::Change(change), "stores into a mapped file");
        }
    }
}
