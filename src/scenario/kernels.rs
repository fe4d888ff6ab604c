//! The list of kernels that scenarios are run on: its own file, read as strictly as a scenario.

use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::diagnostic::{Diagnostic, Source};
use super::explain::explain;
use super::flexible::{Entries, Flexible, deserialize_flexible};
use super::guests::{Architecture, Guest, WrittenGuest};
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
    /// The guest that it is booted in; that of the kernel that runs is never used.
    pub guest: Guest,
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
        /// The package, `linux-image-amd64` or that of the guest's architecture unless the list
        /// says otherwise.
        package: String,
    },
    /// A file, from the list's folder on.
    Image {
        /// The kernel's image: a bzImage, or arm64's Image.
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
    arch: Option<String>,
    root: Option<PathBuf>,
    share: Option<String>,
    harness: Option<PathBuf>,
    append: Option<String>,
    under: Option<Vec<String>>,
}

/// All that a list says of a kernel but its name.
#[derive(Debug)]
pub(super) struct Described {
    source: KernelSource,
    hardware: Hardware,
    guest: Guest,
    append: String,
    under: Vec<String>,
}

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
            guest: Guest::default(),
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
        let guest = WrittenGuest {
            arch: written.arch.take(),
            root: written.root.take(),
            share: written.share.take(),
            harness: written.harness.take(),
        };
        let is_host = written.host.is_some();
        Some(guest.read(is_host).and_then(|guest| {
            let source = source(written, guest.arch)?;
            Ok(Self {
                hardware: hardware.read(source == KernelSource::Host)?,
                append: appended(&source, append)?,
                under: program(under)?,
                source,
                guest,
            })
        }))
    }
}

fn source(written: WrittenKernel, arch: Architecture) -> Result<KernelSource, String> {
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
            let package = package.unwrap_or_else(|| format!("linux-image-{}", arch.word()));
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
        guest: described.guest,
        append: described.append,
        under: described.under,
    };
    Ok(specs.map(spec).collect())
}

#[cfg(test)]
mod tests;
