//! What a power cut may leave, and what is run on it.

use super::File;
use super::workload::{ancestors, fault_of_path};
use crate::crash::Watched;
use crate::scenario::crash::{CrashSpec, WrittenCrash};
use crate::scenario::diagnostic::Diagnostic;
use crate::scenario::expect::{Expect, WrittenExpect};
use crate::scenario::faults::FaultSpec;
use crate::scenario::key_path::KeyPath;
use crate::scenario::workload::{Workload, WrittenWorkload};
use std::collections::BTreeMap;
use std::path::Path;

impl File<'_> {
    /// The key `crash`, beside this workload.
    pub(super) fn crash(
        &self,
        written: WrittenCrash,
        workload: &Workload,
        faults: &[FaultSpec],
    ) -> Result<CrashSpec, Diagnostic> {
        let at = KeyPath::root().key("crash");
        if !faults.is_empty() {
            let message = "a run with `crash` has no `faults`: both hold its calls";
            let complaint = self.complaint(&at.key_itself(), message);
            return Err(complaint.with_help("write a scenario for each"));
        }
        let watch = self.watched(&at, written.watch.as_deref(), workload)?;
        if written.since.as_deref() == Some("") {
            return Err(self.complaint(&at.key("since"), "`since` is empty"));
        }
        let states = written.most_states();
        let recovery = written.recovers;
        let at = at.key("recovers");
        if recovery.run.is_none() && recovery.shell.is_none() {
            return Err(self.complaint(&at, "`recovers` needs `run` or `shell`"));
        }
        let recovers = WrittenWorkload {
            run: recovery.run,
            shell: recovery.shell,
            env: recovery.env,
            stdin: recovery.stdin,
            files: None,
            timeout: recovery.timeout,
        };
        let inherited = Workload {
            files: BTreeMap::new(),
            stdin: None,
            ..workload.clone()
        };
        let expect = recovery.expect;
        let files_after = match expect.files_after {
            Some(files) => self.files_after(&at.clone().key("expect").key("files_after"), files)?,
            None => Vec::new(),
        };
        let expect = self.expect(WrittenExpect {
            exit: expect.exit,
            stdout: expect.stdout,
            stderr: expect.stderr,
            ..WrittenExpect::default()
        })?;
        Ok(CrashSpec {
            model: written.model.map(|model| model.0).unwrap_or_default(),
            watch,
            recovers: self.workload(&at, recovers, Some(&inherited))?,
            expect: Expect {
                files_after,
                ..expect
            },
            acknowledged: written.acknowledged.unwrap_or_default(),
            since: written.since,
            states,
            seed: written.seed.unwrap_or_default(),
            io_uring: written.io_uring.unwrap_or_default(),
        })
    }

    /// The key `watch`.
    fn watched(
        &self,
        crash: &KeyPath,
        written: Option<&[String]>,
        workload: &Workload,
    ) -> Result<Watched, Diagnostic> {
        let Some(written) = written else {
            return Ok(Watched::default());
        };
        let at = crash.clone().key("watch");
        if written.is_empty() {
            let message = "`watch` names no folder, so no power cut could change anything";
            return Err(self.complaint(&at, message));
        }
        let mut folders = Vec::new();
        for (place, folder) in written.iter().enumerate() {
            let at = at.clone().index(place);
            if folder == "." {
                continue;
            }
            if let Some(fault) = fault_of_path(folder) {
                return Err(self.complaint(&at, fault));
            }
            let is_file = |path: &str| {
                let file = workload.files.get(Path::new(path));
                file.is_some_and(|file| !file.is_folder())
            };
            if let Some(file) = ancestors(folder).chain([&**folder]).find(|it| is_file(it)) {
                let message = format!("`{}` is a file here, not a folder", file.escape_debug());
                return Err(self.complaint(&at, message));
            }
            folders.push(folder.clone().into_bytes());
        }
        Ok(match folders.len() == written.len() {
            true => Watched::new(folders),
            false => Watched::default(),
        })
    }
}
