//! Opens what `perf record` leaves by the name that it is told: a file, or a directory
//! (`--threads`, `--kcore`; `tools/perf/util/data.c`).

use super::{open, open_stream};
use perf_records::perfdata::Files;
use std::fs;
use std::io;
use std::path::Path;

/// Opens a file, or the files of a directory.
///
/// # Errors
/// One of them cannot be opened, or the directory has none.
pub fn recording(path: &Path) -> io::Result<Files> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(Files {
            first: open_stream(path)?,
            threads: Vec::new(),
            name: path.to_owned(),
            is_directory: false,
        });
    }
    let name = path.join("data");
    let first = open(&name).map_err(io::Error::from);
    let first = first.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let why = "it is a directory without a file `data`, and so no recording";
            io::Error::new(io::ErrorKind::NotFound, why)
        }
        _ => error,
    })?;
    let mut threads = Vec::new();
    for number in numbers(path)? {
        let file = open(&path.join(format!("data.{number}")))?;
        threads.push((number, file));
    }
    Ok(Files {
        first,
        threads,
        name,
        is_directory: true,
    })
}

/// The numbers of the files of threads, in their order.
fn numbers(path: &Path) -> io::Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("data."));
        numbers.extend(number.and_then(|number| number.parse::<u32>().ok()));
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use perf_records::perfdata::{Feature, Prologue, ReadError, Reader, Writer, features};
    use std::collections::BTreeMap;
    use std::fs::File;
    use std::io::Cursor;
    use tempfile::TempDir;

    const EVENTS: &[u8] = include_bytes!("../../../harness/fixtures/perfdata/events.data");

    /// The number of each record's thread, and how it ended.
    fn read(path: &Path) -> (Vec<Option<u32>>, Option<ReadError>) {
        let mut reader = Reader::files(recording(path).unwrap()).unwrap();
        let mut threads = Vec::new();
        loop {
            match reader.next() {
                Ok(Some(item)) => threads.push(item.place.thread),
                Ok(None) => return (threads, None),
                Err(error) => return (threads, Some(error)),
            }
        }
    }

    /// A recording in a directory, and records of which two are in each of the files of its
    /// threads.
    fn directory(threads: &[u32]) -> (TempDir, Vec<u8>) {
        let mut reader = Reader::file(Cursor::new(EVENTS)).unwrap();
        let record = reader.next().unwrap().unwrap().bytes.to_vec();
        let meta = reader.meta();
        let prologue = Prologue {
            events: meta.events.clone(),
            tracing: meta.tracing.clone(),
            features: BTreeMap::from([(Feature::DIR_FORMAT, features::longs(&[1]))]),
            compression: None,
        };
        let place = tempfile::tempdir().unwrap();
        let file = File::create(place.path().join("data")).unwrap();
        let mut writer = Writer::file(file, &prologue).unwrap();
        writer.plain(&record).unwrap();
        writer.finish(BTreeMap::new()).unwrap();
        let records = record.repeat(2);
        for number in threads {
            fs::write(place.path().join(format!("data.{number}")), &records).unwrap();
        }
        (place, records)
    }

    #[test]
    fn the_files_of_threads_are_read_behind_the_recording_in_the_order_of_their_numbers() {
        let (place, _) = directory(&[10, 2, 0]);
        fs::write(place.path().join("data.1"), "").unwrap();
        fs::write(place.path().join("data.old"), "nothing of perf's").unwrap();
        let (threads, error) = read(place.path());
        assert!(error.is_none(), "{error:?}");
        let numbers = [None, Some(0), Some(0), Some(2), Some(2), Some(10), Some(10)];
        assert_eq!(threads, numbers);
    }

    #[test]
    fn a_thread_s_file_that_is_cut_is_named_behind_all_that_was_read() {
        let (place, records) = directory(&[0, 1]);
        let cut = records.split_last().unwrap().1;
        fs::write(place.path().join("data.0"), cut).unwrap();
        let (threads, error) = read(place.path());
        assert_eq!(threads, [None, Some(0)]);
        assert!(
            matches!(error, Some(ReadError::Thread { number: 0, .. })),
            "{error:?}"
        );
    }

    #[test]
    fn one_file_of_a_directory_is_not_taken_for_all_of_it() {
        let (place, _) = directory(&[0]);
        let (threads, error) = read(&place.path().join("data"));
        assert_eq!(threads, [None]);
        assert!(matches!(error, Some(ReadError::Alone)), "{error:?}");
    }

    #[test]
    fn a_directory_that_is_no_recording_is_called_one() {
        let place = tempfile::tempdir().unwrap();
        let error = recording(place.path()).unwrap_err();
        assert!(error.to_string().contains("directory"), "{error}");
    }
}
