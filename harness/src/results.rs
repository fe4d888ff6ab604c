//! The forms in which `harness run` and `harness merge` report, and the files that they write.

use crate::kcidb::{self, Submitter};
use crate::out;
use crate::reports::{self, begin_all};
use crate::shard::Share;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use trace_harness::report::{self, Submission};
use trace_harness::run::ScenarioReport;
use trace_harness::verdict::Verdict;

#[derive(Debug, clap::Args)]
pub(crate) struct Results {
    /// The form of the report
    #[arg(long, value_enum, default_value_t = Form::Human)]
    pub(crate) format: Form,
    /// Also write the report to FILE, in the form of its ending: .txt, .json or .jsonl (lines),
    /// .xml (JUnit), .tap (KTAP), .kcidb, .md (Markdown), .html (a single page). Folders on the way
    /// are made below the working directory alone; may be given several times
    #[arg(long = "report", value_name = "FILE", value_parser = to_file)]
    files: Vec<(Form, PathBuf)>,
    #[command(flatten)]
    submitter: Submitter,
    /// The build that was tested, by its id in KCIDB; else one of which the release alone is known
    #[arg(long = "kcidb-build", value_name = "ID", value_parser = kcidb::build)]
    build: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    #[value(alias = "text")]
    Human,
    /// A line of JSON for each scenario, then one for all
    Json,
    Junit,
    /// Annotations of GitHub Actions, at the lines of scenarios
    Github,
    /// KTAP version 1
    Ktap,
    /// One object for KCIDB, the kernel CI systems' database
    Kcidb,
    Markdown,
    /// A single page
    Html,
}

/// Returns the form of a file by its ending.
pub(crate) fn to_file(name: &str) -> Result<(Form, PathBuf), String> {
    let path = PathBuf::from(name);
    let ending = path.extension().map(|ending| ending.to_string_lossy());
    let form = match ending.as_deref() {
        Some("txt") => Form::Human,
        Some("json" | "jsonl") => Form::Json,
        Some("xml") => Form::Junit,
        Some("tap") => Form::Ktap,
        Some("kcidb") => Form::Kcidb,
        Some("md") => Form::Markdown,
        Some("html") => Form::Html,
        _ => {
            let text = "its ending must say the form: .txt, .json, .jsonl, .xml, .tap, .kcidb, .md or .html";
            return Err(text.to_owned());
        }
    };
    Ok((form, path))
}

/// The results of a run or of a merge.
pub(crate) struct Whole<'a> {
    /// By name.
    pub(crate) reports: &'a [ScenarioReport],
    /// How they are told to KCIDB.
    pub(crate) submission: Submission,
    /// The shard that they are of.
    pub(crate) share: Option<&'a Share>,
    /// Whether JSON has the traces.
    pub(crate) traces: bool,
    /// Lines before those of scenarios in JSON.
    pub(crate) head: &'a str,
}

impl Whole<'_> {
    fn verdicts(&self) -> Vec<Verdict> {
        self.reports.iter().map(|report| report.verdict).collect()
    }

    /// Returns all of it in a form.
    pub(crate) fn text(&self, form: Form, color: bool) -> String {
        let mut text = String::new();
        match form {
            Form::Human => {
                for report in self.reports {
                    report::human(&mut text, report, color);
                }
                text += &self.summary(form);
            }
            Form::Json => {
                text.push_str(self.head);
                for report in self.reports {
                    text += &json(report, self.traces);
                }
                text += &self.summary(form);
            }
            Form::Junit => report::junit(&mut text, self.reports),
            Form::Github => report::github(&mut text, self.reports, &below_workspace()),
            Form::Ktap => report::ktap(&mut text, self.reports),
            Form::Kcidb => report::kcidb(&mut text, self.reports, &self.submission),
            Form::Markdown => report::markdown(&mut text, self.reports),
            Form::Html => report::html(&mut text, self.reports, SystemTime::now()),
        }
        text
    }

    /// Returns what follows the lines of scenarios in the forms that have lines.
    pub(crate) fn summary(&self, form: Form) -> String {
        let mut text = String::new();
        match form {
            Form::Json => report::suite_json(&mut text, &self.verdicts()),
            _ => {
                text = report::counted(self.reports);
                if let Some(share) = self.share {
                    text = text + " " + &share.said();
                }
                text.push('\n');
            }
        }
        text
    }
}

