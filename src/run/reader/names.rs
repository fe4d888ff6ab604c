//! Chooses which descriptors and which names of files are followed.

use super::super::Setting;
use crate::plan::EventsPlan;
use syscall_model::files::Tables;

/// Makes the tables of a run, on top of the files before it if the plan follows names.
pub(super) fn tables(plan: &EventsPlan, setting: &Setting) -> Tables {
    let tables = Tables::new(setting.initial.clone(), plan.watched);
    if !plan.watched.names {
        return tables;
    }
    let names = setting.names.clone().unwrap_or_default();
    tables.over(Box::new(names), &exact_paths(plan, setting))
}

/// The paths that expectations write out, from the root.
fn exact_paths(plan: &EventsPlan, setting: &Setting) -> Vec<Vec<u8>> {
    let directory = setting.initial.directory.clone().unwrap_or_default();
    let absolute = |path: &String| {
        if path.starts_with('/') {
            return path.clone().into_bytes();
        }
        let path = path.strip_prefix("$DIR").unwrap_or(path);
        let path = path.trim_start_matches('/');
        let path = path.strip_prefix("./").unwrap_or(path);
        [directory.as_slice(), b"/", path.as_bytes()].concat()
    };
    plan.exact_paths.iter().map(absolute).collect()
}
