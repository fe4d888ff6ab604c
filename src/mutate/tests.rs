use super::*;
use crate::trace::{Part, Value};
use perf_records::format::parse;
use perf_records::units::Nanos;
use std::collections::{BTreeSet, HashSet};

fn part(name: &str, text: &str, value: Value) -> Part {
    Part {
        name: name.into(),
        alias: None,
        text: text.to_owned(),
        value,
    }
}

pub(super) fn number(name: &str, number: i128) -> Part {
    part(name, &number.to_string(), Value::Number(number))
}

pub(super) fn path(name: &str, path: &str) -> Part {
    let value = Value::Path {
        given: path.into(),
        absolute: Some(format!("$DIR/{path}").into()),
        reached: crate::trace::Reached::Untold,
    };
    part(name, &format!("{path:?}"), value)
}

pub(super) fn file(name: &str, path: &str, description: u64) -> Part {
    let value = Value::File {
        number: 3,
        description: Some(description),
        name: path.into(),
        reached: crate::trace::Reached::Untold,
    };
    part(name, &format!("<{path}>"), value)
}

pub(super) fn deed(name: &str, fields: &[Part], returns: Part) -> Deed {
    Deed {
        name: name.into(),
        task: StableName {
            process: 1,
            thread: 1,
        },
        thread: ThreadId(0),
        program: "save".into(),
        entered: 0,
        left: 0,
        clock: (Nanos(0), Nanos(0)),
        convention: None,
        fields: fields.to_vec(),
        returns: Some(returns),
        stack: None,
        unseen: None,
        behind: Vec::new(),
        ends: None,
        injected: Default::default(),
    }
}

/// Threads of processes of their own, each deed entered when the one before had left.
pub(super) fn threads(deeds: &[&[Deed]]) -> Vec<Thread> {
    let mut moment = 0;
    let thread = |(deeds, process): (&&[Deed], u32)| {
        let task = StableName { process, thread: 1 };
        let deeds = deeds.iter().map(|deed| {
            moment += 2;
            Deed {
                task,
                thread: ThreadId(process),
                entered: moment,
                left: moment + 1,
                ..deed.clone()
            }
        });
        Thread {
            task,
            thread: ThreadId(process),
            program: "save".into(),
            deeds: deeds.collect(),
        }
    };
    deeds.iter().zip(1..).map(thread).collect()
}

fn save() -> Vec<Deed> {
    vec![
        deed(
            "openat",
            &[path("filename", "new")],
            file("returns", "new", 7),
        ),
        deed(
            "write",
            &[file("fd", "new", 7), number("count", 5)],
            number("returns", 5),
        ),
        deed("fsync", &[file("fd", "new", 7)], number("returns", 0)),
        deed(
            "rename",
            &[path("oldname", "new"), path("newname", "old")],
            number("returns", 0),
        ),
    ]
}

fn all(threads: &[Thread], absent: &[String]) -> Vec<Mutant> {
    let signatures = Signatures::new(Box::new(|_| None));
    let recorded = Recorded {
        threads,
        absent,
        chosen_by: &BTreeSet::new(),
        tells: None,
        signatures: &signatures,
    };
    Mutants::of(&recorded).collect()
}

fn names(deeds: &[Deed]) -> String {
    let names: Vec<&str> = deeds.iter().map(|deed| &*deed.name).collect();
    names.join(" ")
}

/// The names of the first changed thread's events, for each mutant of an operator.
fn orders(mutants: &[Mutant], operator: Operator) -> BTreeSet<String> {
    let of = mutants.iter().filter(|mutant| mutant.operator == operator);
    of.map(|mutant| names(&mutant.changed[0].1)).collect()
}

fn strings<const N: usize>(texts: [&str; N]) -> BTreeSet<String> {
    texts.map(str::to_owned).into()
}

/// What a field or result is edited to.
fn edits(part: Part) -> Vec<String> {
    let mutants = all(
        &threads(&[&[deed("call", &[part], number("returns", 0))]]),
        &[],
    );
    let edits = mutants
        .iter()
        .filter(|it| it.operator == Operator::Edit && it.field.as_deref() != Some("returns"));
    let text = |mutant: &Mutant| mutant.changed[0].1[0].fields[0].text.clone();
    let mut edits: Vec<String> = edits.map(text).collect();
    edits.sort();
    edits
}

