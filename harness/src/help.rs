//! The command line as a whole: its commands in groups, and help as wide as the terminal.

use crate::Arguments;
use clap::{Command, CommandFactory, FromArgMatches};
use std::fmt::Write;

/// The groups in which help and the man page list the commands; all others follow in a last one.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Tests",
        &[
            "run",
            "new",
            "review",
            "calibrate",
            "mutate",
            "check",
            "sweep",
            "crash",
            "policy",
            "merge",
        ],
    ),
    ("Looking", &["trace", "diff", "events", "doctor"]),
    (
        "perf's files",
        &["record", "script", "dump", "inject", "stat"],
    ),
    ("Kernels", &["matrix", "vm"]),
];
const OTHERS: &str = "More";

/// A heading, and the commands below it by name and what they do.
pub(crate) struct Group {
    pub(crate) heading: &'static str,
    pub(crate) commands: Vec<(String, String)>,
}

/// The command line, whose help lists the commands in groups.
pub(crate) fn command() -> Command {
    let mut command = Arguments::command();
    // It adds the command `help`.
    command.build();
    let template = template(&command);
    command.help_template(template)
}

/// Reads the words that the program was started with.
pub(crate) fn read() -> Result<Arguments, clap::Error> {
    let matches = command().try_get_matches()?;
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command()))
}

/// The commands that are not hidden, in groups.
pub(crate) fn groups(command: &Command) -> Vec<Group> {
    let shown: Vec<&Command> = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .collect();
    let row = |command: &&Command| {
        let about = command.get_about().map(ToString::to_string);
        (command.get_name().to_owned(), about.unwrap_or_default())
    };
    let named = |names: &[&str]| -> Vec<_> {
        let found = |name: &&str| shown.iter().find(|command| command.get_name() == *name);
        names.iter().filter_map(found).map(row).collect()
    };
    let is_in_none = |command: &&&Command| {
        let mut names = GROUPS.iter().flat_map(|(_, names)| names.iter());
        names.all(|name| *name != command.get_name())
    };
    let others = shown.iter().filter(is_in_none).map(row).collect();
    let mut groups: Vec<Group> = GROUPS
        .iter()
        .map(|(heading, names)| Group {
            heading,
            commands: named(names),
        })
        .collect();
    groups.push(Group {
        heading: OTHERS,
        commands: others,
    });
    groups
}

/// What help consists of, in clap's words for it.
fn template(command: &Command) -> String {
    let groups = groups(command);
    let names = groups.iter().flat_map(|group| &group.commands);
    let width = names.map(|(name, _)| name.len()).max().unwrap_or_default();
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for group in groups {
        text += &format!("\n{header}{}:{header:#}\n", group.heading);
        for (name, about) in group.commands {
            let _cannot_fail = writeln!(text, "  {literal}{name:width$}{literal:#}  {about}");
        }
    }
    text + &format!("\n{header}Options:{header:#}\n{{options}}{{after-help}}")
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, command, groups};
    use std::collections::BTreeSet;

    /// The widest that a line of help may be.
    const WIDEST: usize = 100;

    fn too_wide(help: &str) -> Vec<&str> {
        let lines = help.lines();
        lines.filter(|line| line.chars().count() > WIDEST).collect()
    }

    #[test]
    fn what_is_wrong_with_a_number_is_said_without_words_of_rust() {
        for sub in command().get_subcommands() {
            for option in sub.get_arguments().filter_map(|it| it.get_long()) {
                for value in ["0", "-1", "99999999999999999999999"] {
                    let words = [sub.get_name().to_owned(), format!("--{option}={value}")];
                    let words = [&["harness".to_owned()][..], &words].concat();
                    let said = command().try_get_matches_from(words);
                    let said = said.map_or_else(|error| error.to_string(), |_| String::new());
                    let is_of_rust = said.contains("non-zero type") || said.contains("NonZero");
                    assert!(!is_of_rust, "{said}");
                }
            }
        }
    }

    #[test]
    fn every_command_stands_in_one_group_and_every_group_names_commands_that_are_there() {
        let command = command();
        let groups = groups(&command);
        let listed: Vec<&String> = groups
            .iter()
            .flat_map(|group| group.commands.iter().map(|(name, _)| name))
            .collect();
        let once: BTreeSet<&String> = listed.iter().copied().collect();
        assert_eq!(listed.len(), once.len(), "{listed:?}");
        let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
        assert_eq!(listed.len(), shown.count(), "{listed:?}");
        for name in GROUPS.iter().flat_map(|(_, names)| *names) {
            assert!(listed.iter().any(|one| one == name), "{name}");
        }
    }

    #[test]
    fn the_list_of_commands_fits_eighty_columns_and_every_help_a_hundred() {
        let mut command = command();
        let all = command.render_help().to_string();
        let list = all.split("Options:").next().expect("a list");
        for line in list.lines().filter(|line| line.starts_with("  ")) {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert_eq!(too_wide(&all), [""; 0]);
        for one in command.get_subcommands_mut() {
            for help in [one.render_help(), one.render_long_help()] {
                assert_eq!(too_wide(&help.to_string()), [""; 0], "{}", one.get_name());
            }
        }
    }
}
