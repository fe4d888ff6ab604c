use super::super::files::{End, Initial, Tables, Watched};
use super::super::kinds::ReturnKind;
use super::super::names::{self, Abi};
use super::super::{Actor, Argument, Entry, Observation, Shares, ShortName, ThreadId};
use super::*;
use crate::memory::{Memory, Piece};
use perf_records::units::{Nanos, Pid, Tid};

const PATH: u64 = 0x7000;
const AT_FDCWD: u64 = libc::AT_FDCWD as u64;

fn call(name: &str, args: [u64; 6], value: i64) -> Call {
    let number = names::number(Abi::native(), name).expect("a name of a call");
    Call {
        actor: Actor {
            thread: ThreadId(0),
            pid: Pid(10),
            tid: Tid(10),
            comm: ShortName::new(b"prog"),
        },
        abi: Abi::native(),
        number: number as i32,
        entry: Entry::Seen {
            time: Nanos(1),
            args,
        },
        outcome: Outcome::Returned {
            time: Nanos(2),
            value,
        },
        memory: Memory::default(),
        files: Default::default(),
        places: Default::default(),
        injected: Default::default(),
    }
}

fn signature(kinds: &[ArgKind]) -> Signature {
    let argument = |kind: &ArgKind| Argument {
        alias: None,
        is_implied: false,
        name: "a".into(),
        kind: *kind,
    };
    Signature {
        hides: false,
        hides_result: false,
        name: "",
        by_command: Vec::new(),
        depends: None,
        arguments: kinds.iter().map(argument).collect(),
        returns: ReturnKind::Number,
    }
}

fn openat(path: &[u8], state: State) -> (Call, Signature) {
    let mut call = call("openat", [AT_FDCWD, PATH, 0, 0, 0, 0], 3);
    call.memory = Memory::new(vec![Piece {
        argument: 1,
        element: 0,
        moment: Moment::Enter,
        address: PATH,
        state,
        bytes: path.into(),
    }]);
    (
        call,
        signature(&[ArgKind::Fd, ArgKind::Path, ArgKind::Hex, ArgKind::Octal]),
    )
}

fn paths(wanted: &[&str]) -> Paths {
    let mut paths = Paths::default();
    wanted.iter().for_each(|path| paths.add(path.as_bytes()));
    paths
}

fn names_hosts((call, signature): (Call, Signature)) -> Option<bool> {
    paths(&["/etc/../etc/hosts", "/srv/data"]).are_named_by(&call, &signature)
}

#[test]
fn a_call_names_a_path_however_it_is_written() {
    for (path, expected) in [
        ("/etc/hosts", Some(true)),
        ("//etc/./hosts", Some(true)),
        ("/var/../etc/hosts", Some(true)),
        ("/srv/data/", Some(true)),
        ("/etc/hosts.allow", Some(false)),
        ("/etc", Some(false)),
        ("/hosts", Some(false)),
    ] {
        let named = names_hosts(openat(path.as_bytes(), State::Whole));
        assert_eq!(named, expected, "{path}");
    }
}

#[test]
fn a_relative_path_is_excluded_only_where_it_cannot_be_meant() {
    for (path, expected) in [
        ("hosts", None),
        ("./hosts", None),
        ("etc/hosts", None),
        ("../x", None),
        ("osts", Some(false)),
        ("passwd", Some(false)),
        ("x/etc/hosts", Some(false)),
        ("", Some(false)),
    ] {
        let named = names_hosts(openat(path.as_bytes(), State::Whole));
        assert_eq!(named, expected, "{path}");
    }
}

#[test]
fn what_was_not_read_is_not_excluded() {
    assert_eq!(names_hosts(openat(b"", State::Unread)), None);
    assert_eq!(names_hosts(openat(b"/usr", State::Cut)), None);
    let (mut unread, form) = openat(b"", State::Whole);
    unread.memory = Memory::default();
    let choice = Choice {
        paths: paths(&["/etc/hosts"]),
        ..Choice::default()
    };
    assert!(choice.admits(&unread, &form));
    unread.entry = Entry::Missing;
    assert!(choice.admits(&unread, &form));
    unread.entry = Entry::Uncorking;
    assert!(choice.admits(&unread, &form));
}

#[test]
fn a_call_without_paths_and_descriptors_is_excluded() {
    let choice = Choice {
        paths: paths(&["/etc/hosts"]),
        ..Choice::default()
    };
    let without = signature(&[ArgKind::Pointer]);
    assert!(!choice.admits(&call("brk", [PATH; 6], 0), &without));
    let mut missing = call("brk", [0; 6], 0);
    missing.entry = Entry::Missing;
    assert!(!choice.admits(&missing, &without));
    // No descriptor, and no path.
    let nothing = [u64::MAX, 0, 0, 0, 0, 0];
    let form = signature(&[ArgKind::Fd, ArgKind::Path]);
    assert!(!choice.admits(&call("openat", nothing, -14), &form));
    // A number that no table knows may do anything.
    let mut unknown = call("brk", [PATH; 6], 0);
    unknown.number = 5000;
    assert!(choice.admits(&unknown, &without));
}

