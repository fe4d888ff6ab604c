//! Which file `argv[0]` names, and why it could not be executed.

use super::World;
use crate::files;
use perf_records::units::shell_word;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A program that was looked up as a shell does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program(PathBuf);

/// Why a program did not run: the four cases of `execve(2)` that a person can do something about,
/// and the rest.
#[derive(Debug, thiserror::Error)]
pub enum NotExecuted {
    /// There is no such file (or it is nowhere in `PATH`).
    #[error("`{program}` could not be executed: no such file")]
    Missing {
        /// As it was named.
        program: String,
    },
    /// There is no such file where the workload is, and one where the harness is.
    #[error("`{program}` could not be executed: no such file in the sandbox; this machine has `{}`", .found.display())]
    Elsewhere {
        /// As it was named.
        program: String,
        /// Where it is.
        found: PathBuf,
        /// The folder of the host's that the sandbox hides, and that it is in.
        hidden: Option<&'static str>,
    },
    /// A name leads to another file where the workload is than where the harness is.
    #[error("`{program}` was not executed: it is `{}` in the sandbox; this machine has `{}`", .inside.display(), .found.display())]
    Another {
        /// As it was named.
        program: String,
        /// What it is for the workload.
        inside: PathBuf,
        /// What it is for the harness.
        found: PathBuf,
        /// The folder of the host's that the sandbox hides, and that this is in.
        hidden: &'static str,
    },
    /// The file has no execute permission, or a folder on the way does not let through.
    #[error("`{program}` could not be executed: permission denied")]
    Permission {
        /// As it was named.
        program: String,
    },
    /// The file is there, but the interpreter that its `#!` line or ELF header names is not.
    #[error("`{program}` could not be executed: its interpreter{} does not exist", .interpreter.as_ref().map(|i| format!(" `{i}`")).unwrap_or_default())]
    Interpreter {
        /// As it was named.
        program: String,
        /// The interpreter, where the file has a `#!` line.
        interpreter: Option<String>,
    },
    /// The interpreter is in a folder of the host's that the sandbox has a folder of its own for.
    #[error(
        "`{program}` could not be executed: its interpreter `{interpreter}` is not in the sandbox, which has a `{folder}` of its own"
    )]
    HiddenInterpreter {
        /// As it was named.
        program: String,
        /// The interpreter.
        interpreter: String,
        /// The folder.
        folder: &'static str,
    },
    /// There is such a file, but the sandbox has a folder of its own in the place of the host's.
    #[error("`{program}` could not be executed: the sandbox has a `{folder}` of its own")]
    Hidden {
        /// As it was named.
        program: String,
        /// The folder.
        folder: &'static str,
    },
    /// It is a directory.
    #[error("`{program}` could not be executed: it is a directory")]
    Directory {
        /// As it was named.
        program: String,
    },
    /// It is neither ELF nor a script with a `#!` line.
    #[error("`{program}` could not be executed: not a program and no `#!` line")]
    Format {
        /// As it was named.
        program: String,
    },
    /// Anything else.
    #[error("`{program}` could not be executed")]
    Other {
        /// As it was named.
        program: String,
        /// What the kernel said.
        source: io::Error,
    },
}

impl NotExecuted {
    /// The status that a shell gives for it: 127 where there is no such file, 126 where there is
    /// one.
    #[must_use]
    pub fn shell_status(&self) -> i32 {
        if matches!(self, Self::Missing { .. } | Self::Elsewhere { .. }) {
            127
        } else {
            126
        }
    }

    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Missing { .. } | Self::Other { .. } => None,
            Self::Elsewhere { found, hidden, .. } => {
                Some(way_to(found, hidden.is_some()))
            }
            Self::Another { inside, found, .. } => Some(format!(
                "if `{}` is meant, name that; if not, {}",
                inside.display(),
                way_to(found, true)
            )),
            Self::HiddenInterpreter { .. } => {
                Some("choose `sandbox: { root: host }`, or install it elsewhere".to_owned())
            }
            Self::Permission { program } => Some(format!("chmod +x {}", shell_word(program))),
            Self::Interpreter { .. } => Some("install it, or correct the first line".to_owned()),
            Self::Hidden { .. } => Some(
                "lay it into the working directory with `workload.files`, or choose `sandbox: { root: host }`"
                    .to_owned(),
            ),
            Self::Directory { .. } => Some("name a file in it".to_owned()),
            Self::Format { program } => Some(format!(
                "give it a first line such as `#!/bin/sh`, or run `sh {}`",
                shell_word(program)
            )),
        }
    }
}

/// How a file of the host's comes into the sandbox.
fn way_to(found: &Path, is_hidden: bool) -> String {
    let name = found.file_name().unwrap_or_default().to_string_lossy();
    let open = match is_hidden {
        true => " with `sandbox: { root: host }`",
        false => "",
    };
    format!(
        "lay it into the working directory with `workload.files: {{ {name}: {{ from: PATH }} }}`, where PATH leads to it from the \
         scenario's file; or name it `{}`{open}",
        found.display()
    )
}

/// Where this process would find a program: in its own working directory, or in its `PATH`.
fn found_here(program: &OsStr) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let here = std::env::current_dir().unwrap_or_default();
    let Program(found) = Program::find(program, &path, &here).ok()?;
    Some(here.join(found))
}

