//! The forms in which `harness matrix` reports, and the files that it writes.

use crate::kcidb::{self, Submitter};
use crate::out::note;
use crate::results::{self, unfinished};
use crate::{complain, out, status};
use clap::ValueEnum;
use perf_live::errors::chain;
use perf_live::files::{Access, Output};
use perf_records::units::shown_path;
use std::io::{Error, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;
use trace_harness::matrix::{Bisected, Matrix};
use trace_harness::report::{self, MatrixReport, Submission};
use trace_harness::snapshot;

#[derive(Debug, clap::Args)]
pub(crate) struct Reports {
    /// The form of the report
    #[arg(long, value_enum, default_value_t = Form::Human)]
    format: Form,
    /// Also write the report to FILE, in the form of its ending: .txt, .json or .jsonl (lines),
    /// .xml (JUnit), .kcidb, .html (a single page). Folders on the way are made below the working
    /// directory alone; may be given several times
    #[arg(long = "report", value_name = "FILE", value_parser = to_file)]
    files: Vec<(Form, PathBuf)>,
    #[command(flatten)]
    submitter: Submitter,
    /// The build of a kernel of the list, by its id in KCIDB; may be given several times
    #[arg(long = "kcidb-build", value_name = "KERNEL=ID", value_parser = kcidb::build_of)]
    builds: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    Human,
    Json,
    Junit,
    /// One object for KCIDB, the kernel CI systems' database
    Kcidb,
    Html,
}

impl Form {
    fn of_results(self) -> results::Form {
        match self {
            Self::Human => results::Form::Human,
            Self::Json => results::Form::Json,
            Self::Junit => results::Form::Junit,
            Self::Kcidb => results::Form::Kcidb,
            Self::Html => results::Form::Html,
        }
    }
}

/// Returns the form of a file by its ending.
fn to_file(name: &str) -> Result<(Form, PathBuf), String> {
    let of_results = results::to_file(name).ok();
    let own = of_results.and_then(|(form, path)| {
        let mut forms = Form::value_variants().iter().copied();
        Some((forms.find(|own| own.of_results() == form)?, path))
    });
    own.ok_or_else(|| {
        "its ending must say the form: .txt, .json, .jsonl, .xml, .kcidb or .html".to_owned()
    })
}

impl Reports {
    /// Checks that the files can be written, before hours are spent on the report, and has each say
    /// that the run has not finished.
    pub(crate) fn begin(&self) -> Result<(), u8> {
        let submission = self.submission();
        let text = |form: Form| unfinished(form.of_results(), &submission);
        let files = self.files.iter();
        begin_all(files.map(|(form, path)| (path.as_path(), text(*form))))
    }

    /// The kernels of the list whose builds are named.
    pub(crate) fn built(&self) -> impl Iterator<Item = &str> {
        self.builds.iter().map(|(kernel, _)| kernel.as_str())
    }

    fn submission(&self) -> Submission {
        let builds = self.builds.iter().cloned();
        self.submitter.submission(builds.collect())
    }

    /// Prints the report, and writes the files; returns whether all were written.
    pub(crate) fn tell(&self, matrix: &Matrix) -> bool {
        let report = MatrixReport::of(matrix).made(SystemTime::now());
        self.tell_all(|form, color| self.text(&report, form, color))
    }

    /// Does so for a search, of the kernels that it tried, and then says what it has come to. In
    /// forms that have no place for that, it is said beside.
    pub(crate) fn tell_bisected(&self, bisected: &Bisected, matrix: &Matrix) -> bool {
        let report = MatrixReport::of(matrix).made(SystemTime::now());
        if !matches!(self.format, Form::Human | Form::Json) {
            let mut said = String::new();
            report::bisected_human(&mut said, bisected, out::has_colors(&std::io::stderr()));
            note!("{}", said.trim_end());
        }
        self.tell_all(|form, color| {
            let mut text = self.text(&report, form, color);
            match form {
                Form::Human => {
                    text.push('\n');
                    report::bisected_human(&mut text, bisected, color);
                }
                Form::Json => report::bisected_json(&mut text, bisected),
                Form::Junit | Form::Kcidb | Form::Html => {}
            }
            text
        })
    }

    fn text(&self, report: &MatrixReport<'_>, form: Form, color: bool) -> String {
        let mut text = String::new();
        match form {
            Form::Human => report.human(&mut text, color),
            Form::Json => report.json(&mut text),
            Form::Html => report.html(&mut text),
            Form::Junit => report.junit(&mut text),
            Form::Kcidb => report.kcidb(&mut text, &self.submission()),
        }
        text
    }

    fn tell_all(&self, text: impl Fn(Form, bool) -> String) -> bool {
        let color = out::has_colors(&std::io::stdout());
        let is_told = out::told(out::print(&text(self.format, color)));
        let files = self.files.iter();
        let files = files.map(|(form, path)| (path.as_path(), text(*form, false)));
        write_all(files) && is_told
    }
}

/// Checks that files can be written, and then writes a first text to each: a run that dies leaves
/// no older result there.
pub(crate) fn begin_all<'p>(files: impl Iterator<Item = (&'p Path, String)>) -> Result<(), u8> {
    let files: Vec<(&Path, String)> = files.collect();
    for (path, _) in &files {
        if !said(path, writable(path)) {
            return Err(status::USAGE);
        }
    }
    for (path, text) in files.iter().filter(|(path, _)| !is_stream(path)) {
        if let Err(error) = snapshot::write_whole(path, text) {
            complain(&error, None);
            return Err(status::TROUBLE);
        }
    }
    Ok(())
}

