//! Chooses the folder in which kernels are kept.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// There is no folder to keep kernels in.
#[derive(Debug, thiserror::Error)]
#[error("cannot make a folder to keep kernels in")]
pub struct CacheError(#[source] io::Error);

impl CacheError {
    /// What can be done about it.
    #[must_use]
    pub fn hint(&self) -> String {
        "name a folder in HARNESS_CACHE; otherwise it is `harness` in XDG_CACHE_HOME, or in `.cache` of HOME".to_owned()
    }
}

/// Returns the folder, and makes it if necessary.
pub(super) fn folder() -> Result<PathBuf, CacheError> {
    let folder = named(|name| std::env::var_os(name)).ok_or_else(|| {
        let text = "none of HARNESS_CACHE, XDG_CACHE_HOME and HOME is set";
        CacheError(io::Error::other(text))
    })?;
    std::fs::create_dir_all(&folder).map_err(CacheError)?;
    Ok(folder)
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
