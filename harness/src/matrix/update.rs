//! `harness matrix --update`: makes snapshots of the kernels' traces.

use crate::out::note;
use crate::{complain, status};
use perf_live::files;
use perf_records::units::shown_path;
use std::path::Path;
use trace_harness::matrix::{Matrix, Told, settle};
use trace_harness::run::{Item, given_programs};
use trace_harness::scenario;
use trace_harness::snapshot::{self, Provenance, SnapshotError};

/// Writes the snapshots of all scenarios and reports which; scenarios without another failure then
/// pass. Returns the exit status if it cannot.
pub(super) fn accept(matrix: &mut Matrix, items: &[Item], keeps_common: bool) -> Result<(), u8> {
    for item in items {
        let accepted = of_item(matrix, item, keeps_common).map_err(|error| {
            complain(&error, None);
            status::TROUBLE
        })?;
        if accepted {
            for column in &mut matrix.columns {
                if column.traced(&item.name).is_some() {
                    column.accept(&item.name);
                }
            }
        }
    }
    Ok(())
}

/// Accepts the traces of one scenario; returns whether there were any to accept.
fn of_item(matrix: &Matrix, item: &Item, keeps_common: bool) -> Result<bool, SnapshotError> {
    let columns = matrix.columns.iter();
    let told: Vec<Told<'_>> = columns
        .filter_map(|column| {
            let (trace, is_new) = column.traced(&item.name)?;
            Some(Told {
                kernel: column.of_snapshots(),
                trace,
                is_new,
            })
        })
        .collect();
    if !told.iter().any(|it| it.is_new) {
        return Ok(false);
    }
    let place = item.place();
    let settled = settle(&place, &told, keeps_common)?;
    let description = description(&item.file, &item.row);
    for (file, text, kernel) in &settled.written {
        let about = Provenance {
            scenario: &item.file,
            description: &description,
            kernel,
        };
        snapshot::write(file, text, &about)?;
        snapshot::forget_pending(file)?;
        note!("harness: written: {}", shown_path(file));
    }
    for file in &settled.removed {
        snapshot::remove(file)?;
        note!(
            "harness: removed, as it says what the common snapshot says: {}",
            shown_path(file)
        );
    }
    // A variant of a kernel that was not run is left for the user to check.
    if let Err(error) = place.check_variants() {
        complain(&error, None);
    }
    Ok(true)
}

/// Returns the description in a scenario.
fn description(file: &Path, row: &str) -> String {
    let text = files::text(file, files::SCENARIO).unwrap_or_default();
    let all = scenario::read_all(file, &text, &given_programs()).unwrap_or_default();
    let own = all.into_iter().find(|scenario| scenario.label() == row);
    own.map(|scenario| scenario.description).unwrap_or_default()
}
