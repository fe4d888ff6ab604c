//! Pairing, on the orders of records that kernels really write: each was seen in a recording of the
//! oracle workload.

use super::constants::tables::OPEN_FLAGS;
use super::kinds::{ArgKind, ReturnKind};
use super::names::{self, Abi};
use super::*;
use crate::memory::{Memory, Moment, Part, Piece, State};
use perf_records::record::{Comm, Task};
use perf_records::units::{Nanos, Pid, Tid};

/// A run in the making: records go in, a line for each observation comes out.
#[derive(Default)]
struct Run {
    tracker: Tracker,
    clock: u64,
    out: Vec<Observation>,
}

fn nr(name: &str) -> i32 {
    names::number(Abi::native(), name).unwrap() as i32
}

impl Run {
    /// A workload whose program has just been executed, as every recording starts.
    fn started() -> Self {
        let mut run = Self::default();
        run.exec(10, 10);
        run.leave(10, 10, "execve", 0);
        run.out.clear();
        run
    }

    fn now(&mut self) -> Nanos {
        self.clock += 1;
        Nanos(self.clock)
    }

    fn enter(&mut self, pid: u32, tid: u32, name: &str) {
        let now = self.now();
        self.tracker.enter(
            (Pid(pid), Tid(tid)),
            now,
            Abi::native(),
            nr(name),
            [7; 6],
            &mut self.out,
        );
    }

    fn leave(&mut self, pid: u32, tid: u32, name: &str, value: i64) {
        let now = self.now();
        let number = if name == "-1" { -1 } else { nr(name) };
        self.tracker.leave(
            (Pid(pid), Tid(tid)),
            now,
            (Abi::native(), number),
            value,
            &mut self.out,
        );
    }

    fn task(&mut self, (pid, tid): (u32, u32), (parent_pid, parent_tid): (u32, u32)) -> Task {
        Task {
            pid: Pid(pid),
            tid: Tid(tid),
            parent_pid: Pid(parent_pid),
            parent_tid: Tid(parent_tid),
            time: self.now(),
        }
    }

    fn fork(&mut self, child: (u32, u32), parent: (u32, u32)) {
        let task = self.task(child, parent);
        self.tracker.fork(&task, &mut self.out);
    }

    fn exit(&mut self, pid: u32, tid: u32) {
        let task = self.task((pid, tid), (1, 1));
        self.tracker.exit(&task, &mut self.out);
    }

    fn exec(&mut self, pid: u32, tid: u32) {
        let comm = Comm {
            pid: Pid(pid),
            tid: Tid(tid),
            name: b"prog",
            exec: true,
        };
        self.tracker.comm(&comm, &mut self.out);
    }

    /// What came out: calls as `tid name entry = outcome`, the rest by a word.
    fn lines(&mut self) -> Vec<String> {
        let line = |observation: &Observation| match observation {
            Observation::Call(call) => {
                let entry = match call.entry {
                    Entry::Seen { .. } => "",
                    Entry::UnderWay { .. } => " under way",
                    Entry::Uncorking => " uncorking",
                    Entry::Missing => " without entry",
                };
                let outcome = match call.outcome {
                    Outcome::Refused { .. } => "refused".to_owned(),
                    Outcome::Untold { .. } => "untold".to_owned(),
                    Outcome::Returned { value, .. } => value.to_string(),
                    Outcome::Restarted { .. } => "restarted".to_owned(),
                    Outcome::Interrupted { errno, .. } => format!("interrupted {errno}"),
                    Outcome::NeverReturned => "never".to_owned(),
                    Outcome::Missing => "missing".to_owned(),
                };
                let name = call.name().unwrap_or("unnamed");
                Some(format!("{} {name}{entry} = {outcome}", call.actor.tid))
            }
            Observation::Born { child, parent, .. } => Some(format!(
                "{} born of {:?}",
                child.tid,
                parent.map(|parent| parent.0)
            )),
            Observation::Named { thread, id } => Some(format!("thread {} is {id}", thread.0)),
            Observation::Executed(actor) => Some(format!("{} executed", actor.tid)),
            Observation::Gone(thread) => Some(format!("thread {} gone", thread.0)),
            Observation::Global { thread, id } => {
                Some(format!("thread {} is {id} globally", thread.0))
            }
            Observation::OutOfSight(actor) => Some(format!("{} out of sight", actor.tid)),
            _ => None,
        };
        self.out
            .drain(..)
            .filter_map(|observation| line(&observation))
            .collect()
    }
}

