//! The reader of expressions, by precedence.

use super::call;
use super::evaluate;
use super::expression::Expression;
use super::lexer::Token;
use super::number::{Number, Operator, Sign, Type};
use super::typed::{address, cast, element, named_type, recorded};
use crate::format::{Field, Format};

/// How deep brackets and operators may stand within each other. The kernel's formats stay below 40.
const DEEPEST: usize = 100;

/// How many operators may remain once what is constant has been computed: a chain of them is as
/// deep as it is long.
const MOST_OPERATORS: usize = 400;

/// The words not yet taken, and what they speak of.
pub(super) struct Parser<'a> {
    tokens: &'a [Token],
    format: &'a Format,
    depth: usize,
    operators: usize,
}

/// What is in the way of an expression's reading, in words.
pub(super) type Result<T> = std::result::Result<T, String>;

impl<'a> Parser<'a> {
    pub(super) fn new(tokens: &'a [Token], format: &'a Format) -> Self {
        Self {
            tokens,
            format,
            depth: 0,
            operators: 0,
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.tokens.is_empty()
    }

    pub(super) fn take(&mut self) -> Option<&'a Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    pub(super) fn takes(&mut self, mark: &str) -> bool {
        let is_next = self.nth_is(0, mark);
        if is_next {
            self.take();
        }
        is_next
    }

    fn nth_is(&self, at: usize, mark: &str) -> bool {
        matches!(self.tokens.get(at), Some(Token::Mark(found)) if *found == mark)
    }

    pub(super) fn expect(&mut self, mark: &str) -> Result<()> {
        if self.takes(mark) {
            Ok(())
        } else {
            Err(format!("no `{mark}` where one belongs"))
        }
    }

