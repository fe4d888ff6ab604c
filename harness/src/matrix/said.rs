//! What a harness that runs on another kernel says: lines of JSON, messages, a status.

use crate::status;
use perf_records::units::shown_lines;

/// Adds what can be done about it.
pub(super) fn with_hint(text: String, hint: Option<String>) -> String {
    match hint {
        Some(hint) => format!("{text}\nhint: {hint}"),
        None => text,
    }
}

/// Whether `harness run` did its work, by its status; if not, what it printed.
pub(super) fn tell(status: i32, said: &[u8]) -> Result<(), String> {
    let is_verdict = [status::PASSED, status::FAILED, status::ALL_SKIPPED]
        .into_iter()
        .any(|known| i32::from(known) == status);
    if is_verdict {
        return Ok(());
    }
    let said = String::from_utf8_lossy(said);
    let said = said.trim();
    if said.is_empty() && status == i32::from(status::TROUBLE) {
        // A scenario was broken, which its cell shows.
        return Ok(());
    }
    let lines: String = shown_lines(said)
        .map(|line| format!("\n    {line}"))
        .collect();
    Err(format!(
        "`harness run` ended with status {status} there:{lines}"
    ))
}

/// Collects pieces into whole lines.
#[derive(Default)]
pub(super) struct Lines(Vec<u8>);

impl Lines {
    pub(super) fn take(&mut self, bytes: &[u8], hear: &mut dyn FnMut(&str)) {
        for byte in bytes {
            if *byte == b'\n' {
                hear(&String::from_utf8_lossy(&std::mem::take(&mut self.0)));
            } else {
                self.0.push(*byte);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_pieces_are_whole() {
        let (mut lines, mut heard) = (Lines::default(), Vec::new());
        for piece in ["a", "b\nc\n", "\n", "d"] {
            lines.take(piece.as_bytes(), &mut |line| heard.push(line.to_owned()));
        }
        assert_eq!(heard, ["ab", "c", ""]);
    }

    #[test]
    fn a_status_that_is_no_verdict_is_trouble() {
        assert_eq!(tell(1, b"warning"), Ok(()));
        assert_eq!(tell(99, b""), Ok(()));
        let told = tell(2, b"error: a\nb\n").unwrap_err();
        assert_eq!(
            told,
            "`harness run` ended with status 2 there:\n    error: a\n    b"
        );
    }
}
