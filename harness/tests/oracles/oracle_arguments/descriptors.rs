//! What descriptors refer to, beside what `strace -y` says of them.
//!
//! strace asks the kernel at each call, and so knows a file by the name that it has then, links
//! resolved; the tracer remembers by which path it was opened. Of what has no path strace gives the
//! kind and a number of the kernel's; these are equal where the kind is.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::support::harness::Syscall;
use super::super::support::require::{self, require};
use super::super::support::spoken::Spoken;
use super::programs::PROGRAMS;
use super::{Watch, align, for_each};

/// Of a thousand descriptors that one of the two names, so many are to be named alike.
const EQUAL_OF_THOUSAND: u64 = 995;

/// Programs that open much and in many ways.
const WATCHED: [&str; 19] = [
    "cat",
    "cp",
    "rm",
    "find",
    "sed",
    "tar, creating",
    "git add",
    "git commit",
    "sqlite3, write-ahead",
    "pipeline",
    "redirections",
    "bash",
    "python3, processes",
    "python3, descriptors",
    "python3, files",
    "python3, messages",
    "python3, polling",
    "python3, unix sockets",
    "python3, tcp",
];

/// Descriptors of a run.
#[derive(Default)]
struct Tally {
    equal: u64,
    all: u64,
    /// Those of them that stand in memory.
    n_in_sets: u64,
    /// Call, our name and strace's, with how often.
    differences: BTreeMap<[String; 3], u64>,
}

impl Tally {
    fn add(&mut self, ours: &Syscall, theirs: &Spoken) {
        for (our, their) in ours.args.iter().zip(&theirs.arguments) {
            let (our, their) = (&our.text, &their.text);
            let is_set = WAITING.contains(&&*ours.name) && their.starts_with('[');
            match (named(our), named(their)) {
                (None, None) if is_set => self.add_set(ours, &members(our), &members(their)),
                (None, None) => {}
                // strace names none that is not open.
                (our, their) => {
                    self.add_one(ours, our.unwrap_or_default(), their.unwrap_or_default())
                }
            }
        }
    }

    fn add_set(&mut self, call: &Syscall, ours: &[(&str, &str)], theirs: &[(&str, &str)]) {
        for place in 0..ours.len().max(theirs.len()) {
            let (our, their) = (ours.get(place), theirs.get(place));
            let (our, their) = (our.copied(), their.copied());
            self.n_in_sets += 1;
            self.add_one(call, our.unwrap_or_default(), their.unwrap_or_default());
        }
    }

    fn add_one(&mut self, call: &Syscall, our: (&str, &str), their: (&str, &str)) {
        self.all += 1;
        let is_same_number = our.0 == their.0;
        let (our, their) = (our.1, their.1);
        if is_same_number && is_same(our, their, call.pid) {
            self.equal += 1;
        } else {
            let difference = [&call.name, our, their].map(str::to_owned);
            *self.differences.entry(difference).or_default() += 1;
        }
    }

    fn row(&self, name: &str) -> String {
        let share = 100.0 * self.equal as f64 / self.all.max(1) as f64;
        format!("{name:32} {:6} {:6} {share:7.2}\n", self.all, self.equal)
    }
}

/// `3</etc/passwd>` as the number and what is in the angle brackets.
fn named(text: &str) -> Option<(&str, &str)> {
    let (number, name) = text.split_once('<')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let name = name.strip_suffix("(deleted)").unwrap_or(name);
    is_number.then_some((number, name.strip_suffix('>')?))
}

/// Calls that are given descriptors in memory.
const WAITING: [&str; 4] = ["poll", "ppoll", "pselect6", "select"];

/// The descriptors of a set: each number with what is in the angle brackets behind it.
fn members(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for part in text.split_inclusive('>') {
        let Some((before, name)) = part.rsplit_once('<') else {
            continue;
        };
        let start = before.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let number = before.get(start.len()..).unwrap_or_default();
        found.push((number, name.trim_end_matches('>')));
    }
    found
}

/// Whether our name and strace's are of the same file, or of the same kind of file without a path.
fn is_same(ours: &str, theirs: &str, pid: i32) -> bool {
    let kind = theirs.split_once(":[").map(|(kind, _)| kind);
    match kind {
        Some("pipe") => is_of_class(ours, &["pipe"]),
        Some("socket") => is_of_class(ours, &SOCKETS),
        Some("anon_inode") => {
            let class = theirs
                .trim_start_matches("anon_inode:[")
                .trim_end_matches(']');
            is_of_class(ours, &[object(class)])
        }
        _ => match theirs.strip_prefix("/memfd:") {
            Some(name) => without_ordinal(ours) == format!("memfd:{name}"),
            None => [ours, without_ordinal(ours)]
                .iter()
                .any(|ours| is_same_path(ours, theirs, pid)),
        },
    }
}

