//! The format string, taken apart into literals and conversions.

use super::digits::Literal;
use super::evaluate::is_number;
use super::expression::Expression;
use super::lexer::{Token, tokens};
use super::parse::{Parser, Result};
use crate::format::Format;

/// A part of the text.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Literal(Literal),
    Conversion(Box<Conversion>),
}

/// A `%` and what it converts.
#[derive(Clone, Debug)]
pub(super) struct Conversion {
    pub(super) flags: Flags,
    pub(super) width: Measure,
    pub(super) precision: Measure,
    pub(super) kind: Kind,
    pub(super) of: Expression,
    /// Whether it has neither flags nor width nor precision.
    pub(super) is_bare: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) left: bool,
    pub(super) plus: bool,
    pub(super) blank: bool,
    pub(super) alternate: bool,
    pub(super) zero: bool,
}

/// A width or a precision.
#[derive(Clone, Debug)]
pub(super) enum Measure {
    Absent,
    Fixed(usize),
    /// `*`: an argument of its own.
    Of(Expression),
}

/// What becomes of an argument (`printf(3)`; for `%p` Documentation/core-api/printk-formats.rst).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `%d`, of so many bytes.
    Signed(u8),
    Unsigned(u8),
    Hexadecimal {
        bytes: u8,
        upper: bool,
    },
    Octal(u8),
    Character,
    Text,
    Address,
    /// `%ps`; with its offset `%pS`.
    Function {
        has_offset: bool,
    },
    /// `%pM`, `%pm`, `%pMF`, `%pMR`.
    Mac {
        between: Option<u8>,
        is_reversed: bool,
    },
    /// `%pI4`, `%pi4`.
    Ip4 {
        is_padded: bool,
        is_reversed: bool,
    },
    /// `%pI6`, `%pi6`, `%pI6c`.
    Ip6 {
        has_colons: bool,
        is_compressed: bool,
    },
    /// `%pIS`.
    Socket {
        has_colons: bool,
        is_compressed: bool,
        has_port: bool,
    },
    /// `%pU`.
    Uuid {
        is_little: bool,
        upper: bool,
    },
    /// `%*ph`.
    Buffer {
        between: Option<u8>,
    },
    /// `%*pb`; as a list `%*pbl`.
    Bits {
        is_list: bool,
    },
}

/// The pieces of an event's text.
pub(super) fn pieces(format: &Format) -> Result<Vec<Piece>> {
    let tokens = tokens(format.print_fmt.as_bytes())?;
    let mut parser = Parser::new(&tokens, format);
    let Some(Token::Text(template)) = parser.take() else {
        return Err("no format string".to_owned());
    };
    let mut pieces = Vec::new();
    let mut literal = Vec::new();
    let mut rest = template.as_slice();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            literal.push(byte);
        } else if let Some(after) = rest.strip_prefix(b"%") {
            literal.push(byte);
            rest = after;
        } else {
            if !literal.is_empty() {
                pieces.push(Piece::Literal(Literal::new(&literal)));
                literal.clear();
            }
            let conversion = conversion(&mut rest, &mut parser)?;
            pieces.push(Piece::Conversion(Box::new(conversion)));
        }
    }
    if !literal.is_empty() {
        pieces.push(Piece::Literal(Literal::new(&literal)));
    }
    Ok(pieces)
}

fn argument(parser: &mut Parser<'_>) -> Result<Expression> {
    if parser.is_done() {
        return Err("fewer arguments than conversions".to_owned());
    }
    parser.expect(",")?;
    parser.expression()
}

fn next(rest: &mut &[u8]) -> Option<u8> {
    let (&first, after) = rest.split_first()?;
    *rest = after;
    Some(first)
}

