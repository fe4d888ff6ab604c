//! What the files of an image say of each other.

use super::oci::{INDEX, ImageError, form};
use crate::scenario::Architecture;
use serde::Deserialize;

/// An image for one architecture.
#[derive(Debug)]
pub(super) struct Image {
    /// That of its manifest, or of its configuration, which both name all else by digests.
    pub(super) digest: String,
    pub(super) layers: Vec<Layer>,
}

#[derive(Debug)]
pub(super) enum Layer {
    Named(Descriptor),
    /// The file, and the digest of what it holds.
    Unpacked {
        name: String,
        digest: String,
    },
}

impl Layer {
    pub(super) fn name(&self) -> Result<String, ImageError> {
        match self {
            Self::Named(named) => named.name(),
            Self::Unpacked { name, .. } => Ok(name.clone()),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Index {
    pub(super) manifests: Vec<Descriptor>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Descriptor {
    #[serde(rename = "mediaType")]
    pub(super) media_type: Option<String>,
    pub(super) digest: String,
    pub(super) platform: Option<Platform>,
}

impl Descriptor {
    /// Returns the file that has it; only SHA-256 is known.
    pub(super) fn name(&self) -> Result<String, ImageError> {
        let hexadecimal = self.digest.strip_prefix("sha256:").unwrap_or_default();
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if hexadecimal.len() == 64 && hexadecimal.bytes().all(is_digit) {
            return Ok(format!("blobs/sha256/{hexadecimal}"));
        }
        let digest = self.digest.escape_debug();
        Err(form(INDEX, format!("`{digest}` is no digest by SHA-256")))
    }
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Platform {
    pub(super) architecture: String,
    pub(super) os: Option<String>,
}

impl Platform {
    pub(super) fn is_of(&self, arch: Architecture) -> bool {
        let is_linux = self.os.as_deref().is_none_or(|os| os == "linux");
        is_linux && self.architecture == arch.word()
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Manifest {
    pub(super) config: Descriptor,
    pub(super) layers: Vec<Descriptor>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Config {
    pub(super) architecture: String,
    pub(super) os: Option<String>,
    pub(super) rootfs: Rootfs,
}

impl Config {
    pub(super) fn platform(&self) -> Platform {
        Platform {
            architecture: self.architecture.clone(),
            os: self.os.clone(),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Rootfs {
    pub(super) diff_ids: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Saved {
    pub(super) config: String,
    pub(super) layers: Vec<String>,
}
