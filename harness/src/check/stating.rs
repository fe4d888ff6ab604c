//! States what a command did, and writes rules of it.

use super::handing::started_as;
use super::{Arguments, NoCheck, World};
use crate::out::note;
use crate::results::Form;
use crate::trace::Sink;
use crate::{reports, status};
use perf_live::sys::temporary;
use perf_live::units::ExitKind;
use perf_records::units::shown_path;
use std::path::{Path, PathBuf};
use trace_harness::matching::{Blaming, Handed, Realm, Statement, no_names, statement};
use trace_harness::report::Stated;
use trace_harness::run::Checked;
use trace_harness::suggest::{self, Learning};
use trace_harness::verdict::{Finding, Kind, Known, Run};

/// States what the command did, and writes rules of it; returns the exit status.
pub(super) fn state(
    arguments: &Arguments,
    blaming: &Blaming,
    handed: &[Handed],
    (checked, looked_at): (Checked, Vec<PathBuf>),
    sink: &mut Sink,
) -> Result<u8, NoCheck> {
    let Checked { report, run } = checked;
    let Some(run) = run else {
        for finding in &report.findings {
            note!("harness: {}", finding.text);
        }
        // There is nothing to write, and what was there stays.
        return Err(NoCheck::Said(status::TRACE_TROUBLE));
    };
    let command = blaming.command.as_slice();
    let mut statement = statement(blaming, started_as(), &run.trace);
    statement
        .done
        .extend(handed.iter().filter_map(Handed::done));
    let gaps = report.findings.iter().filter(|finding| is_gap(finding));
    let stated = Stated {
        command,
        statement: &statement,
        exit: run.exit.clone(),
        processes: run.trace.processes().count(),
        lost: report.lost,
        gaps: gaps.map(|finding| finding.text.clone()).collect(),
        looked_at,
    };
    let text = |form: Form| {
        let mut text = String::new();
        match form {
            Form::Json => stated.json(&mut text),
            Form::Markdown => stated.markdown(&mut text),
            _ => stated.text(&mut text),
        }
        text
    };
    // The other files are written all the same.
    let is_said = sink.put(&text(arguments.results.format));
    let files = arguments.results.forms();
    let files = files.map(|(form, path)| (path, text(form)));
    let mut all_well = reports::write_all(files);
    for note in &report.notes {
        note!("note: {note}");
    }
    let is_unnamed = arguments.blame.is_some() && statement.tests.is_empty();
    if let Some(none) = no_names(blaming.by).filter(|_| is_unnamed) {
        note!("note: {none}");
    }
    if let Some(file) = &arguments.learn {
        all_well &= learn(
            (file, arguments.learn_only.as_slice()),
            (command, &statement),
            &run,
            stated.is_complete(),
        );
    }
    is_said?;
    let exit = run.exit.yes().copied();
    Ok(match exit {
        Some(exit) if all_well && stated.is_complete() => match exit {
            ExitKind::Code(code) => u8::try_from(code).unwrap_or(status::TRACE_TROUBLE),
            ExitKind::Signal(signal) => 128 | u8::try_from(signal).unwrap_or(0),
        },
        _ => status::TRACE_TROUBLE,
    })
}

/// Whether a finding says that something is not known. Without rules nothing else is found, but for
/// how the command ended.
fn is_gap(finding: &Finding) -> bool {
    !matches!(finding.kind, Kind::Missed | Kind::Remark)
}

/// Writes rules; returns whether they were written.
fn learn(
    (file, only): (&Path, &[World]),
    (command, statement): (&[String], &Statement),
    run: &Run,
    is_complete: bool,
) -> bool {
    let Known::Yes(exit) = run.exit else {
        note!("harness: no rules were written: how the command ended is not known");
        return false;
    };
    if !is_complete {
        note!("harness: no rules were written: the statement is not complete");
        return false;
    }
    let here = std::env::current_dir().unwrap_or_default();
    let realms = Realm::ALL.into_iter();
    let realms = realms.filter(|realm| only.is_empty() || only.iter().any(|it| it.is(*realm)));
    let rules = suggest::rules(
        &Learning {
            command,
            exit,
            folder: &here.to_string_lossy(),
            homes: &homes(),
            temporary: &temporary(&here),
            realms: &realms.collect::<Vec<_>>(),
        },
        statement,
    );
    let is_written = reports::write_all([(file, rules.text())].into_iter());
    if is_written {
        note!("harness: written: {}", shown_path(file));
        if exit != ExitKind::Code(0) {
            note!("harness: these rules expect the command to end as it did: {exit}");
            note!("hint: learn from a run that passes, or take `exit` out");
        }
    }
    is_written
}

/// The folders for temporary files, as rules name them: empty for the working directory.
fn temporary(here: &Path) -> Vec<String> {
    let folders = [temporary::folder(), "/tmp".into(), "/var/tmp".into()];
    let folders = folders.into_iter().map(|folder: PathBuf| {
        let folder = std::fs::canonicalize(&folder).unwrap_or(folder);
        let named = folder.strip_prefix(here).unwrap_or(&folder);
        named.to_string_lossy().into_owned()
    });
    folders.collect()
}

/// The home of the environment, by its name and as names of files have it.
fn homes() -> Vec<String> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let home = home.filter(|home| home.is_absolute());
    let real = home.as_ref().and_then(|home| home.canonicalize().ok());
    let homes = home.iter().chain(&real);
    homes
        .map(|home| home.to_string_lossy().into_owned())
        .collect()
}
