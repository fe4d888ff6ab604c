//! `harness diff`: two traces, or the events of two kernels.

mod layout;
mod reading;

use crate::kernels::{Kernels, Listed};
use crate::out;
use crate::out::note;
use crate::vm::Size;
use perf_live::errors::chain;
use perf_live::files;
use reading::Form;
use std::path::{Path, PathBuf};
use trace_harness::matrix::EventFormats;
use trace_harness::report::{formats_human, formats_json};
use trace_harness::upgrade::side_by_side;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Traces are what `harness trace -o` and `harness script` write as text, recordings (perf.data), or snapshots; a text \
goes with a text alone, as a recording tells more. Processes are matched by program and descent, and lines in them so that the fewest differ; ids, addresses and times are no difference. Of a \
recording all of that is known, of a text what it says. With --kernels, A and B are names of the list of \
kernels, or files of `harness events --format json`; no scenario is run, and each kernel is booted once for all time.\n\n\
Exit status: 0 nothing differs, 1 something does, 2 it could not be found out."
)]
pub(crate) struct Arguments {
    /// The first trace or kernel
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The second trace or kernel
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Both traces in columns beside each other, instead of - and + lines
    #[arg(long, short = 'y', conflicts_with = "kernels")]
    side_by_side: bool,
    /// How wide both columns are together [default: that of the terminal, else 160]
    #[arg(long, short = 'W', value_name = "COLUMNS", requires = "side_by_side")]
    width: Option<usize>,
    /// Compare the events of two kernels, and their fields
    #[arg(long)]
    kernels: bool,
    /// The list of kernels, as `harness matrix --kernels` takes it
    #[arg(long, value_name = "FILE", requires = "kernels")]
    list: Option<PathBuf>,
    #[command(flatten)]
    size: Size,
    /// How to print what differs between kernels
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A line for each field that has changed
    Text,
    /// A JSON object for each event
    Json,
}

const SAME: u8 = 0;
const DIFFERENT: u8 = 1;
const UNKNOWN: u8 = 2;

pub(crate) fn main(arguments: &Arguments) -> u8 {
    let compared = if arguments.kernels {
        kernels(arguments)
    } else {
        traces(arguments)
    };
    match compared {
        Ok(text) if text.is_empty() => SAME,
        Ok(text) => {
            let printed = out::print_styled(&text);
            out::ended(printed, DIFFERENT, UNKNOWN)
        }
        Err(message) => {
            note!("harness: {message}");
            UNKNOWN
        }
    }
}

fn traces(arguments: &Arguments) -> Result<String, String> {
    let (a, b) = (reading::trace(&arguments.a)?, reading::trace(&arguments.b)?);
    let names = [&arguments.a, &arguments.b].map(|path| path.display().to_string());
    let [name_a, name_b] = &names;
    refuse_mixture((name_a, a.form), (name_b, b.form))?;
    for (name, read) in [(name_a, &a), (name_b, &b)] {
        for what in &read.lacks {
            note!("harness: `{name}`: {what}");
        }
    }
    let rows = side_by_side(&a.text, &b.text);
    let names = [name_a.as_str(), name_b];
    let text = if arguments.side_by_side {
        layout::columns(names, &rows, width(arguments))
    } else {
        layout::unified(names, &rows)
    };
    if text.is_empty() && !(a.lacks.is_empty() && b.lacks.is_empty()) {
        return Err("what there is does not differ, but it is not all".to_owned());
    }
    Ok(text)
}

/// Refuses a text that was printed beside what was not: it has numbers of descriptors, and no
/// programs, so that each line would differ.
fn refuse_mixture(a: (&str, Form), b: (&str, Form)) -> Result<(), String> {
    let (printed, other, form) = match (a, b) {
        ((printed, Form::Printed), (other, form)) | ((other, form), (printed, Form::Printed))
            if form != Form::Printed =>
        {
            (printed, other, form)
        }
        _ => return Ok(()),
    };
    Err(match form {
        Form::Recording => format!(
            "`{printed}` is a trace as it was printed, and `{other}` a recording, which tells more\n\
             hint: print that as well (harness trace -i {other} -o FILE), and compare the texts"
        ),
        _ => format!(
            "`{printed}` is a trace as it was printed, and `{other}` is none\n\
             hint: record the run (harness trace --save FILE), and compare the recording with it"
        ),
    })
}

/// Returns the width of a line in characters.
fn width(arguments: &Arguments) -> usize {
    const USUAL: usize = 160;
    let of_terminal = || perf_live::sys::columns().map(usize::from);
    arguments.width.or_else(of_terminal).unwrap_or(USUAL)
}

fn kernels(arguments: &Arguments) -> Result<String, String> {
    let listed = Listed {
        kernels: arguments.list.clone(),
    };
    let list = listed
        .read()
        .map_err(|_| "there is no list of kernels".to_owned())?;
    let [a, b] = [&arguments.a, &arguments.b].map(|word| formats(arguments, &list, word));
    let changes = a?.changes(&b?);
    let mut text = String::new();
    match arguments.format {
        Format::Text => formats_human(&mut text, &changes),
        Format::Json => formats_json(&mut text, &changes),
    }
    Ok(text)
}

/// Returns the events of a kernel of the list, or of a file if the list has no such name.
fn formats(arguments: &Arguments, list: &Kernels, word: &Path) -> Result<EventFormats, String> {
    let name = word.to_string_lossy();
    let is_listed = list.specs.iter().any(|spec| spec.name == name);
    if !is_listed && word.exists() {
        let text = files::text(word, files::EVENTS);
        let text = text.map_err(|error| format!("cannot read `{name}`: {}", chain(&error)))?;
        return EventFormats::read(&text).map_err(|error| format!("`{name}`: {}", chain(&error)));
    }
    list.choose(Some(&name))
        .map_err(|_| format!("`{name}` is no file either"))?;
    let mut say = |text: String| note!("harness: {text}");
    let place = list.find(&name, &mut say);
    let place = place.map_err(|trouble| trouble.to_string())?;
    let formats = crate::formats::of(&place, &arguments.size.machine());
    formats.map_err(|error| format!("the kernel `{name}`: {error}"))
}
