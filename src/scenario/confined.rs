//! The key `expect.confined`: closed worlds over whatever call does it.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::SeqAccess;

use super::address::AddressPattern;
use super::flexible::{Flexible, NoMapping, Text, deserialize_flexible, elements};
use super::nearest::{did_you_mean, unknown};
use super::schema::{either, words};

/// What a run may do. Of a key that is `None` it may do anything, of an empty list nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confined {
    /// The files that it may write, make, remove or change, as globs.
    pub writes: Option<Vec<String>>,
    /// The files outside of its folder that it may read, as globs.
    pub reads: Option<Vec<String>>,
    /// The addresses that it may reach and serve.
    pub network: Option<Vec<AddressPattern>>,
    /// The programs that it may execute besides its own: names, or globs of paths.
    pub programs: Option<Vec<String>>,
    /// The calls by which it may change its privileges.
    pub privileges: Option<Vec<String>>,
    /// Whether it may do what nearly every program does.
    pub has_system: bool,
}

/// The preset of what nearly every program does.
const SYSTEM: &str = "system";

pub(super) fn fault_of_glob(glob: &str) -> Option<String> {
    if glob.trim().is_empty() {
        return Some("the path is empty".to_owned());
    }
    let shown = glob.escape_debug();
    if glob.split('/').any(|part| part == "..") {
        let fault = format!("`{shown}` has `..`, and the paths that it is compared with have none");
        return Some(fault);
    }
    let (letter, what) = match of_shell(glob).next()? {
        (_, '~') => ('~', "a home folder"),
        (_, letter) => (letter, "the value of a variable"),
    };
    Some(format!(
        "in `{shown}` the `{letter}` stands for itself, and not for {what}, as in a shell\n\
         write the path as it is (/tmp/**), or from the working directory (build/**); for a name \
         with that letter write [{letter}]"
    ))
}

/// The letters by which a shell would put something else there, and where they are: a `~` in front,
/// and a `$` before a name.
fn of_shell(glob: &str) -> impl Iterator<Item = (usize, char)> {
    let is_name = |next: char| next.is_ascii_alphabetic() || matches!(next, '_' | '{');
    glob.char_indices()
        .filter(move |(at, letter)| match letter {
            '~' => *at == 0,
            '$' => glob
                .get(at.saturating_add(1)..)
                .is_some_and(|rest| rest.starts_with(is_name)),
            _ => false,
        })
}

/// A glob with each letter in brackets that a shell would put something else for, and a `?` for
/// each U+FFFD, which stands for a byte that is none of UTF-8: so it is read as an element of
/// `writes`, `reads` or `programs`.
///
/// ```
/// use trace_harness::scenario::literal;
/// assert_eq!(literal("~/a/$b*"), "[~]/a/[$]b*");
/// assert_eq!(literal("a~/Foo$1.class"), "a~/Foo$1.class");
/// assert_eq!(literal("k\u{fffd}"), "k?");
/// ```
#[must_use]
pub fn literal(glob: &str) -> String {
    let places: Vec<usize> = of_shell(glob).map(|(at, _)| at).collect();
    let mut literal = String::new();
    for (at, letter) in glob.char_indices() {
        match (letter, places.contains(&at)) {
            (char::REPLACEMENT_CHARACTER, _) => literal.push('?'),
            (_, true) => literal.extend(['[', letter, ']']),
            (_, false) => literal.push(letter),
        }
    }
    literal
}

/// A path, or a glob of paths.
#[derive(Debug)]
struct PathGlob(String);

impl Text for PathGlob {
    const EXPECTED: &'static str = "a path or a glob such as \"data/**\"";

    fn read(text: &str) -> Option<Result<Self, String>> {
        Some(match fault_of_glob(text) {
            Some(fault) => Err(fault),
            None => Ok(Self(text.to_owned())),
        })
    }
}

/// Calls that change privileges, or `none` of them.
#[derive(Debug)]
struct Privileges(Vec<String>);

