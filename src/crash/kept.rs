//! A folder, and what was seen of the calls that changed it, as a recording keeps them.

use super::{Attributes, Content, FileId, HELD, Kind, Node, NodeId, SENDING, Seen, Tree};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// The folder before a run, and the calls in their order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    root: u32,
    nodes: Vec<(u32, KeptNode)>,
    inodes: Vec<(u64, u32)>,
    /// The handles of those that have one.
    #[serde(default)]
    handles: Vec<(u32, Name)>,
    /// What was seen of the calls.
    pub seen: Vec<Seen>,
    /// What is to be known beside.
    pub remarks: Vec<String>,
    /// What could not be seen.
    pub unknown: Vec<String>,
    /// Where it was looked for promises; empty in recordings that know no sockets.
    #[serde(default)]
    pub promises: String,
    /// The files of the folder that the run left which have extended attributes.
    #[serde(default)]
    labels: Vec<(Name, Vec<KeptXattr>)>,
    /// The users and groups of all files of the folder that the run left.
    #[serde(default)]
    owners: Option<Vec<(Name, u32, u32)>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptNode {
    kind: KeptKind,
    mode: u32,
    owner: u32,
    group: u32,
    #[serde(default)]
    xattrs: Vec<KeptXattr>,
}

/// The name and the value of an extended attribute.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptXattr(
    #[serde(with = "text")] Vec<u8>,
    #[serde(with = "text")] Vec<u8>,
);