/// Writes a text to each file; returns whether all were written, and says why one was not.
pub(crate) fn write_all<'p>(files: impl Iterator<Item = (&'p Path, String)>) -> bool {
    let mut all_well = true;
    for (path, text) in files {
        if let Err(error) = snapshot::write_whole(path, &text) {
            complain(&error, None);
            all_well = false;
        }
    }
    all_well
}

/// Whether it is a pipe or a device: what is written there cannot be replaced.
fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir())
}

/// Whether a file was written; if not, says why.
pub(crate) fn said(path: &Path, written: Result<(), Error>) -> bool {
    if let Err(error) = &written {
        note!(
            "harness: cannot write `{}`: {}",
            shown_path(path),
            chain(error)
        );
    }
    written.is_ok()
}

/// Checks whether a file can be written there, and leaves an existing one as it is.
fn writable(path: &Path) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new(""));
    make(folder, Path::new(""))?;
    // Opening a pipe would wait for its reader, and then end the reader's input.
    if !is_stream(path) {
        Output::begin(path, Access::Usual)?;
    }
    Ok(())
}

/// Makes a folder below the working directory. Elsewhere a name is more likely mistyped than new.
pub(crate) fn make(folder: &Path, here: &Path) -> Result<(), Error> {
    let here = std::path::absolute(if here.as_os_str().is_empty() {
        Path::new(".")
    } else {
        here
    })?;
    let folder = here.join(folder);
    if folder.is_dir() {
        return Ok(());
    }
    let there = folder.ancestors().find(|above| above.exists());
    let is_below = match there {
        Some(there) => {
            let missing = folder.strip_prefix(there).unwrap_or(&folder);
            let mut parts = missing.components();
            let climbs = parts.any(|part| part == Component::ParentDir);
            !climbs && there.canonicalize()?.starts_with(here.canonicalize()?)
        }
        None => false,
    };
    match is_below {
        true => std::fs::create_dir_all(folder),
        false => Err(Error::new(
            ErrorKind::NotFound,
            format!(
                "there is no folder `{}`, and none is made outside of the working directory",
                shown_path(&folder)
            ),
        )),
    }
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
            ("a.kcidb", Form::Kcidb),
            ("a.html", Form::Html),
        ] {
            assert_eq!(to_file(name), Ok((form, PathBuf::from(name))));
        }
        for name in ["a", "a.htm", ".html", "html", ""] {
            assert!(to_file(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_written_is_known_before() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "x").unwrap();
        assert!(writable(&folder.path().join("a.html")).is_ok());
        assert!(writable(&file.join("a.html")).is_err(), "below a file");
        assert!(writable(folder.path()).is_err(), "a folder");
        let left = std::fs::read_dir(folder.path()).unwrap();
        assert_eq!(left.count(), 1);
    }

    #[test]
    fn folders_of_a_report_are_made_below_the_working_directory_alone() {
        let all = tempfile::tempdir().unwrap();
        let here = all.path().join("here");
        std::fs::create_dir(&here).unwrap();
        for below in [Path::new("new/sub"), &here.join("other")] {
            make(below, &here).unwrap();
            assert!(here.join(below).is_dir());
        }
        let climbing = Path::new("new/more/../../../mistyped/sub");
        for outside in [
            Path::new("../beside"),
            climbing,
            &all.path().join("mistyped/sub"),
        ] {
            let error = make(outside, &here).unwrap_err();
            assert!(error.to_string().contains("there is no folder"), "{error}");
        }
        assert!(!all.path().join("mistyped").exists());
        make(all.path(), &here).unwrap();
    }
}
