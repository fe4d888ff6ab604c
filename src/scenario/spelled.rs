//! What can be said of how something is spelled.

use super::{Literal, Test};

impl Test {
    /// Whether it is about a text alone.
    pub(super) fn can_be_spelled(&self) -> bool {
        match self {
            Self::OneOf(tests) => tests.iter().all(Self::can_be_spelled),
            Self::Not(test) => test.can_be_spelled(),
            Self::Any | Self::Capture(_) | Self::Range(..) => false,
            Self::Words(_) | Self::Spelled(_) => false,
            Self::Is(Literal::Number(_)) => false,
            Self::Is(Literal::Text(_))
            | Self::Prefix(_)
            | Self::Glob(_)
            | Self::Regex(_)
            | Self::Contains(_) => true,
        }
    }
}