#[derive(Clone, Debug, Serialize, Deserialize)]
enum KeptKind {
    File(#[serde(with = "content")] Content),
    Folder(Vec<(Name, u32)>),
    Link(#[serde(with = "text")] Vec<u8>),
    Other { mode: u32, device: u64 },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Name(#[serde(with = "text")] Vec<u8>);

impl Kept {
    /// Keeps a folder, with the inodes of its files, and what was seen.
    #[must_use]
    pub fn new(tree: &Tree, inodes: &HashMap<FileId, NodeId>, seen: &[Seen]) -> Self {
        let node = |node: &Node| KeptNode {
            kind: match &node.kind {
                Kind::File(content) => KeptKind::File(content.clone()),
                Kind::Folder(entries) => {
                    let entries = entries.iter();
                    KeptKind::Folder(
                        entries
                            .map(|(name, id)| (Name(name.clone()), id.0))
                            .collect(),
                    )
                }
                Kind::Link(to) => KeptKind::Link(to.clone()),
                Kind::Other { mode, device } => KeptKind::Other {
                    mode: *mode,
                    device: *device,
                },
            },
            mode: node.attributes.mode,
            owner: node.attributes.owner,
            group: node.attributes.group,
            xattrs: kept(&node.attributes.xattrs),
        };
        let mut files: Vec<_> = inodes.iter().map(|(file, id)| (file, id.0)).collect();
        files.sort_unstable();
        let handles = files.iter().filter_map(|(file, id)| {
            let handle = file.handle.clone();
            Some((*id, Name(handle?)))
        });
        Self {
            root: tree.root.0,
            nodes: tree.nodes.iter().map(|(id, it)| (id.0, node(it))).collect(),
            handles: handles.collect(),
            inodes: files.iter().map(|(file, id)| (file.inode, *id)).collect(),
            seen: seen.to_vec(),
            remarks: Vec::new(),
            unknown: Vec::new(),
            promises: String::new(),
            labels: Vec::new(),
            owners: None,
        }
    }

    /// Keeps the extended attributes of what the run left, by path.
    pub fn leave(&mut self, labels: &BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Vec<u8>>>) {
        let labels = labels.iter();
        let labels = labels.map(|(path, xattrs)| (Name(path.clone()), kept(xattrs)));
        self.labels = labels.collect();
    }

    /// The extended attributes of what the run left, by path.
    #[must_use]
    pub fn left(&self) -> BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Vec<u8>>> {
        let labels = self.labels.iter();
        let labels = labels.map(|(path, xattrs)| (path.0.clone(), again(xattrs)));
        labels.collect()
    }

    /// Keeps the users and groups of what the run left, by path.
    pub fn owned(&mut self, owners: Option<&BTreeMap<Vec<u8>, (u32, u32)>>) {
        self.owners = owners.map(|owners| {
            let owners = owners.iter();
            let owners = owners.map(|(path, (user, group))| (Name(path.clone()), *user, *group));
            owners.collect()
        });
    }

    /// The users and groups of what the run left, by path; `None` where they are not known.
    #[must_use]
    pub fn owners(&self) -> Option<BTreeMap<Vec<u8>, (u32, u32)>> {
        let owners = self.owners.as_ref()?.iter();
        let owners = owners.map(|(path, user, group)| (path.0.clone(), (*user, *group)));
        Some(owners.collect())
    }

    /// The folder.
    #[must_use]
    pub fn tree(&self) -> Tree {
        let node = |node: &KeptNode| Node {
            kind: match &node.kind {
                KeptKind::File(content) => Kind::File(content.clone()),
                KeptKind::Folder(entries) => {
                    let entries = entries.iter();
                    let entries = entries.map(|(name, id)| (name.0.clone(), NodeId(*id)));
                    Kind::Folder(entries.collect())
                }
                KeptKind::Link(to) => Kind::Link(to.clone()),
                KeptKind::Other { mode, device } => Kind::Other {
                    mode: *mode,
                    device: *device,
                },
            },
            attributes: Attributes {
                mode: node.mode,
                owner: node.owner,
                group: node.group,
                xattrs: again(&node.xattrs),
            },
        };
        let nodes = self.nodes.iter();
        Tree::new(
            NodeId(self.root),
            nodes.map(|(id, kept)| (NodeId(*id), node(kept))),
        )
    }

    /// Which node each inode was.
    #[must_use]
    pub fn inodes(&self) -> HashMap<FileId, NodeId> {
        let handles = self.handles.iter();
        let handles: HashMap<u32, &Name> = handles.map(|(id, handle)| (*id, handle)).collect();
        let file = |inode, id| FileId {
            inode,
            handle: handles.get(id).map(|handle| handle.0.clone()),
        };
        let inodes = self.inodes.iter();
        inodes
            .map(|(inode, id)| (file(*inode, id), NodeId(*id)))
            .collect()
    }
}

fn kept(xattrs: &BTreeMap<Vec<u8>, Vec<u8>>) -> Vec<KeptXattr> {
    let xattrs = xattrs.iter();
    let xattrs = xattrs.map(|(name, value)| KeptXattr(name.clone(), value.clone()));
    xattrs.collect()
}

fn again(xattrs: &[KeptXattr]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let xattrs = xattrs.iter();
    let xattrs = xattrs.map(|KeptXattr(name, value)| (name.clone(), value.clone()));
    xattrs.collect()
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Bytes {
    Text(String),
    Raw(Vec<u8>),
}

impl Bytes {
    fn into_vec(self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.into_bytes(),
            Self::Raw(bytes) => bytes,
        }
    }
}

/// Bytes, written as text if they are valid text.
pub(super) mod text {
    use super::Bytes;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in crate::crash) fn serialize<S: Serializer>(
        bytes: &[u8],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) => to.serialize_str(text),
            Err(_) => bytes.serialize(to),
        }
    }

    pub(in crate::crash) fn deserialize<'d, D: Deserializer<'d>>(
        from: D,
    ) -> Result<Vec<u8>, D::Error> {
        Ok(Bytes::deserialize(from)?.into_vec())
    }
}

/// What a file holds: its bytes, and of one with holes those that lie in none.
pub(super) mod content {
    use super::{Bytes, Content, text};
    use crate::crash::Page;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Parts {
        size: u64,
        parts: Vec<Page>,
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Parts(Parts),
        Bytes(Bytes),
    }

    pub(in crate::crash) fn serialize<S: Serializer>(
        content: &Content,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        if content.held() == content.size() {
            return text::serialize(&content.to_vec(), to);
        }
        let parts = content.parts().map(|(at, bytes)| Page {
            at,
            bytes: bytes.to_vec(),
        });
        let parts = Parts {
            size: content.size(),
            parts: parts.collect(),
        };
        parts.serialize(to)
    }

    pub(in crate::crash) fn deserialize<'d, D: Deserializer<'d>>(
        from: D,
    ) -> Result<Content, D::Error> {
        Ok(match Either::deserialize(from)? {
            Either::Bytes(bytes) => Content::new(bytes.into_vec()),
            Either::Parts(Parts { size, parts }) => {
                let parts = parts.into_iter().map(|page| (page.at, page.bytes));
                Content::of_parts(size, parts)
            }
        })
    }
}

/// Bytes that may be missing.
pub(super) mod maybe {
    use super::Bytes;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde calls it with the field")]
    pub(in crate::crash) fn serialize<S: Serializer>(
        bytes: &Option<Vec<u8>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let bytes = bytes
            .as_ref()
            .map(|bytes| match std::str::from_utf8(bytes) {
                Ok(text) => Bytes::Text(text.to_owned()),
                Err(_) => Bytes::Raw(bytes.clone()),
            });
        bytes.serialize(to)
    }