/// Our classes of sockets.
const SOCKETS: [&str; 8] = [
    "unix", "tcp", "tcp6", "udp", "udp6", "netlink", "packet", "socket",
];

/// Our name for what the kernel calls an anonymous inode of this class.
fn object(class: &str) -> &str {
    match class {
        "eventpoll" => "epoll",
        class => class,
    }
}

/// `pipe:1 read` is of the class `pipe`.
fn is_of_class(ours: &str, classes: &[&str]) -> bool {
    let class = ours.split_once(':').map_or(ours, |(class, _)| class);
    classes.contains(&class)
}

/// `/etc/passwd:2` is the second time that the file is open.
fn without_ordinal(ours: &str) -> &str {
    match ours.rsplit_once(':') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => ours,
    }
}

fn is_same_path(ours: &str, theirs: &str, pid: i32) -> bool {
    // A file that never had a name has a number of the kernel's behind the folder.
    if let (Some(ours), Some((theirs, _))) = (ours.strip_suffix("/#"), theirs.rsplit_once("/#")) {
        return is_same_path(ours, theirs, pid);
    }
    let ours = match ours.strip_prefix("/proc/self") {
        Some(rest) => format!("/proc/{pid}{rest}"),
        None => ours.to_owned(),
    };
    ours.starts_with('/') && resolved(Path::new(&ours)) == Path::new(theirs)
}

/// The path without links, as far as it is still there.
fn resolved(path: &Path) -> PathBuf {
    match (fs::canonicalize(path), path.parent(), path.file_name()) {
        (Ok(resolved), ..) => resolved,
        (Err(_), Some(parent), Some(name)) => resolved(parent).join(name),
        (Err(_), ..) => path.to_owned(),
    }
}

#[test]
fn descriptors_are_what_strace_says_that_they_are() {
    require!(require::right_to_trace());
    require!(require::strace());
    let mut text = format!("{:32} {:>6} {:>6} {:>7}\n", "program", "all", "equal", "%");
    let mut total = Tally::default();
    let watched = || {
        PROGRAMS
            .iter()
            .filter(|program| WATCHED.contains(&program.name))
    };
    assert_eq!(watched().count(), WATCHED.len());
    let watch = Watch {
        options: &["-y"],
        ..Watch::PLAIN
    };
    let surprises = for_each(watched(), &watch, |program, run| {
        let mut tally = Tally::default();
        for (tid, theirs) in &run.witness {
            for (ours, theirs) in align::align(&run.traced.thread(*tid), theirs).pairs {
                tally.add(ours, theirs);
            }
        }
        text += &tally.row(program.name);
        total.all += tally.all;
        total.equal += tally.equal;
        total.n_in_sets += tally.n_in_sets;
        for (difference, count) in tally.differences {
            *total.differences.entry(difference).or_default() += count;
        }
    });
    text += &total.row("all");
    for ([call, ours, theirs], count) in &total.differences {
        writeln!(text, "{count:6} x {call} `{ours}`, strace `{theirs}`").expect("a String");
    }
    println!("{text}");
    assert!(total.all > 0 && total.n_in_sets > 5, "{text}");
    assert_eq!(surprises, [""; 0]);
    assert!(
        total.equal * 1000 >= total.all * EQUAL_OF_THOUSAND,
        "{text}"
    );
}

#[test]
fn a_descriptor_of_another_file_or_kind_is_not_the_same() {
    for (ours, theirs, expected) in [
        ("/etc", "/etc", true),
        ("/etc:2", "/etc", true),
        ("/etc/../etc/nothing-here", "/etc/nothing-here", true),
        ("/etc", "/usr", false),
        ("", "/etc", false),
        ("?", "/etc", false),
        ("/proc/self/nothing-here", "/proc/7/nothing-here", true),
        ("/etc/#", "/etc/#817", true),
        ("/etc/#", "/usr/#817", false),
        ("pipe:1 read", "pipe:[123]", true),
        ("pipe:1 read", "socket:[123]", false),
        ("tcp:2", "socket:[123]", true),
        ("epoll:1", "anon_inode:[eventpoll]", true),
        ("eventfd:1", "anon_inode:[eventpoll]", false),
        ("memfd:cache", "/memfd:cache", true),
        ("memfd:cache", "/memfd:other", false),
    ] {
        assert_eq!(is_same(ours, theirs, 7), expected, "{ours} {theirs}");
    }
    assert_eq!(named("3</etc>(deleted)"), Some(("3", "/etc")));
    assert_eq!(named("0x3</etc>"), None);
    assert_eq!(named("3"), None);
    let set = "[{fd=3</etc>, events=POLLIN}, {fd=-1}, {fd=4, events=0}] [0<pipe:1 read> 5<?>]";
    let expected = [("3", "/etc"), ("0", "pipe:1 read"), ("5", "?")];
    assert_eq!(members(set), expected);
}