    /// Reads the name of a field, as the argument of `__get_str()` and similar functions.
    pub(super) fn field_name(&mut self) -> Result<&'a Field> {
        match self.take() {
            Some(Token::Word(name)) => self.field(name),
            _ => Err("no name of a field where one belongs".to_owned()),
        }
    }

    fn field(&self, name: &str) -> Result<&'a Field> {
        self.format
            .field(name)
            .ok_or_else(|| format!("the event has no field `{name}`"))
    }

    /// What `read` makes of the next argument; where it fails the argument is skipped.
    pub(super) fn or_skip<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Option<T> {
        let (tokens, depth) = (self.tokens, self.depth);
        let value = read(self);
        if value.is_err() {
            (self.tokens, self.depth) = (tokens, depth);
            self.skip_argument();
        }
        value.ok()
    }

    fn skip_argument(&mut self) {
        let mut open = 0_usize;
        while let Some(token) = self.tokens.first() {
            match token {
                Token::Mark("," | ")" | "]" | "}") if open == 0 => return,
                Token::Mark("(" | "[" | "{") => open = open.saturating_add(1),
                Token::Mark(")" | "]" | "}") => open = open.saturating_sub(1),
                _ => {}
            }
            self.take();
        }
    }

    /// An expression up to a comma or a closing bracket.
    pub(super) fn expression(&mut self) -> Result<Expression> {
        self.deeper(|parser| {
            let condition = parser.binary(0)?;
            if !parser.takes("?") {
                return Ok(condition);
            }
            // GNU C: `a ?: b` is `a ? a : b`. Choices within choices would double each time.
            let yes = match parser.takes(":") {
                true if condition.has_choice() => return Err("`:` behind a choice".to_owned()),
                true => condition.clone(),
                false => {
                    let yes = parser.expression()?;
                    parser.expect(":")?;
                    yes
                }
            };
            let no = parser.expression()?;
            Ok(match condition.constant() {
                Some(condition) if condition.is_true() => yes,
                Some(_) => no,
                None => Expression::Choice(Box::new([condition, yes, no])),
            })
        })
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Result<Expression>) -> Result<Expression> {
        if self.depth >= DEEPEST {
            return Err("brackets too deep".to_owned());
        }
        self.depth = self.depth.saturating_add(1);
        let expression = read(self);
        self.depth = self.depth.saturating_sub(1);
        expression
    }

    /// Operators that bind tighter than `above`, and their operands.
    fn binary(&mut self, above: u8) -> Result<Expression> {
        let mut left = self.unary()?;
        while let Some(Token::Mark(mark)) = self.tokens.first() {
            let Some((binds, operator)) = operator(mark).filter(|(binds, _)| *binds > above) else {
                break;
            };
            self.take();
            let right = self.binary(binds)?;
            let both = Box::new([left, right]);
            left = evaluate::folded(match operator {
                Some(operator) => Expression::Binary(operator, both),
                None => Expression::Logic(*mark == "&&", both),
            });
            if left.constant().is_none() {
                self.operators = self.operators.saturating_add(1);
                if self.operators > MOST_OPERATORS {
                    return Err("too many operators".to_owned());
                }
            }
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression> {
        self.deeper(|parser| {
            let sign = match parser.tokens.first() {
                Some(Token::Mark("-")) => Sign::Minus,
                Some(Token::Mark("~")) => Sign::Complement,
                Some(Token::Mark("!")) => Sign::Not,
                Some(Token::Mark("+")) => {
                    parser.take();
                    return parser.unary();
                }
                Some(Token::Mark("&")) => {
                    parser.take();
                    return address(parser.unary()?);
                }
                Some(Token::Mark("*")) => {
                    parser.take();
                    let of = parser.unary()?;
                    return element(of, Expression::Constant(Number::truth(false)));
                }
                Some(Token::Mark("(")) => match parser.cast_type()? {
                    Some((of, is_pointer)) => return Ok(cast(parser.unary()?, of, is_pointer)),
                    None => return parser.postfix(),
                },
                _ => return parser.postfix(),
            };
            parser.take();
            Ok(evaluate::folded(Expression::Sign(
                sign,
                Box::new(parser.unary()?),
            )))
        })
    }

    /// The type in brackets that stands next, if one does: nothing for a type that is not known,
    /// and whether it is a pointer's.
    fn cast_type(&mut self) -> Result<Option<(Option<Type>, bool)>> {
        let Some(end) = self
            .tokens
            .iter()
            .position(|token| *token == Token::Mark(")"))
        else {
            return Err("a bracket that does not end".to_owned());
        };
        let inner = self.tokens.get(1..end).unwrap_or_default();
        let is_type = matches!(inner.first(), Some(Token::Word(word)) if word != "REC")
            && inner
                .iter()
                .all(|token| matches!(token, Token::Word(_) | Token::Mark("*")));
        let after = self.tokens.get(end.saturating_add(1));
        let has_operand = !matches!(
            after,
            None | Some(Token::Mark("," | ")" | "]" | "}" | "?" | ":"))
        );
        if !is_type || !has_operand {
            return Ok(None);
        }
        self.tokens = self.tokens.get(end.saturating_add(1)..).unwrap_or_default();
        Ok(Some(named_type(inner)))
    }

    fn postfix(&mut self) -> Result<Expression> {
        let mut left = self.primary()?;
        loop {
            if self.takes("[") {
                let index = self.expression()?;
                self.expect("]")?;
                self.operators = self.operators.saturating_add(1);
                left = element(left, index)?;
            } else if self.nth_is(0, ".") || self.nth_is(0, "->") {
                return Err("a member of a structure".to_owned());
            } else if self.operators > MOST_OPERATORS {
                return Err("too many operators".to_owned());
            } else {
                return Ok(left);
            }
        }
    }

    fn primary(&mut self) -> Result<Expression> {
        match self.take() {
            Some(Token::Number {
                value,
                bytes,
                signed,
            }) => {
                let of = Type {
                    bytes: *bytes,
                    signed: *signed,
                };
                Ok(Expression::Constant(Number::new(*value, of)))
            }
            Some(Token::Text(text)) => Ok(Expression::Literal(text.clone())),
            Some(Token::Mark("(")) => {
                if self.nth_is(0, "{") {
                    return Err("statements".to_owned());
                }
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Some(Token::Word(word)) if word == "REC" => {
                self.expect("->")?;
                Ok(recorded(self.field_name()?))
            }
            Some(Token::Word(word)) if word == "sizeof" => self.size(),
            Some(Token::Word(name)) if self.takes("(") => call::call(self, name),
            Some(Token::Word(name)) => constant(name).ok_or_else(|| format!("the name `{name}`")),
            Some(Token::Mark(mark)) => Err(format!("`{mark}` where a value belongs")),
            None => Err("an end where a value belongs".to_owned()),
        }
    }

    /// `sizeof(type)` or `sizeof(REC->field)`.
    fn size(&mut self) -> Result<Expression> {
        self.expect("(")?;
        let end = self
            .tokens
            .iter()
            .position(|token| *token == Token::Mark(")"));
        let inner = end
            .and_then(|end| self.tokens.get(..end))
            .unwrap_or_default();
        let bytes = match inner {
            [Token::Word(record), Token::Mark("->"), Token::Word(name)] if record == "REC" => {
                self.field(name)?.size as u64
            }
            _ => match named_type(inner) {
                (_, true) => 8,
                (Some(of), false) => u64::from(of.bytes),
                (None, false) => return Err("the size of a type that is not known".to_owned()),
            },
        };
        self.tokens = self.tokens.get(inner.len()..).unwrap_or_default();
        self.expect(")")?;
        Ok(Expression::Constant(Number::new(
            bytes,
            Type::UNSIGNED_LONG,
        )))
    }
}

/// How tight an operator binds, and which it is: nothing for `&&` and `||`.
fn operator(mark: &str) -> Option<(u8, Option<Operator>)> {
    Some(match mark {
        "||" => (1, None),
        "&&" => (2, None),
        "|" => (3, Some(Operator::Or)),
        "^" => (4, Some(Operator::Xor)),
        "&" => (5, Some(Operator::And)),
        "==" => (6, Some(Operator::Equal)),
        "!=" => (6, Some(Operator::NotEqual)),
        "<" => (7, Some(Operator::Less)),
        "<=" => (7, Some(Operator::LessOrEqual)),
        ">" => (7, Some(Operator::Greater)),
        ">=" => (7, Some(Operator::GreaterOrEqual)),
        "<<" => (8, Some(Operator::Left)),
        ">>" => (8, Some(Operator::Right)),
        "+" => (9, Some(Operator::Add)),
        "-" => (9, Some(Operator::Subtract)),
        "*" => (10, Some(Operator::Multiply)),
        "/" => (10, Some(Operator::Divide)),
        "%" => (10, Some(Operator::Remainder)),
        _ => return None,
    })
}

/// Names that formats have and that say the same in every kernel.
fn constant(name: &str) -> Option<Expression> {
    let value = match name {
        "false" | "NULL" | "HI_SOFTIRQ" | "HRTIMER_NORESTART" => 0,
        "true" | "TIMER_SOFTIRQ" | "HRTIMER_RESTART" => 1,
        "NET_TX_SOFTIRQ" => 2,
        "NET_RX_SOFTIRQ" => 3,
        "BLOCK_SOFTIRQ" => 4,
        "IRQ_POLL_SOFTIRQ" => 5,
        "TASKLET_SOFTIRQ" => 6,
        "SCHED_SOFTIRQ" => 7,
        "HRTIMER_SOFTIRQ" => 8,
        "RCU_SOFTIRQ" => 9,
        _ => return None,
    };
    Some(Expression::Constant(Number::new(value, Type::INT)))
}