    pub(in crate::crash) fn deserialize<'d, D: Deserializer<'d>>(
        from: D,
    ) -> Result<Option<Vec<u8>>, D::Error> {
        Ok(Option::<Bytes>::deserialize(from)?.map(Bytes::into_vec))
    }
}

/// The name of a call that is held, or of what the harness does itself.
pub(super) mod call {
    use super::{HELD, SENDING};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in crate::crash) fn serialize<S: Serializer>(name: &str, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(name)
    }

    pub(in crate::crash) fn deserialize<'d, D: Deserializer<'d>>(
        from: D,
    ) -> Result<&'static str, D::Error> {
        let name = String::deserialize(from)?;
        let mut known = HELD.into_iter().chain(SENDING).chain(["exit"]);
        known
            .find(|known| **known == *name)
            .ok_or_else(|| D::Error::custom(format!("`{name}` is no call that is held")))
    }
}

/// A time in nanoseconds.
pub(super) mod nanoseconds {
    use perf_records::units::Nanos;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde calls it with the field"
    )]
    pub(in crate::crash) fn serialize<S: Serializer>(
        time: &Nanos,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_u64(time.0)
    }

    pub(in crate::crash) fn deserialize<'d, D: Deserializer<'d>>(
        from: D,
    ) -> Result<Nanos, D::Error> {
        Ok(Nanos(u64::deserialize(from)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crash::{Act, Opened, Page};
    use perf_records::units::Nanos;

    #[test]
    fn what_is_kept_comes_back_with_any_bytes() {
        let (root, file, link) = (NodeId(0), NodeId(3), NodeId(4));
        let entries = [(b"\xff".to_vec(), file), (b"l".to_vec(), link)];
        let tree = Tree::new(
            root,
            [
                (root, Node::folder(entries)),
                (file, Node::file(Content::new(b"\0\xfe".to_vec()))),
                (
                    link,
                    Node {
                        kind: Kind::Link(b"to".to_vec()),
                        attributes: Attributes::default(),
                    },
                ),
            ],
        );
        let id = |inode, handle: Option<&[u8]>| FileId {
            inode,
            handle: handle.map(<[u8]>::to_vec),
        };
        let inodes = HashMap::from([(id(9, None), file), (id(10, Some(b"\xff")), link)]);
        let of = |path: Option<&[u8]>| Opened {
            path: path.map(<[u8]>::to_vec),
            inode: 9,
            handle: path.map(|_| b"\xfe".to_vec()),
            shown: None,
        };
        let seen = |call, act| Seen {
            thread: 7,
            call,
            time: Nanos(u64::MAX),
            act,
            left: None,
        };
        let all = vec![
            seen("fsync", Act::Maps(of(Some(b"\xff")))),
            seen("write", Act::Said(b"\xf0".to_vec())),
            seen(
                "exit",
                Act::Mapped {
                    file: of(None),
                    content: Content::new(*b"x"),
                },
            ),
            seen(
                "exit",
                Act::Mapped {
                    file: of(None),
                    content: Content::of_parts(1 << 42, [(7, b"\xff".to_vec())]),
                },
            ),
            seen(
                "fsync",
                Act::Stored {
                    file: of(None),
                    size: 3,
                    pages: vec![Page {
                        at: 1,
                        bytes: b"\xffy".to_vec(),
                    }],
                },
            ),
            seen(
                "write",
                Act::StoredIn {
                    file: of(None),
                    size: 3,
                    range: 0..3,
                    pages: Vec::new(),
                },
            ),
        ];
        let kept = Kept::new(&tree, &inodes, &all);
        let text = serde_json::to_string(&kept).expect("text");
        let again: Kept = serde_json::from_str(&text).expect("it");
        assert_eq!(again.tree(), tree);
        assert_eq!(again.inodes(), inodes);
        assert_eq!(again.seen, all);
        let other = text.replace("\"fsync\"", "\"getpid\"");
        assert!(serde_json::from_str::<Kept>(&other).is_err());
    }
}
