//! Refuses a test that no value passes for how it is written: a trace has `$DIR` in place of the
//! working directory, and a path of it has no `..`.

use super::field_tests::Fault;
use super::fields::{Field, FieldKind};
use crate::scenario::{KeyPath, Literal, SandboxSpec, Scenario, Test};
use perf_live::sandbox::INSIDE;

/// What is wrong with the first test in `test` that can never hold. `at` is where it stands.
pub(super) fn fault(scenario: &Scenario, field: Field, test: &Test, at: &KeyPath) -> Option<Fault> {
    let is_path = matches!(field.kind, FieldKind::Path | FieldKind::File);
    let asked = Asked {
        has_own_directory: scenario.sandbox != SandboxSpec::None,
        leads: is_path,
    };
    asked.fault(test, at)
}

#[derive(Clone, Copy)]
struct Asked {
    /// Whether the working directory is where the sandbox has it.
    has_own_directory: bool,
    /// Whether a path is meant by where it leads.
    leads: bool,
}

impl Asked {
    fn fault(self, test: &Test, at: &KeyPath) -> Option<Fault> {
        let texts = |texts: &[String], at: KeyPath| {
            let mut each = texts.iter().enumerate();
            each.find_map(|(place, text)| self.of_text(text, false, at.clone().index(place)))
        };
        match test {
            Test::OneOf(tests) => {
                let mut each = tests.iter().enumerate();
                each.find_map(|(place, test)| self.fault(test, &at.clone().index(place)))
            }
            Test::Not(test) => self.fault(test, &at.clone().key("not")),
            Test::Spelled(test) => {
                let spelled = Self {
                    leads: false,
                    ..self
                };
                spelled.fault(test, &at.clone().key("text"))
            }
            Test::Is(Literal::Text(text)) => {
                self.of_text(text, self.leads, at.clone().key("equals"))
            }
            Test::Prefix(text) => self.of_text(text, self.leads, at.clone().key("prefix")),
            Test::Glob(text) => self.of_text(text, self.leads, at.clone().key("glob")),
            Test::Regex(regex) => self.of_text(regex.as_str(), false, at.clone().key("regex")),
            Test::Contains(all) => texts(all, at.clone().key("contains")),
            Test::Any | Test::Capture(_) | Test::Is(Literal::Number(_)) | Test::Range(..) => None,
        }
    }

    fn of_text(self, text: &str, leads: bool, at: KeyPath) -> Option<Fault> {
        if self.has_own_directory && names_inside(text) {
            let written = text.replacen(INSIDE, "$DIR", 1);
            return Some(Fault {
                message: format!(
                    "a trace has `$DIR` in place of {INSIDE}, the working directory, so nothing is ever `{}`",
                    text.escape_debug()
                ),
                help: Some(format!("write {written:?}")),
                at,
            });
        }
        if leads && text.split('/').any(|part| part == "..") {
            return Some(Fault {
                message: format!(
                    "a path is compared by where it leads, so none is ever `{}`",
                    text.escape_debug()
                ),
                help: Some(format!(
                    "write where that leads, or {{ text: {text:?} }} for how the program spelled it"
                )),
                at,
            });
        }
        None
    }
}

/// Whether a text has the working directory in it, and not only the beginning of another name.
fn names_inside(text: &str) -> bool {
    let mut behind = text.split(INSIDE).skip(1);
    behind.any(|rest| {
        rest.chars()
            .next()
            .is_none_or(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')))
    })
}
