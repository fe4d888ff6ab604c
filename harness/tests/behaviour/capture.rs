//! What calls point to is read by BPF programs: whose strings they are under every circumstance,
//! what is said of one that is not whole or not there, and that the programs neither disturb others
//! nor outlive the harness.

mod contents;
mod machine;
#[cfg(target_arch = "x86_64")]
mod narrow;
mod standing;
mod tasks;

use serde_json::Value;

use crate::support::project::Project;

const UNREAD: &str = "<unread>";

/// A call: its name and the texts of its arguments.
type Call = (String, Vec<String>);

/// Traces a command and gives its calls of these names.
fn traced(project: &Project, events: &str, command: &[&str]) -> Vec<Call> {
    let file = project.join("trace");
    let file = file.to_str().expect("a path of letters");
    let words = ["trace", "--format", "json", "-o", file, "-e", events, "--"];
    let words: Vec<&str> = words.iter().chain(command).copied().collect();
    project.harness(&words).assert_status(0);
    calls(&project.read("trace"), events)
}

fn calls(trace: &str, events: &str) -> Vec<Call> {
    let lines = trace
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect(line));
    let lines = lines.filter(|line| line["type"] == "syscall");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let texts = |line: &Value| {
        let arguments = line["args"].as_array().map(Vec::as_slice);
        let arguments = arguments.unwrap_or_default().iter();
        arguments.map(|argument| text(&argument["text"])).collect()
    };
    let calls = lines.map(|line| (text(&line["name"]), texts(&line)));
    calls
        .filter(|(name, _)| events.contains('%') || events.split(',').any(|event| event == name))
        .collect()
}

/// The texts of the arguments at that place, among them those that hold the word.
fn texts(calls: &[Call], place: usize, word: &str) -> Vec<String> {
    let texts = calls.iter().filter_map(|(_, texts)| texts.get(place));
    texts.filter(|text| text.contains(word)).cloned().collect()
}

fn assert_all_read(calls: &[Call]) {
    let unread = |(_, texts): &&Call| texts.iter().any(|text| text.contains(UNREAD));
    let unread: Vec<_> = calls.iter().filter(unread).collect();
    assert!(unread.is_empty(), "{unread:?}");
}
