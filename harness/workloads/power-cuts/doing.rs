//! Does what a program says.

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::fcntl::{
    AT_FDCWD, FallocateFlags, PosixFadviseAdvice, RenameFlags, fallocate, posix_fadvise, renameat2,
};
use nix::unistd::syncfs;
use perf_live::sys::xattr;
use trace_harness::crash::{Attribute, Change, Kind, NodeId, Place, Step, Tree};

use crate::machine::Recorded;
use crate::programs::{Meanwhile, Program, clears};

type Failed = Box<dyn Error>;
type Done = Result<(), Failed>;

impl Program {
    /// Makes the folder, writes it to the disk, and runs the program with a mark behind each step.
    pub(crate) fn run(&self, recorded: &Recorded<'_>) -> Result<(), Failed> {
        let folder = recorded.folder();
        let start = self.log.start();
        make(start, start.root, &folder)?;
        // What a commit is asked for with.
        let beside = folder.with_file_name("beside");
        File::create(&beside)?;
        syncfs(File::open(&folder)?)?;
        recorded.mark("begun")?;
        for (at, (step, meanwhile)) in self.log.steps().iter().zip(&self.meanwhile).enumerate() {
            let failed = |error: Failed| format!("step {at}, {step:?}: {error}");
            let next = self.log.steps().get(at + 1);
            take((step, next), &self.log.after(at), &folder).map_err(failed)?;
            recorded.mark(&format!("{}", at + 1))?;
            let tree = self.log.after(at + 1);
            happen(meanwhile, &tree, &folder, (&beside, at)).map_err(failed)?;
        }
        Ok(())
    }
}

fn name(of: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(of))
}

/// Makes what a node of a tree holds.
fn make(tree: &Tree, id: NodeId, at: &Path) -> Result<(), Failed> {
    match tree.nodes.get(&id).map(|node| &node.kind) {
        Some(Kind::File(content)) => fs::write(at, content.to_vec())?,
        Some(Kind::Folder(entries)) => {
            fs::create_dir(at)?;
            for (entry, child) in entries {
                make(tree, *child, &at.join(name(entry)))?;
            }
        }
        _ => return Err("a node that cannot be made".into()),
    }
    Ok(())
}

/// Returns a path to a node.
fn path(tree: &Tree, wanted: NodeId, folder: &Path) -> Result<PathBuf, Failed> {
    fn find(tree: &Tree, from: NodeId, wanted: NodeId, at: &Path) -> Option<PathBuf> {
        if from == wanted {
            return Some(at.to_owned());
        }
        let mut entries = tree.nodes.get(&from)?.entries()?.iter();
        entries.find_map(|(entry, child)| find(tree, *child, wanted, &at.join(name(entry))))
    }
    find(tree, tree.root, wanted, folder).ok_or_else(|| "a node without a name".into())
}

fn spot(tree: &Tree, place: &Place, folder: &Path) -> Result<PathBuf, Failed> {
    Ok(path(tree, place.folder, folder)?.join(name(&place.name)))
}

/// Writes, or takes room away: zeros stand for that. `next` is the step behind, which may say that
/// the write is a sync.
fn write((node, file): (NodeId, &Path), at: u64, bytes: &[u8], next: Option<&Step>) -> Done {
    let mut options = OpenOptions::new();
    options.write(true);
    if clears(bytes) {
        let kept = FallocateFlags::FALLOC_FL_KEEP_SIZE;
        let way = match bytes.len() % 2 {
            0 => FallocateFlags::FALLOC_FL_PUNCH_HOLE,
            _ => FallocateFlags::FALLOC_FL_ZERO_RANGE,
        };
        let (from, length) = (i64::try_from(at)?, i64::try_from(bytes.len())?);
        return Ok(fallocate(options.open(file)?, kept | way, from, length)?);
    }
    if let Some(Step::SyncRange { only_data, .. }) = next.filter(|next| is_sync(next, node)) {
        options.custom_flags(match only_data {
            true => libc::O_DSYNC,
            false => libc::O_SYNC,
        });
    }
    Ok(options.open(file)?.write_all_at(bytes, at)?)
}

fn is_sync(step: &Step, of: NodeId) -> bool {
    matches!(step, Step::SyncRange { node, .. } if *node == of)
}

