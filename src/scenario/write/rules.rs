//! A file of rules for `harness check`.

use super::file::exit_word;
use super::scalar::{flow, line};
use perf_live::units::ExitKind;
use std::fmt::Write;

/// A value of a rule, and what is said of it in a comment.
type Remarked = (String, Option<String>);

/// What a new file of rules says: all that a command did is allowed, and what its globs take.
#[derive(Clone, Debug, Default)]
pub struct RulesDraft {
    /// What the rules are for.
    pub description: String,
    /// How the command ended, where that is not with status 0.
    pub exit: Option<ExitKind>,
    /// The keys of `confined` with their values, and what is said of a value.
    pub worlds: Vec<(&'static str, Vec<Remarked>)>,
    /// What was done and has no rule, in lines.
    pub remarks: Vec<String>,
}

impl RulesDraft {
    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::from(
            "# Written by `harness check --learn`: what the command did. Globs allow what is like it,\n\
             # so read them, and learn on a cold clone: caches hide what is read and written.\n\
             # For tests by name there is `tests`.\n",
        );
        for remark in &self.remarks {
            let _always_fits = writeln!(text, "# {}", perf_records::units::shown(remark));
        }
        let _always_fits = writeln!(text, "description: {}", line(&self.description));
        text.push_str("expect:\n");
        if let Some(exit) = self.exit {
            let _always_fits = writeln!(text, "  exit: {}", exit_word(exit));
        }
        text.push_str("  confined:\n");
        for (key, values) in &self.worlds {
            if values.is_empty() {
                let none = if *key == "privileges" { "none" } else { "[]" };
                let _always_fits = writeln!(text, "    {key}: {none}");
                continue;
            }
            let _always_fits = writeln!(text, "    {key}:");
            for (value, remark) in values {
                let remark = remark.as_ref().map(|it| format!(" # {it}"));
                let remark = remark.unwrap_or_default();
                let _always_fits = writeln!(text, "      - {}{remark}", flow(value));
            }
        }
        text
    }
}
