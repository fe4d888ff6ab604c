//! The promises of `scenarios/promises`: each holds of the program that makes it, and fails at the
//! step that a program leaves out which breaks it. No snapshot is compared: the expectations alone
//! must tell.

#[path = "mutants/files.rs"]
mod files;
#[path = "mutants/processes.rs"]
mod processes;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::project::Project;
use crate::support::require::{require, right_to_trace};

/// A program that breaks a promise: what it does instead, as edits of the scenario's workload.
struct Mutant {
    /// Which promise of `scenarios/promises`.
    scenario: &'static str,
    /// What it does or leaves out.
    breaks: &'static str,
    /// What stands in the workload, or in a file that it names, and what takes its place.
    edits: &'static [(&'static str, &'static str)],
    /// Parts of the reasons: the step that fails.
    says: &'static [&'static str],
}

/// All of them.
fn mutants() -> impl Iterator<Item = &'static Mutant> {
    files::MUTANTS.iter().chain(processes::MUTANTS)
}

/// Where the scenarios are.
fn scenarios() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("the workspace").join("scenarios")
}

/// The promises, by their names, as they are written.
fn promises() -> BTreeMap<String, String> {
    let folder = scenarios().join("promises");
    let mut promises = BTreeMap::new();
    for entry in fs::read_dir(&folder).expect("the folder of the promises") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy();
        promises.insert(name.into_owned(), fs::read_to_string(&path).expect("text"));
    }
    promises
}

/// A scenario in parts: what stands in front of a top-level key, what is below the key, and what
/// follows.
fn parts<'a>(yaml: &'a str, key: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let mut place = 0;
    let mut start = None;
    for line in yaml.split_inclusive('\n') {
        let is_key = line.starts_with(|c: char| c.is_ascii_lowercase());
        match start {
            None if is_key && line.split(':').next() == Some(key) => start = Some(place),
            Some(start) if is_key => {
                return Some((&yaml[..start], &yaml[start..place], &yaml[place..]));
            }
            _ => {}
        }
        place += line.len();
    }
    start.map(|start| (&yaml[..start], &yaml[start..], ""))
}

/// The same expectations without a snapshot.
fn without_snapshot(yaml: &str) -> String {
    let rest = match parts(yaml, "snapshot") {
        Some((before, _, after)) => format!("{before}{after}"),
        None => yaml.to_owned(),
    };
    format!("{rest}snapshot: false\n")
}

/// The files of `scenarios/workloads`, by their names.
fn workloads() -> BTreeMap<String, String> {
    let entries = fs::read_dir(scenarios().join("workloads")).expect("the workloads");
    let read = |path: PathBuf| {
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        (name, fs::read_to_string(&path).expect("text"))
    };
    entries
        .map(|entry| read(entry.expect("an entry").path()))
        .collect()
}

/// The scenario with the mutant in place of its program, and the files that it is laid out from.
/// Each edit is one of the workload: of its key or of a file that it names, and there of one place.
fn mutate(mutant: &Mutant, yaml: &str) -> (String, BTreeMap<String, String>) {
    let (before, workload, after) = parts(yaml, "workload").expect("a workload");
    let mut workload = workload.to_owned();
    let mut files = workloads();
    files.retain(|name, _| workload.contains(&format!("../workloads/{name} ")));
    for (from, to) in mutant.edits {
        let texts = files.values_mut().chain([&mut workload]);
        let mut found: Vec<&mut String> = texts.filter(|text| text.contains(from)).collect();
        let [text] = found.as_mut_slice() else {
            panic!("{}: `{from}` is in {} places", mutant.scenario, found.len());
        };
        assert_eq!(
            text.matches(from).count(),
            1,
            "{}: `{from}`",
            mutant.scenario
        );
        **text = text.replace(from, to);
    }
    (
        without_snapshot(&format!("{before}{workload}{after}")),
        files,
    )
}

