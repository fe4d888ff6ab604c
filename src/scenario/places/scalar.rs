//! What an unquoted scalar is: the core schema of YAML 1.2.

use serde_yaml::{Number, Value};

/// The value of a scalar; what is not `plain` is a string whatever it looks like.
pub(super) fn value(text: &str, plain: bool) -> Value {
    match text {
        _ if !plain => text.into(),
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        _ => match text.parse::<Number>() {
            Ok(number) => Value::Number(number),
            // A number all the same, so that where a string belongs it has to be quoted.
            Err(_) if is_large(text) => f64::INFINITY.into(),
            Err(_) => text.into(),
        },
    }
}

/// Whether a text that is no [`Number`] is an integer, of more than 64 bits.
fn is_large(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let radixes = [("0x", 16), ("0o", 8), ("0b", 2)].into_iter();
    let mut radixes =
        radixes.filter_map(|(prefix, radix)| Some((digits.strip_prefix(prefix)?, radix)));
    match radixes.next() {
        Some((digits, radix)) => !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix)),
        // What begins with a zero is a string.
        None => {
            digits.starts_with(|c| matches!(c, '1'..='9'))
                && digits.bytes().all(|b| b.is_ascii_digit())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scalar_is_what_serde_takes_it_for() {
        let words = "a null nULL ~ true yes no on y True tRUE FALSE 0 -0 +0 7 -7 +7 ++7 +-7 007 -007 00 \
                     0. .5 1. 1e3 1E-3 1e999 1.5s 0x10 -0x10 +0x10 0X10 0x 0xg 0o17 0o8 0b11 0b2 1_000 \
                     1:30 18446744073709551615 -9223372036854775808 .inf -.Inf +.INF .nan inf nan NaN \
                     infinity 5.10 1..=4 2024-01-01 << =";
        for text in words.split(' ') {
            let taken: Value = serde_yaml::from_str(text).unwrap();
            assert_eq!(value(text, true), taken, "{text}");
            assert_eq!(value(text, false), Value::String(text.to_owned()));
        }
    }

    #[test]
    fn an_integer_of_more_than_64_bits_is_no_string() {
        for text in [
            "18446744073709551616",
            "-9223372036854775809",
            "0x10000000000000000",
        ] {
            assert!(value(text, true).is_number(), "{text}");
            assert!(value(&"9".repeat(400), true).is_number());
        }
    }
}