/// Returns what stands in a report's place until it is whole.
pub(crate) fn unfinished(form: Form, submission: &Submission) -> String {
    let mut text = String::new();
    let all = [report::unfinished()];
    match form {
        Form::Json => report::unfinished_json(&mut text),
        Form::Human => report::human(&mut text, &all[0], false),
        Form::Junit => report::junit(&mut text, &all),
        Form::Github => report::github(&mut text, &all, Path::new("")),
        Form::Ktap => report::ktap(&mut text, &all),
        Form::Kcidb => report::kcidb(&mut text, &all, submission),
        Form::Markdown => report::markdown(&mut text, &all),
        Form::Html => report::html(&mut text, &all, SystemTime::now()),
    }
    text
}

/// A scenario's line.
pub(crate) fn json(report: &ScenarioReport, traces: bool) -> String {
    let mut text = String::new();
    match traces || report.trace.is_none() {
        true => report::scenario_json(&mut text, report),
        false => {
            let trace = None;
            let without = ScenarioReport {
                trace,
                ..report.clone()
            };
            report::scenario_json(&mut text, &without);
        }
    }
    text
}

impl Results {
    /// Checks that the files can be written, before time is spent on what they will hold, and has
    /// each say that the run has not finished.
    pub(crate) fn begin(&self) -> Result<(), u8> {
        let submission = self.submission();
        let files = self.files.iter();
        let files = files.map(|(form, path)| (path.as_path(), unfinished(*form, &submission)));
        begin_all(files)
    }

    /// How the results are told to KCIDB.
    pub(crate) fn submission(&self) -> Submission {
        let build = self.build.iter();
        let builds = build.map(|id| (String::new(), id.clone()));
        self.submitter.submission(builds.collect())
    }

    /// Returns the files that are written, with their forms.
    pub(crate) fn forms(&self) -> impl Iterator<Item = (Form, &Path)> {
        self.files
            .iter()
            .map(|(form, path)| (*form, path.as_path()))
    }

    /// Returns the files that are written.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(_, path)| path.as_path())
    }

    /// Whether one of the files is that one, by whichever name.
    pub(crate) fn replace(&self, path: &Path) -> bool {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        real(path).is_some_and(|it| self.files().any(|file| real(file).as_ref() == Some(&it)))
    }

    /// Whether a report shows whole traces.
    pub(crate) fn shows_traces(&self) -> bool {
        let mut forms = self.files.iter().map(|(form, _)| *form);
        self.format == Form::Html || forms.any(|form| form == Form::Html)
    }

    /// Writes the files, and what GitHub Actions shows beside a report for people; returns whether
    /// all was written.
    pub(crate) fn write(&self, whole: &Whole<'_>, told: &out::Told) -> bool {
        let files = self.files.iter();
        let files = files.map(|(form, path)| (path.as_path(), whole.text(*form, false)));
        let mut all_well = reports::write_all(files);
        let is_github = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        if self.format == Form::Human && is_github {
            told.print(&whole.text(Form::Github, false));
        }
        let is_shown = matches!(self.format, Form::Human | Form::Github);
        let summary = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty());
        if let (true, Some(path)) = (
            is_shown && (is_github || self.format == Form::Github),
            summary,
        ) {
            all_well &= append(path, &whole.text(Form::Markdown, false));
        }
        all_well
    }
}

/// Appends to a file that others have written to.
fn append(path: OsString, text: &str) -> bool {
    let path = PathBuf::from(path);
    let mut options = std::fs::OpenOptions::new();
    let opened = options.create(true).append(true).open(&path);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    reports::said(&path, written)
}

/// Returns where this process is, below the folder of the repository that GitHub has checked out:
/// annotations name files from there.
fn below_workspace() -> PathBuf {
    let workspace = std::env::var_os("GITHUB_WORKSPACE").map(PathBuf::from);
    let here = std::env::current_dir().unwrap_or_default();
    let below = workspace.and_then(|it| here.strip_prefix(it).ok().map(Path::to_owned));
    below.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_ending_says_its_form() {
        for (name, form) in [
            ("a.txt", Form::Human),
            ("a.b.json", Form::Json),
            ("x/a.jsonl", Form::Json),
            ("a.xml", Form::Junit),
            ("a.tap", Form::Ktap),
            ("a.kcidb", Form::Kcidb),
            ("a.md", Form::Markdown),
            ("a.html", Form::Html),
        ] {
            assert_eq!(to_file(name), Ok((form, PathBuf::from(name))));
        }
        for name in ["a", "a.htm", ".html", "html", ""] {
            assert!(to_file(name).is_err(), "{name}");
        }
    }
}
