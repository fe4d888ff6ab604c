//! `harness dump`: prints each record of a perf.data as bytes and as what they mean.

use crate::input::Unprinted;
use crate::out::note;
use crate::{input, out, status};
use perf_records::perfdata::Ordered;
use perf_records::script::Dump;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The grammar is that of perf report -D: a record's place and size, its bytes, then what they mean; the fields of \
tracepoints below that, with their place among the bytes. Records come in the order of their times, a tool's own where they stand. \
Records that were compressed have the place of the one that they were in.\n\n\
Exit status: 0, or 2 where the input cannot be read to its end; all that comes before that place is printed."
)]
pub(crate) struct Arguments {
    /// The file, or - for standard input [default: standard input if it is a pipe, else perf.data]
    #[arg(short, long, value_name = "FILE")]
    input: Option<PathBuf>,
}

pub(crate) fn main(arguments: &Arguments) -> u8 {
    input::status_of(dump(arguments).map(|()| status::PASSED))
}

/// How many bytes of text are written at once.
const PIECE: usize = 1 << 16;

fn dump(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let (reader, name) = input::open(arguments.input.as_deref())?;
    let mut stdout = out::stdout().map_err(Unprinted)?;
    let mut text = Vec::with_capacity(2 * PIECE);
    let mut reader = Ordered::new(reader);
    let mut dump = Dump::new(name);
    let end = loop {
        match reader.next() {
            Ok(Some(item)) => dump.record(&item, &mut text),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
        if text.len() >= PIECE {
            stdout.write_all(&text).map_err(Unprinted)?;
            text.clear();
        }
    };
    dump.totals(&mut text);
    stdout.write_all(&text).map_err(Unprinted)?;
    tell(&dump, reader.late());
    Ok(end?)
}

/// Reports what is missing.
fn tell(dump: &Dump, late: u64) {
    let all = [
        (late, "records came late, and stand behind younger ones"),
        (dump.strangers(), "records have the id of no event"),
        (dump.malformed(), "records end inside of their fields"),
        (
            dump.unknown(),
            "records are of a type that this version does not know",
        ),
    ];
    for (count, what) in all.iter().filter(|(count, _)| *count > 0) {
        note!("harness: {count} {what}");
    }
}
