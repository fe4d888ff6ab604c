//! What must be in the working directory after the run.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::counts::CountRange;
use super::expect::{ExpectedOutput, NeededText, RegexText};
use super::flexible::{Flexible, Text, Written, deserialize_flexible};
use super::nearest::one_of;
use super::schema::{either, of, text, words};
use super::workload::Mode;
use perf_live::sandbox::FileType;

/// What a file must be after the run.
#[derive(Clone, Debug, Default)]
pub struct FileAfter {
    /// Whether it must be there; where a glob says `true`, at least one must. Where `false`,
    /// nothing else is said.
    pub exists: bool,
    /// What a regular file must hold.
    pub content: Option<ExpectedOutput>,
    /// What it must be.
    pub kind: Option<FileType>,
    /// Its permission bits.
    pub mode: Option<u32>,
    /// What a symbolic link must say.
    pub target: Option<String>,
    /// The size in bytes of a regular file.
    pub size: Option<CountRange>,
}

/// What a file must be after the run; at least one of these keys.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenFileAfter {
    /// Whether it must be there; `true` where anything else is said of it.
    exists: Option<bool>,
    /// Exactly what it must hold.
    content: Option<String>,
    /// What it must hold somewhere.
    contains: Option<NeededText>,
    /// A regular expression that must match somewhere in it.
    matches: Option<RegexText>,
    /// What it must be: `file`, `directory`, `symlink`, `fifo`, `socket` or `device`.
    kind: Option<Written<FileType>>,
    /// Its permission bits, as octal digits.
    mode: Option<Mode>,
    /// What the symbolic link must say.
    target: Option<String>,
    /// The size of the file in bytes: `5`, `"1..=4"`, `"1.."`, `"..=3"`.
    size: Option<CountRange>,
}

impl WrittenFileAfter {
    /// The keys that are there, but for `exists`.
    fn keys(&self) -> Vec<&'static str> {
        let all = [
            ("content", self.content.is_some()),
            ("contains", self.contains.is_some()),
            ("matches", self.matches.is_some()),
            ("size", self.size.is_some()),
            ("target", self.target.is_some()),
            ("kind", self.kind.is_some()),
            ("mode", self.mode.is_some()),
        ];
        let written = all.into_iter().filter(|(_, is_there)| *is_there);
        written.map(|(key, _)| key).collect()
    }

    /// What is wrong with the keys as a whole.
    fn fault(&self) -> Option<String> {
        let keys = self.keys();
        let first = keys.first().copied();
        let fault = match (self.exists, first) {
            (None, None) => {
                return Some(
                    "this says nothing of the file\nwrite { exists: true } or { exists: false }"
                        .to_owned(),
                );
            }
            (Some(false), Some(key)) => {
                format!("`exists: false` and `{key}` exclude each other")
            }
            _ => return self.excluding(&keys),
        };
        Some(fault)
    }

    fn excluding(&self, keys: &[&'static str]) -> Option<String> {
        let has = |wanted: &&&str| keys.contains(*wanted);
        // Only a regular file holds something, and only a link leads somewhere.
        let mut holds = ["content", "contains", "matches", "target"]
            .iter()
            .filter(has);
        if let (Some(one), Some(other)) = (holds.next(), holds.next()) {
            return Some(format!("`{one}` and `{other}` exclude each other"));
        }
        if self.size.is_some()
            && let Some(other) = ["content", "target"].iter().find(has)
        {
            return Some(format!(
                "`{other}` tells the size already: leave `size` out"
            ));
        }
        let kind = self.kind.as_ref()?.0;
        let of_files = ["content", "contains", "matches", "size"];
        let misplaced = match kind {
            FileType::File => ["target"].iter().find(has),
            FileType::Symlink => of_files.iter().chain(&["mode"]).find(has),
            _ => of_files.iter().chain(&["target"]).find(has),
        }?;
        let what = kind.word();
        Some(format!(
            "`kind: {what}` and `{misplaced}` exclude each other"
        ))
    }
}

impl Flexible for FileAfter {
    const EXPECTED: &'static str = "a string, or a mapping with `exists`, `content`, `contains`, `matches`, `kind`, `mode`, `target` or `size`";
    type Mapping = WrittenFileAfter;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([
            text(),
            json_schema!({ "allOf": [of::<WrittenFileAfter>(generator)], "minProperties": 1 }),
        ])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(Ok(Self {
            exists: true,
            content: Some(ExpectedOutput::Exact(text.to_owned())),
            ..Self::default()
        }))
    }

    fn from_flag(flag: bool) -> Option<Result<Self, String>> {
        let help = format!("this stands in a mapping\nwrite {{ exists: {flag} }}");
        Some(Err(help))
    }

    fn from_mapping(written: WrittenFileAfter) -> Option<Result<Self, String>> {
        if let Some(fault) = written.fault() {
            return Some(Err(fault));
        }
        let exact = written.content.map(ExpectedOutput::Exact);
        let contains = written.contains;
        let contains = contains.map(|NeededText(text)| ExpectedOutput::Contains(text));
        let matches = written.matches;
        let matches = matches.map(|RegexText(regex)| ExpectedOutput::Matches(regex));
        Some(Ok(Self {
            exists: written.exists.unwrap_or(true),
            content: exact.or(contains).or(matches),
            kind: written.kind.map(|kind| kind.0),
            mode: written.mode.map(|Mode(bits)| bits),
            target: written.target,
            size: written.size,
        }))
    }
}

impl Text for FileType {
    const EXPECTED: &'static str = "`file`, `directory`, `symlink`, `fifo`, `socket` or `device`";

    fn schema() -> Schema {
        words(Self::ALL.map(Self::word))
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        let known = Self::ALL.map(|kind| (kind.word(), kind));
        one_of(text, "kind", &known)
    }
}

deserialize_flexible!(FileAfter);
