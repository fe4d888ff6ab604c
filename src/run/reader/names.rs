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
    let directory = setting.initial.directory.as_deref().unwrap_or_default();
    let programs = plan.programs.iter().flatten();
    let programs = programs.map(|name| match name.ends_with('/') {
        true => [&from_root(directory, name), &b"/"[..]].concat(),
        false => from_root(directory, name),
    });
    let tables = tables.over(Box::new(names), &exact_paths(plan, directory));
    tables.allow(programs.collect())
}

/// The paths that expectations write out, from the root.
pub(in crate::run) fn exact_paths(plan: &EventsPlan, directory: &[u8]) -> Vec<Vec<u8>> {
    let paths = plan.exact_paths.iter();
    paths.map(|path| from_root(directory, path)).collect()
}

/// A path that the author wrote, from the root, without empty parts and `.`.
fn from_root(directory: &[u8], path: &str) -> Vec<u8> {
    let own = path.strip_prefix("$DIR");
    let own = own.filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let (from, path) = match own {
        Some(rest) => (directory, rest),
        None if path.starts_with('/') => (&b""[..], path),
        None => (directory, path),
    };
    let mut whole = from.to_vec();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        whole.push(b'/');
        whole.extend_from_slice(part.as_bytes());
    }
    match whole.is_empty() {
        true => b"/".to_vec(),
        false => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_path_has_no_empty_part_and_no_dot() {
        for (path, whole) in [
            ("$DIR", "/w"),
            ("$DIR/", "/w"),
            (".", "/w"),
            ("./a//b/", "/w/a/b"),
            ("$DIR/./a", "/w/a"),
            ("$DIRT", "/w/$DIRT"),
            ("../a", "/w/../a"),
            ("/", "/"),
            ("/etc/", "/etc"),
        ] {
            assert_eq!(from_root(b"/w", path), whole.as_bytes(), "{path}");
        }
    }
}
