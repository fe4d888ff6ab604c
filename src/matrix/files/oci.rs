//! Reads images of containers: a layout of OCI, as a folder or as an archive of one, and what
//! `docker save` of older versions writes.
//!
//! ```text
//! index.json -> an index for architectures -> a manifest -> layers, one above the other
//! manifest.json (docker) -> a configuration, layers -+
//! ```
//!
//! # References
//! The OCI Image Format Specification, 1.1: `image-layout.md`, `image-index.md`, `manifest.md`,
//! `layer.md` ("Whiteouts"); "Combined Image JSON + Filesystem Changeset Format", Docker Image
//! Specification 1.2.

use super::described::{Config, Descriptor, Image, Index, Layer, Manifest, Platform, Saved};
use super::packing::{Piece, plain, sha256};
use super::tar::{self, End, Entry, Kind, TarError};
use super::tree::{Tree, TreeError};
use crate::scenario::Architecture;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::PathBuf;

/// Why an image cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// A file of it cannot be read.
    #[error("its file `{name}` cannot be read")]
    Read {
        /// The file within the image.
        name: String,
        /// The error of reading it.
        source: io::Error,
    },
    /// A file of it is not there.
    #[error("its file `{0}` is missing")]
    Missing(String),
    /// A file of it is not what its name says.
    #[error("its file `{name}` has the digest sha256:{found}, and not the one that the image says")]
    Digest {
        /// The file within the image.
        name: String,
        /// Its digest, in hexadecimal.
        found: String,
    },
    /// A file of it is not what it should be.
    #[error("its file `{name}` is not understood: {why}")]
    Form {
        /// The file within the image.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// There is none for the guest's processor.
    #[error("it is for {there}, and not for {}", wanted.word())]
    Architecture {
        /// Those that there are.
        there: String,
        /// That of the guest.
        wanted: Architecture,
    },
    /// There are several for the guest's processor.
    #[error("it holds {0} images, and which one is meant is not said")]
    Several(usize),
    /// A layer cannot be laid in.
    #[error("its layer `{name}`")]
    Layer {
        /// The file within the image.
        name: String,
        /// The error of laying it in.
        source: TreeError,
    },
}

/// Where the files of an image are.
#[derive(Debug)]
pub(super) enum Files {
    Folder(PathBuf),
    /// An archive, and where in it each file is; what a link names, where it is one.
    Archive(Piece, HashMap<String, Place>),
}

/// Where a file of an archive is.
#[derive(Clone, Debug)]
pub(super) enum Place {
    At(u64, u64),
    /// A link, and the path that it names from its folder on.
    As(String),
}

/// The mark of a layout.
const LAYOUT: &str = "oci-layout";
pub(super) const INDEX: &str = "index.json";
/// What `docker save` writes, with or without a layout beside.
const SAVED: &str = "manifest.json";

/// The longest file of an image that is read as a whole.
const LONGEST: u64 = 8 << 20;

/// How deep an index may lie in indices.
const DEEPEST: usize = 4;

impl Files {
    /// Finds the image in a folder, if it is one.
    pub(super) fn of_folder(folder: &std::path::Path) -> Option<Self> {
        let has = |name| folder.join(name).is_file();
        (has(LAYOUT) && has(INDEX)).then(|| Self::Folder(folder.to_owned()))
    }

    /// Finds the image in an archive that is not compressed, if it is one.
    pub(super) fn of_archive(archive: &Piece) -> Result<Option<Self>, TarError> {
        let mut places = HashMap::new();
        let read = io::BufReader::new(archive.clone());
        let read: Result<(), TarError> = tar::each(read, End::Marked, |entry, _| {
            places.extend(place(entry));
            Ok(())
        });
        read?;
        let has = |name| matches!(places.get(name), Some(Place::At(..)));
        let files = |places| Self::Archive(archive.clone(), places);
        if has(LAYOUT) && has(INDEX) {
            return Ok(Some(files(places)));
        }
        // A root may have a file of this name as well.
        let is_saved = has(SAVED);
        let files = files(places);
        Ok((is_saved && files.saved().is_ok()).then_some(files))
    }

