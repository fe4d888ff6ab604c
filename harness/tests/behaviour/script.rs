//! `harness script` on files that perf recorded: what it prints, in which forms, and what it does
//! of bad ones.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use perf_records::attr::{AttrFlags, SampleType, StoredAttr};
use perf_records::perfdata::{MAGIC, own};
use perf_records::record::kind;
use serde_json::Value;

use crate::support::require::{program, require};
use of_perf::{Printed, of_perf, text};

mod of_perf;

fn fixture(name: &str) -> String {
    format!("{}/fixtures/perfdata/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn script(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_harness"))
        .arg("script")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("harness")
}

fn printed(arguments: &[&str]) -> String {
    let output = script(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    // What this machine does not have of the one that recorded cannot be named, and that is said.
    let said = String::from_utf8_lossy(&output.stderr);
    let others = said.lines().filter(|line| !line.contains("not named: "));
    assert_eq!(others.collect::<String>(), "", "{arguments:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_file_is_printed_in_the_columns_of_perf() {
    let ours = printed(&["-i", &fixture("events.data")]);
    assert_eq!(ours, text(&of_perf("events.txt")));
}

/// JSON lines without the names of functions, which are there where this machine has the very
/// files; any other text as it is.
fn unnamed(text: &str) -> String {
    let without = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(Value::Object(mut object)) => {
            for name in ["sym", "symoff_bytes", "file", "line"] {
                object.remove(name);
            }
            Value::Object(object).to_string()
        }
        _ => line.to_owned(),
    };
    text.lines().map(|line| without(line) + "\n").collect()
}

#[test]
fn a_file_of_the_other_byte_order_reads_the_same() {
    for form in [
        &["--show-all-events"][..],
        &["--format", "json", "--show-all-events"],
        &["--ns", "-F", "comm,pid,tid,cpu,time,event,trace"],
    ] {
        let of = |name: &str| {
            let file = fixture(name);
            let arguments: Vec<&str> = ["-i", &file].iter().chain(form).copied().collect();
            script(&arguments)
        };
        let (other, own) = (of("foreign.data"), of("events.data"));
        assert!(other.status.success() && own.status.success(), "{form:?}");
        let text = |output: &Output| unnamed(&String::from_utf8_lossy(&output.stdout));
        assert!(!own.stdout.is_empty(), "{form:?}");
        assert_eq!(text(&other), text(&own), "{form:?}");
        // This machine's files are not those of another kind of machine.
        let said = String::from_utf8_lossy(&other.stderr).into_owned();
        let is_note = said.contains("recorded on another kind of machine");
        assert!(is_note || said.is_empty(), "{form:?}: {said}");
    }
}

#[test]
fn the_file_of_the_other_byte_order_is_what_its_script_makes() {
    let python = require!(program("python3"));
    let folder = tempfile::tempdir().expect("a folder");
    let made = folder.path().join("foreign.data");
    let output = Command::new(python)
        .args([fixture("foreign"), fixture("events.data")])
        .arg(&made)
        .output()
        .expect("python3");
    assert!(output.status.success(), "{output:?}");
    let ours = fs::read(fixture("foreign.data")).expect("the fixture");
    assert!(fs::read(made).expect("a file") == ours, "make it anew");
}

#[test]
fn a_pipe_reads_as_the_file_that_it_was_saved_to() {
    let saved = fixture("pipe.data");
    let by_name = printed(&["-i", &saved]);
    let of_perf = of_perf("pipe.txt");
    assert_eq!(by_name.lines().count(), of_perf.len());
    let fields = ["-F", "comm,tid,time,period,event,ip,trace"];
    let ours = printed(&[&["-i", &saved], &fields[..]].concat());
    assert_eq!(ours, text(&of_perf));
    for input in [&["-i", "-"][..], &["-i", "/dev/stdin"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_harness"))
            .arg("script")
            .args(input)
            .stdin(fs::File::open(&saved).expect("the fixture"))
            .output()
            .expect("harness");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            by_name,
            "{input:?}"
        );
    }
}

#[test]
fn json_has_every_field_of_a_sample_and_of_its_payload() {
    let ours = printed(&["--format", "json", "-i", &fixture("events.data")]);
    let theirs = of_perf("events.txt");
    assert_eq!(ours.lines().count(), theirs.len());
    let keys = |value: &Value| -> BTreeSet<String> {
        let object = value.as_object().expect("an object");
        object.keys().cloned().collect()
    };
    let set =
        |keys: &[&str]| -> BTreeSet<String> { keys.iter().map(|key| (*key).to_owned()).collect() };
    let expected: BTreeSet<String> = set(&[
        "type", "event", "time_ns", "comm", "pid", "tid", "cpu", "mode", "id", "period", "ip",
        "dso", "fields",
    ]);
    // Names are there where this machine has the very files.
    let named = set(&["sym", "symoff_bytes", "file", "line"]);
    let common = [
        "common_type",
        "common_flags",
        "common_preempt_count",
        "common_pid",
    ];
    let mut events = BTreeSet::new();
    for (ours, theirs) in ours.lines().zip(&theirs) {
        let sample: Value = serde_json::from_str(ours).expect("JSON");
        let found: BTreeSet<String> = keys(&sample).difference(&named).cloned().collect();
        assert_eq!(found, expected, "{ours}");
        let (cpu, time, event, payload) = theirs.parts();
        let number = |name: &str| sample[name].as_u64();
        assert_eq!(sample["comm"], *theirs.comm, "{ours}");
        assert_eq!(number("tid"), theirs.tid.parse().ok(), "{ours}");
        assert_eq!(number("cpu"), Some(cpu), "{ours}");
        assert_eq!(number("time_ns").map(|time| time / 1_000), Some(time));
        assert_eq!(sample["event"], event, "{ours}");
        // Each field is `name=value` there, and the states of tasks are words.
        let names = payload
            .split(' ')
            .filter_map(|word| Some(word.split_once('=')?.0));
        let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        let fields = &sample["fields"];
        assert_eq!(keys(fields), set(&[&names, &common[..]].concat()));
        for name in names.into_iter().filter(|name| *name != "prev_state") {
            let value = match &fields[name] {
                Value::String(text) => text.clone(),
                number => number.to_string(),
            };
            let field = format!(" {name}={value} ");
            assert!(format!(" {payload} ").contains(&field), "{ours}: {payload}");
        }
        events.insert(event.to_owned());
    }
    assert_eq!(
        events,
        set(&["sched:sched_process_exec", "sched:sched_switch"])
    );
}

#[test]
fn a_chain_is_printed_address_by_address_in_both_forms() {
    let file = fixture("chains.data");
    let text = printed(&["-i", &file]);
    let frames = text.lines().filter(|line| line.starts_with('\t')).count();
    let json = printed(&["-i", &file, "--format", "json"]);
    let chain = |line: &str| {
        let sample: Value = serde_json::from_str(line).expect("JSON");
        sample["callchain"].as_array().map_or(0, Vec::len)
    };
    assert!(frames > 0, "{text}");
    assert_eq!(json.lines().map(chain).sum::<usize>(), frames);
}

#[test]
fn a_chain_with_a_word_that_is_neither_mark_nor_address_is_not_printed_as_perf_does_not() {
    let mut bytes = fs::read(fixture("chains.data")).expect("a recording");
    let text = |bytes: &[u8]| {
        let place = tempfile::tempdir().expect("a folder");
        let file = place.path().join("perf.data");
        fs::write(&file, bytes).expect("a file");
        printed(&["-i", file.to_str().expect("a path of letters")])
    };
    let whole = text(&bytes);
    // `PERF_CONTEXT_USER`, of the first chain that has it.
    let mark = (-512_i64).to_ne_bytes();
    let at = bytes.windows(8).position(|word| word == mark);
    bytes[at.expect("a mark")..][..8].fill(0xff);
    let spoilt = text(&bytes);
    let samples = |text: &str| {
        text.lines()
            .filter(|line| line.contains("cpu-clock:"))
            .count()
    };
    assert_eq!(samples(&spoilt), samples(&whole));
    let without = whole
        .split_inclusive("\n\n")
        .zip(spoilt.split_inclusive("\n\n"));
    let changed: Vec<_> = without.filter(|(whole, spoilt)| whole != spoilt).collect();
    let [(chain, head)] = changed[..] else {
        panic!("{changed:?}");
    };
    assert_eq!(chain.lines().next(), head.lines().next());
    assert!(chain.contains("\n\t") && !head.contains('\t'), "{head}");
}

#[test]
fn filters_take_what_they_name_and_nothing_else() {
    let file = fixture("events.data");
    let all = of_perf("events.txt");
    let only = |arguments: &[&str]| printed(&[&["-i", &file], arguments].concat());
    let taken = |arguments: &[&str], is_named: &dyn Fn(&Printed) -> bool| {
        let named: Vec<&Printed> = all.iter().filter(|sample| is_named(sample)).collect();
        assert!((1..all.len()).contains(&named.len()), "{arguments:?}");
        assert_eq!(only(arguments), text(named), "{arguments:?}");
    };
    taken(&["-e", "sched:sched_sw*"], &|sample| {
        sample.parts().2 == "sched:sched_switch"
    });
    taken(&["--comms", "true"], &|sample| sample.comm == "true");
    let task = all.iter().find(|sample| sample.comm == "true");
    let tid = &task.expect("a task of that name").tid;
    // Each task is a process.
    for option in ["--tid", "--pid"] {
        taken(&[option, tid], &|sample| sample.tid == *tid);
    }
    assert_eq!(only(&["--pid", "1"]), "");
    let time = |sample: &Printed| sample.parts().1;
    let (from, to) = (time(&all[all.len() / 3]), time(&all[all.len() / 2]));
    let seconds = |micros: u64| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let between = format!("{},{}999", seconds(from), seconds(to));
    taken(&["--time", &between], &|sample| {
        (from..=to).contains(&time(sample))
    });
    // The machine that recorded may have had a single one.
    let cpus: BTreeSet<u64> = all.iter().map(|sample| sample.parts().0).collect();
    for cpu in 0..=cpus.last().expect("a CPU") + 1 {
        let named = all.iter().filter(|sample| sample.parts().0 == cpu);
        assert_eq!(only(&["-C", &cpu.to_string()]), text(named), "CPU {cpu}");
    }
}

#[test]
fn of_a_file_that_is_cut_all_before_the_cut_is_printed_then_the_place_is_said() {
    let whole = fs::read(fixture("events.data")).expect("the fixture");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("cut.data");
    let path = file.to_str().expect("a path of letters");
    // The names and formats stand at the end of a file.
    let fields = ["-F", "comm,pid,tid,cpu,time,ip", "--ns"];
    let all = printed(&[&["-i", &fixture("events.data")], &fields[..]].concat());
    let mut most = 0;
    // The reader itself is given seven times as many, in `perfdata::spoilt`.
    for cut in (0..whole.len()).step_by(7 * 64) {
        fs::write(&file, &whole[..cut]).expect("a file");
        let output = script(&[&["-i", path], &fields[..]].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "cut at {cut}: {complaint}");
        assert!(complaint.contains("byte"), "cut at {cut}: {complaint}");
        for line in text.lines() {
            assert!(
                all.lines().any(|known| known == line),
                "cut at {cut}: {line}"
            );
        }
        assert!(text.lines().count() >= most, "cut at {cut}: {text}");
        most = text.lines().count();
    }
    assert_eq!(most, all.lines().count());
}

#[test]
fn a_file_that_is_not_perfs_and_one_that_is_not_there_are_bad_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("text");
    fs::write(
        &file,
        "not a recording, but long enough to be one by its length\n".repeat(4),
    )
    .expect("a file");
    for path in [file.as_path(), &folder.path().join("missing")] {
        let output = script(&["-i", path.to_str().expect("a path of letters")]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert_eq!(output.stdout, b"");
        assert!(output.stderr.starts_with(b"harness: "), "{output:?}");
    }
}

#[test]
fn a_field_that_no_event_has_is_refused_by_name() {
    let output = script(&["-i", &fixture("events.data"), "-F", "comm,addr"]);
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("`addr`"), "{complaint}");
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_harness"))
        .args(["script", "-i", &fixture("events.data")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .stdin(Stdio::piped())
        .spawn()
        .expect("harness");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.stderr, b"");
}

/// A record of a perf.data.
fn record(kind: u32, body: &[u8]) -> Vec<u8> {
    let size = u16::try_from(body.len() + 8).expect("a record's size");
    [&kind.to_ne_bytes()[..], &[0; 2], &size.to_ne_bytes(), body].concat()
}

#[test]
fn of_two_million_samples_no_more_is_held_than_of_their_newest_rounds() {
    // 200 MB of records, rounds of 100 KB, and 96 MiB for all data of the process.
    const ROUNDS: u64 = 2000;
    const SAMPLES: u64 = 1000;
    let attr = StoredAttr {
        kind: 1,
        config: 9,
        sample_type: SampleType::TIME.and(SampleType::RAW),
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..StoredAttr::default()
    };
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -d 98304; exec \"$0\" script -i - -F time"])
        .arg(env!("CARGO_BIN_EXE_harness"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sh");
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || {
        let head = [MAGIC.to_ne_bytes(), 16_u64.to_ne_bytes()].concat();
        stdin.write_all(&[head, record(own::ATTR, &attr.to_bytes(128))].concat())?;
        for round in 0..ROUNDS {
            let mut records = Vec::new();
            for n in 1..=SAMPLES {
                let time = round * SAMPLES + n;
                let body = [&time.to_ne_bytes()[..], &76_u32.to_ne_bytes(), &[0; 76]];
                records.extend_from_slice(&record(kind::SAMPLE, &body.concat()));
            }
            records.extend_from_slice(&record(own::FINISHED_ROUND, &[]));
            stdin.write_all(&records)?;
        }
        std::io::Result::Ok(())
    });
    let output = child.wait_with_output().expect("its end");
    writer.join().expect("the writer").expect("a reader");
    assert!(output.status.success(), "{output:?}");
    let lines = output.stdout.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(lines as u64, ROUNDS * SAMPLES);
}
