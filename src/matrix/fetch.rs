//! Fetches kernels of Debian, once and without rights.
//!
//! apt gets its own configuration, sources, lists and an empty status, so that the machine's stay
//! as they were and no rights are needed. It checks what it fetches with the keys that the machine
//! has. The mirror is one that the machine itself uses, or Debian's.

use super::cache::CacheError;
use super::why::Printed;
use super::work::Work;
use crate::scenario::Architecture;
use perf_records::units::shown_path;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The folder that a kernel's packages are unpacked in, within the kernel's folder.
pub(super) const ROOT: &str = "root";

/// A folder for packages that the user has put there by hand.
const BY_HAND: &str = "debs";

/// Why a kernel's packages cannot be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// There is no folder to keep them in.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// A program cannot be run.
    #[error("cannot run `{program}`")]
    Run {
        /// The program's name.
        program: &'static str,
        /// The error of starting it.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write below `{}`", shown_path(folder))]
    Write {
        /// The folder.
        folder: PathBuf,
        /// The error of making it.
        source: io::Error,
    },
    /// No mirror has the package.
    #[error("no mirror gives `{package}` of Debian {suite}")]
    NoMirror {
        /// The package.
        package: String,
        /// The suite.
        suite: String,
        /// What apt printed for each mirror.
        said: String,
        /// The folder in which the user can put packages by hand.
        by_hand: PathBuf,
    },
    /// A package cannot be unpacked.
    #[error("cannot unpack `{}`", shown_path(file))]
    Unpack {
        /// The package's file.
        file: PathBuf,
        /// What dpkg-deb said.
        said: String,
    },
}

impl FetchError {
    /// Returns what the tool that failed printed, if one did.
    pub(super) fn printed(&self) -> Option<Printed> {
        match self {
            Self::NoMirror { said, .. } => Printed::of("apt said", said),
            Self::Unpack { said, .. } => Printed::of("dpkg-deb said", said),
            Self::Cache(_) | Self::Run { .. } | Self::Write { .. } => None,
        }
    }

    /// Returns what can be done about it, if anything.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Cache(error) => Some(error.hint()),
            Self::Run { program, .. } => Some(format!(
                "kernels of Debian are fetched and unpacked by Debian's own tools: without `{program}`, name a bzImage and its modules in the \
                 list of kernels ({{ image: ..., modules: ... }})"
            )),
            Self::NoMirror { by_hand, .. } => Some(format!(
                "without a network, put the packages (linux-image-*.deb; of newer suites linux-binary-*.deb and linux-modules-*.deb) into \
                 `{}`",
                shown_path(by_hand)
            )),
            Self::Write { .. } | Self::Unpack { .. } => None,
        }
    }
}

/// A package of a kernel.
pub(super) struct Wanted<'a> {
    pub(super) suite: &'a str,
    pub(super) package: &'a str,
    pub(super) arch: Architecture,
}

/// Unpacks the packages of a kernel into its folder, unless they are there already.
pub(super) fn packages(
    folder: &Path,
    wanted: &Wanted<'_>,
    say: &mut dyn FnMut(String),
) -> Result<(), FetchError> {
    let root = folder.join(ROOT);
    if root.is_dir() {
        return Ok(());
    }
    let write = |source| FetchError::Write {
        folder: folder.to_owned(),
        source,
    };
    let by_hand = folder.join(BY_HAND);
    std::fs::create_dir_all(&by_hand).map_err(write)?;
    let work = Work::new(folder).map_err(write)?;
    let mut archives = archives(&by_hand).map_err(write)?;
    if archives.is_empty() {
        say(format!(
            "fetching {} of Debian {} into {}",
            wanted.package,
            wanted.suite,
            shown_path(folder)
        ));
        archives = fetch(work.path(), wanted, &by_hand)?;
    }
    let whole = work.path().join(ROOT);
    for archive in &archives {
        unpack(archive, &whole)?;
    }
    index(&whole);
    // Renamed as a whole; another harness may have been faster.
    match std::fs::rename(&whole, &root) {
        Err(error) if !root.is_dir() => Err(write(error)),
        _ => Ok(()),
    }
}

fn archives(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "deb") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn unpack(archive: &Path, root: &Path) -> Result<(), FetchError> {
    let output = output(
        Command::new("dpkg-deb")
            .arg("--extract")
            .arg(archive)
            .arg(root),
        "dpkg-deb",
    )?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(FetchError::Unpack {
        file: archive.to_owned(),
        said,
    })
}

