use super::*;
use perf_records::units::{Nanos, Pid, Tid};
use std::sync::Arc;
use syscall_model::files::Files;
use syscall_model::memory::Memory;
use syscall_model::names::{self, Abi};
use syscall_model::{Actor, Call, Entry, Observation, Outcome, Shares, ShortName, Signatures};

mod deeds;
mod starts;
mod stretch;

/// A thread enters a call; which one is told when it has ended.
fn entered(thread: u32) -> Observation {
    entered_as(thread, "read")
}

fn entered_as(thread: u32, name: &str) -> Observation {
    let actor = Actor {
        thread: ThreadId(thread),
        pid: Pid(0),
        tid: Tid(0),
        comm: ShortName::default(),
    };
    Observation::Entered {
        is_answered: false,
        actor,
        abi: Abi::native(),
        number: names::number(Abi::native(), name).unwrap() as i32,
        entry: Entry::Missing,
    }
}

/// A run, told observation by observation. Host ids start at 1000 and differ from run to run; ids
/// in the namespace start at 2.
struct Story {
    builder: Builder,
    base: u32,
}

impl Story {
    fn new(base: u32) -> Self {
        Self {
            builder: Builder::new(true),
            base,
        }
    }

    fn actor(&self, thread: u32, pid: u32, name: &str) -> Actor {
        Actor {
            thread: ThreadId(thread),
            pid: Pid(self.base + pid),
            tid: Tid(self.base + thread),
            comm: ShortName::new(name.as_bytes()),
        }
    }

    fn tell(&mut self, observation: Observation) {
        self.builder.observe(&observation, |_| true);
    }

    fn born(&mut self, thread: u32, pid: u32, parent: Option<u32>) {
        let child = self.actor(thread, pid, "sh");
        self.tell(Observation::Born {
            child,
            parent: parent.map(ThreadId),
            shares: Shares::default(),
        });
    }

    fn executed(&mut self, thread: u32, name: &str) {
        let actor = self.actor(thread, thread, name);
        self.tell(Observation::Executed(actor));
    }

    fn named(&mut self, thread: u32, id: i32) {
        self.tell(Observation::Named {
            thread: ThreadId(thread),
            id,
        });
    }

    fn call(&mut self, thread: u32, name: &str, args: [u64; 6], value: i64) {
        self.tell(entered(thread));
        self.finish_call(thread, name, args, value);
    }

    fn finish_call(&mut self, thread: u32, name: &str, args: [u64; 6], value: i64) {
        let call = Call {
            actor: self.actor(thread, thread, "sh"),
            abi: Abi::native(),
            number: names::number(Abi::native(), name).unwrap() as i32,
            entry: Entry::Seen {
                time: Nanos(u64::from(self.base)),
                args,
            },
            outcome: Outcome::Returned {
                time: Nanos(u64::from(self.base) + 9),
                value,
            },
            memory: Memory::default(),
            files: Files::default(),
            places: Default::default(),
            injected: Default::default(),
        };
        self.tell(Observation::Call(call));
    }

    fn text(self, view: &View) -> String {
        // No formats: each call shows six words, and its result by its name.
        let signatures = Signatures::new(Box::new(|_| None));
        self.builder.finish().normalise(view, &signatures).text()
    }
}

/// Two children of a shell; which one is seen first is the scheduler's choice.
fn two_children(base: u32, second_runs_first: bool) -> String {
    let mut story = Story::new(base);
    story.born(0, 0, None);
    story.executed(0, "sh");
    story.builder.main_process(2);
    story.tell(entered(0));
    story.born(1, 1, Some(0));
    story.named(1, 3);
    story.finish_call(0, "fork", [0; 6], 3);
    story.born(2, 2, Some(0));
    story.named(2, 4);
    story.call(0, "fork", [0; 6], 4);
    let order = if second_runs_first { [2, 1] } else { [1, 2] };
    for thread in order {
        story.executed(thread, if thread == 1 { "one" } else { "two" });
        story.call(thread, "getppid", [0; 6], 2);
        story.call(thread, "getpid", [0; 6], i64::from(thread) + 2);
    }
    story.call(0, "wait4", [u64::MAX, u64::from(base) << 32, 0, 0, 0, 0], 3);
    story.call(0, "kill", [4, 0, 0, 0, 0, 0], -3);
    story.text(&View::default())
}

#[test]
fn scheduling_and_ids_do_not_change_the_text() {
    let text = two_children(1000, false);
    assert_eq!(text, two_children(77_000, true));
    let expected = "\
# trace 2, level sequence
# rules: addresses, tasks

P1 sh
  fork(0, 0, 0, 0, 0, 0) = P2
  fork(0, 0, 0, 0, 0, 0) = P3
  wait4(0xffffffffffffffff, <addr>, 0, 0, 0, 0) = P2
  kill(0x4, 0, 0, 0, 0, 0) = -1 ESRCH

P2 one, child of P1
  getppid(0, 0, 0, 0, 0, 0) = P1
  getpid(0, 0, 0, 0, 0, 0) = P2

P3 two, child of P1
  getppid(0, 0, 0, 0, 0, 0) = P1
  getpid(0, 0, 0, 0, 0, 0) = P3
";
    assert_eq!(text, expected);
}

