//! Bytes in the JSON of a recording.

use serde::{Deserialize, Serialize};

/// Bytes, written as text if they are valid text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(in crate::run) enum Bytes {
    Text(String),
    Raw(Vec<u8>),
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Raw(bytes.to_owned()),
        }
    }
}

impl Bytes {
    pub(in crate::run) fn to_vec(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Raw(bytes) => bytes.clone(),
        }
    }
}
