//! Help and man pages: what they list, and how wide they are.

use std::fs;

use crate::support::project::Project;

#[test]
fn help_lists_the_commands_below_headings() {
    let help = Project::new().harness(&["--help"]);
    help.assert_status(0);
    let headings = help.stdout.lines().filter(|line| line.ends_with(':'));
    let headings: Vec<&str> = headings.collect();
    assert_eq!(
        headings,
        [
            "Tests:",
            "Looking:",
            "perf's files:",
            "Kernels:",
            "More:",
            "Options:"
        ]
    );
}

#[test]
fn help_ends_with_where_to_begin() {
    let project = Project::new();
    for words in [&["help"][..], &["--help"], &["-h"]] {
        let help = project.harness(words);
        help.assert_status(0);
        let end = "To begin: harness doctor, then harness new NAME -- CMD.";
        let (_, rest) = help.stdout.rsplit_once("\n\n").expect("a last paragraph");
        assert!(rest.starts_with(end), "{}", help.stdout);
    }
}

#[test]
fn the_forms_of_a_statement_are_those_that_its_help_names() {
    let project = Project::new();
    let help = project.harness(&["check", "--help"]).stdout;
    let help: String = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let forms = "A statement has human, json (a line for each thing, then a summary) and markdown;";
    assert!(help.contains(forms), "{help}");
    assert!(
        help.contains("Examples: harness check -- make install"),
        "{help}"
    );
    for form in ["junit", "github", "ktap", "html"] {
        let run = project.harness(&["check", "--format", form, "--", "true"]);
        run.assert_status(125);
        assert!(run.stderr.contains("so give RULES.yaml"), "{}", run.stderr);
    }
}

#[test]
fn help_is_as_wide_as_it_is_told_and_a_hundred_columns_at_most() {
    let project = Project::new();
    for (columns, widest) in [("80", 80), ("300", 100)] {
        // Without a terminal the width is that of the variable.
        let mut command = project.program(&["trace", "--help"]);
        command
            .env("COLUMNS", columns)
            .stdin(std::process::Stdio::null());
        let output = command.output().expect("the program");
        let help = String::from_utf8(output.stdout).expect("text");
        let widths = help.lines().map(|line| line.chars().count());
        let wide = widths.max().expect("lines");
        assert!(wide <= widest && wide > widest - 10, "{columns}: {wide}");
    }
}

#[test]
fn man_writes_a_page_for_each_command() {
    let project = Project::new();
    let folder = project.join("share/man1");
    let words = ["man", folder.to_str().expect("text")];
    project.harness(&words).assert_status(0);
    let names = fs::read_dir(&folder).expect("the folder");
    let names = names.map(|entry| entry.expect("an entry").file_name());
    let names: Vec<String> = names
        .map(|name| name.into_string().expect("text"))
        .collect();
    for name in ["harness.1", "harness-run.1", "harness-trace.1"] {
        assert!(names.iter().any(|one| one == name), "{names:?}");
        let page = fs::read_to_string(folder.join(name)).expect("a page");
        assert!(page.contains(".SH OPTIONS"), "{name}: {page}");
    }
    let hidden = ["harness-vm-init.1", "harness-help.1"];
    assert!(!names.iter().any(|name| hidden.contains(&name.as_str())));
}

#[test]
fn the_page_of_all_commands_is_what_the_program_says_of_them() {
    let project = Project::new();
    let page = project.harness(&["man", "--markdown"]);
    page.assert_status(0);
    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/commands.md");
    let stored = fs::read_to_string(stored).expect("the page");
    assert!(
        page.stdout == stored,
        "harness/docs/commands.md is old: cargo run -- man --markdown > harness/docs/commands.md"
    );
    // And that is what a reader gets by the command.
    let mut command = project.program(&["help", "merge"]);
    let output = command.env("COLUMNS", "100").output().expect("the program");
    let help = String::from_utf8(output.stdout).expect("text");
    let lines: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
    let block = format!(
        "### harness merge\n\n```text shown\n{}\n```\n",
        lines.join("\n")
    );
    assert!(stored.contains(&block), "{block}");
}

#[test]
fn a_man_page_that_cannot_be_written_is_an_error() {
    let project = Project::new();
    project.write("file", "");
    let run = project.harness(&["man", "file/man1"]);
    run.assert_status(2);
    assert!(
        run.stderr.contains("cannot make the folder `file/man1`"),
        "{}",
        run.stderr
    );
}
