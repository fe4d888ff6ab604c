//! The paths (`crate::units::Pid`) that a source names, `use` trees written out.

use super::source::line_feeds;

/// A path and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The line, from 1.
    pub(crate) line: usize,
    /// `["crate", "units", "Pid"]`.
    pub(crate) segments: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Separator,
    Other(char),
}

/// All paths in code that has no comments and literals.
pub(crate) fn named(code: &str) -> Vec<Named> {
    let tokens = tokens(code);
    let mut reader = Reader {
        tokens: &tokens,
        found: Vec::new(),
    };
    while let Some((line, token)) = reader.next() {
        match token {
            Token::Word("use") if matches!(reader.peek(), Some(Token::Word(_))) => {
                reader.tree(&[]);
            }
            Token::Word(word) => reader.path(line, word),
            _ => {}
        }
    }
    reader.found
}

fn tokens(code: &str) -> Vec<(usize, Token<'_>)> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (token, length) = match rest.chars().next() {
            _ if word > 0 => (Token::Word(rest.get(..word).unwrap_or_default()), word),
            _ if rest.starts_with("::") => (Token::Separator, 2),
            Some(c) => (Token::Other(c), c.len_utf8()),
            None => break,
        };
        if !matches!(token, Token::Other(c) if c.is_whitespace()) {
            tokens.push((at, token));
        }
        at += length;
    }
    let mut line = 1;
    let mut counted = 0;
    for (at, _) in &mut tokens {
        line += line_feeds(code.get(counted..*at).unwrap_or_default());
        counted = *at;
        *at = line;
    }
    tokens
}

struct Reader<'a> {
    tokens: &'a [(usize, Token<'a>)],
    found: Vec<Named>,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.first().map(|(_, token)| *token)
    }

    fn next(&mut self) -> Option<(usize, Token<'a>)> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(*first)
    }

    /// A path of an expression or a type.
    fn path(&mut self, line: usize, first: &str) {
        let mut segments = vec![first.to_owned()];
        while let [(_, Token::Separator), (_, Token::Word(word)), rest @ ..] = self.tokens {
            segments.push((*word).to_owned());
            self.tokens = rest;
        }
        self.found.push(Named { line, segments });
    }

    /// One branch of a `use` tree, up to the comma, the brace or the semicolon behind it.
    fn tree(&mut self, stem: &[String]) {
        let mut segments = stem.to_vec();
        let mut last_line = 0;
        while let Some((line, token)) = self.next() {
            last_line = line;
            match token {
                Token::Word("as") => drop(self.next()),
                Token::Word(word) => segments.push(word.to_owned()),
                Token::Other('{') => {
                    self.branches(&segments);
                    return;
                }
                Token::Separator | Token::Other('*') => {}
                Token::Other(_) => break,
            }
            if matches!(self.peek(), Some(Token::Other(',' | '}'))) {
                break;
            }
        }
        if segments.len() > stem.len() {
            self.found.push(Named {
                line: last_line,
                segments,
            });
        }
    }

    fn branches(&mut self, stem: &[String]) {
        loop {
            match self.peek() {
                None => return,
                Some(Token::Other('}')) => {
                    self.next();
                    return;
                }
                Some(Token::Other(',')) => drop(self.next()),
                Some(_) => self.tree(stem),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_trees_are_written_out_and_expressions_are_paths_too() {
        let code = "use crate::{a::{B, self, C as D},\n  e};\npub(super) use f::*;\nlet x: g::H = i::<J>(k::l());";
        let found: Vec<_> = named(code)
            .iter()
            .map(|named| (named.line, named.segments.join("::")))
            .collect();
        let expected = [
            (1, "crate::a::B"),
            (1, "crate::a::self"),
            (1, "crate::a::C"),
            (2, "crate::e"),
            (3, "pub"),
            (3, "super"),
            (3, "f"),
            (4, "let"),
            (4, "x"),
            (4, "g::H"),
            (4, "i"),
            (4, "J"),
            (4, "k::l"),
        ];
        let expected: Vec<_> = expected
            .iter()
            .map(|(line, path)| (*line, (*path).to_owned()))
            .collect();
        assert_eq!(found, expected);
    }
}
