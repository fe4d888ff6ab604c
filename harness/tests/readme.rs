//! What the README shows is what there is: the scenario, its snapshot, the report on a change, the
//! commands and their options.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const HARNESS: &str = env!("CARGO_BIN_EXE_harness");
const SCENARIO: &str = "scenarios/durability/gzip-synchronous-syncs-before-it-unlinks.yaml";
const SNAPSHOT: &str = "snapshots/durability/gzip-synchronous-syncs-before-it-unlinks.snap";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
        .to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A fenced block, and the paragraph above it as one line.
#[derive(Debug)]
struct Block {
    above: String,
    language: String,
    text: String,
}

fn blocks() -> Vec<Block> {
    let readme = read("README.md");
    let mut blocks = Vec::new();
    let (mut above, mut is_over) = (String::new(), true);
    let mut lines = readme.lines();
    while let Some(line) = lines.next() {
        match line.strip_prefix("```") {
            None if line.is_empty() => is_over = true,
            None if is_over => {
                line.clone_into(&mut above);
                is_over = false;
            }
            None => above += &format!(" {line}"),
            Some(language) => {
                let body = lines.by_ref().take_while(|line| *line != "```");
                let text: String = body.map(|line| format!("{line}\n")).collect();
                is_over = true;
                blocks.push(Block {
                    above: above.clone(),
                    language: language.to_owned(),
                    text,
                });
            }
        }
    }
    blocks
}

/// The block below a paragraph that says so.
fn block_below(above: &str) -> Block {
    let found = blocks()
        .into_iter()
        .find(|block| block.above.contains(above));
    found.unwrap_or_else(|| panic!("README.md: no block below a paragraph with {above:?}"))
}

/// A snapshot without its header, which names the kernel that it was taken on.
fn below_header(snapshot: &str) -> &str {
    let header = snapshot
        .strip_prefix("---\n")
        .and_then(|text| text.split_once("\n---\n"));
    header.expect("a snapshot with a header").1
}

#[test]
fn the_scenario_shown_is_the_file() {
    let shown = block_below(&format!("`{SCENARIO}`"));
    assert_eq!(shown.language, "yaml");
    let file = read(SCENARIO);
    // The first line is for editors.
    let (editors, scenario) = file.split_once('\n').expect("lines");
    assert!(editors.starts_with("# yaml-language-server: "), "{editors}");
    assert_eq!(
        shown.text, scenario,
        "README.md, and the file that it shows"
    );
}

#[test]
fn the_snapshot_shown_is_the_file() {
    let shown = block_below(&format!("`{SNAPSHOT}`"));
    let stored = read(SNAPSHOT);
    assert_eq!(
        shown.text,
        below_header(&stored),
        "README.md, and the file that it shows"
    );
}

#[test]
fn ci_runs_what_the_readme_tells_a_user_to_run() {
    let shown = block_below("As root, on Linux");
    let commands: Vec<&str> = shown.text.lines().collect();
    assert_eq!(
        commands,
        ["cargo run --release -- run scenarios", "cargo test"]
    );
    let run = read(".ci/run").replace(" --locked", "");
    for command in commands {
        assert!(
            run.lines().any(|line| line == format!("step {command}")),
            ".ci/run does not run `{command}`"
        );
    }
}

/// What stands in backquotes or in a block for a shell, and starts with the program's name.
fn commands() -> Vec<String> {
    let readme = read("README.md");
    let prose: String = readme.split("```").step_by(2).collect();
    let quoted = prose.split('`').skip(1).step_by(2);
    let commands = quoted
        .filter_map(|text| text.strip_prefix("harness "))
        .map(str::to_owned);
    let commands: Vec<String> = commands.collect();
    assert!(commands.len() > 5, "{commands:?}");
    commands
}

fn help(arguments: &[&str]) -> String {
    let output = Command::new(HARNESS)
        .args(arguments)
        .arg("--help")
        .output()
        .expect("the program");
    assert!(
        output.status.success(),
        "harness {arguments:?} --help: {output:?}"
    );
    String::from_utf8(output.stdout).expect("text")
}

/// The lines of the recipes for other kernels that begin with the program's name.
fn recipes() -> Vec<String> {
    let below = |above: &str| block_below(above).text;
    let all = below("On a plain Debian") + &below("has a folder `scenarios`");
    let own = |line: &str| {
        let line = line.trim_start().trim_start_matches("- run: ");
        line.strip_prefix("harness ").map(str::to_owned)
    };
    all.lines().filter_map(own).collect()
}

#[test]
fn the_recipes_for_other_kernels_are_the_same_and_name_what_there_is() {
    let [debian, hosted] = <[String; 2]>::try_from(recipes()).expect("one in each");
    assert_eq!(debian, hosted);
    let hosted = block_below("has a folder `scenarios`").text;
    let runner = block_below("On a plain Debian").text;
    for (text, word) in [
        (&hosted, "HARNESS_CACHE"),
        (&runner, "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER"),
    ] {
        assert!(text.contains(word), "{text}");
        assert!(help(&["vm"]).contains(word), "{word}");
    }
    let package = "qemu-system-x86";
    for text in [&hosted, &runner, &read(".ci/run")] {
        assert!(text.contains(package), "{text}");
    }
}

