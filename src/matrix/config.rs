//! Reads the configuration of a kernel, to say what it lacks: the file beside its image, or the one
//! that is embedded in it.
//!
//! # References
//! `kernel/configs.c` (`IKCFG_ST`).

use super::kernel::Kernel;
use super::modules::Module;
use super::options::{TO_BOOT, TO_READ_DISK, TO_SHARE, Wanted, of_machine};
use super::packed::{self, MOST};
use crate::scenario::Architecture;
use perf_records::units::shown_path;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The module of each of these options.
const MODULES_OF_SHARE: [(&str, &str); 4] = [
    ("NET_9P", "9pnet"),
    ("NET_9P_VIRTIO", "9pnet_virtio"),
    ("9P_FS", "9p"),
    ("OVERLAY_FS", "overlay"),
];

/// A kernel's configuration, and where it was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Config {
    options: BTreeMap<String, String>,
    from: String,
    arch: Architecture,
}

impl Config {
    /// Finds that of a kernel; `None` if it is not known.
    pub(super) fn of(kernel: &Kernel) -> Option<Self> {
        let beside = kernel.config.clone().or_else(|| beside(&kernel.image));
        if let Some(file) = beside
            && let Ok(text) = std::fs::read_to_string(&file)
        {
            return Self::read(&text, shown_path(&file), kernel.arch);
        }
        let image = std::fs::read(&kernel.image).ok()?;
        let from = format!("within {}", shown_path(&kernel.image));
        Self::read(&embedded(&image)?, from, kernel.arch)
    }

    /// Reads lines as `CONFIG_X=y`; `None` if there is none.
    fn read(text: &str, from: String, arch: Architecture) -> Option<Self> {
        let lines = text.lines().filter_map(|line| line.strip_prefix("CONFIG_"));
        let options: BTreeMap<String, String> = lines
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        (!options.is_empty()).then_some(Self {
            options,
            from,
            arch,
        })
    }

