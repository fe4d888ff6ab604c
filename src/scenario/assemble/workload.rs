//! A workload and what lies in its directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::File;
use crate::scenario::diagnostic::Diagnostic;
use crate::scenario::folders::{self, Fault};
use crate::scenario::key_path::KeyPath;
use crate::scenario::workload::{Command, DEFAULT_TIMEOUT, FileSpec, Workload, WrittenWorkload};

impl File<'_> {
    /// The workload at `at`; what is not written of `baseline` is as in `workload`, which is
    /// `inherited`.
    pub(super) fn workload(
        &self,
        at: &KeyPath,
        written: WrittenWorkload,
        inherited: Option<&Workload>,
    ) -> Result<Workload, Diagnostic> {
        let command = match (written.run, written.shell, inherited) {
            (None, None, Some(inherited)) => inherited.command.clone(),
            (run, shell, _) => self.command(at, run, shell)?,
        };
        let env = match written.env {
            Some(env) => {
                self.check_env(&at.clone().key("env"), &env)?;
                Some(env)
            }
            None => inherited.map(|workload| workload.env.clone()),
        };
        let files = match written.files {
            Some(files) => Some(self.files(&at.clone().key("files"), files)?),
            None => inherited.map(|workload| workload.files.clone()),
        };
        let timeout = written.timeout.map(|timeout| timeout.0);
        let stdin = inherited.and_then(|workload| workload.stdin.clone());
        Ok(Workload {
            command,
            env: env.unwrap_or_default(),
            stdin: written.stdin.or(stdin),
            files: files.unwrap_or_default(),
            timeout: timeout
                .or(inherited.map(|workload| workload.timeout))
                .unwrap_or(DEFAULT_TIMEOUT),
        })
    }

    fn command(
        &self,
        workload: &KeyPath,
        run: Option<Vec<String>>,
        shell: Option<String>,
    ) -> Result<Command, Diagnostic> {
        let run_at = workload.clone().key("run");
        let shell_at = workload.clone().key("shell");
        match (run, shell) {
            (Some(_), Some(_)) => {
                let message = "`run` and `shell` exclude each other";
                let complaint = self.complaint(&shell_at.key_itself(), message);
                Err(match self.places.key_range(&run_at) {
                    Some(range) => complaint.with_related(range, "the command is here already"),
                    None => complaint,
                })
            }
            (None, None) => Err(self.complaint(workload, "`workload` needs `run` or `shell`")),
            (Some(argv), None) => self.argv(&run_at, argv),
            (None, Some(text)) => {
                self.no_nul(&shell_at, &text)?;
                if text.trim().is_empty() {
                    return Err(self.complaint(&shell_at, "`shell` is empty"));
                }
                Ok(Command::Shell(text))
            }
        }
    }

    fn argv(&self, at: &KeyPath, argv: Vec<String>) -> Result<Command, Diagnostic> {
        match argv.first() {
            None => {
                let help = "name a program and its arguments: [ls, -l]";
                return Err(self.complaint(at, "`run` is empty").with_help(help));
            }
            Some(program) if program.is_empty() => {
                let first = at.clone().index(0);
                return Err(self.complaint(&first, "the name of the program is empty"));
            }
            Some(_) => {}
        }
        for (index, argument) in argv.iter().enumerate() {
            self.no_nul(&at.clone().index(index), argument)?;
        }
        Ok(Command::Run(argv))
    }

    /// What the kernel takes as a string ends at its first NUL byte, so none may be inside.
    fn no_nul(&self, at: &KeyPath, text: &str) -> Result<(), Diagnostic> {
        if text.contains('\0') {
            return Err(self.complaint(at, format!("{} holds a NUL byte", at.in_words())));
        }
        Ok(())
    }

    fn check_env(&self, at: &KeyPath, env: &BTreeMap<String, String>) -> Result<(), Diagnostic> {
        for (name, value) in env {
            let entry = at.clone().key(name);
            if name.is_empty() || name.contains(['=', '\0']) {
                let message = format!("`{}` is no variable's name", name.escape_debug());
                return Err(self.complaint(&entry.key_itself(), message));
            }
            self.no_nul(&entry, value)?;
        }
        Ok(())
    }

    fn files(
        &self,
        at: &KeyPath,
        written: BTreeMap<String, FileSpec>,
    ) -> Result<BTreeMap<PathBuf, FileSpec>, Diagnostic> {
        for name in written.keys() {
            let key = at.clone().key(name).key_itself();
            if let Some(fault) = fault_of_path(name) {
                return Err(self.complaint(&key, fault));
            }
        }
        let written = written.into_iter();
        let files = written.map(|(name, file)| (PathBuf::from(name), file));
        let base = self.source.file().parent().unwrap_or(Path::new(""));
        folders::laid(files.collect(), base).map_err(|Fault { name, key, message }| {
            let file = at.clone().key(name.to_string_lossy());
            let place = match key {
                Some(key) => file.key(key),
                None => file.key_itself(),
            };
            self.complaint(&place, message)
        })
    }
}

/// `PATH_MAX` of Linux, the NUL at the end left out.
const MAX_PATH: usize = 4095;

/// What keeps `path` from being the one way to write a place inside of the working directory.
pub(super) fn fault_of_path(path: &str) -> Option<&'static str> {
    let mut components = path.split('/');
    if path.is_empty() || path.len() > MAX_PATH || path.contains('\0') {
        Some("this is no path that Linux takes")
    } else if path.starts_with('/') {
        Some("a path here is relative to the working directory, so it cannot begin with `/`")
    } else if components.clone().any(|component| component == "..") {
        Some("a path here cannot leave the working directory by `..`")
    } else if components.any(|component| component.is_empty() || component == ".") {
        Some("a path here has neither `.` nor empty components")
    } else {
        None
    }
}

/// The folders that hold `path`, outermost first.
pub(super) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/')
        .filter_map(|(slash, _)| path.get(..slash))
}
