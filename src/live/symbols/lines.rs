//! Source lines and inlined functions, as blazesym reads them of DWARF.

use super::table::readable;
use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{CodeInfo, Input, Symbolized, Symbolizer};
use perf_records::space::Line;
use std::path::Path;
use std::sync::Arc;

/// What debug information says of an address.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The function's name, where its symbols do not tell.
    pub(super) name: Option<Arc<str>>,
    /// The line in it.
    pub(super) line: Option<Line>,
    /// What was put into it, from the innermost on, with the lines.
    pub(super) inlined: Vec<(Arc<str>, Option<Line>)>,
}

/// Reads debug information.
pub(super) struct Reader(Symbolizer);

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reader")
    }
}

impl Reader {
    pub(super) fn new() -> Self {
        let builder = Symbolizer::builder()
            .enable_auto_reload(false)
            .enable_demangling(false);
        Self(builder.build())
    }

    /// What `file` says of an address in it.
    ///
    /// # Errors
    /// Where its debug information makes no sense.
    pub(super) fn find(&self, file: &Path, address: u64) -> Result<Lines, blazesym::Error> {
        let source = Source::Elf(Elf::new(file));
        let found = self
            .0
            .symbolize_single(&source, Input::VirtOffset(address))?;
        let Symbolized::Sym(found) = found else {
            return Ok(Lines::default());
        };
        let inlined = found.inlined.iter().rev().map(|function| {
            (
                readable(&function.name),
                function.code_info.as_ref().and_then(line),
            )
        });
        Ok(Lines {
            name: (!found.name.is_empty()).then(|| readable(&found.name)),
            line: found.code_info.as_deref().and_then(line),
            inlined: inlined.collect(),
        })
    }
}

/// Line 0 is that of what the compiler made by itself.
fn line(info: &CodeInfo<'_>) -> Option<Line> {
    Some(Line {
        number: info.line.filter(|number| *number != 0)?,
        file: info.to_path().to_string_lossy().into(),
    })
}
