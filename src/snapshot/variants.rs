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

    /// The place whose variant for some kernels this one's snapshot would be: that of `b` for
    /// `b@6.18`.
    #[must_use]
    pub fn whose_variant(&self) -> Option<Self> {
        let (name, variant) = self.name.rsplit_once('@')?;
        is_variant(variant).then(|| Self {
            root: self.root.clone(),
            name: name.to_owned(),
        })
    }

    /// The names beside a scenario's of those whose snapshots would be its variants for a kernel,
    /// and of the one whose variant its own would be.
    #[must_use]
    pub fn beside(scenario: &Path, kernel: Kernel<'_>) -> Vec<PathBuf> {
        let stem = scenario.file_stem().unwrap_or_default().to_string_lossy();
        let own = stem.rsplit_once('@').filter(|(_, it)| is_variant(it));
        let own = own.map(|(name, _)| name.to_owned());
        let variants = kernel.variants().into_iter();
        let names = variants.map(|it| format!("{stem}{it}")).chain(own);
        let file = |name: String| {
            let ending = scenario.extension().unwrap_or_default();
            let name = format!("{name}.{}", ending.to_string_lossy());
            scenario.with_file_name(name)
        };
        names.map(file).collect()
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

/// The architectures of kernels, by Debian's words, and what else they are called.
const ARCHITECTURES: [(&str, &[&str]); 2] = [
    ("amd64", &["x86_64", "x86-64", "x64"]),
    ("arm64", &["aarch64"]),
];

/// What a variant may have been meant to be called, if the name of this file is that of a variant
/// for no kernel: by what is right of it, and else an example of each form.
#[must_use]
pub fn meant(file: &Path) -> Option<Vec<String>> {
    let stem = file.file_stem()?.to_string_lossy();
    let (name, variant) = stem.split_once('@')?;
    let file = |variant: &str| format!("{name}@{variant}.snap");
    let meant = |(arch, others): (&str, &[&str])| {
        let mut others = others.iter();
        others.find_map(|other| Some(format!("{}{arch}", variant.strip_suffix(other)?)))
    };
    match ARCHITECTURES.into_iter().find_map(meant) {
        Some(meant) if is_variant(&meant) => Some(vec![file(&meant)]),
        _ if is_variant(variant) => None,
        _ => Some(["6.1", "amd64", "6.1-amd64"].map(file).to_vec()),
    }
}

/// Whether a variant is for kernels: `6.1`, `arm64`, `6.1.7-amd64`.
pub(super) fn is_variant(variant: &str) -> bool {
    let is_arch = |word: &str| ARCHITECTURES.iter().any(|(arch, _)| *arch == word);
    let is_version = |word: &str| {
        let numbers: Vec<&str> = word.split('.').collect();
        let is_number = |it: &&str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
        numbers.len() > 1 && numbers.iter().all(is_number)
    };
    match variant.split_once('-') {
        Some((version, arch)) => is_version(version) && is_arch(arch),
        None => is_version(variant) || is_arch(variant),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_for_no_kernel_is_told_by_its_name_and_what_it_is_to_be_called() {
        for (name, names) in [
            ("x@x86_64.snap", "x@amd64.snap"),
            ("x@6.1-aarch64.snap", "x@6.1-arm64.snap"),
            ("x@6.snap", "x@6.1.snap x@amd64.snap x@6.1-amd64.snap"),
            ("x@macos.snap", "x@6.1.snap x@amd64.snap x@6.1-amd64.snap"),
        ] {
            let meant = meant(Path::new(name)).map(|names| names.join(" "));
            assert_eq!(meant.as_deref(), Some(names), "{name}");
        }
        for name in ["x.snap", "x@6.1.snap", "x@arm64.snap", "x@6.1.7-amd64.snap"] {
            assert_eq!(meant(Path::new(name)), None, "{name}");
        }
    }
}
