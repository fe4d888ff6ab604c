use super::reason::Reason;
use super::*;
use crate::scenario::{LevelSpec, SnapshotBy, SnapshotLevel, SnapshotSpec};
use crate::trace::{Block, Builder, Deed, Part, StableName, Trace, Value, View};
use perf_records::units::{Nanos, Pid, Tid};
use syscall_model::files::Files;
use syscall_model::memory::Memory;
use syscall_model::names::{self, Abi};
use syscall_model::{
    Actor, Call, Entry, Observation, Outcome, Shares, ShortName, Signatures, ThreadId,
};

/// Tells a run. Each line begins with a thread's number: `0 born`, `0 clone 1` (makes a process),
/// `0 thread 1` (makes a thread), `1 runs sort`, or the name of a call and its result.
fn run(story: &str) -> Trace {
    let mut builder = Builder::new(true);
    let mut leaders = vec![0_u32];
    let actor = |leaders: &[u32], thread: u32, name: &str| Actor {
        thread: ThreadId(thread),
        pid: Pid(1000 + leaders[thread as usize]),
        tid: Tid(1000 + thread),
        comm: ShortName::new(name.as_bytes()),
    };
    let born = |child, parent: Option<u32>| Observation::Born {
        child,
        parent: parent.map(ThreadId),
        shares: Shares::default(),
    };
    builder.observe(&born(actor(&leaders, 0, "sh"), None), |_| true);
    for line in story.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split(' ').collect();
        let thread: u32 = words[0].parse().unwrap();
        let made: Option<u32> =
            matches!(words[1], "clone" | "thread").then(|| words[2].parse().unwrap());
        if words[1] == "runs" {
            let actor = actor(&leaders, thread, words[2]);
            builder.observe(&Observation::Executed(actor), |_| true);
            continue;
        }
        let name = if made.is_some() { "clone" } else { words[1] };
        let value = words.get(2).map_or(0, |word| word.parse().unwrap());
        let number = names::number(Abi::native(), name).unwrap() as i32;
        let entry = Entry::Seen {
            time: Nanos(0),
            args: [0; 6],
        };
        builder.observe(
            &Observation::Entered {
                is_answered: false,
                actor: actor(&leaders, thread, "sh"),
                abi: Abi::native(),
                number,
                entry,
            },
            |_| true,
        );
        if let Some(made) = made {
            let leader = if words[1] == "clone" {
                made
            } else {
                leaders[thread as usize]
            };
            leaders.resize(made as usize + 1, 0);
            leaders[made as usize] = leader;
            builder.observe(&born(actor(&leaders, made, "sh"), Some(thread)), |_| true);
        }
        let call = Call {
            actor: actor(&leaders, thread, "sh"),
            abi: Abi::native(),
            number,
            entry,
            outcome: Outcome::Returned {
                time: Nanos(0),
                value,
            },
            memory: Memory::default(),
            files: Files::default(),
            places: Default::default(),
            injected: Default::default(),
        };
        builder.observe(&Observation::Call(call), |_| true);
    }
    builder.finish()
}

/// Calibrates by these runs, each under its condition, and gives the key `snapshot` for an author
/// who said nothing.
fn found(runs: &[(Condition, &str)]) -> Result<Calibration, Unsettled> {
    let signatures = Signatures::new(Box::new(|_| None));
    let view = View::default();
    let mut evidence = Evidence::default();
    for (condition, story) in runs {
        let trace = run(story);
        let text = trace.normalise(&view, &signatures).text();
        evidence.add("", *condition, (trace, None), text);
    }
    calibrate(&evidence, &view, &signatures, &[])
}

fn quiet(stories: &[&str]) -> Calibration {
    let runs: Vec<_> = stories
        .iter()
        .map(|story| (Condition::Quiet, *story))
        .collect();
    found(&runs).unwrap()
}

/// The level, those of single processes with what is hidden of them, and what is told apart.
fn levels(calibration: &Calibration) -> (SnapshotLevel, Vec<(String, LevelSpec)>, SnapshotBy) {
    match calibration.spec(&SnapshotSpec::Off) {
        SnapshotSpec::On(keys) => (keys.level, keys.levels, keys.by),
        SnapshotSpec::Off => panic!("a calibrated scenario has a snapshot"),
    }
}