#[test]
fn the_workloads_own_execve_has_no_entry_and_is_known() {
    let mut run = Run::default();
    run.exec(10, 10);
    run.leave(10, 10, "execve", 0);
    assert_eq!(
        run.lines(),
        ["10 born of None", "10 executed", "10 execve uncorking = 0"]
    );
}

#[test]
fn calls_of_two_threads_are_paired_each_by_its_own() {
    let mut run = Run::started();
    run.fork((10, 11), (10, 10));
    run.lines();
    run.enter(10, 10, "read");
    run.enter(10, 11, "read");
    run.leave(10, 10, "read", 1);
    run.leave(10, 11, "read", 2);
    assert_eq!(run.lines(), ["10 read = 1", "11 read = 2"]);
}

#[test]
fn a_half_is_never_matched_to_another_calls_half() {
    let mut run = Run::started();
    run.enter(10, 10, "read");
    run.leave(10, 10, "getppid", 9);
    run.leave(10, 10, "read", 1);
    assert_eq!(
        run.lines(),
        [
            "10 read = missing",
            "10 getppid without entry = 9",
            "10 read without entry = 1"
        ]
    );
    run.enter(10, 10, "read");
    run.enter(10, 10, "close");
    run.leave(10, 10, "close", 0);
    assert_eq!(run.lines(), ["10 read = missing", "10 close = 0"]);
}

#[test]
fn a_return_from_a_signal_handler_leaves_under_the_number_minus_one() {
    let mut run = Run::started();
    run.enter(10, 10, "rt_sigreturn");
    run.leave(10, 10, "-1", -4);
    assert_eq!(run.lines(), ["10 rt_sigreturn = -4"]);
}

#[test]
fn a_call_that_seccomp_denied_has_only_its_end() {
    let mut run = Run::started();
    run.leave(10, 10, "getpgid", -1);
    assert_eq!(run.lines(), ["10 getpgid without entry = -1"]);
}

#[test]
fn an_interrupted_call_and_its_restart_are_two_calls() {
    let mut run = Run::started();
    run.enter(10, 10, "read");
    run.leave(10, 10, "read", -512);
    run.enter(10, 10, "rt_sigreturn");
    run.leave(10, 10, "-1", 0);
    run.enter(10, 10, "read");
    run.leave(10, 10, "read", 3);
    run.enter(10, 10, "nanosleep");
    run.leave(10, 10, "nanosleep", -516);
    assert_eq!(
        run.lines(),
        [
            "10 read = interrupted 512",
            "10 rt_sigreturn = 0",
            "10 read = 3",
            "10 nanosleep = interrupted 516"
        ]
    );
}

#[test]
fn a_child_returns_from_the_call_that_its_parent_entered_and_gets_the_id_that_it_returned() {
    let mut run = Run::started();
    run.enter(10, 10, "clone3");
    run.fork((20, 20), (10, 10));
    run.leave(20, 20, "clone3", 0);
    run.enter(20, 20, "getpid");
    run.leave(20, 20, "getpid", 5);
    run.leave(10, 10, "clone3", 5);
    assert_eq!(
        run.lines(),
        [
            "20 born of Some(0)",
            "20 getpid = 5",
            "thread 1 is 5",
            "10 clone3 = 5"
        ]
    );
}

#[test]
fn a_failed_clone_names_nobody() {
    let mut run = Run::started();
    run.enter(10, 10, "clone3");
    run.leave(10, 10, "clone3", -11);
    assert_eq!(run.lines(), ["10 clone3 = -11"]);
}

#[test]
fn an_exit_never_returns() {
    let mut run = Run::started();
    run.enter(10, 10, "exit_group");
    run.exit(10, 10);
    assert_eq!(run.lines(), ["10 exit_group = never", "thread 0 gone"]);
}

