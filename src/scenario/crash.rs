//! The key `crash`: what a power cut may leave, and what a recovery must make of it.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use std::collections::BTreeMap;

use super::expect::{ExpectedOutput, WrittenExit};
use super::flexible::{Entries, Flexible, Text, deserialize_flexible};
use super::nearest::one_of;
use super::quantity::{ByteSize, Timeout};
use super::schema::{either, number, of, one_key, words};
use super::workload::Workload;
use super::{Expect, FileAfter};
use crate::crash::{Model, Watched};

/// How many states are tried where the author wrote nothing.
const STATES: usize = 5000;

/// The states of a run's working directory that a power cut may leave, and what is run on each.
#[derive(Clone, Debug)]
pub struct CrashSpec {
    /// What a file system promises.
    pub model: Model,
    /// The folders whose state a power cut may change.
    pub watch: Watched,
    /// What is run on every state.
    pub recovers: Workload,
    /// What must come out of that.
    pub expect: Expect,
    /// Where bytes are a promise.
    pub acknowledged: Promises,
    /// At most so many states are tried; above zero.
    pub states: usize,
    /// Chooses among more states than that.
    pub seed: u64,
}

/// Where a program says what it has saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Promises {
    /// On standard output.
    #[default]
    Stdout,
    /// On standard error.
    Stderr,
    /// To peers, by sockets that are bound to this port.
    Port(u16),
    /// To peers, by sockets of this name: a path as the program binds it, or from the working
    /// directory; `@` begins a name that is no file's.
    Socket(String),
}

impl Promises {
    /// What it is called in reports.
    #[must_use]
    pub fn word(&self) -> String {
        match self {
            Self::Stdout => "stdout".to_owned(),
            Self::Stderr => "stderr".to_owned(),
            Self::Port(port) => format!("port {port}"),
            Self::Socket(name) => format!("the socket `{}`", name.escape_debug()),
        }
    }

    /// Whether they are made by sockets.
    #[must_use]
    pub fn are_sent(&self) -> bool {
        matches!(self, Self::Port(_) | Self::Socket(_))
    }
}

/// The keys of `crash`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `recovers`")]
pub(super) struct WrittenCrash {
    /// What the file system promises.
    pub(super) model: Option<WrittenModel>,
    /// The folders whose state a power cut may change, by their paths from the working directory;
    /// without it all of that. Each is made before the run where `files` make none.
    pub(super) watch: Option<Vec<String>>,
    /// What is run on every state.
    pub(super) recovers: WrittenRecovery,
    /// Where the program says what it has saved: what it wrote there up to the power cut is laid
    /// into the file `acknowledged`.
    pub(super) acknowledged: Option<Promises>,
    /// At most so many states are tried.
    pub(super) states: Option<MostStates>,
    /// Chooses among more states than that.
    pub(super) seed: Option<u64>,
}

impl WrittenCrash {
    pub(super) fn most_states(&self) -> usize {
        self.states.as_ref().map_or(STATES, |states| states.0)
    }
}

/// The keys of `recovers`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping with `run` or `shell`")]
pub(super) struct WrittenRecovery {
    /// The program and its arguments.
    pub(super) run: Option<Vec<String>>,
    /// A text for `/bin/sh -c`.
    pub(super) shell: Option<String>,
    /// Variables; without it those of `workload`.
    pub(super) env: Option<BTreeMap<String, String>>,
    /// What stands on standard input.
    pub(super) stdin: Option<String>,
    /// How long it may take.
    pub(super) timeout: Option<Timeout>,
    /// What must come out of it; without it status 0.
    #[serde(default)]
    pub(super) expect: WrittenOutcome,
}

/// What must come out of a recovery.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenOutcome {
    /// How it must end: a status, or `{ signal: SIGKILL }`; without it with status 0.
    pub(super) exit: Option<WrittenExit>,
    /// What it must write to standard output.
    pub(super) stdout: Option<ExpectedOutput>,
    /// What it must write to standard error.
    pub(super) stderr: Option<ExpectedOutput>,
    /// What must be in the working directory after it, by path or by a glob.
    pub(super) files_after: Option<Entries<FileAfter>>,
}

/// A model by its name, or by what differs from one.
#[derive(Clone, Debug)]
pub(super) struct WrittenModel(pub(super) Model);

/// What differs from a model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelMapping {
    /// The model that all else is as in.
    base: ModelName,
    /// Into pieces of how many bytes the data of a write may be torn.
    torn: Option<ByteSize>,
}

#[derive(Debug)]
struct ModelName(Model);

/// How many states are tried at most.
#[derive(Debug)]
pub(super) struct MostStates(pub(super) usize);

/// The socket by which promises are made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PromisingSocket {
    /// The port that it is bound to, of IPv4 or IPv6.
    port: Option<u16>,
    /// Its name: a path as the program binds it, or from the working directory; `@` begins a name
    /// that is no file's.
    socket: Option<String>,
}

impl Flexible for Promises {
    const EXPECTED: &'static str = "`stdout`, `stderr`, or a mapping with `port` or `socket`";
    type Mapping = PromisingSocket;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let socket = one_key::<PromisingSocket>(generator);
        either([words(["stdout", "stderr"]), socket])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        let known = [("stdout", false), ("stderr", true)];
        let is_error = one_of(text, "stream", &known)?;
        Some(is_error.map(|is_error| if is_error { Self::Stderr } else { Self::Stdout }))
    }

    fn from_mapping(mapping: PromisingSocket) -> Option<Result<Self, String>> {
        let name = mapping.socket.filter(|name| !matches!(&**name, "" | "@"));
        Some(match (mapping.port, name) {
            (Some(port), None) if port > 0 => Ok(Self::Port(port)),
            (None, Some(name)) => Ok(Self::Socket(name)),
            _ => Err("a socket that promises has a `port` above 0 or the name `socket`".to_owned()),
        })
    }
}

impl Text for ModelName {
    const EXPECTED: &'static str = "`posix`, `ext4`, `xfs`, `btrfs` or `ordered`";

    fn schema() -> Schema {
        words(Model::NAMES)
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        let known = Model::NAMES.map(|name| (name, name));
        let name = one_of(text, "model", &known)?;
        Some(name.and_then(|name| {
            let model = Model::named(name).map(Self);
            model.ok_or_else(|| format!("there is no model `{name}`"))
        }))
    }
}

impl Flexible for WrittenModel {
    const EXPECTED: &'static str =
        "`posix`, `ext4`, `xfs`, `btrfs`, `ordered`, or a mapping with `base`";
    type Mapping = ModelMapping;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([words(Model::NAMES), of::<ModelMapping>(generator)])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(ModelName::read(text)?.map(|name| Self(name.0)))
    }

    fn from_mapping(mapping: ModelMapping) -> Option<Result<Self, String>> {
        let base = mapping.base.0;
        Some(Ok(Self(match mapping.torn {
            Some(ByteSize(torn)) => Model { torn, ..base },
            None => base,
        })))
    }
}

impl Flexible for MostStates {
    const EXPECTED: &'static str = "a number above zero";
    type Mapping = super::flexible::NoMapping;

    fn schema(_: &mut SchemaGenerator) -> Schema {
        number(1)
    }

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        let number = usize::try_from(number).ok().filter(|number| *number > 0)?;
        Some(Ok(Self(number)))
    }
}

deserialize_flexible!(Promises, ModelName, WrittenModel, MostStates);
