//! What the command finds around it: variables, standard input, the sandbox, and how it is to end.

use super::NewError;
use crate::note;
use nix::sys::signal::Signal;
use perf_live::files;
use perf_live::sandbox::{Network, NotExecuted, Program, Root, Survivors, UserSpec, WorldSpec};
use perf_live::units::ExitKind;
use perf_records::units::shell_path;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use trace_harness::run::{Bench, PATH};

#[derive(Debug, clap::Args)]
pub(super) struct World {
    /// A variable of its environment, which otherwise has PATH, HOME and TMPDIR alone
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable)]
    env: Vec<(String, String)>,
    /// A file of text for its standard input, which the scenario then holds; `-` reads it here
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// The user that it runs as, by name or number
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Its network [default: none]
    #[arg(long, value_name = "none|host", hide_possible_values = true, value_parser = ["none", "host"])]
    network: Option<String>,
    /// The files of the host [default: readonly]
    #[arg(long, value_name = "readonly|host", hide_possible_values = true, value_parser = ["readonly", "host"])]
    root: Option<String>,
    /// Whether processes may outlive it [default: forbidden]
    #[arg(long, value_name = "forbidden|allowed", hide_possible_values = true, value_parser = ["forbidden", "allowed"])]
    survivors: Option<String>,
    /// How it is to end: a status or a signal's name
    #[arg(long, value_name = "STATUS", default_value = "0", value_parser = end)]
    exit: ExitKind,
}

impl World {
    pub(super) fn env(&self) -> BTreeMap<String, String> {
        self.env.iter().cloned().collect()
    }

    /// Reads what its standard input is to hold.
    pub(super) fn stdin(&self) -> Result<Option<String>, NewError> {
        let Some(path) = &self.stdin else {
            return Ok(None);
        };
        // A workload has an empty standard input by itself.
        if path == Path::new("/dev/null") {
            return Ok(None);
        }
        let is_here = path.as_path() == Path::new("-");
        let text = match is_here {
            true => files::LAID
                .read(std::io::stdin())
                .and_then(|bytes| String::from_utf8(bytes).map_err(files::InputError::NotText)),
            false => files::text(path, files::LAID),
        };
        text.map(Some)
            .map_err(|error| NewError::Read(path.clone(), error.into()))
    }

    pub(super) fn sandbox(&self) -> WorldSpec {
        let is = |word: &Option<String>, wanted: &str| word.as_deref() == Some(wanted);
        let mut world = WorldSpec {
            user: self.user.as_ref().map(|user| match user.parse() {
                Ok(id) => UserSpec::Id(id),
                Err(_) => UserSpec::Name(user.clone()),
            }),
            ..WorldSpec::default()
        };
        if is(&self.network, "host") {
            world.network = Network::Host;
        }
        if is(&self.root, "host") {
            world.root = Root::Host;
        }
        if is(&self.survivors, "allowed") {
            world.survivors = Survivors::Allowed;
        }
        world
    }

    /// Refuses a command that is another program there, as the shell's is hidden, and says so of
    /// one that is another for another reason.
    pub(super) fn finds(&self, name: Option<&String>, bench: &Bench<'_>) -> Result<(), NewError> {
        let Some(name) = name.filter(|_| !self.env().contains_key("PATH")) else {
            return Ok(());
        };
        let name = OsStr::new(name);
        // What is not found is told of by the run.
        if let Ok(found) = Program::find(name, OsStr::new(PATH), Path::new("/")) {
            let world = bench.worlds.own(&self.sandbox(), None);
            let found = found.or_another(name, &world)?;
            if let Some(other) = found.other_here(name) {
                note!(
                    "harness: `{}` is `{}` in the sandbox, and `{}` in your shell",
                    name.display(),
                    found.path().display(),
                    other.display()
                );
            }
        }
        Ok(())
    }

    pub(super) fn exit(&self) -> ExitKind {
        self.exit
    }
}

/// What lets a command be executed, in options: there is no scenario yet whose keys could say it.
pub(super) fn way_in(error: &NotExecuted) -> Option<String> {
    let from_here =
        "or copy it below the current directory, and name it from there: it is laid in then";
    match error {
        NotExecuted::Elsewhere {
            found,
            hidden: None,
            ..
        } => Some(format!(
            "name it by its path, {}, {from_here}",
            shell_path(found)
        )),
        NotExecuted::Elsewhere { .. }
        | NotExecuted::Another { .. }
        | NotExecuted::Hidden { .. }
        | NotExecuted::HiddenInterpreter { .. } => Some(format!(
            "--root host shows it the files of this machine, {from_here}"
        )),
        _ => error.hint(),
    }
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a variable has a name and a value: LANG=C".to_owned()),
    }
}

/// Reads `3` or `SIGTERM`.
fn end(text: &str) -> Result<ExitKind, String> {
    if let Ok(status) = text.parse::<u8>() {
        return Ok(ExitKind::Code(status.into()));
    }
    match Signal::from_str(text) {
        Ok(signal) => Ok(ExitKind::Signal(signal as i32)),
        Err(_) => Err(
            "a program ends with a status from 0 to 255, or by a signal such as SIGTERM".to_owned(),
        ),
    }
}

/// Returns how `--exit` says that it is to end in this way.
pub(super) fn word(exit: ExitKind) -> String {
    match exit {
        ExitKind::Code(code) => code.to_string(),
        ExitKind::Signal(number) => match Signal::try_from(number) {
            Ok(signal) => signal.to_string(),
            Err(_) => number.to_string(),
        },
    }
}
