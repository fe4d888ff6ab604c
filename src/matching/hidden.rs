//! What a structure's text may be where it has a word in place of a number that is not the same in
//! each run.

use crate::trace::{Part, STAND_INS, Value};

/// Stands for a number; it is in no text.
const NUMBER: u8 = 0xff;

/// A text with numbers that it does not show.
#[derive(Debug)]
pub(super) struct Hidden(Vec<u8>);

impl Hidden {
    /// The text of a part; `None` if it shows all.
    pub(super) fn of(part: &Part) -> Option<Self> {
        if !matches!(part.value, Value::Text | Value::Raw(_)) {
            return None;
        }
        let (mut bytes, mut rest) = (Vec::new(), part.text.as_bytes());
        while let Some((byte, behind)) = rest.split_first() {
            let word = STAND_INS
                .iter()
                .find_map(|word| rest.strip_prefix(word.as_bytes()));
            bytes.push(if word.is_some() { NUMBER } else { *byte });
            rest = word.unwrap_or(behind);
        }
        bytes.contains(&NUMBER).then_some(Self(bytes))
    }

    /// Whether it may be this text, with some numbers.
    pub(super) fn may_be(&self, text: &str) -> bool {
        may_go_on(&self.0, text.as_bytes(), true)
    }

    /// Whether it may begin so.
    pub(super) fn may_begin(&self, text: &str) -> bool {
        may_go_on(&self.0, text.as_bytes(), false)
    }

    /// Whether it may have this in it.
    pub(super) fn may_contain(&self, text: &str) -> bool {
        let mut froms = (0..self.0.len()).filter_map(|from| self.0.get(from..));
        froms.any(|rest| may_go_on(rest, text.as_bytes(), false))
    }
}

/// Whether what is hidden may begin with a text, or be all of it.
fn may_go_on(hidden: &[u8], text: &[u8], is_whole: bool) -> bool {
    let is_of_number = |byte: &&u8| byte.is_ascii_hexdigit() || matches!(byte, b'x' | b'-');
    match (hidden, text) {
        (rest, []) => !is_whole || rest.is_empty(),
        ([], _) => false,
        ([NUMBER, rest @ ..], text) => {
            let most = text.iter().take_while(is_of_number).count();
            // What the text has of the number may be its end or its beginning alone.
            let ends = (0..=most).filter_map(|end| text.get(end..));
            ends.into_iter().any(|text| may_go_on(rest, text, is_whole))
                || (most == text.len() && !is_whole)
        }
        ([byte, rest @ ..], [first, text @ ..]) => byte == first && may_go_on(rest, text, is_whole),
    }
}
