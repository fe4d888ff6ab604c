//! A Rust source split into code, literals and tests, without a parser's dependencies.

use std::ops::Range;

/// A string literal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Literal {
    /// The line that it starts in, from 1.
    pub(crate) line: usize,
    /// What stands between its quotes, escapes as written.
    pub(crate) text: String,
    /// Whether it stands in a test.
    pub(crate) in_test: bool,
}

/// A file of the repository; for Rust also its parts.
#[derive(Debug)]
pub(crate) struct Source {
    /// Relative to the root of the repository.
    pub(crate) path: String,
    /// As it is.
    pub(crate) text: String,
    /// As it is, with spaces for comments and for what literals hold. Lines and columns are kept.
    pub(crate) code: String,
    /// The same, with spaces also for items under `#[cfg(test)]`.
    pub(crate) product: String,
    /// The string literals.
    pub(crate) literals: Vec<Literal>,
    /// Modules under `#[cfg(test)]` that have a file of their own.
    pub(crate) test_modules: Vec<String>,
    /// How many lines items under `#[cfg(test)]` take.
    pub(crate) test_lines: usize,
    /// Whether all of it is a test.
    pub(crate) is_test: bool,
}

impl Source {
    /// Splits a file.
    pub(crate) fn new(path: String, text: String) -> Self {
        let mut source = Self {
            path,
            code: text.clone(),
            product: text.clone(),
            literals: Vec::new(),
            test_modules: Vec::new(),
            test_lines: 0,
            is_test: false,
            text,
        };
        if source.is_rust() {
            source.split();
        }
        source
    }

    /// Whether it is Rust.
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Declares all of it a test: its module is under `#[cfg(test)]` in another file.
    pub(crate) fn be_test(&mut self) {
        self.is_test = true;
        self.product = blanked(&self.text, std::slice::from_ref(&(0..self.text.len())));
        self.literals
            .iter_mut()
            .for_each(|literal| literal.in_test = true);
    }

    fn split(&mut self) {
        let masked = masked(&self.text);
        let ranges: Vec<_> = masked.iter().map(|(range, _)| range.clone()).collect();
        self.code = blanked(&self.text, &ranges);
        let mut tests = Vec::new();
        let mut from = 0;
        while let Some((range, module)) = next_test(&self.code, from) {
            from = range.end;
            self.test_lines += self
                .text
                .get(range.clone())
                .map_or(0, |text| text.lines().count());
            self.test_modules.extend(module);
            tests.push(range);
        }
        self.product = blanked(&self.code, &tests);
        let (mut line, mut counted) = (1, 0);
        for (range, _) in masked.into_iter().filter(|(_, is_string)| *is_string) {
            line += line_feeds(self.text.get(counted..range.start).unwrap_or_default());
            counted = range.start;
            let in_test = tests.iter().any(|test| test.contains(&range.start));
            let text = self.text.get(range).unwrap_or_default().to_owned();
            self.literals.push(Literal {
                line,
                text,
                in_test,
            });
        }
    }
}

/// The line of a byte, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    1 + line_feeds(text.get(..at).unwrap_or(text))
}

/// How many lines end in a text.
pub(crate) fn line_feeds(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// The text with a space for every byte of the ranges but line feeds.
fn blanked(text: &str, ranges: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for range in ranges {
        for byte in bytes.get_mut(range.clone()).into_iter().flatten() {
            *byte = if *byte == b'\n' { b'\n' } else { b' ' };
        }
    }
    String::from_utf8(bytes).expect("ranges of whole characters")
}

/// What is no code: comments, and what stands between the quotes of strings (marked) and
/// characters.
fn masked(text: &str) -> Vec<(Range<usize>, bool)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let here = at;
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            found.push((here..at, false));
        } else if rest.starts_with("/*") {
            at += comment_length(rest);
            found.push((here..at, false));
        } else if let Some(hashes) = raw_string(text, at) {
            let start = at + rest.find('"').unwrap_or(0) + 1;
            let end = format!("\"{}", "#".repeat(hashes));
            let length = text
                .get(start..)
                .and_then(|rest| rest.find(&end))
                .unwrap_or(0);
            found.push((start..start + length, true));
            at = start + length + end.len();
        } else if rest.starts_with('"') {
            let length = quoted_length(rest, b'"');
            found.push((at + 1..at + length - 1, true));
            at += length;
        } else if is_character(rest) {
            let length = quoted_length(rest, b'\'');
            found.push((at + 1..at + length - 1, false));
            at += length;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    found
}

