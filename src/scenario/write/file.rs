//! A whole file.

use super::scalar::{block, flow, line};
use super::{list, sandbox, snapshot, steps};
use crate::scenario::{
    Command, EventSpec, EventWish, Expectations, ExpectedOutput, FileAfter, FileSource, FileSpec,
    Since, SnapshotSpec, Workload,
};
use nix::sys::signal::Signal;
use perf_live::sandbox::WorldSpec;
use perf_live::units::ExitKind;
use std::time::Duration;

/// What a new scenario file says, comments included.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Where the schema is, seen from the file.
    pub schema: Option<String>,
    /// The lines in front of all keys.
    pub head: Vec<String>,
    /// What the scenario shows.
    pub description: String,
    /// What is run.
    pub workload: Workload,
    /// The world that it runs in.
    pub sandbox: WorldSpec,
    /// The events to record; all system calls where there is none.
    pub events: Vec<EventSpec>,
    /// Lines on them.
    pub on_events: Vec<String>,
    /// Where the trace starts.
    pub since: Since,
    /// How the workload ends.
    pub exit: ExitKind,
    /// What it writes to standard output.
    pub stdout: Option<ExpectedOutput>,
    /// And to standard error.
    pub stderr: Option<ExpectedOutput>,
    /// Lines on what it writes.
    pub on_output: Vec<String>,
    /// What it leaves behind.
    pub files_after: Vec<(String, FileAfter)>,
    /// What could be expected as well; all of it commented out.
    pub suggestions: Vec<Suggestion>,
    /// How strict the snapshot is.
    pub snapshot: SnapshotSpec,
    /// Whether what a power cut leaves is offered to be tried.
    pub offers_crash: bool,
    /// Lines on it.
    pub on_snapshot: Vec<String>,
}

/// How a workload ends, as `exit` has it.
pub(super) fn exit_word(exit: ExitKind) -> String {
    match exit {
        ExitKind::Code(code) => code.to_string(),
        ExitKind::Signal(number) => match Signal::try_from(number) {
            Ok(signal) => format!("{{ signal: {signal} }}"),
            // A signal without a name cannot be expected.
            Err(_) => format!("0  # signal {number}"),
        },
    }
}

/// Expectations that hold, for the author to take or to leave.
#[derive(Clone, Debug)]
pub struct Suggestion {
    /// Why one would want them, in lines.
    pub why: Vec<String>,
    /// The expectations.
    pub expectations: Expectations,
}

/// What is offered of power cuts.
const CRASH: &str = "\
# Whatever a power cut leaves of the directory is tried with a program that reads it again:
#crash: { recovers: { run: [./check] } }
";

impl Draft {
    /// One of a workload that ends well, of which nothing else is known.
    #[must_use]
    pub fn new(description: String, workload: Workload, events: Vec<EventSpec>) -> Self {
        Self {
            schema: None,
            head: Vec::new(),
            description,
            workload,
            sandbox: WorldSpec::default(),
            events,
            on_events: Vec::new(),
            since: Since::Exec,
            exit: ExitKind::Code(0),
            stdout: None,
            stderr: None,
            on_output: Vec::new(),
            files_after: Vec::new(),
            suggestions: Vec::new(),
            snapshot: SnapshotSpec::default(),
            offers_crash: false,
            on_snapshot: Vec::new(),
        }
    }

    /// The file's text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut file = File::default();
        if let Some(schema) = &self.schema {
            file.line(0, &format!("# yaml-language-server: $schema={schema}"));
        }
        file.comment(0, &self.head);
        file.line(0, &format!("description: {}", line(&self.description)));
        file.workload(&self.workload);
        if let Some(line) = sandbox::line(&self.sandbox) {
            file.line(0, &line);
        }
        file.trace(self);
        file.expect(self);
        if self.offers_crash {
            file.text.push_str(CRASH);
        }
        file.comment(0, &self.on_snapshot);
        if let Some(snapshot) = snapshot(&self.snapshot) {
            file.line(0, &format!("snapshot: {snapshot}"));
        }
        file.text
    }
}

#[derive(Default)]
struct File {
    text: String,
}

