//! What is known of a run, and why the rest is not.

/// A fact of a run, or why it is not known. No default stands in for what is not known: what
/// depends on it is not judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known<T> {
    /// It is known.
    Yes(T),
    /// It is not, for this reason: a sentence for a report.
    No(String),
}

impl<T> Known<T> {
    /// The fact, where it is known.
    pub fn yes(&self) -> Option<&T> {
        match self {
            Self::Yes(fact) => Some(fact),
            Self::No(_) => None,
        }
    }

    /// Why it is not known, where it is not.
    pub fn no(&self) -> Option<&str> {
        match self {
            Self::Yes(_) => None,
            Self::No(why) => Some(why),
        }
    }

    /// The fact.
    ///
    /// # Errors
    /// Why it is not known.
    pub fn into_result(self) -> Result<T, String> {
        match self {
            Self::Yes(fact) => Ok(fact),
            Self::No(why) => Err(why),
        }
    }

    /// Another fact that follows from this one.
    pub fn map<U>(self, follows: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Self::Yes(fact) => Known::Yes(follows(fact)),
            Self::No(why) => Known::No(why),
        }
    }
}