/// Block comments nest.
fn comment_length(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(rest) = rest.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// The number of hashes, where a raw string starts; its `r` must not end a name.
fn raw_string(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let after = ["r", "br", "cr"]
        .iter()
        .find_map(|prefix| rest.strip_prefix(prefix))?;
    let hashes = after.bytes().take_while(|byte| *byte == b'#').count();
    let before = text.get(..at)?.chars().next_back();
    let in_name = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    (!in_name && after.get(hashes..)?.starts_with('"')).then_some(hashes)
}

/// From the opening quote to behind the closing one.
fn quoted_length(rest: &str, quote: u8) -> usize {
    let mut bytes = rest.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        if byte == b'\\' {
            bytes.next();
        } else if byte == quote {
            return at + 1;
        }
    }
    rest.len()
}

/// Whether a quote starts a character and not a lifetime.
fn is_character(rest: &str) -> bool {
    let mut chars = rest.chars();
    chars.next() == Some('\'')
        && match chars.next() {
            Some('\\') => true,
            Some(_) => chars.next() == Some('\''),
            None => false,
        }
}

/// The next item under `#[cfg(test)]`, and its name where it is a module with a file of its own.
fn next_test(code: &str, from: usize) -> Option<(Range<usize>, Option<String>)> {
    let attribute = "#[cfg(test)]";
    let start = from + code.get(from..)?.find(attribute)?;
    let mut depth = 0_usize;
    let mut in_body = false;
    for (at, byte) in code.bytes().enumerate().skip(start + attribute.len()) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'{' => {
                in_body |= depth == 0;
                depth += 1;
            }
            b'}' => {
                depth -= 1;
                if depth == 0 && in_body {
                    return Some((start..at + 1, None));
                }
            }
            b';' if depth == 0 => {
                let item = code.get(start + attribute.len()..at)?;
                let mut words = item.split_whitespace().skip_while(|word| *word != "mod");
                return Some((start..at + 1, words.nth(1).map(str::to_owned)));
            }
            _ => {}
        }
    }
    Some((start..code.len(), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Source {
        Source::new("a.rs".to_owned(), text.to_owned())
    }

    #[test]
    fn comments_and_contents_of_literals_are_no_code() {
        let source =
            split("a /* b /* c */ d */ e // f \"\n'g' \"h\\\"i\" 'j: &'static r#\"k\"l\"# m");
        let words: Vec<_> = source.code.split(|c: char| !c.is_alphanumeric()).collect();
        let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
        assert_eq!(words, ["a", "e", "j", "static", "r", "m"]);
        let literals: Vec<_> = source
            .literals
            .iter()
            .map(|found| found.text.as_str())
            .collect();
        assert_eq!(literals, ["h\\\"i", "k\"l"]);
        assert_eq!(source.code.len(), source.text.len());
    }

    #[test]
    fn what_is_under_cfg_test_is_no_product() {
        let source = split(
            "x;\n#[cfg(test)]\npub(crate) mod far;\n#[cfg(test)]\n#[path = \"y\"]\nmod near { fn a() \
             { \"p\"; } }\nz",
        );
        assert_eq!(
            source.product.split_whitespace().collect::<Vec<_>>(),
            ["x;", "z"]
        );
        assert_eq!(
            (source.test_modules, source.test_lines),
            (vec!["far".to_owned()], 5)
        );
        assert!(source.literals.iter().all(|literal| literal.in_test));
        assert_eq!(line_of(&source.text, source.text.len() - 1), 7);
    }
}
