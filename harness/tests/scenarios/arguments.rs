//! The arguments that libtest takes and libtest-mimic does not: several filters, `--no-capture`,
//! and the number of threads from the environment.

use std::ffi::OsString;

use libtest_mimic::Arguments;

/// Names of trials, or parts of names; none accept all.
#[derive(Debug, Default)]
pub(crate) struct Filters {
    words: Vec<String>,
    exact: bool,
}

impl Filters {
    /// Whether a trial of this name is wanted.
    pub(crate) fn accept(&self, name: &str) -> bool {
        let matches = |word: &String| {
            if self.exact {
                name == word
            } else {
                name.contains(word)
            }
        };
        self.words.is_empty() || self.words.iter().any(matches)
    }
}

/// The options whose value may be the next word.
const WITH_VALUE: [&str; 6] = [
    "--skip",
    "--test-threads",
    "--logfile",
    "--format",
    "--color",
    "-Z",
];

/// Reads the arguments, the program's name first. A single filter stays with libtest-mimic, which
/// counts what it filters out; several are returned.
///
/// Ends the process where they are wrong or ask for help, as libtest does.
pub(crate) fn read(words: impl IntoIterator<Item = OsString>) -> (Arguments, Filters) {
    let mut options = Vec::new();
    let mut filters = Vec::new();
    let mut words = words.into_iter();
    options.extend(words.next());
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--no-capture") => options.push("--nocapture".into()),
            Some(option) if WITH_VALUE.contains(&option) => {
                options.push(word);
                options.extend(words.next());
            }
            Some(filter) if !filter.starts_with('-') => filters.push(filter.to_owned()),
            _ => options.push(word),
        }
    }
    if let [only] = filters.as_slice() {
        options.push(only.into());
        filters.clear();
    }
    let mut arguments = Arguments::from_iter(options);
    if arguments.test_threads.is_none() {
        arguments.test_threads = threads();
    }
    let filters = Filters {
        words: filters,
        exact: arguments.exact,
    };
    (arguments, filters)
}

/// `RUST_TEST_THREADS`, which stands behind `--test-threads`.
fn threads() -> Option<usize> {
    let value = std::env::var("RUST_TEST_THREADS").ok()?;
    let threads = value.parse().ok().filter(|threads| *threads > 0);
    Some(
        threads.unwrap_or_else(|| {
            panic!("RUST_TEST_THREADS is `{value}`, should be a positive integer")
        }),
    )
}
