//! Refuses a test that no value passes for how it is written: a trace has `$DIR` in place of the
//! working directory, and a path of it has no `..`.

use super::field_tests::{Fault, Named};
use super::fields::FieldKind;
use crate::matching::climbs;
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
            Test::Is(Literal::Text(text)) => {
                let fault = self.of_length(text, key("equals"));
                fault.or_else(|| self.of_text(text, climbs(text.as_bytes()), key("equals")))
            }
            Test::Prefix(text) | Test::Glob(text) => {
                let is_prefix = matches!(test, Test::Prefix(_));
                let at = key(if is_prefix { "prefix" } else { "glob" });
                // What the last part begins with may be another name: `..data`.
                let parts = text.rsplit_once('/').map_or("", |(parts, _)| parts);
                let fault = is_prefix.then(|| self.of_length(text, at.clone()));
                let climbs = climbs(parts.as_bytes());
                fault.flatten().or_else(|| self.of_text(text, climbs, at))
            }
            Test::Contains(all) => {
                let at = key("contains");
                let mut each = all.iter().enumerate();
                each.find_map(|(place, text)| {
                    let at = at.clone().index(place);
                    let fault = self.of_length(text, at.clone());
                    fault.or_else(|| self.of_text(text, false, at))
                })
            }
            Test::Regex(regex) => {
                let text = regex.as_str().trim_start_matches('^').replace("\\/", "/");
                self.of_text(&text, false, key("regex"))
            }
            Test::Any | Test::Capture(_) | Test::Is(Literal::Number(_)) | Test::Range(..) => None,
        }
    }

    fn of_length(self, text: &str, at: KeyPath) -> Option<Fault> {
        let is_too_long = self.is_program && text.len() > MOST_OF_NAME;
        is_too_long.then(|| Fault {
            message: format!(
                "the kernel has {MOST_OF_NAME} bytes of a program's name, so none is ever `{}`",
                text.escape_debug()
            ),
            help: Some("its path is in `execve: { path: ... }`".to_owned()),
            at,
        })
    }

    fn of_text(self, text: &str, climbs: bool, at: KeyPath) -> Option<Fault> {
        let shown = text.escape_debug();
        if let (true, Some(rest)) = (self.has_own_directory, below_directory(text)) {
            return Some(Fault {
                message: format!(
                    "a trace has `$DIR` in place of {INSIDE}, the working directory, so nothing is ever `{shown}`"
                ),
                help: Some(format!("write {:?}", format!("$DIR{rest}"))),
                at,
            });
        }
        (self.leads && climbs).then(|| Fault {
            message: format!("a path is compared by where it leads, so none is ever `{shown}`"),
            help: Some(SPELLED.to_owned()),
            at,
        })
    }
}

/// What follows the working directory in a text that begins with it.
fn below_directory(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(INSIDE)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}