#[test]
fn threads_stand_behind_their_process_and_grandchildren_behind_their_parent() {
    let mut story = Story::new(500);
    story.born(0, 0, None);
    story.born(1, 1, Some(0));
    story.born(2, 0, Some(0));
    story.born(3, 3, Some(1));
    story.born(4, 4, Some(2));
    for thread in (0..5).rev() {
        story.call(thread, "gettid", [0; 6], 0);
    }
    let text = story.text(&View::default());
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('P')).collect();
    assert_eq!(
        headings,
        [
            "P1 sh",
            "P1.T2",
            "P2 sh, child of P1",
            "P3 sh, child of P2",
            "P4 sh, child of P1.T2"
        ]
    );
}

#[test]
fn a_call_keeps_the_place_of_its_entry() {
    let mut story = Story::new(500);
    story.born(0, 0, None);
    story.tell(entered(0));
    let event = TracedEvent {
        name: Arc::from("sched:sched_process_exec"),
        fields: vec![
            (
                Arc::from("filename"),
                FieldValue::Text(b"/tmp/dir/tool".to_vec()),
            ),
            (Arc::from("pid"), FieldValue::Task(500)),
            (Arc::from("other"), FieldValue::Task(4242)),
            (Arc::from("at"), FieldValue::Address(0xffff_8000_0000_0000)),
        ],
    };
    story.builder.event(ThreadId(0), Nanos(0), event);
    story.finish_call(0, "execve", [0; 6], 0);
    let view = View {
        directory: Some("/tmp/dir".to_owned()),
        ..View::default()
    };
    let text = story.text(&view);
    let expected = "\
# trace 2, level sequence
# rules: addresses, directory, foreign-tasks, tasks

P1 sh
  execve(0, 0, 0, 0, 0, 0) = 0
  sched:sched_process_exec filename=\"$DIR/tool\" pid=P1 other=<pid> at=<addr>
";
    assert_eq!(text, expected);
}

#[test]
fn an_id_that_is_used_again_is_the_one_who_has_it_then() {
    let mut story = Story::new(500);
    story.born(0, 0, None);
    story.born(1, 1, Some(0));
    story.named(1, 9);
    story.call(0, "wait4", [0; 6], 9);
    story.born(2, 2, Some(0));
    story.named(2, 9);
    story.call(0, "wait4", [0; 6], 9);
    let text = story.text(&View::default());
    let results: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once(" = ").map(|(_, r)| r))
        .collect();
    assert_eq!(results, ["P2", "P3"]);
}

#[test]
fn tracepoints_speak_of_tasks_by_their_global_ids() {
    let mut story = Story::new(500);
    story.born(0, 0, None);
    story.born(1, 1, Some(0));
    story.tell(Observation::Global {
        thread: ThreadId(0),
        id: 9500,
    });
    story.tell(Observation::Global {
        thread: ThreadId(1),
        id: 9501,
    });
    let task = |id| (Arc::from("pid"), FieldValue::Task(id));
    let event = TracedEvent {
        name: Arc::from("s:e"),
        fields: vec![task(9501), task(501)],
    };
    story.builder.event(ThreadId(0), Nanos(0), event);
    let text = story.text(&View::default());
    assert!(text.contains("  s:e pid=P2 pid=<pid>\n"), "{text}");
}

#[test]
fn a_returned_id_is_that_of_the_child_just_born_whoever_else_has_it() {
    // The child is in a pid namespace below, where it has the number that the main process has in
    // its own.
    let mut story = Story::new(500);
    story.born(0, 0, None);
    story.builder.main_process(2);
    story.tell(entered(0));
    story.born(1, 1, Some(0));
    story.named(1, 2);
    story.finish_call(0, "fork", [0; 6], 2);
    let text = story.text(&View::default());
    assert!(text.contains("fork(0, 0, 0, 0, 0, 0) = P2\n"), "{text}");
}

#[test]
fn levels_and_hidden_names_are_what_they_say() {
    let story = || {
        let mut story = Story::new(500);
        story.born(0, 0, None);
        story.born(1, 0, Some(0));
        for (thread, name) in [(0, "write"), (1, "write"), (1, "close"), (0, "read")] {
            story.call(thread, name, [0; 6], 1);
        }
        story
    };
    let view = |level, hidden: &[&str], shown: &[&str]| View {
        level,
        hidden: hidden.iter().map(|name| (*name).to_owned()).collect(),
        shown: shown.iter().map(|name| (*name).to_owned()).collect(),
        ..View::default()
    };
    let body = |view: &View| story().text(view).split_once("\n\n").unwrap().1.to_owned();
    assert_eq!(
        body(&view(Level::Counts, &["read"], &[])),
        "P1 sh\n  close 1\n  write 2\n"
    );
    assert_eq!(
        body(&view(Level::Set, &[], &[])),
        "P1 sh\n  close\n  read\n  write\n"
    );
    assert_eq!(
        body(&view(Level::Sequence, &[], &["close"])),
        "P1 sh\n\nP1.T2\n  close(0, 0, 0, 0, 0, 0) = 1\n"
    );
    // A thread without a line is left out; a process is not.
    assert_eq!(
        body(&view(Level::Sequence, &[], &["read"])),
        "P1 sh\n  read(0, 0, 0, 0, 0, 0) = 1\n"
    );
}

