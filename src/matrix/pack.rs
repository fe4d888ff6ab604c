//! Lays the files of a guest into its first memory, where its kernel cannot read the host's.
//!
//! ```text
//! the guest's root, whole ---------------------------+--> cpio: lower/PATH, ..., vm/whole
//! the working directory, what the command line names +
//! ```

use super::cpio::{About, Archive};
use super::job::{Job, lent_to};
use super::kernel::Kernel;
use super::root::OF_KERNEL;
use super::{HOST, WHOLE, cache};
use perf_live::elf;
use perf_records::units::shown_path;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Why a guest cannot have its files in its memory.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// A file cannot be read.
    #[error(
        "cannot read `{}`, which the guest has in its memory",
        shown_path(path)
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of reading it.
        source: io::Error,
    },
    /// A file became shorter or longer meanwhile.
    #[error("`{}` was changed while it was packed for the guest", shown_path(.0))]
    Changed(PathBuf),
    /// They are too many.
    #[error(
        "the guest's files take {needed} MiB of memory while they are unpacked, and it has {memory}; \
         the largest are {}", largest.join(", ")
    )]
    Memory {
        /// The memory that would do, in MiB.
        needed: u64,
        /// What the guest has, in MiB.
        memory: u32,
        /// The largest folders, with their sizes.
        largest: Vec<String>,
    },
    /// It would have to write to the host.
    #[error(
        "`{}` cannot be written from a guest that has its files in its memory",
        shown_path(.0)
    )]
    Writes(PathBuf),
    /// They cannot be written into the archive.
    #[error("cannot write the guest's files")]
    Write(#[source] io::Error),
}

impl PackError {
    /// Returns what can be done about it, if anything.
    pub(super) fn hint(&self) -> Option<String> {
        match self {
            Self::Memory { needed, .. } => Some(format!(
                "say `memory: {needed}MiB` for the kernel, take a smaller `root`, or start in a folder with \
                 less in it: of the working directory only .git and folders marked as caches \
                 (CACHEDIR.TAG) are left out"
            )),
            Self::Writes(_) => Some("it takes a kernel with 9p".to_owned()),
            Self::Read { .. } | Self::Changed(_) | Self::Write(_) => None,
        }
    }
}

/// What a kernel and its harness take of a guest's memory beside the files.
const ROOM: u64 = 128 << 20;

/// What memory is given out in.
const PAGE: u64 = 4096;

/// What begins a file that marks its folder as a cache, which can be made again.
///
/// # References
/// The Cache Directory Tagging Specification, <https://bford.info/cachedir/>.
const CACHE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// The files of a guest, as they are on the host.
#[derive(Debug, Default)]
pub(super) struct Files {
    entries: Vec<Entry>,
    seen: HashSet<PathBuf>,
    /// The memory that each folder just below what was asked for takes.
    sizes: BTreeMap<PathBuf, u64>,
    links: HashSet<(u64, u64)>,
}

#[derive(Debug)]
struct Entry {
    path: PathBuf,
    about: Metadata,
    /// Of what is not read when it is written.
    contents: Option<Vec<u8>>,
}

/// The memory that a guest has for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Its whole memory, in MiB.
    pub(super) memory: u32,
    /// What else its initramfs holds, in bytes.
    pub(super) beside: u64,
}

/// Finds the files for a guest: its own, where they are a folder, and what it is lent.
pub(super) fn files(job: &Job, kernel: &Kernel, room: Room) -> Result<Files, PackError> {
    if let Some(folder) = job.writes.first() {
        return Err(PackError::Writes(folder.clone()));
    }
    let mut files = Files::default();
    if let Some(root) = &kernel.root {
        files.above(root)?;
        files.add(root, root, &|_| false)?;
    }
    let kept = cache::folder().ok();
    let of_guest = [
        &kernel.modules,
        &kernel.archive,
        &kernel.disk,
        &kept,
        &Some(kernel.image.clone()),
    ];
    let of_guest: Vec<PathBuf> = of_guest.into_iter().flatten().cloned().collect();
    let is_left_out = |path: &Path| {
        path.ends_with(".git") || is_cache(path) || of_guest.iter().any(|it| it == path)
    };
    for path in lent_to(job, kernel) {
        files.lend(path, &is_left_out)?;
    }
    let needed = files.memory(room.beside);
    if needed > u64::from(room.memory) << 20 {
        return Err(PackError::Memory {
            needed: needed.div_ceil(1 << 20),
            memory: room.memory,
            largest: files.largest(),
        });
    }
    Ok(files)
}

