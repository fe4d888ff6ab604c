//! Files that are mapped for writing, look by look.

use super::kept;
use super::ranges::PAGE;
use super::seen::{Act, FileId, Opened};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Some bytes of a file, of a page at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Where they begin.
    pub at: u64,
    /// They themselves.
    #[serde(with = "kept::text")]
    pub bytes: Vec<u8>,
}

/// What each file held when it was looked at last.
#[derive(Debug, Default)]
pub struct Looked(HashMap<FileId, Vec<u8>>);

impl Looked {
    /// Returns what a look at a file shows that holds `content`: all of it the first time, and then
    /// what differs from the look before. So a run has no copy of a file for each look at it.
    pub fn look(&mut self, file: Opened, content: Vec<u8>) -> Act {
        match self.0.insert(file.id(), content.clone()) {
            None => Act::Mapped { file, content },
            Some(last) => Act::Stored {
                file,
                size: content.len() as u64,
                pages: differing(&last, &content),
            },
        }
    }

    /// Returns what a file holds by a look at it; `None` where that says no more than what differs,
    /// of a file that was not looked at before, or is no look at a file.
    pub(super) fn again<'l>(&'l mut self, act: &'l Act) -> Option<(&'l Opened, &'l [u8])> {
        let (file, content) = match act {
            Act::Mapped { file, content } => {
                let known = self.0.entry(file.id()).or_default();
                known.clone_from(content);
                (file, known)
            }
            Act::Stored { file, size, pages } => {
                let known = self.0.get_mut(&file.id())?;
                known.resize(usize::try_from(*size).ok()?, 0);
                for Page { at, bytes } in pages {
                    let from = usize::try_from(*at).ok()?;
                    let to = from.checked_add(bytes.len())?;
                    known.get_mut(from..to)?.copy_from_slice(bytes);
                }
                (file, known)
            }
            _ => return None,
        };
        Some((file, content))
    }
}

/// Returns the pages of `new` that differ from `old`, zeros being behind its end.
fn differing(old: &[u8], new: &[u8]) -> Vec<Page> {
    let pages = new.chunks(PAGE).enumerate();
    let is_other = |at: usize, page: &[u8]| {
        let end = old.len().min(at + page.len());
        let (there, behind) = page.split_at(end.saturating_sub(at));
        old.get(at..end).unwrap_or_default() != there || behind.iter().any(|byte| *byte != 0)
    };
    pages
        .map(|(number, page)| (number * PAGE, page))
        .filter(|(at, page)| is_other(*at, page))
        .map(|(at, page)| Page {
            at: at as u64,
            bytes: page.to_vec(),
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
            let act = one.look(file(), content.clone());
            let pages = match &act {
                Act::Stored { pages, .. } => Some(pages.len()),
                _ => None,
            };
            assert_eq!(pages, differs, "{} bytes", content.len());
            let again = other.again(&act).map(|(_, bytes)| bytes.to_vec());
            assert_eq!(again, Some(content));
        }
        // The first of what was seen is missing.
        let act = one.look(file(), vec![1]);
        assert_eq!(Looked::default().again(&act), None);
        assert_eq!(other.again(&Act::Nothing), None);
    }
}