impl File {
    fn line(&mut self, indent: usize, line: &str) {
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn comment(&mut self, indent: usize, lines: &[String]) {
        for line in lines {
            self.line(indent, format!("# {line}").trim_end());
        }
    }

    /// A key with a text, which may have several lines.
    fn key(&mut self, indent: usize, key: &str, text: &str) {
        let is_long = text.trim_end_matches('\n').contains('\n');
        let lines = block(text, indent.saturating_add(2)).filter(|_| is_long);
        let value = lines.unwrap_or_else(|| flow(text));
        self.line(indent, &format!("{key}: {value}"));
    }

    fn workload(&mut self, workload: &Workload) {
        self.line(0, "workload:");
        match &workload.command {
            Command::Run(argv) => self.line(2, &format!("run: {}", list(argv))),
            Command::Shell(text) => self.key(2, "shell", text),
        }
        if !workload.env.is_empty() {
            let env = workload.env.iter();
            let env: Vec<String> = env
                .map(|(name, value)| format!("{}: {}", flow(name), flow(value)))
                .collect();
            self.line(2, &format!("env: {{ {} }}", env.join(", ")));
        }
        if let Some(stdin) = &workload.stdin {
            self.key(2, "stdin", stdin);
        }
        if !workload.files.is_empty() {
            self.line(2, "files:");
            for (path, file) in &workload.files {
                self.file(&flow(&path.to_string_lossy()), file);
            }
        }
        if workload.timeout != Duration::from_secs(10) {
            let milliseconds = workload.timeout.as_millis();
            let timeout = match milliseconds % 1000 {
                0 => format!("{}s", milliseconds / 1000),
                _ => format!("{milliseconds}ms"),
            };
            self.line(2, &format!("timeout: {timeout}"));
        }
    }

    fn file(&mut self, name: &str, file: &FileSpec) {
        let FileSpec {
            source,
            mode,
            owner,
        } = file;
        let mut more: Vec<String> = Vec::new();
        more.extend(mode.map(|mode| format!("mode: \"{mode:04o}\"")));
        more.extend(owner.as_ref().map(|owner| match owner {
            perf_live::sandbox::UserSpec::Name(name) => format!("owner: {}", flow(name)),
            perf_live::sandbox::UserSpec::Id(id) => format!("owner: {id}"),
        }));
        let source = match source {
            FileSource::Content(text) if more.is_empty() => return self.key(4, name, text),
            FileSource::Content(text) => format!("content: {}", flow(text)),
            FileSource::From(path) | FileSource::FolderOf(path) | FileSource::LinkOf(path) => {
                format!("from: {}", flow(&path.to_string_lossy()))
            }
        };
        more.insert(0, source);
        self.line(4, &format!("{name}: {{ {} }}", more.join(", ")));
    }

    fn trace(&mut self, draft: &Draft) {
        let is_main = matches!(draft.since, Since::Main);
        if draft.events.is_empty() && !is_main {
            return;
        }
        self.line(0, "trace:");
        if !draft.events.is_empty() {
            self.line(2, "events:");
            self.comment(4, &draft.on_events);
        }
        for event in &draft.events {
            match event {
                EventSpec::Syscalls(names) | EventSpec::Chained(names, _) => self.syscalls(names),
                EventSpec::Counted(counted) => {
                    let names = counted.names.iter().map(|name| flow(name));
                    let names: Vec<_> = names.collect();
                    let list = names.join(", ");
                    let text = if counted.is_group {
                        format!("[{list}]")
                    } else {
                        list
                    };
                    self.line(4, &format!("- {{ count: {text} }}"));
                }
                EventSpec::Event(EventWish {
                    name, filter: None, ..
                }) => {
                    self.line(4, &format!("- {}", flow(name)));
                }
                EventSpec::Event(EventWish {
                    name,
                    filter: Some(filter),
                    ..
                }) => self.line(
                    4,
                    &format!("- {{ event: {}, filter: {} }}", flow(name), flow(filter)),
                ),
            }
        }
        if is_main {
            self.line(2, "since: main");
        }
    }

    /// Names between brackets, over several lines where one is not enough.
    fn syscalls(&mut self, names: &[String]) {
        let start = "    - syscalls: [";
        let mut line = start.to_owned();
        let mut names = names.iter().map(|name| flow(name)).peekable();
        while let Some(name) = names.next() {
            if line.chars().count() + name.chars().count() > 100 {
                self.line(0, line.trim_end());
                line = " ".repeat(start.len());
            }
            line.push_str(&name);
            line.push_str(if names.peek().is_some() { ", " } else { "]" });
        }
        self.line(0, &line);
    }

    fn expect(&mut self, draft: &Draft) {
        self.line(0, "expect:");
        self.line(2, &format!("exit: {}", exit_word(draft.exit)));
        for (key, output) in [("stdout", &draft.stdout), ("stderr", &draft.stderr)] {
            match output {
                None => {}
                Some(ExpectedOutput::Exact(text)) => self.key(2, key, text),
                Some(ExpectedOutput::Contains(text)) => {
                    self.line(2, &format!("{key}: {{ contains: {} }}", flow(text)));
                }
                Some(ExpectedOutput::Matches(regex)) => {
                    self.line(
                        2,
                        &format!("{key}: {{ matches: {} }}", flow(regex.as_str())),
                    );
                }
            }
        }
        self.comment(2, &draft.on_output);
        if !draft.files_after.is_empty() {
            self.line(2, "files_after:");
            for (path, file) in &draft.files_after {
                self.file_after(&flow(path), file);
            }
        }
        for suggestion in &draft.suggestions {
            self.comment(2, &suggestion.why);
            for line in steps::lines(&suggestion.expectations) {
                self.line(2, &format!("#{line}"));
            }
        }
    }

    fn file_after(&mut self, name: &str, file: &FileAfter) {
        let FileAfter {
            exists,
            content,
            kind,
            mode,
            target,
            size,
        } = file;
        let mut said: Vec<String> = Vec::new();
        match content {
            Some(ExpectedOutput::Exact(text)) if mode.is_none() => return self.key(4, name, text),
            Some(ExpectedOutput::Exact(text)) => said.push(format!("content: {}", flow(text))),
            Some(ExpectedOutput::Contains(text)) => said.push(format!("contains: {}", flow(text))),
            Some(ExpectedOutput::Matches(regex)) => {
                said.push(format!("matches: {}", flow(regex.as_str())));
            }
            None => {}
        }
        said.extend(kind.map(|kind| format!("kind: {}", kind.word())));
        said.extend(mode.map(|mode| format!("mode: \"{mode:04o}\"")));
        said.extend(
            target
                .as_ref()
                .map(|target| format!("target: {}", flow(target))),
        );
        said.extend(size.map(|size| format!("size: {}", flow(&size.to_string()))));
        if said.is_empty() {
            said.push(format!("exists: {exists}"));
        }
        self.line(4, &format!("{name}: {{ {} }}", said.join(", ")));
    }
}

#[cfg(test)]
mod tests;