fn is_cache(folder: &Path) -> bool {
    let mut begin = vec![0; CACHE.len()];
    let tag = perf_live::files::open(&folder.join("CACHEDIR.TAG"));
    tag.is_ok_and(|mut tag| tag.read_exact(&mut begin).is_ok()) && begin == CACHE
}

impl Files {
    /// Adds a file or folder of the host that the guest sees at the same path, if it is there.
    fn lend(&mut self, path: &Path, is_left_out: &dyn Fn(&Path) -> bool) -> Result<(), PackError> {
        let Ok(about) = fs::metadata(path) else {
            // What needs it will report that.
            return Ok(());
        };
        if OF_KERNEL
            .iter()
            .any(|of_kernel| path.starts_with(of_kernel))
        {
            return Ok(());
        }
        self.above(path)?;
        if about.is_dir() {
            return self.add(path, path, is_left_out);
        }
        let is_new = about.is_file() && self.seen.insert(path.to_owned());
        if is_new {
            let bytes = read(path)?;
            // What is for debuggers in this very program is most of it.
            let is_own = std::env::current_exe().is_ok_and(|own| own == path);
            let bytes = match is_own {
                true => elf::loaded(&bytes).to_vec(),
                false => bytes,
            };
            self.count(path, path, bytes.len() as u64);
            self.entries.push(Entry {
                path: path.to_owned(),
                about,
                contents: Some(bytes),
            });
        }
        Ok(())
    }

    /// Adds the folders that a path lies in, without what is in them.
    fn above(&mut self, path: &Path) -> Result<(), PackError> {
        let mut folders: Vec<&Path> = path.ancestors().skip(1).collect();
        folders.reverse();
        for folder in folders {
            let about = fs::metadata(folder).map_err(|source| PackError::Read {
                path: folder.to_owned(),
                source,
            })?;
            if self.seen.insert(folder.to_owned()) {
                self.entries.push(Entry {
                    path: folder.to_owned(),
                    about,
                    contents: None,
                });
            }
        }
        Ok(())
    }

    /// Adds what lies at a path, each folder with all that is in it. Devices, FIFOs and sockets are
    /// none of a guest's files.
    fn add(
        &mut self,
        path: &Path,
        asked: &Path,
        is_left_out: &dyn Fn(&Path) -> bool,
    ) -> Result<(), PackError> {
        let failed = |source| PackError::Read {
            path: path.to_owned(),
            source,
        };
        // What was asked for may be a link to it.
        let about = match path == asked {
            true => fs::metadata(path),
            false => path.symlink_metadata(),
        };
        let about = about.map_err(failed)?;
        let (is_folder, is_symlink) = (about.is_dir(), about.is_symlink());
        if !(is_folder || is_symlink || about.is_file()) {
            return Ok(());
        }
        if self.seen.insert(path.to_owned()) {
            let is_again = about.is_file()
                && about.nlink() > 1
                && !self.links.insert((about.dev(), about.ino()));
            let size = if about.is_file() && !is_again {
                about.len()
            } else {
                0
            };
            self.count(path, asked, size);
            let target = is_symlink.then(|| fs::read_link(path)).transpose();
            let target = target.map_err(failed)?;
            self.entries.push(Entry {
                path: path.to_owned(),
                about,
                contents: target.map(|target| target.as_os_str().as_bytes().to_vec()),
            });
        }
        if !is_folder {
            return Ok(());
        }
        let mut below = fs::read_dir(path)
            .and_then(|entries| {
                let paths = entries.map(|entry| Ok(entry?.path()));
                paths.collect::<io::Result<Vec<PathBuf>>>()
            })
            .map_err(failed)?;
        below.sort();
        for path in below {
            if !is_left_out(&path) {
                self.add(&path, asked, is_left_out)?;
            }
        }
        Ok(())
    }

