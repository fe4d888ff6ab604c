//! The commands and options that the documents name, against what `--help` says.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use crate::blocks::{block_below, blocks, documents};
use crate::{HARNESS, read};

const KERNELS: &str = "harness/docs/kernels-and-ci.md";

/// What stands in backquotes and starts with the program's name, and the lines of blocks for a
/// shell that do.
fn commands(document: &str) -> Vec<String> {
    let text = read(document);
    let prose: String = text.split("```").step_by(2).collect();
    let quoted = prose.split('`').skip(1).step_by(2);
    let quoted = quoted.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let shown = blocks(document).into_iter();
    let shown = shown.filter(|block| block.language == "sh" || block.language == "yaml");
    let lines = shown.flat_map(|block| {
        let lines = block.text.lines().map(str::trim_start);
        lines
            .map(|line| line.trim_start_matches("- run: ").to_owned())
            .collect::<Vec<_>>()
    });
    quoted
        .chain(lines)
        .filter_map(|text| text.strip_prefix("harness ").map(str::to_owned))
        .collect()
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

/// The commands that the program says it has.
fn there() -> BTreeSet<String> {
    help(&[])
        .lines()
        .take_while(|line| *line != "Options:")
        .filter_map(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split(' ').next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_command_and_option_that_a_document_names_is_there() {
    let there = there();
    let mut helps = BTreeMap::new();
    for document in documents() {
        for command in commands(&document) {
            let mut words = command.split(' ');
            let name = words.next().unwrap_or_default().to_owned();
            if name == "help" {
                continue;
            }
            // `harness COMMAND` stands for any.
            if name.chars().all(|c| c.is_ascii_uppercase()) {
                continue;
            }
            assert!(there.contains(&name), "{document}: `harness {command}`");
            let help = helps.entry(name).or_insert_with_key(|name| help(&[name]));
            let options = words
                .take_while(|word| !matches!(*word, "--" | "|"))
                .map(|word| word.split('=').next().unwrap_or(word))
                .filter(|word| word.starts_with("--"));
            for option in options {
                let ends = [" ", "\n", "[=", "="];
                assert!(
                    ends.iter()
                        .any(|end| help.contains(&format!("{option}{end}"))),
                    "{document}: `harness {command}`: no {option}"
                );
            }
        }
    }
}

#[test]
fn the_readme_lists_the_commands_as_help_does_and_each_is_described_in_a_document() {
    let there = there();
    let readme = read("README.md");
    let (_, table) = readme.split_once("\n## Commands\n").expect("a heading");
    let (table, _) = table.split_once("\n## ").expect("another heading");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| "));
    // The heading of the table and the line below it name no command.
    let rows = rows.filter(|row| row.contains('`'));
    let rows: Vec<(&str, Vec<&str>)> = rows
        .filter_map(|row| row.split_once(" | "))
        .map(|(group, names)| (group, names.split('`').skip(1).step_by(2).collect()))
        .collect();
    let help = help(&[]);
    let lines = help.lines().take_while(|line| *line != "Options:");
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in lines {
        match (line.strip_prefix("  "), line.strip_suffix(':')) {
            (Some(row), _) => {
                let group = groups.last_mut().expect("a heading");
                group.1.extend(row.split(' ').next());
            }
            (None, Some(heading)) => groups.push((heading, Vec::new())),
            (None, None) => {}
        }
    }
    assert_eq!(rows, groups, "the table of README.md, and `harness --help`");
    let described: BTreeSet<String> = documents()
        .iter()
        // One lists them all, and the other has the help of each.
        .filter(|document| !["README.md", "harness/docs/commands.md"].contains(&document.as_str()))
        .flat_map(|document| commands(document))
        .filter_map(|command| command.split(' ').next().map(str::to_owned))
        .collect();
    let missing: Vec<&String> = there.difference(&described).collect();
    assert!(missing.is_empty(), "no document speaks of {missing:?}");
}

#[test]
fn the_recipes_for_other_kernels_are_the_same_and_name_what_there_is() {
    let debian = block_below(KERNELS, "On a plain Debian").text;
    let hosted = block_below(KERNELS, "has a folder `scenarios`").text;
    let own = |text: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim_start);
        let lines = lines.map(|line| line.trim_start_matches("- run: "));
        let own = lines.filter(|line| line.starts_with("harness "));
        own.map(str::to_owned).collect()
    };
    assert_eq!(own(&debian), own(&hosted));
    assert_eq!(own(&debian).len(), 1);
    for (text, word) in [
        (&hosted, "HARNESS_CACHE"),
        (&debian, "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER"),
    ] {
        assert!(text.contains(word), "{text}");
        assert!(help(&["vm"]).contains(word), "{word}");
    }
    let package = "qemu-system-x86";
    for text in [&hosted, &debian, &read(".ci/run")] {
        assert!(text.contains(package), "{text}");
    }
}

/// The first page that anybody reads stays one that is read.
#[test]
fn the_readme_stays_short() {
    let length = read("README.md").lines().count();
    assert!(
        length <= 150,
        "README.md has {length} lines: move what is not needed at first"
    );
}