/// `grep: counts, set read, without futex`, as a report has it.
fn entries(calibration: &Calibration) -> Vec<String> {
    let entry = |(of, spec): &(String, LevelSpec)| {
        let mut text = format!("{of}: {}", spec.level);
        for (word, names) in [
            ("counts", &spec.counts),
            ("set", &spec.set),
            ("without", &spec.hide),
        ] {
            if !names.is_empty() {
                text += &format!(", {word} {}", names.join(" "));
            }
        }
        text
    };
    levels(calibration).1.iter().map(entry).collect()
}

fn text(calibration: &Calibration) -> &str {
    calibration.texts.values().next().unwrap()
}

const START: &str = "0 execve\n0 openat\n0 fstat\n";

#[test]
fn equal_runs_keep_their_sequence() {
    let calibration = quiet(&["0 read\n0 write", "0 read\n0 write"]);
    assert_eq!(
        levels(&calibration),
        (SnapshotLevel::Sequence, vec![], SnapshotBy::Process)
    );
    assert!(calibration.findings.is_empty());
    assert_eq!(calibration.n_runs[&Condition::Quiet], 2);
}

#[test]
fn a_call_at_another_place_is_only_counted_and_the_rest_stays_in_sequence() {
    let calibration = quiet(&[
        &format!("{START}0 wait4\n0 close\n0 dup"),
        &format!("{START}0 close\n0 wait4\n0 dup"),
    ]);
    let entries = entries(&calibration);
    assert!(
        ["sh: sequence, counts wait4", "sh: sequence, counts close"].contains(&entries[0].as_str()),
        "{entries:?}"
    );
    let names = calibration.findings[0]
        .varying
        .iter()
        .map(|varying| varying.name.as_str());
    assert!(names.eq(["close", "wait4"]));
    let text = text(&calibration);
    assert!(
        text.ends_with(" 1\n") && text.contains("\n\nP1, not in sequence\n  "),
        "{text}"
    );
}

#[test]
fn of_a_call_of_another_number_it_matters_that_it_occurs_if_it_is_sure_to() {
    let run = |reads: usize| format!("{START}{}0 close", "0 read\n".repeat(reads));
    assert_eq!(
        entries(&quiet(&[&run(5), &run(7)])),
        ["sh: sequence, set read"]
    );
    assert_eq!(
        entries(&quiet(&[&run(1), &run(2)])),
        ["sh: sequence, without read"]
    );
    assert_eq!(
        entries(&quiet(&[&run(0), &run(9)])),
        ["sh: sequence, without read"]
    );
    assert_eq!(
        quiet(&[&run(5), &run(7)]).findings[0].varying[0].times,
        (5, 7)
    );
}

#[test]
fn the_order_is_given_up_where_more_than_a_few_calls_vary_and_then_the_numbers() {
    let order = |names: [&str; 6]| names.map(|name| format!("0 {name}\n")).concat();
    let (one, other) = (
        order(["read", "write", "close", "dup", "brk", "poll"]),
        order(["poll", "brk", "dup", "close", "write", "read"]),
    );
    let calibration = quiet(&[&one, &other]);
    assert_eq!(levels(&calibration).0, SnapshotLevel::Counts);
    assert_eq!(text(&calibration).lines().nth(4), Some("  close 1"));
    let twice = one.repeat(2) + "0 read\n0 read";
    let calibration = quiet(&[&(one + &other + &twice), &(other.repeat(7) + "0 pause")]);
    assert_eq!(entries(&calibration), ["sh: set, without pause"]);
}

#[test]
fn waiting_for_threads_is_hidden_whatever_its_number() {
    let story = |waits: usize| format!("0 thread 1\n0 read\n{}1 write", "0 futex\n".repeat(waits));
    let calibration = quiet(&[&story(7), &story(8)]);
    assert_eq!(entries(&calibration), ["sh: sequence, without futex"]);
    assert_eq!(calibration.findings[0].varying[0].reason, Reason::Threads);
}

#[test]
fn what_threads_do_about_memory_varies_as_one() {
    let run = |maps: usize| {
        let maps = "1 mmap\n".repeat(maps);
        format!("{START}0 thread 1\n1 brk\n1 dup\n1 munmap\n{maps}1 close")
    };
    let calibration = quiet(&[&run(5), &run(7)]);
    assert_eq!(entries(&calibration), ["sh: counts, set brk mmap munmap"]);
}