    fn count(&mut self, path: &Path, asked: &Path, size: u64) {
        let first = path.strip_prefix(asked).ok();
        let first = first.and_then(|below| below.components().next());
        let part = first.map_or_else(|| asked.to_owned(), |first| asked.join(first));
        let sum = self.sizes.entry(part).or_default();
        // A page for what a kernel knows of it.
        let pages = size.next_multiple_of(PAGE).saturating_add(PAGE);
        *sum = sum.saturating_add(pages);
    }

    /// What a guest needs while its kernel unpacks them: they are there twice, and the first file
    /// system has at most half of what the archive leaves (`shmem_default_max_blocks()`,
    /// `mm/shmem.c`).
    fn memory(&self, beside: u64) -> u64 {
        let sizes = self.sizes.values();
        let sum = sizes.fold(beside, |sum, size| sum.saturating_add(*size));
        sum.saturating_mul(3).saturating_add(ROOM)
    }

    fn largest(&self) -> Vec<String> {
        let mut sizes: Vec<(&PathBuf, &u64)> = self.sizes.iter().collect();
        sizes.sort_by_key(|(_, size)| std::cmp::Reverse(**size));
        let shown = |(path, size): &(&PathBuf, &u64)| {
            format!("`{}` ({} MiB)", shown_path(path), size.div_ceil(1 << 20))
        };
        sizes.iter().take(3).map(shown).collect()
    }

    /// Writes them behind the archive of the guest's first files; a kernel unpacks one after the
    /// other.
    pub(super) fn append(&self, to: &File) -> Result<(), PackError> {
        let mut to = to;
        to.seek(SeekFrom::End(0)).map_err(PackError::Write)?;
        let mut out = BufWriter::with_capacity(1 << 20, to);
        let mut archive = Archive::default();
        let mut firsts: HashMap<(u64, u64), u32> = HashMap::new();
        for entry in &self.entries {
            let about = &entry.about;
            let is_linked = about.is_file() && about.nlink() > 1 && entry.contents.is_none();
            let id = (about.dev(), about.ino());
            let first = firsts.get(&id).copied().filter(|_| is_linked);
            let whole;
            let contents = match &entry.contents {
                Some(contents) => contents,
                None if about.is_file() && first.is_none() => {
                    whole = contents_of(entry)?;
                    &whole
                }
                None => &Vec::new(),
            };
            let path = [
                HOST.trim_start_matches('/').as_bytes(),
                entry.path.as_os_str().as_bytes(),
            ];
            // Of the host's root the name is empty.
            let path = path.concat();
            let path = path.strip_suffix(b"/").unwrap_or(&path);
            let about = About {
                mode: about.mode(),
                user: about.uid(),
                group: about.gid(),
                modified: u32::try_from(about.mtime()).unwrap_or(0),
                is_linked,
                first,
            };
            let number = archive.entry(path, &about, contents);
            if is_linked {
                firsts.entry(id).or_insert(number);
            }
            archive.drain(&mut out).map_err(PackError::Write)?;
        }
        archive.file(WHOLE.trim_start_matches('/'), b"");
        let end = archive.finish();
        let written = out.write_all(&end).and_then(|()| out.flush());
        written.map_err(PackError::Write)
    }
}

