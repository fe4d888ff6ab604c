//! Chooses the folder in which kernels are kept.

use perf_records::units::shown_path;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// There is no folder to keep kernels in.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The environment names none.
    #[error(
        "there is no folder to keep kernels in: none of HARNESS_CACHE, XDG_CACHE_HOME and HOME is set"
    )]
    Unnamed,
    /// It could not be made.
    #[error("cannot make `{}` to keep kernels in", shown_path(.folder))]
    Make {
        /// The folder.
        folder: PathBuf,
        /// The error of making it.
        source: io::Error,
    },
}

impl CacheError {
    /// What can be done about it.
    #[must_use]
    pub fn hint(&self) -> String {
        "name a folder in HARNESS_CACHE; otherwise it is `harness` in XDG_CACHE_HOME, or in `.cache` of HOME".to_owned()
    }
}

/// Returns the folder, and makes it if necessary.
pub(super) fn folder() -> Result<PathBuf, CacheError> {
    let folder = named(|name| std::env::var_os(name)).ok_or(CacheError::Unnamed)?;
    match std::fs::create_dir_all(&folder) {
        Ok(()) => Ok(folder),
        Err(source) => Err(CacheError::Make { folder, source }),
    }
}

fn named(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    set("HARNESS_CACHE")
        .or_else(|| Some(set("XDG_CACHE_HOME")?.join("harness")))
        .or_else(|| Some(set("HOME")?.join(".cache/harness")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_variable_that_is_set_names_it() {
        let with = |set: &'static [(&str, &str)]| {
            named(move |name| {
                let found = set.iter().find(|(known, _)| *known == name)?;
                Some(found.1.into())
            })
        };
        assert_eq!(with(&[]), None);
        assert_eq!(
            with(&[("HOME", "/h")]).unwrap(),
            PathBuf::from("/h/.cache/harness")
        );
        assert_eq!(
            with(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")]).unwrap(),
            PathBuf::from("/x/harness")
        );
        assert_eq!(
            with(&[
                ("XDG_CACHE_HOME", ""),
                ("HARNESS_CACHE", "/c"),
                ("HOME", "/h")
            ])
            .unwrap(),
            PathBuf::from("/c")
        );
    }
}