#[test]
fn an_event_is_left_out_repeated_and_put_elsewhere() {
    let mutants = all(&threads(&[&save()]), &[]);
    assert_eq!(
        orders(&mutants, Operator::Drop),
        strings([
            "write fsync rename",
            "openat fsync rename",
            "openat write rename",
            "openat write fsync",
        ])
    );
    assert_eq!(
        orders(&mutants, Operator::Repeat),
        strings([
            "openat openat write fsync rename",
            "openat write write fsync rename",
            "openat write fsync fsync rename",
            "openat write fsync rename rename",
        ])
    );
    assert_eq!(
        orders(&mutants, Operator::Swap),
        strings([
            "write openat fsync rename",
            "openat fsync write rename",
            "openat write rename fsync",
        ])
    );
    // What a swap made already is no second mutant.
    assert_eq!(
        orders(&mutants, Operator::Delay),
        strings(["write fsync rename openat", "openat fsync rename write"])
    );
    let far = orders(&mutants, Operator::Exchange);
    let possible = strings([
        "fsync write openat rename",
        "rename write fsync openat",
        "openat rename fsync write",
    ]);
    assert!(!far.is_empty() && far.is_subset(&possible), "{far:?}");
}

#[test]
fn moments_stay_where_they_were_when_events_change_places() {
    let run = threads(&[&save()]);
    let moments = |deeds: &[Deed]| -> Vec<(u64, u64)> {
        deeds.iter().map(|deed| (deed.entered, deed.left)).collect()
    };
    for mutant in all(&run, &[]) {
        let deeds = &mutant.changed[0].1;
        match mutant.operator {
            Operator::Swap | Operator::Exchange | Operator::Delay | Operator::Edit => {
                assert_eq!(moments(deeds), moments(&run[0].deeds), "{mutant:?}");
            }
            _ => assert!(deeds.is_sorted_by_key(|deed| deed.entered), "{mutant:?}"),
        }
    }
}

#[test]
fn a_repeated_event_comes_when_the_first_has_ended() {
    let mutants = all(&threads(&[&save()]), &[]);
    let repeated = mutants
        .iter()
        .find(|it| it.operator == Operator::Repeat && it.event == "fsync");
    let deeds = &repeated.expect("one").changed[0].1;
    assert_eq!(deeds[3].entered, deeds[2].left);
    assert!(deeds[3].left < deeds[4].entered);
}

#[test]
fn all_events_of_a_name_and_whole_processes_are_left_out() {
    let child = [
        deed("fsync", &[number("fd", 1)], number("returns", 0)),
        deed("write", &[number("fd", 1)], number("returns", 1)),
    ];
    let mutants = all(&threads(&[&save(), &child]), &[]);
    let dropped = |operator, event: &str| {
        let found = mutants
            .iter()
            .find(|it| it.operator == operator && it.event == event);
        let changed = &found.expect("one").changed;
        let texts = changed
            .iter()
            .map(|(place, deeds)| format!("{place}: {}", names(deeds)));
        texts.collect::<Vec<_>>()
    };
    assert_eq!(
        dropped(Operator::DropAll, "fsync"),
        ["0: openat write rename", "1: write"]
    );
    assert_eq!(dropped(Operator::DropProcess, "P1"), ["0: "]);
    assert_eq!(dropped(Operator::DropProcess, "P2"), ["1: "]);
    let alone = all(&threads(&[&save()]), &[]);
    assert!(alone.iter().all(|it| it.operator != Operator::DropProcess));
}

