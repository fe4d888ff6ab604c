//! The kernel as the witness: what it prints of records in a ring of ftrace, and what we make of
//! the very same records.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use perf_records::format;
use perf_records::print::Text;

use super::super::support::command::Place;
use super::super::support::perf::WITH_TRACEFS;
use super::super::support::require::{self, require};
use super::{differences, formats};

/// Systems of which a few commands make records.
const SYSTEMS: [&str; 20] = [
    "block",
    "cgroup",
    "exceptions",
    "ext4",
    "filelock",
    "irq",
    "kmem",
    "mmap",
    "net",
    "oom",
    "power",
    "raw_syscalls",
    "sched",
    "signal",
    "skb",
    "sock",
    "task",
    "tcp",
    "udp",
    "writeback",
];

/// Takes a ring of its own, records the events while a command runs, and leaves for each CPU the
/// kernel's text and the raw pages.
const RECORD: &str = r#"
    out=$1 events=$2; shift 2
    ring=/sys/kernel/tracing/instances/print-$$
    mkdir "$ring" && cd "$ring" || exit 1
    trap 'cd / && echo 0 > "$ring/events/enable"; rmdir "$ring"' EXIT
    # Addresses as they are, where the kernel can.
    test ! -e options/hash-ptr || echo 0 > options/hash-ptr
    # More than the slowest machine fills: of a ring that is overwritten, text and pages begin elsewhere.
    echo 65536 > buffer_size_kb
    for event in $events; do echo 1 > "events/$event/enable"; done
    "$@" >/dev/null
    echo 0 > tracing_on
    for cpu in per_cpu/*; do
        grep -v -e '^#' -e '^CPU:' "$cpu/trace" > "$out/${cpu##*/}.text"
        dd if="$cpu/trace_pipe_raw" of="$out/${cpu##*/}.raw" bs=4096 iflag=nonblock 2> "$out/complaint" || grep -q unavailable "$out/complaint"
    done
"#;

const COMMAND: &str = "
    for i in 1 2 3 4; do echo $i > f$i; mv f$i g$i; sh -c 'kill -9 $$'; done; sync g1; rm g*; find . | sort > /dev/null
    python3 -I -S -c 'import socket
