//! The folders whose state a power cut may change.

/// Folders below the working directory, by their paths from there; without one, all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched(Vec<Vec<u8>>);

impl Watched {
    /// Watches these folders.
    #[must_use]
    pub fn new(folders: Vec<Vec<u8>>) -> Self {
        Self(folders)
    }

    /// Whether a path from the working directory, which is empty for that itself, is one of the
    /// folders, or is in one.
    #[must_use]
    pub fn has(&self, path: &[u8]) -> bool {
        self.0.is_empty() || self.0.iter().any(|folder| is_in(path, folder))
    }

    /// Whether one of the folders is at a path, or in what is there.
    #[must_use]
    pub fn is_at(&self, path: &[u8]) -> bool {
        self.0.iter().any(|folder| is_in(folder, path))
    }

    /// The folders; none for the working directory.
    #[must_use]
    pub fn folders(&self) -> &[Vec<u8>] {
        &self.0
    }
}

fn is_in(path: &[u8], folder: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| folder.is_empty() || rest.is_empty() || rest.starts_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_watched_with_all_in_it_and_its_neighbour_is_not() {
        let all = Watched::default();
        assert!(all.has(b"") && all.has(b"a/b"));
        let some = Watched::new(vec![b"a/b".to_vec()]);
        assert!(some.has(b"a/b") && some.has(b"a/b/c"));
        assert!(!some.has(b"") && !some.has(b"a") && !some.has(b"a/bc"));
        assert!(some.is_at(b"a") && some.is_at(b"a/b"));
        assert!(!some.is_at(b"a/b/c") && !some.is_at(b"b"));
    }
}
