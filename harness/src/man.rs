//! `harness man`: the man pages of this command line.

use crate::help::{self, Group};
use crate::{complain, out, status};
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use perf_live::files::{self, OutputError};
use perf_records::units::shown_path;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What holds for all commands, and stands in the page of the program alone.
const OUTPUTS: &str = "\
Where standard output is full or closed, each command that writes to it ends with an error. Where \
its reader has gone away (`| head`), a command that only prints ends at once, with status 141; run, \
merge, matrix, mutate, calibrate, new and vm go on, and keep their status. A message that standard \
error does not take is lost; trace and stat, whose result goes there, end with an error.\n\n\
A file that a command writes is replaced whole or not at all, and keeps its mode and owner; pipes, \
devices and open descriptors (/dev/stdout) are written in place, symbolic links followed. A file \
that is read must be a regular one; recordings and traces may be pipes.";

#[derive(Debug, clap::Args)]
#[command(after_help = "To read one at once: harness man | man -l -\n\
To install them: harness man /usr/local/share/man/man1")]
pub(crate) struct Arguments {
    /// The folder to write a page to for each command, harness-run.1 and so on, and harness.1;
    /// without it, harness.1 is printed
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Print one page in Markdown instead, with the help of every command
    #[arg(long, conflicts_with = "folder")]
    markdown: bool,
}

/// How wide the text in Markdown is.
const COLUMNS: usize = 100;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
enum ManError {
    #[error("cannot make the folder `{}`", shown_path(.path))]
    NoFolder { path: PathBuf, source: io::Error },
    #[error("cannot write `{}`", shown_path(.path))]
    Unwritable { path: PathBuf, source: OutputError },
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    let Some(folder) = &arguments.folder else {
        let command = help::command();
        let page = match arguments.markdown {
            true => markdown(&command),
            false => String::from_utf8_lossy(&page(&command)).into_owned(),
        };
        let printed = out::print(&page);
        return out::ended(printed, status::PASSED, status::USAGE);
    };
    match write_all(folder) {
        Ok(()) => status::PASSED,
        Err(error) => {
            complain(&error, None);
            status::USAGE
        }
    }
}

fn write_all(folder: &Path) -> Result<(), ManError> {
    fs::create_dir_all(folder).map_err(|source| ManError::NoFolder {
        path: folder.to_owned(),
        source,
    })?;
    let command = help::command();
    let shown = command
        .get_subcommands()
        .filter(|one| !one.is_hide_set() && one.get_name() != "help");
    for command in shown.chain([&command]) {
        let path = folder.join(Man::new(command.clone()).get_filename());
        let written = files::write(&path, &page(command));
        written.map_err(|source| ManError::Unwritable { path, source })?;
    }
    Ok(())
}

/// The help of every command, in the groups of the program's own.
fn markdown(command: &Command) -> String {
    let mut page =
        "# Commands\n\nThis page is what `harness man --markdown` prints: for each command \
                    that of `harness help COMMAND`.\n"
            .to_owned();
    for group in help::groups(command) {
        page += &format!("\n## {}\n", group.heading);
        for (name, _) in &group.commands {
            let one = command.find_subcommand(name);
            let Some(one) = one.filter(|one| one.get_name() != "help") else {
                continue;
            };
            let help = one.clone().term_width(COLUMNS).render_long_help();
            page += &format!("\n### harness {name}\n\n```text shown\n");
            for line in help.to_string().trim_end().lines() {
                page = page + line.trim_end() + "\n";
            }
            page += "```\n";
        }
    }
    page
}

/// A page in roff's language.
fn page(command: &Command) -> Vec<u8> {
    let man = Man::new(command.clone())
        .source(concat!("harness ", env!("CARGO_PKG_VERSION")))
        .manual("harness");
    let mut page = Vec::new();
    // A vector takes all that is written to it.
    let _cannot_fail = render(&man, command, &mut page);
    page
}

fn render(man: &Man, command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    if command.has_subcommands() {
        list(&help::groups(command)).to_writer(page)?;
    }
    man.render_options_section(page)?;
    notes(command).to_writer(page)
}

/// The commands in their groups, each with the name of its page.
fn list(groups: &[Group]) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["COMMANDS"]);
    for group in groups {
        roff.control("SS", [group.heading]);
        for (name, about) in &group.commands {
            roff.control("TP", []);
            let see = match name.as_str() {
                "help" => "harness help".to_owned(),
                name => format!("harness-{name}(1)"),
            };
            roff.text([bold(see)]);
            roff.text([roman(about.as_str())]);
        }
    }
    roff
}

/// What stands below the options of a command's help, a paragraph each.
fn notes(command: &Command) -> Roff {
    let mut roff = Roff::new();
    let own = command
        .get_after_long_help()
        .or_else(|| command.get_after_help());
    let own = own.map(ToString::to_string);
    let of_all = command.has_subcommands().then(|| OUTPUTS.to_owned());
    let texts: Vec<String> = own.into_iter().chain(of_all).collect();
    if texts.is_empty() {
        return roff;
    }
    roff.control("SH", ["NOTES"]);
    for paragraph in texts.iter().flat_map(|text| text.split("\n\n")) {
        roff.control("PP", []);
        for (number, line) in paragraph.lines().enumerate() {
            if number > 0 {
                roff.control("br", []);
            }
            roff.text([roman(line)]);
        }
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::page;
    use crate::help;

    fn text(name: &str) -> String {
        let command = help::command();
        let one = command.find_subcommand(name);
        String::from_utf8(page(one.unwrap_or(&command))).expect("text")
    }

    #[test]
    fn the_page_of_the_program_lists_its_commands_in_groups() {
        let page = text("");
        assert!(page.contains(".TH harness 1"), "{page}");
        let tests = page.find(".SS Tests").expect("a group");
        let run = page.find("harness\\-run(1)").expect("a command");
        let looking = page.find(".SS Looking").expect("a group");
        assert!(tests < run && run < looking, "{page}");
        assert!(!page.contains("vm\\-init"), "{page}");
        let begin = page.find("To begin: harness doctor").expect("the notes");
        let outputs = page.find("output is full or closed").expect("the notes");
        assert!(begin < outputs, "{page}");
    }

    #[test]
    fn the_page_of_a_command_has_its_options_and_its_exit_statuses() {
        let page = text("run");
        assert!(page.contains(".TH harness-run 1"), "{page}");
        for part in ["\\fB\\-\\-repeat\\fR", "Exit status: 0 all passed"] {
            assert!(page.contains(part), "no {part} in {page}");
        }
    }
}