/// Indexes the modules for `modprobe(8)` in guests, if the machine has `depmod(8)`.
fn index(root: &Path) {
    let folders = [root.join("usr"), root.to_owned()];
    let found = folders.iter().find_map(|base| {
        let mut entries = std::fs::read_dir(base.join("lib/modules")).ok()?;
        Some((base, entries.next()?.ok()?.file_name()))
    });
    if let Some((base, release)) = found {
        let mut depmod = Command::new("depmod");
        depmod.arg("-b").arg(base).arg(release);
        output(&mut depmod, "depmod").ok();
    }
}

fn fetch(work: &Path, wanted: &Wanted<'_>, by_hand: &Path) -> Result<Vec<PathBuf>, FetchError> {
    let mut said = String::new();
    for mirror in mirrors() {
        let apt = Apt::new(&work.join("apt"), wanted, &mirror)?;
        match apt.fetch(wanted.package)? {
            Ok(archives) => return Ok(archives),
            Err(complaint) => {
                let lines = complaint.lines().map(|line| format!("    {line}\n"));
                said.push_str(&format!("{mirror}:\n{}", lines.collect::<String>()));
            }
        }
    }
    Err(FetchError::NoMirror {
        package: wanted.package.to_owned(),
        suite: wanted.suite.to_owned(),
        said,
        by_hand: by_hand.to_owned(),
    })
}

const DEBIAN: &str = "http://deb.debian.org/debian";

/// Returns the mirrors that the machine uses, and Debian's own. Only a query shows which of them
/// has a suite.
fn mirrors() -> Vec<String> {
    let mut ask = Command::new("apt-get");
    ask.args([
        "indextargets",
        "--format",
        "$(REPO_URI)",
        "Created-By: Packages",
    ]);
    let told = output(&mut ask, "apt-get").map(|output| output.stdout);
    in_order(&String::from_utf8_lossy(&told.unwrap_or_default()))
}

/// Puts those first that look like mirrors of Debian: each query takes time.
fn in_order(told: &str) -> Vec<String> {
    let of_machine = told.lines().map(|line| line.trim_end_matches('/'));
    let all: BTreeSet<&str> = of_machine.chain([DEBIAN]).collect();
    let mut mirrors: Vec<String> = all.into_iter().map(str::to_owned).collect();
    mirrors.sort_by_key(|address| !address.ends_with("/debian"));
    mirrors
}

/// An apt with its own configuration.
struct Apt {
    folder: PathBuf,
    configuration: PathBuf,
}

impl Apt {
    fn new(folder: &Path, wanted: &Wanted<'_>, mirror: &str) -> Result<Self, FetchError> {
        let write = |source| FetchError::Write {
            folder: folder.to_owned(),
            source,
        };
        if folder.exists() {
            std::fs::remove_dir_all(folder).map_err(write)?;
        }
        for below in ["lists/partial", "cache/archives/partial", "none", "got"] {
            std::fs::create_dir_all(folder.join(below)).map_err(write)?;
        }
        // The machine's settings for fetching (proxies, methods), without its hooks after an
        // update.
        let dumped = output(Command::new("apt-config").arg("dump"), "apt-config")?;
        let dumped = String::from_utf8_lossy(&dumped.stdout).into_owned();
        let fetching = dumped.lines().filter(|line| line.starts_with("Acquire::"));
        let mut text: String = fetching.map(|line| format!("{line}\n")).collect();
        let at = shown_path(folder);
        for (key, value) in [
            ("Dir::Etc::main", "/dev/null".to_owned()),
            ("Dir::Etc::parts", format!("{at}/none")),
            ("Dir::Etc::sourcelist", format!("{at}/sources.list")),
            ("Dir::Etc::sourceparts", format!("{at}/none")),
            ("Dir::Etc::preferences", "/dev/null".to_owned()),
            ("Dir::Etc::preferencesparts", format!("{at}/none")),
            ("Dir::State", at.to_string()),
            ("Dir::State::lists", format!("{at}/lists")),
            ("Dir::State::status", format!("{at}/status")),
            ("Dir::Cache", format!("{at}/cache")),
            ("Acquire::Languages", "none".to_owned()),
            // Suites that are no longer maintained have old dates.
            ("Acquire::Check-Valid-Until", "false".to_owned()),
            ("APT::Sandbox::User", "root".to_owned()),
            ("APT::Architecture", wanted.arch.word().to_owned()),
        ] {
            text.push_str(&format!("{key} \"{value}\";\n"));
        }
        let sources = format!("deb {}{mirror} {} main\n", keys(), wanted.suite);
        let configuration = folder.join("apt.conf");
        for (file, contents) in [
            (folder.join("status"), ""),
            (folder.join("sources.list"), &sources),
            (configuration.clone(), &text),
        ] {
            std::fs::write(file, contents).map_err(write)?;
        }
        Ok(Self {
            folder: folder.to_owned(),
            configuration,
        })
    }