const TWO: &str = "0 runs make\n0 clone 1\n1 runs cc\n0 clone 2\n2 runs ld\n";

#[test]
fn only_the_process_that_varies_is_shown_with_less() {
    let run = |reads: &str| format!("{TWO}1 dup\n1 close\n{reads}2 read\n0 wait4");
    let calibration = quiet(&[&run("1 read\n"), &run("")]);
    assert_eq!(entries(&calibration), ["cc: sequence, without read"]);
    assert_eq!(levels(&calibration).0, SnapshotLevel::Sequence);
}

#[test]
fn of_two_processes_of_a_program_the_one_that_varies_is_named_by_its_number() {
    let two = TWO.replace("ld", "cc");
    let run = |reads: &str| format!("{two}1 read\n2 dup\n2 close\n{reads}");
    let calibration = quiet(&[&run("2 write\n"), &run("")]);
    assert_eq!(entries(&calibration), ["P3 cc: sequence, without write"]);
}

#[test]
fn a_process_that_does_the_same_as_one_that_varies_is_shown_as_that_one() {
    let two = TWO.replace("ld", "cc");
    let run = |reads: &str| format!("{two}1 dup\n1 close\n1 read\n2 dup\n2 close\n2 read\n{reads}");
    let calibration = quiet(&[&run("2 read\n2 read\n"), &run("")]);
    assert_eq!(entries(&calibration), ["cc: sequence, without read"]);
}

#[test]
fn processes_that_are_others_each_time_are_taken_together_by_program() {
    let one_first = "0 runs make\n0 clone 1\n1 runs cc\n0 clone 2\n2 runs ld\n1 read\n2 write";
    let other_first = "0 runs make\n0 clone 1\n1 runs ld\n0 clone 2\n2 runs cc\n2 read\n1 write";
    let calibration = quiet(&[one_first, other_first]);
    assert!(calibration.processes_vary);
    let (level_of_all, _, by) = levels(&calibration);
    assert_eq!(by, SnapshotBy::Program);
    // The order of the one that makes them is the same all the same.
    assert_eq!(level_of_all, SnapshotLevel::Sequence);
    assert_eq!(entries(&calibration), ["cc: counts", "ld: counts"]);
    let text = text(&calibration);
    assert!(
        text.ends_with(
            "\n\nprogram cc, level counts\n  read 1\n\nprogram ld, level counts\n  write 1\n"
        ),
        "{text}"
    );
}

#[test]
fn a_program_that_not_every_run_executes_is_nothing_that_any_level_hides() {
    let with = "0 runs make\n0 clone 1\n1 runs cc\n1 read";
    let without = "0 runs make\n0 clone 1\n1 read";
    let runs = [(Condition::Quiet, with), (Condition::Busy, without)];
    assert!(matches!(found(&runs), Err(Unsettled::Programs(_))));
    assert_eq!(found(&[]).unwrap_err(), Unsettled::NoRuns);
}

#[test]
fn the_conditions_that_brought_it_out_are_told() {
    let (common, rare) = ("0 dup\n0 close", "0 dup\n0 close\n0 read");
    let runs = [
        (Condition::Quiet, common),
        (Condition::Quiet, common),
        (Condition::Busy, common),
        (Condition::Busy, rare),
    ];
    let calibration = found(&runs).unwrap();
    let provoked: Vec<_> = calibration.findings[0].provoked_by().collect();
    assert_eq!(provoked, [(Condition::Busy, 1, 2)]);
}

const P1: StableName = StableName {
    process: 1,
    thread: 1,
};

/// A deed of the first process, with one field and a result.
fn deed(name: &str, field: (String, Value), returns: Value) -> Deed {
    let part = |name: &str, text: String, value| Part {
        name: name.into(),
        alias: None,
        text,
        value,
    };
    Deed {
        name: name.into(),
        task: P1,
        thread: ThreadId(0),
        program: "sh".into(),
        entered: 0,
        left: 0,
        clock: (Nanos(0), Nanos(0)),
        convention: None,
        fields: vec![part("first", field.0, field.1)],
        returns: Some(part("returns", "1".to_owned(), returns)),
        stack: None,
        unseen: None,
        behind: Vec::new(),
        ends: None,
        injected: Default::default(),
    }
}

