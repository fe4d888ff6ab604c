//! The key `sandbox`.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::flexible::{Flexible, NoMapping, Text, Written, deserialize_flexible};
use super::nearest::one_of;
use super::quantity::{ByteSize, Timeout};
use super::schema::{either, number, of, some_text, words};
use super::workload::Mode;
use perf_live::sandbox::{Addresses, Network, Root, Survivors, UserSpec, WorldSpec};
use perf_live::units::Limits;

/// The world that the workload runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SandboxSpec {
    /// The bare host.
    None,
    /// One of its own.
    Own(WorldSpec),
}

impl Default for SandboxSpec {
    fn default() -> Self {
        Self::Own(WorldSpec::default())
    }
}

/// A type that is one of two words: what it is called in a complaint, and the words.
macro_rules! two_words {
    ($type:ident, $what:literal, $one:literal: $first:ident, $other:literal: $second:ident) => {
        impl Text for $type {
            const EXPECTED: &'static str = concat!("`", $one, "` or `", $other, "`");

            fn schema() -> Schema {
                words([$one, $other])
            }

            fn read(text: &str) -> Option<Result<Self, String>> {
                one_of(
                    text,
                    $what,
                    &[($one, Self::$first), ($other, Self::$second)],
                )
            }
        }
    };
}

two_words!(Network, "network", "none": None, "host": Host);
two_words!(Root, "root", "readonly": ReadOnly, "host": Host);
two_words!(Addresses, "choice of addresses", "fixed": Fixed, "random": Random);
two_words!(Survivors, "choice of survivors", "forbidden": Forbidden, "allowed": Allowed);

impl Flexible for UserSpec {
    const EXPECTED: &'static str = "a user's name or number";
    type Mapping = NoMapping;

    fn schema(_: &mut SchemaGenerator) -> Schema {
        either([some_text(), number(0)])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(if text.is_empty() || text.contains(['\0', ':', '\n']) {
            Err("this is no user's name".to_owned())
        } else {
            Ok(Self::Name(text.to_owned()))
        })
    }

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        // The kernel uses the highest number for "no user".
        Some(match u32::try_from(number) {
            Ok(id) if id != u32::MAX => Ok(Self::Id(id)),
            _ => Err("this is no user's number".to_owned()),
        })
    }
}

/// The name of a machine.
#[derive(Debug)]
struct Hostname(String);

// `__NEW_UTS_LEN`, include/uapi/linux/utsname.h.
const MAX_HOSTNAME: usize = 64;

impl Text for Hostname {
    const EXPECTED: &'static str = "a string such as `sandbox`";
    const LIKE: &'static str = "^[A-Za-z0-9.-]{1,64}$";

    fn read(text: &str) -> Option<Result<Self, String>> {
        let is_word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.');
        Some(if text.is_empty() || !text.bytes().all(is_word) {
            Err("a machine's name has letters, digits, `-` and `.` only".to_owned())
        } else if text.len() > MAX_HOSTNAME {
            Err(format!("a machine's name has {MAX_HOSTNAME} bytes at most"))
        } else {
            Ok(Self(text.to_owned()))
        })
    }
}

/// A number of something, above zero.
#[derive(Debug)]
struct Number(u64);

impl Flexible for Number {
    const EXPECTED: &'static str = "a number above zero";
    type Mapping = NoMapping;

