//! The rule that allows in the next run what was done in this one.

use super::acts::Thing;
use super::table::{PROCESSES, Realm};
use super::told::shown;
use crate::matching::drawn::{any_port, varying_behind};
use crate::scenario::literal;
use crate::trace::{Deed, Value};
use perf_records::glob::escaped;
use std::collections::BTreeSet;

/// Folders in which nothing is meant to last (`hier(7)`).
const TEMPORARY: [&str; 2] = ["/tmp/", "/var/tmp/"];

/// The names that a run took away again, as rules have them.
pub(super) struct Gone(BTreeSet<String>);

impl Gone {
    pub(super) fn of(deeds: &[&Deed]) -> Self {
        let names = deeds.iter().filter_map(|deed| {
            let word = match &*deed.name {
                "unlink" | "unlinkat" | "rmdir" => "path",
                name if name.starts_with("rename") => "from",
                _ => return None,
            };
            let failed = matches!(
                deed.returns.as_ref().map(|part| &part.value),
                Some(Value::Error(_) | Value::Never)
            );
            let part = deed.part(word).filter(|_| !failed)?;
            shown(Realm::Writes, &Thing::File(part), None)
        });
        Self(names.collect())
    }

    /// A rule for what was done, in words of [`shown`]: of a name that does not last what was drawn
    /// is left open, as is a port that the kernel chose.
    pub(super) fn rule(&self, realm: Realm, shown: &str) -> String {
        if realm == Realm::Privileges {
            return shown.to_owned();
        }
        match shown.strip_prefix("unix:") {
            Some(path) => format!("unix:{}", literal(&self.glob(path))),
            None if realm == Realm::Network => any_port(shown),
            None => literal(&self.glob(shown)),
        }
    }

    fn glob(&self, path: &str) -> String {
        let processes = PROCESSES.trim_end_matches('*');
        if path.starts_with(processes) || path.starts_with('@') {
            return path.to_owned();
        }
        let mut above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        let is_gone = self.0.contains(path) || above.any(|folder| self.0.contains(folder));
        let lasts = !is_gone && !TEMPORARY.iter().any(|folder| path.starts_with(folder));
        let parts = path.split('/').map(|part| match lasts {
            true => escaped(part),
            false => varying_behind(part).unwrap_or_else(|| escaped(part)),
        });
        parts.collect::<Vec<_>>().join("/")
    }
}