fn conversion(rest: &mut &[u8], parser: &mut Parser<'_>) -> Result<Conversion> {
    let mut flags = Flags::default();
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'-' => flags.left = true,
            b'+' => flags.plus = true,
            b' ' => flags.blank = true,
            b'#' => flags.alternate = true,
            b'0' => flags.zero = true,
            _ => break,
        }
        *rest = after;
    }
    let width = measure(rest, parser, Measure::Absent)?;
    let precision = match rest.strip_prefix(b".") {
        Some(after) => {
            *rest = after;
            measure(rest, parser, Measure::Fixed(0))?
        }
        None => Measure::Absent,
    };
    let mut bytes = 4_u8;
    while let Some((&byte, after)) = rest.split_first() {
        bytes = match (byte, bytes) {
            (b'h', 2) => 1,
            (b'h', _) => 2,
            (b'l' | b'L' | b'q' | b'z' | b'Z' | b'j' | b't', _) => 8,
            _ => break,
        };
        *rest = after;
    }
    let of = argument(parser)?;
    let kind = match next(rest) {
        Some(b'd' | b'i') => Kind::Signed(bytes),
        Some(b'u') => Kind::Unsigned(bytes),
        Some(b'x') => Kind::Hexadecimal {
            bytes,
            upper: false,
        },
        Some(b'X') => Kind::Hexadecimal { bytes, upper: true },
        Some(b'o') => Kind::Octal(bytes),
        Some(b'c') => Kind::Character,
        Some(b's') => Kind::Text,
        Some(b'p') => pointer(rest),
        Some(other) => return Err(format!("the conversion `%{}`", other.escape_ascii())),
        None => return Err("a conversion that does not end".to_owned()),
    };
    let takes_number = matches!(
        kind,
        Kind::Signed(_)
            | Kind::Unsigned(_)
            | Kind::Hexadecimal { .. }
            | Kind::Octal(_)
            | Kind::Character
            | Kind::Function { .. }
    );
    if takes_number && !is_number(&of) {
        return Err("a number of what is none".to_owned());
    }
    let is_without = |measure: &Measure| matches!(measure, Measure::Absent);
    Ok(Conversion {
        is_bare: flags == Flags::default() && is_without(&width) && is_without(&precision),
        flags,
        width,
        precision,
        kind,
        of,
    })
}

/// Digits or a `*`, or neither.
fn measure(rest: &mut &[u8], parser: &mut Parser<'_>, absent: Measure) -> Result<Measure> {
    if let Some(after) = rest.strip_prefix(b"*") {
        *rest = after;
        return Ok(Measure::Of(argument(parser)?));
    }
    let end = rest
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(rest.len());
    let (digits, after) = rest.split_at(end);
    *rest = after;
    Ok(str::from_utf8(digits)
        .ok()
        .and_then(|digits| digits.parse().ok())
        .map_or(absent, Measure::Fixed))
}

/// What follows `%p`: all letters and digits, as `vsnprintf()` of `lib/vsprintf.c` takes them.
fn pointer(rest: &mut &[u8]) -> Kind {
    let end = rest
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric())
        .unwrap_or(rest.len());
    let (extension, after) = rest.split_at(end);
    *rest = after;
    let has = |letter: u8| extension.get(2..).unwrap_or_default().contains(&letter);
    match extension {
        [b'S' | b'F' | b'B', ..] => Kind::Function { has_offset: true },
        [b's' | b'f', ..] => Kind::Function { has_offset: false },
        [b'M', b'F', ..] => Kind::Mac {
            between: Some(b'-'),
            is_reversed: false,
        },
        [b'M', rest @ ..] => Kind::Mac {
            between: Some(b':'),
            is_reversed: rest.first() == Some(&b'R'),
        },
        [b'm', rest @ ..] => Kind::Mac {
            between: None,
            is_reversed: rest.first() == Some(&b'R'),
        },
        [which @ (b'I' | b'i'), b'4', ..] => {
            let is_reversed = has(b'l') || has(b'h') && cfg!(target_endian = "little");
            Kind::Ip4 {
                is_padded: *which == b'i',
                is_reversed,
            }
        }
        [which @ (b'I' | b'i'), b'6', ..] => Kind::Ip6 {
            has_colons: *which == b'I',
            is_compressed: has(b'c'),
        },
        [which @ (b'I' | b'i'), b'S', ..] => Kind::Socket {
            has_colons: *which == b'I',
            is_compressed: has(b'c'),
            has_port: has(b'p'),
        },
        [b'U', rest @ ..] => Kind::Uuid {
            is_little: matches!(rest.first(), Some(b'l' | b'L')),
            upper: matches!(rest.first(), Some(b'B' | b'L')),
        },
        [b'h', rest @ ..] => Kind::Buffer {
            between: match rest.first() {
                Some(b'C') => Some(b':'),
                Some(b'D') => Some(b'-'),
                Some(b'N') => None,
                _ => Some(b' '),
            },
        },
        [b'b', rest @ ..] => Kind::Bits {
            is_list: rest.first() == Some(&b'l'),
        },
        _ => Kind::Address,
    }
}