    fn schema(_: &mut SchemaGenerator) -> Schema {
        number(1)
    }

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        (number > 0).then_some(Ok(Self(number)))
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
struct WrittenLimits {
    cpu: Option<Timeout>,
    memory: Option<ByteSize>,
    processes: Option<Number>,
    open_files: Option<Number>,
    file_size: Option<ByteSize>,
    output: Option<ByteSize>,
}

impl WrittenLimits {
    fn limits(self) -> Limits {
        let default = Limits::default();
        Limits {
            cpu: self.cpu.map(|time| time.0),
            memory: self.memory.map(|size| size.0),
            processes: self.processes.map(|n| n.0).or(default.processes),
            open_files: self.open_files.map(|n| n.0),
            file_size: self.file_size.map(|size| size.0),
            output: self.output.map(|size| size.0),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenSandbox {
    #[serde(default)]
    network: Written<Network>,
    #[serde(default)]
    root: Written<Root>,
    user: Option<Written<UserSpec>>,
    hostname: Option<Hostname>,
    umask: Option<Mode>,
    #[serde(default)]
    addresses: Written<Addresses>,
    #[serde(default)]
    limits: WrittenLimits,
    #[serde(default)]
    survivors: Written<Survivors>,
}

impl Flexible for SandboxSpec {
    const EXPECTED: &'static str = "`none`, or a mapping with `network`, `root`, `user`, `hostname`, `umask`, `addresses`, `limits` or \
`survivors`";
    type Mapping = WrittenSandbox;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([words(["none"]), of::<WrittenSandbox>(generator)])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        (text == "none").then_some(Ok(Self::None))
    }

    fn from_mapping(written: WrittenSandbox) -> Option<Result<Self, String>> {
        let default = WorldSpec::default();
        let umask = written.umask.map_or(default.umask, |mode| mode.0);
        if umask > 0o777 {
            return Some(Err("a `umask` is \"0777\" at most".to_owned()));
        }
        Some(Ok(Self::Own(WorldSpec {
            network: written.network.0,
            root: written.root.0,
            user: written.user.map(|user| user.0),
            hostname: written.hostname.map_or(default.hostname, |name| name.0),
            umask,
            addresses: written.addresses.0,
            limits: written.limits.limits(),
            survivors: written.survivors.0,
        })))
    }
}

deserialize_flexible!(SandboxSpec, Hostname, Number);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::read;
    use std::path::Path;
    use std::time::Duration;

    fn sandbox(text: &str) -> Result<SandboxSpec, String> {
        let text = format!("description: x\nworkload: {{ run: [ls] }}\nsandbox: {text}\n");
        match read(Path::new("x.yaml"), &text) {
            Ok(scenario) => Ok(scenario.sandbox),
            Err(complaint) => Err(complaint.message),
        }
    }

    #[test]
    fn what_is_not_said_has_its_default() {
        assert_eq!(sandbox("{}"), Ok(SandboxSpec::default()));
        assert_eq!(sandbox("none"), Ok(SandboxSpec::None));
        let Ok(SandboxSpec::Own(world)) = sandbox("{ limits: { cpu: 500ms, memory: 1MiB } }")
        else {
            panic!("a world of its own");
        };
        let expected = Limits {
            cpu: Some(Duration::from_millis(500)),
            memory: Some(1 << 20),
            ..Limits::default()
        };
        assert_eq!(world.limits, expected);
    }

    #[test]
    fn each_choice_is_read() {
        let read = sandbox(
            "{ network: host, root: host, user: nobody, hostname: a-b.c, umask: \"0077\", addresses: random, survivors: allowed, \
             limits: { processes: 3, open_files: 4, file_size: 5KiB, output: 6KiB } }",
        );
        let expected = WorldSpec {
            network: Network::Host,
            root: Root::Host,
            user: Some(UserSpec::Name("nobody".to_owned())),
            hostname: "a-b.c".to_owned(),
            umask: 0o077,
            addresses: Addresses::Random,
            survivors: Survivors::Allowed,
            limits: Limits {
                processes: Some(3),
                open_files: Some(4),
                file_size: Some(5 << 10),
                output: Some(6 << 10),
                ..Limits::NONE
            },
        };
        assert_eq!(read, Ok(SandboxSpec::Own(expected)));
    }

    #[test]
    fn what_no_kernel_takes_is_refused() {
        for (text, part) in [
            ("bare", "must be `none`, or a mapping"),
            ("{ network: hots }", "unknown network `hots`"),
            ("{ root: 1 }", "must be `readonly` or `host`"),
            ("{ user: \"\" }", "no user's name"),
            ("{ user: 4294967295 }", "no user's number"),
            ("{ hostname: a_b }", "letters, digits"),
            ("{ umask: \"7777\" }", "at most"),
            (
                "{ limits: { processes: 0 } }",
                "must be a number above zero",
            ),
            ("{ limits: { memory: 0 } }", "larger than zero"),
            ("{ limits: { memry: 1KiB } }", "unknown key `memry`"),
        ] {
            let complaint = sandbox(text).unwrap_err();
            assert!(complaint.contains(part), "{text}: {complaint}");
        }
    }
}
