//! Turns the trace of a run into what its scenario sees of it.

use crate::matching::{Mark, Scene, Unmarked, add_spans};
use crate::plan::{Marks, Plan};
use crate::trace::{Deed, Normalised, Stretch, Trace, View};
use crate::verdict::{About, Finding};
use syscall_model::Signatures;

/// Normalises a whole trace, with the spans of its scenario. All traces that are judged come
/// through here.
///
/// Calls before the starting mark of a trace are left out, and the view shows the section that the
/// snapshot is of. A missing starting mark counts against the run; a missing mark of a section does
/// so when that section is judged.
pub(super) fn normalised(
    plan: &Plan,
    trace: &mut Trace,
    mut view: View,
    signatures: &Signatures<'_>,
) -> (Normalised, Vec<Finding>) {
    let Marks {
        since,
        may_come_again,
        sections,
        shown,
        ..
    } = &plan.marks;
    let mut normalised = trace.normalise(&view, signatures);
    let mut findings = Vec::new();
    if let Some(mark) = since {
        let said = |why| format!("`trace.since`: {why}");
        let found = match may_come_again {
            true => mark.find_first(&Scene::new(&normalised.in_order())),
            false => find(mark, &normalised),
        };
        match found {
            Ok(deed) => {
                trace.cut(Stretch::from(deed.left), &normalised);
                // Processes without a call after the mark are not shown.
                view.stretch = Some(Stretch::from(0));
                normalised = trace.normalise(&view, signatures);
            }
            Err(Unmarked::Not(why)) => {
                findings.push(Finding::unreached(About::Events, said(why)));
            }
            Err(Unmarked::Unknown(why)) => {
                findings.push(Finding::unknown(About::Events, said(why)));
            }
        }
    }
    if let Some((from, to)) = shown.as_ref().and_then(|name| sections.get(name)) {
        let found = find(from, &normalised).and_then(|from| Ok((from, find(to, &normalised)?)));
        let stretch = found.ok().map(|(from, to)| Stretch {
            after: from.left,
            before: Some(to.entered),
        });
        if stretch != view.stretch {
            view.stretch = stretch;
            normalised = trace.normalise(&view, signatures);
        }
    }
    add_spans(&plan.spans, &mut normalised);
    (normalised, findings)
}

fn find<'a>(mark: &Mark, trace: &'a Normalised) -> Result<&'a Deed, Unmarked> {
    mark.find(&Scene::new(&trace.in_order()))
}