#[test]
fn an_exec_by_another_thread_returns_in_the_leader() {
    let mut run = Run::started();
    run.fork((10, 11), (10, 10));
    run.fork((10, 12), (10, 10));
    run.lines();
    run.enter(10, 10, "futex");
    run.enter(10, 11, "read");
    run.enter(10, 12, "execve");
    run.exit(10, 11);
    run.exit(10, 10);
    assert_eq!(
        run.lines(),
        ["11 read = never", "thread 1 gone", "10 futex = never"]
    );
    run.exec(10, 10);
    run.leave(10, 10, "execve", 0);
    assert_eq!(
        run.lines(),
        ["thread 2 gone", "10 executed", "10 execve = 0"]
    );
    run.enter(10, 10, "exit_group");
    run.exit(10, 10);
    assert_eq!(run.lines(), ["10 exit_group = never", "thread 0 gone"]);
}

#[test]
fn an_exec_that_succeeds_leaves_as_the_execve_of_the_new_programs_convention() {
    let execve = |abi| names::number(abi, "execve").unwrap() as i32;
    let conventions = [Some(Abi::native()), Abi::native().compat()];
    for (call, abi) in ["execve", "execveat"].into_iter().flat_map(|call| {
        conventions
            .into_iter()
            .flatten()
            .map(move |abi| (call, abi))
    }) {
        let mut run = Run::started();
        run.enter(10, 10, call);
        run.exec(10, 10);
        let now = run.now();
        let who = (Pid(10), Tid(10));
        run.tracker
            .leave(who, now, (abi, execve(abi)), 0, &mut run.out);
        let calls = run.out.iter().filter_map(|observation| match observation {
            Observation::Call(call) => Some((call.number, call.outcome)),
            _ => None,
        });
        let returned = Outcome::Returned {
            time: now,
            value: 0,
        };
        assert_eq!(calls.collect::<Vec<_>>(), [(nr(call), returned)], "{abi:?}");
    }
}

#[test]
fn what_was_read_of_a_native_call_is_not_taken_for_that_of_another_convention() {
    let Some(compat) = Abi::native().compat() else {
        return;
    };
    let piece = Piece {
        argument: 1,
        element: 0,
        moment: Moment::Enter,
        address: 1,
        state: State::Whole,
        bytes: (*b"another's").into(),
    };
    let entry = Part::Entry { more: false };
    for comes_first in [true, false] {
        let mut run = Run::started();
        let (who, number) = ((Pid(10), Tid(10)), nr("openat"));
        let memory = || Memory::new(vec![piece.clone()]);
        if comes_first {
            run.tracker
                .contents(who, (Abi::native(), number), entry, memory(), &mut run.out);
        }
        let now = run.now();
        run.tracker
            .enter(who, now, compat, number, [7; 6], &mut run.out);
        if !comes_first {
            run.tracker
                .contents(who, (Abi::native(), number), entry, memory(), &mut run.out);
        }
        run.tracker
            .leave(who, now, (Abi::native(), number), 3, &mut run.out);
        let call = run.out.iter().find_map(|observation| match observation {
            Observation::Call(call) => Some(call.memory.is_empty()),
            _ => None,
        });
        assert_eq!(call, Some(true));
    }
}

#[test]
fn the_kernels_name_for_a_program_below_a_directory_becomes_the_path_that_was_given() {
    // The directory of `enter` is 7.
    for (kernel, given) in [
        ("/dev/fd/7/bin/true", "bin/true"),
        ("/dev/fd/7", ""),
        ("/dev/fd/70/true", "/dev/fd/70/true"),
        ("/bin/true", "/bin/true"),
    ] {
        let mut run = Run::started();
        run.enter(10, 10, "execveat");
        let memory = Memory::new(vec![Piece {
            argument: 1,
            element: 0,
            moment: Moment::Enter,
            address: 0,
            state: State::Whole,
            bytes: kernel.as_bytes().into(),
        }]);
        let (who, execveat) = ((Pid(10), Tid(10)), (Abi::native(), nr("execveat")));
        run.tracker
            .contents(who, execveat, Part::Within, memory, &mut run.out);
        run.leave(10, 10, "execve", 0);
        let Some(Observation::Call(call)) = run.out.last() else {
            panic!("{:?}", run.out);
        };
        let piece = call.memory.piece(1, Moment::Enter);
        assert_eq!(piece.map(|piece| &*piece.bytes), Some(given.as_bytes()));
    }
}

