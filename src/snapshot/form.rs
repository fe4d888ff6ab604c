//! Parses the form of a snapshot file: a header between two rules, and the text.

/// Why a text is no snapshot in insta's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// There is no header.
    #[error("line 1: a snapshot begins with a line `---`")]
    NoHeader,
    /// The header has no end.
    #[error("line {0}: the header does not end: a second line `---` is missing")]
    NoEnd(usize),
    /// The snapshot's contents are in another file.
    #[error("line {0}: it is no text snapshot")]
    NotText(usize),
}

/// Returns the text after the header. insta reads the same, but reports older forms on standard
/// error and panics at some values in a header; none of those values is needed here.
pub(super) fn body(text: &str) -> Result<&str, FormError> {
    let mut rest = text.split_inclusive('\n');
    if rest.next().map(str::trim_end) != Some(RULE) {
        return Err(FormError::NoHeader);
    }
    let mut number = 1_usize;
    let mut at = text.find('\n').map_or(text.len(), |end| end + 1);
    for line in rest {
        number += 1;
        at += line.len();
        match line.trim_end() {
            RULE => return Ok(text.get(at..).unwrap_or_default()),
            "snapshot_kind: binary" => return Err(FormError::NotText(number)),
            _ => {}
        }
    }
    Err(FormError::NoEnd(number))
}

/// The line before and after a header.
const RULE: &str = "---";
