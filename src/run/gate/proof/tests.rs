use super::*;
use crate::scenario::When;
use crate::trace::{Builder, Stretch, View};
use perf_records::units::{Pid, Tid};
use std::collections::BTreeSet;
use syscall_model::names::{self, Abi};
use syscall_model::{
    Actor, Call, Entry, Injected, Observation, Outcome, Shares, ShortName, Signatures,
};

const EIO: Injected = Injected {
    answer: Some(Answer::Error(5)),
    ..Injected::NONE
};

/// A call of a thread, from one time to another, and what was done to it.
type Made = (u32, &'static str, (u64, u64), Injected);

/// The time of the entry of a call that was not seen to be entered.
const UNENTERED: u64 = u64::MAX;

fn trace(calls: &[Made]) -> Normalised {
    let mut builder = Builder::new(true);
    let actor = |thread: u32| Actor {
        thread: ThreadId(thread),
        pid: Pid(100),
        tid: Tid(100 + thread),
        comm: ShortName::default(),
    };
    for thread in 0..2 {
        let born = Observation::Born {
            child: actor(thread),
            parent: (thread > 0).then_some(ThreadId(0)),
            shares: Shares::default(),
        };
        builder.observe(&born, |_| true);
    }
    for (thread, name, (from, to), injected) in calls {
        let number = names::number(Abi::native(), name).expect("a call") as i32;
        let entry = match *from {
            UNENTERED => Entry::Missing,
            from => Entry::Seen {
                time: Nanos(from),
                args: [3, 0x1000, 10, 0, 0, 0],
            },
        };
        let (actor, abi) = (actor(*thread), Abi::native());
        let entered = Observation::Entered {
            actor,
            abi,
            number,
            entry,
            is_answered: false,
        };
        let call = Call {
            actor,
            abi,
            number,
            entry,
            outcome: Outcome::Returned {
                time: Nanos(*to),
                value: 0,
            },
            memory: Default::default(),
            files: Default::default(),
            places: Default::default(),
            injected: *injected,
        };
        builder.observe(&entered, |_| true);
        builder.observe(&Observation::Call(call), |_| true);
    }
    let signatures = Signatures::new(Box::new(|_| None));
    builder.finish().normalise(&View::default(), &signatures)
}

fn second(name: &str, injected: Injected) -> FaultPlan {
    let names = BTreeSet::from([name.to_owned()]);
    let when = When {
        first: 2,
        last: Some(2),
        step: 1,
    };
    FaultPlan {
        per: Per::Run,
        ..FaultPlan::of_calls(name, names, when, injected)
    }
}

fn proved(faults: &[FaultPlan], seen: u64, calls: &[Made]) -> Faults {
    let whole = trace(calls);
    proved_with(faults, seen, &whole, &whole)
}

fn proved_with(faults: &[FaultPlan], seen: u64, whole: &Normalised, judged: &Normalised) -> Faults {
    let outcome = FaultOutcome {
        seen,
        fired: 1,
        ..FaultOutcome::default()
    };
    let mut told = Faults {
        outcomes: vec![outcome; faults.len()],
        ..Faults::default()
    };
    prove(faults, &mut told, (whole, 0), judged);
    told
}

const NO: Injected = Injected::NONE;

#[test]
fn a_fault_that_hit_just_the_call_that_it_names_is_proved() {
    let calls = [
        (0, "fsync", (10, 20), NO),
        (0, "fsync", (30, 40), EIO),
        (0, "fsync", (50, 60), NO),
    ];
    let told = proved(&[second("fsync", EIO)], 3, &calls);
    assert_eq!(told.unknown, Vec::<String>::new());
    assert_eq!(told.outcomes[0].outside, 0);
}

#[test]
fn a_fault_for_the_call_that_begins_the_workload_is_told_from_one_for_another() {
    let calls = [(0, "execve", (0, 5), NO), (0, "fsync", (10, 20), NO)];
    let faults = [second("execve", EIO), second("fsync", EIO)];
    assert_eq!(proved(&faults, 0, &calls).of_start, [true, false]);
    // A later one of the same name begins nothing.
    assert_eq!(proved(&faults, 1, &calls[1..]).of_start, [false, false]);
}

#[test]
fn a_call_that_was_not_counted_or_is_not_in_the_trace_makes_the_run_incomplete() {
    let calls = [(0, "fsync", (10, 20), NO), (0, "fsync", (30, 40), EIO)];
    for seen in [1, 3] {
        let told = proved(&[second("fsync", EIO)], seen, &calls);
        let [why] = told.unknown.as_slice() else {
            panic!("{told:?}");
        };
        assert!(why.contains("2 of the trace are meant"), "{why}");
    }
}

#[test]
fn a_call_that_a_filter_answered_is_one_that_no_fault_could_be_done_to() {
    let calls = [
        (0, "fsync", (10, 20), NO),
        (0, "fsync", (30, 40), EIO),
        (0, "fsync", (UNENTERED, 60), NO),
    ];
    let told = proved(&[second("fsync", EIO)], 2, &calls);
    assert_eq!(
        told.unknown,
        [
            "a seccomp filter, of the workload's own or of a policy, answered or refused 1 call \
             that the fault for `fsync` may be meant for: the harness could not hold it; run it \
             without that filter"
        ]
    );
}

#[test]
fn a_fault_that_hit_another_number_than_it_names_makes_the_run_incomplete() {
    let third = [
        (0, "fsync", (10, 20), NO),
        (0, "fsync", (30, 40), NO),
        (0, "fsync", (50, 60), EIO),
    ];
    let told = proved(&[second("fsync", EIO)], 3, &third);
    assert!(
        told.unknown[0].contains("2 are others by the trace"),
        "{told:?}"
    );
    let twice = [
        (0, "fsync", (10, 20), NO),
        (0, "fsync", (30, 40), EIO),
        (0, "fsync", (50, 60), EIO),
    ];
    assert!(
        !proved(&[second("fsync", EIO)], 3, &twice)
            .unknown
            .is_empty()
    );
}

#[test]
fn a_call_that_no_fault_was_meant_for_is_told() {
    let calls = [
        (0, "fsync", (10, 20), NO),
        (0, "fsync", (30, 40), EIO),
        (0, "mkdir", (50, 60), EIO),
    ];
    let faults = [second("fsync", EIO), second("mkdir", EIO)];
    let told = proved(&faults[..1], 2, &calls);
    let why = told.unknown.join("\n");
    assert!(why.contains("no fault was meant for"), "{why}");
}

#[test]
fn threads_may_be_counted_in_another_order_than_they_are_entered_in() {
    // The first of thread 1 was received before that of thread 0, and entered behind it.
    let calls = [
        (0, "fsync", (10, 20), EIO),
        (1, "fsync", (30, 40), NO),
        (1, "fsync", (50, 60), NO),
    ];
    let told = proved(&[second("fsync", EIO)], 3, &calls);
    assert_eq!(told.unknown, Vec::<String>::new());
}

#[test]
fn the_calls_that_a_fault_was_done_to_are_told_in_the_order_of_the_run_and_not_without_end() {
    let when = When::default();
    let names = BTreeSet::from(["fsync".to_owned()]);
    let every = [FaultPlan::of_calls("fsync", names, when, EIO)];
    let fsyncs = |threads: &[u32]| -> Vec<Made> {
        let at = |place: usize| (10 * place as u64 + 1, 10 * place as u64 + 2);
        let made = threads.iter().enumerate();
        made.map(|(place, thread)| (*thread, "fsync", at(place), EIO))
            .collect()
    };
    let told = |threads: &[u32]| {
        let (n, calls) = (threads.len() as u64, fsyncs(threads));
        let told = proved(&every, n, &calls);
        let tasks = told.done_to[0].iter().map(|done| done.task.clone());
        tasks.collect::<Vec<String>>()
    };
    assert_eq!(told(&[1, 0, 1]), ["P1.T2", "P1", "P1.T2"]);
    assert_eq!(told(&[0; MOST_TOLD + 1]).len(), MOST_TOLD);
}

#[test]
fn a_short_call_that_is_none_is_not_due() {
    let shorter = |most| Injected {
        answer: Some(Answer::Short(most)),
        ..NO
    };
    let calls = [(0, "write", (10, 20), NO), (0, "write", (30, 40), NO)];
    let unfired = |most| {
        let whole = trace(&calls);
        let faults = [second("write", shorter(most))];
        let mut told = Faults {
            outcomes: vec![FaultOutcome {
                seen: 2,
                ..FaultOutcome::default()
            }],
            ..Faults::default()
        };
        prove(&faults, &mut told, (&whole, 0), &whole);
        told.unknown
    };
    assert_eq!(unfired(10), Vec::<String>::new());
    assert!(!unfired(4).is_empty());
}

#[test]
fn a_fault_before_the_stretch_that_is_judged_is_outside() {
    let calls = [
        (0, "close", (10, 20), NO),
        (0, "close", (30, 40), EIO),
        (0, "close", (50, 60), NO),
    ];
    let whole = trace(&calls);
    let mut judged = whole.clone();
    let cut = Stretch::from(whole.in_order()[1].left);
    judged.blocks.iter_mut().for_each(|block| {
        block.deeds.retain(|deed| cut.has(deed));
    });
    let told = proved_with(&[second("close", EIO)], 3, &whole, &judged);
    assert_eq!(told.unknown, Vec::<String>::new());
    assert_eq!(told.outcomes[0].outside, 1);
    let [done] = told.done_to[0].as_slice() else {
        panic!("{told:?}");
    };
    assert!(
        done.line.ends_with("(INJECTED)") && !done.judged,
        "{done:?}"
    );
}

#[test]
fn a_blocked_call_that_went_on_before_the_other_may_have_come_is_told() {
    let blocked = Injected {
        is_blocked: true,
        ..NO
    };
    let until = BTreeSet::from(["mkdir".to_owned()]);
    let until = FaultPlan::of_calls("mkdir", until, When::default(), NO).matcher;
    let fault = FaultPlan {
        until: Some(until),
        ..second("fsync", blocked)
    };
    let told = |entered| {
        let calls = [
            (0, "fsync", (1, 2), NO),
            (1, "close", (3, 25), NO),
            (0, "fsync", (entered, 50), blocked),
            (1, "mkdir", (30, 40), NO),
        ];
        proved(std::slice::from_ref(&fault), 2, &calls).unknown
    };
    // The other was received at some time between its thread's last return and its own entry.
    assert_eq!(told(26), Vec::<String>::new());
    let early = told(24).join("\n");
    assert!(early.contains("went on before the other came"), "{early}");
}

#[test]
fn of_two_faults_that_do_the_same_each_is_done_to_the_calls_that_it_names() {
    let at = |first: u64| FaultPlan {
        when: When {
            first,
            last: Some(first),
            step: 1,
        },
        ..second("fsync", EIO)
    };
    let three = |injected: [Injected; 3]| {
        let times = [(10, 11), (20, 21), (30, 31)].into_iter().zip(injected);
        let made = times.map(|(time, injected)| (0, "fsync", time, injected));
        made.collect::<Vec<Made>>()
    };
    for faults in [[at(1), at(3)], [at(3), at(1)]] {
        let told = proved(&faults, 3, &three([EIO, NO, EIO]));
        assert_eq!(told.unknown, [""; 0]);
        let done: Vec<usize> = told.done_to.iter().map(Vec::len).collect();
        assert_eq!(done, [1, 1]);
        // Neither names the second, and nothing else does.
        let told = proved(&faults, 3, &three([EIO, EIO, EIO]));
        assert_eq!(told.unknown.len(), 3, "{:?}", told.unknown);
        let told = proved(&faults, 3, &three([EIO, NO, NO]));
        assert!(!told.unknown.is_empty());
    }
}
