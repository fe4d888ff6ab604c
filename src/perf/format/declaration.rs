//! A field's C declaration, taken apart.

use super::shape::Extent;

/// What precedes and follows the name: `char comm[16]` is base `char`, dimension `16`.
pub(super) struct Declaration<'a> {
    /// What `__data_loc` or `__rel_loc` says, if the declaration begins with one.
    pub(super) locator: Option<Extent>,
    /// The C type without locator and dimension.
    pub(super) base: &'a str,
    /// The text between the brackets, empty for `[]`.
    pub(super) dimension: Option<&'a str>,
}

impl Declaration<'_> {
    /// The C type in one piece, the dimension behind it.
    pub(super) fn spelled(&self) -> String {
        let locator = match self.locator {
            Some(Extent::DataLoc) => "__data_loc ",
            Some(Extent::RelLoc) => "__rel_loc ",
            _ => "",
        };
        let base = self.base;
        match self.dimension {
            Some(dimension) => format!("{locator}{base}[{dimension}]"),
            None => format!("{locator}{base}"),
        }
    }
}

/// Takes a declaration apart; nothing if it has no name or no type.
///
/// Seen are `TYPE NAME`, `TYPE NAME[DIMENSION]`, `__data_loc TYPE[] NAME` and `__rel_loc TYPE
/// NAME[]`.
pub(super) fn parse(text: &str) -> Option<(&str, Declaration<'_>)> {
    let text = text.trim();
    let (text, after_name) = match text.strip_suffix(']') {
        Some(open) => {
            let (text, dimension) = open.split_once('[')?;
            (text.trim_end(), Some(dimension))
        }
        None => (text, None),
    };
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let before = text.trim_end_matches(is_of_name);
    let name = text.strip_prefix(before).filter(|name| !name.is_empty())?;
    let (locator, c_type) = locator(before.trim_end());
    let (base, dimension) = match c_type
        .strip_suffix(']')
        .and_then(|c_type| c_type.split_once('['))
    {
        Some((base, before_name)) => (base.trim_end(), Some(before_name)),
        None => (c_type, after_name),
    };
    let declaration = Declaration {
        locator,
        base,
        dimension,
    };
    (!base.is_empty()).then_some((name, declaration))
}

fn locator(c_type: &str) -> (Option<Extent>, &str) {
    for (keyword, extent) in [
        ("__data_loc ", Extent::DataLoc),
        ("__rel_loc ", Extent::RelLoc),
    ] {
        if let Some(rest) = c_type.strip_prefix(keyword) {
            return (Some(extent), rest.trim_start());
        }
    }
    (None, c_type)
}
