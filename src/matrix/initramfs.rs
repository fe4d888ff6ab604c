//! Makes the first files of a guest: this very program as pid 1, with its loader and libraries;
//! modules; and the orders.
//!
//! The program is carried as it is, dynamically linked or not: none is built for guests, and the
//! guest's harness is the same as the host's. Its own mappings tell which libraries it has.

use super::cpio::Archive;
use super::job::Orders;
use super::modules::Module;
use super::{MODULES, ORDERS};
use perf_live::elf;
use perf_live::host::Host;
use perf_records::units::Pid;
use perf_records::units::shown_path;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The hidden command of the harness that is pid 1.
pub const INIT_COMMAND: &str = "vm-init";

const PROGRAM: &str = "vm/harness";
const LOADER: &str = "vm/loader";
const LIBRARIES: &str = "vm/lib";

/// A guest's first files, and the kernel's words about them.
#[derive(Debug)]
pub(super) struct Initramfs {
    pub(super) archive: Vec<u8>,
    /// Words of the kernel's command line; those after `--` go to pid 1.
    pub(super) start: String,
}

/// A file of the harness could not be read.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot read `{}`, which a guest needs to run the harness",
    shown_path(path)
)]
pub struct OwnFileError {
    path: PathBuf,
    source: io::Error,
}

pub(super) fn build(modules: &[Module], orders: &Orders) -> Result<Initramfs, OwnFileError> {
    let mut archive = Archive::default();
    for folder in ["vm", LIBRARIES, MODULES.trim_start_matches('/')] {
        archive.folder(folder);
    }
    for (index, module) in modules.iter().enumerate() {
        let path = format!(
            "{}/{index:03}-{}.ko",
            MODULES.trim_start_matches('/'),
            module.name
        );
        archive.file(&path, &module.bytes);
    }
    let start = own_files(&mut archive)?;
    // It cannot fail: the orders are bytes.
    let text = serde_json::to_vec(orders).unwrap_or_default();
    archive.file(ORDERS.trim_start_matches('/'), &text);
    Ok(Initramfs {
        archive: archive.finish(),
        start,
    })
}

fn own_files(archive: &mut Archive) -> Result<String, OwnFileError> {
    let program = std::env::current_exe().map_err(|source| OwnFileError {
        path: PathBuf::from("harness"),
        source,
    })?;
    let (host, own) = (Host::running(), Pid(std::process::id()));
    let bytes = host.program_of(own).map_err(|source| OwnFileError {
        path: program.clone(),
        source,
    })?;
    archive.file(PROGRAM, elf::loaded(&bytes));
    let Some(loader) = elf::interpreter(&bytes) else {
        return Ok(format!("rdinit=/{PROGRAM} -- {INIT_COMMAND}"));
    };
    let loader_bytes = read(Path::new(loader))?;
    archive.file(LOADER, &loader_bytes);
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mapped = host.living(own).into_iter().flat_map(|own| own.code);
    // The loader finds libraries by their names in their folders.
    let libraries: BTreeMap<String, PathBuf> = mapped
        .map(|mapping| PathBuf::from(mapping.name))
        .filter(|path| path.is_absolute() && *path != program && *path != real(Path::new(loader)))
        .filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), path)))
        .collect();
    for (name, path) in libraries {
        archive.file(&format!("{LIBRARIES}/{name}"), &read(&path)?);
    }
    Ok(format!(
        "rdinit=/{LOADER} -- --library-path /{LIBRARIES} /{PROGRAM} {INIT_COMMAND}"
    ))
}

fn read(path: &Path) -> Result<Vec<u8>, OwnFileError> {
    std::fs::read(path).map_err(|source| OwnFileError {
        path: path.to_owned(),
        source,
    })
}
