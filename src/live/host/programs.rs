//! Programs that the kernel loads by itself.

use super::files::changed_at;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::SystemTime;

/// `e_machine` of a program of this architecture, and of its 32-bit one (`elf.h`).
const MACHINES: [u16; 2] = if cfg!(target_arch = "aarch64") {
    [183, 40]
} else {
    [62, 3]
};

/// Whether what lies under a path is an ELF program of this machine, and has been since before a
/// time: neither its contents nor its attributes have changed from then on. `false` where that is
/// not known.
#[must_use]
pub fn is_program(path: &Path, since: SystemTime) -> bool {
    let open = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path);
    let Ok(mut file) = open else { return false };
    let is_old = |file: &std::fs::File| {
        let metadata = file.metadata().ok();
        let metadata = metadata.filter(std::fs::Metadata::is_file);
        metadata.is_some_and(|it| changed_at(&it).is_some_and(|changed| changed < since))
    };
    let mut start = [0; 20];
    let is_read = is_old(&file) && file.read_exact(&mut start).is_ok();
    is_read && is_loaded(&start) && is_old(&file)
}

/// Whether a file that begins so is one that `load_elf_binary()` takes.
fn is_loaded(start: &[u8; 20]) -> bool {
    const LITTLE_ENDIAN: u8 = 1;
    const EXECUTABLE: u16 = 2;
    const SHARED: u16 = 3;
    let half = |at: usize| u16::from_le_bytes([start[at], start[at + 1]]);
    start.starts_with(b"\x7fELF")
        && start[5] == LITTLE_ENDIAN
        && matches!(half(16), EXECUTABLE | SHARED)
        && MACHINES.contains(&half(18))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_program_is_one_that_has_not_changed_and_no_script() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        let script = folder.path().join("script");
        std::fs::write(&script, "#!/bin/sh\nexec true with some more words\n").unwrap();
        let later = SystemTime::now() + Duration::from_secs(60);
        assert!(is_program(&program, later));
        assert!(!is_program(&program, SystemTime::UNIX_EPOCH));
        assert!(!is_program(&script, later));
        assert!(!is_program(folder.path(), later));
        std::os::unix::fs::symlink(&program, folder.path().join("link")).unwrap();
        assert!(!is_program(&folder.path().join("link"), later));
    }
}
