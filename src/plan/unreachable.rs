//! Refuses a test that no value passes for how it is written: a trace has `$DIR` in place of the
//! working directory, and a path of it has no `..`.

use super::field_tests::{Fault, Named};
use super::fields::FieldKind;
use crate::matching::climbs;
use crate::scenario::{KeyPath, Literal, SandboxSpec, Scenario, Test};
use perf_live::sandbox::INSIDE;
use syscall_model::files::FileKind;

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
        is_descriptor: named.field.kind == FieldKind::File,
        is_program: named.word == "program",
        is_address: named.word == "address" && !named.event.contains(':'),
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
    /// Whether it may be a word for a kind of files.
    is_descriptor: bool,
    /// Whether it is the name that the kernel has of a program.
    is_program: bool,
    /// Whether it is the structure of a socket's address.
    is_address: bool,
}

impl Asked {
    fn fault(self, test: &Test, at: &KeyPath) -> Option<Fault> {
        let key = |key: &str| at.clone().key(key);
        if let Some(inner) = test.one_of() {
            return self.fault(inner, &key("one_of"));
        }
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
                let fault = fault.or_else(|| self.of_shell(text, key("equals")));
                let fault = fault.or_else(|| self.of_kind(text, key("equals")));
                let fault = fault.or_else(|| self.of_address(text, key("equals")));
                fault.or_else(|| self.of_text(text, climbs(text.as_bytes()), key("equals")))
            }
            Test::Prefix(text) | Test::Glob(text) => {
                let is_prefix = matches!(test, Test::Prefix(_));
                let at = key(if is_prefix { "prefix" } else { "glob" });
                // What the last part begins with may be another name: `..data`.
                let parts = text.rsplit_once('/').map_or("", |(parts, _)| parts);
                let fault = is_prefix.then(|| self.of_length(text, at.clone()));
                if self.leads && !is_prefix && has_alternatives(text) {
                    return Some(Fault {
                        message: "a glob has no alternatives in braces".to_owned(),
                        help: Some("write a list of globs".to_owned()),
                        at,
                    });
                }
                let climbs = climbs(parts.as_bytes());
                let fault = fault.flatten().or_else(|| self.of_shell(text, at.clone()));
                fault.or_else(|| self.of_text(text, climbs, at))
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
            Test::Regex(regex) if is_behind_the_end(regex.as_str()) => Some(Fault {
                message: "`$` is the end of the text, so nothing is ever behind it".to_owned(),
                help: Some("write `\\$` for the letter, as in `\\$DIR`".to_owned()),
                at: key("regex"),
            }),
            Test::Regex(regex) => {
                let text = regex.as_str().trim_start_matches('^').replace("\\/", "/");
                self.of_text(&text, false, key("regex"))
            }
            Test::Any | Test::Capture(_) | Test::Is(Literal::Number(_)) => None,
            Test::Range(..) | Test::Words(_) => None,
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

    /// A path as a shell would read it.
    fn of_shell(self, text: &str, at: KeyPath) -> Option<Fault> {
        let shown = text.escape_debug();
        (self.leads && is_for_a_shell(text)).then(|| Fault {
            message: format!("no shell reads `{shown}`: it would be a file of that very name"),
            help: Some(format!(
                "write the path itself; a file that is called so is `./{shown}`"
            )),
            at,
        })
    }

    /// An address as no trace writes it.
    fn of_address(self, text: &str, at: KeyPath) -> Option<Fault> {
        let is_one = text.starts_with('{') || matches!(text, "NULL" | "0") || text.contains("0x");
        (self.is_address && !is_one).then(|| Fault {
            message: format!(
                "`address` is the text of a structure, so it is never `{}`",
                text.escape_debug()
            ),
            help: Some("write `ip` and `port`, or `unix`".to_owned()),
            at,
        })
    }

    /// What is near to a word for a kind of files, and would be a file of the working directory.
    fn of_kind(self, text: &str, at: KeyPath) -> Option<Fault> {
        let is_near = self.is_descriptor && NEAR.contains(&text);
        is_near.then(|| Fault {
            message: format!("no kind of descriptors is called `{text}`"),
            help: Some(format!(
                "kinds are {}; a file that is called so is `./{text}`",
                FileKind::words().collect::<Vec<_>>().join(", ")
            )),
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

/// Whether something must stand behind the end of a text: `$DIR/a`. A `$` is none in a class or
/// behind a backslash.
fn is_behind_the_end(regex: &str) -> bool {
    let mut letters = regex.chars().peekable();
    let mut classes = 0;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            '[' => {
                classes += 1;
                letters.next_if_eq(&'^');
                // In front it is a letter.
                letters.next_if_eq(&']');
            }
            ']' if classes > 0 => classes -= 1,
            '$' if classes == 0 => {
                let behind = letters.peek();
                if behind.is_some_and(|c| c.is_alphanumeric() || *c == '/') {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// What is near to a word for a kind of descriptors.
const NEAR: [&str; 5] = ["tcp4", "tcp6", "udp4", "udp6", "socketpair"];

/// Whether a path of the working directory is refused without `./` in front of it, as who writes it
/// may mean something else.
pub(crate) fn may_be_meant_otherwise(path: &str) -> bool {
    is_for_a_shell(path) || NEAR.contains(&path)
}

/// Whether a path begins as a shell would read it, from a home or by a variable. Such a file of the
/// working directory is `./~`.
fn is_for_a_shell(text: &str) -> bool {
    let is_variable = text.strip_prefix('$').is_some_and(|rest| {
        let is_directory = rest == "DIR" || rest.starts_with("DIR/") || rest.starts_with("DIR*");
        !is_directory && rest.starts_with(|c: char| c.is_ascii_uppercase() || c == '{')
    });
    text == "~" || text.starts_with("~/") || is_variable
}

/// Whether a glob has alternatives in braces, as those of a shell have.
fn has_alternatives(glob: &str) -> bool {
    let inside = glob
        .split_once('{')
        .and_then(|(_, rest)| rest.split_once('}'));
    inside.is_some_and(|(inside, _)| inside.contains(',')) && !glob.starts_with("./")
}

/// What follows the working directory in a text that begins with it.
fn below_directory(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(INSIDE)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}