/// Sets a size; a larger one by room that is allocated, where it is even.
fn resize(file: &File, size: u64) -> Done {
    match file.metadata()?.len() < size && size.is_multiple_of(2) {
        true => fallocate(file, FallocateFlags::empty(), 0, i64::try_from(size)?)?,
        false => file.set_len(size)?,
    }
    Ok(())
}

/// Makes a step on the folder, which is as the tree before it.
fn take((step, next): (&Step, Option<&Step>), tree: &Tree, folder: &Path) -> Done {
    let open = |id: NodeId| -> Result<File, Failed> {
        let path = path(tree, id, folder)?;
        let writes = path.is_file();
        Ok(OpenOptions::new().read(true).write(writes).open(path)?)
    };
    match step {
        Step::Change(change) => match change {
            Change::Enter { at, node } => {
                let to = spot(tree, at, folder)?;
                if let Ok(from) = path(tree, *node, folder) {
                    fs::hard_link(from, to)?;
                } else if node.0 < 20 {
                    let mut options = OpenOptions::new();
                    options.write(true).create_new(true).mode(0o644).open(to)?;
                } else {
                    fs::DirBuilder::new().mode(0o755).create(to)?;
                }
            }
            Change::Remove { at } => {
                let path = spot(tree, at, folder)?;
                if fs::symlink_metadata(&path)?.is_dir() {
                    fs::remove_dir(path)?;
                } else {
                    fs::remove_file(path)?;
                }
            }
            Change::Rename { from, to, leaves } => {
                let (from, to) = (spot(tree, from, folder)?, spot(tree, to, folder)?);
                let flags = match leaves {
                    Some(_) => RenameFlags::RENAME_EXCHANGE,
                    None => RenameFlags::empty(),
                };
                renameat2(AT_FDCWD, &from, AT_FDCWD, &to, flags)?;
            }
            Change::Write { node, at, bytes } => {
                let file = path(tree, *node, folder)?;
                write((*node, &file), *at, bytes, next)?;
            }
            Change::Truncate { node, size } => resize(&open(*node)?, *size)?,
            Change::Set {
                node,
                attribute: Attribute::Mode(mode),
            } => fs::set_permissions(
                path(tree, *node, folder)?,
                fs::Permissions::from_mode(*mode),
            )?,
            Change::Set {
                node,
                attribute: Attribute::Xattr(name, value),
            } => {
                let path = path(tree, *node, folder)?;
                match value {
                    Some(value) => xattr::set(&path, name, value)?,
                    None => xattr::remove(&path, name)?,
                }
            }
            _ => return Err("a step that cannot be made".into()),
        },
        Step::Sync { node, only_data } => {
            let file = open(*node)?;
            if *only_data {
                file.sync_data()?;
            } else {
                file.sync_all()?;
            }
        }
        // The write before it was one.
        Step::SyncRange { .. } => {}
        Step::SyncAll => syncfs(File::open(folder)?)?,
        Step::Acknowledged => {}
    }
    Ok(())
}

fn happen(
    meanwhile: &Meanwhile,
    tree: &Tree,
    folder: &Path,
    (beside, at): (&Path, usize),
) -> Result<(), Failed> {
    match meanwhile {
        Meanwhile::Nothing => {}
        Meanwhile::All => syncfs(File::open(folder)?)?,
        Meanwhile::Pages(node, from, length) => {
            // The kernel begins to write these pages.
            let file = File::open(path(tree, *node, folder)?)?;
            let (from, length) = (i64::try_from(*from)?, i64::try_from(*length)?);
            let advice = PosixFadviseAdvice::POSIX_FADV_DONTNEED;
            posix_fadvise(&file, from, length, advice)?;
        }
        Meanwhile::Commit => {
            let file = OpenOptions::new().append(true).open(beside)?;
            io::Write::write_all(&mut &file, b"x")?;
            file.sync_all()?;
        }
        Meanwhile::Metadata => {
            // Btrfs commits for a new subvolume; for others a sync of a folder commits.
            let (of_btrfs, new) = (
                nix::sys::statfs::statfs(folder)?,
                folder.with_file_name(format!("s{at}")),
            );
            if of_btrfs.filesystem_type() == nix::sys::statfs::BTRFS_SUPER_MAGIC {
                let mut command = Command::new("btrfs");
                command.args(["-q", "subvolume", "create"]).arg(new);
                crate::machine::done(&mut command)?;
            } else {
                fs::create_dir(&new)?;
                File::open(new)?.sync_all()?;
            }
        }
    }
    Ok(())
}
