//! Changes of many bytes at once: `fallocate(2)`, and stores into mappings.

use super::looked::Shown;
use super::making::Builder;
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

/// So much of a file is moved or made zeros at once, in bytes.
const LARGEST: u64 = 1 << 30;

impl Builder {
    pub(super) fn allocate(
        &mut self,
        node: NodeId,
        mode: u32,
        (at, length): (u64, u64),
        call: &str,
    ) {
        let Some(content) = self.content(node).cloned() else {
            return;
        };
        let (old, end) = (content.size(), at.saturating_add(length));
        if mode & !allocate::KNOWN != 0 {
            self.doubt(format!("what `{call}` does in mode {mode:#x} is not known"));
            return;
        }
        let has = |flag: u32| mode & flag != 0;
        if has(allocate::COLLAPSE) || has(allocate::INSERT) {
            if old.saturating_add(length) > LARGEST {
                self.doubt(format!(
                    "`{call}` moves blocks of a file too large to be kept"
                ));
                return;
            }
            let moved = (at, length, has(allocate::INSERT));
            self.move_bytes(node, content.to_vec(), moved, call);
            return;
        }
        if has(allocate::PUNCH_HOLE) || has(allocate::ZERO) {
            self.clear(node, &content, (at, end.min(old)), call);
        }
        if !has(allocate::KEEP_SIZE) && end > old {
            let change = Change::Truncate { node, size: end };
            self.step(Step::Change(change), call);
        }
    }

    /// Takes bytes out of a file, or zeros in. Before it does so the kernel writes what is in front
    /// of the file's end (`filemap_write_and_wait_range()`), and the blocks behind all move.
    fn move_bytes(
        &mut self,
        node: NodeId,
        content: Vec<u8>,
        (at, length, inserts): (u64, u64, bool),
        call: &str,
    ) {
        let mut new = content.clone();
        let from = (at as usize).min(new.len());
        if inserts {
            new.splice(from..from, std::iter::repeat_n(0, length as usize));
        } else {
            new.drain(from..from.saturating_add(length as usize).min(new.len()));
        }
        if new == content {
            return;
        }
        let change = Change::Range {
            node,
            at: from as u64,
            bytes: new.get(from..).unwrap_or_default().into(),
            size: new.len() as u64,
        };
        self.step(Step::Change(change), call);
    }

    /// Makes bytes of a file zeros, which are written as others: what a file system has blocks for
    /// it takes away, and what lies beside these in a block it overwrites in memory
    /// (`ext4_zero_partial_blocks()`). Nothing else of the file is written with that.
    fn clear(&mut self, node: NodeId, content: &Content, (from, to): (u64, u64), call: &str) {
        let is_set = |byte: &u8| *byte != 0;
        let set: Vec<_> = content
            .within(from, to)
            .filter_map(|(at, part)| {
                let first = part.bytes().iter().position(is_set)?;
                let last = part.bytes().iter().rposition(is_set)?;
                Some((at + first as u64, at + last as u64 + 1))
            })
            .collect();
        let (Some((at, _)), Some((_, end))) = (set.first(), set.last()) else {
            return;
        };
        if end - at > LARGEST {
            self.doubt(format!(
                "`{call}` makes too much of a file zeros to be kept"
            ));
            return;
        }
        let change = Change::Write {
            node,
            at: *at,
            bytes: vec![0; (end - at) as usize].into(),
        };
        self.step(Step::Change(change), call);
    }

    /// Takes what a mapped file holds: what differs from the log was stored into it.
    pub(super) fn mapped(&mut self, shown: &Shown<'_>) {
        let Some(node) = self.inodes.get(&shown.file.id()).copied() else {
            self.doubt("a mapped file is not known to the log".to_owned());
            return;
        };
        let Some(old) = self.content(node) else {
            return;
        };
        if old.size() != shown.content.size() {
            self.doubt("a mapped file has another size than by the log".to_owned());
            return;
        }
        for (at, bytes) in old.differing(shown.content, shown.range.clone()) {
            let bytes = (&*bytes).into();
            let change = Change::Write { node, at, bytes };
            self.step(Step::Change(change), "stores into a mapped file");
        }
    }
}