#[test]
fn another_task_does_it_at_the_same_moment() {
    let child = [deed("close", &[number("fd", 1)], number("returns", 0))];
    let mutants = all(&threads(&[&save(), &child]), &[]);
    let found = mutants
        .iter()
        .find(|it| it.operator == Operator::Reassign && it.event == "fsync");
    let changed = &found.expect("one").changed;
    assert_eq!(names(&changed[0].1), "openat write rename");
    assert_eq!(names(&changed[1].1), "fsync close");
    let moved = &changed[1].1[0];
    assert_eq!(
        (moved.task.to_string(), moved.thread),
        ("P2".to_owned(), ThreadId(2))
    );
}

#[test]
fn numbers_are_one_more_and_nothing_in_the_form_that_they_have() {
    assert_eq!(edits(number("count", 5)), ["0", "6"]);
    assert_eq!(edits(number("count", 0)), ["1"]);
    assert_eq!(
        edits(part("mode", "0644", Value::Number(0o644))),
        ["000", "0645"]
    );
    assert_eq!(
        edits(part("mask", "0x1f", Value::Number(0x1f))),
        ["0x0", "0x20"]
    );
    // What is another number in each run has no number in the text.
    assert_eq!(edits(part("size", "<size>", Value::Number(7))), [""; 0]);
}

#[test]
fn the_number_of_a_tracepoints_call_is_not_edited() {
    assert_eq!(edits(number("__syscall_nr", 257)), [""; 0]);
}

#[test]
fn what_the_kernel_chose_events_by_is_not_edited() {
    let signatures = Signatures::new(Box::new(|_| None));
    let event = deed(
        "a:b",
        &[number("flags", 1), number("mode", 2)],
        number("returns", 0),
    );
    let run = threads(&[&[event]]);
    let recorded = Recorded {
        threads: &run,
        absent: &[],
        chosen_by: &[("a:b", "flags"), ("c:d", "mode")]
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .into(),
        tells: None,
        signatures: &signatures,
    };
    let fields: BTreeSet<String> = Mutants::of(&recorded).filter_map(|it| it.field).collect();
    assert_eq!(fields, strings(["mode", "returns"]));
}

#[test]
fn paths_become_others_of_the_run_and_one_that_is_in_none() {
    let fields = [path("oldname", "new"), path("newname", "old")];
    let mutants = all(
        &threads(&[&[deed("rename", &fields, number("returns", 0))]]),
        &[],
    );
    let edits = mutants.iter().filter(|it| it.operator == Operator::Edit);
    let now: BTreeSet<String> = edits.filter_map(|it| it.now.clone()).collect();
    assert_eq!(
        now,
        strings([
            "rename(\"new~\", \"old\") = 0",
            "rename(\"old\", \"old\") = 0",
            "rename(\"new\", \"old~\") = 0",
            "rename(\"new\", \"new\") = 0",
            "rename(\"new\", \"old\") = -1 EIO",
        ])
    );
}

#[test]
fn the_value_is_edited_with_the_text() {
    let mutants = all(
        &threads(&[&[deed(
            "unlink",
            &[path("pathname", "a")],
            number("returns", 0),
        )]]),
        &[],
    );
    let edited = mutants
        .iter()
        .find(|it| it.field.as_deref() == Some("pathname"));
    let value = &edited.expect("one").changed[0].1[0].fields[0].value;
    let absolute = Some(b"$DIR/a~".to_vec());
    assert_eq!(
        *value,
        Value::Path {
            given: b"a~".to_vec(),
            absolute,
            reached: crate::trace::Reached::Untold,
        }
    );
}

#[test]
fn descriptors_become_another_file_of_the_run_or_none() {
    assert_eq!(edits(file("fd", "new", 1)), ["99"]);
    let fields = [file("fd_in", "a", 1), file("fd_out", "b", 2)];
    let mutants = all(
        &threads(&[&[deed("copy", &fields, number("returns", 0))]]),
        &[],
    );
    let now: BTreeSet<String> = mutants.iter().filter_map(|it| it.now.clone()).collect();
    assert!(
        now.contains("copy(<b>, <b>) = 0") && now.contains("copy(<a>, <a>) = 0"),
        "{now:?}"
    );
}

