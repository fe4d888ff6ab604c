//! What can go wrong when a value is read.

/// Why a field's value could not be had from a payload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("field `{field}`: {fault}")]
pub struct DecodeError {
    /// The field's name.
    pub field: String,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What can be wrong with a field of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The payload ends before the field does.
    #[error("{size} bytes at offset {offset}, in a payload of {payload}")]
    BeyondPayload {
        /// The offset of the field.
        offset: usize,
        /// How many bytes it has.
        size: usize,
        /// How many bytes the payload has.
        payload: usize,
    },
    /// A locator points out of the payload.
    #[error("located at {length} bytes from offset {offset}, in a payload of {payload}")]
    LocatedBeyondPayload {
        /// From the start of the payload.
        offset: usize,
        /// As the locator says.
        length: usize,
        /// How many bytes the payload has.
        payload: usize,
    },
    /// The bytes of an array are no whole number of elements.
    #[error("{length} bytes are no whole number of elements of {element} bytes")]
    CutElement {
        /// How many bytes there are.
        length: usize,
        /// The size of one element.
        element: usize,
    },
    /// The field does not hold what the caller asks for.
    #[error("the format does not declare it as {wanted}")]
    WrongShape {
        /// What it was asked for.
        wanted: &'static str,
    },
}
