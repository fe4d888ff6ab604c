//! Where a trace begins, and what of it is shown, by the marks of its scenario.

use crate::matching::{Mark, Scene, Unmarked};
use crate::plan::Marks;
use crate::trace::{Deed, Normalised, Stretch, Trace, View};
use crate::verdict::{About, Finding};
use syscall_model::Signatures;

/// Leaves out what lies before the mark that a trace starts behind, and has the view show the
/// section that the snapshot is of.
///
/// A mark that is not there speaks against the run; one of a section does so where the section is
/// judged.
pub(super) fn apply(
    marks: &Marks,
    trace: &mut Trace,
    view: &mut View,
    signatures: &Signatures<'_>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(mark) = &marks.since {
        let whole = trace.normalise(view, signatures);
        match find(mark, &whole) {
            Ok(deed) => {
                trace.cut(Stretch::from(deed.left), &whole);
                // Whoever did nothing behind it is not shown.
                view.stretch = Some(Stretch::from(0));
            }
            Err(Unmarked::Not(why)) => {
                findings.push(Finding::missed(
                    About::Events,
                    format!("`trace.since`: {why}"),
                ));
            }
            Err(Unmarked::Unknown(why)) => {
                findings.push(Finding::unknown(
                    About::Events,
                    format!("`trace.since`: {why}"),
                ));
            }
        }
    }
    let shown = marks.shown.as_ref();
    if let Some((from, to)) = shown.and_then(|name| marks.sections.get(name)) {
        let whole = trace.normalise(view, signatures);
        let found = find(from, &whole).and_then(|from| Ok((from, find(to, &whole)?)));
        view.stretch = found.ok().map(|(from, to)| Stretch {
            after: from.left,
            before: Some(to.entered),
        });
    }
    findings
}

fn find<'a>(mark: &Mark, trace: &'a Normalised) -> Result<&'a Deed, Unmarked> {
    mark.find(&Scene::new(&trace.in_order()))
}
