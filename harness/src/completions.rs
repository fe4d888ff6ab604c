//! `harness completions`: prints the completions of this command line for a shell.

use crate::{help, out, status};
use clap_complete::Shell;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "For bash: harness completions bash > /usr/share/bash-completion/completions/harness\n\
For zsh: harness completions zsh > a folder of $fpath, as _harness\n\
For fish: harness completions fish > ~/.config/fish/completions/harness.fish"
)]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    let mut command = help::command();
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "harness", &mut text);
    let printed = out::print(&String::from_utf8_lossy(&text));
    out::ended(printed, status::PASSED, status::USAGE)
}
