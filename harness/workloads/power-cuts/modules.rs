//! Loads modules of the running kernel, from its own folder, without modprobe.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::kmod::{ModuleInitFlags, finit_module, init_module};

/// Where the modules lie that block devices and file systems need.
const FOLDERS: [&str; 9] = [
    "arch/x86/crypto",
    "crypto",
    "drivers/block",
    "drivers/md",
    "fs",
    "fs/btrfs",
    "fs/ext4",
    "fs/jbd2",
    "fs/xfs",
];
const LIBRARIES: [&str; 4] = ["lib", "lib/raid6", "lib/zstd", "lib/lzo"];

/// `MODULE_INIT_COMPRESSED_FILE`, of Linux 5.17.
const COMPRESSED: u32 = 4;

/// The modules of the running kernel, by name.
pub(crate) struct Modules(BTreeMap<String, PathBuf>);

impl Modules {
    /// Looks for them.
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        let release = nix::sys::utsname::uname()?;
        let release = release.release().to_string_lossy().into_owned();
        let root = Path::new("/lib/modules").join(release).join("kernel");
        let mut found = BTreeMap::new();
        for folder in FOLDERS.iter().chain(&LIBRARIES) {
            let Ok(entries) = std::fs::read_dir(root.join(folder)) else {
                continue;
            };
            for entry in entries {
                let path = entry?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if let Some((name, _)) = name.split_once(".ko") {
                    found.insert(name.replace('-', "_"), path.clone());
                }
            }
        }
        Ok(Self(found))
    }

    /// Loads a module and what it depends on. One that is not there is built into the kernel, or
    /// what needs it will fail.
    pub(crate) fn load(&self, name: &str) -> Result<(), Box<dyn Error>> {
        let Some(path) = self.0.get(&name.replace('-', "_")) else {
            return Ok(());
        };
        let failed = |error: &dyn Error| format!("cannot load {}: {error}", path.display());
        let bytes = std::fs::read(path)?;
        let loaded = if path.extension().is_some_and(|end| end == "ko") {
            for needed in depends(&bytes) {
                self.load(&needed)?;
            }
            init_module(&bytes, c"")
        } else {
            // What it depends on is in what the kernel unpacks: the caller names all.
            let flags = ModuleInitFlags::from_bits_retain(COMPRESSED);
            finit_module(File::open(path)?, c"", flags)
        };
        match loaded {
            Ok(()) | Err(Errno::EEXIST) => Ok(()),
            Err(error) => Err(failed(&error).into()),
        }
    }
}

/// Returns what a module says that it depends on.
fn depends(module: &[u8]) -> Vec<String> {
    const KEY: &[u8] = b"\0depends=";
    let at = module.windows(KEY.len()).position(|window| window == KEY);
    let value = at.and_then(|at| module.get(at + KEY.len()..));
    let value = value.and_then(|rest| rest.split(|byte| *byte == 0).next());
    let value = String::from_utf8_lossy(value.unwrap_or_default()).into_owned();
    let names = value.split(',').filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}
