//! Which snapshot is right on which kernel.

use super::Place;
use std::path::{Path, PathBuf};

/// A kernel, as far as it decides which snapshot is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel<'a> {
    /// Its release.
    pub release: &'a str,
    /// Its architecture, by Debian's word for it.
    pub arch: &'a str,
}

impl<'a> Kernel<'a> {
    /// A kernel of this release, and of this program's architecture.
    #[must_use]
    pub fn native(release: &'a str) -> Self {
        let arch = if cfg!(target_arch = "aarch64") {
            "arm64"
        } else {
            "amd64"
        };
        Self { release, arch }
    }

    /// What the names of variants for it end with, the most specific one first.
    fn variants(self) -> Vec<String> {
        let numbers = version(self.release);
        let longer = (2..=numbers.len()).rev();
        let versions: Vec<String> = longer
            .filter_map(|n| Some(numbers.get(..n)?.join(".")))
            .collect();
        let both = versions.iter().map(|it| format!("@{it}-{}", self.arch));
        let of_arch = [format!("@{}", self.arch)];
        let of_version = versions.iter().map(|it| format!("@{it}"));
        both.chain(of_arch).chain(of_version).collect()
    }
}

impl Place {
    /// Returns the snapshot for kernels whose releases share the first `numbers` numbers.
    #[must_use]
    pub fn variant(&self, kernel: Kernel<'_>, numbers: usize) -> PathBuf {
        self.file(&format!("@{}", beginning(kernel.release, numbers)))
    }

    /// The same, for those of its architecture alone.
    #[must_use]
    pub fn variant_of_arch(&self, kernel: Kernel<'_>, numbers: usize) -> PathBuf {
        let version = beginning(kernel.release, numbers);
        self.file(&format!("@{version}-{}", kernel.arch))
    }

    /// Returns the snapshot for all kernels of an architecture.
    #[must_use]
    pub fn arch(&self, kernel: Kernel<'_>) -> PathBuf {
        self.file(&format!("@{}", kernel.arch))
    }

    /// Whether a snapshot is for this kernel, among others.
    #[must_use]
    pub fn is_for(&self, file: &Path, kernel: Kernel<'_>) -> bool {
        let mut all = kernel.variants().into_iter().chain([String::new()]);
        all.any(|variant| self.file(&variant) == file)
    }

    /// Returns the snapshot to compare with on a kernel: the most specific one that exists, else
    /// the common one.
    #[must_use]
    pub fn choose(&self, kernel: Kernel<'_>) -> PathBuf {
        let files = kernel.variants().into_iter().map(|it| self.file(&it));
        let mut there = files.filter(|file| file.exists());
        there.next().unwrap_or_else(|| self.common())
    }

    /// Returns the file for a trace that is right on this kernel alone, if `chosen` was compared
    /// with and differs: the variant of its version, such as 6.1, if that was the common snapshot,
    /// and else the same file. Without any snapshot it is the common one.
    #[must_use]
    pub fn for_kernel(&self, chosen: &Path, kernel: Kernel<'_>) -> PathBuf {
        let is_common = chosen == self.common() && chosen.exists();
        if is_common && version(kernel.release).len() > 1 {
            self.variant(kernel, 2)
        } else {
            chosen.to_owned()
        }
    }

    /// The same for a trace that is right on all kernels of this architecture.
    #[must_use]
    pub fn for_arch(&self, chosen: &Path, kernel: Kernel<'_>) -> PathBuf {
        if chosen == self.common() && chosen.exists() {
            self.arch(kernel)
        } else {
            chosen.to_owned()
        }
    }
}

/// Returns the numbers that a release begins with: 6, 1 and 0 of `6.1.0-38-amd64`.
fn version(release: &str) -> Vec<&str> {
    let is_of_it = |c: char| c.is_ascii_digit() || c == '.';
    let version = release.split(|c| !is_of_it(c)).next();
    version.unwrap_or_default().split('.').collect()
}

/// Returns the first numbers of a release.
fn beginning(release: &str, numbers: usize) -> String {
    let version: Vec<&str> = version(release).into_iter().take(numbers).collect();
    version.join(".")
}
