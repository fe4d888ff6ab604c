//! Finds the files that a kernel of a list is booted from.

use super::cache;
use super::config::Config;
use super::fetch::{self, Wanted};
use super::files::{self, Root, RootError};
use super::image;
use super::no_kernel::KernelError;
use super::options::TO_TRACE;
use super::packed;
use crate::scenario::{Architecture, Hardware, KernelSource, KernelSpec, Share};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// A kernel that can be booted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name in the list.
    pub name: String,
    /// The architecture that it is for.
    pub arch: Architecture,
    /// Its image: a bzImage, the kernel that one holds, or arm64's Image.
    pub image: PathBuf,
    /// Its `lib/modules/RELEASE`; `None` if all that a guest needs is built in.
    pub modules: Option<PathBuf>,
    /// Its configuration, if known.
    pub config: Option<PathBuf>,
    /// What its guest has of its own.
    pub hardware: Hardware,
    /// More words for its command line.
    pub append: String,
    /// A program with its arguments under which all commands in the guest run; may be empty.
    pub under: Vec<OsString>,
    /// The folder with the guest's files; without it they are the host's.
    pub root: Option<PathBuf>,
    /// The file that holds them in the place of a folder: an ext4, which is a disk of the guest.
    pub disk: Option<PathBuf>,
    /// How they come into the guest; without it by 9p, if the kernel has that.
    pub share: Option<Share>,
    /// The harness that runs in the guest, a static program; without it it is this very program.
    pub harness: Option<PathBuf>,
    /// The archive or image that they were unpacked from.
    pub(super) archive: Option<PathBuf>,
    /// The folder that it was fetched into.
    fetched: Option<PathBuf>,
}

impl Kernel {
    #[cfg(test)]
    pub(super) fn of_image(name: &str, image: &str, modules: Option<&str>) -> Self {
        Self {
            modules: modules.map(Into::into),
            ..Self::new(name.to_owned(), image.into())
        }
    }

    /// A kernel of this program's architecture, with the host's files.
    fn new(name: String, image: PathBuf) -> Self {
        Self {
            name,
            arch: Architecture::OWN,
            image,
            modules: None,
            config: None,
            hardware: Hardware::default(),
            append: String::new(),
            under: Vec::new(),
            root: None,
            disk: None,
            share: None,
            harness: None,
            archive: None,
            fetched: None,
        }
    }

    /// Says what its configuration lacks for scenarios, if it is known and lacks something.
    #[must_use]
    pub fn lacks_to_trace(&self) -> Option<String> {
        let config = Config::of(self)?;
        config.lacks(&[TO_TRACE], self.modules.is_some())
    }

    /// Whether its guest has files of its own, and not the host's.
    pub(super) const fn has_files(&self) -> bool {
        self.root.is_some() || self.disk.is_some()
    }

    /// Returns a command as it is there: where the harness of the guest is another than this very
    /// program, a command that begins with this one begins with that.
    pub(super) fn words(&self, command: &[OsString]) -> Vec<OsString> {
        let mut words = command.to_vec();
        let own = std::env::current_exe().ok().map(PathBuf::into_os_string);
        if let (Some(first), Some(harness)) = (words.first_mut(), &self.harness)
            && own.as_ref() == Some(first)
        {
            *first = harness.clone().into();
        }
        words
    }

    /// Returns what was kept beside a fetched kernel, which never changes.
    #[must_use]
    pub fn kept(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.fetched.as_ref()?.join(name)).ok()
    }

    /// Keeps a text beside the kernel. If it cannot, the text is made again the next time.
    pub fn keep(&self, name: &str, text: &str) {
        if let Some(folder) = &self.fetched {
            crate::snapshot::write_whole(&folder.join(name), text).ok();
        }
    }
}

/// Where scenarios run for an entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a guest with this kernel.
    Guest(Box<Kernel>),
    /// On the machine itself, under this program with its arguments, which may be empty.
    Host(Vec<OsString>),
}

/// Refuses a file that QEMU would not boot, which says so only in words of its own.
fn boots(kernel: Kernel) -> Result<Kernel, KernelError> {
    let (name, path) = (kernel.name.clone(), kernel.image.clone());
    match image::archs(&path) {
        Ok(archs) if archs.contains(&kernel.arch) => Ok(kernel),
        Ok(archs) => Err(KernelError::NoKernel {
            name,
            path,
            arch: kernel.arch,
            of: archs.first().copied(),
        }),
        Err(source) => Err(KernelError::Read { name, path, source }),
    }
}

