//! What the kernel executes beside programs, by the files themselves: no call names a loader, or
//! the interpreter behind `#!`.

use crate::policy::landlock::Programs;
use perf_live::elf;
use perf_live::sandbox::{Part, World};
use perf_records::units::shown_path;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How many interpreters one file may take after the other (`exec_binprm()`, fs/exec.c).
const DEPTH: usize = 5;

/// How much of a file is looked at for `#!` (`BINPRM_BUF_SIZE`).
const LINE: usize = 256;

/// Finds the files that were executed beside programs of a run that has ended: its working
/// directory was `inside` for it, and is `outside` for the harness.
pub(super) fn beside(
    programs: &BTreeSet<Vec<u8>>,
    world: &World,
    (inside, outside): (&Path, &Path),
) -> Programs {
    let sees = Sees {
        world,
        inside,
        outside,
    };
    let of = |path: &Vec<u8>| {
        let mut found = Vec::new();
        let file = sees.real(Path::new(OsStr::from_bytes(path)));
        let all = file.and_then(|(_, file)| sees.add(&file, DEPTH, &mut found));
        (path.clone(), all.map(|()| found))
    };
    programs.iter().map(of).collect()
}

/// What a run saw.
struct Sees<'a> {
    world: &'a World,
    inside: &'a Path,
    outside: &'a Path,
}

impl Sees<'_> {
    /// Where a path leads: as the run saw it, and on the host.
    fn real(&self, path: &Path) -> Result<(PathBuf, PathBuf), String> {
        let gone = |path: &Path| format!("`{}` cannot be looked at", shown_path(path));
        if let Ok(rest) = path.strip_prefix(self.inside) {
            let real = self.outside.join(rest).canonicalize();
            let real = real.map_err(|_| gone(path))?;
            let base = self.outside.canonicalize().map_err(|_| gone(path))?;
            return match real.strip_prefix(base) {
                Ok(rest) => Ok((self.inside.join(rest), real.clone())),
                Err(_) => self.real(&real),
            };
        }
        match self.world.part(path) {
            Part::Host => {
                let real = path.canonicalize().map_err(|_| gone(path))?;
                Ok((real.clone(), real))
            }
            _ => Err(gone(path)),
        }
    }

    /// Adds what a file takes that is executed.
    fn add(&self, file: &Path, depth: usize, found: &mut Vec<Vec<u8>>) -> Result<(), String> {
        let shown = shown_path(file).to_string();
        let unread = |error: std::io::Error| format!("`{shown}` cannot be read: {error}");
        let opened = File::open(file).map_err(unread)?;
        let mut start = Vec::new();
        let mut line = opened.take(LINE as u64);
        line.read_to_end(&mut start).map_err(unread)?;
        let next = match start.strip_prefix(b"#!") {
            Some(rest) => Some(
                interpreter(rest)
                    .ok_or_else(|| format!("which interpreter `{shown}` takes is not known"))?,
            ),
            None => {
                let opened = File::open(file).map_err(unread)?;
                let loader = elf::loader(opened);
                loader.ok_or_else(|| format!("`{shown}` is no program that is known here"))?
            }
        };
        let Some(next) = next else { return Ok(()) };
        let Some(depth) = depth.checked_sub(1) else {
            return Err(format!("`{shown}` takes too many interpreters"));
        };
        let next = Path::new(OsStr::from_bytes(&next)).to_owned();
        let (inside, real) = self.real(&next)?;
        if inside.starts_with(self.inside) {
            let why = "lies where the run works, and whether it made it is not known";
            return Err(format!("the interpreter `{}` {why}", shown_path(&inside)));
        }
        found.push(inside.into_os_string().as_bytes().to_vec());
        self.add(&real, depth, found)
    }
}

/// The interpreter that a script names behind `#!`, if that is an absolute path.
fn interpreter(line: &[u8]) -> Option<Vec<u8>> {
    let end = line.iter().position(|byte| *byte == b'\n')?;
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let line = line.get(..end)?;
    let start = line.iter().position(|byte| !is_blank(byte))?;
    let word = line.get(start..)?.split(is_blank).next()?;
    word.starts_with(b"/").then(|| word.to_vec())
}

#[cfg(test)]
mod tests {
    use super::interpreter;

    #[test]
    fn an_interpreter_is_the_first_word_behind_the_mark() {
        let of = |line: &str| interpreter(line.as_bytes());
        assert_eq!(of("/bin/sh\n"), Some(b"/bin/sh".to_vec()));
        assert_eq!(
            of(" \t/usr/bin/env python3 -u\n"),
            Some(b"/usr/bin/env".to_vec())
        );
        for unknown in ["", "\n", "  \n", "sh\n", "/bin/sh"] {
            assert_eq!(of(unknown), None, "{unknown:?}");
        }
    }
}
