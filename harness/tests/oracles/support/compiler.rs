//! Programs in C and C++ that a test makes for itself, as they alone know how often they do
//! something.

use std::fs;

use super::command::{Place, clean_command};
use super::require;

/// A program with this source. Its file stands beside the place, under this name, whose ending
/// tells the language: `touch.c`, `chain.cc`.
pub(crate) fn compiled(
    place: &Place,
    name: &str,
    options: &[&str],
    source: &str,
) -> Result<String, String> {
    let (stem, language) = name.rsplit_once('.').expect("a language");
    let compiler = if language == "cc" { "c++" } else { "cc" };
    require::program(compiler)?;
    let file = place.beside(name);
    fs::write(&file, source).expect("a source");
    let program = place.beside(stem);
    let program = program.to_str().expect("a path of letters");
    let words = [&[compiler], options, &["-o", program]].concat();
    let output = clean_command(&words).arg(&file).output();
    let output = output.map_err(|error| error.to_string())?;
    assert!(output.status.success(), "{words:?}: {output:?}");
    Ok(program.to_owned())
}
