//! A file that a run left, as a recording keeps it.

use super::bytes::Bytes;
use perf_live::sandbox::{FileType, LeftContent, LeftFile};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LeftOne {
    kind: String,
    mode: u32,
    size: u64,
    target: Bytes,
    content: Content,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Content {
    NotSaved,
    Whole(Bytes),
    Parts(Vec<(u64, Bytes)>),
    Start(Bytes),
    Unread(String),
}

impl From<&LeftFile> for LeftOne {
    fn from(file: &LeftFile) -> Self {
        Self {
            kind: file.kind.word().to_owned(),
            mode: file.mode,
            size: file.size,
            target: file.target.as_slice().into(),
            content: match &file.content {
                LeftContent::NotAskedFor => Content::NotSaved,
                LeftContent::Whole(bytes) => Content::Whole(bytes.as_slice().into()),
                LeftContent::Parts(parts) => {
                    let parts = parts
                        .iter()
                        .map(|(at, bytes)| (*at, bytes.as_slice().into()));
                    Content::Parts(parts.collect())
                }
                LeftContent::Start(bytes) => Content::Start(bytes.as_slice().into()),
                LeftContent::Unread(why) => Content::Unread(why.clone()),
            },
        }
    }
}

impl LeftOne {
    /// The file; why it is not known, if its kind is none.
    pub(super) fn file(&self) -> Result<LeftFile, String> {
        let mut kinds = FileType::ALL.into_iter();
        let kind = kinds.find(|kind| kind.word() == self.kind);
        let kind = kind.ok_or_else(|| format!("the recording says it is a `{}`", self.kind))?;
        Ok(LeftFile {
            kind,
            mode: self.mode,
            size: self.size,
            target: self.target.to_vec(),
            content: match &self.content {
                Content::NotSaved => LeftContent::Unread("it is not in the recording".to_owned()),
                Content::Whole(bytes) => LeftContent::Whole(bytes.to_vec()),
                Content::Parts(parts) => {
                    let parts = parts.iter().map(|(at, bytes)| (*at, bytes.to_vec()));
                    LeftContent::Parts(parts.collect())
                }
                Content::Start(bytes) => LeftContent::Start(bytes.to_vec()),
                Content::Unread(why) => LeftContent::Unread(why.clone()),
            },
        })
    }
}