#[test]
fn a_call_is_chosen_by_how_it_ended() {
    let ended = |outcome| {
        let call = Call {
            outcome,
            ..call("read", [0; 6], 0)
        };
        let successful = Endings {
            successful: true,
            ..Endings::NONE
        };
        let failed = Endings {
            failed: true,
            ..Endings::NONE
        };
        [Endings::default(), successful, failed].map(|endings| endings.admit(&call))
    };
    let time = Nanos(2);
    let returned = |value| ended(Outcome::Returned { time, value });
    assert_eq!(returned(0), [true, true, false]);
    assert_eq!(returned(-4096), [true, true, false]);
    assert_eq!(returned(i64::MIN), [true, true, false]);
    assert_eq!(returned(-4095), [true, false, true]);
    assert_eq!(returned(-1), [true, false, true]);
    let interrupted = Outcome::Interrupted { time, errno: 512 };
    assert_eq!(ended(interrupted), [true, false, true]);
    assert_eq!(ended(Outcome::NeverReturned), [true, false, false]);
    assert_eq!(ended(Outcome::Refused { time }), [true, false, false]);
    assert_eq!(ended(Outcome::Missing), [true, true, true]);
}

#[test]
fn the_two_classes_without_a_result_are_chosen_by_themselves() {
    let has = |endings: Endings, outcome| {
        let call = call("read", [0; 6], 0);
        endings.admit(&Call { outcome, ..call })
    };
    let refused = Outcome::Refused { time: Nanos(2) };
    let unfinished = Endings {
        unfinished: true,
        ..Endings::NONE
    };
    let unavailable = Endings {
        unavailable: true,
        ..Endings::NONE
    };
    assert!(has(unfinished, Outcome::NeverReturned) && !has(unfinished, refused));
    assert!(has(unavailable, refused) && !has(unavailable, Outcome::NeverReturned));
}

#[test]
fn a_word_is_found_as_a_call_was_given_it() {
    let mut words = Paths::default();
    words.add_word(b"hosts");
    let named = |path: &[u8], state| {
        let (call, signature) = openat(path, state);
        words.are_named_by(&call, &signature)
    };
    assert_eq!(named(b"hosts", State::Whole), Some(true));
    assert_eq!(named(b"./hosts", State::Whole), Some(false));
    assert_eq!(named(b"/etc/passwd", State::Whole), Some(false));
    assert_eq!(named(b"", State::Unread), None);
}

fn descriptors(numbers: &[i32], are_negated: bool) -> Choice {
    Choice {
        descriptors: Some(Descriptors {
            numbers: numbers.iter().copied().collect(),
            are_negated,
        }),
        ..Choice::default()
    }
}

#[test]
fn a_call_is_chosen_by_the_descriptors_that_it_uses() {
    let form = signature(&[ArgKind::Fd, ArgKind::Pointer, ArgKind::Fd]);
    let admits = |choice: &Choice, first: i64, last: i64| {
        let args = [first as u64, 7, last as u64, 0, 0, 0];
        choice.admits(&call("copy_file_range", args, 0), &form)
    };
    let seven = descriptors(&[7], false);
    assert!(admits(&seven, 7, 1) && admits(&seven, 1, 7));
    assert!(!admits(&seven, 1, 2));
    let others = descriptors(&[7], true);
    assert!(admits(&others, 7, 1) && !admits(&others, 7, 7));
    assert!(
        !admits(&others, i64::from(libc::AT_FDCWD), -1),
        "no descriptor"
    );
    let mut lost = call("brk", [0; 6], 0);
    lost.entry = Entry::Missing;
    assert!(seven.admits(&lost, &form), "what it used is not known");
    assert!(!seven.admits(&lost, &signature(&[ArgKind::Pointer])));
}

#[test]
fn a_descriptor_or_a_path_is_enough() {
    let choice = Choice {
        paths: paths(&["/etc/hosts"]),
        ..descriptors(&[7], false)
    };
    let (hosts, form) = openat(b"/etc/hosts", State::Whole);
    assert!(choice.admits(&hosts, &form));
    let (other, form) = openat(b"/etc/passwd", State::Whole);
    assert!(!choice.admits(&other, &form));
    assert!(choice.admits(
        &call("read", [7, 0, 0, 0, 0, 0], 0),
        &signature(&[ArgKind::Fd])
    ));
}

