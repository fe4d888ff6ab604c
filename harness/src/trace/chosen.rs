//! Which calls are shown, by `-P`, `-z`, `-Z` and strace's qualifiers `status=` and `fd=` of `-e`.

use super::{Arguments, Trouble, other};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use syscall_model::{Choice, Descriptors, Endings, Paths};

/// Returns what the options choose.
///
/// # Errors
/// A class of outcomes or a descriptor that there is not; no working directory to make a path
/// absolute by.
pub(super) fn choice(arguments: &Arguments) -> Result<Choice, Trouble> {
    let mut choice = Choice {
        paths: paths(&arguments.paths).map_err(|error| other(error, None))?,
        ..Choice::default()
    };
    if arguments.failed_only {
        choice.endings = Endings {
            failed: true,
            ..Endings::NONE
        };
    }
    if arguments.successful_only {
        choice.endings = Endings {
            successful: true,
            ..Endings::NONE
        };
    }
    for set in &arguments.events {
        let Some((qualifier, words)) = set.split_once('=') else {
            continue;
        };
        let read = match qualifier {
            STATUS => endings(words).map(|endings| choice.endings = endings),
            it if FDS.contains(&it) => descriptors(words).map(|of| choice.descriptors = Some(of)),
            _ => continue,
        };
        read.map_err(|why| Trouble::Usage(format!("-e {set}: {why}")))?;
    }
    Ok(choice)
}

/// Whether a set of `-e` is read here.
pub(super) fn is_choice(set: &str) -> bool {
    let qualifier = set.split_once('=').map(|(qualifier, _)| qualifier);
    qualifier.is_some_and(|it| it == STATUS || FDS.contains(&it))
}

const STATUS: &str = "status";
const FDS: [&str; 4] = ["fd", "fds", "trace-fd", "trace-fds"];

/// The words of a set, and whether it is negated: `!a,b`.
fn negatable(words: &str) -> (bool, impl Iterator<Item = &str>) {
    let (is_negated, words) = match words.strip_prefix('!') {
        Some(words) => (true, words),
        None => (false, words),
    };
    (is_negated, words.split(',').filter(|word| !word.is_empty()))
}

fn endings(words: &str) -> Result<Endings, String> {
    let (is_negated, words) = negatable(words);
    let mut endings = if is_negated {
        Endings::default()
    } else {
        Endings::NONE
    };
    for word in words {
        let to = !is_negated;
        match word {
            "successful" => endings.successful = to,
            "failed" => endings.failed = to,
            "unfinished" => endings.unfinished = to,
            "unavailable" => endings.unavailable = to,
            "all" => {
                endings = if to {
                    Endings::default()
                } else {
                    Endings::NONE
                }
            }
            "none" => {
                endings = if to {
                    Endings::NONE
                } else {
                    Endings::default()
                }
            }
            "detached" => {
                return Err("a call under way when the trace ends is `unfinished`".to_owned());
            }
            _ => {
                return Err(format!(
                    "`{word}` is none of successful, failed, unfinished, unavailable, all, none"
                ));
            }
        }
    }
    Ok(endings)
}

fn descriptors(words: &str) -> Result<Descriptors, String> {
    let (are_negated, words) = negatable(words);
    let mut descriptors = Descriptors {
        are_negated,
        ..Descriptors::default()
    };
    for word in words {
        match (
            word,
            word.parse::<u32>()
                .ok()
                .and_then(|number| i32::try_from(number).ok()),
        ) {
            ("all", _) => {
                return Ok(Descriptors {
                    are_negated: !are_negated,
                    ..Descriptors::default()
                });
            }
            ("none", _) => {}
            (_, Some(number)) => {
                descriptors.numbers.insert(number);
            }
            (_, None) => return Err(format!("`{word}` is no number of a descriptor")),
        }
    }
    Ok(descriptors)
}

/// Returns the paths of `-P`, each as written, as it is from here, and as it resolves: a call or a
/// descriptor may name each of these. A path need not exist yet.
fn paths(written: &[PathBuf]) -> io::Result<Paths> {
    let mut paths = Paths::default();
    let mut add = |path: &Path| paths.add(path.as_os_str().as_bytes());
    for path in written {
        from_here(path)?.iter().for_each(|path| add(path));
    }
    for path in written.iter().filter(|path| path.is_relative()) {
        paths.add_word(path.as_os_str().as_bytes());
    }
    Ok(paths)
}

/// A path as it is from here, and as it resolves where it exists.
pub(super) fn from_here(path: &Path) -> io::Result<Vec<PathBuf>> {
    let absolute = std::path::absolute(path)?;
    Ok([absolute].into_iter().chain(path.canonicalize()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_outcomes_are_read_as_strace_reads_them() {
        let failed = Endings {
            failed: true,
            ..Endings::NONE
        };
        assert_eq!(endings("failed"), Ok(failed));
        let not_failed = Endings {
            failed: false,
            ..Endings::default()
        };
        assert_eq!(endings("!failed"), Ok(not_failed));
        assert_eq!(endings("successful,unfinished,unavailable"), Ok(not_failed));
        assert_eq!(endings("all"), Ok(Endings::default()));
        assert_eq!(endings("!all"), endings("none"));
        assert!(endings("fail").is_err_and(|why| why.contains("`fail` is none of")));
        assert!(endings("detached").is_err());
    }

    #[test]
    fn descriptors_are_read_as_strace_reads_them() {
        let set = |words| {
            descriptors(words)
                .map(|of| (of.numbers.into_iter().collect::<Vec<_>>(), of.are_negated))
        };
        assert_eq!(set("3,0"), Ok((vec![0, 3], false)));
        assert_eq!(set("!3"), Ok((vec![3], true)));
        assert_eq!(set("all"), Ok((vec![], true)));
        assert_eq!(set("all,3"), set("3,all"));
        assert_eq!(set("!all"), Ok((vec![], false)));
        assert_eq!(set("none"), Ok((vec![], false)));
        assert!(set("-1").is_err() && set("stdin").is_err() && set("4294967296").is_err());
    }
}