/// The runs of a scenario, one for each row of its matrix: their verdicts and reasons.
fn runs<'a>(reports: &'a [Value], folder: &str) -> Vec<(&'a str, String)> {
    let prefix = format!("{folder}/promises/");
    let ours = reports.iter().filter(|report| {
        let name = report["name"].as_str().unwrap_or_default();
        report["type"] == "scenario" && name.starts_with(&prefix)
    });
    ours.map(|report| {
        let reasons = report["reasons"].as_array().into_iter().flatten();
        let reasons: Vec<&str> = reasons.filter_map(Value::as_str).collect();
        (
            report["verdict"].as_str().unwrap_or_default(),
            reasons.join("\n"),
        )
    })
    .collect()
}

/// A program that is not there skips its scenario, unless the machine is to have all.
fn may_skip() -> bool {
    std::env::var_os("HARNESS_REQUIRE").is_none_or(|value| value != "all")
}

#[test]
fn every_promise_says_who_makes_it_and_has_a_program_that_breaks_it() {
    let promises = promises();
    assert!(promises.len() >= 20, "{}", promises.len());
    for (name, yaml) in &promises {
        let comments = yaml.lines().take_while(|line| line.starts_with("# "));
        let why = comments.filter(|line| !line.starts_with("# yaml-language-server:"));
        assert!(why.count() > 0, "{name}: who promises that?");
        let broken = mutants().any(|mutant| mutant.scenario == name);
        assert!(broken, "{name}: no program breaks it");
    }
    for Mutant { scenario, .. } in mutants() {
        assert!(
            promises.contains_key(*scenario),
            "{scenario}: no such promise"
        );
    }
}

#[test]
fn every_promise_is_kept_by_the_program_that_makes_it() {
    require!(right_to_trace());
    let project = Project::new();
    for (name, yaml) in promises() {
        project.write(
            &format!("scenarios/kept/promises/{name}.yaml"),
            &without_snapshot(&yaml),
        );
    }
    for (name, text) in workloads() {
        project.write(&format!("scenarios/kept/workloads/{name}"), &text);
    }
    let reports = project
        .harness(&["run", "--format", "json", "scenarios"])
        .json();
    let runs = runs(&reports, "kept");
    assert!(runs.len() >= promises().len(), "{reports:?}");
    for (verdict, reasons) in runs {
        assert!(
            verdict == "pass" || (verdict == "skipped" && may_skip()),
            "{verdict}: {reasons}"
        );
    }
}

#[test]
fn a_program_that_breaks_a_promise_fails_at_the_step_that_it_leaves_out() {
    require!(right_to_trace());
    let project = Project::new();
    let promises = promises();
    for (number, mutant) in mutants().enumerate() {
        let Mutant { scenario, .. } = mutant;
        let (yaml, files) = mutate(mutant, &promises[*scenario]);
        project.write(
            &format!("scenarios/{number}/promises/{scenario}.yaml"),
            &yaml,
        );
        for (name, text) in files {
            project.write(&format!("scenarios/{number}/workloads/{name}"), &text);
        }
    }
    let reports = project
        .harness(&["run", "--format", "json", "scenarios"])
        .json();
    let mut wrong = Vec::new();
    for (number, mutant) in mutants().enumerate() {
        let runs = runs(&reports, &number.to_string());
        let failed = runs.iter().filter(|(verdict, _)| *verdict == "fail");
        let told = failed
            .clone()
            .any(|(_, reasons)| mutant.says.iter().all(|word| reasons.contains(word)));
        let others = ["pass", "fail", "skipped"];
        let is_judged = runs.iter().all(|(verdict, _)| others.contains(verdict));
        let is_skipped = may_skip() && runs.iter().all(|(verdict, _)| *verdict == "skipped");
        if !is_judged || !(told || is_skipped) {
            let Mutant {
                scenario,
                breaks,
                says,
                ..
            } = mutant;
            wrong.push(format!(
                "{scenario}: {breaks}: expected {says:?}, got {runs:#?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
