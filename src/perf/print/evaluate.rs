//! Numbers and bytes out of a record.

use super::expression::Expression;
use super::number::{Number, Type, extend};
use crate::decode;

/// The number that `of` has in this record; nothing where the record is too short for it, or where
/// it is no number.
#[inline]
pub(super) fn number(of: &Expression, payload: &[u8]) -> Option<Number> {
    match of {
        Expression::Scalar(field, of) => one(payload.get(field.offset..)?, *of),
        Expression::At(offset, of) => one(payload.get(*offset..)?, *of),
        _ => computed(of, payload),
    }
}

fn computed(of: &Expression, payload: &[u8]) -> Option<Number> {
    Some(match of {
        Expression::Constant(number) => *number,
        Expression::Length(field) => {
            let bytes = decode::content(payload, field).ok()?.len();
            Number::new(bytes as u64, Type::INT)
        }
        Expression::Sign(sign, of) => number(of, payload)?.sign(*sign),
        Expression::Binary(operator, both) => {
            let [left, right] = &**both;
            number(left, payload)?.operate(*operator, number(right, payload)?)
        }
        Expression::Logic(is_and, both) => {
            let [left, right] = &**both;
            let left = number(left, payload)?.is_true();
            Number::truth(if left == *is_and {
                number(right, payload)?.is_true()
            } else {
                left
            })
        }
        Expression::Choice(three) => number(chosen(three, payload)?, payload)?,
        Expression::Cast(to, of) => number(of, payload)?.cast(*to),
        Expression::Element(element, both) => {
            let [of, index] = &**both;
            let index = usize::try_from(number(index, payload)?.bits).ok()?;
            let at = index.checked_mul(usize::from(element.bytes))?;
            one(bytes(of, payload)?.get(at..)?, *element)?
        }
        _ => return None,
    })
}

/// Which of `?:`'s two values it is.
pub(super) fn chosen<'e>(three: &'e [Expression; 3], payload: &[u8]) -> Option<&'e Expression> {
    let [condition, yes, no] = three;
    Some(if number(condition, payload)?.is_true() {
        yes
    } else {
        no
    })
}

/// The bytes of a field or literal, all of them.
pub(super) fn bytes<'a>(of: &'a Expression, payload: &'a [u8]) -> Option<&'a [u8]> {
    match of {
        Expression::Bytes(field, _) => decode::content(payload, field).ok(),
        // Its end, which C counts as a part of it, is what `__get_str(x)[0]` looks at where there
        // is nothing else.
        Expression::Literal(text) if text.is_empty() => Some(b"\0"),
        Expression::Literal(text) => Some(text),
        Expression::Choice(three) => bytes(chosen(three, payload)?, payload),
        _ => None,
    }
}

/// The number that `bytes` begin with.
#[inline]
pub(super) fn one(bytes: &[u8], of: Type) -> Option<Number> {
    let bits = match of.bytes {
        1 => u64::from(*bytes.first()?),
        2 => u64::from(u16::from_ne_bytes(*bytes.first_chunk()?)),
        4 => u64::from(u32::from_ne_bytes(*bytes.first_chunk()?)),
        _ => u64::from_ne_bytes(*bytes.first_chunk()?),
    };
    Some(Number {
        bits: extend(bits, of.bytes, of.signed),
        of,
    })
}

/// `of`, computed where all its parts are constant.
pub(super) fn folded(of: Expression) -> Expression {
    let is_constant = of.parts().iter().all(|part| part.constant().is_some());
    match number(&of, &[]) {
        Some(number) if is_constant => Expression::Constant(number),
        _ => of,
    }
}

/// Whether `of` is a number in every record that is long enough.
pub(super) fn is_number(of: &Expression) -> bool {
    match of {
        Expression::Constant(_) | Expression::Scalar(..) | Expression::Length(_) => true,
        Expression::At(..) | Expression::Element(..) => true,
        Expression::Sign(_, of) | Expression::Cast(_, of) => is_number(of),
        Expression::Binary(_, both) | Expression::Logic(_, both) => both.iter().all(is_number),
        Expression::Choice(three) => three.iter().all(is_number),
        _ => false,
    }
}
