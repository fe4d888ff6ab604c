//! The list of kernels that scenarios are run on: its own file, read as strictly as a scenario.

use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::diagnostic::{Diagnostic, Source};
use super::explain::explain;
use super::flexible::{Entries, Flexible, deserialize_flexible};
use super::key_path::KeyPath;
use super::reader::Parsed;

/// A kernel of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSpec {
    /// What it is called.
    pub name: String,
    /// Where it comes from.
    pub source: KernelSource,
}

/// Where a kernel comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelSource {
    /// A package of Debian.
    Package {
        /// The suite, as `bookworm`.
        suite: String,
        /// The package, `linux-image-amd64` unless the list says otherwise.
        package: String,
    },
    /// A file, from the list's folder on.
    Image {
        /// The bzImage.
        image: PathBuf,
        /// Its `lib/modules/RELEASE`.
        modules: Option<PathBuf>,
    },
    /// The kernel that runs; no guest.
    Host,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenKernel {
    suite: Option<String>,
    package: Option<String>,
    image: Option<PathBuf>,
    modules: Option<PathBuf>,
}

const DEFAULT_PACKAGE: &str = "linux-image-amd64";

impl Flexible for KernelSource {
    const EXPECTED: &'static str = "{ suite: ... }, { image: ... } or `host`";
    type Mapping = WrittenKernel;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        (text == "host").then_some(Ok(Self::Host))
    }

    fn from_mapping(written: WrittenKernel) -> Option<Result<Self, String>> {
        let WrittenKernel {
            suite,
            package,
            image,
            modules,
        } = written;
        Some(match (suite, image) {
            (Some(_), Some(_)) => Err("`suite` and `image` exclude each other".to_owned()),
            (Some(_), None) if modules.is_some() => {
                Err("`modules` belongs to an `image`: a package has its own".to_owned())
            }
            (Some(suite), None) => word(&suite, "suite").and_then(|()| {
                let package = package.unwrap_or_else(|| DEFAULT_PACKAGE.to_owned());
                word(&package, "package")?;
                Ok(Self::Package { suite, package })
            }),
            (None, Some(_)) if package.is_some() => {
                Err("`package` needs a `suite`, and excludes an `image`".to_owned())
            }
            (None, Some(image)) => Ok(Self::Image { image, modules }),
            (None, None) => Err(
                "it says neither `suite` nor `image`\na package of Debian is { suite: bookworm }, a file { image: bzImage, modules: \
                 lib/modules/6.1.0 }, the kernel that runs `host`"
                    .to_owned(),
            ),
        })
    }
}

deserialize_flexible!(KernelSource);

/// What becomes part of the name of a folder, and of a word on the command line of apt.
fn word(text: &str, what: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '~');
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins && text.chars().all(is_plain) {
        return Ok(());
    }
    Err(format!(
        "`{}` is no name of a {what}: letters, digits and . _ - + ~ are",
        text.escape_debug()
    ))
}

/// Reads a list of kernels: a mapping from their names to where they come from. `file` is only its name in messages.
///
/// # Errors
///
/// The first thing that is wrong, with its place.
pub fn read_kernels(file: &Path, text: &str) -> Result<Vec<KernelSpec>, Diagnostic> {
    let source = Source::new(file, text);
    let parsed = Parsed::read(file, text)?;
    if !parsed.value.is_mapping() {
        return Err(source
            .diagnostic(0..0, "a list of kernels must be a mapping of their names")
            .with_help("as in \"6.1\": { suite: bookworm }"));
    }
    let Parsed { places, value, .. } = parsed;
    let written: Entries<KernelSource> = serde_path_to_error::deserialize(value)
        .map_err(|error| explain(&source, &places, &error))?;
    if written.0.is_empty() {
        return Err(source.diagnostic(0..0, "the list has no kernel"));
    }
    for (name, _) in &written.0 {
        word(name, "kernel").map_err(|message| {
            let at = KeyPath::root().key(name.as_str()).key_itself();
            source.diagnostic(places.range_of(&source, &at), message)
        })?;
    }
    let specs = written.0.into_iter();
    Ok(specs
        .map(|(name, source)| KernelSpec { name, source })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<KernelSpec>, (usize, usize, String)> {
        let told = read_kernels(Path::new("kernels.yaml"), text);
        told.map_err(|complaint| (complaint.line, complaint.column, complaint.message))
    }

    #[test]
    fn packages_images_and_the_host_are_read_in_their_order() {
        let list = read(
            "\"6.1\": { suite: bookworm }\ncloud: { suite: sid, package: linux-image-cloud-amd64 }\n\
             mine: { image: b/bzImage, modules: b/lib }\nhere: host\n",
        )
        .unwrap();
        let sources: Vec<_> = list
            .into_iter()
            .map(|spec| (spec.name, spec.source))
            .collect();
        let package = |suite: &str, package: &str| KernelSource::Package {
            suite: suite.to_owned(),
            package: package.to_owned(),
        };
        assert_eq!(
            sources,
            [
                ("6.1".to_owned(), package("bookworm", "linux-image-amd64")),
                (
                    "cloud".to_owned(),
                    package("sid", "linux-image-cloud-amd64")
                ),
                (
                    "mine".to_owned(),
                    KernelSource::Image {
                        image: "b/bzImage".into(),
                        modules: Some("b/lib".into())
                    }
                ),
                ("here".to_owned(), KernelSource::Host),
            ]
        );
    }

    #[test]
    fn each_complaint_has_its_place() {
        for (text, line, column, message) in [
            (
                "6.1: { suite: bookworm }\n",
                1,
                1,
                "a key must be a string, not `6.1`",
            ),
            ("a: { suit: x }\n", 1, 6, "unknown key `suit` in `a`"),
            (
                "a: host\nb: { suite: x, image: y }\n",
                2,
                4,
                "exclude each other",
            ),
            ("a: { package: x }\n", 1, 4, "neither `suite` nor `image`"),
            (
                "a: { image: x, package: y }\n",
                1,
                4,
                "`package` needs a `suite`",
            ),
            (
                "a: { suite: x, modules: y }\n",
                1,
                4,
                "`modules` belongs to an `image`",
            ),
            ("a: hots\n", 1, 4, "or `host`, not `hots`"),
            (
                "a: { suite: \"x y\" }\n",
                1,
                4,
                "`x y` is no name of a suite",
            ),
            (
                "a: host\n\"../b\": host\n",
                2,
                1,
                "`../b` is no name of a kernel",
            ),
            ("- a\n", 1, 1, "must be a mapping of their names"),
            ("{}\n", 1, 1, "the list has no kernel"),
            ("a: host\na: host\n", 2, 1, "a"),
        ] {
            let (found_line, found_column, found) = read(text).unwrap_err();
            assert!(found.contains(message), "{text}: {found}");
            assert_eq!(
                (found_line, found_column),
                (line, column),
                "{text}: {found}"
            );
        }
    }
}