#[test]
fn a_call_that_nobody_asked_for_is_neither_shown_nor_counted() {
    let mut story = Story::new(500);
    story.born(0, 0, None);
    story.tell(entered(0));
    let call = Call {
        actor: story.actor(0, 0, "sh"),
        abi: Abi::native(),
        number: 0,
        entry: Entry::Missing,
        outcome: Outcome::NeverReturned,
        memory: Memory::default(),
        files: Files::default(),
        places: Default::default(),
        injected: Default::default(),
    };
    story.builder.observe(&Observation::Call(call), |_| false);
    let trace = story
        .builder
        .finish()
        .normalise(&View::default(), &Signatures::new(Box::new(|_| None)));
    assert_eq!(trace.text(), "# trace 2, level sequence\n\nP1 sh\n");
    assert!(trace.counts().is_empty());
}

#[test]
fn a_submission_is_named_after_its_operation_and_keeps_what_is_the_programs_own() {
    let capture = crate::captured::Captured::read(include_str!(
        "../../harness/fixtures/payloads/io_uring.io_uring_submit_req.txt"
    ));
    let payload = capture.payloads.first().unwrap();
    let decode = |naming: &Naming, payload: &[u8]| {
        TracedEvent::decode(naming, &capture.format, payload).unwrap()
    };
    let event = decode(&Naming::Operations, payload);
    let field = |name: &str, value| (Arc::from(name), value);
    assert_eq!(&*event.name, "io_uring:IORING_OP_FSYNC");
    assert_eq!(
        event.fields,
        [
            field("user_data", FieldValue::Number(0)),
            // The kernel has set the bit of IOSQE_ASYNC: the program has not.
            field("flags", FieldValue::Other("0".to_owned())),
        ]
    );
    let mut polled = payload.clone();
    polled[capture.field("sq_thread").offset] = 1;
    polled[capture.field("opcode").offset] = 250;
    let event = decode(&Naming::Operations, &polled);
    assert_eq!(&*event.name, "io_uring:IORING_OP_250");
    assert_eq!(
        event.fields.last(),
        Some(&field("sq_thread", FieldValue::Number(1)))
    );
    let own = Naming::Own(Arc::from("io_uring:io_uring_submit_req"));
    assert_eq!(decode(&own, payload).fields.len(), 7);
    for n in 0..capture.field("sq_thread").offset {
        let cut = payload.get(..n).unwrap();
        assert!(TracedEvent::decode(&Naming::Operations, &capture.format, cut).is_err());
    }
}

#[test]
fn threads_of_the_kernels_making_do_not_change_the_numbers_of_the_others() {
    let text = |n_workers: u32| {
        let mut story = Story::new(500);
        story.born(0, 0, None);
        // Made in the midst of no call that makes threads: workers of io_uring, and its polling
        // thread.
        for worker in 10..10 + n_workers {
            story.born(worker, 0, Some(0));
        }
        story.born(30, 0, Some(0));
        story.tell(entered_as(0, "clone3"));
        story.born(2, 0, Some(0));
        story.finish_call(0, "clone3", [0; 6], 0);
        story.call(2, "gettid", [0; 6], 0);
        story.call(30, "sync", [0; 6], 0);
        story.text(&View::default())
    };
    let headings: Vec<String> = text(0)
        .lines()
        .filter(|line| line.starts_with('P'))
        .map(str::to_owned)
        .collect();
    assert_eq!(headings, ["P1 sh", "P1.T2", "P1.T3"]);
    assert_eq!(text(0), text(5));
    assert!(text(5).contains("P1.T2\n  gettid"), "{}", text(5));
}

#[test]
fn a_stranger_in_whose_name_nothing_is_shown_is_no_process_of_the_trace() {
    let text = |hide: &[&str]| {
        let mut story = Story::new(500);
        story.born(0, 0, None);
        story.call(0, "getpid", [0; 6], 2);
        story.born(1, 1, None);
        story.call(1, "getppid", [0; 6], 2);
        story.text(&View {
            hidden: hide.iter().map(|name| (*name).to_owned()).collect(),
            ..View::default()
        })
    };
    assert!(text(&[]).contains("\nP2 sh\n"));
    assert!(!text(&["getppid"]).contains("P2"));
}