#[test]
fn contents_and_vectors_are_edited_where_the_trace_shows_them() {
    let bytes = Value::Bytes {
        bytes: b"ab\n".to_vec(),
        is_cut: false,
    };
    assert_eq!(
        edits(part("buf", "\"ab\\n\"", bytes.clone())),
        ["\"ab\"", "\"xb\\n\""]
    );
    assert_eq!(edits(part("buf", "<addr>", bytes)), [""; 0]);
    let strings = Value::Strings {
        strings: vec![b"cp".to_vec(), b"a".to_vec()],
        is_cut: false,
    };
    assert_eq!(
        edits(part("argv", "[\"cp\", \"a\"]", strings)),
        ["[\"cp\", \"a~\"]", "[\"cp\"]"]
    );
}

#[test]
fn structures_are_edited_in_their_first_number() {
    let text = |text: &str| edits(part("addr", text, Value::Text));
    assert_eq!(
        text("{sa_family=AF_INET6, port=80}"),
        ["{sa_family=AF_INET6, port=81}"]
    );
    assert_eq!(text("{mask=0x1f, n=9}"), ["{mask=0x1f, n=10}"]);
    for same in ["<addr>", "<map:2>", "NULL", "{st_mode=S_IFREG}"] {
        assert_eq!(text(same), [""; 0], "{same}");
    }
}

#[test]
fn results_become_errors_and_errors_successes() {
    let results = |returns: Part| {
        let mutants = all(&threads(&[&[deed("call", &[], returns)]]), &[]);
        let edits = mutants
            .into_iter()
            .filter(|it| it.operator == Operator::Edit);
        edits.filter_map(|it| it.now).collect::<BTreeSet<String>>()
    };
    assert_eq!(results(number("returns", 0)), strings(["call() = -1 EIO"]));
    assert_eq!(
        results(number("returns", 5)),
        strings(["call() = -1 EIO", "call() = 4", "call() = 0"])
    );
    let error = |name: &str| part("returns", &format!("-1 {name}"), Value::Error(name.into()));
    assert_eq!(
        results(error("ENOENT")),
        strings(["call() = -1 EIO", "call() = 0"])
    );
    assert_eq!(
        results(error("EIO")),
        strings(["call() = -1 EACCES", "call() = 0"])
    );
    assert_eq!(results(part("returns", "?", Value::Nothing)), strings([]));
}

/// Signatures in which `openat` has flags, of the running kernel's form.
fn with_open_flags() -> Signatures<'static> {
    let text = "name: sys_enter_openat\nID: 1\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n\
        \tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n\
        \tfield:int flags;\toffset:32;\tsize:8;\tsigned:0;\n\
        \tfield:umode_t mode;\toffset:40;\tsize:8;\tsigned:0;\n\nprint fmt: \"x\"\n";
    let format = std::sync::Arc::new(parse(text).expect("a format"));
    Signatures::new(Box::new(move |event| {
        (event == "sys_enter_openat").then(|| format.clone())
    }))
}

