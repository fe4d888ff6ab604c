//! `harness inject`: build ids into a perf.data that has none.

use crate::{complain, input, status};
use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use trace_harness::host::Host;
use trace_harness::perfdata::Writer;
use trace_harness::run::{InjectError, Injected, inject_file, inject_pipe};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A file becomes a file, a pipe's stream stays one; a file becomes a pipe's stream with `-o -`. What was compressed no longer \
is.\n\nExit status: 0, 1 where the output cannot be written, 2 where the input cannot be read to its end: then there is no output, or in a pipe \
all that comes before that place."
)]
pub(crate) struct Arguments {
    /// Put in the build ids of all programs and libraries whose code was mapped, as far as they are on this machine
    #[arg(short, long, required = true)]
    build_ids: bool,
    /// The file, or - for a pipe's stream on standard input
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// The file to write, or - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    match inject(arguments) {
        Ok(injected) => {
            let Injected {
                n_records,
                n_build_ids,
                n_without,
            } = injected;
            let gone = match n_without {
                0 => String::new(),
                _ => format!(", {n_without} have none or are not here"),
            };
            anstream::eprintln!(
                "[ harness inject: {n_records} records, {n_build_ids} build ids put in{gone} ]"
            );
            status::PASSED
        }
        Err(error) => {
            let is_input = match error.downcast_ref::<InjectError>() {
                Some(error) => !matches!(error, InjectError::Write(_)),
                None => error.downcast_ref::<io::Error>().is_none(),
            };
            complain(error.as_ref(), None);
            if is_input {
                status::USAGE
            } else {
                status::FAILED
            }
        }
    }
}

fn inject(arguments: &Arguments) -> Result<Injected, Box<dyn Error>> {
    let (reader, _) = input::open(Some(&arguments.input))?;
    let host = Host::running();
    let is_pipe = reader.meta().is_pipe;
    if arguments.output == Path::new("-") {
        let mut out = BufWriter::new(io::stdout().lock());
        if is_pipe {
            return Ok(inject_pipe(reader, &mut out, &host)?);
        }
        let open = |prologue: &_| Writer::pipe(out, prologue);
        let (injected, mut out) = inject_file(reader, open, &host)?;
        out.flush()?;
        return Ok(injected);
    }
    // Whatever goes wrong, what is there stays as it is.
    let folder = match arguments.output.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new().tempfile_in(folder)?;
    let injected = if is_pipe {
        let mut out = BufWriter::new(file.as_file_mut());
        inject_pipe(reader, &mut out, &host)?
    } else {
        let out = file.reopen()?;
        let open = |prologue: &_| Writer::file(out, prologue);
        inject_file(reader, open, &host)?.0
    };
    file.persist(&arguments.output)
        .map_err(|error| error.error)?;
    Ok(injected)
}