    /// Says which of these options the kernel lacks; `None` if none. A module is there only with a
    /// folder of modules.
    pub(super) fn lacks(&self, wanted: &[&[Wanted]], has_modules: bool) -> Option<String> {
        let (mut lacking, mut modules) = (Vec::new(), Vec::new());
        for (option, purpose) in wanted.iter().flat_map(|list| list.iter()) {
            match self.options.get(*option).map(String::as_str) {
                Some("y") => {}
                Some("m") if has_modules => {}
                Some("m") => modules.push(format!("CONFIG_{option}")),
                _ => lacking.push(format!("CONFIG_{option} ({purpose})")),
            }
        }
        let from = &self.from;
        let lacking = (!lacking.is_empty()).then(|| {
            format!(
                "its configuration ({from}) lacks {}; all that it takes: harness doctor --kernel-config {}",
                lacking.join(", "),
                self.arch.word()
            )
        });
        let modules = (!modules.is_empty()).then(|| {
            format!(
                "of its configuration ({from}) these are modules, and the list names no `modules`: {}",
                modules.join(", ")
            )
        });
        let all: Vec<String> = lacking.into_iter().chain(modules).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// What a guest lacks that did not come up, and that has its files in these ways.
    pub(super) fn lacks_to_boot(
        &self,
        has_modules: bool,
        shares: bool,
        has_disk: bool,
    ) -> Option<String> {
        let disk = has_disk.then_some(TO_READ_DISK);
        let machine = Some(of_machine(self.arch));
        let shares = shares.then_some(TO_SHARE);
        let wanted: Vec<&[Wanted]> = [Some(TO_BOOT), machine, shares, disk]
            .into_iter()
            .flatten()
            .collect();
        self.lacks(&wanted, has_modules)
    }

    /// Whether a guest with these modules cannot read the host's files.
    pub(super) fn lacks_share(&self, modules: &[Module]) -> bool {
        let has = |(option, module): (&str, &str)| match self.options.get(option) {
            Some(value) if value == "y" => true,
            Some(value) if value == "m" => modules.iter().any(|it| it.name == module),
            _ => false,
        };
        !MODULES_OF_SHARE.into_iter().all(has)
    }
}

/// Finds the configuration beside an image: `config-X` of `vmlinuz-X`, `config` or `.config`, also
/// that of the tree that a kernel was built in.
fn beside(image: &Path) -> Option<PathBuf> {
    let folder = image.parent()?;
    let name = image.file_name()?.to_string_lossy();
    let of_name = name
        .split_once('-')
        .map(|(_, release)| folder.join(format!("config-{release}")));
    let is_of_tree = ["arch/x86/boot", "arch/arm64/boot"]
        .iter()
        .any(|place| folder.ends_with(place));
    let root = folder.ancestors().nth(3).filter(|_| is_of_tree);
    let tree = root.map(|root| root.join(".config"));
    let there = ["config", ".config"].map(|name| folder.join(name));
    let all = of_name.into_iter().chain(there).chain(tree);
    all.into_iter().find(|path| path.is_file())
}

/// Returns the configuration that is embedded in an image (`CONFIG_IKCONFIG`).
fn embedded(image: &[u8]) -> Option<String> {
    // What was unpacked before an error is looked into too.
    let payload = packed::payload(image).and_then(packed::unpacked);
    let kernel = payload.as_ref().map_or(image, |it| &it.bytes);
    const START: &[u8] = b"IKCFG_ST";
    let at = kernel.windows(START.len()).position(|it| it == START)?;
    let packed = kernel.get(at.saturating_add(START.len())..)?;
    let mut text = String::new();
    let read = flate2::read::GzDecoder::new(packed)
        .take(MOST)
        .read_to_string(&mut text);
    read.is_ok().then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::packed::tests::{gzip, image};

    const TEXT: &str = "# x\nCONFIG_PCI=y\nCONFIG_9P_FS=m\n# CONFIG_VIRTIO_PCI is not set\n";

    /// A kernel with its configuration in it.
    fn kernel() -> Vec<u8> {
        [
            b"code IKCFG_ST".as_slice(),
            &gzip(TEXT.as_bytes()),
            b"IKCFG_ED",
        ]
        .concat()
    }

    #[test]
    fn an_embedded_configuration_is_read_however_the_kernel_is_packed() {
        let zstd = zstd::stream::encode_all(kernel().as_slice(), 0).unwrap();
        for packed in [gzip(&kernel()), zstd] {
            assert_eq!(embedded(&image(&packed)).as_deref(), Some(TEXT));
        }
        // An image that is not packed, as arm64's.
        assert_eq!(embedded(&kernel()).as_deref(), Some(TEXT));
    }

    #[test]
    fn a_kernel_without_one_or_that_is_cut_has_none() {
        assert_eq!(embedded(&image(&gzip(b"code"))), None);
        assert_eq!(embedded(&image(b"lzo?")), None);
        let whole = image(&gzip(&kernel()));
        for end in 0..whole.len() - 4 {
            assert_eq!(embedded(&whole[..end]), None, "{end}");
        }
    }

    #[test]
    fn what_is_lacking_is_told_from_what_is_a_module() {
        let config = Config::read(TEXT, "here".to_owned(), Architecture::Amd64).unwrap();
        let wanted: &[Wanted] = &[("PCI", "a"), ("VIRTIO_PCI", "b"), ("9P_FS", "c")];
        let lacks = |has_modules| config.lacks(&[wanted], has_modules).unwrap();
        assert_eq!(
            lacks(true),
            "its configuration (here) lacks CONFIG_VIRTIO_PCI (b); all that it takes: harness doctor --kernel-config amd64"
        );
        assert_eq!(
            lacks(false),
            "its configuration (here) lacks CONFIG_VIRTIO_PCI (b); all that it takes: harness doctor \
             --kernel-config amd64; of its configuration (here) these are modules, and the list names no `modules`: CONFIG_9P_FS"
        );
        assert_eq!(config.lacks(&[&[("PCI", "a")]], true), None);
        assert_eq!(Config::read("", String::new(), Architecture::Amd64), None);
    }

    #[test]
    fn a_kernel_reads_the_hosts_files_if_each_part_is_built_in_or_in_its_folder_of_modules() {
        let with = |values: [&str; 4]| {
            let options = MODULES_OF_SHARE.iter().zip(values);
            let line =
                |((option, _), value): (&(&str, &str), &str)| format!("CONFIG_{option}={value}\n");
            let text: String = options.map(line).collect();
            Config::read(&text, "here".to_owned(), Architecture::Amd64).unwrap()
        };
        let module = |name: &str| Module {
            name: name.to_owned(),
            bytes: Vec::new(),
        };
        let modules = ["9pnet", "9pnet_virtio", "9p", "overlay"].map(module);
        assert!(!with(["y"; 4]).lacks_share(&[]));
        assert!(!with(["m"; 4]).lacks_share(&modules));
        assert!(with(["m"; 4]).lacks_share(&modules[1..]));
        assert!(with(["y", "y", "n", "y"]).lacks_share(&modules));
        assert!(
            Config::read(TEXT, String::new(), Architecture::Amd64)
                .unwrap()
                .lacks_share(&modules)
        );
    }

    #[test]
    fn the_configuration_lies_beside_the_image_or_above_the_tree_that_it_was_built_in() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for file in ["vmlinuz-6.1", "config-6.1", "config-6.2"] {
            std::fs::write(at(file), TEXT).unwrap();
        }
        assert_eq!(beside(&at("vmlinuz-6.1")), Some(at("config-6.1")));
        assert_eq!(beside(&at("bzImage")), None);
        for (boot, image) in [("arch/x86/boot", "bzImage"), ("arch/arm64/boot", "Image")] {
            let boot = at("linux").join(boot);
            std::fs::create_dir_all(&boot).unwrap();
            std::fs::write(at("linux/.config"), TEXT).unwrap();
            assert_eq!(beside(&boot.join(image)), Some(at("linux/.config")));
        }
        assert_eq!(beside(&at("linux/boot/bzImage")), None);
    }
}