#[test]
fn each_flag_is_taken_away_and_one_is_added() {
    let signatures = with_open_flags();
    let open = |text: &str, word| {
        let names = text.split('|').map(Into::into).collect();
        let flags = part("flags", text, Value::Names(names, word));
        let run = threads(&[&[deed("openat", &[flags], number("returns", 0))]]);
        let recorded = Recorded {
            threads: &run,
            absent: &[],
            chosen_by: &BTreeSet::new(),
            tells: None,
            signatures: &signatures,
        };
        let edits = Mutants::of(&recorded).filter(|it| it.field.as_deref() == Some("flags"));
        edits
            .map(|it| it.changed[0].1[0].fields[0].text.clone())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(
        open("O_WRONLY|O_CREAT|O_EXCL", 0xc1),
        strings([
            "O_RDONLY|O_CREAT|O_EXCL",
            "O_WRONLY|O_EXCL",
            "O_WRONLY|O_CREAT",
            "O_ACCMODE|O_CREAT|O_EXCL",
        ])
    );
    // That `O_RDONLY` is taken away changes nothing: it is no flag.
    assert_eq!(open("O_RDONLY", 0), strings(["O_WRONLY"]));
}

#[test]
fn what_was_recorded_and_did_not_occur_is_inserted_with_the_runs_own_paths() {
    let signatures = with_open_flags();
    let run = threads(&[&[deed(
        "unlink",
        &[path("pathname", "a")],
        number("returns", 0),
    )]]);
    let absent = ["openat".to_owned(), "sched:sched_switch".to_owned()];
    let recorded = Recorded {
        threads: &run,
        absent: &absent,
        chosen_by: &BTreeSet::new(),
        tells: None,
        signatures: &signatures,
    };
    let inserted = Mutants::of(&recorded).filter(|it| it.operator == Operator::Insert);
    let now: BTreeSet<String> = inserted.filter_map(|it| it.now).collect();
    assert_eq!(
        now,
        strings([
            "openat(1<stdout>, \"a\", O_RDONLY, 000) = 1<stdout>",
            "sched:sched_switch",
            "unlink(\"a~\") = 0",
        ])
    );
}

#[test]
fn a_run_without_events_has_those_that_are_inserted() {
    let absent = ["fsync".to_owned()];
    let mutants = all(&threads(&[&[]]), &absent);
    assert_eq!(mutants.len(), 1);
    assert_eq!(names(&mutants[0].changed[0].1), "fsync");
    assert_eq!(all(&threads(&[&[]]), &[]), []);
}

#[test]
fn what_reads_the_same_is_no_mutant() {
    let read = || deed("read", &[number("fd", 0)], number("returns", 9));
    let mutants = all(&threads(&[&[read(), read(), read()]]), &[]);
    let of = |operator| mutants.iter().filter(|it| it.operator == operator).count();
    // Whichever of three equal events is left out or repeated, the text is the same.
    assert_eq!((of(Operator::Drop), of(Operator::Repeat)), (1, 1));
    let moved = [Operator::Swap, Operator::Exchange, Operator::Delay].map(of);
    assert_eq!(moved, [0; 3]);
    assert_eq!(of(Operator::DropAll), 1);
}

#[test]
fn two_mutants_never_have_the_same_text() {
    let child = [deed("fsync", &[number("fd", 1)], number("returns", 0))];
    let run = threads(&[&save(), &child]);
    let mut texts = HashSet::new();
    let text = |threads: &[Vec<Deed>]| -> Vec<Vec<String>> {
        let lines = |deeds: &Vec<Deed>| deeds.iter().map(Deed::line).collect();
        threads.iter().map(lines).collect()
    };
    let original: Vec<Vec<Deed>> = run.iter().map(|thread| thread.deeds.clone()).collect();
    texts.insert(text(&original));
    for mutant in all(&run, &["close".to_owned()]) {
        let mut threads = original.clone();
        for (place, deeds) in mutant.changed.clone() {
            threads[place] = deeds;
        }
        assert!(texts.insert(text(&threads)), "{mutant:?}");
    }
}

#[test]
fn the_same_run_has_the_same_mutants_in_the_same_order() {
    let run = threads(&[&save()]);
    assert_eq!(
        all(&run, &["close".to_owned()]),
        all(&run, &["close".to_owned()])
    );
}

#[test]
fn what_is_rare_comes_among_the_first() {
    let mut deeds: Vec<Deed> = (0..500)
        .map(|count| deed("read", &[number("count", count)], number("returns", 0)))
        .collect();
    deeds.insert(200, deed("fsync", &[number("fd", 3)], number("returns", 0)));
    let run = threads(&[&deeds]);
    let signatures = Signatures::new(Box::new(|_| None));
    let recorded = Recorded {
        threads: &run,
        absent: &[],
        chosen_by: &BTreeSet::new(),
        tells: None,
        signatures: &signatures,
    };
    let mut mutants = Mutants::of(&recorded);
    let first: Vec<Mutant> = mutants.by_ref().take(40).collect();
    for operator in [Operator::Drop, Operator::Repeat, Operator::Edit] {
        let is = |mutant: &Mutant| mutant.operator == operator && mutant.event == "fsync";
        assert!(first.iter().any(is), "{operator}");
    }
    assert!(mutants.n_left() > 1000 && mutants.n_candidates() > mutants.n_left());
}
