//! Page faults one by one against perf trace, which counts the same faults at the same time: it
//! runs the harness that runs the program.
//!
//! All of it takes place on one CPU: perf trace reads ring after ring, and a fault before the
//! mapping that it is in, where the two are in two rings. Of what the kernel touches before it
//! tells of the mapping perf gives the address alone.

use super::support::command::Place;
use super::support::harness::PATH;
use super::support::perf;
use super::support::require::{self, require};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// The name and the place in it; nothing where there is no name. Versions of symbols and entries of
/// a linkage table perf names, according to its own.
fn function(text: &str) -> String {
    let (name, offset) = text.rsplit_once('+').unwrap_or((text, ""));
    let bare = name.split('@').next().unwrap_or_default();
    match bare {
        "" => String::new(),
        _ if bare.starts_with("0x") || name.ends_with("@plt") => String::new(),
        _ => format!("{bare}+{offset}"),
    }
}

/// What perf trace says of each thread: kind, function, place.
fn theirs(text: &str) -> BTreeMap<u64, Vec<[String; 3]>> {
    let mut all: BTreeMap<u64, Vec<[String; 3]>> = BTreeMap::new();
    for line in text.lines() {
        let fault = line.split_once(" ms): ").and_then(|(_, rest)| {
            let (who, rest) = rest.split_once("fault [")?;
            let (who, kind) = who.rsplit_once(' ')?;
            let (_, tid) = who.rsplit_once('/')?;
            let (from, rest) = rest.split_once("] => ")?;
            let (place, _) = rest.rsplit_once(" (")?;
            Some((tid, kind, from, place))
        });
        let Some((tid, kind, from, place)) = fault else {
            panic!("perf trace says `{line}`")
        };
        let (object, offset) = place.rsplit_once('@').unwrap_or(("", place));
        let place = match object {
            _ if object.contains("/perf-vdso.so-") => format!("[vdso]@{offset}"),
            "//anon" | "[stack]" | "[heap]" => offset.to_owned(),
            _ => place.to_owned(),
        };
        let tid = tid.parse().expect("a number");
        let fault = [kind.to_owned(), function(from), place];
        all.entry(tid).or_default().push(fault);
    }
    all
}

/// What the harness says of a fault: the same, with its place as an address and as one in what is
/// mapped there.
fn ours(line: &Value) -> [[String; 3]; 2] {
    let kind = match line["name"].as_str() {
        Some("software:minor-faults") => "min",
        _ => "maj",
    };
    let fields = &line["fields"];
    let from = function(fields["function"].as_str().unwrap_or_default());
    let map = fields["map"].as_str().unwrap_or_default();
    let number = |name: &str| fields[name].as_u64().unwrap_or_default();
    let places = [
        format!("{map}@{:#x}", number("offset")),
        format!("{:#x}", number("addr")),
    ];
    places.map(|place| [kind.to_owned(), from.clone(), place])
}

/// The first CPU that the tests may run on.
fn one_cpu() -> String {
    let status = fs::read_to_string("/proc/self/status").expect("procfs");
    let mut lines = status.lines();
    let list = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let first = list.and_then(|list| list.trim().split([',', '-']).next());
    first.expect("a CPU").to_owned()
}

/// The faults that the harness tells of, each of which perf trace tells as well, and of how many
/// both name the function; and what the program printed.
fn compared(place: &Place, kinds: &str, command: &[&str]) -> (Vec<Value>, usize, String) {
    let (said, witness) = (place.beside("said"), place.beside("witness"));
    let path = |path: &std::path::Path| path.to_str().expect("a path of letters").to_owned();
    let (said_at, witness_at, perf) = (path(&said), path(&witness), perf::program());
    let cpu = one_cpu();
    let mut words = vec!["taskset", "-c", &cpu, "unshare"];
    words.extend(perf::WITH_TRACEFS);
    words.extend([&perf, "trace", "--no-syscalls", "-m", "4096", "-F", kinds]);
    words.extend(["-o", &witness_at, "--", PATH, "trace", "-e", "none"]);
    words.extend(["-F", kinds, "--format", "json", "-o", &said_at, "--"]);
    words.extend(command);
    let output = place.run("", &words);
    let text = fs::read_to_string(&said).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let witness = fs::read_to_string(&witness).expect("what perf trace says");
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let faults: Vec<Value> = lines
        .filter(|line: &Value| line["type"] == "event")
        .collect();
    let (mut theirs, mut n_named) = (theirs(&witness), 0);
    for fault in &faults {
        let tid = fault["tid"].as_u64().expect("a thread");
        let left = theirs.entry(tid).or_default();
        let found = ours(fault)
            .iter()
            .find_map(|ours| left.iter().position(|theirs| theirs == ours));
        let Some(found) = found else {
            panic!("perf trace does not say {fault}, and of its thread's others {left:?}")
        };
        n_named += usize::from(!left.swap_remove(found)[1].is_empty());
    }
    // Those of others are the harness' own, and perf has those of the command from before its exec
    // as well.
    let tid = |fault: &Value| fault["tid"].as_u64();
    let children =
        |id: u64| tid(&faults[0]) != Some(id) && faults.iter().any(|it| tid(it) == Some(id));
    theirs.retain(|id, left| children(*id) && !left.is_empty());
    assert!(theirs.is_empty(), "perf trace says as well {theirs:?}");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    (faults, n_named, printed)
}

#[test]
fn every_fault_is_one_that_perf_trace_sees_in_the_same_function_at_the_same_address() {
    require!(require::perf_and_right_to_trace());
    let script = "ls sub | cat; cp a.txt copy; (cat b.txt)";
    let (faults, n_named, _) = compared(&Place::new(), "all", &["/usr/bin/sh", "-c", script]);
    assert!(faults.len() > 300, "{}", faults.len());
    assert!(n_named > 100, "{n_named}");
}

/// It is no scenario: in a directory on a tmpfs, where there is no disk to read from, nothing is
/// dropped.
#[test]
fn each_page_that_was_dropped_from_the_cache_is_one_major_fault() {
    require!(require::perf_and_right_to_trace());
    let place = Place::new();
    let (script, file) = (place.beside("touch.py"), place.beside("pages"));
    let program = "import mmap, os, resource, sys
def major(): return resource.getrusage(resource.RUSAGE_SELF).ru_majflt
file = os.open(sys.argv[1], os.O_RDWR)
os.write(file, os.urandom(64 * 4096))
os.fsync(file)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
pages = mmap.mmap(file, 0, prot=mmap.PROT_READ)
pages.madvise(mmap.MADV_RANDOM)
before = major()
for at in range(0, len(pages), 4096): pages[at]
print(major() - before)
";
    fs::write(&script, program).expect("a file");
    fs::write(&file, [0; 64 * 4096]).expect("a file");
    let path = |path: &std::path::Path| path.to_str().expect("a path of letters").to_owned();
    let (script, file) = (path(&script), path(&file));
    let (faults, _, counted) = compared(&place, "maj", &["/usr/bin/python3", &script, &file]);
    if counted.trim() == "0" {
        return require::skip("nothing is dropped from the cache of this file system");
    }
    let of_file = |fault: &&Value| fault["fields"]["map"] == file.as_str();
    assert_eq!(counted.trim(), "64");
    assert_eq!(faults.iter().filter(of_file).count(), 64);
}
