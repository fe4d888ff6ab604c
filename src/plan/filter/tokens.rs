//! The words of a filter.

use super::FilterError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Word(String),
    Text(String),
    Operator(&'static str),
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Word(word) => write!(f, "`{word}`"),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Operator(operator) => write!(f, "`{operator}`"),
        }
    }
}

const OPERATORS: [&str; 13] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "&", "~", "!", "(", ")",
];

pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, FilterError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let at = text.chars().count() - rest.chars().count() + 1;
        let Some(first) = rest.chars().next() else {
            return Ok(tokens);
        };
        if let Some(operator) = OPERATORS
            .iter()
            .find(|operator| rest.starts_with(**operator))
        {
            tokens.push((at, Token::Operator(operator)));
            rest = rest.get(operator.len()..).unwrap_or_default();
        } else if let '"' | '\'' = first {
            let inside = rest.get(1..).unwrap_or_default();
            let Some((string, after)) = inside.split_once(first) else {
                return Err(FilterError::Syntax {
                    at,
                    expected: "a closing quote",
                    found: "the end".to_owned(),
                });
            };
            tokens.push((at, Token::Text(string.to_owned())));
            rest = after;
        } else {
            let is_word = |c: char| {
                c.is_alphanumeric()
                    || matches!(c, '_' | '.' | '-' | '*' | '?' | '{' | '}' | ',' | '[' | ']')
            };
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            if end == 0 {
                return Err(FilterError::Syntax {
                    at,
                    expected: "a field or a value",
                    found: format!("`{first}`"),
                });
            }
            tokens.push((
                at,
                Token::Word(rest.get(..end).unwrap_or_default().to_owned()),
            ));
            rest = rest.get(end..).unwrap_or_default();
        }
    }
}
