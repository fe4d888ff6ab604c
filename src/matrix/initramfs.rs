//! Makes the first files of a guest: this very program as pid 1, with its loader and libraries;
//! modules; and the orders.
//!
//! The program is carried as it is, dynamically linked or not: none is built for guests, and the
//! guest's harness is the same as the host's. Its own mappings tell which libraries it has. A guest
//! of another architecture has a harness that the list of kernels names.

use super::cpio::Archive;
use super::job::Orders;
use super::kernel::Kernel;
use super::modules::Module;
use super::{MODULES, ORDERS};
use crate::scenario::Architecture;
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

/// A file of the harness cannot be put into a guest.
#[derive(Debug, thiserror::Error)]
pub enum OwnFileError {
    /// It cannot be read.
    #[error(
        "cannot read `{}`, which a guest needs to run the harness",
        shown_path(path)
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of reading it.
        source: io::Error,
    },
    /// The list names a harness that takes libraries, and which ones cannot be told.
    #[error("`{}`, the harness of a guest, is no static program", shown_path(path))]
    NotStatic {
        /// The file.
        path: PathBuf,
    },
    /// It is no program for the guest's processor.
    #[error("`{}`, the harness of a guest, is no program of {}", shown_path(path), arch.word())]
    OtherMachine {
        /// The file.
        path: PathBuf,
        /// The guest's architecture.
        arch: Architecture,
    },
}

impl OwnFileError {
    /// Returns what can be done about it, if anything.
    pub(super) fn hint(&self) -> Option<String> {
        let hint = "build it with RUSTFLAGS=\"-C target-feature=+crt-static\"";
        matches!(self, Self::NotStatic { .. }).then(|| hint.to_owned())
    }
}

pub(super) fn build(
    modules: &[Module],
    orders: &Orders,
    kernel: &Kernel,
) -> Result<Initramfs, OwnFileError> {
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
    let start = match &kernel.harness {
        Some(path) => named(&mut archive, path, kernel.arch)?,
        None => own_files(&mut archive)?,
    };
    // It cannot fail: the orders are bytes.
    let text = serde_json::to_vec(orders).unwrap_or_default();
    archive.file(ORDERS.trim_start_matches('/'), &text);
    Ok(Initramfs {
        archive: archive.finish(),
        start,
    })
}

/// The words for a program that needs no loader.
fn alone() -> String {
    format!("rdinit=/{PROGRAM} -- {INIT_COMMAND}")
}

/// Carries the harness that the list of kernels names.
fn named(archive: &mut Archive, path: &Path, arch: Architecture) -> Result<String, OwnFileError> {
    let bytes = read(path)?;
    if elf::machine(&bytes) != Some(number(arch)) {
        let path = path.to_owned();
        return Err(OwnFileError::OtherMachine { path, arch });
    }
    if elf::interpreter(&bytes).is_some() {
        let path = path.to_owned();
        return Err(OwnFileError::NotStatic { path });
    }
    archive.file(PROGRAM, elf::loaded(&bytes));
    Ok(alone())
}

/// `EM_X86_64` and `EM_AARCH64` of `elf.h`.
const fn number(arch: Architecture) -> u16 {
    match arch {
        Architecture::Amd64 => 62,
        Architecture::Arm64 => 183,
    }
}

fn own_files(archive: &mut Archive) -> Result<String, OwnFileError> {
    let program = std::env::current_exe().map_err(|source| OwnFileError::Read {
        path: PathBuf::from("harness"),
        source,
    })?;
    let (host, own) = (Host::running(), Pid(std::process::id()));
    let bytes = host.program_of(own).map_err(|source| OwnFileError::Read {
        path: program.clone(),
        source,
    })?;
    archive.file(PROGRAM, elf::loaded(&bytes));
    let Some(loader) = elf::interpreter(&bytes) else {
        return Ok(alone());
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
    std::fs::read(path).map_err(|source| OwnFileError::Read {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A static program of no code, for the machine of this number.
    fn program(machine: u16) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        // `ET_EXEC`, the machine, the version, and the size of the header.
        bytes[16] = 2;
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes[20] = 1;
        bytes[52] = 64;
        bytes
    }

    #[test]
    fn a_guest_gets_a_harness_of_its_architecture_that_needs_no_library() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("harness");
        std::fs::write(&path, program(183)).unwrap();
        let of = |arch, path: &Path| named(&mut Archive::default(), path, arch);
        assert_eq!(
            of(Architecture::Arm64, &path).unwrap(),
            "rdinit=/vm/harness -- vm-init"
        );
        let error = of(Architecture::Amd64, &path).unwrap_err();
        assert!(
            error.to_string().ends_with("is no program of amd64"),
            "{error}"
        );
        assert_eq!(error.hint(), None);
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        let error = of(Architecture::Arm64, &path).unwrap_err();
        assert!(
            error.to_string().ends_with("is no program of arm64"),
            "{error}"
        );
    }

    #[test]
    fn a_harness_that_takes_libraries_is_refused_with_the_way_to_build_it() {
        // This very test is linked to the C library, unless it was built to be static.
        let own = std::env::current_exe().unwrap();
        let made = named(&mut Archive::default(), &own, Architecture::OWN);
        match cfg!(target_feature = "crt-static") {
            true => assert!(made.is_ok()),
            false => {
                let error = made.unwrap_err();
                assert!(
                    error.to_string().ends_with("is no static program"),
                    "{error}"
                );
                assert!(error.hint().unwrap().contains("+crt-static"));
            }
        }
    }
}
