//! Checking a tracepoint filter before the kernel does: for perf events the kernel says `EINVAL`
//! and nothing more.
//!
//! ```text
//! or        = and { "||" and }
//! and       = unary { "&&" unary }
//! unary     = "!" unary | "(" or ")" | predicate
//! predicate = field operator value        operator: == != < <= > >= & ~
//! ```
//! The reference is `process_preds()` and `parse_pred()`, `kernel/trace/trace_events_filter.c`.

mod error;
mod tokens;

pub use error::FilterError;
use tokens::{Token, tokens};

use crate::matching::numeral;
use crate::scenario::nearest;
use perf_records::format::{Content, Extent, Field, Format, Shape};

/// Checks a filter against the format of its event.
///
/// # Errors
/// The first thing that the kernel would not take, or that holds for nothing or not in all
/// programs.
pub fn check(text: &str, format: &Format) -> Result<(), FilterError> {
    parse(text, format, false)
}

/// Checks a filter of a scenario, which must decide the same in every run.
///
/// # Errors
/// The first thing that the kernel would not take, or that hangs on the machine.
pub(super) fn check_of_scenario(text: &str, format: &Format) -> Result<(), FilterError> {
    parse(text, format, true)
}

fn parse(text: &str, format: &Format, is_of_scenario: bool) -> Result<(), FilterError> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        length: text.chars().count(),
        format,
        is_of_scenario,
    };
    parser.or(0)?;
    match parser.peek() {
        None => Ok(()),
        Some(_) => Err(parser.syntax("`&&`, `||` or the end")),
    }
}

struct Parser<'a> {
    tokens: Vec<(usize, Token)>,
    at: usize,
    length: usize,
    format: &'a Format,
    is_of_scenario: bool,
}

