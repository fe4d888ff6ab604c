//! A document as a reader works through it: blocks of code, each with the paragraph above it.
//!
//! What is done with a block follows from that paragraph, from the block's language, and from the
//! words behind the language, which no reader sees:
//!
//! | block | is |
//! |---|---|
//! | below `` `a/path` ``, with a colon or a comma behind it | written to that file |
//! | the same, and the paragraph ends in "as it is written" | compared with that file |
//! | `sh` | run; it must end with 0, or with 1 where `status=1` follows |
//! | `text` or `json` behind a block that was run | compared with what that printed |
//! | other `yaml` | an excerpt of a scenario, which must be usable |
//! | anything with `shown` | not run: it takes a network, another machine, or a minute |

use std::fs;

use crate::{read, root};

/// A fenced block, and the paragraph above it as one line.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The place of its fence, for complaints.
    pub(crate) place: String,
    pub(crate) above: String,
    pub(crate) language: String,
    /// The words behind the language.
    pub(crate) words: Vec<String>,
    pub(crate) text: String,
}

/// What is done with a block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Use<'a> {
    Written(&'a str),
    Compared(&'a str),
    Run { status: i32 },
    Output,
    Excerpt,
    Shown,
}

impl Block {
    pub(crate) fn used(&self) -> Use<'_> {
        let has = |word: &str| self.words.iter().any(|one| one == word);
        match (self.file(), self.language.as_str()) {
            _ if has("shown") => Use::Shown,
            (Some(file), _) if self.above.ends_with("as it is written:") => Use::Compared(file),
            (Some(file), _) => Use::Written(file),
            (None, "sh") => Use::Run {
                status: i32::from(has("status=1")),
            },
            (None, "text" | "json") => Use::Output,
            (None, "yaml") => Use::Excerpt,
            _ => panic!("{}: how is this block checked?", self.place),
        }
    }

    /// The file that the paragraph above begins with.
    fn file(&self) -> Option<&str> {
        let (path, rest) = self.above.strip_prefix('`')?.split_once('`')?;
        let is_path = path.contains('.') && rest.starts_with([',', ':']);
        let is_file = !path.contains(' ') && (is_path || rest == ":");
        is_file.then_some(path)
    }
}

/// The documents that a reader is led through: the README and the folder of documents.
pub(crate) fn documents() -> Vec<String> {
    let folder = fs::read_dir(root().join("harness/docs")).expect("the documents");
    let names = folder.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| format!("harness/docs/{}", name.to_string_lossy()));
    let mut documents: Vec<String> = names.collect();
    documents.push("README.md".to_owned());
    documents.sort();
    documents
}

pub(crate) fn blocks(document: &str) -> Vec<Block> {
    let text = read(document);
    let mut blocks = Vec::new();
    let (mut above, mut is_over) = (String::new(), true);
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        match line.strip_prefix("```") {
            None if line.is_empty() => is_over = true,
            None if is_over => {
                line.clone_into(&mut above);
                is_over = false;
            }
            None => above += &format!(" {line}"),
            Some(info) => {
                let body = lines.by_ref().take_while(|(_, line)| *line != "```");
                let text: String = body.map(|(_, line)| format!("{line}\n")).collect();
                is_over = true;
                let mut words = info.split(' ').map(str::to_owned);
                blocks.push(Block {
                    place: format!("{document}:{}", number + 1),
                    above: std::mem::take(&mut above),
                    language: words.next().unwrap_or_default(),
                    words: words.collect(),
                    text,
                });
            }
        }
    }
    blocks
}

/// The block below a paragraph that says so.
pub(crate) fn block_below(document: &str, above: &str) -> Block {
    let found = blocks(document)
        .into_iter()
        .find(|block| block.above.contains(above));
    found.unwrap_or_else(|| panic!("{document}: no block below a paragraph with {above:?}"))
}