#[test]
fn every_command_and_option_that_the_readme_names_is_there() {
    for command in commands().into_iter().chain(recipes()) {
        let mut words = command.split(' ');
        let name = words.next().unwrap_or_default();
        let help = help(&[name]);
        let options = words
            .take_while(|word| *word != "--")
            .filter(|word| word.starts_with("--"));
        for option in options {
            let ends = [" ", "\n", "[="];
            assert!(
                ends.iter()
                    .any(|end| help.contains(&format!("{option}{end}"))),
                "`harness {command}`: no {option}"
            );
        }
    }
    let described: BTreeSet<String> = commands()
        .iter()
        .filter_map(|command| command.split(' ').next())
        .map(str::to_owned)
        .collect();
    let all: BTreeSet<String> = help(&[])
        .lines()
        .take_while(|line| *line != "Options:")
        .filter_map(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split(' ').next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect();
    assert_eq!(
        described, all,
        "the commands that README.md names, and those of `harness --help`"
    );
}

/// Why this machine cannot show it; `HARNESS_REQUIRE=all` makes a failure of that.
fn cannot_trace() -> Option<String> {
    let output = Command::new(HARNESS)
        .arg("doctor")
        .output()
        .expect("the program");
    if output.status.success() {
        return None;
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let required = std::env::var("HARNESS_REQUIRE").unwrap_or_default();
    assert_ne!(
        required, "all",
        "HARNESS_REQUIRE is set, and this machine cannot trace:\n{said}"
    );
    Some(said)
}

/// Times differ from run to run, and the README has no spaces at the ends of its lines.
fn without_times(report: &str) -> String {
    let mut text = String::new();
    for line in report.lines() {
        let line = match line.split_once(" ms, ") {
            Some((before, after)) => {
                let before = before.trim_end_matches(|c: char| c.is_ascii_digit());
                format!("{before}N ms, {after}")
            }
            None => line.to_owned(),
        };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// That it can be used is more than that it can be read: its events are there, and they have its
/// fields.
#[test]
fn every_example_of_the_reference_can_be_used() {
    if let Some(why) = cannot_trace() {
        // If stderr is gone, there is no reader to tell.
        let _gone = writeln!(std::io::stderr(), "skipped: {why}");
        return;
    }
    let reference = read("scenarios/README.md");
    let examples = reference.split("```yaml\n").skip(1);
    let examples = examples.map(|rest| rest.split("```\n").next().unwrap_or_default());
    // Only root can run a workload as another user.
    let is_root = nix::unistd::geteuid().is_root();
    let examples = examples.filter(|example| is_root || !example.contains("user:"));
    let place = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = place.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    write("scenarios/workloads/save.py", "");
    let mut number = 0;
    for example in examples {
        let lacks = |key: &str| !example.lines().any(|line| line.starts_with(key));
        let description = lacks("description:").then_some("description: d\n");
        let workload = lacks("workload:").then_some("workload: { run: [\"true\"] }\n");
        let head = [description, workload]
            .map(Option::unwrap_or_default)
            .concat();
        number += 1;
        write(
            &format!("scenarios/{number:02}.yaml"),
            &format!("{head}{example}"),
        );
    }
    assert!(number > 15, "the examples are found");
    let mut run = Command::new(HARNESS);
    let output = run.args(["run", "scenarios"]).current_dir(&place).output();
    let output = output.expect("the program");
    let said = String::from_utf8_lossy(&output.stderr);
    // Most of them run programs that there are not.
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(!said.contains("cannot be used"), "{said}");
}

#[test]
fn the_report_shown_is_what_the_change_gives() {
    if let Some(why) = cannot_trace() {
        // If stderr is gone, there is no reader to tell.
        let _gone = writeln!(std::io::stderr(), "skipped: {why}");
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = place.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    let scenario = read(SCENARIO);
    let changed = scenario.replace("[gzip, --synchronous,", "[gzip,");
    assert_ne!(changed, scenario, "the change that README.md names");
    write(SCENARIO, &changed);
    write(SNAPSHOT, &read(SNAPSHOT));
    let mut run = Command::new(HARNESS);
    let output = run
        .args(["run", "scenarios"])
        .current_dir(&place)
        .env_remove("CI")
        .output()
        .expect("the program");
    let report = String::from_utf8_lossy(&output.stdout);
    let shown = block_below("Without `--synchronous` the run says");
    assert_eq!(
        without_times(&report),
        without_times(&shown.text),
        "{output:?}"
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

/// The way from a command to a test, step by step.
#[test]
fn what_is_recorded_and_tightened_is_what_is_shown() {
    if let Some(why) = cannot_trace() {
        // If stderr is gone, there is no reader to tell.
        let _gone = writeln!(std::io::stderr(), "skipped: {why}");
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let path = |path: &str| place.path().join(path);
    let harness = |arguments: &[&str]| {
        let mut command = Command::new(HARNESS);
        command.args(arguments).current_dir(&place).env_remove("CI");
        let output = command.output().expect("the program");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    let program = block_below("`save.py`").text;
    fs::write(path("save.py"), &program).expect("a file");
    let (status, said) = harness(&["new", "save", "-n", "10", "--", "python3", "save.py"]);
    assert_eq!(status, Some(0), "{said}");
    let scenario = path("scenarios/save.yaml");
    assert_eq!(
        fs::read_to_string(&scenario).expect("a scenario"),
        block_below("`scenarios/save.yaml`, as it is written").text
    );
    let tightened = block_below("`scenarios/save.yaml`, tightened").text;
    fs::write(&scenario, tightened).expect("a file");
    assert_eq!(harness(&["run", "scenarios"]).0, Some(0));
    let lines = program.lines().filter(|line| !line.contains("os.fsync"));
    let changed: String = lines.map(|line| format!("{line}\n")).collect();
    fs::write(path("save.py"), changed).expect("a file");
    let (status, report) = harness(&["run", "scenarios"]);
    assert_eq!(status, Some(1), "{report}");
    let shown = block_below("What `harness run scenarios` says").text;
    // How often an interpreter opens its script is another matter in each version.
    let told = |report: &str| {
        let report = without_times(report);
        let lines = report.lines().filter(|line| !line.contains("save.py\""));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(told(&report), told(&shown));
}