// The kernel's own limit is its stack of operators; real filters have far fewer parentheses.
const DEEPEST: usize = 32;

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn here(&self) -> usize {
        self.tokens
            .get(self.at)
            .map_or(self.length + 1, |(at, _)| *at)
    }

    fn syntax(&self, expected: &'static str) -> FilterError {
        let found = self
            .peek()
            .map_or_else(|| "the end".to_owned(), ToString::to_string);
        FilterError::Syntax {
            at: self.here(),
            expected,
            found,
        }
    }

    fn take(&mut self, operator: &str) -> bool {
        let there = matches!(self.peek(), Some(Token::Operator(found)) if *found == operator);
        self.at += usize::from(there);
        there
    }

    fn or(&mut self, depth: usize) -> Result<(), FilterError> {
        self.and(depth)?;
        while self.take("||") {
            self.and(depth)?;
        }
        Ok(())
    }

    fn and(&mut self, depth: usize) -> Result<(), FilterError> {
        self.unary(depth)?;
        while self.take("&&") {
            self.unary(depth)?;
        }
        Ok(())
    }

    fn unary(&mut self, depth: usize) -> Result<(), FilterError> {
        if depth > DEEPEST {
            return Err(self.syntax("fewer parentheses"));
        }
        if self.take("!") {
            return self.unary(depth + 1);
        }
        if self.take("(") {
            self.or(depth + 1)?;
            return if self.take(")") {
                Ok(())
            } else {
                Err(self.syntax("`)`"))
            };
        }
        self.predicate()
    }

    fn predicate(&mut self) -> Result<(), FilterError> {
        let at = self.here();
        let Some(Token::Word(word)) = self.peek().cloned() else {
            return Err(self.syntax("a field"));
        };
        let kind = self.kind(at, &word)?;
        self.at += 1;
        let operator_at = self.here();
        let operator = match self.peek() {
            Some(Token::Operator(op @ ("==" | "!=" | "<" | "<=" | ">" | ">=" | "&" | "~"))) => *op,
            _ => return Err(self.syntax("an operator such as `==`")),
        };
        let fits = match kind {
            Kind::Number(_) => operator != "~",
            Kind::String => matches!(operator, "==" | "!=" | "~"),
            Kind::Cpus => matches!(operator, "==" | "!=" | "&"),
            Kind::Other(_) => false,
        };
        if !fits {
            let what = kind.what();
            let operator = operator.to_owned();
            return Err(FilterError::Operator {
                at: operator_at,
                operator,
                field: word,
                what,
            });
        }
        self.at += 1;
        self.value((at, &word), operator, kind)
    }

    fn value(
        &mut self,
        (field_at, field): (usize, &str),
        operator: &str,
        kind: Kind,
    ) -> Result<(), FilterError> {
        let at = self.here();
        let Some(token) = self.peek().cloned() else {
            return Err(self.syntax("a value"));
        };
        let (fits, expected) = match (kind, &token) {
            // A set of CPUs, from Linux 6.7 on (Documentation/trace/events.rst).
            (Kind::Number(_), Token::Word(word)) if word.starts_with("CPUS{") => {
                (matches!(operator, "==" | "!=" | "&"), "a number")
            }
            (Kind::Number(_), Token::Word(word)) if number(word).is_none() => (false, "a number"),
            (Kind::Number(kind), Token::Word(word)) => {
                let number = number(word).unwrap_or_default();
                let is_below_0 = number < 0 || operator != "&" && number > i128::from(i32::MAX);
                if kind.is_in_register && is_below_0 {
                    return Err(FilterError::Register {
                        at,
                        field: field.to_owned(),
                    });
                }
                if !kind.is_signed && (number < 0 || operator == "<" && number == 0) {
                    return Err(FilterError::NoSign {
                        at,
                        field: field.to_owned(),
                        found: match operator {
                            "<" => format!("< {word}"),
                            _ => word.clone(),
                        },
                    });
                }
                if self.is_of_scenario && kind.is_task && number > 1 {
                    return Err(FilterError::OfMachine {
                        at: field_at,
                        field: field.to_owned(),
                    });
                }
                (kind.holds(number), "a number that its type holds")
            }
            (Kind::Number(_), _) => (false, "a number"),
            (Kind::String, token) => (matches!(token, Token::Text(_)), "a string in quotes"),
            (_, Token::Word(word)) => {
                let is_one = word.starts_with("CPUS{") || number(word).is_some();
                (is_one, "CPUs")
            }
            _ => (false, "CPUs"),
        };
        if !fits {
            return Err(FilterError::Value {
                at,
                field: field.to_owned(),
                expected,
                found: token.to_string(),
            });
        }
        self.at += 1;
        Ok(())
    }

    fn kind(&self, at: usize, word: &str) -> Result<Kind, FilterError> {
        if let "COMM" | "comm" = word {
            return Ok(Kind::String);
        }
        if word == "CPU" {
            return Ok(Kind::Number(Number {
                bytes: 4,
                is_signed: false,
                is_in_register: false,
                is_task: false,
            }));
        }
        let (name, suffix) = word.split_once('.').unwrap_or((word, ""));
        let Some(field) = self.format.field(name) else {
            let known = self.format.common.iter().chain(&self.format.fields);
            let nearest = nearest(name, known.map(|field| field.name.as_str())).map(str::to_owned);
            return Err(FilterError::NoField {
                at,
                field: name.to_owned(),
                nearest,
            });
        };
        if suffix != "ustring" {
            return Ok(Kind::of(field));
        }
        match self.is_of_scenario {
            true => Err(FilterError::NotThere {
                at,
                field: name.to_owned(),
            }),
            false => Ok(Kind::String),
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Number(Number),
    String,
    Cpus,
    Other(&'static str),
}

/// A number as the kernel's filter compares it: by the sign and the size that the format says,
/// which of an argument of a call are those of a register.
#[derive(Clone, Copy)]
struct Number {
    bytes: usize,
    is_signed: bool,
    /// Whether it is an argument of a call, which is narrower than its register and may be below 0.
    is_in_register: bool,
    /// Whether it is the number of a task.
    is_task: bool,
}

impl Number {
    /// Whether the type has a value of these bits.
    fn holds(self, number: i128) -> bool {
        let bits = 8 * u32::try_from(self.bytes.clamp(1, 8)).unwrap_or(8);
        number < 1 << bits && -number <= 1 << (bits - 1)
    }
}

impl Kind {
    fn of(field: &Field) -> Self {
        match field.shape {
            Shape::Integer(integer) => Self::Number(Number {
                bytes: field.size,
                is_signed: field.signed,
                is_in_register: integer.signed && integer.width < integer.slot,
                is_task: field.is_pid() || field.name == "common_pid",
            }),
            Shape::Pointer(_) => Self::Number(Number {
                bytes: field.size,
                is_signed: false,
                is_in_register: false,
                is_task: false,
            }),
            Shape::Block(Extent::Fixed | Extent::DataLoc | Extent::RelLoc, Content::Text) => {
                Self::String
            }
            Shape::Block(_, Content::CpuMask) => Self::Cpus,
            Shape::Block(..) => Self::Other("no number and no string"),
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::String => "a string",
            Self::Cpus => "a set of CPUs",
            Self::Other(what) => what,
        }
    }
}

/// A number as the kernel reads it (`kstrtoull()`): decimal, hexadecimal behind `0x`, octal behind
/// a 0.
fn number(word: &str) -> Option<i128> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let is_plain = digits.starts_with(|c: char| c.is_ascii_digit());
    is_plain.then(|| numeral(word)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXEC: &str = include_str!("../../harness/fixtures/payloads/sched.sched_process_exec.txt");
    const SWITCH: &str = include_str!("../../harness/fixtures/payloads/sched.sched_switch.txt");

    fn format(capture: &str) -> Format {
        let at = capture.find("\nname: ").unwrap();
        perf_records::format::parse(capture.get(at + 1..).unwrap()).unwrap()
    }

    fn complaint(capture: &str, filter: &str) -> String {
        check(filter, &format(capture)).unwrap_err().to_string()
    }

    #[test]
    fn what_the_kernel_takes_is_taken() {
        for filter in [
            "prev_prio < 120",
            "prev_prio<120&&next_pid!=0",
            "!(prev_comm == \"sh\" || prev_comm ~ \"cat*\")",
            "common_pid > 0x10 && prev_state & 0x1",
            "COMM == \"bash\" && CPU == 1",
            "prev_prio == -1",
            "prev_prio == 0xffffffff",
            "CPU & CPUS{0-1,3}",
        ] {
            assert_eq!(check(filter, &format(SWITCH)), Ok(()), "{filter}");
        }
        assert_eq!(check("filename ~ '*/true'", &format(EXEC)), Ok(()));
    }

    #[test]
    fn an_unknown_field_names_the_nearest() {
        let error = check("prev_pri < 3", &format(SWITCH)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "at character 1: the event has no field `prev_pri`"
        );
        assert_eq!(error.hint().as_deref(), Some("did you mean `prev_prio`?"));
    }

    #[test]
    fn operators_and_values_must_suit_the_field() {
        assert_eq!(
            complaint(SWITCH, "prev_comm > 3"),
            "at character 11: `>` cannot be used on `prev_comm`, which is a string"
        );
        assert_eq!(
            complaint(SWITCH, "prev_prio ~ 3"),
            "at character 11: `~` cannot be used on `prev_prio`, which is a number"
        );
        assert_eq!(
            complaint(SWITCH, "prev_prio == high"),
            "at character 14: `prev_prio` is compared with a number, not with `high`"
        );
        assert_eq!(
            complaint(SWITCH, "prev_prio > 0x100000000"),
            "at character 13: `prev_prio` is compared with a number that its type holds, not with `0x100000000`"
        );
        assert_eq!(
            complaint(SWITCH, "prev_comm == sh"),
            "at character 14: `prev_comm` is compared with a string in quotes, not with `sh`"
        );
    }

    #[test]
    fn what_the_kernel_compares_without_a_sign_is_never_below_0() {
        let exec = EXEC.replace("signed:1", "signed:0");
        let error = check("old_pid == -100", &format(&exec)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "at character 12: the kernel's filter takes `old_pid` for a number without a sign, so it is never -100"
        );
        assert!(complaint(&exec, "old_pid < 0").ends_with("so it is never < 0"));
        assert_eq!(check("old_pid > 0", &format(&exec)), Ok(()));
    }

    #[test]
    fn a_register_is_compared_with_no_number_below_0() {
        const OPENAT: &str =
            include_str!("../../harness/fixtures/payloads/syscalls.sys_enter_openat.txt");
        for filter in ["dfd == -100", "dfd == 0xffffff9c"] {
            let error = check(filter, &format(OPENAT)).unwrap_err();
            assert!(matches!(error, FilterError::Register { .. }), "{error}");
        }
        assert_eq!(
            check("dfd == 3 && flags & 0x80000000", &format(OPENAT)),
            Ok(())
        );
    }

    #[test]
    fn a_filter_of_a_scenario_hangs_on_no_number_of_the_machine_and_on_no_memory() {
        let of_scenario = |filter: &str| check_of_scenario(filter, &format(EXEC));
        for filter in ["pid == 2", "pid > 300", "common_pid != 17"] {
            assert_eq!(check(filter, &format(EXEC)), Ok(()), "{filter}");
            let error = of_scenario(filter).unwrap_err();
            assert!(matches!(error, FilterError::OfMachine { .. }), "{error}");
        }
        assert_eq!(of_scenario("pid != 0 && pid > 0"), Ok(()));
        let error = of_scenario("filename.ustring ~ \"*x*\"").unwrap_err();
        assert!(matches!(error, FilterError::NotThere { .. }), "{error}");
    }

    #[test]
    fn wrong_grammar_says_where_and_what_was_expected() {
        for (filter, expected) in [
            ("", "at character 1: expected a field, found the end"),
            (
                "prev_prio",
                "at character 10: expected an operator such as `==`, found the end",
            ),
            (
                "prev_prio ==",
                "at character 13: expected a value, found the end",
            ),
            (
                "(prev_prio == 1",
                "at character 16: expected `)`, found the end",
            ),
            (
                "prev_prio == 1 next_prio == 2",
                "at character 16: expected `&&`, `||` or the end, found `next_prio`",
            ),
            (
                "prev_comm == \"x",
                "at character 14: expected a closing quote, found the end",
            ),
            ("é == 1", "at character 1: the event has no field `é`"),
            (
                "%",
                "at character 1: expected a field or a value, found `%`",
            ),
        ] {
            assert_eq!(complaint(SWITCH, filter), expected, "{filter}");
        }
        let deep = format!("{}prev_prio == 1", "(".repeat(100_000));
        assert!(complaint(SWITCH, &deep).contains("fewer parentheses"));
    }
}