impl Place {
    /// Gets the kernel of an entry. A package is fetched once, and `say` is called before that.
    /// Paths are relative to the folder of the list.
    ///
    /// # Errors
    /// [`KernelError`].
    pub fn get(
        spec: &KernelSpec,
        list: &Path,
        say: &mut dyn FnMut(String),
    ) -> Result<Self, KernelError> {
        let name = spec.name.clone();
        let root = Self::files(spec, list, say)?;
        let kernel = match &spec.source {
            KernelSource::Host => return Ok(Self::Host(under(spec, list)?)),
            KernelSource::Image { image, modules } => {
                image_of(name, list, image, modules.as_deref())?
            }
            KernelSource::Package { suite, package } => {
                let folder =
                    cache::folder()?
                        .join("kernels")
                        .join(kept_in(suite, package, spec.guest.arch));
                let wanted = Wanted {
                    suite,
                    package,
                    arch: spec.guest.arch,
                };
                fetch::packages(&folder, &wanted, say).map_err(|source| {
                    let name = spec.name.clone();
                    let source = Box::new(source);
                    KernelError::Fetch { name, source }
                })?;
                unpacked(name, &folder)?
            }
        };
        let found = |path: &PathBuf| absolute(&spec.name, &list.join(path));
        let named = spec.guest.root.as_ref().map(found).transpose()?;
        let (root, disk) = match root {
            None => (None, None),
            Some(Root::Folder(folder)) => (Some(folder), None),
            Some(Root::Disk(file)) => (None, Some(file)),
        };
        let kernel = Kernel {
            hardware: spec.hardware.clone(),
            arch: spec.guest.arch,
            append: spec.append.clone(),
            under: under(spec, list)?,
            archive: named.filter(|named| root.as_ref() != Some(named)),
            root,
            disk,
            share: spec.guest.share,
            harness: spec.guest.harness.as_ref().map(found).transpose()?,
            ..kernel
        };
        Ok(Self::Guest(Box::new(boots(kernel)?)))
    }

    /// Makes the files of an entry's guest ready, if it has any of its own: an archive is unpacked
    /// once, and `say` is called before that.
    ///
    /// # Errors
    /// [`KernelError::Root`].
    pub fn unpack(
        spec: &KernelSpec,
        list: &Path,
        say: &mut dyn FnMut(String),
    ) -> Result<(), KernelError> {
        Self::files(spec, list, say).map(drop)
    }

    fn files(
        spec: &KernelSpec,
        list: &Path,
        say: &mut dyn FnMut(String),
    ) -> Result<Option<Root>, KernelError> {
        let Some(root) = &spec.guest.root else {
            return Ok(None);
        };
        let path = list.join(root);
        let failed = |source| KernelError::Root {
            name: spec.name.clone(),
            path: path.clone(),
            source: Box::new(source),
        };
        let real = std::fs::canonicalize(&path).map_err(|error| failed(RootError::Read(error)))?;
        let found = files::find(&real, spec.guest.arch, say).map_err(failed)?;
        Ok(Some(found))
    }
}

/// Returns the name of the folder that a package is kept in. Names of Debian's kernels end with
/// the architecture; two architectures may have any other name.
fn kept_in(suite: &str, package: &str, arch: Architecture) -> String {
    if package.ends_with(arch.word()) {
        format!("{suite}-{package}")
    } else {
        format!("{suite}-{package}-{}", arch.word())
    }
}

/// Returns the program under which all commands run: a path is relative to the list's folder, a
/// name is looked up where it runs.
fn under(spec: &KernelSpec, list: &Path) -> Result<Vec<OsString>, KernelError> {
    let mut words: Vec<OsString> = spec.under.iter().map(OsString::from).collect();
    if let Some(program) = words
        .first_mut()
        .filter(|it| it.as_encoded_bytes().contains(&b'/'))
    {
        *program = absolute(&spec.name, &list.join(&*program))?.into();
    }
    Ok(words)
}

fn absolute(name: &str, path: &Path) -> Result<PathBuf, KernelError> {
    std::fs::canonicalize(path).map_err(|source| KernelError::Read {
        name: name.to_owned(),
        path: path.to_owned(),
        source,
    })
}

fn image_of(
    name: String,
    list: &Path,
    image: &Path,
    modules: Option<&Path>,
) -> Result<Kernel, KernelError> {
    let found = |path: &Path, is_folder: bool| {
        let path = absolute(&name, &list.join(path))?;
        let source = match (is_folder, path.is_dir()) {
            (true, false) => io::ErrorKind::NotADirectory,
            (false, true) => io::ErrorKind::IsADirectory,
            _ => return Ok(path),
        };
        Err(KernelError::Read {
            name: name.clone(),
            path,
            source: source.into(),
        })
    };
    Ok(Kernel {
        modules: modules.map(|path| found(path, true)).transpose()?,
        ..Kernel::new(name.clone(), found(image, false)?)
    })
}

