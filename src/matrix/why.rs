//! Why a kernel has no results, so that each report can say it in its own way.

use super::kernel::Kernel;
use super::no_kernel::KernelError;
use super::trouble::GuestError;
use perf_live::errors::chain;
use std::fmt;

/// Why a kernel has no results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trouble {
    /// What happened, in a line that stands by itself.
    pub said: String,
    /// What was printed meanwhile.
    pub printed: Option<Printed>,
    /// What can be done about it.
    pub hint: Option<String>,
}

/// The lines that somebody printed, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// Whose they are, such as `the end of its console`.
    pub whose: &'static str,
    /// The lines.
    pub lines: Vec<String>,
}

impl Printed {
    /// The lines of a text; `None` if it has none.
    #[must_use]
    pub fn of(whose: &'static str, text: &str) -> Option<Self> {
        let lines: Vec<String> = text.trim().lines().map(str::to_owned).collect();
        (!lines.is_empty()).then_some(Self { whose, lines })
    }
}

impl Trouble {
    /// Of a guest that did not tell its command's end.
    #[must_use]
    pub fn of_guest(error: &GuestError, kernel: Option<&Kernel>) -> Self {
        let lines = error.console().map(|console| console.lines().to_vec());
        let is_empty = lines.as_ref().is_some_and(Vec::is_empty);
        let empty = if is_empty {
            "; its console is empty"
        } else {
            ""
        };
        let whose = "the end of its console";
        Self {
            said: format!("{}{empty}", chain(error)),
            printed: lines
                .filter(|_| !is_empty)
                .map(|lines| Printed { whose, lines }),
            hint: error.hint(kernel),
        }
    }

    /// Of a kernel that cannot be had.
    #[must_use]
    pub fn of_kernel(error: &KernelError) -> Self {
        Self {
            said: chain(error),
            printed: error.printed(),
            hint: error.hint(),
        }
    }

    /// What follows the line that stands by itself, a line each.
    pub fn more(&self) -> impl Iterator<Item = String> {
        let printed = self.printed.iter().flat_map(|printed| {
            let lines = printed.lines.iter().map(|line| format!("    {line}"));
            [format!("{}:", printed.whose)].into_iter().chain(lines)
        });
        let hint = self.hint.iter().map(|hint| format!("hint: {hint}"));
        printed.chain(hint)
    }
}

impl From<&str> for Trouble {
    fn from(said: &str) -> Self {
        said.to_owned().into()
    }
}

impl From<String> for Trouble {
    fn from(said: String) -> Self {
        Self {
            said,
            ..Self::default()
        }
    }
}

/// All of it; what was printed begins in the line of what happened.
impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)?;
        let mut between = match self.printed {
            Some(_) => "; ",
            None => "\n",
        };
        for line in self.more() {
            write!(f, "{between}{line}")?;
            between = "\n";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Console;

    fn died(lines: &[&str]) -> Trouble {
        let lines = lines.iter().map(ToString::to_string).collect();
        let console = Console::of_lines(lines);
        Trouble::of_guest(
            &GuestError::Died {
                was_up: true,
                console,
            },
            None,
        )
    }

    #[test]
    fn what_happened_is_a_sentence_without_what_was_printed_behind_it() {
        let trouble = died(&["a panic", "and more"]);
        assert_eq!(trouble.said, "the guest ended before its command did");
        assert_eq!(
            trouble.to_string(),
            "the guest ended before its command did; the end of its console:\n    a panic\n    and more"
        );
        let silent = died(&[]);
        let all = "the guest ended before its command did; its console is empty";
        assert_eq!(
            (silent.said.as_str(), silent.to_string()),
            (all, all.to_owned())
        );
        let hinted = Trouble {
            hint: Some("do it".to_owned()),
            ..Trouble::from("it broke")
        };
        assert_eq!(hinted.to_string(), "it broke\nhint: do it");
    }
}
