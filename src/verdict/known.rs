//! A fact about a run that may be unknown, for a reason.

/// A fact about a run, or why it is not known. No default stands in for an unknown fact: what
/// depends on it is not judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known<T> {
    /// It is known.
    Yes(T),
    /// It is not, for this reason: a sentence for a report.
    No(String),
}

impl<T> Known<T> {
    /// Returns the fact, if it is known.
    pub fn yes(&self) -> Option<&T> {
        match self {
            Self::Yes(fact) => Some(fact),
            Self::No(_) => None,
        }
    }

    /// Returns why it is not known, unless it is.
    pub fn no(&self) -> Option<&str> {
        match self {
            Self::Yes(_) => None,
            Self::No(why) => Some(why),
        }
    }

    /// Returns the fact.
    ///
    /// # Errors
    /// Why it is not known.
    pub fn into_result(self) -> Result<T, String> {
        match self {
            Self::Yes(fact) => Ok(fact),
            Self::No(why) => Err(why),
        }
    }

    /// Returns another fact that follows from this one.
    pub fn map<U>(self, follows: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Self::Yes(fact) => Known::Yes(follows(fact)),
            Self::No(why) => Known::No(why),
        }
    }
}