/// What each run's deed would show: a file that is made.
fn made(path: &str) -> Deed {
    let value = Value::Path {
        given: path.as_bytes().to_vec(),
        absolute: None,
        reached: crate::trace::Reached::Untold,
    };
    deed("openat", (format!("{path:?}"), value), Value::Number(3))
}

/// Whether which child ends first is chance to a process that makes (`+2`), waits for any (`-2`) or
/// for one by its id (`=2`).
#[track_caller]
fn check_children(story: &str, is_chance: bool) {
    let act = |word: &str| {
        let (act, child) = word.split_at(1);
        let task = Value::Task {
            id: 9,
            task: Some(StableName {
                process: child.parse().unwrap(),
                thread: 1,
            }),
        };
        let (name, first) = match act {
            "+" => ("clone", "0"),
            "-" => ("wait4", "-1"),
            _ => ("wait4", "9"),
        };
        deed(name, (first.to_owned(), Value::Text), task)
    };
    let deeds = story
        .split(' ')
        .map(act)
        .zip(0..)
        .map(|(deed, place)| Deed {
            left: place,
            ..deed
        });
    let block = Block {
        task: P1,
        program: "sh".to_owned(),
        parent: None,
        deeds: deeds.collect(),
        tally: Default::default(),
        answered: Default::default(),
    };
    let found = hazard::of_children(&[block]);
    let names: Vec<&str> = found.iter().map(|hazard| hazard.name.as_str()).collect();
    assert_eq!(names.contains(&"wait4"), is_chance, "{story}");
}

#[test]
fn which_of_several_living_children_ends_first_is_chance() {
    check_children("+2 +3 -2 -3", true);
    check_children("+2 -2 +3 +4 -4 -3", true);
    check_children("+2 -2 +3 -3", false);
    check_children("+2 +3 =2 -3", false);
}

#[track_caller]
fn check_temporary(paths: &[&str], expected: &[&str]) {
    let deeds: Vec<Deed> = paths.iter().map(|path| made(path)).collect();
    let runs: Vec<Vec<&Deed>> = deeds.iter().map(|deed| vec![deed]).collect();
    let found: Vec<String> = temporary::find(&runs)
        .into_iter()
        .map(|(glob, _)| glob)
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_name_that_is_another_one_each_time_becomes_a_glob() {
    check_temporary(&["/tmp/sedAx1", "/tmp/sedBy2", "/tmp/sedCz3"], &["sed???"]);
    check_temporary(&["a/ccAx.s/b", "a/ccBy.s/b", "a/ccCz.s/b"], &["cc??.s"]);
    check_temporary(&["tmp.a.d", "tmp.bb.d", "tmp.ccc.d"], &["tmp.*.d"]);
    check_temporary(&["x[1]a", "x[1]b", "x[1]c"], &["x[[]1]?"]);
    check_temporary(&["aB3dE6gH", "Zy8wV5tS", "q1W2e3R4"], &["????????"]);
    check_temporary(&["k1", "k1", "k1"], &[]);
}

#[test]
fn of_a_number_that_is_another_one_each_time_no_digit_lasts() {
    let seconds = ["bak.1795722971", "bak.1795722972", "bak.1795722974"];
    check_temporary(&seconds, &["bak.[0-9]*"]);
    check_temporary(
        &["x.5710.log", "x.5720.log", "x.5760.log"],
        &["x.[0-9]*.log"],
    );
    check_temporary(&["tmp.1.d", "tmp.22.d", "tmp.333.d"], &["tmp.[0-9]*.d"]);
    check_temporary(&["k1", "k2", "k3"], &["k[0-9]*"]);
    check_temporary(&["k1a", "k1b", "k1c"], &["k1?"]);
}

#[test]
fn names_that_take_turns_or_have_nothing_in_common_are_no_temporary_ones() {
    check_temporary(&["cpu0", "cpu1", "cpu0", "cpu1", "cpu0"], &[]);
    check_temporary(&["abc", "xyz", "123"], &[]);
}
