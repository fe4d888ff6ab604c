//! `harness inject`: adds build ids to a perf.data that has none.

use crate::out::note;
use crate::{complain, input, out, status};
use perf_live::files::{Access, Output};
use perf_live::host::Host;
use perf_records::perfdata::{Prologue, Reader, Writer};
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use trace_harness::run::{InjectError, Injected, inject_file, inject_pipe};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A file becomes a file, a pipe's stream stays one; a file becomes a pipe's stream with `-o -`. What was compressed no longer \
is.\n\nExit status: 0, 1 where the output cannot be written, 141 where its reader has gone away, 2 where the input cannot be read to its end: then there is no output, or in a pipe \
all that comes before that place."
)]
pub(crate) struct Arguments {
    /// Add the build ids of all programs and libraries whose code was mapped, if they are on this
    /// machine
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
                left_out,
            } = injected;
            let gone = match n_without {
                0 => String::new(),
                _ => format!(", {n_without} have none or are not here"),
            };
            note!("[ harness inject: {n_records} records, {n_build_ids} build ids put in{gone} ]");
            out::say_left_out(&left_out);
            status::PASSED
        }
        Err(Failure::Stdout(error)) => out::ended(Err(error), status::PASSED, status::FAILED),
        Err(error) => {
            complain(&error, None);
            match error {
                Failure::Output(..) | Failure::Inject(InjectError::Write(_)) => status::FAILED,
                _ => status::USAGE,
            }
        }
    }
}

/// Why nothing was injected.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Input(Box<dyn Error>),
    #[error(transparent)]
    Inject(#[from] InjectError),
    #[error("cannot write `{}`", .0.display())]
    Output(PathBuf, #[source] io::Error),
    #[error("cannot write to standard output")]
    Stdout(#[source] io::Error),
}

fn inject(arguments: &Arguments) -> Result<Injected, Failure> {
    let (reader, _) = input::open(Some(&arguments.input)).map_err(Failure::Input)?;
    let host = Host::running();
    if arguments.output == Path::new("-") {
        let mut out = BufWriter::new(out::stdout().map_err(Failure::Stdout)?);
        let injected = stream(reader, &mut out, &host).map_err(|error| match error {
            InjectError::Write(error) => Failure::Stdout(error),
            error => Failure::Inject(error),
        })?;
        out.flush().map_err(Failure::Stdout)?;
        return Ok(injected);
    }
    let failed = |error: io::Error| Failure::Output(arguments.output.clone(), error);
    let output = Output::begin(&arguments.output, Access::Private);
    let output = output.map_err(|error| failed(error.into()))?;
    let file = output.file().map_err(failed)?;
    let injected = match reader.meta().is_pipe || output.is_stream() {
        true => {
            let mut file = BufWriter::new(file);
            let injected = stream(reader, &mut file, &host)?;
            file.flush().map_err(failed)?;
            injected
        }
        false => inject_file(reader, |prologue| Writer::file(file, &prologue), &host)?.0,
    };
    output.finish().map_err(failed)?;
    Ok(injected)
}

/// Writes a pipe's stream.
fn stream(
    reader: Reader<File>,
    out: &mut BufWriter<File>,
    host: &Host,
) -> Result<Injected, InjectError> {
    if reader.meta().is_pipe {
        return inject_pipe(reader, out, host);
    }
    let mut left_out = Vec::new();
    let open = |mut prologue: Prologue| {
        left_out = prologue.fit_pipe();
        Writer::pipe(out, &prologue)
    };
    let (injected, _) = inject_file(reader, open, host)?;
    Ok(Injected {
        left_out,
        ..injected
    })
}
