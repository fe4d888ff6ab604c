//! Errors as a person reads them.

use perf_records::units::shown;
use std::error::Error;
use std::io;
use std::sync::Arc;

/// An error and all its causes in one line, each said once. What they quote may have lines of its
/// own, each of which is marked; nothing in it steers a terminal.
///
/// ```
/// let cause = std::io::Error::from_raw_os_error(2);
/// assert_eq!(perf_live::errors::chain(&cause), "no such file or directory");
/// ```
#[must_use]
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = readable(error);
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {}", readable(error));
        cause = error.source();
    }
    text
}

/// The text of an error; of the system's own without the number that the standard library adds.
fn readable(error: &(dyn Error + 'static)) -> String {
    let shared = error.downcast_ref::<Arc<io::Error>>().map(AsRef::as_ref);
    let system = error
        .downcast_ref::<io::Error>()
        .or(shared)
        .and_then(io::Error::raw_os_error);
    match system {
        Some(number) => nix::errno::Errno::from_raw(number).desc().to_lowercase(),
        None => {
            let text = error.to_string();
            let lines: Vec<_> = text.split('\n').map(shown).collect();
            lines.join("\n  | ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot do it")]
    struct Outer(#[source] Arc<io::Error>);

    #[test]
    fn every_cause_is_said_once_and_without_numbers() {
        let outer = Outer(Arc::new(io::Error::from_raw_os_error(libc::EPERM)));
        assert_eq!(chain(&outer), "cannot do it: operation not permitted");
        let hostile = io::Error::other("`a\u{1b}[2J\npass  all\r`");
        assert_eq!(chain(&hostile), "`a\\u{1b}[2J\n  | pass  all\\r`");
        let plain = io::Error::other("something else");
        assert_eq!(chain(&plain), "something else");
    }
}
