//! What is expected of a run as a whole.

use std::collections::BTreeMap;

use super::workload::{ancestors, fault_of_path};
use super::{File, captures};
use crate::scenario::counts::Difference;
use crate::scenario::diagnostic::Diagnostic;
use crate::scenario::expect::{Expect, WrittenExpect};
use crate::scenario::files_after::FileAfter;
use crate::scenario::flexible::Entries;
use crate::scenario::key_path::KeyPath;
use crate::scenario::patterns::{WrittenCounts, WrittenExpectations};
use crate::scenario::steps::{Expectations, NumberOf, StepSpec};
use perf_live::sandbox::FileType;
use perf_records::glob::is_glob;

impl File<'_> {
    /// What stands under `expect`.
    pub(super) fn expect(&self, written: WrittenExpect) -> Result<Expect, Diagnostic> {
        let at = KeyPath::root().key("expect");
        let events = WrittenExpectations {
            sequence: written.sequence,
            any_order: written.any_order,
            never: written.never,
            only: written.only,
            count: written.count,
            between: written.between,
        };
        let events = self.expectations(&at, events)?;
        let sections = match written.sections {
            Some(sections) => self.expected_sections(&at.clone().key("sections"), sections)?,
            None => BTreeMap::new(),
        };
        let confined = match written.confined {
            Some(confined) => {
                let help = "say what is allowed: { writes: [\"data/**\"], network: [] }";
                let at = at.clone().key("confined");
                Some(confined.read().ok_or_else(|| self.empty(&at, help))?)
            }
            None => None,
        };
        let delta = match written.delta {
            Some(delta) => self.delta(&at.clone().key("delta"), delta)?,
            None => Vec::new(),
        };
        captures::check(self, &events, &sections)?;
        let files_after = match written.files_after {
            Some(files) => self.files_after(&at.key("files_after"), files)?,
            None => Vec::new(),
        };
        Ok(Expect {
            exit: written.exit.map(|exit| exit.0),
            stdout: written.stdout,
            stderr: written.stderr,
            limit: written.limit.map(|limit| limit.0),
            events,
            sections,
            confined,
            delta,
            files_after,
        })
    }

    fn expected_sections(
        &self,
        at: &KeyPath,
        Entries(written): Entries<WrittenExpectations>,
    ) -> Result<BTreeMap<String, Expectations>, Diagnostic> {
        if written.is_empty() {
            return Err(self.empty(at, "name a section, or leave it out"));
        }
        let mut sections = BTreeMap::new();
        for (name, expectations) in written {
            let at = at.clone().key(&name);
            if expectations.is_empty() {
                let help = "say what is expected of the events of the section";
                return Err(self.empty(&at, help));
            }
            sections.insert(name, self.expectations(&at, expectations)?);
        }
        Ok(sections)
    }

    fn delta(
        &self,
        at: &KeyPath,
        written: WrittenCounts<Difference>,
    ) -> Result<Vec<NumberOf<StepSpec, Difference>>, Diagnostic> {
        let delta = self.counts(at, written)?;
        for NumberOf { step, .. } in &delta {
            captures::refuse(self, step, "two runs share no descriptors and no tasks")?;
        }
        Ok(delta)
    }

    pub(super) fn files_after(
        &self,
        at: &KeyPath,
        Entries(files): Entries<FileAfter>,
    ) -> Result<Vec<(String, FileAfter)>, Diagnostic> {
        if files.is_empty() {
            return Err(self.empty(at, "name a file, or leave it out"));
        }
        let is_no_folder = |file: &FileAfter| {
            let holds = file.content.is_some() || file.size.is_some();
            let is_other = file.kind.is_some_and(|kind| kind != FileType::Directory);
            !file.exists || holds || is_other || file.target.is_some()
        };
        let mut taken: Option<&str> = None;
        for (name, file) in &files {
            let key = at.clone().key(name).key_itself();
            if let Some(fault) = fault_of_path(name) {
                return Err(self.complaint(&key, fault));
            }
            if let Some(all) = taken.filter(|_| is_glob(name)) {
                let message = format!("`{all}` before it takes every path that no key names");
                return Err(self
                    .complaint(&key, message)
                    .with_help(format!("put `{all}` last")));
            }
            if name == "**" {
                taken = Some(name);
            }
            let above = |folder: &str| {
                let mut files = files.iter();
                files.find(|(other, file)| other == folder && is_no_folder(file))
            };
            if file.exists
                && let Some((folder, _)) = ancestors(name).find_map(above)
            {
                let message = format!("`{}` is no folder here", folder.escape_debug());
                let complaint = self.complaint(&key, message);
                let at = self
                    .places
                    .range_of(self.source, &at.clone().key(folder).key_itself());
                return Err(complaint.with_related(at, "what it is stands here"));
            }
        }
        Ok(files)
    }
}
