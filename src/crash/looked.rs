//! Files that are mapped for writing, look by look.

use super::ranges::PAGE;
use super::seen::{Act, FileId, Opened};
use super::{Content, kept};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::Range;

/// Some bytes of a file, of a page at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Where they begin.
    pub at: u64,
    /// They themselves.
    #[serde(with = "kept::text")]
    pub bytes: Vec<u8>,
}

/// What a look at a file shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown<'l> {
    /// The file.
    pub(super) file: &'l Opened,
    /// What was looked at: whole pages, up to the end of the file.
    pub(super) range: Range<u64>,
    /// The file as it is by all looks until here.
    pub(super) content: &'l Content,
}

/// What each file held when it was looked at last.
#[derive(Debug, Default)]
pub struct Looked(HashMap<FileId, Content>);

impl Looked {
    /// Returns what a look at a file shows that holds `content`: all of it the first time, and then
    /// what differs from the look before. So a run has no copy of a file for each look at it.
    pub fn look(&mut self, file: Opened, content: Content) -> Act {
        match self.0.insert(file.id(), content.clone()) {
            None => Act::Mapped { file, content },
            Some(last) => Act::Stored {
                file,
                size: content.size(),
                pages: differing(&last, &content, 0..content.size()),
            },
        }
    }

    /// Whether a file was looked at as a whole.
    #[must_use]
    pub fn has(&self, file: &Opened) -> bool {
        self.0.contains_key(&file.id())
    }

    /// Returns the whole pages that have bytes of a range, in a file of `size`.
    #[must_use]
    pub fn pages_of(range: Range<u64>, size: u64) -> Range<u64> {
        let page = PAGE as u64;
        let start = range.start.min(size) / page * page;
        let end = range.end.min(size);
        start..end.next_multiple_of(page).min(size).max(start)
    }

    /// Returns what a look shows at `bytes`, which are those pages of a file from `at` on; `None`
    /// where the file was not looked at as a whole before. `size` is that of the file.
    pub fn look_in(&mut self, file: Opened, size: u64, (at, bytes): (u64, Vec<u8>)) -> Option<Act> {
        let known = self.0.get_mut(&file.id())?;
        let range = at..at.saturating_add(bytes.len() as u64);
        let pages = differing(
            known,
            &Content::of_parts(size, [(at, bytes)]),
            range.clone(),
        );
        store(known, size, &pages);
        Some(Act::StoredIn {
            file,
            size,
            range,
            pages,
        })
    }

    /// Returns what a file holds by a look at it; `None` where that says no more than what differs,
    /// of a file that was not looked at before, or is no look at a file.
    pub(super) fn again<'l>(&'l mut self, act: &'l Act) -> Option<Shown<'l>> {
        let (file, size, pages, range) = match act {
            Act::Mapped { file, content } => {
                self.0.insert(file.id(), content.clone());
                (file, content.size(), &[][..], None)
            }
            Act::Stored { file, size, pages } => (file, *size, &pages[..], None),
            Act::StoredIn {
                file,
                size,
                range,
                pages,
            } => (file, *size, &pages[..], Some(range.clone())),
            _ => return None,
        };
        let known = self.0.get_mut(&file.id())?;
        store(known, size, pages);
        let range = range.unwrap_or(0..size);
        let is_within = range.end <= size && known.size() == size;
        is_within.then_some(Shown {
            file,
            range,
            content: known,
        })
    }
}

/// Gives a file another size, and stores into its pages.
fn store(content: &mut Content, size: u64, pages: &[Page]) {
    content.resize(size);
    for Page { at, bytes } in pages {
        content.write(*at, bytes.as_slice());
    }
}

