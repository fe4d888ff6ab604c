//! Scenarios whose files change while the kernels run.

use trace_harness::matrix::Matrix;
use trace_harness::run::{Item, Whole, whole};

/// Makes those no pass on any kernel: not all of them have run the same. `before` is what the files
/// were before the first of them ran.
pub(super) fn unsettle(matrix: &mut Matrix, items: &[Item], before: &Whole) {
    for item in items {
        let now = whole(std::slice::from_ref(item)).unwrap_or_default();
        if now.get(&item.name) == before.get(&item.name) {
            continue;
        }
        for column in &mut matrix.columns {
            let why = "its file changed while the kernels ran, and not all have run the same";
            column.did_not_end(&item.name, why);
        }
    }
}
