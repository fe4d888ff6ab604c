//! The run's own copies of files of the machine that have probes.
//!
//! A probe is in an inode, and so in each process that maps it. In a copy, which the workload's
//! world has in the place of the file, the breakpoints can be in all processes, as these are the
//! run's alone ([`Registered::plant_everywhere`](perf_live::probes::Registered::plant_everywhere)).

use super::{Bench, Plan, RunError, file};
use nix::sys::statvfs::{FsFlags, statvfs};
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

/// That all may read and execute a file.
const FOR_ALL: u32 = 0o5;

/// What a file's capabilities are kept in (`capabilities(7)`).
const CAPABILITY: &[u8] = b"security.capability";

/// What a list of those who may execute a file is kept in (`acl(5)`).
const ACCESS: &[u8] = b"system.posix_acl_access";

/// The most bytes of a file that is copied for each run.
const LARGEST: u64 = 256 << 20;

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
    /// There is none of a file whose copy would not be executed as the file is: one that gives
    /// rights, that few may execute, or that is as large as programs seldom are.
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
            .filter(|file| !file.starts_with(directory) && is_ordinary(file))
            .collect();
        files.sort();
        files.dedup();
        if files.is_empty() || !may_execute(directory) {
            return Ok(Self::default());
        }
        let identified = files.into_iter().map(|of| match Mapped::id_of(&of) {
            Ok(id) => Ok((of, id)),
            Err(source) => Err(WorkDirError::Read { path: of, source }),
        });
        let files = identified.collect::<Result<Vec<_>, _>>()?;
        // One for all names of a file, which are probed together.
        let first = |id: FileId| files.iter().position(|(_, other)| *other == id);
        let own = |place: usize, id: FileId| first(id) == Some(place);
        let numbered = files.iter().enumerate();
        let laid: Vec<File> = numbered
            .filter(|(place, (_, id))| own(*place, *id))
            .map(|(place, (file, _))| File {
                path: place.to_string().into(),
                content: Content::CopyOf(file.clone()),
                mode: None,
                owner: nix::unistd::geteuid()
                    .is_root()
                    .then(|| owner(file))
                    .flatten(),
            })
            .collect();
        let folder = WorkDir::lay_out(bench.base()?, &laid, None)?;
        let root = folder.path().canonicalize().map_err(RunError::Here)?;
        let copied = files.iter().map(|(of, id)| Copy {
            of: of.clone(),
            id: *id,
            path: root.join(first(*id).unwrap_or_default().to_string()),
        });
        Ok(Self {
            all: copied.collect(),
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

/// Whether what lies in a folder can be executed, as its file system is mounted. Unknown counts as
/// that it cannot.
fn may_execute(folder: &Path) -> bool {
    let mounted = statvfs(folder);
    mounted.is_ok_and(|it| !it.flags().contains(FsFlags::ST_NOEXEC))
}

/// Whether a copy of a file is executed as the file is, and is made in a moment. Unknown counts as
/// that it is not.
fn is_ordinary(file: &Path) -> bool {
    let Ok(metadata) = file.metadata() else {
        return false;
    };
    let mode = metadata.mode();
    // Only root's copies have the owner of the file.
    let is_for_all = nix::unistd::geteuid().is_root() || mode & FOR_ALL == FOR_ALL;
    let names = xattr::names(file).unwrap_or_else(|_| vec![CAPABILITY.to_vec()]);
    metadata.is_file()
        && metadata.len() <= LARGEST
        && mode & SET_ID == 0
        && is_for_all
        && may_execute(file)
        && !names
            .iter()
            .any(|name| [CAPABILITY, ACCESS].contains(&name.as_slice()))
}

fn owner(file: &Path) -> Option<(u32, u32)> {
    let metadata = file.metadata().ok()?;
    Some((metadata.uid(), metadata.gid()))
}