/// Returns the pages of a range that `new` has otherwise than `old`, zeros being behind its end.
fn differing(old: &Content, new: &Content, range: Range<u64>) -> Vec<Page> {
    let pages = old.differing(new, range).into_iter();
    pages
        .map(|(at, bytes)| Page {
            at,
            bytes: bytes.into_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_look_has_what_differs_from_the_one_before_and_all_comes_back() {
        let file = || Opened {
            inode: 7,
            ..Opened::default()
        };
        let zeros = vec![0; 3 * PAGE];
        let with = |at: usize, size: usize| {
            let mut bytes = zeros.clone();
            bytes.resize(size, 0);
            bytes[at] = 1;
            bytes
        };
        // Stored into, longer with zeros, shorter, longer again over what was there, the same.
        let looks = [
            (zeros.clone(), None),
            (with(PAGE, 3 * PAGE), Some(1)),
            (with(PAGE, 5 * PAGE + 9), Some(0)),
            (with(0, PAGE / 2), Some(1)),
            (with(PAGE, 2 * PAGE), Some(2)),
            (with(PAGE, 2 * PAGE), Some(0)),
            (Vec::new(), Some(0)),
            (with(5, 6), Some(1)),
        ];
        let (mut one, mut other) = (Looked::default(), Looked::default());
        for (content, differs) in looks {
            let act = one.look(file(), Content::new(content.clone()));
            let pages = match &act {
                Act::Stored { pages, .. } => Some(pages.len()),
                _ => None,
            };
            assert_eq!(pages, differs, "{} bytes", content.len());
            let again = other.again(&act).map(|shown| shown.content.to_vec());
            assert_eq!(again, Some(content));
        }
        // The first of what was seen is missing.
        let act = one.look(file(), Content::new([1]));
        assert_eq!(Looked::default().again(&act), None);
        assert_eq!(other.again(&Act::Nothing), None);
    }

    #[test]
    fn a_look_at_some_pages_says_nothing_of_the_others() {
        let file = || Opened {
            inode: 7,
            ..Opened::default()
        };
        let (page, size) = (PAGE as u64, 3 * PAGE as u64 + 9);
        let mut content = vec![0; 3 * PAGE + 9];
        let (mut one, mut other) = (Looked::default(), Looked::default());
        assert_eq!(one.look_in(file(), size, (0, content.clone())), None);
        assert!(!one.has(&file()));
        let first = one.look(file(), Content::new(content.clone()));
        assert!(other.again(&first).is_some());
        // Pages that bytes lie in, of those that the file has.
        let of = |range| Looked::pages_of(range, size);
        assert_eq!(of(page - 1..page + 1), 0..2 * page);
        assert_eq!(of(page..page), page..page);
        assert_eq!(of(3 * page + 2..u64::MAX), 3 * page..size);
        // A write behind the end clears the rest of the last page first.
        assert_eq!(of(9 * page..10 * page), 3 * page..size);
        // Stored into the first and the last page, and the last was looked at.
        (content[1], content[3 * PAGE]) = (1, 1);
        let last = content[3 * PAGE..].to_vec();
        let act = one.look_in(file(), size, (3 * page, last.clone()));
        let act = act.expect("a look");
        let Act::StoredIn { range, pages, .. } = &act else {
            panic!("{act:?}");
        };
        assert_eq!((range.clone(), pages.len()), (3 * page..size, 1));
        let shown = other.again(&act).expect("bytes");
        let held = shown.content.read(3 * page, size);
        assert_eq!((shown.range, held), (3 * page..size, last));
        // The first is found by the next look at all.
        let act = one.look(file(), Content::new(content.clone()));
        assert!(matches!(&act, Act::Stored { pages, .. } if pages.len() == 1 && pages[0].at == 0));
        let shown = other.again(&act).map(|shown| shown.content.to_vec());
        assert_eq!(shown, Some(content));
    }

    #[test]
    fn a_look_at_a_file_of_holes_has_what_is_in_none() {
        let file = || Opened {
            inode: 7,
            ..Opened::default()
        };
        let (page, size) = (PAGE as u64, 1 << 42);
        let with = |at: u64| Content::of_parts(size, [(at, vec![3; PAGE])]);
        let (mut one, mut other) = (Looked::default(), Looked::default());
        // What was there is gone: a hole was punched, and another page was stored into.
        for (content, differs) in [(with(0), None), (with(1 << 41), Some(2))] {
            let act = one.look(file(), content.clone());
            let pages = match &act {
                Act::Stored { pages, .. } => Some(pages.len()),
                _ => None,
            };
            assert_eq!(pages, differs);
            let again = other.again(&act).map(|shown| shown.content.clone());
            assert_eq!(again, Some(content));
        }
        let act = one.look_in(file(), size, (size - page, vec![0; PAGE]));
        assert!(matches!(act, Some(Act::StoredIn { pages, .. }) if pages.is_empty()));
    }
}
