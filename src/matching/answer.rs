//! Answers of a test: yes, no, or not known.

/// The answer of a test, ordered by how much speaks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Answer {
    /// It fails.
    No,
    /// It depends on a value that was not read.
    Unknown,
    /// It passes.
    Yes,
}

impl Answer {
    /// Whether both tests pass.
    pub(super) fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// Whether one of the tests passes.
    pub(super) fn or(self, other: Self) -> Self {
        self.max(other)
    }

    /// Whether the test fails.
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
            Self::Yes => Self::No,
        }
    }

    /// Yes if `is_so`; not known if only a part was read and the rest could make it so.
    pub(super) fn unless_more(is_so: bool, is_more: bool) -> Self {
        match (is_so, is_more) {
            (true, _) => Self::Yes,
            (false, true) => Self::Unknown,
            (false, false) => Self::No,
        }
    }
}

impl From<bool> for Answer {
    fn from(is_so: bool) -> Self {
        if is_so { Self::Yes } else { Self::No }
    }
}
