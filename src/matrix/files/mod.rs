//! Finds the files of a guest: a folder as it is, or an archive or an image of a container that is
//! unpacked once and kept.
//!
//! ```text
//! folder ---------------------------------------------> the guest's root
//! archive: digest of the file -> roots/DIGEST (kept) ------^
//! image:   digest of its manifest -> layers, checked ------+
//! disk: a file system in a file ----------------------> a disk of the guest
//! ```

mod described;
mod oci;
mod packing;
mod tar;
mod tree;

pub use oci::ImageError;
pub use tar::TarError;
pub use tree::TreeError;

use super::cache::{self, CacheError};
use super::work::Work;
use crate::scenario::Architecture;
use oci::Files;
use packing::{Packing, Piece, plain, sha256};
use perf_records::units::shown_path;
use std::io;
use std::path::{Path, PathBuf};
use tar::End;
use tree::{Omitted, Tree};

/// Why a guest has no files.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// There is no folder to unpack into.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// It cannot be read.
    #[error("cannot read it")]
    Read(#[source] io::Error),
    /// It is nothing that has files.
    #[error(
        "it is no folder, no tar archive (plain, gzip, zstd or xz), no image of a container, and \
         holds no ext4"
    )]
    Unknown,
    /// It is a bad archive.
    #[error(transparent)]
    Archive(#[from] TarError),
    /// An entry of an archive cannot be laid in.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// It is a bad image of a container.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The cache cannot be written.
    #[error("cannot write below `{}`", shown_path(folder))]
    Write {
        /// The folder.
        folder: PathBuf,
        /// The error of writing.
        source: io::Error,
    },
}

impl RootError {
    /// Returns what can be done about it, if anything.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let said = match self {
            Self::Cache(error) => return Some(error.hint()),
            Self::Read(_) | Self::Unknown => {
                "make one with `docker export CONTAINER > root.tar`, `docker save IMAGE > image.tar` or \
                 `tar --create --directory ROOT --file root.tar .`"
            }
            Self::Image(ImageError::Several(_)) => {
                "copy the one that is meant: skopeo copy oci:ALL:TAG oci:ONE, or save one image alone"
            }
            Self::Image(ImageError::Architecture { .. }) => {
                "save the image for that architecture (`docker pull --platform`, `skopeo --override-arch`), or \
                 say `arch` for the kernel"
            }
            Self::Tree(TreeError::Write { .. })
            | Self::Image(ImageError::Layer {
                source: TreeError::Write { .. },
                ..
            })
            | Self::Write { .. } => {
                "look for room where kernels are kept; HARNESS_CACHE names another folder"
            }
            Self::Tree(TreeError::Entry(_)) => "make the archive again, from within the root",
            Self::Archive(TarError::Sparse(_)) => "make the archive again, without --sparse",
            Self::Archive(_) | Self::Tree(_) | Self::Image(_) => {
                "make or fetch it again; a copy may have been cut or changed"
            }
        };
        Some(said.to_owned())
    }
}

impl RootError {
    /// Whether what was named is not what it has to be; otherwise the machine is to blame.
    pub(super) fn is_of_input(&self) -> bool {
        match self {
            Self::Read(_) | Self::Unknown | Self::Archive(_) => true,
            Self::Tree(error) | Self::Image(ImageError::Layer { source: error, .. }) => {
                !matches!(error, TreeError::Write { .. })
            }
            Self::Image(_) => true,
            Self::Cache(_) | Self::Write { .. } => false,
        }
    }
}

/// The files of a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// A folder of the host.
    Folder(PathBuf),
    /// A file of the host that holds an ext4.
    Disk(PathBuf),
}

/// The folder of the cache that roots are unpacked in.
const ROOTS: &str = "roots";

/// Returns a guest's files. An archive or an image is unpacked once, and `say` is called before
/// that, and for what of it is left out.
pub(super) fn find(
    path: &Path,
    arch: Architecture,
    say: &mut dyn FnMut(String),
) -> Result<Root, RootError> {
    if path.is_dir() && Files::of_folder(path).is_none() {
        return Ok(Root::Folder(path.to_owned()));
    }
    if is_disk(path).map_err(RootError::Read)? {
        return Ok(Root::Disk(path.to_owned()));
    }
    let roots = cache::folder()?.join(ROOTS);
    unpacked(path, arch, &roots, say).map(Root::Folder)
}

