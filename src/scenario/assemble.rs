//! The checks that see more than one key, and the scenario at last.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::diagnostic::{Diagnostic, Source};
use super::expect::Expect;
use super::key_path::KeyPath;
use super::model::Scenario;
use super::patterns::WrittenExpectations;
use super::places::Places;
use super::reader::WrittenScenario;
use super::requires::Requires;
use super::trace::{RingSpec, Since, TraceSpec, WrittenTrace};
use super::workload::{Command, FileSpec, Workload, WrittenWorkload};

mod captures;
mod expectations;

/// Builds the scenario from keys and values that are each right by themselves.
pub(super) fn assemble(
    source: Source,
    places: Places,
    written: WrittenScenario,
) -> Result<Scenario, Diagnostic> {
    let file = File {
        source: &source,
        places: &places,
    };
    let description = file.not_blank("description", written.description)?;
    let expect_failure = written
        .expect_failure
        .map(|reason| file.not_blank("expect_failure", reason))
        .transpose()?;
    let workload = file.workload(written.workload)?;
    let trace = file.trace(written.trace)?;
    let expect = written.expect;
    let at = KeyPath::root().key("expect");
    let events = file.expectations(
        &at,
        WrittenExpectations {
            sequence: expect.sequence,
            any_order: expect.any_order,
            never: expect.never,
            only: expect.only,
            count: expect.count,
        },
    )?;
    captures::check(&file, &events, &BTreeMap::new())?;
    let requires = written.requires;
    Ok(Scenario {
        description,
        workload,
        sandbox: written.sandbox,
        trace,
        sections: BTreeMap::new(),
        baseline: None,
        expect: Expect {
            exit: expect.exit.map(|exit| exit.0),
            stdout: expect.stdout,
            stderr: expect.stderr,
            limit: expect.limit.map(|limit| limit.0),
            events,
            ..Expect::default()
        },
        snapshot: written.snapshot,
        requires: Requires {
            kernel: requires.kernel,
            tracepoints: requires
                .tracepoints
                .into_iter()
                .map(|name| name.0)
                .collect(),
            commands: requires.commands.into_iter().map(|name| name.0).collect(),
        },
        expect_failure,
        lenient: None,
        row: Vec::new(),
        source,
        places,
    })
}

/// The file that complaints point into.
struct File<'a> {
    source: &'a Source,
    places: &'a Places,
}

impl File<'_> {
    fn complaint(&self, at: &KeyPath, message: impl Into<String>) -> Diagnostic {
        self.source
            .diagnostic(self.places.range_of(self.source, at), message)
    }

    fn not_blank(&self, key: &str, text: String) -> Result<String, Diagnostic> {
        if text.trim().is_empty() {
            return Err(self.complaint(&KeyPath::root().key(key), format!("`{key}` is empty")));
        }
        Ok(text)
    }

    fn trace(&self, written: WrittenTrace) -> Result<TraceSpec, Diagnostic> {
        if written.events.as_ref().is_some_and(Vec::is_empty) {
            let at = KeyPath::root().key("trace").key("events");
            return Err(self
                .complaint(&at, "the list of `events` is empty")
                .with_help("leave `events` out to record all syscalls"));
        }
        Ok(TraceSpec {
            events: written.events.unwrap_or_default(),
            since: Since::Exec,
            ring: RingSpec {
                size: written.ring.size.map(|size| size.0),
            },
        })
    }

    fn workload(&self, mut written: WrittenWorkload) -> Result<Workload, Diagnostic> {
        let at = KeyPath::root().key("workload");
        let command = self.command(&at, written.run.take(), written.shell.take())?;
        self.check_env(&at.clone().key("env"), &written.env)?;
        let files = self.files(&at.key("files"), written.files)?;
        Ok(Workload {
            command,
            env: written.env,
            stdin: written.stdin,
            files,
            timeout: written.timeout.0,
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
            if let Some(folder) = ancestors(name).find(|folder| written.contains_key(*folder)) {
                let message = format!("`{}` is a file here, not a folder", folder.escape_debug());
                return Err(self.complaint(&key, message));
            }
        }
        Ok(written
            .into_iter()
            .map(|(name, file)| (PathBuf::from(name), file))
            .collect())
    }
}

/// `PATH_MAX` of Linux, the NUL at the end left out.
const MAX_PATH: usize = 4095;

/// What keeps `path` from being the one way to write a place inside of the working directory.
fn fault_of_path(path: &str) -> Option<&'static str> {
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
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/')
        .filter_map(|(slash, _)| path.get(..slash))
}