impl NotExecuted {
    /// Of a file that is missing in a world, says where this process would find it: in its own
    /// working directory, or in its `PATH`.
    #[must_use]
    pub fn or_elsewhere(self, world: &World) -> Self {
        let Self::Missing { program } = &self else {
            return self;
        };
        let Some(found) = found_here(OsStr::new(program)) else {
            return self;
        };
        match found.canonicalize() {
            Ok(found) if found.is_file() => Self::Elsewhere {
                program: program.clone(),
                hidden: world.hides(&found),
                found,
            },
            _ => self,
        }
    }
}

impl Program {
    /// Looks a program up as the workload would from `directory`: a name with a slash stands for
    /// itself, any other is the first executable file of that name in `path`.
    ///
    /// # Errors
    /// [`NotExecuted::Missing`], or [`NotExecuted::Permission`] where only files without the
    /// permission were found.
    pub fn find(name: &OsStr, path: &OsStr, directory: &Path) -> Result<Self, NotExecuted> {
        if name.as_bytes().contains(&b'/') {
            return Ok(Self(name.into()));
        }
        let program = name.to_string_lossy().into_owned();
        if name.is_empty() {
            return Err(NotExecuted::Missing { program });
        }
        let mut without_permission = false;
        for folder in std::env::split_paths(path) {
            let candidate = folder.join(name);
            let Ok(metadata) = directory.join(&candidate).metadata() else {
                continue;
            };
            if metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 {
                return Ok(Self(candidate));
            }
            without_permission |= metadata.is_file();
        }
        Err(if without_permission {
            NotExecuted::Permission { program }
        } else {
            NotExecuted::Missing { program }
        })
    }

    /// Refuses a program that was found for its name where the workload is, if this process finds
    /// another file for that name in its own `PATH`, and the world alone hides that one.
    ///
    /// # Errors
    /// [`NotExecuted::Another`].
    pub fn or_another(self, name: &OsStr, world: &World) -> Result<Self, NotExecuted> {
        let Some(found) = self.other_here(name) else {
            return Ok(self);
        };
        let real = found.canonicalize().unwrap_or_else(|_| found.clone());
        match world.hides(&real) {
            None => Ok(self),
            Some(hidden) => Err(NotExecuted::Another {
                program: name.to_string_lossy().into_owned(),
                inside: self.0,
                found,
                hidden,
            }),
        }
    }

    /// The other file that this process finds for a name in its own `PATH`.
    #[must_use]
    pub fn other_here(&self, name: &OsStr) -> Option<PathBuf> {
        if name.as_bytes().contains(&b'/') {
            return None;
        }
        let file = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino())).ok();
        found_here(name).filter(|found| file(found) != file(&self.0))
    }

    /// The file, relative to the working directory of the workload where it is relative.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Tells apart what `execve(2)` folds into one errno, by a look at the file as seen from
    /// `directory` in `world`.
    #[must_use]
    pub fn explain(&self, error: io::Error, directory: &Path, world: &World) -> NotExecuted {
        let program = self.0.to_string_lossy().into_owned();
        let file = directory.join(&self.0);
        let metadata = file.metadata();
        if let Some(folder) = world.hides(&self.0).filter(|_| metadata.is_ok()) {
            return NotExecuted::Hidden { program, folder };
        }
        match (error.raw_os_error(), metadata) {
            (Some(libc::EACCES), Ok(metadata)) if metadata.is_dir() => {
                NotExecuted::Directory { program }
            }
            (Some(libc::EACCES), _) => NotExecuted::Permission { program },
            (Some(libc::ENOENT), Ok(_)) => {
                let interpreter = interpreter(&file);
                let hidden = interpreter.as_ref().and_then(|interpreter| {
                    let path = Path::new(interpreter);
                    world.hides(path).filter(|_| path.exists())
                });
                match (hidden, interpreter) {
                    (Some(folder), Some(interpreter)) => NotExecuted::HiddenInterpreter {
                        program,
                        interpreter,
                        folder,
                    },
                    (_, interpreter) => NotExecuted::Interpreter {
                        program,
                        interpreter,
                    },
                }
            }
            (Some(libc::ENOENT | libc::ENOTDIR), Err(_)) => {
                NotExecuted::Missing { program }.or_elsewhere(world)
            }
            (Some(libc::ENOEXEC), _) => NotExecuted::Format { program },
            _ => NotExecuted::Other {
                program,
                source: error,
            },
        }
    }
}

/// What the `#!` line of a file names.
fn interpreter(file: &Path) -> Option<String> {
    use io::Read;
    // BINPRM_BUF_SIZE, include/uapi/linux/binfmts.h: the kernel looks no further.
    let mut start = Vec::new();
    files::open(file)
        .ok()?
        .take(256)
        .read_to_end(&mut start)
        .ok()?;
    let line = start
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let line = String::from_utf8_lossy(line);
    line.split_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_searched_in_path_and_a_file_without_permission_is_not_missing() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("plain"), "").unwrap();
        let path = dir.path().as_os_str();
        let missing = Program::find("gone".as_ref(), path, dir.path()).unwrap_err();
        assert_eq!(
            (missing.to_string().as_str(), missing.shell_status()),
            ("`gone` could not be executed: no such file", 127)
        );
        let denied = Program::find("plain".as_ref(), path, dir.path()).unwrap_err();
        assert_eq!(
            (denied.to_string().as_str(), denied.shell_status()),
            ("`plain` could not be executed: permission denied", 126)
        );
        assert_eq!(
            Program::find("./x/y".as_ref(), path, dir.path())
                .unwrap()
                .path(),
            Path::new("./x/y")
        );
    }
}
