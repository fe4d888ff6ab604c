//! Decides when files are written, and reports on each.

use crate::out::note;
use crate::signals;
use crate::trace::options::size;
use clap::Args;
use perf_live::errors::chain;
use perf_records::units::shown_path;
use std::path::{Path, PathBuf};
use std::time::Duration;
use trace_harness::run::{FileError, FileReport, Switch};

/// The default source of requests for files.
const SIGNAL: &str = "signal";

#[derive(Debug, Args)]
pub(super) struct Files {
    /// Keep the newest records in memory, over the oldest, and write them at the end or when asked
    /// to (--switch-output)
    #[arg(long, overrides_with = "no_overwrite")]
    pub(super) overwrite: bool,
    /// Write all records as they come, which is the default without --overwrite
    #[arg(long, overrides_with = "overwrite")]
    no_overwrite: bool,
    /// Write files named FILE.YYYYmmddHHMMSSnnnnnnnnn: one for each SIGUSR2, and one after this
    /// many bytes of records (64K, 100M) or this time (30s, 5m, 1h, 1d); the last one at the end
    #[arg(long, value_name = "signal|SIZE|TIME", num_args = 0..=1, default_missing_value = SIGNAL, require_equals = true, value_parser = switch)]
    switch_output: Option<Switch>,
    /// Also write a file each time one of these events comes; events that come together ask for one
    #[arg(long, value_name = "EVENTS")]
    pub(super) switch_output_event: Option<String>,
    /// Keep this many files of this recording, and remove the oldest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    switch_max_files: Option<u32>,
    /// As in perf. A file of --overwrite always names the tasks that lived when its span began,
    /// including tasks that have ended since
    #[arg(long, requires = "overwrite")]
    tail_synthesize: bool,
}

impl Files {
    /// Returns what asks for files, and how many are kept; `None` if there is a single file.
    ///
    /// # Errors
    /// A message for the user, about the command line.
    pub(super) fn files(&self, is_pipe: bool) -> Result<Option<(Switch, Option<usize>)>, String> {
        let is_named = self.switch_output.is_some() || self.switch_output_event.is_some();
        let most = self.switch_max_files;
        let most = most.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
        match (is_named, is_pipe, most) {
            (true, true, _) => Err(
                "a pipe has no name that the next file could be beside: with --switch-output write to a file (-o FILE)"
                    .to_owned(),
            ),
            (false, _, Some(_)) => {
                Err("--switch-max-files says how many files of --switch-output are kept".to_owned())
            }
            (true, ..) => Ok(Some((self.switch_output.unwrap_or(Switch::Never), most))),
            (false, ..) => Ok(None),
        }
    }
}

/// `signal`, a size or a time.
fn switch(text: &str) -> Result<Switch, String> {
    let (number, unit) = match text.char_indices().next_back() {
        Some((at, unit)) => (text.get(..at).unwrap_or_default(), unit),
        None => ("", ' '),
    };
    let seconds = match unit {
        _ if text == SIGNAL => return Ok(Switch::Never),
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'B' | 'K' | 'M' | 'G' => return Ok(Switch::Bytes(size(text)?)),
        _ => {
            return Err("expected `signal`, a size (B, K, M, G) or a time (s, m, h, d)".to_owned());
        }
    };
    let number: Option<u64> = number.parse().ok().filter(|number| *number > 0);
    let time = number.and_then(|number| number.checked_mul(seconds));
    let time = time.ok_or_else(|| "expected a time such as 30s or 5m".to_owned())?;
    Ok(Switch::Time(Duration::from_secs(time)))
}

/// Reports each file on standard error.
#[derive(Debug)]
pub(super) struct Told {
    output: PathBuf,
    /// Whether any file was written.
    pub(super) is_any: bool,
}

impl Told {
    pub(super) fn new(output: &Path) -> Self {
        Self {
            output: output.to_owned(),
            is_any: false,
        }
    }

    pub(super) fn say(&mut self, file: Result<&FileReport, &FileError>) {
        self.is_any = true;
        let report = match file {
            Ok(report) => report,
            Err(error) => {
                note!("harness: {}; recording goes on", chain(error));
                return;
            }
        };
        let path = shown_path(report.path.as_ref().unwrap_or(&self.output));
        let samples = report.n_samples;
        let length = kibibytes(report.length);
        let mut of_events: Vec<String> = Vec::new();
        let overwriting = report.overwriting.iter();
        let is_of_note = |account: &&trace_harness::run::FlightAccount| {
            account.n_records > 0 || account.counted != Some(0)
        };
        of_events.extend(overwriting.filter(is_of_note).map(ToString::to_string));
        let keeping = report.keeping.iter();
        let keeping = keeping.filter(|account| account.n_records > 0 || account.lost > 0);
        of_events.extend(keeping.map(ToString::to_string));
        if report.side_band_lost > 0 {
            of_events.push(format!(
                "names, forks, exits and mappings: {} lost",
                report.side_band_lost
            ));
        }
        let of_events = of_events
            .iter()
            .fold(String::new(), |all, one| all + "; " + one);
        let span = report.span.map_or(String::new(), |(since, until)| {
            let length = Duration::from_nanos(until.0.saturating_sub(since.0));
            format!(" of {:.6} s", length.as_secs_f64())
        });
        note!("[ harness record: {samples} samples{span}, {length} -> {path}{of_events} ]");
        if report.forgot {
            note!(
                "harness: more was told of tasks within the span than is kept: some names and mappings are those of its later part"
            );
        }
        if let Some(error) = &report.not_removed {
            note!(
                "harness: an older file could not be removed: {}",
                chain(error)
            );
        }
    }
}

/// Bytes in KiB, with one digit behind the point.
pub(super) fn kibibytes(length: u64) -> String {
    let (whole, tenth) = (length >> 10, (length & 1023) * 10 / 1024);
    format!("{whole}.{tenth} KiB")
}

impl trace_harness::run::Ask for signals::Counted {
    fn descriptor(&self) -> std::os::fd::BorrowedFd<'_> {
        self.wakes()
    }
    fn asked(&mut self) -> std::io::Result<u64> {
        self.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_end_by_a_signal_a_size_or_a_time() {
        let seconds = |seconds| Ok(Switch::Time(Duration::from_secs(seconds)));
        for (text, expected) in [
            ("signal", Ok(Switch::Never)),
            ("64K", Ok(Switch::Bytes(64 << 10))),
            ("5B", Ok(Switch::Bytes(5))),
            ("100M", Ok(Switch::Bytes(100 << 20))),
            ("1G", Ok(Switch::Bytes(1 << 30))),
            ("30s", seconds(30)),
            ("5m", seconds(300)),
            ("2h", seconds(7200)),
            ("1d", seconds(86_400)),
        ] {
            assert_eq!(switch(text), expected, "{text}");
        }
        for wrong in [
            "",
            "s",
            "0s",
            "10",
            "x",
            "1.5s",
            "-1s",
            "0K",
            "99999999999999999d",
        ] {
            assert!(switch(wrong).is_err(), "{wrong}");
        }
    }
}
