//! What power cuts really leave: random programs on a real file system, whose block device records
//! each write (`dm-log-writes`), and each folder that a part of these writes leaves, mounted and
//! read. A model of [`trace_harness::crash`] must allow each of them.
//!
//! It takes a guest of its own, as `ci/power-cuts` makes one: it loads modules and mounts.

#[path = "power-cuts/cuts.rs"]
mod cuts;
#[path = "power-cuts/dm.rs"]
mod dm;
#[path = "power-cuts/doing.rs"]
mod doing;
#[path = "power-cuts/folder.rs"]
mod folder;
#[path = "power-cuts/machine.rs"]
mod machine;
#[path = "power-cuts/modules.rs"]
mod modules;
#[path = "power-cuts/programs.rs"]
mod programs;
#[path = "power-cuts/shown.rs"]
mod shown;

use std::collections::HashSet;
use std::error::Error;
use std::io::Write;

use cuts::{Cut, cuts};
use machine::{FileSystem, Machine};
use programs::{Dice, Program};
use trace_harness::crash::{Model, Pieces, Tree};

const USAGE: &str = "\
usage: power-cuts FS PROGRAMS SEED [CUTS [MODEL...]]
  FS is ext4, xfs or btrfs; CUTS is how many power cuts are made of a program at most [60]; each
  MODEL must allow what they leave [FS and posix]. Status: 0 all are allowed, 1 some are not,
  2 nothing is known.";

/// How many folders that a model does not allow are printed.
const PRINTED: usize = 12;

type Failed = Box<dyn Error>;

/// What was seen of all programs.
#[derive(Default)]
struct Seen {
    programs: usize,
    cuts: usize,
    unmountable: usize,
    /// Folders that differ, of each program.
    folders: usize,
    /// Of these, those that are neither how the program found it nor how it left it.
    between: usize,
    /// By model, the folders that it does not allow, and the programs with one.
    refused: Vec<(usize, usize)>,
    printed: usize,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let status = match run(&words) {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            say(&format!("power-cuts: {error}"));
            2
        }
    };
    std::process::exit(status);
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // If nobody reads there is nobody to tell.
    let _gone = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn run(words: &[String]) -> Result<bool, Failed> {
    let [fs, programs, seed, rest @ ..] = words else {
        return Err(USAGE.into());
    };
    let file_system = FileSystem::named(fs).ok_or(USAGE)?;
    let (programs, seed): (u64, u64) = (programs.parse()?, seed.parse()?);
    let most = rest.first().map_or(Ok(60), |most| most.parse())?;
    let names: Vec<String> = match rest.get(1..).unwrap_or_default() {
        [] => vec![fs.clone(), "posix".to_owned()],
        names => names.to_vec(),
    };
    let models = names.iter().map(|name| Model::named(name).ok_or(USAGE));
    let models: Vec<Model> = models.collect::<Result<_, _>>()?;
    let machine = Machine::new(file_system)?;
    let mut seen = Seen {
        refused: vec![(0, 0); models.len()],
        ..Seen::default()
    };
    for number in 0..programs {
        let program = Program::new(&mut Dice::new(seed, number));
        let context = |error: Failed| format!("program {number} of seed {seed}: {error}");
        one(&machine, &program, (number, most), &models, &mut seen).map_err(context)?;
        if number % 20 == 19 {
            seen.tell(fs, &models);
        }
    }
    seen.tell(fs, &models);
    if seen.between == 0 {
        return Err("no power cut left anything but the beginning or the end".into());
    }
    Ok(seen.refused.iter().all(|(folders, _)| *folders == 0))
}

/// Runs a program, and makes its power cuts.
fn one(
    machine: &Machine,
    program: &Program,
    (number, most): (u64, usize),
    models: &[Model],
    seen: &mut Seen,
) -> Result<(), Failed> {
    let (written, last) = machine.record(|folder| program.run(folder))?;
    if last != program.log.last() {
        return Err(format!(
            "the folder is not what the program made of it:\n{}\n{}",
            shown::tree(&last),
            shown::tree(&program.log.last())
        )
        .into());
    }
    let pieces: Vec<Pieces> = models
        .iter()
        .map(|model| Pieces::new(&program.log, model))
        .collect();
    let mut found: HashSet<(usize, Tree)> = HashSet::new();
    let mut folders: HashSet<Tree> = HashSet::new();
    let mut refused = vec![0; models.len()];
    for Cut { returned, writes } in cuts(&written, most, &mut Dice::new(number, 1)) {
        seen.cuts += 1;
        let Some(tree) = machine.after(&written, &writes)? else {
            seen.unmountable += 1;
            continue;
        };
        folders.insert(tree.clone());
        if !found.insert((returned, tree.clone())) {
            continue;
        }
        for ((model, pieces), refused) in models.iter().zip(&pieces).zip(&mut refused) {
            if pieces.allow(returned, &tree) {
                continue;
            }
            *refused += 1;
            if *refused == 1 && seen.printed < PRINTED {
                seen.printed += 1;
                say(&format!(
                    "program {number}, a power cut after {returned} steps: {} does not allow\n{}\
                     of\n{}",
                    model.name,
                    shown::tree(&tree),
                    program.shown()
                ));
            }
        }
    }
    seen.programs += 1;
    seen.folders += folders.len();
    let ends = [program.log.start().clone(), last];
    seen.between += folders.iter().filter(|tree| !ends.contains(tree)).count();
    for ((folders, programs), refused) in seen.refused.iter_mut().zip(refused) {
        *folders += refused;
        *programs += usize::from(refused > 0);
    }
    Ok(())
}

impl Seen {
    fn tell(&self, fs: &str, models: &[Model]) {
        let Self {
            programs,
            cuts,
            unmountable,
            folders,
            between,
            ..
        } = self;
        say(&format!(
            "{fs}: {programs} programs, {cuts} power cuts, {folders} folders, {between} of them \
             neither the first nor the last, {unmountable} cuts that cannot be mounted"
        ));
        for (model, (folders, programs)) in models.iter().zip(&self.refused) {
            say(&format!(
                "  {} does not allow {folders} folders of {programs} programs",
                model.name
            ));
        }
    }
}
