//! The words of an expression in C.

/// What an expression is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name.
    Word(String),
    /// A number, and how C types it: its bytes (4 or 8) and whether it has a sign.
    Number { value: u64, bytes: u8, signed: bool },
    /// A string, those that stand side by side as one.
    Text(Vec<u8>),
    /// An operator or bracket.
    Mark(&'static str),
}

/// All marks, longer ones before those that they begin with.
const MARKS: [&str; 37] = [
    "<<=", ">>=", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "(", ")", "[",
    "]", "{", "}", ",", "?", ":", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "<", ">", ".",
    ";", "=",
];

/// The words of `source`; what is none is the error.
pub(super) fn tokens(source: &[u8]) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(&first) = rest.first() {
        if first.is_ascii_whitespace() {
            rest = rest.get(1..).unwrap_or_default();
        } else if first == b'"' {
            let (text, after) = quoted(rest, b'"').ok_or("a string that does not end")?;
            match tokens.last_mut() {
                Some(Token::Text(before)) => before.extend(text),
                _ => tokens.push(Token::Text(text)),
            }
            rest = after;
        } else if first == b'\'' {
            let (text, after) = quoted(rest, b'\'').ok_or("a character that does not end")?;
            let value = text
                .first()
                .map_or(0, |byte| i64::from(byte.cast_signed()).cast_unsigned());
            tokens.push(Token::Number {
                value,
                bytes: 4,
                signed: true,
            });
            rest = after;
        } else if first.is_ascii_digit() {
            let (number, after) = span(rest, |byte| byte.is_ascii_alphanumeric());
            tokens.push(
                numeric(number)
                    .ok_or_else(|| format!("the number `{}`", String::from_utf8_lossy(number)))?,
            );
            rest = after;
        } else if first.is_ascii_alphabetic() || first == b'_' {
            let (word, after) = span(rest, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
            tokens.push(Token::Word(String::from_utf8_lossy(word).into_owned()));
            rest = after;
        } else {
            let mark = MARKS.iter().find(|mark| rest.starts_with(mark.as_bytes()));
            let mark = mark.ok_or_else(|| format!("the character `{}`", first.escape_ascii()))?;
            tokens.push(Token::Mark(mark));
            rest = rest.get(mark.len()..).unwrap_or_default();
        }
    }
    Ok(tokens)
}

/// The longest beginning that `belongs`, and the rest.
fn span(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let end = bytes
        .iter()
        .position(|byte| !belongs(*byte))
        .unwrap_or(bytes.len());
    bytes.split_at(end)
}

/// What stands between the quote that `bytes` begins with and the next, without escapes, and what
/// is behind it.
pub(super) fn quoted(bytes: &[u8], quote: u8) -> Option<(Vec<u8>, &[u8])> {
    let mut text = Vec::new();
    let mut rest = bytes.get(1..)?;
    loop {
        let (&first, after) = rest.split_first()?;
        rest = after;
        match first {
            byte if byte == quote => return Some((text, rest)),
            b'\\' => text.push(escaped(&mut rest)?),
            byte => text.push(byte),
        }
    }
}

/// The byte that an escape stands for, whose backslash is taken.
fn escaped(rest: &mut &[u8]) -> Option<u8> {
    let (&first, after) = rest.split_first()?;
    *rest = after;
    let mut digits = |radix: u32, most: usize, start: u32| {
        let mut value = start;
        for _ in 0..most {
            let Some((digit, after)) = rest
                .split_first()
                .and_then(|(byte, after)| Some((char::from(*byte).to_digit(radix)?, after)))
            else {
                break;
            };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            *rest = after;
        }
        value as u8
    };
    Some(match first {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'e' => 27,
        b'x' => digits(16, 2, 0),
        b'0'..=b'7' => digits(8, 2, u32::from(first.wrapping_sub(b'0'))),
        other => other,
    })
}

/// A number with its suffix, typed as 6.4.4.1 of C has it.
fn numeric(word: &[u8]) -> Option<Token> {
    let word = str::from_utf8(word).ok()?;
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    let suffix = word.get(digits.len()..)?;
    let (digits, radix) = match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        Some(digits) => (digits, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (digits, 8),
        None => (digits, 10),
    };
    let value = u64::from_str_radix(digits, radix).ok()?;
    let is_unsigned = suffix.contains(['u', 'U']);
    let is_long = suffix.contains(['l', 'L']);
    let fits_int = i32::try_from(value).is_ok();
    let fits_unsigned = u32::try_from(value).is_ok();
    let may_be_unsigned = is_unsigned || radix != 10;
    let bytes = if !is_long && (fits_int || fits_unsigned && may_be_unsigned) {
        4
    } else {
        8
    };
    let fits_signed = if bytes == 4 {
        fits_int
    } else {
        i64::try_from(value).is_ok()
    };
    Some(Token::Number {
        value,
        bytes,
        signed: !is_unsigned && fits_signed,
    })
}