/// Finds the kernel in the files of its packages, whose places differ between releases of Debian.
fn unpacked(name: String, fetched: &Path) -> Result<Kernel, KernelError> {
    let root = fetched.join(fetch::ROOT);
    let lacks = |what| KernelError::Lacks {
        name: name.clone(),
        folder: root.clone(),
        what,
    };
    let folders = ["usr/lib/modules", "lib/modules"].map(|folder| root.join(folder));
    let modules = folders.iter().find_map(|folder| {
        let entries = std::fs::read_dir(folder).ok()?.filter_map(Result::ok);
        entries
            .map(|entry| entry.path())
            .find(|path| path.join("kernel").is_dir())
    });
    let modules = modules.ok_or_else(|| lacks("modules"))?;
    let release = modules.file_name().unwrap_or_default().to_string_lossy();
    let first = |paths: [PathBuf; 2]| paths.into_iter().find(|path| path.is_file());
    let boot = root.join("boot");
    let image = first([
        boot.join(format!("vmlinuz-{release}")),
        modules.join("vmlinuz"),
    ]);
    let config = first([
        boot.join(format!("config-{release}")),
        modules.join("config"),
    ]);
    let image = packed::plain(fetched, image.ok_or_else(|| lacks("image"))?);
    Ok(Kernel {
        config,
        modules: Some(modules),
        fetched: Some(fetched.to_owned()),
        ..Kernel::new(name.clone(), image)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(paths: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for path in paths {
            let path = root.path().join(fetch::ROOT).join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        root
    }

    #[test]
    fn old_and_new_packages_are_laid_out_differently() {
        for paths in [
            [
                "lib/modules/6.1/kernel/a.ko",
                "boot/vmlinuz-6.1",
                "boot/config-6.1",
            ],
            [
                "usr/lib/modules/7.2/kernel/a.ko",
                "usr/lib/modules/7.2/vmlinuz",
                "usr/lib/modules/7.2/config",
            ],
        ] {
            let root = files(&paths);
            let kernel = unpacked("k".to_owned(), root.path()).unwrap();
            assert_eq!(kernel.image, root.path().join(fetch::ROOT).join(paths[1]));
            assert_eq!(
                kernel.config,
                Some(root.path().join(fetch::ROOT).join(paths[2]))
            );
        }
    }

    #[test]
    fn what_a_kernel_lacks_for_scenarios_is_read_beside_its_image() {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("vmlinuz-own");
        let kernel = Kernel::of_image("own", image.to_str().unwrap(), None);
        assert_eq!(kernel.lacks_to_trace(), None, "nothing is known");
        let options = [
            "PERF_EVENTS",
            "FTRACE",
            "BPF_SYSCALL",
            "NAMESPACES",
            "USER_NS",
        ];
        let config = options
            .map(|option| format!("CONFIG_{option}=y\n"))
            .concat();
        std::fs::write(folder.path().join("config-own"), config).unwrap();
        let lacks = kernel.lacks_to_trace().unwrap();
        let said = "lacks CONFIG_FTRACE_SYSCALLS (the tracepoints of calls); all that";
        assert!(lacks.contains(said), "{lacks}");
    }

    #[test]
    fn a_folder_in_the_place_of_an_image_is_refused_and_so_is_a_file_for_modules() {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("vmlinuz");
        std::fs::write(&image, "").unwrap();
        let get = |image: &str, modules| {
            let modules: Option<&str> = modules;
            image_of(
                "k".to_owned(),
                folder.path(),
                Path::new(image),
                modules.map(Path::new),
            )
        };
        let said = |error: KernelError| perf_live::errors::chain(&error);
        assert!(get("vmlinuz", Some(".")).is_ok());
        let error = said(get(".", None).unwrap_err());
        assert!(error.contains("is a directory"), "{error}");
        let error = said(get("vmlinuz", Some("vmlinuz")).unwrap_err());
        assert!(error.contains("not a directory"), "{error}");
    }

    #[test]
    fn a_file_that_is_no_kernel_is_told_with_what_was_expected_before_anything_is_booted() {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("bzImage");
        let of = |arch, bytes: &[u8]| {
            std::fs::write(&image, bytes).unwrap();
            let kernel = Kernel {
                arch,
                ..Kernel::of_image("own", image.to_str().unwrap(), None)
            };
            boots(kernel)
        };
        let error = of(Architecture::Amd64, b"not a kernel\n").unwrap_err();
        let said = error.to_string();
        assert!(
            said.ends_with("bzImage` is no kernel of amd64: it should be a bzImage, with `HdrS` at 0x202, or an ELF file of x86"),
            "{said}"
        );
        assert_eq!(error.hint(), None);
        let mut arm = vec![0; 64];
        arm[0x38..0x3c].copy_from_slice(b"ARM\x64");
        assert!(of(Architecture::Arm64, &arm).is_ok());
        let error = of(Architecture::Amd64, &arm).unwrap_err();
        let said = error.to_string();
        assert!(
            said.ends_with("is no kernel of amd64: it is one of arm64"),
            "{said}"
        );
        assert!(error.hint().unwrap().contains("`arch: arm64`"));
    }

    #[test]
    fn what_packages_lack_is_said() {
        let root = files(&["lib/modules/6.1/kernel/a.ko"]);
        let error = unpacked("k".to_owned(), root.path()).unwrap_err();
        assert!(error.to_string().ends_with("hold no image"), "{error}");
    }
}
