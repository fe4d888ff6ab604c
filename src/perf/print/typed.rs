//! What C's types make of fields and values.

use super::evaluate;
use super::expression::Expression;
use super::lexer::Token;
use super::number::Type;
use super::parse::Result;
use crate::format::{Content, Element, Extent, Field, Shape, integer_type};

/// The type of those words and whether they are a pointer's, in which case the type is what it
/// leads to.
pub(super) fn named_type(words: &[Token]) -> (Option<Type>, bool) {
    let is_pointer = words.contains(&Token::Mark("*"));
    let names = words.iter().filter_map(|token| match token {
        Token::Word(word) => Some(word.as_str()),
        _ => None,
    });
    let spelled = names.collect::<Vec<_>>().join(" ");
    let of = integer_type(&spelled).map(|(width, signed)| Type {
        bytes: width.bytes() as u8,
        signed,
    });
    (of, is_pointer)
}

/// A field as an expression.
pub(super) fn recorded(field: &Field) -> Expression {
    let mut field = Box::new(field.clone());
    let bytes = match field.shape {
        Shape::Integer(integer) => integer.slot.bytes(),
        Shape::Pointer(width) => width.bytes(),
        Shape::Block(_, content) => {
            let of = match content {
                Content::Text => Some(Type {
                    bytes: 1,
                    signed: true,
                }),
                Content::Bytes => Some(Type {
                    bytes: 1,
                    signed: false,
                }),
                Content::CpuMask => Some(Type::UNSIGNED_LONG),
                Content::Array(Element::Integer { width, signed }) => Some(Type {
                    bytes: width.bytes() as u8,
                    signed,
                }),
                Content::Array(Element::Pointer(_)) => Some(Type::UNSIGNED_LONG),
            };
            return Expression::Bytes(field, of);
        }
    };
    // The text prints the whole slot, of a call's argument too: `fd: 0x%08lx`.
    let of = Type {
        bytes: bytes as u8,
        signed: field.signed,
    };
    if let Shape::Integer(integer) = &mut field.shape {
        integer.width = integer.slot;
        integer.signed = of.signed;
    }
    Expression::Scalar(field, of)
}

/// `of` as a cast makes it; `to` is nothing for a type that is not known.
pub(super) fn cast(of: Expression, to: Option<Type>, is_pointer: bool) -> Expression {
    match (of, to) {
        (Expression::Bytes(field, _), to) if is_pointer => Expression::Bytes(field, to),
        (of @ (Expression::Bytes(..) | Expression::Literal(_)), _) => of,
        (of, _) if is_pointer => {
            evaluate::folded(Expression::Cast(Type::UNSIGNED_LONG, Box::new(of)))
        }
        (of, Some(to)) => evaluate::folded(Expression::Cast(to, Box::new(of))),
        // A type by a name of its own is as wide as what is cast.
        (of, None) => of,
    }
}

/// `&REC->field`: its bytes.
pub(super) fn address(of: Expression) -> Result<Expression> {
    match of {
        Expression::Bytes(..) => Ok(of),
        Expression::Scalar(mut field, of) => {
            field.shape = Shape::Block(Extent::Fixed, Content::Bytes);
            Ok(Expression::Bytes(field, Some(of)))
        }
        _ => Err("the address of what is no field".to_owned()),
    }
}

/// `of[index]`.
pub(super) fn element(of: Expression, index: Expression) -> Result<Expression> {
    match of {
        Expression::Bytes(field, Some(element)) => Ok(match place(&field, element, &index) {
            Some(offset) => Expression::At(offset, element),
            None => {
                let of = Expression::Bytes(field, Some(element));
                Expression::Element(element, Box::new([of, index]))
            }
        }),
        Expression::Literal(_) => Ok(Expression::Element(
            Type {
                bytes: 1,
                signed: true,
            },
            Box::new([of, index]),
        )),
        _ => Err("an element of what is no array".to_owned()),
    }
}

/// Where in every record an element is, if there is one.
fn place(field: &Field, of: Type, index: &Expression) -> Option<usize> {
    let Shape::Block(Extent::Fixed, _) = field.shape else {
        return None;
    };
    let (size, index) = (usize::from(of.bytes), index.constant()?);
    let at = usize::try_from(index.bits).ok()?.checked_mul(size)?;
    let is_inside = at.checked_add(size)? <= field.size;
    is_inside.then(|| field.offset.checked_add(at))?
}