/// Whether a file holds an ext4, and no archive: the mark has two bytes, which may stand anywhere.
///
/// # References
/// `Documentation/filesystems/ext4/super.rst` (`s_magic`).
fn is_disk(path: &Path) -> io::Result<bool> {
    const MAGIC: [u8; 2] = [0x53, 0xef];
    if path.is_dir() {
        return Ok(false);
    }
    let file = perf_live::files::open(path).map_err(io::Error::from)?;
    let piece = Piece::whole(file)?;
    Ok(piece.peek(0x438, 2)? == MAGIC && !is_archive(&piece)?)
}

fn unpacked(
    path: &Path,
    arch: Architecture,
    roots: &Path,
    say: &mut dyn FnMut(String),
) -> Result<PathBuf, RootError> {
    if let Some(files) = Files::of_folder(path) {
        let image = files.image(arch)?;
        let name = image.digest.replace(':', "-");
        return kept(roots, &name, path, say, |_, tree| {
            Ok(files.lay(&image, tree)?)
        });
    }
    let file = perf_live::files::open(path);
    let file = file.map_err(|error| RootError::Read(error.into()))?;
    let piece = Piece::whole(file).map_err(RootError::Read)?;
    if !is_archive(&piece).map_err(RootError::Read)? {
        return Err(RootError::Unknown);
    }
    let digest = sha256(piece.clone()).map_err(RootError::Read)?;
    // An archive may hold an image for each architecture.
    let name = format!("{}-{digest}", arch.word());
    kept(roots, &name, path, say, |work, tree| {
        let archive = loose(&piece, work)?;
        if let Some(files) = Files::of_archive(&archive)? {
            return Ok(files.lay(&files.image(arch)?, tree)?);
        }
        let mut has_any = false;
        let archive = io::BufReader::new(archive);
        let laid: Result<(), TreeError> = tar::each(archive, End::Marked, |entry, from| {
            has_any = true;
            tree.add(entry, from)
        });
        laid?;
        let none = || TarError::Form("it holds no file".to_owned());
        Ok(has_any.then_some(()).ok_or_else(none)?)
    })
}

/// Whether a file is compressed, or begins as an archive does; an empty one is a cut archive.
fn is_archive(piece: &Piece) -> io::Result<bool> {
    let head = piece.peek(0, 512)?;
    let packing = Packing::of(&head);
    // Zeros alone are the end of an archive, and what many disks begin with.
    let begins = tar::begins(&head);
    let is_ustar = head.get(257..262) == Some(b"ustar");
    Ok(packing != Packing::None || begins || is_ustar || head.is_empty())
}

/// Unpacks an archive that is compressed, as its files are read where they are.
fn loose(piece: &Piece, work: &Path) -> Result<Piece, RootError> {
    if Packing::of(&piece.peek(0, 6).map_err(RootError::Read)?) == Packing::None {
        return Ok(piece.clone());
    }
    let write = |source| RootError::Write {
        folder: work.to_owned(),
        source,
    };
    let mut file = tempfile::tempfile_in(work).map_err(write)?;
    let mut from = plain(piece).map_err(RootError::Read)?;
    let mut bytes = vec![0; 256 << 10];
    loop {
        let n = match io::Read::read(&mut from, &mut bytes) {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(TarError::Cut("its compressed data".to_owned()).into());
            }
            Err(error) => return Err(TarError::Read(error).into()),
        };
        let bytes = bytes.get(..n).unwrap_or_default();
        io::Write::write_all(&mut file, bytes).map_err(write)?;
    }
    Piece::whole(file).map_err(write)
}

/// Returns what is kept under a name, or makes it: whole, or not at all.
fn kept(
    roots: &Path,
    name: &str,
    path: &Path,
    say: &mut dyn FnMut(String),
    lay: impl FnOnce(&Path, &mut Tree) -> Result<(), RootError>,
) -> Result<PathBuf, RootError> {
    let root = roots.join(name);
    if root.is_dir() {
        return Ok(root);
    }
    let write = |source| RootError::Write {
        folder: roots.to_owned(),
        source,
    };
    private(roots).map_err(write)?;
    let work = Work::new(roots).map_err(write)?;
    say(format!(
        "unpacking `{}` into {}",
        shown_path(path),
        shown_path(&root)
    ));
    let whole = work.path().join("root");
    let mut tree = Tree::new(&whole).map_err(write)?;
    lay(work.path(), &mut tree)?;
    let omitted: Omitted = tree.finish()?;
    for line in omitted.lines() {
        say(format!("`{}`: {line}", shown_path(path)));
    }
    // Renamed as a whole; another harness may have been faster.
    match std::fs::rename(&whole, &root) {
        Err(error) if !root.is_dir() => Err(write(error)),
        _ => Ok(root),
    }
}

/// Makes the folder of all roots, in which other users find no programs that run with the rights
/// of their owners.
fn private(roots: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(roots) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
