//! A complaint that points at its place in the file.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// The text of one scenario file and the name it is called by in messages.
#[derive(Clone, Debug)]
pub(super) struct Source {
    file: PathBuf,
    text: Arc<str>,
    /// The row of `matrix` that is read, for messages; empty without a matrix.
    row: String,
}

/// What is wrong with a scenario, and where; shown as rustc shows its errors.
///
/// [`Display`](fmt::Display) is the same as [`render`](Self::render) without colour.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The file as its reader was told to call it.
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1 in characters.
    pub column: usize,
    /// What is wrong, in one line without a full stop.
    pub message: String,
    /// What to do about it, in one line.
    pub help: Option<String>,
    excerpt: Box<Excerpt>,
}

/// The part of the source that a diagnostic shows, in byte ranges of the text.
#[derive(Clone, Debug)]
struct Excerpt {
    text: Arc<str>,
    primary: Range<usize>,
    related: Option<(Range<usize>, &'static str)>,
}

impl Source {
    /// Takes the text without a leading byte order mark, which is no character of any column.
    pub(super) fn new(file: &Path, text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self {
            file: file.to_owned(),
            text: Arc::from(text),
            row: String::new(),
        }
    }

    /// The same, where each complaint is about a row of `matrix`.
    pub(super) fn in_row(&self, label: String) -> Self {
        Self {
            row: label,
            ..self.clone()
        }
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is a row of `matrix` that is read.
    pub(super) fn is_row(&self) -> bool {
        !self.row.is_empty()
    }

    /// A complaint about the bytes `at`, of which the first line is marked.
    pub(super) fn diagnostic(&self, at: Range<usize>, message: impl Into<String>) -> Diagnostic {
        let primary = first_line(&self.text, at);
        let before = self.text.get(..primary.start).unwrap_or_default();
        let line_start = before
            .rfind('\n')
            .map_or(0, |newline| newline.saturating_add(1));
        let in_line = before.get(line_start..).unwrap_or_default();
        let mut message = message.into();
        if !self.row.is_empty() {
            message = format!("{message} (in the row `{}` of `matrix`)", self.row);
        }
        Diagnostic {
            file: self.file.clone(),
            line: before.matches('\n').count().saturating_add(1),
            column: in_line.chars().count().saturating_add(1),
            message,
            help: None,
            excerpt: Box::new(Excerpt {
                text: Arc::clone(&self.text),
                primary,
                related: None,
            }),
        }
    }
}

impl Diagnostic {
    /// The same complaint with advice.
    #[must_use]
    pub fn with_help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }

    /// The same complaint with a second place marked.
    pub(super) fn with_related(mut self, at: Range<usize>, label: &'static str) -> Self {
        self.excerpt.related = Some((first_line(&self.excerpt.text, at), label));
        self
    }

    /// The message, the place, the line of the file with the fault underlined, and the advice; no
    /// newline at the end.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        let renderer = if color {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let primary = AnnotationKind::Primary.span(self.excerpt.primary.clone());
        let mut snippet = Snippet::source(&*self.excerpt.text)
            .path(
                self.file
                    .to_string_lossy()
                    .replace(char::is_control, "\u{fffd}"),
            )
            .annotation(primary);
        if let Some((span, label)) = &self.excerpt.related {
            snippet = snippet.annotation(AnnotationKind::Context.span(span.clone()).label(*label));
        }
        let mut report = Level::ERROR.primary_title(&*self.message).element(snippet);
        if let Some(help) = &self.help {
            report = report.element(Level::HELP.message(&**help));
        }
        renderer.render(&[report])
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostic {}

/// The part of `at` that stands on its first line, blanks at its end left out.
///
/// The end of the file, and any range outside of the text, is the end of the last line that holds
/// something.
fn first_line(text: &str, at: Range<usize>) -> Range<usize> {
    let last = text.trim_end().len();
    match text.get(at.clone()) {
        Some(marked) if at.start < last => {
            let line = marked
                .split(['\n', '\r'])
                .next()
                .unwrap_or_default()
                .trim_end();
            at.start..at.start.saturating_add(line.len())
        }
        _ => last..last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str, at: Range<usize>) -> (usize, usize, String) {
        let diagnostic = Source::new(Path::new("x.yaml"), text).diagnostic(at, "it is wrong");
        (diagnostic.line, diagnostic.column, diagnostic.to_string())
    }

    #[test]
    fn columns_count_characters_and_agree_with_the_snippet() {
        let text = "# ü\nkéy: \"日本\" # end\n";
        let start = text.find('"').unwrap();
        let (line, column, shown) = rendered(text, start..start + "\"日本\"".len());
        assert_eq!((line, column), (2, 6));
        assert_eq!(
            shown,
            "\
error: it is wrong
 --> x.yaml:2:6
  |
2 | kéy: \"日本\" # end
  |      ^^^^^^"
        );
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        let (line, column, _) = rendered("\u{feff}abc", 1..2);
        assert_eq!((line, column), (1, 2));
    }

    #[test]
    fn a_range_over_several_lines_marks_the_first() {
        let (.., shown) = rendered("a:\r\n  b\r\n", 0..8);
        assert_eq!(
            shown,
            "\
error: it is wrong
 --> x.yaml:1:1
  |
1 | a:
  | ^^"
        );
    }

    #[test]
    fn the_end_of_the_file_is_a_place() {
        for (text, place) in [
            ("", (1, 1)),
            ("a", (1, 2)),
            ("a\n\n", (1, 2)),
            ("\n", (1, 1)),
        ] {
            let (line, column, shown) = rendered(text, text.len()..text.len());
            assert_eq!((line, column), place);
            assert!(
                shown.starts_with(&format!(
                    "error: it is wrong\n --> x.yaml:{line}:{column}\n"
                )),
                "{shown}"
            );
        }
    }

    #[test]
    fn a_range_outside_the_text_or_inside_a_character_is_no_panic() {
        assert_eq!(rendered("é", 1..2).0, 1);
        assert_eq!(rendered("abc", 7..9).0, 1);
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let source = Source::new(Path::new("x\u{1b}[2J.yaml"), "a: \u{1b}[31m\n");
        let shown = source.diagnostic(0..1, "bad \u{1b}[31m thing").to_string();
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }

    #[test]
    fn colour_only_on_request() {
        let diagnostic = Source::new(Path::new("x.yaml"), "a: b\n").diagnostic(0..1, "it is wrong");
        assert!(diagnostic.render(true).contains("\u{1b}["));
        assert!(!diagnostic.render(false).contains("\u{1b}["));
    }
}
