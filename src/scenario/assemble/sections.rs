//! Checks marks and sections, and what refers to them.

use std::collections::BTreeMap;

use super::{File, captures};
use crate::scenario::diagnostic::Diagnostic;
use crate::scenario::flexible::Entries;
use crate::scenario::key_path::KeyPath;
use crate::scenario::model::{Mark, SectionSpec};
use crate::scenario::nearest::did_you_mean;
use crate::scenario::trace::Since;

impl File<'_> {
    /// What stands under `trace.since`.
    pub(super) fn since(&self, written: Since) -> Result<Since, Diagnostic> {
        let at = KeyPath::root().key("trace").key("since").key("step");
        Ok(match written {
            Since::Mark(mark) => Since::Mark(self.mark(at, mark)?),
            Since::Exec | Since::Main => written,
        })
    }

    /// What stands under `sections`.
    pub(super) fn sections(
        &self,
        written: Option<Entries<SectionSpec>>,
    ) -> Result<BTreeMap<String, SectionSpec>, Diagnostic> {
        let Some(Entries(written)) = written else {
            return Ok(BTreeMap::new());
        };
        let at = KeyPath::root().key("sections");
        if written.is_empty() {
            return Err(self.empty(&at, "name a section and its marks, or leave it out"));
        }
        let mut sections = BTreeMap::new();
        for (name, SectionSpec { from, to }) in written {
            let at = at.clone().key(&name);
            if name.trim().is_empty() {
                return Err(self.complaint(&at.key_itself(), "the name of a section is empty"));
            }
            let from_at = at.clone().key("from");
            let to_at = at.key("to");
            if let (Mark::Written(from), Mark::Written(to)) = (&from, &to)
                && from == to
            {
                let complaint = self.complaint(&to_at, "both marks are the same");
                let complaint = complaint.with_help(
                    "each is written once: let the workload write another one at the end",
                );
                let related = self.places.range_of(self.source, &from_at);
                return Err(complaint.with_related(related, "the section begins with it"));
            }
            let from = self.mark(from_at, from)?;
            let to = self.mark(to_at, to)?;
            sections.insert(name, SectionSpec { from, to });
        }
        Ok(sections)
    }

    /// Refuses sections that are named and not declared, or declared and not named.
    ///
    /// `spoken_of` are the names, each with its place.
    pub(super) fn check_sections<'a>(
        &self,
        sections: &BTreeMap<String, SectionSpec>,
        spoken_of: impl Iterator<Item = (&'a str, KeyPath)>,
    ) -> Result<(), Diagnostic> {
        let mut silent: Vec<&String> = sections.keys().collect();
        for (name, at) in spoken_of {
            if !sections.contains_key(name) {
                let message = format!("unknown section `{}`", name.escape_debug());
                let complaint = self.complaint(&at, message);
                let known = sections.keys().map(String::as_str);
                return Err(
                    complaint.with_help(did_you_mean(name, known).unwrap_or_else(|| {
                        "declare it under `sections`, with its marks `from` and `to`".to_owned()
                    })),
                );
            }
            silent.retain(|section| *section != name);
        }
        match silent.first() {
            Some(name) => {
                let at = KeyPath::root().key("sections").key(*name).key_itself();
                let message = format!(
                    "nothing is expected of the section `{}`",
                    name.escape_debug()
                );
                let help =
                    "name it under `expect.sections` or as `snapshot.section`, or leave it out";
                Err(self.complaint(&at, message).with_help(help))
            }
            None => Ok(()),
        }
    }

    fn mark(&self, at: KeyPath, written: Mark) -> Result<Mark, Diagnostic> {
        let Mark::Step(step) = written else {
            return Ok(written);
        };
        let step = step.below(at);
        captures::refuse(self, &step, "marks are looked for before everything else")?;
        Ok(Mark::Step(step))
    }
}
