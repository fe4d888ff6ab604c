//! Spans with their places.

use super::{File, captures};
use crate::scenario::diagnostic::Diagnostic;
use crate::scenario::flexible::Entries;
use crate::scenario::key_path::KeyPath;
use crate::scenario::spans::{SharedSpec, SpanSpec, WrittenSpan, check_name};
use crate::scenario::steps::StepSpec;

impl File<'_> {
    /// What `trace.spans` holds.
    pub(super) fn spans(
        &self,
        written: Option<Entries<WrittenSpan>>,
    ) -> Result<Vec<SpanSpec>, Diagnostic> {
        let Some(Entries(written)) = written else {
            return Ok(Vec::new());
        };
        let at = KeyPath::root().key("trace").key("spans");
        if written.is_empty() {
            return Err(self.empty(
                &at,
                "name a span, its `begin` and its `end`, or leave it out",
            ));
        }
        let written = written.into_iter();
        written
            .map(|(name, span)| self.span(&at, name, span))
            .collect()
    }

    fn span(&self, at: &KeyPath, name: String, span: WrittenSpan) -> Result<SpanSpec, Diagnostic> {
        let at = at.clone().key(&name);
        check_name(&name).map_err(|fault| self.complaint(&at.clone().key_itself(), fault))?;
        let thread = |at: KeyPath| SharedSpec {
            begin: "thread".to_owned(),
            end: "thread".to_owned(),
            begin_at: at.clone(),
            end_at: at,
        };
        Ok(SpanSpec {
            begin: self.end_of_span(at.clone().key("begin"), span.begin)?,
            end: self.end_of_span(at.clone().key("end"), span.end)?,
            key: match span.key {
                Some(key) => key.placed(&at.clone().key("key")),
                None => vec![thread(at.clone())],
            },
            name,
            at,
        })
    }

    fn end_of_span(&self, at: KeyPath, written: StepSpec) -> Result<StepSpec, Diagnostic> {
        let step = written.below(at);
        captures::refuse(self, &step, "spans are made before everything else")?;
        Ok(step)
    }
}
