//! Deeds: their order over all threads, and the parts that are found by name.

use super::*;
use crate::captured::Captured;
use syscall_model::memory::{Moment, Piece, State};

fn call(thread: u32, name: &str, (from, to): (u64, u64), args: [u64; 6], value: i64) -> Call {
    Call {
        actor: Actor {
            thread: ThreadId(thread),
            pid: Pid(0),
            tid: Tid(0),
            comm: ShortName::default(),
        },
        abi: Abi::native(),
        number: names::number(Abi::native(), name).unwrap() as i32,
        entry: Entry::Seen {
            time: Nanos(from),
            args,
        },
        outcome: Outcome::Returned {
            time: Nanos(to),
            value,
        },
        memory: Memory::default(),
        files: Files::default(),
        places: Default::default(),
        injected: Default::default(),
    }
}

fn enter(story: &mut Story, call: &Call) {
    story.tell(Observation::Entered {
        is_answered: false,
        actor: call.actor,
        abi: call.abi,
        number: call.number,
        entry: call.entry,
    });
}

fn no_formats() -> Signatures<'static> {
    Signatures::new(Box::new(|_| None))
}

#[test]
fn a_call_that_is_told_late_ends_when_it_ended() {
    let mut story = Story::new(500);
    story.born(0, 0, None);
    story.born(1, 1, Some(0));
    let (sync, rename) = (
        call(0, "fsync", (10, 30), [0; 6], 0),
        call(1, "rename", (20, 40), [0; 6], 0),
    );
    let after = call(1, "close", (50, 60), [0; 6], 0);
    // What was read at its exit comes late, so that the end of the first is told behind all others.
    enter(&mut story, &sync);
    enter(&mut story, &rename);
    story.tell(Observation::Call(rename));
    enter(&mut story, &after);
    story.tell(Observation::Call(after));
    story.tell(Observation::Call(sync));
    let trace = story.builder.finish();
    let trace = trace.normalise(&View::default(), &no_formats());
    let deeds = trace.in_order();
    let [sync, rename, close] = deeds[..] else {
        panic!("{deeds:?}")
    };
    let names = [sync, rename, close].map(|deed| deed.name.as_ref());
    assert_eq!(names, ["fsync", "rename", "close"]);
    assert!(rename.entered < sync.left && sync.left < rename.left);
    assert!(rename.left <= close.entered);
}

#[test]
fn what_ends_a_thread_ends_where_it_was_entered_and_what_is_cut_off_with_the_thread() {
    let mut story = Story::new(500);
    story.born(0, 0, None);
    story.born(1, 1, Some(0));
    story.born(2, 2, Some(0));
    let never = |mut call: Call| {
        call.outcome = Outcome::NeverReturned;
        call
    };
    let cut = never(call(1, "fsync", (10, 0), [0; 6], 0));
    let last = never(call(0, "exit_group", (20, 0), [0; 6], 0));
    enter(&mut story, &cut);
    enter(&mut story, &last);
    story.tell(Observation::Call(last));
    let other = call(2, "close", (30, 40), [0; 6], 0);
    enter(&mut story, &other);
    story.tell(Observation::Call(other));
    story.tell(Observation::Call(cut));
    let trace = story.builder.finish();
    let trace = trace.normalise(&View::default(), &no_formats());
    let deeds = trace.in_order();
    let [cut, last, other] = deeds[..] else {
        panic!("{deeds:?}")
    };
    assert_eq!(last.entered, last.left);
    assert!(cut.left > other.entered);
}

/// The flags of a call that makes a file.
const FLAGS: u64 = (libc::O_CREAT | libc::O_WRONLY) as u64;

/// The trace of one `openat` that found nothing, in the directory `/tmp/dir`.
fn opened(path: &[u8]) -> Normalised {
    let format = Captured::read(include_str!(
        "../../../harness/fixtures/payloads/syscalls.sys_enter_openat.txt"
    ))
    .format;
    let source = move |event: &str| {
        (event == "sys_enter_openat").then(|| std::sync::Arc::new(format.clone()))
    };
    let signatures = Signatures::new(Box::new(source));
    let mut story = Story::new(500);
    story.born(0, 0, None);
    let directory = libc::AT_FDCWD as u32 as u64;
    let mut open = call(
        0,
        "openat",
        (1, 2),
        [directory, 0x1000, FLAGS, 0o644, 0, 0],
        -2,
    );
    open.memory = Memory::new(vec![Piece {
        argument: 1,
        element: 0,
        moment: Moment::Enter,
        address: 0x1000,
        state: State::Whole,
        bytes: path.into(),
    }]);
    enter(&mut story, &open);
    story.tell(Observation::Call(open));
    let view = View {
        directory: Some("/tmp/dir".to_owned()),
        ..View::default()
    };
    story.builder.finish().normalise(&view, &signatures)
}