    /// Fetches the files of a package and of the parts of a kernel that it needs; or returns what
    /// apt printed.
    fn fetch(&self, package: &str) -> Result<Result<Vec<PathBuf>, String>, FetchError> {
        if let Err(said) = self.ask("apt-get", &["--quiet", "update"])? {
            return Ok(Err(said));
        }
        let mut wanted = BTreeSet::new();
        let mut rest = vec![package.to_owned()];
        while let Some(name) = rest.pop() {
            if wanted.contains(&name) {
                continue;
            }
            match self.ask("apt-cache", &["show", "--no-all-versions", &name])? {
                Ok(about) => rest.extend(parts(&about)),
                Err(said) => return Ok(Err(said)),
            }
            wanted.insert(name);
        }
        let mut words = vec!["--quiet", "download"];
        words.extend(wanted.iter().map(String::as_str));
        if let Err(said) = self.ask("apt-get", &words)? {
            return Ok(Err(said));
        }
        let got = archives(&self.folder.join("got"));
        got.map(Ok).map_err(|source| FetchError::Write {
            folder: self.folder.clone(),
            source,
        })
    }

    fn ask(
        &self,
        program: &'static str,
        words: &[&str],
    ) -> Result<Result<String, String>, FetchError> {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.folder.join("got"));
        command
            .env("APT_CONFIG", &self.configuration)
            .env("LC_ALL", "C.UTF-8");
        let output = output(&mut command, program)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        Ok(if output.status.success() {
            Ok(text(&output.stdout))
        } else {
            Err(text(&output.stderr))
        })
    }
}

/// Returns Debian's keys, if apt does not trust them already.
fn keys() -> String {
    let files =
        ["pgp", "gpg"].map(|ending| format!("/usr/share/keyrings/debian-archive-keyring.{ending}"));
    let found = files.iter().find(|file| Path::new(file).exists());
    found.map_or_else(String::new, |file| format!("[signed-by={file}] "))
}

/// Returns the parts of a kernel that a package depends on: since 2026 image, modules and the rest
/// are packages of their own.
fn parts(about: &str) -> Vec<String> {
    let line = about
        .lines()
        .find_map(|line| line.strip_prefix("Depends: "));
    let names = line.unwrap_or_default().split([',', '|']);
    let name = |word: &str| {
        word.split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let is_part = |name: &String| {
        [
            "linux-image-",
            "linux-binary-",
            "linux-modules-",
            "linux-base-",
        ]
        .iter()
        .any(|start| name.starts_with(start))
    };
    names.map(name).filter(is_part).collect()
}

fn output(command: &mut Command, program: &'static str) -> Result<Output, FetchError> {
    let output = command.stdin(Stdio::null()).output();
    output.map_err(|source| FetchError::Run { program, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_all_of_its_parts_and_nothing_else() {
        let about = "Package: linux-image-7.2\nDepends: dracut | initramfs-tools (>= 0.120) | linux-initramfs-tool, \
                     linux-base-7.2 (= 7.2-1), linux-binary-7.2 (= 7.2-1), linux-modules-7.2 (= 7.2-1)\n";
        assert_eq!(
            parts(about),
            ["linux-base-7.2", "linux-binary-7.2", "linux-modules-7.2"]
        );
        assert_eq!(
            parts(
                "Depends: kmod, linux-base (>= 4.3~), linux-image-6.1.0-50-amd64 (= 6.1.176-1)\n"
            ),
            ["linux-image-6.1.0-50-amd64"]
        );
        assert_eq!(parts(""), [""; 0]);
    }

    #[test]
    fn mirrors_of_debian_are_asked_first_and_each_once() {
        let told = "https://a.org/node\nhttp://m.org/debian/\nhttp://m.org/debian\n";
        assert_eq!(
            in_order(told),
            [
                "http://deb.debian.org/debian",
                "http://m.org/debian",
                "https://a.org/node"
            ]
        );
    }

    #[test]
    fn what_is_unpacked_is_not_fetched_again() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(ROOT)).unwrap();
        let mut said = Vec::new();
        let none = Wanted {
            suite: "none",
            package: "none",
            arch: Architecture::OWN,
        };
        packages(folder.path(), &none, &mut |text| said.push(text)).unwrap();
        assert_eq!(said, [""; 0]);
    }
}
