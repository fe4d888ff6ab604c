//! The files of the repository.

use super::source::Source;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Its root folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
        .to_owned()
}

/// One file, by its path from the root.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every file that is text, but for git's and cargo's own; read once.
fn files() -> &'static [Source] {
    static FILES: LazyLock<Vec<Source>> = LazyLock::new(find);
    &FILES
}

fn find() -> Vec<Source> {
    let root = root();
    let mut sources = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default();
            if path.is_symlink() || name == ".git" || name == "target" {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                let path = path.strip_prefix(&root).expect("a path below the root");
                sources.push(Source::new(path.to_string_lossy().into_owned(), text));
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    mark_tests(&mut sources);
    sources
}

/// All of them.
pub(crate) fn all() -> Vec<&'static Source> {
    files().iter().collect()
}

/// The Rust files below folders.
pub(crate) fn rust(folders: &[&str]) -> Vec<&'static Source> {
    let is_below = |source: &&Source| {
        source.is_rust() && folders.iter().any(|folder| source.path.starts_with(folder))
    };
    let sources: Vec<_> = files().iter().filter(is_below).collect();
    assert!(!sources.is_empty(), "no sources below {folders:?}");
    sources
}

/// Files that are modules under `#[cfg(test)]`, and all below them, are tests.
fn mark_tests(sources: &mut [Source]) {
    let mut tests = Vec::new();
    for source in sources.iter() {
        let path = Path::new(&source.path);
        let folder = match path.file_name().and_then(|name| name.to_str()) {
            Some("lib.rs" | "main.rs" | "mod.rs") => path.parent().unwrap_or(path).to_owned(),
            _ => path.with_extension(""),
        };
        tests.extend(source.test_modules.iter().map(|module| folder.join(module)));
    }
    for source in sources {
        let stem = Path::new(&source.path).with_extension("");
        if tests.iter().any(|test| stem.starts_with(test)) {
            source.be_test();
        }
    }
}
