//! JSON with the place of each value, for complaints and for what a policy says of a call.

use super::model::{Complaint, Place};

/// A value and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) place: Place,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// `null`, `true`, `false`, and numbers that are no `u64`.
    Other,
    Number(u64),
    Text(String),
    List(Vec<Node>),
    /// In the order of the file.
    Map(Vec<(String, Place, Node)>),
}

/// How deep lists and maps may lie in each other.
const DEPTH: usize = 32;

pub(super) fn parse(text: &str) -> Result<Node, Complaint> {
    let mut reader = Reader {
        rest: text,
        place: Place { line: 1, column: 1 },
    };
    let node = reader.node(0)?;
    reader.space();
    match reader.rest.is_empty() {
        true => Ok(node),
        false => Err(reader.complaint("nothing may follow the value")),
    }
}

/// The entries of an object.
pub(super) fn map<'n>(
    node: &'n Node,
    what: &str,
) -> Result<&'n [(String, Place, Node)], Complaint> {
    match &node.value {
        Value::Map(entries) => Ok(entries),
        _ => Err(Complaint::new(node.place, format!("{what} is an object"))),
    }
}

/// The elements of a list.
pub(super) fn list<'n>(node: &'n Node, what: &str) -> Result<&'n [Node], Complaint> {
    match &node.value {
        Value::List(nodes) => Ok(nodes),
        _ => Err(Complaint::new(node.place, format!("`{what}` is a list"))),
    }
}

/// A text.
pub(super) fn text_of<'n>(node: &'n Node, what: &str) -> Result<&'n str, Complaint> {
    match &node.value {
        Value::Text(text) => Ok(text),
        _ => Err(Complaint::new(node.place, format!("{what} is a text"))),
    }
}

/// A number.
pub(super) fn number(node: &Node) -> Result<u64, Complaint> {
    match node.value {
        Value::Number(number) => Ok(number),
        _ => Err(Complaint::new(
            node.place,
            "this must be a number from 0 on",
        )),
    }
}

struct Reader<'t> {
    rest: &'t str,
    place: Place,
}

impl Reader<'_> {
    fn complaint(&self, message: &str) -> Complaint {
        Complaint::new(self.place, message)
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next()?;
        self.rest = chars.as_str();
        if next == '\n' {
            self.place.line += 1;
            self.place.column = 1;
        } else {
            self.place.column += 1;
        }
        Some(next)
    }

    fn space(&mut self) {
        while self.rest.starts_with([' ', '\t', '\n', '\r']) {
            self.next();
        }
    }

    /// Takes this character behind space, if it is there.
    fn takes(&mut self, wanted: char) -> bool {
        self.space();
        let is_there = self.rest.starts_with(wanted);
        if is_there {
            self.next();
        }
        is_there
    }

    fn node(&mut self, depth: usize) -> Result<Node, Complaint> {
        self.space();
        let place = self.place;
        let value = match self.rest.chars().next() {
            _ if depth > DEPTH => return Err(self.complaint("the lists and maps are too deep")),
            Some('{') => self.map(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => Value::Text(self.text()?),
            Some(_) => self.word()?,
            None => return Err(self.complaint("a value is missing")),
        };
        Ok(Node { value, place })
    }

    fn map(&mut self, depth: usize) -> Result<Value, Complaint> {
        self.next();
        let mut entries: Vec<(String, Place, Node)> = Vec::new();
        if self.takes('}') {
            return Ok(Value::Map(entries));
        }
        loop {
            self.space();
            let place = self.place;
            if !self.rest.starts_with('"') {
                return Err(self.complaint("a key is missing, in quotes"));
            }
            let key = self.text()?;
            if entries.iter().any(|(known, ..)| *known == key) {
                let message = format!("the key `{key}` stands there twice");
                return Err(Complaint::new(place, message));
            }
            if !self.takes(':') {
                return Err(self.complaint("`:` is missing"));
            }
            let node = self.node(depth + 1)?;
            entries.push((key, place, node));
            if self.takes('}') {
                return Ok(Value::Map(entries));
            }
            if !self.takes(',') {
                return Err(self.complaint("`,` or `}` is missing"));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, Complaint> {
        self.next();
        let mut nodes = Vec::new();
        if self.takes(']') {
            return Ok(Value::List(nodes));
        }
        loop {
            nodes.push(self.node(depth + 1)?);
            if self.takes(']') {
                return Ok(Value::List(nodes));
            }
            if !self.takes(',') {
                return Err(self.complaint("`,` or `]` is missing"));
            }
        }
    }

    fn text(&mut self) -> Result<String, Complaint> {
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                Some('"') => return Ok(text),
                Some('\\') => match self.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some(plain @ ('"' | '\\' | '/')) => text.push(plain),
                    Some('u') => {
                        let digits = self.rest.get(..4).unwrap_or_default();
                        let number = u32::from_str_radix(digits, 16).ok();
                        let Some(letter) = number.and_then(char::from_u32) else {
                            return Err(self.complaint("this escape is not understood"));
                        };
                        text.push(letter);
                        (0..4).for_each(|_| {
                            self.next();
                        });
                    }
                    _ => return Err(self.complaint("this escape is not understood")),
                },
                Some(letter) if letter >= ' ' => text.push(letter),
                _ => return Err(self.complaint("the text does not end on its line")),
            }
        }
    }

    fn word(&mut self) -> Result<Value, Complaint> {
        let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
        let end = self.rest.find(|letter| !is_of_word(letter));
        let word = &self.rest[..end.unwrap_or(self.rest.len())];
        let is_number = word.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        let value = match word {
            "null" | "true" | "false" => Value::Other,
            _ if is_number => word.parse().map_or(Value::Other, Value::Number),
            _ => return Err(self.complaint("this is no value of JSON")),
        };
        for _ in 0..word.len() {
            self.next();
        }
        Ok(value)
    }
}
