//! One trial for each file of `scenarios/`, or for each row of its `matrix`: what `cargo test` and
//! `cargo nextest run` show of them.
//!
//! The trials are those of `harness run scenarios`, with libtest's arguments in front. The machine
//! is not looked at before a trial needs it, so that a mere list costs little and needs no rights.
//!
//! Environment: `HARNESS_UPDATE` and `INSTA_UPDATE` say in insta's words which traces become
//! snapshots, and none does where `CI` is set; `INSTA_FORCE_PASS=1`, which `cargo insta test` sets,
//! forgives a trace that differs from its snapshot and nothing else; `HARNESS_REQUIRE=all` makes
//! failures of skips.

#[path = "scenarios/arguments.rs"]
mod arguments;
#[path = "scenarios/interrupt.rs"]
mod interrupt;
#[path = "scenarios/machine.rs"]
mod machine;
#[path = "../harness-test/src/update.rs"]
mod update;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use perf_live::errors::chain;
use trace_harness::run::{Item, discover};

use machine::Machine;

fn main() -> ExitCode {
    let (arguments, filters) = arguments::read(std::env::args_os());
    let machine = match Machine::new() {
        Ok(machine) => Arc::new(machine),
        Err(message) => {
            eprintln!("scenarios: {message}");
            return ExitCode::FAILURE;
        }
    };
    let trials = match find() {
        Ok(items) => items
            .into_iter()
            .filter(|item| filters.accept(&item.name))
            .map(|item| trial(item, &arguments, &machine))
            .collect(),
        Err(message) => vec![Trial::test("scenarios", || Err(message.into()))],
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The scenario files, named from the root of the repository, as `harness run scenarios` names them
/// there: their names reach the snapshots that are written.
fn find() -> Result<Vec<Item>, String> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let root = package.parent().unwrap_or(Path::new("."));
    std::env::set_current_dir(root).map_err(|error| format!("`{}`: {error}", root.display()))?;
    let items = discover(&["scenarios".into()])
        .map_err(|(path, error)| format!("cannot read `{}`: {}", path.display(), chain(&error)))?;
    if items.is_empty() {
        return Err("there is no scenario (*.yaml) in `scenarios`".to_owned());
    }
    // In the order of their names.
    for (item, next) in items.iter().zip(items.iter().skip(1)) {
        if item.name == next.name {
            let (file, other) = (item.file.display(), next.file.display());
            return Err(format!("`{file}` and `{other}` have the same name"));
        }
    }
    Ok(items)
}

/// Nextest has no word for a trial that finds out that it has to be skipped: it would be a pass.
/// There, and only there, the machine is looked at before the list is printed.
fn trial(item: Item, arguments: &Arguments, machine: &Arc<Machine>) -> Trial {
    let name = item.name.clone();
    let is_selected = {
        let by_name = Arguments {
            ignored: false,
            ..arguments.clone()
        };
        !by_name.is_filtered_out(&Trial::test(&name, || Ok(())))
    };
    let is_skipped = is_nextest() && is_selected && machine.must_skip(&item);
    let machine = Arc::clone(machine);
    Trial::ignorable_test(name, move || machine.run(&item).map_err(Failed::from))
        .with_ignored_flag(is_skipped)
}

fn is_nextest() -> bool {
    std::env::var_os("NEXTEST").is_some_and(|value| value == "1")
}