#[test]
fn the_working_directory_in_a_path_is_replaced_where_the_path_begins_with_it() {
    for (path, named) in [
        ("/tmp/dir", "$DIR"),
        ("/tmp/dir/a", "$DIR/a"),
        ("/tmp/dir@a", "/tmp/dir@a"),
        ("x=/tmp/dir/a", "x=/tmp/dir/a"),
        ("/mnt:/tmp/dir/a", "/mnt:/tmp/dir/a"),
        ("$DIR/a", "$$DIR/a"),
    ] {
        let trace = opened(path.as_bytes());
        let deeds = trace.in_order();
        let part = deeds.first().and_then(|deed| deed.part("path"));
        let Some(Value::Path { given, .. }) = part.map(|part| part.value.clone()) else {
            panic!("{deeds:?}")
        };
        assert_eq!(String::from_utf8_lossy(&given), named);
    }
}

#[test]
fn parts_are_found_by_the_kernels_name_by_what_they_are_and_by_what_all_have() {
    let trace = opened(b"/tmp/dir/a");
    let deeds = trace.in_order();
    let [deed] = deeds[..] else {
        panic!("{deeds:?}")
    };
    let value = |word: &str| deed.part(word).map(|part| part.value.clone());
    let path = Value::Path {
        given: b"$DIR/a".to_vec(),
        absolute: None,
        reached: crate::trace::Reached::Untold,
    };
    assert_eq!(value("filename"), Some(path.clone()));
    assert_eq!(value("path"), Some(path));
    let names = ["O_WRONLY", "O_CREAT"].map(Into::into).to_vec();
    assert_eq!(value("flags"), Some(Value::Names(names, FLAGS)));
    assert_eq!(value("mode"), Some(Value::Number(0o644)));
    assert_eq!(value("returns"), Some(Value::Error("ENOENT".into())));
    let task = StableName {
        process: 1,
        thread: 1,
    };
    let task = Value::Task {
        id: 0,
        task: Some(task),
    };
    assert_eq!(value("process"), Some(task));
    assert_eq!(deed.part("program").unwrap().text, "sh");
    assert_eq!(value("fd"), None);
    assert_eq!(
        deed.line(),
        "openat(AT_FDCWD, \"$DIR/a\", O_WRONLY|O_CREAT, 0644) = -1 ENOENT"
    );
}

#[test]
fn what_a_failed_call_was_given_and_nobody_read_is_unread_and_not_nothing() {
    let format = Captured::read(include_str!(
        "../../../harness/fixtures/payloads/syscalls.sys_enter_write@7.2.txt"
    ))
    .format;
    let source = move |event: &str| {
        (event == "sys_enter_write").then(|| std::sync::Arc::new(format.clone()))
    };
    let signatures = Signatures::new(Box::new(source));
    let data = |error: i32| {
        let mut story = Story::new(500);
        story.born(0, 0, None);
        let mut write = call(
            0,
            "write",
            (1, 2),
            [9, 0x1000, 3, 0, 0, 0],
            i64::from(-error),
        );
        write.memory = Memory::new(vec![Piece {
            argument: 1,
            element: 0,
            moment: Moment::Enter,
            address: 0x1000,
            state: State::Unread,
            bytes: Box::default(),
        }]);
        enter(&mut story, &write);
        story.tell(Observation::Call(write));
        let trace = story.builder.finish();
        let trace = trace.normalise(&View::default(), &signatures);
        let deeds = trace.in_order();
        deeds[0].part("data").unwrap().value.clone()
    };
    assert_eq!(data(libc::EBADF), Value::Unread);
    assert_eq!(data(libc::EFAULT), Value::Nothing);
}

#[test]
fn what_an_interrupted_call_returned_is_not_known() {
    let mut story = Story::new(500);
    story.born(0, 0, None);
    let mut read = call(0, "read", (1, 2), [0; 6], 0);
    read.outcome = Outcome::Interrupted {
        time: Nanos(2),
        errno: 512,
    };
    enter(&mut story, &read);
    story.tell(Observation::Call(read));
    let trace = story.builder.finish();
    let trace = trace.normalise(&View::default(), &no_formats());
    let deeds = trace.in_order();
    assert_eq!(deeds[0].part("returns").unwrap().value, Value::Unread);
}