#[test]
fn events_that_end_inside_an_exec_are_not_the_end_of_the_program() {
    let mut run = Run::started();
    run.enter(10, 10, "execve");
    run.exec(10, 10);
    run.exit(10, 10);
    assert_eq!(
        run.lines(),
        [
            "10 executed",
            "10 out of sight",
            "10 execve = never",
            "thread 0 gone"
        ]
    );
}

#[test]
fn a_thread_killed_in_an_exec_that_another_thread_wins_is_not_out_of_sight() {
    let mut run = Run::started();
    run.enter(10, 10, "execve");
    run.exit(10, 10);
    assert_eq!(run.lines(), ["10 execve = never", "thread 0 gone"]);
}

#[test]
fn a_global_id_is_told_once_and_only_where_it_differs() {
    let mut run = Run::started();
    for id in [10, 4010, 4010] {
        run.tracker.global((Pid(10), Tid(10)), id, &mut run.out);
    }
    assert_eq!(run.lines(), ["thread 0 is 4010 globally"]);
}

#[test]
fn of_two_threads_that_execute_the_one_that_ended_did_not() {
    let mut run = Run::started();
    run.fork((10, 11), (10, 10));
    run.lines();
    run.enter(10, 10, "execve");
    run.enter(10, 11, "execve");
    run.exit(10, 10);
    run.exec(10, 10);
    run.leave(10, 10, "execve", 0);
    assert_eq!(
        run.lines(),
        [
            "10 execve = never",
            "thread 1 gone",
            "10 executed",
            "10 execve = 0"
        ]
    );
}

#[test]
fn a_leader_that_ended_before_its_threads_is_gone_with_the_last_of_them() {
    let mut run = Run::started();
    run.fork((10, 11), (10, 10));
    run.lines();
    run.enter(10, 10, "exit");
    run.exit(10, 10);
    assert_eq!(run.lines(), ["10 exit = never"]);
    run.enter(10, 11, "exit");
    run.exit(10, 11);
    assert_eq!(
        run.lines(),
        ["11 exit = never", "thread 1 gone", "thread 0 gone"]
    );
}

#[test]
fn a_reused_id_is_another_thread() {
    let mut run = Run::started();
    run.fork((20, 20), (10, 10));
    run.exit(20, 20);
    run.fork((20, 20), (10, 10));
    assert_eq!(
        run.lines(),
        ["20 born of Some(0)", "thread 1 gone", "20 born of Some(0)"]
    );
    let actor = run.tracker.actor(Pid(20), Tid(20), &mut Vec::new());
    assert_eq!(actor.thread, ThreadId(2));
}

#[test]
fn an_event_behind_its_threads_end_is_that_threads() {
    let mut run = Run::started();
    run.fork((20, 20), (10, 10));
    run.exit(20, 20);
    run.lines();
    run.tracker.global((Pid(20), Tid(20)), 20, &mut run.out);
    let actor = run.tracker.actor(Pid(20), Tid(20), &mut run.out);
    assert_eq!((actor.thread, run.lines().len()), (ThreadId(1), 0));
}

#[test]
fn what_is_still_in_a_call_at_the_end_never_returned() {
    let mut run = Run::started();
    run.enter(10, 10, "pause");
    run.tracker.finish(&mut run.out);
    assert_eq!(run.lines(), ["10 pause = never", "thread 0 gone"]);
}

fn argument(kind: ArgKind, word: u64) -> String {
    let mut out = String::new();
    text::write_word(&mut out, kind, word, &mut Shown);
    out
}

