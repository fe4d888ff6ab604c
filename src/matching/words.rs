//! Steps in the words of the file.

use super::Matcher;

/// `openat: { path: a, returns: $fd }`.
pub(super) fn of_matcher(matcher: &Matcher) -> String {
    if matcher.fields.is_empty() {
        return matcher.word.clone();
    }
    let fields = matcher.fields.iter();
    let fields: Vec<String> = fields
        .map(|(word, test)| format!("{word}: {test}"))
        .collect();
    format!("{}: {{ {} }}", matcher.word, fields.join(", "))
}
