//! A run of one program, and what is expected of it, without a scenario file.

use crate::outcome::{Outcome, Verdict};
use crate::program::{self, Error, Refused};
use crate::words::{Events, Expected, plain, yaml};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One run of a program in the sandbox, and what is expected of it.
///
/// Steps have the words of a scenario's `expect`: `fsync`, or
/// `openat: { path: config, returns: $fd }`. What is recorded are the calls and events that steps
/// name, or those of [`Check::events`].
#[derive(Clone, Debug, Default)]
#[must_use = "nothing runs before `run` is called"]
pub struct Check {
    program: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
    files: Vec<(String, String)>,
    stdin: Option<String>,
    exit: Option<i32>,
    events: Vec<String>,
    lists: Vec<(&'static str, Vec<String>)>,
    between: Vec<[String; 3]>,
    confined: Vec<(String, String)>,
    texts: Vec<(&'static str, Expected)>,
    files_after: Vec<(String, Expected)>,
    /// What a run cannot have of the command that it was made from.
    refused: Option<Refused>,
}

impl Check {
    /// Runs this program: a path with a slash is a program of the package, which is laid into the
    /// working directory of the sandbox; another is looked for in the sandbox's `PATH`.
    pub fn of(program: impl AsRef<Path>) -> Self {
        Self {
            program: program.as_ref().to_string_lossy().into_owned(),
            ..Self::default()
        }
    }

    /// Its arguments. `${CARGO_BIN_EXE_name}` in one, or in a variable's value, is the path of
    /// another program of the package, which is laid in as well; `$${CARGO_BIN_EXE_name}` is that
    /// text without the first `$`. Texts of files and streams mean themselves.
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// A variable of its environment, which is otherwise empty but for `PATH`, `HOME` and `TMPDIR`.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// A file in its working directory.
    pub fn file(mut self, path: impl Into<String>, content: impl Into<String>) -> Self {
        self.files.push((path.into(), content.into()));
        self
    }

    /// What it reads on standard input; without this it has none.
    pub fn stdin(mut self, text: impl Into<String>) -> Self {
        self.stdin = Some(text.into());
        self
    }

    /// The status that it ends with: 0 where nothing is said.
    pub fn exit(mut self, status: i32) -> Self {
        self.exit = Some(status);
        self
    }

    /// What it writes to standard output: a string is exactly that.
    pub fn stdout(mut self, text: impl Into<Expected>) -> Self {
        self.texts.push(("stdout", text.into()));
        self
    }

    /// What it writes to standard error: a string is exactly that.
    pub fn stderr(mut self, text: impl Into<Expected>) -> Self {
        self.texts.push(("stderr", text.into()));
        self
    }

    /// What is at a path of its working directory after the run: a string is what the file holds,
    /// exactly. The path may be a glob, as in a scenario's `files_after`; the first counts that
    /// matches.
    pub fn files_after(mut self, path: impl Into<String>, file: impl Into<Expected>) -> Self {
        self.files_after.push((path.into(), file.into()));
        self
    }

    /// Records these events instead of those that the steps name, one or several: names of calls,
    /// patterns (`rename*`), classes (`%file`), tracepoints (`sched:sched_process_exec`).
    pub fn events(mut self, events: impl Into<Events>) -> Self {
        self.events.extend(events.into().0);
        self
    }

    /// Steps that occur in this order; other events may lie between them.
    pub fn sequence<S: Into<String>>(self, steps: impl IntoIterator<Item = S>) -> Self {
        self.list("sequence", steps)
    }

    /// Steps that occur in any order.
    pub fn any_order<S: Into<String>>(self, steps: impl IntoIterator<Item = S>) -> Self {
        self.list("any_order", steps)
    }

    /// A step that does not occur.
    pub fn never(self, step: impl Into<String>) -> Self {
        self.list("never", [step])
    }

    /// Between each `first` and the next `then` behind it there is this step.
    pub fn between(
        mut self,
        first: impl Into<String>,
        then: impl Into<String>,
        there_is: impl Into<String>,
    ) -> Self {
        self.between
            .push([first.into(), then.into(), there_is.into()]);
        self
    }

    /// Allows nothing of a kind but this, whatever call does it: a key of `expect.confined` and its
    /// value as YAML in one line, `("writes", "[data, 'data/**']")`, `("network", "[]")`.
    pub fn confined(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.confined.push((key.into(), value.into()));
        self
    }

    fn list<S: Into<String>>(
        mut self,
        key: &'static str,
        steps: impl IntoIterator<Item = S>,
    ) -> Self {
        let steps = steps.into_iter().map(Into::into);
        match self.lists.iter_mut().find(|(known, _)| *known == key) {
            Some((_, list)) => list.extend(steps),
            None => self.lists.push((key, steps.collect())),
        }
        self
    }

    /// Runs the program and judges the run.
    ///
    /// # Panics
    /// Where there is no verdict: see [`Check::try_run`].
    #[track_caller]
    pub fn run(&self) -> Outcome {
        match self.try_run() {
            Ok(outcome) => outcome,
            Err(error) => panic!("{error}"),
        }
    }

    /// Runs the program and judges the run.
    ///
    /// # Errors
    /// [`Error`]: `harness` is not installed, or refused a step; its complaint is in the error.
    pub fn try_run(&self) -> Result<Outcome, Error> {
        self.run_with(false)
    }

    /// The normalised trace of the run: the same text at every run, on every machine where the
    /// program does the same, for a snapshot such as `insta::assert_snapshot!`.
    ///
    /// # Panics
    /// Where the run is not whole, or is not what was expected of it.
    #[track_caller]
    #[must_use]
    pub fn normalised(&self) -> String {
        match self.run_with(true) {
            Ok(Outcome {
                trace: Some(trace),
                verdict: Verdict::Pass,
                ..
            }) => trace,
            Ok(outcome) => panic!("{outcome}"),
            Err(error) => panic!("{error}"),
        }
    }

    fn run_with(&self, keeps_trace: bool) -> Result<Outcome, Error> {
        if let Some(refused) = &self.refused {
            return Err(Error::Command(refused.clone()));
        }
        let (scenario, program) = self.scenario(keeps_trace);
        let file = Written::new(&scenario)?;
        let mut command = program::command([&file.0])?;
        // With it nothing is written beside the file.
        command.env("CI", "1");
        if keeps_trace {
            command.arg("--traces");
        }
        if let Some((name, file)) = program {
            command.env(format!("CARGO_BIN_EXE_{name}"), file);
        }
        Outcome::of(command, Some(scenario))
    }

    /// The text of its scenario, and the program to lay out. JSON is YAML.
    fn scenario(&self, has_snapshot: bool) -> (String, Option<(String, PathBuf)>) {
        let path = Path::new(&self.program);
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let given = name.filter(|_| self.program.contains('/'));
        let own = match &given {
            Some(name) => format!("${{CARGO_BIN_EXE_{name}}}"),
            None => self.program.clone(),
        };
        let run: Vec<&String> = [&own].into_iter().chain(&self.args).collect();
        let pairs = |pairs: &[(String, String)]| -> Value {
            let pairs = pairs.iter().map(|(key, value)| (key.clone(), json!(value)));
            Value::Object(pairs.collect())
        };
        let files = self.files.iter();
        let files: Vec<(String, String)> = files
            .map(|(path, content)| (path.clone(), plain(content)))
            .collect();
        let mut workload = json!({ "run": run, "env": pairs(&self.env), "files": pairs(&files) });
        if let Some(text) = &self.stdin {
            workload["stdin"] = json!(plain(text));
        }
        let mut scenario = format!(
            "description: {}\nworkload: {}\nsnapshot: {has_snapshot}\n",
            yaml(&json!(format!("what {} does", self.program))),
            yaml(&workload)
        );
        let events = self.wanted();
        let (points, calls): (Vec<&String>, _) = events.iter().partition(|it| it.contains(':'));
        let mut all: Vec<Value> = points.iter().map(|event| json!(event)).collect();
        if !calls.is_empty() {
            all.push(json!({ "syscalls": calls }));
        }
        // Writing to a String never fails.
        if !all.is_empty() {
            let _ = writeln!(scenario, "trace: {}", json!({ "events": all }));
        }
        let _ = writeln!(scenario, "expect:\n  exit: {}", self.exit.unwrap_or(0));
        for (key, text) in &self.texts {
            let _ = writeln!(scenario, "  {key}: {}", text.yaml());
        }
        if !self.files_after.is_empty() {
            scenario.push_str("  files_after:\n");
        }
        for (path, file) in &self.files_after {
            let _ = writeln!(scenario, "    {}: {}", yaml(&json!(path)), file.yaml());
        }
        for (key, steps) in &self.lists {
            let _ = writeln!(scenario, "  {key}:");
            for step in steps {
                let (event, fields) = halves(step);
                let _ = writeln!(scenario, "    - {}: {fields}", json!(event));
            }
        }
        if !self.between.is_empty() {
            scenario.push_str("  between:\n");
        }
        for steps in &self.between {
            for (key, step) in ["- first", "  then", "  there_is"].iter().zip(steps) {
                let (event, fields) = halves(step);
                let _ = writeln!(scenario, "    {key}: {{ {}: {fields} }}", json!(event));
            }
        }
        if !self.confined.is_empty() {
            scenario.push_str("  confined:\n");
        }
        for (key, value) in &self.confined {
            let _ = writeln!(scenario, "    {}: {}", json!(key), value.replace('\n', " "));
        }
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        (scenario, given.map(|name| (name, path)))
    }

    fn wanted(&self) -> Vec<String> {
        if !self.events.is_empty() {
            return self.events.clone();
        }
        let listed = self.lists.iter().flat_map(|(_, steps)| steps);
        let steps = listed.chain(self.between.iter().flatten());
        let mut events: Vec<String> = steps.map(|step| halves(step).0.to_owned()).collect();
        events.sort();
        events.dedup();
        events
    }
}

impl From<&Command> for Check {
    /// Runs the program of a command with its arguments and the variables that were set for it. A
    /// working directory, a word that is not UTF-8, and `env_remove` of a variable that each run
    /// has, are refused when it runs. `env_clear` changes nothing: see [`Check::env`].
    fn from(command: &Command) -> Self {
        let mut refused = command
            .get_current_dir()
            .map(|folder| Refused::Directory(folder.to_owned()));
        let mut text = |word: &OsStr| match word.to_str() {
            Some(text) => text.to_owned(),
            None => {
                refused.get_or_insert_with(|| Refused::Word(word.to_owned()));
                String::new()
            }
        };
        let program = text(command.get_program());
        let args: Vec<String> = command.get_args().map(&mut text).collect();
        let mut check = Self::of(program).args(args);
        let mut removed = None;
        for (name, value) in command.get_envs() {
            let name = text(name);
            match value {
                Some(value) => check = check.env(name, text(value)),
                None if ALWAYS_SET.contains(&name.as_str()) => removed = Some(name),
                None => {}
            }
        }
        check.refused = refused.or(removed.map(Refused::Variable));
        check
    }
}

/// The variables that each run has.
const ALWAYS_SET: [&str; 3] = ["PATH", "HOME", "TMPDIR"];

/// The trace of a command: `trace(&command).events("%file").normalised()`.
pub fn trace(command: &Command) -> Check {
    Check::from(command)
}

/// The event and the fields of a step; a line feed would end the step.
fn halves(step: &str) -> (&str, String) {
    let (event, fields) = step
        .split_once(": ")
        .unwrap_or((step.trim_end_matches(':'), "{}"));
    (
        event.trim().trim_matches(['"', '\'']),
        fields.replace('\n', " "),
    )
}

/// A scenario's file, which goes with this value.
struct Written(PathBuf);

impl Written {
    fn new(text: &str) -> Result<Self, Error> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("harness-test-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).map_err(|error| Error::Write(folder.clone(), error))?;
        let written = Self(folder.join("check.yaml"));
        std::fs::write(&written.0, text).map_err(|error| Error::Write(written.0.clone(), error))?;
        Ok(written)
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        if let Some(folder) = self.0.parent() {
            // What is left is a small file for temporary files.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn texts_of_files_and_streams_mean_themselves() {
        const TEXT: &str = "${CARGO_BIN_EXE_save} \u{feff}\u{85}\u{1f600}";
        let check = Check::of("cat").stdin(TEXT).file("f", TEXT).stdout(TEXT);
        let (text, _) = check.scenario(false);
        let written = r#""$${CARGO_BIN_EXE_save} \ufeff\u0085😀""#;
        assert_eq!(text.matches(written).count(), 3, "{text}");
        let check = Check::of("echo").args(["${CARGO_BIN_EXE_save}"]);
        assert!(
            check
                .scenario(false)
                .0
                .contains(r#""${CARGO_BIN_EXE_save}""#)
        );
    }

    #[test]
    fn what_a_run_cannot_have_of_a_command_is_refused() {
        let refused = |change: fn(&mut Command)| {
            let mut command = Command::new("true");
            change(&mut command);
            trace(&command).refused.is_some()
        };
        let odd = OsStr::from_bytes(b"a\xff");
        assert!(refused(|command| _ = command.current_dir("/")));
        assert!(refused(
            |command| _ = command.arg(OsStr::from_bytes(b"a\xff"))
        ));
        assert!(refused(
            |command| _ = command.env("A", OsStr::from_bytes(b"a\xff"))
        ));
        assert!(refused(|command| _ = command.env_remove("HOME")));
        assert!(trace(&Command::new(odd)).refused.is_some());
        assert!(!refused(
            |command| _ = command.arg("a").env("A", "b").env_remove("B")
        ));
    }
}
