//! A scenario of its own for what a recovery makes of one folder.

use std::path::{Path, PathBuf};

use serde_yaml::{Mapping, Value};

use super::Scenario;
use super::diagnostic::Diagnostic;
use super::faulted::of_row;
use super::key_path::KeyPath;
use super::programs::Programs;
use super::reader::Parsed;
use super::workload::Command;

/// A file of the folder.
#[derive(Clone, Debug)]
pub struct Remnant {
    /// Its path from the working directory.
    pub path: String,
    /// Where its bytes are, from the folder of the new scenario.
    pub from: PathBuf,
    /// Its permission bits.
    pub mode: u32,
}

/// Returns the text of a scenario that lays these files out and runs the recovery of `row` in this
/// file on them; it expects what `crash.recovers` does.
///
/// # Errors
/// What keeps the text from being read, or from being written again as what it says.
pub fn recovery(
    (file, text, row): (&Path, &str, &str),
    programs: &Programs,
    description: &str,
    files: &[Remnant],
) -> Result<String, Diagnostic> {
    let (value, scenario) = of_row((file, text, row), programs)?;
    let complain = || scenario.complaint(&KeyPath::root(), "no recovery can be told of here", None);
    let written = written(&value, &scenario, description, files).ok_or_else(complain)?;
    let text = serde_yaml::to_string(&written).map_err(|_| complain())?;
    let read = Parsed::read(file, &text)?;
    // What is read of it must be what was meant, and a scenario.
    if read.value != written {
        return Err(complain());
    }
    read.scenario(programs)?;
    Ok(text)
}

fn written(
    value: &Value,
    scenario: &Scenario,
    description: &str,
    files: &[Remnant],
) -> Option<Value> {
    let spec = scenario.crash.as_ref()?;
    let mut workload = Mapping::new();
    match &spec.recovers.command {
        Command::Run(argv) => {
            let argv = argv.iter().map(|word| Value::from(word.as_str()));
            workload.insert("run".into(), Value::Sequence(argv.collect()));
        }
        Command::Shell(text) => {
            workload.insert("shell".into(), text.as_str().into());
        }
    }
    let env = spec.recovers.env.iter();
    let env: Mapping = env
        .map(|(name, value)| (name.as_str().into(), value.as_str().into()))
        .collect();
    if !env.is_empty() {
        workload.insert("env".into(), Value::Mapping(env));
    }
    if let Some(stdin) = &spec.recovers.stdin {
        workload.insert("stdin".into(), stdin.as_str().into());
    }
    let timeout = format!("{}ms", spec.recovers.timeout.as_millis());
    workload.insert("timeout".into(), timeout.into());
    let mut laid = Mapping::new();
    for file in files {
        let mut one = Mapping::new();
        one.insert("from".into(), file.from.to_str()?.into());
        one.insert("mode".into(), format!("{:04o}", file.mode).into());
        laid.insert(file.path.as_str().into(), Value::Mapping(one));
    }
    workload.insert("files".into(), Value::Mapping(laid));
    let mut all = Mapping::new();
    all.insert("description".into(), description.into());
    all.insert("workload".into(), Value::Mapping(workload));
    for key in ["sandbox", "requires"] {
        if let Some(own) = value.get(key) {
            all.insert(key.into(), own.clone());
        }
    }
    let events = serde_yaml::from_str("{ events: [{ syscalls: [exit_group] }] }").ok()?;
    all.insert("trace".into(), events);
    let expect = value.get("crash")?.get("recovers")?.get("expect");
    if let Some(expect) = expect {
        all.insert("expect".into(), expect.clone());
    }
    all.insert("snapshot".into(), false.into());
    Some(Value::Mapping(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "description: it\nworkload: { run: [./save], env: { A: '1' } }\n\
        sandbox: { umask: '0077' }\n\
        crash:\n  recovers:\n    shell: 'check ${to}'\n    timeout: 3s\n    \
        expect: { exit: 3, stdout: 'ok' }\nmatrix: { to: [a, '010'] }\n";

    fn of(row: &str, files: &[Remnant]) -> String {
        let it = (Path::new("it.yaml"), TEXT, row);
        recovery(it, &Programs::default(), "state 4 of it", files).expect("a scenario")
    }

    #[test]
    fn the_recovery_is_the_workload_and_what_it_expects_is_expected() {
        let files = [Remnant {
            path: "a/b".to_owned(),
            from: "it-4/a/b".into(),
            mode: 0o640,
        }];
        let text = of("to=010", &files);
        let read = crate::scenario::read(Path::new("x.yaml"), &text).expect("a scenario");
        assert_eq!(
            read.workload.command,
            Command::Shell("check 010".to_owned())
        );
        assert_eq!(read.workload.env.get("A").map(String::as_str), Some("1"));
        let file = read.workload.files.get(Path::new("a/b")).expect("a file");
        assert_eq!(file.mode, Some(0o640));
        assert_eq!(read.description, "state 4 of it");
        for line in ["timeout: 3000ms", "exit: 3", "stdout: ok", "umask: '0077'"] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(read.crash.is_none() && !text.contains("matrix"), "{text}");
    }
}
