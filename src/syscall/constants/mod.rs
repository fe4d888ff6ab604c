//! Named numbers: flags and commands.

/// A set of names for the values of an argument.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Constants {
    /// What to call the set.
    pub name: &'static str,
}

/// Writes a value by its names.
pub fn write_constants(out: &mut String, constants: &Constants, word: u64) {
    let _ = constants;
    out.push_str(itoa::Buffer::new().format(word));
}