    fn open(&self, name: &str) -> Result<Piece, ImageError> {
        let missing = || ImageError::Missing(name.to_owned());
        let read = |source: io::Error| ImageError::Read {
            name: name.to_owned(),
            source,
        };
        match self {
            Self::Folder(folder) => {
                let path = folder.join(name);
                let file = perf_live::files::open(&path).map_err(io::Error::from);
                let file = file.map_err(|error| match error.kind() {
                    io::ErrorKind::NotFound => missing(),
                    _ => read(error),
                });
                Piece::whole(file?).map_err(read)
            }
            Self::Archive(archive, places) => {
                let place = match places.get(name) {
                    // Layers that are the same are one file and links to it.
                    Some(Place::As(other)) => places.get(other),
                    place => place,
                };
                let Some(Place::At(at, length)) = place else {
                    return Err(missing());
                };
                archive.part(*at, *length).ok_or_else(missing)
            }
        }
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, ImageError> {
        let piece = self.open(name)?;
        if piece.length() > LONGEST {
            let why = format!("it has {} bytes", piece.length());
            return Err(form(name, why));
        }
        let mut bytes = Vec::new();
        let read = piece.take(LONGEST).read_to_end(&mut bytes);
        read.map(|_| bytes).map_err(|source| ImageError::Read {
            name: name.to_owned(),
            source,
        })
    }

    /// Reads a file that another names by its digest.
    fn described<T: DeserializeOwned>(&self, named: &Descriptor) -> Result<T, ImageError> {
        let name = named.name()?;
        let bytes = self.bytes(&name)?;
        self.check(&name, &named.digest)?;
        parsed(&name, &bytes)
    }

    fn check(&self, name: &str, digest: &str) -> Result<(), ImageError> {
        let found = sha256(self.open(name)?).map_err(|source| ImageError::Read {
            name: name.to_owned(),
            source,
        })?;
        if digest.strip_prefix("sha256:") == Some(&found) {
            return Ok(());
        }
        let name = name.to_owned();
        Err(ImageError::Digest { name, found })
    }

    fn saved(&self) -> Result<Vec<Saved>, ImageError> {
        parsed(SAVED, &self.bytes(SAVED)?)
    }

    /// Finds the image for an architecture.
    pub(super) fn image(&self, arch: Architecture) -> Result<Image, ImageError> {
        let index = match self.bytes(INDEX) {
            Ok(bytes) => parsed::<Index>(INDEX, &bytes)?,
            Err(ImageError::Missing(_)) => return self.image_of_saved(arch),
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        self.manifests(&index, DEEPEST, &mut found)?;
        let mut there: Vec<String> = Vec::new();
        let mut images: Vec<Image> = Vec::new();
        for named in found {
            let manifest: Manifest = self.described(&named)?;
            let platform = match named.platform {
                Some(platform) => platform,
                None => self.described::<Platform>(&manifest.config)?,
            };
            if platform.architecture == "unknown" {
                // What is said of an image (attestations) lies beside it.
                continue;
            }
            if !platform.is_of(arch) {
                there.push(platform.architecture);
                continue;
            }
            let image = Image {
                digest: named.digest,
                layers: manifest.layers.into_iter().map(Layer::Named).collect(),
            };
            if !images.iter().any(|other| other.digest == image.digest) {
                images.push(image);
            }
        }
        one(images, there, arch)
    }

    fn manifests(
        &self,
        index: &Index,
        depth: usize,
        found: &mut Vec<Descriptor>,
    ) -> Result<(), ImageError> {
        for named in &index.manifests {
            let kind = named.media_type.as_deref().unwrap_or_default();
            if kind.contains("index") || kind.contains("manifest.list") {
                if depth == 0 {
                    let why = "it names indices within indices without end".to_owned();
                    return Err(form(INDEX, why));
                }
                self.manifests(&self.described(named)?, depth - 1, found)?;
            } else {
                found.push(named.clone());
            }
        }
        Ok(())
    }

    /// The same of what `docker save` wrote before it knew layouts.
    fn image_of_saved(&self, arch: Architecture) -> Result<Image, ImageError> {
        let mut there = Vec::new();
        let mut images = Vec::new();
        for saved in self.saved()? {
            let bytes = self.bytes(&saved.config)?;
            let config: Config = parsed(&saved.config, &bytes)?;
            let platform = config.platform();
            if !platform.is_of(arch) {
                there.push(platform.architecture);
                continue;
            }
            let digests = config.rootfs.diff_ids;
            if digests.len() != saved.layers.len() {
                let why = format!(
                    "it names {} layers, and the image has others",
                    digests.len()
                );
                return Err(form(&saved.config, why));
            }
            let digest = sha256(bytes.as_slice()).unwrap_or_default();
            let layers = saved.layers.into_iter().zip(digests);
            let layer = |(name, digest)| Layer::Unpacked { name, digest };
            images.push(Image {
                digest: format!("sha256:{digest}"),
                layers: layers.map(layer).collect(),
            });
        }
        one(images, there, arch)
    }

    /// Lays the layers of an image into a folder.
    pub(super) fn lay(&self, image: &Image, tree: &mut Tree) -> Result<(), ImageError> {
        for layer in &image.layers {
            let name = layer.name()?;
            let read = |source| ImageError::Read {
                name: name.clone(),
                source,
            };
            let piece = self.open(&name)?;
            match layer {
                Layer::Named(named) => self.check(&name, &named.digest)?,
                Layer::Unpacked { digest, .. } => {
                    let found = sha256(plain(&piece).map_err(read)?).map_err(read)?;
                    if digest.strip_prefix("sha256:") != Some(&found) {
                        return Err(ImageError::Digest { name, found });
                    }
                }
            }
            // What a layer removes is of those below it, wherever in the layer that stands.
            for removes in [true, false] {
                let from = plain(&piece).map_err(read)?;
                let laid = lay(from, tree, removes);
                laid.map_err(|source| ImageError::Layer {
                    name: name.clone(),
                    source,
                })?;
            }
        }
        Ok(())
    }
}

fn lay(from: impl Read, tree: &mut Tree, removes: bool) -> Result<(), TreeError> {
    /// What the name of a file begins with that is to be removed; and the mark of a folder whose
    /// contents are.
    const REMOVED: &[u8] = b".wh.";
    const ALL: &[u8] = b".wh..wh.";
    const OPAQUE: &[u8] = b".wh..wh..opq";
    tar::each(from, End::Known, |entry, from| {
        let path = entry.path.as_slice();
        let slash = path.iter().rposition(|byte| *byte == b'/');
        let (folder, name) = path.split_at(slash.map_or(0, |at| at.saturating_add(1)));
        match (name.strip_prefix(REMOVED), removes) {
            (None, true) | (Some(_), false) => Ok(()),
            (None, false) => tree.add(entry, from),
            (Some(_), true) if name == OPAQUE => tree.clear(folder),
            // Files of AUFS itself.
            (Some(_), true) if name.starts_with(ALL) => Ok(()),
            (Some(b"" | b"." | b".."), true) => {
                let why = format!("{} removes nothing that has a name", entry.shown());
                Err(TreeError::Entry(why))
            }
            (Some(removed), true) => tree.remove(&[folder, removed].concat()),
        }
    })
}

fn place(entry: &Entry) -> Option<(String, Place)> {
    let path = std::str::from_utf8(&entry.path).ok()?;
    let path = path.strip_prefix("./").unwrap_or(path);
    let target = std::str::from_utf8(&entry.target).ok()?;
    let place = match entry.kind {
        Kind::File => Place::At(entry.at, entry.size),
        Kind::Link => Place::As(target.strip_prefix("./").unwrap_or(target).to_owned()),
        // `docker save` of before 2023: `../ID/layer.tar`, from the folder of another layer.
        Kind::Symlink => Place::As(target.strip_prefix("../").unwrap_or(target).to_owned()),
        Kind::Folder | Kind::Special => return None,
    };
    Some((path.to_owned(), place))
}

fn one(
    mut images: Vec<Image>,
    there: Vec<String>,
    wanted: Architecture,
) -> Result<Image, ImageError> {
    match (images.pop(), images.len()) {
        (Some(image), 0) => Ok(image),
        (Some(_), others) => Err(ImageError::Several(others.saturating_add(1))),
        (None, _) if there.is_empty() => Err(form(INDEX, "it names no image".to_owned())),
        (None, _) => Err(ImageError::Architecture {
            there: there.join(" and "),
            wanted,
        }),
    }
}

pub(super) fn form(name: &str, why: String) -> ImageError {
    ImageError::Form {
        name: name.to_owned(),
        why,
    }
}

fn parsed<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T, ImageError> {
    serde_json::from_slice(bytes).map_err(|error| form(name, error.to_string()))
}
