//! Attacks on a pass: scenarios of programs that do what the scenario forbids, or do not do what it
//! demands, in a way that is meant to stay unseen. None of them may pass.
//!
//! Each `NAME.yaml` beside this file is one trial. Its first line says which verdicts are right,
//! and a second one, if any, what the report has to say:
//!
//! ```yaml
//! # verdict: fail
//! # says: never `ftruncate`
//! ```
//!
//! A word behind the verdicts that starts with `needs:` names a program without which the trial
//! tells nothing (`needs:python3`). Where there is a `NAME.snap`, it is the stored snapshot of the
//! scenario. Programs in C stand in `programs`: `x.c` becomes `programs/x`, static; `x.i386.c`
//! becomes the 32-bit `programs/x.i386`, without a library, so that no 32-bit library is needed.
//! The folder is copied before, and its scenarios run in the copy.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, OnceLock};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use tempfile::TempDir;

const HARNESS: &str = env!("CARGO_BIN_EXE_harness");

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let place = Arc::new(OnceLock::new());
    let trials = scenarios().into_iter().map(|file| {
        let place = Arc::clone(&place);
        let name = stem(&file);
        Trial::test(name, move || {
            let place = place.get_or_init(prepare);
            let place = place.as_ref().map_err(Failed::from)?;
            attack(place.path(), &file)
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn folder() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.join("tests/attacks")
}

/// The scenario files, in the order of their names.
fn scenarios() -> Vec<PathBuf> {
    let mut files = with_ending(&folder(), "yaml");
    files.sort();
    assert!(!files.is_empty(), "there are attacks");
    files
}

fn with_ending(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of attacks");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect()
}

fn stem(file: &Path) -> String {
    let stem = file.file_stem().expect("a name");
    stem.to_string_lossy().into_owned()
}

/// A copy of the folder, with its programs compiled and its snapshots where the harness looks for
/// them.
fn prepare() -> Result<TempDir, String> {
    let place = TempDir::with_prefix("attacks-").map_err(|error| error.to_string())?;
    for name in ["scenarios/programs", "snapshots"] {
        fs::create_dir_all(place.path().join(name)).map_err(|error| error.to_string())?;
    }
    let copies = [("", "yaml", "scenarios"), ("", "snap", "snapshots")];
    let programs = ["py", "sh", "pl"].map(|ending| ("programs", ending, "scenarios/programs"));
    for (from, ending, to) in copies.into_iter().chain(programs) {
        for file in with_ending(&folder().join(from), ending) {
            let to = place
                .path()
                .join(to)
                .join(file.file_name().expect("a name"));
            fs::copy(&file, to).map_err(|error| format!("{}: {error}", file.display()))?;
        }
    }
    for source in with_ending(&folder().join("programs"), "c") {
        compile(&source, &place.path().join("scenarios/programs"))?;
    }
    Ok(place)
}

fn compile(source: &Path, folder: &Path) -> Result<(), String> {
    let name = stem(source);
    let mut compiler = Command::new("cc");
    compiler
        .args(["-O1", "-static", "-o"])
        .arg(folder.join(&name));
    if name.ends_with(".i386") {
        compiler.args(["-m32", "-nostdlib", "-ffreestanding", "-fno-pic", "-no-pie"]);
        compiler.args(["-fno-stack-protector"]);
    } else {
        compiler.arg("-pthread");
    }
    let output = compiler.arg(source).output();
    let output = output.map_err(|error| format!("cc: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {complaint}", source.display()))
}

/// What the comments in front of a scenario say of it.
struct Claim {
    verdicts: Vec<String>,
    needs: Vec<String>,
    says: Vec<String>,
}

impl Claim {
    fn read(text: &str) -> Result<Self, String> {
        let first = text.lines().next().unwrap_or_default();
        let words = first
            .strip_prefix("# verdict: ")
            .ok_or("its first line does not say which verdicts are right")?;
        let words = words.split_whitespace();
        let (needs, verdicts): (Vec<_>, Vec<_>) = words
            .filter(|word| *word != "or")
            .map(str::to_owned)
            .partition(|word| word.starts_with("needs:"));
        if verdicts.is_empty() || verdicts.iter().any(|word| word == "pass") {
            return Err("an attack must not pass".to_owned());
        }
        let says = text
            .lines()
            .filter_map(|line| line.strip_prefix("# says: "));
        Ok(Self {
            verdicts,
            needs,
            says: says.map(str::to_owned).collect(),
        })
    }

    fn missing(&self) -> Option<&str> {
        let mut programs = self
            .needs
            .iter()
            .filter_map(|word| word.strip_prefix("needs:"));
        programs.find(|name| {
            let places = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];
            !places
                .iter()
                .any(|place| Path::new(place).join(name).exists())
        })
    }
}

fn attack(place: &Path, file: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(file)?;
    let claim = Claim::read(&text)?;
    if let Some(program) = claim.missing() {
        return skip(&format!("`{program}` is not installed"));
    }
    let scenario = Path::new("scenarios").join(file.file_name().expect("a name"));
    let output = Command::new(HARNESS)
        .args(["run", "--format", "json"])
        .arg(&scenario)
        .current_dir(place)
        .env("CI", "true")
        .env_remove("HARNESS_REQUIRE")
        .env_remove("INSTA_FORCE_PASS")
        .stdin(Stdio::null())
        .output()?;
    let lines = String::from_utf8_lossy(&output.stdout);
    let mut objects = lines
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let report = objects.find(|object| object["type"] == "scenario");
    let Some(report) = report else {
        let complaint = String::from_utf8_lossy(&output.stderr);
        return Err(format!("nothing was run: {complaint}{lines}").into());
    };
    let verdict = report["verdict"].as_str().unwrap_or_default();
    let reasons = report["reasons"].to_string();
    if verdict == "skipped" && !claim.verdicts.iter().any(|right| right == verdict) {
        return skip(&reasons);
    }
    if !claim.verdicts.iter().any(|right| right == verdict) {
        let right = claim.verdicts.join(" or ");
        return Err(format!("the verdict is `{verdict}` and not `{right}`: {report}").into());
    }
    match claim
        .says
        .iter()
        .find(|says| !reasons.contains(says.as_str()))
    {
        None => Ok(()),
        Some(says) => Err(format!("it does not say `{says}`: {reasons}").into()),
    }
}

/// Says why a trial cannot tell anything here, or fails it where everything is required.
fn skip(reason: &str) -> Result<(), Failed> {
    let required = std::env::var("HARNESS_REQUIRE").unwrap_or_default();
    if required.split(',').any(|word| word.trim() == "all") {
        return Err(format!("HARNESS_REQUIRE is `{required}`, but {reason}").into());
    }
    eprintln!("skipped: {reason}");
    Ok(())
}
