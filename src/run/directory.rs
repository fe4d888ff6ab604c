//! What becomes of a run's directory, and of a run that broke.

use super::{RunError, ScenarioReport};
use crate::verdict::{About, Finding, Verdict};
use perf_live::errors::chain;
use perf_live::sandbox::{WorkDir, WorkDirError};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use syscall_model::files::{FileKind, Initial};

impl ScenarioReport {
    /// Makes the outcome broken: the harness could not do its work. What no sandbox can be made
    /// for here is skipped.
    pub(super) fn break_by(&mut self, error: &RunError) {
        let (verdict, finding) = match error.unmet() {
            Some(lack) => (Verdict::Skipped, lack),
            None => (Verdict::Broken, Finding::broken(error.with_hint())),
        };
        self.verdict = verdict;
        self.findings = vec![finding];
    }

    /// Keeps or removes the directory of a run, and says where a kept one is.
    pub(super) fn part_with(&mut self, directory: Option<WorkDir>, keep: bool) {
        match directory {
            Some(directory) if keep => self.note(directory.keep().map(Some)),
            Some(directory) => self.note(directory.remove().map(|()| None)),
            None if keep => {
                let reason = "nothing is kept: its directory could not be laid out";
                self.findings.push(Finding::remark(About::Run, reason));
            }
            None => {}
        }
    }

    /// A run that leaves files behind, or does not keep the directory that it should, is no pass.
    fn note(&mut self, result: Result<Option<PathBuf>, WorkDirError>) {
        match result {
            Ok(kept) => self.kept = kept,
            Err(error) => {
                self.verdict = Verdict::Broken;
                self.findings.push(Finding::broken(chain(&error)));
            }
        }
    }
}

/// The descriptors that the workload starts with: the cork has closed all others.
pub(super) fn initial(directory: &Path) -> Initial {
    let streams = ["stdin", "stdout", "stderr"].into_iter().zip(0..);
    let given =
        |(name, number): (&str, i32)| (FileKind::Given(name.as_bytes().into()), vec![number]);
    Initial {
        files: streams.map(given).collect(),
        complete: true,
        directory: Some(directory.as_os_str().as_bytes().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_whose_directory_cannot_be_removed_is_broken_whatever_it_was() {
        let mut report = ScenarioReport {
            needs: None,
            struck: Vec::new(),
            faults: None,
            name: "it".to_owned(),
            file: "it.yaml".into(),
            row: String::new(),
            verdict: Verdict::Pass,
            duration: std::time::Duration::ZERO,
            findings: Vec::new(),
            notes: Vec::new(),
            events: 0,
            lost: 0,
            usage: perf_live::units::Usage::default(),
            kernel: String::new(),
            kept: None,
            dumped: None,
            only_snapshot: false,
            is_command: false,
            trace: None,
            whole: None,
        };
        report.note(Err(WorkDirError::Remove {
            path: "/tmp/it".into(),
            source: std::io::Error::from_raw_os_error(libc::EPERM),
        }));
        assert_eq!(report.verdict, Verdict::Broken);
        let reason = "cannot remove the working directory `/tmp/it`: operation not permitted";
        assert_eq!(report.findings, [Finding::broken(reason)]);
    }
}
