//! What a check says in a scenario's words.

use serde_json::{Value, json};

/// Names of events, for [`Check::events`](crate::Check::events): one, or several.
///
/// ```
/// use harness_test::{Check, Events};
///
/// let one = Check::of("true").events("%file");
/// let two = Check::of("true").events(["fsync", "rename*"]);
/// let some = Check::of("true").events(["fsync"].into_iter().collect::<Events>());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Events(pub(crate) Vec<String>);

impl<S: Into<String>> FromIterator<S> for Events {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }
}

impl From<&str> for Events {
    fn from(name: &str) -> Self {
        [name].into_iter().collect()
    }
}

impl From<String> for Events {
    fn from(name: String) -> Self {
        [name].into_iter().collect()
    }
}

impl<S: Into<String>, const N: usize> From<[S; N]> for Events {
    fn from(names: [S; N]) -> Self {
        names.into_iter().collect()
    }
}

impl<S: Into<String>> From<Vec<S>> for Events {
    fn from(names: Vec<S>) -> Self {
        names.into_iter().collect()
    }
}

impl<S: AsRef<str>> From<&[S]> for Events {
    fn from(names: &[S]) -> Self {
        names.iter().map(AsRef::as_ref).collect()
    }
}

/// What a text or a file must be: a string is exactly that.
///
/// ```
/// use harness_test::{Check, Expected};
///
/// let check = Check::of("save")
///     .stdout("saved\n")
///     .stderr(Expected::matches("^warning: .*$"))
///     .files_after("config", Expected::contains("a = 2"))
///     .files_after("config.new", Expected::fields("exists: false"));
/// ```
#[derive(Clone, Debug)]
#[must_use = "it is judged only as part of a check"]
pub struct Expected(Written);

/// As it stands in a scenario.
#[derive(Clone, Debug)]
enum Written {
    /// Its texts are the ones that are meant.
    Json(Value),
    Fields(String),
}

impl Expected {
    /// It has this text somewhere.
    pub fn contains(text: impl Into<String>) -> Self {
        Self(Written::Json(json!({ "contains": plain(&text.into()) })))
    }

    /// It has a match of this regular expression, of the crate `regex`.
    pub fn matches(expression: impl Into<String>) -> Self {
        Self(Written::Json(
            json!({ "matches": plain(&expression.into()) }),
        ))
    }

    /// What is said of a file in a scenario's `files_after`, as YAML in one line:
    /// `kind: directory, mode: "0700"`, `exists: false`.
    pub fn fields(fields: impl AsRef<str>) -> Self {
        Self(Written::Fields(fields.as_ref().replace('\n', " ")))
    }

    /// YAML in one line. JSON is YAML.
    pub(crate) fn yaml(&self) -> String {
        match &self.0 {
            Written::Json(value) => yaml(value),
            Written::Fields(fields) => format!("{{ {fields} }}"),
        }
    }
}

/// A value of texts that mean themselves, as YAML in one line: JSON, but for the characters that
/// YAML does not take as they are.
pub(crate) fn yaml(value: &Value) -> String {
    let mut text = String::new();
    for c in value.to_string().chars() {
        let is_raw = c.is_ascii() && c != '\u{7f}'
            || !c.is_control()
                && !matches!(
                    c,
                    '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
                );
        match is_raw {
            true => text.push(c),
            // None of them has more than four digits.
            false => text.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    text
}

/// A text that refers to no program, whatever it looks like.
pub(crate) fn plain(text: &str) -> String {
    text.replace("${CARGO_BIN_EXE_", "$${CARGO_BIN_EXE_")
}

impl From<&str> for Expected {
    fn from(text: &str) -> Self {
        Self(Written::Json(json!(plain(text))))
    }
}

impl From<String> for Expected {
    fn from(text: String) -> Self {
        Self(Written::Json(json!(plain(&text))))
    }
}
