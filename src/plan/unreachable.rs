//! Refuses a test that no value passes for how it is written: a trace has `$DIR` in place of the
//! working directory, and a path of it has no `..`.

use super::field_tests::{Fault, Named};
use super::fields::FieldKind;
use crate::scenario::{KeyPath, Literal, SandboxSpec, Scenario, Test};
use perf_live::sandbox::INSIDE;

/// What is wrong with the first test in `test` that can never hold. `at` is where it stands.
pub(super) fn fault(
    scenario: &Scenario,
    named: &Named<'_>,
    test: &Test,
    at: &KeyPath,
) -> Option<Fault> {
    let asked = Asked {
        has_own_directory: scenario.sandbox != SandboxSpec::None,
        leads: matches!(named.field.kind, FieldKind::Path | FieldKind::File),
        is_program: named.word == "program",
    };
    asked.fault(test, at)
}

const SPELLED: &str = "write where it leads, or { text: ... } for how the program spelled it";

/// The most bytes of a task's name: `TASK_COMM_LEN`, include/linux/sched.h, without its end.
const MOST_OF_NAME: usize = 15;

#[derive(Clone, Copy)]
struct Asked {
    /// Whether the working directory is where the sandbox has it.
    has_own_directory: bool,
    /// Whether a path is meant by where it leads.
    leads: bool,
    /// Whether it is the name that the kernel has of a program.
    is_program: bool,
}

impl Asked {
    fn fault(self, test: &Test, at: &KeyPath) -> Option<Fault> {
        let key = |key: &str| at.clone().key(key);
        match test {
            Test::OneOf(tests) => {
                let mut each = tests.iter().enumerate();
                each.find_map(|(place, test)| self.fault(test, &at.clone().index(place)))
            }
            Test::Not(test) => self.fault(test, &key("not")),
            Test::Spelled(test) => {
                let spelled = Self {
                    leads: false,
                    ..self
                };
                spelled.fault(test, &key("text"))
            }
            Test::Is(Literal::Text(text)) => self.of_text(text, key("equals")),
            Test::Prefix(text) => self.of_text(text, key("prefix")),
            Test::Glob(text) => self.of_pattern(text, "..", key("glob")),
            Test::Regex(regex) => {
                let text = regex.as_str().replace("\\/", "/");
                self.of_pattern(&text, "\\.\\.", key("regex"))
            }
            Test::Contains(all) => {
                let at = key("contains");
                let mut each = all.iter().enumerate();
                each.find_map(|(place, text)| self.of_text(text, at.clone().index(place)))
            }
            Test::Any | Test::Capture(_) | Test::Is(Literal::Number(_)) | Test::Range(..) => None,
        }
    }

    fn of_text(self, text: &str, at: KeyPath) -> Option<Fault> {
        if self.is_program && text.len() > MOST_OF_NAME {
            return Some(Fault {
                message: format!(
                    "the kernel has {MOST_OF_NAME} bytes of a program's name, so none is ever `{}`",
                    text.escape_debug()
                ),
                help: Some("its path is in `execve: { path: ... }`".to_owned()),
                at,
            });
        }
        self.of_pattern(text, "..", at)
    }

    /// The same of a pattern, in which `climbs` is the folder above.
    fn of_pattern(self, text: &str, climbs: &str, at: KeyPath) -> Option<Fault> {
        let shown = text.escape_debug();
        if self.has_own_directory && names_inside(text) {
            let written = text.replacen(INSIDE, "$DIR", 1);
            return Some(Fault {
                message: format!(
                    "a trace has `$DIR` in place of {INSIDE}, the working directory, so nothing is ever `{shown}`"
                ),
                help: Some(format!("write {written:?}")),
                at,
            });
        }
        let has_one = self.leads && text.split('/').any(|part| part == climbs);
        has_one.then(|| Fault {
            message: format!("a path is compared by where it leads, so none is ever `{shown}`"),
            help: Some(SPELLED.to_owned()),
            at,
        })
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