#[test]
fn descriptors_that_are_waited_for_are_found_in_memory() {
    let piece = |place, bytes: &[u8]| Piece {
        argument: place,
        element: 0,
        moment: Moment::Enter,
        address: PATH,
        state: State::Whole,
        bytes: bytes.into(),
    };
    let seven = descriptors(&[7], false);
    let form = signature(&[]);
    let mut poll = call("poll", [PATH, 2, 0, 0, 0, 0], 1);
    assert!(
        seven.admits(&poll, &form),
        "what is not read is not excluded"
    );
    let entry = |number: i32| [&number.to_ne_bytes()[..], &[1, 0, 0, 0]].concat();
    poll.memory = Memory::new(vec![piece(0, &[entry(3), entry(7)].concat())]);
    assert!(seven.admits(&poll, &form));
    poll.memory = Memory::new(vec![piece(0, &[entry(3), entry(-1)].concat())]);
    assert!(!seven.admits(&poll, &form));
    assert!(descriptors(&[7], true).admits(&poll, &form));
    let of_path = Choice {
        paths: paths(&["/etc/hosts"]),
        ..Choice::default()
    };
    assert!(
        of_path.admits(&poll, &form),
        "what they refer to is not known"
    );

    let mut select = call("pselect6", [8, 0, PATH, 0, 0, 0], 1);
    select.memory = Memory::new(vec![piece(2, &[0x80, 0, 0, 0, 0, 0, 0, 0])]);
    assert!(seven.admits(&select, &form));
    select.entry = Entry::Seen {
        time: Nanos(1),
        args: [7, 0, PATH, 0, 0, 0],
    };
    assert!(
        !seven.admits(&select, &form),
        "a bit at the bound is not looked at"
    );
}

/// What the tables say of a call whose process works in `/etc` and has some descriptors.
fn looked_up(mut call: Call) -> Call {
    let file = |kind, number| (kind, vec![number]);
    let initial = Initial {
        files: vec![
            file(FileKind::Given(b"pipe:[4026]"[..].into()), 0),
            file(FileKind::Given(b"/srv/data"[..].into()), 1),
            file(FileKind::Given(b"stderr"[..].into()), 2),
            file(FileKind::Path(b"/etc/hosts"[..].into()), 3),
            file(FileKind::Pipe(End::Read), 4),
            file(FileKind::Path(b"/srv"[..].into()), 5),
            file(FileKind::Unread, 6),
        ],
        complete: true,
        directory: Some(b"/etc".to_vec()),
    };
    let watched = Watched {
        complete: true,
        submissions: true,
        names: false,
        paths: true,
    };
    let mut tables = Tables::new(initial, watched);
    tables.observe(&mut Observation::Born {
        child: call.actor,
        parent: None,
        shares: Shares::default(),
    });
    tables.observe(&mut Observation::Entered {
        is_answered: false,
        actor: call.actor,
        abi: call.abi,
        number: call.number,
        entry: call.entry,
    });
    let mut observation = Observation::Call(call.clone());
    tables.observe(&mut observation);
    if let Observation::Call(with_files) = observation {
        call = with_files;
    }
    call
}

#[test]
fn a_descriptor_names_the_path_that_it_refers_to() {
    let form = signature(&[ArgKind::Fd, ArgKind::Pointer, ArgKind::Size]);
    for (number, expected) in [
        (0, Some(false)),
        (1, Some(true)),
        (2, None),
        (3, Some(true)),
        (4, Some(false)),
        (5, Some(false)),
        (6, None),
        (9, Some(false)),
    ] {
        let read = call("read", [number, PATH, 1, 0, 0, 0], 1);
        assert_eq!(
            names_hosts((looked_up(read), form.clone())),
            expected,
            "{number}"
        );
    }
    let untracked = call("read", [3, PATH, 1, 0, 0, 0], 1);
    assert_eq!(names_hosts((untracked, form)), None);
}

#[test]
fn a_call_names_the_paths_of_the_descriptors_that_it_waits_for() {
    let form = signature(&[ArgKind::Pointer]);
    let names = |numbers: &[i32]| {
        let entry = |number: &i32| [&number.to_ne_bytes()[..], &[1, 0, 0, 0]].concat();
        let words = [PATH, numbers.len() as u64, 0, 0, 0, 0];
        let mut poll = call("poll", words, 1);
        let bytes: Vec<u8> = numbers.iter().flat_map(entry).collect();
        poll.memory = Memory::new(vec![Piece {
            argument: 0,
            element: 0,
            moment: Moment::Enter,
            address: PATH,
            state: State::Whole,
            bytes: bytes.into(),
        }]);
        names_hosts((looked_up(poll), form.clone()))
    };
    assert_eq!(names(&[4, 3]), Some(true));
    assert_eq!(names(&[4, 5, -1]), Some(false));
    assert_eq!(names(&[4, 6]), None);
}

#[test]
fn a_relative_path_names_what_its_directory_makes_of_it() {
    for (directory, path, expected) in [
        (AT_FDCWD, "hosts", Some(true)),
        (AT_FDCWD, "../srv/data", Some(true)),
        (AT_FDCWD, "x/hosts", Some(false)),
        (AT_FDCWD, "data", Some(false)),
        (5, "data", Some(true)),
        (5, "hosts", Some(false)),
        (5, "/etc/hosts", Some(true)),
        (6, "data", None),
    ] {
        let (mut openat, form) = openat(path.as_bytes(), State::Whole);
        openat.entry = Entry::Seen {
            time: Nanos(1),
            args: [directory, PATH, 0, 0, 0, 0],
        };
        assert_eq!(names_hosts((looked_up(openat), form)), expected, "{path}");
    }
}