/// Reads a file, as long as it was when it was found.
fn contents_of(entry: &Entry) -> Result<Vec<u8>, PackError> {
    let bytes = read(&entry.path)?;
    let is_same = bytes.len() as u64 == entry.about.len() && u32::try_from(bytes.len()).is_ok();
    match is_same {
        true => Ok(bytes),
        false => Err(PackError::Changed(entry.path.clone())),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, PackError> {
    let mut bytes = Vec::new();
    let file = perf_live::files::open(path).map_err(io::Error::from);
    let read = file.and_then(|mut file| file.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|source| PackError::Read {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A guest whose root and working directory lie in a folder.
    fn packed(folder: &Path, memory: u32) -> Result<Files, PackError> {
        let mut kernel = Kernel::of_image("k", "/image", None);
        kernel.root = Some(folder.join("root"));
        let job = Job {
            command: vec![folder.join("named/file").into(), "/bin/sh".into()],
            directory: folder.join("work"),
            ..Job::default()
        };
        let room = Room { memory, beside: 0 };
        files(&job, &kernel, room)
    }

    fn write(folder: &Path, path: &str, contents: &[u8]) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    fn project() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        write(at, "root/bin/sh", b"shell");
        fs::hard_link(at.join("root/bin/sh"), at.join("root/bin/ash")).unwrap();
        symlink("bin/sh", at.join("root/link")).unwrap();
        write(at, "work/scenarios/a.yaml", b"a");
        write(at, "work/.git/objects/x", b"x");
        write(at, "work/target/CACHEDIR.TAG", CACHE);
        write(at, "work/target/program", b"x");
        write(at, "work/notes/CACHEDIR.TAG", b"no signature");
        write(at, "named/file", b"x");
        write(at, "named/other", b"x");
        folder
    }

    #[test]
    fn a_guest_has_its_root_the_working_directory_and_what_is_named() {
        let project = project();
        let files = packed(project.path(), 256).unwrap();
        let below = |entry: &Entry| {
            let path = entry.path.strip_prefix(project.path()).ok()?;
            Some(path.to_str()?.to_owned()).filter(|path| !path.is_empty())
        };
        let mut paths: Vec<String> = files.entries.iter().filter_map(below).collect();
        paths.sort();
        assert_eq!(
            paths,
            [
                "named",
                "named/file",
                "root",
                "root/bin",
                "root/bin/ash",
                "root/bin/sh",
                "root/link",
                "work",
                "work/notes",
                "work/notes/CACHEDIR.TAG",
                "work/scenarios",
                "work/scenarios/a.yaml",
            ]
        );
    }

    #[test]
    fn each_folder_comes_before_what_is_in_it_and_contents_of_two_names_once() {
        let project = project();
        let files = packed(project.path(), 256).unwrap();
        let mut seen: HashSet<&Path> = [Path::new("/")].into();
        for entry in &files.entries {
            assert!(
                entry.path.parent().is_none_or(|above| seen.contains(above)),
                "{entry:?}"
            );
            seen.insert(&entry.path);
        }
        let mut archive = tempfile::tempfile().unwrap();
        archive.write_all(b"first").unwrap();
        files.append(&archive).unwrap();
        let mut bytes = Vec::new();
        archive.rewind().unwrap();
        archive.read_to_end(&mut bytes).unwrap();
        let count = |text: &[u8]| bytes.windows(text.len()).filter(|it| *it == text).count();
        assert_eq!(count(b"shell"), 1);
        assert_eq!(count(b"root/bin/sh\0") + count(b"root/bin/ash\0"), 2);
        assert_eq!(count(b"vm/whole\0"), 1);
        assert!(bytes.starts_with(b"first070701"));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_memory_that_would_do() {
        let project = project();
        write(project.path(), "root/lib/large", &vec![0; 100 << 20]);
        let error = packed(project.path(), 256).unwrap_err();
        let said = error.to_string();
        assert!(
            said.starts_with("the guest's files take 429 MiB of memory"),
            "{said}"
        );
        let largest = format!("`{}/root/lib` (101 MiB)", project.path().display());
        assert!(said.contains(&largest), "{said}");
        assert!(error.hint().unwrap().starts_with("say `memory: 429MiB`"));
        assert!(packed(project.path(), 429).is_ok());
    }

    #[test]
    fn a_file_that_changes_meanwhile_and_a_folder_to_write_to_are_refused() {
        let project = project();
        let files = packed(project.path(), 256).unwrap();
        write(project.path(), "work/scenarios/a.yaml", b"longer");
        let error = files.append(&tempfile::tempfile().unwrap()).unwrap_err();
        assert!(
            error.to_string().contains("a.yaml` was changed while"),
            "{error}"
        );
        let job = Job {
            writes: vec!["/srv".into()],
            ..Job::default()
        };
        let kernel = Kernel::of_image("k", "/image", None);
        let room = Room {
            memory: 256,
            beside: 0,
        };
        let error = super::files(&job, &kernel, room).unwrap_err();
        assert!(
            error.to_string().starts_with("`/srv` cannot be written"),
            "{error}"
        );
    }
}