#[test]
fn an_argument_is_written_as_what_it_is() {
    let cases = [
        (ArgKind::Fd, 0xffff_ff9c, "AT_FDCWD"),
        (ArgKind::Fd, 0xffff_ffff, "-1"),
        (ArgKind::Int, 0xdead_beef_ffff_ffff, "-1"),
        (ArgKind::Uint32, 0xffff_ffff, "4294967295"),
        (ArgKind::Long, u64::MAX, "-1"),
        (ArgKind::Size, u64::MAX, "18446744073709551615"),
        (ArgKind::Offset, 155_648, "155648"),
        (ArgKind::Hex, 0x80000, "0x80000"),
        (ArgKind::Hex, 0, "0"),
        (ArgKind::Hex32, 0xdead_0008_0000, "0x80000"),
        (ArgKind::Octal, 0o644, "0644"),
        (ArgKind::Octal, 0, "000"),
        (ArgKind::Pointer, 0, "NULL"),
        (ArgKind::Address, 0x7f00_0000_0000, "0x7f0000000000"),
        (ArgKind::Pid, 0xffff_ffff, "-1"),
        (ArgKind::Pid, -1234_i64 as u64, "-1234"),
        (ArgKind::Word, 0x5401, "0x5401"),
        (ArgKind::Word, 0x7ffd_0000_0000, "0x7ffd00000000"),
    ];
    for (kind, word, text) in cases {
        assert_eq!(argument(kind, word), text, "{kind:?} {word:#x}");
    }
}

#[test]
fn a_result_is_written_as_what_the_program_sees() {
    let text = |returns, outcome| {
        let mut out = String::new();
        let call = Call {
            actor: Actor {
                thread: ThreadId(0),
                pid: Pid(1),
                tid: Tid(1),
                comm: ShortName::default(),
            },
            abi: Abi::native(),
            number: 0,
            entry: Entry::Missing,
            outcome,
            memory: crate::memory::Memory::default(),
            files: files::Files::default(),
            places: Default::default(),
            injected: Default::default(),
        };
        write_result(&mut out, &call, returns, &mut Shown);
        out
    };
    let returned = |value| Outcome::Returned {
        time: Nanos(1),
        value,
    };
    assert_eq!(text(ReturnKind::Number, returned(-2)), "-1 ENOENT");
    assert_eq!(text(ReturnKind::Number, returned(-4096)), "-4096");
    assert_eq!(
        text(ReturnKind::Address, returned(0x7f00_0000_1000)),
        "0x7f0000001000"
    );
    assert_eq!(text(ReturnKind::Address, returned(-12)), "-1 ENOMEM");
    assert_eq!(text(ReturnKind::Pid, returned(41)), "41");
    assert_eq!(text(ReturnKind::Octal, returned(0o22)), "022");
    assert_eq!(text(ReturnKind::Number, Outcome::NeverReturned), "?");
    let interrupted = Outcome::Interrupted {
        time: Nanos(1),
        errno: 512,
    };
    assert_eq!(text(ReturnKind::Number, interrupted), "? ERESTARTSYS");
}

#[test]
fn a_call_without_a_tracepoint_shows_six_words() {
    let signatures = Signatures::new(Box::new(|_| None));
    let count = signatures.with(Abi::native(), nr("openat"), |signature| {
        signature.arguments.len()
    });
    assert_eq!(count, 6);
    let foreign = signatures.with(Abi::I386, 20, |signature| signature.returns);
    assert_eq!(
        foreign,
        ReturnKind::Pid,
        "getpid by its name in the other table"
    );
}

#[test]
fn a_signature_is_the_kernels_and_leaves_the_copied_strings_out() {
    // openat of Linux 7.2: the last field is the copied string.
    const CAPTURE: &str =
        include_str!("../../harness/fixtures/payloads/syscalls.sys_enter_openat@7.2.txt");
    let format = CAPTURE
        .get(CAPTURE.find("\nname: ").unwrap() + 1..)
        .unwrap();
    let format = std::sync::Arc::new(perf_records::format::parse(format).unwrap());
    let signatures = Signatures::new(Box::new(move |event| {
        (event == "sys_enter_openat").then(|| format.clone())
    }));
    let arguments = signatures.with(Abi::native(), nr("openat"), |signature| {
        signature.arguments.clone()
    });
    let expected = [
        ("dfd", ArgKind::Fd),
        ("filename", ArgKind::Path),
        ("flags", ArgKind::Constants(&OPEN_FLAGS)),
        ("mode", ArgKind::Octal),
    ];
    let got: Vec<_> = arguments
        .iter()
        .map(|it| (it.name.as_ref(), it.kind))
        .collect();
    assert_eq!(got, expected);
}
