//! The run's own copies of files of the machine that have probes.
//!
//! A probe is in an inode, and so in each process that maps it. In a copy, which the workload's
//! world has in the place of the file, the breakpoints can be in all processes, as these are the
//! run's alone ([`Registered::plant_everywhere`](perf_live::probes::Registered::plant_everywhere)).

use super::{Bench, Plan, RunError, file};
use perf_live::probes::Mapped;
use perf_live::sandbox::{Content, File, Root, WorkDir, WorkDirError};
use perf_live::sys::xattr;
use perf_live::units::FileId;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A set-user-ID or set-group-ID bit.
const SET_ID: u32 = 0o6000;

/// What a file's capabilities are kept in (`capabilities(7)`).
const CAPABILITY: &[u8] = b"security.capability";

/// The copies; they last as long as this value.
#[derive(Debug, Default)]
pub(super) struct Copies {
    _folder: Option<WorkDir>,
    all: Vec<Copy>,
}

#[derive(Debug)]
struct Copy {
    /// The file, by its path without symbolic links.
    of: PathBuf,
    /// What mappings of the file are recorded as.
    id: FileId,
    path: PathBuf,
}

impl Copies {
    /// Copies the files that a plan's probes are in and that do not lie in its directory.
    ///
    /// A file that gives rights to those who execute it has no copy, as that would give none.
    ///
    /// # Errors
    /// [`RunError::WorkDir`].
    pub(super) fn of(
        bench: &Bench<'_>,
        plan: &Plan,
        directory: &Path,
        path: &OsStr,
    ) -> Result<Self, RunError> {
        let world = plan.world.as_ref();
        if world.is_none_or(|world| world.spec.root != Root::ReadOnly) {
            return Ok(Self::default());
        }
        let probes = plan.events.named.iter();
        let probes = probes.filter_map(|planned| planned.probe.as_ref());
        let found = probes.filter_map(|probe| file(probe, directory, path)?.canonicalize().ok());
        let mut files: Vec<PathBuf> = found
            .filter(|file| !file.starts_with(directory) && !gives_rights(file))
            .collect();
        files.sort();
        files.dedup();
        if files.is_empty() {
            return Ok(Self::default());
        }
        let laid: Vec<File> = (0..)
            .zip(&files)
            .map(|(number, file): (u32, _)| File {
                path: number.to_string().into(),
                content: Content::CopyOf(file.clone()),
                mode: None,
                owner: None,
            })
            .collect();
        let folder = WorkDir::lay_out(bench.base()?, &laid, None)?;
        let root = folder.path().canonicalize().map_err(RunError::Here)?;
        let copied = files.into_iter().zip(&laid).map(|(of, laid)| {
            let path = root.join(&laid.path);
            match Mapped::id_of(&of) {
                Ok(id) => Ok(Copy { of, id, path }),
                Err(source) => Err(WorkDirError::Read { path: of, source }.into()),
            }
        });
        Ok(Self {
            all: copied.collect::<Result<_, RunError>>()?,
            _folder: Some(folder),
        })
    }

    /// Each file and its copy.
    pub(super) fn pairs(&self) -> Vec<(PathBuf, PathBuf)> {
        let all = self.all.iter();
        all.map(|it| (it.of.clone(), it.path.clone())).collect()
    }

    /// The copy that lies in the place of a file.
    pub(super) fn copy(&self, of: &Path) -> Option<&Path> {
        let of = of.canonicalize().ok()?;
        let found = self.all.iter().find(|it| it.of == of);
        found.map(|it| it.path.as_path())
    }

    /// The file that a copy lies in the place of, and what mappings of it are recorded as.
    pub(super) fn original(&self, copy: &[u8]) -> Option<(&Path, FileId)> {
        let mut all = self.all.iter();
        let found = all.find(|it| it.path.as_os_str().as_bytes() == copy);
        found.map(|it| (it.of.as_path(), it.id))
    }
}

/// Whether whoever executes the file has more rights than before. Unknown counts as that.
fn gives_rights(file: &Path) -> bool {
    let is_plain = file
        .metadata()
        .is_ok_and(|it| it.is_file() && it.mode() & SET_ID == 0);
    let names = xattr::names(file);
    !is_plain || names.is_err() || names.is_ok_and(|it| it.iter().any(|name| name == CAPABILITY))
}