/// The calls that change what a process may do, or let it into others.
pub const PRIVILEGED: &[&str] = &[
    "acct",
    "add_key",
    "adjtimex",
    "bpf",
    "capset",
    "chroot",
    "clock_adjtime",
    "clock_settime",
    "clone",
    "clone3",
    "delete_module",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "init_module",
    "ioperm",
    "iopl",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "lsm_set_self_attr",
    "mount",
    "mount_setattr",
    "move_mount",
    "open_by_handle_at",
    "open_tree",
    "open_tree_attr",
    "perf_event_open",
    "pidfd_getfd",
    "pivot_root",
    "prctl",
    "process_madvise",
    "process_vm_readv",
    "process_vm_writev",
    "ptrace",
    "quotactl",
    "quotactl_fd",
    "reboot",
    "request_key",
    "setdomainname",
    "setfsgid",
    "setfsuid",
    "setgid",
    "setgroups",
    "sethostname",
    "setns",
    "setregid",
    "setresgid",
    "setresuid",
    "setreuid",
    "settimeofday",
    "setuid",
    "swapoff",
    "swapon",
    "syslog",
    "umount2",
    "unshare",
    "vhangup",
];

#[derive(Debug)]
struct Privileged(String);

impl Text for Privileged {
    const EXPECTED: &'static str = "a call that changes privileges, such as `setuid`";

    fn schema() -> Schema {
        words(PRIVILEGED.iter().copied())
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        Some(match PRIVILEGED.contains(&text) {
            true => Ok(Self(text.to_owned())),
            false => Err(unknown(
                "call that changes privileges",
                text,
                did_you_mean(text, PRIVILEGED.iter().copied()),
            )),
        })
    }
}

impl Flexible for Privileges {
    const EXPECTED: &'static str = "`none`, or a list of calls such as [setuid, setgid]";
    type Mapping = NoMapping;

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let call = generator.subschema_for::<Privileged>();
        let calls = json_schema!({ "type": "array", "items": call });
        either([words(["none"]), calls])
    }

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        (text == "none").then(|| Ok(Self(Vec::new())))
    }

    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Option<Result<Self, A::Error>> {
        let calls = elements(list);
        Some(calls.map(|calls: Vec<Privileged>| Self(calls.into_iter().map(|it| it.0).collect())))
    }
}

#[derive(Debug)]
struct Preset;

impl Text for Preset {
    const EXPECTED: &'static str = "the name of a preset, `system`";

    fn schema() -> Schema {
        words([SYSTEM])
    }

    fn read(text: &str) -> Option<Result<Self, String>> {
        Some(match text {
            SYSTEM => Ok(Self),
            _ => Err(unknown(
                "preset",
                text,
                Some(format!("there is `{SYSTEM}`")),
            )),
        })
    }
}

/// A name of a program or a path of one.
#[derive(Debug)]
struct Program(String);

impl Text for Program {
    const EXPECTED: &'static str = "a program's name or path";

    fn read(text: &str) -> Option<Result<Self, String>> {
        Some(match fault_of_glob(text) {
            Some(fault) => Err(fault),
            None => Ok(Self(text.to_owned())),
        })
    }
}

deserialize_flexible!(PathGlob, Privileges, Privileged, Preset, Program);

/// What a run may do; a key that is left out confines nothing, an empty list forbids all.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub(super) struct WrittenConfined {
    /// The files that it may write, make, remove or change: paths and globs.
    writes: Option<Vec<PathGlob>>,
    /// The files outside of its folder whose contents it may read: paths and globs.
    reads: Option<Vec<PathGlob>>,
    /// The addresses that it may reach and serve.
    network: Option<Vec<AddressPattern>>,
    /// The programs that it may execute besides its own: names, paths and globs.
    programs: Option<Vec<Program>>,
    /// The calls by which it may change its privileges, or `none`.
    privileges: Option<Privileges>,
    /// What else it may do: `system` (the default) is what nearly every program does.
    presets: Option<Vec<Preset>>,
}

impl WrittenConfined {
    /// What was written; `None` where it confines nothing.
    pub(super) fn read(self) -> Option<Confined> {
        let has_system = self.presets.is_none_or(|presets| !presets.is_empty());
        let globs = |globs: Vec<PathGlob>| globs.into_iter().map(|it| it.0).collect();
        let programs = |all: Vec<Program>| all.into_iter().map(|it| it.0).collect();
        let confined = Confined {
            writes: self.writes.map(globs),
            reads: self.reads.map(globs),
            network: self.network,
            programs: self.programs.map(programs),
            privileges: self.privileges.map(|it| it.0),
            has_system,
        };
        let is_anything = confined.writes.is_some()
            || confined.reads.is_some()
            || confined.network.is_some()
            || confined.programs.is_some()
            || confined.privileges.is_some();
        is_anything.then_some(confined)
    }
}
