//! Stores a run's trace.

use super::Update;
use super::{Item, Outcome, RunError, SnapshotOutcome, Suite, scenario};
use crate::calibrate::Calibration;
use crate::snapshot::{self, Together};
use crate::verdict::{About, Finding, Kind, Verdict};
use perf_records::units::{shell_path, shown_path};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

impl Suite<'_> {
    /// Writes the trace if it is to be stored and no run of it is still to come, and returns what
    /// that changes.
    pub(super) fn store(
        &self,
        (item, description): (&Item, &str),
        update: Update,
        is_last: bool,
        mut outcome: Outcome,
    ) -> Result<Outcome, RunError> {
        let provenance = scenario::provenance(self.bench, &item.file, description);
        match (&outcome.snapshot, &outcome.text) {
            (SnapshotOutcome::Same, _) if update != Update::Never => {
                snapshot::forget_pending(&item.place().choose(self.bench.kernel()))?;
            }
            // A run with another failure has no trace to keep.
            (SnapshotOutcome::Differs { file, stored }, Some(text)) if outcome.only_snapshot => {
                let update = match update {
                    Update::Unseen if stored.is_none() => Update::Accept,
                    update => update,
                };
                match update {
                    Update::Never => {}
                    Update::Pending | Update::Unseen => {
                        let pending = snapshot::pending(file);
                        snapshot::write(&pending, text, &provenance)?;
                        let root = item.place().root;
                        let folder = match root == Path::new("snapshots") {
                            true => String::new(),
                            false => format!(" {}", shell_path(root)),
                        };
                        let text = format!(
                            "the new trace waits in `{}`: harness review{folder}",
                            shown_path(&pending)
                        );
                        let waits = Finding::remark(About::Snapshot, text);
                        outcome.findings.push(waits);
                    }
                    Update::Accept | Update::Variant | Update::OfArch if !is_last => {
                        accept(&mut outcome);
                    }
                    Update::Accept | Update::Variant | Update::OfArch => {
                        let place = item.place();
                        let written = match update {
                            Update::OfArch => place.for_arch(file, self.bench.kernel()),
                            Update::Variant => place.for_kernel(file, self.bench.kernel()),
                            _ => file.clone(),
                        };
                        snapshot::write(&written, text, &provenance)?;
                        snapshot::forget_pending(&written)?;
                        snapshot::forget_pending(file)?;
                        accept(&mut outcome);
                    }
                }
            }
            // What waits of an earlier run is no longer what the program does.
            (SnapshotOutcome::Differs { file, .. }, _)
                if update != Update::Never && outcome.verdict == Verdict::Fail =>
            {
                snapshot::forget_pending(file)?;
            }
            _ => {}
        }
        Ok(outcome)
    }
}

impl Suite<'_> {
    /// Writes what a calibration came to: the changed text of the scenario and the snapshots that
    /// belong to it, all or none.
    ///
    /// # Errors
    /// [`SnapshotError`](snapshot::SnapshotError), of the first file that cannot be written.
    pub fn accept(
        &self,
        calibration: &Calibration,
        changed: &str,
    ) -> Result<(), snapshot::SnapshotError> {
        let mut files = Together::default();
        let mut pending = Vec::new();
        let mut scenarios = BTreeSet::new();
        for (item, description) in self.described() {
            let Some(text) = calibration.texts.get(&item.name) else {
                continue;
            };
            if scenarios.insert(&item.file) {
                files.add(&item.file, changed)?;
            }
            let file = item.place().choose(self.bench.kernel());
            let provenance = scenario::provenance(self.bench, &item.file, description);
            files.add_snapshot(&file, text, &provenance)?;
            pending.push(file);
        }
        files.write()?;
        for file in pending {
            snapshot::forget_pending(&file)?;
        }
        Ok(())
    }
}

impl Suite<'_> {
    /// Writes a new scenario and the snapshot that a calibration came to, both or none, and says
    /// where the snapshot is. Without a calibration there is none.
    ///
    /// # Errors
    /// [`SnapshotError`](snapshot::SnapshotError); a file that is there already is one.
    pub fn create(
        &self,
        calibration: Option<&Calibration>,
        text: &str,
    ) -> Result<Option<PathBuf>, snapshot::SnapshotError> {
        let mut files = Together::default();
        let mut written = None;
        for (item, description) in self.described() {
            files.add_new(&item.file, text)?;
            let Some(trace) = calibration.and_then(|it| it.texts.get(&item.name)) else {
                continue;
            };
            let file = item.place().choose(self.bench.kernel());
            let provenance = scenario::provenance(self.bench, &item.file, description);
            files.add_snapshot(&file, trace, &provenance)?;
            written = Some(file);
        }
        files.write()?;
        Ok(written)
    }
}

/// Takes a run for a pass that failed by its snapshot alone; what explains it stays.
fn accept(outcome: &mut Outcome) {
    let is_remark = |finding: &Finding| finding.kind == Kind::Remark;
    outcome.findings.retain(is_remark);
    outcome.verdict = Verdict::Pass;
}

/// Returns how a trace differs from that of the first run; `None` if it does not.
pub(super) fn differs(first: Option<&str>, text: Option<&str>) -> Option<String> {
    let (first, text) = first.zip(text)?;
    (first != text).then(|| snapshot::diff_of(("first run", first), ("this run", text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_from_the_first_run_has_the_lines_as_they_are() {
        let stored = "P1 sh\n  unlink(\"stored\") = 0\n";
        let found = differs(Some(stored), Some("P1 sh\n")).unwrap();
        assert!(
            found.starts_with("--- first run\n+++ this run\n"),
            "{found}"
        );
        assert!(found.contains("-  unlink(\"stored\") = 0"), "{found}");
    }
}
