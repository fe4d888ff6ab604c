//! Faults with their places.

use super::File;
use crate::scenario::diagnostic::Diagnostic;
use crate::scenario::faults::{FaultSpec, WrittenFault};
use crate::scenario::key_path::KeyPath;

impl File<'_> {
    /// Each fault at its place; none of them has a capture, as no event comes before it is decided.
    pub(super) fn faults(
        &self,
        written: Option<Vec<WrittenFault>>,
    ) -> Result<Vec<FaultSpec>, Diagnostic> {
        let at = KeyPath::root().key("faults");
        let Some(written) = written else {
            return Ok(Vec::new());
        };
        if written.is_empty() {
            return Err(self.empty(&at, "write { fsync: { error: EIO } }, or leave it out"));
        }
        let faults = written.into_iter().enumerate();
        let faults = faults.map(|(index, WrittenFault(fault))| {
            let holder = at.clone().index(index);
            FaultSpec {
                step: fault.step.below(holder.clone()),
                until: fault.until.map(|until| until.below(holder)),
                ..fault
            }
        });
        let faults: Vec<FaultSpec> = faults.collect();
        for step in faults
            .iter()
            .flat_map(|fault| [Some(&fault.step), fault.until.as_ref()])
            .flatten()
        {
            let mut fields = step.fields.iter();
            if let Some((name, _)) = fields.find(|(_, test)| !test.captures().is_empty()) {
                let at = step.field_at(name);
                let complaint = self.complaint(&at, "a fault has no captures");
                return Err(complaint.with_help("say what the field must be"));
            }
        }
        Ok(faults)
    }
}