server = socket.create_server((\"127.0.0.1\", 0)); client = socket.create_connection(server.getsockname()); peer = server.accept()[0]
client.send(bytes(3000)); peer.recv(9000); client.close()
other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); other.sendto(b\"x\", (\"127.0.0.1\", 9))'
";

/// The records of pages of ftrace's ring (`kernel/trace/ring_buffer.c`), the oldest first.
fn records(pages: &[u8]) -> Vec<&[u8]> {
    let mut records = Vec::new();
    for page in pages.chunks_exact(4096) {
        let word = |at: usize| u32::from_ne_bytes(page[at..at + 4].try_into().expect("four bytes"));
        // Behind the time there is the length of what was written; its high bits are flags.
        let end = 16 + (word(8) & 0xf_ffff) as usize;
        let mut at = 16;
        while at < end {
            let kind = word(at) & 31;
            let length = match kind {
                // Padding up to the end of the page; with a time it is a record that was discarded.
                29 if word(at) >> 5 == 0 => break,
                30 | 31 => 8,
                0 | 29 => word(at + 4) as usize + 4,
                words => words as usize * 4 + 4,
            };
            match kind {
                29..=31 => {}
                0 => records.push(&page[at + 8..at + length]),
                _ => records.push(&page[at + 4..at + length]),
            }
            at += length;
        }
    }
    records
}

/// An event's name, how its text is made, and whether that has an address.
type Known = (String, Text, bool);

/// Whether the text has a function's name.
fn has_function(print_fmt: &str) -> bool {
    let mut pointers = print_fmt.split("%p").skip(1);
    pointers.any(|after| after.starts_with(['S', 's', 'F', 'f', 'B']))
}

/// Without what a number may begin with: the kernel shows an address in 16 digits, the C library
/// behind `0x`.
fn without_prefixes(text: &str) -> String {
    let text = text.replace("(nil)", "0");
    let bare = |word: &str| {
        word.trim_start_matches("0x")
            .trim_start_matches('0')
            .to_owned()
    };
    differences::words(&text).into_iter().map(bare).collect()
}

/// Whether a text is another, or that with one piece left out.
fn is_without_a_piece(text: &str, other: &str) -> bool {
    let same = |(a, b): &(u8, u8)| a == b;
    let pairs = || text.bytes().zip(other.bytes());
    let head = pairs().take_while(same).count();
    let tails = text.bytes().rev().zip(other.bytes().rev());
    let tail = tails.take_while(same).count();
    text.len() <= other.len() && head + tail >= text.len()
}

#[test]
fn a_text_without_a_piece_has_all_the_rest() {
    assert!(is_without_a_piece("a= b=2", "a=1 b=2"));
    assert!(is_without_a_piece("a=1 b=2", "a=1 b=2"));
    assert!(!is_without_a_piece("a= b=3", "a=1 b=2"));
    assert!(!is_without_a_piece("a= b=", "a=1 b=2"));
    assert!(!is_without_a_piece("a=11 b=2", "a=1 b=2"));
}

#[test]
fn the_text_of_a_record_is_that_of_the_kernel() {
    require!(require::right_to_trace());
    require!(require::perf());
    require!(require::program("python3"));
    let mut texts: BTreeMap<u16, Known> = BTreeMap::new();
    let mut events = String::new();
    for (system, text) in formats() {
        let format = format::parse(&text).expect("a format");
        let is_told = !has_function(&format.print_fmt) && !differences::has_unknown_names(&format);
        if SYSTEMS.contains(&system.as_str())
            && is_told
            && Text::new(&format).why_fields().is_none()
        {
            events.push_str(&format!("{system}/{} ", format.name));
            let has_address = format.print_fmt.contains("%p");
            texts.insert(
                format.id,
                (format.name.clone(), Text::new(&format), has_address),
            );
        }
    }
    let place = Place::new();
    let out = place.beside("out");
    fs::create_dir(&out).expect("a folder");
    let out_path = out.to_str().expect("a path of letters");
    let mut words = vec!["unshare"];
    words.extend(WITH_TRACEFS);
    words.extend([
        "sh", "-c", RECORD, "sh", out_path, &events, "sh", "-c", COMMAND,
    ]);
    let output = place.run("", &words);
    assert!(output.status.success(), "{output:?}");
    let mut seen = BTreeMap::new();
    for cpu in 0..1024 {
        compare(&out.join(format!("cpu{cpu}")), &texts, &mut seen);
    }
    let names: BTreeSet<&str> = seen.keys().copied().collect();
    println!(
        "{} records of {} events: {names:?}",
        seen.values().sum::<usize>(),
        names.len()
    );
    assert!(names.len() >= 25, "{names:?}");
    for name in [
        "sched_switch",
        "sched_process_exec",
        "signal_deliver",
        "sys_enter",
        "net_dev_queue",
    ] {
        assert!(names.contains(name), "no record of {name}: {names:?}");
    }
}

fn compare<'t>(cpu: &Path, texts: &'t BTreeMap<u16, Known>, seen: &mut BTreeMap<&'t str, usize>) {
    let Ok(pages) = fs::read(cpu.with_extension("raw")) else {
        return;
    };
    let printed = fs::read(cpu.with_extension("text")).expect("the kernel's text");
    let printed = String::from_utf8_lossy(&printed);
    let records = records(&pages);
    // Of some events the text ends its line itself, before the kernel does.
    let lines: Vec<&str> = printed.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), records.len(), "lines and records of {cpu:?}");
    // Linux 6.1.176 does so: of `prev_comm=%s ... next_comm=%s` only the second is there.
    let lacks_first_strings = lines
        .iter()
        .any(|line| line.contains(" prev_comm= prev_pid="));
    let same = |ours: &str, theirs: &str| match lacks_first_strings {
        true => is_without_a_piece(theirs, ours),
        false => theirs == ours,
    };
    for (line, record) in lines.iter().zip(records) {
        let id = u16::from_ne_bytes([record[0], record[1]]);
        let (name, text, has_address) = texts
            .get(&id)
            .unwrap_or_else(|| panic!("`{line}` of another event"));
        let mut ours = Vec::new();
        text.write(record, &mut ours);
        let ours = String::from_utf8_lossy(&ours);
        let ours = ours.trim_end();
        let theirs = line
            .split_once(&format!(": {name}: "))
            .map_or(*line, |(_, theirs)| theirs)
            .trim_end();
        let is_same = match has_address {
            true => same(&without_prefixes(ours), &without_prefixes(theirs)),
            false => same(ours, theirs),
        };
        assert!(is_same, "{name}\n ours {ours}\n the kernel's {theirs}");
        *seen.entry(name).or_default() += 1;
    }
}
