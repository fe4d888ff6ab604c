//! The text of a record, compared with that of `perf script -F trace`.

mod differences;
mod kernel;
mod payloads;
mod perf_data;
mod recorded;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use perf_records::format::{self, Format};
use perf_records::print::Text;

use self::payloads::{FLAVOURS, Flavour, payload};
use super::support::command::{Place, clean_command};
use super::support::perf::{self, WITH_TRACEFS};
use super::support::require::{self, require};

/// Every format of this kernel: system and text.
fn formats() -> Vec<(String, String)> {
    let mut words = vec!["unshare"];
    words.extend(WITH_TRACEFS);
    words.extend([
        "sh",
        "-c",
        "cd /sys/kernel/tracing/events && tail -v -n +1 */*/format",
    ]);
    let output = clean_command(&words).output().expect("unshare");
    let all = String::from_utf8(output.stdout).expect("formats are text");
    let all = format!("\n{all}");
    let events = all.split("\n==> ").filter_map(|event| {
        let (name, text) = event.split_once(" <==\n")?;
        // ftrace's own records come by no perf event.
        let system = name
            .split('/')
            .next()
            .filter(|system| *system != "ftrace")?;
        Some((system.to_owned(), text.to_owned()))
    });
    events.collect()
}

/// What perf prints of each record: its time is its place. And what it says besides.
fn perf_script(file: &str) -> (Vec<String>, String) {
    let perf = perf::program();
    let words = [&perf, "script", "--ns", "-F", "time,trace", "-i", file];
    let output = clean_command(&words).output().expect("perf");
    let said = String::from_utf8_lossy(&output.stderr);
    let end: Vec<&str> = said.lines().rev().take(3).collect();
    assert!(output.status.success(), "{}: {end:?}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    let mut samples: Vec<String> = Vec::new();
    for line in text.lines() {
        let time = line
            .trim_start()
            .split_once(": ")
            .filter(|(time, _)| is_time(time, samples.len()));
        match (time, samples.last_mut()) {
            (Some((_, text)), _) => samples.push(text.to_owned()),
            (None, Some(last)) => {
                last.push('\n');
                last.push_str(line);
            }
            (None, None) => panic!("`{line}`"),
        }
    }
    (samples, said.into_owned())
}

fn is_time(text: &str, index: usize) -> bool {
    let nanoseconds = (index + 1) * 1000;
    text == format!(
        "{}.{:09}",
        nanoseconds / 1_000_000_000,
        nanoseconds % 1_000_000_000
    )
}

#[test]
fn the_text_of_every_event_is_that_of_perf() {
    require!(require::right_to_trace());
    require!(require::perf());
    let place = Place::new();
    let formats: Vec<(String, Format, String)> = formats()
        .into_iter()
        .map(|(system, text)| (system, format::parse(&text).expect("a format"), text))
        .collect();
    let texts: Vec<Text> = formats
        .iter()
        .map(|(_, format, _)| Text::new(format))
        .collect();
    let samples: Vec<(usize, Vec<u8>)> = formats
        .iter()
        .enumerate()
        .flat_map(|(at, (_, format, _))| {
            let flavours = FLAVOURS.into_iter();
            // `REC->total_time == 0 ? 0 : ... / REC->total_time`: perf 6.1 divides all the same,
            // and dies of that.
            let divides = format.print_fmt.contains("/ REC->");
            let flavours = flavours.filter(move |flavour| !divides || *flavour != Flavour::Zero);
            flavours.map(move |flavour| (at, payload(format, flavour)))
        })
        .collect();
    let described: Vec<_> = formats
        .iter()
        .map(|(system, format, text)| (system.clone(), text.clone(), format.id))
        .collect();
    let file = place.beside("perf.data");
    fs::write(&file, perf_data::file(&described, &samples)).expect("a file");
    let (theirs, said) = perf_script(file.to_str().expect("a path of letters"));
    assert_eq!(theirs.len(), samples.len(), "one text a sample");
    let mut known: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut unknown = Vec::new();
    let mut equal = 0;
    for ((event, payload), theirs) in samples.iter().zip(&theirs) {
        let (system, format, _) = &formats[*event];
        let text = &texts[*event];
        let mut ours = Vec::new();
        text.write(payload, &mut ours);
        let ours = String::from_utf8_lossy(&ours);
        let name = format!("{system}:{}", format.name);
        if ours.trim_end() == theirs.trim_end() {
            equal += 1;
        } else if let Some(why) = text.why_fields() {
            let named = |start| why.strip_prefix(start)?.strip_suffix('`');
            let is_unknown_to_perf = named("a call of `").is_some_and(|function| {
                let complaint = format!("function {function} not defined");
                said.lines().any(|line| line.ends_with(&complaint))
            });
            // An enumerator or a macro of the kernel's, whose number its format does not tell.
            let is_constant = named("the name `")
                .is_some_and(|name| name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'));
            assert!(
                is_unknown_to_perf || is_constant || BY_FIELDS.contains(&why),
                "{name} is printed by its fields for {why}"
            );
            known.entry(why).or_default().insert(name);
        } else if let Some(why) = differences::why(&name, format, &ours, theirs) {
            known.entry(why).or_default().insert(name);
        } else {
            unknown.push(format!("{name}\n ours {ours}\n perf {theirs}\n"));
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.concat());
    let differing: BTreeSet<&String> = known.values().flatten().collect();
    let alike = formats.len() - differing.len();
    println!(
        "{equal} of {} samples and {alike} of {} events have the text of perf's",
        samples.len(),
        formats.len()
    );
    for (why, events) in &known {
        println!("{} events, {why}", events.len());
    }
    // A sample in five has every bit set, another bits at random: those show most of what is perf's
    // fault.
    assert!(
        equal * 100 >= samples.len() * 94,
        "{equal} of {} samples",
        samples.len()
    );
    assert!(
        alike * 100 >= formats.len() * 87,
        "{alike} of {} events",
        formats.len()
    );
}

/// What no text can be made of: perf takes 0 for the variables of the kernel and for the sizes of
/// its structures (arm64 has the size of a page's), and fails at the rest.
const BY_FIELDS: [&str; 7] = [
    "a call of `jiffies_to_msecs`",
    "a call of `mc_event_error_type`",
    "statements",
    "the name `jiffies`",
    "the name `ret`",
    "the name `vmemmap_base`",
    "the size of a type that is not known",
];
