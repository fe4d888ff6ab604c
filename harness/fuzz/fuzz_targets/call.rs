//! A call with what its pointers lead to: the structures, messages of netlink and strings of all
//! calls, those of 32-bit programs among them.
#![no_main]

use harness_fuzz::Bytes;
use libfuzzer_sys::fuzz_target;
use perf_records::units::{Nanos, Pid, Tid};
use syscall_model::files::Files;
use syscall_model::memory::{Extent, Fetch, Memory, Piece, State};
use syscall_model::{Actor, Call, Entry, Outcome, ShortName, Shown, ThreadId};
use syscall_model::{native_name, pointers, write_argument};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes(bytes);
    let conventions: Vec<_> = pointers::conventions().collect();
    let abi = conventions[usize::from(bytes.byte()) % conventions.len()];
    let number = u32::from(bytes.short() % 0x200);
    let words = [(); 6].map(|()| bytes.word());
    let value = bytes.word() as i64;
    let fetches = pointers::fetches(abi, number, 64);
    let pieces = fetches.iter().map(|fetch| piece(fetch, &words, &mut bytes));
    let mut memory = Memory::new(pieces.collect());
    pointers::widen(abi, number as i32, &mut memory);
    let call = Call {
        actor: Actor {
            thread: ThreadId(0),
            pid: Pid(1),
            tid: Tid(1),
            comm: ShortName::new(b"x"),
        },
        abi,
        number: number as i32,
        entry: Entry::Seen {
            time: Nanos(0),
            args: words,
        },
        outcome: Outcome::Returned {
            time: Nanos(0),
            value,
        },
        memory,
        files: Files::default(),
        places: Default::default(),
        injected: Default::default(),
    };
    let name = call.name().map_or("", native_name);
    let mut text = String::new();
    for place in 0..6 {
        let kind = pointers::kind(name, place);
        if let Some(kind) = kind.or_else(|| pointers::by_command(name, place, &words)) {
            write_argument(&mut text, &call, place, kind, &mut Shown);
        }
    }
});

fn piece(fetch: &Fetch, words: &[u64; 6], bytes: &mut Bytes<'_>) -> Piece {
    let (state, length) = (bytes.byte(), bytes.short() % (fetch.limit + 1));
    let state = match state % 8 {
        0 => State::Unread,
        1 => State::Part,
        2 => State::Cut,
        _ => State::Whole,
    };
    let read = match state {
        State::Unread => &[],
        _ => bytes.some(length.into()),
    };
    Piece {
        argument: fetch.argument,
        element: match fetch.extent {
            Extent::Behind(what) => what.element(),
            _ => 0,
        },
        moment: fetch.moment,
        address: words[usize::from(fetch.argument)],
        state,
        bytes: read.into(),
    }
}
