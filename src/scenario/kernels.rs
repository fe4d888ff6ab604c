//! The list of kernels that scenarios are run on: its own file, read as strictly as a scenario.

use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::diagnostic::{Diagnostic, Source};
use super::explain::explain;
use super::flexible::{Entries, Flexible, deserialize_flexible};
use super::hardware::{Hardware, WrittenHardware};
use super::key_path::KeyPath;
use super::quantity::ByteSize;
use super::reader::Parsed;

/// A kernel of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSpec {
    /// What it is called.
    pub name: String,
    /// Where the kernel comes from.
    pub source: KernelSource,
    /// What its guest has of its own.
    pub hardware: Hardware,
    /// More words for its command line; empty for the kernel that runs.
    pub append: String,
    /// A program with its arguments under which whatever runs there runs; may be empty. A program
    /// with a slash is a path from the list's folder on, any other is looked up there.
    pub under: Vec<String>,
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
    host: Option<bool>,
    memory: Option<ByteSize>,
    cpus: Option<u32>,
    qemu: Option<Vec<String>>,
    append: Option<String>,
    under: Option<Vec<String>>,
}

/// All that a list says of a kernel but its name.
#[derive(Debug)]
pub(super) struct Described {
    source: KernelSource,
    hardware: Hardware,
    append: String,
    under: Vec<String>,
}

const DEFAULT_PACKAGE: &str = "linux-image-amd64";

impl Flexible for Described {
    const EXPECTED: &'static str = "{ suite: ... }, { image: ... } or `host`";
    type Mapping = WrittenKernel;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        let host = Self {
            source: KernelSource::Host,
            hardware: Hardware::default(),
            append: String::new(),
            under: Vec::new(),
        };
        (text == "host").then_some(Ok(host))
    }

    fn from_mapping(mut written: WrittenKernel) -> Option<Result<Self, String>> {
        let (append, under) = (written.append.take(), written.under.take());
        let hardware = WrittenHardware {
            memory: written.memory.take(),
            cpus: written.cpus.take(),
            qemu: written.qemu.take(),
        };
        Some(source(written).and_then(|source| {
            Ok(Self {
                hardware: hardware.read(source == KernelSource::Host)?,
                append: appended(&source, append)?,
                under: program(under)?,
                source,
            })
        }))
    }
}

fn source(written: WrittenKernel) -> Result<KernelSource, String> {
    let WrittenKernel {
        suite,
        package,
        image,
        modules,
        host,
        ..
    } = written;
    match (suite, image, host) {
        (Some(_), Some(_), _) => Err("`suite` and `image` exclude each other".to_owned()),
        (None, None, Some(true)) if package.is_none() && modules.is_none() => {
            Ok(KernelSource::Host)
        }
        (.., Some(_)) => Err("`host` is `true`, and excludes `suite` and `image` with all that belongs to them".to_owned()),
        (Some(_), None, None) if modules.is_some() => {
            Err("`modules` belongs to an `image`: a package has its own".to_owned())
        }
        (Some(suite), None, None) => {
            word(&suite, "suite")?;
            let package = package.unwrap_or_else(|| DEFAULT_PACKAGE.to_owned());
            word(&package, "package")?;
            Ok(KernelSource::Package { suite, package })
        }
        (None, Some(_), None) if package.is_some() => {
            Err("`package` needs a `suite`, and excludes an `image`".to_owned())
        }
        (None, Some(image), None) => Ok(KernelSource::Image { image, modules }),
        (None, None, None) => Err(
            "it says neither `suite` nor `image`\na package of Debian is { suite: bookworm }, a file { image: bzImage, modules: \
             lib/modules/6.1.0 }, the kernel that runs `host` or { host: true }"
                .to_owned(),
        ),
    }
}

/// What a list has a kernel be started with.
fn appended(source: &KernelSource, words: Option<String>) -> Result<String, String> {
    match (source, words) {
        (_, None) => Ok(String::new()),
        (KernelSource::Host, Some(_)) => {
            Err("`append` is for a kernel that is booted, and the host's runs already".to_owned())
        }
        (_, Some(words)) if words.chars().any(char::is_control) => {
            Err("`append` is one line of words".to_owned())
        }
        (_, Some(words)) => Ok(words),
    }
}

fn program(words: Option<Vec<String>>) -> Result<Vec<String>, String> {
    match words {
        Some(words) if words.first().is_none_or(String::is_empty) => {
            Err("`under` is a program with its arguments, as in [taskset, \"1\"]".to_owned())
        }
        Some(words) if words.iter().any(|word| word.contains('\0')) => {
            Err("a word of `under` cannot hold a NUL".to_owned())
        }
        words => Ok(words.unwrap_or_default()),
    }
}

deserialize_flexible!(Described);

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

/// Reads a list of kernels: a mapping from their names to where they come from. `file` is only its
/// name in messages.
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
    let written: Entries<Described> = serde_path_to_error::deserialize(value)
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
    let spec = |(name, described): (String, Described)| KernelSpec {
        name,
        source: described.source,
        hardware: described.hardware,
        append: described.append,
        under: described.under,
    };
    Ok(specs.map(spec).collect())
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
    fn a_kernel_may_be_started_otherwise_and_all_in_it_run_under_a_program() {
        let list = read(
            "a: { suite: sid, append: \"sysctl.fs.protected_symlinks=0 quiet\" }\nb: { host: true, under: [taskset, \"1\"] }\n",
        )
        .unwrap();
        assert_eq!(list[0].append, "sysctl.fs.protected_symlinks=0 quiet");
        assert_eq!(list[0].hardware, Hardware::default());
        assert!(list[0].under.is_empty());
        assert_eq!(list[1].source, KernelSource::Host);
        assert_eq!(list[1].under, ["taskset", "1"]);
    }

    #[test]
    fn a_guest_may_have_hardware_of_its_own() {
        let text =
            "a: { image: b, memory: 512MiB, cpus: 4, qemu: [-device, \"virtio-rng-pci,id=r\"] }\n";
        let list = read(text).unwrap();
        let hardware = Hardware {
            memory: Some(512),
            cpus: Some(4),
            qemu: vec!["-device".to_owned(), "virtio-rng-pci,id=r".to_owned()],
        };
        assert_eq!(list[0].hardware, hardware);
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
            (
                "a: host\nb: { host: true, append: x }\n",
                2,
                4,
                "the host's runs already",
            ),
            (
                "a: { host: true, cpus: 2 }\n",
                1,
                4,
                "for a kernel that is booted",
            ),
            ("a: { suite: x, memory: 64MiB }\n", 1, 4, "at least 256MiB"),
            (
                "a: { suite: x, memory: lots }\n",
                1,
                24,
                "`a.memory` must be a size",
            ),
            ("a: { suite: x, cpus: 0 }\n", 1, 4, "from 1 to 64"),
            ("a: { suite: x, qemu: [] }\n", 1, 4, "`qemu` has words"),
            ("a: { host: false }\n", 1, 4, "`host` is `true`"),
            ("a: { host: true, suite: x }\n", 1, 4, "`host` is `true`"),
            ("a: { host: true, modules: x }\n", 1, 4, "`host` is `true`"),
            (
                "a: { suite: x, append: \"a\\nb\" }\n",
                1,
                4,
                "one line of words",
            ),
            (
                "a: { suite: x, append: [a] }\n",
                1,
                24,
                "`a.append` must be a string",
            ),
            ("a: { suite: x, under: [] }\n", 1, 4, "`under` is a program"),
            (
                "a: { suite: x, under: perf }\n",
                1,
                23,
                "`a.under` must be a list",
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
