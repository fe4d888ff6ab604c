//! The files that are mapped for writing: what is stored into them is looked for.

use super::of_call::MOST;
use crate::crash::{Act, Begin, Content, FileId, Looked, Opened, Synced};
use perf_live::sandbox::{Parts, held};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A file that can be looked at.
pub(super) trait Readable: FileExt {
    /// Its size in bytes.
    fn size(&self) -> io::Result<u64>;

    /// What it holds, holes left out; `None` where that is more than so many bytes.
    fn held(&self, most: u64) -> io::Result<Option<Parts>>;
}

impl Readable for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn held(&self, most: u64) -> io::Result<Option<Parts>> {
        held(self, most)
    }
}

/// The mapped files of a run, and what each held at the last look.
#[derive(Debug)]
pub(super) struct Mapped<F = File> {
    files: Vec<(Opened, F)>,
    looked: Looked,
}

impl<F> Default for Mapped<F> {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            looked: Looked::default(),
        }
    }
}

impl<F: Readable> Mapped<F> {
    /// Adds a file that is being mapped, be it once more.
    pub(super) fn add(&mut self, opened: Opened, file: F) {
        self.files.retain(|(other, _)| other.id() != opened.id());
        self.files.push((opened, file));
    }

    pub(super) fn has(&self, id: &FileId) -> bool {
        self.files.iter().any(|(other, _)| other.id() == *id)
    }

    /// Looks at all of each file; of one that cannot be looked at, returns why.
    pub(super) fn look(&mut self) -> Vec<Result<Act, String>> {
        let files = self.files.iter();
        files
            .map(|(opened, file)| whole(&mut self.looked, opened, file))
            .collect()
    }

    /// Looks at the pages of a file that a write of so many bytes touches. What was stored into
    /// others may reach the disk before that write or behind it, whichever came first: the next
    /// look at all of it finds that. The first look at a file is one at all of it.
    pub(super) fn look_in(
        &mut self,
        id: &FileId,
        begin: Begin,
        length: usize,
    ) -> Option<Result<Act, String>> {
        let (opened, file) = self.files.iter().find(|(other, _)| other.id() == *id)?;
        if !self.looked.has(opened) {
            return Some(whole(&mut self.looked, opened, file));
        }
        let read = file.size().and_then(|size| {
            let at = match begin {
                Begin::At(at) => at,
                Begin::End => size,
            };
            let range = Looked::pages_of(at..at.saturating_add(length as u64), size);
            let held = range.end.saturating_sub(range.start);
            let mut bytes = vec![0; usize::try_from(held).map_err(io::Error::other)?];
            file.read_exact_at(&mut bytes, range.start)?;
            let act = self
                .looked
                .look_in(nameless(opened), size, (range.start, bytes));
            act.ok_or_else(|| io::ErrorKind::InvalidData.into())
        });
        Some(read.map_err(|error| unread(&error)))
    }
}

/// Whether it matters to the states which stores into mappings came before a call: what it makes
/// durable, promises or names comes behind them.
pub(super) fn is_moment(act: &Act) -> bool {
    match act {
        Act::Write { synced, .. } => *synced != Synced::No,
        Act::Nothing | Act::Maps(_) => false,
        _ => true,
    }
}

fn whole(looked: &mut Looked, opened: &Opened, file: &impl Readable) -> Result<Act, String> {
    let read = file.held(MOST).and_then(|held| Ok((file.size()?, held)));
    match read {
        Ok((size, Some(parts))) => {
            let content = Content::of_parts(size, parts);
            Ok(looked.look(nameless(opened), content))
        }
        Ok((_, None)) => Err("a mapped file is too large to be looked at".to_owned()),
        Err(error) => Err(unread(&error)),
    }
}

/// The file as it is known whatever names it has by now.
fn nameless(opened: &Opened) -> Opened {
    Opened {
        path: None,
        ..opened.clone()
    }
}

fn unread(error: &io::Error) -> String {
    format!("a mapped file could not be read: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    const PAGE: usize = 4096;

    /// A file that notes how many bytes of it are read.
    #[derive(Clone, Default)]
    struct Counted {
        bytes: Rc<RefCell<Vec<u8>>>,
        read: Rc<Cell<usize>>,
    }

    impl FileExt for Counted {
        fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
            let bytes = self.bytes.borrow();
            let there = bytes.get(offset as usize..).unwrap_or_default();
            let length = there.len().min(into.len());
            into[..length].copy_from_slice(&there[..length]);
            self.read.set(self.read.get() + length);
            Ok(length)
        }

        fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    impl Readable for Counted {
        fn size(&self) -> io::Result<u64> {
            Ok(self.bytes.borrow().len() as u64)
        }

        fn held(&self, _: u64) -> io::Result<Option<Parts>> {
            let mut bytes = vec![0; self.bytes.borrow().len()];
            self.read_exact_at(&mut bytes, 0)?;
            Ok(Some(vec![(0, bytes)]))
        }
    }

    #[test]
    fn a_write_beside_a_mapping_of_many_pages_looks_at_its_own_pages_alone() {
        let opened = |inode| Opened {
            inode,
            ..Opened::default()
        };
        let (file, other) = (Counted::default(), Counted::default());
        file.bytes.replace(vec![0; 1000 * PAGE]);
        other.bytes.replace(vec![0; 1000 * PAGE]);
        let mut mapped = Mapped::default();
        mapped.add(opened(1), file.clone());
        mapped.add(opened(2), other.clone());
        let id = opened(1).id();
        let mut look_in = |at, length| {
            let act = mapped.look_in(&id, at, length).expect("a mapped file");
            let act = act.expect("a look");
            (act, file.read.replace(0) / PAGE)
        };
        let (act, read) = look_in(Begin::At(0), 1);
        assert!(matches!(act, Act::Mapped { .. }), "{act:?}");
        assert_eq!(read, 1000);
        // Stored into three pages.
        for page in [3, 500, 999] {
            file.bytes.borrow_mut()[page * PAGE + 7] = 1;
        }
        for (begin, length, pages, found) in [
            (Begin::At(500 * PAGE as u64), 100, 1, 1),
            (Begin::At(500 * PAGE as u64), 100, 1, 0),
            (Begin::At(7 * PAGE as u64 - 1), 2, 2, 0),
            (Begin::At(999 * PAGE as u64 + 9), PAGE, 1, 1),
            (Begin::End, 100, 0, 0),
        ] {
            let (act, read) = look_in(begin, length);
            let Act::StoredIn { pages: differ, .. } = act else {
                panic!("{act:?}");
            };
            assert_eq!((read, differ.len()), (pages, found), "{begin:?}");
        }
        assert_eq!(other.read.get(), 0);
        // What is left is found at the next look at all.
        let looks = mapped.look();
        let Some(Ok(Act::Stored { pages, .. })) = looks.first() else {
            panic!("{looks:?}");
        };
        assert_eq!(pages.len(), 1);
        assert_eq!(pages[0].at, 3 * PAGE as u64);
        assert_eq!(other.read.get(), 1000 * PAGE);
    }
}
