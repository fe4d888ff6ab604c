//! The helpers that a format calls (`include/trace/stages/stage3_trace_output.h`).

use super::expression::{Expression, Names};
use super::lexer::Token;
use super::number::{Number, Operator, Type};
use super::parse::{Parser, Result};
use super::typed::recorded;
use crate::format::{Content, Extent, Field, Shape};

/// The call of `name`, whose opening bracket is taken.
pub(super) fn call(parser: &mut Parser<'_>, name: &str) -> Result<Expression> {
    let expression = match name {
        "__get_str"
        | "__get_rel_str"
        | "__get_dynamic_array"
        | "__get_rel_dynamic_array"
        | "__get_sockaddr"
        | "__get_rel_sockaddr" => {
            let field = parser.field_name()?;
            if parser.takes("[") {
                let index = parser.expression()?;
                parser.expect("]")?;
                located(field, index.constant())?
            } else {
                recorded(field)
            }
        }
        "__get_dynamic_array_len" | "__get_rel_dynamic_array_len" => {
            Expression::Length(Box::new(parser.field_name()?.clone()))
        }
        "__get_bitmask" | "__get_rel_bitmask" | "__get_cpumask" | "__get_rel_cpumask" => {
            Expression::Bitmask(Box::new(recorded(parser.field_name()?)))
        }
        "__print_flags" | "__print_flags_u64" => names(parser, true)?,
        "__print_symbolic" | "__print_symbolic_u64" => names(parser, false)?,
        "__print_hex" | "__print_hex_str" => {
            let [bytes, length] = arguments(parser)?;
            Expression::Hex {
                is_spaced: name == "__print_hex",
                of: Box::new([bytes, length]),
            }
        }
        "__print_array" => Expression::Array(Box::new(arguments(parser)?)),
        "__print_dynamic_array" => {
            let bytes = recorded(parser.field_name()?);
            parser.expect(",")?;
            Expression::WholeArray(Box::new([bytes, parser.expression()?]))
        }
        "__builtin_expect" => {
            let [value, _expected] = arguments(parser)?;
            value
        }
        "__builtin_constant_p" => {
            let _unevaluated = parser.or_skip(|_| Err::<(), _>(String::new()));
            Expression::Constant(Number::truth(false))
        }
        "__print_ns_to_secs" => {
            let [value] = arguments(parser)?;
            nanoseconds(Operator::Divide, value)
        }
        "__print_ns_without_secs" => {
            let [value] = arguments(parser)?;
            Expression::Cast(
                Type {
                    bytes: 4,
                    signed: false,
                },
                Box::new(nanoseconds(Operator::Remainder, value)),
            )
        }
        _ => return Err(format!("a call of `{name}`")),
    };
    parser.expect(")")?;
    Ok(expression)
}

/// A string of a probe's array: its locator is one of several in a row (`__data_loc char[][2]`).
fn located(field: &Field, index: Option<Number>) -> Result<Expression> {
    let at = index
        .and_then(|index| usize::try_from(index.bits).ok())
        .and_then(|index| index.checked_mul(LOCATOR));
    let fits = at.filter(|at| at.saturating_add(LOCATOR) <= field.size);
    let is_located = field.c_type.starts_with("__data_loc");
    let at = fits
        .filter(|_| is_located)
        .ok_or("an element of what is no array of strings")?;
    let mut one = field.clone();
    one.offset = field.offset.saturating_add(at);
    one.size = LOCATOR;
    one.shape = Shape::Block(Extent::DataLoc, Content::Text);
    Ok(recorded(&one))
}

/// The bytes of a `__data_loc`.
const LOCATOR: usize = 4;

fn nanoseconds(operator: Operator, value: Expression) -> Expression {
    let value = Expression::Cast(Type::UNSIGNED_LONG, Box::new(value));
    let second = Expression::Constant(Number::new(1_000_000_000, Type::UNSIGNED_LONG));
    Expression::Binary(operator, Box::new([value, second]))
}

fn arguments<const N: usize>(parser: &mut Parser<'_>) -> Result<[Expression; N]> {
    let mut all = Vec::with_capacity(N);
    loop {
        all.push(parser.expression()?);
        if !parser.takes(",") {
            break;
        }
    }
    let number = all.len();
    all.try_into()
        .map_err(|_| format!("{number} arguments, where {N} belong"))
}

/// `value, ["delimiter",] {number, "name"}, ..`: the last comma may stand alone.
fn names(parser: &mut Parser<'_>, are_flags: bool) -> Result<Expression> {
    let of = parser.expression()?;
    let delimiter = if are_flags {
        parser.expect(",")?;
        Some(text(parser)?)
    } else {
        None
    };
    let mut entries = Vec::new();
    while parser.takes(",") {
        // `{ }` is the end that the kernel looks for.
        if !parser.takes("{") || parser.takes("}") {
            continue;
        }
        // A number that the format gives by a name of the kernel's is not known; such an entry
        // names nothing.
        let number = parser.or_skip(Parser::expression);
        parser.expect(",")?;
        let name = parser.or_skip(text);
        parser.expect("}")?;
        if let (Some(number), Some(name)) = (number.and_then(|number| number.constant()), name) {
            entries.push((number.bits, name));
        }
    }
    Ok(Expression::Names(Box::new(Names {
        of,
        delimiter,
        entries,
    })))
}

fn text(parser: &mut Parser<'_>) -> Result<Vec<u8>> {
    match parser.take() {
        Some(Token::Text(text)) => Ok(text.clone()),
        _ => Err("no string where one belongs".to_owned()),
    }
}
