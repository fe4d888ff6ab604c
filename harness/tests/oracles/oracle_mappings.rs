//! Where an address lies is what `/proc/PID/maps` says of it.
//!
//! The programs write their own map down, so that both witnesses speak of the same moment: that of
//! the `read(2)` which gave the line.

use std::ffi::{CString, OsStr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use perf_live::host::Host;
use perf_live::sandbox::World;
use perf_live::sandbox::{Program, Stdio, Workload, launch};
use perf_live::sys::page_size;
use syscall_model::files::Lookup;
use syscall_model::mappings::{Maps, Place};
use syscall_model::{Call, Observation, Outcome};
use trace_harness::plan::{self, EventsPlan, Wanted};
use trace_harness::run::{Bench, Fired, Observer, PATH, Patience, Setting, Undisturbed, follow};

use super::support::require::{self, require};

const PATIENCE: Duration = Duration::from_secs(30);
const MAPS: &str = "/proc/self/maps";
const PYTHON: &str = "import sys; sys.stdout.buffer.write(open('/proc/self/maps', 'rb', 0).read())";

/// A line of the file: from where to where, and what is there.
struct Line<'a> {
    start: u64,
    end: u64,
    name: &'a str,
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Self {
        let mut words = line.split_ascii_whitespace();
        let range = words.next().expect("a range");
        let (start, end) = range.split_once('-').expect("two addresses");
        let number = |text| u64::from_str_radix(text, 16).expect("hex");
        Self {
            start: number(start),
            end: number(end),
            name: words.nth(4).unwrap_or_default(),
        }
    }
}

struct Everything(Vec<Observation>);

impl Observer for Everything {
    fn observe(&mut self, observation: &Observation) {
        self.0.push(observation.clone());
    }
    fn event(&mut self, _: &Fired<'_>) {}
}

/// Everything that was observed of a program, and what it wrote.
fn run(command: &[&str]) -> (Vec<Observation>, String) {
    let host = Host::running();
    let bench = Bench::new(&host).expect("a bench");
    let everything = [Wanted::Syscalls(vec!["*".to_owned()])];
    let plan: EventsPlan = plan::events(&everything, &host).expect("a plan");
    assert!(plan.maps);
    let words = command.iter().map(|word| CString::new(*word));
    let corked = launch(&Workload {
        program: Program::find(OsStr::new(command[0]), OsStr::new(PATH), Path::new("."))
            .expect("a program"),
        arguments: words.collect::<Result<_, _>>().expect("no zero bytes"),
        environment: Vec::new(),
        directory: None,
        stdio: Stdio::Captured { input: None },
        world: World::Host,
        umask: None,
        inherited: Vec::new(),
        fixed_addresses: false,
        limits: bench.own_limits(),
        group: None,
        held: Default::default(),
        lasts: None,
        allowed: None,
        ruled: None,
    });
    let corked = corked.expect("a cork");
    let pages = plan::ring_pages(plan::default_ring(bench.cpus.len()), page_size());
    let mut events = bench.open(&plan, &corked, None, pages).expect("events");
    let running = corked.uncork(PATIENCE).expect("a running workload");
    let patience = Patience {
        timeout: Some(PATIENCE),
        tick: Duration::from_secs(1),
        watch: None,
    };
    let mut all = Everything(Vec::new());
    let setting = Setting::default();
    let ended = follow(
        running,
        &mut events,
        &plan,
        patience,
        &mut Undisturbed,
        &mut all,
        setting,
    );
    let ended = ended.expect("an end");
    assert!(ended.account.is_complete(), "{:?}", ended.account);
    let stderr = ended.stderr.into_result().expect("its output").bytes;
    let stderr = String::from_utf8_lossy(&stderr);
    assert_eq!(stderr, "", "{command:?}: {:?}", ended.exit);
    let stdout = ended.stdout.into_result().expect("its output").bytes;
    let said = String::from_utf8(stdout).expect("text");
    (all.0, said)
}

/// How many bytes of its map a call gave the program.
fn read_of_maps(call: &Call) -> Option<usize> {
    let Lookup::Open(file) = call.files.argument(0) else {
        return None;
    };
    let is_read = call.name() == Some("read") && file.path() == Some(MAPS.as_bytes());
    match call.outcome {
        Outcome::Returned { value, .. } if is_read => usize::try_from(value).ok(),
        _ => None,
    }
}

fn file(place: &Place) -> PathBuf {
    let name = String::from_utf8(place.mapping.name()).expect("text");
    std::fs::canonicalize(&name).unwrap_or_else(|_| name.into())
}

/// Compares what one read gave with what is known at that moment; tells how many lines of files
/// agreed.
fn compare(lines: &str, own: &Path, look_up: impl Fn(u64) -> Option<Place>) -> usize {
    let lines: Vec<Line<'_>> = lines.lines().map(Line::parse).collect();
    let mut n_files = 0;
    let mut is_execs = false;
    for (number, line) in lines.iter().enumerate() {
        let Line { start, end, name } = *line;
        let found = look_up(start);
        let told = format!("{start:x}-{end:x} {name}: {found:x?}");
        let is_interpreter = Path::new(name)
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("ld-"));
        match name {
            // What stands behind the program in memory is its own, too.
            "" if is_execs && found.is_none() => {}
            "" => assert!(found.is_some(), "{told}"),
            "[heap]" => assert_eq!(file(&found.expect(&told)), Path::new("heap"), "{told}"),
            _ if name.starts_with('[') => assert_eq!(found, None, "{told}"),
            _ if Path::new(name) == own || is_interpreter => assert_eq!(found, None, "{told}"),
            _ => {
                let found = found.expect(&told);
                assert_eq!(file(&found), Path::new(name), "{told}");
                let last = look_up(end - 1).expect(&told);
                assert_eq!(last.mapping.id, found.mapping.id, "{told}");
                assert_eq!(last.offset - found.offset, end - 1 - start, "{told}");
                n_files += 1;
            }
        }
        is_execs = Path::new(name) == own || is_interpreter || (is_execs && name.is_empty());
        if lines.get(number + 1).is_some_and(|next| next.start != end) {
            assert_eq!(look_up(end), None, "behind {told}");
        }
    }
    n_files
}

#[test]
fn addresses_lie_where_the_kernel_says() {
    require!(require::right_to_trace());
    let programs: [&[&str]; 3] = [
        &["cat", MAPS],
        &["head", "-c", "100000", MAPS],
        &["/usr/bin/python3", "-c", PYTHON],
    ];
    for command in programs {
        require!(require::program(command[0]));
        let own = require::program(command[0]).expect("it is there");
        let own = std::fs::canonicalize(own).expect("its path");
        let (observations, said) = run(command);
        let mut maps = Maps::new(true, page_size() as u64);
        let mut rest = said.as_str();
        let mut n_files = 0;
        for mut observation in observations {
            maps.observe(&mut observation);
            let Observation::Call(call) = &observation else {
                continue;
            };
            if let Some(size) = read_of_maps(call) {
                let (lines, more) = rest.split_at_checked(size).expect(&said);
                let thread = call.actor.thread;
                n_files += compare(lines, &own, |address| maps.look_up(thread, address));
                rest = more;
            }
        }
        assert_eq!(rest, "", "{command:?}: every line was read");
        // The C library has four at least.
        assert!(n_files >= 4, "{command:?}: {n_files} of {said}");
    }
}
