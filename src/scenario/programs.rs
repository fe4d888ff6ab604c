//! `${CARGO_BIN_EXE_save}`: a program that a test has just built, named as cargo names it.
//!
//! The program is laid into the working directory like a file with `from`, under its own name, and
//! the reference becomes `./save`: snapshots are the same wherever the target folder is.

use super::diagnostic::{Diagnostic, Source};
use super::key_path::{KeyPath, Segment};
use super::matrix::PROSE;
use super::model::Scenario;
use super::nearest::nearest;
use super::places::Places;
use super::workload::{FileSource, FileSpec};
use serde_yaml::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the names of such variables begin with.
const PREFIX: &str = "CARGO_BIN_EXE_";

/// The programs that scenarios may refer to: each name, as in cargo's `[[bin]]`, and the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programs(BTreeMap<String, PathBuf>);

/// The programs that a scenario refers to outside of `from`, each with its first reference.
pub(super) type Uses = BTreeMap<String, KeyPath>;

impl Programs {
    /// Those of an environment, from its variables `CARGO_BIN_EXE_<name>`; paths are relative to
    /// `directory`.
    pub fn of(
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        directory: &Path,
    ) -> Self {
        let named = environment.into_iter().filter_map(|(name, file)| {
            let name = name.to_str()?.strip_prefix(PREFIX)?.to_owned();
            let is_name = !matches!(name.as_str(), "" | "." | "..") && !name.contains('/');
            (is_name && !file.is_empty()).then(|| (name, directory.join(file)))
        });
        Self(named.collect())
    }

    /// Replaces the references in a scenario's values, but for those in `from`.
    ///
    /// # Errors
    /// The first reference to a program that is not given.
    pub(super) fn put(
        &self,
        source: &Source,
        places: &Places,
        values: &mut Value,
    ) -> Result<Uses, Diagnostic> {
        let mut uses = Uses::new();
        // Most files have none.
        if source.text().contains(PREFIX) {
            self.put_below(&KeyPath::root(), values, &mut uses)
                .map_err(|(at, name)| self.unknown(source, places, &at, &name))?;
        }
        Ok(uses)
    }

    /// Recurses no deeper than the depth that the places were built with.
    fn put_below(
        &self,
        at: &KeyPath,
        value: &mut Value,
        uses: &mut Uses,
    ) -> Result<(), (KeyPath, String)> {
        match value {
            Value::String(text) => {
                let replaced = self.put_into(at, text, uses)?;
                if !is_source(at) {
                    *text = replaced;
                }
            }
            Value::Sequence(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.put_below(&at.clone().index(index), item, uses)?;
                }
            }
            Value::Mapping(entries) => {
                for (key, value) in entries {
                    let Some(key) = key.as_str() else { continue };
                    let is_top = at.segments().is_empty();
                    if !(is_top && PROSE.contains(&key)) {
                        self.put_below(&at.clone().key(key), value, uses)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn put_into(
        &self,
        at: &KeyPath,
        text: &str,
        uses: &mut Uses,
    ) -> Result<String, (KeyPath, String)> {
        let mut result = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("${") {
            result.push_str(before);
            let reference = behind.split_once('}');
            let named =
                reference.and_then(|(name, behind)| Some((name.strip_prefix(PREFIX)?, behind)));
            let Some((name, behind)) = named else {
                result.push_str("${");
                rest = behind;
                continue;
            };
            // The text itself.
            if before.ends_with('$') {
                result.push_str(&format!("{{{PREFIX}{name}}}"));
                rest = behind;
                continue;
            }
            if !self.0.contains_key(name) {
                return Err((at.clone(), name.to_owned()));
            }
            if !is_source(at) {
                uses.entry(name.to_owned()).or_insert_with(|| at.clone());
            }
            result.push_str("./");
            result.push_str(name);
            rest = behind;
        }
        result.push_str(rest);
        Ok(result)
    }

    fn unknown(&self, source: &Source, places: &Places, at: &KeyPath, name: &str) -> Diagnostic {
        let message = format!("`{PREFIX}{name}` is not set in the environment");
        let near = nearest(name, self.0.keys().map(String::as_str));
        let help = match near {
            Some(near) => format!("is `${{{PREFIX}{near}}}` meant?"),
            None => format!(
                "cargo sets it for a package's tests; by hand: {PREFIX}{name}=target/debug/{name} harness run ..."
            ),
        };
        let complaint = source.diagnostic(places.range_of(source, at), message);
        complaint.with_help(help)
    }

    /// Lays what a scenario refers to into its working directory, and that of its baseline.
    ///
    /// # Errors
    /// A file of the author's that stands where a program is to be laid.
    pub(super) fn lay(&self, scenario: &mut Scenario, uses: &Uses) -> Result<(), Diagnostic> {
        let Scenario {
            workload, baseline, ..
        } = scenario;
        for workload in [Some(workload), baseline.as_mut()].into_iter().flatten() {
            for file in workload.files.values_mut() {
                if let FileSource::From(from) = &mut file.source
                    && let Some(given) = self.referred(from)
                {
                    from.clone_from(given);
                }
            }
        }
        let laid = |workload: &mut super::Workload, name: &str, file: &PathBuf| {
            let source = FileSource::From(file.clone());
            let spec = workload
                .files
                .entry(name.into())
                .or_insert_with(|| FileSpec {
                    source: source.clone(),
                    mode: None,
                    owner: None,
                });
            spec.source == source
        };
        for (name, at) in uses {
            let Some(file) = self.0.get(name) else {
                continue;
            };
            let in_workload = laid(&mut scenario.workload, name, file);
            let baseline = scenario.baseline.as_mut();
            if !in_workload || !baseline.is_none_or(|own| laid(own, name, file)) {
                let message =
                    format!("`{PREFIX}{name}` is laid out as `{name}`, and so is another file");
                let help = "give the file of `files` another name".to_owned();
                return Err(scenario.complaint(at, message, Some(help)));
            }
        }
        Ok(())
    }

    /// The file of a `from` that is a reference and nothing else.
    fn referred(&self, from: &Path) -> Option<&PathBuf> {
        let name = from.to_str()?.strip_prefix("${")?.strip_suffix('}')?;
        self.0.get(name.strip_prefix(PREFIX)?)
    }
}

/// Whether a value says where a file's bytes come from.
fn is_source(at: &KeyPath) -> bool {
    let key = |segment: &Segment, word: &str| matches!(segment, Segment::Key(key) if key == word);
    match at.segments() {
        [workload, files, _, from] => {
            (key(workload, "workload") || key(workload, "baseline"))
                && key(files, "files")
                && key(from, "from")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_dollar_makes_a_text_of_a_reference() {
        let programs = Programs(BTreeMap::from([("save".to_owned(), "/x/save".into())]));
        let put = |text: &str| {
            let mut uses = Uses::new();
            let put = programs.put_into(&KeyPath::root(), text, &mut uses);
            (put.ok(), uses.len())
        };
        let to = |text: &str| Some(text.to_owned());
        assert_eq!(put("a ${CARGO_BIN_EXE_save}"), (to("a ./save"), 1));
        let text = "a ${CARGO_BIN_EXE_save} ${CARGO_BIN_EXE_none}";
        assert_eq!(put(&text.replace('$', "$$")), (to(text), 0));
        assert_eq!(put("${CARGO_BIN_EXE_none}").0, None);
    }
}
