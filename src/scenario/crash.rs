//! The key `crash`: what a power cut may leave, and what a recovery must make of it.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::{Display, Write};

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
    /// Behind the promise with this text the power cuts begin; not empty.
    pub since: Option<String>,
    /// At most so many states are tried; above zero.
    pub states: usize,
    /// Chooses among more states than that.
    pub seed: u64,
    /// What becomes of rings of operations.
    pub io_uring: Rings,
}

/// What becomes of a ring of operations (`io_uring_setup`, `io_setup`), which does what no call
/// shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rings {
    /// There is none: the call is answered with `ENOSYS`.
    #[default]
    Refuse,
    /// It is made, and the run is incomplete.
    Incomplete,
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
    /// The power cuts begin when the program has written this text where it promises
    /// (`acknowledged`), the first time; what it did before prepares the test.
    pub(super) since: Option<String>,
    /// At most so many states are tried.
    pub(super) states: Option<MostStates>,
    /// Chooses among more states than that.
    pub(super) seed: Option<u64>,
    /// What becomes of io_uring: `refuse`, the default, answers `ENOSYS`, so that the program does
    /// without; with `incomplete` the run says nothing where the program makes a ring.
    pub(super) io_uring: Option<Rings>,
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
    /// Into pieces of how many bytes the data of a write may be torn; 0: into none.
    torn: Option<Unit>,
    /// In steps of how many bytes a write that appends makes the file grow; 0: at once.
    page: Option<Unit>,
    /// Whether the size of an append never comes before the data of the blocks that it begins.
    size_after_data: Option<bool>,
    /// Whether changes of names, attributes and ends of files reach the disk in their order.
    folders_in_order: Option<bool>,
    /// Whether a sync makes all earlier ones of these durable.
    sync_commits: Option<bool>,
    /// Whether a sync of a file makes the names durable that it was given.
    sync_brings_name: Option<bool>,
    /// Whether a rename that replaces a file comes behind the growth of what it moves.
    replace_after_data: Option<bool>,
    /// Whether a sync of a file finds that its name was exchanged.
    exchange_touches: Option<bool>,
    /// Whether a file that moves to another folder is never in both.
    moves_whole: Option<bool>,
    /// Whether `sync` and `syncfs` make durable what was written over other data.
    sync_all_flushes: Option<bool>,
    /// Whether a file that is emptied and then gets a name may be as long as before.
    emptied_uncovers: Option<bool>,
    /// Whether all changes reach the disk in their order, none torn.
    in_order: Option<bool>,
}

/// Into pieces of how many bytes something is cut; 0: into none.
#[derive(Debug)]
struct Unit(u64);

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

impl Text for Rings {
    const EXPECTED: &'static str = "`refuse` or `incomplete`";

    fn schema() -> Schema {
        words(["refuse", "incomplete"])
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        let known = [("refuse", Self::Refuse), ("incomplete", Self::Incomplete)];
        one_of(text, "way", &known)
    }
}

impl Flexible for Unit {
    const EXPECTED: &'static str = "a number of bytes, as it is or as `4KiB`";
    type Mapping = super::flexible::NoMapping;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        either([number(0), <ByteSize as Flexible>::schema(generator)])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(ByteSize::from_text(text)?.map(|ByteSize(bytes)| Self(bytes)))
    }

    fn from_number(number: u64) -> Option<Result<Self, String>> {
        Some(Ok(Self(number)))
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
        let mut model = mapping.base.0;
        let mut differs = String::new();
        let mut differ = |key: &str, value: &dyn Display| {
            // Writing to a string never fails.
            let _ = write!(differs, ", {key}: {value}");
        };
        for (key, written, size) in [
            ("torn", mapping.torn, &mut model.torn),
            ("page", mapping.page, &mut model.page),
        ] {
            if let Some(Unit(bytes)) = written {
                *size = bytes;
                differ(key, &bytes);
            }
        }
        let switches = [
            (
                "size_after_data",
                mapping.size_after_data,
                &mut model.size_after_data,
            ),
            (
                "folders_in_order",
                mapping.folders_in_order,
                &mut model.folders_in_order,
            ),
            (
                "sync_commits",
                mapping.sync_commits,
                &mut model.sync_commits,
            ),
            (
                "sync_brings_name",
                mapping.sync_brings_name,
                &mut model.sync_brings_name,
            ),
            (
                "replace_after_data",
                mapping.replace_after_data,
                &mut model.replace_after_data,
            ),
            (
                "exchange_touches",
                mapping.exchange_touches,
                &mut model.exchange_touches,
            ),
            ("moves_whole", mapping.moves_whole, &mut model.moves_whole),
            (
                "sync_all_flushes",
                mapping.sync_all_flushes,
                &mut model.sync_all_flushes,
            ),
            (
                "emptied_uncovers",
                mapping.emptied_uncovers,
                &mut model.emptied_uncovers,
            ),
            ("in_order", mapping.in_order, &mut model.in_order),
        ];
        for (key, written, switch) in switches {
            if let Some(is_on) = written {
                *switch = is_on;
                differ(key, &is_on);
            }
        }
        model.name.push_str(&differs);
        Some(Ok(Self(model)))
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

deserialize_flexible!(Promises, Rings, Unit, ModelName, WrittenModel, MostStates);
